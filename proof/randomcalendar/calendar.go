// Package randomcalendar draws random calendars, with requests for their lists.
//
// Tests compare the service's replies with those of package listreference.
package randomcalendar

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/proof/draw"
	"github.com/almanac-cal/almanac/proof/listreference"
)

// eventCount to seriesCount are the numbers of records in a random calendar. If Maker.Few, fewEvents replaces
// eventCount.
const (
	eventCount     = 150
	fewEvents      = 40
	venueCount     = 12
	organizerCount = 10
	categoryCount  = 15
	tagCount       = 10
	seriesCount    = 12
)

// Password is the password of all events that have one.
const Password = "sesame"

// Maker makes the records of a random calendar. Sites are the sites that requests are sent to. The second one has
// the earliest Now.
type Maker struct {
	*rand.Rand
	Sites    []listreference.Site
	Calendar *listreference.Calendar
	slugs    int
	Few      bool // draws few events, so that single ones decide what a filter finds
}

// New returns a calendar without records. It has the anonymous caller and the columns by which the service filters
// events. These are booleans, and texts that allow only a few words.
func New() *listreference.Calendar {
	w := &listreference.Calendar{Callers: []listreference.Caller{{}}}
	for _, c := range read.EventColumns() {
		f := listreference.Column{Name: c.Name, Field: c.Field, Words: c.Words, Public: c.Public}
		switch {
		case c.Kind == query.FlagKind:
			w.FlagColumns = append(w.FlagColumns, f)
		case c.Words != nil:
			w.WordColumns = append(w.WordColumns, f)
		}
	}
	return w
}

// DrawAside runs do with a separate random source. So further draws in do, such as for a new filter, do not change
// what is drawn afterwards.
func (m *Maker) DrawAside(do func()) {
	own := m.Rand
	m.Rand = rand.New(rand.NewPCG(own.Uint64(), 0))
	do()
	m.Rand = own
}

var vocabulary = []string{
	"Jazz", "jazz", "ŻUŻEL", "łódź", "Łódź", "Ángel", "ángel", "niño", "Niño", "100%", "R&B", "a_b", "Zoo", "zoo",
	"étude", "Étude", "beta", "Óscar", "żaba", "Żaba", "x<y",
}

// DrawWords returns up to count random words of a small vocabulary, separated by spaces.
func (m *Maker) DrawWords(count int) string {
	return strings.Join(draw.Items(m.Rand, vocabulary, count), " ")
}

// DrawHTML returns two random words with HTML markup, or "".
func (m *Maker) DrawHTML() string {
	text := m.DrawWords(2)
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(text)
	return draw.Item(m.Rand, "", "<p>"+escaped+"</p>", `<a href="http://beta.example/100%">`+escaped+"</a>")
}

// drawTexts returns random texts in one or more languages. Translations may lack fields. If html is true, there are
// excerpts, and descriptions have markup. The texts have slugs only if slugged is true.
func (m *Maker) drawTexts(kind calendar.Kind, html, slugged bool) listreference.Texts {
	t := listreference.Texts{
		Original: draw.Item(m.Rand, calendar.English, calendar.English, calendar.Polish), In: map[calendar.Language]listreference.Text{},
	}
	for _, l := range calendar.Languages {
		if l != t.Original && !draw.Percent(m.Rand, 30) {
			continue
		}
		m.slugs++
		slug := fmt.Sprintf("%s%s-%d", draw.Item(m.Rand, "b_", "b-", "b1"), kind, m.slugs)
		text := listreference.Text{Title: m.DrawWords(2), Slug: slug}
		if l != t.Original && draw.Percent(m.Rand, 30) {
			text.Title = ""
		}
		text.Description = m.DrawWords(m.IntN(2))
		if html {
			text.Excerpt, text.Description = m.DrawHTML(), m.DrawHTML()
		}
		if !slugged || l != t.Original && draw.Percent(m.Rand, 50) {
			text.Slug = ""
		}
		t.In[l] = text
	}
	return t
}

// drawRecord returns random common fields of an event, venue, organizer or series. Some scheduled records become
// public at a site's Now, or a second later.
func (m *Maker) drawRecord(kind calendar.Kind, id int64) listreference.Record {
	statuses := slices.Repeat([]calendar.Status{calendar.Publish}, 12)
	statuses = append(statuses, calendar.Future, calendar.Future, calendar.Future, calendar.Draft, calendar.Draft,
		calendar.Pending, calendar.Private, calendar.Private, calendar.Trash, calendar.Trash)
	r := listreference.Record{ID: id, Status: draw.Item(m.Rand, statuses...)}
	if author := draw.Item(m.Rand, m.Calendar.Callers...); author.Role > listreference.Anonymous {
		r.Author = author.ID
	}
	// What is published was so before the earliest of the clocks.
	r.Published = m.Sites[1].Now.Add(-time.Duration(m.IntN(40)) * 24 * time.Hour)
	switch r.Status {
	case calendar.Future:
		away := draw.Item(m.Rand, -time.Hour, 0, 0, 0, time.Second, 24*time.Hour, 1000*24*time.Hour)
		r.Published = draw.Item(m.Rand, m.Sites...).Now.Add(away)
	case calendar.Trash:
		r.StatusBeforeTrash = draw.Item(m.Rand, calendar.Publish, calendar.Draft, calendar.Private)
	}
	slugged := r.Status != calendar.Draft && r.Status != calendar.Pending || draw.Percent(m.Rand, 50)
	r.Texts = m.drawTexts(kind, kind == calendar.Event, slugged)
	if r.Status == calendar.Trash {
		for l, text := range r.Texts.In {
			text.Slug = calendar.TrashedSlug(text.Slug)
			r.Texts.In[l] = text
		}
	}
	return r
}

// drawMoment returns a random instant, often near a boundary that a filter may get wrong: midnights, ends of default
// windows, clock changes.
func (m *Maker) drawMoment() time.Time {
	s := draw.Item(m.Rand, m.Sites...)
	from, to := s.Window()
	day := listreference.Date{At: s.Now.AddDate(0, 0, m.IntN(500)-60)}
	base := draw.Item(m.Rand, from, to, s.Now, s.Midnight(day, 0), s.Midnight(day, 0), day.At,
		time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC), // Warsaw, the doubled hour and around it
		time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC),
		time.Date(2027, 3, 28, 1, 0, 0, 0, time.UTC),  // Warsaw, the gap
		time.Date(2027, 3, 14, 7, 0, 0, 0, time.UTC),  // New York, the gap
		time.Date(2027, 11, 7, 5, 30, 0, 0, time.UTC), // New York, the doubled hour
		time.Date(2028, 4, 27, 22, 0, 0, 0, time.UTC)) // Cairo, where midnight is skipped
	return base.Add(draw.Item(m.Rand, 0, 0, 0, 0, 0, -time.Second, time.Second, time.Hour, -24*time.Hour, 24*time.Hour))
}

var zones = []string{
	"UTC", "Europe/Warsaw", "America/New_York", "Africa/Cairo", "Asia/Kathmandu", "Pacific/Kiritimati",
}

// drawEvent returns a random event that links to existing venues, organizers and terms.
func (m *Maker) drawEvent(id int64) *listreference.Event {
	e := &listreference.Event{Record: m.drawRecord(calendar.Event, id), Zone: draw.Item(m.Rand, zones...)}
	e.Hidden, e.Protected = draw.Percent(m.Rand, 8), draw.Percent(m.Rand, 20)
	e.Flags, e.AllDay = map[string]bool{}, draw.Percent(m.Rand, 20)
	m.DrawAside(func() {
		for _, f := range m.Calendar.FlagColumns {
			e.Flags[f.Name] = draw.Percent(m.Rand, 30)
		}
	})
	e.Words = map[string]string{}
	m.DrawAside(func() {
		for _, f := range m.Calendar.WordColumns {
			e.Words[f.Name] = draw.Item(m.Rand, f.Words...)
		}
	})
	m.DrawAside(func() {
		if draw.Percent(m.Rand, 60) {
			e.Series = draw.Item(m.Rand, m.Calendar.Series...).ID
		}
	})
	for _, earlier := range m.Calendar.Events {
		if draw.Percent(m.Rand, 1) && e.Parent == 0 {
			e.Parent = earlier.ID
		}
	}
	if len(m.Calendar.Events) > 0 && draw.Percent(m.Rand, 15) {
		e.Parent = m.Calendar.Events[0].ID
	}
	isAroundNow := m.DrawTime(e)
	// These decide about filters by events of a venue or organizer.
	isDecisive := e.Status == calendar.Future || isAroundNow
	e.Venues = m.drawLinks(calendar.Venue, isDecisive)
	e.Organizers = m.drawLinks(calendar.Organizer, isDecisive)
	e.Terms = m.drawTerms(e.Status)
	return e
}

// drawLinks returns ids of random venues or organizers for an event. Most links go to the first half of the
// calendar's records. The others have few events, so that one event changes what filters find. isDecisive marks such
// an event.
func (m *Maker) drawLinks(kind calendar.Kind, isDecisive bool) (ids []int64) {
	all := m.Calendar.Linked[kind]
	links := draw.Items(m.Rand, all[:len(all)/2], m.IntN(4))
	if isDecisive && draw.Percent(m.Rand, 40) {
		links = draw.Items(m.Rand, all[len(all)/2:], 1)
	} else if draw.Percent(m.Rand, 2) {
		links = append(links, draw.Item(m.Rand, all[len(all)/2:]...))
	}
	for _, l := range links {
		if l.Status != calendar.Trash { // such have lost their events
			ids = append(ids, l.ID)
		}
	}
	return ids
}

// drawTerms returns ids of random categories and tags for an event. If the event is published, their counts grow by
// one. The last terms of the calendar get few events.
func (m *Maker) drawTerms(status calendar.Status) (ids []int64) {
	for _, kind := range []calendar.Kind{calendar.Category, calendar.Tag} {
		all := m.Calendar.Terms[kind]
		links := draw.Items(m.Rand, all[:len(all)-4], m.IntN(4))
		if draw.Percent(m.Rand, 2) {
			links = append(links, draw.Item(m.Rand, all[len(all)-4:]...))
		}
		for _, t := range links {
			ids = append(ids, t.ID)
			if status == calendar.Publish {
				t.Count++
			}
		}
	}
	return ids
}

// DrawTime sets the start and end of an event. If the event's zone cannot express them as wall times, the zone
// becomes UTC. It reports whether it drew a start at some site's Now, or a second before.
func (m *Maker) DrawTime(e *listreference.Event) (around bool) {
	zone, err := time.LoadLocation(e.Zone)
	if err != nil {
		panic(err) // the names are constants
	}
	wall := func(t time.Time) time.Time {
		_, offset := t.In(zone).Zone()
		return t.UTC().Add(time.Duration(offset) * time.Second)
	}
	start := m.drawMoment()
	switch {
	case draw.Percent(m.Rand, 30):
		start = m.drawMoment().Add(-time.Hour) // and the end is the moment
	case draw.Percent(m.Rand, 10):
		start, around = draw.Item(m.Rand, m.Sites...).Now.Add(draw.Item(m.Rand, 0, 0, -time.Second)), true
	}
	end := start.Add(draw.Item(m.Rand, 0, time.Hour, time.Hour, 30*time.Hour, 20*24*time.Hour))
	e.StartWall, e.EndWall = wall(start), wall(end)
	if e.AllDay {
		e.StartWall = e.StartWall.Truncate(24 * time.Hour)
		e.EndWall = e.EndWall.Truncate(24 * time.Hour).Add(24*time.Hour - time.Second)
	} else if !listreference.Instant(e.StartWall, zone).Equal(start) || !listreference.Instant(e.EndWall, zone).Equal(end) {
		e.Zone, zone = "UTC", time.UTC
		e.StartWall, e.EndWall = start.UTC(), end.UTC()
	}
	e.Start, e.End = listreference.Instant(e.StartWall, zone), listreference.Instant(e.EndWall, zone)
	return around
}

// DrawLinked returns a random venue or organizer.
func (m *Maker) DrawLinked(kind calendar.Kind, id int64) *listreference.Linked {
	l := &listreference.Linked{Record: m.drawRecord(kind, id), Fields: map[string]string{}}
	names := []string{"phone", "website", "email"}
	if kind == calendar.Venue {
		names = []string{"address", "city", "country", "province", "state", "zip", "phone", "website"}
		l.Located = draw.Percent(m.Rand, 60)
		l.Lat, l.Lng = draw.Item(m.Rand, 52.2297, 52.4, 0, 89.9, -90, -89.95), draw.Item(m.Rand, 21.0122, 0, 179.9, -179.95, -180)
	}
	for _, name := range names {
		if draw.Percent(m.Rand, 40) {
			l.Fields[name] = m.DrawWords(2)
		}
	}
	return l
}

// Fill adds random records to the calendar, whose callers the test has added before. Ids are in random order, so that
// lists are not ordered by id by chance.
func (m *Maker) Fill() {
	w := m.Calendar
	w.Linked, w.Terms = map[calendar.Kind][]*listreference.Linked{}, map[calendar.Kind][]*listreference.Term{}
	m.fillTerms()
	events := eventCount
	if m.Few {
		events = fewEvents
	}
	ids := m.Perm(events + venueCount + organizerCount + seriesCount)
	next := func() int64 {
		id := int64(ids[0] + 1)
		ids = ids[1:]
		return id
	}
	for _, kind := range []calendar.Kind{calendar.Venue, calendar.Organizer} {
		count := venueCount
		if kind == calendar.Organizer {
			count = organizerCount
		}
		for i := range count {
			id := next()
			l := m.DrawLinked(kind, id)
			for i == 0 && l.Status != calendar.Trash { // one at least
				l = m.DrawLinked(kind, id)
			}
			w.Linked[kind] = append(w.Linked[kind], l)
		}
	}
	m.DrawAside(func() {
		for range seriesCount {
			w.Series = append(w.Series, new(m.drawRecord(calendar.Series, next())))
		}
	})
	for range events {
		w.Events = append(w.Events, m.drawEvent(next()))
	}
}

// fillTerms adds random categories and tags to the calendar.
func (m *Maker) fillTerms() {
	w := m.Calendar
	ids := m.Perm(categoryCount + tagCount)
	for i, id := range ids {
		kind := calendar.Category
		if i >= categoryCount {
			kind = calendar.Tag
		}
		t := &listreference.Term{ID: int64(id + 1), Texts: m.drawTexts(kind, false, true)}
		if above := w.Terms[kind]; kind == calendar.Category && len(above) > 0 && draw.Percent(m.Rand, 65) {
			t.Parent = draw.Item(m.Rand, above...).ID
		}
		w.Terms[kind] = append(w.Terms[kind], t)
	}
	// The slug of one category is the id of another, and those of some tags are those of categories.
	categories, tags := w.Terms[calendar.Category], w.Terms[calendar.Tag]
	m.setSlug(categories[0], fmt.Sprint(categories[1].ID))
	for i := range 4 {
		m.setSlug(tags[i], categories[i+2].Texts.In[categories[i+2].Texts.Original].Slug)
	}
}

// setSlug replaces the slug of a term in its original language.
func (m *Maker) setSlug(t *listreference.Term, slug string) {
	text := t.Texts.In[t.Texts.Original]
	text.Slug = slug
	t.Texts.In[t.Texts.Original] = text
}
