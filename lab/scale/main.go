// Command scale measures how the service answers as its calendar grows, from a thousand events to a million, on
// SQLite and on MySQL:
//
//	go -C lab run ./scale fill --dir /var/tmp/scale --mysql mysql://root@127.0.0.1:3306/ --sizes 1k,10k,100k,1m
//	go -C lab run ./scale fill --dir /var/tmp/series --sizes 1m --series 10000
//	go -C lab run ./scale measure --dir /var/tmp/scale --mysql mysql://root@127.0.0.1:3306/ --markdown
//	go -C lab run ./scale explain --mysql mysql://root@127.0.0.1:3306/ --sizes 100k
//	go -C lab run ./scale baseline --dir /var/tmp/scale --sizes 100k
//
// Each size is a database of its own: the file scale_10k.db in the folder, and the database scale_10k of the server.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"
)

type cli struct {
	Fill     fillCmd     `cmd:"" help:"Make the databases."`
	Measure  measureCmd  `cmd:"" help:"Ask every question of every database, and print how long it took."`
	Explain  explainCmd  `cmd:"" help:"Print the statements behind every question, and how the database runs them."`
	Baseline baselineCmd `cmd:"" help:"Compare the service with the same written by hand."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
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
	parser, fault := kong.New(&c, kong.Name("scale"), kong.Writers(out, err), kong.Exit(func(code int) { exit = code }),
		kong.Description("Measures the service on calendars of different sizes."),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(output{out, err}))
	if fault != nil {
		fmt.Fprintln(err, "scale:", fault)
		return 2
	}
	command, fault := parser.Parse(args)
	if exit >= 0 {
		return exit
	}
	if fault != nil {
		fmt.Fprintln(err, "scale:", fault)
		return 2
	}
	if fault := command.Run(); fault != nil {
		fmt.Fprintln(err, "scale:", fault)
		return 1
	}
	return 0
}
