package server_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/idempotency"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

// interruption is a function that runs while a write stores search texts. The write fails with its error. Nil
// means that the write is not interrupted.
type interruption func(context.Context) error

// hookInterruption adds a hook to a store. When a write stores search texts, the hook calls the interruption that
// now points to.
func hookInterruption(st *store.Store, now *interruption) {
	st.Ent.SearchText.Use(func(next ent.Mutator) ent.Mutator {
		return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
			if interrupt := *now; interrupt != nil {
				if err := interrupt(ctx); err != nil {
					return nil, err
				}
			}
			return next.Mutate(ctx, m)
		})
	})
}

// TestWhatEndsARequestFreesItsKey interrupts writes by a deadline or a panic. They must write nothing and free
// their idempotency key, so that the next attempt starts afresh.
func TestWhatEndsARequestFreesItsKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var interrupt interruption
		hookInterruption(st, &interrupt)
		token := secret(t, st)
		for _, c := range []struct {
			name      string
			interrupt interruption
			timeout   time.Duration // 0 means that of the server
			status    int
			written   int // keys and terms
		}{
			{"the deadline", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, time.Second, 503, 0},
			{"a panic", func(context.Context) error { panic("at the disco") }, 0, 500, 0},
			{"nothing", nil, 0, 201, 1},
		} {
			t.Run(c.name, func(t *testing.T) {
				interrupt = c.interrupt
				s := newBrokenServer(t, io.Discard, func(h *handlers.Config, s *server.Config) {
					h.Primary, s.Replays = st.Ent, idempotency.New(st)
					if c.timeout != 0 {
						s.Timeout = c.timeout
					}
				})
				res := send(t, s, "POST", "/tags", `{"name": "One"}`, "Authorization", "Bearer "+token, "Idempotency-Key", `"one"`)
				if res.Status != c.status || res.Header.Get("Idempotency-Replayed") != "" {
					t.Errorf("got %d %v, want a first %d", res.Status, res.Header, c.status)
				}
				if keys := st.Ent.IdempotencyKey.Query().CountX(t.Context()); keys != c.written {
					t.Errorf("%d keys, want %d", keys, c.written)
				}
				if terms := st.Ent.Term.Query().CountX(t.Context()); terms != c.written {
					t.Errorf("%d terms, want %d", terms, c.written)
				}
			})
		}
	})
}

func TestPreflightAllowsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	const always = "Authorization, Content-Type, Accept-Language, X-HTTP-Method-Override"
	for asked, want := range map[string]string{
		"":                                     always,
		"content-type":                         always,
		"X-Other, Idempotency-Keys":            always,
		"idempotency-key":                      always + ", Idempotency-Key",
		"content-type,Idempotency-Key":         always + ", Idempotency-Key",
		"idempotency-key , IDEMPOTENCY-KEY, x": always + ", Idempotency-Key",
		"prefer,x-requested-with":              always + ", X-Requested-With, Prefer",
		"X-WP-Nonce, Last-Event-ID":            always + ", Last-Event-ID, X-WP-Nonce",
		"Content-Disposition":                  always + ", Content-Disposition",
	} {
		res := api.Do(t, withHeaders(ask("OPTIONS", "/events"), "Access-Control-Request-Headers", asked))
		if got := res.Header.Get("Access-Control-Allow-Headers"); got != want {
			t.Errorf("asked for %q: got %q, want %q", asked, got, want)
		}
	}
}

func TestKeysAreIgnoredWithoutAKeeper(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	s := newBrokenServer(t, io.Discard, func(h *handlers.Config, _ *server.Config) { h.Primary = st.Ent })
	for range 2 {
		res := do(t, s, "POST", "/tags?name=One", "Authorization", "Bearer "+secret(t, st), "Idempotency-Key", `"one`)
		if res.Header.Get("Idempotency-Replayed") != "" || res.Status != 201 && res.Status != 400 {
			t.Errorf("got %d: %s", res.Status, res.Body)
		}
	}
	if n := st.Ent.IdempotencyKey.Query().CountX(t.Context()); n != 0 {
		t.Errorf("%d keys", n)
	}
}

func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{
		`"8e03978e-40d5-43e8-bc93-6894a57f9324"`, "plain", `"a\"b\\c"`, `"a";p=1`, `"a" ;p`, `"`, `""`, `"\x"`, `"a`, "a,b", "ł", "\x00",
		" \t\"a\" ", `"` + strings.Repeat("x", 256) + `"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		key, ok := server.ParseKey(header)
		if !ok {
			return
		}
		if key == "" || len(key) > 255 || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%q is the key %q", header, key)
		}
		// As a string of RFC 8941 it is the same key.
		again, ok := server.ParseKey(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`)
		if !ok || again != key {
			t.Fatalf("%q is the key %q, and then %q, %v", header, key, again, ok)
		}
	})
}
