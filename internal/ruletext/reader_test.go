package ruletext

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// reader understands an English text of Format and computes the days that it describes. It shares no code with the
// writer, so that it can check it.
type reader struct {
	start     time.Time
	interval  int
	period    string // day, week, month or year
	weekStart time.Weekday
	conds     []func(day time.Time) bool
	count     int
	until     time.Time
	skip      string // backward or forward
	skipped   int    // the day of the month that is moved
	mayLack   bool   // some months or years lack a day
	lackTold  bool
	named     bool // months are named, which may all have the day
}

func (r *reader) add(cond func(day time.Time) bool) { r.conds = append(r.conds, cond) }

var (
	countClause   = regexp.MustCompile(`, (\d+) times( in all)?$`)
	untilClause   = regexp.MustCompile(`,? until (\d+ \w+ \d+)$`)
	lackClause    = regexp.MustCompile(`, (if the (month|year) has (that day|five \w+days)|only in leap years)$`)
	skipClause    = regexp.MustCompile(`, (?:or on|with) the (last|first) day (?:of the next month )?(?:instead of the \d+\w+ )?if there is no (\d+)(?:st|th)$`)
	leapDayClause = regexp.MustCompile(`, (?:or on|with) (28 February|1 March) (?:instead of 29 February )?if there is no 29 February$`)
	fallsClause   = regexp.MustCompile(`^(every .+) that falls ((?:on|between) the .+?)(?: of the month)?$`)
	dateBlock     = regexp.MustCompile(`^on the (\w+day) that falls between (\d+) and (\d+ \w+)$`)
	weeksClause   = regexp.MustCompile(`, with weeks that start on (\w+)$`)
	onlyClause    = regexp.MustCompile(`^(.*), (?:but )?only ((?:in|on|from) .+)$`)
	ofTheMonth    = regexp.MustCompile(`^(.+) of the month$`)
	intervalWords = regexp.MustCompile(`^every (?:(second|\d+) )?(day|week|month|year)s?\b,? ?(.*)$`)
	everySecond   = regexp.MustCompile(`^every second (\w+day)$`)
	dayRange      = regexp.MustCompile(`^(?:every day )?from the (\d+)\w+ to the (\d+)\w+$`)
	weekdayRange  = regexp.MustCompile(`^from (\w+day) to (\w+day)$`)
	itemStart     = regexp.MustCompile(`(?:,? and |, |^)(?:on )?(the|every) `)
	monthsSuffix  = regexp.MustCompile(`^(.+?),? ((?:in|from) (?:January|February|March|April|May|June|July|August|September|October|November|December).*)$`)
)

// readEnglish parses an English text about a schedule that begins at start. It returns false for a text that it
// does not understand.
func readEnglish(text string, start time.Time) (*reader, bool) {
	r := &reader{start: start, interval: 1, period: "day", weekStart: time.Monday}
	if m := countClause.FindStringSubmatch(text); m != nil {
		r.count = number(m[1])
		text = strings.TrimSuffix(text, m[0])
	}
	if m := untilClause.FindStringSubmatch(text); m != nil {
		var err error
		if r.until, err = time.Parse("2 January 2006", m[1]); err != nil {
			return nil, false
		}
		text = strings.TrimSuffix(text, m[0])
	}
	if m := lackClause.FindStringSubmatch(text); m != nil {
		r.lackTold = true
		text = strings.TrimSuffix(text, m[0])
	}
	if m := skipClause.FindStringSubmatch(text); m != nil {
		r.skip, r.skipped = map[string]string{"last": "backward", "first": "forward"}[m[1]], number(m[2])
		r.lackTold = true
		text = strings.TrimSuffix(text, m[0])
	}
	if m := leapDayClause.FindStringSubmatch(text); m != nil {
		r.skip, r.skipped = map[string]string{"28 February": "backward", "1 March": "forward"}[m[1]], 29
		r.lackTold = true
		text = strings.TrimSuffix(text, m[0])
	}
	if days, ok := strings.CutSuffix(text, " in leap years"); ok {
		r.lackTold = true
		text = "every year " + days
	}
	for {
		m := onlyClause.FindStringSubmatch(text)
		if m == nil {
			break
		}
		text = m[1]
		if cond, ok := r.monthsOf(m[2]); ok {
			r.add(cond)
		} else if days := ofTheMonth.FindStringSubmatch(m[2]); days != nil {
			cond, ok := r.daysOf(days[1], "month")
			if !ok {
				return nil, false
			}
			r.mayLack = false // the clause only takes days away
			r.add(cond)
		} else if cond, ok := weekdaysOf(strings.TrimPrefix(m[2], "on "), "s"); ok {
			r.add(cond)
		} else {
			return nil, false
		}
	}
	if m := weeksClause.FindStringSubmatch(text); m != nil {
		r.weekStart = weekdayNamed(m[1])
		text = strings.TrimSuffix(text, m[0])
	}
	ok := r.core(text)
	return r, ok
}

// core parses a text from which clauses, such as "only in March", were removed. It returns false if it does not
// understand it.
func (r *reader) core(text string) bool {
	if m := fallsClause.FindStringSubmatch(text); m != nil {
		cond, ok := r.daysOf(strings.Replace(strings.Replace(m[2], "between", "from", 1), " and the ", " to the ", 1), "month")
		if !ok {
			return false
		}
		r.mayLack = false // the clause only takes days away
		r.add(cond)
		text = m[1]
	}
	if m := everySecond.FindStringSubmatch(text); m != nil {
		text = "every second week on " + m[1]
	}
	m := intervalWords.FindStringSubmatch(text)
	if m == nil || m[2] == "day" && m[1] == "" {
		if days, ok := strings.CutPrefix(text, "every "); ok && !strings.Contains(text, " of ") {
			return r.everyDays(days)
		}
		return r.ofYear(text)
	}
	if r.period = m[2]; m[1] == "second" {
		r.interval = 2
	} else if m[1] != "" {
		r.interval = number(m[1])
	}
	switch r.period {
	case "day":
		return m[3] == ""
	case "week":
		cond, ok := weekdaysOf(strings.TrimPrefix(strings.TrimPrefix(m[3], "on "), "every day "), "")
		r.add(cond)
		return ok
	case "month":
		days := ofTheMonth.FindStringSubmatch(m[3])
		if days == nil {
			return false
		}
		cond, ok := r.daysOf(days[1], "month")
		r.add(cond)
		return ok
	}
	return r.ofYear(m[3])
}

// everyDays parses the text after the word "every" in a daily or weekly rule.
func (r *reader) everyDays(text string) bool {
	if m := monthsSuffix.FindStringSubmatch(text); m != nil {
		cond, ok := r.monthsOf(m[2])
		if !ok {
			return false
		}
		r.add(cond)
		text = m[1]
	}
	switch {
	case text == "day":
		return true
	case text == "weekday":
		text = "from Monday to Friday"
	case strings.HasPrefix(text, "day except "):
		cond, ok := weekdaysOf(strings.TrimPrefix(text, "day except "), "s")
		r.add(func(day time.Time) bool { return !cond(day) })
		return ok
	}
	cond, ok := weekdaysOf(strings.TrimPrefix(text, "day "), "")
	r.add(cond)
	return ok
}

// ofYear parses days of a yearly rule, which have a month.
func (r *reader) ofYear(text string) bool {
	if m := dateBlock.FindStringSubmatch(text); m != nil {
		weekday := weekdayNamed(m[1])
		r.add(func(day time.Time) bool { return day.Weekday() == weekday })
		text = "from " + m[2] + " to " + m[3]
	}
	if days, ok := strings.CutPrefix(text, "every "); ok && monthsSuffix.MatchString(days) && !strings.Contains(days, " of ") {
		return r.everyDays(days)
	}
	for _, scope := range []string{"year", "month"} {
		for _, of := range []string{" of every ", " of the "} {
			if days, rest, ok := strings.Cut(text, of+scope); ok {
				cond, ok := r.daysOf(days, scope)
				r.add(cond)
				if rest = strings.TrimPrefix(rest, " "); ok && rest != "" {
					months, inMonths := r.monthsOf(rest)
					r.add(months)
					return inMonths
				}
				return ok
			}
		}
	}
	if i := strings.LastIndex(text, " of "); i > 0 && !strings.Contains(text[i:], "days") {
		cond, ok := r.daysOf(text[:i], "month")
		months, inMonths := r.monthsOf("in " + text[i+len(" of "):])
		r.add(cond)
		r.add(months)
		return ok && inMonths
	}
	return r.dates(text)
}

// dates parses lists of dates: "on 1 and 15 March, and 1 April" or "every day from 1 to 3 March".
func (r *reader) dates(text string) bool {
	type monthDay struct {
		month time.Month
		day   int
	}
	var all []monthDay
	var days []int
	words := listOf(strings.TrimPrefix(text, "every day "))
	if len(words) == 5 && words[0] == "from" {
		for n := number(words[1]); n <= number(words[3]); n++ {
			days = append(days, n)
		}
		words = words[4:]
	} else {
		words = words[1:]
	}
	for _, word := range words {
		if n, err := strconv.Atoi(word); err == nil {
			days = append(days, n)
			continue
		}
		month, ok := monthNamed(word)
		if !ok {
			return false
		}
		for _, n := range days {
			all = append(all, monthDay{month, n})
			r.mayLack = r.mayLack || month == time.February && n == 29
		}
		days = nil
	}
	r.add(func(day time.Time) bool {
		return slices.Contains(all, monthDay{day.Month(), day.Day()}) ||
			r.skip != "" && slices.Contains(all, monthDay{day.Month(), r.skipped}) && r.isMoved(day)
	})
	if r.skip == "forward" {
		return false
	}
	return len(all) > 0 && len(days) == 0
}

// isMoved reports whether a day replaces one that its month lacks. It is then the last day of the month.
func (r *reader) isMoved(day time.Time) bool {
	return r.skip == "backward" && day.AddDate(0, 0, 1).Day() == 1 && day.Day() < r.skipped
}

var placeWords = []string{"first", "second", "third", "fourth", "fifth"}

// placeOf parses an ordinal: "first", "20th", "last" or "third-to-last". The result is negative if it counts from
// the end.
func placeOf(word string) (int, bool) {
	if word == "last" {
		return -1, true
	}
	word, fromEnd := strings.CutSuffix(word, "-to-last")
	n := slices.Index(placeWords, word) + 1
	if n == 0 {
		n, _ = strconv.Atoi(strings.TrimRight(word, "stndrh"))
	}
	if fromEnd {
		n = -n
	}
	return n, n != 0
}

// dayFilter reports whether a day is one of those that a text describes.
type dayFilter = func(day time.Time) bool

// daysOf parses a description of days. The scope says whether they are days of a month or of a year.
func (r *reader) daysOf(text, scope string) (dayFilter, bool) {
	text = strings.NewReplacer(" (Monday to Friday)", "", " (Saturday or Sunday)", "").Replace(strings.TrimPrefix(text, "on "))
	if m := dayRange.FindStringSubmatch(text); m != nil {
		first, last := number(m[1]), number(m[2])
		r.mayLack = r.mayLack || last > 28
		return func(day time.Time) bool { return day.Day() >= first && day.Day() <= last }, r.skip == ""
	}
	items := itemStart.Split(text, -1)
	if items[0] != "" {
		return nil, false
	}
	kinds := itemStart.FindAllStringSubmatch(text, -1)
	var conds []dayFilter
	for i, item := range items[1:] {
		read := func(item string) (dayFilter, bool) { return r.placedDays(item, scope) }
		if kinds[i][1] == "every" {
			read = func(item string) (dayFilter, bool) { return weekdaysOf(item, "") }
		}
		cond, ok := read(item)
		if !ok {
			return nil, false
		}
		conds = append(conds, cond)
	}
	return func(day time.Time) bool {
		return slices.ContainsFunc(conds, func(cond dayFilter) bool { return cond(day) })
	}, len(conds) > 0 && r.skip != "forward"
}

// placedDays parses ordinals and the kind of days that they count, such as "first and last working day". The scope
// is a month or a year.
func (r *reader) placedDays(item, scope string) (dayFilter, bool) {
	words, member, perScope, ok := daysCounted(item, scope)
	if !ok {
		return nil, false
	}
	var wanted []int
	for _, word := range words {
		n, ok := placeOf(word)
		if !ok {
			return nil, false
		}
		r.mayLack = r.mayLack || max(n, -n) > perScope
		wanted = append(wanted, n)
	}
	return func(day time.Time) bool {
		if !member(day) {
			return r.skip != "" && r.isMoved(day)
		}
		before, after := countTo(day, -1, scope, member), countTo(day, 1, scope, member)
		return slices.Contains(wanted, before) || slices.Contains(wanted, -after) || r.isMoved(day)
	}, true
}

// daysCounted parses the kind of days that ordinals count, such as "working day". It returns the words of the
// ordinals, and a filter for such days. It also returns the number of such days that every month or year has.
func daysCounted(item, scope string) (words []string, member dayFilter, perScope int, ok bool) {
	item, plurals, among := strings.Cut(item, " day among the ")
	words = listOf(item)
	inScope := func(month, year int) int { return map[string]int{"month": month, "year": year}[scope] }
	isWeekend := func(day time.Time) bool { return day.Weekday() == time.Saturday || day.Weekday() == time.Sunday }
	isQualified := func(by string) bool { return len(words) > 1 && words[len(words)-2] == by }
	switch last := words[len(words)-1]; {
	case among:
		member, ok = weekdaysOf(plurals, "s")
		return words, member, inScope(4, 52) * len(listOf(plurals)), ok
	case last == "day" && isQualified("working"):
		return words[:len(words)-2], func(day time.Time) bool { return !isWeekend(day) }, inScope(20, 260), true
	case last == "day" && isQualified("weekend"):
		return words[:len(words)-2], isWeekend, inScope(8, 104), true
	case last == "day":
		return words[:len(words)-1], func(time.Time) bool { return true }, inScope(28, 365), true
	case strings.HasSuffix(last, "day"):
		weekday := weekdayNamed(last)
		return words[:len(words)-1], func(day time.Time) bool { return day.Weekday() == weekday }, inScope(4, 52), true
	}
	return words, func(time.Time) bool { return true }, inScope(28, 365), true
}

// countTo counts the days for which member is true, from a day to the end of its month or year. The day itself is
// included. With the step -1 it counts back to the beginning.
func countTo(day time.Time, step int, scope string, member dayFilter) (n int) {
	isInScope := func(x time.Time) bool { return x.Year() == day.Year() && (scope == "year" || x.Month() == day.Month()) }
	for x := day; isInScope(x); x = x.AddDate(0, 0, step) {
		if member(x) {
			n++
		}
	}
	return n
}

// weekdaysOf parses "Monday, Tuesday and Friday" or "from Monday to Friday". Each weekday ends with suffix, such
// as the s of "Mondays".
func weekdaysOf(text, suffix string) (func(day time.Time) bool, bool) {
	var days []time.Weekday
	if m := weekdayRange.FindStringSubmatch(text); m != nil {
		for d := weekdayNamed(m[1]); ; d = (d + 1) % 7 {
			if days = append(days, d); d == weekdayNamed(m[2]) {
				break
			}
		}
	} else {
		for _, word := range listOf(text) {
			d := weekdayNamed(strings.TrimSuffix(word, suffix))
			if d < 0 {
				return nil, false
			}
			days = append(days, d)
		}
	}
	return func(day time.Time) bool { return slices.Contains(days, day.Weekday()) }, len(days) > 0
}

// monthsOf parses "in March and April" or "from March to May".
func (r *reader) monthsOf(text string) (func(day time.Time) bool, bool) {
	var months []time.Month
	words := listOf(text)
	if len(words) == 4 && words[0] == "from" {
		first, ok := monthNamed(words[1])
		last, okToo := monthNamed(words[3])
		if !ok || !okToo {
			return nil, false
		}
		for m := first; ; m = m%12 + 1 {
			if months = append(months, m); m == last {
				break
			}
		}
	} else {
		for _, word := range words[1:] {
			m, ok := monthNamed(word)
			if !ok || words[0] != "in" {
				return nil, false
			}
			months = append(months, m)
		}
	}
	r.named = true
	return func(day time.Time) bool { return slices.Contains(months, day.Month()) }, true
}

// listOf splits a list such as "1, 2 and 3" into its items.
func listOf(text string) []string {
	return strings.Fields(strings.NewReplacer(",", "", " and ", " ").Replace(text))
}

func monthNamed(word string) (time.Month, bool) {
	t, err := time.Parse("January", word)
	return t.Month(), err == nil
}

// weekdayNamed returns the weekday with an English name, or -1 for another word.
func weekdayNamed(word string) time.Weekday {
	for d := range time.Weekday(7) {
		if d.String() == word {
			return d
		}
	}
	return -1
}

// number parses digits. It returns 0 for a text that is not a number.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// inPeriod reports whether a day is in a week, month or year that the interval includes, as in "every 2 weeks".
func (r *reader) inPeriod(day time.Time) bool {
	from := r.start
	switch r.period {
	case "week":
		for ; from.Weekday() != r.weekStart; from = from.AddDate(0, 0, -1) {
		}
		return int(day.Sub(from).Hours())/24/7%r.interval == 0
	case "month":
		return (day.Year()*12+int(day.Month())-from.Year()*12-int(from.Month()))%r.interval == 0
	case "year":
		return (day.Year()-from.Year())%r.interval == 0
	}
	return int(day.Sub(from).Hours())/24%r.interval == 0
}

// days returns the days within four years that the text describes.
func (r *reader) days() []string {
	var all []string
	for day := r.start; day.Before(r.start.AddDate(4, 0, 0)); day = day.AddDate(0, 0, 1) {
		if !r.until.IsZero() && day.After(r.until) || r.count > 0 && len(all) == r.count {
			break
		}
		if r.inPeriod(day) && !slices.ContainsFunc(r.conds, func(cond func(time.Time) bool) bool { return !cond(day) }) {
			all = append(all, day.Format(time.DateOnly))
		}
	}
	return all
}

// TestEnglishTextsSayWhatTheRuleDoes parses English texts with reader and compares the days with the starts of the
// rule. The schedules have no RDATE and EXDATE.
func TestEnglishTextsSayWhatTheRuleDoes(t *testing.T) {
	t.Parallel()
	words := catalogues(t)
	patterns, understood := 0, 0
	randomRules(*ruleCount, 11, func(r recur.Rule, _ []string, start calendar.Wall) {
		w := &writer{words, calendar.English, &english}
		if _, ok := w.rule(simplify(r, start)); !ok || r.Count == 1 {
			return
		}
		patterns++
		text := Format(words, calendar.English, scheduleOf(r, start))
		year, month, day := start.Date()
		first := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		told, ok := readEnglish(text, first)
		if !ok {
			return
		}
		understood++
		var want []string
		for at := range r.Starts(start, calendar.Wall{}, start.AddDate(4, 0, 0).Add(-time.Second)) {
			want = append(want, at.Format(time.DateOnly))
		}
		if got := told.days(); !slices.Equal(want, got) {
			t.Errorf("%s from %s is %q:\nrule %v\ntext %v", r, start, text, want, got)
		}
		if told.mayLack && !told.lackTold && !told.named {
			t.Errorf("%s: %q does not say what becomes of days that a month lacks", r, text)
		}
	})
	t.Logf("of %d texts %d were read", patterns, understood)
	if understood*10 < patterns*7 {
		t.Errorf("of %d texts only %d were read", patterns, understood)
	}
}
