package server_test

import (
	"bufio"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

func TestWhoMayKeepAReply(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		srv := newBrokenServer(t, io.Discard, func(h *handlers.Config, c *server.Config) {
			h.Primary, h.PasswordKey, c.MaxAge, c.Stale = api.Store.Ent, api.Key, time.Minute, 10*time.Second
		})
		const kept = "public, max-age=60, stale-while-revalidate=10"
		for _, c := range []struct {
			name, method, path string
			as                 string
			status             int
			want               string
		}{
			{"index", "GET", "", "", 200, kept},
			{"description", "GET", "/doc", "", 200, kept},
			{"list", "GET", "/events", "", 200, kept},
			{"record", "GET", "/events/15", "", 200, kept},
			{"record by slug", "GET", "/venues/by-slug/grand-hall", "", 200, kept},
			{"HEAD", "HEAD", "/tags/4", "", 200, kept},
			{"with a password", "GET", "/events/22?password=sesame", "", 200, "private, no-store"},
			{"with a password, encoded", "GET", "/events/22?pass%77ord=sesame", "", 200, "private, no-store"},
			{"list with a password", "GET", "/events?password=wrong", "", 200, "private, no-store"},
			{"signed in", "GET", "/events/15", "admin", 200, "no-store, private"},
			{"signed in, with a password", "GET", "/events/22?password=sesame", "admin", 200, "no-store, private"},
			{"unknown", "GET", "/events/999999", "", 404, "no-store"},
			{"no route", "GET", "/nothing", "", 404, "no-store"},
			{"invalid", "GET", "/events?page=0", "", 400, "no-store"},
			{"protected", "GET", "/events/22", "", 403, "no-store"},
			{"wrong credentials", "GET", "/events/15", "nobody", 401, "no-store"},
			{"OPTIONS", "OPTIONS", "/events/15", "", 200, ""},
			{"written", "DELETE", "/events/16", "admin", 200, "no-store, private"},
		} {
			t.Run(c.name, func(t *testing.T) {
				var authorization []string
				if c.as != "" {
					authorization = []string{"Authorization", "Bearer " + api.Token(c.as)}
				}
				res := do(t, srv, c.method, c.path, authorization...)
				if res.Status != c.status {
					t.Fatalf("got %d: %s", res.Status, res.Body)
				}
				header("Cache-Control", c.want, "Vary", "Accept, Accept-Language, Authorization")(t, res)
				if (res.Header.Get("ETag") != "") != (c.status == 200 && c.method != "OPTIONS") {
					t.Errorf("status %d with the tag %q", res.Status, res.Header.Get("ETag"))
				}
				if c.status != 200 || c.method != "GET" {
					return
				}
				again := do(t, srv, c.method, c.path, append(authorization, "If-None-Match", res.Header.Get("ETag"))...)
				if again.Status != 304 {
					t.Errorf("asked again: %d", again.Status)
				}
				header("Cache-Control", c.want, "ETag", res.Header.Get("ETag"))(t, again)
			})
		}
	})
}

func TestHeadersOfTagsInParts(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	api := apitest.New(t, st)
	api.Example(t)
	srv := newBrokenServer(t, io.Discard, func(h *handlers.Config, _ *server.Config) { h.Primary = st.Ent })
	tag := do(t, srv, "GET", "/tags/4").Header.Get("ETag")
	for _, c := range []struct {
		name   string
		parts  []string
		status int
	}{
		{"the tag comes second", []string{`"x"`, tag}, 304},
		{"and first", []string{tag, `"x"`}, 304},
		{"the other part is empty", []string{"", tag}, 304},
		{"the other part is garbage", []string{tag, "x"}, 200},
	} {
		req := httptest.NewRequestWithContext(t.Context(), "GET", "/cal/events/v1/tags/4", nil)
		for _, part := range c.parts {
			req.Header.Add("If-None-Match", part)
		}
		if res := apitest.Send(t, srv, req); res.Status != c.status {
			t.Errorf("%s: got %d, want %d", c.name, res.Status, c.status)
		}
	}
}

func TestScriptsOfOtherOriginsMayUseConditions(t *testing.T) {
	t.Parallel()
	srv := newBrokenServer(t, io.Discard, nil)
	const usual = "Authorization, Content-Type, Accept-Language, X-HTTP-Method-Override"
	for _, c := range []struct{ asked, want string }{
		{"", usual},
		{"authorization", usual},
		{"if-match", usual + ", If-Match"},
		{"authorization,if-none-match", usual + ", If-None-Match"},
	} {
		res := do(t, srv, "OPTIONS", "/events/15", "Access-Control-Request-Headers", c.asked)
		header("Access-Control-Allow-Headers", c.want, "ETag", "", "Cache-Control", "")(t, res)
	}
}

// TestNotModifiedOnTheWire reads two replies from one connection. The first is a 304 without a body, and the
// second must begin directly after it.
func TestNotModifiedOnTheWire(t *testing.T) {
	t.Parallel()
	s := serve(t, newBrokenServer(t, io.Discard, nil))
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	must.Succeed(t, err)
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	must.Succeed(t, c.SetDeadline(time.Now().Add(30*time.Second)))
	ask := "GET /cal/events/v1 HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n"
	if _, err := io.WriteString(c, ask+ask); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	for i := range 2 {
		var head []string
		for {
			line, err := r.ReadString('\n')
			must.Succeed(t, err)
			if line == "\r\n" {
				break
			}
			head = append(head, line)
		}
		text := strings.Join(head, "")
		if !strings.HasPrefix(text, "HTTP/1.1 304 Not Modified\r\n") {
			t.Fatalf("reply %d: %s", i, text)
		}
		for _, name := range []string{"Content-Type", "Content-Length", "Transfer-Encoding"} {
			if strings.Contains(text, "\r\n"+name+":") {
				t.Errorf("reply %d: %s in %s", i, name, text)
			}
		}
		for _, name := range []string{"ETag", "Cache-Control", "Vary", "Date", "Content-Language", "X-Request-Id"} {
			if !strings.Contains(text, "\r\n"+name+":") {
				t.Errorf("reply %d: no %s in %s", i, name, text)
			}
		}
	}
}
