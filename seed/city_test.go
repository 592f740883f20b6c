package seed

import (
	stdcmp "cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
)

var from = time.Date(2026, 5, 13, 10, 0, 0, 0, time.UTC) // a Wednesday

// options are calendars of different towns, lengths and times of the year.
var options = map[string]Options{
	"plain":          {Seed: 1, From: from},
	"seed 0":         {From: from},
	"largest seed":   {Seed: math.MaxUint64, From: from},
	"polish first":   {Seed: 2, From: from, Languages: []calendar.Language{calendar.Polish, calendar.English}},
	"spanish only":   {Seed: 3, From: from, Languages: []calendar.Language{calendar.Spanish}},
	"other zone":     {Seed: 4, From: from, Zone: calendar.UTC()},
	"spring":         {Seed: 5, From: time.Date(2026, 3, 1, 23, 59, 59, 0, time.UTC)},
	"autumn":         {Seed: 6, From: time.Date(2026, 10, 24, 0, 0, 0, 0, time.UTC)},
	"one event":      {Seed: 7, From: from, Events: 1},
	"large calendar": {Seed: 8, From: from, Events: 1500},
}

var sameZone = cmp.Comparer(func(a, b calendar.Zone) bool { return a.String() == b.String() })

func TestTheSameSeedMakesTheSameCalendar(t *testing.T) {
	for name, o := range options {
		if diff := cmp.Diff(City(o), City(o), sameZone); diff != "" {
			t.Errorf("%s: (-first +second)\n%s", name, diff)
		}
	}
}

func TestAnotherSeedMakesAnotherCalendar(t *testing.T) {
	seen := map[string]uint64{}
	for seed := range uint64(20) {
		c := City(Options{Seed: seed, From: from})
		var b strings.Builder
		for _, e := range c.Events {
			fmt.Fprintln(&b, e.Title[calendar.English], e.Span.Start)
		}
		if other, again := seen[b.String()]; again {
			t.Errorf("seeds %d and %d make the same events", other, seed)
		}
		seen[b.String()] = seed
	}
}

func TestALongerCalendarBeginsWithTheShorter(t *testing.T) {
	long := City(Options{Seed: 9, From: from, Events: 200})
	short := City(Options{Seed: 9, From: from})
	if len(short.Events) != DefaultEvents || len(long.Events) != 200 {
		t.Fatalf("got %d and %d events", len(short.Events), len(long.Events))
	}
	long.Events = long.Events[:DefaultEvents]
	if diff := cmp.Diff(short, long, sameZone); diff != "" {
		t.Errorf("(-short +long)\n%s", diff)
	}
}

var (
	paragraphs = regexp.MustCompile(`^(<p>[^<]+[.!?)]</p>\n?)+$`)
	strayText  = regexp.MustCompile(`[{}#]|&amp;amp;|  `)
)

func TestEveryRecordIsValid(t *testing.T) {
	for name, o := range options {
		t.Run(name, func(t *testing.T) {
			c := City(o)
			known := map[string]bool{}
			name := func(id string, number int) {
				t.Helper()
				if want := fmt.Sprintf("seed:city:%d", number); id != want {
					t.Errorf("source id %s, want %s", id, want)
				}
				known[id] = true
			}
			linked := func(of string, ids []string) {
				t.Helper()
				for _, id := range ids {
					if !known[id] {
						t.Errorf("%s is linked to %q, which does not come before it", of, id)
					}
				}
			}
			text := func(of string, x Text, html bool) {
				t.Helper()
				if x[c.Language] == "" {
					t.Errorf("%s: nothing in %s", of, c.Language)
				}
				for l, s := range x {
					if strayText.MatchString(s) || s != strings.TrimSpace(s) || s == "" {
						t.Errorf("%s in %s: %q", of, l, s)
					}
					if html != paragraphs.MatchString(s) {
						t.Errorf("%s in %s: HTML %v, want %v: %q", of, l, !html, html, s)
					}
				}
			}
			n := 0
			for _, x := range slices.Concat(c.Categories, c.Tags) {
				n++
				linked(x.SourceID, slices.DeleteFunc([]string{x.Parent}, func(s string) bool { return s == "" }))
				name(x.SourceID, n)
				text(x.SourceID, x.Name, false)
			}
			for _, x := range c.Venues {
				n++
				name(x.SourceID, n)
				text(x.SourceID, x.Description, true)
				if calendar.Slug(x.Name) == "" || x.Address == "" || x.Zip == "" || x.City != c.City || x.Country == "" {
					t.Errorf("incomplete venue %+v", x)
				}
				if centre := c.Venues[0]; math.Hypot(x.Latitude-centre.Latitude, x.Longitude-centre.Longitude) > 0.1 {
					t.Errorf("%s is out of town: %v, %v", x.Name, x.Latitude, x.Longitude)
				}
			}
			for _, x := range c.Organizers {
				n++
				name(x.SourceID, n)
				text(x.SourceID, x.Description, true)
				if calendar.Slug(x.Name) == "" || !strings.HasSuffix(x.Email, ".example") {
					t.Errorf("incomplete organizer %+v", x)
				}
			}
			if want := stdcmp.Or(o.Events, DefaultEvents); len(c.Events) != want {
				t.Errorf("%d events, want %d", len(c.Events), want)
			}
			titles := map[string]string{}
			for _, x := range c.Events {
				n++
				linked(x.SourceID, slices.Concat(x.Categories, x.Tags, x.Venues, x.Organizers))
				linked(x.SourceID, slices.DeleteFunc([]string{x.Parent}, func(s string) bool { return s == "" }))
				name(x.SourceID, n)
				text(x.SourceID, x.Title, false)
				text(x.SourceID, x.Excerpt, true)
				text(x.SourceID, x.Description, true)
				if err := x.Span.Check(); err != nil || x.Span != x.Span.Rounded() || x.Span.Zone != c.Zone {
					t.Errorf("%s: span %v, %v", x.SourceID, x.Span, err)
				}
				if calendar.Slug(x.Title[c.Language]) == "" || len(x.Venues) == 0 || len(x.Organizers) == 0 {
					t.Errorf("incomplete event %+v", x)
				}
				for l, title := range x.Title {
					if other := titles[string(l)+title]; other != "" {
						t.Errorf("%s and %s are both %q", other, x.SourceID, title)
					}
					titles[string(l)+title] = x.SourceID
				}
				if x.Published.After(o.From) || x.Published.After(x.Span.StartsAt()) || x.Published.Nanosecond() != 0 {
					t.Errorf("%s published at %v", x.SourceID, x.Published)
				}
				days := x.Span.Start.Sub(c.Zone.Wall(o.From).StartOfDay()).Hours() / 24
				if days < -14 || days > 56 {
					t.Errorf("%s starts after %v days", x.SourceID, days)
				}
			}
		})
	}
}

func TestTheMainLanguageDecidesTheCity(t *testing.T) {
	for _, test := range []struct {
		languages          []calendar.Language
		city, zone, symbol string
		texts              []calendar.Language
	}{
		{nil, "Bristol", "Europe/London", "£", calendar.Languages},
		{[]calendar.Language{"xx", "en", "en"}, "Bristol", "Europe/London", "£", calendar.Languages[:1]},
		{[]calendar.Language{"pl", "en", "es"}, "Kraków", "Europe/Warsaw", "zł", calendar.Languages},
		{[]calendar.Language{"es", "pl"}, "Valencia", "Europe/Madrid", "€", []calendar.Language{"pl", "es"}},
	} {
		c := City(Options{Seed: 1, From: from, Languages: test.languages})
		if c.City != test.city || c.Zone.String() != test.zone {
			t.Errorf("%v: %s in %s", test.languages, c.City, c.Zone)
		}
		if got := c.Events[0].Title.Languages(); !slices.Equal(got, test.texts) {
			t.Errorf("%v: texts in %v, want %v", test.languages, got, test.texts)
		}
		for _, e := range c.Events {
			if e.Cost.Lowest() != "" && e.Cost.Lowest() != "0" && e.Cost.Symbol != test.symbol {
				t.Errorf("%v: %s costs %+v", test.languages, e.Title, e.Cost)
			}
		}
	}
}

func TestTheWeekIsLikeThatOfACity(t *testing.T) {
	for seed := range uint64(25) {
		c := City(Options{Seed: seed, From: from.AddDate(0, 0, int(seed)*11)})
		days := map[time.Weekday]int{}
		free, over, running, translated, evening := 0, 0, 0, 0, 0
		now := from.AddDate(0, 0, int(seed)*11)
		for _, e := range c.Events {
			days[e.Span.Start.Weekday()]++
			if slices.Equal(e.Cost.Prices, []string{"0"}) {
				free++
			}
			if e.Span.Over(now) {
				over++
			} else if e.Span.StartsAt().Before(now) {
				running++
			}
			if len(e.Title) == 3 {
				translated++
			}
			if hour, _, _ := e.Span.Start.Clock(); hour >= 17 {
				evening++
			}
		}
		share := func(what string, n int, least, most float64) {
			t.Helper()
			if s := float64(n) / float64(len(c.Events)); s < least || s > most {
				t.Errorf("seed %d: %.0f%% of the events %s, want %.0f to %.0f", seed, 100*s, what, 100*least, 100*most)
			}
		}
		share("are on a weekend", days[time.Saturday]+days[time.Sunday], 0.35, 0.6)
		share("are on a Monday", days[time.Monday], 0, 0.08)
		share("are free", free, 0.3, 0.6)
		share("are in the evening", evening, 0.35, 0.65)
		share("are in all languages", translated, 0.6, 0.98)
		if over < 3 || over > 8 || running < 1 {
			t.Errorf("seed %d: %d events are over, %d are on", seed, over, running)
		}
	}
}

func TestTheDefaultCalendarHasOneOfEverything(t *testing.T) {
	for seed := range uint64(10) {
		c := City(Options{Seed: seed, From: from})
		has := map[string]int{}
		count := func(what string, yes bool) {
			if yes {
				has[what]++
			}
		}
		for _, e := range c.Events {
			count("draft", e.Status == calendar.Draft)
			count("hidden", e.Hide)
			count("protected", e.Password != "")
			count("sticky", e.Sticky)
			count("two venues", len(e.Venues) > 1)
			count("child", e.Parent != "")
			count("past midnight", !e.Span.AllDay && e.Span.End.StartOfDay() != e.Span.Start.StartOfDay())
			count("featured", e.Featured)
			count("ticketed", e.Ticketed)
			count("two organizers", len(e.Organizers) > 1)
			count("all day", e.Span.AllDay)
			count("several days", e.Span.AllDay && e.Span.End.Sub(e.Span.Start) > 24*time.Hour)
			count("lecture", strings.HasPrefix(e.Title[calendar.English], "Thursday Lecture"))
			count("range of prices", len(e.Cost.Prices) > 1)
		}
		for what, want := range map[string][2]int{
			"draft": {1, 1}, "hidden": {1, 1}, "protected": {1, 1}, "sticky": {1, 3}, "two venues": {1, 1},
			"child": {4, 4}, "past midnight": {2, 6}, "featured": {2, 6}, "ticketed": {5, 15},
			"two organizers": {3, 8}, "all day": {5, 9}, "several days": {3, 5}, "lecture": {8, 8},
			"range of prices": {5, 20},
		} {
			if n := has[what]; n < want[0] || n > want[1] {
				t.Errorf("seed %d: %d %s, want %d to %d", seed, n, what, want[0], want[1])
			}
		}
	}
}

func TestEventsOfAFestivalTakePlaceDuringIt(t *testing.T) {
	c := City(Options{Seed: 1, From: from})
	festival := c.Events[0]
	for _, e := range c.Events {
		if e.Parent == "" {
			continue
		}
		if e.Parent != festival.SourceID || e.Span.Start.Before(festival.Span.Start) || festival.Span.End.Before(e.Span.End) {
			t.Errorf("%s, part of %s, on %s", e.Title[calendar.English], e.Parent, e.Span.Start)
		}
	}
}

func TestLecturesAreWeekly(t *testing.T) {
	c := City(Options{Seed: 1, From: from})
	var last calendar.Wall
	for _, e := range c.Events {
		if !strings.HasPrefix(e.Title[calendar.English], "Thursday Lecture") {
			continue
		}
		if !last.IsZero() && e.Span.Start.Sub(last) != 7*24*time.Hour {
			t.Errorf("%s is on %s, the one before was on %s", e.Title[calendar.English], e.Span.Start, last)
		}
		last = e.Span.Start
	}
}

func TestAVenueIsNotUsedTwiceAtATime(t *testing.T) {
	for seed := range uint64(25) {
		c := City(Options{Seed: seed, From: from})
		type use struct{ event, venue string }
		taken := map[use]calendar.Span{}
		for _, e := range c.Events {
			// Exhibitions, festivals and walks leave room for others.
			roams := e.Span.End.Sub(e.Span.Start) > 48*time.Hour || strings.HasPrefix(e.Title[calendar.English], "City Walk")
			if roams {
				continue
			}
			for _, v := range e.Venues {
				for at, s := range taken {
					if at.venue == v && e.Span.Start.Before(s.End) && s.Start.Before(e.Span.End) {
						t.Errorf("seed %d: %s and %s at the same time", seed, at.event, e.Title[calendar.English])
					}
				}
				taken[use{e.Title[calendar.English], v}] = e.Span
			}
		}
	}
}

func TestTheLongNightIsThatOfTheChangeOfTheClock(t *testing.T) {
	const usual = 9*time.Hour + 30*time.Minute
	day := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 9, 0, 0, 0, time.UTC) }
	for _, test := range []struct {
		name string
		from time.Time
		zone string
		want string // start, or "" where the clock does not change
		last time.Duration
		text string
	}{
		{"back", day(10, 1), "", "2026-10-24 21:30:00", usual + time.Hour, "ends during the night"},
		{"forward", day(3, 1), "", "2026-03-28 21:30:00", usual - time.Hour, "begins during the night"},
		{"the same evening", day(10, 24), "", "2026-10-24 21:30:00", usual + time.Hour, "ends during the night"},
		{"at midnight", day(4, 1), "Africa/Cairo", "2026-04-23 21:30:00", usual - time.Hour, "begins during the night"},
		{"none in summer", from, "", "", usual, ""},
		{"none in UTC", day(10, 1), "UTC", "", usual, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := Options{Seed: 1, From: test.from}
			if test.zone != "" {
				zone, err := calendar.ParseZone(test.zone)
				if err != nil {
					t.Fatal(err)
				}
				o.Zone = zone
			}
			c := City(o)
			i := slices.IndexFunc(c.Events, func(e Event) bool {
				return e.Title[calendar.English] == "The Long Night of Short Films"
			})
			if i < 0 {
				t.Fatal("no long night")
			}
			e := c.Events[i]
			if test.want != "" && e.Span.Start.String() != test.want {
				t.Errorf("starts %s, want %s", e.Span.Start, test.want)
			}
			if lasts := e.Span.EndsAt().Sub(e.Span.StartsAt()); lasts != test.last {
				t.Errorf("lasts %v, want %v", lasts, test.last)
			}
			if got := strings.Contains(e.Description[calendar.English], "Mind the clock"); got != (test.text != "") ||
				!strings.Contains(e.Description[calendar.English], test.text) {
				t.Errorf("description %q, want %q in it", e.Description[calendar.English], test.text)
			}
		})
	}
}

func TestTheAuthorIsPassedOn(t *testing.T) {
	if c := City(Options{From: from, AuthorID: 12}); c.AuthorID != 12 {
		t.Errorf("author %d", c.AuthorID)
	}
}
