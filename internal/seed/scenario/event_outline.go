package scenario

import (
	"github.com/almanac-cal/almanac/calendar"
)

// eventOutline has what is chosen for an event before its texts are written.
type eventOutline struct {
	index          int
	kind           *eventKind
	rank           int
	draft          *draft
	source         randomSource // for random choices
	title          *title
	needs          eventNeeds
	organizerTypes []string // types of organizers
	cost           calendar.Cost
	clock          int // start in minutes after midnight; 0 for all-day events
}

// outlineEvent fills p with the kind and the title of event i, and its requirements for a place and time.
func (c *Calendar) outlineEvent(p *eventOutline, i int) {
	own := chanceOf(c.o.Seed, chanceEvents, uint64(i))
	l := &c.layout
	*p = eventOutline{index: i, source: own}
	switch {
	case i < len(l.pinned):
		c.outlinePinned(p, l.pinned[i], own)
	case i < len(l.pinned)+len(l.fests):
		n := i - len(l.pinned)
		f := l.fests[n]
		p.kind, p.rank = f.kind, f.rank
		p.draft = newDraft(c, own, f.city)
		p.draft.fest = n
		p.needs = eventNeeds{day: f.day, first: f.day, last: f.day, days: f.days}
	case i < l.firstPart():
		c.outlineLesson(p, i-len(l.pinned)-len(l.fests), 0)
	case i < l.firstLesson():
		c.outlineFestivalEvent(p, i-l.firstPart(), own)
	case i < l.firstFree():
		n := i - l.firstLesson()
		c.outlineLesson(p, n/lessonsOfCourse, n%lessonsOfCourse+1)
	default:
		c.outlineFree(p, i-l.firstFree(), own)
	}
	k, d, w := p.kind, p.draft, &p.needs
	d.outline, d.day = p, w.day
	if p.title == nil {
		p.title = d.chooseTitle(k, p.rank)
		if p.title.dark && c.dark(d.city, d.day) > candleTill {
			p.title = d.chooseBrightTitle(k, p.rank)
		}
	}
	w.kind, w.city, w.starts, w.at, p.organizerTypes = k, d.city, k.starts, k.At, k.By
	for i := range c.rules {
		if r := &c.rules[i]; r.applies(d) {
			w.at, p.organizerTypes = firstNonEmpty(r.at, w.at), firstNonEmpty(r.by, p.organizerTypes)
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

// chooseBrightTitle chooses a title of the kind that does not need darkness. If there is none, it chooses any title.
func (d *draft) chooseBrightTitle(k *eventKind, rank int) *title {
	for i := range k.titles {
		t := &k.titles[(rank+i)%len(k.titles)]
		if !t.dark {
			// Half of all turns away, so that the title differs from that of the event whose turn this is.
			return d.setTitle(t, uint64(rank/len(k.titles))+t.turns.size/2)
		}
	}
	return d.chooseTitle(k, rank)
}

// chooseRoom chooses the place and time of an event, and occupies a room if the event needs one. It must be called in
// the order of the indexes, because earlier events occupy rooms.
func (c *Calendar) chooseRoom(p *eventOutline) roomSlot {
	w, k, l := &p.needs, p.kind, &c.layout
	source := chanceOf(uint64(p.draft.chance), 2)
	anywhere := func() int32 {
		if len(w.at) == 0 {
			return -1
		}
		near := c.venueIndex.near(w.at[source.below(len(w.at))], w.city)
		return int32(near[source.lowBiased(len(near))])
	}
	i := p.index
	switch {
	case k.Role == clockChangeRole:
		s := roomSlot{venue: anywhere(), day: int32(w.day), start: int16(k.starts[0].minute)}
		from, to := w.quarters(s, w.day)
		c.rooms.occupy(int(s.venue), 0, from, to)
		return s
	case i < len(l.pinned)+len(l.fests): // an event of several days needs no room of its own
		return roomSlot{venue: anywhere(), day: int32(w.day)}
	case i < l.firstPart():
		of, _ := c.kindsOf[lessonRole].at(i - len(l.pinned) - len(l.fests))
		return c.findRoom(&eventNeeds{
			kind: k, at: w.at, city: w.city, day: w.day, first: w.day, last: w.day, starts: of.starts, minutes: of.Lasts[1],
			repeats: lessonsOfCourse, every: c.lessonInterval(),
		}, source)
	case i < l.firstLesson() || i >= l.firstFree():
		return c.findRoom(w, source)
	}
	// A lesson takes place where its course does.
	n := i - l.firstLesson()
	s := c.spots[len(l.pinned)+len(l.fests)+n/lessonsOfCourse]
	s.day += int32(n % lessonsOfCourse * c.lessonInterval())
	return s
}

// outlinePinned outlines one of the first events in a calendar with ten or more. One takes place at Options.Now,
// another in the night of a clock change.
func (c *Calendar) outlinePinned(p *eventOutline, k *eventKind, own randomSource) {
	p.kind, p.draft = k, newDraft(c, own, 0)
	day := max(0, min(c.today()-3, len(c.publicHolidays)-1))
	if k.Role == clockChangeRole {
		day = c.cities[0].changes[0]
	}
	p.needs = eventNeeds{day: day, first: day, last: day}
}

// outlineFestivalEvent outlines event n of those that are part of festivals, counted over all festivals.
func (c *Calendar) outlineFestivalEvent(p *eventOutline, n int, own randomSource) {
	l := &c.layout
	which, turn := n/l.partsOfFestival, n%l.partsOfFestival
	f := l.fests[which]
	p.draft = newDraft(c, own, f.city)
	p.draft.fest = which
	p.needs = eventNeeds{first: f.day, last: f.day + f.days - 1}
	switch first, last := c.kindsOf[openingRole], c.kindsOf[closingRole]; {
	case turn == 0 && len(first.order) > 0:
		p.kind, p.rank = first.at(which)
		p.needs.day = f.day
		p.needs.last = f.day
	case turn == l.partsOfFestival-1 && len(last.order) > 0:
		p.kind, p.rank = last.at(which)
		p.needs.day = f.day + f.days - 1
		p.needs.first = p.needs.day
	default:
		p.kind, p.rank = c.kindsOf[festivalPartRole].at(n)
		p.needs.day = f.day + turn*f.days/l.partsOfFestival
	}
}

// outlineLesson outlines lesson n of a course, or the course itself if n is 0. The parameter which is the index of
// the course.
func (c *Calendar) outlineLesson(p *eventOutline, which, n int) {
	own := chanceOf(c.o.Seed, chanceCourses, uint64(which))
	head, rank := c.kindsOf[courseRole].at(which)
	d := newDraft(c, own, own.lowBiased(len(c.cities)))
	p.kind, p.rank, p.draft, p.source = head, rank, d, own
	day := head.dayOf(which, c.layout.courses, &own)
	p.needs = eventNeeds{day: day, days: c.lessonInterval()*(lessonsOfCourse-1) + 1}
	d.day = day
	p.title = d.chooseTitle(head, rank)
	c.chooseOrganizer(p, head.By, &own)
	if n > 0 {
		p.kind, _ = c.kindsOf[lessonRole].at(which)
		p.title = &p.kind.titles[rank%len(p.kind.titles)]
		p.needs = eventNeeds{day: day + c.lessonInterval()*(n-1)}
		d.number = n
	}
	p.needs.first, p.needs.last = p.needs.day, p.needs.day
}

// outlineFree outlines event n of those that are neither a parent nor part of another event.
func (c *Calendar) outlineFree(p *eventOutline, n int, own randomSource) {
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
	p.draft = newDraft(c, own, p.source.lowBiased(len(c.cities)))
	p.needs = eventNeeds{day: day, first: max(day-30, 0), last: day + 30}
	if n < len(l.soon) {
		p.needs.first, p.needs.last = day, day
	}
}

// chooseOrganizer chooses the organizer of an event. The parameter by has the possible types. A few organizers have
// most of the events.
func (c *Calendar) chooseOrganizer(p *eventOutline, by []string, source *randomSource) {
	near := c.organizerIndex.near(by[source.below(len(by))], p.draft.city)
	p.draft.organizer = near[source.lowBiased(len(near))]
}

// locateEvent sets the place and the time of an event from s, and chooses its price.
func (c *Calendar) locateEvent(p *eventOutline, s roomSlot) {
	d := p.draft
	d.day, d.venue, p.clock = int(s.day), int(s.venue), int(s.start)
	source := chanceOf(uint64(d.chance), 5)
	p.cost = c.cost(p.kind, c.priceOf(p), d.city, &source)
}

// firstNonEmpty returns first, or other if first is empty.
func firstNonEmpty(first, other []string) []string {
	if len(first) > 0 {
		return first
	}
	return other
}
