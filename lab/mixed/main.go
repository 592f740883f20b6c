// Command mixed measures how fast the service lists events while clients write events, and prints which aims are met:
//
//	go -C lab run ./mixed --mysql mysql://root@127.0.0.1:3306/
//
// It builds the service, fills databases unless they exist, and runs the service as a process on each database engine.
// Clients request 300 different lists in turn while another client changes titles. It compares the throughput at
// several rates of writes, with the throughput without writes as 1. It also measures the service's CPU time for a
// list: cached, cached after a write of another event, and not cached. Last comes memory.
//
// Only figures of the same machine can be compared.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/lab/command"
	"github.com/almanac-cal/almanac/lab/fill"
	"github.com/almanac-cal/almanac/lab/local"
	"github.com/almanac-cal/almanac/lab/proc"
	"github.com/almanac-cal/almanac/lab/process"
)

// settings contains the command-line flags.
type settings struct {
	Events     int           `help:"Events in the calendar." default:"100000"`
	MySQL      string        `name:"mysql" help:"URL of a MySQL server on which the database mixed_100k may be made; without it there is only SQLite." placeholder:"URL"`
	Dir        string        `help:"Folder of what is kept for the next time. Default: one in the user's cache." placeholder:"DIR" type:"path"`
	Program    string        `help:"The service, built before. Default: it is built." placeholder:"FILE" type:"path"`
	ServeFlags []string      `name:"serve-flag" help:"Another flag of the service, as --serve-flag=--cache-size=1GiB. Repeatable." sep:"none" placeholder:"FLAG"`
	Rounds     int           `help:"Times to measure each load, in turn. The median counts." default:"3"`
	Time       time.Duration `help:"How long to measure each time." default:"5s"`
	Warm       time.Duration `help:"How long to ask before." default:"1s"`
	Seed       uint64        `help:"Chooses the lists and the events." default:"1"`
}

func main() { command.Main(run) }

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	return command.Run(ctx, &settings{}, "mixed", "Measures lists of events while events are written.", args, out, errs)
}

// check validates the flags and creates the work folder. It returns an error on other systems than Linux.
func (s *settings) check() error {
	if s.Rounds < 1 || s.Time <= 0 || s.Warm <= 0 || s.Events < 10_000 {
		return errors.New("want at least one round, times above 0, and 10,000 events")
	}
	if runtime.GOOS != "linux" {
		return errors.New("CPU times of another process are read on Linux only")
	}
	if s.Dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("name a folder with --dir: %w", err)
		}
		s.Dir = filepath.Join(cache, "almanac-bench")
	}
	return os.MkdirAll(s.Dir, 0o755)
}

// Run measures the service on each database engine, one after the other, and prints the tables.
func (s *settings) Run(ctx context.Context, o command.Output) (err error) {
	if err := s.check(); err != nil {
		return err
	}
	// The collector of the generator takes little CPU time, and one thread sleeps until the next write is due.
	debug.SetGCPercent(400)
	runtime.GOMAXPROCS(runtime.NumCPU() + 2)
	began, load := time.Now(), proc.Load()
	if s.Program == "" {
		if s.Program, err = process.Build(ctx, s.Dir); err != nil {
			return err
		}
	}
	engines := []*engine{{settings: s, name: "SQLite", where: s.Dir, log: o.Err}}
	if s.MySQL != "" {
		engines = append(engines, &engine{settings: s, name: "MySQL", where: s.MySQL, log: o.Err})
	}
	for _, e := range engines {
		if err := e.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	fmt.Fprintf(o.Out, "%s; %s, %d processors, generator and service on the same machine; %d events; %d rounds of %s, seed %d; "+
		"flags of the service: %s; load of the machine before: %s; took %s\n\n", began.UTC().Format(time.DateOnly),
		runtime.Version(), runtime.NumCPU(), s.Events, s.Rounds, s.Time, s.Seed, flagsText(s.ServeFlags), load,
		time.Since(began).Round(time.Second))
	return printTables(o.Out, engines)
}

func flagsText(flags []string) string {
	if len(flags) == 0 {
		return "none"
	}
	return strings.Join(flags, " ")
}

// prepare fills the engine's database unless it exists, and sets its URL and an administrator's token.
func (e *engine) prepare(ctx context.Context) (err error) {
	began := time.Now()
	at, made, err := fill.Kept(ctx, e.where, "mixed", fill.Options{
		Events: e.Events, From: fill.Default(began), Site: local.Site("http://localhost"),
	})
	if err != nil {
		return err
	}
	if made {
		fmt.Fprintf(e.log, "%s: %d events made in %s\n", e.name, e.Events, time.Since(began).Round(time.Second))
	}
	st, err := fill.Open(ctx, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	e.db = at
	e.token, _, err = local.Administrator(ctx, st.Ent)
	return err
}
