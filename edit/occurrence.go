package edit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
)

// planRecurrence returns how an update of a stored event changes its series. If the event becomes a series,
// made is that series. If the event leaves its series, leaves is true. A schedule that is sent for one
// occurrence must equal the stored schedule, otherwise the fault is scope-required. If the caller may not read
// the series, faults are those of a single event, because they must not depend on the stored schedule.
func (e *Editor) planRecurrence(ctx context.Context, tx *ent.Tx, row *ent.Event, in *EventInput) (
	made *newSeries, leaves bool, err error,
) {
	if in.Rule == nil && in.RDate == nil && in.ExDate == nil {
		return nil, false, nil
	}
	var phases []*ent.SeriesPhase
	if row.SeriesID != nil {
		s, err := LockSeries(ctx, tx, *row.SeriesID)
		if err != nil {
			return nil, false, fmt.Errorf("series %d: %w", *row.SeriesID, err)
		}
		if MayReadSeries(e.By, s, e.Now) {
			if phases, err = lockPhases(ctx, tx, s.ID); err != nil {
				return nil, false, err
			}
		}
	}
	if phases == nil {
		made, err = e.planSeriesOf(row, in)
		if fault := ScheduleFault(err); fault != nil {
			return nil, false, invalidInput(fault)
		}
		switch {
		case err != nil || made == nil:
			return nil, false, err
		case row.SeriesID != nil:
			return nil, false, invalidInput(scopeRequired())
		}
		return made, false, requireSeries(ctx, tx)
	}
	leaves = in.Rule != nil && *in.Rule == ""
	same, err := sameSchedule(phaseAt(phases, *row.OriginalStart), in, leaves)
	if err == nil && !same {
		err = invalidInput(scopeRequired())
	}
	return nil, leaves, err
}

// MayReadSeries reports whether a caller may read a series and the series fields of its occurrences.
func MayReadSeries(by auth.Principal, s *ent.Series, now time.Time) bool {
	status := s.Status.Shown(now, s.PublishedAt)
	return status != calendar.Trash && auth.May(by, auth.Read, auth.RecordOf(calendar.Series, s.AuthorID, status, ""))
}

// planSeriesOf is planSeries for a stored event, which becomes the occurrence at the start of the schedule. It
// returns an error if the schedule excludes its start.
func (e *Editor) planSeriesOf(row *ent.Event, in *EventInput) (*newSeries, error) {
	made, err := e.planSeries(row, in)
	if err != nil || made == nil {
		return nil, err
	}
	start := made.schedule.Start
	if !slices.ContainsFunc(made.occurrences, func(o recur.Occurrence) bool { return o.Nominal.Equal(start) }) {
		return nil, notInSchedule(recur.Date{Wall: start})
	}
	return made, nil
}

// scopeRequired returns the fault of a request that sends a new schedule for one occurrence.
func scopeRequired() *param.Fault {
	return &param.Fault{Param: "scope", Reason: "scope-required", Key: "scope-required", Data: map[string]any{}}
}

// sameSchedule reports whether the sent rule, rdate and exdate equal those of the phase. Fields that were not sent count
// as equal. If the occurrence leaves the series, any rule and empty lists of dates also count as equal.
func sameSchedule(phase *ent.SeriesPhase, in *EventInput, leaves bool) (bool, error) {
	stored, err := ScheduleOf(phase)
	if err != nil {
		return false, err
	}
	if in.Rule != nil && !leaves {
		rule, err := recur.Parse(*in.Rule, stored.Zone)
		if err != nil || rule.String() != phase.Rrule {
			return false, nil //nolint:nilerr // another rule than the stored one
		}
	}
	rdate, exdate := valueOr(nil, in.RDate), valueOr(nil, in.ExDate)
	sent, err := recur.New(stored.Span, stored.Rule, rdate, nil)
	if err != nil {
		return false, err
	}
	if cleared := leaves && len(rdate) == 0; in.RDate != nil && !cleared && !slices.Equal(sent.RDate, stored.RDate) {
		return false, nil
	}
	if cleared := leaves && len(exdate) == 0; in.ExDate == nil || cleared {
		return true, nil
	}
	dates := make([]recur.Date, len(stored.RDate))
	for i, w := range stored.RDate {
		dates[i] = recur.Date{Wall: w}
	}
	sent, err = recur.New(stored.Span, stored.Rule, dates, exdate)
	var refused *recur.Error
	if errors.As(err, &refused) {
		return false, nil
	}
	return slices.Equal(sent.ExDate, stored.ExDate), err
}

// lockPhases locks a series and returns its phases in their order. A series without a phase is an error.
func lockPhases(ctx context.Context, tx *ent.Tx, id int64) ([]*ent.SeriesPhase, error) {
	if _, err := LockSeries(ctx, tx, id); err != nil {
		return nil, fmt.Errorf("series %d: %w", id, err)
	}
	phases, err := loadPhases(ctx, tx, id)
	if err == nil && len(phases) == 0 {
		err = fmt.Errorf("series %d has no phase", id)
	}
	return phases, err
}

func loadPhases(ctx context.Context, tx *ent.Tx, id int64) ([]*ent.SeriesPhase, error) {
	phases, err := tx.SeriesPhase.Query().Where(seriesphase.SeriesID(id)).Order(seriesphase.ByPosition()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("phases of series %d: %w", id, err)
	}
	return phases, nil
}

// phaseAt returns the phase to which a nominal start belongs.
func phaseAt(phases []*ent.SeriesPhase, nominal calendar.Wall) *ent.SeriesPhase {
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
	phases, err := lockPhases(ctx, tx, *row.SeriesID)
	if err != nil {
		return err
	}
	phase, nominal := phaseAt(phases, *row.OriginalStart), *row.OriginalStart
	exdate := slices.DeleteFunc(slices.Clone(phase.Exdate), nominal.Equal)
	if excluded {
		exdate = withWall(exdate, nominal)
	}
	rdate := phase.Rdate
	stored, err := ScheduleOf(phase)
	if err != nil {
		return err
	}
	if row.OffSchedule && !stored.Has(nominal) {
		rdate = withWall(slices.DeleteFunc(slices.Clone(rdate), nominal.Equal), nominal)
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

// withWall returns a sorted list with w inserted. The list must not have w yet.
func withWall(list []calendar.Wall, w calendar.Wall) []calendar.Wall {
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

// seriesFields are the fields that can be own fields of an occurrence, in the order of replies. An own field
// differs from the series (contract, sections 10.1 and 27.3). Fields that came later follow.
var seriesFields = withCarried([]string{
	"author", "date", "title", "description", "slug", "excerpt", "status", "timezone", "all_day", "start_date", "end_date",
	"image", "cost", "website", "show_map", "show_map_link", "hide_from_listings", "sticky", "featured",
	"categories", "tags", "venue", "organizer", "password", "ticketed", "post_parent",
	"event_status", "event_status_reason", "attendance", "virtual_url",
})

// withCarried adds the names of carriedFields that are missing in a list.
func withCarried(names []string) []string {
	for _, f := range carriedFields {
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
		case !slices.Contains(seriesFields, field),
			field == "date" && in.Published == nil, field == "slug" && in.Slug == nil, field == "status" && !statusSent:
			continue
		}
		written = append(written, name)
	}
	return ownNames(row.OwnFields, written...)
}

// ownNames returns the union of two lists of own fields, in the order of seriesFields and then of languages.
func ownNames(own []string, names ...string) []string {
	own = slices.Clone(own)
	for _, name := range names {
		if !slices.Contains(own, name) {
			own = append(own, name)
		}
	}
	place := func(name string) int {
		field, l := calendar.CutField(name)
		place := 2 * len(calendar.Languages) * slices.Index(seriesFields, field)
		if l != "" {
			place += l.Bit()
		}
		return place
	}
	slices.SortFunc(own, func(a, b string) int { return place(a) - place(b) })
	return own
}
