// Command table measures the service beside what it is compared with, on the same data and in turn, and prints the
// tables and which of its aims are met:
//
//	go -C lab run ./table --mysql mysql://root@127.0.0.1:3306/
//
// It builds the program, makes the calendars if they are not there, and runs each of these as a process of its own, on
// each engine:
//
//   - hot: the service with its cache of replies, asked for the same few addresses;
//   - cold: the service without, asked for many;
//   - by hand: the same replies from database/sql and fasthttp, written for these two requests (package baseline);
//   - constant: Fiber with a reply that it has in memory.
//
// Nothing but the ratios of one run means anything on another machine.
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
