// Command faults injects faults, such as a killed process, and checks that the service keeps its promises:
//
//	go -C lab run ./faults -binary ./almanac -mysqld ./start-mysqld [NAME...]
//
// It runs the real program as processes, sends them writes and reads, and injects a fault. Afterwards it compares the
// calendar with the acknowledged writes. docs/faults.md lists the promises of each scenario, and
// bash .ci/faults runs all scenarios.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"
)

// scenario is a test that injects a fault and checks that the service keeps its promises.
type scenario struct {
	name  string
	about string
	most  time.Duration // limit after which the scenario counts as hanging
	mysql bool          // needs a MySQL server of its own
	run   func(context.Context, *world) error
}

// scenarios lists all scenarios in the order of their start. Those that wait most come first, so that others run
// meanwhile.
var scenarios = []scenario{
	{"slow-clients", "2,000 connections that send or take a byte a second", 3 * time.Minute, false, slowClients},
	{"kill9-sqlite", "the process is killed during writes, on SQLite", 2 * time.Minute, false, killSQLite},
	{"kill9-mysql", "the process is killed during writes, on MySQL", 3 * time.Minute, true, killMySQL},
	{"mysql-restart", "MySQL is killed under load, and comes back", 2 * time.Minute, true, restartMySQL},
	{"mysql-stop", "MySQL is shut down under load, and comes back", 2 * time.Minute, true, stopMySQL},
	{"mysql-cut", "the network to MySQL is cut, refuses and stalls", 3 * time.Minute, true, cutMySQL},
	{"mysql-refuses", "MySQL takes no connection, kills some, or lets nobody write", 2 * time.Minute, true, refusingMySQL},
	{"group-failover", "the primary of a replication group is moved, and killed", 3 * time.Minute, true, failingOver},
	{"disk-full", "the disk of SQLite and of the images is full", 2 * time.Minute, false, fullDisk},
	{"replica-lag", "two replicas fall behind, catch up and are killed", 8 * time.Minute, true, laggingReplica},
	{"clock-jump", "the clock jumps forward and back", time.Minute, false, jumpingClock},
	{"two-sqlite", "two processes write to one SQLite file", 2 * time.Minute, false, twoOnSQLite},
	{"files-removed", "the log of SQLite is removed beneath two processes", 2 * time.Minute, false, removedFiles},
	{"eight-mysql", "eight processes on one MySQL, of which some stop and start", 3 * time.Minute, true, eightOnMySQL},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout)
	stop()
	os.Exit(status)
}

// testSetup contains the flags of the command.
type testSetup struct {
	binary string // path of the service's program
	mysqld string // called with DIR PORT OPTION...; runs a server in the foreground
	dir    string // folder for all files that scenarios write
	seed   uint64
	time   time.Duration // duration of the load in a round

	timelines string // folder for the timelines of failovers; "" for none
}

// run runs the command and returns the exit status: 0 all promises kept, 1 some broken, 2 wrong usage.
func run(ctx context.Context, args []string, out io.Writer) int {
	var s testSetup
	flags := flag.NewFlagSet("faults", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&s.binary, "binary", "", "the program under test")
	flags.StringVar(&s.mysqld, "mysqld", "",
		"program that runs a MySQL server in the foreground: called with DIR PORT OPTION...; without one, scenarios that need it are skipped")
	flags.StringVar(&s.dir, "dir", "", "folder for what is written; default a temporary one, removed when all is well")
	flags.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()), "of chance")
	flags.DurationVar(&s.time, "time", 2*time.Second, "how long each round of load lasts")
	flags.StringVar(&s.timelines, "timelines", "", "folder for timelines of failovers, as CSV and as pictures; default none")
	parallel := flags.Int("parallel", 2, "scenarios at once")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	chosen, err := selectScenarios(flags.Args())
	if err == nil && s.binary == "" {
		err = errors.New("-binary is missing")
	}
	if err == nil && *parallel < 1 {
		err = errors.New("-parallel: want 1 or more")
	}
	if err != nil {
		fmt.Fprintln(out, "faults:", err)
		return 2
	}
	if err := prepare(&s); err != nil {
		fmt.Fprintln(out, "faults:", err)
		return 1
	}
	fmt.Fprintf(out, "seed %d, folder %s\n", s.seed, s.dir)
	results := runAll(ctx, s, chosen, *parallel, out)
	table(out, results)
	if slices.ContainsFunc(results, func(r result) bool { return r.err != nil }) || ctx.Err() != nil {
		return 1
	}
	return 0
}

// prepare makes the paths of programs absolute, creates the work folder and raises the limit of open files. A missing
// program is an error.
func prepare(s *testSetup) error {
	for _, path := range []*string{&s.binary, &s.mysqld} {
		if *path == "" {
			continue
		}
		if _, err := os.Stat(*path); err != nil {
			return err
		}
		full, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = full
	}
	var err error
	if s.dir == "" {
		s.dir, err = os.MkdirTemp("", "almanac-faults-")
	} else if s.dir, err = filepath.Abs(s.dir); err == nil {
		err = os.MkdirAll(s.dir, 0o755)
	}
	return errors.Join(err, raiseFiles())
}

// selectScenarios finds scenarios by name. No names select all, and an unknown one is an error.
func selectScenarios(names []string) ([]scenario, error) {
	if len(names) == 0 {
		return scenarios, nil
	}
	var out []scenario
	for _, name := range names {
		i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })
		if i < 0 {
			var all []string
			for _, s := range scenarios {
				all = append(all, s.name)
			}
			return nil, fmt.Errorf("%s: no such scenario; there are %s", name, strings.Join(all, ", "))
		}
		out = append(out, scenarios[i])
	}
	return out, nil
}

// errSkipped is wrapped by the error of a scenario that cannot run here.
var errSkipped = errors.New("skipped")

// result is the outcome of a scenario.
type result struct {
	scenario
	tally
	took    time.Duration
	skipped string
	err     error
}

// tally contains counts of requests and faults in a scenario, and its longest recovery.
type tally struct {
	acknowledged int // writes with a full reply of success
	unknown      int // writes without a successful reply, which may have happened or not
	refused      int // replies 503
	replies      int // all replies that loads and checks got
	faults       int // injected faults
	recovery     time.Duration
}

func runAll(ctx context.Context, s testSetup, chosen []scenario, parallel int, out io.Writer) []result {
	results := make([]result, len(chosen))
	slots := make(chan struct{}, parallel)
	var printing sync.Mutex
	var group sync.WaitGroup
	for i, c := range chosen {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			var log bytes.Buffer
			results[i] = runOne(ctx, s, c, &log)
			printing.Lock()
			defer printing.Unlock()
			_, _ = log.WriteTo(out) // a terminal that is gone
		})
	}
	group.Wait()
	return results
}

// runOne runs a scenario and stops all processes that it started. It keeps the scenario's files only if a promise was
// broken.
func runOne(ctx context.Context, s testSetup, c scenario, log *bytes.Buffer) (r result) {
	r.scenario = c
	fmt.Fprintf(log, "\n=== %s: %s\n", c.name, c.about)
	if c.mysql && s.mysqld == "" {
		r.skipped = "skipped: no MySQL server"
		fmt.Fprintln(log, r.skipped)
		return r
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.most, fmt.Errorf("not done after %v", c.most))
	defer cancel()
	began := time.Now()
	w := newWorld(s, c.name, log)
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		r.err = err
		return r
	}
	r.err = func() (err error) {
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("the driver panicked: %v\n%s", cause, debug.Stack())
			}
		}()
		return c.run(ctx, w)
	}()
	if ctx.Err() != nil {
		r.err = errors.Join(r.err, context.Cause(ctx))
	}
	if errors.Is(r.err, errSkipped) {
		r.skipped, r.err = r.err.Error(), nil
	}
	r.err = errors.Join(r.err, w.end(), w.broken())
	r.tally, r.took = w.count(), time.Since(began)
	if r.err == nil {
		r.err = os.RemoveAll(w.dir)
	} else {
		w.tell()
	}
	verdict := "held"
	switch {
	case r.err != nil:
		verdict = "BROKEN\n" + r.err.Error()
	case r.skipped != "":
		verdict = r.skipped
	}
	fmt.Fprintf(log, "--- %s: %d s, %s\n", c.name, int(r.took.Seconds()+0.5), verdict)
	return r
}

// table prints a table of the results.
func table(out io.Writer, results []result) {
	fmt.Fprintln(out)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SCENARIO\tREPLIES\tACKNOWLEDGED\tUNKNOWN\t503\tFAULTS\tRECOVERY\tTIME\tVERDICT")
	for _, r := range results {
		verdict, recovery := "held", "-"
		switch {
		case r.skipped != "":
			verdict = r.skipped
		case r.err != nil:
			verdict = "BROKEN"
		}
		if r.recovery > 0 {
			recovery = r.recovery.Round(10 * time.Millisecond).String()
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%ds\t%s\n", r.name, r.replies, r.acknowledged, r.unknown, r.refused,
			r.faults, recovery, int(r.took.Seconds()+0.5), verdict)
	}
	_ = t.Flush() // a terminal that is gone
}
