package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

// sharedAddresses returns paths of replies that show the same records. %d in a path stands for the number of the
// request.
func sharedAddresses(first, second int64) map[string][]string {
	categories := func(path string) []string {
		return []string{
			fmt.Sprintf("%s?categories=%d,%d&start_date=2026-01-01&x=%%d", path, first, second),
			fmt.Sprintf("%s?start_date=2026-01-01&categories=%d,%d&y%%d=1", path, second, first),
			fmt.Sprintf("%s?start%%%%5Fdate=2026/01/01&c%%%%61tegories%%%%5B%%%%5D=%d&categories[]=%d&%%d", path, second, first),
			fmt.Sprintf("%s?x=%%d&categories=%d%%%%2C%d&start_date=2026-01-01+00:00:00", path, first, second),
		}
	}
	atom, rss, jsonFeed := categories("/events.atom"), categories("/events.rss"), categories("/events.json")
	return map[string][]string{
		"/events.ics": {
			"/events.ics?per_page=2000&start_date=2026-01-01&x=%d", "/events.ics?start_date=2026-01-01&per_page=2000&y%d=1",
			"/events.ics?start%%5Fdate=2026-01-01+00:00:00&per_page=02000&%d", "/events.ics?x=%d&start_date=2026/01/01&per_page=1999",
		},
		"list": {
			"/cal/events/v1/events?per_page=50&start_date=2026-01-01&x=%d", "/cal/events/v1/events?start_date=2026-01-01&per_page=50&y%d=1",
			"/cal/events/v1/events/?start%%5Fdate=2026-01-01+00:00:00&per_page=49&%d", "/cal/events/v1/events?x=%d&start_date=2026/01/01&per_page=050",
		},
		"/events.ics of categories": categories("/events.ics"),
		"/events.atom":              atom,
		"/events.rss":               rss,
		"/events.json":              jsonFeed,
		"Atom, RSS and JSON Feed":   {atom[0], rss[1], jsonFeed[2], atom[3], rss[0], jsonFeed[1]},
		"news of all events":        {"/events.atom?x=%d", "/events.rss?%d", "/events.json?y%d=", "/events.rss?x=1&y=%d"},
		"news of a month":           {"/events.atom?month=2026-12&x=%d", "/events.rss?%d&month=2026-12", "/events.json?m%%6Fnth=2026-12&%d"},
		"month page":                {"/events/month/2026-12/?x=%d", "/events/month/2026-12/?y%d=1", "/events/month/2026-12/?z=1&%d", "/events/month/2026-%%31%%32/?x=%d"},
	}
}

// readGate counts the SQL statements that read records. While requests are sent together, these statements wait
// until all requests have begun.
type readGate struct {
	// begun counts the reads of the revision before the first read of records. Each request finds ids in between.
	begun atomic.Int64
	reads atomic.Int64 // of records
	// awaited is begun when all requests have begun. 0 means that nothing waits.
	awaited atomic.Int64
	all     atomic.Pointer[chan struct{}] // closed when all requests have begun
}

// watch counts a statement, and waits if it reads records.
func (g *readGate) watch(ctx context.Context, _, statement string) (context.Context, func(error)) {
	switch {
	case strings.Contains(statement, "counters") && strings.HasPrefix(statement, "SELECT"):
		if g.reads.Load() > 0 && g.awaited.Load() == 0 {
			break
		}
		if g.begun.Add(1) == g.awaited.Load() {
			close(*g.all.Load())
		}
	case strings.Contains(statement, event.FieldStartWall) && strings.Contains(statement, event.FieldDescription):
		g.reads.Add(1)
		if g.awaited.Load() > 0 {
			<-*g.all.Load()
		}
	}
	return ctx, func(error) {}
}

// countOnce sends one request alone, and returns how many reads of records it needs.
func (g *readGate) countOnce(t *testing.T, s *server.Server, r *http.Request) int64 {
	t.Helper()
	g.begun.Store(0)
	g.reads.Store(0)
	apitest.Send(t, s, r)
	once := g.reads.Load()
	if once == 0 || g.begun.Load() == 0 {
		t.Fatalf("%s: one request reads records %d times and the revision %d times before", r.URL, once, g.begun.Load())
	}
	return once
}

// sendTogether sends requests at once. It returns their replies and the number of reads of records. The caller
// must call countOnce for one of the requests before.
func (g *readGate) sendTogether(t *testing.T, s *server.Server, requests []*http.Request) (replies []apitest.Response, reads int64) {
	t.Helper()
	replies = make([]apitest.Response, len(requests))
	g.all.Store(new(make(chan struct{})))
	g.awaited.Store(int64(len(requests)) * g.begun.Swap(0))
	g.reads.Store(0)
	var group sync.WaitGroup
	for i, r := range requests {
		group.Go(func() { replies[i] = apitest.Send(t, s, r) })
	}
	group.Wait()
	g.awaited.Store(0)
	return replies, g.reads.Load()
}

// addSharedEvents adds twenty events in two categories. Every fifth event has a password.
func addSharedEvents(t *testing.T, api *apitest.API) (first, second int64) {
	t.Helper()
	api.SignIn(t, "admin", calendar.Administrator)
	var categories [2]int64
	for i := range categories {
		r := api.Do(t, apitest.Request{Method: "POST", Path: "/cal/events/v1/categories", Absolute: true, As: "admin", JSON: map[string]any{"name": fmt.Sprint("Category ", i)}})
		if r.Status != 201 {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		categories[i] = int64(r.Get(t, "id").(float64)) //nolint:forcetypeassert // a number
	}
	for i := range 20 {
		id := api.AddEvent(t, fmt.Sprintf("event %d", i), "2026-12-01 10:00:00", "2026-12-01 11:00:00", func(c *ent.EventCreate) {
			if i%5 == 0 {
				c.SetPasswordHash([]byte("of no password"))
			}
		})
		if err := api.Store.Ent.EventTerm.Create().SetEventID(id).SetTermID(categories[i%2]).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return categories[0], categories[1]
}

// TestConcurrentRequestsReadARecordOnce sends forty requests for the same records to a process without a reply
// cache. Their URLs differ in undeclared parameters, order and spelling. All forty together may read records only
// as often as one request. Some events have a password.
func TestConcurrentRequestsReadARecordOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		gate := &readGate{}
		st.Watch(gate.watch)
		api := apitest.New(t, st)
		first, second := addSharedEvents(t, api)
		for name, paths := range sharedAddresses(first, second) {
			readsRecordsOnce(t, api, gate, name, paths)
		}
	})
}

// readsRecordsOnce sends forty requests at once, which use the paths in turn. It compares their replies with those
// of a process that shares nothing.
func readsRecordsOnce(t *testing.T, api *apitest.API, gate *readGate, name string, paths []string) {
	t.Helper()
	asked := make([]apitest.Request, 40)
	want := make([]apitest.Response, len(asked)) // of a process that shares nothing
	for i := range asked {
		asked[i] = apitest.Request{Path: fmt.Sprintf(paths[i%len(paths)], i), Absolute: true}
		if want[i] = api.Do(t, asked[i]); want[i].Status != 200 {
			t.Fatalf("%s: %d %s", asked[i].Path, want[i].Status, want[i].Body)
		}
	}
	var clock atomic.Int64 // requests begin in different seconds, in no order
	process := func() *server.Server {
		return api.Another(t, func(c *server.Config) {
			c.Caching = reply.Caching{}
			c.Site.Now = func() time.Time { return apitest.Now.Add(time.Duration(7*clock.Add(1)%3) * time.Second) }
		})
	}
	once := gate.countOnce(t, process(), api.NewRequest(t, asked[0]))
	requests := make([]*http.Request, len(asked))
	for i := range asked {
		requests[i] = api.NewRequest(t, asked[i])
	}
	replies, reads := gate.sendTogether(t, process(), requests)
	if reads != once {
		t.Errorf("%s: the records were read %d times, by one request %d times", name, reads, once)
	}
	for i, r := range replies {
		if r.Status != 200 || string(r.Body) != string(want[i].Body) {
			t.Errorf("%s: %d %.200s, want %.200s", asked[i].Path, r.Status, r.Body, want[i].Body)
		}
	}
}

// TestConcurrentSitemapsAreReadOnce sends forty requests for a sitemap. The first statement for it waits until all have begun.
func TestConcurrentSitemapsAreReadOnce(t *testing.T) {
	t.Parallel()
	const requests = 40
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var statements atomic.Int64
		var all atomic.Pointer[chan struct{}] // closed when all requests have begun; nil means that nothing waits
		st.Watch(func(ctx context.Context, _, statement string) (context.Context, func(error)) {
			if !strings.Contains(statement, "counters") {
				statements.Add(1)
				if gate := all.Load(); gate != nil {
					<-*gate
				}
			}
			return ctx, func(error) {}
		})
		api := apitest.New(t, st)
		api.SignIn(t, "admin", calendar.Administrator)
		r := api.Do(t, apitest.Request{Method: "POST", Path: "/cal/events/v1/tags", Absolute: true, As: "admin", JSON: map[string]any{"name": "Indoors"}})
		if r.Status != 201 { // a calendar without a revision caches no replies
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		for i := range 20 {
			api.AddEvent(t, fmt.Sprintf("event %d", i), "2026-12-01 10:00:00", "2026-12-01 11:00:00")
		}
		spellings := []string{"%s?x=%d", "%s?%d", "%s?y=1&x=%d", "%s?x=%%25%d"}
		for _, path := range []string{"/sitemap.xml", "/sitemap-1.xml"} {
			want := api.Do(t, apitest.Request{Path: path, Absolute: true})
			if want.Status != 200 {
				t.Fatalf("%s: %d %s", path, want.Status, want.Body)
			}
			var begun atomic.Int64
			process := func(gate chan struct{}) *server.Server {
				return api.Another(t, func(c *server.Config) {
					now := c.Site.Now
					c.Site.Now = func() time.Time {
						if begun.Add(1) == requests+1 && gate != nil { // the process itself reads the clock once
							close(gate)
						}
						return now()
					}
				})
			}
			statements.Store(0)
			apitest.Send(t, process(nil), api.NewRequest(t, apitest.Request{Path: path, Absolute: true}))
			once := statements.Swap(0)
			begun.Store(0)
			gate := make(chan struct{})
			s, replies := process(gate), make([]apitest.Response, requests)
			all.Store(&gate)
			var group sync.WaitGroup
			for i := range requests {
				req := api.NewRequest(t, apitest.Request{Path: fmt.Sprintf(spellings[i%len(spellings)], path, i), Absolute: true})
				group.Go(func() { replies[i] = apitest.Send(t, s, req) })
			}
			group.Wait()
			all.Store(nil)
			if n := statements.Load(); n != once {
				t.Errorf("%s: %d statements, of one request %d", path, n, once)
			}
			for i, r := range replies {
				if r.Status != 200 || string(r.Body) != string(want.Body) {
					t.Errorf(spellings[i%len(spellings)]+": %d %.200s, want %.200s", path, i, r.Status, r.Body, want.Body)
				}
			}
		}
	})
}
