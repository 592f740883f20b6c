package scenario

import (
	"math"
)

// layout assigns index ranges to groups of events. Their order is: pinned events, festivals, courses, events of
// festivals, lessons, and all others (free). Pinned events are in nearly every calendar.
type layout struct {
	pinned          []*eventKind
	fests           []festival
	partsOfFestival int // number of events of each festival
	courses         int // number of courses
	free            int
	soon            []plannedEvent // the first of the free events, which are in the next weeks
	spread          permutation    // spreads the other events over time
}

// isUndisturbed reports whether event i must be public and must take place. These are festivals, courses, and planned
// events of the next weeks.
func (l *layout) isUndisturbed(i int) bool {
	return i < l.firstPart() || i >= l.firstFree() && i < l.firstFree()+len(l.soon)
}

func (l *layout) firstPart() int   { return len(l.pinned) + len(l.fests) + l.courses }
func (l *layout) firstLesson() int { return l.firstPart() + len(l.fests)*l.partsOfFestival }
func (l *layout) firstFree() int   { return l.firstLesson() + l.courses*lessonsOfCourse }

// layOut assigns index ranges to the groups of events. It then chooses the place, the time and the first paragraph of
// each event.
func (c *Calendar) layOut() error {
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
		l.partsOfFestival = int(share*float64(n))/fests - 1
		for i := range fests {
			l.fests = append(l.fests, c.festival(i, fests))
		}
	}
	if share := c.plan.Courses.Share; share > 0 && n >= 40 && len(c.kindsOf[courseRole].order) > 0 {
		l.courses = int(share * float64(n) / (lessonsOfCourse + 1))
	}
	l.free = n - l.firstFree()
	c.planNextWeeks()
	rest := l.free - len(l.soon)
	l.spread = newScatter(uint64(max(rest, 1)), chanceOf(c.o.Seed, chanceSpread))
	for _, k := range c.kindsOf[standaloneRole].order {
		k.count = c.kindsOf[standaloneRole].count(k, rest)
	}
	c.spots = make([]roomSlot, n)
	drawings := make([]leadChoice, n)
	var p eventOutline
	for i := range c.spots {
		c.outlineEvent(&p, i)
		c.spots[i] = c.chooseRoom(&p)
		c.locateEvent(&p, c.spots[i])
		drawings[i] = leadChoice{i, c.spots[i], c.textsOf(&p), p.title.descriptions, c.factsOf(&p)}
	}
	return c.drawLeads(drawings)
}

// soonDays is the number of days, from Options.Now, for which planNextWeeks plans events.
const soonDays = 35

// plannedEvent is an event in the soonDays after Options.Now, whose kind and day are fixed in advance.
type plannedEvent struct {
	kind *eventKind
	rank int
	day  int
}

// planNextWeeks plans events for soonDays, beginning with the day of Options.Now, more on weekends. So a current
// calendar is full in the weeks that people look at. A small calendar has none.
func (c *Calendar) planNextWeeks() {
	l := &c.layout
	today := c.today()
	if today < 0 || today >= len(c.publicHolidays) || l.free < 20 {
		return
	}
	n, order := 0, c.kindsOf[standaloneRole]
	for round := range 4 {
		for day := today; day < min(today+soonDays, len(c.publicHolidays)); day++ {
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

// today returns the number of the day at Options.Now, where the first day is 0. It is negative before the calendar,
// and may be after its end.
func (c *Calendar) today() int {
	now := c.cities[0].zone.Wall(c.o.Now).StartOfDay()
	return int(math.Round(now.Sub(c.o.From).Hours() / 24))
}

// festival is an event of several days with events of its own.
type festival struct {
	kind      *eventKind
	rank      int
	city      int
	day, days int
	titles    []string // titles by language
}

// festival outlines festival n of count. Later festivals of a kind get later days.
func (c *Calendar) festival(n, count int) festival {
	source := chanceOf(c.o.Seed, chanceFests, uint64(n))
	f := festival{city: source.lowBiased(len(c.cities))}
	f.kind, f.rank = c.kindsOf[festivalRole].at(n)
	f.days = min(source.between(c.plan.Fests.Days[0], c.plan.Fests.Days[1]), len(c.publicHolidays))
	f.day = min(f.kind.dayOf(n, count, &source), len(c.publicHolidays)-f.days)
	d := newDraft(c, source, f.city)
	d.day = f.day
	t := d.chooseTitle(f.kind, f.rank)
	for i := range c.o.Languages {
		f.titles = append(f.titles, composedTitle(d.text(t.in[i], i)))
	}
	return f
}
