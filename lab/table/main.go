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
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

type cli struct {
	Measure  measureCmd  `cmd:"" default:"withargs" help:"Measure, and print what came out."`
	ByHand   byHandCmd   `cmd:"" hidden:"" help:"Serve what was written by hand."`
	Constant constantCmd `cmd:"" hidden:"" help:"Serve constant replies."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// output is the writers of a command: Out for its result and Err for its progress.
type output struct{ Out, Err io.Writer }

// run runs the subcommand in args and returns the exit status: 0 success, 1 failure, 2 wrong usage.
func run(ctx context.Context, args []string, out, err io.Writer) int {
	var c cli
	exit := -1
	parser, fault := kong.New(&c, kong.Name("table"), kong.Writers(out, err), kong.Exit(func(code int) { exit = code }),
		kong.Description("Measures the service beside what it is compared with."),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(output{out, err}))
	if fault != nil {
		fmt.Fprintln(err, "table:", fault)
		return 2
	}
	command, fault := parser.Parse(args)
	if exit >= 0 {
		return exit
	}
	if fault != nil {
		fmt.Fprintln(err, "table:", fault)
		return 2
	}
	if fault := command.Run(); fault != nil {
		fmt.Fprintln(err, "table:", fault)
		return 1
	}
	return 0
}
