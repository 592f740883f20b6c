//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestEndedBackupLeavesNothing interrupts a backup. No copy may exist afterwards. The next backup, whose file may
// have another name, must also remove temporary files of the first.
func TestEndedBackupLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		signal syscall.Signal
		clean  bool // it cleans up itself
	}{
		{"killed", syscall.SIGKILL, false},
		{"interrupted", syscall.SIGINT, true},
		{"terminated", syscall.SIGTERM, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			url := storetest.SQLite(t)
			st := storetest.Migrated(t, url)
			// Large enough to be interrupted while it is copied.
			for range 40 {
				_, err := st.DB.ExecContext(t.Context(), "INSERT INTO settings VALUES (hex(randomblob(8)), zeroblob(1000000))")
				must.Succeed(t, err)
			}
			dir := t.TempDir()
			monday, tuesday := filepath.Join(dir, "monday.db"), filepath.Join(dir, "tuesday.db")
			p := start(t, nil, "", "backup", "--db", url, monday)
			waitForEntry(t, p, dir)
			must.Succeed(t, p.Process.Signal(test.signal))
			if err := <-p.ended; err == nil {
				t.Fatal("the backup was over before it could be ended")
			}
			left := names(t, dir)
			if test.clean && len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
			if !test.clean && len(left) == 0 {
				t.Error("a killed process has removed its files: the test does not test anything")
			}
			for _, name := range left {
				if !strings.HasPrefix(name, ".almanac-backup-") {
					t.Errorf("%s may be taken for a backup", name)
				}
			}
			must.Succeed(t, <-start(t, nil, "", "backup", "--db", url, tuesday).ended)
			if diff := cmp.Diff([]string{"tuesday.db"}, names(t, dir)); diff != "" {
				t.Errorf("after the next backup (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBackupsAtTheSameTime runs four backups into the same folder. None may remove files that another is writing.
func TestBackupsAtTheSameTime(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	storetest.Migrated(t, url)
	dir := t.TempDir()
	var running []*process
	want := []string{"1.db", "2.db", "3.db", "4.db"}
	for _, name := range want {
		running = append(running, start(t, nil, "", "backup", "--db", url, filepath.Join(dir, name)))
	}
	for _, p := range running {
		if err := <-p.ended; err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(want, names(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The command for MySQL goes to the server that the URL names, without its password.
func TestBackupTellsTheCommandForMySQL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"mysql://ewa:s3cret@db.example.org/cal":                   "--host=db.example.org --port=3306 --user=ewa --password",
		"mysql://ewa:s3cret@[::1]:3307/cal":                       "--host=::1 --port=3307 --user=ewa --password",
		"mysql+unix://ewa:s3cret@/run/my%20sql.sock?database=cal": "--socket='/run/my sql.sock' --user=ewa --password",
		"mysql+unix:///run/mysqld.sock?database=cal&timeout=3s":   "--socket=/run/mysqld.sock --password",
	} {
		for file, result := range map[string]string{"a.sql": "a.sql", "": "cal.sql"} {
			command, _, err := dumpCommand(url, file)
			if err != nil || !strings.Contains(command, want) || !strings.HasSuffix(command, "--result-file="+result+" cal") ||
				strings.Contains(command, "s3cret") {
				t.Errorf("%s: got %v\n%s", url, err, command)
			}
		}
	}
	if _, _, err := dumpCommand("sqlite://a.db", "a.sql"); err == nil {
		t.Error("mysqldump copies SQLite")
	}
}

// waitForEntry waits until a process creates a file in the folder dir.
func waitForEntry(t *testing.T, p *process, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for len(names(t, dir)) == 0 {
		select {
		case err := <-p.ended:
			t.Fatalf("ended with %v", err)
		case <-ctx.Done():
			t.Fatal("nothing is written")
		case <-time.After(time.Millisecond):
		}
	}
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.Succeed(t, err)
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
