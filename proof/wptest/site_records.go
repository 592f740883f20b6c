package wptest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// records contains all records of a site.
type records struct {
	events     []*event
	venues     []*place
	organizers []*place
	categories []*term
	tags       []*term
	images     []*picture
}

// event is an event of the site. Its times are wall times of its zone in the form of calendar.Layout.
type event struct {
	id                                int64
	slug, title, description, excerpt string
	start, end, zone                  string
	allDay, hidden, featured, sticky  bool
	password, cost, website           string
	day                               string // last segment of the address of a recurring event's date; "" for other events
	guid                              string
	venue                             *place
	organizers                        []*place
	categories, tags                  []*term
	image                             *picture
}

// place is a venue or an organizer.
type place struct {
	kind    calendar.Kind
	id      int64
	slug    string
	name    string
	members map[string]any // further members of its record
	image   *picture
}

// term is a category or a tag.
type term struct {
	kind       calendar.Kind
	id         int64
	slug, name string
	parent     *term
}

// picture is an image of the site. Its width and height are in pixels.
type picture struct {
	id            int64
	name          string
	width, height int
}

// openDay is an event description with HTML that editors of WordPress embed.
const openDay = `<p class="has-text-align-center">Come in.</p>
<figure class="wp-block-embed"><iframe title="The house" src="https://www.youtube.com/embed/aBc-123?feature=oembed"></iframe></figure>
<iframe src="https://tickets.example.net/open-day"></iframe>`

// newRecords returns all records of the site. Their ids ascend in the order events, images, venues, organizers, with
// gaps.
func (s *Site) newRecords() records {
	post, lastTerm := s.options.FirstPost, s.options.FirstTerm
	// nextPost counts revisions, drafts and pages too, so ids have gaps.
	nextPost := func(gap int64) int64 {
		id := post
		post += 1 + gap
		return id
	}
	nextTerm := func() int64 {
		lastTerm++
		return lastTerm - 1
	}
	category := func(slug, name string, parent *term) *term {
		return &term{calendar.Category, nextTerm(), slug, name, parent}
	}
	music := category("music", "Music", nil)
	jazz := category("jazz", "Jazz &amp; blues", music)
	film := category("film", "Film", nil)
	lectures := category("lectures", "Lectures", nil)
	tag := func(slug, name string) *term { return &term{calendar.Tag, nextTerm(), slug, name, nil} }
	free, family, evening := tag("free", "Free"), tag("family", "Family"), tag("evening", "Evening")

	var all records
	all.categories = []*term{music, jazz, film, lectures}
	all.tags = []*term{free, family, evening}
	all.events = []*event{
		{
			slug: "jazz-night", title: "Jazz night &#8211; the trio", start: "2026-12-04 20:00:00", end: "2026-12-04 22:30:00",
			description: "<p>Three musicians, <em>one</em> piano.</p>", excerpt: "<p>Three musicians.</p>", cost: "10",
			website: "https://trio.example.net/", categories: []*term{jazz}, tags: []*term{evening},
		},
		{
			slug: "open-day", title: "Open day", description: openDay, start: "2026-12-05 00:00:00", end: "2026-12-05 23:59:59", allDay: true,
			tags: []*term{free, family},
		},
		{
			slug: "winter-festival", title: "Winter festival", start: "2026-12-10 10:00:00", end: "2026-12-13 22:00:00",
			categories: []*term{music, film},
		},
		{slug: "exhibition", title: "Exhibition", start: "2026-12-01 00:00:00", end: "2026-12-20 23:59:59", allDay: true},
		{
			slug: "old-concert", title: "Old concert", start: "2026-03-14 19:00:00", end: "2026-03-14 21:00:00",
			categories: []*term{music},
		},
		{slug: "old-fair", title: "Old fair", start: "2025-05-01 10:00:00", end: "2025-05-01 18:00:00"},
		{
			slug: "eclipse", title: "Eclipse", start: "2027-08-02 09:00:00", end: "2027-08-02 13:00:00",
			categories: []*term{lectures},
		},
		{
			slug: "members-evening", title: "Members&#8217; evening", start: "2026-12-08 18:00:00", end: "2026-12-08 20:00:00", hidden: true,
			description: "<p>By invitation.</p>", categories: []*term{jazz},
		},
		{
			slug: "private-tour", title: "Private tour", start: "2026-02-08 11:00:00", end: "2026-02-08 12:00:00",
			hidden: true,
		},
		{
			slug: "board-meeting", title: "Board meeting", start: "2026-12-09 17:00:00", end: "2026-12-09 19:00:00", password: "pw",
			description: "<p>The budget.</p>",
		},
		{
			slug: "christmas-market", title: "Christmas market", start: "2026-12-18 12:00:00", end: "2026-12-18 20:00:00", featured: true,
			sticky: true, tags: []*term{family},
		},
		{slug: encodeSegment("日本語のイベント"), title: "日本語のイベント", start: "2026-12-11 18:00:00", end: "2026-12-11 19:30:00"},
		{
			slug: encodeSegment("συναυλία"), title: "Συναυλία", start: "2026-12-15 19:00:00", end: "2026-12-15 21:00:00",
			categories: []*term{music},
		},
		{
			slug: "film-evening", title: "Film evening", start: "2026-12-03 19:00:00", end: "2026-12-03 21:00:00",
			categories: []*term{film},
		},
		{
			slug: "film-evening-2", title: "Film evening", start: "2026-12-17 19:00:00", end: "2026-12-17 21:00:00",
			categories: []*term{film},
		},
		{slug: "yoga", title: "Yoga", start: "2026-12-05 09:00:00", end: "2026-12-05 10:00:00", day: "2026-12-05"},
		{slug: "yoga", title: "Yoga", start: "2026-12-12 09:00:00", end: "2026-12-12 10:00:00", day: "2026-12-12"},
		{slug: "yoga", title: "Yoga", start: "2026-12-19 09:00:00", end: "2026-12-19 10:00:00", day: "2026-12-19"},
		{
			slug: "talk-from-new-york", title: "Talk from New York", start: "2026-12-02 18:00:00", end: "2026-12-02 19:00:00",
			zone: "America/New_York", categories: []*term{lectures},
		},
		{slug: "2027-2", title: "2027", start: "2026-12-31 22:00:00", end: "2027-01-01 02:00:00"},
		{slug: "running-exhibition", title: "Running exhibition", start: "2026-11-19 10:00:00", end: "2026-11-29 18:00:00"},
	}
	for i, e := range all.events {
		e.id = nextPost(int64(i % 3))
		if e.zone == "" {
			e.zone = Zone
		}
	}
	all.images = []*picture{{0, "trio.jpg", 640, 400}, {0, "market.png", 320, 200}, {0, "club.png", 160, 100}}
	for _, image := range all.images {
		image.id = nextPost(1)
	}
	venue := func(slug, name string, members map[string]any) *place {
		return &place{kind: calendar.Venue, id: nextPost(2), slug: slug, name: name, members: members}
	}
	all.venues = []*place{
		venue(
			"blue-club", "Blue Club",
			map[string]any{"address": "Piwna 3", "city": "Gdańsk", "country": "Poland", "zip": "80-831"},
		),
		venue("main-hall", "Main hall", map[string]any{"city": "Gdańsk", "geo_lat": 54.35, "geo_lng": 18.65}),
		venue("empty-hall", "Empty hall", nil),
	}
	all.venues[0].image = all.images[2]
	organizer := func(slug, name string, members map[string]any) *place {
		return &place{kind: calendar.Organizer, id: nextPost(0), slug: slug, name: name, members: members}
	}
	all.organizers = []*place{
		organizer(
			"jazz-society", "Jazz Society",
			map[string]any{"email": "jazz@example.net", "website": "https://jazz.example.net/"},
		),
		organizer("town-hall", "Town hall", map[string]any{"phone": "555 0101"}),
	}
	first := all.events[0]
	first.venue, first.organizers, first.image = all.venues[0], all.organizers, all.images[0]
	market := all.event("christmas-market")
	market.venue, market.image = all.venues[1], all.images[1]
	all.event("board-meeting").venue = all.venues[1]
	s.addGUIDs(all.events)
	return all
}

// addGUIDs sets the guids of events: either a URL with ?p=ID (events that began as drafts) or the page's URL. All
// dates of a recurring event share one.
func (s *Site) addGUIDs(events []*event) {
	for i, e := range events {
		switch {
		case e.day != "" && events[i-1].slug == e.slug:
			e.guid = events[i-1].guid
		case i%4 == 3:
			e.guid = s.eventPage(e)
		default:
			e.guid = fmt.Sprintf("%s/?post_type=tribe_events&p=%d", s.shown, e.id)
		}
	}
}

// event returns the first event with a slug, or nil if there is none.
func (r records) event(slug string) *event {
	if i := slices.IndexFunc(r.events, func(e *event) bool { return e.slug == slug }); i >= 0 {
		return r.events[i]
	}
	return nil
}

// eventPage returns the URL of an event's page.
func (s *Site) eventPage(e *event) string { return s.shown + s.eventPath(e) }

func (s *Site) eventPath(e *event) string {
	if e.day != "" {
		return s.pagePath(s.options.Paths.Event, e.slug, e.day)
	}
	return s.pagePath(s.options.Paths.Event, e.slug)
}

func (s *Site) placePath(p *place) string {
	if p.kind == calendar.Venue {
		return s.pagePath(s.options.Paths.Venue, p.slug)
	}
	return s.pagePath(s.options.Paths.Organizer, p.slug)
}

// termPath returns the path of the page that lists the events of a term.
func (s *Site) termPath(t *term) string {
	segments := []string{s.options.Paths.Events, s.options.Paths.Tag}
	if t.kind == calendar.Category {
		segments[1] = s.options.Paths.Category
	}
	if t.parent != nil {
		segments = append(segments, t.parent.slug)
	}
	return s.pagePath(append(segments, t.slug)...)
}

// uid returns the UID of an event in iCalendar files. Its timestamps treat wall times as if they were in UTC.
func (s *Site) uid(e *event) string {
	stamp := func(text string) int64 { return wall(text).Unix() }
	return fmt.Sprintf("%d-%d-%d@%s", e.id, stamp(e.start), stamp(e.end), s.hostname())
}

// hostname returns the host in the URLs of records, without a port. It returns "" for an invalid URL.
func (s *Site) hostname() string {
	u, err := url.Parse(s.shown)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// GlobalID returns the global_id of a record. The plugin makes it from the address of the site and the post's id.
func (s *Site) GlobalID(id int64) string {
	_, home, _ := strings.Cut(s.shown, "://")
	return fmt.Sprintf("%s?id=%d", home, id)
}

// wall parses a wall time in the form of calendar.Layout. The result is as if the time were in UTC. Invalid texts
// panic.
func wall(text string) time.Time {
	t, err := time.Parse(calendar.Layout, text)
	if err != nil {
		panic(err) // the records are constants
	}
	return t
}

// instant converts a wall time of an event to UTC. Invalid texts panic.
func (e *event) instant(text string) time.Time {
	zone, err := calendar.ParseZone(e.zone)
	if err != nil {
		panic(err) // the records are constants
	}
	at, err := calendar.ParseWall(text)
	if err != nil {
		panic(err)
	}
	return zone.Instant(at)
}

// hasTerm reports whether an event has a category or tag, or a direct child of it.
func (e *event) hasTerm(t *term) bool {
	return slices.ContainsFunc(
		slices.Concat(e.categories, e.tags), func(of *term) bool { return of == t || of.parent == t },
	)
}

// listing returns the listed events that satisfy has and overlap the time from one wall time until another. They are
// ordered by start. If has is nil, all events satisfy it.
func (s *Site) listing(from, until string, has func(*event) bool) []*event {
	var out []*event
	for _, e := range s.events {
		if !e.hidden && e.end >= from && e.start <= until && (has == nil || has(e)) {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b *event) int { return strings.Compare(a.start, b.start) })
	return out
}

// startOfToday and endOfTime are limits of lists, in the form of calendar.Layout.
const (
	startOfToday = Today + " 00:00:00"
	endOfTime    = "9999-12-31 23:59:59"
)

// upcoming returns the listed events that end today or later and satisfy has, by start. If has is nil, all satisfy
// it.
func (s *Site) upcoming(has func(*event) bool) []*event {
	return s.listing(startOfToday, endOfTime, has)
}
