package upkeep

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/predicate"
	entseries "github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/seriesphase"
)

// seriesBatch is the number of series that are checked or reindexed together. Each may have more than a
// thousand occurrences.
const seriesBatch = 50

// series loads the series with the given ids. It also checks their schedules and sort keys.
func (c *checker) series(ctx context.Context, ids []int64) (out []checkedRecord, err error) {
	rows, err := c.db.Series.Query().Where(entseries.IDIn(ids...)).
		WithPhases(func(q *ent.SeriesPhaseQuery) { q.Order(seriesphase.ByPosition()) }).All(ctx)
	if err != nil {
		return nil, err
	}
	events, err := c.db.Event.Query().Where(event.SeriesIDIn(ids...), event.OriginalStartNotNil()).
		Select(event.FieldSeriesID, event.FieldOriginalStart, event.FieldStatus).All(ctx)
	if err != nil {
		return nil, err
	}
	occurrences := make(map[int64]map[string]calendar.Status, len(ids))
	for _, r := range events {
		if occurrences[*r.SeriesID] == nil {
			occurrences[*r.SeriesID] = make(map[string]calendar.Status)
		}
		occurrences[*r.SeriesID][r.OriginalStart.String()] = r.Status
	}
	for _, r := range rows {
		c.schedule(r, occurrences[r.ID])
		if n := len(r.Edges.Phases); n > 0 {
			template, err := ent.DecodeTemplate(r.Edges.Phases[n-1].Template)
			if err != nil {
				return nil, fmt.Errorf("template of series %d: %w", r.ID, err)
			}
			out = append(out, c.title(r, template))
		}
	}
	return out, nil
}

// title compares the sort keys of a series with the title of its last phase, which is event t. It returns the
// languages and slugs of the series.
func (c *checker) title(r *ent.Series, t *ent.Event) checkedRecord {
	keys := series.SortKeysOf(c.Site.IndexedIn(), t)
	for column, is := range map[string][]byte{
		entseries.FieldSortEn: r.SortEn, entseries.FieldSortPl: r.SortPl, entseries.FieldSortEs: r.SortEs,
	} {
		if !bytes.Equal(is, keys[column]) {
			c.add(calendar.Series, r.ID, "what it is sorted by in %s is out of date", column)
		}
	}
	s := checkedRecord{id: r.ID, original: r.Language, languages: r.Languages, slug: r.Slug, trashed: r.Status == calendar.Trash}
	for _, o := range t.Translated() {
		slug := o.Slug
		if s.trashed && slug != "" {
			slug = calendar.TrashedSlug(slug)
		}
		s.others = append(s.others, otherText{o.Language, slug})
	}
	return s
}

// schedule compares the occurrences of a series with its schedule, by nominal start. An occurrence in the trash
// was removed by a client or by a change of the schedule. If the series is in the trash, all its occurrences
// are too.
func (c *checker) schedule(r *ent.Series, occurrences map[string]calendar.Status) {
	add := func(format string, args ...any) { c.add(calendar.Series, r.ID, format, args...) }
	if len(r.Edges.Phases) == 0 {
		add("it has no schedule")
	}
	last := recur.LastStart()
	if r.GeneratedUntil != nil {
		last = *r.GeneratedUntil
	}
	missing := make(map[string]bool)
	left := maps.Clone(occurrences)
	for i, phase := range r.Edges.Phases {
		if phase.Position != i {
			add("its phase %d is at position %d", i, phase.Position)
		}
		s, err := edit.ScheduleOf(phase)
		if err != nil {
			add("its schedule is not usable: %v", err)
			return
		}
		if !s.Ends() && r.GeneratedUntil == nil {
			add("it never ends, and how far its occurrences go is unknown")
			return
		}
		for o := range s.Occurrences(calendar.Wall{}, last) {
			start := o.Nominal.String()
			status, found := occurrences[start]
			delete(left, start)
			switch {
			case !found:
				missing[start] = true
			case status == calendar.Trash && r.Status != calendar.Trash:
				add("its occurrence of %s is in the trash, and the schedule has it", start)
			}
		}
	}
	if r.GeneratedUntil != nil && r.ExtendAt == nil && r.Status != calendar.Trash {
		add("it goes on, and gets no further occurrences")
	}
	for _, start := range slices.Sorted(maps.Keys(missing)) {
		add("its occurrence of %s is missing", start)
	}
	for _, start := range slices.Sorted(maps.Keys(left)) {
		if left[start] != calendar.Trash {
			add("its occurrence of %s is not in the schedule", start)
		}
	}
}

// strayOccurrence selects events that are partly occurrences: their series does not exist, or only some of the
// columns for occurrences are set.
func strayOccurrence() predicate.Event {
	return func(s *sql.Selector) {
		t := sql.Table(entseries.Table).As("owner")
		s.Where(sql.Or(
			sql.And(sql.NotNull(s.C(event.FieldSeriesID)),
				sql.NotExists(sql.Select(t.C(entseries.FieldID)).From(t).
					Where(sql.ColumnsEQ(t.C(entseries.FieldID), s.C(event.FieldSeriesID))))),
			sql.And(sql.NotNull(s.C(event.FieldSeriesID)), sql.IsNull(s.C(event.FieldOriginalStart))),
			sql.And(sql.IsNull(s.C(event.FieldSeriesID)), sql.Or(
				sql.NotNull(s.C(event.FieldOriginalStart)), sql.NotNull(s.C(event.FieldOwnFields)),
				sql.EQ(s.C(event.FieldOffSchedule), true),
			)),
		))
	}
}

// strays reports the events that strayOccurrence selects.
func (c *checker) strays(ctx context.Context) error {
	ids, err := c.db.Event.Query().Where(strayOccurrence()).Order(event.ByID()).IDs(ctx)
	if err != nil {
		return fmt.Errorf("check occurrences: %w", err)
	}
	for _, id := range ids {
		c.add(calendar.Event, id, "it is the occurrence of no series, and has what occurrences have")
	}
	return nil
}
