package scenario

import (
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// festival is an event of several days with events of its own.
type festival struct {
	kind      *kind
	rank      int
	city      int
	day, days int
	titles    []string // titles by language
}

// day returns midnight at the start of day n, counted from 0 at the first day of the calendar.
func (c *Calendar) day(n int) calendar.Wall { return c.o.From.AddDate(0, 0, n) }

// weekday returns the weekday of a day; 0 is Monday.
func (c *Calendar) weekday(day int) int {
	return ((int(c.o.From.Weekday())+6+day)%7 + 7) % 7
}

// fillDays sets the days of the calendar, public holidays, and the days of clock changes.
func (c *Calendar) fillDays() error {
	end := c.o.From.AddDate(0, c.o.Months, 0)
	c.holidays = map[int]map[yearDay]bool{}
	for n := 0; c.day(n).Before(end); n++ {
		c.closed = append(c.closed, c.isHoliday(c.day(n)))
	}
	for i := range c.cities {
		c.cities[i].changes = c.changes(c.cities[i].zone)
	}
	return nil
}

// isHoliday reports whether a day is a public holiday in a country of the calendar.
func (c *Calendar) isHoliday(w calendar.Wall) bool {
	year, month, day := w.Date()
	if c.holidays[year] == nil {
		c.holidays[year] = map[yearDay]bool{}
		for _, in := range c.cities {
			maps.Copy(c.holidays[year], holidaysIn(in.closed, year))
		}
	}
	return c.holidays[year][yearDay{month, day}]
}

// month returns the month of a day. On the southern hemisphere it is the month of the same season in the north,
// so January is returned as July.
func (c *Calendar) month(day int) int {
	_, month, _ := c.day(day).Date()
	if c.cities[0].lat < 0 && (c.plan.Country || !c.plan.Cities) {
		month += 6
	}
	return (int(month)-1)%12 + 1
}

// hasSeasons reports whether the city has summers and winters. Near the equator people speak of rain instead.
func (c *Calendar) hasSeasons() bool { return math.Abs(c.cities[0].lat) >= 12 }

// inSeason reports whether a month, as month returns it, is in a season from the first to the last month. 0, 0
// means all year.
func inSeason(month int, season [2]int) bool {
	switch first, last := season[0], season[1]; {
	case first == 0:
		return true
	case first <= last:
		return first <= month && month <= last
	default:
		return first <= month || month <= last
	}
}

// suits reports whether an event of a kind may begin on a day and last for further days, of which after is the
// number.
func (c *Calendar) suits(k *kind, day, after int) bool {
	if day < 0 || day+after >= len(c.closed) || !inSeason(c.month(day), k.Months) ||
		len(k.days) > 0 && !slices.Contains(k.days, c.weekday(day)) {
		return false
	}
	for d := day; d <= day+after; d++ {
		if c.closed[d] {
			return false
		}
	}
	return true
}

// fillKindDays sets the cumulated weights of the days for events of a kind. If no day suits the kind, all are
// 0.
func (c *Calendar) fillKindDays(k *kind) {
	after := 0
	if len(k.starts) == 0 && k.Lasts[1] <= 3 {
		after = k.Lasts[1] - 1
	}
	switch k.Role {
	case festivalRole:
		after = c.plan.Fests.Days[1] - 1
	case courseRole:
		after = 0
	}
	total := uint64(0)
	k.full = make([]uint64, len(c.closed))
	for day := range c.closed {
		if c.suits(k, day, after) && (k.Role != courseRole || c.suitsLessons(k, day)) &&
			(k.Role != festivalRole || inSeason(c.month(day), c.plan.Fests.Months)) {
			weight := c.plan.Weekdays[c.weekday(day)]
			if len(k.days) > 0 { // a day that the kind names twice has twice the weight
				weight = 0
				for _, d := range k.days {
					if d == c.weekday(day) {
						weight++
					}
				}
			}
			total += uint64(weight * c.plan.Months[c.month(day)-1])
		}
		k.full[day] = total
	}
}

// weekly returns the number of days between two lessons: 7, or 1 in a short calendar, in which a course takes
// the days from a Monday on.
func (c *Calendar) weekly() int {
	if len(c.closed) < 7*lessons+7 {
		return 1
	}
	return 7
}

// suitsLessons reports whether all lessons of a course that begins on a day can take place.
func (c *Calendar) suitsLessons(k *kind, day int) bool {
	weekly := c.weekly()
	if weekly == 1 && c.weekday(day) != 0 {
		return false
	}
	for n := range lessons {
		if at := day + n*weekly; at >= len(c.closed) || c.closed[at] || c.inBreak(at) {
			return false
		}
	}
	return true
}

// inBreak reports whether a day is in the school holidays around Christmas and New Year.
func (c *Calendar) inBreak(day int) bool {
	_, month, d := c.day(day).Date()
	return month == time.December && d > 21 || month == time.January && d < 3
}

// dayOf returns the day of the n-th of count events of the kind, in order of time.
func (k *kind) dayOf(n, count int, source *randomSource) int {
	total := k.full[len(k.full)-1]
	part := (float64(n) + float64(source.below(1000))/1000) / float64(max(count, 1))
	at := min(uint64(float64(total)*part), total-1)
	return sort.Search(len(k.full), func(i int) bool { return k.full[i] > at })
}

// possible reports whether events of the kind have a possible day and venue.
func (c *Calendar) possible(k *kind) bool {
	if k.full[len(k.full)-1] == 0 {
		return false
	}
	return len(k.At) == 0 || slices.ContainsFunc(k.At, func(typ string) bool { return len(c.venuesAt.byType[typ]) > 0 })
}

// clock is a time of day. If dusk or dark is set, it depends on the sunset.
type clock struct {
	minute     int // minutes after midnight
	dusk, dark bool
}

// at returns the time on a day in a city, in minutes after midnight.
func (t clock) at(c *Calendar, city, day int) int {
	switch {
	case t.dusk:
		return c.dusk(city, day)
	case t.dark:
		return c.dark(city, day)
	}
	return t.minute
}

// roomSlot is the venue and start of an event.
type roomSlot struct {
	venue int32 // index of the venue; -1 means none
	day   int32
	start int16 // minutes after midnight; 0 for all-day events
}

// eventNeeds are the requirements of an event for its place and time.
type eventNeeds struct {
	kind        *kind
	at          []string // types of venues; none means that the event is online
	city        int
	first, last int // first and last day to which the event may be moved
	day         int
	days        int // duration of an all-day event
	minutes     int // duration of an event with a time of day
	starts      []clock
	repeats     int // number of occurrences, for a course; 0 means one
	every       int // days between two occurrences
}

// roomPause is the number of free quarters of an hour between two events in a room.
const roomPause = 1

// mostProbes limits the rooms that find tries for one event, for calendars with more events than rooms.
const mostProbes = 2000

// find finds a free room. It prefers the wanted day, and takes a near one if all rooms are occupied.
func (c *Calendar) find(w *eventNeeds, source randomSource) roomSlot {
	k := w.kind
	at, start := source.next(), source.next()
	c.drafts++
	probes := 0
	for tries := range 2 * 60 {
		day := w.day + (tries+1)/2*(1-tries%2*2)
		if tries > 0 && (day < w.first || day > w.last || !c.suits(k, day, max(w.days, 1)-1)) {
			continue
		}
		if probes > mostProbes {
			break
		}
		if tries > 0 {
			c.thrown++
		}
		for a := range max(len(w.at), 1) {
			s := roomSlot{venue: -1, day: int32(day)}
			if len(w.starts) > 0 {
				s.start = int16(w.starts[start%uint64(len(w.starts))].at(c, w.city, day))
			}
			if len(w.at) == 0 {
				return s
			}
			typ := w.at[(at+uint64(a))%uint64(len(w.at))]
			venues := c.venuesAt.near(typ, w.city)
			popular := source // equal for all days and types
			pick := popular.head(len(venues))
			for v := range min(len(venues), 256) {
				s.venue = int32(venues[(pick+v)%len(venues)])
				for n := range max(len(w.starts), 1) {
					if len(w.starts) > 0 {
						s.start = int16(w.starts[(start+uint64(n))%uint64(len(w.starts))].at(c, w.city, day))
					}
					if probes++; c.takeAll(w, s, max(roomsOf[typ], 1)) {
						return s
					}
				}
			}
		}
	}
	c.thrown++
	s := roomSlot{venue: -1, day: int32(w.day)}
	if len(w.starts) > 0 {
		s.start = int16(w.starts[0].at(c, w.city, w.day))
	}
	return s
}

// takeAll occupies a room for all occurrences of an event. If no room is free for all of them, it reports
// false.
func (c *Calendar) takeAll(w *eventNeeds, s roomSlot, count int) bool {
	if w.repeats == 0 {
		from, to := w.quarters(s, int(s.day))
		return c.rooms.take(int(s.venue), count, from, to)
	}
	for room := range count {
		free := true
		for n := range w.repeats {
			from, to := w.quarters(s, int(s.day)+n*w.every)
			free = free && c.rooms.free(int(s.venue), room, from, to)
		}
		if !free {
			continue
		}
		for n := range w.repeats {
			from, to := w.quarters(s, int(s.day)+n*w.every)
			c.rooms.mark(int(s.venue), room, from, to)
		}
		return true
	}
	return false
}

// quarters returns the quarters of an hour that an event occupies on a day, counted from the first day of the
// calendar.
func (w *eventNeeds) quarters(s roomSlot, day int) (from, to int) {
	if len(w.starts) == 0 {
		return day * dayQuarters, (day + max(w.days, 1)) * dayQuarters
	}
	from = day*dayQuarters + int(s.start)/15
	return from, from + (w.minutes+14)/15 + roomPause
}

// spanOf returns the span of an event.
func (c *Calendar) spanOf(w *eventNeeds, s roomSlot, zone calendar.Zone) calendar.Span {
	span := calendar.Span{Start: c.day(int(s.day)), Zone: zone}
	if len(w.starts) == 0 {
		span.AllDay, span.End = true, span.Start.AddDate(0, 0, max(w.days, 1)-1)
		return span.Rounded()
	}
	span.Start = span.Start.Add(time.Duration(s.start) * time.Minute)
	span.End = span.Start.Add(time.Duration(w.minutes) * time.Minute)
	return span
}

// lay assigns the indexes to kinds of events, and then chooses the place and time of each event.
func (c *Calendar) lay() error {
	l := &c.layout
	n := c.o.Events
	if n >= 10 {
		pinned, _ := c.kindsOf[currentRole].at(0)
		l.pinned = append(l.pinned, pinned)
		if len(c.cities[0].changes) > 0 {
			pinned, _ = c.kindsOf[clockChangeRole].at(0)
			l.pinned = append(l.pinned, pinned)
		}
	}
	if share := c.plan.Fests.Share; share > 0 && n >= 40 && len(c.kindsOf[festivalRole].order) > 0 && len(c.kindsOf[festivalPartRole].order) > 0 {
		fests := max(1, int(math.Round(c.plan.Fests.Scale*math.Pow(float64(n), 0.4))))
		fests = max(1, min(fests, int(share*float64(n)/6)))
		l.parts = int(share*float64(n))/fests - 1
		for i := range fests {
			l.fests = append(l.fests, c.festival(i, fests))
		}
	}
	if share := c.plan.Courses.Share; share > 0 && n >= 40 && len(c.kindsOf[courseRole].order) > 0 {
		l.course = int(share * float64(n) / (lessons + 1))
	}
	l.free = n - l.firstFree()
	c.laySoon()
	rest := l.free - len(l.soon)
	l.spread = newScatter(uint64(max(rest, 1)), chanceOf(c.o.Seed, chanceSpread))
	for _, k := range c.kindsOf[standaloneRole].order {
		k.count = c.kindsOf[standaloneRole].count(k, rest)
	}
	c.spots = make([]roomSlot, n)
	drawings := make([]drawing, n)
	var p place
	for i := range c.spots {
		c.outline(&p, i)
		c.spots[i] = c.settle(&p)
		c.locateEvent(&p, c.spots[i])
		drawings[i] = drawing{i, c.spots[i], c.textsOf(&p), p.title.about, c.factsOf(&p)}
	}
	return c.drawLeads(drawings)
}

// soonDays is the number of days from Options.Now on that all have events.
const soonDays = 35

// plannedEvent is an event on a fixed day.
type plannedEvent struct {
	kind *kind
	rank int
	day  int
}

// laySoon plans events for the days after Options.Now, more on weekends. So a current calendar is full in the
// weeks that people look at.
func (c *Calendar) laySoon() {
	l := &c.layout
	today := c.today()
	if today < 0 || today >= len(c.closed) || l.free < 20 {
		return
	}
	n, order := 0, c.kindsOf[standaloneRole]
	for round := range 4 {
		for day := today; day < min(today+soonDays, len(c.closed)); day++ {
			if wanted := [7]int{1, 1, 1, 1, 2, 4, 3}[c.weekday(day)]; round >= wanted || len(l.soon) >= l.free/2 {
				continue
			}
			for range len(order.order) {
				k, _ := order.at(n)
				n++
				if !c.suits(k, day, 0) || round == 0 && (len(k.starts) == 0 || len(k.At) == 0) {
					continue
				}
				l.soon = append(l.soon, plannedEvent{k, k.soon, day})
				k.soon++
				break
			}
		}
	}
}

// today returns the number of the day of Options.Now. It may be before or after the calendar.
func (c *Calendar) today() int {
	now := c.cities[0].zone.Wall(c.o.Now).StartOfDay()
	return int(math.Round(now.Sub(c.o.From).Hours() / 24))
}

// festival returns festival n of count, in order of time.
func (c *Calendar) festival(n, count int) festival {
	source := chanceOf(c.o.Seed, chanceFests, uint64(n))
	f := festival{city: source.head(len(c.cities))}
	f.kind, f.rank = c.kindsOf[festivalRole].at(n)
	f.days = min(source.between(c.plan.Fests.Days[0], c.plan.Fests.Days[1]), len(c.closed))
	f.day = min(f.kind.dayOf(n, count, &source), len(c.closed)-f.days)
	d := newDraft(c, source, f.city)
	d.day = f.day
	t := d.entitle(f.kind, f.rank)
	for i := range c.o.Languages {
		f.titles = append(f.titles, composedTitle(d.text(t.in[i], i)))
	}
	return f
}
