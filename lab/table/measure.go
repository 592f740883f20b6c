package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/lab/command"
	"github.com/almanac-cal/almanac/lab/fill"
	"github.com/almanac-cal/almanac/lab/local"
	"github.com/almanac-cal/almanac/lab/proc"
	"github.com/almanac-cal/almanac/lab/process"
)

// measureCmd contains the flags of the command that measures all targets.
type measureCmd struct {
	effort
	Quick   bool     `help:"Try whether it works: 10,000 events, 1 and 64 clients, one round, whatever else is said of these."`
	Events  int      `help:"Events in the calendar." default:"100000"`
	MySQL   string   `name:"mysql" help:"URL of a MySQL server on which databases may be made; without it there is only SQLite." placeholder:"URL"`
	Dir     string   `help:"Folder of what is kept for the next time. Default: one in the user's cache." placeholder:"DIR" type:"path"`
	Program string   `help:"The service, built before. Default: it is built." placeholder:"FILE" type:"path"`
	Flags   []string `help:"More flags of the service, as --flags=--max-concurrent=32." placeholder:"FLAG"`
	Only    string   `help:"Measure only targets whose names match, such as 'hot|constant'." placeholder:"REGEXP"`
	Matrix  bool     `help:"Measure throughput and times." default:"true" negatable:""`
	Flood   bool     `help:"Ask twice as often as can be answered, too." default:"true" negatable:""`
	Writes  bool     `help:"Write, too, on MySQL." default:"true" negatable:""`
}

// quick reduces the flags for effort to a minimum, to check that the command works.
func (c *measureCmd) quick() {
	c.Events, c.Clients, c.Rounds, c.Time, c.Warm = 10_000, []int{1, 64}, 1, 400*time.Millisecond, 100*time.Millisecond
}

func (c *measureCmd) Run(ctx context.Context, o command.Output) error {
	began, load := time.Now(), proc.Load()
	if c.Quick {
		c.quick()
	}
	only, err := c.check()
	if err != nil {
		return err
	}
	// The generator collects garbage rarely, and one of its threads sleeps until the next request is due.
	debug.SetGCPercent(400)
	runtime.GOMAXPROCS(runtime.NumCPU() + 2)
	s := &testStand{dir: c.Dir, flags: c.Flags, seed: c.Seed}
	if s.self, err = os.Executable(); err != nil {
		return err
	}
	if s.program, err = c.build(ctx, o); err != nil {
		return err
	}
	has, err := probe(ctx, s.program)
	if err != nil {
		return err
	}
	if !has.cache {
		fmt.Fprintln(o.Err, "this build of the service has no --cache-size: there is no hot path, and cold is as it is")
	}
	if s.engines, err = c.engines(ctx, o); err != nil {
		return err
	}
	m := &runResult{effort: c.effort, events: c.Events}
	for _, t := range targets(s.engines, has, c.Quick) {
		if only.MatchString(t.String()) {
			m.targets = append(m.targets, t)
		}
	}
	if err := c.all(ctx, o, s, m); err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "%s; %s, %s/%s, %d processors, generator and servers on the same machine; %d rounds of %s, %s "+
		"arrivals, seed %d; load of the machine before: %s; took %s\n\n", time.Now().UTC().Format(time.DateOnly), runtime.Version(), runtime.GOOS,
		runtime.GOARCH, runtime.NumCPU(), c.Rounds, c.Time, c.Arrivals, c.Seed, load, time.Since(began).Round(time.Second))
	if !has.cache {
		fmt.Fprint(o.Out, "This build of the service has no cache of replies.\n\n")
	}
	return m.print(o.Out)
}

func (c *measureCmd) check() (*regexp.Regexp, error) {
	if len(c.Clients) == 0 || slices.Min(c.Clients) < 1 || slices.Max(c.Clients) > 4096 {
		return nil, errors.New("--clients: want numbers from 1 to 4096")
	}
	if c.Rounds < 1 || c.Time <= 0 || c.Warm < 0 || c.Events < 1000 {
		return nil, errors.New("want at least a round, a time, and a thousand events")
	}
	if runtime.GOOS != "linux" {
		return nil, errors.New("it needs Linux, to see what a process uses")
	}
	slices.Sort(c.Clients)
	if c.Dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("name a folder with --dir: %w", err)
		}
		c.Dir = filepath.Join(cache, "almanac-bench")
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return nil, err
	}
	only, err := regexp.Compile(c.Only)
	if err != nil {
		return nil, fmt.Errorf("--only: %w", err)
	}
	return only, nil
}

// build compiles the service and returns its path. If the flag --program names a program, it returns that.
func (c *measureCmd) build(ctx context.Context, o command.Output) (string, error) {
	if c.Program != "" {
		return c.Program, nil
	}
	began := time.Now()
	program, err := process.Build(ctx, c.Dir)
	if err == nil {
		fmt.Fprintf(o.Err, "built in %s\n", time.Since(began).Round(time.Second))
	}
	return program, err
}

// engines returns the database engines to measure: SQLite, and MySQL if its flag is set. It fills databases that lack
// the calendar.
func (c *measureCmd) engines(ctx context.Context, o command.Output) ([]engine, error) {
	out := []engine{{name: "SQLite"}}
	if c.MySQL != "" {
		out = append(out, engine{name: "MySQL"})
	}
	for i, where := range []string{c.Dir, c.MySQL}[:len(out)] {
		e := &out[i]
		var err error
		if e.url, err = c.filled(ctx, o, where, "scale"); err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
		if err := e.learn(ctx, c.Seed); err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return out, nil
}

// filled returns the URL of a database with the calendar, named with a prefix. It fills the database if necessary.
func (c *measureCmd) filled(ctx context.Context, o command.Output, where, prefix string) (string, error) {
	began := time.Now()
	at, made, err := fill.Kept(ctx, where, prefix, fill.Options{
		Events: c.Events, From: fill.Default(began), Site: local.Site("http://localhost"),
	})
	if made {
		fmt.Fprintf(o.Err, "%d events made in %s\n", c.Events, time.Since(began).Round(time.Second))
	}
	return at, err
}

// all runs the measurements that the flags select, stores the results in m, and stops all targets.
func (c *measureCmd) all(ctx context.Context, o command.Output, s *testStand, m *runResult) (err error) {
	defer func() {
		for _, t := range m.targets {
			if t.Process != nil {
				err = errors.Join(err, t.Stop())
			}
		}
	}()
	if c.Matrix {
		for _, t := range m.targets {
			if err := s.start(ctx, t); err != nil {
				return err
			}
		}
		fmt.Fprintf(o.Err, "%d servers run: %s\n", len(m.targets), names(m.targets))
		if m.cells, err = c.matrix(ctx, o, m.targets); err != nil {
			return err
		}
		if c.Flood {
			if m.floods, err = c.floods(ctx, o, m.targets, m.cells, max(6*c.Time, 2*time.Second)); err != nil {
				return err
			}
		}
		for _, t := range m.targets {
			if err := t.Stop(); err != nil {
				return err
			}
			t.Process = nil
		}
	} else {
		m.targets = nil
	}
	if !c.Writes || c.MySQL == "" {
		return nil
	}
	// Writes have a database of their own, since they change it. A run adds few events compared with its size.
	db, err := c.filled(ctx, o, c.MySQL, "speed_writes")
	if err != nil {
		return err
	}
	m.writing, err = c.writes(ctx, o, s, db, max(4*c.Time, 2*time.Second))
	if err != nil {
		return fmt.Errorf("writes: %w", err)
	}
	return nil
}

func names(all []*target) string {
	var out []string
	for _, t := range all {
		out = append(out, t.String())
	}
	return strings.Join(out, "; ")
}
