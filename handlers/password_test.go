package handlers_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// guessRates returns limits of password guesses that refill too slowly to matter in a test.
func guessRates(source, target, trusted int) limit.GuessRates {
	hour := func(burst int) limit.Rate { return limit.Rate{Interval: time.Hour, Burst: burst} }
	return limit.GuessRates{Source: hour(source), Target: hour(target), Trusted: hour(trusted)}
}

// wayIn is a request that can carry an event's password, such as a read of the event or its page. If a wrong
// password gives 200, the reply lacks the secret text.
type wayIn struct {
	name  string
	send  func(password string) apitest.Request
	wrong int // status of the reply to a wrong password
}

// protectedSeries adds a protected series with protected occurrences, and returns its id.
func protectedSeries(t *testing.T, api *apitest.API) int64 {
	t.Helper()
	reply := api.Do(t, apitest.Request{Method: "POST", Path: "/events", As: "admin", JSON: map[string]any{
		"title": "Rehearsal", "slug": "rehearsal", "description": "Handshake", "password": "sesame", "timezone": "UTC",
		"start_date": "2026-12-01 18:00", "end_date": "2026-12-01 19:30", "rrule": "FREQ=WEEKLY;COUNT=3",
	}})
	if reply.Status != http.StatusCreated {
		t.Fatalf("%d: %s", reply.Status, reply.Body)
	}
	id, err := strconv.ParseInt(fmt.Sprint(reply.Get(t, "series", "id")), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func waysIn(series int64) []wayIn {
	query := func(path string) func(string) apitest.Request {
		return func(password string) apitest.Request {
			return apitest.Request{Path: path + "password=" + url.QueryEscape(password)}
		}
	}
	absolute := func(path string) func(string) apitest.Request {
		return func(password string) apitest.Request {
			return apitest.Request{Path: path + "password=" + url.QueryEscape(password), Absolute: true}
		}
	}
	form := func(path string) func(string) apitest.Request {
		return func(password string) apitest.Request {
			return apitest.Request{Method: "POST", Path: path, Absolute: true, Form: "password=" + url.QueryEscape(password)}
		}
	}
	const alias = "/wp-json/tribe/events/v1"
	return []wayIn{
		{"id", query("/events/{membersOnly}?"), 403},
		{"encoded name", func(password string) apitest.Request {
			return apitest.Request{Path: "/events/{membersOnly}?pass%77ord=" + password}
		}, 403},
		{"HEAD", func(password string) apitest.Request {
			return apitest.Request{Method: "HEAD", Path: "/events/{membersOnly}?password=" + password}
		}, 403},
		{"slug", query("/events/by-slug/members-only?"), 403},
		{"in another language", absolute("/pl" + "/" + handlers.Namespace + "/events/{membersOnly}?"), 403},
		{"mount", absolute(alias + "/events/{membersOnly}?"), 403},
		{"rest_route", absolute("/?rest_route=/tribe/events/v1/events/{membersOnly}&"), 403},
		{"series", query(fmt.Sprintf("/series/%d?", series)), 403},
		{"series by slug", query("/series/by-slug/rehearsal?"), 403},
		{"list", query("/events?include={membersOnly}&"), 200},
		{"list of many", query("/events?per_page=50&"), 200},
		{"list with a filter", query("/events?search=handshake&"), 200},
		{"form", form("/event/members-only/"), 403},
		{"form in another language", form("/pl/event/members-only/"), 403},
		{"form of a series", form("/series/rehearsal/"), 403},
	}
}

// fromAddress returns a request of the client with a number.
func fromAddress(r apitest.Request, client int) apitest.Request {
	r.Header = map[string]string{"X-Forwarded-For": fmt.Sprintf("203.0.113.%d", client)}
	return r
}

// TestGuessesOfPasswords uses up the allowed guesses by each kind of request. After that every kind refuses even
// the right password.
func TestGuessesOfPasswords(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		ways := waysIn(protectedSeries(t, api))
		const budget = 2
		api.LimitGuesses(guessRates(budget, 1000, 1000))
		for i, way := range ways {
			t.Run(way.name, func(t *testing.T) {
				way.spend(t, api, i, budget)
				for _, other := range []wayIn{way, ways[0], ways[len(ways)-1], ways[len(ways)-3]} {
					other.isClosed(t, api, i)
				}
				for _, open := range []string{"/events/{jazzNight}?password=x", "/events/{membersOnly}?password="} {
					if r := api.Do(t, fromAddress(apitest.Request{Path: open}, i)); r.Status == 429 {
						t.Errorf("%s guesses nothing, but was refused", open)
					}
				}
			})
		}
		if r := api.Do(t, fromAddress(ways[0].send("sesame"), 250)); r.Status != 200 {
			t.Errorf("right, from another address: %d", r.Status)
		}
	}, func(c *handlers.Config) { c.Mounts = []string{"/wp-json/tribe/events/v1"} })
}

// spend sends right passwords, which are free, and then wrong ones until the budget is used up.
func (w wayIn) spend(t *testing.T, api *apitest.API, client, budget int) {
	t.Helper()
	for range 5 {
		if r := api.Do(t, fromAddress(w.send("sesame"), client)); r.Status != 200 {
			t.Errorf("right: %d %s", r.Status, r.Body)
		}
	}
	for range budget {
		r := api.Do(t, fromAddress(w.send("simsim"), client))
		if r.Status != w.wrong {
			t.Errorf("wrong: %d, want %d", r.Status, w.wrong)
		}
		contains("!Handshake")(t, r)
	}
}

// isClosed checks that a client that has used up its guesses is refused, whatever the password.
func (w wayIn) isClosed(t *testing.T, api *apitest.API, client int) {
	t.Helper()
	for _, password := range []string{"simsim", "sesame"} {
		r := api.Do(t, fromAddress(w.send(password), client))
		if r.Status != 429 || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s, %s: %d, retry after %q", w.name, password, r.Status, r.Header.Get("Retry-After"))
		}
		contains("!Handshake")(t, r)
	}
}

// TestRefusedGuessesOnPages checks that visitors see the message at the field of the form.
func TestRefusedGuessesOnPages(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		protectedSeries(t, api)
		api.LimitGuesses(guessRates(1, 1000, 1000))
		for _, tt := range []struct{ path, message string }{
			{"/event/members-only/", "Too many wrong passwords. Please wait a moment and try again."},
			{"/pl/event/members-only/", "Zbyt wiele błędnych haseł."},
			{"/es/event/members-only/", "Demasiadas contraseñas incorrectas."},
			{"/series/rehearsal/", "Too many wrong passwords."},
		} {
			for _, password := range []string{"simsim", "sesame"} {
				api.Do(t, apitest.Request{Method: "POST", Path: tt.path, Absolute: true, Form: "password=simsim"})
				r := api.Do(t, apitest.Request{Method: "POST", Path: tt.path, Absolute: true, Form: "password=" + password})
				if r.Status != 429 || r.Header.Get("Cache-Control") != "private, no-store" || r.Header.Get("Retry-After") == "" {
					t.Errorf("%s: %d %v", tt.path, r.Status, r.Header)
				}
				contains(tt.message, `aria-invalid="true"`, `type="password"`, "!Handshake")(t, r)
			}
		}
	})
}

// TestGuessersAndReaders has several addresses and users guess. A reader may be refused only because of their own
// guesses.
func TestGuessersAndReaders(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		signed := apitest.New(t, st)
		signed.Example(t)
		signed.SignIn(t, "reader", calendar.Subscriber)
		type step struct {
			from, as string
			path     string
			statuses string // of the requests in turn
		}
		const (
			wrong = "/events/{membersOnly}?password=simsim"
			right = "/events/{membersOnly}?password=sesame"
			list  = "/events?include={membersOnly}&password="
		)
		for _, tt := range []struct {
			name  string
			rates limit.GuessRates
			steps []step
		}{
			{"a user counts from any address", guessRates(2, 1000, 1000), []step{
				{"203.0.113.1", "reader", wrong, "403 403 429"},
				{"203.0.113.2", "reader", right, "429"},
				{"203.0.113.1", "", right, "429"},
				{"203.0.113.2", "", right, "200"},
				{"203.0.113.2", "reader", "/events/{membersOnly}", "403 403 403"},
			}},
			{"editors guess nothing", guessRates(1, 1000, 1000), []step{
				{"203.0.113.1", "admin", wrong, "200 200 200"},
				{"203.0.113.1", "admin", list + "simsim", "200 200 200"},
				{"203.0.113.1", "", wrong, "403 429"},
			}},
			{"a network of 64 bits is one address", guessRates(1, 1000, 1000), []step{
				{"2001:db8::1", "", wrong, "403"}, {"2001:db8::2", "", right, "429"}, {"2001:db8:0:1::2", "", right, "200"},
			}},
			{"an event that many guess", guessRates(4, 5, 2), []step{
				{"203.0.113.9", "", wrong, "403"},
				{"203.0.113.1", "", wrong, "403 403 403 403 429"},
				{"203.0.113.2", "", wrong, "403 403 429"},
				{"203.0.113.2", "", right, "429"},
				{"203.0.113.9", "", right, "200 200"},
				{"203.0.113.3", "", right, "200 200 200 200 200"},
				{"203.0.113.2", "", list + "sesame", "429"},
			}},
		} {
			t.Run(tt.name, func(t *testing.T) {
				api := apitest.New(t, st)
				api.ShareTokens(signed)
				api.LimitGuesses(tt.rates)
				for _, s := range tt.steps {
					got := ""
					for range (len(s.statuses) + 1) / 4 {
						r := api.Do(t, apitest.Request{Path: s.path, As: s.as, Header: map[string]string{"X-Forwarded-For": s.from}})
						got += " " + strconv.Itoa(r.Status)
					}
					if got[1:] != s.statuses {
						t.Errorf("%+v: got%s", s, got)
					}
				}
			})
		}
	})
}

// TestParallelGuessesOfPasswords sends wrong and right passwords from one address at the same time.
func TestParallelGuessesOfPasswords(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		api.LimitGuesses(guessRates(10, 1000, 3))
		send := func(path string) (statuses map[int]*atomic.Int64) {
			statuses = map[int]*atomic.Int64{200: {}, 403: {}, 429: {}}
			var all sync.WaitGroup
			for range 60 {
				all.Go(func() {
					r := api.Do(t, apitest.Request{Path: path})
					if n := statuses[r.Status]; n != nil {
						n.Add(1)
					} else {
						t.Errorf("%d: %s", r.Status, r.Body)
					}
				})
			}
			all.Wait()
			return statuses
		}
		if got := send("/events/{membersOnly}?password=sesame"); got[200].Load() != 60 {
			t.Errorf("%d right ones were accepted, %d refused, %d forbidden", got[200].Load(), got[429].Load(), got[403].Load())
		}
		if got := send("/events/{membersOnly}?password=simsim"); got[403].Load() != 10 || got[429].Load() != 50 {
			t.Errorf("%d wrong ones were judged, %d refused", got[403].Load(), got[429].Load())
		}
	})
}

// TestProtectedEventsAreCachedForRequestsWithoutPassword compares the replies of a process that caches records
// with those of one that does not. It counts the reads of events.
func TestProtectedEventsAreCachedForRequestsWithoutPassword(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var reads atomic.Int64
		st.Watch(func(ctx context.Context, _, statement string) (context.Context, func(error)) {
			if strings.Contains(statement, event.FieldStartWall) && strings.Contains(statement, event.FieldDescription) {
				reads.Add(1)
			}
			return ctx, func(error) {}
		})
		api := apitest.New(t, st)
		for login, role := range map[string]calendar.Role{
			"admin": calendar.Administrator, "author": calendar.Author, "contributor": calendar.Contributor, "reader": calendar.Subscriber,
		} {
			api.SignIn(t, login, role)
		}
		protectedSeries(t, api)
		if r := api.Do(t, post("author", "/events", concert(object{"password": "sesame", "description": "Handshake"}))); r.Status != 201 {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		api.Rewritten() // loads the index
		process := api.Another(t, nil)
		apitest.Send(t, process, api.NewRequest(t, get("/venues"))) // reads which record is scheduled next
		for i, step := range []struct {
			as, query string
			reads     int64 // of the event, for this request
		}{
			{"", "", 1},
			{"", "", 0},
			{"reader", "", 0},
			{"", "password=sesame", 1},
			{"", "password=simsim", 1},
			{"", "password=", 0},
			{"reader", "password=sesame", 1},
			{"contributor", "", 1},
			{"contributor", "", 1},
			{"author", "", 1},
			{"author", "", 1},
			{"admin", "", 1},
			{"admin", "", 1},
			{"", "", 0},
		} {
			req := apitest.Request{As: step.as, Path: fmt.Sprintf("/events?per_page=%d&%s", 20+i, step.query)} // no reply is cached
			want := api.Do(t, req)
			reads.Store(0)
			got := apitest.Send(t, process, api.NewRequest(t, req))
			if n := reads.Load(); n != step.reads {
				t.Errorf("%q as %q: %d reads, want %d", step.query, step.as, n, step.reads)
			}
			if got.Status != 200 || string(got.Body) != string(want.Body) {
				t.Errorf("%q as %q: %d %s, want %s", step.query, step.as, got.Status, got.Body, want.Body)
			}
		}
		// Once the password is gone, all see the event.
		for _, id := range listedIDs(t, api.Do(t, get("/events")), "events") {
			if r := api.Do(t, patch("admin", eventPath(id), object{"password": ""})); r.Status != 200 {
				t.Fatalf("%d %s", r.Status, r.Body)
			}
		}
		for _, path := range []string{"/events", "/events?password=x"} {
			if r := apitest.Send(t, process, api.NewRequest(t, get(path))); strings.Count(string(r.Body), "Handshake") < 4 {
				t.Errorf("%s without passwords: %s", path, r.Body)
			}
		}
	})
}
