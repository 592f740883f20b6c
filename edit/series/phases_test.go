package series

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/proof/must"
)

// weeklyPhases returns a list with one phase. Its event lasts an hour and begins on Wednesday, 1 July 2026, 18:00,
// in Warsaw.
func weeklyPhases(t *testing.T, rule string) []seriesPhase {
	t.Helper()
	zone, err := calendar.ParseZone("Europe/Warsaw")
	must.Succeed(t, err)
	r, err := recur.Parse(rule, zone)
	must.Succeed(t, err)
	span := calendar.Span{Start: onDay(1, 18), End: onDay(1, 19), Zone: zone}
	s, err := recur.New(span, r, nil, nil)
	must.Succeed(t, err)
	return []seriesPhase{{Schedule: s}}
}

// onDay returns the wall time at a full hour of a day in July 2026. Larger days are in later months.
func onDay(day, hour int) calendar.Wall { return calendar.WallAt(2026, 7, day, hour, 0, 0) }

func TestSplitPhases(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		at    calendar.Wall
		rules []string
		place int
	}{
		{"at the first start", onDay(1, 18), []string{"FREQ=WEEKLY;COUNT=4"}, 0},
		{"at the third start", onDay(15, 18), []string{"FREQ=WEEKLY;COUNT=2", "FREQ=WEEKLY;COUNT=2"}, 1},
		{"between starts", onDay(9, 0), []string{"FREQ=WEEKLY;COUNT=2", "FREQ=WEEKLY;COUNT=2"}, 1},
		{"after the last start", onDay(30, 0), []string{"FREQ=WEEKLY;COUNT=4"}, 1},
	} {
		phases, place := splitPhases(weeklyPhases(t, "FREQ=WEEKLY;COUNT=4"), tt.at)
		var rules []string
		for _, p := range phases {
			rules = append(rules, p.Rule.String())
		}
		if diff := cmp.Diff(tt.rules, rules); diff != "" || place != tt.place {
			t.Errorf("%s: place %d, want %d\n%s", tt.name, place, tt.place, diff)
		}
	}
}

func TestMatchStarts(t *testing.T) {
	t.Parallel()
	live := func(day int) storedStart { return storedStart{nominal: onDay(day, 18)} }
	for _, tt := range []struct {
		name   string
		rule   string
		stored []storedStart
		want   []matchedStart
		fresh  []int
		rdate  []int
	}{
		{
			"the same starts", "FREQ=WEEKLY;COUNT=2",
			[]storedStart{live(1), live(8)},
			[]matchedStart{{nominal: onDay(1, 18)}, {nominal: onDay(8, 18)}},
			nil, nil,
		},
		{
			"the same day", "FREQ=WEEKLY;COUNT=2",
			[]storedStart{{nominal: onDay(1, 10)}, {nominal: onDay(8, 20)}},
			[]matchedStart{{nominal: onDay(1, 18)}, {nominal: onDay(8, 18)}},
			nil, nil,
		},
		{
			"the same week", "FREQ=WEEKLY;COUNT=2",
			[]storedStart{live(3), live(7)},
			[]matchedStart{{nominal: onDay(1, 18)}, {nominal: onDay(8, 18)}},
			nil, nil,
		},
		{
			"the same month, in order", "FREQ=MONTHLY;COUNT=1",
			[]storedStart{live(3), live(7)},
			[]matchedStart{{nominal: onDay(1, 18)}, {nominal: onDay(7, 18), removed: true, offSchedule: true}},
			nil, nil,
		},
		{
			"the same day goes before the same week", "FREQ=WEEKLY;COUNT=1",
			[]storedStart{live(0), {nominal: onDay(1, 10)}},
			[]matchedStart{{nominal: onDay(0, 18), removed: true, offSchedule: true}, {nominal: onDay(1, 18)}},
			nil, nil,
		},
		{
			"new ones", "FREQ=WEEKLY;COUNT=3",
			[]storedStart{live(8)},
			[]matchedStart{{nominal: onDay(8, 18)}},
			[]int{1, 15},
			nil,
		},
		{
			"one from the trash", "FREQ=WEEKLY;COUNT=2",
			[]storedStart{live(1), {nominal: onDay(8, 18), trashed: true}},
			[]matchedStart{{nominal: onDay(1, 18)}, {nominal: onDay(8, 18), restored: true}},
			nil, nil,
		},
		{
			"an exception stays", "FREQ=WEEKLY;COUNT=1",
			[]storedStart{live(1), {nominal: onDay(8, 18), hasOwnFields: true}},
			[]matchedStart{{nominal: onDay(1, 18)}, {nominal: onDay(8, 18)}},
			nil,
			[]int{8},
		},
		{
			"what has begun stays", "FREQ=WEEKLY;COUNT=1",
			[]storedStart{live(1), {nominal: onDay(2, 18), begun: true}},
			[]matchedStart{{nominal: onDay(1, 18)}, {nominal: onDay(2, 18)}},
			nil,
			[]int{2},
		},
		{
			"one in the trash leaves its start", "FREQ=WEEKLY;COUNT=1",
			[]storedStart{{nominal: onDay(1, 18), trashed: true}, live(3)},
			[]matchedStart{{nominal: onDay(3, 18), offSchedule: true}, {nominal: onDay(1, 18)}},
			nil, nil,
		},
	} {
		phases := weeklyPhases(t, tt.rule)
		got, fresh, err := matchStarts(tt.stored, phases, 0, recur.LastStart(), 10)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(matchedStart{}), cmp.Comparer(calendar.Wall.Equal)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		days := func(walls []calendar.Wall) (days []int) {
			for _, w := range walls {
				_, _, day := w.Date()
				days = append(days, day)
			}
			return days
		}
		var starts []calendar.Wall
		for _, n := range fresh {
			starts = append(starts, n.Nominal)
		}
		if diff := cmp.Diff([2][]int{tt.fresh, tt.rdate}, [2][]int{days(starts), days(phases[0].RDate)}); diff != "" {
			t.Errorf("%s: new starts and rdate (-want +got):\n%s", tt.name, diff)
		}
	}
}
