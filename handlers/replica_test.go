package handlers_test

import (
	"log/slog"
	"testing"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestWhoSignsInReadsWhatTheReplicaDoesNotHaveYet checks that signed-in users do not read from a lagging replica.
// A second database with the same rows acts as the replica. It gets a write when the test repeats the write there.
func TestWhoSignsInReadsWhatTheReplicaDoesNotHaveYet(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		behind := storetest.Migrated(t, storetest.SQLite(t))
		replica := apitest.New(t, behind)
		replica.Example(t)
		lists := index.New(behind.Ent, read.EventColumns(), slog.New(slog.DiscardHandler))
		must.Succeed(t, lists.Load(t.Context()))
		api := apitest.New(t, st, func(c *handlers.Config) { c.Replica, c.Index = behind.Ent, lists })
		api.Example(t)
		total := func(as, path string) int {
			t.Helper()
			r := api.Do(t, getAs(as, path))
			if r.Status != 200 {
				t.Fatalf("%s: %d %s", path, r.Status, r.Body)
			}
			return int(r.Get(t, "total").(float64))
		}
		check := func(when, path string, anonymous, signedIn int) {
			t.Helper()
			if got := total("", path); got != anonymous {
				t.Errorf("%s, %s: nobody in particular finds %d, want %d", when, path, got, anonymous)
			}
			if got := total("admin", path); got != signedIn {
				t.Errorf("%s, %s: who signed in finds %d, want %d", when, path, got, signedIn)
			}
		}
		const events, venues = "/events?search=replicated", "/venues?search=replicated"
		check("before", events, 0, 0)
		written := concert(object{"title": "Replicated", "venue": object{"venue": "Replicated hall"}})
		made := api.Do(t, post("admin", "/events", written))
		if made.Status != 201 {
			t.Fatalf("%d %s", made.Status, made.Body)
		}
		check("behind", events, 0, 1)
		check("behind", venues, 0, 1)
		one := eventPath(int64(made.Get(t, "id").(float64)))
		if r := api.Do(t, get(one)); r.Status != 404 {
			t.Errorf("behind: nobody in particular gets %d %s", r.Status, r.Body)
		}
		if r := api.Do(t, getAs("admin", one)); r.Status != 200 {
			t.Errorf("behind: who signed in gets %d %s", r.Status, r.Body)
		}
		if r := replica.Do(t, post("admin", "/events", written)); r.Status != 201 {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		check("caught up", events, 1, 1)
		check("caught up", venues, 1, 1)
		if r := api.Do(t, get(one)); r.Status != 200 {
			t.Errorf("caught up: nobody in particular gets %d %s", r.Status, r.Body)
		}
		must.Succeed(t, behind.DB.Close())
		for _, path := range []string{events, venues} {
			if got := total("admin", path); got != 1 {
				t.Errorf("the replica is away, %s: who signed in finds %d", path, got)
			}
		}
	})
}
