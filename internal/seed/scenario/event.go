package scenario

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

const maxSlots = 160

// draft is an event, venue or organizer while it is generated.
type draft struct {
	c      *Calendar
	at     *place       // the event of which it is; nil for venues and organizers
	own    randomSource // source of random choices
	city   int
	venue  int // index of the venue; -1 means none
	org    int
	day    int
	number int   // number of the lesson, from 1; 0 for other events
	fest   int   // index of the festival; -1 means none
	title  []int // slots in the title
	values [maxSlots]int32
}

func newDraft(c *Calendar, own randomSource, city int) *draft {
	d := &draft{c: c, own: own, city: city, venue: -1, org: -1, fest: -1}
	for i := range d.values {
		d.values[i] = -1
	}
	return d
}

// size returns the number of values of a slot.
func (c *Calendar) size(slot int) int {
	switch slot {
	case slotWho, slotWho2:
		return len(c.people)
	case slotBand:
		return len(c.bands)
	case slotMatch:
		return c.hosts * (len(c.teams) - 1)
	}
	return c.lists[slot-slotLists].size
}

// value returns the value of a slot, the same for all languages. If the title has not chosen it, the first call
// does.
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

// entitle chooses a title of the kind and the values of its slots. Rank is the number of earlier events of the
// kind. Events with near ranks have different titles.
func (d *draft) entitle(k *kind, rank int) *title {
	return d.decide(&k.titles[rank%len(k.titles)], uint64(rank/len(k.titles)))
}

// decide chooses the values of the slots of a title. Turn is the number of earlier events with this title.
func (d *draft) decide(t *title, turn uint64) *title {
	at := t.turns.at(turn)
	d.title = t.slots
	for _, slot := range t.slots {
		size := uint64(d.c.size(slot))
		d.values[slot] = int32(at % size)
		at /= size
	}
	return t
}

// fill writes a template with filled slots. If html is true, it escapes the values.
func (d *draft) fill(b *strings.Builder, t template, language int, html bool) {
	for _, s := range t {
		b.WriteString(s.text)
		if s.slot < 0 {
			continue
		}
		value := ""
		if s.gendered != nil {
			value = s.gendered[d.gender(s.slot)]
		} else {
			value = d.slot(s, language)
		}
		if html {
			b.WriteString(escape(value))
		} else {
			b.WriteString(value)
		}
	}
}

// slot returns the text of a slot in a language.
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
		for _, slot := range d.title {
			// A festival has the same age in all its texts.
			if slot >= slotLists {
				since += int(d.values[slot]) * 7 % (2018 - since)
				break
			}
		}
		return ordinal(c.o.Languages[language], max(1, d.year()-since+1))
	case slotNumber:
		return strconv.Itoa(d.number)
	case slotNth:
		return c.ordinals[language][max(d.number, 1)-1][s.form]
	case slotLesson:
		list := slices.IndexFunc(c.lists, func(l *list) bool { return l.name == "course" })
		return c.lists[list].entries[language][d.value(slotLists+list)][max(d.number, 1)]
	case slotHead:
		if d.fest < 0 {
			return ""
		}
		return c.layout.fests[d.fest].titles[language]
	case slotWeekday, slotDate, slotMonth, slotQuarter, slotStart, slotEnd, slotDoors, slotLength, slotDays, slotAges,
		slotPlaces, slotPrice, slotStreet, slotDistrict, slotSquare, slotPark, slotRiver, slotStop:
		return d.fact(s, language)
	case slotHome, slotAway:
		return c.team(d.value(slotMatch), s.slot == slotHome).name
	case slotBy:
		return c.people[d.author()].name(c.o.Languages[language], s.form)
	case slotWho, slotWho2:
		return c.people[d.value(s.slot)].name(c.o.Languages[language], s.form)
	case slotBand:
		return c.bands[d.value(slotBand)]
	}
	l, v := c.lists[s.slot-slotLists], d.value(s.slot)
	if l.nested == nil {
		return l.entries[language][v][s.form]
	}
	var b strings.Builder
	d.fill(&b, l.nested[language][v][s.form], language, false)
	return b.String()
}

// author returns the index of the author of the work in the title. A work has the same author in all events.
func (d *draft) author() int {
	for _, slot := range d.title {
		if slot >= slotLists && d.c.lists[slot-slotLists].works {
			source := chanceOf(d.c.o.Seed, chanceAuthors, uint64(slot), uint64(d.values[slot]))
			return source.below(len(d.c.people))
		}
	}
	return d.value(slotWho)
}

func (d *draft) year() int {
	year, _, _ := d.c.day(d.day).Date()
	return year
}

// team returns the home or the away team of a match.
func (c *Calendar) team(match int, home bool) team {
	others := len(c.teams) - 1
	if home {
		return c.teams[match/others]
	}
	return c.teams[(match/others+1+match%others)%len(c.teams)]
}

func (d *draft) text(t template, language int) string {
	var b strings.Builder
	d.fill(&b, t, language, false)
	return mendGrammar(b.String(), d.c.o.Languages[language])
}

// html returns the text of a template for HTML.
func (d *draft) html(t template, language int) string {
	var b strings.Builder
	d.fill(&b, t, language, true)
	return mendGrammar(b.String(), d.c.o.Languages[language])
}

// paragraph writes a paragraph of HTML.
func (d *draft) paragraph(b *strings.Builder, t template, language int) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("<p>")
	b.WriteString(d.html(t, language))
	b.WriteString("</p>")
}

// excerpt returns the first sentence of a description in HTML, as a paragraph.
func excerpt(description string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(description, "<p>"), "</p>")
	return "<p>" + firstSentence(first) + "</p>"
}

// Event returns the event with index i, from 0 to Len()-1. It depends only on the options and the index.
func (c *Calendar) Event(i int) Event {
	e := Event{SourceID: c.sourceID("event", i), Parent: -1}
	var p place
	c.outline(&p, i)
	l := &c.layout
	switch {
	case i < l.firstPart():
	case i < l.firstLesson():
		e.Parent = len(l.pinned) + p.draft.fest
	case i < l.firstFree():
		e.Parent = len(l.pinned) + len(l.fests) + (i-l.firstLesson())/lessons
	}
	c.finish(&e, &p)
	return e
}

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

// finish fills the fields of an event from its outline.
func (c *Calendar) finish(e *Event, p *place) {
	k, d, source, i := p.kind, p.draft, &p.source, p.index
	s := c.spots[i]
	c.locateEvent(p, s)
	if d.org < 0 {
		c.chooseOrganizer(p, p.by, source)
	}
	zone := c.cities[d.city].zone
	if len(k.At) == 0 && i%3 == 0 && c.o.Zone == (calendar.Zone{}) {
		zone = calendar.UTC() // online events use UTC
	}
	e.Span = c.spanOf(&p.wish, s, zone)

	// Some events have no venue, but not those of the next weeks, which people look at first.
	if soon := int(s.day) - c.today(); d.venue >= 0 && (i%67 != 20 || soon >= 0 && soon < soonDays) {
		e.Venues = []int{d.venue}
	}
	e.Organizers = []int{d.org}
	if near := c.organizing.near(p.by[len(p.by)-1], d.city); i%9 == 2 {
		if second := near[source.below(len(near))]; second != d.org {
			e.Organizers = append(e.Organizers, second)
		}
	}
	for _, key := range k.In {
		e.Categories = append(e.Categories, c.category[key])
	}
	e.Tags = c.tagsOf(p, source)
	e.Picture = c.pictureOf(p, source)
	e.Cost = p.cost
	calm := c.o.Open || c.layout.calm(i)
	e.Hide, e.Sticky = !calm && i%43 == 13, k.Sticky || i%71 == 17
	e.Featured, e.Ticketed = k.Featured || i%19 == 4, k.Ticketed
	if !calm && i%61 == 11 {
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

// broadcastTypes are the types of venues with events that people can often attend online too.
var broadcastTypes = []string{"campus", "congress", "library", "seminar"}

// attend chooses whether people attend an event in person or online.
func (c *Calendar) attend(e *Event, p *place) {
	at := p.kind.At
	switch {
	case len(at) == 0:
		e.Attendance = calendar.Online
	case slices.Contains(broadcastTypes, at[0]) && p.index%5 == 1:
		e.Attendance = calendar.Mixed
	default:
		e.Attendance = calendar.Offline
	}
}

// cancel cancels or postpones about one event in twenty, and sets the reason. It skips calm events, such as
// festivals, courses and the planned events of the next weeks.
func (c *Calendar) cancel(e *Event, p *place) {
	i := p.index
	e.EventStatus = calendar.Scheduled
	switch {
	case c.layout.calm(i):
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
	reason := source.below(len(reasons[0].leads))
	e.EventStatusReason = Text{}
	for n, l := range c.o.Languages {
		if e.Title[l] != "" {
			e.EventStatusReason[l] = p.draft.text(reasons[n].leads[reason].template, n)
		}
	}
}

// tagsOf returns some tags of the kind, and the tags of the entries in the title, such as the composer.
func (c *Calendar) tagsOf(p *place, source *randomSource) []int {
	var tags []int
	add := func(t int) {
		if t >= 0 && !slices.Contains(tags, t) && len(tags) < 5 {
			tags = append(tags, t)
		}
	}
	for _, slot := range p.title.slots {
		if byEntry := c.tagOf[slot]; byEntry != nil {
			add(byEntry[p.draft.values[slot]])
		}
	}
	for _, r := range c.rules {
		if r.applies(p.draft) {
			for _, t := range r.tags {
				add(t)
			}
		}
	}
	if own := p.kind.Tags; len(own) > 0 {
		first := source.below(len(own))
		for i := range own {
			if source.percent(50 / (i + 1) / (i + 1)) {
				add(c.tag[own[(first+i)%len(own)]])
			}
		}
	}
	for _, t := range p.kind.keywords {
		if source.percent(100 / (len(p.kind.keywords) + 1)) {
			add(t)
		}
	}
	return tags
}

// priceOf returns the lowest and highest price of an event, in units of about a pound.
func (c *Calendar) priceOf(p *place) [2]int {
	for _, r := range c.rules {
		if r.price != nil && r.applies(p.draft) {
			return *r.price
		}
	}
	return p.kind.Price
}

// cost returns a random cost between two prices. A reduced price is two thirds of the full one. In is the index
// of the city.
func (c *Calendar) cost(k *kind, price [2]int, in int, source *randomSource) calendar.Cost {
	if price[0] < 0 {
		return calendar.Cost{}
	}
	both := c.prices[c.cities[in].country][plausiblePrice(source.between(price[0], price[1]))]
	n := 0
	if k.Reduced {
		n = 1
	}
	shared := both[n]
	shared.Prices = slices.Clone(shared.Prices)
	return shared
}

// plausiblePrice returns a price that people charge, near a number. It returns 0, or 3 and more. High prices are round
// numbers.
func plausiblePrice(price int) int {
	switch {
	case price < 2:
		return 0
	case price < 10:
		return max(price, 3)
	case price < 30:
		return price / 2 * 2
	case price < 100:
		return price / 5 * 5
	}
	return price / 10 * 10
}

// orElse returns the first list that is not empty.
func orElse(first, other []string) []string {
	if len(first) > 0 {
		return first
	}
	return other
}

// publish chooses the status and the publication date of an event.
func (c *Calendar) publish(e *Event, i int, source *randomSource) {
	now, starts := c.o.Now, e.Span.StartsAt()
	published := starts.Add(-time.Duration(source.between(10*24*60, 50*24*60)) * time.Minute)
	latest := c.written.Add(-time.Duration(source.between(60, 20*24*60)) * time.Minute)
	if published.After(latest) {
		published = latest
	}
	e.Status = calendar.Publish
	ahead := starts.Sub(now)
	switch {
	case c.o.Open, c.layout.calm(i): // events with children and those of the next weeks are always public
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
