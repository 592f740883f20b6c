package handlers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/importer"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestAFeedOfImportedRulesHasTheSameEvents imports a file with all forms of recurrence rules. It imports the
// resulting feed into a second calendar. Both calendars must have the same events.
func TestAFeedOfImportedRulesHasTheSameEvents(t *testing.T) {
	t.Parallel()
	vevent := func(uid, lines string) string {
		return "BEGIN:VEVENT\nUID:" + uid + "\nSUMMARY:" + uid + "\n" + lines + "\nEND:VEVENT\n"
	}
	const warsaw = "DTSTART;TZID=Europe/Warsaw:20261201T180000\nDTEND;TZID=Europe/Warsaw:20261201T200000\n"
	file := "BEGIN:VCALENDAR\nVERSION:2.0\n" +
		vevent("week", warsaw+"RRULE:FREQ=YEARLY;BYWEEKNO=49;BYDAY=TU;COUNT=2") +
		vevent("day", warsaw+"RRULE:FREQ=YEARLY;BYYEARDAY=335,-30;COUNT=3") +
		vevent("skip", "DTSTART;VALUE=DATE:20270131\nRRULE:RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD;COUNT=3") +
		vevent("union", warsaw+"RRULE:FREQ=WEEKLY;COUNT=3\nRRULE:FREQ=DAILY;COUNT=2\nEXDATE:20261208T170000Z") +
		vevent("hours", warsaw+"RRULE:FREQ=HOURLY;INTERVAL=12;COUNT=3") +
		vevent("kept", warsaw+"RRULE:RSCALE=HEBREW;FREQ=YEARLY\nRDATE:20261205T100000Z") +
		vevent("following", warsaw+"RRULE:FREQ=WEEKLY;COUNT=4") +
		vevent("following", "RECURRENCE-ID;RANGE=THISANDFUTURE:20261215T170000Z\nDTSTART;TZID=Europe/Warsaw:20261216T190000") +
		"END:VCALENDAR\n"
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		first, second := apitest.New(t, st), apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
		importFeed(t, first, []byte(file))
		importFeed(t, second, first.Do(t, apitest.Request{Path: "/events.ics", Absolute: true}).Body)
		events := func(a *apitest.API) (out []string) {
			const path = "/events?per_page=50&_fields=events.title,events.start_date,events.end_date,events.all_day,events.timezone"
			for _, item := range a.Do(t, get(path)).Get(t, "events").([]any) {
				out = append(out, fmt.Sprint(item))
			}
			return out
		}
		want := events(first)
		if len(want) != 20 {
			t.Errorf("%d events", len(want))
		}
		if diff := cmp.Diff(want, events(second)); diff != "" {
			t.Errorf("events (-first calendar +second calendar):\n%s", diff)
		}
	})
}

func importFeed(t *testing.T, a *apitest.API, data []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "calendar.ics")
	must.Succeed(t, os.WriteFile(file, data, 0o600))
	read, err := (&importer.Reader{Site: a.Site}).Read(t.Context(), file)
	must.Succeed(t, err)
	report, err := (&importer.Importer{DB: a.Store.Ent, Site: a.Site}).Run(t.Context(), read)
	if err != nil || !report.Complete() {
		t.Fatalf("import: %v, %+v", err, report)
	}
}
