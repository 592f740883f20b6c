package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// siteCommand is a command that depends on the settings of the site.
type siteCommand struct {
	name  string
	args  []string
	flags []string // flags of the settings that the command has
}

var (
	zoneAndLanguage = []string{"timezone", "language"}
	money           = []string{"currency-symbol", "currency-code", "currency-position", "decimal-mark"}
)

// siteCommands are the commands of TestCommandsAgreeOnTheSite. FILE and MEDIA stand for a calendar file and for the
// folder of images.
var siteCommands = []siteCommand{
	{"check", []string{"check"}, zoneAndLanguage},
	{"repair", []string{"check", "--repair"}, zoneAndLanguage},
	{"rebuild", []string{"search", "rebuild"}, zoneAndLanguage},
	{"import", []string{"import", "FILE"}, append([]string{"timezone", "site-language"}, money...)},
	{"more", []string{"seed", "--append", "--force", "--events", "3", "--months", "1", "--no-images", "--from", "2026-11-01"}, []string{"site-language"}},
	{"serve", []string{"serve", "--listen", "127.0.0.1:0", "--media", "MEDIA"}, slices.Concat(zoneAndLanguage, money)},
}

// importedCalendar has an event whose start and price depend on the settings of the site.
const importedCalendar = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\nBEGIN:VEVENT\r\nUID:1@example.org\r\nDTSTAMP:20261101T000000Z\r\n" +
	"DTSTART:20261205T190000\r\nSUMMARY:Ale jazz\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"

// TestCommandsAgreeOnTheSite seeds the calendar of a city and runs each pair of commands on a copy. It runs them
// without flags, and with flags that repeat the stored settings. The results must be the same settings and events,
// and the command check must find no problem.
func TestCommandsAgreeOnTheSite(t *testing.T) {
	t.Parallel()
	for i, city := range []string{"Gdańsk", "Córdoba", "New York", "Ambridge"} {
		t.Run(city, func(t *testing.T) {
			t.Parallel()
			if i > 0 && testing.Short() {
				t.Skip("one city is enough")
			}
			testCity(t, city)
		})
	}
}

func testCity(t *testing.T, city string) {
	made := filepath.Join(t.TempDir(), "made.db")
	runOn(t, made, "seed", "--city", city, "--events", "6", "--months", "1", "--no-images", "--from", "2026-11-01")
	var stored map[string]any
	must.Succeed(t, json.Unmarshal([]byte(runOn(t, made, "site", "show", "--json")), &stored))
	if !strings.Contains(fmt.Sprint(stored["title"]), city) {
		t.Errorf("the calendar is called %v", stored["title"])
	}
	shown := runOn(t, made, "site", "show")
	for _, first := range siteCommands {
		for _, second := range siteCommands {
			t.Run(first.name+" and "+second.name, func(t *testing.T) {
				plain := checkCommandsKeepSite(t, made, shown, [][]string{first.args, second.args})
				flagged := checkCommandsKeepSite(t, made, shown, [][]string{first.withFlags(stored), second.withFlags(stored)})
				if flagged != plain {
					t.Errorf("with flags:\n%s\nwithout:\n%s", flagged, plain)
				}
			})
		}
	}
}

// withFlags returns the command line with flags that repeat the stored settings.
func (c siteCommand) withFlags(stored map[string]any) []string {
	args := slices.Clone(c.args)
	for _, name := range c.flags {
		value := stored[name]
		if name == "language" || name == "site-language" {
			value = stored["languages"].([]any)[0]
		}
		args = append(args, fmt.Sprintf("--%s=%v", name, value))
	}
	return args
}

// checkCommandsKeepSite runs commands on a copy of the database made. Its settings must stay as in shown. It
// returns the events as eventsOf describes them.
func checkCommandsKeepSite(t *testing.T, made, shown string, commands [][]string) string {
	t.Helper()
	db := filepath.Join(t.TempDir(), "copy.db")
	data, err := os.ReadFile(made)
	must.Succeed(t, err)
	must.Succeed(t, os.WriteFile(db, data, 0o600))
	for _, args := range commands {
		runOn(t, db, args...)
	}
	if now := runOn(t, db, "site", "show"); now != shown {
		t.Errorf("%q: the settings became\n%s\nfrom\n%s", commands, now, shown)
	}
	if out := runOn(t, db, "check"); !strings.Contains(out, "no problems") {
		t.Errorf("%q: %s", commands, out)
	}
	return eventsOf(t, db)
}

// runOn runs a command on the database db, a URL or an SQLite file, and returns its output. If the command is a
// server, it is stopped once it serves.
func runOn(t *testing.T, db string, args ...string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	dir := filepath.Dir(db)
	if strings.Contains(db, "://") {
		dir = t.TempDir()
	} else {
		db = "sqlite://" + db
	}
	for i, arg := range args {
		switch arg {
		case "FILE":
			args = slices.Clone(args)
			args[i] = filepath.Join(dir, "calendar.ics")
			must.Succeed(t, os.WriteFile(args[i], []byte(importedCalendar), 0o600))
		case "MEDIA":
			args = slices.Clone(args)
			args[i] = filepath.Join(dir, "media")
		}
	}
	printed := &watchedOutput{stop: stop, until: "almanac: serving "}
	var errs bytes.Buffer
	both := streams{Out: printed, Err: &errs, In: strings.NewReader("")}
	if args[0] == "serve" {
		both.Err = printed
	}
	if code := run(ctx, append(slices.Clone(args), "--db", db), noOutput, both); code != 0 {
		t.Fatalf("%s: exit status %d: %s %s", args, code, printed, &errs)
	}
	return printed.String()
}

// eventsOf returns those stored values of all events that depend on the settings of the site, as a text to compare.
func eventsOf(t *testing.T, db string) string {
	t.Helper()
	st := storetest.Open(t, "sqlite://"+db)
	rows, err := st.Ent.Event.Query().All(t.Context())
	must.Succeed(t, err)
	lines := make([]string, len(rows))
	for i, e := range rows {
		lines[i] = describeEvent(e)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func describeEvent(e *ent.Event) string {
	return fmt.Sprint(e.Title, " ", e.Language, " ", e.StartsAt.UTC(), " ", e.Timezone, " ", e.Cost)
}

func TestCommandsThatFailStoreNoSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := "sqlite://" + filepath.Join(dir, "a.db")
	runOn(t, db, "migrate", "apply")
	for _, args := range [][]string{
		{"import", filepath.Join(dir, "none.ics"), "--timezone", "Asia/Tokyo", "--site-language", "pl"},
		{"site", "set", "per-page=7", "timezone=Nowhere/Here"},
		{"site", "set", "per-page=7", "per-page=8"},
		{"site", "set", "per-page=", "per-page=8"},
		{"site", "set", "per-page=8", "per-page="},
	} {
		code := run(t.Context(), append(args, "--db", db), noOutput, streams{Out: io.Discard, Err: io.Discard, In: strings.NewReader("")})
		if code == 0 {
			t.Errorf("%v: exit status 0", args)
		}
		if stored := runOn(t, db, "site", "show", "--json"); strings.TrimSpace(stored) != "{}" {
			t.Errorf("%v: %s", args, stored)
		}
	}
}

// TestResetTakesTheSettingsOfTheNewCity replaces a sample calendar by that of another city. The settings must be
// those of the new city, except for those that a user has set.
func TestResetTakesTheSettingsOfTheNewCity(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "a.db")
	runOn(t, db, "seed", "--city", "Gdańsk", "--events", "3", "--months", "1", "--no-images")
	runOn(t, db, "site", "set", "title=Wakacje", "per-page=7")
	runOn(t, db, "seed", "--reset", "--yes", "--city", "Sevilla", "--events", "3", "--months", "1", "--no-images")
	var stored map[string]any
	must.Succeed(t, json.Unmarshal([]byte(runOn(t, db, "site", "show", "--json")), &stored))
	want := map[string]any{
		"title": "Wakacje", "per-page": 7.0, "languages": []any{"es", "en", "pl"}, "timezone": "Europe/Madrid", "english": "en-GB",
		"currency-symbol": "€", "currency-code": "EUR", "currency-position": "postfix", "decimal-mark": ",",
	}
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if out := runOn(t, db, "check"); !strings.Contains(out, "no problems") {
		t.Error(out)
	}
}
