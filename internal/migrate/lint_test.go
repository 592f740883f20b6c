package migrate_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/migrations"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

const (
	parentTable = "CREATE TABLE p (id bigint NOT NULL, name varchar(20) NULL, PRIMARY KEY (id));\n"
	copyRows    = "INSERT INTO new_p (id, name) SELECT id, name FROM p;\nDROP TABLE p;\nALTER TABLE new_p RENAME TO p;\n"
	foreignKey  = "CONSTRAINT c_p FOREIGN KEY (p_id) REFERENCES p (id));\n"
)

// summaries returns the file, line and rule of each finding.
func summaries(findings []migrate.Finding) []string {
	out := []string{}
	for _, f := range findings {
		level := "warning"
		if f.Error {
			level = "error"
		}
		_, file, _ := strings.Cut(f.File, "/")
		out = append(out, fmt.Sprintf("%s:%d %s %s", file, f.Line, level, strings.TrimSpace(f.Rule+" "+f.Code)))
	}
	return out
}

func TestLintRules(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		engine string // empty for both
		second string // the migration after parents
		want   []string
	}{
		{"a new table", "", "CREATE TABLE q (id bigint NOT NULL, PRIMARY KEY (id));\n", nil},
		{"a new column", "", "ALTER TABLE p ADD COLUMN weight int NULL;\n", nil},
		{"a new column with a default", "", "ALTER TABLE p ADD COLUMN weight int NOT NULL DEFAULT 0;\n", nil},
		{"a dropped table", "", "-- away\n\nDROP TABLE p;\n", []string{"2_two.sql:3 error destructive DS102"}},
		{"a dropped column", "", "ALTER TABLE p DROP COLUMN name;\n", []string{"2_two.sql:1 error destructive DS103"}},
		{"made and dropped in one file", "", "CREATE TABLE q (id int);\nDROP TABLE q;\n", nil},
		{"a renamed table", "", "ALTER TABLE p RENAME TO q;\n", []string{"2_two.sql:1 error incompatible BC101"}},
		{
			"a renamed column", "", "ALTER TABLE p RENAME COLUMN name TO title;\n",
			[]string{"2_two.sql:1 error incompatible BC102"},
		},
		{
			"a changed column", "mysql", "ALTER TABLE p CHANGE name title varchar(20) NULL;\n",
			[]string{"2_two.sql:1 error incompatible BC102"},
		},
		{
			"a column dropped and another added", "mysql", "ALTER TABLE p DROP COLUMN name, ADD COLUMN title varchar(20) NULL;\n",
			[]string{"2_two.sql:1 error destructive DS103"},
		},
		{
			"a column that old programs do not fill", "mysql", "ALTER TABLE p ADD COLUMN weight int NOT NULL;\n",
			[]string{"2_two.sql:1 error not_null MY101"},
		},
		{
			"the same, where no row may be there", "sqlite",
			"CREATE TABLE new_p (id bigint NOT NULL, name varchar(20) NULL, weight int NOT NULL, PRIMARY KEY (id));\n" +
				"INSERT INTO new_p (id, name) SELECT id, name FROM p;\nDROP TABLE p;\nALTER TABLE new_p RENAME TO p;\n",
			[]string{"2_two.sql:1 error not_null MF103", "2_two.sql:1 warning rebuild"},
		},
		{
			"a unique index", "", "CREATE UNIQUE INDEX p_name ON p (name);\n",
			[]string{"2_two.sql:1 warning data_depend MF101"},
		},
		{
			"a column that may no longer be empty", "mysql", "ALTER TABLE p MODIFY name varchar(20) NOT NULL;\n",
			[]string{"2_two.sql:1 warning data_depend MF104"},
		},
		{
			"a rebuilt table", "sqlite",
			"PRAGMA foreign_keys = off;\nCREATE TABLE new_p (id bigint NOT NULL, name varchar(20) NOT NULL, PRIMARY KEY (id));\n" +
				"INSERT INTO new_p (id, name) SELECT id, name FROM p;\nDROP TABLE p;\nALTER TABLE new_p RENAME TO p;\n" +
				"PRAGMA foreign_keys = on;\n",
			[]string{"2_two.sql:2 warning data_depend LT101", "2_two.sql:2 warning rebuild"},
		},
		{
			"a rebuilt table that loses a column", "sqlite",
			"CREATE TABLE new_p (id bigint NOT NULL, PRIMARY KEY (id));\n" +
				"INSERT INTO new_p (id) SELECT id FROM p;\nDROP TABLE p;\nALTER TABLE new_p RENAME TO p;\n",
			[]string{"2_two.sql:1 error destructive DS103", "2_two.sql:1 warning rebuild"},
		},
		{
			"a table rebuilt for columns", "sqlite",
			"CREATE TABLE new_p (id bigint NOT NULL, name varchar(20) NULL, weight int NOT NULL DEFAULT (-1), " +
				"colour text NOT NULL DEFAULT 'it''s', picture blob NULL, PRIMARY KEY (id));\n" + copyRows +
				"CREATE INDEX p_weight ON p (weight);\n",
			[]string{"2_two.sql:1 error rebuild_for_column"},
		},
		{
			"a table rebuilt for a foreign key that may be empty", "sqlite",
			"CREATE TABLE new_p (id bigint NOT NULL, name varchar(20) NULL, p_id bigint NULL, PRIMARY KEY (id), " +
				"CONSTRAINT p_p FOREIGN KEY (p_id) REFERENCES p (id) ON DELETE SET NULL);\n" + copyRows +
				"CREATE INDEX p_p_id ON p (p_id);\n",
			[]string{"2_two.sql:1 error rebuild_for_column"},
		},
		{
			"a table rebuilt for a default that is computed", "sqlite",
			"CREATE TABLE new_p (id bigint NOT NULL, name varchar(20) NULL, " +
				"at datetime NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (id));\n" + copyRows,
			[]string{"2_two.sql:1 warning rebuild"},
		},
		{
			"a table rebuilt for a unique column", "sqlite",
			"CREATE TABLE new_p (id bigint NOT NULL, name varchar(20) NULL, code text NULL UNIQUE, PRIMARY KEY (id));\n" + copyRows,
			[]string{"2_two.sql:1 warning rebuild"},
		},
		{
			"a table rebuilt for a column and a check", "sqlite",
			"CREATE TABLE new_p (id bigint NOT NULL, name varchar(20) NULL, weight int NULL, PRIMARY KEY (id), " +
				"CHECK (id > 0));\n" + copyRows,
			[]string{"2_two.sql:1 warning rebuild"},
		},
		{
			"a table rebuilt for a column, with a reason", "sqlite",
			"-- atlas:nolint rebuild_for_column\n" +
				"CREATE TABLE new_p (id bigint NOT NULL, name varchar(20) NULL, weight int NULL, PRIMARY KEY (id));\n" + copyRows,
			nil,
		},
		{
			"a foreign key without index", "sqlite",
			"CREATE TABLE c (id bigint NOT NULL, p_id bigint NOT NULL, PRIMARY KEY (id), " + foreignKey,
			[]string{"2_two.sql:1 error foreign_key_index"},
		},
		{
			"a foreign key with an index of its own", "",
			"CREATE TABLE c (id bigint NOT NULL, p_id bigint NOT NULL, PRIMARY KEY (id), " + foreignKey +
				"CREATE INDEX c_p_id ON c (p_id, id);\n",
			nil,
		},
		{
			"a foreign key that begins the primary key", "",
			"CREATE TABLE c (id bigint NOT NULL, p_id bigint NOT NULL, PRIMARY KEY (p_id, id), " + foreignKey,
			nil,
		},
		{
			"rows, after which the tables are as before", "mysql", "CREATE TABLE q (id int);\nINSERT INTO p (id) VALUES (1);\n",
			[]string{"2_two.sql:2 error resume"},
		},
		{
			"rows, by a statement that may run twice", "mysql",
			"-- atlas:nolint resume\nINSERT IGNORE INTO p (id) VALUES (1);\n", nil,
		},
		{"rows, where all is one transaction", "sqlite", "INSERT INTO p (id) VALUES (1);\n", nil},
		{"what does not run", "", "\nDROP TABLE nowhere;\n", []string{"2_two.sql:2 error runs"}},
		{"silenced before the statement", "", "-- atlas:nolint destructive\nDROP TABLE p;\n", nil},
		{"silenced by its code", "", "-- atlas:nolint DS102\nDROP TABLE p;\n", nil},
		{"all silenced in a file", "", "-- atlas:nolint\n\nDROP TABLE p;\n", nil},
		{"another rule silenced", "", "-- atlas:nolint rebuild\nDROP TABLE p;\n", []string{"2_two.sql:2 error destructive DS102"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := sealedFiles(t, map[string]string{"1_one.sql": parentTable, "2_two.sql": test.second})
			eachOpen(t, func(t *testing.T, st *store.Store) {
				if test.engine != "" && st.Engine() != test.engine {
					t.Skip("a rule of the other engine")
				}
				findings, err := migrate.Lint(t.Context(), st, files, migrate.LintOptions{})
				must.Succeed(t, err)
				want := append([]string{}, test.want...)
				if diff := cmp.Diff(want, summaries(findings)); diff != "" {
					t.Errorf("(-want +got):\n%s%v", diff, findings)
				}
				if left := tables(t, st); len(left) != 0 {
					t.Errorf("left in the dev database: %v", left)
				}
			})
		})
	}
}

func TestLintDroppedForeignKey(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		if st.Engine() != "mysql" {
			t.Skip("SQLite drops none")
		}
		findings, err := migrate.Lint(t.Context(), st, sealedFiles(t, map[string]string{
			"1_one.sql": verifiedHistory, "2_two.sql": "ALTER TABLE c DROP FOREIGN KEY c_p;\n",
		}), migrate.LintOptions{})
		if diff := cmp.Diff([]string{"2_two.sql:1 warning constraint CD101"}, summaries(findings)); diff != "" || err != nil {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
	})
}

func TestLintOfTheLatest(t *testing.T) {
	t.Parallel()
	files := sealedFiles(t, map[string]string{
		"1_one.sql": parentTable, "2_two.sql": "DROP TABLE p;\n", "3_three.sql": parentTable, "4_four.sql": "ALTER TABLE p RENAME TO q;\n",
	})
	for latest, want := range map[int][]string{
		0: {"2_two.sql:1 error destructive DS102", "4_four.sql:1 error incompatible BC101"},
		1: {"4_four.sql:1 error incompatible BC101"},
		2: {"4_four.sql:1 error incompatible BC101"},
		3: {"2_two.sql:1 error destructive DS102", "4_four.sql:1 error incompatible BC101"},
		9: {"2_two.sql:1 error destructive DS102", "4_four.sql:1 error incompatible BC101"},
	} {
		st := storetest.Open(t, "sqlite://:memory:")
		findings, err := migrate.Lint(t.Context(), st, files, migrate.LintOptions{Latest: latest})
		if diff := cmp.Diff(want, summaries(findings)); diff != "" || err != nil {
			t.Errorf("latest %d: error %v (-want +got):\n%s", latest, err, diff)
		}
	}
}

func TestLintOfSealsAndOrder(t *testing.T) {
	t.Parallel()
	base := map[string]string{"1_one.sql": parentTable, "3_three.sql": createA}
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, test := range []struct {
		name   string
		change func(fstest.MapFS)
		reseal bool // as a DBA does who knows the tools
		want   []string
	}{
		{"as released", func(fstest.MapFS) {}, false, nil},
		{"a later one", func(f fstest.MapFS) { f["sqlite/4_four.sql"] = file(createB) }, true, nil},
		{
			"changed", func(f fstest.MapFS) { f["sqlite/3_three.sql"] = file(createB) }, false,
			[]string{"3_three.sql:1 error checksum", "atlas.sum:3 error checksum"},
		},
		{
			"changed and sealed", func(f fstest.MapFS) { f["sqlite/3_three.sql"] = file(createB) }, true,
			[]string{"3_three.sql:1 error checksum"},
		},
		{
			"taken away and sealed", func(f fstest.MapFS) { delete(f, "sqlite/3_three.sql") }, true,
			[]string{"3_three.sql:1 error checksum"},
		},
		{
			"put between", func(f fstest.MapFS) { f["sqlite/2_two.sql"] = file(createB) }, true,
			[]string{"2_two.sql:1 error non_linear"},
		},
		{
			"two of one version", func(f fstest.MapFS) { f["sqlite/4_a.sql"], f["sqlite/4_b.sql"] = file(createB), file(createC) }, true,
			[]string{"4_b.sql:1 error non_linear"},
		},
		{
			"not sealed at all", func(f fstest.MapFS) { delete(f, "sqlite/atlas.sum") }, false,
			[]string{"atlas.sum:0 error checksum"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(sealedFiles(t, base))
			test.change(files)
			if test.reseal {
				texts := map[string]string{}
				for name, f := range files {
					if name, ok := strings.CutPrefix(name, "sqlite/"); ok && name != "atlas.sum" {
						texts[name] = string(f.Data)
					}
				}
				files = sealedFiles(t, texts)
			}
			findings, err := migrate.Lint(t.Context(), storetest.Open(t, "sqlite://:memory:"), files, migrate.LintOptions{Released: sealedFiles(t, base)})
			must.Succeed(t, err)
			if diff := cmp.Diff(append([]string{}, test.want...), summaries(findings)); diff != "" {
				t.Errorf("(-want +got):\n%s%v", diff, findings)
			}
		})
	}
}

func TestLintRefusesADatabaseWithTables(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		storetest.Exec(t, st, createA)
		_, err := migrate.Lint(t.Context(), st, sealedFiles(t, threeMigrations), migrate.LintOptions{})
		if err == nil || !strings.Contains(err.Error(), "is to be empty") {
			t.Errorf("got %v", err)
		}
		if diff := cmp.Diff([]string{"a"}, tables(t, st)); diff != "" {
			t.Errorf("it was changed (-want +got):\n%s", diff)
		}
	})
}

// TestOurMigrationsHaveNoErrors runs Lint on the migrations of this program. With -short it checks the two latest
// only.
func TestOurMigrationsHaveNoErrors(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		var o migrate.LintOptions // all
		if testing.Short() {
			o.Latest = 2
		}
		findings, err := migrate.Lint(t.Context(), st, migrations.FS, o)
		must.Succeed(t, err)
		for _, f := range findings {
			if f.Error {
				t.Error(f)
			}
		}
	})
}
