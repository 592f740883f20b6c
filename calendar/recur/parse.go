package recur

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
)

// MaxRuleLength is the maximum length of a rule in characters.
const MaxRuleLength = 500

const (
	maxInterval     = 999
	maxCount        = 1000
	maxMonth        = 12
	maxMonthDay     = 31
	maxMonthOrdinal = 5
	maxYearOrdinal  = 53
	maxWeekNo       = 53
	maxYearDay      = 366
	maxPosition     = 366
)

// part describes how a part of a rule, such as COUNT, is parsed and formatted. Its parse returns false for an
// invalid value. Its format returns "" for the default value.
type part struct {
	name   string
	parse  func(r *Rule, value string, zone calendar.Zone) bool
	format func(r Rule) string
}

// parts lists the supported parts, in the order of the canonical text.
var parts = [...]part{
	{"RSCALE", parseScale, func(Rule) string { return "" }},
	{"FREQ", parseFreq, func(r Rule) string { return string(r.Freq) }},
	{"INTERVAL", parseInterval, func(r Rule) string { return formatAbove(r.Interval, 1) }},
	{"COUNT", parseCount, func(r Rule) string { return formatAbove(r.Count, 0) }},
	{"UNTIL", parseUntil, func(r Rule) string { return formatUntil(r.Until) }},
	numbers("BYMONTH", 1, maxMonth, func(r *Rule) *[]int { return &r.ByMonth }),
	numbers("BYWEEKNO", -maxWeekNo, maxWeekNo, func(r *Rule) *[]int { return &r.ByWeekNo }),
	numbers("BYYEARDAY", -maxYearDay, maxYearDay, func(r *Rule) *[]int { return &r.ByYearDay }),
	numbers("BYMONTHDAY", -maxMonthDay, maxMonthDay, func(r *Rule) *[]int { return &r.ByMonthDay }),
	{"BYDAY", parseDays, func(r Rule) string { return formatDays(r.ByDay) }},
	numbers("BYSETPOS", -maxPosition, maxPosition, func(r *Rule) *[]int { return &r.BySetPos }),
	{"WKST", parseWeekStart, func(r Rule) string {
		if r.WeekStart == time.Monday || r.IsZero() {
			return ""
		}
		return weekdays[r.WeekStart]
	}},
	{"SKIP", parseSkip, func(r Rule) string { return string(r.Skip) }},
}

// Parse parses a rule of at most MaxRuleLength characters. Its parts are those of RFC 5545 in any case and
// order, each at most once. The prefix RRULE: is optional. An UNTIL with Z is an instant, which is converted to
// a wall time of zone.
//
// Parse is stricter than the RFC. FREQ is DAILY, WEEKLY, MONTHLY or YEARLY. INTERVAL is at most 999 and COUNT
// at most 1000. UNTIL is within the years 1000 to 9999. Weekly rules have no BYMONTHDAY. Only yearly rules have
// BYWEEKNO and BYYEARDAY. An ordinal in BYDAY is at most 5 in monthly rules and in yearly ones with BYMONTH, and at
// most 53 in other yearly ones. With BYWEEKNO there are no ordinals. RSCALE is GREGORIAN, which is the default.
// SKIP=BACKWARD and SKIP=FORWARD are for monthly and yearly rules without BYDAY, BYWEEKNO, BYYEARDAY and BYSETPOS.
// Daily and weekly rules may have them too: these rules lack no day, so Parse drops them.
//
// Errors are of type *Error. The reason is RulePartNotSupported for an unsupported part, and BadRule otherwise.
// If the text is not a list of parts, the error names the part RRULE.
func Parse(text string, zone calendar.Zone) (Rule, error) {
	values, err := splitParts(text)
	if err != nil {
		return Rule{}, err
	}
	r := Rule{Interval: 1, WeekStart: time.Monday}
	for _, p := range parts {
		value, given := values[p.name]
		if given && !p.parse(&r, asciiUpper(value), zone) {
			return Rule{}, badPart(p.name, value)
		}
	}
	if r.Freq == FreqDaily || r.Freq == FreqWeekly {
		r.Skip = SkipOmit
	}
	if name := r.conflict(); name != "" {
		return Rule{}, badPart(name, values[name])
	}
	return r, nil
}

// splitParts splits the text of a rule into its parts. It returns the values by the names of the parts in upper
// case. The values are unchanged.
func splitParts(text string) (map[string]string, error) {
	if utf8.RuneCountInString(text) > MaxRuleLength {
		return nil, badPart("RRULE", string([]rune(text)[:MaxRuleLength]))
	}
	const prefix = "RRULE:"
	rest := text
	if len(text) >= len(prefix) && asciiUpper(text[:len(prefix)]) == prefix {
		rest = text[len(prefix):]
	}
	values := make(map[string]string)
	for item := range strings.SplitSeq(rest, ";") {
		name, value, ok := strings.Cut(item, "=")
		if !ok || name == "" {
			return nil, badPart("RRULE", text)
		}
		name = asciiUpper(name)
		if !slices.ContainsFunc(parts[:], func(p part) bool { return p.name == name }) {
			return nil, ruleError(RulePartNotSupported, map[string]any{"part": name})
		}
		if _, twice := values[name]; twice {
			return nil, badPart(name, value)
		}
		values[name] = value
	}
	return values, nil
}

// conflict returns the name of a required part that is missing, or of a part that is not allowed with the others.
// "" means that there is no conflict.
func (r Rule) conflict() string {
	monthly, yearly := r.Freq == FreqMonthly, r.Freq == FreqYearly
	ordinal := 0 // maximum ordinal in BYDAY; 0 means that ordinals are not allowed
	switch {
	case len(r.ByWeekNo) > 0:
	case monthly, yearly && len(r.ByMonth) > 0:
		ordinal = maxMonthOrdinal
	case yearly:
		ordinal = maxYearOrdinal
	}
	tooLarge := func(w Weekday) bool { return max(w.Ordinal, -w.Ordinal) > ordinal }
	switch {
	case r.Freq == "":
		return "FREQ"
	case r.Count > 0 && !r.Until.IsZero():
		return "UNTIL"
	case !yearly && len(r.ByWeekNo) > 0:
		return "BYWEEKNO"
	case !yearly && len(r.ByYearDay) > 0:
		return "BYYEARDAY"
	case r.Freq == FreqWeekly && len(r.ByMonthDay) > 0:
		return "BYMONTHDAY"
	case slices.ContainsFunc(r.ByDay, tooLarge):
		return "BYDAY"
	case len(r.BySetPos) > 0 && len(r.ByMonth)+len(r.ByWeekNo)+len(r.ByYearDay)+len(r.ByMonthDay)+len(r.ByDay) == 0:
		return "BYSETPOS"
	case r.Skip != SkipOmit && len(r.ByDay)+len(r.ByWeekNo)+len(r.ByYearDay)+len(r.BySetPos) > 0:
		return "SKIP"
	}
	return ""
}

// parseScale reports whether the value of RSCALE is GREGORIAN, the only supported calendar system (RFC 7529,
// section 4.1).
func parseScale(_ *Rule, value string, _ calendar.Zone) bool { return value == "GREGORIAN" }

func parseFreq(r *Rule, value string, _ calendar.Zone) bool {
	r.Freq = Frequency(value)
	return slices.Contains([]Frequency{FreqDaily, FreqWeekly, FreqMonthly, FreqYearly}, r.Freq)
}

func parseInterval(r *Rule, value string, _ calendar.Zone) (ok bool) {
	r.Interval, ok = parseNumber(value, 1, maxInterval)
	return ok
}

func parseCount(r *Rule, value string, _ calendar.Zone) (ok bool) {
	r.Count, ok = parseNumber(value, 1, maxCount)
	return ok
}

// parseUntil sets UNTIL from a day, a wall time or an instant. It returns false for other values and outside the
// years 1000 to 9999.
func parseUntil(r *Rule, value string, zone calendar.Zone) bool {
	// The length is checked because time.Parse accepts fractions of a second.
	instant := len(value) == len(untilTime)+1 && value[len(untilTime)] == 'Z'
	layout := untilTime
	switch {
	case instant:
		value = value[:len(untilTime)]
	case len(value) == len(untilDay):
		layout = untilDay
	case len(value) != len(untilTime):
		return false
	}
	t, err := time.Parse(layout, value)
	if err != nil {
		return false
	}
	switch {
	case instant:
		r.Until = zone.Wall(t)
	case layout == untilDay:
		r.Until = calendar.WallOf(t).EndOfDay()
	default:
		r.Until = calendar.WallOf(t)
	}
	year, _, _ := r.Until.Date()
	return year >= 1000 && year <= 9999
}

// numbers returns the part of a rule whose value is a list of numbers, such as BYMONTH. The function list returns a
// pointer to the list in a rule.
func numbers(name string, minimum, maximum int, list func(*Rule) *[]int) part {
	return part{name, func(r *Rule, value string, _ calendar.Zone) (ok bool) {
		*list(r), ok = parseNumbers(value, minimum, maximum)
		return ok
	}, func(r Rule) string { return formatNumbers(*list(&r)) }}
}

func parseDays(r *Rule, value string, _ calendar.Zone) bool {
	for item := range strings.SplitSeq(value, ",") {
		at := max(len(item)-2, 0)
		day, ok := parseWeekday(item[at:])
		if !ok {
			return false
		}
		ordinal := 0
		if at > 0 {
			if ordinal, ok = parseNumber(item[:at], -maxYearOrdinal, maxYearOrdinal); !ok {
				return false
			}
		}
		r.ByDay = append(r.ByDay, Weekday{ordinal, day})
	}
	r.ByDay = sortUnique(r.ByDay, compareWeekdays)
	return true
}

func parseWeekStart(r *Rule, value string, _ calendar.Zone) (ok bool) {
	r.WeekStart, ok = parseWeekday(value)
	return ok
}

func parseSkip(r *Rule, value string, _ calendar.Zone) bool {
	if value != "OMIT" {
		r.Skip = Skip(value)
	}
	return value == "OMIT" || r.Skip == SkipBackward || r.Skip == SkipForward
}

func parseWeekday(name string) (time.Weekday, bool) {
	i := slices.Index(weekdays[:], name)
	return time.Weekday(i), i >= 0
}

// parseNumbers parses numbers that are separated by commas. It returns them sorted without repeats. The second result
// is false if parseNumber refuses one of them.
func parseNumbers(value string, minimum, maximum int) ([]int, bool) {
	var numbers []int
	for item := range strings.SplitSeq(value, ",") {
		n, ok := parseNumber(item, minimum, maximum)
		if !ok {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	return sortUnique(numbers, compareNumbers), true
}

// parseNumber parses a number from minimum to maximum, except 0. It may have a sign if the minimum is negative. The
// second result is false for any other text.
func parseNumber(value string, minimum, maximum int) (int, bool) {
	if value == "" || minimum > 0 && (value[0] == '+' || value[0] == '-') {
		return 0, false
	}
	n, err := strconv.Atoi(value)
	return n, err == nil && n != 0 && n >= minimum && n <= maximum
}

// asciiUpper converts ASCII letters to upper case. It does not change other letters, because the upper case of
// ſ is S.
func asciiUpper(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r + 'A' - 'a'
		}
		return r
	}, s)
}
