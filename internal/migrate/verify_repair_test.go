package migrate_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// sameQuotes compares statements. MariaDB writes an empty text in single quotes, the states of MySQL in double ones.
var sameQuotes = cmp.Comparer(func(a, b string) bool {
	return strings.ReplaceAll(a, `""`, "''") == strings.ReplaceAll(b, `""`, "''")
})

// TestVerifyRepairsInOneRun changes tables and repairs them with the statements that Verify returns. A statement must
// take no lock if the server can avoid it. Otherwise its comment must say that it locks. For changes of collations
// and character sets, Verify must return the same statements when it replays the migrations.
func TestVerifyRepairsInOneRun(t *testing.T) {
	t.Parallel()
	onlyMySQL(t)
	const (
		instant = "ALGORITHM=INSTANT"
		inPlace = "ALGORITHM=INPLACE, LOCK=NONE"
		blocks  = "keeps programs from writing"
	)
	for _, test := range []struct {
		name   string
		change string // one statement per line
		want   string // in what repairs it
		noTiDB string // why TiDB cannot have the drift; "" if it can
	}{
		{
			"collation of a table and its columns", "ALTER TABLE terms CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", blocks,
			"it gives an indexed column no other collation (8200)",
		},
		{"collation of a table", "ALTER TABLE terms COLLATE utf8mb4_general_ci", "COLLATE utf8mb4_bin", ""},
		{"collation of a column", "ALTER TABLE terms MODIFY COLUMN name varchar(255) COLLATE utf8mb4_general_ci NOT NULL", blocks, ""},
		{
			"collation of a table, and another of a column", "ALTER TABLE terms COLLATE utf8mb4_general_ci\n" +
				"ALTER TABLE terms MODIFY COLUMN name varchar(255) COLLATE utf8mb4_unicode_ci NOT NULL", blocks, "",
		},
		{
			"a new column's collation is that of the table", "ALTER TABLE settings COLLATE utf8mb4_general_ci\n" +
				"ALTER TABLE settings ADD COLUMN extra varchar(10) NULL", "extra", "",
		},
		{"character set", "ALTER TABLE terms CONVERT TO CHARACTER SET latin1", blocks, "it converts no table to latin1 (8200)"},
		{"an index too few", "DROP INDEX term_name_key ON terms", inPlace, ""},
		{"an index too many", "CREATE INDEX extra ON terms (name)", inPlace, ""},
		{
			"a column too few", "ALTER TABLE terms DROP COLUMN sort_en", instant,
			"it drops no column of an index with several (8200)",
		},
		{
			"a column and its index too few", "DROP INDEX term_taxonomy_sort_en_id ON terms\nALTER TABLE terms DROP COLUMN sort_en",
			instant, "",
		},
		{"a column and its index too many", "ALTER TABLE terms ADD COLUMN extra int NULL\nCREATE INDEX extra ON terms (extra)", inPlace, ""},
		{
			"a foreign key too many", "ALTER TABLE terms ADD COLUMN extra bigint NULL\n" +
				"ALTER TABLE terms ADD CONSTRAINT extra FOREIGN KEY (extra) REFERENCES venues (id)", inPlace, "",
		},
		{"a column that may be null", "ALTER TABLE terms MODIFY COLUMN name varchar(255) COLLATE utf8mb4_bin NULL", blocks, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			st := storetest.Open(t, storetest.Lent(t))
			if test.noTiDB != "" {
				storetest.SkipOnTiDB(t, st, test.noTiDB)
			}
			for line := range strings.Lines(test.change) {
				storetest.Exec(t, st, line)
			}
			verify := func(dev *store.Store) migrate.Drift {
				t.Helper()
				drift, err := migrate.Verify(t.Context(), st, dev)
				must.Succeed(t, err)
				return drift
			}
			drift := verify(nil)
			if len(drift.Mend) == 0 || !strings.Contains(drift.String(), test.want) {
				t.Errorf("want %s in\n%s", test.want, drift)
			}
			collates := strings.Contains(test.name, "collation") || strings.Contains(test.name, "character set")
			if collates && (!testing.Short() || !storetest.IsTiDB(t, st)) { // a replay takes TiDB minutes
				if diff := cmp.Diff(drift.Mend, verify(devFor(t, st)).Mend, sameQuotes); diff != "" {
					t.Errorf("statements (-from the states +after a replay):\n%s", diff)
				}
			}
			for _, s := range drift.Mend {
				free := regexp.MustCompile("ALGORITHM=(INSTANT|INPLACE, LOCK=NONE)").MatchString(s.SQL)
				if strings.HasPrefix(s.SQL, "ALTER") && free == strings.Contains(s.Comment, blocks) {
					t.Errorf("locks nothing and says that it does, or the reverse: %+v", s)
				}
			}
			runDrift(t, st, drift)
			if again := verify(nil); len(again.Mend) != 0 {
				t.Errorf("after\n%s\nthere is still\n%s", drift, again)
			}
		})
	}
}

// TestVerifyNamesWhatItDoesNotCompare checks that Verify lists triggers, views and the like separately, and not as
// drift.
func TestVerifyNamesWhatItDoesNotCompare(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		verify := func() migrate.Drift {
			t.Helper()
			drift, err := migrate.Verify(t.Context(), st, nil)
			must.Succeed(t, err)
			return drift
		}
		if drift := verify(); len(drift.Others) != 0 {
			t.Errorf("after migrating: %q", drift.Others)
		}
		storetest.Exec(t, st, "CREATE VIEW names AS SELECT name FROM venues")
		want := []string{"trigger audit of venues", "view names"}
		switch {
		case st.Engine() == "sqlite":
			storetest.Exec(t, st, "CREATE TRIGGER audit AFTER DELETE ON venues BEGIN SELECT 1; END")
		case storetest.IsTiDB(t, st):
			// It has no triggers, events, procedures and functions.
			storetest.Exec(t, st, "ALTER TABLE counters PARTITION BY KEY (name) PARTITIONS 2",
				"ALTER TABLE venues ALTER INDEX venue_cell INVISIBLE")
			want = []string{
				"view names", "invisible index venue_cell of venues", "partition p0 of counters", "partition p1 of counters",
			}
		default:
			hide, hidden := "INVISIBLE", "invisible index venue_cell of venues"
			if storetest.IsMariaDB(t, st) {
				hide, hidden = "IGNORED", "ignored index venue_cell of venues"
			}
			storetest.Exec(t, st, "CREATE TRIGGER audit AFTER DELETE ON venues FOR EACH ROW SET @x = 1",
				"CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY DISABLE DO SELECT 1",
				"CREATE PROCEDURE tidy() SELECT 1", "CREATE FUNCTION one() RETURNS INT DETERMINISTIC RETURN 1",
				"ALTER TABLE counters PARTITION BY KEY (name) PARTITIONS 2",
				"ALTER TABLE venues ALTER INDEX venue_cell "+hide)
			want = append(want, hidden, "event nightly", "procedure tidy", "function one", "partition p0 of counters",
				"partition p1 of counters")
		}
		drift := verify()
		slices.Sort(want)
		slices.Sort(drift.Others)
		if diff := cmp.Diff(want, drift.Others); diff != "" || len(drift.Mend) != 0 {
			t.Errorf("(-want +got):\n%s\n%s", diff, drift)
		}
		for _, other := range want {
			if !strings.Contains(drift.String(), other+".\n") {
				t.Errorf("%s is not printed:\n%s", other, drift)
			}
		}
	})
}
