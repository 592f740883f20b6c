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
	"github.com/almanac-cal/almanac/proof/must"
)

// waitingContext is a context that sends to waits whenever code begins to wait for its end. So a test knows that a
// request waits.
type waitingContext struct {
	context.Context //nolint:containedctx // it is a context
	waits           chan<- struct{}
}

func (c waitingContext) Done() <-chan struct{} {
	c.waits <- struct{}{}
	return c.Context.Done()
}

// renderVenues renders the venues 1 and 2 as a list does. The parameter changed is the revision of their last
// change. The function read is called when the rows are read, and its error is the error of the read.
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

// firstRead is a test case: how the first of several requests for the same records ends its read.
type firstRead struct {
	panics bool
	end    error // error of the first read; nil means that it succeeds, context.Canceled that its client goes away
	reads  int64 // number of reads by the requests that wait
}

var errRead = errors.New("read")

// TestAWaitingRequestReadsWhatTheFirstCouldNot lets one request read records while others wait for it. If the first
// one fails, exactly one of the others must read the records.
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
			must.Succeed(t, err)
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

// render makes the first request. It closes reading when its read begins, and waits until end is closed. Then the
// read succeeds, fails or panics, as r states.
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

// waitForFirstRead starts ten requests for records that another request is reading. It returns when all ten wait.
// The counter reads is the number of requests among them that read the records themselves.
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

// TestRequestsDoNotWaitForOlderReads lets one request read records. It checks that requests which could not use the
// result do not wait for it.
func TestRequestsDoNotWaitForOlderReads(t *testing.T) {
	t.Parallel()
	cache, err := NewRecordCache(1 << 20)
	must.Succeed(t, err)
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
