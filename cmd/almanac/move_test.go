package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/proof/wptest"
)

// move runs the command, and returns its status and output.
func move(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args = append([]string{"move", "--rate", "1000", "--no-images"}, args...)
	status = run(t.Context(), args, noEnvironment, streams{Out: &stdout, Err: &stderr, In: strings.NewReader("")})
	return status, stdout.String(), stderr.String()
}

// changedSite serves a site. Once changed is set, it replaces texts in replies.
func changedSite(t *testing.T, changed *atomic.Bool, texts ...string) string {
	site := wptest.NewSite(t, wptest.Options{Host: "calendar.example.org"})
	changes := strings.NewReplacer(texts...)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		site.ServeHTTP(recorded, r)
		body := recorded.Body.String()
		if changed.Load() {
			body = changes.Replace(body)
		}
		w.Header().Set("Content-Type", recorded.Header().Get("Content-Type"))
		w.WriteHeader(recorded.Code)
		if _, err := w.Write([]byte(body)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestMoveWithoutYesWritesNothing(t *testing.T) {
	t.Parallel()
	var changed atomic.Bool
	db := filepath.Join(t.TempDir(), "site.db")
	status, out, errs := move(t, "--db", db, changedSite(t, &changed))
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	for _, want := range []string{"events: 19, 4 of them past", "Board meeting", "add --yes", "time zone of most events: Europe/Warsaw"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if files, err := os.ReadDir(filepath.Dir(db)); err != nil || len(files) > 0 {
		t.Errorf("files %v, %v", files, err)
	}
}

func TestMoveFailures(t *testing.T) {
	t.Parallel()
	none := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(none.Close)
	for site, want := range map[string]int{none.URL: 1, "example.org": 2, "ftp://example.org": 2} {
		if status, _, errs := move(t, "--db", filepath.Join(t.TempDir(), "site.db"), site); status != want {
			t.Errorf("%s: status %d, want %d: %s", site, status, want, errs)
		}
	}
}

// TestMoveAgainKeepsWhatPersonsChanged changes an event here and at the source, and repeats the move.
func TestMoveAgainKeepsWhatPersonsChanged(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st := storetest.Migrated(t, url)
		var changed atomic.Bool
		site := changedSite(t, &changed, "Open day", "Open night", `"Film evening"`, `"Cinema"`, "Three musicians, ", "Four musicians, ", "Jazz night", "Swing night")
		if status, _, errs := move(t, "--db", url, "--yes", site); status != 0 {
			t.Fatalf("status %d: %s", status, errs)
		}
		user, err := auth.AddUser(t.Context(), st.Ent, clockNow(), "ewa", "", calendar.Editor, "")
		if err != nil {
			t.Fatal(err)
		}
		_, cal, err := siteSource{}.load(t.Context(), st.Ent)
		if err != nil {
			t.Fatal(err)
		}
		e := &edit.Editor{Site: cal, Now: clockNow(), By: auth.Principal{UserID: user.ID, Role: calendar.Editor}}
		jazz := event.Slug("jazz-night")
		err = edit.Write(t.Context(), st.Ent, e, func(tx *ent.Tx) error {
			row, err := tx.Event.Query().Where(jazz).Only(t.Context())
			if err == nil {
				_, err = e.UpdateEvent(t.Context(), tx, row, &edit.EventInput{Title: new("Our jazz")})
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		changed.Store(true)
		again := []string{"--db", url, "--yes", site}
		if strings.HasPrefix(url, "mysql://") {
			if status, out, _ := move(t, again...); status != 1 || !strings.Contains(out, "mysqldump") {
				t.Errorf("without a dump: status %d: %s", status, out)
			}
			again = append(again, "--backed-up")
		}
		status, out, errs := move(t, again...)
		if status != 0 || !strings.Contains(out, `1 field kept that was changed here: event "Swing night`) {
			t.Fatalf("status %d: %s%s", status, out, errs)
		}
		row, err := st.Ent.Event.Query().Where(jazz).Only(t.Context())
		if err != nil || row.Title != "Our jazz" || !strings.Contains(row.Description, "Four musicians") {
			t.Errorf("%v: %q %q", err, row.Title, row.Description)
		}
		if n, err := st.Ent.Event.Query().Where(event.TitleIn("Open night", "Cinema")).Count(t.Context()); err != nil || n != 3 {
			t.Errorf("%d events follow the source, %v", n, err)
		}
		if _, file, ok := strings.Cut(out, " to "); ok && strings.HasPrefix(url, "sqlite://") {
			file, _, _ = strings.Cut(file, ": ")
			copied := storetest.Open(t, "sqlite://"+file)
			if n, err := copied.Ent.Event.Query().Where(event.Title("Our jazz")).Count(t.Context()); err != nil || n != 1 {
				t.Errorf("the backup has %d, %v", n, err)
			}
		} else if strings.HasPrefix(url, "sqlite://") {
			t.Errorf("no backup in %s", out)
		}
	})
}
