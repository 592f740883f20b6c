package bulk

import (
	"context"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/store"
)

// caseBatch is the number of rows in a statement that has a different value for each row. It is small, because
// the database searches the list of values again for each row.
const caseBatch = 100

// EventChange has a stored event, and its fields and links after a write.
type EventChange struct {
	Row *ent.Event // the stored row, as it is before the write

	State         edit.PublicationState
	Author        *int64
	Span          calendar.Span
	OriginalStart calendar.Wall // start by the schedule of the series (nominal start)
	OwnFields     []string
	OffSchedule   bool
	Languages     calendar.LanguageSet
	Sequence      int64

	// Before and After have the event's fields that its series shares, before and after the write. Only fields that
	// can change are set.
	Before, After ent.Event
	// Changed has the names of the fields that differ between Before and After, with their languages.
	Changed []string
	// Source groups changes that share a statement. It is equal for changes whose changed fields have equal
	// values in After.
	Source string
	// Fields has the names of all changed fields for the change log.
	Fields []string
	Action calendar.Action // calendar.Updated, calendar.Trashed or calendar.Restored
	Impact edit.Impact

	// WantedSlug is the slug that an event without one gets if NeedsSlug is true and the slug is free.
	WantedSlug string
	// slug is the slug after the write.
	slug string
}

// NeedsSlug reports whether the event must have a slug after the write, even if the client sent none. For a trashed
// event, its status before the trash decides.
func (c *EventChange) NeedsSlug() bool {
	return c.State.Status.HasSlug() || c.State.BeforeTrash.HasSlug()
}

// moves reports whether the write changes the dates or the nominal start of the event.
func (c *EventChange) moves() bool {
	return slices.Contains(c.Fields, "start_date") || slices.Contains(c.Fields, "end_date") || c.changesStart()
}

// changesStart reports whether the write changes the nominal start of the event.
func (c *EventChange) changesStart() bool { return !c.Row.OriginalStart.Equal(c.OriginalStart) }

// EventUpdate stores changes of many occurrences. Changes with equal values share statements.
type EventUpdate struct {
	editor  *edit.Editor
	tx      *ent.Tx
	changes []*EventChange
}

// NewEventUpdate returns an EventUpdate for events that the caller has locked.
func NewEventUpdate(e *edit.Editor, tx *ent.Tx, changes []*EventChange) *EventUpdate {
	return &EventUpdate{editor: e, tx: tx, changes: changes}
}

// StoreFields stores the slugs, the columns and the translations of the events. It must run before StoreLinks,
// because slugs are locked before terms and links.
func (u *EventUpdate) StoreFields(ctx context.Context) error {
	for _, c := range u.changes {
		c.slug = c.Row.Slug
	}
	if err := u.storeSlugs(ctx); err != nil {
		return err
	}
	if err := u.storeColumns(ctx); err != nil {
		return err
	}
	return u.storeTranslations(ctx)
}

// StoreLinks updates the event counts of the terms, and replaces the changed links of the events.
func (u *EventUpdate) StoreLinks(ctx context.Context) error {
	by := make(map[int64]int)
	for _, c := range u.changes {
		if edit.CountsForTerms(c.Row.Status) {
			for _, id := range edit.LinksOf(&c.Before).Terms() {
				by[id]--
			}
		}
		if edit.CountsForTerms(c.State.Status) {
			for _, id := range edit.LinksOf(&c.After).Terms() {
				by[id]++
			}
		}
	}
	if err := edit.CountEvents(ctx, u.tx, by); err != nil {
		return err
	}
	for _, l := range []struct {
		kind   calendar.Kind
		fields []string
		links  func(*ent.Event) []int64
	}{
		{calendar.Venue, []string{"venue"}, (*ent.Event).VenueIDs},
		{calendar.Organizer, []string{"organizer"}, (*ent.Event).OrganizerIDs},
		// Categories and tags are in the same table.
		{calendar.Category, []string{"categories", "tags"}, func(t *ent.Event) []int64 { return edit.LinksOf(t).Terms() }},
	} {
		if err := u.replaceLinks(ctx, l.kind, l.fields, l.links); err != nil {
			return err
		}
	}
	return nil
}

// replaceLinks replaces the links to records of one kind, in those events in which any of fields changes. The
// function links returns the ids of the records that an event is linked to after the write.
func (u *EventUpdate) replaceLinks(ctx context.Context, kind calendar.Kind, fields []string, links func(*ent.Event) []int64) error {
	changes := slices.DeleteFunc(slices.Clone(u.changes), func(c *EventChange) bool {
		return !slices.ContainsFunc(fields, func(name string) bool { return slices.Contains(c.Changed, name) })
	})
	ids := eventIDs(changes)
	for part := range slices.Chunk(ids, edit.BatchSize) {
		if err := edit.RemoveLinks(ctx, u.tx, kind, part); err != nil {
			return err
		}
	}
	rows := linkRows(kind)
	for i, c := range changes {
		addLinks(&rows, kind, i, links(&c.After))
	}
	if err := rows.Insert(ctx, u.tx, ids); err != nil {
		return fmt.Errorf("%s: %w", rows.Table, store.AsConflict(err))
	}
	return nil
}

// eventIDs returns the ids of the changed events.
func eventIDs(changes []*EventChange) []int64 {
	ids := make([]int64, len(changes))
	for i, c := range changes {
		ids[i] = c.Row.ID
	}
	return ids
}

// groupChanges groups changes that have the same key. Groups are in the order of their first change. Changes with
// the key "" are left out.
func groupChanges(changes []*EventChange, key func(*EventChange) string) [][]*EventChange {
	var groups [][]*EventChange
	place := make(map[string]int)
	for _, c := range changes {
		k := key(c)
		if k == "" {
			continue
		}
		if _, ok := place[k]; !ok {
			place[k], groups = len(groups), append(groups, nil)
		}
		groups[place[k]] = append(groups[place[k]], c)
	}
	return groups
}

// storeColumns writes the changed columns of the events. Events with equal values share a statement.
func (u *EventUpdate) storeColumns(ctx context.Context) error {
	if err := u.freeStarts(ctx); err != nil {
		return err
	}
	for _, group := range groupChanges(u.changes, (*EventChange).columnKey) {
		first := group[0]
		for part := range slices.Chunk(group, caseBatch) {
			ids := eventIDs(part)
			byID := make(map[int64]*EventChange, len(part))
			for _, c := range part {
				byID[c.Row.ID] = c
			}
			update := u.tx.Event.Update().Where(event.IDIn(ids...)).AddVersion(1)
			first.setColumns(update.Mutation())
			err := update.Modify(func(b *sql.UpdateBuilder) {
				setOwnValues(b, ids, byID)
				u.editor.StampRows(b, first.Impact)
			}).Exec(ctx)
			if err != nil {
				return fmt.Errorf("columns: %w", store.AsConflict(err))
			}
		}
	}
	return nil
}

// freeStarts sets the nominal starts of moving occurrences to null, if one of them takes the start of another.
// Otherwise the unique index would refuse the update, because the database checks it row by row.
func (u *EventUpdate) freeStarts(ctx context.Context) error {
	left := make(map[calendar.Wall]bool)
	var moving []*EventChange
	for _, c := range u.changes {
		if c.changesStart() {
			left[*c.Row.OriginalStart] = true
			moving = append(moving, c)
		}
	}
	if !slices.ContainsFunc(moving, func(c *EventChange) bool { return left[c.OriginalStart] }) {
		return nil
	}
	for part := range slices.Chunk(eventIDs(moving), edit.BatchSize) {
		if err := u.tx.Event.Update().Where(event.IDIn(part...)).ClearOriginalStart().Exec(ctx); err != nil {
			return fmt.Errorf("nominal starts: %w", err)
		}
	}
	return nil
}

// columnKey returns a key for groupChanges. Changes with the same key can share a statement, because setColumns sets
// the same values for them.
func (c *EventChange) columnKey() string {
	return fmt.Sprint(c.Source, c.Changed, c.State, edit.ValueOr(0, c.Author), c.Span.Zone, c.Span.AllDay, c.Languages, c.OwnFields,
		c.OffSchedule, c.moves(), c.slug != c.Row.Slug, c.Sequence != c.Row.Sequence, c.Impact.Hidden)
}

// setColumns sets in m the values that all changes with the same columnKey share.
func (c *EventChange) setColumns(m *ent.EventMutation) {
	for _, name := range c.Changed {
		if f, l := edit.TemplateFieldOf(name); l == "" && f.Set != nil {
			f.Set(m, &c.After)
		}
	}
	m.SetStatus(c.State.Status)
	m.SetStatusBeforeTrash(c.State.BeforeTrash)
	m.SetPublishedAt(c.State.Published)
	m.SetDated(c.State.Dated)
	if c.Author == nil {
		m.ClearAuthorID()
	} else {
		m.SetAuthorID(*c.Author)
	}
	m.SetTimezone(c.Span.Zone.String())
	m.SetAllDay(c.Span.AllDay)
	m.SetLanguages(c.Languages)
	m.SetOffSchedule(c.OffSchedule)
	if len(c.OwnFields) == 0 {
		m.ClearOwnFields()
	} else {
		m.SetOwnFields(c.OwnFields)
	}
}

// setOwnValues adds to a statement the values that differ from event to event. These are dates, nominal start,
// sequence and slug, as far as the events in changes get new ones.
func setOwnValues(b *sql.UpdateBuilder, ids []int64, changes map[int64]*EventChange) {
	first := changes[ids[0]]
	wall := func(column string, value func(*EventChange) calendar.Wall) {
		b.Set(column, store.CaseByID(event.FieldID, ids, func(id int64) calendar.Wall { return value(changes[id]) }))
	}
	if first.moves() {
		wall(event.FieldOriginalStart, func(c *EventChange) calendar.Wall { return c.OriginalStart })
		wall(event.FieldStartWall, func(c *EventChange) calendar.Wall { return c.Span.Start })
		wall(event.FieldEndWall, func(c *EventChange) calendar.Wall { return c.Span.End })
		b.Set(event.FieldStartsAt, store.CaseByID(event.FieldID, ids, func(id int64) time.Time { return changes[id].Span.StartsAt() }))
		b.Set(event.FieldEndsAt, store.CaseByID(event.FieldID, ids, func(id int64) time.Time { return changes[id].Span.EndsAt() }))
	}
	if first.Sequence != first.Row.Sequence {
		b.Set(event.FieldSequence, store.CaseByID(event.FieldID, ids, func(id int64) int64 { return changes[id].Sequence }))
	}
	if first.slug != first.Row.Slug {
		b.Set(event.FieldSlug, store.CaseByID(event.FieldID, ids, func(id int64) string { return changes[id].slug }))
	}
}
