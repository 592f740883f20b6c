package server_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

// newBrokenServer returns a server without a database, so that most handlers fail.
func newBrokenServer(t *testing.T, log io.Writer, change func(*handlers.Config, *server.Config)) *server.Server {
	t.Helper()
	words, err := locale.Load()
	must.Succeed(t, err)
	c := handlers.Config{Calendar: read.Calendar{Words: words, Site: calendar.Site{
		BaseURL: apitest.BaseURL, Language: calendar.English, PerPage: 10, Now: func() time.Time { return apitest.Now },
	}}}
	s := server.Config{Words: words, Site: c.Site, Log: slog.New(slog.NewTextHandler(log, nil))}
	if change != nil {
		change(&c, &s)
	}
	if s.API, err = handlers.New(c); err != nil {
		t.Fatal(err)
	}
	s.Auth = auth.NewVerifier(c.Primary, c.Site.Now)
	srv, err := server.New(s)
	must.Succeed(t, err)
	return srv
}

func do(t *testing.T, s *server.Server, method, path string, header ...string) apitest.Response {
	t.Helper()
	return send(t, s, method, path, "", header...)
}

// send sends a request with a body, like do.
func send(t *testing.T, s *server.Server, method, path, body string, header ...string) apitest.Response {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, apitest.BaseURL+"/cal/events/v1"+path, strings.NewReader(body))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return answer(t, s, req, header...)
}

// answer returns the reply of a server that does not listen. header has names and values in turn.
func answer(t *testing.T, s *server.Server, req *http.Request, header ...string) apitest.Response {
	t.Helper()
	req.RequestURI = req.URL.RequestURI() // App.Test sends no Host beside an absolute URL
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return apitest.Send(t, s, req)
}

func TestPanicIsAnErrorWithoutDetail(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := newBrokenServer(t, &log, nil)
	for range 2 { // the server goes on
		res := do(t, s, "GET", "/events", "Accept-Language", "es")
		if want := `{"code":"rest_internal_error","message":"El servicio ha fallado. Inténtelo de nuevo más tarde o envíe al operador el X-Request-Id de esta respuesta.","data":{"status":500}}`; res.Status != 500 || string(res.Body) != want {
			t.Errorf("got %d %s, want %s", res.Status, res.Body, want)
		}
		header("X-Content-Type-Options", "nosniff", "Content-Language", "es")(t, res)
	}
	for _, want := range []string{"level=ERROR", "nil pointer", "handlers/events.go", "status=500"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %s: %s", want, log.String())
		}
	}
}

func TestDatabaseAwayIsUnavailable(t *testing.T) {
	t.Parallel()
	// A port that was freed may be taken by another test. No server listens on this socket.
	away, err := entsql.Open(dialect.MySQL, "root@unix("+filepath.Join(t.TempDir(), "away.sock")+")/almanac")
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := away.Close(); err != nil {
			t.Error(err)
		}
	})
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		for _, c := range []struct {
			name    string
			db      *ent.Client
			timeout time.Duration
		}{
			{"no answer in time", st.Ent, time.Nanosecond},
			{"nobody there", ent.NewClient(ent.Driver(away)), time.Minute},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := newBrokenServer(t, io.Discard, func(h *handlers.Config, s *server.Config) { h.Primary, s.Timeout = c.db, c.timeout })
				// Without credentials, and with some that look like a token.
				for _, authorization := range []string{"", "Bearer " + secret(t, st)} {
					res := do(t, s, "GET", "/events", "Authorization", authorization)
					if res.Status != 503 || res.Get(t, "code") != "rest_unavailable" || res.Header.Get("Retry-After") == "" {
						t.Errorf("got %d %v %s", res.Status, res.Header, res.Body)
					}
				}
			})
		}
	})
}

// secret adds a user and returns a token of theirs.
func secret(t *testing.T, st *store.Store) string {
	t.Helper()
	user, err := auth.AddUser(t.Context(), st.Ent, apitest.Now, rand.Text(), "", calendar.Editor, "")
	must.Succeed(t, err)
	token, _, err := auth.IssueToken(t.Context(), st.Ent, apitest.Now, user.ID, "test", nil)
	must.Succeed(t, err)
	return token
}

// TestRequestsThatReachNoRouter sends requests on a real connection that the HTTP library itself rejects. The
// errors have the form of all other errors.
func TestRequestsThatReachNoRouter(t *testing.T) {
	t.Parallel()
	s := serve(t, newBrokenServer(t, io.Discard, nil))
	for _, c := range []struct {
		name, request string
		status        int
		code          string
	}{
		{"announced body over the limit of uploads", "POST /cal/events/v1/images HTTP/1.1\r\nHost: x\r\nContent-Length: 12000000\r\n\r\n", 413, "rest_request_too_large"},
		{"URL far over the limit", "GET /cal/events/v1?x=" + strings.Repeat("x", 40<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n", 413, "rest_request_too_large"},
		{"header far over the limit", "GET /cal/events/v1 HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 40<<10) + "\r\n\r\n", 413, "rest_request_too_large"},
		{"bad percent-encoding", "GET /cal/events/v1/events/by-slug/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 404, noRoute},
		{"method of nobody", "BREW /cal/events/v1/events HTTP/1.1\r\nHost: x\r\n\r\n", 404, noRoute},
		{"whole address", "GET http://x/cal/events/v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n", 404, noRoute},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			must.Succeed(t, err)
			defer func() {
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
			}()
			got := exchange(t, conn, c.request)
			if got.Status != c.status || got.Get(t, "code") != c.code {
				t.Errorf("got %d %s, want %d %s", got.Status, got.Body, c.status, c.code)
			}
			header("Content-Type", "application/json; charset=UTF-8", "X-Content-Type-Options", "nosniff", "Access-Control-Allow-Origin", "*", "Content-Language", "en")(t, got)
		})
	}
	s.stop()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

// TestNamesOfHeadersAreAsDocumented checks that headers are sent in the documented case. HTTP ignores case, but
// some scripts do not.
func TestNamesOfHeadersAreAsDocumented(t *testing.T) {
	t.Parallel()
	s := serve(t, newBrokenServer(t, io.Discard, nil))
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	must.Succeed(t, err)
	if _, err := io.WriteString(conn, "GET /cal/events/v1/images HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(conn)
	must.Succeed(t, errors.Join(err, conn.Close()))
	for _, want := range []string{"\r\nContent-Type: ", "\r\nWWW-Authenticate: Basic ", "\r\nWWW-Authenticate: Bearer\r\n", "\r\nX-Request-Id: "} {
		if strings.Count(string(data), want) != 1 {
			t.Errorf("not once %q in %s", want, data)
		}
	}
	s.stop()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := serve(t, newBrokenServer(t, io.Discard, nil))
	if res := get(t, s.url+"/cal/events/v1"); res.Status != 200 {
		t.Errorf("got %d", res.Status)
	}
	s.stop()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}
