package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/migrations"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// hiddenChanges is the first migration that oldTree lacks. It adds columns to tables.
const hiddenChanges = "20261127062335"

// oldTree returns a source tree with the migrations before hiddenChanges.
func oldTree(t *testing.T) string {
	t.Helper()
	tree := t.TempDir()
	folder := filepath.Join(tree, "migrations")
	must.Succeed(t, os.CopyFS(folder, migrations.FS))
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() < hiddenChanges || d.Name() == "atlas.sum" {
			return err
		}
		return os.Remove(path)
	})
	must.Succeed(t, err)
	return tree
}

// readTree returns the files of a folder by name.
func readTree(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, folder)] = string(text)
		return err
	})
	must.Succeed(t, err)
	return files
}

func noEnvironment(string) string { return "" }

// almanac runs a command and returns its exit status and what it printed.
func almanac(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	var b bytes.Buffer
	code = run(t.Context(), args, noEnvironment, streams{Out: &b, Err: &b})
	return code, b.String()
}

// almanacOn runs a command on the database at url. It returns the exit status and the standard output.
func almanacOn(ctx context.Context, url string, stderr io.Writer, args ...string) (code int, stdout string) {
	var out bytes.Buffer
	code = run(ctx, append(args, "--db", url), noEnvironment, streams{Out: &out, Err: stderr})
	return code, out.String()
}

// expect runs a command. It reports an error unless the exit status is code and the output contains want.
func expect(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	if got, out := almanac(t, args...); got != code || !strings.Contains(out, want) {
		t.Errorf("%v: exit status %d, want %d with %q in\n%s", args, got, code, want, out)
	}
}

func TestDiffWritesMigrationsThatNeedNoEdit(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		tree := oldTree(t)
		expect(t, 0, "", "migrate", "seal", "--dir", tree)
		var dev []string
		if strings.HasPrefix(url, "mysql") {
			if storetest.IsMariaDB(t, storetest.Open(t, url)) {
				t.Skip("migrations are planned on MySQL")
			}
			storetest.SkipOnTiDB(t, storetest.Open(t, url), "migrations are planned on MySQL")
			dev = []string{"--dev", absentDatabase(t, url)}
		}
		expect(t, 0, "migrations", append([]string{"migrate", "diff", "hidden", "--dir", tree}, dev...)...)
		expect(t, 0, "", append([]string{"migrate", "diff", "check", "--check", "--dir", tree}, dev...)...)
		var planned string
		for name, text := range readTree(t, tree+"/migrations/sqlite") {
			if strings.HasSuffix(name, "_hidden.sql") {
				planned = text
			}
		}
		want := "ALTER TABLE `events` ADD COLUMN `hidden_changes` integer NOT NULL DEFAULT (0);"
		if !strings.Contains(planned, want) || strings.Contains(planned, "new_events") {
			t.Errorf("want %q and no rebuild in\n%s", want, planned)
		}
	})
}

// absentDatabase returns the URL of a database that does not exist. The test fails if it exists at the end.
func absentDatabase(t *testing.T, url string) string {
	t.Helper()
	before, options, _ := strings.Cut(url, "?")
	absent := before + "_dev?" + options
	t.Cleanup(func() {
		if st, err := store.Open(context.WithoutCancel(t.Context()), absent); err == nil {
			t.Errorf("%s is still there", absent)
			_ = st.Close()
		}
	})
	return absent
}

func TestDevDatabasesAreCreatedAndDropped(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	existing := storetest.MySQL(t)
	absent := absentDatabase(t, existing)
	tree := oldTree(t) // not sealed
	expect(t, 0, "", "migrate", "lint", "--latest", "1", "--dev", absent)
	expect(t, 1, "checksum", "migrate", "diff", "more", "--dir", tree, "--dev", absent)
	expect(t, 0, "", "migrate", "seal", "--dir", tree, "--dev", absent)

	st := storetest.Open(t, existing)
	storetest.Exec(t, st, "CREATE TABLE kept (id bigint NOT NULL, PRIMARY KEY (id))", "INSERT INTO kept VALUES (1)")
	before := readTree(t, tree)
	expect(t, 1, "is to be empty", "migrate", "diff", "more", "--dir", tree, "--dev", existing)
	expect(t, 1, "is to be empty", "migrate", "lint", "--latest", "1", "--dev", existing)
	expect(t, 2, "--dev: sqlite://:memory: is not a mysql database",
		"migrate", "diff", "more", "--dir", tree, "--dev", "sqlite://:memory:")
	if diff := cmp.Diff(before, readTree(t, tree)); diff != "" {
		t.Errorf("the tree was changed (-want +got):\n%s", diff)
	}
	rows := 0
	if err := st.DB.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM kept").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows are kept, error %v", rows, err)
	}
}
