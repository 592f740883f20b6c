package migrate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestRowVersionsCountInstantChanges(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		storetest.Exec(t, st, "CREATE TABLE a (id bigint PRIMARY KEY)", "CREATE TABLE b (id bigint PRIMARY KEY)")
		instant := ""
		if st.Engine() == "mysql" {
			instant = ", ALGORITHM=INSTANT"
		}
		storetest.Exec(t, st, "ALTER TABLE a ADD COLUMN x int NULL"+instant, "ALTER TABLE a ADD COLUMN y int NULL"+instant)
		got, err := migrate.ReadRowVersions(t.Context(), st)
		if err != nil {
			t.Fatal(err)
		}
		if st.Engine() == "sqlite" || storetest.IsMariaDB(t, st) || storetest.IsTiDB(t, st) {
			if got != nil {
				t.Errorf("got %+v", got)
			}
			return
		}
		if got == nil || got.Limit < 64 {
			t.Fatalf("got %+v", got)
		}
		if diff := cmp.Diff(map[string]int{"a": 2}, got.Tables); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestLimitOfRowVersions(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]int{
		"8.0.29": 64, "8.4.6-log": 64, "9.0.1": 64, "9.1.0": 255, "9.7.4-2": 255, "10.0.0": 255,
	} {
		if got := migrate.RowVersionLimit(version); got != want {
			t.Errorf("%s: %d, want %d", version, got, want)
		}
	}
	if got := migrate.InnodbName("my-calendar_2"); got != "my@002dcalendar_2" {
		t.Errorf("got %s", got)
	}
}
