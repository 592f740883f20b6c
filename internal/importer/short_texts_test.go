package importer

import (
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestImportShortensTextsOfManyDates imports series with texts that are too long for one write of all dates. The texts
// are cut.
func TestImportShortensTextsOfManyDates(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		start := []string{"DTSTART;TZID=Europe/Warsaw:20261201T180000", "DTEND;TZID=Europe/Warsaw:20261201T200000"}
		long := "DESCRIPTION:" + strings.Repeat("word & <b> ", 3000)
		cal := readICal(t,
			vevent("daily", append(start, "RRULE:FREQ=DAILY;COUNT=900", long)...),
			vevent("weekly", append(start, "RRULE:FREQ=WEEKLY;COUNT=20", long)...),
		)
		report := importInto(t, st, cal)
		if n := report.Count(calendar.Series, Create); n != 2 || len(report.Notices) != 1 || !report.Complete() {
			t.Errorf("%d series, notices %v, problems %v", n, report.Notices, report.Problems)
		}
		lengths := make(map[bool]int) // number of occurrences, by whether the text is whole
		for _, e := range st.Ent.Event.Query().Select(event.FieldDescription).AllX(t.Context()) {
			whole := strings.Count(e.Description, "word") == 3000
			lengths[whole]++
			if !whole && (!strings.HasSuffix(e.Description, "…") || strings.Count(e.Description, "word") < 100) {
				t.Fatalf("a description of %d bytes ends with %q", len(e.Description), e.Description[max(0, len(e.Description)-20):])
			}
		}
		if lengths[true] != 20 || lengths[false] != 900 {
			t.Errorf("occurrences by whether their text is whole: %v", lengths)
		}
		again := importInto(t, st, cal)
		if n := again.Count(calendar.Series, Unchanged); n != 2 {
			t.Errorf("second import: %s", counts(again))
		}
	})
}
