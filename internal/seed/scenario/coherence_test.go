package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// testEvent is a generated event with the outline that it was generated from.
type testEvent struct {
	Event
	i int
	eventOutline
	roomSlot
}

func (m *testEvent) timed() bool { return !m.Span.AllDay }

// minute returns the start of the event in minutes after midnight.
func (m *testEvent) minute() int {
	return int(m.Span.Start.Sub(m.Span.Start.StartOfDay()) / time.Minute)
}

// TestEventsMakeSense generates calendars and checks each event against a list of rules. A rule that applied to no
// event is an error too. The calendars of isPair have manyEvents. Short mode: only these, with fewer events.
func TestEventsMakeSense(t *testing.T) {
	seen := map[string]int{}
	for i, s := range Scenarios {
		for j, l := range calendar.Languages {
			events := 1000
			switch {
			case testing.Short() && !isPair(i, j):
				continue
			case !testing.Short() && isPair(i, j):
				events = manyEvents
			}
			o := optionsOf(s, l, events)
			o.Languages, o.Pictures = o.Languages[:1], false
			c := mustNew(t, o)
			t.Run(s+" "+string(l), func(t *testing.T) { makesSense(t, c, seen) })
		}
	}
	for name := range properties {
		if seen[name] == 0 {
			t.Errorf("%s: no event is looked at", name)
		}
		t.Logf("%s: %d events", name, seen[name])
	}
}

// properties report whether they are about an event, and if so what is wrong with it.
var properties = map[string]func(c *Calendar, m *testEvent) (about bool, wrong string){
	"walks at dusk begin near sunset": func(c *Calendar, m *testEvent) (bool, string) {
		return m.entry(c, "walk", "the city at dusk"), m.checkSunset(c, -40, 0)
	},
	"fire burns after sunset": func(c *Calendar, m *testEvent) (bool, string) {
		return m.entry(c, "act", "fire after sunset"), m.checkSunset(c, afterDusk, 6*60)
	},
	"candles burn in the dark": func(c *Calendar, m *testEvent) (bool, string) {
		return strings.Contains(strings.ToLower(m.Title[calendar.English]), "candle") ||
			strings.Contains(m.Title[calendar.Polish], "świec"), m.checkSunset(c, 15, 6*60)
	},
	"night runs are at night": func(c *Calendar, m *testEvent) (bool, string) {
		return m.entry(c, "run", "Night Run"), m.checkSunset(c, 15, 6*60)
	},
	"what is outdoors is outdoors": func(c *Calendar, m *testEvent) (bool, string) {
		if len(m.Venues) > 0 && !slices.Contains([]string{"park", "stage", "stadium"}, c.plan.Venues[m.Venues[0]%len(c.plan.Venues)]) {
			return m.kind.Outdoors, "it is in " + c.venues[m.Venues[0]].Name[c.o.Languages[0]]
		}
		return m.kind.Outdoors, ""
	},
	"what is outdoors is in season": func(c *Calendar, m *testEvent) (bool, string) {
		if month := c.month(int(m.day)); month < 3 || month > 11 {
			return m.kind.Outdoors && m.kind.Role != clockChangeRole, fmt.Sprintf("month %d of the north", month)
		}
		return m.kind.Outdoors && m.kind.Role != clockChangeRole, ""
	},
	"only what is outdoors has the tag": func(c *Calendar, m *testEvent) (bool, string) {
		for _, key := range []string{"outdoors", "openair", "outdoor"} {
			if t, ok := c.tagIndex[key]; ok && slices.Contains(m.Tags, t) {
				for _, typ := range m.kind.At {
					if !slices.Contains([]string{"park", "stage", "stadium"}, typ) {
						return true, "it may be in a " + typ
					}
				}
				return true, ""
			}
		}
		return false, ""
	},
	"leagues play in their season": func(c *Calendar, m *testEvent) (bool, string) {
		month := c.month(int(m.day))
		return m.kind.Key == "basketball" || m.kind.Key == "volleyball", map[bool]string{true: "in summer"}[month > 5 && month < 10]
	},
	"nothing begins at a time of day on days off": func(c *Calendar, m *testEvent) (bool, string) {
		_, month, day := m.Span.Start.Date()
		date := fmt.Sprintf("%02d-%02d", month, day)
		off := []string{"12-24", "12-25", "01-01"}
		if c.cities[0].country.name == "Polska" {
			off = append(off, "11-01", "12-26")
		}
		return m.timed() && m.kind.Role != clockChangeRole, map[bool]string{true: date}[slices.Contains(off, date)]
	},
	"teaching is on weekdays": func(c *Calendar, m *testEvent) (bool, string) {
		day := m.Span.Start.Weekday()
		return m.kind.Role == lessonRole, map[bool]string{true: day.String()}[day == time.Saturday || day == time.Sunday]
	},
	"a lesson is where the one before was": func(c *Calendar, m *testEvent) (bool, string) {
		if m.kind.Role != lessonRole || m.draft.number < 2 {
			return false, ""
		}
		before := c.spots[m.i-1]
		return true, map[bool]string{true: "elsewhere"}[before.venue != m.venue || before.start != m.start]
	},
	"no match of children costs much": func(c *Calendar, m *testEvent) (bool, string) {
		return m.entry(c, "division", "Under-14"), map[bool]string{true: strings.Join(m.Cost.Prices, " ")}[!isCheap(c, m, 1)]
	},
	"matches of women have the tag, and no other": func(c *Calendar, m *testEvent) (bool, string) {
		t, ok := c.tagIndex["women"]
		if !ok || !slices.Contains(m.Tags, t) {
			return false, ""
		}
		return true, map[bool]string{true: "men"}[!m.entry(c, "division", "Women’s First Division") &&
			!m.entry(c, "division", "Women’s Second Division")]
	},
	"prices are of the country": func(c *Calendar, m *testEvent) (bool, string) {
		if len(m.Cost.Prices) == 0 || m.Cost.Lowest() == "0" {
			return false, ""
		}
		symbol := strings.TrimSpace(strings.ReplaceAll(c.cities[m.draft.city].country.price, "%d", ""))
		return true, map[bool]string{true: m.Cost.Symbol}[m.Cost.Symbol != symbol]
	},
}

// entry reports whether the title has an entry of a list. name is the entry's English name.
func (m *testEvent) entry(c *Calendar, list, name string) bool {
	for _, r := range c.rules {
		if c.lists[r.placeholder-placeholderLists].name == list && strings.EqualFold(r.name, name) {
			return slices.Contains(m.title.placeholders, r.placeholder) && int(m.draft.values[r.placeholder]) == r.entry
		}
	}
	return false
}

// checkSunset returns an error text if the event does not begin between least and most minutes after sunset, else "".
func (m *testEvent) checkSunset(c *Calendar, least, most int) string {
	set := c.sunsetOf(m.draft.city, int(m.day))
	if after := m.minute() - set; after < least || after > most {
		return fmt.Sprintf("%d minutes after sunset", after)
	}
	return ""
}

// isCheap reports whether an event costs at most a number of pounds.
func isCheap(c *Calendar, m *testEvent, pounds int) bool {
	if len(m.Cost.Prices) == 0 {
		return true
	}
	highest := m.Cost.Prices[len(m.Cost.Prices)-1]
	most := fmt.Sprint(pounds * c.cities[m.draft.city].country.factor)
	return cmp.Or(cmp.Compare(len(highest), len(most)), cmp.Compare(highest, most)) <= 0
}

func makesSense(t *testing.T, c *Calendar, seen map[string]int) {
	wrong := func(what string, args ...any) {
		t.Errorf(what, args...)
	}
	if c.Len() != c.o.Events {
		t.Errorf("%d events, not %d", c.Len(), c.o.Events)
	}
	// A draft that is thrown away is a place that an event could not have.
	if c.rejected*20 > c.searches {
		t.Errorf("%d of %d drafts are thrown away", c.rejected, c.searches)
	}
	tags := make([]int, len(c.tags))
	taken := map[int][]roomBooking{}
	for i := range c.Len() {
		m := testEvent{Event: c.Event(i), i: i, roomSlot: c.spots[i]}
		c.outlineEvent(&m.eventOutline, i)
		for name, property := range properties {
			about, what := property(c, &m)
			if !about {
				continue
			}
			seen[name]++
			if what != "" {
				wrong("%s: event %d, %q at %s: %s", name, i, m.Title[c.o.Languages[0]], m.Span.Start, what)
			}
		}
		for _, tag := range m.Tags {
			tags[tag]++
		}
		if m.venue >= 0 && !slices.Contains([]role{currentRole, festivalRole, courseRole}, m.kind.Role) {
			taken[int(m.venue)] = append(taken[int(m.venue)], roomBooking{m.Span.Start, m.Span.End, i})
		}
	}
	for i := range c.series {
		s := &c.series[i]
		moved := map[calendar.Wall]calendar.Wall{}
		for _, x := range s.Exceptions {
			moved[x.Nominal] = x.Start
		}
		for start := range s.Schedule().Starts(calendar.Wall{}, c.day(len(c.publicHolidays))) {
			if to := moved[start]; !to.IsZero() {
				start = to
			}
			taken[s.Venues[0]] = append(taken[s.Venues[0]], roomBooking{start, start.Add(s.Span.End.Sub(s.Span.Start)), -1 - i})
			if !s.Span.AllDay && c.isHoliday(start) && !c.plan.Series[i].Holidays && c.plan.Series[i].Season == "" {
				t.Errorf("series %d is on %s", i, start)
			}
		}
	}
	for venue, all := range taken {
		rooms := max(roomsOf[c.plan.Venues[venue%len(c.plan.Venues)]], 1)
		slices.SortFunc(all, func(a, b roomBooking) int { return cmp.Compare(a.from.Sub(b.from), 0) })
		checkRooms(t, c.venues[venue].SourceID, rooms, all)
	}
	for i, n := range tags {
		if n*10 > c.Len()*3 {
			t.Errorf("%d of %d events have the tag %v", n, c.Len(), c.tags[i].Name)
		}
	}
}

// roomBooking is the time during which an event occupies a room.
type roomBooking struct {
	from, to calendar.Wall
	event    int
}

// checkRooms reports an error if a venue has more events at a time than rooms. all must be sorted by start.
func checkRooms(t *testing.T, venue string, rooms int, all []roomBooking) {
	t.Helper()
	var running []roomBooking
	for _, a := range all {
		running = slices.DeleteFunc(running, func(b roomBooking) bool { return !a.from.Before(b.to) })
		if running = append(running, a); len(running) > rooms {
			t.Errorf("%s: %d events in %d rooms at %s", venue, len(running), rooms, a.from)
		}
	}
}
