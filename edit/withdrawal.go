package edit

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
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/ent/withdrawal"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/store"
)

// feedSetting is the id of the setting that stores the result of FeedKey.
const feedSetting = "feed_key"

// FeedKey returns the key for the UIDs of feeds: 16 random bytes that all processes of one database share. The
// first call stores a new key.
func FeedKey(ctx context.Context, db *ent.Client) (key [16]byte, err error) {
	value, err := sharedKey(ctx, db, feedSetting, len(key))
	if err == nil && len(value) != len(key) {
		err = fmt.Errorf("setting %s: %d bytes, want %d", feedSetting, len(value), len(key))
	}
	copy(key[:], value)
	return key, err
}

// Sequence returns the SEQUENCE that iCalendar feeds show for an event at now (contract, section 20). A withdrawn
// event that is scheduled counts as public from its publication date on, even if PublishDue has not run yet.
func Sequence(row *ent.Event, now time.Time) int64 {
	if row.Status == calendar.Future && row.Sequence > 0 && IsPublic(row.Status, row.PublishedAt, now) {
		return row.Sequence + 1
	}
	return row.Sequence
}

// IsPublic reports whether the public sees a record at now that has this status and publication date.
func IsPublic(status calendar.Status, published, now time.Time) bool {
	return status.Shown(now, published) == calendar.Publish
}

// NextSequence returns the iCalendar SEQUENCE of an event after a write at now. It grows when a write withdraws
// the event, or changes its times or event status while it is public. Before that it is 0. If protected is true,
// the event has a password, which hides whether it is all-day.
func NextSequence(
	row *ent.Event, now time.Time, status calendar.Status, published time.Time, span calendar.Span, state calendar.EventStatus,
	protected bool,
) int64 {
	was, is, n := IsPublic(row.Status, row.PublishedAt, now), IsPublic(status, published, now), Sequence(row, now)
	switch {
	case was && !is, !was && is && n > 0:
		return n + 1
	case was && (!row.StartsAt.Equal(span.StartsAt()) || !row.EndsAt.Equal(span.EndsAt()) ||
		(row.AllDay && !HasPassword(row)) != (span.AllDay && !protected) || row.EventStatus != state):
		return n + 1
	}
	return n
}

// withdraw stores withdrawals, with the last public state of events that a write is going to hide. Feeds need them
// to report that the events are gone. It reads their links and slugs, so the caller must not have changed these
// yet.
func (e *Editor) withdraw(ctx context.Context, tx *ent.Tx, rows ...*ent.Event) error {
	var ids, open []int64
	for _, row := range rows {
		ids = append(ids, row.ID)
		if !HasPassword(row) {
			open = append(open, row.ID)
		}
	}
	// A process of the previous version may have published an event again without deleting its withdrawal.
	if err := dropWithdrawals(ctx, tx, ids); err != nil {
		return err
	}
	for part := range slices.Chunk(rows, BatchSize) {
		creates := make([]*ent.WithdrawalCreate, len(part))
		for i, row := range part {
			creates[i] = tx.Withdrawal.Create().SetID(row.ID).SetAt(e.Now).SetListed(!row.HideFromListings).
				SetStartsAt(row.StartsAt).SetEndsAt(row.EndsAt).SetStartWall(row.StartWall).SetEndWall(row.EndWall).
				SetTimezone(row.Timezone).SetAllDay(row.AllDay && !HasPassword(row))
		}
		if err := tx.Withdrawal.CreateBulk(creates...).Exec(ctx); err != nil {
			return fmt.Errorf("withdrawn events: %w", store.AsConflict(err))
		}
	}
	keys, err := e.withdrawalKeys(ctx, tx, ids, open)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(keys, BatchSize) {
		creates := make([]*ent.WithdrawalKeyCreate, len(part))
		for i, k := range part {
			creates[i] = tx.WithdrawalKey.Create().SetWithdrawalID(k.event).SetKind(k.kind).SetValue(k.value)
		}
		if err := tx.WithdrawalKey.CreateBulk(creates...).Exec(ctx); err != nil {
			return fmt.Errorf("withdrawn events: %w", store.AsConflict(err))
		}
	}
	return nil
}

// eventLink is a key by which feeds find a withdrawn event: a slug of the event, or a record linked to it.
type eventLink struct {
	event int64
	kind  calendar.Kind // kind of the linked record; calendar.Event means a slug of the event
	value string        // the slug, or the id in decimal digits
}

// maxWithdrawalKeys is the number of keys of an event from which on the ancestors of its categories get none.
// Otherwise a DELETE of a series in deep categories would write a million rows.
const maxWithdrawalKeys = 100

// withdrawalKeys returns the keys of withdrawn events without duplicates. They are the slugs of all events, and
// the publicly visible linked records of the events in open, which have no password. The ancestors of a
// category are included, so that later changes of the tree lose no key.
func (e *Editor) withdrawalKeys(ctx context.Context, tx *ent.Tx, ids, open []int64) ([]eventLink, error) {
	var keys []eventLink
	known := make(map[eventLink]bool)
	add := func(k eventLink) bool {
		isNew := !known[k]
		if isNew {
			known[k] = true
			keys = append(keys, k)
		}
		return isNew
	}
	for part := range slices.Chunk(ids, BatchSize) {
		slugs, err := tx.Slug.Query().Where(slug.KindEQ(calendar.Event), slug.OwnerIDIn(part...)).Order(slug.ByID()).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("slugs of withdrawn events: %w", err)
		}
		for _, s := range slugs {
			add(eventLink{s.OwnerID, calendar.Event, s.Slug})
		}
	}
	type placement struct{ event, category int64 }
	var placements []placement
	var categories []int64
	for part := range slices.Chunk(open, BatchSize) {
		err := e.publicLinks(ctx, tx, part, func(event int64, kind calendar.Kind, to int64) {
			add(eventLink{event, kind, strconv.FormatInt(to, 10)})
			if kind == calendar.Category {
				placements, categories = append(placements, placement{event, to}), append(categories, to)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("links of withdrawn events: %w", err)
		}
	}
	parents, err := categoriesAbove(ctx, tx, categories)
	if err != nil {
		return nil, fmt.Errorf("categories of withdrawn events: %w", err)
	}
	keysOf := make(map[int64]int, len(ids))
	for _, k := range keys {
		keysOf[k.event]++
	}
	for _, p := range placements {
		for id, ok := parents[p.category]; ok && keysOf[p.event] < maxWithdrawalKeys; id, ok = parents[id] {
			if !add(eventLink{p.event, calendar.Category, strconv.FormatInt(id, 10)}) {
				break // the parents of this category were added with it
			}
			keysOf[p.event]++
		}
	}
	isOpen := make(map[int64]bool, len(open))
	for _, id := range open {
		isOpen[id] = true
	}
	for _, l := range e.hiddenLinks {
		if isOpen[l.event] {
			add(l)
		}
	}
	return keys, nil
}

// categoriesAbove returns the parents of categories and of all their ancestors, by category id. It runs a query for
// each level of the tree, and stops after maxWithdrawalKeys levels.
func categoriesAbove(ctx context.Context, tx *ent.Tx, ids []int64) (map[int64]int64, error) {
	parents := make(map[int64]int64)
	known := make(map[int64]bool)
	for level, n := ids, 0; len(level) > 0 && n < maxWithdrawalKeys; n++ {
		level = slices.DeleteFunc(uniqueIDs(level), func(id int64) bool { return known[id] })
		var above []int64
		for part := range slices.Chunk(level, BatchSize) {
			rows, err := tx.Term.Query().Where(term.IDIn(part...), term.ParentIDNotNil()).
				Select(term.FieldID, term.FieldParentID).All(ctx)
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				parents[row.ID] = *row.ParentID
				above = append(above, *row.ParentID)
			}
		}
		for _, id := range level {
			known[id] = true
		}
		level = above
	}
	return parents, nil
}

// publicLinks calls add for each venue, organizer and term of the events that the public can see.
func (e *Editor) publicLinks(
	ctx context.Context, tx *ent.Tx, ids []int64, add func(event int64, kind calendar.Kind, to int64),
) (err error) {
	list := query.IDList(ids)
	linked := func(table, column string, kind calendar.Kind, to string) string {
		return "SELECT l." + eventvenue.FieldEventID + ", '" + string(kind) + "', l." + column + " FROM " + table + " l JOIN " + to + " t ON t.id = l." +
			column + " WHERE l." + eventvenue.FieldEventID + " IN " + list + " AND (t." + venue.FieldStatus + " = ? OR t." + venue.FieldStatus +
			" = ? AND t." + venue.FieldPublishedAt + " <= ?)"
	}
	rows, err := tx.QueryContext(ctx,
		linked(eventvenue.Table, eventvenue.FieldVenueID, calendar.Venue, venue.Table)+" UNION ALL "+
			linked(eventorganizer.Table, eventorganizer.FieldOrganizerID, calendar.Organizer, organizer.Table)+
			" UNION ALL SELECT l."+eventterm.FieldEventID+", t."+term.FieldTaxonomy+", l."+eventterm.FieldTermID+" FROM "+eventterm.Table+
			" l JOIN "+term.Table+" t ON t.id = l."+eventterm.FieldTermID+" WHERE l."+eventterm.FieldEventID+" IN "+list,
		calendar.Publish, calendar.Future, e.Now, calendar.Publish, calendar.Future, e.Now)
	if err != nil {
		return err
	}
	defer func() {
		if closed := rows.Close(); err == nil {
			err = closed
		}
	}()
	for rows.Next() {
		var id, to int64
		var kind calendar.Kind
		if err := rows.Scan(&id, &kind, &to); err != nil {
			return err
		}
		add(id, kind, to)
	}
	return rows.Err()
}

// dropWithdrawals deletes the stored withdrawals of the events with these ids. A withdrawal is the last public state
// of a hidden event.
func dropWithdrawals(ctx context.Context, tx *ent.Tx, ids []int64) error {
	for part := range slices.Chunk(ids, BatchSize) {
		if _, err := tx.Withdrawal.Delete().Where(withdrawal.IDIn(part...)).Exec(ctx); err != nil {
			return fmt.Errorf("withdrawn events: %w", err)
		}
	}
	return nil
}

// StorePublicity stores withdrawals of the events that a write hides from the public. It deletes the withdrawals
// of events that are public again. The function after returns the status and publication date of an event after
// the write.
func (e *Editor) StorePublicity(
	ctx context.Context, tx *ent.Tx, rows []*ent.Event, after func(i int) (calendar.Status, time.Time),
) error {
	var withdrawn []*ent.Event
	var returned []int64
	for i, row := range rows {
		status, published := after(i)
		switch was, is := IsPublic(row.Status, row.PublishedAt, e.Now), IsPublic(status, published, e.Now); {
		case was && !is:
			withdrawn = append(withdrawn, row)
		case is && row.Sequence > 0 && row.Status != calendar.Publish:
			returned = append(returned, row.ID)
		}
	}
	if withdrawn != nil {
		if err := e.withdraw(ctx, tx, withdrawn...); err != nil {
			return err
		}
	}
	return dropWithdrawals(ctx, tx, returned)
}

// RememberedTime is the time for which the database stores a withdrawal. Feeds list it for
// query.WithdrawalTime. For another month they need its date to answer If-Modified-Since.
const RememberedTime = query.WithdrawalTime + 31*24*time.Hour

// ForgetWithdrawals deletes up to BatchSize withdrawals that are older than RememberedTime, and returns their
// number.
func ForgetWithdrawals(ctx context.Context, db *ent.Client, now time.Time) (int, error) {
	ids, err := db.Withdrawal.Query().Where(withdrawal.AtLTE(now.Add(-RememberedTime))).
		Order(withdrawal.ByAt(), withdrawal.ByID()).Limit(BatchSize).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.Withdrawal.Delete().Where(withdrawal.IDIn(ids...), withdrawal.AtLTE(now.Add(-RememberedTime))).Exec(ctx)
}

// raiseSequence makes the statement increase the SEQUENCE of events that were withdrawn and become public again.
func raiseSequence(u *sql.UpdateBuilder) {
	u.Set(event.FieldSequence, sql.ExprFunc(func(b *sql.Builder) {
		b.WriteString("CASE WHEN ").Ident(event.FieldSequence).WriteString(" > 0 THEN ").Ident(event.FieldSequence).
			WriteString(" + 1 ELSE 0 END")
	}))
}
