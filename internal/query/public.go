package query

import (
	"context"
	"fmt"
	"slices"
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
	// Revision is the revision of the calendar that the index must at least have applied. 0 means the newest one.
	Revision int64
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

// Events returns the query for the events that make their linked records public.
func (q Public) Events() *Events {
	return &Events{Now: q.Now, Visible: Visible{Anyone: []calendar.Status{calendar.Publish}}, OnlyReadable: true}
}

// publicPredicates selects the public records of a kind that events are linked to. If ids is not nil, these are known to
// be linked to such events.
func publicPredicates[P predicateOf](q Public, ids []int64, due overdueKinds, withEvents func(...predicate.Event) P) []P {
	where := []P{
		inList[P](Visible{Anyone: []calendar.Status{calendar.Publish}}, q.Now, due[q.Kind]),
		P(sql.FieldNEQ(event.FieldSlug, "")), idsOf[P](q, ids),
	}
	if ids == nil {
		where = append(where, withEvents(q.listed(due)))
	}
	return where
}

// idsOf selects the given ids. Nil selects the ids between After and UpTo.
func idsOf[P predicateOf](q Public, ids []int64) P {
	switch {
	case ids != nil:
		return func(s *sql.Selector) {
			id := s.C(event.FieldID) // evaluated here, because the selector may get another name later
			s.Where(sql.P(func(b *sql.Builder) { b.Ident(id).WriteString(" IN " + IDList(ids)) }))
		}
	case q.UpTo == 0:
		return P(sql.FieldGT(event.FieldID, q.After))
	}
	return P(sql.AndPredicates(sql.FieldGT(event.FieldID, q.After), sql.FieldLTE(event.FieldID, q.UpTo)))
}

// publicQueries returns the query for the records of q.Kind. The other queries are nil.
func (d Database) publicQueries(ctx context.Context, q Public, ids []int64) (events *ent.EventQuery, venues *ent.VenueQuery,
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
		events = d.Ent.Event.Query().Where(q.listed(due), idsOf[predicate.Event](q, ids)).Order(event.ByID())
	case calendar.Venue:
		venues = d.Ent.Venue.Query().Where(publicPredicates(q, ids, due, venue.HasEventsWith)...).Order(venue.ByID())
	case calendar.Organizer:
		organizers = d.Ent.Organizer.Query().Where(publicPredicates(q, ids, due, organizer.HasEventsWith)...).Order(organizer.ByID())
	case calendar.Category, calendar.Tag:
		terms = d.Ent.Term.Query().Where(term.TaxonomyEQ(q.Kind), idsOf[predicate.Term](q, ids)).Order(term.ByID())
		if ids == nil {
			terms.Where(term.HasEventsWith(q.listed(due)))
		}
	default:
		return nil, nil, nil, nil, fmt.Errorf("public records of kind %s: %w", q.Kind, ErrUnsupported)
	}
	return events, venues, organizers, terms, nil
}

// PublicStretches divides ids into stretches of the given length, starting with id 1. It returns the numbers,
// from 0, of the stretches that contain a record, in no order. It is one statement that reads the records once.
func (d Database) PublicStretches(ctx context.Context, q Public, ids int64) (found []int64, err error) {
	events, venues, organizers, terms, err := d.publicQueries(ctx, q, nil)
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

// publicBatch is the number of records that one statement of ReadPublic reads.
const publicBatch = 1000

// ReadPublic returns those records with the given ids that are public, sorted by id. The ids are sorted. The index has found
// that the records are events that lists show, or linked to such events.
func (d Database) ReadPublic(ctx context.Context, q Public, ids []int64) (found []PublicRecord, err error) {
	for some := range slices.Chunk(ids, publicBatch) {
		part, err := d.findPublic(ctx, q, some)
		if err != nil {
			return nil, err
		}
		found = append(found, part...)
	}
	return found, nil
}

// TermsOf returns those of the given term ids that are of a taxonomy, in the same order.
func (d Database) TermsOf(ctx context.Context, taxonomy calendar.Kind, ids []int64) ([]int64, error) {
	all, err := d.Ent.Term.Query().Where(term.TaxonomyEQ(taxonomy)).Order(term.ByID()).IDs(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool {
		_, found := slices.BinarySearch(all, id)
		return !found
	}), nil
}

// FindPublic returns the records of a public query, sorted by id.
func (d Database) FindPublic(ctx context.Context, q Public) ([]PublicRecord, error) {
	return d.findPublic(ctx, q, nil)
}

// findPublic returns the records of a public query, sorted by id. If ids is not nil, only those are searched.
func (d Database) findPublic(ctx context.Context, q Public, ids []int64) (found []PublicRecord, err error) {
	events, venues, organizers, terms, err := d.publicQueries(ctx, q, ids)
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
