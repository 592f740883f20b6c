package scenario

import (
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
	titles    []string // by language
}

// day is midnight of the day, counted from the first.
func (c *Calendar) day(n int) calendar.Wall { return c.o.From.AddDate(0, 0, n) }

// weekday is that of the day: 0 is Monday.
func (c *Calendar) weekday(day int) int {
	return ((int(c.o.From.Weekday())+6+day)%7 + 7) % 7
}

// fillDays adds up how full the days are.
func (c *Calendar) fillDays() error {
	end := c.o.From.AddDate(0, c.o.Months, 0)
	total, festal := uint64(0), uint64(0)
	season := c.plan.Fests.Months
	half := 0
	if !c.plan.Cities && c.cities[0].lat < 0 {
		half = 6 // summer is in January there
	}
	for n := 0; c.day(n).Before(end); n++ {
		_, month, _ := c.day(n).Date()
		inYear := (int(month)-1+half)%12 + 1
		full := uint64(c.plan.Months[inYear-1] * c.plan.Weekdays[c.weekday(n)])
		total += full
		c.days = append(c.days, total)
		if season[0] == 0 || season[0] <= inYear && inYear <= season[1] {
			festal += full
		}
		c.festal = append(c.festal, festal)
	}
	if festal == 0 {
		c.festal = c.days
	}
	for i := range c.cities {
		c.cities[i].changes = c.changes(c.cities[i].zone)
	}
	return nil
}

// dayOf is the day of the n-th of count events in the order of time, on days that are so full.
func dayOf(days []uint64, n, count int) int {
	total := float64(days[len(days)-1])
	at := uint64(total * (float64(n) + 0.5) / float64(count))
	return min(sort.Search(len(days), func(i int) bool { return days[i] > at }), len(days)-1)
}

// settle moves a day within its week to one of the weekdays on which a kind takes place, and what goes on past
// midnight to the night in which the clocks change.
func (c *Calendar) settle(k *kind, city, day int, source *chance) int {
	if len(k.days) == 0 {
		return day
	}
	monday := day - c.weekday(day)
	if k.nightly() && slices.Contains(k.days, 5) {
		changes := c.cities[city].changes
		if i := sort.SearchInts(changes, monday); i < len(changes) && changes[i] < monday+7 {
			return changes[i]
		}
	}
	to := monday + k.days[source.below(len(k.days))]
	if to < 0 {
		to += 7
	}
	if to >= len(c.days) {
		to -= 7
	}
	return to
}

// nightly reports whether the kind always goes on past midnight.
func (k *kind) nightly() bool {
	return len(k.starts) > 0 && slices.Min(k.starts)+k.Lasts[0] > 24*60
}

// span is when an event of the kind takes place if it starts on the day. What is all-day lasts the days, or as
// many as the kind says if days is 0.
func (c *Calendar) span(k *kind, zone calendar.Zone, day, days int, source *chance) calendar.Span {
	s := calendar.Span{Start: c.day(day), Zone: zone}
	start, lasts := 0, 0
	if len(k.starts) > 0 {
		start = k.starts[source.below(len(k.starts))]
		lasts = source.between((k.Lasts[0]+14)/15, k.Lasts[1]/15) * 15
	} else if days == 0 {
		days = source.between(k.Lasts[0], k.Lasts[1])
	}
	if days > 0 {
		s.AllDay, s.End = true, s.Start.AddDate(0, 0, days-1)
		return s.Rounded()
	}
	s.Start = s.Start.Add(time.Duration(start) * time.Minute)
	s.End = s.Start.Add(time.Duration(lasts) * time.Minute)
	return s
}

// lay decides which index is what.
func (c *Calendar) lay() error {
	l := &c.layout
	n := c.o.Events
	if n >= 10 {
		pinned, _ := c.kindsOf[current].at(0)
		l.pinned = append(l.pinned, pinned)
		if len(c.cities[0].changes) > 0 {
			pinned, _ = c.kindsOf[clocks].at(0)
			l.pinned = append(l.pinned, pinned)
		}
	}
	if share := c.plan.Fests.Share; share > 0 && n >= 40 {
		fests := max(1, int(math.Round(c.plan.Fests.Scale*math.Pow(float64(n), 0.4))))
		fests = max(1, min(fests, int(share*float64(n)/6)))
		l.parts = int(share*float64(n))/fests - 1
		for i := range fests {
			l.fests = append(l.fests, c.festival(i, fests))
		}
	}
	if share := c.plan.Courses.Share; share > 0 && n >= 40 {
		l.course = int(share * float64(n) / (lessons + 1))
	}
	l.free = n - l.firstFree()
	l.spread = newScatter(uint64(max(l.free, 1)), chanceOf(c.o.Seed, chanceSpread))
	return nil
}

// festival is the n-th of so many in the order of time.
func (c *Calendar) festival(n, count int) festival {
	source := chanceOf(c.o.Seed, chanceFests, uint64(n))
	f := festival{city: source.head(len(c.cities))}
	f.kind, f.rank = c.kindsOf[fest].at(n)
	f.days = min(source.between(c.plan.Fests.Days[0], c.plan.Fests.Days[1]), len(c.days))
	f.day = c.settle(f.kind, f.city, dayOf(c.festal, n, count), &source)
	f.day = min(f.day, len(c.days)-f.days)
	d := newDraft(c, source, f.city)
	d.day = f.day
	t := d.entitle(f.kind, f.rank)
	for i := range c.o.Languages {
		f.titles = append(f.titles, d.text(t.in, i))
	}
	return f
}
