package series

import (
	"context"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
)

// CreateEvent stores a new event and its links. If the input has a rule or rdates, it stores a series with its
// occurrences, and returns the first occurrence. The edges of the returned row are not loaded.
func CreateEvent(ctx context.Context, tx *ent.Tx, e *edit.Editor, in *edit.EventInput) (*ent.Event, error) {
	if !in.HasSchedule() {
		return e.CreateEvent(ctx, tx, in)
	}
	w := e.NewEvent(tx, in)
	refused := ruleFault(w.Span.Zone, in)
	var made *newSeries
	if w.HasValidDates() && refused == nil {
		var err error
		if made, err = planSeries(e, nil, in); err != nil {
			if refused = ScheduleFault(err); refused == nil {
				return nil, err
			}
		}
	}
	if err := w.Plan(ctx, refused); err != nil {
		return nil, err
	}
	if made != nil {
		if err := refuseTrashedSeries(in, false); err != nil {
			return nil, err
		}
	}
	if err := w.Permit(); err != nil {
		return nil, err
	}
	if err := w.CarryOut(ctx); err != nil {
		return nil, err
	}
	if made != nil {
		var err error
		if err := requireSeries(ctx, tx); err != nil {
			return nil, err
		}
		if made.id, made.slug, err = w.RegisterSeries(ctx); err != nil {
			return nil, err
		}
		w.JoinSeries(made.id, made.occurrences[0], made.slugOf(made.occurrences[0]))
	}
	row, err := w.Insert(ctx)
	if err != nil {
		return nil, err
	}
	if made != nil { // storeSeries takes slugs, which come before terms in the order of locks
		t := edit.TemplateOf(row, nil, w.Links())
		if err := storeSeries(ctx, tx, e, made, row, &t, made.occurrences[1:]); err != nil {
			return nil, err
		}
	}
	if err := w.Link(ctx); err != nil {
		return nil, err
	}
	return row, nil
}

// UpdateEvent changes the sent fields of an event that the same transaction loaded, best with edit.LockEvent. A sent
// scope of several occurrences changes these as well, otherwise the others stay. A rule or rdates turn a single
// event into the first occurrence of a new series. The empty rule takes an occurrence out of its series. The edges
// of the returned row are not loaded.
func UpdateEvent(ctx context.Context, tx *ent.Tx, e *edit.Editor, row *ent.Event, in *edit.EventInput) (*ent.Event, error) {
	switch {
	case in.Scope.IsSeries():
		return updateOccurrences(ctx, tx, e, row, in)
	case !in.HasSchedule():
		return e.UpdateEvent(ctx, tx, row, in)
	}
	w, err := e.ChangeEvent(tx, row, in)
	if err != nil {
		return nil, err
	}
	if err := w.Plan(ctx, ruleFault(w.Span.Zone, in)); err != nil {
		return nil, err
	}
	if err := w.Permit(); err != nil {
		return nil, err
	}
	made, leaves, err := planRecurrence(ctx, tx, e, row, in)
	if err != nil {
		return nil, err
	}
	if made != nil {
		if err := refuseTrashedSeries(in, row.Status == calendar.Trash); err != nil {
			return nil, err
		}
		if err := w.LockLinks(ctx); err != nil {
			return nil, err
		}
	}
	if err := w.CarryOut(ctx); err != nil {
		return nil, err
	}
	switch {
	case made != nil:
		if made.id, _, err = w.RegisterSeries(ctx); err != nil {
			return nil, err
		}
		w.JoinSeries(made.id, made.firstOccurrence(), nil) // the event keeps its own slug
	case leaves:
		w.LeaveSeries()
	}
	changed, err := w.Update(ctx)
	if err != nil {
		return nil, err
	}
	if made != nil { // storeSeriesOf takes slugs, which come before terms in the order of locks
		if err := storeSeriesOf(ctx, tx, e, made, changed, w.Links(), w.Changed(), in.Slug); err != nil {
			return nil, err
		}
	}
	if err := w.Link(ctx); err != nil {
		return nil, err
	}
	return changed, nil
}
