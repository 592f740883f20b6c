package server_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

// secrets must not appear in any output, plain or encoded.
type secrets struct{ password, event, cookie, token string }

func (w secrets) all() []string {
	var out []string
	for _, s := range []string{w.password, w.event, w.cookie, w.token} {
		out = append(out, s, url.QueryEscape(s), base64.StdEncoding.EncodeToString([]byte(s)))
	}
	return append(out, basicAuth("ewa", w.password)[len("Basic "):], "$argon2")
}

// absent fails the test if a text contains one of the secrets. where describes the text.
func (w secrets) absent(t *testing.T, where, text string) {
	t.Helper()
	for _, s := range w.all() {
		if strings.Contains(text, s) {
			t.Errorf("%s: %q is in\n%.2000s", where, s, text)
		}
	}
}

func basicAuth(login, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(login+":"+secret))
}

// statements collects the SQL statements that are sent to the database, with their values, which database errors
// may repeat.
type statements struct {
	sync.Mutex
	text strings.Builder
}

func (s *statements) note(_ context.Context, values ...any) {
	s.Lock()
	defer s.Unlock()
	fmt.Fprintln(&s.text, values...)
}

// TestSecretsStayWithTheirOwners sends every secret of a client in every place where it is allowed, and many where
// it is not. Some requests fail in the database. No secret may appear in a reply, log, metric, trace or SQL
// statement.
func TestSecretsStayWithTheirOwners(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		dialectOf := map[string]string{"sqlite": dialect.SQLite, "mysql": dialect.MySQL}
		var asked statements
		db := ent.NewClient(ent.Driver(dialect.DebugWithContext(entsql.OpenDB(dialectOf[st.Engine()], st.DB), asked.note)))
		w := secrets{password: "Ewa's +pass/word-1", event: "open+sesame/7", cookie: "session-9c1d"}
		user, err := auth.AddUser(t.Context(), st.Ent, apitest.Now, "ewa", "", calendar.Editor, w.password)
		must.Succeed(t, err)
		if w.token, _, err = auth.IssueToken(t.Context(), st.Ent, apitest.Now, user.ID, "test", nil); err != nil {
			t.Fatal(err)
		}
		key, err := edit.PasswordKey(t.Context(), st.Ent)
		must.Succeed(t, err)
		var log bytes.Buffer
		spans := tracetest.NewSpanRecorder()
		tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("test")
		metrics := server.NewMetrics("almanac test")
		failing := false
		s := newBrokenServer(t, io.Discard, func(h *handlers.Config, c *server.Config) {
			h.Primary, h.PasswordKey = db, key
			c.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			c.Tracer, c.Metrics = tracer, metrics
		})
		db.Use(func(next ent.Mutator) ent.Mutator {
			return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
				if !failing {
					return next.Mutate(ctx, m)
				}
				// As MySQL says it: with the value. Whatever of the change it may repeat is repeated.
				text := "Error 1062 (23000): Duplicate entry"
				for _, name := range m.Fields() {
					v, _ := m.Field(name)
					text += fmt.Sprintf(" '%s'", v)
				}
				return nil, fmt.Errorf("%s for key 'events.x'", text)
			})
		})

		bearer := "Bearer " + w.token
		inQuery := url.QueryEscape(w.event)
		event := func(password string) string {
			return `{"title":"A","start_date":"2026-12-05","end_date":"2026-12-05","password":` + password + `}`
		}
		reply := send(t, s, "POST", "/events", event(`"`+w.event+`"`), "Authorization", bearer)
		if reply.Status != http.StatusCreated {
			t.Fatalf("%d %s", reply.Status, reply.Body)
		}
		protected := fmt.Sprintf("/events/%v", reply.Get(t, "id"))
		for i, r := range []struct {
			method, path, body string
			header             []string
			status             int
		}{
			{"GET", protected + "?password=" + inQuery, "", nil, 200},
			{"GET", protected + "?password=x" + inQuery, "", nil, 403},
			{"GET", "/events?per_page=1&page=1&password=" + inQuery, "", nil, 200},
			{"GET", "/events?per_page=0&password=" + inQuery, "", nil, 400},
			{"GET", "/events?page=9&password=" + inQuery, "", nil, 404},
			{"GET", "/nothing?password=" + inQuery, "", []string{"Cookie", w.cookie}, 404},
			{"PATCH", protected, `{"password":["` + w.event + `"]}`, []string{"Authorization", bearer}, 400},
			{"PATCH", protected, `{"password":"` + strings.Repeat(w.event, 40) + `"}`, []string{"Authorization", bearer}, 400},
			{"PATCH", protected, `{"password":"` + w.event + `"`, []string{"Authorization", bearer}, 400},
			{"PATCH", protected, `{"password":"` + w.event + `"}`, nil, 401},
			{"POST", "/events", event(`{"` + w.event + `":1}`), []string{"Authorization", bearer}, 400},
			{"POST", "/events", "password=" + inQuery + "&title=", []string{"Authorization", bearer, "Content-Type", "application/x-www-form-urlencoded"}, 400},
			{"POST", "/events", event("null"), []string{"Authorization", bearer, "Idempotency-Key", w.cookie}, 201},
			{"DELETE", protected + "?password=" + inQuery, "", nil, 401},
			{"OPTIONS", protected + "?password=" + inQuery, "", []string{"Authorization", bearer}, 200},
			{"GET", "/tags", "", []string{"Authorization", basicAuth("ewa", w.password)}, 200},
			{"GET", "/tags", "", []string{"Authorization", basicAuth("ewa", w.password+"x")}, 401},
			{"GET", "/tags", "", []string{"Authorization", basicAuth("nobody", w.password)}, 401},
			{"GET", "/tags", "", []string{"Authorization", basicAuth(w.password, "x")}, 401},
			{"GET", "/tags", "", []string{"Authorization", "Bearer " + w.token + "x"}, 401},
			{"GET", "/tags", "", []string{"Authorization", "Digest " + w.token}, 401},
			{"GET", "/tags", "", []string{"Authorization", "Bearer " + w.password, "Accept", "application/problem+json"}, 401},
			{"GET", "/tags?access_token=" + w.token, "", []string{"X-Request-Id", "id " + w.cookie, "Cookie", w.cookie}, 200},
			{"BREW", "/tags?password=" + inQuery, "", []string{"Authorization", bearer}, 404},
		} {
			reply := send(t, s, r.method, r.path, r.body, r.header...)
			if reply.Status != r.status {
				t.Errorf("%d, %s %s: status %d, want %d: %s", i, r.method, r.path, reply.Status, r.status, reply.Body)
			}
			w.absent(t, "reply", fmt.Sprint(reply.Header)+string(reply.Body))
		}
		failing = true
		for _, r := range [][2]string{{"POST", "/events"}, {"PATCH", protected}, {"DELETE", protected}, {"POST", "/venues"}} {
			reply := send(t, s, r[0], r[1], event(`"`+w.event+`2"`), "Authorization", bearer)
			if reply.Status < 400 {
				t.Errorf("%v: %d", r, reply.Status)
			}
			w.absent(t, "failed reply", string(reply.Body))
			if strings.Contains(string(reply.Body), "1062") {
				t.Errorf("%v: %s", r, reply.Body)
			}
		}
		if !strings.Contains(log.String(), "Duplicate entry") || strings.Count(log.String(), `"msg":"request"`) < 29 {
			t.Errorf("the log lacks what was asked and what failed:\n%s", log.String())
		}
		w.absent(t, "log", log.String())
		w.absent(t, "metrics", scrape(t, s))
		for _, span := range spans.Ended() {
			w.absent(t, "trace", fmt.Sprint(span.Name(), span.Attributes(), span.Events(), span.Status()))
		}
		if text := asked.text.String(); !strings.Contains(text, "ewa") {
			t.Error("nothing was asked of the database")
		}
		w.absent(t, "statements", asked.text.String())
	})
}

// TestRefusalsAreAllAlike compares the replies to different kinds of wrong credentials. They must be equal, so that
// they do not reveal which users exist. Package auth tests that they also take the same work.
func TestRefusalsAreAllAlike(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		add := func(login, password string) *ent.User {
			user, err := auth.AddUser(t.Context(), st.Ent, apitest.Now, login, "", calendar.Editor, password)
			must.Succeed(t, err)
			return user
		}
		add("ewa", "correct horse battery")
		add("jan", "")
		out := add("out", "correct horse battery")
		revoked, row, err := auth.IssueToken(t.Context(), st.Ent, apitest.Now, out.ID, "test", nil)
		must.Succeed(t, err)
		disabled, _, err := auth.IssueToken(t.Context(), st.Ent, apitest.Now, out.ID, "test", nil)
		must.Succeed(t, err)
		must.Succeed(t, auth.RevokeToken(t.Context(), st.Ent, apitest.Now, row.ID))
		must.Succeed(t, auth.SetDisabled(t.Context(), st.Ent, apitest.Now, out.ID, true))
		s := newBrokenServer(t, io.Discard, func(h *handlers.Config, _ *server.Config) { h.Primary = st.Ent })
		const unknown = "alm_0123456789abcdefghijklmnopqrstuvwxyzABC-_EF"
		for _, group := range [][]string{
			{
				basicAuth("nobody", "correct horse battery"), basicAuth("ewa", "wrong horse battery"), basicAuth("jan", "correct horse battery"),
				basicAuth("out", "correct horse battery"), basicAuth("ewa", unknown), basicAuth("ewa", revoked), basicAuth("nobody", disabled), "Basic !",
			},
			{"Bearer " + unknown, "Bearer " + revoked, "Bearer " + disabled, "Bearer x", "Digest x"},
		} {
			var first apitest.Response
			for i, credentials := range group {
				got := send(t, s, "GET", "/tags", "", "Authorization", credentials, "X-Request-Id", "same")
				got.Header.Del("Date")
				if got.Status != http.StatusUnauthorized {
					t.Errorf("%q: %d", credentials, got.Status)
				}
				if i == 0 {
					first = got
				}
				if diff := cmp.Diff(first, got); diff != "" {
					t.Errorf("%q is answered otherwise than %q (-want +got):\n%s", credentials, group[0], diff)
				}
			}
		}
	})
}
