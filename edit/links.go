package edit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/store"
)

// replaceLinks replaces the links of an event to records of one kind, venues or organizers. The parameter was has
// the stored ids, and ids has the new ones in order. If both are equal, nothing is written.
func replaceLinks(ctx context.Context, tx *ent.Tx, kind calendar.Kind, id int64, was, ids []int64) (err error) {
	if slices.Equal(was, ids) {
		return nil
	}
	err = tx.Client().DeleteLinks(ctx, kind, sql.FieldEQ(ent.LinkTables[kind].Event, id))
	if err != nil {
		return fmt.Errorf("unlink %s of event %d: %w", kind, id, err)
	}
	return link(ctx, tx, kind, id, ids)
}

// unlink removes all links from events and series to the given venues, organizers or terms. Each event or series
// that loses a link gets a new version (decision 023). The caller has locked the records, so that no other
// transaction links to them. The parameter seen reports whether the public could see the records.
func (e *Editor) unlink(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64, seen bool) error {
	if err := e.unlinkSeries(ctx, tx, eventField(kind), ids, seen); err != nil {
		return err
	}
	for part := range slices.Chunk(ids, BatchSize) {
		events, err := linkedEvents(ctx, tx, kind, part)
		if err != nil {
			return fmt.Errorf("events of kind %s: %w", kind, err)
		}
		if err := e.touch(ctx, tx, calendar.Event, events, []string{eventField(kind)}, seen, nil); err != nil {
			return err
		}
		err = tx.Client().DeleteLinks(ctx, kind, sql.FieldIn(ent.LinkTables[kind].Record, part...))
		if err != nil {
			return fmt.Errorf("unlink %s: %w", kind, err)
		}
	}
	return nil
}

// templateLinks maps event fields that refer to other records to the JSON path of the ids in a template. A template
// has the fields that occurrences of a series share.
var templateLinks = map[string]string{
	"image": "$.ImageID", "post_parent": "$.ParentID", "categories": "$.Categories", "tags": "$.Tags",
	"venue": "$.Venues", "organizer": "$.Organizers",
}

// unlinkSeries removes ids from one field that series share with their occurrences. Each changed series gets a new
// version. The series are locked in the order of their ids. The caller must unlink events afterwards, because a
// series may have got new occurrences before it was locked. The parameter seen reports whether the public could see
// the records.
func (e *Editor) unlinkSeries(ctx context.Context, tx *ent.Tx, field string, ids []int64, seen bool) error {
	linked, err := linkedSeries(ctx, tx, field, ids)
	if err != nil {
		return fmt.Errorf("series with %s: %w", field, err)
	}
	for part := range slices.Chunk(linked, BatchSize) {
		if _, err := lockRecords(ctx, tx, calendar.Series, sql.FieldIn(series.FieldID, part...), noLimit); err != nil {
			return fmt.Errorf("series with %s: %w", field, err)
		}
		phases, err := tx.SeriesPhase.Query().Where(seriesphase.SeriesIDIn(part...)).Order(seriesphase.BySeriesID()).All(ctx)
		if err != nil {
			return fmt.Errorf("phases of series with %s: %w", field, err)
		}
		var changed []int64
		for _, p := range phases {
			t, err := ent.DecodeTemplate(p.Template)
			if err != nil {
				return fmt.Errorf("template of phase %d: %w", p.ID, err)
			}
			if !DropTemplateLinks(t, field, func(id int64) bool { return slices.Contains(ids, id) }) {
				continue
			}
			stored, err := ent.EncodeTemplate(t)
			if err == nil {
				err = tx.SeriesPhase.Update().Where(seriesphase.ID(p.ID)).SetTemplate(stored).Exec(ctx)
			}
			if err != nil {
				return fmt.Errorf("phase %d: %w", p.ID, err)
			}
			changed = append(changed, p.SeriesID)
		}
		if err := e.touch(ctx, tx, calendar.Series, slices.Compact(changed), []string{field}, seen, nil); err != nil {
			return err
		}
	}
	return nil
}

// linkedSeries returns ids of series in ascending order. The shared field of these series contains at least one of
// ids. field is one of templateLinks.
func linkedSeries(ctx context.Context, tx *ent.Tx, field string, ids []int64) (found []int64, err error) {
	var rows []struct {
		SeriesID int64  `json:"series_id"`
		Linked   string `json:"linked"` // an id, or a list of ids, in JSON
	}
	err = tx.SeriesPhase.Query().Modify(func(s *sql.Selector) {
		linked := "JSON_EXTRACT(" + s.C(seriesphase.FieldTemplate) + ", '" + templateLinks[field] + "')"
		s.Select(s.C(seriesphase.FieldSeriesID), sql.As(linked, "linked")).Where(sql.ExprP(linked + " IS NOT NULL"))
	}).Scan(ctx, &rows)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		var linked []int64
		if err := json.Unmarshal([]byte("["+strings.Trim(r.Linked, "[]")+"]"), &linked); err != nil {
			return nil, fmt.Errorf("template of series %d: %w", r.SeriesID, err)
		}
		if slices.ContainsFunc(linked, func(id int64) bool { return slices.Contains(ids, id) }) {
			found = append(found, r.SeriesID)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// DropTemplateLinks removes the ids for which drop returns true from a field of t, the shared fields of a series. It
// returns whether it removed any.
func DropTemplateLinks(t *ent.Event, field string, drop func(int64) bool) bool {
	was := *t
	without := func(ids []int64) []int64 { return slices.DeleteFunc(ids, drop) }
	kept := func(id *int64) *int64 {
		if id != nil && drop(*id) {
			return nil
		}
		return id
	}
	switch field {
	case "categories", "tags":
		taxonomy := calendar.Category
		if field == "tags" {
			taxonomy = calendar.Tag
		}
		t.SetTermIDs(taxonomy, without(t.TermIDs(taxonomy)))
	case "venue":
		t.SetVenueIDs(without(t.VenueIDs()))
	case "organizer":
		t.SetOrganizerIDs(without(t.OrganizerIDs()))
	case "image":
		t.ImageID = kept(t.ImageID)
	case "post_parent":
		t.ParentID = kept(t.ParentID)
	}
	return len(ChangedFields(&was, t, []string{field})) > 0
}

// linkedEvents returns the ids of the events that are linked to any of the given records, in ascending order. The
// kind is that of the records.
func linkedEvents(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) (events []int64, err error) {
	t := ent.LinkTables[kind]
	err = tx.Client().ScanLinks(ctx, kind, &events, func(s *sql.Selector) {
		s.Select(s.C(t.Event))
		sql.FieldIn(t.Record, ids...)(s)
	})
	slices.Sort(events)
	return slices.Compact(events), err
}

// eventField returns the name of the event field that lists linked records of a kind, such as "categories".
func eventField(kind calendar.Kind) string {
	if kind.IsTerm() {
		return kind.Plural()
	}
	return string(kind)
}

// unlinkEvents removes all links of events to terms, venues and organizers. It is called before the events are
// deleted.
func unlinkEvents(ctx context.Context, tx *ent.Tx, ids []int64) error {
	for _, kind := range append([]calendar.Kind{calendar.Category}, calendar.LinkedKinds...) {
		if err := RemoveLinks(ctx, tx, kind, ids); err != nil {
			return err
		}
	}
	return nil
}

// RemoveLinks removes the links of the events with the given ids to all records of a kind. Links to categories and
// tags are in one table. So either kind removes both.
func RemoveLinks(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) error {
	if err := tx.Client().DeleteLinks(ctx, kind, sql.FieldIn(ent.LinkTables[kind].Event, ids...)); err != nil {
		return fmt.Errorf("links of events: %w", err)
	}
	return nil
}

// link stores links from the event with the given id to venues or organizers. The event must have no links of
// this kind. The order of ids is stored.
func link(ctx context.Context, tx *ent.Tx, kind calendar.Kind, id int64, ids []int64) error {
	t := ent.LinkTables[kind]
	rows := store.Rows{Table: t.Table, Columns: []string{t.Event, t.Record, t.Position}}
	for position, linked := range ids {
		rows.Add(0, nil, linked, int64(position))
	}
	if err := rows.Insert(ctx, tx, []int64{id}); err != nil {
		return fmt.Errorf("link %s of event %d: %w", kind, id, store.AsConflict(err))
	}
	return nil
}

// loadLinks returns the ids of the venues or organizers of one event, in the order of the links.
func loadLinks(ctx context.Context, tx *ent.Tx, kind calendar.Kind, id int64) (ids []int64, err error) {
	t := ent.LinkTables[kind]
	err = tx.Client().ScanLinks(ctx, kind, &ids, func(s *sql.Selector) {
		s.Select(s.C(t.Record)).OrderBy(s.C(t.Position))
		sql.FieldEQ(t.Event, id)(s)
	})
	if err != nil {
		return nil, fmt.Errorf("%s of event %d: %w", kind, id, err)
	}
	return ids, nil
}

// EventLinks has the ids of the records that an event is linked to.
type EventLinks struct{ Categories, Tags, Venues, Organizers []int64 }

// Terms returns the ids of the categories and the tags.
func (l EventLinks) Terms() []int64 { return slices.Concat(l.Categories, l.Tags) }

// termIDs has the ids of the categories and tags of an event.
type termIDs struct{ categories, tags []int64 }

func (t termIDs) all() []int64 { return slices.Concat(t.categories, t.tags) }

// termsOf loads the ids of the categories and of the tags of an event. Each list is in ascending order.
func termsOf(ctx context.Context, tx *ent.Tx, id int64) (termIDs, error) {
	var t termIDs
	rows, err := tx.Term.Query().Where(term.HasEventsWith(event.ID(id))).Order(ent.Asc(term.FieldID)).
		Select(term.FieldID, term.FieldTaxonomy).All(ctx)
	if err != nil {
		return t, fmt.Errorf("terms of event %d: %w", id, err)
	}
	for _, r := range rows {
		if r.Taxonomy == calendar.Category {
			t.categories = append(t.categories, r.ID)
		} else {
			t.tags = append(t.tags, r.ID)
		}
	}
	return t, nil
}

// linkTerms replaces the terms of an event, from was to is, and updates the terms' counts of published events. The
// booleans report whether the event counted before and counts after the write. The counts are changed first. This
// locks the new terms, so that no other transaction deletes them before the links are stored.
func linkTerms(ctx context.Context, tx *ent.Tx, id int64, was, is termIDs, wasCounted, isCounted bool) error {
	by := make(map[int64]int)
	if wasCounted {
		for _, t := range was.all() {
			by[t]--
		}
	}
	if isCounted {
		for _, t := range is.all() {
			by[t]++
		}
	}
	if err := CountEvents(ctx, tx, by); err != nil {
		return err
	}
	for part := range slices.Chunk(idsWithout(was.all(), is.all()), BatchSize) {
		_, err := tx.EventTerm.Delete().Where(eventterm.EventID(id), eventterm.TermIDIn(part...)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("terms of event %d: %w", id, err)
		}
	}
	for part := range slices.Chunk(idsWithout(is.all(), was.all()), BatchSize) {
		err := tx.EventTerm.MapCreateBulk(part, func(c *ent.EventTermCreate, i int) {
			c.SetEventID(id).SetTermID(part[i])
		}).Exec(ctx)
		if err != nil {
			return fmt.Errorf("terms of event %d: %w", id, store.AsConflict(err))
		}
	}
	return nil
}

// clearReferences sets a reference to null in all records that have the given value in its column. It increases
// the version of these records and logs the field as changed. It is for a value such as an image that is being
// deleted.
func (e *Editor) clearReferences(
	ctx context.Context, tx *ent.Tx, column string, value int64, field string, kinds ...calendar.Kind,
) error {
	for _, kind := range kinds {
		ids, err := lockRecords(ctx, tx, kind, sql.FieldEQ(column, value), noLimit)
		if err != nil {
			return fmt.Errorf("records of kind %s with %s %d: %w", kind, field, value, err)
		}
		err = e.touch(ctx, tx, kind, ids, []string{field}, true, func(u *sql.UpdateBuilder) { u.SetNull(column) })
		if err != nil {
			return fmt.Errorf("%s %d: %w", field, value, err)
		}
	}
	return nil
}
