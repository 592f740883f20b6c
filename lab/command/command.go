// Package command runs the command lines of the programs in the module lab.
package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// Output contains the writers of a command: Out for its result and Err for its progress.
type Output struct{ Out, Err io.Writer }

// Main calls run with the arguments of the process, and exits with the status that it returns. SIGINT or SIGTERM ends
// the context. A second signal ends the process at once.
func Main(run func(ctx context.Context, args []string, out, errs io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Run parses args into the flags and subcommands of c. It calls the method Run of the selected one with ctx and an
// Output, if it has these parameters. It returns the exit status: 0 success, 1 failure, 2 wrong usage.
func Run(ctx context.Context, c any, name, description string, args []string, out, errs io.Writer) int {
	exit := -1
	parser, err := kong.New(c, kong.Name(name), kong.Description(description), kong.Writers(out, errs),
		kong.Exit(func(code int) { exit = code }), kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(Output{out, errs}))
	var selected *kong.Context
	if err == nil {
		selected, err = parser.Parse(args)
	}
	switch {
	case exit >= 0:
		return exit
	case err != nil:
		fmt.Fprintf(errs, "%s: %v\n", name, err)
		return 2
	}
	if err := selected.Run(); err != nil {
		fmt.Fprintf(errs, "%s: %v\n", name, err)
		return 1
	}
	return 0
}
