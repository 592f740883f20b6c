package importer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/time/rate"
)

// service is a test server for the API of calendar.example.org. In response bodies it replaces that host by its own.
type service struct {
	*httptest.Server
	asked []string // paths with queries
}

// serve starts a service whose responses have the bodies that answer returns. try counts the requests from 1.
func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, try int) string) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked = append(s.asked, r.URL.RequestURI())
		body := answer(w, r, len(s.asked))
		if _, err := fmt.Fprint(w, strings.ReplaceAll(body, "https://calendar.example.org", s.URL)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func newFastReader() *Reader {
	return &Reader{Site: testSite(), Rate: 1000, firstWait: time.Millisecond}
}

func titles(c *Calendar) []string {
	var out []string
	for _, e := range c.Events {
		out = append(out, e.Title)
	}
	return out
}

func TestReadFollowsThePagesAndTheParentsOfCategories(t *testing.T) {
	first := string(readFile(t, "../../testdata/calendars/paged-1.json"))
	second := string(readFile(t, "../../testdata/calendars/paged-2.json"))
	s := serve(t, func(w http.ResponseWriter, r *http.Request, try int) string {
		switch {
		case try == 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return `{"code":"too_many","message":"Slow down"}`
		case try == 2:
			w.WriteHeader(http.StatusBadGateway)
			return "gone fishing"
		case r.URL.Path == "/api/categories/52":
			return `{"id":52,"name":"Hills &amp; dales","slug":"hills","parent":51,
				"urls":{"collection":"https://calendar.example.org/api/categories/"}}`
		case r.URL.Path == "/api/categories/51":
			return `{"id":51,"name":"Outdoors","slug":"outdoors","parent":50,
				"urls":{"up":"https://elsewhere.example.org/api/categories/50"}}`
		case r.URL.Path == "/api/venues" && r.URL.Query().Get("page") == "":
			return `{"venues":[{"id":7,"global_id":"calendar.example.org?id=7","venue":"Empty hall"},{"id":8}],
				"next_rest_url":"https://calendar.example.org/api/venues?page=2"}`
		case r.URL.Path == "/api/venues":
			return `{"venues":[{"id":9,"global_id":"calendar.example.org?id=9","venue":"Second hall"}]}`
		case r.URL.Path == "/api/organizers":
			return `{"organizers":[{"id":10,"global_id":"calendar.example.org?id=10","organizer":"Idle club"}]}`
		case r.URL.Path == "/api/categories":
			return `{"categories":[{"id":53,"name":"Unused","slug":"unused"},{"id":54,"slug":"nameless"}]}`
		case r.URL.Path == "/api/tags":
			w.WriteHeader(http.StatusNotFound)
			return `{"code":"rest_no_route","message":"No such route"}`
		case r.URL.Query().Get("page") == "2":
			return second
		}
		return first
	})
	r := newFastReader()
	var progress, retries []string
	r.Progress = func(read, total int) { progress = append(progress, fmt.Sprintf("%d/%d", read, total)) }
	r.Retry = func(err error, _ time.Duration) {
		retries = append(retries, strings.ReplaceAll(err.Error(), s.URL, "URL"))
	}
	cal, err := r.Read(t.Context(), s.URL+"/api/events/?start_date=2026-01-01")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"First walk", "Second walk", "Third walk"}, titles(cal)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	wantAsked := []string{
		"/api/events/?start_date=2026-01-01", "/api/events/?start_date=2026-01-01",
		"/api/events/?start_date=2026-01-01", "/api/events/?start_date=2026-01-01%2000:00:00&page=2",
		"/api/venues?hide_empty=0&per_page=50", "/api/venues?page=2", "/api/organizers?hide_empty=0&per_page=50",
		"/api/categories?hide_empty=0&per_page=50", "/api/tags?hide_empty=0&per_page=50",
		"/api/categories/52", "/api/categories/51",
	}
	if diff := cmp.Diff(wantAsked, s.asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"2/3", "3/3"}, progress); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	wantRetries := []string{
		"URL/api/events/?start_date=2026-01-01: status 429 Too Many Requests (too_many: Slow down)",
		"URL/api/events/?start_date=2026-01-01: status 502 Bad Gateway",
	}
	if diff := cmp.Diff(wantRetries, retries); diff != "" {
		t.Errorf("retries (-want +got):\n%s", diff)
	}
	var parents []string
	for _, p := range cal.Parents {
		parents = append(parents, p.Key+" "+p.Name+" < "+p.Parent)
	}
	wantParents := []string{
		"calendar.example.org?term=52 Hills & dales < calendar.example.org?term=51",
		"calendar.example.org?term=51 Outdoors < calendar.example.org?term=50",
	}
	if diff := cmp.Diff(wantParents, parents); diff != "" {
		t.Errorf("parents (-want +got):\n%s", diff)
	}
	unused := append(keysOf(cal.Venues), append(keysOf(cal.Organizers), keysOf(cal.Terms)...)...)
	if diff := cmp.Diff([]string{
		"calendar.example.org?id=7", "calendar.example.org?id=8", "calendar.example.org?id=9", "calendar.example.org?id=10",
		"calendar.example.org?term=53",
	}, unused); diff != "" {
		t.Errorf("records of the lists (-want +got):\n%s", diff)
	}
	notices := strings.ReplaceAll(strings.Join(cal.Notices, "\n"), s.URL, "URL")
	want := "categories, page 1, 2: name: missing; left out\n" +
		"the tags that no listed event has: URL/api/tags?hide_empty=0&per_page=50: status 404 Not Found (rest_no_route: No such route)\n" +
		"category calendar.example.org?term=51, first in URL/api/categories/51: its parent: " +
		"its link https://elsewhere.example.org/api/categories/50 leaves URL"
	if diff := cmp.Diff(want, notices); diff != "" || len(cal.Problems) != 0 {
		t.Errorf("notices (-want +got):\n%s\nproblems %v", diff, cal.Problems)
	}
}

func TestReadKeepsWhatCameBeforeABrokenPage(t *testing.T) {
	page := func(next string) string {
		return strings.Replace(string(readFile(t, "../../testdata/calendars/paged-1.json")),
			"https://calendar.example.org/api/events/?start_date=2026-01-01 00:00:00&page=2", next, 1)
	}
	tests := []struct{ name, next, want string }{
		{
			"another host", "https://elsewhere.example.org/api/events/?page=2",
			"its link https://elsewhere.example.org/api/events/?page=2 leaves URL",
		},
		{"another scheme", "ftp://HOST/api/events/?page=2", "its link ftp://HOST/api/events/?page=2 leaves URL"},
		{"no host", "https:///x", "its link https:///x leaves URL"},
		{"a loop", "/api/events/", "the next page is one that was read before"},
		{"a page that is not there", "/missing", "URL/missing: status 404 Not Found (gone: No such page)"},
		{"a page that is none", "/empty", "URL/empty: not a page of events: unexpected EOF"},
		{"a page that stays away", "/broken", "URL/broken: status 503 Service Unavailable"},
		{
			"a page that is busy for long", "/busy",
			"URL/busy: status 429 Too Many Requests; it wants to be asked again in 1h0m0s",
		},
		{
			"a redirect elsewhere", "/moved",
			"URL/moved: redirect to http://elsewhere.example.org/; if that is the service you mean, import it from there",
		},
		{"a body without end", "/long", "URL/long: over 32 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) string {
				switch r.URL.Path {
				case "/missing":
					w.WriteHeader(http.StatusNotFound)
					return `{"code":"gone","message":"No such page"}`
				case "/empty":
					return ""
				case "/broken":
					w.WriteHeader(http.StatusServiceUnavailable)
					return ""
				case "/busy":
					w.Header().Set("Retry-After", "3600")
					w.WriteHeader(http.StatusTooManyRequests)
					return ""
				case "/moved":
					w.Header().Set("Location", "http://elsewhere.example.org/")
					w.WriteHeader(http.StatusFound)
					return ""
				case "/long":
					return strings.Repeat(" ", maxBody+1)
				case "/api/categories/52":
					w.WriteHeader(http.StatusNotFound)
					return ""
				}
				return page(strings.ReplaceAll(tt.next, "HOST", r.Host))
			})
			cal, err := newFastReader().Read(t.Context(), s.URL+"/api/events/")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"First walk", "Second walk"}, titles(cal)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if len(cal.Problems) != 1 {
				t.Fatalf("problems %v", cal.Problems)
			}
			want := strings.NewReplacer("URL", s.URL, "HOST", strings.TrimPrefix(s.URL, "http://")).Replace(tt.want) +
				"; the pages that follow are missing"
			if got := cal.Problems[0].Reason; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestReadFailsWhenThereIsNothing(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) string {
		w.WriteHeader(http.StatusForbidden)
		return ""
	})
	withPassword := strings.Replace(s.URL, "http://", "http://me:secret@", 1)
	_, err := newFastReader().Read(t.Context(), withPassword)
	if err == nil || !strings.Contains(err.Error(), "status 403 Forbidden") || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	if len(s.asked) != 1 {
		t.Errorf("asked %d times", len(s.asked))
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) string {
		cancel()
		w.WriteHeader(http.StatusServiceUnavailable)
		return ""
	})
	if _, err := newFastReader().Read(ctx, s.URL); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestReadSendsCredentialsToEveryPage(t *testing.T) {
	second := string(readFile(t, "../../testdata/calendars/paged-2.json"))
	first := strings.ReplaceAll(string(readFile(t, "../../testdata/calendars/paged-1.json")), `"parent": 52`, `"parent": 0`)
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) string {
		if user, password, ok := r.BasicAuth(); !ok || user != "me" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return ""
		}
		if r.URL.Query().Get("page") == "2" {
			return second
		}
		return first
	})
	cal, err := newFastReader().Read(t.Context(), strings.Replace(s.URL, "http://", "http://me:secret@", 1)+"/api/events")
	if err != nil {
		t.Fatal(err)
	}
	if len(cal.Events) != 3 || len(cal.Problems) != 0 {
		t.Errorf("%d events, %v", len(cal.Events), cal.Problems)
	}
}

func TestReadFile(t *testing.T) {
	cal, err := newFastReader().Read(t.Context(), "../../testdata/calendars/paged-1.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(cal.Events) != 2 || len(cal.Notices) != 1 || !strings.Contains(cal.Notices[0], "one page of several") {
		t.Errorf("%d events, notices %q", len(cal.Events), cal.Notices)
	}
	if _, err := newFastReader().Read(t.Context(), filepath.Join(t.TempDir(), "none.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := newFastReader().Read(t.Context(), "../../testdata/calendars"); err == nil {
		t.Error("a folder was read")
	}
}

func TestIsURL(t *testing.T) {
	for source, want := range map[string]bool{
		"https://example.org/events": true, "HTTP://example.org": true, "events.json": false, "/tmp/events.json": false,
		"ftp://example.org": false, "http.json": false, `C:\events.json`: false,
	} {
		if got := isURL(source); got != want {
			t.Errorf("isURL(%q) = %v", source, got)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	tests := []struct {
		header string
		want   time.Duration
		ok     bool
	}{
		{"", 0, false},
		{"7", 7 * time.Second, true},
		{"-1", 0, false},
		{"soon", 0, false},
		{"Sat, 21 Nov 2026 12:00:30 GMT", 30 * time.Second, true},
		{"Sat, 21 Nov 2026 11:00:00 GMT", 0, true},
	}
	for _, tt := range tests {
		if got, ok := retryAfter(tt.header, testSite()); got != tt.want || ok != tt.ok {
			t.Errorf("retryAfter(%q) = %v, %v", tt.header, got, ok)
		}
	}
}

func TestReadTakesICalFromAnAddress(t *testing.T) {
	var accepted string
	circles := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) string {
		accepted = r.Header.Get("Accept")
		switch r.URL.Path {
		case "/calendar.ics":
			w.Header().Set("Content-Type", "text/calendar")
			return string(readFile(t, "../../testdata/calendars/google.ics"))
		case "/moved":
			http.Redirect(w, r, "/calendar.ics", http.StatusFound)
			return ""
		case "/away":
			http.Redirect(w, r, "http://localhost:1/calendar.ics", http.StatusFound)
			return ""
		case "/port":
			http.Redirect(w, r, "http://127.0.0.1:1/calendar.ics", http.StatusFound)
			return ""
		case "/secure":
			http.Redirect(w, r, "https://"+r.Host+"/calendar.ics", http.StatusFound)
			return ""
		case "/circle":
			circles++
			http.Redirect(w, r, "/circle", http.StatusFound)
			return ""
		}
		w.WriteHeader(http.StatusNotFound)
		return ""
	})
	for path, want := range map[string]string{
		"/calendar.ics": "", "/moved": "", "/away": "redirect", "/port": "redirect", "/secure": "redirect", "/circle": "more than 5", "/none": "404",
	} {
		cal, err := newFastReader().Read(t.Context(), s.URL+path)
		if want == "" {
			if err != nil || len(cal.Events) != 3 {
				t.Errorf("%s: %v, %v", path, cal, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if circles > 6 {
		t.Errorf("a redirect in a circle was followed %d times", circles)
	}
	if !strings.Contains(accepted, "text/calendar") {
		t.Errorf("accepted %q", accepted)
	}
	for source, want := range map[string]bool{
		"webcal://example.org/a.ics": true, "WEBCALS://example.org/a.ics": true, "https://example.org": true,
		"a.ics": false, "c:\\a.ics": false, "ftp://example.org/a.ics": false,
	} {
		if isURL(source) != want {
			t.Errorf("isURL(%q) = %t", source, !want)
		}
	}
}

func TestRedirectsOfAnImport(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from, to string
		follows  bool
	}{
		{"http://example.org/a", "http://example.org/b", true},
		{"http://example.org/a", "http://EXAMPLE.org:80/b", true},
		{"https://example.org:443/a", "https://example.org/b", true},
		{"http://example.org/a", "https://example.org/a", true},
		{"http://example.org:8000/a", "http://example.org:8000/b", true},
		{"http://example.org/a", "http://example.org:9000/a", false},
		{"http://example.org:8000/a", "http://example.org/a", false},
		{"http://example.org:8000/a", "https://example.org/a", false},
		{"http://example.org:8000/a", "https://example.org:8000/a", false},
		{"http://example.org/a", "https://example.org:8443/a", false},
		{"https://example.org/a", "http://example.org/a", false},
		{"https://example.org/a", "http://example.org:443/a", false},
		{"http://example.org/a", "http://www.example.org/a", false},
		{"http://example.org/a", "ftp://example.org/a", false},
	} {
		request := func(address string) *http.Request {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
			if err != nil {
				t.Fatal(err)
			}
			return req
		}
		if err := sameHostOnly(request(tt.to), []*http.Request{request(tt.from)}); (err == nil) != tt.follows {
			t.Errorf("%s to %s: %v, want that it is followed: %t", tt.from, tt.to, err, tt.follows)
		}
	}
}

func TestAnUnknownHostIsNotRetried(t *testing.T) {
	t.Parallel()
	tries := 0
	w := &webReader{Reader: &Reader{Site: testSite(), Retry: func(error, time.Duration) { tries++ }}, limit: rate.NewLimiter(rate.Inf, 1)}
	w.client = &http.Client{Transport: failingTransport{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "calendar.invalid", IsNotFound: true}}}}
	at := &url.URL{Scheme: "https", Host: "calendar.invalid", Path: "/events"}
	if _, _, err := w.get(t.Context(), at); err == nil || !strings.Contains(err.Error(), "no such host") {
		t.Errorf("error %v, want one of an unknown host", err)
	}
	if tries != 0 {
		t.Errorf("%d retries, want none", tries)
	}
}

// failingTransport is an http.RoundTripper that fails each request with an error.
type failingTransport struct{ err error }

func (f failingTransport) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }
