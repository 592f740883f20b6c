package ruletext

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// dice generates random recurrence rules for the tests of texts.
type dice struct{ *rand.Rand }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func (d dice) oneOf(words ...string) string { return words[d.IntN(len(words))] }

func (d dice) weekday() string { return d.oneOf("MO", "TU", "WE", "TH", "FR", "SA", "SU") }

// some returns a comma-separated list with the given item and up to most more items, which other generates.
func (d dice) some(item string, most int, other func() string) string {
	items := []string{item}
	for range d.IntN(most + 1) {
		items = append(items, other())
	}
	d.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return strings.Join(items, ",")
}

// place returns the number of a day for a rule. It is n, or the same day counted from the end of a period of size
// days.
func (d dice) place(n, size int) string {
	if d.chance(30) {
		return fmt.Sprint(n - size - 1)
	}
	return fmt.Sprint(n)
}

// parts returns the parts of a random rule that may use the whole grammar. The time start may not be a start of
// the rule.
func (d dice) parts(start calendar.Wall) []string {
	_, month, day := start.Date()
	length := calendar.WallAt(2027, month+1, 0, 0, 0, 0)
	_, _, days := length.Date()
	weekday := strings.ToUpper(start.Weekday().String()[:2])
	freq := d.oneOf("DAILY", "WEEKLY", "WEEKLY", "MONTHLY", "MONTHLY", "MONTHLY", "YEARLY", "YEARLY")
	parts := []string{"FREQ=" + freq}
	add := func(name, value string) { parts = append(parts, name+"="+value) }
	if d.chance(50) {
		add("INTERVAL", d.oneOf("2", "2", "3", "4", "5", "6", "7", "12", "14", "21", "24"))
	}
	switch d.IntN(4) {
	case 0:
		add("COUNT", fmt.Sprint(1+d.IntN(30)))
	case 1:
		until := start.AddDate(0, 0, d.IntN(900))
		add("UNTIL", until.Format(d.oneOf("20060102", "20060102T150405", "20060102T235959")))
	}
	inMonths, inDays, onDays := d.chance(35), freq != "WEEKLY" && d.chance(40), d.chance(50)
	if inMonths {
		add("BYMONTH", d.oneOf(
			d.some(fmt.Sprint(int(month)), 3, func() string { return fmt.Sprint(1 + d.IntN(12)) }),
			"1,2,3,4", "9,10,11,12,1,2", "1,2,3,4,5,6,7,8,9,10,11,12"))
	}
	if inDays {
		add("BYMONTHDAY", d.oneOf(
			d.some(d.place(day, days), 3, func() string { return d.oneOf("28", "29", "30", "31", "-1", "-29", "-30", "-31", "1", "15") }),
			d.some(d.place(day, days), 3, func() string { return fmt.Sprint(1 + d.IntN(28)) }),
			"1,2,3,4,5,6,7", "15,16,17,18,19,20,21", "-7,-6,-5,-4,-3,-2,-1", "28,29,30", "28,29,30,31"))
	}
	if onDays {
		plain := d.some(weekday, 4, d.weekday)
		switch {
		case freq == "DAILY" || freq == "WEEKLY" || d.chance(50):
			add("BYDAY", d.oneOf(plain, plain, "MO,TU,WE,TH,FR", "SA,SU", "MO,TU,WE,TH,FR,SA,SU", "TU,WE,TH,FR,SA,SU"))
		case freq == "MONTHLY" || inMonths:
			other := func() string { return d.oneOf("", "1", "2", "3", "4", "5", "-1", "-2", "-4") + d.weekday() }
			add("BYDAY", d.some(d.place((day-1)/7+1, (day-1)/7+(days-day)/7+1)+weekday, 3, other))
		default:
			add("BYDAY", d.some(d.oneOf("1", "14", "-1", "48")+weekday, 3, func() string { return fmt.Sprint(1+d.IntN(53)) + d.weekday() }))
		}
	}
	positions := (inMonths || inDays || onDays) && d.chance(35)
	if positions {
		other := func() string { return d.oneOf("1", "2", "3", "-1", "-2", "9", "22", "-40") }
		add("BYSETPOS", d.some(other(), 2, other))
	}
	if d.chance(40) {
		add("WKST", d.weekday())
	}
	if (freq == "MONTHLY" || freq == "YEARLY") && !onDays && !positions && d.chance(60) {
		add("SKIP", d.oneOf("BACKWARD", "FORWARD"))
	}
	return parts
}

// commonParts returns the parts of a random rule of a common kind, as calendar apps offer them.
func (d dice) commonParts(start calendar.Wall) []string {
	_, month, day := start.Date()
	weekday := strings.ToUpper(start.Weekday().String()[:2])
	parts := strings.Split(d.oneOf(
		"FREQ=DAILY", "FREQ=WEEKLY", "FREQ=WEEKLY;BYDAY="+weekday,
		"FREQ=WEEKLY;BYDAY="+d.some(weekday, 3, d.weekday), "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
		"FREQ=MONTHLY", fmt.Sprintf("FREQ=MONTHLY;BYMONTHDAY=%d", day), "FREQ=MONTHLY;BYMONTHDAY=-1",
		fmt.Sprintf("FREQ=MONTHLY;BYDAY=%d%s", (day-1)/7+1, weekday), "FREQ=MONTHLY;BYDAY=-1"+weekday,
		fmt.Sprintf("FREQ=MONTHLY;BYDAY=%s;BYSETPOS=%d", weekday, (day-1)/7+1),
		"FREQ=DAILY;INTERVAL=1;BYDAY=MO,TU,WE,TH,FR", "FREQ=MONTHLY;BYMONTHDAY=1,15,-1", "FREQ=YEARLY",
		fmt.Sprintf("FREQ=YEARLY;BYMONTH=%d;BYMONTHDAY=%d", month, day),
		fmt.Sprintf("FREQ=YEARLY;BYMONTH=%d;BYDAY=%d%s", month, (day-1)/7+1, weekday),
	), ";")
	if d.chance(40) {
		parts = append(parts, fmt.Sprintf("INTERVAL=%d", 1+d.IntN(12)))
	}
	switch d.IntN(3) {
	case 0:
		parts = append(parts, fmt.Sprintf("COUNT=%d", 1+d.IntN(52)))
	case 1:
		parts = append(parts, "UNTIL="+start.AddDate(0, d.IntN(36), 0).Format("20060102T150405Z"))
	}
	if d.chance(20) {
		parts = append(parts, "WKST="+d.oneOf("SU", "MO"))
	}
	return parts
}

var randomStarts = []calendar.Wall{
	calendar.WallAt(2026, 11, 24, 18, 0, 0), calendar.WallAt(2027, 1, 31, 18, 0, 0), calendar.WallAt(2027, 3, 1, 18, 0, 0),
	calendar.WallAt(2028, 2, 29, 18, 0, 0), calendar.WallAt(2027, 5, 15, 18, 0, 0), calendar.WallAt(2026, 11, 30, 18, 0, 0),
	calendar.WallAt(2027, 4, 4, 18, 0, 0), calendar.WallAt(2027, 12, 31, 18, 0, 0),
}

// ruleFrom parses the parts of a rule. It returns false if they are not a rule, or if the rule has no start at the
// time start.
func ruleFrom(parts []string, start calendar.Wall) (recur.Rule, bool) {
	r, err := recur.Parse(strings.Join(parts, ";"), calendar.UTC())
	if err != nil {
		return r, false
	}
	_, err = recur.New(calendar.Span{Start: start, End: start, Zone: calendar.UTC()}, r, nil, nil)
	return r, err == nil
}

func scheduleOf(r recur.Rule, start calendar.Wall) recur.Schedule {
	return recur.Schedule{Span: calendar.Span{Start: start, End: start, Zone: calendar.UTC()}, Rule: r}
}

// diffStarts describes how the starts of two rules differ within five years. It returns "" if they are the same.
func diffStarts(a, b recur.Rule, start calendar.Wall) string {
	starts := func(r recur.Rule) []calendar.Wall {
		return slices.Collect(r.Starts(start, calendar.Wall{}, start.AddDate(5, 0, 0)))
	}
	ofA, ofB := starts(a), starts(b)
	if slices.EqualFunc(ofA, ofB, calendar.Wall.Equal) {
		return ""
	}
	return cmp.Diff(ofA, ofB, cmp.Transformer("text", calendar.Wall.String))
}

// randomRules calls each for n random rules that how generates, with the parts from which they were parsed. In short
// tests it calls it for a third of them.
func randomRules(
	n int, seed uint64, how func(dice, calendar.Wall) []string, each func(r recur.Rule, parts []string, start calendar.Wall),
) {
	d := dice{rand.New(rand.NewPCG(seed, 1))}
	if testing.Short() {
		n /= 3
	}
	for n > 0 {
		start := randomStarts[d.IntN(len(randomStarts))]
		parts := how(d, start)
		if r, ok := ruleFrom(parts, start); ok {
			each(r, parts, start)
			n--
		}
	}
}

var ruleCount = flag.Int("rules", 500, "number of random rules")

func TestSimplifiedRulesHaveTheSameStarts(t *testing.T) {
	t.Parallel()
	randomRules(*ruleCount, 3, dice.parts, func(r recur.Rule, _ []string, start calendar.Wall) {
		before := r.String()
		simple := simplify(r, start)
		if diff := diffStarts(r, simple, start); diff != "" {
			t.Fatalf("%s from %s as %s (-rule +simplified):\n%s", r, start, simple, diff)
		}
		if r.String() != before {
			t.Fatalf("%s was changed to %s", before, r)
		}
	})
}

// TestRulesWithOtherStartsHaveOtherWords checks that rules with different starts have different texts. It compares
// each random rule with itself without one part, and with all other rules that have the same start.
func TestRulesWithOtherStartsHaveOtherWords(t *testing.T) {
	t.Parallel()
	words := catalogues(t)
	w := &writer{words, calendar.English, &english}
	told := make(map[string]recur.Rule)
	compared := 0
	tell := func(r recur.Rule, start calendar.Wall) {
		if _, ok := w.rule(simplify(r, start)); !ok || r.Count == 1 {
			return
		}
		text := Format(words, calendar.English, scheduleOf(r, start))
		key := start.String() + " " + text
		other, known := told[key]
		if !known {
			told[key] = r
			return
		}
		compared++
		if diff := diffStarts(other, r, start); diff != "" {
			t.Errorf("%s and %s from %s are both %q:\n%s", other, r, start, text, diff)
		}
	}
	tellAll := func(r recur.Rule, parts []string, start calendar.Wall) {
		tell(r, start)
		for i := 1; i < len(parts); i++ {
			if without, ok := ruleFrom(slices.Delete(slices.Clone(parts), i, i+1), start); ok {
				tell(without, start)
			}
		}
	}
	randomRules(*ruleCount, 4, dice.parts, tellAll)
	randomRules(*ruleCount, 9, dice.commonParts, tellAll)
	t.Logf("%d texts, %d rules compared", len(told), compared)
}

// TestSchedulesWithOtherDatesHaveOtherWords checks that schedules with different RDATE and EXDATE have different
// texts. The lists are short enough to be written in full. Some dates are starts of the rule, and some are in both
// lists.
func TestSchedulesWithOtherDatesHaveOtherWords(t *testing.T) {
	t.Parallel()
	words := catalogues(t)
	d := dice{rand.New(rand.NewPCG(8, 8))}
	start := calendar.WallAt(2026, 11, 24, 18, 0, 0)
	for _, text := range []string{"", "FREQ=WEEKLY;UNTIL=20270303", "FREQ=DAILY;INTERVAL=3;COUNT=9", "FREQ=MONTHLY;BYDAY=-1TU;UNTIL=20270303"} {
		var rule recur.Rule
		if text != "" {
			var err error
			if rule, err = recur.Parse(text, calendar.UTC()); err != nil {
				t.Fatal(err)
			}
		}
		told := make(map[string]string)
		again := 0
		for range *ruleCount {
			var rdate, exdate []recur.Date
			for range d.IntN(4) {
				at := start.AddDate(0, 0, d.IntN(9)).Add(time.Duration(d.IntN(2)*2) * time.Hour)
				rdate = append(rdate, recur.Date{Wall: at})
			}
			for range d.IntN(3) {
				at := start.AddDate(0, 0, d.IntN(9)).Add(time.Duration(d.IntN(2)*2) * time.Hour)
				exdate = append(exdate, recur.Date{Wall: at, DayOnly: d.chance(30)})
			}
			s, err := recur.New(calendar.Span{Start: start, End: start, Zone: calendar.UTC()}, rule, rdate, exdate)
			if err != nil {
				continue // a date of exdate is no start
			}
			starts := fmt.Sprint(slices.Collect(s.Starts(calendar.Wall{}, recur.LastStart())))
			words := Format(words, calendar.English, s)
			if other, known := told[words]; known && other != starts {
				t.Errorf("%q are %s and %s", words, other, starts)
			} else if known {
				again++
			}
			told[words] = starts
		}
		t.Logf("%q: %d texts, %d of them again", text, len(told), again)
	}
}

func TestTextsAreWhole(t *testing.T) {
	t.Parallel()
	words := catalogues(t)
	d := dice{rand.New(rand.NewPCG(7, 7))}
	patterns, rules := 0, 0
	randomRules(*ruleCount, 5, dice.parts, func(r recur.Rule, _ []string, start calendar.Wall) {
		var rdate, exdate []recur.Date
		for range d.IntN(8) {
			at := start.AddDate(0, 0, d.IntN(60)).Add(time.Duration(d.IntN(2)) * time.Hour)
			rdate = append(rdate, recur.Date{Wall: at})
		}
		for at := range r.Starts(start, calendar.Wall{}, start.AddDate(2, 0, 0)) {
			if d.chance(3) {
				exdate = append(exdate, recur.Date{Wall: at})
			}
		}
		span := calendar.Span{Start: start, End: start, Zone: calendar.UTC()}
		s, err := recur.New(span, r, rdate, exdate)
		if err != nil {
			t.Fatal(err)
		}
		for _, lang := range calendar.Languages {
			wantWhole(t, r.String(), Format(words, lang, s))
		}
		rules++
		if _, ok := (&writer{words, calendar.English, &english}).rule(simplify(r, start)); ok {
			patterns++
		}
	})
	t.Logf("of %d rules of the whole grammar %d have a pattern", rules, patterns)
}

// wantWhole reports an error if a text looks broken to a reader, such as one with two successive spaces.
func wantWhole(t *testing.T, name, text string) {
	t.Helper()
	for _, bad := range []string{"{", "}", "schedule-", "  ", " ,", ",,", "<", "%!"} {
		if strings.Contains(text, bad) {
			t.Errorf("%s: %q has %q", name, text, bad)
		}
	}
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	if !unicode.IsLower(first) && !unicode.IsDigit(first) || !unicode.IsLetter(last) && !unicode.IsDigit(last) && last != ')' {
		t.Errorf("%s: %q", name, text)
	}
}

// TestCommonRulesHaveAPattern checks that rules of calendar apps are described in words, except on 29 February.
func TestCommonRulesHaveAPattern(t *testing.T) {
	t.Parallel()
	w := &writer{catalogues(t), calendar.English, &english}
	randomRules(*ruleCount, 6, dice.commonParts, func(r recur.Rule, _ []string, start calendar.Wall) {
		_, month, day := start.Date()
		if _, ok := w.rule(simplify(r, start)); !ok && (r.Freq != recur.FreqYearly || month != time.February || day != 29) &&
			simplify(r, start).WeekStart == time.Monday {
			t.Errorf("%s from %s has no pattern", r, start)
		}
	})
}
