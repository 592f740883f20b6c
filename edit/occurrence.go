package edit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
)

// planRecurrence returns what an update does to the series of a stored event: the one that is made of it, or whether the
// event leaves the one that it is in. What is sent of the schedule of an occurrence has to be what is stored, or it is
// refused as scope-required. A caller who may not read the series gets the refusals of an event outside a series. These do
// not depend on the stored schedule.
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

// MayReadSeries reports whether a caller may read a series, and therefore the series fields of its occurrences.
func MayReadSeries(by auth.Principal, s *ent.Series, now time.Time) bool {
	status := s.Status.Shown(now, s.PublishedAt)
	return status != calendar.Trash && auth.May(by, auth.Read, auth.RecordOf(calendar.Series, s.AuthorID, status, ""))
}

// planSeriesOf is planSeries for a stored event, which becomes the occurrence at the start of the schedule.
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

// scopeRequired returns the fault of a request that sends a schedule for one occurrence.
func scopeRequired() *param.Fault {
	return &param.Fault{Param: "scope", Reason: "scope-required", Key: "scope-required", Data: map[string]any{}}
}

// sameSchedule reports whether the schedule sent equals that of the phase. If the occurrence leaves the phase,
// a request that sends no dates also counts as equal.
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

// lockPhases locks a series and loads its phases, in their order.
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

// phaseAt returns the phase that a nominal start belongs to.
func phaseAt(phases []*ent.SeriesPhase, nominal calendar.Wall) *ent.SeriesPhase {
	return phases[recur.PhaseAt(phases, firstStart, nominal)]
}

// firstStart returns the earliest nominal start of a phase: an rdate may be earlier than its start.
func firstStart(p *ent.SeriesPhase) calendar.Wall {
	if len(p.Rdate) > 0 && p.Rdate[0].Before(p.StartWall) {
		return p.Rdate[0]
	}
	return p.StartWall
}

// excludeOccurrence adds the nominal start of an occurrence to the exdates of its phase, or removes it from
// them. A start that the schedule lacks becomes an rdate, or is removed from the rdates. This changes the
// series.
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

// withWall returns a sorted list with a wall time that it does not have.
func withWall(list []calendar.Wall, w calendar.Wall) []calendar.Wall {
	at := slices.IndexFunc(list, w.Before)
	if at < 0 {
		at = len(list)
	}
	return slices.Insert(list, at, w)
}

// touchSeries makes a new version of a series whose fields are changed in other tables, and logs it.
func (e *Editor) touchSeries(ctx context.Context, tx *ent.Tx, id int64, fields []string) error {
	err := tx.Series.Update().Where(series.ID(id)).AddVersion(1).SetModifiedAt(e.Now).Exec(ctx)
	if err != nil {
		return fmt.Errorf("series %d: %w", id, err)
	}
	e.log(calendar.Series, id, calendar.Updated, fields)
	return nil
}

// seriesFields are the fields that an occurrence can have of its own, in the order of replies (contract,
// sections 10.1 and 27.3).
var seriesFields = []string{
	"author", "date", "title", "description", "slug", "excerpt", "status", "timezone", "all_day", "start_date", "end_date",
	"image", "cost", "website", "show_map", "show_map_link", "hide_from_listings", "sticky", "featured",
	"categories", "tags", "venue", "organizer", "password", "ticketed", "post_parent",
	"event_status", "event_status_reason", "attendance", "virtual_url",
}

// ownFields returns the own fields of an occurrence after a write of it alone. Those that the write changed are in d.
// Status and publication date can change as a consequence, and the slug goes to the trash and back: these are own fields
// only if they were sent.
func ownFields(row *ent.Event, in *EventInput, d *diff, statusSent bool) []string {
	var written []string
	for _, name := range d.own {
		field, _, _ := strings.Cut(name, ":")
		switch {
		case !slices.Contains(seriesFields, field),
			field == "date" && in.Published == nil, field == "slug" && in.Slug == nil, field == "status" && !statusSent:
			continue
		}
		written = append(written, name)
	}
	return ownNames(row.OwnFields, written...)
}

// ownNames adds names to those of own fields, in the order in which they are named.
func ownNames(own []string, names ...string) []string {
	own = slices.Clone(own)
	for _, name := range names {
		if !slices.Contains(own, name) {
			own = append(own, name)
		}
	}
	place := func(name string) int {
		field, language, _ := strings.Cut(name, ":")
		place := 2 * len(calendar.Languages) * slices.Index(seriesFields, field)
		if language != "" {
			place += calendar.Language(language).Bit()
		}
		return place
	}
	slices.SortFunc(own, func(a, b string) int { return place(a) - place(b) })
	return own
}

// sentSeriesSlug sets the slug of a new series, in the language of the text sent, to the slug sent for the
// event. It returns the slug in the original language; nil if none was sent in it.
func (e *Editor) sentSeriesSlug(
	ctx context.Context, tx *ent.Tx, r *record, t *calendar.Template, sent *string,
) (original *string, err error) {
	if e.Write == "" || e.Write == r.language || valueOr("", sent) == "" {
		return sent, nil
	}
	taken, err := r.slugIn(e.Write, "").take(ctx, tx, calendar.Slug(*sent))
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(t.Others, func(o calendar.Text) bool { return o.Language == e.Write })
	if at < 0 {
		at = len(t.Others)
		t.Others = append(t.Others, calendar.Text{Language: e.Write})
	}
	t.Others[at].Slug = taken
	return nil, nil
}
