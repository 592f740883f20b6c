package listreference

import (
	"cmp"
	"math"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
)

// EventQuery is a request for events. A nil field was not sent.
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
	Password           bool // the right one
}

// SeriesQuery is a filter by series: one word of two, or ids.
type SeriesQuery struct {
	Next, None, Invalid bool
	IDs                 []int64
}

// ListEvents answers a list of events: first the faults of the request, then the events that all filters leave, in order.
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

// eventList is a list of events that is being answered. The terms are those that the request means, with what is below them.
type eventList struct {
	*Calendar
	site   Site
	caller Caller
	lang   calendar.Language
	EventQuery
	categoryIDs, tagIDs []int64
}

// checkLinks checks the filters that name other records.
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

// checkWords checks the filters by words of a fixed list.
func (l *eventList) checkWords(a *Reply) {
	a.statuses(l.caller, l.Status)
	for _, f := range l.WordColumns {
		if slices.ContainsFunc(l.Words[f.Name], func(word string) bool { return !slices.Contains(f.Words, word) }) {
			a.fault(f.Name)
		}
	}
}

// checkPlace checks the filters by place: a position has two coordinates, and is no request for events without one.
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

// matchesRights reports whether the caller's lists show an event. What a password guards is not found by what it guards.
func (l *eventList) matchesRights(e *Event) bool {
	if l.asksGuarded() && !l.Password && l.site.Redacts(e, l.caller) {
		return false
	}
	return l.site.Shows(&e.Record, l.caller, l.Status) && !e.Hidden
}

// matchesTime applies include, which replaces all filters by date, or these.
func (l *eventList) matchesTime(e *Event) bool {
	if l.Include != nil {
		return slices.Contains(l.Include, e.ID)
	}
	return l.site.inTime(e, l.EventQuery)
}

// matchesLinks applies the filters by links: one of each filter is enough.
func (l *eventList) matchesLinks(e *Event) bool {
	return (l.Categories == nil || overlap(e.Terms, l.categoryIDs)) &&
		(l.Tags == nil || overlap(e.Terms, l.tagIDs)) &&
		(l.Venues == nil || overlap(e.Venues, l.Venues)) &&
		(l.Organizers == nil || overlap(e.Organizers, l.Organizers)) &&
		(l.Parent == nil || *l.Parent == e.Parent)
}

// matchesSeries applies the filter by series, but for next. A series that the caller may not read is none.
func (l *eventList) matchesSeries(e *Event) bool {
	switch q := l.EventQuery.Series; {
	case q == nil:
		return true
	case q.None:
		return !l.seesSeries(l.site, l.caller, e.Series)
	}
	return l.EventQuery.Series.IDs == nil || slices.Contains(l.EventQuery.Series.IDs, e.Series)
}

// matchesColumns applies the filters by booleans and words of events.
func (l *eventList) matchesColumns(e *Event) bool {
	return e.hasFlags(l.Flags) && e.hasWords(l.Words)
}

// matchesPlace applies the filters by place. Venues that the caller may not read have none.
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

// compareEvents orders a list: by start, with include by publication date.
func (l *eventList) compareEvents(a, b *Event) int {
	if l.Include != nil {
		return cmp.Or(a.Published.Compare(b.Published), cmp.Compare(a.ID, b.ID))
	}
	return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.ID, b.ID))
}

// firstOfSeries leaves out the events before which another one of the same series, which the caller may read, starts.
func (w *Calendar) firstOfSeries(s Site, c Caller, found []*Event) []*Event {
	return slices.DeleteFunc(slices.Clone(found), func(e *Event) bool {
		return w.seesSeries(s, c, e.Series) && slices.ContainsFunc(found, func(other *Event) bool {
			return other.Series == e.Series && cmp.Or(other.Start.Compare(e.Start), cmp.Compare(other.ID, e.ID)) < 0
		})
	})
}

// asksGuarded reports whether a filter asks for what a password guards.
func (l *eventList) asksGuarded() bool {
	return l.Search != nil || l.Categories != nil || l.Tags != nil || l.Venues != nil || l.Organizers != nil ||
		l.asksGuardedColumn() || l.Geoloc != nil || l.Lat != nil
}

// asksGuardedColumn reports whether a flag or a word was asked for that a password guards.
func (l *eventList) asksGuardedColumn() bool {
	return slices.ContainsFunc(slices.Concat(l.FlagColumns, l.WordColumns), func(f Column) bool {
		_, flag := l.Flags[f.Name]
		_, word := l.Words[f.Name]
		return (flag || word) && !f.Public
	})
}

// hasFlags reports whether flags of an event are as asked for.
func (e *Event) hasFlags(want map[string]bool) bool {
	for name, on := range want {
		if e.Flags[name] != on {
			return false
		}
	}
	return true
}

// hasWords reports whether each word of an event that is asked for is one of those asked for.
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

// Distance returns the distance of two places in kilometres, from the angle between their directions as seen from the centre of the
// earth.
func Distance(lat1, lng1, lat2, lng2 float64) float64 {
	direction := func(lat, lng float64) [3]float64 {
		lat, lng = lat*math.Pi/180, lng*math.Pi/180
		return [3]float64{math.Cos(lat) * math.Cos(lng), math.Cos(lat) * math.Sin(lng), math.Sin(lat)}
	}
	a, b := direction(lat1, lng1), direction(lat2, lng2)
	cross := math.Hypot(math.Hypot(a[1]*b[2]-a[2]*b[1], a[2]*b[0]-a[0]*b[2]), a[0]*b[1]-a[1]*b[0])
	return 6371 * math.Atan2(cross, a[0]*b[0]+a[1]*b[1]+a[2]*b[2])
}
