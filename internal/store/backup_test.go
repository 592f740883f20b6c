package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestBackupWhileOthersWrite makes backups while transactions that write two rows run. Each backup must have both
// rows of a transaction or none.
func TestBackupWhileOthersWrite(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	st := storetest.Migrated(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	var written atomic.Int64
	const writers, most = 3, 2000
	for writer := range writers {
		other := storetest.Open(t, url) // as another process would
		group.Go(func() {
			// Bounded: without a pause the log of SQLite never comes to be written back, and grows and grows.
			for n := 0; n < most && ctx.Err() == nil; n++ {
				time.Sleep(time.Millisecond)
				err := store.Tx(ctx, other.Ent, func(tx *ent.Tx) error {
					for half := range 2 {
						name := fmt.Sprintf("w%d-%d-%d", writer, n, half)
						value := make([]byte, 2000)
						if err := tx.Setting.Create().SetID(name).SetValue(value).Exec(ctx); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
				written.Add(1)
			}
		})
	}
	dir := t.TempDir()
	for n := range 5 {
		for before := written.Load(); written.Load() < min(before+20, writers*most) && !t.Failed(); {
			storetest.Value(t, st.DB, "SELECT count(*) FROM settings")
		}
		file := filepath.Join(dir, fmt.Sprintf("copy%d.db", n))
		size, err := st.Backup(t.Context(), file, false, nil)
		if err != nil || size == 0 {
			t.Fatalf("got %d bytes, error %v", size, err)
		}
		copied := storetest.Open(t, "sqlite://"+file)
		if drift, err := migrate.Verify(t.Context(), copied, nil); err != nil || len(drift.Mend) != 0 || drift.Version == "" {
			t.Errorf("got %+v, error %v", drift, err)
		}
		rows := storetest.Value(t, copied.DB, "SELECT count(*) FROM settings WHERE name NOT LIKE 'data:%'")
		halves := storetest.Value(t, copied.DB, "SELECT count(*) FROM (SELECT 1 FROM settings WHERE name NOT LIKE 'data:%' "+
			"GROUP BY substr(name, 1, length(name) - 1) HAVING count(*) <> 2)")
		if halves != "0" || rows == "0" {
			t.Errorf("copy %d has %s rows, %s of half a transaction", n, rows, halves)
		}
	}
	cancel()
	group.Wait()
}

func TestBackupLeavesNothingElseBehind(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	st := storetest.Migrated(t, url)
	dir := t.TempDir()
	file := filepath.Join(dir, "copy.db")
	if _, err := st.Backup(t.Context(), file, false, nil); err != nil {
		t.Fatal(err)
	}
	only := func(want ...string) {
		t.Helper()
		var got []string
		entries, err := os.ReadDir(dir)
		must.Succeed(t, err)
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	only("copy.db")
	at, err := os.Stat(file)
	must.Succeed(t, err)
	if at.Mode().Perm() != 0o600 {
		t.Errorf("the copy, with its hashes of passwords, has mode %s", at.Mode())
	}

	storetest.Exec(t, st, "INSERT INTO counters VALUES ('new', 1)")
	if _, err := st.Backup(t.Context(), file, false, nil); !errors.Is(err, store.ErrExists) {
		t.Errorf("got %v, want ErrExists", err)
	}
	only("copy.db")
	if got := storetest.Value(t, storetest.Open(t, "sqlite://"+file+"?max-open=1").DB, "SELECT count(*) FROM counters"); got != "0" {
		t.Errorf("the copy was changed: %s rows", got)
	}
	replaced := filepath.Join(dir, "replaced.db")
	for range 2 {
		if _, err := st.Backup(t.Context(), replaced, true, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := storetest.Value(t, storetest.Open(t, "sqlite://"+replaced).DB, "SELECT count(*) FROM counters"); got != "1" {
		t.Errorf("the copy was not replaced: %s rows", got)
	}
}

func TestBackupThatCannotBe(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	st := storetest.Migrated(t, url)
	own := strings.TrimPrefix(url, "sqlite://")
	dir := t.TempDir()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	refuse := func(context.Context, *store.Store) error { return errors.New("refused") }
	for _, test := range []struct {
		name  string
		ctx   context.Context //nolint:containedctx // of one call
		st    *store.Store
		file  string
		check func(context.Context, *store.Store) error
		want  string
	}{
		{"onto itself", t.Context(), st, own, nil, "is the database itself"},
		{"onto a folder", t.Context(), st, dir, nil, "is a folder"},
		{"into no folder", t.Context(), st, filepath.Join(dir, "none", "copy.db"), nil, "no such file"},
		{"after the end", ended, st, filepath.Join(dir, "copy.db"), nil, "context canceled"},
		{"of memory", t.Context(), storetest.Open(t, "sqlite://:memory:"), filepath.Join(dir, "copy.db"), nil, "only SQLite files"},
		{"refused by the check", t.Context(), st, filepath.Join(dir, "copy.db"), refuse, "the copy: refused"},
	} {
		_, err := test.st.Backup(test.ctx, test.file, true, test.check)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, error %v", entries, err)
	}
}
