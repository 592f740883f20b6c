// Package apitest sends requests through the whole service on a fresh database. It compares replies with golden files.
// The clock stands at 2026-11-21 12:00:00 UTC, the base URL is http://127.0.0.1:8080.
package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/idempotency"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/upkeep"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

var update = flag.Bool("update", false, "write golden files instead of comparing with them")

// Now is the time of all requests.
var Now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// BaseURL is the base URL of the service under test. The root of the API is below it.
const BaseURL = "http://127.0.0.1:8080"

// API is a service under test with a database of its own. Do sends requests to it without a network.
type API struct {
	Store *store.Store
	Site  calendar.Site
	Key   []byte // key of the hashes of event passwords
	Log   *bytes.Buffer

	server *server.Server     // the process under test
	routes *handlers.Handlers // by which replies are compared with the interface description
	tokens map[string]string  // access tokens by login
	index  *index.Index       // nil means that SQL finds lists

	handlers handlers.Config // configuration of further processes
	config   server.Config   // configuration of further processes, without API
	revision func(context.Context) (int64, error)
	warm     atomic.Pointer[server.Server] // caching process, nil until it is needed
	alone    bool                          // no reply is compared with one of the warm process
	unlogged atomic.Bool                   // rows were written that the change log does not have
}

// Option changes the configuration of the handlers before New creates the service.
type Option func(*handlers.Config)

// Each runs a test on each database engine under test, in parallel subtests, with a service on a fresh database.
func Each(t *testing.T, test func(t *testing.T, api *API), options ...Option) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) { test(t, New(t, st, options...)) })
}

// EachExample runs a test on each database engine under test, in parallel subtests. The service's database has the
// calendar of Example.
func EachExample(t *testing.T, test func(t *testing.T, api *API), options ...Option) {
	t.Helper()
	Each(t, func(t *testing.T, api *API) {
		api.Example(t)
		test(t, api)
	}, options...)
}

// New returns a service on an open database whose migrations have run. It ends the test on an error.
func New(t testing.TB, st *store.Store, options ...Option) *API {
	t.Helper()
	a := &API{Store: st, Log: &bytes.Buffer{}, tokens: map[string]string{}}
	words, err := locale.Load()
	must.Succeed(t, err)
	if a.Key, err = edit.PasswordKey(t.Context(), st.Ent); err != nil {
		t.Fatal(err)
	}
	feedKey, err := edit.FeedKey(t.Context(), st.Ent)
	must.Succeed(t, err)
	files, err := media.OpenDir(t.TempDir())
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	})
	st.Ent.Use(a.noteUnlogged)
	c := handlers.Config{
		Calendar: read.Calendar{
			Index:   index.New(st.Ent, read.EventColumns(), slog.New(slog.DiscardHandler)),
			Primary: st.Ent, Words: words, PasswordKey: a.Key, FeedKey: feedKey, Site: siteOf(),
		},
		Files: files, Fetcher: media.NewFetcher(netip.MustParsePrefix("127.0.0.0/8")),
	}
	for _, o := range options {
		o(&c)
	}
	a.Site = c.Site
	a.index = c.Index
	api, err := handlers.New(c)
	must.Succeed(t, err)
	a.routes = api
	config := server.Config{
		API: api, Auth: auth.NewVerifier(st.Ent, c.Site.Now), Words: words, Site: c.Site, Media: files,
		Replays: idempotency.New(st), Log: slog.New(slog.NewTextHandler(a.Log, nil)),
		Limits: server.Limits{
			Timeout: Timeout, UploadTimeout: Timeout,
			Rates: server.Rates{Guesses: limit.GuessRates{Source: plenty, Target: plenty, Trusted: plenty}},
		},
	}
	if a.server, err = server.New(config); err != nil {
		t.Fatal(err)
	}
	a.configureCaching(c, config)
	return a
}

// Timeout is the deadline of requests. It is long because the race detector and other programs on the machine slow
// tests down.
const Timeout = 2 * time.Minute

// siteOf returns the site of the tests. An Option of New can change it.
func siteOf() calendar.Site {
	return calendar.Site{
		Name: "Almanac", BaseURL: BaseURL, Language: calendar.English, PerPage: 10,
		Currency: calendar.Currency{Symbol: "$", Code: "USD", Position: calendar.Prefix, Decimal: "."},
		Now:      func() time.Time { return Now },
	}
}

// Unindexed is an Option for New. The service then finds lists by SQL, without the index in memory.
func Unindexed(c *handlers.Config) { c.Index = nil }

// Reindex computes again what the database derives from records, such as search texts. Tests call it after they wrote
// rows without package edit, so that lists find them.
func (a *API) Reindex(t testing.TB) {
	t.Helper()
	e := &edit.Editor{Site: a.Site, Now: Now, By: auth.System()}
	must.Succeed(t, upkeep.Reindex(t.Context(), a.Store.Ent, e, func(calendar.Kind, int) {}))
}

// SignIn adds a user with a login and a role and returns the user's id. Request.As can then name the login.
func (a *API) SignIn(t testing.TB, login string, role calendar.Role) int64 {
	t.Helper()
	user, err := auth.AddUser(t.Context(), a.Store.Ent, Now, login, "", role, "")
	must.Succeed(t, err)
	secret, _, err := auth.IssueToken(t.Context(), a.Store.Ent, Now, user.ID, "test", nil)
	must.Succeed(t, err)
	a.tokens[login] = secret
	return user.ID
}

// Limit limits each access token from now on to a burst of requests, and one further request per hour. Do no longer
// compares replies with those of a caching process.
func (a *API) Limit(requests int) {
	a.alone = true
	a.server.Rates.Token = limit.Rate{Interval: time.Hour, Burst: requests}
}

// LimitGuesses limits wrong guesses of credentials by client address from now on. The header X-Forwarded-For sets the
// address, if it is sent. Do no longer compares replies with those of a caching process.
func (a *API) LimitGuesses(rates limit.GuessRates) {
	a.alone = true
	a.server.Rates.Address, a.server.Rates.Guesses = plenty, rates
	a.server.Proxies = limit.Proxies{netip.MustParsePrefix("0.0.0.0/32")} // requests without a network come from it
}

// plenty is a rate that no test exceeds.
var plenty = limit.Rate{Interval: time.Nanosecond, Burst: 1_000_000}

// ShareTokens makes a use the tokens of other, so that requests to both can sign in with the same logins. Both must
// be on the same database.
func (a *API) ShareTokens(other *API) { a.tokens = other.tokens }

// Token returns the access token of a user whom SignIn added, "" for an unknown login.
func (a *API) Token(login string) string { return a.tokens[login] }

// Request is a request for Do or NewRequest. Path is below the root of the API (/events) unless Absolute is set.
type Request struct {
	Method   string // default GET
	Path     string // names such as {jazzNight} stand for ids of records in the example
	Absolute bool
	As       string // login of SignIn; "" is anonymous
	JSON     any    // body; a string is sent as it is
	Form     string // body, application/x-www-form-urlencoded
	Header   map[string]string
	Fails    bool // a 5xx is expected
}

// Response is a reply of the API.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request through the router, without a network, and returns the reply. It fails the test for an
// unexpected 5xx and for an error that caches may store. It compares replies with the interface description, and a
// sample of them with those of a caching process.
func (a *API) Do(t testing.TB, r Request) Response {
	t.Helper()
	a.forget(t)
	req, path, sent := a.request(t, r)
	before := a.revisionBefore(t, req)
	reply := Send(t, a.server, req)
	if !r.Fails && reply.Status >= http.StatusInternalServerError {
		t.Errorf("%s %s: %d\n%s", req.Method, path, reply.Status, a.Log)
	}
	if control := reply.Header.Get("Cache-Control"); reply.Status >= http.StatusBadRequest && !strings.Contains(control, "no-store") {
		t.Errorf("%s %s: %d with Cache-Control %q", req.Method, path, reply.Status, control)
	}
	// The description is the same on every engine, and so are most replies.
	if a.Store.Engine() == "sqlite" || isSampled(t, req, 8) {
		a.asDescribed(t, req, path, sent, reply)
	}
	a.compareWarm(t, req, before, reply)
	return reply
}

// NewRequest makes an HTTP request from r, for tests that call Send themselves.
func (a *API) NewRequest(t testing.TB, r Request) *http.Request {
	t.Helper()
	req, _, _ := a.request(t, r)
	return req
}

// request makes the HTTP request for r. It also returns the path with its query, below BaseURL, and the body as text.
func (a *API) request(t testing.TB, r Request) (req *http.Request, path, sent string) {
	t.Helper()
	path = recordPaths.Replace(r.Path)
	if !r.Absolute {
		path = "/" + handlers.Namespace + path
	}
	var kind string
	switch {
	case r.Form != "":
		sent, kind = r.Form, "application/x-www-form-urlencoded"
	case r.JSON != nil:
		text, ok := r.JSON.(string)
		if !ok {
			data, err := json.Marshal(r.JSON)
			must.Succeed(t, err)
			// A nil map is no body.
			if text = string(data); text == "null" {
				text = ""
			}
		}
		sent, kind = text, "application/json"
	}
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	req = httptest.NewRequestWithContext(t.Context(), method, BaseURL+path, bodyOf(r, sent))
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if r.As != "" {
		req.Header.Set("Authorization", "Bearer "+a.tokens[r.As])
	}
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	return req, path, sent
}

// bodyOf returns a reader of the body sent. It returns nil for a request without a body, which differs from an empty
// body.
func bodyOf(r Request, sent string) io.Reader {
	if r.Form == "" && r.JSON == nil {
		return nil
	}
	return strings.NewReader(sent)
}

// Into decodes the JSON body of a reply into v. It ends the test if that is not possible.
func (r Response) Into(t testing.TB, v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(r.Body))
	if err := dec.Decode(v); err != nil {
		t.Fatalf("%v in %s", err, r.Body)
	}
}

// JSON decodes the body of a reply into maps and lists. Numbers are float64. It ends the test if the body is no JSON.
func (r Response) JSON(t testing.TB) any {
	t.Helper()
	var v any
	r.Into(t, &v)
	return v
}

// Get returns the value at a path in the JSON body of a reply: Get(t, "data", "status"). A missing member is nil. It
// ends the test if a step does not fit the body.
func (r Response) Get(t testing.TB, path ...any) any {
	t.Helper()
	v := r.JSON(t)
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, ok := v.(map[string]any)
			if !ok {
				t.Fatalf("%v: %T is no object in %s", path, v, r.Body)
			}
			v = object[step]
		case int:
			list, ok := v.([]any)
			if !ok || step >= len(list) {
				t.Fatalf("%v: no element %d in %s", path, step, r.Body)
			}
			v = list[step]
		}
	}
	return v
}

// Case is a request with the expected reply, for Run.
type Case struct {
	Name string
	Request
	Status int
	Code   string // code in the body of an error, "" to skip the check
	Golden string // file below testdata/golden with the body, "" to skip the check
	Check  func(t *testing.T, r Response)
}

// Run sends the requests of cases one after the other, in subtests, and checks the replies.
func (a *API) Run(t *testing.T, cases []Case) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			res := a.Do(t, c.Request)
			if res.Status != c.Status {
				t.Fatalf("%s %s: got %d, want %d: %s", c.Method, c.Path, res.Status, c.Status, res.Body)
			}
			if c.Code != "" {
				if got := res.Get(t, "code"); got != c.Code {
					t.Errorf("got code %v, want %s", got, c.Code)
				}
				if res.Header.Get("Content-Type") == "application/json; charset=UTF-8" {
					if got := res.Get(t, "data", "status"); got != float64(c.Status) {
						t.Errorf("data.status is %v, want %d", got, c.Status)
					}
				}
			}
			if c.Golden != "" {
				Golden(t, c.Golden, res.Body)
			}
			if c.Check != nil {
				c.Check(t, res)
			}
		})
	}
}

// Golden compares JSON with the file of that name below testdata/golden, including the order of keys. With -update it
// writes the file instead.
func Golden(t testing.TB, name string, got []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(got), "", "  "); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	b.WriteByte('\n')
	file := filepath.Join(Root(), "testdata", "golden", name)
	if *update {
		must.Succeed(t, os.WriteFile(file, b.Bytes(), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	must.Succeed(t, err)
	if diff := cmp.Diff(strings.TrimSpace(string(want)), strings.TrimSpace(b.String())); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// Root returns the path of the repository's top folder, relative to the folder of the running test. It also works in
// test binaries built with -trimpath. It panics outside the repository.
func Root() string {
	dir := "."
	for range 8 {
		if _, err := os.Stat(filepath.Join(dir, "atlas.hcl")); err == nil {
			return dir
		}
		dir = filepath.Join(dir, "..")
	}
	panic("apitest: no folder above has atlas.hcl")
}
