package importer

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// icalRule is a parsed RRULE or EXRULE. Unlike recur.Rule, it can have several times a day.
type icalRule struct {
	rule  recur.Rule // the days, with UNTIL in the zone of the event and without COUNT
	count int        // COUNT; 0 means none
	until string     // UNTIL as written; "" means none
	// hours, minutes and seconds are BYHOUR, BYMINUTE and BYSECOND. Nil means those of the start. Where a rule
	// repeats hourly or by the minute, nil means all.
	hours, minutes, seconds []int
	// step is an hour or a minute for rules that repeat by it. 0 means a rule of whole days. Every interval-th step
	// counts.
	step     time.Duration
	interval int
}

const (
	// maxRuleCount is the largest COUNT that is respected. A larger one means no end.
	maxRuleCount = 100_000
	// maxRuleSteps limits how many times of day are compared with one rule.
	maxRuleSteps = 100_000
	// maxRules is the maximum number of different rules of an event.
	maxRules = 20
	// listedYears is the number of years from now for which the dates of endless rules are listed.
	listedYears = 10
)

// parseICalRule parses a rule of an event with the given span. It repairs faults that leave only one meaning, with a
// notice for each. The error says why the rule cannot be stored.
func parseICalRule(text string, span calendar.Span) (_ icalRule, notices []string, err error) {
	p := icalRuleParser{given: make(map[string]string)}
	p.interval = 1
	for _, part := range ruleParts(text) {
		err = errors.Join(err, p.part(part))
	}
	if err != nil {
		return p.icalRule, p.notices, err
	}
	p.repairRule()
	if p.rule, err = recur.Parse(strings.Join(p.rest, ";"), span.Zone); err != nil {
		return p.icalRule, p.notices, err
	}
	if p.until != "" {
		p.rule.Until = p.untilBy(span.Zone.Wall)
	}
	err = p.fitTimesOfDay(span)
	return p.icalRule, p.notices, err
}

// icalRuleParser parses a rule part by part.
type icalRuleParser struct {
	icalRule
	given   map[string]string // values by name
	rest    []string          // the parts that recur.Parse reads
	notices []string
}

// note adds a notice about a repair.
func (p *icalRuleParser) note(format string, args ...any) {
	p.notices = append(p.notices, fmt.Sprintf(format, args...))
}

// part parses one part of a rule, such as COUNT=10.
func (p *icalRuleParser) part(part string) error {
	name, value, isPart := strings.Cut(part, "=")
	first := p.given[name]
	twice := first != ""
	if !twice {
		p.given[name] = value
	}
	switch {
	case part == "", twice && value == first:
	case value == "" && knownParts[name], isPart && name != "" && !knownParts[name] && !strings.HasPrefix(name, "BY"):
		p.note("%s is left out", abbreviate(part))
	case twice:
		p.note("%s is left out, as %s=%s stands before it", abbreviate(part), name, abbreviate(first))
	case name == "WKST" && !weekdayPattern.MatchString(value):
		p.note("%s is left out", abbreviate(part))
	case name == "BYHOUR":
		return parseClock(&p.hours, part, value, 23)
	case name == "BYMINUTE":
		return parseClock(&p.minutes, part, value, 59)
	case name == "BYSECOND":
		return parseClock(&p.seconds, part, value, 59)
	case name == "FREQ" && value == "HOURLY":
		p.step, p.rest = time.Hour, append(p.rest, "FREQ=DAILY")
	case name == "FREQ" && value == "MINUTELY":
		p.step, p.rest = time.Minute, append(p.rest, "FREQ=DAILY")
	case name == "UNTIL":
		p.until = value
		if _, ok := parseICalDate(value); !ok {
			return fmt.Errorf("%s is not supported", abbreviate(part))
		}
	default:
		p.numberPart(part, name, value)
	}
	return nil
}

// numberPart parses INTERVAL and COUNT. Other parts and invalid numbers stay in the text that recur.Parse checks.
func (p *icalRuleParser) numberPart(part, name, value string) {
	number, err := strconv.Atoi(value)
	switch {
	case name == "INTERVAL" && err == nil && number < 1:
		p.note("%s is taken as 1", abbreviate(part))
	case name == "INTERVAL" && err == nil:
		p.interval = number
	case name == "COUNT" && (err == nil || errors.Is(err, strconv.ErrRange)) && number > 0:
		if p.count = number; number > maxRuleCount {
			p.count = 0
			p.note("%s is taken as no end", abbreviate(part))
		}
	default:
		p.rest = append(p.rest, part)
	}
}

// repairRule makes the repairs that depend on several parts of the rule, and completes the parts for recur.Parse.
func (p *icalRuleParser) repairRule() {
	if p.count > 0 && p.until != "" {
		p.note("COUNT and UNTIL; the earlier end counts")
	}
	if days := p.given["BYDAY"]; p.given["FREQ"] == "DAILY" || p.given["FREQ"] == "WEEKLY" {
		// Such rules have no ordinals (RFC 5545, section 3.3.10).
		if plain := ordinalPattern.ReplaceAllString(days, "$1"); plain != days {
			p.note("BYDAY=%s is taken as BYDAY=%s", abbreviate(days), abbreviate(plain))
			p.rest[slices.Index(p.rest, "BYDAY="+days)] = "BYDAY=" + plain
		}
	}
	if p.step == 0 && p.interval > 1 {
		p.rest = append(p.rest, fmt.Sprint("INTERVAL=", p.interval))
	}
}

// fitTimesOfDay removes BYHOUR, BYMINUTE and BYSECOND if they only repeat the event's start time. In an all-day
// event it removes any, with a notice. It returns an error if the rule cannot be stored.
func (p *icalRuleParser) fitTimesOfDay(span calendar.Span) error {
	hour, minute, second := span.Start.Clock()
	isClock := func(list []int, n int) bool { return list == nil || slices.Equal(list, []int{n}) }
	switch {
	case span.AllDay && p.step > 0:
		return errors.New("times of day do not fit a day")
	case p.step == 0 && isClock(p.hours, hour) && isClock(p.minutes, minute) && isClock(p.seconds, second):
		p.hours, p.minutes, p.seconds = nil, nil, nil
	case span.AllDay:
		p.note("its times of day are left out, as the event lasts all day")
		p.hours, p.minutes, p.seconds = nil, nil, nil
	case len(p.rule.BySetPos) > 0:
		return errors.New("BYSETPOS with times of day is not supported")
	}
	return nil
}

// knownParts are the parts of a rule that RFC 5545, section 3.3.10, and RFC 7529, section 4.1, name.
var knownParts = map[string]bool{
	"FREQ": true, "UNTIL": true, "COUNT": true, "INTERVAL": true, "BYSECOND": true, "BYMINUTE": true, "BYHOUR": true, "BYDAY": true,
	"BYMONTHDAY": true, "BYYEARDAY": true, "BYWEEKNO": true, "BYMONTH": true, "BYSETPOS": true, "WKST": true, "RSCALE": true, "SKIP": true,
}

var (
	// wrongSeparator matches a character that stands in place of the semicolon before a part of a rule.
	wrongSeparator = regexp.MustCompile(`[,:&]([A-Z]+=)`)
	// weekdayPattern matches a day of the week.
	weekdayPattern = regexp.MustCompile(`^(?:MO|TU|WE|TH|FR|SA|SU)$`)
	// ordinalPattern matches a weekday with its number in a month or year, such as -1SU.
	ordinalPattern = regexp.MustCompile(`[+-]?\d+(MO|TU|WE|TH|FR|SA|SU)`)
)

// ruleParts splits a rule into its parts, in upper case. It removes white space, quotes, empty list values and other
// characters that do not change the meaning.
func ruleParts(text string) []string {
	text = strings.ReplaceAll(strings.ToUpper(strings.Join(strings.Fields(text), "")), `"`, "")
	text = wrongSeparator.ReplaceAllString(strings.TrimPrefix(text, "RRULE:"), ";$1")
	parts := strings.Split(text, ";")
	for i, part := range parts {
		name, value, isPart := strings.Cut(part, "=")
		if !isPart {
			continue
		}
		values := strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
		if name == "BYDAY" || name == "WKST" {
			for i, day := range values {
				values[i] = shortWeekday(day)
			}
		}
		parts[i] = name + "=" + strings.Join(values, ",")
	}
	return parts
}

// shortWeekday shortens an English weekday to two letters: TUESDAY to TU, 1TUE to 1TU. It returns other values
// unchanged.
func shortWeekday(value string) string {
	ordinal := strings.TrimRightFunc(value, unicode.IsLetter)
	name := value[len(ordinal):]
	for day := time.Sunday; day <= time.Saturday; day++ {
		if len(name) > 2 && strings.HasPrefix(strings.ToUpper(day.String()), name) {
			return ordinal + name[:2]
		}
	}
	return value
}

// untilBy returns the wall time of UNTIL. wall converts an UTC time to wall time. A day without a time means the end
// of that day.
func (r icalRule) untilBy(wall func(time.Time) calendar.Wall) calendar.Wall {
	d, _ := parseICalDate(r.until)
	switch {
	case d.day:
		return d.wall.EndOfDay()
	case d.utc:
		d.wall = wall(calendar.UTC().Instant(d.wall))
	}
	if last := recur.LastStart(); last.Before(d.wall) { // programs write the year 9999 for no end
		return last
	}
	return d.wall
}

// onClock returns the rule with UNTIL converted from UTC to the wall time of a VTIMEZONE.
func (r icalRule) onClock(clock *icalClock) icalRule {
	if r.until != "" {
		r.rule.Until = r.untilBy(clock.wall)
	}
	return r
}

// parseClock appends the numbers of BYHOUR, BYMINUTE or BYSECOND to *list, sorted and without repeats. The highest
// valid number is most. The error quotes part, the whole part of the rule.
func parseClock(list *[]int, part, value string, most int) error {
	for item := range strings.SplitSeq(value, ",") {
		n, err := strconv.Atoi(item)
		if err != nil || n < 0 || n > most {
			return fmt.Errorf("%s is not supported", abbreviate(part))
		}
		*list = append(*list, n)
	}
	slices.Sort(*list)
	*list = slices.Compact(*list)
	return nil
}

// isDaily reports whether all starts of the rule have the same time of day as the event. Other rules are stored as
// lists of dates.
func (r icalRule) isDaily() bool {
	return r.step == 0 && r.hours == nil && r.minutes == nil && r.seconds == nil
}

// ends reports whether COUNT or UNTIL limits the rule.
func (r icalRule) ends() bool { return r.count > 0 || !r.rule.Until.IsZero() }

// key returns a text that is equal for equal rules.
func (r icalRule) key() string {
	return fmt.Sprint(r.rule, r.count, r.hours, r.minutes, r.seconds, r.step, r.interval)
}

// ruleFrom returns the rule without its times of day, for package recur. If COUNT and UNTIL are both set, the
// earlier end remains. A COUNT that is too large for that package becomes UNTIL. COUNT includes the start, even if
// the rule does not produce it.
func (r icalRule) ruleFrom(start calendar.Wall) recur.Rule {
	rule := r.rule
	if r.count == 0 {
		return rule
	}
	if r.count <= recur.MaxOccurrences && rule.Until.IsZero() {
		rule.Count = r.count
		return rule
	}
	n := 0
	for w := range rule.Starts(start, calendar.Wall{}, recur.LastStart()) {
		if n++; n == 1 && !w.Equal(start) {
			n++
		}
		if n >= r.count {
			rule.Until = w
			break
		}
	}
	return rule
}

// starts returns the rule's starts up to last, in ascending order. It has at most recur.MaxOccurrences from now on,
// and at least as many of the latest before now. An hourly rule returns its first starts only, without hours that
// the clock skips. ok is false if the expansion took too many steps.
func (r icalRule) starts(span calendar.Span, now, last calendar.Wall) (all []calendar.Wall, ok bool) {
	start := span.Start
	n, steps, ahead := 0, 0, 0
	// add appends a start. It returns false to end the list.
	add := func(w calendar.Wall) bool {
		if w.Before(start) || r.step > 0 && !span.Zone.Wall(span.Zone.Instant(w)).Equal(w) {
			return true
		}
		if n++; n == 1 && !w.Equal(start) {
			n++
		}
		if r.count > 0 && n > r.count || last.Before(w) || !r.rule.Until.IsZero() && r.rule.Until.Before(w) {
			return false
		}
		all = append(all, w)
		if r.step > 0 {
			return len(all) < recur.MaxOccurrences
		}
		if !w.Before(now) {
			ahead++
		} else if len(all) == 2*recur.MaxOccurrences {
			all = slices.Delete(all, 0, recur.MaxOccurrences)
		}
		return ahead < recur.MaxOccurrences
	}
	after := calendar.Wall{}
	if r.count == 0 && r.step == 0 {
		after = now.AddDate(-300, 0, 0) // no list has that many dates
	}
	if r.isDaily() {
		for w := range r.rule.Starts(start, after, last) {
			if !add(w) {
				break
			}
		}
		return all, true
	}
	for day := range r.rule.Starts(start.StartOfDay(), after, last) {
		for w := range r.timesOn(day, start, &steps) {
			if !add(w) {
				return all, true
			}
		}
		if steps > maxRuleSteps {
			return all, false
		}
	}
	return all, true
}

// timesOn yields the rule's wall times on one day, in ascending order. start is the start of the event. It adds the
// number of compared times to *steps, so that the caller can stop.
func (r icalRule) timesOn(day, start calendar.Wall, steps *int) func(func(calendar.Wall) bool) {
	hour, minute, second := start.Clock()
	from := start.StartOfDay().Add(time.Duration(hour) * time.Hour)
	if r.step == time.Minute {
		from = from.Add(time.Duration(minute) * time.Minute)
	}
	hours, minutes, seconds := clockValues(r.hours, hour), clockValues(r.minutes, minute), clockValues(r.seconds, second)
	if r.hours == nil && r.step > 0 {
		hours = numbersBelow(24)
	}
	if r.minutes == nil && r.step == time.Minute {
		minutes = numbersBelow(60)
	}
	isStep := func(w calendar.Wall) bool { return int(w.Sub(from)/r.step)%r.interval == 0 }
	return func(yield func(calendar.Wall) bool) {
		for _, h := range hours {
			*steps++
			at := day.Add(time.Duration(h) * time.Hour)
			if r.step == time.Hour && !isStep(at) {
				continue
			}
			for _, m := range minutes {
				*steps++
				at := at.Add(time.Duration(m) * time.Minute)
				if r.step == time.Minute && !isStep(at) {
					continue
				}
				for _, s := range seconds {
					if !yield(at.Add(time.Duration(s) * time.Second)) {
						return
					}
				}
			}
		}
	}
}

// clockValues returns list, or only start if list is nil.
func clockValues(list []int, start int) []int {
	if list == nil {
		return []int{start}
	}
	return list
}

// numbersBelow returns the numbers from 0 to n-1.
func numbersBelow(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
