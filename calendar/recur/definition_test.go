package recur

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
)

// definition is a second, slow implementation of recurrence rules for comparison. It decides for each day whether
// a start is on it. It shares no code with the expansion under test.
type definition struct {
	rule    Rule
	first   time.Time // midnight of the start, in UTC as all times here
	origin  time.Time // a day of the first period
	members map[time.Time][]time.Time
}

func define(r Rule, start time.Time) *definition {
	first := start.Truncate(24 * time.Hour)
	switch {
	case r.ByYearDay != nil:
	case (r.Freq == FreqWeekly || r.ByWeekNo != nil) && r.ByDay == nil && r.ByMonthDay == nil:
		r.ByDay = []Weekday{{Day: first.Weekday()}}
	case r.Freq == FreqMonthly && r.ByDay == nil && r.ByMonthDay == nil:
		r.ByMonthDay = []int{first.Day()}
	case r.Freq == FreqYearly && r.ByDay == nil && r.ByMonthDay == nil:
		r.ByMonthDay = []int{first.Day()}
		if r.ByMonth == nil {
			r.ByMonth = []int{int(first.Month())}
		}
	}
	d := &definition{r, first, first, map[time.Time][]time.Time{}}
	if yesterday := first.AddDate(0, 0, -1); r.Freq == FreqMonthly && !d.matches(first) && d.movedForward(yesterday) {
		d.origin = yesterday
	}
	return d
}

// starts returns the starts of the rule up to last, as texts in calendar.Layout. The first possible one is start.
// COUNT and UNTIL are applied.
func (d *definition) starts(start, last time.Time) []string {
	var out []string
	for day := d.first; ; day = day.AddDate(0, 0, 1) {
		at := day.Add(start.Sub(d.first))
		late := !d.rule.Until.IsZero() && d.rule.Until.Before(calendar.WallOf(at))
		if late || at.After(last) || d.rule.Count > 0 && len(out) == d.rule.Count {
			return out
		}
		if d.hasStart(day) {
			out = append(out, at.Format(calendar.Layout))
		}
	}
}

func (d *definition) hasStart(day time.Time) bool {
	yesterday, tomorrow := day.AddDate(0, 0, -1), day.AddDate(0, 0, 1)
	switch {
	case d.inPeriod(day) && d.matches(day) && d.atPlace(day):
		return true
	case d.rule.Skip == SkipBackward:
		return tomorrow.Day() == 1 && d.inPeriod(day) && d.inMonth(day) && d.lacks(day)
	case d.rule.Skip == SkipForward:
		return d.inPeriod(yesterday) && d.movedForward(yesterday)
	}
	return false
}

// movedForward reports whether day is the last day of a month in which SKIP=FORWARD moves a missing day. An
// example is 30 February: its start moves to 1 March.
func (d *definition) movedForward(day time.Time) bool {
	return d.rule.Skip == SkipForward && day.AddDate(0, 0, 1).Day() == 1 && d.inMonth(day) && d.lacks(day)
}

// lacks reports whether the rule has a day of the month that does not exist in this month. The parameter day is
// the last day of the month.
func (d *definition) lacks(day time.Time) bool {
	for _, n := range d.rule.ByMonthDay {
		if n > day.Day() || n < -day.Day() {
			return true
		}
	}
	return false
}

func (d *definition) inMonth(day time.Time) bool {
	return d.rule.ByMonth == nil || slices.Contains(d.rule.ByMonth, int(day.Month()))
}

// matches reports whether the day satisfies all BY parts of the rule except BYSETPOS. It ignores INTERVAL.
func (d *definition) matches(day time.Time) bool {
	if !d.inMonth(day) {
		return false
	}
	if d.rule.ByMonthDay != nil {
		fromEnd := 0
		for x := day; x.Month() == day.Month(); x = x.AddDate(0, 0, 1) {
			fromEnd--
		}
		if !slices.Contains(d.rule.ByMonthDay, day.Day()) && !slices.Contains(d.rule.ByMonthDay, fromEnd) {
			return false
		}
	}
	if d.rule.ByYearDay != nil {
		fromEnd := day.YearDay() - time.Date(day.Year(), time.December, 31, 0, 0, 0, 0, time.UTC).YearDay() - 1
		if !slices.Contains(d.rule.ByYearDay, day.YearDay()) && !slices.Contains(d.rule.ByYearDay, fromEnd) {
			return false
		}
	}
	if d.rule.ByWeekNo != nil && !d.inWeek(day) {
		return false
	}
	if d.rule.ByDay == nil {
		return true
	}
	same := func(x time.Time) bool { return x.Year() == day.Year() && x.Month() == day.Month() }
	if d.rule.Freq == FreqYearly && d.rule.ByMonth == nil {
		same = func(x time.Time) bool { return x.Year() == day.Year() }
	}
	before, after := 0, 0 // how many of this weekday there are up to the day, and from it on
	for x := day; same(x); x = x.AddDate(0, 0, -7) {
		before++
	}
	for x := day; same(x); x = x.AddDate(0, 0, 7) {
		after++
	}
	for _, w := range d.rule.ByDay {
		if w.Day == day.Weekday() && (w.Ordinal == 0 || w.Ordinal == before || w.Ordinal == -after) {
			return true
		}
	}
	return false
}

// inWeek reports whether the day is in a week of BYWEEKNO. A week belongs to the year of its fourth day.
func (d *definition) inWeek(day time.Time) bool {
	for day.Weekday() != d.rule.WeekStart {
		day = day.AddDate(0, 0, -1)
	}
	fourth := day.AddDate(0, 0, 3)
	before, after := 0, 0
	for x := fourth; x.Year() == fourth.Year(); x = x.AddDate(0, 0, -7) {
		before++
	}
	for x := fourth; x.Year() == fourth.Year(); x = x.AddDate(0, 0, 7) {
		after++
	}
	return slices.Contains(d.rule.ByWeekNo, before) || slices.Contains(d.rule.ByWeekNo, -after)
}

// period returns the first day of the day, week, month or year of the rule that contains a day.
func (d *definition) period(day time.Time) time.Time {
	switch d.rule.Freq {
	case FreqWeekly:
		for day.Weekday() != d.rule.WeekStart {
			day = day.AddDate(0, 0, -1)
		}
	case FreqMonthly:
		return time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
	case FreqYearly:
		return time.Date(day.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	return day
}

func (d *definition) inPeriod(day time.Time) bool {
	from, to := d.period(d.origin), d.period(day)
	days := int(to.Sub(from).Hours()) / 24
	distance := map[Frequency]int{
		FreqDaily: days, FreqWeekly: days / 7, FreqYearly: to.Year() - from.Year(),
		FreqMonthly: 12*(to.Year()-from.Year()) + int(to.Month()) - int(from.Month()),
	}
	return distance[d.rule.Freq]%d.rule.Interval == 0
}

func (d *definition) atPlace(day time.Time) bool {
	if d.rule.BySetPos == nil {
		return true
	}
	period := d.period(day)
	members, known := d.members[period]
	if !known {
		for x := period; d.period(x).Equal(period); x = x.AddDate(0, 0, 1) {
			if d.matches(x) {
				members = append(members, x)
			}
		}
		d.members[period] = members
	}
	i := slices.IndexFunc(members, day.Equal)
	return slices.Contains(d.rule.BySetPos, i+1) || slices.Contains(d.rule.BySetPos, i-len(members))
}

// dice generates random rules that use all parts of the grammar.
type dice struct{ *rand.Rand }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func (d dice) signed(most int) int {
	n := 1 + d.IntN(most)
	if d.chance(30) {
		return -n
	}
	return n
}

func (d dice) list(most int, item func() string) string {
	var items []string
	for range 1 + d.IntN(most) {
		items = append(items, item())
	}
	return strings.Join(items, ",")
}

// rule returns the text of a random valid rule for an event that starts at start.
func (d dice) rule(start time.Time) string {
	freq := []Frequency{FreqDaily, FreqWeekly, FreqWeekly, FreqMonthly, FreqMonthly, FreqMonthly, FreqYearly, FreqYearly}[d.IntN(8)]
	list := []string{"FREQ=" + string(freq)}
	add := func(name, value string) { list = append(list, name+"="+value) }
	number := func(most int) func() string { return func() string { return fmt.Sprint(d.signed(most)) } }
	weekday := func() string { return weekdays[d.IntN(7)] }
	if d.chance(50) {
		add("INTERVAL", fmt.Sprint(1+d.IntN(5)))
	}
	switch d.IntN(4) {
	case 0:
		add("COUNT", fmt.Sprint(1+d.IntN(30)))
	case 1:
		until := start.AddDate(0, 0, d.IntN(900)).Add(time.Duration(d.IntN(3)-1) * time.Second)
		add("UNTIL", until.Format([]string{untilDay, untilTime, untilTime + "Z"}[d.IntN(3)]))
	}
	month, monthDay, byDay, positions := d.chance(35), freq != FreqWeekly && d.chance(40), d.chance(50), false
	week, yearDay := freq == FreqYearly && d.chance(30), freq == FreqYearly && d.chance(30)
	if month {
		add("BYMONTH", d.list(4, func() string { return fmt.Sprint(1 + d.IntN(12)) }))
	}
	if week {
		add("BYWEEKNO", d.list(5, func() string {
			if d.chance(40) {
				return fmt.Sprint([]int{1, 52, 53, -1, -52, -53}[d.IntN(6)])
			}
			return number(53)()
		}))
	}
	if yearDay {
		add("BYYEARDAY", d.list(9, func() string {
			if d.chance(40) {
				return fmt.Sprint([]int{1, 59, 60, 365, 366, -1, -365, -366}[d.IntN(8)])
			}
			return number(366)()
		}))
	}
	if monthDay {
		add("BYMONTHDAY", d.list(4, func() string {
			if d.chance(40) {
				return fmt.Sprint([]int{28, 29, 30, 31, -1, -29, -30, -31}[d.IntN(8)])
			}
			return number(31)()
		}))
	}
	if byDay {
		add("BYDAY", d.list(5, func() string {
			switch {
			case freq == FreqDaily || freq == FreqWeekly || week || d.chance(50):
				return weekday()
			case freq == FreqMonthly || month:
				return number(5)() + weekday()
			}
			return number(53)() + weekday()
		}))
	}
	if (month || week || yearDay || monthDay || byDay) && d.chance(30) {
		positions = true
		add("BYSETPOS", d.list(3, number(map[Frequency]int{FreqDaily: 1, FreqWeekly: 4, FreqMonthly: 8, FreqYearly: 60}[freq])))
	}
	if d.chance(40) {
		add("WKST", weekday())
	}
	if (freq == FreqMonthly || freq == FreqYearly) && !byDay && !week && !yearDay && !positions && d.chance(70) {
		add("SKIP", []string{"OMIT", "BACKWARD", "FORWARD"}[d.IntN(3)])
	}
	if d.chance(20) {
		add("RSCALE", "GREGORIAN")
	}
	d.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return strings.Join(list, ";")
}

// start returns a random start. Days at the end of a month are frequent, and so are years near 2100, which is no
// leap year.
func (d dice) start() time.Time {
	year := []int{2019, 2024, 2026, 2027, 2095, 2099, 2100}[d.IntN(7)]
	day := time.Date(year, time.Month(1+d.IntN(12)), 1+d.IntN(31), 0, 0, 0, 0, time.UTC)
	if d.chance(30) {
		day = time.Date(year, time.Month(1+d.IntN(12)), 0, 0, 0, 0, 0, time.UTC).AddDate(0, 0, d.IntN(2))
	}
	return day.Add(time.Duration(d.IntN(24*3600)) * time.Second)
}

func TestStartsAreThoseOfTheDefinition(t *testing.T) {
	t.Parallel()
	rules := 1200
	if testing.Short() {
		rules = 300
	}
	d := dice{rand.New(rand.NewPCG(5545, 7529))}
	shapes := map[string]int{}
	for range rules {
		start := d.start()
		text := d.rule(start)
		r := parse(t, text)
		last := start.AddDate(4, 0, 0)
		want := define(r, start).starts(start, last)
		got := texts(r.Starts(calendar.WallOf(start), calendar.Wall{}, calendar.WallOf(last)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s from %s (-want +got):\n%s", text, start.Format(calendar.Layout), diff)
		}
		if len(want) == 0 {
			shapes["without a start"]++
		}
		if r.Freq == FreqWeekly && r.BySetPos != nil {
			shapes["places in a week"]++
		}
		ordinal := func(w Weekday) bool { return w.Ordinal != 0 }
		plain := func(w Weekday) bool { return w.Ordinal == 0 }
		if slices.ContainsFunc(r.ByDay, ordinal) && slices.ContainsFunc(r.ByDay, plain) {
			shapes["weekdays of both forms"]++
		}
		if r.ByWeekNo != nil && len(want) > 0 {
			shapes["weeks of the year"]++
		}
		if r.ByYearDay != nil && len(want) > 0 {
			shapes["days of the year"]++
		}
		if r.Skip != SkipOmit && len(want) > 0 {
			shapes["SKIP "+string(r.Skip)]++
		}
	}
	t.Logf("of %d rules: %v", rules, shapes)
	for _, name := range []string{
		"places in a week", "weekdays of both forms", "SKIP BACKWARD", "SKIP FORWARD", "weeks of the year", "days of the year",
	} {
		if shapes[name] < rules/100 {
			t.Errorf("%s: %d of %d rules", name, shapes[name], rules)
		}
	}
}

func TestStartsAreJoinedAtAnyTime(t *testing.T) {
	t.Parallel()
	d := dice{rand.New(rand.NewPCG(1, 2))}
	for range 500 {
		at := d.start()
		r := parse(t, d.rule(at))
		start := calendar.WallOf(at)
		middle := start.AddDate(0, 0, d.IntN(2000)).Add(time.Duration(d.IntN(3)-1) * time.Second)
		last := middle.AddDate(0, 0, d.IntN(2000))
		whole := texts(r.Starts(start, calendar.Wall{}, last))
		parts := append(texts(r.Starts(start, calendar.Wall{}, middle)), texts(r.Starts(start, middle, last))...)
		if diff := cmp.Diff(whole, parts); diff != "" {
			t.Fatalf("%s from %s, in two at %s (-whole +parts):\n%s", r, start, middle, diff)
		}
		if !slices.IsSorted(whole) || len(slices.Compact(slices.Clone(whole))) != len(whole) {
			t.Fatalf("%s from %s: %v", r, start, whole)
		}
	}
}
