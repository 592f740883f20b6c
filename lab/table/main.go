// Command table measures the service and servers to compare with, on the same data and in turn. It prints tables and
// which aims are met:
//
//	go -C lab run ./table --mysql mysql://root@127.0.0.1:3306/
//
// It builds the service, fills databases unless they exist, and runs each of these servers as a process, on each
// database engine:
//
//   - hot: the service with its cache of replies, which gets requests for few paths;
//   - cold: the service without that cache, which gets requests for many;
//   - by hand: a server with database/sql and fasthttp, written for these two requests (package baseline);
//   - constant: Fiber with fixed replies from memory.
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
