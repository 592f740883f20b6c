package server

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// revisions reads the newest revision of the calendar for many requests together. A request shares a read only if the
// read began after the request, so it sees every change committed before.
type revisions struct {
	read    func(context.Context) (int64, error)
	moves   func() int64  // Caching.Moves; nil means one database
	timeout time.Duration // of one read
	delay   time.Duration // how old a revision may be; 0 means no older than the request

	mu      sync.Mutex
	running *revisionRead // may have missed a recent commit
	next    *revisionRead // begins when running ends, or at once
	last    int64
	at      time.Time // when the read of last began; zero means that last is not valid
	moved   int64     // result of moves before the read of last
	since   time.Time // reads that began before are not stored
}

// revisionRead is one read of the revision. Its result is valid once done is closed.
type revisionRead struct {
	asked    time.Time // by the first request that waits for it
	done     chan struct{}
	revision int64
	err      error
}

// server returns a number that identifies the database until the next move.
func (r *revisions) server() int64 {
	if r.moves == nil {
		return 0
	}
	return r.moves()
}

// newest returns the newest revision at now, a time of the process's clock.
func (r *revisions) newest(ctx context.Context, now time.Time) (int64, error) {
	r.mu.Lock()
	if !r.at.IsZero() && now.Sub(r.at) < r.delay && r.server() == r.moved {
		defer r.mu.Unlock()
		return r.last, nil
	}
	if r.running != nil && now.Sub(r.running.asked) > gateWait {
		// The database hangs. No more requests shall wait for it.
		r.mu.Unlock()
		return 0, &refusedError{error: errBusy, retry: time.Second, reason: reasonBusy}
	}
	shared, first := r.next, false
	if shared == nil {
		shared = &revisionRead{asked: now, done: make(chan struct{})}
		r.next, first = shared, r.running == nil
	}
	r.mu.Unlock()
	if first {
		// Requests that have arrived may join now. Without any this takes no time.
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

// run reads the revision, and starts the next read if a request waits for it. The read continues when its request ends,
// since others share it. The timeout includes the wait for the previous read.
func (r *revisions) run(shared *revisionRead) {
	began, moved := time.Now(), r.server()
	ctx, cancel := context.WithDeadline(context.Background(), shared.asked.Add(r.timeout))
	shared.revision, shared.err = r.read(ctx)
	cancel()
	r.mu.Lock()
	if shared.err == nil && !began.Before(r.since) {
		r.last, r.at, r.moved = shared.revision, began, moved
	}
	r.running, r.next = r.next, nil
	next := r.running
	r.mu.Unlock()
	close(shared.done)
	if next != nil {
		go r.run(next)
	}
}

// expire has the next request read the revision, after a write of this process.
func (r *revisions) expire() {
	if r.delay == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.since = time.Time{}, time.Now()
}
