package listreference

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/almanac-cal/almanac/calendar"
)

// LinkedQuery is a request for a list of venues or organizers. Nil fields are parameters that the request does not
// have.
type LinkedQuery struct {
	Search       *string
	Event        *int64
	Has          *bool
	OnlyUpcoming bool
	Status       []calendar.Status
}

// ListLinked returns the expected reply to a request for venues or organizers. It contains invalid parameters, or
// else ids with the newest first.
func (w *Calendar) ListLinked(s Site, c Caller, lang calendar.Language, kind calendar.Kind, q LinkedQuery) Reply {
	var a Reply
	a.statuses(c, q.Status)
	w.openEvent(&a, "event", s, c, q.Event)
	if a.Invalid != nil {
		return a
	}
	var found []*Linked
	for _, l := range w.Linked[kind] {
		if s.Shows(&l.Record, c, q.Status) && w.matchesEvents(s, c, kind, l, q) &&
			(q.Search == nil || linkedMatches(l, lang, *q.Search)) {
			found = append(found, l)
		}
	}
	slices.SortFunc(found, func(a, b *Linked) int {
		return cmp.Or(b.Published.Compare(a.Published), cmp.Compare(b.ID, a.ID))
	})
	for _, l := range found {
		a.IDs = append(a.IDs, l.ID)
	}
	return a
}

// matchesEvents reports whether a venue or organizer satisfies the filters by its events. Only events count of which
// the caller may read all fields.
func (w *Calendar) matchesEvents(s Site, c Caller, kind calendar.Kind, l *Linked, q LinkedQuery) bool {
	isOfEvent, hasEvents, hasUpcoming := q.Event == nil, false, false
	for _, e := range w.Events {
		links := e.Venues
		if kind == calendar.Organizer {
			links = e.Organizers
		}
		if !slices.Contains(links, l.ID) {
			continue
		}
		isOfEvent = isOfEvent || e.ID == *q.Event
		if s.Shows(&e.Record, c, nil) && !s.Redacts(e, c) {
			hasEvents = true
			hasUpcoming = hasUpcoming || !e.Start.Before(s.Now)
		}
	}
	return isOfEvent && (q.Has == nil || *q.Has == hasEvents) && (!q.OnlyUpcoming || hasUpcoming)
}

// TermQuery is a request for a list of categories or tags. Nil fields are parameters that the request does not have.
type TermQuery struct {
	Search           *string
	Exclude, Include []int64
	Order, By        string
	All              bool // hide_empty is false
	Parent           *int64
	Post, Event      *int64
	Slug             *string
}

// ListTerms returns the expected reply to a request for categories or tags. It contains invalid parameters, or else
// ids in the requested order.
func (w *Calendar) ListTerms(s Site, c Caller, lang calendar.Language, taxonomy calendar.Kind, q TermQuery) Reply {
	var a Reply
	w.existTerms(&a, taxonomy, "exclude", q.Exclude...)
	w.existTerms(&a, taxonomy, "include", q.Include...)
	if q.Parent != nil {
		w.existTerms(&a, taxonomy, "parent", *q.Parent)
	}
	w.openEvent(&a, "post", s, c, q.Post)
	w.openEvent(&a, "event", s, c, q.Event)
	if a.Invalid != nil {
		return a
	}
	var found []*Term
	for _, t := range w.Terms[taxonomy] {
		if w.matchesTerm(t, lang, q) {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, q.order(lang))
	for _, t := range found {
		a.IDs = append(a.IDs, t.ID)
	}
	return a
}

// existTerms marks the parameter with a name as invalid unless all ids are categories or tags of the taxonomy.
func (w *Calendar) existTerms(a *Reply, taxonomy calendar.Kind, name string, ids ...int64) {
	for _, id := range ids {
		if !slices.ContainsFunc(w.Terms[taxonomy], func(t *Term) bool { return t.ID == id }) {
			a.fault(name)
		}
	}
}

// matchesTerm reports whether a category or tag satisfies all filters of a request.
func (w *Calendar) matchesTerm(t *Term, lang calendar.Language, q TermQuery) bool {
	event := cmp.Or(q.Event, q.Post)
	isOfEvent := func(e *Event) bool { return e.ID == *event && slices.Contains(e.Terms, t.ID) }
	switch {
	case !q.All && t.Count == 0,
		slices.Contains(q.Exclude, t.ID),
		q.Include != nil && !slices.Contains(q.Include, t.ID),
		q.Parent != nil && t.Parent != *q.Parent,
		event != nil && !slices.ContainsFunc(w.Events, isOfEvent),
		q.Slug != nil && !t.Texts.hasSlug(strings.ToLower(*q.Slug)),
		q.Search != nil && !termMatches(t.Texts.served(lang), *q.Search):
		return false
	}
	return true
}

// order returns a function that compares terms in the requested order, for slices.SortFunc. Equal terms are ordered
// by id.
func (q TermQuery) order(lang calendar.Language) func(a, b *Term) int {
	inLanguage := collate.New(language.MustParse(string(lang)), collate.IgnoreCase)
	return func(a, b *Term) int {
		var order int
		left, right := a.Texts.served(lang), b.Texts.served(lang)
		switch q.By {
		case "id", "none", "term_group":
			order = cmp.Compare(a.ID, b.ID)
		case "include":
			order = cmp.Compare(slices.Index(q.Include, a.ID), slices.Index(q.Include, b.ID))
		case "slug":
			order = strings.Compare(left.Slug, right.Slug)
		case "count":
			order = cmp.Compare(a.Count, b.Count)
		case "description":
			order = inLanguage.CompareString(left.Description, right.Description)
		default:
			order = inLanguage.CompareString(left.Title, right.Title)
		}
		if strings.EqualFold(q.Order, "desc") {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a.ID, b.ID))
	}
}
