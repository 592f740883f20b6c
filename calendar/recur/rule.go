// Package recur expands recurrence rules to the wall times at which events start. A rule is an RRULE of RFC 5545,
// from daily to yearly, with the parts RSCALE and SKIP of RFC 7529. A nominal start is the wall time at which the
// schedule says an occurrence starts, wherever that occurrence was moved. The package uses no clock: callers pass the
// wall time up to which they want starts. The run time is proportional to the days until then, for any rule.
package recur

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// Frequency is the part FREQ of a rule: DAILY, WEEKLY, MONTHLY or YEARLY.
type Frequency string

// FreqDaily, FreqWeekly, FreqMonthly and FreqYearly are the values of Frequency.
const (
	FreqDaily   Frequency = "DAILY"
	FreqWeekly  Frequency = "WEEKLY"
	FreqMonthly Frequency = "MONTHLY"
	FreqYearly  Frequency = "YEARLY"
)

// Skip is the part SKIP of RFC 7529. It selects what happens to a day that a month lacks, such as 30 February.
type Skip string

// SkipOmit, SkipBackward and SkipForward are the values of Skip.
const (
	SkipOmit     Skip = ""         // there is no start on that day
	SkipBackward Skip = "BACKWARD" // the start is on the last day of the month
	SkipForward  Skip = "FORWARD"  // the start is on the first day of the next month
)

// Weekday is an item of BYDAY: a day of the week, with an ordinal if there is one, as in 2TU.
type Weekday struct {
	// Ordinal counts these weekdays in the month. In a yearly rule without BYMONTH it counts them in the year. Negative
	// ordinals count from the end. 0 means each of them.
	Ordinal int
	Day     time.Weekday
}

// Rule is a recurrence rule. Parse creates rules: its values are within their limits, and its lists are sorted
// without repeats. The zero Rule has one start, which is that of the event.
type Rule struct {
	Freq       Frequency
	Interval   int           // every n-th period has starts; 0 means 1
	Count      int           // number of starts; 0 means no limit
	Until      calendar.Wall // last possible start, 23:59:59 if the client sent a day; the zero Wall means no limit
	ByMonth    []int         // 1 to 12
	ByWeekNo   []int         // weeks of the year that has most of their days: 1 to 53, or -1 to -53 from its end
	ByYearDay  []int         // 1 to 366 from the start of the year, -1 to -366 from its end
	ByMonthDay []int         // 1 to 31 from the start of the month, -1 to -31 from its end
	ByDay      []Weekday     // a day must match one of these
	BySetPos   []int         // positions in the days of a period: from 1, negative ones from its end
	WeekStart  time.Weekday
	Skip       Skip
}

// IsZero reports whether r is the zero Rule.
func (r Rule) IsZero() bool { return r.Freq == "" }

// Ends reports whether the rule has a last start, because of COUNT or UNTIL. The zero Rule has one start, so it
// ends.
func (r Rule) Ends() bool { return r.IsZero() || r.Count > 0 || !r.Until.IsZero() }

// String returns the canonical text. It is in upper case and has the parts in a fixed order, without default
// values. UNTIL is a day or a wall time. The text is never longer than the parsed one. Parse returns the same
// rule for it in every zone. The text of the zero Rule is "".
func (r Rule) String() string {
	var text []string
	for _, p := range parts {
		if value := p.format(r); value != "" {
			text = append(text, p.name+"="+value)
		}
	}
	return strings.Join(text, ";")
}

// weekdays are the names of weekdays in RFC 5545, by time.Weekday.
var weekdays = [...]string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

func (w Weekday) String() string {
	if w.Ordinal == 0 {
		return weekdays[w.Day]
	}
	return strconv.Itoa(w.Ordinal) + weekdays[w.Day]
}

const (
	untilDay  = "20060102"
	untilTime = "20060102T150405"
)

func formatUntil(w calendar.Wall) string {
	switch {
	case w.IsZero():
		return ""
	case w.Equal(w.EndOfDay()):
		return w.Format(untilDay)
	}
	return w.Format(untilTime)
}

func formatNumbers(numbers []int) string {
	var text []string
	for _, n := range numbers {
		text = append(text, strconv.Itoa(n))
	}
	return strings.Join(text, ",")
}

func formatDays(days []Weekday) string {
	var text []string
	for _, d := range days {
		text = append(text, d.String())
	}
	return strings.Join(text, ",")
}

// formatAbove returns n as text, or "" if n is at most byDefault. The text of a rule leaves out default values.
func formatAbove(n, byDefault int) string {
	if n <= byDefault {
		return ""
	}
	return strconv.Itoa(n)
}

// compareNumbers orders the numbers of a rule for sorting: positive numbers first, then negative ones, which count
// from the end.
func compareNumbers(a, b int) int {
	if (a < 0) != (b < 0) {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// compareWeekdays orders the items of BYDAY for sorting: by ordinal, then from Monday to Sunday.
func compareWeekdays(a, b Weekday) int {
	return cmp.Or(compareNumbers(a.Ordinal, b.Ordinal), cmp.Compare((a.Day+6)%7, (b.Day+6)%7))
}

// sortUnique sorts a list in place and removes repeats.
func sortUnique[T comparable](list []T, compare func(a, b T) int) []T {
	slices.SortFunc(list, compare)
	return slices.Compact(list)
}
