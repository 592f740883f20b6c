package reply

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/query"
)

// waitingContext reports each wait for the end of a context.
type waitingContext struct {
	context.Context //nolint:containedctx // it is a context
	waits           chan<- struct{}
}

func (c waitingContext) Done() <-chan struct{} {
	c.waits <- struct{}{}
	return c.Context.Done()
}

// renderVenues renders two venues as a list does. read reports an error of the read, or nil.
func renderVenues(ctx context.Context, cache *RecordCache, changed int64, read func() error) (bodies [][]byte, err error) {
	r := &Rendering{Cache: cache, Now: time.Unix(1_800_000_000, 0)}
	page := query.Page{IDs: []int64{1, 2}, Changed: []int64{changed, changed}}
	return Render(ctx, r, page, Renderer[*ent.Venue]{
		Kind: calendar.Venue, Media: "name",
		Encode: func(value any) ([]byte, error) { return []byte(value.(string)), nil }, //nolint:forcetypeassert // Value below
		Read: func(ids []int64) (rows []*ent.Venue, err error) {
			for _, id := range ids {
				rows = append(rows, &ent.Venue{ID: id, Phone: "hall", Status: calendar.Publish})
			}
			return rows, read()
		},
		Value: func(row *ent.Venue) (any, Audience) { return row.Phone, SameScope },
		Parts: func(row *ent.Venue) []ent.Core { return []ent.Core{row.Core()} },
	})
}

// firstRead is an end of the first of several requests for the same records.
type firstRead struct {
	panics bool
	end    error // error of the first read; nil means that it succeeds, context.Canceled that its client goes away
	reads  int64 // number of reads by the requests that wait
}

var errRead = errors.New("read")

// TestAWaitingRequestReadsWhatTheFirstCouldNot has a request begin to read records, and others wait for it.
func TestAWaitingRequestReadsWhatTheFirstCouldNot(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]firstRead{
		"success": {reads: 0},
		"failure": {end: errRead, reads: 1},
		"client":  {end: context.Canceled, reads: 1},
		"panic":   {panics: true, reads: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cache, err := NewRecordCache(1 << 20)
			if err != nil {
				t.Fatal(err)
			}
			reading, end := make(chan struct{}), make(chan struct{})
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			var all sync.WaitGroup
			all.Go(func() { first.render(ctx, t, cache, reading, end) })
			<-reading
			reads := waitForFirstRead(t, cache, &all)
			if errors.Is(first.end, context.Canceled) {
				leave()
			} else {
				close(end)
			}
			all.Wait()
			if n := reads.Load(); n != first.reads {
				t.Errorf("%d reads, want %d", n, first.reads)
			}
			if len(cache.shared) != 0 {
				t.Errorf("%d claims are left", len(cache.shared))
			}
		})
	}
}

// render is the first request. It closes reading when it begins to read, and goes on when end is closed.
func (r firstRead) render(ctx context.Context, t *testing.T, cache *RecordCache, reading chan<- struct{}, end <-chan struct{}) {
	t.Helper()
	defer func() {
		if got := recover(); (got != nil) != r.panics {
			t.Errorf("panic: %v", got)
		}
	}()
	_, err := renderVenues(ctx, cache, 1, func() error {
		close(reading)
		select {
		case <-end:
		case <-ctx.Done():
			return ctx.Err()
		}
		if r.panics {
			panic(errRead)
		}
		return r.end
	})
	if !errors.Is(err, r.end) {
		t.Errorf("the first request ends with %v", err)
	}
}

// waitForFirstRead starts ten requests for the records that a first one reads, and returns when all wait for it. reads counts
// how many of them read for themselves.
func waitForFirstRead(t *testing.T, cache *RecordCache, all *sync.WaitGroup) (reads *atomic.Int64) {
	t.Helper()
	const waiting = 10
	waits := make(chan struct{}, 10*waiting)
	reads = new(atomic.Int64)
	for range waiting {
		all.Go(func() {
			bodies, err := renderVenues(waitingContext{t.Context(), waits}, cache, 1, func() error {
				reads.Add(1)
				return nil
			})
			if err != nil || len(bodies) != 2 || string(bodies[0]) != "hall" || string(bodies[1]) != "hall" {
				t.Errorf("%q, %v", bodies, err)
			}
		})
	}
	for range waiting {
		<-waits
	}
	return reads
}

// TestRequestsDoNotWaitForOlderReads has a request read records while others have reasons not to wait for it.
func TestRequestsDoNotWaitForOlderReads(t *testing.T) {
	t.Parallel()
	cache, err := NewRecordCache(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	reading, end := make(chan struct{}), make(chan struct{})
	var first sync.WaitGroup
	first.Go(func() {
		if _, err := renderVenues(t.Context(), cache, 1, func() error { close(reading); <-end; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-reading
	var reads int
	read := func() error { reads++; return nil }
	if bodies, err := renderVenues(t.Context(), cache, 2, read); err != nil || len(bodies) != 2 || reads != 1 {
		t.Errorf("after a write: %q, %v, %d reads", bodies, err, reads)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := renderVenues(ctx, cache, 1, read); !errors.Is(err, context.Canceled) || reads != 1 {
		t.Errorf("of a client that has gone: %v, %d reads", err, reads)
	}
	close(end)
	first.Wait()
}
