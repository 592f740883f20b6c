package recur

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/must"
)

// wantError fails the test unless err is an *Error with the given parameter, reason and data.
func wantError(t *testing.T, err error, param, reason string, data map[string]any) {
	t.Helper()
	refusal, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("error %v, want %s", err, reason)
	}
	if diff := cmp.Diff(&Error{param, reason, data}, refusal); diff != "" {
		t.Errorf("refusal (-want +got):\n%s", diff)
	}
}

func TestParseGivesTheCanonicalText(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"as it is", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"},
		{"lower case", "freq=weekly;byday=tu;until=20270303t180000", "FREQ=WEEKLY;UNTIL=20270303T180000;BYDAY=TU"},
		{"prefix", "RRULE:FREQ=DAILY", "FREQ=DAILY"},
		{"prefix in lower case", "rrule:freq=daily", "FREQ=DAILY"},
		{
			"order", "SKIP=FORWARD;WKST=SU;BYMONTHDAY=31;BYMONTH=2;COUNT=3;INTERVAL=2;FREQ=YEARLY",
			"FREQ=YEARLY;INTERVAL=2;COUNT=3;BYMONTH=2;BYMONTHDAY=31;WKST=SU;SKIP=FORWARD",
		},
		{"order of places", "BYSETPOS=-1;BYDAY=MO;FREQ=MONTHLY", "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-1"},
		{"default parts", "FREQ=MONTHLY;INTERVAL=1;WKST=MO;SKIP=OMIT", "FREQ=MONTHLY"},
		{"weekday of the start is no default", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;UNTIL=20270303", "FREQ=WEEKLY;INTERVAL=2;UNTIL=20270303;BYDAY=TU"},
		{"lists are sorted", "FREQ=MONTHLY;BYMONTHDAY=-1,15,-2,1;BYMONTH=12,1", "FREQ=MONTHLY;BYMONTH=1,12;BYMONTHDAY=1,15,-2,-1"},
		{"weekdays are sorted", "FREQ=MONTHLY;BYDAY=SU,-1FR,2WE,MO,2MO", "FREQ=MONTHLY;BYDAY=MO,SU,2MO,2WE,-1FR"},
		{"nothing is named twice", "FREQ=WEEKLY;BYDAY=MO,MO,mo;BYMONTH=1,01", "FREQ=WEEKLY;BYMONTH=1;BYDAY=MO"},
		{"plus signs and zeros", "FREQ=MONTHLY;INTERVAL=02;BYDAY=+1MO,01TU", "FREQ=MONTHLY;INTERVAL=2;BYDAY=1MO,1TU"},
		{
			"weeks and days of the year", "BYYEARDAY=-1,366,1;BYWEEKNO=53,-1,20;FREQ=YEARLY;BYMONTHDAY=1;BYMONTH=1",
			"FREQ=YEARLY;BYMONTH=1;BYWEEKNO=20,53,-1;BYYEARDAY=1,366,-1;BYMONTHDAY=1",
		},
		{"the calendar of the package", "RSCALE=gregorian;FREQ=MONTHLY;SKIP=BACKWARD", "FREQ=MONTHLY;SKIP=BACKWARD"},
		{"a way to skip where no day is missing", "RSCALE=GREGORIAN;FREQ=WEEKLY;BYDAY=MO;SKIP=FORWARD", "FREQ=WEEKLY;BYDAY=MO"},
		{"leaving out days, which is the default", "FREQ=MONTHLY;BYDAY=5MO;SKIP=OMIT", "FREQ=MONTHLY;BYDAY=5MO"},
		{"until a day", "FREQ=DAILY;UNTIL=20270303", "FREQ=DAILY;UNTIL=20270303"},
		{"until the last second of a day", "FREQ=DAILY;UNTIL=20270303T235959", "FREQ=DAILY;UNTIL=20270303"},
		{"until an instant in winter", "FREQ=DAILY;UNTIL=20270303T170000Z", "FREQ=DAILY;UNTIL=20270303T180000"},
		{"until an instant in summer", "FREQ=DAILY;UNTIL=20270703T220000z", "FREQ=DAILY;UNTIL=20270704T000000"},
		{"the largest values", "FREQ=YEARLY;INTERVAL=999;COUNT=1000;BYDAY=53MO,-53TU;BYSETPOS=366,-366", "FREQ=YEARLY;INTERVAL=999;COUNT=1000;BYDAY=53MO,-53TU;BYSETPOS=366,-366"},
		{"ordinals of the month in a year", "FREQ=YEARLY;BYMONTH=3;BYDAY=5MO,-5SU", "FREQ=YEARLY;BYMONTH=3;BYDAY=5MO,-5SU"},
		{"the last year", "FREQ=DAILY;UNTIL=99991231", "FREQ=DAILY;UNTIL=99991231"},
	}
	warsaw, err := calendar.ParseZone("Europe/Warsaw")
	must.Succeed(t, err)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := Parse(test.text, warsaw)
			must.Succeed(t, err)
			if r.String() != test.want {
				t.Errorf("%s became %s, want %s", test.text, r, test.want)
			}
		})
	}
	if text := (Rule{}).String(); text != "" {
		t.Errorf("the zero rule is %q", text)
	}
}

func TestParseReadsAllParts(t *testing.T) {
	t.Parallel()
	got := parse(t, "FREQ=YEARLY;INTERVAL=2;UNTIL=20300101T120000;BYMONTH=5;BYMONTHDAY=-1;BYDAY=WE,-1TH;BYSETPOS=1;WKST=SU")
	want := Rule{
		Freq: FreqYearly, Interval: 2, Until: calendar.WallAt(2030, 1, 1, 12, 0, 0), ByMonth: []int{5}, ByMonthDay: []int{-1},
		ByDay: []Weekday{{0, time.Wednesday}, {-1, time.Thursday}}, BySetPos: []int{1}, WeekStart: time.Sunday,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := parse(t, "FREQ=MONTHLY;SKIP=BACKWARD;COUNT=3"); got.Skip != SkipBackward || got.Count != 3 || got.WeekStart != time.Monday {
		t.Errorf("got %+v", got)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	long := "FREQ=DAILY;BYMONTH=" + strings.Repeat("1,", 250) + "1"
	tests := []struct{ name, text, part, value string }{
		{"nothing", "", "RRULE", ""},
		{"words", "every Tuesday", "RRULE", "every Tuesday"},
		{"an empty part", "FREQ=DAILY;", "RRULE", "FREQ=DAILY;"},
		{"a part without a name", "FREQ=DAILY;=1", "RRULE", "FREQ=DAILY;=1"},
		{"more than 500 characters", long, "RRULE", long[:MaxRuleLength]},
		{"no frequency", "BYDAY=MO", "FREQ", ""},
		{"hours", "FREQ=hourly", "FREQ", "hourly"},
		{"white space", "FREQ= DAILY", "FREQ", " DAILY"},
		{"a part twice", "FREQ=DAILY;COUNT=1;count=1", "COUNT", "1"},
		{"no interval", "FREQ=DAILY;INTERVAL=0", "INTERVAL", "0"},
		{"a negative interval", "FREQ=DAILY;INTERVAL=-1", "INTERVAL", "-1"},
		{"an interval with a sign", "FREQ=DAILY;INTERVAL=+1", "INTERVAL", "+1"},
		{"an interval too long", "FREQ=DAILY;INTERVAL=1000", "INTERVAL", "1000"},
		{"an empty value", "FREQ=DAILY;INTERVAL=", "INTERVAL", ""},
		{"no count", "FREQ=DAILY;COUNT=0", "COUNT", "0"},
		{"a count too large", "FREQ=DAILY;COUNT=1001", "COUNT", "1001"},
		{"a number beyond all", "FREQ=DAILY;COUNT=99999999999999999999", "COUNT", "99999999999999999999"},
		{"count and until", "FREQ=DAILY;COUNT=1;UNTIL=20270303", "UNTIL", "20270303"},
		{"a day that does not exist", "FREQ=DAILY;UNTIL=20270230", "UNTIL", "20270230"},
		{"a day with hyphens", "FREQ=DAILY;UNTIL=2027-03-03", "UNTIL", "2027-03-03"},
		{"a time without seconds", "FREQ=DAILY;UNTIL=20270303T1800", "UNTIL", "20270303T1800"},
		{"a fraction", "FREQ=DAILY;UNTIL=20270303T180000.5", "UNTIL", "20270303T180000.5"},
		{"a day with Z", "FREQ=DAILY;UNTIL=20270303Z", "UNTIL", "20270303Z"},
		{"a year before 1000", "FREQ=DAILY;UNTIL=09991231", "UNTIL", "09991231"},
		{"month 13", "FREQ=DAILY;BYMONTH=13", "BYMONTH", "13"},
		{"a month from the end", "FREQ=DAILY;BYMONTH=1,-1", "BYMONTH", "1,-1"},
		{"a leap month", "FREQ=DAILY;BYMONTH=5L", "BYMONTH", "5L"},
		{"day 0", "FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY", "0"},
		{"day 32", "FREQ=MONTHLY;BYMONTHDAY=-32", "BYMONTHDAY", "-32"},
		{"an empty item", "FREQ=MONTHLY;BYMONTHDAY=1,,2", "BYMONTHDAY", "1,,2"},
		{"days of the month in a week", "FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY", "1"},
		{"no weekday", "FREQ=WEEKLY;BYDAY=XX", "BYDAY", "XX"},
		{"a letter that is no S", "FREQ=WEEKLY;BYDAY=ſU", "BYDAY", "ſU"},
		{"ordinal 0", "FREQ=MONTHLY;BYDAY=0MO", "BYDAY", "0MO"},
		{"an ordinal alone", "FREQ=MONTHLY;BYDAY=1", "BYDAY", "1"},
		{"an ordinal in a week", "FREQ=WEEKLY;BYDAY=TU,1MO", "BYDAY", "TU,1MO"},
		{"an ordinal in a day", "FREQ=DAILY;BYDAY=1MO", "BYDAY", "1MO"},
		{"the sixth weekday of a month", "FREQ=MONTHLY;BYDAY=-6MO", "BYDAY", "-6MO"},
		{"the sixth weekday of a month of a year", "FREQ=YEARLY;BYMONTH=3;BYDAY=6MO", "BYDAY", "6MO"},
		{"the 54th weekday of a year", "FREQ=YEARLY;BYDAY=54MO", "BYDAY", "54MO"},
		{"places of nothing", "FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS", "1"},
		{"place 367", "FREQ=YEARLY;BYDAY=MO;BYSETPOS=367", "BYSETPOS", "367"},
		{"an ordinal of WKST", "FREQ=WEEKLY;WKST=1MO", "WKST", "1MO"},
		{"an unknown way to skip", "FREQ=MONTHLY;SKIP=SIDEWARD", "SKIP", "SIDEWARD"},
		{"an empty way to skip", "FREQ=MONTHLY;SKIP=", "SKIP", ""},
		{"skipping weeks", "FREQ=YEARLY;BYWEEKNO=53;SKIP=FORWARD", "SKIP", "FORWARD"},
		{"skipping days of the year", "FREQ=YEARLY;BYYEARDAY=366;SKIP=BACKWARD", "SKIP", "BACKWARD"},
		{"another calendar", "RSCALE=CHINESE;FREQ=YEARLY", "RSCALE", "CHINESE"},
		{"no calendar", "RSCALE=;FREQ=YEARLY", "RSCALE", ""},
		{"week 0", "FREQ=YEARLY;BYWEEKNO=0", "BYWEEKNO", "0"},
		{"week 54", "FREQ=YEARLY;BYWEEKNO=-54", "BYWEEKNO", "-54"},
		{"weeks of a month", "FREQ=MONTHLY;BYWEEKNO=1", "BYWEEKNO", "1"},
		{"weeks in a week", "FREQ=WEEKLY;BYWEEKNO=1", "BYWEEKNO", "1"},
		{"weeks in a day", "FREQ=DAILY;BYWEEKNO=1", "BYWEEKNO", "1"},
		{"an ordinal in a week of the year", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=1MO", "BYDAY", "1MO"},
		{"an ordinal in a week of the months", "FREQ=YEARLY;BYMONTH=5;BYWEEKNO=20;BYDAY=1MO", "BYDAY", "1MO"},
		{"day 367 of the year", "FREQ=YEARLY;BYYEARDAY=367", "BYYEARDAY", "367"},
		{"days of the year in a month", "FREQ=MONTHLY;BYYEARDAY=1", "BYYEARDAY", "1"},
		{"days of the year in a week", "FREQ=WEEKLY;BYYEARDAY=1", "BYYEARDAY", "1"},
		{"days of the year in a day", "FREQ=DAILY;BYYEARDAY=1", "BYYEARDAY", "1"},
		{"skipping weekdays", "FREQ=MONTHLY;BYDAY=5MO;SKIP=FORWARD", "SKIP", "FORWARD"},
		{"skipping to places", "FREQ=MONTHLY;BYMONTHDAY=31;BYSETPOS=1;SKIP=FORWARD", "SKIP", "FORWARD"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(test.text, calendar.UTC())
			wantError(t, err, "rrule", BadRule, map[string]any{"part": test.part, "value": test.value})
		})
	}
}

func TestParseNamesPartsThatAreNotSupported(t *testing.T) {
	t.Parallel()
	for text, part := range map[string]string{
		"FREQ=DAILY;BYHOUR=9,10":              "BYHOUR",
		"FREQ=DAILY;byminute=30":              "BYMINUTE",
		"FREQ=DAILY;BYSECOND=1":               "BYSECOND",
		"FREQ=DAILY;X-ALMANAC=1":              "X-ALMANAC",
		"DTSTART=20270303T180000;FREQ=WEEKLY": "DTSTART",
	} {
		_, err := Parse(text, calendar.UTC())
		wantError(t, err, "rrule", RulePartNotSupported, map[string]any{"part": part})
	}
}

// FuzzParse checks that Parse either refuses a rule with a reason or returns a rule whose text parses to the same
// rule. It compares the starts with those of definition.
func FuzzParse(f *testing.F) {
	for _, text := range slowRules {
		f.Add(text, int64(1_800_000_000))
	}
	f.Add("rrule:freq=monthly;bymonthday=31,-31;skip=forward;wkst=su", int64(4_107_500_000))
	f.Add("FREQ=MONTHLY;BYDAY=+1MO,-5SU,TU;BYSETPOS=-1,2;INTERVAL=3;UNTIL=20300101T000000Z", int64(0))
	f.Add("RSCALE=GREGORIAN;FREQ=YEARLY;BYWEEKNO=1,-1,53;BYDAY=MO,SU;WKST=SU", int64(1_800_000_000))
	f.Add("FREQ=YEARLY;BYYEARDAY=1,366,-366;BYWEEKNO=1;BYSETPOS=-1", int64(1_800_000_000))
	f.Add("FREQ=WEEKLY;BYDAY=MO,SU;BYSETPOS=2;COUNT=1000;WKST=WE", int64(1))
	f.Fuzz(func(t *testing.T, text string, second int64) {
		r, err := Parse(text, calendar.UTC())
		if err != nil {
			refusal, ok := errors.AsType[*Error](err)
			if !ok || refusal.Reason != BadRule && refusal.Reason != RulePartNotSupported || refusal.Data["part"] == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		canonical := r.String()
		west, err := calendar.ParseZone("UTC-1")
		must.Succeed(t, err)
		again, err := Parse(canonical, west)
		if err != nil || !reflect.DeepEqual(again, r) || again.String() != canonical {
			t.Fatalf("%q: %q became %q: %v", text, canonical, again, err)
		}
		if len(canonical) > len(text) {
			t.Fatalf("%q became longer: %q", text, canonical)
		}
		start := time.Unix(second&(1<<32-1), 0).UTC()
		last := start.AddDate(1, 2, 0)
		want := define(r, start).starts(start, last)
		got := texts(r.Starts(calendar.WallOf(start), calendar.Wall{}, calendar.WallOf(last)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s from %s (-want +got):\n%s", r, start, diff)
		}
		firstStarts(r.Starts(calendar.WallOf(start), calendar.WallOf(last), LastStart()), 10)
	})
}
