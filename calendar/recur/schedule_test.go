package recur

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/must"
)

func span(t testing.TB, zone, start, end string) calendar.Span {
	t.Helper()
	z, err := calendar.ParseZone(zone)
	must.Succeed(t, err)
	return calendar.Span{Start: wall(t, start), End: wall(t, end), Zone: z}
}

// dates parses dates for rdate or exdate, separated by commas. The text "" gives none.
func dates(t testing.TB, text string) []Date {
	t.Helper()
	var all []Date
	for item := range strings.SplitSeq(text, ",") {
		switch {
		case item == "":
		case len(item) == len("2006-01-02"):
			all = append(all, Date{wall(t, item+" 00:00:00"), true})
		default:
			all = append(all, Date{wall(t, item+":00"), false})
		}
	}
	return all
}

// schedule returns the schedule of an event in Warsaw that lasts one and a half hours, or the error of New.
func schedule(t testing.TB, start, rule, rdate, exdate string) (Schedule, error) {
	t.Helper()
	s := span(t, "Europe/Warsaw", start+":00", start+":00")
	s.End = s.End.Add(90 * 60 * 1e9)
	r := Rule{}
	if rule != "" {
		r = parse(t, rule)
	}
	return New(s, r, dates(t, rdate), dates(t, exdate))
}

func TestScheduleStarts(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, start, rule, rdate, exdate, want string }{
		{"a rule", "2026-11-24 18:00", "FREQ=WEEKLY;COUNT=3", "", "", "11-24 18:00, 12-01 18:00, 12-08 18:00"},
		{"dates alone, besides the start", "2026-11-24 18:00", "", "2026-12-05 10:00,2026-11-30", "", "11-24 18:00, 11-30 18:00, 12-05 10:00"},
		{"dates besides a rule", "2026-11-24 18:00", "FREQ=WEEKLY;COUNT=2", "2026-12-20,2026-11-25 09:00", "", "11-24 18:00, 11-25 09:00, 12-01 18:00, 12-20 18:00"},
		{"dates do not count", "2026-11-24 18:00", "FREQ=WEEKLY;COUNT=2", "2026-11-27", "", "11-24 18:00, 11-27 18:00, 12-01 18:00"},
		{"dates of the rule are there once", "2026-11-24 18:00", "FREQ=WEEKLY;COUNT=2", "2026-12-01,2026-12-01 18:00,2026-11-24", "", "11-24 18:00, 12-01 18:00"},
		{"a date before the start", "2026-11-24 18:00", "FREQ=WEEKLY;COUNT=2", "2026-11-20", "", "11-20 18:00, 11-24 18:00, 12-01 18:00"},
		{"dates without an occurrence count", "2026-11-24 18:00", "FREQ=WEEKLY;COUNT=3", "", "2026-12-01", "11-24 18:00, 12-08 18:00"},
		{"the start is without one", "2026-11-24 18:00", "FREQ=WEEKLY;COUNT=2", "", "2026-11-24 18:00", "12-01 18:00"},
		{"a day without any of its starts", "2026-11-24 18:00", "FREQ=WEEKLY;COUNT=2", "2026-12-01 09:00", "2026-12-01", "11-24 18:00"},
		{"a day without one of its starts", "2026-11-24 18:00", "FREQ=WEEKLY;COUNT=2", "2026-12-01 09:00", "2026-12-01 09:00", "11-24 18:00, 12-01 18:00"},
		{"a date given and taken", "2026-11-24 18:00", "", "2026-12-01 09:00", "2026-12-01", "11-24 18:00"},
		{"a start in a gap by its nominal time", "2027-03-27 02:30", "FREQ=DAILY;COUNT=3", "", "2027-03-28 02:30", "03-27 02:30, 03-29 02:30"},
		{"a start in a gap by the time that the clock shows", "2027-03-27 02:30", "FREQ=DAILY;COUNT=3", "", "2027-03-28 03:30", "03-27 02:30, 03-29 02:30"},
		{"the nominal time goes before", "2027-03-27 02:30", "FREQ=DAILY;COUNT=2", "2027-03-28 03:30", "2027-03-28 03:30", "03-27 02:30, 03-28 02:30"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := schedule(t, test.start, test.rule, test.rdate, test.exdate)
			must.Succeed(t, err)
			var got []string
			for w := range s.Starts(calendar.Wall{}, LastStart()) {
				got = append(got, w.Format("01-02 15:04"))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("starts (-want +got):\n%s", diff)
			}
			if !s.Ends() {
				t.Error("has no end")
			}
		})
	}
}

func TestScheduleStartsAreJoinedAtAnyTime(t *testing.T) {
	t.Parallel()
	s, err := schedule(t, "2026-11-24 18:00", "FREQ=DAILY", "2026-11-20,2026-11-26 09:00,2026-11-28 20:00", "2026-11-27")
	must.Succeed(t, err)
	last := wall(t, "2026-12-01 00:00:00")
	whole := texts(s.Starts(calendar.Wall{}, last))
	if len(whole) != 9 {
		t.Errorf("starts %v", whole)
	}
	for at := wall(t, "2026-11-19 12:00:00"); at.Before(last); at = at.Add(3600 * 1e9) {
		parts := append(texts(s.Starts(calendar.Wall{}, at)), texts(s.Starts(at, last))...)
		if diff := cmp.Diff(whole, parts); diff != "" {
			t.Fatalf("in two at %s (-whole +parts):\n%s", at, diff)
		}
	}
	if s.Ends() {
		t.Error("has an end")
	}
}

func TestScheduleIsRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, rule, rdate, exdate string
		param, reason             string
		data                      map[string]any
	}{
		{"until the day before", "FREQ=DAILY;UNTIL=20261123", "", "", "rrule", BadRule, map[string]any{"part": "UNTIL", "value": "20261123"}},
		{"until a second before", "FREQ=DAILY;UNTIL=20261124T175959", "", "", "rrule", BadRule, map[string]any{"part": "UNTIL", "value": "20261124T175959"}},
		{"another weekday", "FREQ=WEEKLY;BYDAY=MO,FR", "", "", "rrule", StartNotInRule, map[string]any{"next": "2026-11-27 18:00:00"}},
		{"another day of the month", "FREQ=MONTHLY;BYMONTHDAY=23", "", "", "rrule", StartNotInRule, map[string]any{"next": "2026-12-23 18:00:00"}},
		{"30 February", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "", "", "rrule", StartNotInRule, map[string]any{"next": nil}},
		{"ends before its first day", "FREQ=MONTHLY;BYMONTHDAY=23;UNTIL=20261220", "", "", "rrule", StartNotInRule, map[string]any{"next": nil}},
		{"a start among the dates is not enough", "FREQ=WEEKLY;BYDAY=MO", "2026-11-24", "", "rrule", StartNotInRule, map[string]any{"next": "2026-11-30 18:00:00"}},
		{"days without a start", "FREQ=WEEKLY", "", "2026-12-02,2026-12-01,2026-12-01 17:00", "exdate", NotInSchedule, map[string]any{"dates": []string{"2026-12-02", "2026-12-01 17:00:00"}}},
		{"a day before the start", "FREQ=WEEKLY", "", "2026-11-17", "exdate", NotInSchedule, map[string]any{"dates": []string{"2026-11-17"}}},
		{"a day after the last", "FREQ=WEEKLY;COUNT=2", "", "2026-12-08", "exdate", NotInSchedule, map[string]any{"dates": []string{"2026-12-08"}}},
		{"a day without a rule", "", "2026-11-25", "2026-11-26", "exdate", NotInSchedule, map[string]any{"dates": []string{"2026-11-26"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := schedule(t, "2026-11-24 18:00", test.rule, test.rdate, test.exdate)
			wantError(t, err, test.param, test.reason, test.data)
		})
	}
}

func TestScheduleOfWholeDays(t *testing.T) {
	t.Parallel()
	event := span(t, "Europe/Warsaw", "2026-11-24 18:00:00", "2026-11-25 10:00:00")
	event.AllDay = true
	s, err := New(event, parse(t, "FREQ=DAILY;INTERVAL=3;COUNT=3"), dates(t, "2026-12-24 12:00"), dates(t, "2026-11-27 18:00"))
	must.Succeed(t, err)
	var got []string
	for o := range s.Occurrences(calendar.Wall{}, LastStart()) {
		got = append(got, fmt.Sprint(o.Nominal, ": ", o.Start, " to ", o.End))
	}
	want := []string{
		"2026-11-24 00:00:00: 2026-11-24 00:00:00 to 2026-11-25 23:59:59",
		"2026-11-30 00:00:00: 2026-11-30 00:00:00 to 2026-12-01 23:59:59",
		"2026-12-24 00:00:00: 2026-12-24 00:00:00 to 2026-12-25 23:59:59",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("occurrences (-want +got):\n%s", diff)
	}
}

// TestOccurrencesWhereClocksChange checks occurrences in gaps and repeated hours. Each row has the nominal start,
// the start and end on the clock, and the start and end in UTC.
func TestOccurrencesWhereClocksChange(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, zone, start, end, rule string
		want                         []string
	}{
		{"gap in Warsaw", "Europe/Warsaw", "2026-03-28 02:30:00", "2026-03-28 04:00:00", "FREQ=DAILY;COUNT=3", []string{
			"28 02:30: 28 02:30 - 28 04:00, 28 01:30 - 28 03:00 UTC",
			"29 02:30: 29 03:30 - 29 04:00, 29 01:30 - 29 02:00 UTC",
			"30 02:30: 30 02:30 - 30 04:00, 30 00:30 - 30 02:00 UTC",
		}},
		{"doubled hour in Warsaw", "Europe/Warsaw", "2026-10-24 02:30:00", "2026-10-24 03:30:00", "FREQ=DAILY;COUNT=3", []string{
			"24 02:30: 24 02:30 - 24 03:30, 24 00:30 - 24 01:30 UTC",
			"25 02:30: 25 02:30 - 25 03:30, 25 00:30 - 25 02:30 UTC",
			"26 02:30: 26 02:30 - 26 03:30, 26 01:30 - 26 02:30 UTC",
		}},
		{"an end in a doubled hour", "Europe/Warsaw", "2026-10-24 01:30:00", "2026-10-24 02:30:00", "FREQ=DAILY;COUNT=2", []string{
			"24 01:30: 24 01:30 - 24 02:30, 23 23:30 - 24 00:30 UTC",
			"25 01:30: 25 01:30 - 25 02:30, 24 23:30 - 25 00:30 UTC",
		}},
		{"an end in a gap", "Europe/Warsaw", "2026-03-28 01:30:00", "2026-03-28 02:30:00", "FREQ=DAILY;COUNT=2", []string{
			"28 01:30: 28 01:30 - 28 02:30, 28 00:30 - 28 01:30 UTC",
			"29 01:30: 29 01:30 - 29 03:30, 29 00:30 - 29 01:30 UTC",
		}},
		{"an end that the start jumps over", "Europe/Warsaw", "2026-03-28 02:45:00", "2026-03-28 03:15:00", "FREQ=DAILY;COUNT=2", []string{
			"28 02:45: 28 02:45 - 28 03:15, 28 01:45 - 28 02:15 UTC",
			"29 02:45: 29 03:45 - 29 04:15, 29 01:45 - 29 02:15 UTC",
		}},
		{"an end that the start jumps to", "Europe/Warsaw", "2026-03-28 02:30:00", "2026-03-28 03:30:00", "FREQ=DAILY;COUNT=2", []string{
			"28 02:30: 28 02:30 - 28 03:30, 28 01:30 - 28 02:30 UTC",
			"29 02:30: 29 03:30 - 29 04:30, 29 01:30 - 29 02:30 UTC",
		}},
		{"no length in a gap", "Europe/Warsaw", "2026-03-28 02:30:00", "2026-03-28 02:30:00", "FREQ=DAILY;COUNT=2", []string{
			"28 02:30: 28 02:30 - 28 02:30, 28 01:30 - 28 01:30 UTC",
			"29 02:30: 29 03:30 - 29 03:30, 29 01:30 - 29 01:30 UTC",
		}},
		{"over a night that loses an hour", "Europe/Warsaw", "2026-03-28 22:00:00", "2026-03-29 06:00:00", "FREQ=DAILY;COUNT=2", []string{
			"28 22:00: 28 22:00 - 29 06:00, 28 21:00 - 29 04:00 UTC",
			"29 22:00: 29 22:00 - 30 06:00, 29 20:00 - 30 04:00 UTC",
		}},
		{"gap in London", "Europe/London", "2026-03-22 01:15:00", "2026-03-22 02:15:00", "FREQ=WEEKLY;COUNT=3", []string{
			"22 01:15: 22 01:15 - 22 02:15, 22 01:15 - 22 02:15 UTC",
			"29 01:15: 29 02:15 - 29 03:15, 29 01:15 - 29 02:15 UTC",
			"05 01:15: 05 01:15 - 05 02:15, 05 00:15 - 05 01:15 UTC",
		}},
		{"doubled hour in London", "Europe/London", "2026-10-18 01:15:00", "2026-10-18 02:15:00", "FREQ=WEEKLY;COUNT=3", []string{
			"18 01:15: 18 01:15 - 18 02:15, 18 00:15 - 18 01:15 UTC",
			"25 01:15: 25 01:15 - 25 02:15, 25 00:15 - 25 02:15 UTC",
			"01 01:15: 01 01:15 - 01 02:15, 01 01:15 - 01 02:15 UTC",
		}},
		{"gap in New York", "America/New_York", "2026-03-07 02:30:00", "2026-03-07 05:00:00", "FREQ=DAILY;COUNT=3", []string{
			"07 02:30: 07 02:30 - 07 05:00, 07 07:30 - 07 10:00 UTC",
			"08 02:30: 08 03:30 - 08 05:00, 08 07:30 - 08 09:00 UTC",
			"09 02:30: 09 02:30 - 09 05:00, 09 06:30 - 09 09:00 UTC",
		}},
		{"doubled hour in New York", "America/New_York", "2026-10-31 01:30:00", "2026-10-31 01:45:00", "FREQ=DAILY;COUNT=3", []string{
			"31 01:30: 31 01:30 - 31 01:45, 31 05:30 - 31 05:45 UTC",
			"01 01:30: 01 01:30 - 01 01:45, 01 05:30 - 01 05:45 UTC",
			"02 01:30: 02 01:30 - 02 01:45, 02 06:30 - 02 06:45 UTC",
		}},
		{"gap in Sydney", "Australia/Sydney", "2026-10-03 02:00:00", "2026-10-03 04:00:00", "FREQ=DAILY;COUNT=3", []string{
			"03 02:00: 03 02:00 - 03 04:00, 02 16:00 - 02 18:00 UTC",
			"04 02:00: 04 03:00 - 04 04:00, 03 16:00 - 03 17:00 UTC",
			"05 02:00: 05 02:00 - 05 04:00, 04 15:00 - 04 17:00 UTC",
		}},
		{"doubled hour in Sydney", "Australia/Sydney", "2026-04-04 02:30:00", "2026-04-04 03:00:00", "FREQ=DAILY;COUNT=3", []string{
			"04 02:30: 04 02:30 - 04 03:00, 03 15:30 - 03 16:00 UTC",
			"05 02:30: 05 02:30 - 05 03:00, 04 15:30 - 04 17:00 UTC",
			"06 02:30: 06 02:30 - 06 03:00, 05 16:30 - 05 17:00 UTC",
		}},
		{"gap of half an hour on Lord Howe", "Australia/Lord_Howe", "2026-10-03 02:15:00", "2026-10-03 03:00:00", "FREQ=DAILY;COUNT=3", []string{
			"03 02:15: 03 02:15 - 03 03:00, 02 15:45 - 02 16:30 UTC",
			"04 02:15: 04 02:45 - 04 03:00, 03 15:45 - 03 16:00 UTC",
			"05 02:15: 05 02:15 - 05 03:00, 04 15:15 - 04 16:00 UTC",
		}},
		{"doubled half hour on Lord Howe", "Australia/Lord_Howe", "2026-04-04 01:45:00", "2026-04-04 02:15:00", "FREQ=DAILY;COUNT=3", []string{
			"04 01:45: 04 01:45 - 04 02:15, 03 14:45 - 03 15:15 UTC",
			"05 01:45: 05 01:45 - 05 02:15, 04 14:45 - 04 15:45 UTC",
			"06 01:45: 06 01:45 - 06 02:15, 05 15:15 - 05 15:45 UTC",
		}},
		{"a day that Samoa skips, which counts", "Pacific/Apia", "2011-12-28 18:00:00", "2011-12-28 20:00:00", "FREQ=DAILY;COUNT=4", []string{
			"28 18:00: 28 18:00 - 28 20:00, 29 04:00 - 29 06:00 UTC",
			"29 18:00: 29 18:00 - 29 20:00, 30 04:00 - 30 06:00 UTC",
			"31 18:00: 31 18:00 - 31 20:00, 31 04:00 - 31 06:00 UTC",
		}},
		{"Fridays in Samoa", "Pacific/Apia", "2011-12-23 00:00:00", "2011-12-23 23:59:59", "FREQ=WEEKLY;COUNT=3", []string{
			"23 00:00: 23 00:00 - 23 23:59, 23 10:00 - 24 09:59 UTC",
			"06 00:00: 06 00:00 - 06 23:59, 05 10:00 - 06 09:59 UTC",
		}},
		{"a night over the day that Samoa skips", "Pacific/Apia", "2011-12-28 22:00:00", "2011-12-29 02:00:00", "FREQ=DAILY;COUNT=2", []string{
			"28 22:00: 28 22:00 - 29 02:00, 29 08:00 - 29 12:00 UTC",
			"29 22:00: 29 22:00 - 31 02:00, 30 08:00 - 30 12:00 UTC",
		}},
		{"doubled hour in Casablanca, at the start of Ramadan", "Africa/Casablanca", "2026-02-14 02:30:00", "2026-02-14 03:30:00", "FREQ=DAILY;COUNT=3", []string{
			"14 02:30: 14 02:30 - 14 03:30, 14 01:30 - 14 02:30 UTC",
			"15 02:30: 15 02:30 - 15 03:30, 15 01:30 - 15 03:30 UTC",
			"16 02:30: 16 02:30 - 16 03:30, 16 02:30 - 16 03:30 UTC",
		}},
		{"gap in Casablanca, after Ramadan", "Africa/Casablanca", "2026-03-21 02:30:00", "2026-03-21 03:30:00", "FREQ=DAILY;COUNT=3", []string{
			"21 02:30: 21 02:30 - 21 03:30, 21 02:30 - 21 03:30 UTC",
			"22 02:30: 22 03:30 - 22 04:30, 22 02:30 - 22 03:30 UTC",
			"23 02:30: 23 02:30 - 23 03:30, 23 01:30 - 23 02:30 UTC",
		}},
		{"gap at midnight in Santiago", "America/Santiago", "2026-09-05 00:00:00", "2026-09-05 02:00:00", "FREQ=DAILY;COUNT=3", []string{
			"05 00:00: 05 00:00 - 05 02:00, 05 04:00 - 05 06:00 UTC",
			"06 00:00: 06 01:00 - 06 02:00, 06 04:00 - 06 05:00 UTC",
			"07 00:00: 07 00:00 - 07 02:00, 07 03:00 - 07 05:00 UTC",
		}},
		{"gap up to midnight in Nuuk", "America/Nuuk", "2026-03-27 23:30:00", "2026-03-28 01:00:00", "FREQ=DAILY;COUNT=3", []string{
			"27 23:30: 27 23:30 - 28 01:00, 28 01:30 - 28 03:00 UTC",
			"28 23:30: 29 00:30 - 29 01:00, 29 01:30 - 29 02:00 UTC",
			"29 23:30: 29 23:30 - 30 01:00, 30 00:30 - 30 02:00 UTC",
		}},
		{"doubled hour before midnight in Santiago", "America/Santiago", "2026-04-03 23:30:00", "2026-04-04 00:30:00", "FREQ=DAILY;COUNT=3", []string{
			"03 23:30: 03 23:30 - 04 00:30, 04 02:30 - 04 03:30 UTC",
			"04 23:30: 04 23:30 - 05 00:30, 05 02:30 - 05 04:30 UTC",
			"05 23:30: 05 23:30 - 06 00:30, 06 03:30 - 06 04:30 UTC",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := New(span(t, test.zone, test.start, test.end), parse(t, test.rule), nil, nil)
			must.Succeed(t, err)
			const layout = "02 15:04"
			var got []string
			for o := range s.Occurrences(calendar.Wall{}, LastStart()) {
				got = append(got, fmt.Sprintf("%s: %s - %s, %s - %s UTC", o.Nominal.Format(layout),
					o.Start.Format(layout), o.End.Format(layout), o.StartsAt().Format(layout), o.EndsAt().Format(layout)))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("occurrences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScheduleRefusesAnEndThatTheClockShowsBeforeTheStart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, zone, start, end string
		refused                bool
	}{
		{"an end in a gap, later in time", "Europe/Warsaw", "2027-03-28 03:15:00", "2027-03-28 02:45:00", true},
		{"both in a gap", "Europe/Warsaw", "2027-03-28 02:45:00", "2027-03-28 02:15:00", true},
		{"a start in a gap, later in time than the end", "Europe/Warsaw", "2027-03-28 02:45:00", "2027-03-28 03:15:00", false},
		{"the start itself in a gap", "Europe/Warsaw", "2027-03-28 02:45:00", "2027-03-28 02:45:00", false},
		{"in a doubled hour", "Europe/Warsaw", "2027-10-31 02:45:00", "2027-10-31 02:15:00", true},
		{"over a doubled hour", "Europe/Warsaw", "2027-10-31 02:45:00", "2027-10-31 03:15:00", false},
		{"an end in a gap of half an hour", "Australia/Lord_Howe", "2027-10-03 02:30:00", "2027-10-03 02:15:00", true},
		{"an end on the day that Samoa skips", "Pacific/Apia", "2011-12-31 10:00:00", "2011-12-30 12:00:00", true},
		{"a start on the day that Samoa skips", "Pacific/Apia", "2011-12-30 10:00:00", "2011-12-31 12:00:00", false},
		{"without a change of the clock", "Europe/Warsaw", "2027-06-01 18:00:00", "2027-06-01 17:59:59", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := New(span(t, test.zone, test.start, test.end), parse(t, "FREQ=DAILY;COUNT=3"), nil, nil)
			switch {
			case test.refused:
				wantError(t, err, "end_date", EndBeforeStart, map[string]any{})
			case err != nil:
				t.Error(err)
			}
		})
	}
}

// TestOccurrencesOfWholeDaysKeepTheirDays checks all-day occurrences on a day that begins at 01:00, and on one
// that the zone skips.
func TestOccurrencesOfWholeDaysKeepTheirDays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, zone, start, want string }{
		{"a day that begins at 01:00", "America/Santiago", "2026-09-05", "09-05, 09-06, 09-07"},
		{"a day that the zone skips", "Pacific/Apia", "2011-12-29", "12-29, 12-31"},
	} {
		t.Run(test.name, func(t *testing.T) {
			event := span(t, test.zone, test.start+" 00:00:00", test.start+" 00:00:00")
			event.AllDay = true
			s, err := New(event, parse(t, "FREQ=DAILY;COUNT=3"), nil, nil)
			must.Succeed(t, err)
			var got []string
			for o := range s.Occurrences(calendar.Wall{}, LastStart()) {
				got = append(got, o.Start.Format("01-02"))
				if !o.Start.Equal(o.Nominal) || !o.End.Equal(o.Nominal.EndOfDay()) || !o.AllDay {
					t.Errorf("occurrence %+v", o)
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("days (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOccurrencesStayWithinTheYears(t *testing.T) {
	t.Parallel()
	s, err := New(span(t, "America/New_York", "9999-12-28 18:00:00", "9999-12-29 19:00:00"), parse(t, "FREQ=DAILY"), nil, nil)
	must.Succeed(t, err)
	if starts := texts(s.Starts(calendar.Wall{}, LastStart())); len(starts) != 4 {
		t.Errorf("starts %v", starts)
	}
	// The end of the next one is in year 10000 in UTC.
	if all, err := s.Expand(LastStart(), MaxOccurrences); err != nil || len(all) != 2 {
		t.Errorf("occurrences %v: %v", all, err)
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, rule, rdate, exdate, last string
		count                           int
		reason                          string
		data                            map[string]any
	}{
		{"up to the horizon, inclusive", "FREQ=DAILY", "", "", "2026-12-03 18:00:00", 10, "", nil},
		{"short of the next", "FREQ=DAILY", "", "", "2026-12-03 17:59:59", 9, "", nil},
		{"1,000", "FREQ=DAILY;COUNT=1000", "", "", "9999-12-31 23:59:59", 1000, "", nil},
		{"1,000 of 1,001", "FREQ=DAILY;COUNT=1000", "2040-01-01", "2026-11-25", "9999-12-31 23:59:59", 1000, "", nil},
		{"1,001", "FREQ=DAILY;COUNT=1000", "2040-01-01", "", "9999-12-31 23:59:59", 0, TooManyOccurrences, map[string]any{"maximum": 1000}},
		{"none left", "FREQ=DAILY;COUNT=1", "", "2026-11-24", "9999-12-31 23:59:59", 0, NoOccurrences, map[string]any{}},
		{"none yet", "FREQ=DAILY", "", "", "2026-11-24 17:00:00", 0, NoOccurrences, map[string]any{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := schedule(t, "2026-11-24 18:00", test.rule, test.rdate, test.exdate)
			must.Succeed(t, err)
			all, err := s.Expand(wall(t, test.last), MaxOccurrences)
			if test.reason != "" {
				wantError(t, err, "rrule", test.reason, test.data)
				return
			}
			if err != nil || len(all) != test.count {
				t.Errorf("%d occurrences, want %d: %v", len(all), test.count, err)
			}
		})
	}
}

func BenchmarkThousandOccurrences(b *testing.B) {
	s, err := schedule(b, "2026-11-24 18:00", "FREQ=DAILY;COUNT=1000", "", "")
	must.Succeed(b, err)
	for b.Loop() {
		if _, err := s.Expand(LastStart(), MaxOccurrences); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNewWithDistantExdate measures New with an endless daily rule and an exdate at the end of year 9999.
func BenchmarkNewWithDistantExdate(b *testing.B) {
	for b.Loop() {
		if _, err := schedule(b, "2026-11-24 18:00", "FREQ=DAILY", "", "9999-12-31"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestPhaseAt(t *testing.T) {
	t.Parallel()
	day := func(d int) calendar.Wall { return calendar.WallAt(2026, time.July, d, 18, 0, 0) }
	for _, tt := range []struct {
		starts  []int
		nominal calendar.Wall
		want    int
	}{
		{[]int{10}, day(10), 0},
		{[]int{10}, day(9), 0},
		{[]int{10}, day(30), 0},
		{[]int{10, 20}, day(9), 0},
		{[]int{10, 20}, day(20).Add(-time.Second), 0},
		{[]int{10, 20}, day(20), 1},
		{[]int{10, 20, 25}, day(24), 1},
		{[]int{10, 20, 25}, day(26), 2},
	} {
		if got := PhaseAt(tt.starts, day, tt.nominal); got != tt.want {
			t.Errorf("%s in phases from %d: got %d, want %d", tt.nominal, tt.starts, got, tt.want)
		}
	}
}
