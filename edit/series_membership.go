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

// LockPhases locks a series and returns its phases, which are parts with one schedule, in their order. A series
// without a phase is an error.
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

// LoadPhases loads the phases of a series, which are parts with one schedule, in their order.
func LoadPhases(ctx context.Context, tx *ent.Tx, id int64) ([]*ent.SeriesPhase, error) {
	phases, err := tx.SeriesPhase.Query().Where(seriesphase.SeriesID(id)).Order(seriesphase.ByPosition()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("phases of series %d: %w", id, err)
	}
	return phases, nil
}

// PhaseAt returns the phase, a part of a series with one schedule, that contains a nominal start. Phases must be in
// their order, and not empty.
func PhaseAt(phases []*ent.SeriesPhase, nominal calendar.Wall) *ent.SeriesPhase {
	return phases[recur.PhaseAt(phases, firstStart, nominal)]
}

// firstStart returns the earliest nominal start in a part of a series. The first rdate can be earlier than its
// start.
func firstStart(p *ent.SeriesPhase) calendar.Wall {
	if len(p.Rdate) > 0 && p.Rdate[0].Before(p.StartWall) {
		return p.Rdate[0]
	}
	return p.StartWall
}

// excludeOccurrence adds the nominal start of an occurrence to the exdates of its series. If excluded is false, it
// removes it. A returning occurrence gets an rdate if the schedule lacks its start. The series gets a new version if
// its dates change.
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

// InsertStart inserts the start w into a sorted list and returns the list. The list must not contain w yet.
func InsertStart(list []calendar.Wall, w calendar.Wall) []calendar.Wall {
	at := slices.IndexFunc(list, w.Before)
	if at < 0 {
		at = len(list)
	}
	return slices.Insert(list, at, w)
}

// touchSeries gives a series a new version, after a change of its schedules, which are in another table. It logs the
// names of the changed fields.
func (e *Editor) touchSeries(ctx context.Context, tx *ent.Tx, id int64, fields []string) error {
	return e.touch(ctx, tx, calendar.Series, []int64{id}, fields, true, nil)
}

// ownableFields are the fields that can be own fields of an occurrence, in the order of responses. An own field was
// written for one occurrence alone (contract, sections 10.1 and 27.3). Fields of later versions are at the end.
var ownableFields = withTemplateFields([]string{
	"author", "date", "title", "description", "slug", "excerpt", "status", "timezone", "all_day", "start_date", "end_date",
	"image", "cost", "website", "show_map", "show_map_link", "hide_from_listings", "sticky", "featured",
	"categories", "tags", "venue", "organizer", "password", "ticketed", "post_parent",
	"event_status", "event_status_reason", "attendance", "virtual_url",
})

// withTemplateFields returns the names, followed by those names of templateFields that are missing.
func withTemplateFields(names []string) []string {
	for _, f := range templateFields {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// ownFields returns the names of the own fields of an occurrence after a write of it alone. These are its former own
// fields and the changed fields in d. Status, publication date and slug can change as a consequence of other fields.
// They become own fields only if the client sent them.
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

// MergeOwnFields adds names to a list of own fields, without repeats. The result is in the order of ownableFields,
// then of languages.
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

// SetOwnFields stores the names of the fields in which an occurrence differs from its series. The modification
// date stays, because the occurrence itself does not change.
func (e *Editor) SetOwnFields(ctx context.Context, tx *ent.Tx, id int64, own []string) error {
	row, err := tx.Event.Get(ctx, id)
	if err != nil {
		return fmt.Errorf("event %d: %w", id, err)
	}
	standing := PublicationState{Status: row.Status, Published: row.PublishedAt}
	c := &PublicChange{Before: standing, After: standing, Fields: []string{"series"}}
	if same, err := e.ownFieldsLookSame(ctx, tx, row, own, HasPassword(row)); err != nil {
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

// ownFieldsLookSame reports whether the stored own fields of an occurrence look to the public like the new list
// own. If protected is true, the event has a password, which hides its fields.
func (e *Editor) ownFieldsLookSame(ctx context.Context, tx *ent.Tx, row *ent.Event, own []string, protected bool) (bool, error) {
	if row.SeriesID == nil ||
		slices.Equal(calendar.PublicOwnFields(row.OwnFields, protected), calendar.PublicOwnFields(own, protected)) {
		return true, nil
	}
	public, err := e.PublicIDs(ctx, tx, calendar.Series, []int64{*row.SeriesID})
	return !public[*row.SeriesID], err
}

// ScheduleOf returns the schedule of a stored part of a series. The error means that its zone or rule is invalid.
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
