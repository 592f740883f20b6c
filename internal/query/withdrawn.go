package query

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/withdrawal"
	"github.com/almanac-cal/almanac/ent/withdrawalkey"
)

// WithdrawalTime is the time for which feeds list a withdrawn event, one that is no longer public (contract, section
// 20).
const WithdrawalTime = 60 * 24 * time.Hour

// sequencesAtOnce is the largest number of ids in one statement that reads sequence numbers.
const sequencesAtOnce = 2000

// Position is a position in a list that is sorted by start and id.
type Position struct {
	Start time.Time
	ID    int64
}

// Withdrawal is an event that is no longer public, as it was when it was last public. Sequence is its present
// sequence number for calendar clients.
type Withdrawal struct {
	*ent.Withdrawal
	Sequence int64
}

// IncludesWithdrawn reports whether the list can contain withdrawn events, which are no longer public. The query
// must restrict only dates, terms, venues and organizers, because other properties of such events are not stored.
func (q *Events) IncludesWithdrawn() bool {
	return q.Include == nil && q.Series.IDs == nil && !q.Series.None && !q.Series.First && !q.AsksForPlaces() && q.Search == nil &&
		!slices.ContainsFunc(q.Conditions, func(c Condition) bool {
			return c.Column.Kind != LinkKind && c.Column.Kind != TermKind
		})
}

// WithdrawnPart limits which events FindWithdrawn returns from those of a list that are no longer public. The zero
// value means all of them.
type WithdrawnPart struct {
	After, Last *Position // positions above After and up to Last; nil means no bound
	Upcoming    bool      // true for only events that had not ended when they were withdrawn
	Limit       int       // largest number of events; 0 means no limit
}

// FindWithdrawn returns events that are no longer public but matched the list when they last were. The latest
// withdrawal comes first. Nil means none, or that q.IncludesWithdrawn is false.
func (d Database) FindWithdrawn(ctx context.Context, q *Events, part WithdrawnPart) ([]Withdrawal, error) {
	if !q.IncludesWithdrawn() {
		return nil, nil
	}
	where := append(q.Window.withdrawn(), withdrawal.ListedEQ(true))
	for _, period := range q.Periods {
		for _, p := range period.predicates(nil) {
			where = append(where, p)
		}
	}
	if after := part.After; after != nil {
		where = append(where, withdrawal.Or(withdrawal.StartsAtGT(after.Start),
			withdrawal.And(withdrawal.StartsAtEQ(after.Start), withdrawal.IDGT(after.ID))))
	}
	if last := part.Last; last != nil {
		where = append(where, withdrawal.Or(withdrawal.StartsAtLT(last.Start),
			withdrawal.And(withdrawal.StartsAtEQ(last.Start), withdrawal.IDLTE(last.ID))))
	}
	if part.Upcoming {
		where = append(where, func(s *sql.Selector) {
			s.Where(sql.ColumnsGT(s.C(withdrawal.FieldEndsAt), s.C(withdrawal.FieldAt)))
		})
	}
	for _, c := range q.Conditions {
		ids := c.IDs
		if c.Column.Kind == TermKind {
			ids = ids[:len(c.Words)] // the keys of a withdrawal include the ancestors of its event's terms
		}
		values := make([]string, len(ids))
		for i, id := range ids {
			values[i] = strconv.FormatInt(id, 10)
		}
		where = append(where, hasKey(c.Column.LinksTo, values...))
	}
	return d.withdrawn(ctx, q.Now, where, part.Limit)
}

// WithdrawnBySlug returns the event that had a slug when it ceased to be public. If there were several, it returns
// the latest. Nil means none.
func (d Database) WithdrawnBySlug(ctx context.Context, slug string, now time.Time) (*Withdrawal, error) {
	found, err := d.withdrawn(ctx, now, []predicate.Withdrawal{hasKey(calendar.Event, slug)}, 1)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// WithdrawnSlugs returns the slugs that an event had when it ceased to be public.
func (d Database) WithdrawnSlugs(ctx context.Context, id int64) ([]string, error) {
	return d.Ent.WithdrawalKey.Query().
		Where(withdrawalkey.WithdrawalID(id), withdrawalkey.KindEQ(calendar.Event)).Order(withdrawalkey.ByID()).
		Select(withdrawalkey.FieldValue).Strings(ctx)
}

// withdrawn returns the stored withdrawals that meet all predicates, the latest first. limit 0 means all. It leaves
// out withdrawals older than WithdrawalTime, and events that are deleted or public at now. A process of the previous
// version may have republished such an event without deleting its withdrawal.
func (d Database) withdrawn(
	ctx context.Context, now time.Time, where []predicate.Withdrawal, limit int,
) ([]Withdrawal, error) {
	public := sql.OrPredicates(sql.FieldEQ(event.FieldStatus, calendar.Publish), sql.AndPredicates(
		sql.FieldEQ(event.FieldStatus, calendar.Future), sql.FieldLTE(event.FieldPublishedAt, now)))
	list := d.Ent.Withdrawal.Query().
		Where(withdrawal.AtGT(now.Add(-WithdrawalTime)), withdrawal.And(where...), func(s *sql.Selector) {
			t := sql.Table(event.Table)
			private := sql.Dialect(s.Dialect()).Select(t.C(event.FieldID)).From(t)
			private.Where(sql.ColumnsEQ(t.C(event.FieldID), s.C(withdrawal.FieldID)))
			sql.NotPredicates(public)(private)
			s.Where(sql.Exists(private))
		}).
		Order(withdrawal.ByAt(sql.OrderDesc()), withdrawal.ByID(sql.OrderDesc()))
	if limit > 0 {
		list.Limit(limit)
	}
	rows, err := list.All(ctx)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	sequences := make(map[int64]int64, len(ids))
	for part := range slices.Chunk(ids, sequencesAtOnce) {
		events, err := d.Ent.Event.Query().Where(func(s *sql.Selector) {
			id := s.C(event.FieldID)
			s.Where(sql.P(func(b *sql.Builder) { b.Ident(id).WriteString(" IN " + IDList(part)) }))
		}).Select(event.FieldID, event.FieldSequence).All(ctx)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			sequences[e.ID] = e.Sequence
		}
	}
	out := make([]Withdrawal, len(rows))
	for i, row := range rows {
		out[i] = Withdrawal{row, sequences[row.ID]}
	}
	return out, nil
}

// hasKey selects withdrawals by what the event had when it was withdrawn: a linked record of a kind, or a slug.
// values are ids in digits, or a single slug. Several values must be digits, because they are written into the
// statement without placeholders.
func hasKey(kind calendar.Kind, values ...string) predicate.Withdrawal {
	return func(s *sql.Selector) {
		t := sql.Table(withdrawalkey.Table)
		in := sql.In(t.C(withdrawalkey.FieldValue), anySlice(values)...)
		if len(values) > 1 {
			in = sql.P(func(b *sql.Builder) {
				b.Ident(t.C(withdrawalkey.FieldValue)).WriteString(" IN ('" + strings.Join(values, "','") + "')")
			})
		}
		s.Where(sql.In(s.C(withdrawal.FieldID), sql.Select(t.C(withdrawalkey.FieldWithdrawalID)).From(t).
			Where(sql.And(sql.EQ(t.C(withdrawalkey.FieldKind), kind), in))))
	}
}

func anySlice(values []string) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

// withdrawn returns the predicates for withdrawals whose start and end are in the window.
func (w Window) withdrawn() []predicate.Withdrawal {
	var where []predicate.Withdrawal
	for _, p := range w.predicates() {
		where = append(where, predicate.Withdrawal(p)) // the columns have the same names
	}
	return where
}
