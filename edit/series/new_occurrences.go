package series

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/bulk"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/store"
)

// storeOccurrences stores occurrences of a series. Their fields and links come from t, the template of the phase.
// All linked records must exist. Each statement inserts many rows.
func storeOccurrences(
	ctx context.Context, tx *ent.Tx, e *edit.Editor, s *ent.Series, t *ent.Event, list []recur.Occurrence,
) error {
	if len(list) == 0 {
		return nil
	}
	ids, err := e.OccurrenceIDs(ctx, tx, list)
	if err != nil {
		return fmt.Errorf("draw ids of occurrences: %w", err)
	}
	b := bulk.NewRecords(calendar.Event)
	m := tx.Event.Create().Mutation() // never executed: Insert writes all rows together
	fillOccurrence(e, m, s, t)
	m.SetTimezone(list[0].Zone.String())
	m.SetAllDay(list[0].AllDay)
	common, err := store.RowOf(m, b.Columns())
	if err != nil {
		return fmt.Errorf("occurrences of series %d: %w", s.ID, err)
	}
	startsAt, endsAt, sequence := b.Column(event.FieldStartsAt), b.Column(event.FieldEndsAt), b.Column(event.FieldSequence)
	start, end, nominal := b.Column(event.FieldStartWall), b.Column(event.FieldEndWall), b.Column(event.FieldOriginalStart)

	others := t.Translated()
	slugs, err := chooseOccurrenceSlugs(ctx, tx, append([]calendar.Text{t.Text()}, others...), list)
	if err != nil {
		return err
	}
	searchTexts := e.SearchTextsOf(calendar.Event, t.Text(), others)
	for i, o := range list {
		row := slices.Clone(common)
		row[sequence] = e.Reserved.Sequences[ids[i]]
		row[startsAt], row[endsAt] = o.StartsAt(), o.EndsAt()
		for at, wall := range map[int]calendar.Wall{start: o.Start, end: o.End, nominal: o.Nominal} {
			if row[at], err = wall.Value(); err != nil {
				return err
			}
		}
		for k := range others {
			others[k].Slug = slugs[(k+1)*len(list)+i]
		}
		b.Add(row, t.Language, others, searchTexts)
	}
	each := edit.LinksOf(t)
	links := bulk.Links{
		Terms: slices.Repeat([][]int64{each.Terms()}, len(list)), Venues: slices.Repeat([][]int64{each.Venues}, len(list)),
		Organizers: slices.Repeat([][]int64{each.Organizers}, len(list)), Counted: make(map[int64]int),
	}
	if edit.CountsForTerms(s.Status) {
		for _, id := range each.Terms() {
			links.Counted[id] = len(list)
		}
	}
	if err := b.Insert(ctx, tx, ids, slugs[:len(list)], links); err != nil {
		return fmt.Errorf("occurrences of series %d: %w", s.ID, err)
	}
	slices.Sort(ids) // reserved ids are in the order of the source
	logRuns(e, calendar.Event, ids, edit.IsPublic(s.Status, s.PublishedAt, e.Now))
	return nil
}

// logRuns adds new records to the change log, with one entry for each run of successive ids. The ids must be in
// ascending order. The parameter public reports whether the public sees the records.
func logRuns(e *edit.Editor, kind calendar.Kind, ids []int64, public bool) {
	for len(ids) > 0 {
		n := 1
		for n < len(ids) && ids[n] == ids[n-1]+1 {
			n++
		}
		e.LogLoaded(kind, ids[:n], public)
		ids = ids[n:]
	}
}

// chooseOccurrenceSlugs returns a free slug for each combination of text and occurrence. The slugs of the first
// text come first, in the order of the occurrences. The slug is "" if the text has no slug.
func chooseOccurrenceSlugs(
	ctx context.Context, tx *ent.Tx, texts []calendar.Text, list []recur.Occurrence,
) ([]string, error) {
	bases := make([]string, 0, len(texts)*len(list))
	for _, text := range texts {
		for _, o := range list {
			base := ""
			if text.Slug != "" {
				base = calendar.OccurrenceSlug(text.Slug, o.Nominal)
			}
			bases = append(bases, base)
		}
	}
	slugs, _, err := edit.ChooseSlugs(ctx, tx, calendar.Event, bases, func(string) (int, bool) { return 0, false })
	return slugs, err
}

// fillOccurrence sets the columns in m that all new occurrences of a series share.
func fillOccurrence(e *edit.Editor, m *ent.EventMutation, s *ent.Series, t *ent.Event) {
	if s.AuthorID != nil {
		m.SetAuthorID(*s.AuthorID)
	}
	m.SetStatus(s.Status)
	m.SetStatusBeforeTrash(s.StatusBeforeTrash)
	m.SetPublishedAt(s.PublishedAt)
	m.SetDated(s.Dated)
	m.SetLanguage(t.Language)
	m.SetLanguages(t.Languages)
	m.SetCreatedAt(e.Now)
	m.SetModifiedAt(e.Now)
	m.SetVersion(1)
	m.SetHiddenChanges(0)
	for _, f := range ent.EventFields {
		f.Set(m, t)
	}
	m.SetSeriesID(s.ID)
	m.SetOffSchedule(false)
	m.SetSequence(0) // storeOccurrences has the sequence of each
}
