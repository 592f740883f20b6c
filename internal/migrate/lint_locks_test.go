package migrate_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/migrations"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestLintLocks(t *testing.T) {
	t.Parallel()
	wrongAt := func(line string) []string { return []string{"2_two.sql:" + line + " error lock"} }
	for _, test := range []struct {
		name   string
		second string // the migration after parents
		want   []string
	}{
		{"a new table", "CREATE TABLE q (id bigint NOT NULL, PRIMARY KEY (id));\n", nil},
		{"nothing said", "ALTER TABLE p ADD COLUMN weight int NULL;\n", wrongAt("1")},
		{"at once", "ALTER TABLE p ADD COLUMN weight int NULL, ALGORITHM=INSTANT;\n", nil},
		{"at once, in other words", "alter table `p` add column weight int null, algorithm instant;\n", nil},
		{"in place", "ALTER TABLE p ADD INDEX p_name (name), ALGORITHM=INPLACE, LOCK=NONE;\n", nil},
		{"in place, while others read", "ALTER TABLE p ADD INDEX p_name (name), ALGORITHM=INPLACE, LOCK=SHARED;\n", wrongAt("1")},
		{"in place, whatever that takes", "ALTER TABLE p ADD INDEX p_name (name), ALGORITHM=INPLACE;\n", wrongAt("1")},
		{"without a lock, if the server likes", "ALTER TABLE p ADD INDEX p_name (name), LOCK=NONE;\n", wrongAt("1")},
		{"a copy", "ALTER TABLE p MODIFY name longtext NULL, ALGORITHM=COPY, LOCK=NONE;\n", wrongAt("1")},
		{"an index", "CREATE INDEX p_name ON p (name);\n", wrongAt("1")},
		{"an index without a lock", "CREATE UNIQUE INDEX p_name ON p (name) ALGORITHM=INPLACE LOCK=NONE;\n", nil},
		{"a dropped index", "-- unused\n\nDROP INDEX p_name ON p;\n", wrongAt("3")},
		{"a column with the name of a clause", "ALTER TABLE p ADD COLUMN `lock` int, ADD COLUMN `algorithm instant` int;\n", wrongAt("1")},
		{"a text with a clause", "ALTER TABLE p COMMENT 'ALGORITHM=INSTANT';\n", wrongAt("1")},
		{"a comment with a clause", "ALTER TABLE p /* ALGORITHM=INSTANT */ DROP COLUMN name;\n", wrongAt("1")},
		{"in several lines", "ALTER TABLE p\n  ADD COLUMN weight int NULL,\n  ALGORITHM = INSTANT;\n", nil},
		{"with a reason", "-- almanac:blocking it has a row for each site\nALTER TABLE p DROP PRIMARY KEY;\n", nil},
		{"without a reason", "-- almanac:blocking\nALTER TABLE p DROP PRIMARY KEY;\n", wrongAt("2")},
		{"a reason for another statement", "-- almanac:blocking small\nALTER TABLE p DROP PRIMARY KEY;\nALTER TABLE p DROP COLUMN name;\n", wrongAt("3")},
		{"silenced", "-- atlas:nolint lock\nALTER TABLE p DROP PRIMARY KEY;\n", nil},
		{"a table of the same file", "CREATE TABLE `q` (id int);\nALTER TABLE q ADD COLUMN n int;\nCREATE INDEX q_n ON `q` (n);\n", nil},
		{"rows", "UPDATE p SET name = 'x';\n", wrongAt("1")},
		{"rows with a reason", "-- almanac:blocking ten rows\nUPDATE p SET name = 'x';\n", nil},
		{"rows that are read", "SELECT 1;\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := sealedFiles(t, map[string]string{"1_one.sql": parentTable + "ALTER TABLE p ADD INDEX i (name);\n", "2_two.sql": test.second})
			findings, err := migrate.LintLocks(files, 0)
			must.Succeed(t, err)
			if test.want == nil {
				test.want = []string{}
			}
			if diff := cmp.Diff(test.want, summaries(findings)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLintLocksOfTheLatest(t *testing.T) {
	t.Parallel()
	const change = "ALTER TABLE p ADD COLUMN weight int NULL;\n"
	files := sealedFiles(t, map[string]string{"1_one.sql": parentTable, "2_two.sql": change, "3_three.sql": change})
	for latest, want := range map[int]int{0: 2, 1: 1, 2: 2, 9: 2} {
		findings, err := migrate.LintLocks(files, latest)
		if err != nil || len(findings) != want {
			t.Errorf("the latest %d: %v, error %v, want %d findings", latest, findings, err, want)
		}
	}
}

// TestMigrationsSayWhetherTheyLock runs LintLocks on the migrations of this program, and expects no finding.
func TestMigrationsSayWhetherTheyLock(t *testing.T) {
	t.Parallel()
	findings, err := migrate.LintLocks(migrations.FS, 0)
	must.Succeed(t, err)
	for _, f := range findings {
		t.Error(f)
	}
}

func TestPlannedChangesLockNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		planned string
		want    []string
	}{
		{"CREATE TABLE `t` (`id` int)", []string{"CREATE TABLE `t` (`id` int)"}},
		{
			"ALTER TABLE `t` ADD COLUMN `a` varchar(20) NOT NULL DEFAULT \"x, (y\", ADD COLUMN `b` decimal(3,2) NULL",
			[]string{"ALTER TABLE `t` ADD COLUMN `a` varchar(20) NOT NULL DEFAULT \"x, (y\", ADD COLUMN `b` decimal(3,2) NULL, ALGORITHM=INSTANT"},
		},
		{
			"ALTER TABLE `t` ADD COLUMN `a` int NULL, ADD INDEX `t_a` (`a`, `id`), ADD UNIQUE INDEX `a` (`a`)",
			[]string{
				"ALTER TABLE `t` ADD COLUMN `a` int NULL, ALGORITHM=INSTANT",
				"ALTER TABLE `t` ADD INDEX `t_a` (`a`, `id`), ADD UNIQUE INDEX `a` (`a`), ALGORITHM=INPLACE, LOCK=NONE",
			},
		},
		{
			"ALTER TABLE `t` ADD COLUMN `a` int NULL, ADD CONSTRAINT `t_p` FOREIGN KEY (`a`) REFERENCES `p` (`id`), ADD INDEX `t_a` (`a`)",
			[]string{
				"ALTER TABLE `t` ADD COLUMN `a` int NULL, ALGORITHM=INSTANT",
				"ALTER TABLE `t` ADD INDEX `t_a` (`a`), ALGORITHM=INPLACE, LOCK=NONE",
				"ALTER TABLE `t` ADD CONSTRAINT `t_p` FOREIGN KEY (`a`) REFERENCES `p` (`id`)",
			},
		},
		{
			"ALTER TABLE `t` DROP COLUMN `a`, MODIFY COLUMN `b` bigint NULL, DROP INDEX `t_a`",
			[]string{
				"ALTER TABLE `t` MODIFY COLUMN `b` bigint NULL",
				"ALTER TABLE `t` DROP COLUMN `a`, DROP INDEX `t_a`, ALGORITHM=INPLACE, LOCK=NONE",
			},
		},
		{
			"ALTER TABLE `t` CHARSET utf8mb4, COLLATE utf8mb4_bin, MODIFY COLUMN `b` varchar(9) COLLATE utf8mb4_bin NULL, " +
				"DROP INDEX `t_a`, DROP FOREIGN KEY `t_a`",
			[]string{
				"ALTER TABLE `t` DROP FOREIGN KEY `t_a`, ALGORITHM=INPLACE, LOCK=NONE",
				"ALTER TABLE `t` CHARSET utf8mb4, COLLATE utf8mb4_bin, ALGORITHM=INPLACE, LOCK=NONE",
				"ALTER TABLE `t` MODIFY COLUMN `b` varchar(9) COLLATE utf8mb4_bin NULL",
				"ALTER TABLE `t` DROP INDEX `t_a`, ALGORITHM=INPLACE, LOCK=NONE",
			},
		},
	} {
		if diff := cmp.Diff(test.want, migrate.SplitByLock(test.planned)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.planned, diff)
		}
	}
}

// TestDiffWritesWhatLocksNothing runs statements that Diff writes on MySQL. MySQL refuses them if they would need a
// lock.
func TestDiffWritesWhatLocksNothing(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	st := storetest.Open(t, storetest.MySQL(t))
	if storetest.IsMariaDB(t, st) {
		t.Skip("migrations are planned on MySQL")
	}
	storetest.SkipOnTiDB(t, st, "migrations are planned on MySQL")
	// A history that lacks a column and an index of today's schema. An index of a foreign key has fewer columns, and a key
	// refers to another table.
	ddl, err := migrate.DDL(t.Context(), st)
	must.Succeed(t, err)
	for _, part := range []struct{ is, was string }{
		{"`latitude` double NULL, ", ""},
		{"INDEX `venue_cell` (`cell`), ", ""},
		{"`event_parent_id_starts_at` (`parent_id`, `starts_at`)", "`event_parent_id_starts_at` (`parent_id`)"},
		{"FOREIGN KEY (`term_id`) REFERENCES `terms` (`id`) ON DELETE CASCADE", "FOREIGN KEY (`term_id`) REFERENCES `events` (`id`)"},
	} {
		if !strings.Contains(ddl, part.is) {
			t.Fatalf("the schema has no %s:\n%s", part.is, ddl)
		}
		ddl = strings.ReplaceAll(ddl, part.is, part.was)
	}
	folder := t.TempDir()
	must.Succeed(t, os.WriteFile(folder+"/1_old.sql", []byte(ddl), 0o644))
	must.Succeed(t, migrate.Seal(folder))
	at := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	if written, err := migrate.Diff(t.Context(), st, folder, "more", at); err != nil || !written {
		t.Fatalf("written %t, error %v", written, err)
	}
	text, err := os.ReadFile(folder + "/20270102030405_more.sql")
	must.Succeed(t, err)
	for _, want := range []string{
		"ADD COLUMN `latitude` double NULL, ALGORITHM=INSTANT;\n",
		"ADD INDEX `venue_cell` (`cell`), ALGORITHM=INPLACE, LOCK=NONE;\n",
		"DROP INDEX `event_parent_id_starts_at`, ADD INDEX `event_parent_id_starts_at` (`parent_id`, `starts_at`), ALGORITHM=INPLACE, LOCK=NONE;\n",
		"DROP FOREIGN KEY `event_terms_terms_term`, ALGORITHM=INPLACE, LOCK=NONE;\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	storetest.Exec(t, st, strings.Split(strings.TrimSuffix(strings.TrimSpace(ddl), ";"), ";\n")...)
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "--") {
			storetest.Exec(t, st, line)
		}
	}
	if written, err := migrate.Diff(t.Context(), st, folder, "again", at.Add(time.Second)); err == nil {
		t.Errorf("a database that is not empty was used to plan in (written %t)", written)
	}
}
