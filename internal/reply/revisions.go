package reply

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/almanac-cal/almanac/internal/query"
)

// ErrHangs is the error for a request that does not wait for the database, because an earlier read of the revision
// takes longer than checkTime.
var ErrHangs = errors.New("the database hangs")

// checkTime is how long requests wait until it is known whether a cached reply is right.
const checkTime = time.Second

// Revisions reads the newest revision of the calendar for many requests at a time. A request shares only reads
// that began after it arrived, so it sees every change committed before.
type Revisions struct {
	read          func(context.Context) (int64, error)
	serverChanges query.ServerChanges // changes when reads switch to another server; nil means one server
	timeout       time.Duration       // longest duration of one read
	// delay is how old a shared revision may be. 0 means that it is read after the request arrived.
	delay time.Duration

	mu sync.Mutex
	// running is the current read. It may have missed a recent commit.
	running *revisionRead
	// next is the read that begins when running ends, or immediately if none is running.
	next         *revisionRead
	last         int64
	at           time.Time // when the read of last began; zero means that last is not valid
	serverNumber int64     // number of ServerChanges before the read of last
	// since is the time of the last write by this process. Results of reads that began before it are not stored.
	since time.Time
}

// revisionRead is one read of the revision. Its result is valid after done is closed.
type revisionRead struct {
	asked    time.Time // when the first request began to wait for it
	done     chan struct{}
	revision int64
	err      error
}

// Newest returns the newest revision. now is the time at which the request arrived.
func (r *Revisions) Newest(ctx context.Context, now time.Time) (int64, error) {
	r.mu.Lock()
	if !r.at.IsZero() && now.Sub(r.at) < r.delay && r.serverChanges.Number() == r.serverNumber {
		defer r.mu.Unlock()
		return r.last, nil
	}
	if r.running != nil && now.Sub(r.running.asked) > checkTime {
		// The database hangs, so further requests must not wait for it.
		r.mu.Unlock()
		return 0, ErrHangs
	}
	shared, first := r.next, false
	if shared == nil {
		shared = &revisionRead{asked: now, done: make(chan struct{})}
		r.next, first = shared, r.running == nil
	}
	r.mu.Unlock()
	if first {
		// Requests that have already arrived may now join this read. Gosched returns immediately if there are
		// none.
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

// run performs one shared read of the revision, and then starts the next read if a request waits for it. The read
// continues when its first request ends, because other requests share it. The timeout includes the wait for the
// previous read.
func (r *Revisions) run(shared *revisionRead) {
	began, moved := time.Now(), r.serverChanges.Number()
	ctx, cancel := context.WithDeadline(context.Background(), shared.asked.Add(r.timeout))
	shared.revision, shared.err = r.read(ctx)
	cancel()
	r.mu.Lock()
	if shared.err == nil && !began.Before(r.since) {
		r.last, r.at, r.serverNumber = shared.revision, began, moved
	}
	r.running, r.next = r.next, nil
	next := r.running
	r.mu.Unlock()
	close(shared.done)
	if next != nil {
		go r.run(next)
	}
}

// Expire makes the next request read the revision again, after a write by this process.
func (r *Revisions) Expire() {
	if r.delay == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.since = time.Time{}, time.Now()
}
