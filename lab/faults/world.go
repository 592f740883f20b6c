package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// world is the environment of one scenario: its folder, processes and counts.
type world struct {
	testSetup
	dir     string
	chance  *rand.Rand // random numbers for the scenario's own goroutine
	journal *journal
	rounds  int // number of loads so far, which makes titles unique
	// away means that the service may refuse requests: from the start of a fault until it has recovered.
	away atomic.Bool
	// timeline records replies; nil records none.
	timeline atomic.Pointer[timeline]

	mu       sync.Mutex
	log      *bytes.Buffer
	broke    []error // the first broken promises
	more     int     // number of further broken promises
	tally    tally
	programs []*program
	undo     []func() error
}

func newWorld(s testSetup, name string, log *bytes.Buffer) *world {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return &world{
		testSetup: s, dir: filepath.Join(s.dir, name), log: log, journal: newJournal(),
		chance: rand.New(rand.NewPCG(s.seed, h.Sum64())),
	}
}

// say adds a line to the scenario's log.
func (w *world) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(w.log, format+"\n", args...)
}

// mostBroken is the number of broken promises that are logged. Further ones are only counted.
const mostBroken = 12

// fail records a broken promise. The scenario goes on, because further ones help to find the cause.
func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.broke) >= mostBroken {
		w.more++
		return
	}
	w.broke = append(w.broke, fmt.Errorf(format, args...))
}

// broken returns the broken promises that fail recorded as one error, nil if there are none.
func (w *world) broken() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	errs := w.broke
	if w.more > 0 {
		errs = append(errs, fmt.Errorf("and %d more", w.more))
	}
	return errors.Join(errs...)
}

// tell logs details for finding the cause of a broken promise. These are the journal's path and the last lines of the
// programs' logs.
func (w *world) tell() {
	w.say("the folder %s is kept: logs, database, journal.json", w.dir)
	if err := os.WriteFile(filepath.Join(w.dir, "journal.json"), w.journal.dump(), 0o600); err != nil {
		w.say("journal: %v", err)
	}
	for _, p := range w.programs {
		w.say("last lines of %s:\n%s", p.logFile, p.tail(12))
	}
}

func (w *world) count() tally {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tally
	t.acknowledged, t.unknown = w.journal.counts()
	return t
}

// add calls change with the scenario's counts, which are locked meanwhile.
func (w *world) add(change func(*tally)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.tally)
}

// inject logs and counts a fault.
func (w *world) inject(what string) {
	w.add(func(t *tally) { t.faults++ })
	w.say("fault: %s", what)
}

// recovered records how long the service took until it worked again. More than the limit is a broken promise.
func (w *world) recovered(took, limit time.Duration) {
	w.add(func(t *tally) { t.recovery = max(t.recovery, took) })
	w.say("well again after %v", took.Round(time.Millisecond))
	if took > limit {
		w.fail("recovery took %v, want at most %v", took, limit)
	}
}

// later registers a function that end calls. The last one registered is called first.
func (w *world) later(do func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.undo = append(w.undo, do)
}

// end kills the service's processes and checks their logs. Then it calls the functions that later registered, in
// reverse order.
func (w *world) end() error {
	var errs []error
	for _, p := range w.programs {
		p.kill()
		errs = append(errs, p.innocent())
	}
	for i := len(w.undo) - 1; i >= 0; i-- {
		errs = append(errs, w.undo[i]())
	}
	return errors.Join(errs...)
}

// waitLimit limits waiting for operations that take moments on an idle machine.
const waitLimit = 40 * time.Second

// wait calls so repeatedly until it returns nil. After the time most it returns the last error, prefixed by what.
func wait(ctx context.Context, what string, most time.Duration, so func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var last error
	for {
		// The error is that of the last complete attempt, not that time was up.
		if err := so(ctx); err == nil {
			return nil
		} else if ctx.Err() == nil || last == nil {
			last = err
		}
		if pause(ctx, 30*time.Millisecond) != nil {
			return fmt.Errorf("%s: not within %v: %w", what, most, last)
		}
	}
}

// pause sleeps for d. It returns the cause if ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
