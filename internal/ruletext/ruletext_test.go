package ruletext

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/proof/must"
)

var update = flag.Bool("update", false, "write the texts of testdata/schedules.txt")

func catalogues(t testing.TB) *locale.Catalogues {
	t.Helper()
	words, err := locale.Load()
	must.Succeed(t, err)
	return words
}

// schedule parses a line of a test file: a start, a rule, rdate=… and exdate=…, separated by spaces. Only the
// start is required.
func schedule(t testing.TB, line string) recur.Schedule {
	t.Helper()
	const layout = "2006-01-02 15:04"
	start, err := time.Parse(layout, line[:len(layout)])
	must.Succeed(t, err)
	rest, exdate, _ := strings.Cut(line[len(layout):], " exdate=")
	rest, rdate, _ := strings.Cut(rest, " rdate=")
	var rule recur.Rule
	if rest != "" {
		if rule, err = recur.Parse(strings.TrimSpace(rest), calendar.UTC()); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	span := calendar.Span{Start: calendar.WallOf(start), End: calendar.WallOf(start.Add(time.Hour)), Zone: calendar.UTC()}
	s, err := recur.New(span, rule, dates(t, rdate), dates(t, exdate))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return s
}

func dates(t testing.TB, text string) []recur.Date {
	t.Helper()
	var all []recur.Date
	for item := range strings.SplitSeq(text, ",") {
		if item == "" {
			continue
		}
		layout := "2006-01-02 15:04"
		dayOnly := len(item) < len(layout)
		if dayOnly {
			layout = time.DateOnly
		}
		at, err := time.Parse(layout, item)
		must.Succeed(t, err)
		all = append(all, recur.Date{Wall: calendar.WallOf(at), DayOnly: dayOnly})
	}
	return all
}

// TestFormat compares the texts of schedules with testdata/schedules.txt. Each schedule there is followed by its
// text in each language.
func TestFormat(t *testing.T) {
	const name = "testdata/schedules.txt"
	words := catalogues(t)
	text, err := os.ReadFile(name)
	must.Succeed(t, err)
	var want strings.Builder
	schedules := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "\t") {
			continue
		}
		want.WriteString(line)
		if line[0] < '0' || line[0] > '9' {
			continue
		}
		schedules++
		s := schedule(t, strings.TrimSpace(line))
		for _, lang := range calendar.Languages {
			fmt.Fprintf(&want, "\t%s: %s\n", lang, Format(words, lang, s))
		}
	}
	if *update {
		must.Succeed(t, os.WriteFile(name, []byte(want.String()), 0o644))
	}
	if diff := cmp.Diff(string(text), want.String()); diff != "" && !*update {
		t.Errorf("(-file +got):\n%s", diff)
	}
	if schedules < 100 {
		t.Errorf("%d schedules", schedules)
	}
}

func BenchmarkFormat(b *testing.B) {
	words := catalogues(b)
	for name, line := range map[string]string{
		"weekdays":    "2026-11-24 18:00 FREQ=WEEKLY;BYDAY=TU,TH",
		"until":       "2026-11-24 18:00 FREQ=WEEKLY;INTERVAL=2;UNTIL=20270303;BYDAY=TU exdate=2026-12-22",
		"ordinal":     "2026-11-27 18:00 FREQ=MONTHLY;BYDAY=-1FR;COUNT=12",
		"dates":       "2027-05-03 18:00 rdate=2027-05-10,2027-05-17",
		"rdate":       "2026-11-24 18:00 FREQ=WEEKLY;UNTIL=20280303 rdate=2027-05-05",
		"unpatterned": "2026-11-24 18:00 FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1",
	} {
		s := schedule(b, line)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Format(words, calendar.Polish, s)
			}
		})
	}
}
