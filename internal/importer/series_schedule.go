package importer

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
)

// schedulePlan changes the future dates of a stored series to those of the source. Past dates are not compared,
// because a change of a schedule never moves them.
type schedulePlan struct {
	// changed is the schedule to write. Nil means none. Its first occurrence starts at the start of the last stored
	// schedule, moved like the first future date. It lasts as long as in the source (contract, section 19.5).
	changed *recur.Schedule
	// gone has the ids of occurrences whose dates the source no longer has.
	gone []int64
	// end is the id of the first future occurrence, if the series must end before it because the source has no
	// future date. 0 means that the series goes on.
	end int64
}

// comparedYears is the number of years after now for which the dates of long schedules are compared.
const comparedYears = 10

func (p schedulePlan) isUnchanged() bool { return p.changed == nil && len(p.gone) == 0 && p.end == 0 }

// planSchedule compares the schedule of a stored series with that of the source. It ignores dates in the trash, and
// dates that a source with separate events lacks. It plans nothing if the source is Partial, or if
// KeepEdited is set and a person changed the schedule.
func (r *importRun) planSchedule(ctx context.Context, db *ent.Client, s *ent.Series, source *Recurrence) (schedulePlan, error) {
	if source.Partial {
		return schedulePlan{}, nil
	}
	edited, err := r.editedByPerson(ctx, db, calendar.Series, s.ID)
	if err != nil || edited.hasAny(scheduleFields) {
		return schedulePlan{}, err
	}
	here, err := r.storedDates(ctx, db, s, source.Schedule)
	if err != nil {
		return schedulePlan{}, err
	}
	wanted, first, ok, err := r.wantedSchedule(here, source)
	switch {
	case err != nil:
		return schedulePlan{}, err
	case !ok && here.ends && len(here.starts) == 0:
		return schedulePlan{}, nil
	case !ok && len(source.Single) > 0:
		return schedulePlan{}, nil
	case !ok:
		return schedulePlan{end: here.first}, nil
	}
	if edited["exdate"] { // a person left out dates; those in the trash are known anyway
		for _, p := range here.phases {
			for _, w := range p.ExDate {
				here.trashed[w] = true
			}
		}
	}
	last := here.phases[len(here.phases)-1]
	bothLong := last.IsLong() && wanted.IsLong()
	changed := last.Ends() != wanted.Ends() || bothLong && !last.Rule.Until.Equal(wanted.Rule.Until) || last.AllDay != wanted.AllDay || last.Zone.String() != wanted.Zone.String() ||
		last.End.Sub(last.Start) != wanted.End.Sub(wanted.Start)
	there := make(map[calendar.Wall]bool)
	for o := range wanted.Occurrences(here.now, here.until) {
		there[o.Nominal] = true
		changed = changed || !here.starts[o.Nominal] && !here.trashed[o.Nominal]
	}
	var gone []int64
	for w := range here.starts {
		switch id := here.ids[w]; {
		case there[w], here.trashed[w]:
		case id == 0:
			changed = true // this start has no stored event yet
		default:
			gone = append(gone, id)
		}
	}
	if !changed {
		slices.Sort(gone)
		return schedulePlan{gone: gone}, nil
	}
	rest := here.relative(wanted, first)
	return schedulePlan{changed: &rest}, nil
}

// storedDates are the future dates of a stored series.
type storedDates struct {
	now, until calendar.Wall    // wall times in the zone of the source; dates between them are compared
	phases     []recur.Schedule // stored schedules, in order of time
	starts     map[calendar.Wall]bool
	ids        map[calendar.Wall]int64 // event ids of all occurrences, including those in the trash
	trashed    map[calendar.Wall]bool
	ends       bool
	first      int64         // event id of the first future occurrence; 0 means none
	cut        calendar.Wall // nominal start from which a change of the schedule applies; the start of the last phase if all occurrences have begun
}

func (r *importRun) storedDates(
	ctx context.Context, db *ent.Client, s *ent.Series, wanted recur.Schedule,
) (*storedDates, error) {
	d := &storedDates{
		now: wanted.Zone.Wall(r.editor.Now), until: recur.LastStart(), starts: make(map[calendar.Wall]bool),
		ids: make(map[calendar.Wall]int64), trashed: make(map[calendar.Wall]bool),
	}
	far := d.now.AddDate(comparedYears, 0, 0)
	if wanted.IsLong() {
		d.until = far
	}
	for _, p := range s.Edges.Phases {
		schedule, err := edit.ScheduleOf(p)
		if err != nil {
			return nil, fmt.Errorf("series %d: %w", s.ID, err)
		}
		d.phases = append(d.phases, schedule)
	}
	last := d.phases[len(d.phases)-1]
	d.ends, d.cut = last.Ends(), last.Start
	found := false
	for _, p := range d.phases {
		until := d.until
		if p.IsLong() {
			until = far
		}
		for o := range p.Occurrences(calendar.Wall{}, until) {
			if !o.StartsAt().After(r.editor.Now) {
				continue
			}
			d.starts[o.Nominal] = true
			if found {
				continue
			}
			found = true
			d.cut = p.Start
			if before, hasBefore, rest, _ := p.Split(o.Nominal); hasBefore && hasOccurrence(before) {
				d.cut = rest.Start
			}
		}
	}
	rows, err := db.Event.Query().Where(event.SeriesID(s.ID)).
		Select(event.FieldID, event.FieldOriginalStart, event.FieldStartsAt, event.FieldStatus, event.FieldOffSchedule).
		Order(event.ByOriginalStart()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("occurrences of series %d: %w", s.ID, err)
	}
	for _, row := range rows {
		w := *row.OriginalStart
		d.ids[w] = row.ID
		if row.Status == calendar.Trash {
			d.trashed[w] = !row.OffSchedule
		} else if d.first == 0 && row.StartsAt.After(r.editor.Now) {
			d.first = row.ID
		}
	}
	return d, nil
}

// hasOccurrence reports whether a finite schedule has any occurrence.
func hasOccurrence(s recur.Schedule) bool {
	for range s.Occurrences(calendar.Wall{}, recur.LastStart()) {
		return true
	}
	return false
}

// wantedSchedule returns the schedule of the source and its first future date, or false if there is none. A source
// with one event per date may not have sent all, so the stored dates are added.
func (r *importRun) wantedSchedule(here *storedDates, source *Recurrence) (
	s recur.Schedule, first calendar.Wall, ok bool, err error,
) {
	s = source.Schedule
	if len(source.Single) > 0 {
		if !here.ends {
			return s, first, false, refusedRecord("it recurs by a rule without end here")
		}
		dates := datesOf(s.RDate)
		for w := range here.starts {
			dates = append(dates, recur.Date{Wall: w})
		}
		if !source.Typical {
			last := here.phases[len(here.phases)-1]
			s.Span = last.MoveStart(s.Start)
		}
		if s, err = recur.New(s.Span, recur.Rule{}, dates, nil); err != nil {
			return s, first, false, err
		}
	}
	for o := range s.Occurrences(calendar.Wall{}, recur.LastStart()) {
		if o.StartsAt().After(r.editor.Now) {
			return s, o.Nominal, true, nil
		}
	}
	return s, first, false, nil
}

// relative returns the part of a schedule from first on, as an update of the stored series. Dates in the trash
// become EXDATEs. UNTIL replaces COUNT, which would also count earlier dates.
func (d *storedDates) relative(s recur.Schedule, first calendar.Wall) recur.Schedule {
	_, _, rest, _ := s.Split(first)
	if rest.Rule.Count > 0 {
		var last calendar.Wall
		for w := range rest.Rule.Starts(rest.Start, calendar.Wall{}, recur.LastStart()) {
			last = w
		}
		rest.Rule.Count, rest.Rule.Until = 0, last.EndOfDay()
	}
	for w := range rest.Starts(calendar.Wall{}, d.until) {
		if d.trashed[w] {
			rest.ExDate = append(rest.ExDate, w)
		}
	}
	base := d.phases[len(d.phases)-1].Start
	start := calendar.Span{Start: d.cut, End: base}.MoveStart(rest.Start).End
	rest.Span = rest.MoveStart(start)
	return rest
}

// trashDates moves the occurrences in plan.gone to the trash. It marks them as off schedule, so that they come back if
// the source has their dates again. If plan.end is set, it also moves that occurrence and all later ones to the trash.
func (r *importRun) trashDates(ctx context.Context, tx *ent.Tx, plan schedulePlan) error {
	if err := r.trashEvents(ctx, tx, plan.gone); err != nil {
		return err
	}
	for some := range slices.Chunk(plan.gone, idBatch) {
		if err := tx.Event.Update().Where(event.IDIn(some...)).SetOffSchedule(true).Exec(ctx); err != nil {
			return fmt.Errorf("occurrences that are left out: %w", err)
		}
	}
	if plan.end == 0 {
		return nil
	}
	row, err := edit.LockEvent(ctx, tx, plan.end)
	if err == nil {
		err = series.TrashOccurrences(ctx, tx, r.editor, row, edit.FollowingOccurrences)
	}
	if err != nil {
		return fmt.Errorf("occurrence %d: %w", plan.end, err)
	}
	return nil
}

func (r *importRun) trashEvents(ctx context.Context, tx *ent.Tx, ids []int64) error {
	for _, id := range ids {
		row, err := edit.LockEvent(ctx, tx, id)
		if err == nil {
			_, err = r.editor.TrashEvent(ctx, tx, row)
		}
		if err != nil {
			return fmt.Errorf("event %d: %w", id, err)
		}
	}
	return nil
}
