package handlers_test

import (
	"fmt"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/ent/event"
	entseries "github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/proof/draw"
)

// seriesWrites are the kinds of writes that make, change and leave series.
var seriesWrites = []indexWrite{
	{"create series", (*indexModel).createSeries},
	{"make an event recur", func(m *indexModel) bool {
		row, err := m.db.Event.Query().Where(event.SeriesIDIsNil(), event.StatusEQ(calendar.Publish)).First(m.ctx)
		if err != nil {
			m.Error(err)
			return false
		}
		return m.edit(func(tx *ent.Tx, e *edit.Editor) error {
			_, err := series.UpdateEvent(m.ctx, tx, e, row, &edit.EventInput{Rule: new("FREQ=DAILY;COUNT=3")})
			return err
		})
	}},
	{"take an occurrence out of its series", func(m *indexModel) bool {
		return m.editOccurrence(func(tx *ent.Tx, e *edit.Editor, row *ent.Event) error {
			_, err := series.UpdateEvent(m.ctx, tx, e, row, &edit.EventInput{Rule: new("")})
			return err
		})
	}},
	{"move an occurrence", func(m *indexModel) bool {
		return m.editOccurrence(func(tx *ent.Tx, e *edit.Editor, row *ent.Event) error {
			start := m.now().Add(time.Duration(m.IntN(1000)) * time.Hour)
			_, err := series.UpdateEvent(m.ctx, tx, e, row, &edit.EventInput{
				Start: new(when.FromInstant(start)), End: new(when.FromInstant(start.Add(time.Hour))),
			})
			return err
		})
	}},
	{"trash an occurrence", func(m *indexModel) bool {
		return m.editOccurrence(func(tx *ent.Tx, e *edit.Editor, row *ent.Event) error {
			_, err := e.TrashEvent(m.ctx, tx, row)
			return err
		})
	}},
	{"hide a series", func(m *indexModel) bool { return m.restateSeries(calendar.Private) }},
	{"publish a series", func(m *indexModel) bool { return m.restateSeries(calendar.Publish) }},
	{"trash a series", func(m *indexModel) bool { return m.restateSeries(calendar.Trash) }},
	{"change fields of following occurrences", scopedFields("following")},
	{"change fields of all occurrences", scopedFields("all")},
	{"move following occurrences", scopedWrite("following", func(m *indexModel, row *ent.Event) object {
		return object{"start_date": row.StartsAt.Add(time.Duration(1+m.IntN(20)) * time.Hour).Format("2006-01-02T15:04:05Z")}
	})},
	{"change the rule of all occurrences", scopedWrite("all", func(m *indexModel, _ *ent.Event) object {
		return object{"rrule": fmt.Sprintf("FREQ=DAILY;INTERVAL=%d;COUNT=%d", 1+m.IntN(3), 2+m.IntN(6))}
	})},
	{"trash following occurrences", scopedWrite("following", nil)},
	{"trash all occurrences", scopedWrite("all", nil)},
	{"change fields of a series", func(m *indexModel) bool {
		id := m.pickSeries(calendar.Publish)
		return id != 0 && m.sendAs("administrator", "PATCH", fmt.Sprint("/series/", id), m.seriesFields())
	}},
	{"delete a series", func(m *indexModel) bool {
		id := m.pickSeries(calendar.Publish)
		return id != 0 && m.sendAs("editor", "DELETE", fmt.Sprint("/series/", id), nil)
	}},
	{"restore a series", func(m *indexModel) bool {
		id := m.pickSeries(calendar.Trash)
		return id != 0 && m.sendAs("editor", "PATCH", fmt.Sprint("/series/", id), object{"status": "publish"})
	}},
}

// scopedFields returns a write of some fields with a scope.
func scopedFields(scope string) func(*indexModel) bool {
	return scopedWrite(scope, func(m *indexModel, _ *ent.Event) object { return m.seriesFields() })
}

// scopedWrite returns a write with a scope to an occurrence that has not begun. Without a body it is a deletion.
func scopedWrite(scope string, body func(*indexModel, *ent.Event) object) func(*indexModel) bool {
	return func(m *indexModel) bool {
		m.Helper()
		published := m.db.Series.Query().Where(entseries.StatusEQ(calendar.Publish)).IDsX(m.ctx)
		rows := m.db.Event.Query().Where(
			event.StatusEQ(calendar.Publish), event.StartsAtGT(m.now()), event.SeriesIDIn(published...),
		).Order(event.ByID()).AllX(m.ctx)
		if len(rows) == 0 {
			m.createSeries()
			return false
		}
		row := draw.Item(m.Rand, rows...)
		path := fmt.Sprintf("%s?scope=%s", m.path(calendar.Event, row.ID), scope)
		if body == nil {
			return m.sendAs("editor", "DELETE", path, nil)
		}
		return m.sendAs("administrator", "PATCH", path, body(m, row))
	}
}

// seriesFields returns random fields of a series that do not belong to its schedule. They always include a new
// title.
func (m *indexModel) seriesFields() object {
	all := m.eventBody()
	for _, name := range []string{"start_date", "end_date", "all_day"} {
		delete(all, name)
	}
	out := m.part(all)
	out["title"] = m.name("series")
	return out
}

// pickSeries returns the id of a series with a status. If there is none, it creates one and returns 0.
func (m *indexModel) pickSeries(status calendar.Status) int64 {
	m.Helper()
	rows := m.db.Series.Query().Where(entseries.StatusEQ(status)).Order(entseries.ByID()).AllX(m.ctx)
	if len(rows) == 0 {
		m.createSeries()
		if status == calendar.Trash {
			m.restateSeries(calendar.Trash)
		}
		return 0
	}
	return draw.Item(m.Rand, rows...).ID
}

func (m *indexModel) createSeries() bool {
	m.Helper()
	return m.edit(func(tx *ent.Tx, e *edit.Editor) error {
		start := m.now().Add(time.Duration(m.IntN(1000)-200) * time.Hour)
		_, err := series.CreateEvent(m.ctx, tx, e, &edit.EventInput{
			Title: new(m.name("series")), Start: new(when.FromInstant(start)), End: new(when.FromInstant(start.Add(time.Hour))),
			AuthorID: new(m.users[draw.Item(m.Rand, "author", "editor")]), Rule: new(fmt.Sprintf("FREQ=DAILY;INTERVAL=2;COUNT=%d", 3+m.IntN(5))),
		})
		return err
	})
}

// editOccurrence writes a published occurrence.
func (m *indexModel) editOccurrence(do func(*ent.Tx, *edit.Editor, *ent.Event) error) bool {
	m.Helper()
	rows := m.db.Event.Query().Where(event.SeriesIDNotNil(), event.StatusEQ(calendar.Publish)).AllX(m.ctx)
	if len(rows) == 0 {
		m.createSeries()
		return false
	}
	row := draw.Item(m.Rand, rows...)
	return m.edit(func(tx *ent.Tx, e *edit.Editor) error { return do(tx, e, row) })
}

// restateSeries sets the status of a random series directly in the database, with an entry in the change log. If
// all series have the status, it creates one, or makes one private for calendar.Publish. It then returns false.
func (m *indexModel) restateSeries(status calendar.Status) bool {
	m.Helper()
	rows := m.db.Series.Query().Where(entseries.StatusNEQ(status)).AllX(m.ctx)
	if len(rows) == 0 && status == calendar.Publish {
		m.restateSeries(calendar.Private)
		return false
	}
	if len(rows) == 0 {
		m.createSeries()
		return false
	}
	row := draw.Item(m.Rand, rows...)
	return m.edit(func(tx *ent.Tx, _ *edit.Editor) error {
		update := tx.Series.UpdateOne(row).SetStatus(status).SetStatusBeforeTrash("").AddVersion(1)
		if status == calendar.Trash {
			update.SetStatusBeforeTrash(calendar.Publish)
		}
		if err := update.Exec(m.ctx); err != nil {
			return err
		}
		if err := tx.Counter.Update().Where(counter.ID("revision")).AddValue(1).Exec(m.ctx); err != nil {
			return err
		}
		newest, err := tx.Counter.Get(m.ctx, "revision")
		if err != nil {
			return err
		}
		return tx.Change.Create().SetID(newest.Value).SetKind(calendar.Series).SetRecordID(row.ID).
			SetAction(calendar.Updated).SetAt(m.now()).SetFields([]string{"status"}).Exec(m.ctx)
	})
}
