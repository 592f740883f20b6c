package store_test

import (
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/user"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestTimesAreStoredInUTC checks that times are stored in UTC. SQLite compares times as text, so all must be in one
// zone.
func TestTimesAreStoredInUTC(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		east, west := time.FixedZone("east", 9*3600), time.FixedZone("", -5*3600)
		at := time.Date(2039, 7, 1, 20, 30, 0, 0, time.UTC)
		raw := "SELECT CAST(created_at AS TEXT) FROM users WHERE login = ?"
		want := "2039-07-01 20:30:00+00:00"
		if st.Engine() == "mysql" {
			raw, want = "SELECT CAST(created_at AS CHAR) FROM users WHERE login = ?", "2039-07-01 20:30:00"
		}
		for login, zone := range map[string]*time.Location{"utc": time.UTC, "east": east, "west": west, "local": time.Local} {
			err := st.Ent.User.Create().SetLogin(login).SetRole(calendar.Author).SetCreatedAt(at.In(zone)).Exec(ctx)
			must.Succeed(t, err)
			if got := storetest.Value(t, st.DB, raw, login); got != want {
				t.Errorf("%s is stored as %s, want %s", login, got, want)
			}
			u, err := st.Ent.User.Query().Where(user.Login(login)).Only(ctx)
			must.Succeed(t, err)
			if u.CreatedAt != at {
				t.Errorf("%s is read as %s, want %s", login, u.CreatedAt, at)
			}
		}
		for name, zone := range map[string]*time.Location{"utc": time.UTC, "east": east, "west": west} {
			n, err := st.Ent.User.Query().Where(user.CreatedAtGTE(at.In(zone)), user.CreatedAtLT(at.In(zone).Add(time.Second))).
				Count(ctx)
			if err != nil || n != 4 {
				t.Errorf("compared in %s: %d rows, error %v, want 4", name, n, err)
			}
		}
	})
}
