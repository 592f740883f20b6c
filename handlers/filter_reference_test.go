package handlers_test

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
)

// This file answers the lists a second time: by looking at every record in memory and applying the rules for
// filters one after the other (contract, section 9). It shares the words of package calendar with the service
// (names of kinds, statuses and languages) and none of its rules.

// The roles, from the least.
const (
	refAnonymous = iota
	refSubscriber
	refContributor
	refAuthor
	refEditor
	refAdministrator
)

// refCaller asks. An anonymous caller has no id.
type refCaller struct {
	id    int64
	login string
	role  int
}

// refSite is a site: replies depend on it besides the records and the caller.
type refSite struct {
	zone *time.Location
	now  time.Time
}

// refRecord has the common fields of events, venues and organizers. Author 0 means none.
type refRecord struct {
	id, author int64
	status     calendar.Status
	before     calendar.Status // it went to the trash
	published  time.Time
	texts      refTexts
}

// refTexts are a record's texts in its original language and in others.
type refTexts struct {
	original calendar.Language
	in       map[calendar.Language]refText
}

// refText is a text in one language; the title is the name of a venue, organizer or term.
type refText struct{ title, excerpt, description, slug string }

type refEvent struct {
	refRecord
	start, end         time.Time
	startWall, endWall time.Time // as UTC
	zone               string
	allDay, hidden     bool
	protected          bool
	flags              map[string]bool   // by filter; never changed
	stored             map[string]string // words by filter; never changed
	parent, series     int64
	venues, organizers []int64
	terms              []int64
}

// refLinked is a venue or organizer. Fields are its other texts, such as the city.
type refLinked struct {
	refRecord
	located  bool
	lat, lng float64
	fields   map[string]string
}

// refTerm is a category or tag. Count is the count in the database: a due event counts once the service has published
// it.
type refTerm struct {
	id, parent int64
	count      int
	texts      refTexts
}

// refWorld is all there is.
type refWorld struct {
	callers []refCaller
	events  []*refEvent
	linked  map[calendar.Kind][]*refLinked
	terms   map[calendar.Kind][]*refTerm
	series  []*refRecord
}

// refReply is a list in full: all ids, in order, or the names of the parameters that are invalid.
type refReply struct {
	invalid []string
	ids     []int64
}

func (a *refReply) fault(name string) {
	if !slices.Contains(a.invalid, name) {
		a.invalid = append(a.invalid, name)
	}
}

// effective returns the status that callers see: a scheduled record that is due is published.
func (s refSite) effective(r *refRecord) calendar.Status {
	if r.status == calendar.Future && !r.published.After(s.now) {
		return calendar.Publish
	}
	return r.status
}

// seen reports whether a caller's lists show a record. Asked is nil when no status was asked for.
func (s refSite) seen(r *refRecord, c refCaller, asked []calendar.Status) bool {
	status := s.effective(r)
	if asked == nil && status == calendar.Trash || asked != nil && !slices.Contains(asked, status) {
		return false
	}
	return status == calendar.Publish || c.role >= refEditor || c.role >= refContributor && r.author == c.id
}

// statuses checks a filter by status.
func (a *refReply) statuses(c refCaller, asked []calendar.Status) {
	for _, word := range asked {
		switch word {
		case calendar.Publish:
		case calendar.Future, calendar.Draft, calendar.Pending, calendar.Private, calendar.Trash:
			if c.role < refContributor {
				a.fault("status")
			}
		default:
			a.fault("status")
		}
	}
}

// event checks a parameter that names an event: it exists, the caller may read it, and it is not in the trash.
func (w *refWorld) event(a *refReply, name string, s refSite, c refCaller, id *int64) {
	w.eventThat(a, name, id, func(e *refEvent) bool { return s.seen(&e.refRecord, c, nil) })
}

// openEvent checks an event whose links are requested. A password protects them, and the request cannot send it.
func (w *refWorld) openEvent(a *refReply, name string, s refSite, c refCaller, id *int64) {
	w.eventThat(a, name, id, func(e *refEvent) bool {
		return s.seen(&e.refRecord, c, nil) && !s.redacted(e, c)
	})
}

func (w *refWorld) eventThat(a *refReply, name string, id *int64, fits func(*refEvent) bool) {
	if id != nil && !slices.ContainsFunc(w.events, func(e *refEvent) bool { return e.id == *id && fits(e) }) {
		a.fault(name)
	}
}

// redacted reports whether the caller, who sends no password, is shown an event without what a password guards.
func (s refSite) redacted(e *refEvent, c refCaller) bool { return e.protected && !s.mayEdit(e, c) }

// mayEdit reports whether the caller may edit an event.
func (s refSite) mayEdit(e *refEvent, c refCaller) bool {
	if c.role >= refEditor || e.author != c.id || c.role < refContributor {
		return c.role >= refEditor
	}
	status := s.effective(&e.refRecord)
	if status == calendar.Trash {
		status = e.before
	}
	return c.role == refAuthor || status == calendar.Draft || status == calendar.Pending
}

// refDate is a date as a client means it: a moment, or what a clock of the site shows, kept as UTC.
type refDate struct {
	at    time.Time
	naive bool
}

func (s refSite) moment(d refDate) time.Time {
	if d.naive {
		return refInstant(d.at, s.zone)
	}
	return d.at
}

// midnight is the beginning of the day of d in the site's zone, or of a day later.
func (s refSite) midnight(d refDate, later int) time.Time {
	on := d.at
	if !d.naive {
		on = on.In(s.zone)
	}
	y, m, day := on.Date()
	return refInstant(time.Date(y, m, day+later, 0, 0, 0, 0, time.UTC), s.zone)
}

// refInstant is the first moment at which a clock shows wall, which is given as UTC. A time the clock skips is
// as long after the time three hours before as it would be without the skip. It tries all quarters of an hour
// that a zone may be ahead of or behind UTC.
func refInstant(wall time.Time, zone *time.Location) time.Time {
	for ahead := 15 * time.Hour; ahead >= -15*time.Hour; ahead -= 15 * time.Minute {
		t := wall.Add(-ahead)
		if _, offset := t.In(zone).Zone(); time.Duration(offset)*time.Second == ahead {
			return t
		}
	}
	const before = 3 * time.Hour
	return refInstant(wall.Add(-before), zone).Add(before)
}

// window is the default: from today's first moment until the end of the same day two years on, exclusive.
func (s refSite) window() (from, to time.Time) {
	y, m, day := s.now.In(s.zone).Date()
	last := min(day, time.Date(y+2, m+1, 0, 0, 0, 0, 0, time.UTC).Day())
	return s.midnight(refDate{at: s.now}, 0),
		s.midnight(refDate{at: time.Date(y+2, m, last, 0, 0, 0, 0, time.UTC), naive: true}, 1)
}

// eventAsk is a request for events. What is nil was not sent.
type eventAsk struct {
	dates              map[string]refDate // by parameter
	strict             bool
	search             *string
	categories, tags   []string
	venues, organizers []int64
	flags              map[string]bool     // by filter
	stored             map[string][]string // words by filter
	geoloc             *bool
	lat, lng           *float64
	radius             float64
	status             []calendar.Status
	include            []int64
	parent             *int64
	series             *seriesAsk
	password           bool // the right one
}

// seriesAsk is a filter by series: one word of two, or ids.
type seriesAsk struct {
	next, none, invalid bool
	ids                 []int64
}

func (w *refWorld) listEvents(s refSite, c refCaller, lang calendar.Language, q eventAsk) refReply {
	var a refReply
	categories := w.areTerms(&a, "categories", calendar.Category, q.categories)
	tags := w.areTerms(&a, "tags", calendar.Tag, q.tags)
	w.areLinked(&a, "venue", s, c, calendar.Venue, q.venues)
	w.areLinked(&a, "organizer", s, c, calendar.Organizer, q.organizers)
	a.statuses(c, q.status)
	for _, f := range wordFilters {
		if slices.ContainsFunc(q.stored[f.Name], func(word string) bool { return !slices.Contains(f.Words, word) }) {
			a.fault(f.Name)
		}
	}
	w.event(&a, "post_parent", s, c, q.parent)
	if q.series != nil && (q.series.invalid || slices.ContainsFunc(q.series.ids, func(id int64) bool { return !w.seesSeries(s, c, id) })) {
		a.fault("series")
	}
	for _, id := range q.include {
		if id < 1 {
			a.fault("include")
		}
	}
	switch {
	case q.lat != nil && q.lng == nil:
		a.fault("geoloc_lng")
	case q.lat == nil && q.lng != nil:
		a.fault("geoloc_lat")
	}
	if q.geoloc != nil && !*q.geoloc && (q.lat != nil || q.lng != nil) {
		a.fault("geoloc")
	}
	if a.invalid != nil {
		return a
	}
	var found []*refEvent
	for _, e := range w.events {
		located, near := false, false
		for _, v := range w.linked[calendar.Venue] {
			if v.located && slices.Contains(e.venues, v.id) && s.seen(&v.refRecord, c, nil) {
				located = true
				near = near || q.lat != nil && distance(v.lat, v.lng, *q.lat, *q.lng) <= q.radius
			}
		}
		switch {
		case !s.seen(&e.refRecord, c, q.status), e.hidden,
			q.include != nil && !slices.Contains(q.include, e.id),
			q.include == nil && !s.inTime(e, q),
			q.categories != nil && !overlap(e.terms, categories),
			q.tags != nil && !overlap(e.terms, tags),
			q.venues != nil && !overlap(e.venues, q.venues),
			q.organizers != nil && !overlap(e.organizers, q.organizers),
			!e.hasFlags(q.flags), !e.hasWords(q.stored),
			q.parent != nil && *q.parent != e.parent,
			q.series != nil && q.series.none && w.seesSeries(s, c, e.series),
			q.series != nil && q.series.ids != nil && !slices.Contains(q.series.ids, e.series),
			q.geoloc != nil && *q.geoloc != located,
			q.lat != nil && !near,
			q.guarded() && !q.password && s.redacted(e, c),
			q.search != nil && !eventMatches(e.texts.served(lang), *q.search):
			continue
		}
		found = append(found, e)
	}
	if q.series != nil && q.series.next {
		found = w.firstOfSeries(s, c, found)
	}
	slices.SortFunc(found, func(a, b *refEvent) int {
		if q.include != nil {
			return cmp.Or(a.published.Compare(b.published), cmp.Compare(a.id, b.id))
		}
		return cmp.Or(a.start.Compare(b.start), cmp.Compare(a.id, b.id))
	})
	for _, e := range found {
		a.ids = append(a.ids, e.id)
	}
	return a
}

// seesSeries reports whether an id is that of a series which the caller may read.
func (w *refWorld) seesSeries(s refSite, c refCaller, id int64) bool {
	return slices.ContainsFunc(w.series, func(r *refRecord) bool { return r.id == id && s.seen(r, c, nil) })
}

// firstOfSeries leaves out the events before which another one of the same series, which the caller may read, starts.
func (w *refWorld) firstOfSeries(s refSite, c refCaller, found []*refEvent) []*refEvent {
	return slices.DeleteFunc(slices.Clone(found), func(e *refEvent) bool {
		return w.seesSeries(s, c, e.series) && slices.ContainsFunc(found, func(other *refEvent) bool {
			return other.series == e.series && cmp.Or(other.start.Compare(e.start), cmp.Compare(other.id, e.id)) < 0
		})
	})
}

// guarded reports whether a filter asks for what a password guards.
func (q eventAsk) guarded() bool {
	return q.search != nil || q.categories != nil || q.tags != nil || q.venues != nil || q.organizers != nil ||
		q.asksGuardedColumn() || q.geoloc != nil || q.lat != nil
}

// asksGuardedColumn reports whether a flag or a word was asked for that a password guards.
func (q eventAsk) asksGuardedColumn() bool {
	return slices.ContainsFunc(read.EventColumns(), func(f *query.Column) bool {
		_, flag := q.flags[f.Name]
		_, word := q.stored[f.Name]
		return (flag || word) && !f.Public
	})
}

// hasFlags reports whether flags of an event are as asked for.
func (e *refEvent) hasFlags(want map[string]bool) bool {
	for name, on := range want {
		if e.flags[name] != on {
			return false
		}
	}
	return true
}

// hasWords reports whether each word of an event that is asked for is one of those asked for.
func (e *refEvent) hasWords(want map[string][]string) bool {
	for name, words := range want {
		if !slices.Contains(words, e.stored[name]) {
			return false
		}
	}
	return true
}

// wordFilters are the filters on one of some stored words.
var wordFilters = slices.DeleteFunc(read.EventColumns(), func(c *query.Column) bool { return c.Words == nil })

// flagFilters are the filters on stored booleans.
var flagFilters = slices.DeleteFunc(read.EventColumns(), func(c *query.Column) bool { return c.Kind != query.FlagKind })

// inTime applies the table of date filters.
func (s refSite) inTime(e *refEvent, q eventAsk) bool {
	from, to := s.window()
	_, startsBefore := q.dates["starts_before"]
	_, startsAfter := q.dates["starts_after"]
	_, endsBefore := q.dates["ends_before"]
	_, endsAfter := q.dates["ends_after"]
	relative := startsBefore || startsAfter || endsBefore || endsAfter
	if _, sent := q.dates["start_date"]; !sent && !relative && e.start.Before(from) {
		return false
	}
	if _, sent := q.dates["end_date"]; !sent && !relative && !e.end.Before(to) {
		return false
	}
	for name, d := range q.dates {
		t, day, next := s.moment(d), s.midnight(d, 0), s.midnight(d, 1)
		var ok bool
		switch {
		case name == "start_date" && q.strict:
			ok = !e.start.Before(t)
		case name == "start_date":
			ok = !e.start.Before(day)
		case name == "end_date" && q.strict:
			ok = !e.end.After(t)
		case name == "end_date":
			ok = e.end.Before(next)
		case name == "starts_before" && q.strict:
			ok = e.start.Before(t)
		case name == "starts_before":
			ok = e.start.Before(next)
		case name == "starts_after" && q.strict:
			ok = e.start.After(t)
		case name == "starts_after":
			ok = !e.start.Before(next)
		case name == "ends_before" && q.strict:
			ok = e.end.Before(t)
		case name == "ends_before":
			ok = e.end.Before(next)
		case name == "ends_after" && q.strict:
			ok = e.end.After(t)
		case name == "ends_after":
			ok = !e.end.Before(next)
		}
		if !ok {
			return false
		}
	}
	return true
}

// areTerms looks up categories or tags, by slug of any language and then by id, and adds what is below
// categories.
func (w *refWorld) areTerms(a *refReply, name string, taxonomy calendar.Kind, words []string) []int64 {
	var ids []int64
	for _, word := range words {
		var bySlug, byID int64
		for _, t := range w.terms[taxonomy] {
			if t.texts.hasSlug(strings.ToLower(word)) {
				bySlug = t.id
			}
			if strconv.FormatInt(t.id, 10) == word {
				byID = t.id
			}
		}
		if id := cmp.Or(bySlug, byID); id != 0 {
			ids = append(ids, id)
		} else {
			a.fault(name)
		}
	}
	for i := 0; i < len(ids); i++ { // ids grows
		for _, t := range w.terms[taxonomy] {
			if t.parent == ids[i] && !slices.Contains(ids, t.id) {
				ids = append(ids, t.id)
			}
		}
	}
	return ids
}

// areLinked checks ids of venues or organizers: they exist, the caller may read them, and they are not in the trash.
func (w *refWorld) areLinked(a *refReply, name string, s refSite, c refCaller, kind calendar.Kind, ids []int64) {
	for _, id := range ids {
		if !slices.ContainsFunc(w.linked[kind], func(l *refLinked) bool { return l.id == id && s.seen(&l.refRecord, c, nil) }) {
			a.fault(name)
		}
	}
}

func overlap(a, b []int64) bool {
	return slices.ContainsFunc(a, func(id int64) bool { return slices.Contains(b, id) })
}

// distance of two places in kilometres, from the angle between their directions as seen from the centre of the
// earth.
func distance(lat1, lng1, lat2, lng2 float64) float64 {
	direction := func(lat, lng float64) [3]float64 {
		lat, lng = lat*math.Pi/180, lng*math.Pi/180
		return [3]float64{math.Cos(lat) * math.Cos(lng), math.Cos(lat) * math.Sin(lng), math.Sin(lat)}
	}
	a, b := direction(lat1, lng1), direction(lat2, lng2)
	cross := math.Hypot(math.Hypot(a[1]*b[2]-a[2]*b[1], a[2]*b[0]-a[0]*b[2]), a[0]*b[1]-a[1]*b[0])
	return 6371 * math.Atan2(cross, a[0]*b[0]+a[1]*b[1]+a[2]*b[2])
}
