package recur

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/must"
)

// scheduleOf returns the schedule of an event in Warsaw that lasts one and a half hours. It fails the test if New
// returns an error.
func scheduleOf(t testing.TB, start, rule string, rdate, exdate []string) Schedule {
	t.Helper()
	zone, err := calendar.ParseZone("Europe/Warsaw")
	must.Succeed(t, err)
	var r Rule
	if rule != "" {
		r = parse(t, rule)
	}
	dates := func(texts []string) (list []Date) {
		for _, text := range texts {
			list = append(list, Date{Wall: wall(t, text)})
		}
		return list
	}
	from := wall(t, start)
	span := calendar.Span{Start: from, End: from.Add(90 * time.Minute), Zone: zone}
	s, err := New(span, r, dates(rdate), dates(exdate))
	must.Succeed(t, err)
	return s
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, start, rule, at     string
		rdate, exdate             []string
		before, restStart, restOf string // rules; "-" for a part that does not exist
	}{
		{"until", "2026-11-24 18:00:00", "FREQ=WEEKLY;INTERVAL=2;UNTIL=20270303;BYDAY=TU", "2027-01-05 18:00:00", nil, []string{"2026-12-22 18:00:00"}, "FREQ=WEEKLY;INTERVAL=2;UNTIL=20270104;BYDAY=TU", "2027-01-05 18:00:00", "FREQ=WEEKLY;INTERVAL=2;UNTIL=20270303;BYDAY=TU"},
		{"count", "2026-11-24 18:00:00", "FREQ=DAILY;COUNT=5", "2026-11-26 00:00:00", nil, nil, "FREQ=DAILY;COUNT=2", "2026-11-26 18:00:00", "FREQ=DAILY;COUNT=3"},
		{"endless", "2026-11-24 18:00:00", "FREQ=DAILY", "2026-11-26 18:00:00", nil, nil, "FREQ=DAILY;UNTIL=20261125", "2026-11-26 18:00:00", "FREQ=DAILY"},
		{"later on the day of a start", "2026-11-24 18:00:00", "FREQ=DAILY", "2026-11-26 20:00:00", []string{"2026-11-26 20:00:00"}, nil, "FREQ=DAILY;UNTIL=20261126T180000", "2026-11-27 18:00:00", "FREQ=DAILY"},
		{"before the start", "2026-11-24 18:00:00", "FREQ=DAILY", "2026-11-24 18:00:00", nil, nil, "-", "2026-11-24 18:00:00", "FREQ=DAILY"},
		{"dates before the start", "2026-11-24 18:00:00", "FREQ=DAILY", "2026-11-24 18:00:00", []string{"2026-11-01 10:00:00"}, nil, "", "2026-11-24 18:00:00", "FREQ=DAILY"},
		{"after the end", "2026-11-24 18:00:00", "FREQ=DAILY;COUNT=2", "2026-12-01 00:00:00", nil, nil, "FREQ=DAILY;COUNT=2", "", "-"},
		{"dates after the end", "2026-11-24 18:00:00", "FREQ=DAILY;COUNT=2", "2026-12-01 00:00:00", []string{"2026-12-02 10:00:00"}, nil, "FREQ=DAILY;COUNT=2", "2026-12-02 10:00:00", ""},
		{"a day that SKIP moved", "2027-01-31 18:00:00", "FREQ=MONTHLY;SKIP=BACKWARD", "2027-02-01 00:00:00", nil, nil, "FREQ=MONTHLY;UNTIL=20270131;SKIP=BACKWARD", "2027-02-28 18:00:00", "FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD"},
		{"no rule", "2026-11-24 18:00:00", "", "2026-12-01 00:00:00", []string{"2026-12-02 10:00:00"}, nil, "", "2026-12-02 10:00:00", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := scheduleOf(t, tt.start, tt.rule, tt.rdate, tt.exdate)
			at := wall(t, tt.at)
			before, hasBefore, rest, hasRest := s.Split(at)
			got := [3]string{"-", "", "-"}
			var starts []string
			until := s.Start.AddDate(5, 0, 0)
			if hasBefore {
				got[0] = before.Rule.String()
				starts = append(starts, texts(before.Starts(calendar.Wall{}, until))...)
				if len(starts) > 0 && !wall(t, starts[len(starts)-1]).Before(at) {
					t.Errorf("the first part ends with %s", starts[len(starts)-1])
				}
			}
			if hasRest {
				got[1], got[2] = rest.Start.String(), rest.Rule.String()
				starts = append(starts, texts(rest.Starts(calendar.Wall{}, until))...)
				if rest.End.Sub(rest.Start) != s.End.Sub(s.Start) {
					t.Errorf("the rest lasts from %s to %s", rest.Start, rest.End)
				}
			}
			if want := [3]string{tt.before, tt.restStart, tt.restOf}; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if diff := cmp.Diff(texts(s.Starts(calendar.Wall{}, until)), starts); diff != "" {
				t.Errorf("starts of both parts (-whole +parts):\n%s", diff)
			}
		})
	}
}

func TestChangeMovesTheRule(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, start, rule, to, want, wantErr string }{
		{"half an hour", "2027-01-05 18:00:00", "FREQ=WEEKLY;INTERVAL=2;UNTIL=20270303;BYDAY=TU", "2027-01-05 18:30:00", "FREQ=WEEKLY;INTERVAL=2;UNTIL=20270303;BYDAY=TU", ""},
		{"a weekday", "2027-01-05 18:00:00", "FREQ=WEEKLY;BYDAY=TU", "2027-01-07 18:00:00", "FREQ=WEEKLY;BYDAY=TH", ""},
		{"over midnight", "2027-01-05 18:00:00", "FREQ=WEEKLY;BYDAY=TU", "2027-01-06 02:00:00", "FREQ=WEEKLY;BYDAY=WE", ""},
		{"one of several weekdays", "2027-01-05 18:00:00", "FREQ=WEEKLY;BYDAY=TU,TH", "2027-01-07 18:00:00", "FREQ=WEEKLY;BYDAY=TU,TH", ""},
		{"to none of several weekdays", "2027-01-05 18:00:00", "FREQ=WEEKLY;BYDAY=TU,TH", "2027-01-06 18:00:00", "", StartNotInRule},
		{"the first Tuesday", "2027-01-05 18:00:00", "FREQ=MONTHLY;BYDAY=1TU", "2027-01-13 18:00:00", "FREQ=MONTHLY;BYDAY=2WE", ""},
		{"the last Tuesday", "2027-01-26 18:00:00", "FREQ=MONTHLY;BYDAY=-1TU", "2027-01-20 18:00:00", "FREQ=MONTHLY;BYDAY=-2WE", ""},
		{"a Monday of the year", "2027-01-04 18:00:00", "FREQ=YEARLY;BYDAY=1MO", "2027-02-09 18:00:00", "FREQ=YEARLY;BYDAY=6TU", ""},
		{"a day of the month", "2027-01-05 18:00:00", "FREQ=MONTHLY;BYMONTHDAY=5", "2027-01-06 18:00:00", "FREQ=MONTHLY;BYMONTHDAY=6", ""},
		{"the last day", "2027-01-31 18:00:00", "FREQ=MONTHLY;BYMONTHDAY=-1", "2027-01-30 18:00:00", "FREQ=MONTHLY;BYMONTHDAY=-2", ""},
		{"a month", "2027-01-31 18:00:00", "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=31", "2027-02-01 18:00:00", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=1", ""},
		{"a day of the year", "2027-01-05 18:00:00", "FREQ=YEARLY;BYYEARDAY=5", "2028-12-30 18:00:00", "FREQ=YEARLY;BYYEARDAY=365", ""},
		{"the last day of the year", "2027-12-31 18:00:00", "FREQ=YEARLY;BYYEARDAY=-1", "2027-12-29 18:00:00", "FREQ=YEARLY;BYYEARDAY=-3", ""},
		{"a week of the year", "2027-05-17 18:00:00", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "2027-05-25 18:00:00", "FREQ=YEARLY;BYWEEKNO=21;BYDAY=TU", ""},
		{"the last week of the year", "2026-12-28 18:00:00", "FREQ=YEARLY;BYWEEKNO=-1", "2027-01-04 18:00:00", "FREQ=YEARLY;BYWEEKNO=-52", ""},
		{"days that the rule does not name", "2027-01-05 18:00:00", "FREQ=MONTHLY", "2027-01-06 18:00:00", "FREQ=MONTHLY", ""},
		{"the time of the last start", "2027-01-05 18:00:00", "FREQ=DAILY;UNTIL=20270107T180000", "2027-01-05 19:00:00", "FREQ=DAILY;UNTIL=20270107T190000", ""},
		{"beyond the end", "2027-01-05 18:00:00", "FREQ=DAILY;UNTIL=20270107", "2027-01-08 18:00:00", "", BadRule},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := scheduleOf(t, tt.start, tt.rule, nil, nil)
			moved, err := s.Change(s.MoveStart(wall(t, tt.to)), nil, nil, nil)
			if tt.wantErr != "" {
				refused, ok := err.(*Error) //nolint:errorlint // as it is documented
				if !ok || refused.Reason != tt.wantErr {
					t.Fatalf("error %v, want %s", err, tt.wantErr)
				}
				return
			}
			if err != nil || moved.Rule.String() != tt.want || moved.Start.String() != tt.to {
				t.Errorf("%s from %s: %v", moved.Rule, moved.Start, err)
			}
		})
	}
}

func TestChangeMovesDates(t *testing.T) {
	t.Parallel()
	s := scheduleOf(t, "2027-01-05 18:00:00", "FREQ=WEEKLY;BYDAY=TU,TH",
		[]string{"2027-01-09 10:00:00"}, []string{"2027-01-12 18:00:00", "2027-01-14 18:00:00"})
	moved, err := s.Change(s.MoveStart(wall(t, "2027-01-07 18:30:00")), nil, nil, nil)
	must.Succeed(t, err)
	// Thursday 14 January moves to a Saturday, which is no start.
	want := [][]calendar.Wall{{wall(t, "2027-01-11 10:30:00")}, {wall(t, "2027-01-14 18:30:00")}}
	if diff := cmp.Diff(want, [][]calendar.Wall{moved.RDate, moved.ExDate}, cmp.Comparer(calendar.Wall.Equal)); diff != "" {
		t.Errorf("rdate and exdate (-want +got):\n%s", diff)
	}
}

func TestPeriod(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rule, want string }{
		{"FREQ=DAILY", "2027-01-05 00:00:00"},
		{"FREQ=WEEKLY", "2027-01-04 00:00:00"},
		{"FREQ=WEEKLY;WKST=SU", "2027-01-03 00:00:00"},
		{"FREQ=WEEKLY;WKST=WE", "2026-12-30 00:00:00"},
		{"FREQ=MONTHLY", "2027-01-01 00:00:00"},
		{"FREQ=YEARLY", "2027-01-01 00:00:00"},
	} {
		if got := parse(t, tt.rule).Period(wall(t, "2027-01-05 18:00:00")); got.String() != tt.want {
			t.Errorf("%s: %s, want %s", tt.rule, got, tt.want)
		}
	}
}
