package store_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestFileWriter is not a test. startWriter runs it as a second process, with the database URL in
// ALMANAC_TEST_WRITER. It inserts rows and prints the number of each committed row. It ends when its standard input
// is closed or a write is refused.
func TestFileWriter(t *testing.T) {
	url := os.Getenv("ALMANAC_TEST_WRITER")
	if url == "" {
		t.Skip("only as a process of its own")
	}
	st, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	name := os.Getenv("ALMANAC_TEST_WRITER_NAME")
	go func() {
		for n := 0; ; n++ {
			err := write(t.Context(), st, name, n)
			if err != nil {
				fmt.Println("refused", errors.Is(err, store.ErrFilesReplaced), err)
				return
			}
			fmt.Println("wrote", n)
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Fatal(err)
	}
	fmt.Println("closed", st.Close())
}

func write(ctx context.Context, st *store.Store, name string, n int) error {
	return store.Tx(ctx, st.Ent, func(tx *ent.Tx) error {
		return tx.Setting.Create().SetID(fmt.Sprintf("%s-%d", name, n)).SetValue([]byte(name)).Exec(ctx)
	})
}

// writer is a running TestFileWriter process.
type writer struct {
	name  string
	cmd   *osexec.Cmd
	stdin io.WriteCloser
	wrote chan int    // one for each acknowledged row; closed at the end
	said  chan string // why it was refused
}

func startWriter(t *testing.T, url, name string) *writer {
	t.Helper()
	w := &writer{name: name, wrote: make(chan int, 1<<16), said: make(chan string, 1)}
	w.cmd = osexec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFileWriter$", "-test.count=1")
	w.cmd.Env = append(os.Environ(), "ALMANAC_TEST_WRITER="+url, "ALMANAC_TEST_WRITER_NAME="+name)
	w.cmd.Stderr = os.Stderr
	out, err := w.cmd.StdoutPipe()
	if err == nil {
		w.stdin, err = w.cmd.StdinPipe()
	}
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.wrote)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			verb, rest, _ := strings.Cut(lines.Text(), " ")
			switch verb {
			case "wrote":
				if n, err := strconv.Atoi(rest); err == nil {
					w.wrote <- n
				}
			case "refused":
				w.said <- rest
			}
		}
	}()
	return w
}

// acknowledged waits until the process has committed the given number of further rows. It returns the number of the
// last one.
func (w *writer) acknowledged(t *testing.T, rows int) (last int) {
	t.Helper()
	for range rows {
		n, ok := <-w.wrote
		if !ok {
			t.Fatalf("%s ended", w.name)
		}
		last = n
	}
	return last
}

// end ends the process and returns the number of the last committed row, or last if that is larger. If orderly is
// true, it closes the process's input; otherwise it kills the process.
func (w *writer) end(t *testing.T, last int, orderly bool) int {
	t.Helper()
	if orderly {
		if err := w.stdin.Close(); err != nil {
			t.Error(err)
		}
	} else if err := w.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	for n := range w.wrote {
		last = max(last, n)
	}
	if err := w.cmd.Wait(); orderly && err != nil {
		t.Errorf("%s: %v", w.name, err)
	}
	return last
}

// removedFiles is a test case of TestFilesRemovedBeneathProcesses: the database files to remove while two processes
// write.
type removedFiles struct {
	name    string
	remove  []string
	orderly bool
	visitor bool // a third process opens the database before the two have ended
}

// TestFilesRemovedBeneathProcesses removes files of an SQLite database while two processes write to it. After both
// have ended, every row that was reported as committed must exist.
func TestFilesRemovedBeneathProcesses(t *testing.T) {
	t.Parallel()
	for _, c := range []removedFiles{
		{"log and index, killed", []string{"-wal", "-shm"}, false, false},
		{"log and index, stopped", []string{"-wal", "-shm"}, true, false},
		{"log and index, visited", []string{"-wal", "-shm"}, false, true},
		{"log alone", []string{"-wal"}, false, false},
		{"index alone", []string{"-shm"}, false, false},
		{"index alone, stopped and visited", []string{"-shm"}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

// run removes files while two processes write to the database. It checks that no row that was reported as committed
// is lost.
func (c removedFiles) run(t *testing.T) {
	url := storetest.SQLite(t)
	file, _ := store.SQLiteFile(url)
	if err := storetest.Migrated(t, url).Close(); err != nil {
		t.Fatal(err)
	}
	writers := []*writer{startWriter(t, url, "a"), startWriter(t, url, "b")}
	last := make([]int, len(writers))
	for i, w := range writers {
		last[i] = w.acknowledged(t, 20)
	}
	for _, suffix := range c.remove {
		if err := os.Remove(file + suffix); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range writers {
		select {
		case why := <-w.said:
			if !strings.HasPrefix(why, "true ") {
				t.Errorf("%s was refused for another reason: %s", w.name, why)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s goes on writing", w.name)
		}
	}
	// A transaction under way while the files are removed may overwrite what a visitor writes.
	if c.visitor {
		st := storetest.Open(t, url)
		if err := write(t.Context(), st, "visitor", 0); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
	for i, w := range writers {
		last[i] = w.end(t, last[i], c.orderly)
	}
	st := storetest.Open(t, url)
	for i, w := range writers {
		rows := storetest.Value(t, st.DB, "SELECT count(*) FROM settings WHERE name LIKE ?", w.name+"-%")
		found, err := strconv.Atoi(rows)
		if err != nil {
			t.Fatal(err)
		}
		if found < last[i]+1 {
			t.Errorf("%s: %d of %d acknowledged rows are there", w.name, found, last[i]+1)
		}
	}
	if got := storetest.Value(t, st.DB, "PRAGMA integrity_check"); got != "ok" {
		t.Error(got)
	}
	if c.visitor && storetest.Value(t, st.DB, "SELECT count(*) FROM settings WHERE name = 'visitor-0'") != "1" {
		t.Error("the row of the visitor is gone")
	}
}

// TestReplacedDatabase puts another database in the place of one that is open.
func TestReplacedDatabase(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	file, _ := store.SQLiteFile(url)
	st := storetest.Migrated(t, url)
	copied := filepath.Join(t.TempDir(), "copy.db")
	if _, err := st.Backup(t.Context(), copied, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(copied, file); err != nil {
		t.Fatal(err)
	}
	if err := write(t.Context(), st, "x", 1); !errors.Is(err, store.ErrFilesReplaced) || !store.IsUnavailable(err) {
		t.Errorf("a transaction: %v", err)
	}
	if err := st.Ent.Setting.Create().SetID("y").SetValue(nil).Exec(t.Context()); !errors.Is(err, store.ErrFilesReplaced) {
		t.Errorf("a statement: %v", err)
	}
	if err := st.CheckFiles(t.Context()); !errors.Is(err, store.ErrFilesReplaced) || !strings.Contains(err.Error(), file) {
		t.Errorf("the check: %v", err)
	}
	if err := st.Reach(t.Context()); err != nil {
		t.Errorf("reading: %v", err)
	}
	// The log at the path may belong to the new database.
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file + "-wal"); err != nil {
		t.Error(err)
	}
}

// TestRemovedLogIsSaved removes the write-ahead log and its index, and creates other files in their places. Earlier
// commits must be saved to the database file, unless another process may use the new files.
func TestRemovedLogIsSaved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		at    map[string]string // files that appear, by suffix
		saved bool
	}{
		{"nothing", nil, true},
		{"an empty log", map[string]string{"-wal": ""}, true},
		{"a log with commits", map[string]string{"-wal": "commits"}, false},
		{"an empty log of another process", map[string]string{"-wal": "", "-shm": "index"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := storetest.SQLite(t)
			file, _ := store.SQLiteFile(url)
			st := storetest.Migrated(t, url)
			if err := write(t.Context(), st, "x", 1); err != nil {
				t.Fatal(err)
			}
			for _, suffix := range []string{"-wal", "-shm"} {
				if err := os.Remove(file + suffix); err != nil {
					t.Fatal(err)
				}
				if text, ok := c.at[suffix]; ok {
					if err := os.WriteFile(file+suffix, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := write(t.Context(), st, "x", 2); !errors.Is(err, store.ErrFilesReplaced) {
				t.Errorf("a write: %v", err)
			}
			// A copy of the database file alone has what was saved.
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			alone := filepath.Join(t.TempDir(), "alone.db")
			if err := os.WriteFile(alone, data, 0o600); err != nil {
				t.Fatal(err)
			}
			saved := false
			if len(data) > 0 {
				copied := storetest.Open(t, "sqlite://"+alone)
				saved = storetest.Value(t, copied.DB, "SELECT count(*) FROM sqlite_master WHERE name = 'settings'") == "1" &&
					storetest.Value(t, copied.DB, "SELECT count(*) FROM settings WHERE name = 'x-1'") == "1"
			}
			if saved != c.saved {
				t.Errorf("saved is %t, want %t", saved, c.saved)
			}
		})
	}
}

// TestOpenPool opens all connections of a pool, and then removes the database's log. As many reads as there are
// connections must still work at the same time.
func TestOpenPool(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t) + "?max-open=4"
	file, _ := store.SQLiteFile(url)
	st := storetest.Open(t, url)
	if err := st.OpenPool(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := st.DB.Stats(); got.OpenConnections != 4 || got.InUse != 0 {
		t.Errorf("%d connections are open, %d in use", got.OpenConnections, got.InUse)
	}
	if err := errors.Join(os.Remove(file+"-wal"), os.Remove(file+"-shm")); err != nil {
		t.Fatal(err)
	}
	if err := st.CheckFiles(t.Context()); !errors.Is(err, store.ErrFilesReplaced) {
		t.Errorf("the check: %v", err)
	}
	conns := make([]*sql.Conn, 4)
	for i := range conns {
		conn, err := st.DB.Conn(t.Context())
		if err == nil {
			err = conn.PingContext(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = conn
	}
	for _, conn := range conns {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFilesThatComeAndGo closes all connections of a store from time to time. SQLite then removes its log. The store
// must not take this for a lost file.
func TestFilesThatComeAndGo(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	if err := storetest.Migrated(t, url).Close(); err != nil {
		t.Fatal(err)
	}
	st := storetest.Open(t, url+"?max-idle=0")
	const each = 100
	errs := make(chan error)
	for _, name := range []string{"a", "b", "c"} {
		go func() {
			for n := range each {
				if err := errors.Join(write(t.Context(), st, name, n), st.CheckFiles(t.Context())); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range 3 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := storetest.Value(t, st.DB, "SELECT count(*) FROM settings WHERE name NOT LIKE 'data:%'"); got != strconv.Itoa(3*each) {
		t.Errorf("%s rows, want %d", got, 3*each)
	}
}

// BenchmarkCheckFiles measures the check that each write makes twice.
func BenchmarkCheckFiles(b *testing.B) {
	st, err := store.Open(b.Context(), storetest.SQLite(b))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := st.CheckFiles(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		b.Fatal(err)
	}
}
