package main

import (
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestCommandsRaiseTheRevision runs commands that change data of the API. Each must increase the revision, so that
// processes with cached replies notice.
func TestCommandsRaiseTheRevision(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		almanac := func(args ...string) {
			t.Helper()
			if code, out := almanac(t, append(args, "--db", url)...); code != 0 {
				t.Fatalf("%v: exit status %d, %s", args, code, out)
			}
		}
		almanac("migrate", "apply")
		st, err := store.Open(t.Context(), url)
		must.Succeed(t, err)
		defer func() {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		}()
		q := st.NewQuestion(index.RevisionQuery)
		defer func() {
			if err := q.Close(); err != nil {
				t.Error(err)
			}
		}()
		revision := func() int64 {
			t.Helper()
			n, err := q.Ask(t.Context())
			must.Succeed(t, err)
			return n
		}
		almanac("user", "add", "--login", "ewa", "--role", "author")
		ewa, err := auth.FindUser(t.Context(), st.Ent, "ewa")
		must.Succeed(t, err)
		e := &edit.Editor{Now: clockNow(), By: auth.Principal{UserID: ewa.ID, Role: calendar.Author}}
		err = edit.Write(t.Context(), st.Ent, e, func(tx *ent.Tx) error {
			_, _, err := edit.Venues.Create(t.Context(), tx, e, &edit.VenueInput{Name: new("Hall")})
			return err
		})
		must.Succeed(t, err)
		for _, args := range [][]string{
			{"user", "remove", "ewa"},
			{"search", "rebuild"},
			{"check", "--repair"},
			{"seed", "--events", "3", "--no-images", "--force"},
		} {
			before := revision()
			almanac(args...)
			if after := revision(); after <= before {
				t.Errorf("%v: revision %d, and %d before", args, after, before)
			}
		}
	})
}
