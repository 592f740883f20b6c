package seed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/when"
)

// Summary counts what Write did.
type Summary struct {
	Categories, Tags, Venues, Organizers, Events Count
	Translations                                 int // texts written in other languages than the original
}

// Count is how many records were created, and how many were there already and left as they are.
type Count struct{ Created, Found int }

// Created is the number of new records of all kinds.
func (s Summary) Created() int {
	return s.Categories.Created + s.Tags.Created + s.Venues.Created + s.Organizers.Created + s.Events.Created
}

// batch is how many records one transaction writes: other writers wait no longer than that takes.
const batch = 100

// Write stores a calendar through a copy of e, which decides in whose name. What has been written before, by
// its source id, in the trash or not, is left as it is; so are categories and tags whose names are taken,
// which the events then get. A term that was deleted comes back.
//
// Calendars of one scenario share their source ids, so a database takes one of them: another seed or language
// adds only what the first had no number for.
//
// It writes in transactions of some records each, so one that was interrupted can be run again to the end.
// The summary is that of what was committed, also with an error. A key for passwords is made if e has none.
func Write(ctx context.Context, db *ent.Client, e *edit.Editor, c *Calendar) (Summary, error) {
	own := *e
	w := &writer{db: db, editor: &own, cal: c, ids: map[string]int64{}}
	if len(own.PasswordKey) == 0 && slices.ContainsFunc(c.Events, func(e Event) bool { return e.Password != "" }) {
		key, err := edit.PasswordKey(ctx, db)
		if err != nil {
			return Summary{}, err
		}
		own.PasswordKey = key
	}
	s := &w.summary
	for _, run := range []func() error{
		func() error { return inBatches(ctx, w, &s.Categories, c.Categories, w.category) },
		func() error { return inBatches(ctx, w, &s.Tags, c.Tags, w.tag) },
		func() error { return inBatches(ctx, w, &s.Venues, c.Venues, w.venue) },
		func() error { return inBatches(ctx, w, &s.Organizers, c.Organizers, w.organizer) },
		func() error { return inBatches(ctx, w, &s.Events, c.Events, w.event) },
	} {
		if err := run(); err != nil {
			return *s, fmt.Errorf("seed %s: %w", c.Scenario, err)
		}
	}
	return *s, nil
}

// writer writes one calendar.
type writer struct {
	db      *ent.Client
	editor  *edit.Editor
	cal     *Calendar
	ids     map[string]int64 // by source id, of what is written or was found
	summary Summary

	translated int // in the transaction that runs
}

// inBatches writes records of a kind with one, which returns the id and whether the record is new.
func inBatches[T interface{ source() string }](
	ctx context.Context, w *writer, count *Count, records []T,
	one func(ctx context.Context, tx *ent.Tx, record *T) (id int64, created bool, err error),
) error {
	for part := range slices.Chunk(records, batch) {
		var done Count // of an attempt; a lost race starts over
		err := edit.Write(ctx, w.db, w.editor, func(tx *ent.Tx) error {
			done, w.translated = Count{}, 0
			for i := range part {
				w.editor.Write = w.cal.Language
				id, created, err := one(ctx, tx, &part[i])
				if err != nil {
					return fmt.Errorf("%s: %w", part[i].source(), err)
				}
				w.ids[part[i].source()] = id
				if created {
					done.Created++
				} else {
					done.Found++
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		count.Created += done.Created
		count.Found += done.Found
		w.summary.Translations += w.translated
	}
	return nil
}

func (t Term) source() string      { return t.SourceID }
func (v Venue) source() string     { return v.SourceID }
func (o Organizer) source() string { return o.SourceID }
func (e Event) source() string     { return e.SourceID }

// found turns the outcome of a query for the id of a source id around: not found is no error.
func found(id int64, err error) (int64, bool, error) {
	if ent.IsNotFound(err) {
		return 0, false, nil
	}
	return id, err == nil, err
}

// translate writes once for each other language that the text has.
func (w *writer) translate(t Text, write func(l calendar.Language) error) error {
	for _, l := range t.Languages() {
		if l == w.cal.Language {
			continue
		}
		w.editor.Write = l
		if err := write(l); err != nil {
			return fmt.Errorf("in %s: %w", l, err)
		}
		w.translated++
	}
	return nil
}

func (w *writer) author() *int64 {
	if w.cal.AuthorID == 0 {
		return nil
	}
	return new(w.cal.AuthorID)
}

func (w *writer) category(ctx context.Context, tx *ent.Tx, t *Term) (int64, bool, error) {
	return w.term(ctx, tx, calendar.Category, t)
}

func (w *writer) tag(ctx context.Context, tx *ent.Tx, t *Term) (int64, bool, error) {
	return w.term(ctx, tx, calendar.Tag, t)
}

func (w *writer) term(ctx context.Context, tx *ent.Tx, taxonomy calendar.Kind, t *Term) (int64, bool, error) {
	id, ok, err := found(tx.Term.Query().Where(term.SourceID(t.SourceID)).OnlyID(ctx))
	if ok || err != nil {
		return id, false, err
	}
	in := &edit.TermInput{
		Taxonomy: taxonomy, Name: new(t.Name[w.cal.Language]), Description: t.Description.in(w.cal.Language),
		SourceID: &t.SourceID,
	}
	if t.Parent != "" {
		in.ParentID = new(w.ids[t.Parent])
	}
	row, err := w.editor.CreateTerm(ctx, tx, in)
	var taken *calendar.Error
	if errors.As(err, &taken) && taken.Code == "term_exists" {
		if id, ok := taken.Data["term_id"].(int64); ok {
			return id, false, nil
		}
	}
	if err != nil {
		return 0, false, err
	}
	err = w.translate(t.Name, func(l calendar.Language) (err error) {
		row, err = w.editor.UpdateTerm(ctx, tx, row, &edit.TermInput{
			Name: new(t.Name[l]), Description: t.Description.in(l),
		})
		return err
	})
	if err != nil {
		return 0, false, err
	}
	return row.ID, true, nil
}

func (w *writer) venue(ctx context.Context, tx *ent.Tx, v *Venue) (int64, bool, error) {
	id, ok, err := found(tx.Venue.Query().Where(venue.SourceID(v.SourceID)).OnlyID(ctx))
	if ok || err != nil {
		return id, false, err
	}
	row, created, err := w.editor.CreateVenue(ctx, tx, &edit.VenueInput{
		AuthorID: w.author(), Name: &v.Name, Description: v.Description.in(w.cal.Language),
		Address: &v.Address, City: &v.City, Zip: &v.Zip, Province: &v.Province, Country: &v.Country,
		Phone: &v.Phone, Website: &v.Website, SourceID: &v.SourceID,
		Latitude:  &edit.Coordinate{Set: true, Degrees: v.Latitude},
		Longitude: &edit.Coordinate{Set: true, Degrees: v.Longitude},
	})
	if err != nil {
		return 0, false, err
	}
	if !created { // somebody's own of the same name
		return row.ID, false, nil
	}
	err = w.translate(v.Description, func(l calendar.Language) (err error) {
		row, err = w.editor.UpdateVenue(ctx, tx, row, &edit.VenueInput{Description: v.Description.in(l)})
		return err
	})
	if err != nil {
		return 0, false, err
	}
	return row.ID, true, nil
}

func (w *writer) organizer(ctx context.Context, tx *ent.Tx, o *Organizer) (int64, bool, error) {
	id, ok, err := found(tx.Organizer.Query().Where(organizer.SourceID(o.SourceID)).OnlyID(ctx))
	if ok || err != nil {
		return id, false, err
	}
	row, created, err := w.editor.CreateOrganizer(ctx, tx, &edit.OrganizerInput{
		AuthorID: w.author(), Name: &o.Name, Description: o.Description.in(w.cal.Language),
		Phone: &o.Phone, Email: &o.Email, Website: &o.Website, SourceID: &o.SourceID,
	})
	if err != nil {
		return 0, false, err
	}
	if !created { // somebody's own of the same name
		return row.ID, false, nil
	}
	err = w.translate(o.Description, func(l calendar.Language) (err error) {
		row, err = w.editor.UpdateOrganizer(ctx, tx, row, &edit.OrganizerInput{Description: o.Description.in(l)})
		return err
	})
	if err != nil {
		return 0, false, err
	}
	return row.ID, true, nil
}

func (w *writer) event(ctx context.Context, tx *ent.Tx, v *Event) (int64, bool, error) {
	id, ok, err := found(tx.Event.Query().Where(event.SourceID(v.SourceID)).OnlyID(ctx))
	if ok || err != nil {
		return id, false, err
	}
	in := w.eventInput(v)
	if in.Venues, in.Organizers, err = w.links(ctx, tx, v); err != nil {
		return 0, false, err
	}
	if v.Parent != "" {
		parent, err := tx.Event.Get(ctx, w.ids[v.Parent])
		if err != nil {
			return 0, false, fmt.Errorf("parent %s: %w", v.Parent, err)
		}
		if parent.Status != calendar.Trash {
			in.ParentID = &parent.ID
		}
	}
	row, err := w.editor.CreateEvent(ctx, tx, in)
	if err != nil {
		return 0, false, err
	}
	err = w.translate(v.Title, func(l calendar.Language) (err error) {
		row, err = w.editor.UpdateEvent(ctx, tx, row, &edit.EventInput{
			Title: v.Title.in(l), Excerpt: v.Excerpt.in(l), Description: v.Description.in(l),
		})
		return err
	})
	if err != nil {
		return 0, false, err
	}
	return row.ID, true, nil
}

// eventInput is what an event says by itself. It was not published later than now, or it would be scheduled.
func (w *writer) eventInput(v *Event) *edit.EventInput {
	published := v.Published
	if published.After(w.editor.Now) {
		published = w.editor.Now
	}
	start, end := when.FromWall(v.Span.Start), when.FromWall(v.Span.End)
	in := &edit.EventInput{
		AuthorID: w.author(), Published: &published, Status: &v.Status, SourceID: &v.SourceID,
		Title: v.Title.in(w.cal.Language), Excerpt: v.Excerpt.in(w.cal.Language),
		Description: v.Description.in(w.cal.Language),
		Zone:        &v.Span.Zone, AllDay: &v.Span.AllDay, Start: &start, End: &end, Cost: &v.Cost,
		Hide: &v.Hide, Sticky: &v.Sticky, Featured: &v.Featured, Ticketed: &v.Ticketed,
		ShowMap: new(len(v.Venues) > 0), ShowMapLink: new(len(v.Venues) > 0),
		Categories: new(w.termRefs(v.Categories)), Tags: new(w.termRefs(v.Tags)),
	}
	if v.Website != "" {
		in.Website = &edit.Website{Set: true, URL: v.Website}
	}
	if v.Password != "" {
		in.Password = &v.Password
	}
	return in
}

func (w *writer) termRefs(sources []string) []edit.TermRef {
	refs := make([]edit.TermRef, len(sources))
	for i, s := range sources {
		refs[i] = edit.TermRef{ID: w.ids[s]}
	}
	return refs
}

// links are the venues and organizers of an event but those that somebody has moved to the trash since.
func (w *writer) links(ctx context.Context, tx *ent.Tx, v *Event) (*[]edit.VenueRef, *[]edit.OrganizerRef, error) {
	venues, organizers := []edit.VenueRef{}, []edit.OrganizerRef{}
	for _, s := range v.Venues {
		row, err := tx.Venue.Get(ctx, w.ids[s])
		if err != nil {
			return nil, nil, fmt.Errorf("venue %s: %w", s, err)
		}
		if row.Status != calendar.Trash {
			venues = append(venues, edit.VenueRef{ID: row.ID})
		}
	}
	for _, s := range v.Organizers {
		row, err := tx.Organizer.Get(ctx, w.ids[s])
		if err != nil {
			return nil, nil, fmt.Errorf("organizer %s: %w", s, err)
		}
		if row.Status != calendar.Trash {
			organizers = append(organizers, edit.OrganizerRef{ID: row.ID})
		}
	}
	return &venues, &organizers, nil
}

// in is the text in a language, or nil, which sends nothing.
func (t Text) in(l calendar.Language) *string {
	if s, ok := t[l]; ok {
		return &s
	}
	return nil
}
