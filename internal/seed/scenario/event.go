package scenario

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

const maxSlots = 96

// draft is an event, venue or organizer in the making.
type draft struct {
	c      *Calendar
	own    chance // decides what is left to chance
	city   int
	venue  int // -1: none
	org    int
	day    int
	number int // of the lesson, from 1
	fest   int // index of the fest it is a part of; -1: none
	values [maxSlots]int32
}

func newDraft(c *Calendar, own chance, city int) *draft {
	d := &draft{c: c, own: own, city: city, venue: -1, org: -1, fest: -1}
	for i := range d.values {
		d.values[i] = -1
	}
	return d
}

// size is how many values a slot can have.
func (c *Calendar) size(slot int) int {
	switch slot {
	case slotWho, slotWho2:
		return len(c.people)
	case slotBand:
		return len(c.bands)
	case slotMatch:
		return len(c.teams) * (len(c.teams) - 1)
	}
	return c.lists[slot-slotLists].size
}

// value is what the slot is filled with. What the title has not decided is drawn at first sight, the same for
// all languages.
func (d *draft) value(slot int) int {
	if d.values[slot] < 0 {
		source := chanceOf(uint64(d.own), uint64(slot))
		v := source.below(d.c.size(slot))
		if slot == slotWho2 && v == d.value(slotWho) {
			v = (v + 1) % d.c.size(slot)
		}
		d.values[slot] = int32(v)
	}
	return int(d.values[slot])
}

// entitle chooses the title of the kind's event of that rank, and decides what fills it: ranks near to each
// other have different titles.
func (d *draft) entitle(k *kind, rank int) *title {
	t := &k.titles[rank%len(k.titles)]
	at := t.turns.at(uint64(rank / len(k.titles)))
	for _, slot := range t.slots {
		size := uint64(d.c.size(slot))
		d.values[slot] = int32(at % size)
		at /= size
	}
	return t
}

// fill writes a template.
func (d *draft) fill(b *strings.Builder, t template, language int, html bool) {
	for _, s := range t {
		b.WriteString(s.text)
		if s.slot < 0 {
			continue
		}
		if value := d.slot(s, language); html {
			b.WriteString(escape(value))
		} else {
			b.WriteString(value)
		}
	}
}

// slot is what stands in a slot.
func (d *draft) slot(s segment, language int) string {
	c := d.c
	switch s.slot {
	case slotCity:
		return c.cities[d.city].names[language]
	case slotIn:
		return c.cities[d.city].in[language]
	case slotOf:
		return c.cities[d.city].of[language]
	case slotVenue:
		if d.venue < 0 {
			return c.cities[d.city].names[language]
		}
		return c.venues[d.venue].Name[c.o.Languages[0]]
	case slotOrg:
		if d.org < 0 {
			return c.cities[d.city].name
		}
		return c.organizers[d.org].Name[c.o.Languages[0]]
	case slotYear:
		return strconv.Itoa(d.year())
	case slotSeason:
		year, month, _ := c.day(d.day).Date()
		if month < time.July {
			year--
		}
		return strconv.Itoa(year) + "/" + strconv.Itoa((year+1)%100 + 100)[1:]
	case slotEdition:
		since := cmp.Or(c.plan.Since, 1987)
		for i := range d.values[slotLists:] {
			// The same festival has the same age in all its texts.
			if v := d.values[slotLists+i]; v >= 0 {
				since += int(v) * 7 % (2018 - since)
				break
			}
		}
		return ordinal(c.o.Languages[language], max(1, d.year()-since+1))
	case slotNumber:
		return strconv.Itoa(d.number)
	case slotLesson:
		list := slices.IndexFunc(c.lists, func(l *list) bool { return l.name == "course" })
		return c.lists[list].entries[language][d.value(slotLists+list)][max(d.number, 1)]
	case slotHead:
		if d.fest < 0 {
			return ""
		}
		return c.layout.fests[d.fest].titles[language]
	case slotHome, slotAway:
		return c.team(d.value(slotMatch), s.slot == slotHome).name
	case slotWho, slotWho2:
		return c.people[d.value(s.slot)]
	case slotBand:
		return c.bands[d.value(slotBand)]
	}
	return c.lists[s.slot-slotLists].entries[language][d.value(s.slot)][s.form]
}

func (d *draft) year() int {
	year, _, _ := d.c.day(d.day).Date()
	return year
}

// team is one of the teams of a match.
func (c *Calendar) team(match int, home bool) team {
	others := len(c.teams) - 1
	if home {
		return c.teams[match/others]
	}
	return c.teams[(match/others+1+match%others)%len(c.teams)]
}

func (d *draft) text(ts templates, language int) string {
	var b strings.Builder
	d.fill(&b, ts[language], language, false)
	return b.String()
}

// paragraph adds a paragraph of HTML.
func (d *draft) paragraph(b *strings.Builder, ts templates, language int) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("<p>")
	d.fill(b, ts[language], language, true)
	b.WriteString("</p>")
}

// Event makes the event of an index from 0 to Len()-1. It depends on the options and the index alone.
func (c *Calendar) Event(i int) Event {
	own := chanceOf(c.o.Seed, chanceEvents, uint64(i))
	l := &c.layout
	e := Event{SourceID: c.sourceID("event", i), Parent: -1}
	p := place{index: i}
	switch {
	case i < len(l.pinned):
		c.pin(&e, &p, l.pinned[i], own)
	case i < len(l.pinned)+len(l.fests):
		n := i - len(l.pinned)
		f := l.fests[n]
		p.kind, p.rank = f.kind, f.rank
		p.draft = newDraft(c, own, f.city)
		p.draft.fest, p.draft.day, p.days = n, f.day, f.days
		p.source = own
	case i < l.firstPart():
		c.inCourse(&p, i-len(l.pinned)-len(l.fests), 0)
		p.source = own
	case i < l.firstLesson():
		c.inFest(&p, i-l.firstPart(), own)
		e.Parent = len(l.pinned) + p.draft.fest
	case i < l.firstFree():
		n := i - l.firstLesson()
		c.inCourse(&p, n/lessons, n%lessons+1)
		p.source = own
		e.Parent = len(l.pinned) + len(l.fests) + n/lessons
	default:
		c.alone(&p, i-l.firstFree(), own)
	}
	c.finish(&e, &p)
	return e
}

// place is where an event stands in the calendar.
type place struct {
	index  int
	kind   *kind
	rank   int
	days   int // how long it lasts, 0: as its kind says
	draft  *draft
	source chance
	title  *title
}

// pin makes one of the events that no calendar is without.
func (c *Calendar) pin(e *Event, p *place, k *kind, own chance) {
	p.kind, p.draft, p.source = k, newDraft(c, own, 0), own
	if k.Role == clocks {
		p.draft.day = c.cities[0].changes[0]
		return
	}
	now := c.cities[0].zone.Wall(c.o.Now)
	day := int(now.Sub(c.o.From) / (24 * time.Hour))
	p.draft.day = max(0, min(day-3, len(c.days)-1))
}

// inFest finds the place of the n-th event that is part of a fest.
func (c *Calendar) inFest(p *place, n int, own chance) {
	l := &c.layout
	which, turn := n/l.parts, n%l.parts
	f := l.fests[which]
	p.draft, p.source = newDraft(c, own, f.city), own
	p.draft.fest = which
	switch first, last := c.kindsOf[opening], c.kindsOf[closing]; {
	case turn == 0 && len(first.order) > 0:
		p.kind, p.rank = first.at(which)
		p.draft.day = f.day
	case turn == l.parts-1 && len(last.order) > 0:
		p.kind, p.rank = last.at(which)
		p.draft.day = f.day + f.days - 1
	default:
		p.kind, p.rank = c.kindsOf[part].at(n)
		p.draft.day = f.day + turn*f.days/l.parts
	}
}

// inCourse finds the place of a course, or of its n-th lesson.
func (c *Calendar) inCourse(p *place, which, n int) {
	own := chanceOf(c.o.Seed, chanceCourses, uint64(which))
	head, rank := c.kindsOf[course].at(which)
	d := newDraft(c, own, own.head(len(c.cities)))
	p.kind, p.rank, p.draft = head, rank, d
	weekly := 7
	if len(c.days) < 7*lessons {
		weekly = 1
	}
	d.day = c.settle(head, d.city, dayOf(c.days, which, c.layout.course), &own)
	d.day = max(0, min(d.day, len(c.days)-1-weekly*(lessons-1)))
	p.days = weekly*(lessons-1) + 1
	p.title = d.entitle(head, rank)
	c.choosePlace(p, head, &own)
	if n > 0 {
		p.kind, _ = c.kindsOf[lesson].at(which)
		p.title = &p.kind.titles[rank%len(p.kind.titles)]
		p.days = 0
		d.number = n
		d.day += weekly * (n - 1)
	}
}

// alone finds the place of the n-th event that belongs to no other.
func (c *Calendar) alone(p *place, n int, own chance) {
	at := int(c.layout.spread.at(uint64(n)))
	p.kind, p.rank = c.kindsOf[free].at(at)
	p.source = own
	d := newDraft(c, own, 0)
	p.draft = d
	p.title = d.entitle(p.kind, p.rank)
	d.city = p.source.head(len(c.cities))
	if slices.Contains(p.title.slots, slotMatch) {
		d.city = c.team(d.value(slotMatch), true).city
	}
	d.day = c.settle(p.kind, d.city, dayOf(c.days, at, c.layout.free), &p.source)
}

// choosePlace decides the venue and the organizer. A few places have most of the events.
func (c *Calendar) choosePlace(p *place, k *kind, source *chance) {
	d := p.draft
	if len(k.At) > 0 {
		near := c.venuesAt.near(k.At[source.below(len(k.At))], d.city)
		d.venue = near[source.head(len(near))]
	}
	near := c.organizing.near(k.By[source.below(len(k.By))], d.city)
	d.org = near[source.head(len(near))]
}

// finish makes an event of its place in the calendar.
func (c *Calendar) finish(e *Event, p *place) {
	k, d, source, i := p.kind, p.draft, &p.source, p.index
	if p.title == nil {
		p.title = d.entitle(k, p.rank)
	}
	if d.org < 0 {
		c.choosePlace(p, k, source)
	}
	zone := c.cities[d.city].zone
	if len(k.At) == 0 && i%3 == 0 && c.o.Zone == (calendar.Zone{}) {
		zone = calendar.UTC() // what is online is for people everywhere
	}
	times := source
	if k.Role == lesson {
		same := chanceOf(uint64(d.own), 1) // all lessons at the same time of day
		times = &same
	}
	e.Span = c.span(k, zone, d.day, p.days, times)

	if d.venue >= 0 && i%67 != 20 {
		e.Venues = []int{d.venue}
	}
	e.Organizers = []int{d.org}
	if near := c.organizing.near(k.By[len(k.By)-1], d.city); i%9 == 2 {
		if second := near[source.below(len(near))]; second != d.org {
			e.Organizers = append(e.Organizers, second)
		}
	}
	for _, key := range k.In {
		e.Categories = append(e.Categories, c.category[key])
	}
	e.Tags = c.tagsOf(k, source)
	e.Picture = c.picture(source, 65)
	e.Cost = c.cost(k, d.city, source)
	e.Hide, e.Sticky = i%43 == 13, k.Sticky || i%71 == 17
	e.Featured, e.Ticketed = k.Featured || i%19 == 4, k.Ticketed
	if i%61 == 11 {
		e.Password = "curtain"
	}
	c.publish(e, i, source)
	c.write(e, p, source)
	first := c.o.Languages[0]
	page := site(c.organizers[d.org].Name[first])
	if k.Ticketed {
		e.Website = page + calendar.Slug(e.Title[first])
	}
	c.attend(e, p)
	if e.Attendance != calendar.Offline {
		e.VirtualURL = page + "live/" + calendar.Slug(e.Title[first])
	}
	c.cancel(e, p)
}

// broadcasting are the types of venues whose events can often be attended online, too.
var broadcasting = []string{"campus", "congress", "library", "seminar"}

// attend decides how people attend an event.
func (c *Calendar) attend(e *Event, p *place) {
	at := p.kind.At
	switch {
	case len(at) == 0:
		e.Attendance = calendar.Online
	case slices.Contains(broadcasting, at[0]) && p.index%5 == 1:
		e.Attendance = calendar.Mixed
	default:
		e.Attendance = calendar.Offline
	}
}

// cancel cancels or postpones one of some twenty events, and tells why. Events that others are part of take place.
func (c *Calendar) cancel(e *Event, p *place) {
	i := p.index
	e.EventStatus = calendar.Scheduled
	switch {
	case i < c.layout.firstPart():
	case i%37 == 14:
		e.EventStatus = calendar.Canceled
	case i%41 == 22:
		e.EventStatus = calendar.Postponed
	}
	if e.EventStatus == calendar.Scheduled {
		return
	}
	source := chanceOf(c.o.Seed, chanceStates, uint64(i))
	reasons := c.infos[string(e.EventStatus)]
	reason := reasons[source.below(len(reasons))]
	e.EventStatusReason = Text{}
	for n, l := range c.o.Languages {
		if e.Title[l] != "" {
			e.EventStatusReason[l] = p.draft.text(reason, n)
		}
	}
}

// tagsOf are the tags of the kind, and sometimes one of the others; those at the end of the list are rare.
func (c *Calendar) tagsOf(k *kind, source *chance) []int {
	var tags []int
	for _, key := range k.Tags {
		tags = append(tags, c.tag[key])
	}
	for range source.below(3) {
		if t := source.head(len(c.tags)); !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	return tags
}

// cost draws a price of those of the kind; the reduced one is two thirds of it.
func (c *Calendar) cost(k *kind, in int, source *chance) calendar.Cost {
	if k.Price[0] < 0 {
		return calendar.Cost{}
	}
	price := c.prices[c.cities[in].country][source.between(k.Price[0], k.Price[1])]
	n := 0
	if k.Reduced {
		n = 1
	}
	shared := price[n]
	shared.Prices = slices.Clone(shared.Prices)
	return shared
}

// publish decides the status and the date of publication.
func (c *Calendar) publish(e *Event, i int, source *chance) {
	now, starts := c.o.Now, e.Span.StartsAt()
	published := starts.Add(-time.Duration(source.between(10*24*60, 50*24*60)) * time.Minute)
	latest := now.Add(-time.Duration(source.between(60, 20*24*60)) * time.Minute)
	if published.After(latest) {
		published = latest
	}
	e.Status = calendar.Publish
	ahead := starts.Sub(now)
	switch {
	case i < c.layout.firstPart(): // what all calendars and many events hang on can be seen
	case i%47 == 5:
		e.Status = calendar.Draft
	case i%53 == 7:
		e.Status = calendar.Pending
	case i%59 == 9:
		e.Status = calendar.Private
	case i%23 == 3 && ahead > 72*time.Hour:
		e.Status = calendar.Future
		published = now.Add(ahead / 100 * time.Duration(source.between(20, 80)))
	}
	e.Published = published.UTC().Truncate(time.Second)
}
