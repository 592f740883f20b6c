package reply

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestRevisionsAreNoOlderThanTheRequest reads revisions in several goroutines while another one writes. Each reader
// must get at least the revision that was committed before its call. The readers must share reads.
func TestRevisionsAreNoOlderThanTheRequest(t *testing.T) {
	t.Parallel()
	var committed, reads atomic.Int64
	r := &Revisions{timeout: time.Minute, read: func(context.Context) (int64, error) {
		reads.Add(1)
		seen := committed.Load()
		time.Sleep(50 * time.Microsecond) // what is committed now is missed
		return seen, nil
	}}
	const readers, questions = 16, 200
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			for range questions {
				before := committed.Load()
				got, err := r.Newest(context.Background(), time.Now())
				if err != nil || got < before {
					t.Errorf("%d, %v; %d was committed before", got, err, before)
					return
				}
				committed.Add(1)
			}
		})
	}
	all.Wait()
	if n := reads.Load(); n == 0 || n >= readers*questions {
		t.Errorf("%d reads for %d questions", n, readers*questions)
	}
	if r.running != nil || r.next != nil {
		t.Error("a read is left over")
	}
}

func TestRevisionsFail(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	down := true
	r := &Revisions{timeout: time.Minute, delay: time.Hour, read: func(ctx context.Context) (int64, error) {
		if _, ok := ctx.Deadline(); !ok {
			t.Error("a read without a deadline")
		}
		if down {
			return 0, away
		}
		return 7, nil
	}}
	if _, err := r.Newest(t.Context(), time.Now()); !errors.Is(err, away) {
		t.Errorf("got %v", err)
	}
	down = false
	if got, err := r.Newest(t.Context(), time.Now()); got != 7 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	down = true
	if got, err := r.Newest(t.Context(), time.Now()); got != 7 || err != nil {
		t.Errorf("within the delay: %d, %v", got, err)
	}
	r.Expire()
	if _, err := r.Newest(t.Context(), time.Now()); !errors.Is(err, away) {
		t.Errorf("after a write of its own: %v", err)
	}
}

func TestWaitingForARevisionEndsWithTheRequest(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}), make(chan struct{})
	var once sync.Once
	r := &Revisions{timeout: time.Minute, read: func(context.Context) (int64, error) {
		once.Do(func() { close(begun) })
		<-end
		return 1, nil
	}}
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := r.Newest(context.Background(), time.Now()); err != nil {
			t.Error(err)
		}
	})
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Newest(ctx, time.Now()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(end)
	all.Wait()
}

// TestHangingDatabaseRefusesLaterRequests lets a database hang. Requests that arrive within checkTime wait up to
// the timeout of one read. Later requests must fail at once.
func TestHangingDatabaseRefusesLaterRequests(t *testing.T) {
	t.Parallel()
	reading := make(chan struct{}, 2)
	r := &Revisions{timeout: 1500 * time.Millisecond, read: func(ctx context.Context) (int64, error) {
		reading <- struct{}{}
		<-ctx.Done()
		return 0, ctx.Err()
	}}
	began := time.Now()
	ended := make(chan error, 2)
	ask := func() { _, err := r.Newest(context.Background(), began); ended <- err }
	go ask()
	<-reading
	go ask() // waits for the next look
	if _, err := r.Newest(context.Background(), began.Add(checkTime+time.Second)); !errors.Is(err, ErrHangs) {
		t.Errorf("later: %v", err)
	}
	for range 2 {
		if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	}
	if took := time.Since(began); took > 2500*time.Millisecond {
		t.Errorf("the second waited for %v", took)
	}
}

// TestExpireDropsTheRunningRead calls Expire during a read, as after a write by this process. Later requests must
// not share that read.
func TestExpireDropsTheRunningRead(t *testing.T) {
	t.Parallel()
	reading, goOn := make(chan struct{}), make(chan struct{})
	revision := int64(1)
	r := &Revisions{timeout: time.Minute, delay: time.Hour, read: func(context.Context) (int64, error) {
		seen := revision
		if seen == 1 {
			close(reading)
			<-goOn
		}
		return seen, nil
	}}
	first := make(chan struct{})
	go func() {
		defer close(first)
		if got, err := r.Newest(context.Background(), time.Now()); got != 1 || err != nil {
			t.Error(got, err)
		}
	}()
	<-reading
	revision = 2
	r.Expire()
	close(goOn)
	<-first
	if got, err := r.Newest(context.Background(), time.Now()); got != 2 || err != nil {
		t.Errorf("after the write: %d, %v", got, err)
	}
}
