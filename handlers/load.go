package handlers

import (
	"maps"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
)

// The columns that answers are made of: what only writers and the database look at is not read.
var (
	eventColumns = without(event.Columns,
		event.FieldCreatedAt, event.FieldVersion, event.FieldSourceID, event.FieldDated)
	venueColumns = without(venue.Columns,
		venue.FieldCreatedAt, venue.FieldVersion, venue.FieldSourceID, venue.FieldDated, venue.FieldNameKey, venue.FieldCell)
	organizerColumns = without(organizer.Columns, organizer.FieldCreatedAt, organizer.FieldVersion,
		organizer.FieldSourceID, organizer.FieldDated, organizer.FieldNameKey)
	termColumns = without(term.Columns, append([]string{
		term.FieldCreatedAt, term.FieldVersion, term.FieldSourceID, term.FieldNameKey,
	}, sortColumns()...)...)
	imageColumns = without(image.Columns,
		image.FieldAuthorID, image.FieldSourceID, image.FieldCreatedAt, image.FieldVersion)
)

func without(all []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(column string) bool { return slices.Contains(some, column) })
}

func sortColumns() []string {
	var columns []string
	for _, l := range calendar.Languages {
		columns = append(columns, edit.NameSortColumn(l), edit.DescriptionSortColumn(l))
	}
	return columns
}

// complete loads what the representations of the events need besides their rows: one query for all links, and one per
// kind, whatever the number of events. What several events are linked to is one row for them all.
func (r *request) complete(events []*ent.Event) error {
	if len(events) == 0 {
		return nil
	}
	linked, err := r.links(events)
	if err != nil {
		return err
	}
	var venues []*ent.Venue
	if ids := linked.to[calendar.Venue]; ids != nil {
		query := r.db.Venue.Query().Where(venue.IDIn(ids...))
		query.Select(venueColumns...)
		if venues, err = query.All(r.ctx); err != nil {
			return err
		}
	}
	var organizers []*ent.Organizer
	if ids := linked.to[calendar.Organizer]; ids != nil {
		query := r.db.Organizer.Query().Where(organizer.IDIn(ids...))
		query.Select(organizerColumns...)
		if organizers, err = query.All(r.ctx); err != nil {
			return err
		}
	}
	var terms []*ent.Term
	if ids := linked.to[term.Label]; ids != nil {
		query := r.db.Term.Query().Where(term.IDIn(ids...))
		query.Select(termColumns...)
		if terms, err = query.All(r.ctx); err != nil {
			return err
		}
	}
	venueOf := keyed(venues, func(v *ent.Venue) int64 { return v.ID })
	organizerOf := keyed(organizers, func(o *ent.Organizer) int64 { return o.ID })
	termOf := keyed(terms, func(t *ent.Term) int64 { return t.ID })
	eventOf := keyed(events, func(e *ent.Event) int64 { return e.ID })
	for _, l := range linked.all {
		edges := &eventOf[l.event].Edges
		// What is gone meanwhile is left out.
		switch l.kind {
		case calendar.Venue:
			if row := venueOf[l.id]; row != nil {
				edges.Venues = append(edges.Venues, row)
			}
		case calendar.Organizer:
			if row := organizerOf[l.id]; row != nil {
				edges.Organizers = append(edges.Organizers, row)
			}
		default:
			if row := termOf[l.id]; row != nil {
				edges.Terms = append(edges.Terms, row)
			}
		}
	}
	if err := r.loadImages(events, venues, organizers); err != nil {
		return err
	}
	return r.translate(events, venues, organizers, terms)
}

func keyed[R any](rows []R, id func(R) int64) map[int64]R {
	out := make(map[int64]R, len(rows))
	for _, row := range rows {
		out[id(row)] = row
	}
	return out
}

// link is a link of an event to a venue, an organizer or a term.
type link struct {
	kind      calendar.Kind // term.Label for terms of both taxonomies
	event, id int64
}

// links are those of some events, and the ids that they lead to.
type links struct {
	all []link
	to  map[calendar.Kind][]int64
}

// linkQuery reads the links of events from all tables at once, in the order in which they were sent.
var linkQuery = [3]string{
	"SELECT 'venue' AS kind, event_id, venue_id AS id, position FROM event_venues WHERE event_id IN ",
	" UNION ALL SELECT 'organizer', event_id, organizer_id, position FROM event_organizers WHERE event_id IN ",
	" UNION ALL SELECT '" + term.Label + "', event_id, term_id, 0 FROM event_terms WHERE event_id IN ",
}

func (r *request) links(events []*ent.Event) (_ links, err error) {
	ids := make([]any, 0, len(linkQuery)*len(events))
	for range linkQuery {
		for _, e := range events {
			ids = append(ids, e.ID)
		}
	}
	in := marks(len(events))
	rows, err := r.db.QueryContext(r.ctx,
		linkQuery[0]+in+linkQuery[1]+in+linkQuery[2]+in+" ORDER BY 1, 2, 4, 3", ids...)
	if err != nil {
		return links{}, err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	out := links{to: map[calendar.Kind][]int64{}}
	seen := make(map[link]bool)
	for rows.Next() {
		var l link
		var position int
		if err := rows.Scan(&l.kind, &l.event, &l.id, &position); err != nil {
			return links{}, err
		}
		out.all = append(out.all, l)
		if to := (link{kind: l.kind, id: l.id}); !seen[to] {
			seen[to] = true
			out.to[l.kind] = append(out.to[l.kind], l.id)
		}
	}
	return out, rows.Err()
}

// loadImages gives rows their images, with one query for all of them, and none where there are no images.
func (r *request) loadImages(events []*ent.Event, venues []*ent.Venue, organizers []*ent.Organizer) error {
	wanted := make(map[int64][]**ent.Image)
	want := func(id *int64, to **ent.Image) {
		if id != nil {
			wanted[*id] = append(wanted[*id], to)
		}
	}
	for _, e := range events {
		want(e.ImageID, &e.Edges.Image)
	}
	for _, v := range venues {
		want(v.ImageID, &v.Edges.Image)
	}
	for _, o := range organizers {
		want(o.ImageID, &o.Edges.Image)
	}
	if len(wanted) == 0 {
		return nil
	}
	query := r.db.Image.Query().Where(image.IDIn(slices.Sorted(maps.Keys(wanted))...))
	query.Select(imageColumns...)
	rows, err := query.All(r.ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		for _, to := range wanted[row.ID] {
			*to = row
		}
	}
	return nil
}
