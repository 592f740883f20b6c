package read

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/internal/represent"
)

// phaseRow is a database row of a phase of a series. It also has those columns of the series that decide which
// callers may read it.
type phaseRow struct {
	SeriesID    int64           `sql:"series_id"`
	StartWall   calendar.Wall   `sql:"start_wall"`
	EndWall     calendar.Wall   `sql:"end_wall"`
	Timezone    string          `sql:"timezone"`
	AllDay      bool            `sql:"all_day"`
	Rrule       string          `sql:"rrule"`
	Rdate       []byte          `sql:"rdate"`
	Exdate      []byte          `sql:"exdate"`
	Template    []byte          `sql:"template"`
	AuthorID    *int64          `sql:"author_id"`
	Status      calendar.Status `sql:"status"`
	PublishedAt time.Time       `sql:"published_at"`
}

// readSeries loads the series of events into r.recurrences. It runs one SQL statement, or none if no event
// belongs to a series. If templates is true, it also loads the data that only JSON-LD shows.
func (r *Reader) readSeries(events []*ent.Event, templates bool) error {
	var ids []int64
	for _, e := range events {
		if e.SeriesID != nil && !slices.Contains(ids, *e.SeriesID) {
			ids = append(ids, *e.SeriesID)
		}
	}
	if ids == nil {
		return nil
	}
	columns := []string{
		seriesphase.FieldSeriesID, seriesphase.FieldStartWall, seriesphase.FieldEndWall, seriesphase.FieldTimezone,
		seriesphase.FieldAllDay, seriesphase.FieldRrule, seriesphase.FieldRdate, seriesphase.FieldExdate,
	}
	if templates {
		columns = append(columns, seriesphase.FieldTemplate)
	}
	var rows []phaseRow
	err := r.DB.SeriesPhase.Query().Where(seriesphase.SeriesIDIn(ids...), func(s *sql.Selector) {
		t := sql.Table(series.Table)
		s.Join(t).On(s.C(seriesphase.FieldSeriesID), t.C(series.FieldID))
		s.AppendSelect(t.Columns(series.FieldAuthorID, series.FieldStatus, series.FieldPublishedAt)...)
	}).Order(seriesphase.BySeriesID(), seriesphase.ByPosition()).Select(columns...).Scan(r.Ctx, &rows)
	if err != nil {
		return fmt.Errorf("series of events: %w", err)
	}
	r.recurrences = make(map[int64]*represent.Recurrence, len(ids))
	for i := range rows {
		if err := r.addPhase(&rows[i]); err != nil {
			return fmt.Errorf("series %d: %w", rows[i].SeriesID, err)
		}
	}
	return nil
}

// addPhase adds a phase to its series in r.recurrences. Callers must add the phases of a series in order of time.
func (r *Reader) addPhase(row *phaseRow) error {
	s := r.recurrences[row.SeriesID]
	if s == nil {
		s = &represent.Recurrence{ID: row.SeriesID, AuthorID: row.AuthorID, Status: row.Status, PublishedAt: row.PublishedAt}
		r.recurrences[row.SeriesID] = s
		if row.Status == calendar.Future && row.PublishedAt.After(r.Now) {
			r.ExpireBy(row.PublishedAt) // events of the series show it from then on
		}
	}
	phase := ent.SeriesPhase{
		StartWall: row.StartWall, EndWall: row.EndWall, Timezone: row.Timezone, AllDay: row.AllDay, Rrule: row.Rrule,
	}
	for _, one := range []struct {
		stored []byte
		into   any
	}{{row.Rdate, &phase.Rdate}, {row.Exdate, &phase.Exdate}} {
		if len(one.stored) == 0 {
			continue
		}
		if err := json.Unmarshal(one.stored, one.into); err != nil {
			return err
		}
	}
	if len(row.Template) > 0 {
		template, err := ent.DecodeTemplate(row.Template)
		if err != nil {
			return err
		}
		s.Template = template // that of the last phase remains
	}
	schedule, err := edit.ScheduleOf(&phase)
	if err != nil {
		return err
	}
	s.Phases = append(s.Phases, represent.RecurrencePhase{First: schedule.First(), Schedule: schedule})
	return nil
}
