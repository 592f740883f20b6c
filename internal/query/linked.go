package query

import (
	"context"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/predicate"
)

// Linked is a query for a list of venues or organizers. The record with the latest publication date is first. The
// zero value of a field means no restriction, except for Readable and the fields of type Visible.
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
	// Pieces are texts in the form of search.Fold. A single text of the record, served in Language, must contain all
	// of them.
	Pieces   []string
	Language calendar.Language
	// Where has further conditions on columns of the table.
	Where    []func(*sql.Selector)
	Revision int64 // revision that the engine must at least have applied; 0 means the newest
}

// FindLinked returns the ids of up to limit venues or organizers, after the first offset ones. The Page also has the
// length of the whole list. For another kind, the error is ErrUnsupported.
func (d Database) FindLinked(ctx context.Context, kind calendar.Kind, q *Linked, offset, limit int) (Page, error) {
	if !kind.IsNamed() {
		return Page{}, fmt.Errorf("list of kind %s: %w", kind, ErrUnsupported)
	}
	due, err := findOverdue(ctx, d.Ent, q.Now, kind, calendar.Event)
	if err != nil {
		return Page{}, err
	}
	where := sql.AndPredicates(q.predicates(kind, due)...)
	var counts []int
	err = d.Ent.ScanKind(ctx, kind, &counts, func(s *sql.Selector) {
		s.Select(sql.Count("*"))
		where(s)
	})
	if err != nil || offset >= counts[0] || limit == 0 {
		return Page{Total: slices.Max(append(counts, 0))}, err
	}
	var ids []int64
	err = d.Ent.ScanKind(ctx, kind, &ids, func(s *sql.Selector) {
		s.Select(s.C(event.FieldID)).OrderBy(sql.Desc(s.C(event.FieldPublishedAt)), sql.Desc(s.C(event.FieldID))).Offset(offset).Limit(limit)
		where(s)
	})
	return Page{IDs: ids, Total: counts[0]}, err
}

// predicates returns the predicates for the conditions of a list of venues or organizers (contract, section 9.2).
// due has the kinds with scheduled records that are due for publication.
func (q *Linked) predicates(kind calendar.Kind, due overdueKinds) []func(*sql.Selector) {
	where := append([]func(*sql.Selector){inList[func(*sql.Selector)](q.Visible, q.Now, due[kind])}, q.Where...)
	counted := event.And(
		inList[predicate.Event](q.Events, q.Now, due[calendar.Event]), isUnredacted(q.Readable, event.PasswordHashIsNil()))
	if q.Event != nil {
		where = append(where, ent.HasEventsWith(kind, event.ID(*q.Event)))
	}
	if q.HasEvents != nil {
		has := ent.HasEventsWith(kind, counted)
		if !*q.HasEvents {
			has = sql.NotPredicates(has)
		}
		where = append(where, has)
	}
	if q.Upcoming {
		where = append(where, ent.HasEventsWith(kind, counted, event.StartsAtGTE(q.Now)))
	}
	if q.Pieces != nil {
		where = append(where, HasText[func(*sql.Selector)](kind, q.Language, q.Pieces, nil))
	}
	return where
}
