package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestRevisionsAreNoOlderThanTheQuestion lets readers ask while a writer commits: nobody may be told less than what
// was committed before they asked, and not everybody may have needed a look of their own.
func TestRevisionsAreNoOlderThanTheQuestion(t *testing.T) {
	t.Parallel()
	var committed, looks atomic.Int64
	r := &revisions{timeout: time.Minute, read: func(context.Context) (int64, error) {
		looks.Add(1)
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
				got, err := r.current(context.Background(), time.Now())
				if err != nil || got < before {
					t.Errorf("%d, %v; %d was committed before", got, err, before)
					return
				}
				committed.Add(1)
			}
		})
	}
	all.Wait()
	if n := looks.Load(); n == 0 || n >= readers*questions {
		t.Errorf("%d looks for %d questions", n, readers*questions)
	}
	if r.running != nil || r.next != nil {
		t.Error("a look is left over")
	}
}

func TestRevisionsFail(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	down := true
	r := &revisions{timeout: time.Minute, delay: time.Hour, read: func(ctx context.Context) (int64, error) {
		if _, ok := ctx.Deadline(); !ok {
			t.Error("a look without a deadline")
		}
		if down {
			return 0, away
		}
		return 7, nil
	}}
	if _, err := r.current(t.Context(), time.Now()); !errors.Is(err, away) {
		t.Errorf("got %v", err)
	}
	down = false
	if got, err := r.current(t.Context(), time.Now()); got != 7 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	down = true
	if got, err := r.current(t.Context(), time.Now()); got != 7 || err != nil {
		t.Errorf("within the delay: %d, %v", got, err)
	}
	r.forget()
	if _, err := r.current(t.Context(), time.Now()); !errors.Is(err, away) {
		t.Errorf("after a write of its own: %v", err)
	}
}

func TestWhoWaitsForARevisionCanGiveUp(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}), make(chan struct{})
	var once sync.Once
	r := &revisions{timeout: time.Minute, read: func(context.Context) (int64, error) {
		once.Do(func() { close(begun) })
		<-end
		return 1, nil
	}}
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := r.current(context.Background(), time.Now()); err != nil {
			t.Error(err)
		}
	})
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.current(ctx, time.Now()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(end)
	all.Wait()
}
