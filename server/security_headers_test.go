package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestHeadersOfEveryKindOfReply requests one reply of each kind, on a site behind TLS and on one without. Every reply
// has a content type and forbids browsers to guess it, and none names its software. Behind TLS every reply forbids
// framing and demands TLS.
func TestHeadersOfEveryKindOfReply(t *testing.T) {
	t.Parallel()
	for _, base := range []string{apitest.BaseURL, "https://calendar.example.org"} {
		var files media.Store
		api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), func(c *handlers.Config) {
			files, c.Site.BaseURL = c.Files, base
		})
		api.Example(t)
		if err := files.Create(t.Context(), "2026/11/pic.png", []byte("\x89PNG"), "image/png"); err != nil {
			t.Fatal(err)
		}
		const anyKind = "*"
		for _, test := range []struct {
			name    string
			request apitest.Request
			status  int
			kind    string // Content-Type; "" for no body
			policy  string // of pages, and of what is none
		}{
			{"list", ask("GET", "/events"), 200, jsonType, noHeader},
			{"HEAD", ask("HEAD", "/events"), 200, jsonType, noHeader},
			{"OPTIONS", ask("OPTIONS", "/events"), 200, jsonType, noHeader},
			{"created", apitest.Request{Method: "POST", Path: "/tags", As: "admin", JSON: `{"name":"A"}`}, 201, jsonType, noHeader},
			{"invalid", ask("GET", "/events?page=0"), 400, jsonType, noHeader},
			{"problem", withHeaders(ask("GET", "/events?page=0"), "Accept", "application/problem+json"), 400, "application/problem+json", noHeader},
			{"wrong credentials", withHeaders(ask("GET", "/events"), "Authorization", "Bearer x"), 401, jsonType, noHeader},
			{"forbidden", ask("GET", "/events/20"), 403, jsonType, noHeader},
			{"no route", ask("BREW", "/events"), 404, jsonType, noHeader},
			{"too large", ask("GET", "/events?x="+strings.Repeat("x", 8<<10)), 413, jsonType, noHeader},
			{"description", ask("GET", "/doc"), 200, jsonType, noHeader},
			{"picture", site("GET", "/media/2026/11/pic.png"), 200, "image/png", "default-src 'none'; sandbox"},
			{"no picture", site("GET", "/media/2026/11/other.png"), 404, jsonType, noHeader},
			{"alive", site("GET", "/healthz"), 200, jsonType, noHeader},
			{"ready", site("GET", "/readyz"), 200, jsonType, noHeader},
			{"nothing", site("GET", "/wp-login.php"), 404, jsonType, noHeader},
			{"page for developers", site("GET", "/developers/"), 200, anyKind, anyKind},
			{"reference", site("GET", "/docs"), 200, anyKind, anyKind},
		} {
			t.Run(test.name+" of "+base, func(t *testing.T) {
				res := api.Do(t, test.request)
				if anyKind == test.kind && res.Status == http.StatusNotFound {
					t.Skip("there are no pages")
				}
				h := res.Header
				if res.Status != test.status {
					t.Errorf("status %d, want %d: %.300s", res.Status, test.status, res.Body)
				}
				header("X-Content-Type-Options", "nosniff", "Access-Control-Allow-Origin", "*", "Access-Control-Allow-Credentials", "",
					"Server", "", "X-Powered-By", "", "Set-Cookie", "")(t, res)
				if got := h.Get("Content-Type"); test.kind != anyKind && got != test.kind || got == "" {
					t.Errorf("Content-Type %q, want %q", got, test.kind)
				}
				policy := h.Get("Content-Security-Policy")
				if test.policy == anyKind && !strings.Contains(policy, "default-src 'none'") ||
					strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
					t.Errorf("policy %q", policy)
				}
				if !strings.HasPrefix(base, "https:") {
					header("Strict-Transport-Security", "")(t, res)
					return
				}
				if test.policy != anyKind && policy != test.policy {
					t.Errorf("policy %q, want %q", policy, test.policy)
				}
				if !strings.Contains(policy, "frame-ancestors 'none'") && !strings.Contains(policy, "sandbox") {
					t.Errorf("may be framed: %q", policy)
				}
				header("Strict-Transport-Security", "max-age=31536000", "Referrer-Policy", "no-referrer")(t, res)
			})
		}
	}
}

const (
	jsonType = "application/json; charset=UTF-8"
	noHeader = "default-src 'none'; frame-ancestors 'none'"
)

// TestPrivateRepliesAreNotKept checks that replies for operators forbid caching.
func TestPrivateRepliesAreNotKept(t *testing.T) {
	t.Parallel()
	s := newBrokenServer(t, io.Discard, nil)
	for _, path := range []string{"/healthz", "/readyz"} {
		res := httptest.NewRecorder()
		s.Private(false).ServeHTTP(res, httptest.NewRequest(http.MethodGet, path, nil))
		if got := res.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control %q", path, got)
		}
		if !slices.Contains([]int{200, 503}, res.Code) {
			t.Errorf("%s: %d", path, res.Code)
		}
	}
}

// TestNoOriginIsTheSites sends headers in which a browser names the origin of a request. They must not change the
// reply or be repeated in it. The opaque origin "null" can be that of any site.
func TestNoOriginIsTheSites(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	api.Example(t)
	for name, r := range map[string]apitest.Request{
		"a read":           ask("", "/events/15"),
		"an error":         ask("", "/none"),
		"a page":           site("", "/events/list/"),
		"a feed":           ask("", "/events.ics"),
		"a form":           {Method: "POST", Path: "/event/members-only/", Absolute: true, Form: "password=wrong"},
		"a refused write":  {Method: "POST", Path: "/tags", JSON: map[string]any{"name": "x"}},
		"a preflight":      ask("OPTIONS", "/events"),
		"a file":           site("", "/media/none.png"),
		"the health":       site("", "/healthz"),
		"a page of errors": site("", "/event/none/"),
	} {
		plain := api.Do(t, r)
		for _, origin := range []string{"null", "NULL", "", "https://other.example", apitest.BaseURL, "HTTP://127.0.0.1:8080", "http://127.0.0.1"} {
			from := withHeaders(r, "Origin", origin, "Referer", origin, "Sec-Fetch-Site", "cross-site")
			got := api.Do(t, from)
			if got.Status != plain.Status || string(got.Body) != string(plain.Body) {
				t.Errorf("%s with the origin %q: %d %s, want %d %s", name, origin, got.Status, got.Body, plain.Status, plain.Body)
			}
			for _, header := range []string{"Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Content-Security-Policy", "Vary"} {
				if g, p := got.Header.Values(header), plain.Header.Values(header); !slices.Equal(g, p) {
					t.Errorf("%s with the origin %q: %s is %q, want %q", name, origin, header, g, p)
				}
			}
			if allowed := got.Header.Get("Access-Control-Allow-Origin"); allowed != "" && allowed != "*" ||
				got.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s with the origin %q: %v", name, origin, got.Header)
			}
		}
	}
}
