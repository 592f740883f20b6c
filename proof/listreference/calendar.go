// Package listreference computes the expected replies to list requests (contract, section 9).
//
// It is independent of the service: it applies filters one after the other to records in memory. It uses the names of
// kinds, statuses and languages in package calendar, and shares no rules with the service. Package randomcalendar
// draws calendars and requests, and tests compare the replies.
package listreference

import (
	"maps"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// Anonymous to Administrator are the roles of callers, in ascending order of rights.
const (
	Anonymous = iota
	Subscriber
	Contributor
	Author
	Editor
	Administrator
)

// Caller is a user who sends requests, or the anonymous caller, whose id is 0.
type Caller struct {
	ID    int64
	Login string
	Role  int
}

// Site is the zone of a site and the time of a request. Replies depend on both.
type Site struct {
	Zone *time.Location
	Now  time.Time
}

// Record has the common fields of events, venues, organizers and series. Author 0 means none.
type Record struct {
	ID, Author        int64
	Status            calendar.Status
	StatusBeforeTrash calendar.Status // of a record in the trash
	Published         time.Time
	Texts             Texts
}

// Texts are a record's texts in its original language and in others.
type Texts struct {
	Original calendar.Language
	In       map[calendar.Language]Text
}

// Text is a text in one language. The title is the name of a venue, organizer or term.
type Text struct{ Title, Excerpt, Description, Slug string }

// Event is an event with its links. Flags maps filter names of boolean columns to the event's values. Words does so
// for text columns that allow only a few words. The maps are never changed, so copies share them.
type Event struct {
	Record
	Start, End         time.Time
	StartWall, EndWall time.Time // as UTC
	Zone               string
	AllDay, Hidden     bool
	Protected          bool
	Flags              map[string]bool
	Words              map[string]string
	Parent, Series     int64
	Venues, Organizers []int64
	Terms              []int64
}

// Linked is a venue or organizer. If Located is true, it has a position of Lat and Lng in degrees. Fields contains
// its other texts by name, such as the city.
type Linked struct {
	Record
	Located  bool
	Lat, Lng float64
	Fields   map[string]string
}

// Term is a category or tag. Count is the number of events that the database stores. A due event is counted only
// after the service has published it.
type Term struct {
	ID, Parent int64
	Count      int
	Texts      Texts
}

// Calendar contains all records and callers of a test. Its methods compute expected replies by simple scans.
type Calendar struct {
	Callers []Caller
	Events  []*Event
	Linked  map[calendar.Kind][]*Linked
	Terms   map[calendar.Kind][]*Term
	Series  []*Record

	FlagColumns []Column // boolean columns of events
	WordColumns []Column // text columns of events that allow only a few words
}

// Column is a column of events that a filter selects by. Name is the filter's name, Field the column's.
type Column struct {
	Name, Field string
	Words       []string // allowed values of a text column, nil for a boolean
	Public      bool     // shown without the event's password
}

// effective returns the status that callers see. A scheduled record whose publication date has come is published.
func (s Site) effective(r *Record) calendar.Status {
	if r.Status == calendar.Future && !r.Published.After(s.Now) {
		return calendar.Publish
	}
	return r.Status
}

// Shows reports whether a caller's lists show a record. asked contains the requested statuses. Nil means all except
// trash. All callers see published records. Others are for editors, administrators and their author if at least a
// contributor.
func (s Site) Shows(r *Record, c Caller, asked []calendar.Status) bool {
	status := s.effective(r)
	if asked == nil && status == calendar.Trash || asked != nil && !slices.Contains(asked, status) {
		return false
	}
	return status == calendar.Publish || c.Role >= Editor || c.Role >= Contributor && r.Author == c.ID
}

// Redacts reports whether replies leave out the protected fields of an event, unless the request has the right
// password. They do so if the event has a password and the caller may not edit it.
func (s Site) Redacts(e *Event, c Caller) bool { return e.Protected && !s.mayEdit(e, c) }

// mayEdit reports whether the caller may edit an event. Editors and administrators may edit all events, authors their
// own ones. Contributors may edit their own drafts and pending events. In the trash, an event's status before that
// decides.
func (s Site) mayEdit(e *Event, c Caller) bool {
	if c.Role >= Editor || e.Author != c.ID || c.Role < Contributor {
		return c.Role >= Editor
	}
	status := s.effective(&e.Record)
	if status == calendar.Trash {
		status = e.StatusBeforeTrash
	}
	return c.Role == Author || status == calendar.Draft || status == calendar.Pending
}

// seesSeries reports whether a series with the id exists outside the trash and the caller may read it.
func (w *Calendar) seesSeries(s Site, c Caller, id int64) bool {
	return slices.ContainsFunc(w.Series, func(r *Record) bool { return r.ID == id && s.Shows(r, c, nil) })
}

// LinkedOf returns the venue or organizer with an id. It panics if the record does not exist.
func (w *Calendar) LinkedOf(kind calendar.Kind, id int64) *Linked {
	at := slices.IndexFunc(w.Linked[kind], func(l *Linked) bool { return l.ID == id })
	return w.Linked[kind][at]
}

// EventOf returns the event with an id. It panics if the event does not exist.
func (w *Calendar) EventOf(id int64) *Event {
	return w.Events[slices.IndexFunc(w.Events, func(e *Event) bool { return e.ID == id })]
}

// Clone copies the records of a calendar, so that a test can change the copy. Maps and lists within the records are
// shared and never change.
func (w *Calendar) Clone() *Calendar {
	out := new(*w)
	out.Events, out.Series, out.Linked = nil, nil, map[calendar.Kind][]*Linked{}
	for _, e := range w.Events {
		out.Events = append(out.Events, new(*e))
	}
	for _, r := range w.Series {
		out.Series = append(out.Series, new(*r))
	}
	for kind, all := range w.Linked {
		for _, l := range all {
			out.Linked[kind] = append(out.Linked[kind], new(*l))
		}
	}
	return out
}

// served returns the text for a reader of a language. Each field falls back from that language to English (the site's
// language), then to the record's original language.
func (t Texts) served(lang calendar.Language) Text {
	var out Text
	for _, l := range []calendar.Language{lang, calendar.English, t.Original} {
		text := t.In[l]
		for _, f := range []struct {
			to   *string
			from string
		}{
			{&out.Title, text.Title},
			{&out.Excerpt, text.Excerpt},
			{&out.Description, text.Description},
			{&out.Slug, text.Slug},
		} {
			if *f.to == "" {
				*f.to = f.from
			}
		}
	}
	return out
}

// hasSlug reports whether the record has a slug, in any language.
func (t Texts) hasSlug(slug string) bool {
	for _, text := range t.In {
		if text.Slug == slug && slug != "" {
			return true
		}
	}
	return false
}

// Slugs returns the slugs of the texts by language.
func (t Texts) Slugs() map[calendar.Language]string {
	out := map[calendar.Language]string{}
	for l, in := range t.In {
		out[l] = in.Slug
	}
	return out
}

// Languages returns the languages of the texts.
func (t Texts) Languages() calendar.LanguageSet {
	return calendar.LanguagesOf(slices.Collect(maps.Keys(t.In))...)
}

// EachTranslation calls do with each language and text of a record, except those of the original language.
func (t Texts) EachTranslation(do func(calendar.Language, Text)) {
	for _, l := range calendar.Languages {
		if text, ok := t.In[l]; ok && l != t.Original {
			do(l, text)
		}
	}
}

// AuthorID returns the id of the record's author, or nil if it has none.
func (r *Record) AuthorID() *int64 {
	if r.Author == 0 {
		return nil
	}
	return &r.Author
}
