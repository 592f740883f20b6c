package migrate_test

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	atlas "ariga.io/atlas/sql/migrate"
	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/migrations"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// everyKind has a statement of each kind that migrations may have, except those that only add.
var everyKind = map[string]string{
	"1_one.sql": "CREATE TABLE p (id bigint NOT NULL, a varchar(20) NULL, b int NULL, c int NULL, PRIMARY KEY (id), INDEX i (b));\n" +
		"CREATE TABLE q (id bigint NOT NULL, p_id bigint NOT NULL, PRIMARY KEY (id), INDEX k (p_id));\n",
	"2_two.sql": "ALTER TABLE q ADD CONSTRAINT f FOREIGN KEY (p_id) REFERENCES p (id) ON DELETE CASCADE;\n" +
		"ALTER TABLE p DROP COLUMN c;\n" +
		"ALTER TABLE p MODIFY COLUMN a varchar(30) NOT NULL DEFAULT \"x\";\n" +
		"ALTER TABLE p RENAME COLUMN b TO d;\n" +
		"ALTER TABLE p DROP INDEX i;\n" +
		"ALTER TABLE p ADD UNIQUE INDEX u (a, d);\n" +
		"CREATE INDEX v ON p (d);\n" +
		"ALTER TABLE p RENAME INDEX v TO w;\n" +
		"ALTER TABLE p COMMENT \"of parents\";\n" +
		"ALTER TABLE q DROP FOREIGN KEY f;\n" +
		"DROP TABLE q;\n" +
		"RENAME TABLE p TO r;\n",
}

// killedAfter applies migration 1, and interrupts migration 2 after the given number of recorded statements. If
// effect is true, one further statement has run but is not recorded. It returns the planned statements.
func killedAfter(t *testing.T, address string, files fs.FS, applied int, effect bool) (steps []migrate.Step) {
	t.Helper()
	st := storetest.Open(t, address)
	if _, err := migrate.ApplyFiles(t.Context(), st, files, migrate.ApplyOptions{To: "1"}); err != nil {
		t.Fatal(err)
	}
	plan, err := migrate.PlanFiles(t.Context(), st, files, "")
	if err != nil {
		t.Fatal(err)
	}
	steps = plan.Steps
	when := "before it"
	if effect {
		when = "after it"
	}
	runUntil(t, address, files, killPoint{applied, when}, steps)
	return steps
}

func TestStatementOfAnyKindIsRecognised(t *testing.T) {
	t.Parallel()
	onlyMySQL(t)
	files := withStates(t, everyKind)
	want := ""
	for _, effect := range []bool{false, true} {
		address := storetest.MySQL(t)
		st := storetest.Open(t, address)
		steps := killedAfter(t, address, files, 0, effect)
		for at := range steps {
			if at > 0 {
				when := map[bool]string{false: "before it", true: "after it"}[effect]
				runUntil(t, address, files, killPoint{at, when}, steps)
			}
			plan, err := migrate.PlanFiles(t.Context(), st, files, "")
			if err != nil {
				t.Fatalf("%s: %v", steps[at].SQL, err)
			}
			if got := plan.Steps[0]; got.Found != effect || got.Number != steps[at].Number {
				t.Errorf("%s: statement %d, found %t; want %d, %t", steps[at].SQL, got.Number, got.Found, steps[at].Number, effect)
			}
			if effect && !strings.Contains(plan.String(), "-- It ran before an interruption") {
				t.Errorf("the plan does not say so:\n%s", plan)
			}
		}
		if _, err := applyAll(t.Context(), st, files); err != nil {
			t.Fatal(err)
		}
		if drift, err := migrate.VerifyFiles(t.Context(), st, files, nil); err != nil || len(drift.Mend) != 0 {
			t.Errorf("error %v\n%s", err, drift)
		}
		if got := strings.Join(record(t, st), "\n"); want != "" && got != want {
			t.Errorf("record %s, want %s", got, want)
		} else {
			want = got
		}
	}
}

// TestAnotherDefinitionIsRefusedOnResume resumes a migration at a CREATE TABLE whose table exists with another
// definition. Apply must neither accept nor replace that table.
func TestAnotherDefinitionIsRefusedOnResume(t *testing.T) {
	t.Parallel()
	onlyMySQL(t)
	for _, test := range []struct {
		name   string
		change string
		want   string
	}{
		{"another type", "CREATE TABLE two (id int NOT NULL, PRIMARY KEY (id))", "MODIFY COLUMN `id` bigint"},
		{"a column more", "CREATE TABLE two (id bigint NOT NULL, x int NULL, PRIMARY KEY (id))", "DROP COLUMN `x`"},
		{"another collation", "CREATE TABLE two (id bigint NOT NULL, PRIMARY KEY (id)) COLLATE latin1_bin", "utf8mb4"},
		{"another key", "CREATE TABLE two (id bigint NOT NULL, INDEX i (id))", "PRIMARY KEY"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := withStates(t, map[string]string{
				"1_one.sql": atlasFiles["1_one.sql"],
				"2_two.sql": "CREATE TABLE two (id bigint NOT NULL, PRIMARY KEY (id)) CHARSET utf8mb4 COLLATE utf8mb4_bin;\n",
			})
			address := storetest.MySQL(t)
			st := storetest.Open(t, address)
			killedAfter(t, address, files, 0, false)
			storetest.Exec(t, st, test.change)
			_, err := applyAll(t.Context(), st, files)
			if err == nil || !strings.Contains(err.Error(), "another definition is there") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want the difference with %s", err, test.want)
			}
			if drift, err := migrate.VerifyFiles(t.Context(), st, files, nil); err != nil || len(drift.Mend) == 0 {
				t.Errorf("verify: error %v, %s", err, drift)
			}
			storetest.Exec(t, st, "DROP TABLE two")
			if _, err := applyAll(t.Context(), st, files); err != nil {
				t.Errorf("after it is gone: %v", err)
			}
		})
	}
}

// TestApplyWithNothingToDoOnlyReads applies no migration, because none is pending. This must work on a read-only
// server, and for a user without write privileges.
func TestApplyWithNothingToDoOnlyReads(t *testing.T) {
	t.Parallel()
	onlyMySQL(t)
	var other []string
	st := storetest.Open(t, startCutter(t, storetest.Lent(t), func(statement string) verdict {
		read := strings.HasPrefix(statement, "SELECT") || strings.HasPrefix(statement, "SHOW") || strings.HasPrefix(statement, "SET ")
		if read && !strings.Contains(statement, "_LOCK(") {
			return passStatement
		}
		other = append(other, statement)
		return refuseReadOnly
	}))
	done, err := migrate.Apply(t.Context(), st, migrate.ApplyOptions{Operator: "test"})
	if err != nil || len(done) != 0 || len(other) != 0 {
		t.Errorf("applied %v, error %v, sent %q", done, err, other)
	}
}

func TestApplyWithNothingToDoLeavesTheFileAlone(t *testing.T) {
	t.Parallel()
	address := storetest.SQLite(t)
	st := storetest.Open(t, address)
	if _, err := migrate.Apply(t.Context(), st, migrate.ApplyOptions{Operator: "test"}); err != nil {
		t.Fatal(err)
	}
	release := holdLock(t, storetest.Open(t, address))
	defer release()
	if done, err := migrate.Apply(t.Context(), st, migrate.ApplyOptions{LockWait: -1}); err != nil || len(done) != 0 {
		t.Errorf("applied %v, error %v; want nothing while another process writes", done, err)
	}
}

// TestHalfANewerMigrationIsNoneOfOurs checks that an older program keeps working after a newer program's migration
// was interrupted.
func TestHalfANewerMigrationIsNoneOfOurs(t *testing.T) {
	t.Parallel()
	onlyMySQL(t)
	older := maps.Clone(atlasFiles)
	delete(older, "2_two.sql")
	delete(older, "3_three.sql")
	address := storetest.MySQL(t)
	st := storetest.Open(t, address)
	killedAfter(t, address, withStates(t, atlasFiles), 1, false)
	files := withStates(t, older)
	if err := migrate.CheckCurrentFiles(t.Context(), st, files); err != nil {
		t.Errorf("not current: %v", err)
	}
	if done, err := applyAll(t.Context(), st, files); err != nil || len(done) != 0 {
		t.Errorf("applied %v, error %v", done, err)
	}
	if got := statesOf(t, st, files); got != "applied interrupted" {
		t.Errorf("status: %s", got)
	}
}

// TestCorrectedMigrationWithFewerStatementsIsFinished checks that a failed migration can be completed after it was
// corrected and is shorter. Atlas alone would compare with the number of statements of the first attempt, and count
// it as pending for ever.
func TestCorrectedMigrationWithFewerStatementsIsFinished(t *testing.T) {
	t.Parallel()
	onlyMySQL(t)
	address := storetest.MySQL(t)
	st := storetest.Open(t, address)
	broken := withStates(t, map[string]string{"1_one.sql": createA + createB})
	runUntil(t, address, broken, killPoint{1, "before it"}, planOf(t, st, broken))
	corrected := withStates(t, map[string]string{"1_one.sql": createA})
	done, err := applyAll(t.Context(), st, corrected)
	if err != nil || len(done) != 1 || done[0].Total != 1 {
		t.Errorf("applied %+v, error %v", done, err)
	}
	if err := migrate.CheckCurrentFiles(t.Context(), st, corrected); err != nil {
		t.Error(err)
	}
	shorter := withStates(t, map[string]string{"1_one.sql": createA, "2_two.sql": createB + createC})
	runUntil(t, address, shorter, killPoint{1, "before it"}, planOf(t, st, shorter))
	empty := withStates(t, map[string]string{"1_one.sql": createA, "2_two.sql": "-- nothing\n"})
	var changed atlas.HistoryChangedError
	if _, err := applyAll(t.Context(), st, empty); !errors.As(err, &changed) {
		t.Errorf("a migration without what it had applied: got %v", err)
	}
}

func planOf(t *testing.T, st *store.Store, files fs.FS) []migrate.Step {
	t.Helper()
	plan, err := migrate.PlanFiles(t.Context(), st, files, "")
	if err != nil {
		t.Fatal(err)
	}
	return plan.Steps
}

// TestEveryStatementHasItsState checks that each statement of a migration has an entry in migrations/states with its
// checksum. It does not check the tables in the entry, which takes a server.
func TestEveryStatementHasItsState(t *testing.T) {
	t.Parallel()
	entries, err := migrations.FS.ReadDir("mysql")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".sql" {
			continue
		}
		if err := migrate.CheckStates(migrations.FS, e.Name()); err != nil {
			t.Error(err)
		}
	}
	changed := fstest.MapFS{}
	for _, name := range []string{"mysql/20261121134820_term_sort_keys.sql", "states/20261121134820_term_sort_keys.hcl"} {
		data, err := migrations.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		changed[name] = &fstest.MapFile{Data: []byte(strings.Replace(string(data), "512", "513", 1))}
	}
	if err := migrate.CheckStates(changed, "20261121134820_term_sort_keys.sql"); err == nil {
		t.Error("a statement that was changed has its state still")
	}
}

func TestStatesAreThoseOfAServer(t *testing.T) {
	t.Parallel()
	onlyMySQL(t)
	dev := storetest.Open(t, storetest.MySQL(t))
	if storetest.IsMariaDB(t, dev) {
		t.Skip("MySQL itself describes the tables; with MariaDB they are compared after each kill")
	}
	if testing.Short() {
		storetest.SkipOnTiDB(t, dev, "takes minutes, and the tables are compared after each kill")
	}
	states, err := migrate.States(t.Context(), dev, migrations.FS)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := migrations.FS.ReadDir(migrate.StatesFolder)
	if err != nil || len(entries) != len(states) {
		t.Errorf("%d files, want %d, error %v", len(entries), len(states), err)
	}
	for name, want := range states {
		have, err := migrations.FS.ReadFile(migrate.StatesFolder + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(have)); diff != "" {
			t.Errorf("%s (-server +file):\n%s", name, diff)
		}
	}
	if got := tables(t, dev); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}
