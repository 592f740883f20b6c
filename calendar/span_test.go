package calendar

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func span(t testing.TB, zoneName, start, end string) Span {
	t.Helper()
	return Span{Start: wall(t, start), End: wall(t, end), Zone: zone(t, zoneName)}
}

func TestSpanInstants(t *testing.T) {
	tests := []struct{ name, zone, start, end, startUTC, endUTC string }{
		{"ordinary", "Europe/Warsaw", "2026-12-05 18:00:00", "2026-12-05 20:00:00", "2026-12-05 17:00:00", "2026-12-05 19:00:00"},
		{"over the lost hour", "Europe/Warsaw", "2026-03-28 23:00:00", "2026-03-29 05:00:00", "2026-03-28 22:00:00", "2026-03-29 03:00:00"},
		{"over the extra hour", "Europe/Warsaw", "2026-10-24 23:00:00", "2026-10-25 05:00:00", "2026-10-24 21:00:00", "2026-10-25 04:00:00"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := span(t, test.zone, test.start, test.end)
			if got := s.StartsAt(); got.Format(Layout) != test.startUTC || got.Location() != time.UTC {
				t.Errorf("starts at %v, want %s", got, test.startUTC)
			}
			if got := s.EndsAt(); got.Format(Layout) != test.endUTC || got.Location() != time.UTC {
				t.Errorf("ends at %v, want %s", got, test.endUTC)
			}
		})
	}
}

func TestSpanRounded(t *testing.T) {
	s := span(t, "Europe/Warsaw", "2026-12-05 18:00:00", "2026-12-07 09:30:00")
	if got := s.Rounded(); got != s {
		t.Errorf("timed span became %v to %v", got.Start, got.End)
	}
	s.AllDay = true
	got := s.Rounded()
	if diff := cmp.Diff([]string{"2026-12-05 00:00:00", "2026-12-07 23:59:59"}, []string{got.Start.String(), got.End.String()}); diff != "" {
		t.Error(diff)
	}
	if got.Rounded() != got {
		t.Error("rounding twice differs")
	}
	if got.Zone != s.Zone || !got.AllDay {
		t.Errorf("zone %v, all day %v", got.Zone, got.AllDay)
	}
	// A day of 23 hours, and one that begins at 01:00.
	spring := span(t, "Europe/Warsaw", "2026-03-29 12:00:00", "2026-03-29 12:00:00")
	spring.AllDay = true
	spring = spring.Rounded()
	if d := spring.EndsAt().Sub(spring.StartsAt()); d != 23*time.Hour-time.Second {
		t.Errorf("lasts %v", d)
	}
	havana := span(t, "America/Havana", "2026-03-08 12:00:00", "2026-03-08 12:00:00")
	havana.AllDay = true
	if havana = havana.Rounded(); havana.Start.String() != "2026-03-08 00:00:00" || havana.Check() != nil {
		t.Errorf("starts %v: %v", havana.Start, havana.Check())
	}
}

func TestSpanMoveStart(t *testing.T) {
	tests := []struct{ name, start, end, to, wantEnd string }{
		{"later", "2026-12-05 18:00:00", "2026-12-05 20:30:00", "2026-12-31 23:00:00", "2027-01-01 01:30:00"},
		{"earlier", "2026-12-05 18:00:00", "2026-12-05 20:30:00", "2026-02-28 22:00:00", "2026-03-01 00:30:00"},
		{"over a change of the clock", "2026-03-28 18:00:00", "2026-03-28 20:00:00", "2026-03-29 01:00:00", "2026-03-29 03:00:00"},
		{"whole days", "2026-12-05 00:00:00", "2026-12-06 23:59:59", "2027-02-28 00:00:00", "2027-03-01 23:59:59"},
		{"no length", "2026-12-05 18:00:00", "2026-12-05 18:00:00", "2026-12-06 10:00:00", "2026-12-06 10:00:00"},
		{"longer than a time.Duration", "1000-01-01 00:00:00", "9000-01-01 00:00:00", "1000-01-02 00:00:01", "9000-01-02 00:00:01"},
		{"past the last year", "2026-01-01 00:00:00", "2026-01-02 00:00:00", "9999-12-31 12:00:00", "10000-01-01 12:00:00"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := span(t, "Europe/Warsaw", test.start, test.end)
			got := s.MoveStart(wall(t, test.to))
			if got.Start.String() != test.to || got.End.String() != test.wantEnd {
				t.Errorf("%v to %v, want %v to %v", got.Start, got.End, test.to, test.wantEnd)
			}
			if got.End != WallOf(got.End.t) || got.Zone != s.Zone {
				t.Errorf("end %#v", got.End)
			}
		})
	}
}

func TestSpanCheck(t *testing.T) {
	tests := []struct {
		name, zone, start, end string
		want                   error
	}{
		{"ordinary", "Europe/Warsaw", "2026-12-05 18:00:00", "2026-12-05 20:00:00", nil},
		{"equal", "Europe/Warsaw", "2026-12-05 18:00:00", "2026-12-05 18:00:00", nil},
		{"a second early", "Europe/Warsaw", "2026-12-05 18:00:00", "2026-12-05 17:59:59", ErrEndBeforeStart},
		{"start moved out of a gap past the end", "Europe/Warsaw", "2026-03-29 02:45:00", "2026-03-29 03:15:00", ErrEndBeforeStart},
		{"both moved out of a gap", "Europe/Warsaw", "2026-03-29 02:15:00", "2026-03-29 02:45:00", nil},
		{"end moved out of a gap", "Europe/Warsaw", "2026-03-29 03:15:00", "2026-03-29 02:45:00", nil},
		{"both in the first pass", "Europe/Warsaw", "2026-10-25 02:15:00", "2026-10-25 02:45:00", nil},
		{"reversed in a doubled hour", "Europe/Warsaw", "2026-10-25 02:45:00", "2026-10-25 02:15:00", ErrEndBeforeStart},
		{"within a skipped day", "Pacific/Apia", "2011-12-30 10:00:00", "2011-12-30 12:00:00", nil},
		{"first and last year", "UTC", "1000-01-01 00:00:00", "9999-12-31 23:59:59", nil},
		{"start before the first year in UTC", "UTC+1", "1000-01-01 00:59:59", "2026-01-01 00:00:00", ErrStartOutOfRange},
		{"start in the first year in UTC only", "UTC-1", "0999-12-31 23:30:00", "2026-01-01 00:00:00", ErrStartOutOfRange},
		{"end after the last year in UTC", "America/New_York", "2026-01-01 00:00:00", "9999-12-31 19:00:00", ErrEndOutOfRange},
		{"end at the last second in UTC", "America/New_York", "2026-01-01 00:00:00", "9999-12-31 18:59:59", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := span(t, test.zone, test.start, test.end).Check(); !errors.Is(err, test.want) || test.want == nil && err != nil {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func TestSpanCheckFindsTheFifthDigit(t *testing.T) {
	s := span(t, "UTC", "9999-12-01 00:00:00", "9999-12-31 00:00:00").MoveStart(wall(t, "9999-12-31 00:00:00"))
	if err := s.Check(); !errors.Is(err, ErrEndOutOfRange) {
		t.Errorf("got %v", err)
	}
}

func TestSpanOver(t *testing.T) {
	s := span(t, "Europe/Warsaw", "2026-12-05 18:00:00", "2026-12-05 20:00:00")
	end := time.Date(2026, 12, 5, 19, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		now  time.Time
		want bool
	}{
		{end.Add(-time.Hour), false},
		{end, false},
		{end.Add(time.Nanosecond), true},
		{end.In(zone(t, "UTC-5").Location()), false},
	} {
		if got := s.Over(test.now); got != test.want {
			t.Errorf("at %v: %v", test.now, got)
		}
	}
}

func TestSpanMoveStartThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) Wall { return WallOf(time.Unix(anySecond.Draw(t, label), 0).UTC()) }
		s := Span{Start: draw("start"), End: draw("end"), Zone: anyZone.Draw(t, "zone")}
		if back := s.MoveStart(draw("to")).MoveStart(s.Start); back != s {
			t.Fatalf("%v to %v became %v to %v", s.Start, s.End, back.Start, back.End)
		}
	})
}
