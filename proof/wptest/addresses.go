package wptest

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// Address is a public URL of the WordPress site that should still work after a move to Almanac.
type Address struct {
	// For describes what the address leads to.
	For string
	// Section names a section of the contract, such as "5". It can also name a finding about moves, such as "A1".
	Section string
	// Path is the path of the URL, with its query.
	Path string
	// Record is the record to which the address leads. The zero value means a list.
	Record Record
	// Status is the status of the last reply, after redirects.
	Status int
	// Type is the media type of the last reply.
	Type string
	// Titles are the titles of the events that the reply shows, or the name of the record, as plain text.
	Titles []string
}

// Record identifies a record of the WordPress site.
type Record struct {
	Kind  calendar.Kind
	ID    int64
	Slug  string // as the site stores it: letters beyond ASCII are percent-encoded in lower case
	Title string // title or name as plain text
}

// typeHTML to typeFeed are media types of replies.
const (
	typeHTML     = "text/html"
	typeJSON     = "application/json"
	typeCalendar = "text/calendar"
	typeFeed     = "application/rss+xml"
)

// Addresses returns the public URLs of the site: pages, short links, subscriptions, feeds and the REST API.
func (s *Site) Addresses() []Address {
	var out []Address
	add := func(use, section, path string, record Record, kind string, titles []string) {
		out = append(out, Address{
			For: use, Section: section, Path: s.options.Home + path, Record: record, Status: http.StatusOK, Type: kind, Titles: titles,
		})
	}
	for _, e := range s.events {
		s.addEventAddresses(e, add)
		if e.password != "" {
			for i := range out {
				if out[i].Record.ID == e.id && out[i].Type == typeJSON {
					out[i].Status, out[i].Titles = http.StatusForbidden, nil
				}
			}
		}
	}
	for _, p := range slices.Concat(s.venues, s.organizers) {
		record := Record{p.kind, p.id, p.slug, p.name}
		titles, list := []string{p.name}, "organizers"
		if p.kind == calendar.Venue {
			list = "venues"
		}
		add("The page of a "+string(p.kind), "A4", s.placePath(p), record, typeHTML, titles)
		add("The record of a "+string(p.kind)+" by its id", "A1", apiPath(list, fmt.Sprint(p.id)), record, typeJSON, titles)
		add(
			"The record of a "+string(p.kind)+" by its slug", "B5", apiPath(list, "by-slug", p.slug), record, typeJSON,
			titles,
		)
	}
	for _, t := range slices.Concat(s.categories, s.tags) {
		record := Record{t.kind, t.id, t.slug, html.UnescapeString(t.name)}
		list, events := "tags", titlesOf(s.upcoming(func(e *event) bool { return e.hasTerm(t) }))
		if t.kind == calendar.Category {
			list = "categories"
		} else {
			add("The archive of a tag that WordPress has", "A4", s.corePath(t), record, typeHTML, events)
		}
		add("The events of a "+string(t.kind), "A4", s.termPath(t), record, typeHTML, events)
		add("The subscription to a "+string(t.kind), "B2", s.termPath(t)+"?ical=1", record, typeCalendar, events)
		add(
			"The record of a "+string(t.kind)+" by its id", "A1", apiPath(list, fmt.Sprint(t.id)), record, typeJSON,
			[]string{record.Title},
		)
	}
	all := titlesOf(s.upcoming(nil))
	december := titlesOf(s.listing("2026-12-01 00:00:00", "2026-12-31 23:59:59", nil))
	day := titlesOf(s.listing("2026-12-05 00:00:00", "2026-12-05 23:59:59", nil))
	events := s.options.Paths.Events
	none := Record{}
	add("The list of events", "A4", s.pagePath(events), none, typeHTML, all)
	add("The list of events by the name of its view", "A4", s.pagePath(events, "list"), none, typeHTML, all)
	add("A month", "A4", s.pagePath(events, "2026-12"), none, typeHTML, december)
	add("A day", "A4", s.pagePath(events, "2026-12-05"), none, typeHTML, day)
	add("The subscription to the list", "B8", s.pagePath(events)+"?ical=1", none, typeCalendar, all)
	add(
		"The subscription in the form of calendar programs", "A2", "/?post_type=tribe_events&ical=1&eventDisplay=list",
		none, typeCalendar, all,
	)
	add("The feed of the next events", "B8", s.pagePath(events, "feed"), none, typeFeed, all[:min(len(all), maxFeed)])
	add("The feed by a query", "B2", "/?feed=rss2&post_type=tribe_events", none, typeFeed, all[:min(len(all), maxFeed)])
	add("The list of the API", "3", apiPath("events")+"?per_page=50&start_date=2000-01-01&end_date=9999-12-31", none, typeJSON, all)
	return out
}

// addEventAddresses calls add with the public URLs of an event.
func (s *Site) addEventAddresses(e *event, add func(use, section, path string, record Record, kind string, titles []string)) {
	title := html.UnescapeString(e.title)
	record, titles := Record{calendar.Event, e.id, e.slug, title}, []string{title}
	section, named := "A4", "The page of an event"
	switch {
	case e.hidden:
		section, named = "B6", "The page of an event that no list shows"
	case e.day != "":
		named = "The page of a recurring event's date"
	case strings.Contains(e.slug, "%"):
		section, named = "B5", "The page of an event with letters beyond ASCII in its slug"
	}
	add(named, section, s.eventPath(e), record, typeHTML, titles)
	add("The short link in the page of an event", "A1", fmt.Sprintf("/?p=%d", e.id), record, typeHTML, titles)
	add(
		"The address of an event that began as a draft", "A1", fmt.Sprintf("/?post_type=tribe_events&p=%d", e.id), record,
		typeHTML, titles,
	)
	add("The iCalendar file of an event", "B8", s.eventPath(e)+"?ical=1", record, typeCalendar, titles)
	add("The record of an event by its id", "A1", apiPath("events", fmt.Sprint(e.id)), record, typeJSON, titles)
	if e.day == "" || e == s.event(e.slug) {
		add("The record of an event by its slug", "B5", apiPath("events", "by-slug", e.slug), record, typeJSON, titles)
	}
}

// apiPath joins segments to a path in the plugin's REST API.
func apiPath(segments ...string) string {
	return "/wp-json/tribe/events/v1/" + strings.Join(segments, "/")
}

func titlesOf(events []*event) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = html.UnescapeString(e.title)
	}
	return out
}

// PublicRecord is an event by the identifiers that other programs store: id, UID in iCalendar files, guid in feeds.
type PublicRecord struct {
	Record
	UID, GUID string
	Hidden    bool
}

// Events returns the events of the site, in the order of their ids.
func (s *Site) Events() []PublicRecord {
	out := make([]PublicRecord, len(s.events))
	for i, e := range s.events {
		out[i] = PublicRecord{
			Record: Record{calendar.Event, e.id, e.slug, html.UnescapeString(e.title)}, UID: s.uid(e), GUID: e.guid, Hidden: e.hidden,
		}
	}
	return out
}
