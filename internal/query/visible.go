package query

import (
	"context"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
)

// predicateOf is a predicate of events, venues, organizers or series. Their tables share the columns in this
// file, and Ent's predicates for all of them are functions of a selector.
type predicateOf interface{ ~func(*sql.Selector) }

// overdueKinds has true for each kind with overdue records. Such records have the status future although their
// publication date has passed.
type overdueKinds map[calendar.Kind]bool

// findOverdue reports, for each given kind, whether the database has scheduled records whose publication date has
// passed at now.
func findOverdue(ctx context.Context, db *ent.Client, now time.Time, kinds ...calendar.Kind) (overdueKinds, error) {
	out := make(overdueKinds, len(kinds))
	due := sql.AndPredicates(
		sql.FieldEQ(event.FieldStatus, calendar.Future), sql.FieldLTE(event.FieldPublishedAt, now))
	for _, kind := range kinds {
		found, err := db.HasRecord(ctx, kind, due)
		if err != nil {
			return nil, err
		}
		out[kind] = found
	}
	return out, nil
}

// hasStatus selects records whose status at now is one of statuses. A scheduled record whose publication date has
// passed counts as published. due is true if there are such records. Usually there are none, and then a condition on
// the stored status, which has an index, suffices.
func hasStatus(now time.Time, due bool, statuses []calendar.Status) func(*sql.Selector) {
	var some []func(*sql.Selector)
	for _, s := range statuses {
		switch {
		case s == calendar.Publish && due:
			some = append(some, sql.FieldEQ(event.FieldStatus, calendar.Publish), sql.AndPredicates(
				sql.FieldEQ(event.FieldStatus, calendar.Future), sql.FieldLTE(event.FieldPublishedAt, now)))
		case s == calendar.Future && due:
			some = append(some, sql.AndPredicates(
				sql.FieldEQ(event.FieldStatus, calendar.Future), sql.FieldGT(event.FieldPublishedAt, now)))
		default:
			some = append(some, sql.FieldEQ(event.FieldStatus, s))
		}
	}
	return sql.OrPredicates(some...)
}

// inList selects the records that a list includes by their status and author. The parameter seen has the allowed
// statuses. due is true if scheduled records of the kind are due for publication.
func inList[P predicateOf](seen Visible, now time.Time, due bool) P {
	var some []func(*sql.Selector)
	if seen.Anyone != nil {
		some = append(some, hasStatus(now, due, seen.Anyone))
	}
	if seen.Own != nil {
		some = append(some, sql.AndPredicates(
			sql.FieldEQ(event.FieldAuthorID, seen.Author), hasStatus(now, due, seen.Own)))
	}
	return P(sql.OrPredicates(some...))
}

// notInList selects the records that inList does not select. A plain NOT would miss records without an author,
// because SQL compares those as NULL.
func notInList[P predicateOf](seen Visible, now time.Time, due bool) P {
	anyones := seen
	anyones.Own = nil
	return P(sql.OrPredicates(
		sql.NotPredicates(inList[func(*sql.Selector)](seen, now, due)),
		sql.AndPredicates(sql.FieldIsNull(event.FieldAuthorID), sql.NotPredicates(inList[func(*sql.Selector)](anyones, now, due))),
	))
}

// isUnredacted selects the records that the client sees in full, without redaction. The predicate open selects
// records without a password. The parameter may has the other records that the client can read.
func isUnredacted[P predicateOf](may Readable, open P) P {
	if may.All {
		return func(*sql.Selector) {}
	}
	shown := []func(*sql.Selector){open}
	if len(may.IDs) > 0 {
		shown = append(shown, func(s *sql.Selector) {
			id := s.C(event.FieldID) // evaluated here, because the selector may get another name later
			s.Where(sql.P(func(b *sql.Builder) { b.Ident(id).WriteString(" IN " + IDList(may.IDs)) }))
		})
	}
	if may.Author != 0 {
		own := []func(*sql.Selector){sql.FieldEQ(event.FieldAuthorID, may.Author)}
		if may.DraftsOnly {
			drafts := []any{calendar.Draft, calendar.Pending}
			own = append(own, sql.OrPredicates(sql.FieldIn(event.FieldStatus, drafts...), sql.AndPredicates(
				sql.FieldEQ(event.FieldStatus, calendar.Trash), sql.FieldIn(event.FieldStatusBeforeTrash, drafts...))))
		}
		shown = append(shown, sql.AndPredicates(own...))
	}
	return P(sql.OrPredicates(shown...))
}
