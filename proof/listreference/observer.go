package listreference

import (
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// This file describes what a caller may read. If two calendars differ only in what a caller may not read, the caller
// gets the same replies from both. Methods return what an observer can see as a text, which tests compare.

// ReplyLife is the longest time for which caches keep the compared replies. A publication within that time ends this
// earlier.
const ReplyLife = 90 * time.Second

// Observer is a caller whose view of two calendars tests compare. Knows means that the caller has the passwords of
// events.
type Observer struct {
	Caller
	Knows bool
}

func (o Observer) String() string {
	name := "anonymous"
	if o.Login != "" {
		name = o.Login
	}
	if o.Knows {
		name += " with the password"
	}
	return name
}

// ShownLinked returns all fields of a venue or organizer that an observer can see, as one text. It includes whether
// events show links to the record. Equal texts mean equal replies.
func (o Observer) ShownLinked(s Site, l *Linked) string {
	text := fmt.Sprint(o.common(s, &l.Record), s.Shows(&l.Record, o.Caller, nil))
	if !o.lists(s, &l.Record) {
		return text + "unknown"
	}
	return text + fmt.Sprint(l.Texts, l.Located, l.Lat, l.Lng, l.Fields)
}

// lists reports whether a list shows a record to an observer, either without a filter by status or with trash.
func (o Observer) lists(s Site, r *Record) bool {
	return s.Shows(r, o.Caller, nil) || s.Shows(r, o.Caller, []calendar.Status{calendar.Trash})
}

// common returns the fields of a record that an observer can see, as one text. Id and slugs are always included,
// since a caller can find out that they are taken. A publication within ReplyLife is included, since a cached reply
// then expires.
func (o Observer) common(s Site, r *Record) string {
	text := fmt.Sprint(r.ID, " ", r.Texts.Slugs(), " ")
	if s.effective(r) == calendar.Future && r.Published.Before(s.Now.Add(ReplyLife)) {
		text += fmt.Sprint("due ", r.Published, " ")
	}
	if o.lists(s, r) {
		text += fmt.Sprint(r.Author, " ", s.effective(r), " ", r.Published, " ")
	}
	return text
}

// ShownEvent returns all fields of an event that an observer can see, as one text. Equal texts mean equal replies.
func (o Observer) ShownEvent(w *Calendar, s Site, e *Event) string {
	text := o.common(s, &e.Record)
	status := s.effective(&e.Record)
	redacted := s.Redacts(e, o.Caller) && !o.Knows
	switch {
	case status == calendar.Trash && (e.Hidden || !o.lists(s, &e.Record)):
		return text + "gone"
	case !o.lists(s, &e.Record):
		return text + "not accessible"
	case e.Hidden && redacted:
		return text + "not listed, protected"
	}
	titles := map[calendar.Language]string{}
	for l, in := range e.Texts.In {
		titles[l] = in.Title
	}
	if w.seesSeries(s, o.Caller, e.Series) {
		text += fmt.Sprint("series ", e.Series, " ")
	}
	for _, f := range w.WordColumns {
		if f.Public {
			text += fmt.Sprint(e.Words[f.Name], " ")
		}
	}
	text += fmt.Sprint(e.Texts.Original, titles, e.Start, e.End, e.StartWall, e.EndWall, e.Zone, e.Hidden, e.Protected, e.Parent)
	if redacted {
		return text + "redacted"
	}
	return text + fmt.Sprint(e.Texts, e.AllDay, e.Flags, e.Words, e.Terms,
		o.links(w, s, calendar.Venue, e.Venues), o.links(w, s, calendar.Organizer, e.Organizers))
}

// links returns those ids of an event's venues or organizers that the observer can see in the event.
func (o Observer) links(w *Calendar, s Site, kind calendar.Kind, ids []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool {
		l := w.LinkedOf(kind, id)
		return !s.Shows(&l.Record, o.Caller, nil)
	})
}

// ShownSeries returns all fields of a series that an observer can see, as one text. Equal texts mean equal replies.
func (o Observer) ShownSeries(s Site, r *Record) string {
	return fmt.Sprint(o.common(s, r), s.Shows(r, o.Caller, nil))
}
