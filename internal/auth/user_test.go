package auth

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/token"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// noon is the current time in tests. Its fraction of a second must not be stored.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 700_000_000, time.UTC)

// addUser adds a user. If password is not "", it stores a hash that is fast to compute.
func addUser(t *testing.T, db *ent.Client, login string, role calendar.Role, password string) *ent.User {
	t.Helper()
	u, err := AddUser(t.Context(), db, noon, login, "", role, "")
	if err == nil && password != "" {
		h := newCheapHash()
		h.key = h.derive(password)
		u, err = db.User.UpdateOne(u).SetPasswordHash(h.String()).Save(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// newCheapHash returns a hash with a random key and parameters that make it fast to compute.
func newCheapHash() passwordHash {
	h := newDummyHash()
	h.memory, h.passes = 8, 1
	return h
}

func issue(t *testing.T, db *ent.Client, userID int64, expires *time.Time) (string, *ent.Token) {
	t.Helper()
	secret, tok, err := IssueToken(t.Context(), db, noon, userID, "test", expires)
	if err != nil {
		t.Fatal(err)
	}
	return secret, tok
}

func TestAddUser(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		addUser(t, st.Ent, "taken", calendar.Author, "")
		tests := []struct {
			name            string
			login, fullName string
			role            calendar.Role
			password        string
			want            string // login
			err             error
		}{
			{"plain", "ewa", "Ewa Nowak", calendar.Editor, "", "ewa", nil},
			{"upper case", "Jan.KOWALSKI", "", calendar.Author, "", "jan.kowalski", nil},
			{"all characters", "a-z_0.9+x@example.org", "", calendar.Subscriber, "", "a-z_0.9+x@example.org", nil},
			{"100 characters", strings.Repeat("a", 100), "", calendar.Subscriber, "", strings.Repeat("a", 100), nil},
			{"with password", "ala", "", calendar.Administrator, "correct horse", "ala", nil},
			{"name of 255 bytes", "long", strings.Repeat("x", 255), calendar.Author, "", "long", nil},

			{"taken", "taken", "", calendar.Author, "", "", ErrLoginTaken},
			{"taken in other case", "TAKEN", "", calendar.Author, "", "", ErrLoginTaken},
			{"no login", "", "", calendar.Author, "", "", ErrLogin},
			{"101 characters", strings.Repeat("a", 101), "", calendar.Author, "", "", ErrLogin},
			{"space", "ewa nowak", "", calendar.Author, "", "", ErrLogin},
			{"colon", "ewa:nowak", "", calendar.Author, "", "", ErrLogin},
			{"letter beyond ASCII", "łucja", "", calendar.Author, "", "", ErrLogin},
			{"unknown role", "x", "", "owner", "", "", ErrRole},
			{"no role", "x", "", "", "", "", ErrRole},
			{"short password", "x", "", calendar.Author, "1234567", "", ErrPassword},
			{"name of 256 bytes", "x", strings.Repeat("x", 256), calendar.Author, "", "", ErrName},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				u, err := AddUser(t.Context(), st.Ent, noon, tt.login, tt.fullName, tt.role, tt.password)
				if !errors.Is(err, tt.err) {
					t.Fatalf("got error %v, want %v", err, tt.err)
				}
				if err != nil {
					return
				}
				got, err := FindUser(t.Context(), st.Ent, strings.ToUpper(tt.login))
				if err != nil {
					t.Fatal(err)
				}
				if got.ID != u.ID || got.Login != tt.want || got.Name != tt.fullName || got.Role != tt.role {
					t.Errorf("got %v", got)
				}
				if has := got.PasswordHash != nil; has != (tt.password != "") {
					t.Errorf("has a password: %t", has)
				}
				if !got.CreatedAt.Equal(noon.Truncate(time.Second)) {
					t.Errorf("created at %s", got.CreatedAt)
				}
			})
		}
	})
}

func TestAddUserBelongsToTheTransaction(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		undo := errors.New("undo")
		err := store.Tx(t.Context(), st.Ent, func(tx *ent.Tx) error {
			if _, err := AddUser(t.Context(), tx.Client(), noon, "ewa", "", calendar.Author, ""); err != nil {
				return err
			}
			return undo
		})
		if !errors.Is(err, undo) {
			t.Fatal(err)
		}
		if _, err := FindUser(t.Context(), st.Ent, "ewa"); !errors.Is(err, ErrNoUser) {
			t.Errorf("got %v, want %v", err, ErrNoUser)
		}
	})
}

func TestUserChanges(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx, db := t.Context(), st.Ent
		u := addUser(t, db, "ewa", calendar.Author, "correct horse")
		load := func() *ent.User {
			t.Helper()
			u, err := FindUser(ctx, db, "ewa")
			if err != nil {
				t.Fatal(err)
			}
			return u
		}
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}

		do(SetRole(ctx, db, u.ID, calendar.Editor))
		if got := load().Role; got != calendar.Editor {
			t.Errorf("role: got %s", got)
		}
		if err := SetRole(ctx, db, u.ID, "owner"); !errors.Is(err, ErrRole) {
			t.Errorf("unknown role: got %v", err)
		}

		do(SetPassword(ctx, db, u.ID, "another horse"))
		if got := load().PasswordHash; got == nil || *got == *u.PasswordHash {
			t.Error("the password did not change")
		}
		if err := SetPassword(ctx, db, u.ID, "short"); !errors.Is(err, ErrPassword) {
			t.Errorf("short password: got %v", err)
		}
		do(SetPassword(ctx, db, u.ID, ""))
		if load().PasswordHash != nil {
			t.Error("the password is still there")
		}

		do(SetDisabled(ctx, db, noon, u.ID, true))
		do(SetDisabled(ctx, db, noon.Add(time.Hour), u.ID, true))
		if got := load().DisabledAt; got == nil || !got.Equal(noon.Truncate(time.Second)) {
			t.Errorf("disabled twice: since %v", got)
		}
		do(SetDisabled(ctx, db, noon, u.ID, false))
		do(SetDisabled(ctx, db, noon, u.ID, false))
		if got := load().DisabledAt; got != nil {
			t.Errorf("enabled: disabled since %v", got)
		}
	})
}

func TestUnknownUsersAndTokens(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		const unknown = 4711
		tests := []struct {
			name string
			do   func(ctx context.Context, db *ent.Client) error
			want error
		}{
			{"find", func(ctx context.Context, db *ent.Client) error {
				_, err := FindUser(ctx, db, "nobody")
				return err
			}, ErrNoUser},
			{"find what is no login", func(ctx context.Context, db *ent.Client) error {
				_, err := FindUser(ctx, db, "no body")
				return err
			}, ErrNoUser},
			{"set password", func(ctx context.Context, db *ent.Client) error {
				return SetPassword(ctx, db, unknown, "correct horse")
			}, ErrNoUser},
			{"take password away", func(ctx context.Context, db *ent.Client) error {
				return SetPassword(ctx, db, unknown, "")
			}, ErrNoUser},
			{"set role", func(ctx context.Context, db *ent.Client) error {
				return SetRole(ctx, db, unknown, calendar.Editor)
			}, ErrNoUser},
			{"disable", func(ctx context.Context, db *ent.Client) error {
				return SetDisabled(ctx, db, noon, unknown, true)
			}, ErrNoUser},
			{"issue token", func(ctx context.Context, db *ent.Client) error {
				_, _, err := IssueToken(ctx, db, noon, unknown, "", nil)
				return err
			}, ErrNoUser},
			{"revoke token", func(ctx context.Context, db *ent.Client) error {
				return RevokeToken(ctx, db, noon, unknown)
			}, ErrNoToken},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				if err := tt.do(t.Context(), st.Ent); !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
			})
		}
	})
}

func TestListUsersByLogin(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		for _, login := range []string{"c", "a", "b"} {
			addUser(t, st.Ent, login, calendar.Author, "")
		}
		us, err := ListUsers(t.Context(), st.Ent)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, u := range us {
			got = append(got, u.Login)
		}
		if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTokens(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx, db := t.Context(), st.Ent
		u := addUser(t, db, "ewa", calendar.Author, "")
		other := addUser(t, db, "jan", calendar.Author, "")
		expires := noon.Add(time.Hour)
		first, one := issue(t, db, u.ID, &expires)
		second, two := issue(t, db, u.ID, nil)
		issue(t, db, other.ID, nil)

		if !isToken(first) || !isToken(second) || first == second {
			t.Errorf("secrets: %s and %s", first, second)
		}
		if string(one.Hash) != string(hashToken(first)) || len(one.Hash) != 32 {
			t.Errorf("hash: got %x", one.Hash)
		}
		if one.ExpiresAt == nil || !one.ExpiresAt.Equal(expires.Truncate(time.Second)) || two.ExpiresAt != nil {
			t.Errorf("expiries: %v and %v", one.ExpiresAt, two.ExpiresAt)
		}
		for _, at := range []time.Time{noon, noon.Add(-time.Hour), noon.Add(200 * time.Millisecond)} {
			if _, _, err := IssueToken(ctx, db, noon, u.ID, "", &at); !errors.Is(err, ErrTokenExpiry) {
				t.Errorf("expiry %s: got %v", at, err)
			}
		}
		if _, _, err := IssueToken(ctx, db, noon, u.ID, strings.Repeat("x", 256), nil); !errors.Is(err, ErrName) {
			t.Errorf("long name: got %v", err)
		}

		for _, after := range []time.Duration{0, time.Hour} {
			if err := RevokeToken(ctx, db, noon.Add(after), one.ID); err != nil {
				t.Fatal(err)
			}
		}
		ts, err := db.Token.Query().Where(token.UserID(u.ID)).Order(token.ByID()).All(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(ts) != 2 || ts[0].ID != one.ID || ts[1].ID != two.ID {
			t.Fatalf("got %v", ts)
		}
		if at := ts[0].RevokedAt; at == nil || !at.Equal(noon.Truncate(time.Second)) {
			t.Errorf("revoked twice: at %v", at)
		}
		if ts[1].RevokedAt != nil {
			t.Error("the other token is revoked too")
		}
	})
}

func TestRemoveUser(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx, db := t.Context(), st.Ent
		w := newWorld(db)
		ewa := addUser(t, db, "ewa", calendar.Author, horse)
		jan := addUser(t, db, "jan", calendar.Author, "")
		key, tok := issue(t, db, ewa.ID, nil)
		issue(t, db, ewa.ID, nil)
		issue(t, db, jan.ID, nil)
		w.accepts(t, "Bearer "+key, Principal{UserID: ewa.ID, Login: "ewa", Role: calendar.Author}.by(tok))
		var ids [3]int64
		for i, author := range []int64{ewa.ID, jan.ID, ewa.ID} {
			ids[i] = int64(i + 1)
			err := db.Image.Create().SetID(ids[i]).SetAuthorID(author).SetExtension("png").SetMimeType("image/png").
				SetWidth(1).SetHeight(1).SetFilesize(1).SetCreatedAt(databaseTime(noon)).Exec(ctx)
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := RemoveUser(ctx, db, ewa.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := FindUser(ctx, db, "ewa"); !errors.Is(err, ErrNoUser) {
			t.Errorf("still there: %v", err)
		}
		if err := RemoveUser(ctx, db, ewa.ID); !errors.Is(err, ErrNoUser) {
			t.Errorf("removed twice: %v", err)
		}
		if n, err := db.Token.Query().Count(ctx); n != 1 || err != nil {
			t.Errorf("%d tokens are left, error %v, want jan's", n, err)
		}
		for i, want := range []*int64{nil, &jan.ID, nil} {
			image, err := db.Image.Get(ctx, ids[i])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, image.AuthorID); diff != "" {
				t.Errorf("author of image %d (-want +got):\n%s", ids[i], diff)
			}
		}
		w.pass(recheckAfter)
		w.refuses(t, "Bearer "+key, badToken, unknownToken)
		w.refuses(t, inBasic("ewa:"+horse), badPair, wrongPair)
	})
}

func TestKeepAdministrator(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx, db := t.Context(), st.Ent
		ewa := addUser(t, db, "ewa", calendar.Administrator, "")
		jan := addUser(t, db, "jan", calendar.Administrator, "")
		ala := addUser(t, db, "ala", calendar.Editor, "")
		check := func(name string, u *ent.User, want error) {
			t.Helper()
			if err := KeepAdministrator(ctx, db, u.ID); !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", name, err, want)
			}
		}
		check("one of two", ewa, nil)
		if err := SetDisabled(ctx, db, noon, jan.ID, true); err != nil {
			t.Fatal(err)
		}
		check("the other is disabled", ewa, ErrLastAdministrator)
		check("disabled already", jan, nil)
		check("an editor", ala, nil)
		if err := SetRole(ctx, db, ewa.ID, calendar.Editor); err != nil {
			t.Fatal(err)
		}
		check("nobody administrates", ewa, nil)
	})
}

// TestAdministratorsCannotRemoveEachOther has two administrators remove each other at the same time. At most one may
// succeed.
func TestAdministratorsCannotRemoveEachOther(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		users := []*ent.User{
			addUser(t, st.Ent, "ewa", calendar.Administrator, ""),
			addUser(t, st.Ent, "jan", calendar.Administrator, ""),
		}
		var group sync.WaitGroup
		errs := make([]error, len(users))
		for i, u := range users {
			group.Go(func() {
				errs[i] = store.Tx(t.Context(), st.Ent, func(tx *ent.Tx) error {
					if err := KeepAdministrator(t.Context(), tx.Client(), u.ID); err != nil {
						return err
					}
					return RemoveUser(t.Context(), tx.Client(), u.ID)
				})
			})
		}
		group.Wait()
		left, err := ListUsers(t.Context(), st.Ent)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) != 1 || !errors.Is(errors.Join(errs...), ErrLastAdministrator) {
			t.Errorf("%d users are left, errors %v", len(left), errs)
		}
	})
}
