package feed

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// property is a content line of an iCalendar file. Its value is not unescaped.
type property struct {
	name       string
	parameters map[string]string
	value      string
}

// component is a component of an iCalendar file: the lines and components between BEGIN and END.
type component struct {
	name       string
	properties []property
	components []*component
}

func (c *component) all(name string) (out []property) {
	for _, p := range c.properties {
		if p.name == name {
			out = append(out, p)
		}
	}
	return out
}

// one returns the property with a name, or nil if there is none. The test fails if there are several.
func (c *component) one(t testing.TB, name string) *property {
	t.Helper()
	switch all := c.all(name); len(all) {
	case 0:
		return nil
	case 1:
		return &all[0]
	default:
		t.Fatalf("%d properties %s", len(all), name)
	}
	return nil
}

func (c *component) children(name string) (out []*component) {
	for _, child := range c.components {
		if child.name == name {
			out = append(out, child)
		}
	}
	return out
}

// readICal parses an iCalendar file. The test fails if the file violates RFC 5545.
func readICal(t testing.TB, file []byte) *component {
	t.Helper()
	text, ok := strings.CutSuffix(string(file), "\r\n")
	if !ok {
		t.Fatalf("the last line does not end")
	}
	for line := range strings.SplitSeq(text, "\r\n") {
		if len(line) > 75 {
			t.Fatalf("%d octets in the line %q", len(line), line)
		}
		if !utf8.ValidString(line) {
			t.Fatalf("a character is divided in the line %q", line)
		}
	}
	root := &component{}
	open := []*component{root}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n ", ""), "\r\n") {
		if i := strings.IndexFunc(line, isControl); i >= 0 {
			t.Fatalf("a control character in the line %q", line)
		}
		p := readLine(t, line)
		in := open[len(open)-1]
		switch p.name {
		case "BEGIN":
			c := &component{name: p.value}
			in.components = append(in.components, c)
			open = append(open, c)
		case "END":
			if in.name != p.value {
				t.Fatalf("END:%s in %s", p.value, in.name)
			}
			open = open[:len(open)-1]
		default:
			in.properties = append(in.properties, p)
		}
	}
	if len(open) != 1 || len(root.components) != 1 || len(root.properties) != 0 || root.components[0].name != "VCALENDAR" {
		t.Fatalf("not one calendar: %.300s", file)
	}
	return root.components[0]
}

// readLine reads a content line.
func readLine(t testing.TB, line string) property {
	t.Helper()
	end := strings.IndexAny(line, ":;")
	if end < 1 {
		t.Fatalf("no property: %q", line)
	}
	p := property{name: line[:end], parameters: map[string]string{}}
	if strings.Trim(p.name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		t.Fatalf("the name of the property %q", line)
	}
	rest := line[end:]
	for rest[0] == ';' {
		name, after, ok := strings.Cut(rest[1:], "=")
		if !ok {
			t.Fatalf("a parameter without a value: %q", line)
		}
		var value string
		if quoted, isQuoted := strings.CutPrefix(after, `"`); isQuoted {
			value, rest, ok = strings.Cut(quoted, `"`)
			if !ok {
				t.Fatalf("a quote is open: %q", line)
			}
		} else {
			i := strings.IndexAny(after, ":;")
			if i < 0 {
				t.Fatalf("no value: %q", line)
			}
			value, rest = after[:i], after[i:]
		}
		p.parameters[name] = strings.NewReplacer("^n", "\n", "^'", `"`, "^^", "^").Replace(value)
		if rest == "" || rest[0] != ':' && rest[0] != ';' {
			t.Fatalf("after a parameter: %q", line)
		}
	}
	p.value = rest[1:]
	return p
}

// plain returns the value of a property of type TEXT without its escapes.
func (p *property) plain(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(p.value); i++ {
		switch c := p.value[i]; c {
		case ';', ',':
			t.Fatalf("not escaped: %q", p.value)
		case '\\':
			i++
			if i == len(p.value) {
				t.Fatalf("ends in a backslash: %q", p.value)
			}
			switch p.value[i] {
			case 'n':
				b.WriteByte('\n')
			case '\\', ';', ',':
				b.WriteByte(p.value[i])
			default:
				t.Fatalf("a wrong escape: %q", p.value)
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// clock is one clock change that a VTIMEZONE describes: when the clock changes, and from which to which UTC offset.
type clock struct {
	wall     time.Time // time that the clock shows before the change, stored as UTC
	from, to time.Duration
}

// readClock returns the clock changes that a VTIMEZONE describes. Of RFC 5545 it supports only yearly rules, the
// only ones that feeds contain.
func readClock(t testing.TB, zone *component) []clock {
	t.Helper()
	if standard := len(zone.children("STANDARD")); standard != 1 || len(zone.children("DAYLIGHT")) > 1 {
		t.Fatalf("%d STANDARD in %v", standard, zone.properties)
	}
	var out []clock
	for _, c := range zone.components {
		start := mustTime(t, "20060102T150405", c.one(t, "DTSTART").value)
		one := clock{start, mustOffset(t, c.one(t, "TZOFFSETFROM").value), mustOffset(t, c.one(t, "TZOFFSETTO").value)}
		rule := c.one(t, "RRULE")
		if rule == nil {
			out = append(out, one)
			continue
		}
		var month, week int
		var day string
		if _, err := fmt.Sscanf(rule.value, "FREQ=YEARLY;BYMONTH=%d;BYDAY=%d%s", &month, &week, &day); err != nil {
			t.Fatalf("%s: %v", rule.value, err)
		}
		for year := start.Year(); year < 2100; year++ {
			hour, minute, second := start.Clock()
			var days []time.Time
			for d := time.Date(year, time.Month(month), 1, hour, minute, second, 0, time.UTC); int(d.Month()) == month; d = d.AddDate(0, 0, 1) {
				if strings.HasPrefix(strings.ToUpper(d.Weekday().String()), day) {
					days = append(days, d)
				}
			}
			if week < 0 {
				one.wall = days[len(days)+week]
			} else {
				one.wall = days[week-1]
			}
			if year == start.Year() && !one.wall.Equal(start) {
				t.Fatalf("begins on %s, and the rule on %s", start, one.wall)
			}
			out = append(out, one)
		}
	}
	return out
}

// instantOf returns the instant at which the clock of a zone shows a wall time. If the clock shows it twice,
// true for last means the second time.
func instantOf(t testing.TB, clocks []clock, wall time.Time, last bool) time.Time {
	t.Helper()
	var best *clock
	for i := range clocks {
		c := &clocks[i]
		from := c.wall
		if last && c.to < c.from {
			from = from.Add(c.to - c.from)
		}
		if !from.After(wall) && (best == nil || best.wall.Before(c.wall)) {
			best = c
		}
	}
	if best == nil {
		t.Fatalf("%s is before all rules", wall)
	}
	return wall.Add(-best.to)
}

// instants returns the two instants that a reader of the file may take a property for. They differ only for a wall
// time that the clock shows twice.
func instants(t testing.TB, zones map[string][]clock, p *property) [2]time.Time {
	t.Helper()
	zone, ok := p.parameters["TZID"]
	if !ok {
		at := mustTime(t, "20060102T150405Z", p.value)
		return [2]time.Time{at, at}
	}
	wall := mustTime(t, "20060102T150405", p.value)
	clocks, ok := zones[zone]
	if !ok {
		t.Fatalf("no VTIMEZONE of %s", zone)
	}
	return [2]time.Time{instantOf(t, clocks, wall, false), instantOf(t, clocks, wall, true)}
}

// readZones returns the clock changes of all zones of a calendar, by the name of the zone.
func readZones(t testing.TB, c *component) map[string][]clock {
	t.Helper()
	zones := map[string][]clock{}
	for _, zone := range c.children("VTIMEZONE") {
		zones[zone.one(t, "TZID").value] = readClock(t, zone)
	}
	return zones
}

func mustTime(t testing.TB, layout, value string) time.Time {
	t.Helper()
	at, err := time.Parse(layout, value)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func mustOffset(t testing.TB, value string) time.Duration {
	t.Helper()
	hours, err := strconv.Atoi(value[:3])
	if err != nil {
		t.Fatal(err)
	}
	minutes, err := strconv.Atoi(value[:1] + value[3:])
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
}
