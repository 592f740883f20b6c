package index

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/query"
)

// statusNumber returns the index of a status in calendar.Statuses. It allocates no memory, because a load calls
// it for every row.
func statusNumber(status sql.RawBytes) (uint8, error) {
	for i, s := range calendar.Statuses {
		if string(status) == string(s) {
			return uint8(i), nil
		}
	}
	return 0, fmt.Errorf("has the status %q", status)
}

// isDraft reports whether a status is draft or pending.
func isDraft(status sql.RawBytes) bool {
	return string(status) == string(calendar.Draft) || string(status) == string(calendar.Pending)
}

// events reads events and calls each with a document for every one, in no particular order. The parameter where is
// a WHERE clause that begins with a space, or "" for all events. The documents have no links or texts.
func (r reader) events(ctx context.Context, where string, each func(*document)) error {
	var row document
	var status, before, firstDay, lastDay sql.RawBytes
	var starts, ends, published, modified time.Time
	var author, image, seriesID sql.NullInt64
	scan := newScan(r.columns)
	fields := append([]field{
		{event.FieldID, &row.id},
		{event.FieldStatus, &status},
		{event.FieldStatusBeforeTrash, &before},
		{event.FieldHideFromListings, &row.hidden},
		{event.FieldPasswordHash + " IS NOT NULL", &row.locked},
		{event.FieldStartsAt, &starts},
		{event.FieldEndsAt, &ends},
		{event.FieldPublishedAt, &published},
		{event.FieldModifiedAt, &modified},
		{dayOfAllDay(event.FieldStartWall), &firstDay},
		{dayOfAllDay(event.FieldEndWall), &lastDay},
		{event.FieldAuthorID, &author},
		{event.FieldImageID, &image},
		{event.FieldSeriesID, &seriesID},
	}, scan.fields...)
	return r.rows(ctx, event.Table, fields, where, func() (err error) {
		d := row
		d.values = scan.rowValues()
		if d.status, err = statusNumber(status); err != nil {
			return fmt.Errorf("%d %w", d.id, err)
		}
		if d.status == statusTrash {
			status = before
		}
		d.draft = isDraft(status)
		d.author, d.image, d.series = author.Int64, image.Int64, seriesID.Int64
		d.starts, d.ends, d.published, d.modified = starts.Unix(), ends.Unix(), published.Unix(), modified.Unix()
		if d.allDay = len(firstDay) > 0 && !d.locked; d.allDay {
			if d.firstDay, err = dayNumber(firstDay); err == nil {
				d.lastDay, err = dayNumber(lastDay)
			}
			if err != nil {
				return fmt.Errorf("%d: %w", d.id, err)
			}
		}
		each(&d)
		return nil
	})
}

// dayOfAllDay returns an SQL expression for the date in a wall-time field of an all-day event. For other events it
// is NULL, so that the database does not send their times. Few events are all-day.
func dayOfAllDay(field string) string {
	return "CASE WHEN " + event.FieldAllDay + " THEN SUBSTR(" + field + ", 1, 10) END"
}

// dayNumber parses a date such as 2026-11-23 and returns it as days since 1970.
func dayNumber(text []byte) (int32, error) {
	day, err := time.Parse(time.DateOnly, string(text))
	return int32(day.Unix() / (24 * 60 * 60)), err
}

// documents reads events with their links, and with their search texts if withTexts is set. Events that do not
// exist are missing from the map.
func (r reader) documents(ctx context.Context, ids []int64, withTexts bool) (map[int64]*document, error) {
	out := make(map[int64]*document, len(ids))
	for part := range slices.Chunk(ids, partSize) {
		in := query.IDList(part)
		if err := r.events(ctx, " WHERE "+event.FieldID+" IN "+in, func(d *document) { out[d.id] = d }); err != nil {
			return nil, err
		}
		for _, kind := range newScan(r.columns).links {
			err := r.links(ctx, kind, " WHERE "+ent.LinkTables[kind].Event+" IN "+in, func(event, record int64) {
				if d := out[event]; d != nil {
					d.link(kind, record)
				}
			})
			if err != nil {
				return nil, err
			}
		}
		if !withTexts {
			continue
		}
		err := r.texts(ctx, calendar.Event, part, func(event int64, t text) {
			if d := out[event]; d != nil {
				d.texts = append(d.texts, t)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
