package handlers_test

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/almanac-cal/almanac/calendar"
)

// linkedAsk is a request for venues or organizers.
type linkedAsk struct {
	search       *string
	event        *int64
	has          *bool
	onlyUpcoming bool
	status       []calendar.Status
}

func (w *refWorld) listLinked(
	s refSite, c refCaller, lang calendar.Language, kind calendar.Kind, q linkedAsk,
) refReply {
	var a refReply
	a.statuses(c, q.status)
	w.openEvent(&a, "event", s, c, q.event)
	if a.invalid != nil {
		return a
	}
	var found []*refLinked
	for _, l := range w.linked[kind] {
		of, has, upcoming := false, false, false
		for _, e := range w.events {
			links := e.venues
			if kind == calendar.Organizer {
				links = e.organizers
			}
			if !slices.Contains(links, l.id) {
				continue
			}
			of = of || q.event != nil && e.id == *q.event
			if !s.seen(&e.refRecord, c, nil) || s.redacted(e, c) {
				continue
			}
			has = true
			upcoming = upcoming || !e.start.Before(s.now)
		}
		switch {
		case !s.seen(&l.refRecord, c, q.status),
			q.event != nil && !of,
			q.has != nil && *q.has != has,
			q.onlyUpcoming && !upcoming,
			q.search != nil && !linkedMatches(l, lang, *q.search):
			continue
		}
		found = append(found, l)
	}
	slices.SortFunc(found, func(a, b *refLinked) int {
		return cmp.Or(b.published.Compare(a.published), cmp.Compare(b.id, a.id))
	})
	for _, l := range found {
		a.ids = append(a.ids, l.id)
	}
	return a
}

// termAsk is a request for categories or tags.
type termAsk struct {
	search           *string
	exclude, include []int64
	order, by        string
	all              bool // hide_empty is false
	parent           *int64
	post, event      *int64
	slug             *string
}

func (w *refWorld) listTerms(
	s refSite, c refCaller, lang calendar.Language, taxonomy calendar.Kind, q termAsk,
) refReply {
	var a refReply
	exists := func(name string, ids ...int64) {
		for _, id := range ids {
			if !slices.ContainsFunc(w.terms[taxonomy], func(t *refTerm) bool { return t.id == id }) {
				a.fault(name)
			}
		}
	}
	exists("exclude", q.exclude...)
	exists("include", q.include...)
	if q.parent != nil {
		exists("parent", *q.parent)
	}
	w.openEvent(&a, "post", s, c, q.post)
	w.openEvent(&a, "event", s, c, q.event)
	if a.invalid != nil {
		return a
	}
	of := cmp.Or(q.event, q.post)
	var found []*refTerm
	for _, t := range w.terms[taxonomy] {
		switch {
		case !q.all && t.count == 0,
			slices.Contains(q.exclude, t.id),
			q.include != nil && !slices.Contains(q.include, t.id),
			q.parent != nil && t.parent != *q.parent,
			of != nil && !slices.ContainsFunc(w.events, func(e *refEvent) bool {
				return e.id == *of && slices.Contains(e.terms, t.id)
			}),
			q.slug != nil && !t.texts.hasSlug(strings.ToLower(*q.slug)),
			q.search != nil && !termMatches(t.texts.served(lang), *q.search):
			continue
		}
		found = append(found, t)
	}
	inLanguage := collate.New(language.MustParse(string(lang)), collate.IgnoreCase)
	slices.SortFunc(found, func(a, b *refTerm) int {
		var order int
		left, right := a.texts.served(lang), b.texts.served(lang)
		switch q.by {
		case "id", "none", "term_group":
			order = cmp.Compare(a.id, b.id)
		case "include":
			order = cmp.Compare(slices.Index(q.include, a.id), slices.Index(q.include, b.id))
		case "slug":
			order = strings.Compare(left.slug, right.slug)
		case "count":
			order = cmp.Compare(a.count, b.count)
		case "description":
			order = inLanguage.CompareString(left.description, right.description)
		default:
			order = inLanguage.CompareString(left.title, right.title)
		}
		if strings.EqualFold(q.order, "desc") {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a.id, b.id))
	})
	for _, t := range found {
		a.ids = append(a.ids, t.id)
	}
	return a
}
