//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestOnlyTheOwnerMayReadWhatCommandsWrite writes each kind of file with the content of a calendar. The usual umask would let
// all users of the machine read them.
func TestOnlyTheOwnerMayReadWhatCommandsWrite(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	storetest.Migrated(t, url)
	for name, args := range map[string][]string{
		"a new database":   {"migrate", "apply", "--db", "sqlite://FILE"},
		"a backup":         {"backup", "--db", url, "FILE"},
		"translations":     {"translations", "export", "--db", url, "--to", "pl", "--from", "en", "--out", "FILE"},
		"a calendar, JSON": {"seed", "--events", "5", "--format", "json", "--out", "FILE"},
		"a calendar, ICS":  {"seed", "--events", "5", "--format", "ics", "--out", "FILE"},
		"a calendar, SQL":  {"seed", "--events", "5", "--format", "sql", "--out", "FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "file.db")
			line := make([]string, len(args))
			for i, arg := range args {
				line[i] = strings.Replace(arg, "FILE", file, 1)
			}
			var said strings.Builder
			if code := run(t.Context(), line, noOutput, streams{Out: &said, Err: &said, In: strings.NewReader("")}); code != 0 {
				t.Fatalf("%q: status %d: %s", line, code, said.String())
			}
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if mode := info.Mode().Perm(); mode != 0o600 {
				t.Errorf("%q: mode %o", line, mode)
			}
		})
	}
}
