package seed

import (
	"context"
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/internal/when"
)

// series writes the series that are not stored yet, with their occurrences. It writes none if the database has series
// switched off.
func (r *seedRun) series(ctx context.Context) error {
	all := r.cal.Series()
	if len(all) == 0 {
		return nil
	}
	enabled, err := series.IsEnabled(ctx, r.Store.Ent)
	if err != nil || !enabled {
		return err
	}
	found, err := r.findIDs(ctx, calendar.Series, sources(r, all, func(s scenario.Series) string { return s.SourceID }))
	if err != nil {
		return fmt.Errorf("series: %w", err)
	}
	for i := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := &all[i]
		if _, ok := found[r.Number.sourceID(s.SourceID)]; ok {
			r.summary.Found[calendar.Series]++
			continue
		}
		n, err := r.writeSeries(context.WithoutCancel(ctx), s)
		if err != nil {
			return fmt.Errorf("series %s: %w", s.SourceID, err)
		}
		r.summary.Created[calendar.Series]++
		r.summary.Occurrences += n
		r.summary.Translations += len(r.cal.Options().Languages) - 1
	}
	return nil
}

// writeSeries stores a series in all its languages, with its moved and canceled occurrences. It returns the number of
// occurrences.
func (r *seedRun) writeSeries(ctx context.Context, s *scenario.Series) (n int, err error) {
	closed := make([]recur.Date, len(s.ExDate))
	for i, w := range s.ExDate {
		closed[i].Wall = w
	}
	e := r.editor
	err = edit.Write(ctx, r.Store.Ent, &e, func(tx *ent.Tx) error {
		e.Write = r.language
		input := r.eventInput(&s.Event).EventInput
		input.Rule, input.ExDate = new(s.Rule.String()), &closed
		if err := withoutDeleted(ctx, tx, &e, &input); err != nil {
			return err
		}
		first, err := series.CreateEvent(ctx, tx, &e, &input)
		if err != nil {
			return err
		}
		id := *first.SeriesID
		for _, l := range r.cal.Options().Languages[1:] {
			e.Write = l
			err := series.Update(ctx, tx, &e, id, &edit.EventInput{
				Title: textIn(s.Title, l), Excerpt: textIn(s.Excerpt, l), Description: textIn(s.Description, l),
			})
			if err != nil {
				return fmt.Errorf("in %s: %w", l, err)
			}
		}
		for _, x := range s.Exceptions {
			if err := r.writeException(ctx, tx, &e, id, s, x); err != nil {
				return fmt.Errorf("occurrence of %s: %w", x.Nominal, err)
			}
		}
		n, err = tx.Event.Query().Where(event.SeriesID(id)).Count(ctx)
		return err
	})
	return n, err
}

// withoutDeleted removes from an input the venues and organizers that are deleted or in the trash.
func withoutDeleted(ctx context.Context, tx *ent.Tx, e *edit.Editor, in *edit.EventInput) error {
	venues := make([]int64, len(*in.Venues))
	for i, v := range *in.Venues {
		venues[i] = v.ID
	}
	organizers := make([]int64, len(*in.Organizers))
	for i, o := range *in.Organizers {
		organizers[i] = o.ID
	}
	venues, err := e.LockLinkable(ctx, tx, calendar.Venue, venues)
	if err != nil {
		return err
	}
	if organizers, err = e.LockLinkable(ctx, tx, calendar.Organizer, organizers); err != nil {
		return err
	}
	*in.Venues, *in.Organizers = nil, nil
	for _, id := range venues {
		*in.Venues = append(*in.Venues, edit.VenueRef{ID: id})
	}
	for _, id := range organizers {
		*in.Organizers = append(*in.Organizers, edit.OrganizerRef{ID: id})
	}
	return nil
}

// writeException moves an occurrence of a series, or cancels it with a reason in each language.
func (r *seedRun) writeException(
	ctx context.Context, tx *ent.Tx, e *edit.Editor, seriesID int64, s *scenario.Series, x scenario.Exception,
) error {
	id, err := tx.Event.Query().Where(event.SeriesID(seriesID), event.OriginalStart(x.Nominal)).OnlyID(ctx)
	if err != nil {
		return err
	}
	write := func(l calendar.Language, input *edit.EventInput) error {
		row, err := edit.LockEvent(ctx, tx, id)
		if err != nil {
			return err
		}
		e.Write = l
		_, err = series.UpdateEvent(ctx, tx, e, row, input)
		return err
	}
	if !x.Start.IsZero() {
		end := x.Start.Add(s.Span.End.Sub(s.Span.Start))
		return write(r.language, &edit.EventInput{Start: new(when.FromWall(x.Start)), End: new(when.FromWall(end))})
	}
	for _, l := range r.cal.Options().Languages {
		input := &edit.EventInput{EventStatusReason: textIn(x.Reason, l)}
		if l == r.language {
			input.EventStatus = new(calendar.Canceled)
		}
		if err := write(l, input); err != nil {
			return err
		}
	}
	return nil
}
