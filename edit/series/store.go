package series

import (
	"context"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/bulk"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/internal/store"
)

// store writes the planned changes of the series and its occurrences to the database and the change log. It returns
// an error if they are too large or exceed the caller's budget.
func (w *seriesWrite) store(ctx context.Context) error {
	if err := w.storeSeriesSlugs(ctx); err != nil {
		return err
	}
	rows, err := w.compareRows(ctx)
	if err != nil {
		return err
	}
	if err := w.limitStored(ctx, rows); err != nil {
		return err
	}
	if err := w.findImpacts(ctx, rows); err != nil {
		return err
	}
	if err := w.storePublicity(ctx, rows); err != nil {
		return err
	}
	update := w.newUpdate(rows)
	if err := update.StoreFields(ctx); err != nil {
		return fmt.Errorf("occurrences of series %d: %w", w.series.ID, err)
	}
	for _, c := range rows {
		w.LogChange(calendar.Event, c.Row.ID, c.Action, edit.FieldsInLanguages(c.Fields, c.Changed), c.Impact)
	}
	if err := w.storeSeriesRow(ctx); err != nil { // storeSeriesRow takes slugs, which come before terms in the order of locks
		return err
	}
	if err := update.StoreLinks(ctx); err != nil {
		return fmt.Errorf("occurrences of series %d: %w", w.series.ID, err)
	}
	return nil
}

// newUpdate returns an EventUpdate that stores the changed occurrences.
func (w *seriesWrite) newUpdate(rows []*occurrenceChange) *bulk.EventUpdate {
	changes := make([]*bulk.EventChange, len(rows))
	for i, c := range rows {
		changes[i] = &c.EventChange
	}
	return bulk.NewEventUpdate(w.Editor, w.tx, changes)
}

// storePublicity stores withdrawals, the last public state for feeds, of occurrences that the public no longer sees.
// It deletes the withdrawals of occurrences that are public again. It sets the sequence numbers of all rows.
func (w *seriesWrite) storePublicity(ctx context.Context, rows []*occurrenceChange) error {
	events := make([]*ent.Event, len(rows))
	for i, r := range rows {
		events[i] = r.Row
		r.Sequence = edit.NextSequence(r.Row, w.Now, r.State.Status, r.State.Published, r.Span, r.After.EventStatus, r.isProtectedAfter())
	}
	return w.StorePublicity(ctx, w.tx, events, func(i int) (calendar.Status, time.Time) {
		return rows[i].State.Status, rows[i].State.Published
	})
}

// storeSeriesRow stores the changed phases and the new occurrences. If a phase or the series itself changes, the
// series gets a new version.
func (w *seriesWrite) storeSeriesRow(ctx context.Context) error {
	changed, err := w.storePhases(ctx)
	if err != nil {
		return err
	}
	s := *w.series
	s.AuthorID, s.Status, s.StatusBeforeTrash = w.author, w.state.Status, w.state.BeforeTrash
	s.PublishedAt, s.Dated, s.Slug = w.state.Published, w.state.Dated, edit.ValueOr(w.series.Slug, w.slug)
	last := &w.phases[len(w.phases)-1]
	s.Languages = last.template.Languages
	fields := w.changedSeriesFields(&s)
	if !changed && len(fields) == 0 {
		return nil
	}
	i, err := w.seriesImpact(ctx, fields)
	if err != nil {
		return err
	}
	u := w.tx.Series.Update().Where(series.ID(s.ID)).AddVersion(1).
		Modify(func(b *sql.UpdateBuilder) { w.StampRows(b, i) }).
		SetStatus(s.Status).SetStatusBeforeTrash(s.StatusBeforeTrash).SetPublishedAt(s.PublishedAt).SetDated(s.Dated).
		SetSlug(s.Slug).SetLanguages(s.Languages).
		SetHideFromListings(last.template.HideFromListings).SetProtected(edit.HasPassword(&last.template))
	if s.AuthorID == nil {
		u.ClearAuthorID()
	} else {
		u.SetAuthorID(*s.AuthorID)
	}
	if w.generatedUntil == nil {
		u.ClearGeneratedUntil().ClearExtendAt()
	} else {
		u.SetGeneratedUntil(*w.generatedUntil).SetExtendAt(extendAt(s.ID, last.Zone, *w.generatedUntil))
	}
	setSeriesSortKeys(w.Editor, u.Mutation(), &last.template)
	if err := u.Exec(ctx); err != nil {
		return fmt.Errorf("series %d: %w", s.ID, store.AsConflict(err))
	}
	action := calendar.Updated
	switch {
	case s.Status == calendar.Trash && !w.wasTrashed():
		action = calendar.Trashed
	case s.Status != calendar.Trash && w.wasTrashed():
		action = calendar.Restored
	}
	was := &w.storedPhases[len(w.storedPhases)-1].template
	w.LogChange(calendar.Series, s.ID, action, edit.FieldsInLanguages(fields, edit.DifferentFields(was, &last.template)), i)
	for i := range w.phases {
		var list []recur.Occurrence
		for _, n := range w.newStarts {
			if n.phase == i {
				list = append(list, n.Occurrence)
			}
		}
		if len(list) == 0 {
			continue
		}
		t, err := withoutDeletedLinks(ctx, w.tx, w.Editor, &w.phases[i].template)
		if err != nil {
			return err
		}
		if err := storeOccurrences(ctx, w.tx, w.Editor, &s, t, list); err != nil {
			return err
		}
	}
	return nil
}

// changedSeriesFields returns the API names of the fields that the write changes. It compares the new row s and the
// last phase with the stored ones.
func (w *seriesWrite) changedSeriesFields(s *ent.Series) []string {
	fields := []string{}
	add := func(changed bool, name string) {
		if changed && !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	old := w.series
	add(edit.ValueOr(0, old.AuthorID) != edit.ValueOr(0, s.AuthorID), "author")
	add(!old.PublishedAt.Equal(s.PublishedAt) || old.Dated != s.Dated, "date")
	add(old.Status != s.Status || old.StatusBeforeTrash != s.StatusBeforeTrash, "status")
	add(old.Slug != s.Slug, "slug")
	was, is := &w.storedPhases[len(w.storedPhases)-1], &w.phases[len(w.phases)-1]
	for _, name := range edit.DifferentFields(&was.template, &is.template) {
		field, _ := calendar.CutField(name)
		add(true, field)
	}
	add(was.Zone.String() != is.Zone.String(), "timezone")
	add(was.AllDay != is.AllDay, "all_day")
	add(!was.Start.Equal(is.Start), "start_date")
	add(!was.End.Equal(is.End), "end_date")
	add(was.Rule.String() != is.Rule.String(), "rrule")
	add(!slices.Equal(was.RDate, is.RDate), "rdate")
	add(!slices.Equal(was.ExDate, is.ExDate), "exdate")
	return fields
}
