package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestBackupComparesTheCopyWithItsMigrations backs up a database with a table that no migration creates. The copy
// must have the table. The output must say that the tables differ, or that there is no record of migrations.
func TestBackupComparesTheCopyWithItsMigrations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		open           func(testing.TB, string) *store.Store
		stdout, stderr string
	}{
		{"no record", storetest.Open, "without a record of migrations\n", ""},
		{"drift", storetest.Migrated, ", at version 20", "the tables differ from those of the migrations"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			url, file := storetest.SQLite(t), filepath.Join(t.TempDir(), "copy.db")
			storetest.Exec(t, test.open(t, url), "CREATE TABLE theirs (id integer PRIMARY KEY)", "INSERT INTO theirs VALUES (7)")
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), []string{"backup", "--db", url, file}, noEnvironment, streams{Out: &stdout, Err: &stderr})
			if code != 0 || !strings.Contains(stdout.String(), test.stdout) || !strings.Contains(stderr.String(), test.stderr) ||
				(test.stderr == "") != (stderr.Len() == 0) {
				t.Errorf("exit status %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
			}
			if got := storetest.Value(t, storetest.Open(t, "sqlite://"+file).DB, "SELECT id FROM theirs"); got != "7" {
				t.Errorf("the row is %s", got)
			}
		})
	}
}
