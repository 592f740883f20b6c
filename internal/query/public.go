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
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/term"
)

// Public is a query for the records of one kind in a sitemap. Events are included if they are published, not hidden
// from listings and without a password. Other records are included if they are linked to such an event, venues and
// organizers only if published.
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
	ID         int64                `sql:"id"`
	Slug       string               `sql:"slug"` // slug of the original text
	Language   calendar.Language    `sql:"language"`
	Languages  calendar.LanguageSet `sql:"languages"`
	ModifiedAt time.Time            `sql:"modified_at"`
}

// listed returns the predicate for the events in a sitemap. These are published, not hidden from listings and
// without a password, and have a slug. due has the kinds with scheduled records that are due for publication.
func (q Public) listed(due overdueKinds) predicate.Event {
	return event.And(inList[predicate.Event](Visible{Anyone: []calendar.Status{calendar.Publish}}, q.Now, due[calendar.Event]),
		event.HideFromListings(false), event.PasswordHashIsNil(), event.SlugNEQ(""))
}

// Events returns the query for published events without a password that are not hidden from listings. It is for use
// with the index.
func (q Public) Events() *Events {
	return &Events{Now: q.Now, Visible: Visible{Anyone: []calendar.Status{calendar.Publish}}, OnlyReadable: true}
}

// publicWhere returns the condition for the public records of a query. If ids is not nil, only records with these
// ids are selected. The caller must then know that the venues, organizers or terms among them are linked to a
// listed event.
func (d Database) publicWhere(ctx context.Context, q Public, ids []int64) (func(*sql.Selector), error) {
	kinds := []calendar.Kind{calendar.Event}
	if q.Kind.IsLinked() {
		kinds = append(kinds, q.Kind)
	}
	due, err := findOverdue(ctx, d.Ent, q.Now, kinds...)
	if err != nil {
		return nil, err
	}
	where := []func(*sql.Selector){idsOf(q, ids)}
	switch {
	case q.Kind == calendar.Event:
		return sql.AndPredicates(append(where, q.listed(due))...), nil
	case q.Kind.IsLinked():
		where = append(where, sql.FieldNEQ(event.FieldSlug, ""),
			inList[func(*sql.Selector)](Visible{Anyone: []calendar.Status{calendar.Publish}}, q.Now, due[q.Kind]))
	case !q.Kind.IsTerm():
		return nil, fmt.Errorf("public records of kind %s: %w", q.Kind, ErrUnsupported)
	}
	if ids == nil {
		where = append(where, ent.HasEventsWith(q.Kind, q.listed(due)))
	}
	return sql.AndPredicates(where...), nil
}

// idsOf returns the condition for records with the given ids. If ids is nil, it selects the ids above q.After and
// up to q.UpTo.
func idsOf(q Public, ids []int64) func(*sql.Selector) {
	switch {
	case ids != nil:
		return func(s *sql.Selector) {
			id := s.C(event.FieldID) // evaluated here, because the selector may get another name later
			s.Where(sql.P(func(b *sql.Builder) { b.Ident(id).WriteString(" IN " + IDList(ids)) }))
		}
	case q.UpTo == 0:
		return sql.FieldGT(event.FieldID, q.After)
	}
	return sql.AndPredicates(sql.FieldGT(event.FieldID, q.After), sql.FieldLTE(event.FieldID, q.UpTo))
}

// PublicStretches finds which parts of a sitemap exist. It divides all ids into stretches of ids numbers, starting
// with id 1. It returns the numbers, from 0, of the stretches that contain a public record, in no order. It reads
// each record once.
func (d Database) PublicStretches(ctx context.Context, q Public, ids int64) (found []int64, err error) {
	where, err := d.publicWhere(ctx, q, nil)
	if err != nil {
		return nil, err
	}
	var rows []float64 // MySQL returns the quotient of integers as a decimal
	err = d.Ent.ScanKind(ctx, q.Kind, &rows, func(s *sql.Selector) {
		id := s.C(event.FieldID)
		s.SetDistinct(true).SelectExpr(sql.ExprFunc(func(b *sql.Builder) {
			b.WriteString("(" + id + " - 1 - (" + id + " - 1) % ").WriteString(strconv.FormatInt(ids, 10)).
				WriteString(") / ").WriteString(strconv.FormatInt(ids, 10))
		}))
		where(s)
	})
	for _, n := range rows {
		found = append(found, int64(n))
	}
	return found, err
}

// publicBatch is the number of records that one statement of ReadPublic reads.
const publicBatch = 1000

// ReadPublic reads the records with the given ids and returns those that are public, sorted by id. ids must be
// sorted. The index must have found them: the database does not check again whether listed events are linked to the
// records.
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

// TermsOf returns the given term ids that belong to a taxonomy, in the order of ids. It leaves out the others.
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

// FindPublic returns the records of a public query, sorted by id. For a kind without a sitemap, such as series, the
// error is ErrUnsupported.
func (d Database) FindPublic(ctx context.Context, q Public) ([]PublicRecord, error) {
	return d.findPublic(ctx, q, nil)
}

// findPublic returns the public records of a query, sorted by id. If ids is not nil, it reads only these ids, as
// publicWhere describes.
func (d Database) findPublic(ctx context.Context, q Public, ids []int64) (found []PublicRecord, err error) {
	where, err := d.publicWhere(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	err = d.Ent.ScanKind(ctx, q.Kind, &found, func(s *sql.Selector) {
		s.Select(s.C(event.FieldID), s.C(event.FieldSlug), s.C(event.FieldLanguage), s.C(event.FieldLanguages), s.C(event.FieldModifiedAt)).
			OrderBy(s.C(event.FieldID))
		where(s)
	})
	return found, err
}
