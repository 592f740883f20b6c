package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/proof/must"
)

// names returns the names of the files in a folder, sorted.
func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.Succeed(t, err)
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// TestFileIsWholeOrAsBefore replaces a file. After a failure the file must have its old content.
func TestFileIsWholeOrAsBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.ics")
	full := errors.New("the disk is full")
	for _, c := range []struct {
		content string
		fault   error
		want    string
	}{{"one", nil, "one"}, {"half of tw", full, "one"}, {"two", nil, "two"}} {
		err := Write(file, func(w io.Writer) error {
			_, err := io.WriteString(w, c.content)
			return errors.Join(err, c.fault)
		})
		if !errors.Is(err, c.fault) || (err == nil) != (c.fault == nil) {
			t.Fatalf("%s: %v", c.content, err)
		}
		got, err := os.ReadFile(file)
		if err != nil || string(got) != c.want {
			t.Errorf("after %q the file has %q, %v; want %q", c.content, got, err, c.want)
		}
		if diff := cmp.Diff([]string{"a.ics"}, names(t, dir)); diff != "" {
			t.Errorf("after %q (-want +got):\n%s", c.content, diff)
		}
	}
	if err := Write(filepath.Join(dir, "missing", "a.ics"), func(io.Writer) error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
}

// TestAbandonedFilesAreRemoved creates temporary files of two names and ages. Only the old ones of the given file may
// be removed.
func TestAbandonedFilesAreRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{
		".a.index.1.tmp": 2 * abandonedAfter, ".a.index.2.tmp": abandonedAfter / 2,
		".b.index.1.tmp": 2 * abandonedAfter, "a.index": 2 * abandonedAfter,
	} {
		path := filepath.Join(dir, name)
		must.Succeed(t, os.WriteFile(path, nil, 0o600))
		must.Succeed(t, os.Chtimes(path, now, now.Add(-age)))
	}
	RemoveAbandoned(filepath.Join(dir, "a.index"), now)
	if diff := cmp.Diff([]string{".a.index.2.tmp", ".b.index.1.tmp", "a.index"}, names(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
