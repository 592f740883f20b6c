// Package series has the rules of writing series of events: schedules, phases, scopes, the horizon up to which
// occurrences are stored.
//
// A series has phases, each with a schedule and a template. The template is an event with the fields that the occurrences
// share. A write of a series locks it with all its occurrences, plans what each occurrence is afterwards, and stores all
// changes with package bulk. Writes of one event that touch no schedule are in package edit.
//
// A nominal start is the wall time at which the schedule says that an occurrence starts, even if it was moved. The
// addressed occurrence is the one whose id is in the path of the request.
package series

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/bulk"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
)

// notRecurring returns the parameter error for a scope of several occurrences in a request for an event outside a
// series.
func notRecurring() *param.Fault {
	return &param.Fault{Param: "scope", Reason: "not-recurring", Key: "not-recurring", Data: map[string]any{}}
}

// seriesWrite is the state of a write of a series and its occurrences, which are all locked.
type seriesWrite struct {
	*edit.Editor
	tx           *ent.Tx
	series       *ent.Series
	storedPhases []seriesPhase
	phases       []seriesPhase // phases after the write
	occurrences  []*occurrenceChange
	addressed    *occurrenceChange // the occurrence whose id is in the path; nil means the series
	scope        edit.Scope

	state          edit.PublicationState // new state of the series
	author         *int64
	generatedUntil *calendar.Wall // new end of the period with stored occurrences; nil if the schedule ends
	slug           *string        // new slug; nil means no change
	sentTemplate   *ent.Event     // template with the sent fields; nil means that none were sent
	newStarts      []newStart

	phaseSizes map[int]int // results of phaseSize by phase index
}

// occurrenceChange is a stored occurrence of a series together with the changes that a write plans for it.
type occurrenceChange struct {
	bulk.EventChange
	excluded bool // a client trashed the occurrence, so its start is an exdate
	affected bool
	// scheduled is true if the changed schedule sets the dates of the occurrence.
	scheduled         bool
	restored          bool     // true if the occurrence leaves the trash
	copied            []string // names of fields to copy from the template of the phase
	copiedFromRequest []string // names of fields to copy from the request
}

// wasTrashed reports whether the series was in the trash before the write.
func (w *seriesWrite) wasTrashed() bool { return w.series.Status == calendar.Trash }

// isAllowed reports whether the caller may carry out the operation on the series.
func (w *seriesWrite) isAllowed(op auth.Operation) bool {
	s := w.series
	return auth.May(w.By, op, auth.RecordOf(calendar.Series, s.AuthorID, s.Status.Shown(w.Now, s.PublishedAt), s.StatusBeforeTrash))
}

// isAllowedFor reports whether the caller may carry out the operation on an occurrence.
func (w *seriesWrite) isAllowedFor(c *occurrenceChange, op auth.Operation) bool {
	r := c.Row
	return auth.May(w.By, op, auth.RecordOf(calendar.Event, r.AuthorID, r.Status.Shown(w.Now, r.PublishedAt), r.StatusBeforeTrash))
}

// storedState returns the status and the publication date of an occurrence as they are stored.
func storedState(row *ent.Event) edit.PublicationState {
	return edit.PublicationState{
		Status: row.Status, BeforeTrash: row.StatusBeforeTrash, Published: row.PublishedAt, Dated: row.Dated,
	}
}

// wasTrashed reports whether the occurrence was in the trash before the write.
func (c *occurrenceChange) wasTrashed() bool { return c.Row.Status == calendar.Trash }

func (c *occurrenceChange) begun(now time.Time) bool { return !c.Row.StartsAt.After(now) }

// isLive reports whether the occurrence is outside the trash after the changes planned so far.
func (c *occurrenceChange) isLive() bool { return c.State.Status != calendar.Trash }

// ownsField reports whether the occurrence may differ from the series in the named field, because the field was
// written for it alone.
func (c *occurrenceChange) ownsField(name string) bool { return slices.Contains(c.OwnFields, name) }

// openSeries loads a series with its schedules and occurrences. It locks the series, then the occurrences in the
// order of their ids.
func openSeries(ctx context.Context, tx *ent.Tx, e *edit.Editor, id int64, scope edit.Scope) (*seriesWrite, error) {
	s, err := edit.LockSeries(ctx, tx, id)
	if err != nil {
		return nil, fmt.Errorf("series %d: %w", id, err)
	}
	w := &seriesWrite{
		Editor: e, tx: tx, series: s, scope: scope, author: s.AuthorID, generatedUntil: s.GeneratedUntil,
		state: edit.PublicationState{Status: s.Status, BeforeTrash: s.StatusBeforeTrash, Published: s.PublishedAt, Dated: s.Dated},
	}
	stored, err := edit.LoadPhases(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	for _, p := range stored {
		schedule, err := edit.ScheduleOf(p)
		if err != nil {
			return nil, err
		}
		template, err := ent.DecodeTemplate(p.Template)
		if err != nil {
			return nil, fmt.Errorf("template of series %d: %w", id, err)
		}
		w.storedPhases = append(w.storedPhases, seriesPhase{schedule, *template})
	}
	if len(w.storedPhases) == 0 {
		return nil, fmt.Errorf("series %d has no phase", id)
	}
	w.phases = w.storedPhases
	rows, err := tx.Event.Query().Where(event.SeriesID(id)).Order(event.ByID()).Modify(edit.ForUpdate).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("occurrences of series %d: %w", id, err)
	}
	slices.SortFunc(rows, func(a, b *ent.Event) int { return a.OriginalStart.Compare(*b.OriginalStart) })
	for _, row := range rows {
		span, err := edit.StoredSpan(row)
		if err != nil {
			return nil, err
		}
		exdate := w.storedPhases[phaseOf(w.storedPhases, *row.OriginalStart)].ExDate
		w.occurrences = append(w.occurrences, &occurrenceChange{
			EventChange: bulk.EventChange{
				Row: row, State: storedState(row), Author: row.AuthorID, Span: span, OriginalStart: *row.OriginalStart,
				OwnFields: row.OwnFields, OffSchedule: row.OffSchedule, Languages: row.Languages,
			},
			excluded: row.Status == calendar.Trash && !row.OffSchedule && slices.ContainsFunc(exdate, row.OriginalStart.Equal),
		})
	}
	return w, nil
}

// setAddressed sets the occurrence whose id is in the path of the request. Without a call, the request is for the
// series. It returns an error if the series has no such occurrence.
func (w *seriesWrite) setAddressed(id int64) error {
	i := slices.IndexFunc(w.occurrences, func(c *occurrenceChange) bool { return c.Row.ID == id })
	if i < 0 {
		return fmt.Errorf("event %d is no occurrence of series %d", id, w.series.ID)
	}
	w.addressed = w.occurrences[i]
	return nil
}

// Update stores the sent fields of a series and sets them in its occurrences. Fields that an occurrence has of its
// own stay. Schedule fields do not reach occurrences that have begun.
func Update(ctx context.Context, tx *ent.Tx, e *edit.Editor, id int64, in *edit.EventInput) error {
	w, err := openSeries(ctx, tx, e, id, edit.AllOccurrences)
	if err != nil {
		return err
	}
	return w.update(ctx, in)
}

// Trash moves a series and its occurrences to the trash. If the series is there already, it returns
// *calendar.Error series-is-in-trash.
func Trash(ctx context.Context, tx *ent.Tx, e *edit.Editor, id int64) error {
	w, err := openSeries(ctx, tx, e, id, edit.AllOccurrences)
	if err != nil {
		return err
	}
	return w.remove(ctx)
}

// updateOccurrences stores the sent fields in those occurrences of a series that in.Scope selects. The row is
// the occurrence whose id is in the path. It returns the stored row.
func updateOccurrences(ctx context.Context, tx *ent.Tx, e *edit.Editor, row *ent.Event, in *edit.EventInput) (*ent.Event, error) {
	if row.SeriesID == nil {
		return nil, edit.InvalidInput(notRecurring())
	}
	w, err := openSeries(ctx, tx, e, *row.SeriesID, in.Scope)
	if err != nil {
		return nil, err
	}
	if err := w.setAddressed(row.ID); err != nil {
		return nil, err
	}
	if err := w.update(ctx, in); err != nil {
		return nil, err
	}
	return tx.Event.Get(ctx, row.ID)
}

// TrashOccurrences moves those occurrences of a series to the trash that the scope selects. The row is the
// occurrence whose id is in the path.
func TrashOccurrences(ctx context.Context, tx *ent.Tx, e *edit.Editor, row *ent.Event, scope edit.Scope) error {
	if row.SeriesID == nil {
		return edit.InvalidInput(notRecurring())
	}
	w, err := openSeries(ctx, tx, e, *row.SeriesID, scope)
	if err != nil {
		return err
	}
	if err := w.setAddressed(row.ID); err != nil {
		return err
	}
	return w.remove(ctx)
}

// remove moves the occurrences in w.scope to the trash and stores this. If earlier occurrences remain, the series
// ends before the occurrence in the path.
func (w *seriesWrite) remove(ctx context.Context) error {
	version, trashed := calendar.Version{All: w.series.Version, Hidden: w.series.HiddenChanges}, w.wasTrashed()
	if w.addressed != nil {
		version, trashed = w.addressed.Row.Core().Writes(), w.addressed.wasTrashed()
	}
	if !w.isAllowed(auth.Delete) {
		return edit.Forbidden()
	}
	switch {
	case trashed && w.addressed != nil:
		return edit.InTrash(calendar.Event)
	case trashed:
		return edit.InTrash(calendar.Series)
	}
	if err := w.trash(); err != nil {
		return err
	}
	if err := w.CheckPrecondition(version); err != nil {
		return err
	}
	return w.store(ctx)
}

// trash plans to move the occurrences in w.scope to the trash. It stores nothing. If no earlier occurrence remains,
// the series moves there as well.
func (w *seriesWrite) trash() error {
	phases, k := w.phases, 0
	if w.scope == edit.FollowingOccurrences {
		if phases, k = splitPhases(w.phases, w.addressed.OriginalStart); !haveOccurrence(phases[:k]) {
			k = 0 // no earlier occurrence remains
		}
	}
	for _, c := range w.occurrences {
		if k > 0 && phaseOf(phases, c.OriginalStart) < k {
			continue
		}
		if k > 0 {
			c.OffSchedule = true // the schedule ends before this occurrence
		}
		if !c.isLive() {
			continue
		}
		if !w.isAllowedFor(c, auth.Delete) {
			return edit.Forbidden()
		}
		c.affected = true
		c.State = w.nextPublicationState(c.State, new(calendar.Trash), nil)
	}
	if k == 0 {
		w.state = w.nextPublicationState(w.state, new(calendar.Trash), nil)
		return nil
	}
	w.phases, w.generatedUntil = phases[:k], nil
	return nil
}

func (w *seriesWrite) nextPublicationState(old edit.PublicationState, sent *calendar.Status, date *time.Time) edit.PublicationState {
	return edit.NextPublicationState(old, sent, date, w.Now, w.isAllowed(auth.Publish))
}

// EventOf returns an event that represents a series. Its fields and edges come from the template t, its dates are
// the first dates of the schedule p. The id, the author and the status are those of the series. The slugs are those
// that the series has outside the trash.
func EventOf(s *ent.Series, p recur.Schedule, t *ent.Event) *ent.Event {
	row := new(*t)
	row.ID, row.AuthorID, row.Status, row.StatusBeforeTrash = s.ID, s.AuthorID, s.Status, s.StatusBeforeTrash
	row.PublishedAt, row.Dated, row.ModifiedAt, row.HiddenAt = s.PublishedAt, s.Dated, s.ModifiedAt, s.HiddenAt
	row.Version, row.HiddenChanges, row.Language, row.Languages = s.Version, s.HiddenChanges, s.Language, s.Languages
	row.StartWall, row.EndWall, row.Timezone, row.AllDay = p.Start, p.End, p.Zone.String(), p.AllDay
	row.StartsAt, row.EndsAt = p.StartsAt(), p.EndsAt()
	return row
}

// update checks and stores the sent fields in the occurrences that w.scope selects.
func (w *seriesWrite) update(ctx context.Context, in *edit.EventInput) error {
	c, row, links, err := w.compareAddressed(ctx, in)
	if err != nil {
		return err
	}
	if err := c.Prepare(ctx, ruleFault(c.Span.Zone, in)); err != nil {
		return err
	}
	sent, err := w.compare(c, links, in)
	if err != nil {
		return err
	}
	if err := w.plan(sent, in); err != nil {
		if fault := ScheduleFault(err); fault != nil {
			return edit.InvalidInput(fault)
		}
		return err
	}
	if err := w.refuseParents(ctx); err != nil {
		return err
	}
	if err := w.CheckPrecondition(row.Core().Writes()); err != nil {
		return err
	}
	if sent.slug != nil {
		if err := w.takeSlug(ctx, *sent.slug); err != nil {
			return err
		}
	}
	return w.store(ctx)
}
