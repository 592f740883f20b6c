package scenario

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/ruletext"
)

// checkSeries checks a series by the rules of checkEvent.
func checkSeries(t testing.TB, c *Calendar, s Series) {
	t.Helper()
	checkText(t, c, s.Title, s.Excerpt)
	checkText(t, c, s.Title, s.Description)
	for _, l := range c.Options().Languages {
		if s.Title[l] == "" || s.Excerpt[l] == "" || s.Description[l] == "" {
			t.Errorf("%s is not written in %s", s.SourceID, l)
		}
	}
	var closed []recur.Date
	for _, w := range s.ExDate {
		closed = append(closed, recur.Date{Wall: w})
	}
	made, err := recur.New(s.Span, s.Rule, nil, closed)
	if err != nil {
		t.Fatalf("%s: %v", s.SourceID, err)
	}
	if diff := cmp.Diff(s.Schedule(), made, cmp.Comparer(func(a, b recur.Schedule) bool {
		return a.Span == b.Span && a.Rule.String() == b.Rule.String() && slices.EqualFunc(a.ExDate, b.ExDate, calendar.Wall.Equal)
	})); diff != "" {
		t.Errorf("%s: schedule (-made up +stored):\n%s", s.SourceID, diff)
	}
	last := recur.LastStart()
	if !made.Ends() {
		last = s.Span.Zone.Wall(c.Options().Now).AddDate(0, 25, 0)
	}
	if list, err := made.Expand(last, 200); err != nil {
		t.Errorf("%s has %d occurrences: %v", s.SourceID, len(list), err)
	}
	for _, x := range s.Exceptions {
		if !made.Has(x.Nominal) || x.Start.IsZero() == (x.Reason == nil) {
			t.Errorf("%s: %+v is no exception", s.SourceID, x)
		}
		for _, l := range c.Options().Languages {
			if x.Reason != nil && x.Reason[l] == "" {
				t.Errorf("%s has no reason in %s", s.SourceID, l)
			}
		}
	}
	if s.Span.Start.Before(c.Options().From) {
		t.Errorf("%s starts at %s, before the calendar", s.SourceID, s.Span.Start)
	}
	if s.Status != calendar.Publish || s.Published.After(c.Options().Now) || s.Parent != -1 || len(s.Venues) != 1 ||
		len(s.Organizers) != 1 || len(s.Categories) == 0 {
		t.Errorf("%s: %+v", s.SourceID, s.Event)
	}
}

func TestSeriesOfAllScenarios(t *testing.T) {
	forEachCalendar(t, 50, func(t *testing.T, c *Calendar) {
		for i, s := range c.Series() {
			if want := fmt.Sprintf("seed:%s:series:%d", c.Options().Scenario, i); s.SourceID != want {
				t.Errorf("source id %q, want %q", s.SourceID, want)
			}
			checkSeries(t, c, s)
		}
		if len(c.Series()) != len(c.plan.Series) || len(c.Series()) < 2 {
			t.Errorf("%d series", len(c.Series()))
		}
	})
}

// demoOf generates the calendar of the demo at a given time.
func demoOf(t *testing.T, now time.Time) *Calendar {
	t.Helper()
	year, month, _ := now.Date()
	return mustNew(t, Options{Seed: 7, From: calendar.WallAt(year, month, 1, 0, 0, 0), Months: 6, Now: now})
}

// TestEachWeekOfACityHasAnOccurrence checks that series have an occurrence in each week. Short mode: one week of
// each month.
func TestEachWeekOfACityHasAnOccurrence(t *testing.T) {
	step := 5
	if testing.Short() {
		step = 30
	}
	for day := 0; day < 365; day += step {
		now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC).AddDate(0, 0, day)
		c := demoOf(t, now)
		soon := 0
		for _, s := range c.Series() {
			checkSeries(t, c, s)
			for o := range s.Schedule().Occurrences(calendar.Wall{}, s.Span.Zone.Wall(now).AddDate(0, 0, 8)) {
				if start := o.StartsAt(); start.After(now) && start.Before(now.AddDate(0, 0, 7)) {
					soon++
				}
			}
		}
		if soon == 0 || len(c.Series()) != 6 {
			t.Errorf("%s: %d series, %d occurrences in the next week", now, len(c.Series()), soon)
		}
	}
}

// TestSeriesInWords checks the descriptions of schedules that the API sends. Each series must be described by a rule.
func TestSeriesInWords(t *testing.T) {
	words, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := [][5]string{
		{"city", "saturday", "every Saturday, except 26 December 2026, 25 December 2027 and 1 January 2028", "w każdą sobotę, z wyjątkiem 26 grudnia 2026, 25 grudnia 2027 i 1 stycznia 2028", "todos los sábados, excepto el 26 de diciembre de 2026, el 25 de diciembre de 2027 y el 1 de enero de 2028"},
		{"city", "drawing", "every Tuesday, 10 times", "w każdy wtorek, 10 razy", "todos los martes, 10 veces"},
		{"city", "paper", "every day until 10 January 2028, except 24 and 25 December 2027, and 1 January 2028", "codziennie do 10 stycznia 2028, z wyjątkiem 24 i 25 grudnia 2027 oraz 1 stycznia 2028", "todos los días hasta el 10 de enero de 2028, excepto los días 24 y 25 de diciembre de 2027 y el 1 de enero de 2028"},
		{"city", "lastfriday", "on the last Friday of every month, except 25 December 2026 and 26 March 2027", "w ostatni piątek każdego miesiąca, z wyjątkiem 25 grudnia 2026 i 26 marca 2027", "el último viernes de cada mes, excepto el 25 de diciembre de 2026 y el 26 de marzo de 2027"},
		{"city", "doors", "on the last day of every month, except 31 May 2027", "ostatniego dnia każdego miesiąca, z wyjątkiem 31 maja 2027", "el último día de cada mes, excepto el 31 de mayo de 2027"},
		{"city", "citydays", "every year on the first Friday of September", "co roku w pierwszy piątek września", "cada año el primer viernes de septiembre"},
		{"venue", "openstage", "on the last Friday of every month, except 25 December 2026 and 26 March 2027", "w ostatni piątek każdego miesiąca, z wyjątkiem 25 grudnia 2026 i 26 marca 2027", "el último viernes de cada mes, excepto el 25 de diciembre de 2026 y el 26 de marzo de 2027"},
		{"venue", "costumes", "every day until 10 January 2028, except 24 and 25 December 2027, and 1 January 2028", "codziennie do 10 stycznia 2028, z wyjątkiem 24 i 25 grudnia 2027 oraz 1 stycznia 2028", "todos los días hasta el 10 de enero de 2028, excepto los días 24 y 25 de diciembre de 2027 y el 1 de enero de 2028"},
		{"venue", "backstage", "on the last day of every month, except 31 May 2027", "ostatniego dnia każdego miesiąca, z wyjątkiem 31 maja 2027", "el último día de cada mes, excepto el 31 de mayo de 2027"},
		{"festival", "newbands", "on the last Friday of every month, except 25 December 2026 and 26 March 2027", "w ostatni piątek każdego miesiąca, z wyjątkiem 25 grudnia 2026 i 26 marca 2027", "el último viernes de cada mes, excepto el 25 de diciembre de 2026 y el 26 de marzo de 2027"},
		{"festival", "musicday", "every year on 21 June", "co roku 21 czerwca", "cada año el 21 de junio"},
		{"university", "writing", "every Wednesday, 12 times", "w każdą środę, 12 razy", "todos los miércoles, 12 veces"},
		{"university", "unread", "every day until 10 January 2028, except 24 and 25 December 2027, and 1 January 2028", "codziennie do 10 stycznia 2028, z wyjątkiem 24 i 25 grudnia 2027 oraz 1 stycznia 2028", "todos los días hasta el 10 de enero de 2028, excepto los días 24 y 25 de diciembre de 2027 y el 1 de enero de 2028"},
		{"university", "observatory", "on the last day of every month, except 31 May 2027", "ostatniego dnia każdego miesiąca, z wyjątkiem 31 maja 2027", "el último día de cada mes, excepto el 31 de mayo de 2027"},
		{"conference", "databases", "every Monday, 8 times, except 12 July 2027", "w każdy poniedziałek, 8 razy, z wyjątkiem 12 lipca 2027", "todos los lunes, 8 veces, excepto el 12 de julio de 2027"},
		{"conference", "standards", "every year on the second Thursday of May", "co roku w drugi czwartek maja", "cada año el segundo jueves de mayo"},
		{"sport", "fivekm", "every Thursday, 10 times", "w każdy czwartek, 10 razy", "todos los jueves, 10 veces"},
		{"sport", "stadium", "on the last day of every month, except 31 May 2027", "ostatniego dnia każdego miesiąca, z wyjątkiem 31 maja 2027", "el último día de cada mes, excepto el 31 de mayo de 2027"},
		{"sport", "newyear", "every year on 1 January", "co roku 1 stycznia", "cada año el 1 de enero"},
	}
	var got [][5]string
	for _, scenario := range Scenarios {
		c := mustNew(t, optionsOf(scenario, calendar.English, 50))
		for i, s := range c.Series() {
			row := [5]string{scenario, c.plan.Series[i].Key}
			for n, l := range calendar.Languages {
				row[2+n] = ruletext.Format(words, l, s.Schedule())
			}
			got = append(got, row)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSeriesOfCalendarsAtOtherTimes(t *testing.T) {
	at := func(year int, month time.Month) time.Time { return time.Date(year, month, 15, 12, 0, 0, 0, time.UTC) }
	tests := []struct {
		name    string
		from    calendar.Wall
		months  int
		now     time.Time
		endless bool
		first   string // start of the market
	}{
		{"it runs", calendar.WallAt(2026, 9, 1, 0, 0, 0), 24, at(2026, 11), true, "2026-09-05 08:00:00"},
		{"it has run for long", calendar.WallAt(2010, 9, 1, 0, 0, 0), 240, at(2026, 11), true, "2025-11-15 08:00:00"},
		{"it is over", calendar.WallAt(2010, 9, 1, 0, 0, 0), 24, at(2026, 11), false, "2010-09-04 08:00:00"},
		{"it is to come", calendar.WallAt(2036, 9, 1, 0, 0, 0), 240, at(2026, 11), false, "2036-09-06 08:00:00"},
		{"it has a month", calendar.WallAt(2036, 9, 1, 0, 0, 0), 1, at(2026, 11), false, "2036-09-06 08:00:00"},
		{"it is at the end of time", calendar.WallAt(9999, 6, 1, 0, 0, 0), 1, at(9999, 6), true, "9999-06-05 08:00:00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := mustNew(t, Options{From: tt.from, Months: tt.months, Now: tt.now})
			for _, s := range c.Series() {
				checkSeries(t, c, s)
			}
			market := c.Series()[0]
			if got := market.Span.Start.String(); got != tt.first || market.Rule.Ends() == tt.endless {
				t.Errorf("the market starts at %s, %s", got, market.Rule)
			}
		})
	}
}
