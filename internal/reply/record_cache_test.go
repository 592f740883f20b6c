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

// TestAWaitingRequestReadsWhatTheFirstCouldNot has a request begin to read records, and others wait for it.
func TestAWaitingRequestReadsWhatTheFirstCouldNot(t *testing.T) {
	t.Parallel()
	errRead := errors.New("read")
	for name, test := range map[string]struct {
		panics bool
		end    error // error of the first read; nil means that it succeeds, context.Canceled that its client goes away
		reads  int64 // number of reads by the requests that wait
	}{
		"success": {false, nil, 0}, "failure": {false, errRead, 1}, "client": {false, context.Canceled, 1}, "panic": {true, nil, 1},
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
			all.Go(func() {
				defer func() {
					if got := recover(); (got != nil) != test.panics {
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
					if test.panics {
						panic(errRead)
					}
					return test.end
				})
				if !errors.Is(err, test.end) {
					t.Errorf("the first request ends with %v", err)
				}
			})
			<-reading
			const waiting = 10
			waits := make(chan struct{}, 10*waiting)
			var reads atomic.Int64
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
			if errors.Is(test.end, context.Canceled) {
				leave()
			} else {
				close(end)
			}
			all.Wait()
			if n := reads.Load(); n != test.reads {
				t.Errorf("%d reads, want %d", n, test.reads)
			}
			if len(cache.shared) != 0 {
				t.Errorf("%d claims are left", len(cache.shared))
			}
		})
	}
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
