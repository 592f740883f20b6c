package edit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/internal/auth"
)

// MayReadSeries reports whether a caller may read a series and the series fields of its occurrences.
func MayReadSeries(by auth.Principal, s *ent.Series, now time.Time) bool {
	status := s.Status.Shown(now, s.PublishedAt)
	return status != calendar.Trash && auth.May(by, auth.Read, auth.RecordOf(calendar.Series, s.AuthorID, status, ""))
}

// LockPhases locks a series and returns its phases in their order. A series without a phase is an error.
func LockPhases(ctx context.Context, tx *ent.Tx, id int64) ([]*ent.SeriesPhase, error) {
	if _, err := LockSeries(ctx, tx, id); err != nil {
		return nil, fmt.Errorf("series %d: %w", id, err)
	}
	phases, err := LoadPhases(ctx, tx, id)
	if err == nil && len(phases) == 0 {
		err = fmt.Errorf("series %d has no phase", id)
	}
	return phases, err
}

// LoadPhases loads the phases of a series in their order.
func LoadPhases(ctx context.Context, tx *ent.Tx, id int64) ([]*ent.SeriesPhase, error) {
	phases, err := tx.SeriesPhase.Query().Where(seriesphase.SeriesID(id)).Order(seriesphase.ByPosition()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("phases of series %d: %w", id, err)
	}
	return phases, nil
}

// PhaseAt returns the phase to which a nominal start belongs.
func PhaseAt(phases []*ent.SeriesPhase, nominal calendar.Wall) *ent.SeriesPhase {
	return phases[recur.PhaseAt(phases, firstStart, nominal)]
}

// firstStart returns the earliest nominal start of a phase. The first rdate may be earlier than its start.
func firstStart(p *ent.SeriesPhase) calendar.Wall {
	if len(p.Rdate) > 0 && p.Rdate[0].Before(p.StartWall) {
		return p.Rdate[0]
	}
	return p.StartWall
}

// excludeOccurrence adds the nominal start of an occurrence to the exdates of its phase. If excluded is false,
// it removes it from the exdates. An occurrence that is off schedule gets an rdate when it returns. A change of
// dates is a new version of the series.
func (e *Editor) excludeOccurrence(ctx context.Context, tx *ent.Tx, row *ent.Event, excluded bool) error {
	if excluded && row.OffSchedule {
		return nil
	}
	phases, err := LockPhases(ctx, tx, *row.SeriesID)
	if err != nil {
		return err
	}
	phase, nominal := PhaseAt(phases, *row.OriginalStart), *row.OriginalStart
	exdate := slices.DeleteFunc(slices.Clone(phase.Exdate), nominal.Equal)
	if excluded {
		exdate = InsertStart(exdate, nominal)
	}
	rdate := phase.Rdate
	stored, err := ScheduleOf(phase)
	if err != nil {
		return err
	}
	if row.OffSchedule && !stored.Has(nominal) {
		rdate = InsertStart(slices.DeleteFunc(slices.Clone(rdate), nominal.Equal), nominal)
	}
	var fields []string
	if !slices.Equal(rdate, phase.Rdate) {
		fields = append(fields, "rdate")
	}
	if !slices.Equal(exdate, phase.Exdate) {
		fields = append(fields, "exdate")
	}
	if fields == nil {
		return nil
	}
	err = tx.SeriesPhase.Update().Where(seriesphase.ID(phase.ID)).SetRdate(rdate).SetExdate(exdate).Exec(ctx)
	if err != nil {
		return fmt.Errorf("phase %d: %w", phase.ID, err)
	}
	return e.touchSeries(ctx, tx, *row.SeriesID, fields)
}

// InsertStart returns a sorted list with w inserted. The list must not have w yet.
func InsertStart(list []calendar.Wall, w calendar.Wall) []calendar.Wall {
	at := slices.IndexFunc(list, w.Before)
	if at < 0 {
		at = len(list)
	}
	return slices.Insert(list, at, w)
}

// touchSeries increases the version of a series with changes in other tables, and logs the changed fields.
func (e *Editor) touchSeries(ctx context.Context, tx *ent.Tx, id int64, fields []string) error {
	return e.touch(ctx, tx, calendar.Series, []int64{id}, fields, true, nil)
}

// ownableFields are the fields that can be own fields of an occurrence, in the order of replies. An own field
// differs from the series (contract, sections 10.1 and 27.3). Fields that came later follow.
var ownableFields = withCarried([]string{
	"author", "date", "title", "description", "slug", "excerpt", "status", "timezone", "all_day", "start_date", "end_date",
	"image", "cost", "website", "show_map", "show_map_link", "hide_from_listings", "sticky", "featured",
	"categories", "tags", "venue", "organizer", "password", "ticketed", "post_parent",
	"event_status", "event_status_reason", "attendance", "virtual_url",
})

// withCarried adds the names of templateFields that are missing in a list.
func withCarried(names []string) []string {
	for _, f := range templateFields {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// ownFields returns the names of the own fields of an occurrence after a write of it alone. The changed fields
// are in d.own. The status, the publication date and the slug can change as a consequence of other fields. They
// become own fields only if they were sent.
func ownFields(row *ent.Event, in *EventInput, d *diff, statusSent bool) []string {
	var written []string
	for _, name := range d.namesInLanguages {
		field, _ := calendar.CutField(name)
		switch {
		case !slices.Contains(ownableFields, field),
			field == "date" && in.Published == nil, field == "slug" && in.Slug == nil, field == "status" && !statusSent:
			continue
		}
		written = append(written, name)
	}
	return MergeOwnFields(row.OwnFields, written...)
}

// MergeOwnFields returns the union of two lists of own fields, in the order of ownableFields and then of languages.
func MergeOwnFields(own []string, names ...string) []string {
	own = slices.Clone(own)
	for _, name := range names {
		if !slices.Contains(own, name) {
			own = append(own, name)
		}
	}
	place := func(name string) int {
		field, l := calendar.CutField(name)
		place := 2 * len(calendar.Languages) * slices.Index(ownableFields, field)
		if l != "" {
			place += l.Bit()
		}
		return place
	}
	slices.SortFunc(own, func(a, b string) int { return place(a) - place(b) })
	return own
}

// SetOwnFields replaces the names of the own fields of an occurrence. That is not a change of the occurrence itself, so
// its date stays.
func (e *Editor) SetOwnFields(ctx context.Context, tx *ent.Tx, id int64, own []string) error {
	row, err := tx.Event.Get(ctx, id)
	if err != nil {
		return fmt.Errorf("event %d: %w", id, err)
	}
	standing := PublicationState{Status: row.Status, Published: row.PublishedAt}
	c := &PublicChange{Before: standing, After: standing, Fields: []string{"series"}}
	if same, err := e.sameSeriesMember(ctx, tx, row, own, HasPassword(row)); err != nil {
		return err
	} else if same {
		c.Unseen = c.Fields
	}
	i := e.ImpactOf(c)
	u := tx.Event.Update().Where(event.ID(id)).AddVersion(1)
	if i.Hidden {
		u.AddHiddenChanges(1)
	}
	if len(own) > 0 {
		u.SetOwnFields(own)
	} else {
		u.ClearOwnFields()
	}
	if err := u.Exec(ctx); err != nil {
		return fmt.Errorf("own fields of event %d: %w", id, err)
	}
	e.LogChange(calendar.Event, id, calendar.Updated, c.Fields, i)
	return nil
}

// sameSeriesMember reports whether the public sees no difference between the own fields of an occurrence and own.
func (e *Editor) sameSeriesMember(ctx context.Context, tx *ent.Tx, row *ent.Event, own []string, protected bool) (bool, error) {
	if row.SeriesID == nil ||
		slices.Equal(calendar.PublicOwnFields(row.OwnFields, protected), calendar.PublicOwnFields(own, protected)) {
		return true, nil
	}
	public, err := e.PublicIDs(ctx, tx, calendar.Series, []int64{*row.SeriesID})
	return !public[*row.SeriesID], err
}

// ScheduleOf returns the schedule of a stored phase.
func ScheduleOf(phase *ent.SeriesPhase) (recur.Schedule, error) {
	zone, err := calendar.ParseZone(phase.Timezone)
	if err != nil {
		return recur.Schedule{}, fmt.Errorf("phase %d: %w %q", phase.ID, err, phase.Timezone)
	}
	s := recur.Schedule{
		Span:  calendar.Span{Start: phase.StartWall, End: phase.EndWall, Zone: zone, AllDay: phase.AllDay},
		RDate: phase.Rdate, ExDate: phase.Exdate,
	}
	if phase.Rrule != "" {
		if s.Rule, err = recur.Parse(phase.Rrule, zone); err != nil {
			return recur.Schedule{}, fmt.Errorf("phase %d: %w", phase.ID, err)
		}
	}
	return s, nil
}
