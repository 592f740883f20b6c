package query

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
)

// Public is a query for the records in a sitemap. These are events that are published, not hidden and not
// protected, and the records linked to such events.
type Public struct {
	Kind calendar.Kind
	Now  time.Time // time that decides which scheduled records count as published
	// Only ids above After and up to UpTo are included. UpTo 0 means no upper bound.
	After, UpTo int64
}

// PublicRecord is a record with the fields that a sitemap needs.
type PublicRecord struct {
	ID         int64
	Slug       string // slug of the original text
	Language   calendar.Language
	Languages  calendar.LanguageSet
	ModifiedAt time.Time
}

// listed selects the events that make their linked records public.
func (q Public) listed(due overdueKinds) predicate.Event {
	return event.And(inList[predicate.Event](Visible{Anyone: []calendar.Status{calendar.Publish}}, q.Now, due[calendar.Event]),
		event.HideFromListings(false), event.PasswordHashIsNil(), event.SlugNEQ(""))
}

// publicPredicates selects the public records of a kind that events are linked to.
func publicPredicates[P predicateOf](q Public, due overdueKinds, withEvents func(...predicate.Event) P) []P {
	return []P{
		inList[P](Visible{Anyone: []calendar.Status{calendar.Publish}}, q.Now, due[q.Kind]),
		withEvents(q.listed(due)), P(sql.FieldNEQ(event.FieldSlug, "")), idsOf[P](q),
	}
}

// idsOf selects the ids between After and UpTo.
func idsOf[P predicateOf](q Public) P {
	if q.UpTo == 0 {
		return P(sql.FieldGT(event.FieldID, q.After))
	}
	return P(sql.AndPredicates(sql.FieldGT(event.FieldID, q.After), sql.FieldLTE(event.FieldID, q.UpTo)))
}

// publicQueries returns the query for the records of q.Kind. The other queries are nil.
func (d Database) publicQueries(ctx context.Context, q Public) (events *ent.EventQuery, venues *ent.VenueQuery,
	organizers *ent.OrganizerQuery, terms *ent.TermQuery, err error,
) {
	kinds := []calendar.Kind{calendar.Event}
	if q.Kind == calendar.Venue || q.Kind == calendar.Organizer {
		kinds = append(kinds, q.Kind)
	}
	due, err := findOverdue(ctx, d.Ent, q.Now, kinds...)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	switch q.Kind {
	case calendar.Event:
		events = d.Ent.Event.Query().Where(q.listed(due), idsOf[predicate.Event](q)).Order(event.ByID())
	case calendar.Venue:
		venues = d.Ent.Venue.Query().Where(publicPredicates(q, due, venue.HasEventsWith)...).Order(venue.ByID())
	case calendar.Organizer:
		organizers = d.Ent.Organizer.Query().Where(publicPredicates(q, due, organizer.HasEventsWith)...).Order(organizer.ByID())
	case calendar.Category, calendar.Tag:
		terms = d.Ent.Term.Query().Where(term.TaxonomyEQ(q.Kind), term.HasEventsWith(q.listed(due)), idsOf[predicate.Term](q)).
			Order(term.ByID())
	default:
		return nil, nil, nil, nil, fmt.Errorf("public records of kind %s: %w", q.Kind, ErrUnsupported)
	}
	return events, venues, organizers, terms, nil
}

// PublicStretches divides ids into stretches of the given length, starting with id 1. It returns the numbers,
// from 0, of the stretches that contain a record, in no order. It is one statement that reads the records once.
func (d Database) PublicStretches(ctx context.Context, q Public, ids int64) (found []int64, err error) {
	events, venues, organizers, terms, err := d.publicQueries(ctx, q)
	if err != nil {
		return nil, err
	}
	numbers := func(s *sql.Selector) {
		id := s.C(event.FieldID)
		s.SetDistinct(true).ClearOrder().SelectExpr(sql.ExprFunc(func(b *sql.Builder) {
			b.WriteString("(" + id + " - 1 - (" + id + " - 1) % ").WriteString(strconv.FormatInt(ids, 10)).
				WriteString(") / ").WriteString(strconv.FormatInt(ids, 10))
		}))
	}
	var rows []float64 // MySQL returns the quotient of integers as a decimal
	switch {
	case events != nil:
		err = events.Modify(numbers).Scan(ctx, &rows)
	case venues != nil:
		err = venues.Modify(numbers).Scan(ctx, &rows)
	case organizers != nil:
		err = organizers.Modify(numbers).Scan(ctx, &rows)
	default:
		err = terms.Modify(numbers).Scan(ctx, &rows)
	}
	for _, n := range rows {
		found = append(found, int64(n))
	}
	return found, err
}

// FindPublic returns the records of a public query, sorted by id.
func (d Database) FindPublic(ctx context.Context, q Public) (found []PublicRecord, err error) {
	events, venues, organizers, terms, err := d.publicQueries(ctx, q)
	columns := []string{event.FieldID, event.FieldSlug, event.FieldLanguage, event.FieldLanguages, event.FieldModifiedAt}
	switch {
	case err != nil:
		return nil, err
	case events != nil:
		rows, err := events.Select(columns...).All(ctx)
		for _, e := range rows {
			found = append(found, PublicRecord{e.ID, e.Slug, e.Language, e.Languages, e.ModifiedAt})
		}
		return found, err
	case venues != nil:
		rows, err := venues.Select(columns...).All(ctx)
		for _, e := range rows {
			found = append(found, PublicRecord{e.ID, e.Slug, e.Language, e.Languages, e.ModifiedAt})
		}
		return found, err
	case organizers != nil:
		rows, err := organizers.Select(columns...).All(ctx)
		for _, e := range rows {
			found = append(found, PublicRecord{e.ID, e.Slug, e.Language, e.Languages, e.ModifiedAt})
		}
		return found, err
	}
	rows, err := terms.Select(columns...).All(ctx)
	for _, e := range rows {
		found = append(found, PublicRecord{e.ID, e.Slug, e.Language, e.Languages, e.ModifiedAt})
	}
	return found, err
}
