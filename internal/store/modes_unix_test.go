//go:build unix

package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
)

// TestOnlyTheOwnerMayReadDatabaseFiles checks the permissions of new database files. With SQLite's own mode, all
// users of the machine could read them. The test sets the umask of the process, so it must not be parallel.
func TestOnlyTheOwnerMayReadDatabaseFiles(t *testing.T) { //nolint:paralleltest // the umask is that of the process
	before := syscall.Umask(0o022)
	defer syscall.Umask(before)
	for name, tt := range map[string]struct {
		existing, want fs.FileMode // an existing mode of 0 means that there is no file
	}{
		"a new database":                          {0, 0o600},
		"an existing one keeps its mode":          {0o644, 0o644},
		"an existing one of a group does as well": {0o660, 0o660},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "a.db")
			if tt.existing != 0 {
				must.Succeed(t, os.WriteFile(file, nil, tt.existing))
				must.Succeed(t, os.Chmod(file, tt.existing))
			}
			st, err := store.Open(t.Context(), "sqlite://"+file)
			must.Succeed(t, err)
			defer func() {
				if err := st.Close(); err != nil {
					t.Error(err)
				}
			}()
			if _, err := st.DB.ExecContext(t.Context(), "CREATE TABLE a (b)"); err != nil {
				t.Fatal(err)
			}
			copied := filepath.Join(dir, "copy.db")
			if _, err := st.Backup(t.Context(), copied, false, nil); err != nil {
				t.Fatal(err)
			}
			got := map[string]fs.FileMode{}
			entries, err := os.ReadDir(dir)
			must.Succeed(t, err)
			for _, e := range entries {
				info, err := e.Info()
				must.Succeed(t, err)
				got[e.Name()] = info.Mode()
			}
			want := map[string]fs.FileMode{"a.db": tt.want, "a.db-wal": tt.want, "a.db-shm": tt.want, "copy.db": 0o600}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("modes (-want +got):\n%s", diff)
			}
		})
	}
}
