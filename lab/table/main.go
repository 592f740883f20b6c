// Command table measures the service and servers to compare with, on the same data and in turn. It prints tables and
// which aims are met:
//
//	go -C lab run ./table --mysql mysql://root@127.0.0.1:3306/
//
// It builds the service and fills databases unless they exist. On each database engine, it runs these servers as
// processes:
//
//   - hot is the service with its cache of replies, which gets requests for few paths.
//   - cold is the service without that cache, which gets requests for many.
//   - by hand is a server with database/sql and fasthttp, written for these two requests (package baseline).
//   - constant is Fiber with fixed replies from memory, and does not depend on the engine.
//
// Only the ratios within one run can be compared with those of other machines.
package main

import (
	"context"
	"io"

	"github.com/almanac-cal/almanac/lab/command"
)

type cli struct {
	Measure  measureCmd  `cmd:"" default:"withargs" help:"Measure, and print what came out."`
	ByHand   byHandCmd   `cmd:"" hidden:"" help:"Serve what was written by hand."`
	Constant constantCmd `cmd:"" hidden:"" help:"Serve constant replies."`
}

func main() { command.Main(run) }

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	return command.Run(ctx, &cli{}, "table", "Measures the service beside what it is compared with.", args, out, errs)
}
