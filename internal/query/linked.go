package query

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/venue"
)

// Linked is a query for a list of venues or organizers, newest first. The zero value of a field means no
// restriction, except for Readable and the fields of type Visible.
type Linked struct {
	Now     time.Time // time that decides which scheduled records count as published
	Visible Visible
	Event   *int64 // id of an event that the records must be linked to
	// HasEvents restricts the list to records with (true) or without (false) events. Upcoming restricts it to
	// records with an event that starts at Now or later. Events limits which events count, hidden ones
	// included. Protected events count only if Readable allows them.
	HasEvents *bool
	Upcoming  bool
	Events    Visible
	Readable  Readable
	// Pieces are folded texts. A single text of the record, served in Language, must contain all of them.
	Pieces   []string
	Language calendar.Language
	Revision int64 // revision that the engine must at least have applied; 0 means the newest
}

// FindLinked returns a page of up to limit venues or organizers after the first offset ones, and the length of
// the whole list.
func (d Database) FindLinked(ctx context.Context, kind calendar.Kind, q *Linked, offset, limit int) (Page, error) {
	due, err := findOverdue(ctx, d.Ent, q.Now, kind, calendar.Event)
	if err != nil {
		return Page{}, err
	}
	switch kind {
	case calendar.Venue:
		list := d.Ent.Venue.Query().Where(linkedPredicates(q, kind, due, venue.HasEventsWith, venue.Not)...)
		return pageOf(ctx, list, offset, limit, venue.ByPublishedAt(sql.OrderDesc()), venue.ByID(sql.OrderDesc()))
	case calendar.Organizer:
		list := d.Ent.Organizer.Query().Where(linkedPredicates(q, kind, due, organizer.HasEventsWith, organizer.Not)...)
		return pageOf(ctx, list, offset, limit, organizer.ByPublishedAt(sql.OrderDesc()), organizer.ByID(sql.OrderDesc()))
	}
	return Page{}, fmt.Errorf("list of kind %s: %w", kind, ErrUnsupported)
}

// linkedPredicates returns the conditions for a list of venues or organizers (contract, section 9.2).
func linkedPredicates[P predicateOf](
	q *Linked, kind calendar.Kind, due overdueKinds, withEvents func(...predicate.Event) P, not func(P) P,
) []P {
	where := []P{inList[P](q.Visible, q.Now, due[kind])}
	counted := event.And(
		inList[predicate.Event](q.Events, q.Now, due[calendar.Event]), isUnredacted(q.Readable, event.PasswordHashIsNil()))
	if q.Event != nil {
		where = append(where, withEvents(event.ID(*q.Event)))
	}
	if q.HasEvents != nil {
		has := withEvents(counted)
		if !*q.HasEvents {
			has = not(has)
		}
		where = append(where, has)
	}
	if q.Upcoming {
		where = append(where, withEvents(counted, event.StartsAtGTE(q.Now)))
	}
	if q.Pieces != nil {
		where = append(where, HasText[P](kind, q.Language, q.Pieces, nil))
	}
	return where
}
