package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

const horse = "correct horse: battery"

// world is a Verifier with a clock that tests set. It counts the computed passwords and the database queries.
type world struct {
	*Verifier
	db       *ent.Client
	computed atomic.Int64 // passwords
	queries  atomic.Int64
	mu       sync.Mutex
	time     time.Time
}

// newWorld returns a world. A refusal of an unknown user computes a hash with the same cheap parameters as those of
// addUser.
func newWorld(db *ent.Client) *world {
	w := &world{db: db, time: noon}
	w.Verifier = NewVerifier(db, func() time.Time {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.time
	})
	w.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	w.dummy = newCheapHash()
	w.touchTime = time.Minute // however slow the machine is
	w.matches = func(h passwordHash, password string) bool {
		w.computed.Add(1)
		return h.matches(password)
	}
	db.Intercept(ent.InterceptFunc(func(next ent.Querier) ent.Querier {
		return ent.QuerierFunc(func(ctx context.Context, q ent.Query) (ent.Value, error) {
			w.queries.Add(1)
			return next.Query(ctx, q)
		})
	}))
	return w
}

// by returns the principal that Verify returns for the user of p if a request sends the token t.
func (p Principal) by(t *ent.Token) Principal {
	p.TokenID = t.ID
	return p
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.time = w.time.Add(d)
}

// cost returns how many passwords do computes and how many database queries it makes.
func (w *world) cost(do func()) (computed, queries int64) {
	c, q := w.computed.Load(), w.queries.Load()
	do()
	return w.computed.Load() - c, w.queries.Load() - q
}

func (w *world) accepts(t *testing.T, header string, want Principal) {
	t.Helper()
	got, err := w.Verify(t.Context(), header)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	if got != want {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}

func (w *world) refuses(t *testing.T, header, code string, why error) {
	t.Helper()
	got, err := w.Verify(t.Context(), header)
	var e *calendar.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %+v, error %v, want a refusal", got, err)
	}
	if got != (Principal{}) || e.Code != code || e.Key != code || !errors.Is(err, why) {
		t.Fatalf("got %+v, %v (key %s), want %s: %v", got, err, e.Key, code, why)
	}
}

const (
	badPair  = "incorrect_password"
	badToken = "rest_invalid_token"
)

func TestVerify(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx, db := t.Context(), st.Ent
		w := newWorld(db)
		ewa := addUser(t, db, "ewa", calendar.Editor, horse)
		jan := addUser(t, db, "jan", calendar.Author, "")
		out := addUser(t, db, "out", calendar.Author, horse)
		odd := addUser(t, db, "odd", calendar.Author, horse)
		soon := noon.Add(time.Minute)
		ewaToken, ewas := issue(t, db, ewa.ID, nil)
		janToken, jans := issue(t, db, jan.ID, &soon)
		outToken, _ := issue(t, db, out.ID, nil)
		oldToken, old := issue(t, db, ewa.ID, nil)
		lateToken, late := issue(t, db, ewa.ID, &soon)
		for _, err := range []error{
			SetDisabled(ctx, db, noon, out.ID, true),
			RevokeToken(ctx, db, noon, old.ID),
			db.Token.UpdateOne(late).SetExpiresAt(databaseTime(noon)).Exec(ctx),
			db.User.UpdateOne(odd).SetPasswordHash("$2y$10$x").Exec(ctx),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		isEwa := Principal{UserID: ewa.ID, Login: "ewa", Role: calendar.Editor}
		isJan := Principal{UserID: jan.ID, Login: "jan", Role: calendar.Author}

		tests := []struct {
			name, header string
			want         Principal
			code         string
			why          error
			computed     int64
		}{
			{"nothing", "", Principal{}, "", nil, 0},
			{"password", inBasic("ewa:" + horse), isEwa, "", nil, 1},
			{"password, login in upper case", inBasic("EWA:" + horse), isEwa, "", nil, 0},
			{"token as bearer", "Bearer " + ewaToken, isEwa.by(ewas), "", nil, 0},
			{"token as bearer with spaces", "bearer " + ewaToken[:20] + " " + ewaToken[20:], isEwa.by(ewas), "", nil, 0},
			{"token, remembered", "Bearer " + ewaToken, isEwa.by(ewas), "", nil, 0},
			{"token as secret", inBasic("ewa:" + ewaToken), isEwa.by(ewas), "", nil, 0},
			{"token as secret with spaces", inBasic("ewa:" + ewaToken[:9] + "  " + ewaToken[9:]), isEwa.by(ewas), "", nil, 0},
			{"token of a user without password", inBasic("jan:" + janToken), isJan.by(jans), "", nil, 0},

			{"wrong password", inBasic("ewa:wrong horse"), Principal{}, badPair, wrongPair, 1},
			{"password in other case", inBasic("ewa:" + strings.ToUpper(horse)), Principal{}, badPair, wrongPair, 1},
			{"password without its spaces", inBasic("ewa:" + removeSpaces(horse)), Principal{}, badPair, wrongPair, 1},
			{"password of another", inBasic("jan:" + horse), Principal{}, badPair, userWithoutPassword, 1},
			{"unknown user", inBasic("nobody:" + horse), Principal{}, badPair, wrongPair, 1},
			{"disabled user", inBasic("out:" + horse), Principal{}, badPair, disabledUser, 1},
			{"user with a hash that is none", inBasic("odd:" + horse), Principal{}, badPair, brokenHash, 1},
			{"password as bearer", "Bearer " + horse, Principal{}, badToken, notAToken, 0},
			{"malformed", "Basic !", Principal{}, badPair, malformedHeader, 0},
			{"other scheme", "Digest x", Principal{}, badToken, unsupportedScheme, 0},

			{"unknown token", "Bearer " + newSecret(), Principal{}, badToken, unknownToken, 0},
			{"unknown token as secret", inBasic("ewa:" + newSecret()), Principal{}, badPair, unknownToken, 0},
			{"token of another as secret", inBasic("ewa:" + janToken), Principal{}, badPair, otherUser, 0},
			{"token of an unknown user", inBasic("nobody:" + ewaToken), Principal{}, badPair, otherUser, 0},
			{"revoked token", "Bearer " + oldToken, Principal{}, badToken, revokedToken, 0},
			{"revoked token as secret", inBasic("ewa:" + oldToken), Principal{}, badPair, revokedToken, 0},
			{"expired token", "Bearer " + lateToken, Principal{}, badToken, expiredToken, 0},
			{"token of a disabled user", "Bearer " + outToken, Principal{}, badToken, disabledUser, 0},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				computed, _ := w.cost(func() {
					if tt.code == "" {
						w.accepts(t, tt.header, tt.want)
					} else {
						w.refuses(t, tt.header, tt.code, tt.why)
					}
				})
				if computed != tt.computed {
					t.Errorf("computed %d passwords, want %d", computed, tt.computed)
				}
			})
		}
	})
}

func TestPasswordInUseIsComputedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(st.Ent)
		u := addUser(t, st.Ent, "ewa", calendar.Editor, horse)
		want := Principal{UserID: u.ID, Login: "ewa", Role: calendar.Editor}
		header := inBasic("ewa:" + horse)
		w.accepts(t, header, want)
		tests := []struct {
			name              string
			after             time.Duration
			computed, queries int64
		}{
			{"at once", 0, 0, 0},
			{"just fresh", recheckAfter - 1, 0, 0},
			{"a moment later", 1, 0, 1},
			{"fresh again", time.Second, 0, 0},
			{"just not idle", evictAfter - time.Second, 0, 1}, // the last check was a second earlier
			{"once more", evictAfter, 0, 1},
			{"idle", evictAfter + 1, 1, 2},
			{"clock set back", -time.Hour, 0, 1},
		}
		for _, tt := range tests {
			w.pass(tt.after)
			computed, queries := w.cost(func() { w.accepts(t, header, want) })
			if computed != tt.computed || queries != tt.queries {
				t.Errorf("%s: %d passwords and %d queries, want %d and %d", tt.name, computed, queries, tt.computed, tt.queries)
			}
		}
	})
}

func TestChangesAreNoticed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		const password, secret, both = 1, 2, 3
		tests := []struct {
			name   string
			login  string
			change func(ctx context.Context, db *ent.Client, u *ent.User, tok *ent.Token) error
			refuse int   // which credentials
			why    error // of the refusal
		}{
			{"another password", "a", func(ctx context.Context, db *ent.Client, u *ent.User, _ *ent.Token) error {
				return SetPassword(ctx, db, u.ID, "another horse")
			}, password, wrongPair},
			{"password removed", "b", func(ctx context.Context, db *ent.Client, u *ent.User, _ *ent.Token) error {
				return SetPassword(ctx, db, u.ID, "")
			}, password, userWithoutPassword},
			{"token revoked", "c", func(ctx context.Context, db *ent.Client, _ *ent.User, tok *ent.Token) error {
				return RevokeToken(ctx, db, noon, tok.ID)
			}, secret, revokedToken},
			{"user disabled", "d", func(ctx context.Context, db *ent.Client, u *ent.User, _ *ent.Token) error {
				return SetDisabled(ctx, db, noon, u.ID, true)
			}, both, disabledUser},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				w := newWorld(st.Ent)
				u := addUser(t, st.Ent, tt.login, calendar.Author, horse)
				key, tok := issue(t, st.Ent, u.ID, nil)
				want := Principal{UserID: u.ID, Login: tt.login, Role: calendar.Author}
				w.accepts(t, inBasic(tt.login+":"+horse), want)
				w.accepts(t, "Bearer "+key, want.by(tok))
				if err := tt.change(t.Context(), st.Ent, u, tok); err != nil {
					t.Fatal(err)
				}
				w.pass(recheckAfter)
				if tt.refuse&password != 0 {
					w.refuses(t, inBasic(tt.login+":"+horse), badPair, tt.why)
					w.refuses(t, inBasic(tt.login+":"+horse), badPair, tt.why)
				} else {
					w.accepts(t, inBasic(tt.login+":"+horse), want)
				}
				if tt.refuse&secret != 0 {
					w.refuses(t, "Bearer "+key, badToken, tt.why)
				} else {
					w.accepts(t, "Bearer "+key, want.by(tok))
				}
			})
		}
	})
}

func TestSamePasswordSetAgainStaysGood(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := newWorld(st.Ent)
	u := addUser(t, st.Ent, "ewa", calendar.Author, horse)
	want := Principal{UserID: u.ID, Login: "ewa", Role: calendar.Author}
	w.accepts(t, inBasic("ewa:"+horse), want)
	if err := SetPassword(t.Context(), st.Ent, u.ID, horse); err != nil {
		t.Fatal(err)
	}
	w.pass(recheckAfter)
	w.accepts(t, inBasic("ewa:"+horse), want)
}

func TestNewRoleIsNoticed(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := newWorld(st.Ent)
	u := addUser(t, st.Ent, "ewa", calendar.Author, horse)
	key, tok := issue(t, st.Ent, u.ID, nil)
	want := Principal{UserID: u.ID, Login: "ewa", Role: calendar.Author}
	w.accepts(t, inBasic("ewa:"+horse), want)
	w.accepts(t, "Bearer "+key, want.by(tok))
	if err := SetRole(t.Context(), st.Ent, u.ID, calendar.Subscriber); err != nil {
		t.Fatal(err)
	}
	w.pass(recheckAfter)
	want.Role = calendar.Subscriber
	w.accepts(t, inBasic("ewa:"+horse), want)
	w.accepts(t, "Bearer "+key, want.by(tok))
}

func TestTokenExpiresWhileCached(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := newWorld(st.Ent)
	u := addUser(t, st.Ent, "ewa", calendar.Author, "")
	at := databaseTime(noon).Add(3 * time.Second)
	key, tok := issue(t, st.Ent, u.ID, &at)
	w.accepts(t, "Bearer "+key, Principal{UserID: u.ID, Login: "ewa", Role: calendar.Author}.by(tok))
	w.pass(at.Sub(noon))
	_, queries := w.cost(func() { w.refuses(t, "Bearer "+key, badToken, expiredToken) })
	if queries != 0 {
		t.Errorf("%d queries, want an answer from the cache", queries)
	}
}

func TestPasswordChangedWhileItWaits(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := newWorld(st.Ent)
	u := addUser(t, st.Ent, "ewa", calendar.Author, horse)
	w.matches = func(h passwordHash, password string) bool {
		if err := SetPassword(t.Context(), st.Ent, u.ID, "another horse"); err != nil {
			t.Error(err)
		}
		return h.matches(password)
	}
	w.refuses(t, inBasic("ewa:"+horse), badPair, wrongPair)
}

func TestLastUseIsWrittenOnceAMinute(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		u := addUser(t, st.Ent, "ewa", calendar.Author, "")
		key, tok := issue(t, st.Ent, u.ID, nil)
		want := Principal{UserID: u.ID, Login: "ewa", Role: calendar.Author}
		one, two := newWorld(st.Ent), newWorld(st.Ent) // two processes
		steps := []struct {
			name  string
			after time.Duration
			by    *world
			used  time.Duration // after noon
		}{
			{"first use", 0, one, 0},
			{"again", time.Second, one, 0},
			{"by the other process", 0, two, 0},
			{"from the database", 10 * time.Second, one, 0},
			{"just within the minute", 48 * time.Second, one, 0},
			{"a minute later", time.Second, one, time.Minute},
			{"by the other process, who thinks it is time", 0, two, time.Minute},
			{"much later", time.Hour, two, time.Hour + time.Minute},
		}
		for _, s := range steps {
			one.pass(s.after)
			two.pass(s.after)
			s.by.accepts(t, "Bearer "+key, want.by(tok))
			got, err := st.Ent.Token.Get(t.Context(), tok.ID)
			if err != nil {
				t.Fatal(err)
			}
			if at := databaseTime(noon).Add(s.used); got.LastUsedAt == nil || !got.LastUsedAt.Equal(at) {
				t.Errorf("%s: last used at %v, want %s", s.name, got.LastUsedAt, at)
			}
		}
	})
}

func TestLastUseThatCannotBeWrittenIsLogged(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := newWorld(st.Ent)
	var log strings.Builder
	w.Log = slog.New(slog.NewTextHandler(&log, nil))
	u := addUser(t, st.Ent, "ewa", calendar.Author, "")
	key, tok := issue(t, st.Ent, u.ID, nil)
	st.Ent.Token.Use(func(ent.Mutator) ent.Mutator {
		return ent.MutateFunc(func(context.Context, ent.Mutation) (ent.Value, error) {
			return nil, errors.New("disk full")
		})
	})
	want := Principal{UserID: u.ID, Login: "ewa", Role: calendar.Author}.by(tok)
	for range 3 {
		w.accepts(t, "Bearer "+key, want)
		w.pass(recheckAfter) // the row, read again, must not make it try again at once
	}
	if got := strings.Count(log.String(), "disk full"); got != 1 {
		t.Errorf("logged %d times, want once:\n%s", got, log.String())
	}
	if strings.Contains(log.String(), key) {
		t.Error("the log has the secret")
	}
}

// TestLastUseDoesNotHoldUpTheReply checks that Verify does not wait for a slow write of the token's last use. Another
// transaction blocks the write.
func TestLastUseDoesNotHoldUpTheReply(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(st.Ent)
		w.touchTime = touchTime
		var log strings.Builder
		w.Log = slog.New(slog.NewTextHandler(&log, nil))
		u := addUser(t, st.Ent, "ewa", calendar.Author, "")
		key, tok := issue(t, st.Ent, u.ID, nil)
		want := Principal{UserID: u.ID, Login: "ewa", Role: calendar.Author}.by(tok)
		other, err := st.Ent.Tx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Token.UpdateOne(tok).SetName("held").Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		used := func() *time.Time {
			t.Helper()
			got, err := st.Ent.Token.Get(t.Context(), tok.ID)
			if err != nil {
				t.Fatal(err)
			}
			return got.LastUsedAt
		}
		began := time.Now()
		w.accepts(t, "Bearer "+key, want)
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("the first reply took %s", took)
		}
		if at := used(); at != nil {
			t.Errorf("last used at %s, beside a lock", at)
		}
		if got := strings.Count(log.String(), "last use of a token"); got != 1 {
			t.Errorf("logged %d times, want once:\n%s", got, log.String())
		}
		// The next one is not held up at all.
		log.Reset()
		w.accepts(t, "Bearer "+key, want)
		if log.Len() > 0 {
			t.Errorf("it tried again at once: %s", log.String())
		}
		if err := other.Rollback(); err != nil {
			t.Fatal(err)
		}
		w.touchTime = time.Minute
		w.pass(touchEvery)
		w.accepts(t, "Bearer "+key, want)
		if at := used(); at == nil || !at.Equal(databaseTime(noon).Add(touchEvery)) {
			t.Errorf("last used at %v, want a minute after noon", at)
		}
	})
}

func TestDatabaseTroubleIsNoRefusal(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := newWorld(st.Ent)
	u := addUser(t, st.Ent, "ewa", calendar.Author, horse)
	key, tok := issue(t, st.Ent, u.ID, nil)
	headers := []string{inBasic("ewa:" + horse), "Bearer " + key}
	want := Principal{UserID: u.ID, Login: "ewa", Role: calendar.Author}
	wants := []Principal{want, want.by(tok)}
	for i, header := range headers {
		w.accepts(t, header, wants[i])
	}
	w.pass(recheckAfter)
	away, broken := errors.New("database away"), true
	st.Ent.Intercept(ent.InterceptFunc(func(next ent.Querier) ent.Querier {
		return ent.QuerierFunc(func(ctx context.Context, q ent.Query) (ent.Value, error) {
			if broken {
				return nil, away
			}
			return next.Query(ctx, q)
		})
	}))
	for _, header := range append(headers, inBasic("ewa:unseen before")) {
		_, err := w.Verify(t.Context(), header)
		var refused *calendar.Error
		if !errors.Is(err, away) || errors.As(err, &refused) {
			t.Errorf("got %v, want %v", err, away)
		}
	}
	broken = false
	computed, _ := w.cost(func() {
		for i, header := range headers {
			w.accepts(t, header, wants[i])
		}
	})
	if computed != 0 {
		t.Error("the trouble made it forget a password")
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := newCache()
	key := func(i int) cacheKey { return cacheKey{byte(i), byte(i >> 8)} }
	for i := range 2 * maxEntries {
		_, f, leads := c.lookup(key(i), noon)
		if !leads {
			t.Fatalf("entry %d is known", i)
		}
		f.abandoned, f.found = false, cachedCredential{principal: Principal{TokenID: int64(i)}, checked: noon}
		c.finish(key(i), f)
	}
	c.entries.CleanUp()
	if n := c.entries.EstimatedSize(); n == 0 || n > maxEntries || len(c.flights) != 0 {
		t.Errorf("%d entries and %d flights", n, len(c.flights))
	}
	for i := range 2 * maxEntries {
		if found, f, _ := c.lookup(key(i), noon); f == nil && found.principal.TokenID != int64(i) {
			t.Errorf("entry %d is that of token %d", i, found.principal.TokenID)
		}
	}
}

func TestIdleEntriesAreForgotten(t *testing.T) {
	for age, known := range map[time.Duration]bool{evictAfter: true, evictAfter + 1: false} {
		c := newCache()
		_, f, _ := c.lookup(cacheKey{}, noon)
		f.abandoned, f.found = false, cachedCredential{hash: "stored", checked: noon}
		c.finish(cacheKey{}, f)
		found, _, leads := c.lookup(cacheKey{}, noon.Add(age))
		if (found.hash != "") != known || !leads {
			t.Errorf("after %v: %+v, leads %v", age, found, leads)
		}
	}
}

func TestRefusalsAreNotKept(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := newWorld(st.Ent)
	for i := range 3 {
		w.refuses(t, "Bearer "+newSecret(), badToken, unknownToken)
		w.refuses(t, inBasic(fmt.Sprintf("nobody%d:%s", i, horse)), badPair, wrongPair)
	}
	if n := w.cache.entries.EstimatedSize(); n != 0 || len(w.cache.flights) != 0 {
		t.Errorf("%d entries and %d flights are kept", n, len(w.cache.flights))
	}
}
