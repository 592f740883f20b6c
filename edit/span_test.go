package edit

import (
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/when"
)

func TestRespan(t *testing.T) {
	t.Parallel()
	zone := func(name string) calendar.Zone {
		z, err := calendar.ParseZone(name)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	span := func(start, end, z string, allDay bool) calendar.Span {
		return calendar.Span{
			Start: wall(start).Wall(calendar.UTC()), End: wall(end).Wall(calendar.UTC()), Zone: zone(z), AllDay: allDay,
		}
	}
	instant := func(s string) *when.Date {
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return new(when.FromInstant(at))
	}
	evening := span("2026-07-01 18:00:00", "2026-07-01 20:00:00", "Europe/Warsaw", false)
	days := span("2026-07-01 00:00:00", "2026-07-02 23:59:59", "Europe/Warsaw", true)
	night := span("2026-07-01 18:00:00", "2026-07-02 02:00:00", "Europe/Warsaw", false)
	tests := []struct {
		name       string
		old        calendar.Span
		in         EventInput
		start, end string
	}{
		{"nothing", evening, EventInput{}, "2026-07-01 18:00:00", "2026-07-01 20:00:00"},
		{"the start alone moves the event", evening, EventInput{Start: wall("2026-08-02 10:30:00")}, "2026-08-02 10:30:00", "2026-08-02 12:30:00"},
		{"the start alone, across the change of the clock", evening, EventInput{Start: wall("2026-10-24 23:00:00")}, "2026-10-24 23:00:00", "2026-10-25 01:00:00"},
		{"the end alone changes the length", evening, EventInput{End: wall("2026-07-02 01:00:00")}, "2026-07-01 18:00:00", "2026-07-02 01:00:00"},
		{"both", evening, EventInput{Start: wall("2026-01-01 00:00:00"), End: wall("2026-01-01 01:00:00")}, "2026-01-01 00:00:00", "2026-01-01 01:00:00"},
		{"the zone alone keeps wall times", evening, EventInput{Zone: new(zone("America/New_York"))}, "2026-07-01 18:00:00", "2026-07-01 20:00:00"},
		{"an instant is converted to the zone", evening, EventInput{Start: instant("2026-07-01T18:00:00Z")}, "2026-07-01 20:00:00", "2026-07-01 22:00:00"},
		{"an instant is converted to the zone sent", evening, EventInput{Start: instant("2026-07-01T18:00:00Z"), Zone: new(zone("America/New_York"))}, "2026-07-01 14:00:00", "2026-07-01 16:00:00"},
		{"a skipped time moves forward", evening, EventInput{Start: wall("2026-03-29 02:30:00")}, "2026-03-29 03:30:00", "2026-03-29 05:30:00"},
		{"an end that moves into a gap", evening, EventInput{Start: wall("2026-03-29 00:30:00")}, "2026-03-29 00:30:00", "2026-03-29 03:30:00"},
		{"becomes all-day", evening, EventInput{AllDay: new(true)}, "2026-07-01 00:00:00", "2026-07-01 23:59:59"},
		{"no longer all-day keeps the times", days, EventInput{AllDay: new(false)}, "2026-07-01 00:00:00", "2026-07-02 23:59:59"},
		{"all-day moves by whole days", days, EventInput{Start: wall("2026-08-10 15:00:00")}, "2026-08-10 00:00:00", "2026-08-11 23:59:59"},
		{"all-day with another end", days, EventInput{End: wall("2026-07-05 01:00:00")}, "2026-07-01 00:00:00", "2026-07-05 23:59:59"},
		{"becomes all-day and moves", night, EventInput{AllDay: new(true), Start: wall("2026-08-10 18:00:00")}, "2026-08-10 00:00:00", "2026-08-11 23:59:59"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := respan(tt.old, &tt.in)
			if got.Start.String() != tt.start || got.End.String() != tt.end {
				t.Errorf("%s – %s, want %s – %s", got.Start, got.End, tt.start, tt.end)
			}
			if f := spanFault(got, &tt.in); f != nil {
				t.Errorf("faulted %+v", f)
			}
		})
	}
}

func TestSpanFaults(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor)
		tests := []struct {
			name string
			by   calendar.Role
			in   EventInput
			want string
		}{
			{"end before the stored start", calendar.Editor, EventInput{End: wall("2026-07-01 17:59:59")}, "end_date:end-before-start"},
			{"end at the start", calendar.Editor, EventInput{End: wall("2026-07-01 18:00:00")}, ""},
			{"both, in the wrong order", calendar.Editor, EventInput{Start: wall("2026-07-01 20:00:00"), End: wall("2026-07-01 19:00:00")}, "end_date:end-before-start"},
			{"both, in the wrong order, come before the permission", calendar.Subscriber, EventInput{Start: wall("2026-07-01 20:00:00"), End: wall("2026-07-01 19:00:00")}, "end_date:end-before-start"},
			{"one alone comes after the permission", calendar.Subscriber, EventInput{End: wall("2026-07-01 17:59:59")}, "rest_forbidden"},
			{"moved beyond the last year", calendar.Editor, EventInput{Start: wall("9999-12-31 23:30:00")}, "end_date"},
			{"all-day in the wrong order", calendar.Editor, EventInput{AllDay: new(true), Start: wall("2026-07-02 00:00:00"), End: wall("2026-07-01 23:00:00")}, "end_date:end-before-start"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				id := w.event(e, &EventInput{}).ID // 2026-07-01 18:00 to 20:00
				_, err := w.updateEvent(w.as(tt.by), id, &tt.in)
				refused(t, err, tt.want)
			})
		}
		t.Run("create", func(t *testing.T) {
			_, err := w.createEvent(e, &EventInput{Start: wall("2026-07-01 20:00:00"), End: wall("2026-07-01 19:00:00")})
			refused(t, err, "end_date:end-before-start")
		})
	})
}

func TestEventSpanIsStored(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor)
		row := w.event(e, &EventInput{})
		row = w.changeEvent(e, row.ID, &EventInput{Zone: new(calendar.UTC())})
		if got := row.StartsAt.UTC().Format(calendar.Layout); got != "2026-07-01 18:00:00" || row.Timezone != "UTC" {
			t.Errorf("starts at %s in %s", got, row.Timezone)
		}
		row = w.changeEvent(e, row.ID, &EventInput{AllDay: new(true), Zone: new(e.Site.Zone)})
		if got := row.EndsAt.UTC().Format(calendar.Layout); got != "2026-07-01 21:59:59" || !row.AllDay {
			t.Errorf("ends at %s", got)
		}
		if row.EndWall.String() != "2026-07-01 23:59:59" {
			t.Errorf("ends at %s on the wall", row.EndWall)
		}
	})
}
