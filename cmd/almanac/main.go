// Command almanac is an event-calendar REST service in one binary.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/almanac-cal/almanac/internal/openapi"
)

// cli has the commands and flags of the program.
type cli struct {
	Demo         demoCmd          `cmd:"" group:"Start:" help:"Serve a sample calendar to try."`
	Serve        serveCmd         `cmd:"" group:"Start:" help:"Serve the API, the feeds and the pages."`
	Seed         seedCmds         `cmd:"" group:"Records:" help:"Fill a database with a sample calendar, or write one to a file."`
	Import       importCmd        `cmd:"" group:"Records:" help:"Import a calendar from a compatible REST API or from a file."`
	Move         moveCmd          `cmd:"" group:"Records:" help:"Move a WordPress site with The Events Calendar here."`
	Export       exportCmd        `cmd:"" group:"Records:" help:"Write the public records to a file: iCalendar, CSV or JSON."`
	User         userCmds         `cmd:"" group:"Calendar:" help:"Manage users."`
	Token        tokenCmds        `cmd:"" group:"Calendar:" help:"Manage access tokens."`
	Site         siteCmds         `cmd:"" group:"Calendar:" help:"Show or change the settings of the calendar."`
	Migrate      migrateCmds      `cmd:"" group:"Database:" help:"Bring the database schema up to date."`
	Backup       backupCmd        `cmd:"" group:"Database:" help:"Copy an SQLite database to a file while processes use it."`
	Check        checkCmd         `cmd:"" group:"Database:" help:"Check the database for inconsistencies. With --repair, repair them."`
	Images       imagesCmds       `cmd:"" group:"Database:" help:"Maintain image files."`
	Search       searchCmds       `cmd:"" group:"Database:" help:"Rebuild the search index."`
	Translations translationsCmds `cmd:"" group:"Records:" help:"List what is not translated, and exchange texts with translators."`
	OpenAPI      openapiCmd       `cmd:"" group:"Help:" name:"openapi" help:"Write the OpenAPI document."`
	Completion   completionCmd    `cmd:"" group:"Help:" help:"Print a script that completes commands and flags in bash, zsh or fish."`
	Version      versionCmd       `cmd:"" group:"Help:" help:"Print the version, as --version and -v do."`
	Complete     completeCmd      `cmd:"" group:"Help:" hidden:"" help:"Print how the last word of a command line may go on."`
	Explain      explainCmd       `cmd:"" group:"Help:" hidden:"" help:"Print the rules of a parameter or of a route. Goes in the next release."`
	Manual       manualCmd        `cmd:"" group:"Help:" hidden:"" help:"Rewrite the generated parts of the manual."`
}

// collectAt is the heap growth in percent at which garbage is collected, unless GOGC is set. Most of the heap is
// the index, which is long-lived and has few pointers. So collecting more often than by default costs little.
const collectAt = 50

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The second signal ends the process immediately.
	context.AfterFunc(ctx, stop)
	libraries, err := newLibraryLog(os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "almanac:", err)
		os.Exit(1)
	}
	os.Exit(run(ctx, os.Args[1:], os.Getenv, streams{
		Out: os.Stdout, Err: os.Stderr, In: os.Stdin, Environ: os.Environ(), Libraries: libraries,
	}))
}

// streams has the input and output of a command. Results go to Out, and everything else to Err. Secrets are read
// from In.
type streams struct {
	Out, Err io.Writer
	In       io.Reader

	Environ   []string    // all environment variables, as NAME=VALUE
	Libraries *libraryLog // log of libraries for the whole program; nil in tests
}

// run parses args and runs the command. It returns the exit status: 0 for success, 1 for failure, 2 for wrong
// usage.
func run(ctx context.Context, args []string, getenv func(string) string, s streams) int {
	var c cli
	env := &environment{getenv: getenv}
	exit := -1 // exit status if kong ends the program itself, as after --help; else -1
	parser, err := kong.New(&c,
		kong.Name("almanac"),
		kong.Description("An event-calendar REST service: events, venues, organizers, categories and tags."),
		kong.Writers(s.Out, s.Err),
		kong.Exit(func(code int) { exit = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.Help(printHelp),
		kong.ValueFormatter(env.help),
		kong.Resolvers(env),
		kong.PostBuild(env.readFlags),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(s, env),
	)
	if err != nil {
		fmt.Fprintln(s.Err, "almanac:", err)
		return 2
	}
	args = normalizeArgs(args)
	command, err := parser.Parse(args)
	if exit >= 0 {
		return exit
	}
	if wrong, ok := errors.AsType[*kong.ParseError](err); ok {
		return explainUsage(s, env, wrong, args)
	}
	if err != nil {
		fmt.Fprintln(s.Err, "almanac:", err)
		return 2
	}
	if err := command.Run(); err != nil {
		fmt.Fprintln(s.Err, "almanac:", err)
		if errors.As(err, new(usageError)) {
			env.printUsedVariables(s.Err)
			return 2
		}
		return 1
	}
	return 0
}

// usageError is a wrong flag value that kong cannot detect.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// buildVersion returns the version of the program: the tag or commit that it was built from.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return openapi.Development
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}

// version returns the version of the program with details that the Go toolchain recorded about the build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "almanac " + buildVersion()
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = " " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " (modified)"
		}
	}
	return "almanac " + buildVersion() + revision + modified + " " + info.GoVersion
}

// clockNow returns the current time in UTC and whole seconds. It is the clock of every site.
func clockNow() time.Time { return time.Now().UTC().Truncate(time.Second) }
