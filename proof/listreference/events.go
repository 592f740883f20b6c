package listreference

import (
	"cmp"
	"math"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
)

// EventQuery is a request for a list of events. Nil fields are parameters that the request does not have.
type EventQuery struct {
	Dates              map[string]Date // by parameter
	Strict             bool
	Search             *string
	Categories, Tags   []string
	Venues, Organizers []int64
	Flags              map[string]bool     // by filter
	Words              map[string][]string // words by filter
	Geoloc             *bool
	Lat, Lng           *float64
	Radius             float64
	Status             []calendar.Status
	Include            []int64
	Parent             *int64
	Series             *SeriesQuery
	Password           bool // the request has the right password
}

// SeriesQuery is the value of the parameter series: next, none, ids of series, or an invalid mixture.
type SeriesQuery struct {
	Next, None, Invalid bool
	IDs                 []int64
}

// ListEvents returns the expected reply to a request for events: the invalid parameters, or else the matching events
// in order.
func (w *Calendar) ListEvents(s Site, c Caller, lang calendar.Language, q EventQuery) Reply {
	var a Reply
	l := &eventList{Calendar: w, site: s, caller: c, lang: lang, EventQuery: q}
	l.checkLinks(&a)
	l.checkWords(&a)
	l.checkPlace(&a)
	if a.Invalid != nil {
		return a
	}
	var found []*Event
	for _, e := range w.Events {
		if l.matchesRights(e) && l.matchesTime(e) && l.matchesLinks(e) && l.matchesSeries(e) && l.matchesColumns(e) &&
			l.matchesPlace(e) && (q.Search == nil || eventMatches(e.Texts.served(lang), *q.Search)) {
			found = append(found, e)
		}
	}
	if q.Series != nil && q.Series.Next {
		found = w.firstOfSeries(s, c, found)
	}
	slices.SortFunc(found, l.compareEvents)
	for _, e := range found {
		a.IDs = append(a.IDs, e.ID)
	}
	return a
}

// eventList is the state while ListEvents runs. categoryIDs and tagIDs include the descendants of the requested
// terms.
type eventList struct {
	*Calendar
	site   Site
	caller Caller
	lang   calendar.Language
	EventQuery
	categoryIDs, tagIDs []int64
}

// checkLinks marks filters by other records as invalid if a record is unknown or the caller may not read it.
func (l *eventList) checkLinks(a *Reply) {
	l.categoryIDs = l.areTerms(a, "categories", calendar.Category, l.Categories)
	l.tagIDs = l.areTerms(a, "tags", calendar.Tag, l.Tags)
	l.areLinked(a, "venue", l.site, l.caller, calendar.Venue, l.Venues)
	l.areLinked(a, "organizer", l.site, l.caller, calendar.Organizer, l.Organizers)
	l.event(a, "post_parent", l.site, l.caller, l.Parent)
	q := l.EventQuery.Series
	if q != nil && (q.Invalid || slices.ContainsFunc(q.IDs, func(id int64) bool { return !l.seesSeries(l.site, l.caller, id) })) {
		a.fault("series")
	}
	if slices.ContainsFunc(l.Include, func(id int64) bool { return id < 1 }) {
		a.fault("include")
	}
}

// checkWords marks the status filter, and other filters that allow only a few words, if a value is not allowed.
func (l *eventList) checkWords(a *Reply) {
	a.statuses(l.caller, l.Status)
	for _, f := range l.WordColumns {
		if slices.ContainsFunc(l.Words[f.Name], func(word string) bool { return !slices.Contains(f.Words, word) }) {
			a.fault(f.Name)
		}
	}
}

// checkPlace marks invalid filters by place. A position needs both coordinates. geoloc=false cannot be combined with
// one.
func (l *eventList) checkPlace(a *Reply) {
	switch {
	case l.Lat != nil && l.Lng == nil:
		a.fault("geoloc_lng")
	case l.Lat == nil && l.Lng != nil:
		a.fault("geoloc_lat")
	}
	if l.Geoloc != nil && !*l.Geoloc && (l.Lat != nil || l.Lng != nil) {
		a.fault("geoloc")
	}
}

// matchesRights reports whether the caller's lists show an event. If the request filters by protected fields, an
// event with a password needs that password or the right to edit.
func (l *eventList) matchesRights(e *Event) bool {
	if l.asksGuarded() && !l.Password && l.site.Redacts(e, l.caller) {
		return false
	}
	return l.site.Shows(&e.Record, l.caller, l.Status) && !e.Hidden
}

// matchesTime reports whether an event satisfies the parameter include, if it was sent, or else all date filters.
func (l *eventList) matchesTime(e *Event) bool {
	if l.Include != nil {
		return slices.Contains(l.Include, e.ID)
	}
	return l.site.inTime(e, l.EventQuery)
}

// matchesLinks reports whether an event satisfies the filters by linked records. One of the requested records per
// filter is enough.
func (l *eventList) matchesLinks(e *Event) bool {
	return (l.Categories == nil || overlap(e.Terms, l.categoryIDs)) &&
		(l.Tags == nil || overlap(e.Terms, l.tagIDs)) &&
		(l.Venues == nil || overlap(e.Venues, l.Venues)) &&
		(l.Organizers == nil || overlap(e.Organizers, l.Organizers)) &&
		(l.Parent == nil || *l.Parent == e.Parent)
}

// matchesSeries reports whether an event satisfies the filter by series. An event of a series that the caller may not
// read counts as a single event. The keyword next is applied by firstOfSeries.
func (l *eventList) matchesSeries(e *Event) bool {
	switch q := l.EventQuery.Series; {
	case q == nil:
		return true
	case q.None:
		return !l.seesSeries(l.site, l.caller, e.Series)
	}
	return l.EventQuery.Series.IDs == nil || slices.Contains(l.EventQuery.Series.IDs, e.Series)
}

// matchesColumns reports whether an event satisfies the filters by boolean columns and by columns that allow only a
// few words.
func (l *eventList) matchesColumns(e *Event) bool {
	return e.hasFlags(l.Flags) && e.hasWords(l.Words)
}

// matchesPlace reports whether an event satisfies the filters by place. Venues that the caller may not read are
// ignored, and so are those without a position.
func (l *eventList) matchesPlace(e *Event) bool {
	isLocated, isNear := false, false
	for _, v := range l.Linked[calendar.Venue] {
		if v.Located && slices.Contains(e.Venues, v.ID) && l.site.Shows(&v.Record, l.caller, nil) {
			isLocated = true
			isNear = isNear || l.Lat != nil && Distance(v.Lat, v.Lng, *l.Lat, *l.Lng) <= l.Radius
		}
	}
	return (l.Geoloc == nil || *l.Geoloc == isLocated) && (l.Lat == nil || isNear)
}

// compareEvents orders events for a list: by publication date if the request has include, else by start. Equal ones
// are ordered by id.
func (l *eventList) compareEvents(a, b *Event) int {
	if l.Include != nil {
		return cmp.Or(a.Published.Compare(b.Published), cmp.Compare(a.ID, b.ID))
	}
	return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.ID, b.ID))
}

// firstOfSeries returns the found events that are the first found ones of their series, and those outside a series.
// Series that the caller may not read are ignored.
func (w *Calendar) firstOfSeries(s Site, c Caller, found []*Event) []*Event {
	return slices.DeleteFunc(slices.Clone(found), func(e *Event) bool {
		return w.seesSeries(s, c, e.Series) && slices.ContainsFunc(found, func(other *Event) bool {
			return other.Series == e.Series && cmp.Or(other.Start.Compare(e.Start), cmp.Compare(other.ID, e.ID)) < 0
		})
	})
}

// asksGuarded reports whether the request filters by a field that an event's password protects.
func (l *eventList) asksGuarded() bool {
	return l.Search != nil || l.Categories != nil || l.Tags != nil || l.Venues != nil || l.Organizers != nil ||
		l.asksGuardedColumn() || l.Geoloc != nil || l.Lat != nil
}

// asksGuardedColumn reports whether the request filters by a column that an event's password protects.
func (l *eventList) asksGuardedColumn() bool {
	return slices.ContainsFunc(slices.Concat(l.FlagColumns, l.WordColumns), func(f Column) bool {
		_, flag := l.Flags[f.Name]
		_, word := l.Words[f.Name]
		return (flag || word) && !f.Public
	})
}

// hasFlags reports whether boolean columns of an event have the wanted values, by filter.
func (e *Event) hasFlags(want map[string]bool) bool {
	for name, on := range want {
		if e.Flags[name] != on {
			return false
		}
	}
	return true
}

// hasWords reports whether each filtered column has one of the wanted words. want maps filters to these.
func (e *Event) hasWords(want map[string][]string) bool {
	for name, words := range want {
		if !slices.Contains(words, e.Words[name]) {
			return false
		}
	}
	return true
}

func overlap(a, b []int64) bool {
	return slices.ContainsFunc(a, func(id int64) bool { return slices.Contains(b, id) })
}

// Distance returns the distance of two positions on earth in kilometres. Coordinates are in degrees.
func Distance(lat1, lng1, lat2, lng2 float64) float64 {
	direction := func(lat, lng float64) [3]float64 {
		lat, lng = lat*math.Pi/180, lng*math.Pi/180
		return [3]float64{math.Cos(lat) * math.Cos(lng), math.Cos(lat) * math.Sin(lng), math.Sin(lat)}
	}
	a, b := direction(lat1, lng1), direction(lat2, lng2)
	cross := math.Hypot(math.Hypot(a[1]*b[2]-a[2]*b[1], a[2]*b[0]-a[0]*b[2]), a[0]*b[1]-a[1]*b[0])
	return 6371 * math.Atan2(cross, a[0]*b[0]+a[1]*b[1]+a[2]*b[2])
}
