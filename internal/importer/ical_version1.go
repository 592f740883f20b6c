package importer

import (
	"regexp"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// isVersion1 reports whether a calendar is in vCalendar 1.0, the predecessor of iCalendar.
func (c *icalCalendar) isVersion1() bool { return c.value("VERSION") == "1.0" }

// version1Zone returns the fixed offset in the TZ property of a vCalendar. It returns false if there is none, or if
// DAYLIGHT says that clocks change.
func (c *icalCalendar) version1Zone() (calendar.Zone, bool) {
	if !c.isVersion1() || strings.HasPrefix(strings.ToUpper(c.value("DAYLIGHT")), "TRUE") {
		return calendar.Zone{}, false
	}
	text := strings.ReplaceAll(c.value("TZ"), ":", "")
	if len(text) == len("+01") {
		text += "00"
	}
	offset, ok := parseUTCOffset(text)
	if !ok {
		return calendar.Zone{}, false
	}
	return fixedZone(offset)
}

// convertVersion1 converts the properties of a vCalendar 1.0 event to their form in iCalendar. For example, lists in
// vCalendar have semicolons instead of commas.
func (c *component) convertVersion1() {
	for _, name := range []string{"EXDATE", "RDATE", "CATEGORIES"} {
		for i, p := range c.properties[name] {
			c.properties[name][i].value = strings.ReplaceAll(p.value, ";", ",")
		}
	}
	for _, name := range []string{"RRULE", "EXRULE"} {
		for i, p := range c.properties[name] {
			if rule, ok := version1Rule(p.value); ok {
				c.properties[name][i].value = rule
			}
		}
	}
}

var (
	version1Start = regexp.MustCompile(`^(D|W|MP|MD|YM|YD)(\d{1,4})$`)
	version1Place = regexp.MustCompile(`^\d{1,3}[+-]?$`)
	version1Clock = regexp.MustCompile(`^\d{4}$`)
)

// version1Rule converts a rule of vCalendar 1.0, such as "MP1 1+ MO #5", to an RRULE. It returns false if it cannot.
// A rule without an end has two dates (vCalendar 1.0, Recurrence Rule Grammar).
func version1Rule(text string) (rule string, ok bool) {
	tokens := strings.Fields(strings.ToUpper(text))
	if len(tokens) == 0 {
		return "", false
	}
	m := version1Start.FindStringSubmatch(tokens[0])
	if m == nil {
		return "", false
	}
	end := ";COUNT=2"
	var days, numbers []string
	for _, token := range tokens[1:] {
		count, counted := strings.CutPrefix(token, "#")
		until, isDate := parseICalDate(token)
		switch {
		case counted && count == "0":
			end = ""
		case counted:
			end = ";COUNT=" + count
		case weekdayPattern.MatchString(token):
			place := ""
			if m[1] == "MP" && len(numbers) > 0 {
				place = numbers[len(numbers)-1]
			}
			days = append(days, place+token)
		case token == "LD": // the last day
			numbers = append(numbers, "-1")
		case isDate:
			end = ";UNTIL=" + until.wall.Format("20060102")
			if !until.day {
				end += until.wall.Format("T150405") + map[bool]string{true: "Z"}[until.utc]
			}
		case version1Clock.MatchString(token): // the time of day, which is that of the start
		case version1Place.MatchString(token):
			number := strings.TrimRight(token, "+-")
			if strings.HasSuffix(token, "-") {
				number = "-" + number
			}
			numbers = append(numbers, number)
		default:
			return "", false
		}
	}
	frequency := map[string]string{"D": "DAILY", "W": "WEEKLY", "MP": "MONTHLY", "MD": "MONTHLY", "YM": "YEARLY", "YD": "YEARLY"}
	list := map[string]string{"MD": ";BYMONTHDAY=", "YM": ";BYMONTH=", "YD": ";BYYEARDAY="}
	rule = "FREQ=" + frequency[m[1]] + ";INTERVAL=" + m[2] + end
	if len(days) > 0 {
		rule += ";BYDAY=" + strings.Join(days, ",")
	}
	if name, has := list[m[1]]; has && len(numbers) > 0 {
		rule += name + strings.Join(slices.Compact(numbers), ",")
	}
	return rule, true
}
