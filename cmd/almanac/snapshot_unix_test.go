//go:build unix

package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

const readSnapshot = `did="read from its snapshot"`

// snapshotCalendar is a served SQLite database with a user that writes.
type snapshotCalendar struct {
	*testing.T
	file, token string
}

func newSnapshotCalendar(t *testing.T) *snapshotCalendar {
	t.Helper()
	c := &snapshotCalendar{T: t, file: filepath.Join(t.TempDir(), "cal.db")}
	st := storetest.Migrated(t, c.url())
	var err error
	if _, c.token, err = addUser(t.Context(), st, "ewa", "Ewa", calendar.Administrator, ""); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, st.Close())
	return c
}

func (c *snapshotCalendar) url() string      { return "sqlite://" + c.file }
func (c *snapshotCalendar) snapshot() string { return c.file + snapshotSuffix }

// serve starts a server, writes events with the given titles, searches for each of found, and stops the server. It returns what
// the server logged.
func (c *snapshotCalendar) serve(titles, found []string, flags ...string) string {
	c.Helper()
	s := startServing(c.T, c.url(), flags...)
	for _, title := range titles {
		body := `{"title":"` + title + `","start_date":"2027-03-01 20:00:00","end_date":"2027-03-01 22:00:00"}`
		if status, text := c.send(s, "POST", "", body); status != http.StatusCreated {
			c.Fatalf("%d %s", status, text)
		}
	}
	for _, word := range found {
		if status, text := c.send(s, "GET", "?starts_after=2026-01-01&search="+word, ""); status != 200 || !strings.Contains(text, `"total":1,`) {
			c.Errorf("search for %s: %d %s", word, status, text)
		}
	}
	s.stop(c.T)
	return s.said.String()
}

func (c *snapshotCalendar) send(s serving, method, path, body string) (int, string) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, s.url+"/cal/events/v1/events"+path, strings.NewReader(body))
	must.Succeed(c, err)
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	must.Succeed(c, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must.Succeed(c, err)
	return res.StatusCode, string(text)
}

func TestSnapshotIsReadAtTheNextStart(t *testing.T) {
	t.Parallel()
	c := newSnapshotCalendar(t)
	if said := c.serve([]string{"Moonlight"}, []string{"moonlight"}); strings.Contains(said, readSnapshot) {
		t.Errorf("the first start: %s", said)
	}
	info, err := os.Stat(c.snapshot())
	if err != nil || info.Mode() != 0o600 {
		t.Fatalf("%v, error %v", info, err)
	}
	if said := c.serve(nil, []string{"moonlight"}); !strings.Contains(said, readSnapshot) {
		t.Errorf("the second start: %s", said)
	}
	if said := c.serve(nil, []string{"moonlight"}, "--index-snapshot", "none"); strings.Contains(said, readSnapshot) {
		t.Errorf("without a snapshot: %s", said)
	}
}

// TestSnapshotOfBeforeARestoreIsRefused restores a backup and writes until the calendar has the revision of the
// snapshot again. The snapshot then has other events, so it must not be used.
func TestSnapshotOfBeforeARestoreIsRefused(t *testing.T) {
	t.Parallel()
	c := newSnapshotCalendar(t)
	c.serve([]string{"Morning"}, nil)
	backup := filepath.Join(t.TempDir(), "backup.db")
	runOK(t, "backup", "--db", c.url(), backup)
	c.serve([]string{"Moonlight"}, []string{"moonlight"})
	for _, name := range []string{c.file, c.file + "-wal", c.file + "-shm"} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(backup)
	must.Succeed(t, err)
	must.Succeed(t, os.WriteFile(c.file, data, 0o600))
	c.serve([]string{"Sunrise"}, nil, "--index-snapshot", "none")
	if said := c.serve(nil, []string{"sunrise", "morning"}); strings.Contains(said, readSnapshot) || !strings.Contains(said, "not used") {
		t.Errorf("after the restore: %s", said)
	}
}

// TestSnapshotThatCannotBeWrittenIsAWarning has a folder in place of the snapshot file. The server must log one
// warning and work.
func TestSnapshotThatCannotBeWrittenIsAWarning(t *testing.T) {
	t.Parallel()
	c := newSnapshotCalendar(t)
	dir := filepath.Join(t.TempDir(), "snapshots")
	// A folder in place of the file fails for root, too.
	must.Succeed(t, os.MkdirAll(filepath.Join(dir, filepath.Base(c.snapshot()), "full"), 0o700))
	said := c.serve([]string{"Moonlight"}, []string{"moonlight"}, "--index-snapshot", dir)
	if n := strings.Count(said, "the index snapshot cannot be written"); n != 1 {
		t.Errorf("%d warnings: %s", n, said)
	}
}

// runOK runs a command that has to succeed.
func runOK(t *testing.T, args ...string) {
	t.Helper()
	var failed strings.Builder
	if code := run(t.Context(), args, noOutput, streams{Out: &failed, Err: &failed}); code != 0 {
		t.Fatalf("%q: exit status %d: %s", args, code, failed.String())
	}
}
