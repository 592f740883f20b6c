package server

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// revisions tell which revision of the calendar is the newest. Who asks hears of every change that was committed before:
// an answer is only shared with those who asked before it was looked for.
type revisions struct {
	read    func(context.Context) (int64, error)
	known   func() (int64, bool) // the newest revision, if it can be told at once; may be nil
	timeout time.Duration        // of one look
	delay   time.Duration        // how old an answer may be; 0: no older than the question

	mu      sync.Mutex
	running *look // may have missed what was committed a moment ago
	next    *look // begins when running has ended, or at once if none is
	last    int64
	at      time.Time // when the look that found last began; zero: none did
	since   time.Time // what looks found that began before may not be shared any more
}

// look is one question to the database, and its answer once done is closed.
type look struct {
	asked    time.Time // by the first who waits for it
	done     chan struct{}
	revision int64
	err      error
}

// current is the newest revision at now, which is the time of the process's clock.
func (r *revisions) current(ctx context.Context, now time.Time) (int64, error) {
	if r.known != nil {
		if revision, ok := r.known(); ok {
			return revision, nil
		}
	}
	r.mu.Lock()
	if !r.at.IsZero() && now.Sub(r.at) < r.delay {
		defer r.mu.Unlock()
		return r.last, nil
	}
	if r.running != nil && now.Sub(r.running.asked) > gateWait {
		// The database does not answer at this time. Those who wait for it are enough.
		r.mu.Unlock()
		return 0, &turnedAway{error: errBusy, retry: time.Second, reason: reasonBusy}
	}
	shared, first := r.next, false
	if shared == nil {
		shared = &look{asked: now, done: make(chan struct{})}
		r.next, first = shared, r.running == nil
	}
	r.mu.Unlock()
	if first {
		// Requests that have arrived already may share the answer; if there are none, this takes no time.
		runtime.Gosched()
		r.mu.Lock()
		r.running, r.next = shared, nil
		r.mu.Unlock()
		r.run(shared)
		return shared.revision, shared.err
	}
	select {
	case <-shared.done:
		return shared.revision, shared.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// run asks the database, and has the next look begun if somebody waits for it. No request's end ends it: others may wait
// for the same answer. Nobody waits for longer than the timeout, that for the look before included.
func (r *revisions) run(l *look) {
	began := time.Now()
	ctx, cancel := context.WithDeadline(context.Background(), l.asked.Add(r.timeout))
	l.revision, l.err = r.read(ctx)
	cancel()
	r.mu.Lock()
	if l.err == nil && !began.Before(r.since) {
		r.last, r.at = l.revision, began
	}
	r.running, r.next = r.next, nil
	next := r.running
	r.mu.Unlock()
	close(l.done)
	if next != nil {
		go r.run(next)
	}
}

// forget makes the next one who asks look, after a write of this process.
func (r *revisions) forget() {
	if r.delay == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.since = time.Time{}, time.Now()
}
