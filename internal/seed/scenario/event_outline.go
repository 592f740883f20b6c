package scenario

import (
	"github.com/almanac-cal/almanac/calendar"
)

// place is the plan of an event before its texts are written.
type place struct {
	index  int
	kind   *kind
	rank   int
	draft  *draft
	source randomSource // for random choices
	title  *title
	wish   eventNeeds
	by     []string // types of organizers
	cost   calendar.Cost
	clock  int // start in minutes after midnight; 0 for all-day events
}

// outline chooses the kind and the title of an event and sets its needs.
func (c *Calendar) outline(p *place, i int) {
	own := chanceOf(c.o.Seed, chanceEvents, uint64(i))
	l := &c.layout
	*p = place{index: i, source: own}
	switch {
	case i < len(l.pinned):
		c.pin(p, l.pinned[i], own)
	case i < len(l.pinned)+len(l.fests):
		n := i - len(l.pinned)
		f := l.fests[n]
		p.kind, p.rank = f.kind, f.rank
		p.draft = newDraft(c, own, f.city)
		p.draft.fest = n
		p.wish = eventNeeds{day: f.day, first: f.day, last: f.day, days: f.days}
	case i < l.firstPart():
		c.inCourse(p, i-len(l.pinned)-len(l.fests), 0)
	case i < l.firstLesson():
		c.inFest(p, i-l.firstPart(), own)
	case i < l.firstFree():
		n := i - l.firstLesson()
		c.inCourse(p, n/lessons, n%lessons+1)
	default:
		c.alone(p, i-l.firstFree(), own)
	}
	k, d, w := p.kind, p.draft, &p.wish
	d.at, d.day = p, w.day
	if p.title == nil {
		p.title = d.entitle(k, p.rank)
		if p.title.dark && c.dark(d.city, d.day) > candleTill {
			p.title = d.entitleBright(k, p.rank)
		}
	}
	w.kind, w.city, w.starts, w.at, p.by = k, d.city, k.starts, k.At, k.By
	for i := range c.rules {
		if r := &c.rules[i]; r.applies(d) {
			w.at, p.by = orElse(r.at, w.at), orElse(r.by, p.by)
		}
	}
	switch {
	case p.title.dark:
		w.starts = []clock{{dark: true}}
	case len(k.starts) == 0:
	default:
		for _, r := range c.rules {
			if r.starts != nil && r.applies(d) {
				w.starts = r.starts
			}
		}
	}
	lasts := chanceOf(uint64(own), 3)
	if len(w.starts) > 0 {
		w.minutes = lasts.between((k.Lasts[0]+14)/15, k.Lasts[1]/15) * 15
	} else if w.days == 0 {
		w.days = lasts.between(k.Lasts[0], k.Lasts[1])
	}
}

// entitleBright chooses a title of the kind that does not need darkness.
func (d *draft) entitleBright(k *kind, rank int) *title {
	for i := range k.titles {
		t := &k.titles[(rank+i)%len(k.titles)]
		if !t.dark {
			// Half of all turns away, so that the title differs from that of the event whose turn this is.
			return d.decide(t, uint64(rank/len(k.titles))+t.turns.size/2)
		}
	}
	return d.entitle(k, rank)
}

// settle chooses the place and time of an event. Calls must be in the order of the indexes.
func (c *Calendar) settle(p *place) roomSlot {
	w, k, l := &p.wish, p.kind, &c.layout
	source := chanceOf(uint64(p.draft.own), 2)
	anywhere := func() int32 {
		if len(w.at) == 0 {
			return -1
		}
		near := c.venuesAt.near(w.at[source.below(len(w.at))], w.city)
		return int32(near[source.head(len(near))])
	}
	i := p.index
	switch {
	case k.Role == clockChangeRole:
		s := roomSlot{venue: anywhere(), day: int32(w.day), start: int16(k.starts[0].minute)}
		from, to := w.quarters(s, w.day)
		c.rooms.mark(int(s.venue), 0, from, to)
		return s
	case i < len(l.pinned)+len(l.fests): // an event of several days needs no room of its own
		return roomSlot{venue: anywhere(), day: int32(w.day)}
	case i < l.firstPart():
		of, _ := c.kindsOf[lessonRole].at(i - len(l.pinned) - len(l.fests))
		return c.find(&eventNeeds{
			kind: k, at: w.at, city: w.city, day: w.day, first: w.day, last: w.day, starts: of.starts, minutes: of.Lasts[1],
			repeats: lessons, every: c.weekly(),
		}, source)
	case i < l.firstLesson() || i >= l.firstFree():
		return c.find(w, source)
	}
	// A lesson takes place where its course does.
	n := i - l.firstLesson()
	s := c.spots[len(l.pinned)+len(l.fests)+n/lessons]
	s.day += int32(n % lessons * c.weekly())
	return s
}

// pin outlines one of the events that nearly every calendar has.
func (c *Calendar) pin(p *place, k *kind, own randomSource) {
	p.kind, p.draft = k, newDraft(c, own, 0)
	day := max(0, min(c.today()-3, len(c.closed)-1))
	if k.Role == clockChangeRole {
		day = c.cities[0].changes[0]
	}
	p.wish = eventNeeds{day: day, first: day, last: day}
}

// inFest outlines the n-th event of all festivals.
func (c *Calendar) inFest(p *place, n int, own randomSource) {
	l := &c.layout
	which, turn := n/l.parts, n%l.parts
	f := l.fests[which]
	p.draft = newDraft(c, own, f.city)
	p.draft.fest = which
	p.wish = eventNeeds{first: f.day, last: f.day + f.days - 1}
	switch first, last := c.kindsOf[openingRole], c.kindsOf[closingRole]; {
	case turn == 0 && len(first.order) > 0:
		p.kind, p.rank = first.at(which)
		p.wish.day = f.day
		p.wish.last = f.day
	case turn == l.parts-1 && len(last.order) > 0:
		p.kind, p.rank = last.at(which)
		p.wish.day = f.day + f.days - 1
		p.wish.first = p.wish.day
	default:
		p.kind, p.rank = c.kindsOf[festivalPartRole].at(n)
		p.wish.day = f.day + turn*f.days/l.parts
	}
}

// inCourse outlines a course if n is 0, otherwise its n-th lesson.
func (c *Calendar) inCourse(p *place, which, n int) {
	own := chanceOf(c.o.Seed, chanceCourses, uint64(which))
	head, rank := c.kindsOf[courseRole].at(which)
	d := newDraft(c, own, own.head(len(c.cities)))
	p.kind, p.rank, p.draft, p.source = head, rank, d, own
	day := head.dayOf(which, c.layout.course, &own)
	p.wish = eventNeeds{day: day, days: c.weekly()*(lessons-1) + 1}
	d.day = day
	p.title = d.entitle(head, rank)
	c.chooseOrganizer(p, head.By, &own)
	if n > 0 {
		p.kind, _ = c.kindsOf[lessonRole].at(which)
		p.title = &p.kind.titles[rank%len(p.kind.titles)]
		p.wish = eventNeeds{day: day + c.weekly()*(n-1)}
		d.number = n
	}
	p.wish.first, p.wish.last = p.wish.day, p.wish.day
}

// alone outlines the n-th event that is neither a parent nor part of another.
func (c *Calendar) alone(p *place, n int, own randomSource) {
	l := &c.layout
	day := 0
	if n < len(l.soon) {
		s := l.soon[n]
		p.kind, p.rank, day = s.kind, s.rank, s.day
	} else {
		at := int(l.spread.at(uint64(n - len(l.soon))))
		p.kind, p.rank = c.kindsOf[standaloneRole].at(at)
		day = p.kind.dayOf(p.rank, p.kind.count, &p.source)
		p.rank += p.kind.soon
	}
	p.draft = newDraft(c, own, p.source.head(len(c.cities)))
	p.wish = eventNeeds{day: day, first: max(day-30, 0), last: day + 30}
	if n < len(l.soon) {
		p.wish.first, p.wish.last = day, day
	}
}

// chooseOrganizer chooses the organizer of an event. A few organizers have most of the events.
func (c *Calendar) chooseOrganizer(p *place, by []string, source *randomSource) {
	near := c.organizing.near(by[source.below(len(by))], p.draft.city)
	p.draft.org = near[source.head(len(near))]
}

// locateEvent sets the place, the time and the price of an event.
func (c *Calendar) locateEvent(p *place, s roomSlot) {
	d := p.draft
	d.day, d.venue, p.clock = int(s.day), int(s.venue), int(s.start)
	source := chanceOf(uint64(d.own), 5)
	p.cost = c.cost(p.kind, c.priceOf(p), d.city, &source)
}

// orElse returns the first list that is not empty.
func orElse(first, other []string) []string {
	if len(first) > 0 {
		return first
	}
	return other
}
