package server_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/apitest"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/storetest"
	"github.com/almanac-cal/almanac/server"
)

// TestConcurrentRequestsReadARecordOnce sends forty requests for the same records to a process without caches. Their
// addresses differ in undeclared parameters, order and spelling. The first read of records waits until all have begun.
func TestConcurrentRequestsReadARecordOnce(t *testing.T) {
	t.Parallel()
	const requests = 40
	spellings := map[string][]string{
		"feed": {
			"/events.ics?per_page=2000&start_date=2026-01-01&x=%d", "/events.ics?start_date=2026-01-01&per_page=2000&y%d=1",
			"/events.ics?start%%5Fdate=2026-01-01+00:00:00&per_page=02000&%d", "/events.ics?x=%d&start_date=2026/01/01&per_page=1999",
		},
		"list": {
			"/cal/events/v1/events?per_page=50&start_date=2026-01-01&x=%d", "/cal/events/v1/events?start_date=2026-01-01&per_page=50&y%d=1",
			"/cal/events/v1/events/?start%%5Fdate=2026-01-01+00:00:00&per_page=49&%d", "/cal/events/v1/events?x=%d&start_date=2026/01/01&per_page=050",
		},
	}
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var begun, reads atomic.Int64
		var gate atomic.Pointer[chan struct{}] // closed when all requests have begun; nil while the test does other things
		st.Watch(func(ctx context.Context, _, statement string) (context.Context, func(error)) {
			all := gate.Load()
			switch {
			case all == nil:
			case strings.Contains(statement, "counters") && strings.HasPrefix(statement, "SELECT"):
				if begun.Add(1) == requests {
					close(*all)
				}
			case strings.Contains(statement, event.FieldStartWall) && strings.Contains(statement, event.FieldDescription):
				reads.Add(1)
				<-*all
			}
			return ctx, func(error) {}
		})
		api := apitest.New(t, st)
		api.SignIn(t, "admin", calendar.Administrator)
		for i := range 20 {
			api.AddEvent(t, fmt.Sprintf("event %d", i), "2026-12-01 10:00:00", "2026-12-01 11:00:00")
		}
		for name, paths := range spellings {
			want := make([]apitest.Response, requests) // of a process that shares nothing
			for i := range want {
				want[i] = api.Do(t, apitest.Request{Path: fmt.Sprintf(paths[i%len(paths)], i), Absolute: true})
				if want[i].Status != 200 {
					t.Fatalf(paths[i%len(paths)]+": %d %s", i, want[i].Status, want[i].Body)
				}
			}
			var clock atomic.Int64 // requests begin in different seconds, in no order
			s := api.Another(t, func(c *server.Config) {
				c.Caching = server.Caching{}
				c.Site.Now = func() time.Time { return apitest.Now.Add(time.Duration(7*clock.Add(1)%3) * time.Second) }
			})
			begun.Store(0)
			reads.Store(0)
			all := make(chan struct{})
			gate.Store(&all)
			replies := make([]apitest.Response, requests)
			var group sync.WaitGroup
			for i := range requests {
				req := api.NewRequest(t, apitest.Request{Path: fmt.Sprintf(paths[i%len(paths)], i), Absolute: true})
				group.Go(func() { replies[i] = apitest.Send(t, s, req) })
			}
			group.Wait()
			gate.Store(nil)
			if n := reads.Load(); n != 1 {
				t.Errorf("%s: the records were read %d times", name, n)
			}
			for i, r := range replies {
				if r.Status != 200 || string(r.Body) != string(want[i].Body) {
					t.Errorf(paths[i%len(paths)]+": %d %.200s, want %.200s", i, r.Status, r.Body, want[i].Body)
				}
			}
		}
	})
}
