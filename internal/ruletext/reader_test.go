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
	start    time.Time
	interval int
	period   string // day, week, month or year
	isWanted func(day time.Time) bool
	count    int
	until    time.Time
	mayLack  bool // some months lack a day
	lackTold bool
}

var (
	countClause   = regexp.MustCompile(`, (\d+) times( in all)?$`)
	untilClause   = regexp.MustCompile(`,? until (\d+ \w+ \d+)$`)
	intervalWords = regexp.MustCompile(`^every (?:(second|\d+) )?(day|week|month|year)s?(?: (on .+|from .+))?$`)
	everySecond   = regexp.MustCompile(`^every second (\w+day)$`)
	weekdayBounds = regexp.MustCompile(`^from (\w+day) to (\w+day)$`)
	yearDate      = regexp.MustCompile(`^on (\d+) (\w+)$`)
	daysOfMonth   = regexp.MustCompile(`^on (.+) of (every month|the month|\w+)$`)
)

// readEnglish parses an English text about a schedule that begins at start. It returns false for a text that it
// does not understand.
func readEnglish(text string, start time.Time) (*reader, bool) {
	r := &reader{start: start, interval: 1, isWanted: func(time.Time) bool { return true }}
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
	text, r.lackTold = strings.CutSuffix(text, ", if the month has that day")
	ok := r.core(text)
	return r, ok
}

// core parses a text from which clauses, such as "10 times", were removed.
func (r *reader) core(text string) bool {
	if m := everySecond.FindStringSubmatch(text); m != nil {
		text = "every second week on " + m[1]
	}
	m := intervalWords.FindStringSubmatch(text)
	switch {
	case m == nil && strings.HasPrefix(text, "on "):
		r.period = "month"
		return r.month(text)
	case m == nil, m[2] == "day" && m[3] != "":
		r.period = "week"
		return r.weekdays(strings.TrimPrefix(text, "every "))
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
		return r.weekdays(strings.TrimPrefix(m[3], "on "))
	}
	return r.month(m[3])
}

// weekdays parses "Monday, Tuesday and Friday", "day from Monday to Friday", "day except Mondays" or "weekday".
func (r *reader) weekdays(text string) bool {
	if text == "weekday" {
		text = "from Monday to Friday"
	}
	if excluded, ok := strings.CutPrefix(text, "day except "); ok {
		day := weekdayNamed(strings.TrimSuffix(excluded, "s"))
		r.isWanted = func(x time.Time) bool { return x.Weekday() != day }
		return day >= 0
	}
	var days []time.Weekday
	if m := weekdayBounds.FindStringSubmatch(strings.TrimPrefix(text, "day ")); m != nil {
		for d := weekdayNamed(m[1]); ; d = (d + 1) % 7 {
			if days = append(days, d); d == weekdayNamed(m[2]) {
				break
			}
		}
	} else {
		for _, word := range listOf(text) {
			days = append(days, weekdayNamed(word))
		}
	}
	r.isWanted = func(x time.Time) bool { return slices.Contains(days, x.Weekday()) }
	return len(days) > 0 && !slices.Contains(days, -1)
}

var ordinalWords = []string{"first", "second", "third", "fourth", "fifth"}

// month parses days of a month, such as "on the 1st and 15th of every month" or "on the last Friday of the month". In a
// yearly rule it parses "on 3 May" and "on the first Monday of May".
func (r *reader) month(text string) bool {
	if m := yearDate.FindStringSubmatch(text); m != nil {
		month, ok := monthNamed(m[2])
		r.isWanted = func(x time.Time) bool { return x.Month() == month && x.Day() == number(m[1]) }
		return ok && r.period == "year"
	}
	m := daysOfMonth.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	month, inYear := monthNamed(m[2])
	words := slices.DeleteFunc(listOf(m[1]), func(word string) bool { return word == "the" })
	counted := time.Weekday(-1) // the kind of days that the ordinals count; -1 means all days
	if last := words[len(words)-1]; strings.HasSuffix(last, "day") {
		counted, words = weekdayNamed(last), words[:len(words)-1]
	}
	var wanted []int
	for _, word := range words {
		n := slices.Index(ordinalWords, word) + 1
		if word == "last" {
			n = -1
		} else if n == 0 {
			n = number(strings.TrimRight(word, "stndrh"))
		}
		if n == 0 {
			return false
		}
		r.mayLack = r.mayLack || n > 28 || counted >= 0 && n > 4
		wanted = append(wanted, n)
	}
	r.isWanted = func(x time.Time) bool {
		place, isLast := x.Day(), x.AddDate(0, 0, 1).Day() == 1
		if counted >= 0 {
			place, isLast = (x.Day()+6)/7, x.AddDate(0, 0, 7).Day() <= 7
		}
		return (counted < 0 || x.Weekday() == counted) && (!inYear || x.Month() == month) &&
			(slices.Contains(wanted, place) || isLast && slices.Contains(wanted, -1))
	}
	return inYear == (r.period == "year")
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
		for ; from.Weekday() != time.Monday; from = from.AddDate(0, 0, -1) {
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
		if r.inPeriod(day) && r.isWanted(day) {
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
	described := 0
	check := func(r recur.Rule, _ []string, start calendar.Wall) {
		w := &writer{words, calendar.English, &english}
		if _, ok := w.rule(simplify(r, start)); !ok || r.Count == 1 {
			return
		}
		described++
		text := Format(words, calendar.English, scheduleOf(r, start))
		year, month, day := start.Date()
		told, ok := readEnglish(text, time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
		if !ok {
			t.Errorf("%s from %s is %q, which was not understood", r, start, text)
			return
		}
		var want []string
		for at := range r.Starts(start, calendar.Wall{}, start.AddDate(4, 0, 0).Add(-time.Second)) {
			want = append(want, at.Format(time.DateOnly))
		}
		if got := told.days(); !slices.Equal(want, got) {
			t.Errorf("%s from %s is %q:\nrule %v\ntext %v", r, start, text, want, got)
		}
		if told.mayLack != told.lackTold {
			t.Errorf("%s: %q: some months lack a day: %t", r, text, told.mayLack)
		}
	}
	randomRules(*ruleCount, 11, dice.parts, check)
	randomRules(*ruleCount, 12, dice.commonParts, check)
	t.Logf("%d rules have a text", described)
	if described < *ruleCount/3 {
		t.Errorf("only %d rules have a text", described)
	}
}
