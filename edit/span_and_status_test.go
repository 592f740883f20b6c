package edit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/proof/must"
)

func TestRespan(t *testing.T) {
	t.Parallel()
	zone := func(name string) calendar.Zone {
		z, err := calendar.ParseZone(name)
		must.Succeed(t, err)
		return z
	}
	span := func(start, end, z string, allDay bool) calendar.Span {
		return calendar.Span{
			Start: wall(start).Wall(calendar.UTC()), End: wall(end).Wall(calendar.UTC()), Zone: zone(z), AllDay: allDay,
		}
	}
	instant := func(s string) *when.Date {
		at, err := time.Parse(time.RFC3339, s)
		must.Succeed(t, err)
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
			got := ChangedSpan(tt.old, &tt.in)
			if got.Start.String() != tt.start || got.End.String() != tt.end {
				t.Errorf("%s – %s, want %s – %s", got.Start, got.End, tt.start, tt.end)
			}
			if f := CheckSpan(got, &tt.in); f != nil {
				t.Errorf("faulted %+v", f)
			}
		})
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	past, future := now.Add(-48*time.Hour), now.Add(48*time.Hour)
	const (
		publish = calendar.Publish
		draft   = calendar.Draft
		pending = calendar.Pending
		private = calendar.Private
		sched   = calendar.Future
		trash   = calendar.Trash
	)
	none := PublicationState{}
	at := func(s calendar.Status, published time.Time, dated bool) PublicationState {
		return PublicationState{s, "", published, dated}
	}
	trashed := func(before calendar.Status, published time.Time, dated bool) PublicationState {
		return PublicationState{trash, before, published, dated}
	}
	tests := []struct {
		name       string
		old        PublicationState
		sent       calendar.Status // "" is not sent
		date       time.Time       // zero is not sent
		mayPublish bool
		want       PublicationState
	}{
		{"create by an author publishes", none, "", time.Time{}, true, at(publish, now, true)},
		{"create by a contributor drafts", none, "", time.Time{}, false, at(draft, now, false)},
		{"contributor's publish is pending", none, publish, time.Time{}, false, at(pending, now, false)},
		{"contributor's future is pending", none, sched, future, false, at(pending, future, true)},
		{"contributor's private is pending", none, private, time.Time{}, false, at(pending, now, false)},
		{"contributor's pending stays", none, pending, time.Time{}, false, at(pending, now, false)},
		{"create as draft", none, draft, time.Time{}, true, at(draft, now, false)},
		{"create as private", none, private, time.Time{}, true, at(private, now, true)},
		{"publish with a date to come is future", none, publish, future, true, at(sched, future, true)},
		{"no status with a date to come is future", none, "", future, true, at(sched, future, true)},
		{"future with a past date is publish", none, sched, past, true, at(publish, past, true)},
		{"future without a date is publish", none, sched, time.Time{}, true, at(publish, now, true)},
		{"create in the trash", none, trash, time.Time{}, true, trashed(publish, now, false)},
		{"create in the trash by a contributor", none, trash, time.Time{}, false, trashed(draft, now, false)},

		{"nothing sent changes nothing", at(draft, past, false), "", time.Time{}, true, at(draft, past, false)},
		{"an undated draft is dated when published", at(draft, past, false), publish, time.Time{}, true, at(publish, now, true)},
		{"an undated pending is dated when private", at(pending, past, false), private, time.Time{}, true, at(private, now, true)},
		{"an undated draft made future is dated", at(draft, past, false), sched, time.Time{}, true, at(publish, now, true)},
		{"a dated draft keeps its date", at(draft, past, true), publish, time.Time{}, true, at(publish, past, true)},
		{"a draft with a date to come is scheduled", at(draft, future, true), publish, time.Time{}, true, at(sched, future, true)},
		{"published, drafted and published again keeps its date", at(draft, past, true), publish, time.Time{}, true, at(publish, past, true)},
		{"publish moved to the future is future", at(publish, past, true), "", future, true, at(sched, future, true)},
		{"future moved to the past is publish", at(sched, future, true), "", past, true, at(publish, past, true)},
		{"future whose date has come is publish", at(sched, past, true), "", time.Time{}, true, at(publish, past, true)},
		{"contributor sends publish for a draft", at(draft, past, false), publish, time.Time{}, false, at(pending, past, false)},
		{"publish becomes draft", at(publish, past, true), draft, time.Time{}, true, at(draft, past, true)},

		{"to the trash", at(publish, past, true), trash, time.Time{}, true, trashed(publish, past, true)},
		{"a scheduled one that was due goes as publish", at(sched, past, true), trash, time.Time{}, true, trashed(publish, past, true)},
		{"an update leaves it in the trash", trashed(draft, past, false), "", time.Time{}, true, trashed(draft, past, false)},
		{"trash again changes nothing", trashed(draft, past, false), trash, time.Time{}, true, trashed(draft, past, false)},
		{"a date sent in the trash is kept", trashed(publish, past, true), "", future, true, trashed(sched, future, true)},
		{"restore as publish", trashed(publish, past, true), publish, time.Time{}, true, at(publish, past, true)},
		{"restore an undated draft as publish", trashed(draft, past, false), publish, time.Time{}, true, at(publish, now, true)},
		{"restore as draft", trashed(publish, past, true), draft, time.Time{}, true, at(draft, past, true)},
		{"a contributor restores as pending", trashed(draft, past, false), publish, time.Time{}, false, at(pending, past, false)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var sent *calendar.Status
			if tt.sent != "" {
				sent = &tt.sent
			}
			var date *time.Time
			if !tt.date.IsZero() {
				date = &tt.date
			}
			got := NextPublicationState(tt.old, sent, date, now, tt.mayPublish)
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(PublicationState{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func wall(s string) *when.Date {
	w, err := calendar.ParseWall(s)
	if err != nil {
		panic(err)
	}
	return new(when.FromWall(w))
}
