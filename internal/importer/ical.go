package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	ics "github.com/arran4/golang-ical"

	"github.com/almanac-cal/almanac/calendar"
)

// The limits of an iCalendar file, beside maxBody.
const (
	maxComponents = 100_000 // events, alarms, time zones and what else there is
	maxProperties = 500_000 // of all components together
	maxLineHead   = 4096    // bytes of a line before its value: its name and its parameters
)

// icalFile is an iCalendar file (RFC 5545), several of them if they stand in one file one after another.
type icalFile struct {
	calendars []*icalCalendar
	events    []*component
	// other counts the components that are no events, by name.
	other map[string]int
	// inEvent reports whether the file ends within an event, open whether it ends within a calendar.
	inEvent, open bool
	// notUTF8 counts the lines with other bytes.
	notUTF8 int
}

// icalCalendar is a VCALENDAR.
type icalCalendar struct {
	component               // properties of the calendar itself
	declared  []*component  // VTIMEZONEs
	zone      calendar.Zone // zone for days and floating times
	zones     *icalZones
	floating  bool // it has events with times of no zone
}

// component is a block of an iCalendar file.
type component struct {
	calendar   *icalCalendar         // that of an event
	properties map[string][]property // by name, in upper case
	broken     []string              // names of properties that cannot be read
	changes    []*component          // STANDARD and DAYLIGHT of a time zone
	ofZone     bool                  // this is a STANDARD or DAYLIGHT
	daylight   bool                  // this is a DAYLIGHT
}

// property is a line of a component.
type property struct {
	parameters map[string][]string // by name, in upper case
	value      string              // as written in the file
}

// parameter returns the first value of a parameter, "" if there is none.
func (p property) parameter(name string) string {
	if values := p.parameters[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// isDay reports whether the property says that its value is a day.
func (p property) isDay() bool { return strings.EqualFold(p.parameter("VALUE"), "DATE") }

// first returns the first property of a name.
func (c *component) first(name string) (property, bool) {
	if all := c.properties[name]; len(all) > 0 {
		return all[0], true
	}
	return property{}, false
}

// value returns the value of the first property of a name, without white space around it.
func (c *component) value(name string) string {
	p, _ := c.first(name)
	return strings.TrimSpace(p.value)
}

// readProperties are the properties that are read. Lines of others cost no memory.
var readProperties = map[string]bool{
	"VERSION": true, "METHOD": true, "X-WR-TIMEZONE": true,
	"TZID": true, "X-LIC-LOCATION": true, "TZOFFSETFROM": true, "TZOFFSETTO": true, "RRULE": true, "DTSTART": true,
	"UID": true, "RECURRENCE-ID": true, "SEQUENCE": true, "DTSTAMP": true, "CREATED": true, "LAST-MODIFIED": true,
	"DTEND": true, "DURATION": true, "RDATE": true, "EXDATE": true, "EXRULE": true,
	"SUMMARY": true, "DESCRIPTION": true, "X-ALT-DESC": true, "STATUS": true, "CLASS": true, "LOCATION": true, "GEO": true,
	"URL": true, "ORGANIZER": true, "CATEGORIES": true, "CONFERENCE": true, "X-GOOGLE-CONFERENCE": true,
	"X-APPLE-STRUCTURED-LOCATION": true, "X-MICROSOFT-CDO-ALLDAYEVENT": true,
	"X-MICROSOFT-SKYPETEAMSMEETINGURL": true,
}

// otherComponents are the components that are counted, because people may miss what is in them.
var otherComponents = map[string]string{"VTODO": "tasks", "VJOURNAL": "journal entries", "VFREEBUSY": "busy times"}

var (
	byteOrderMark    = []byte("\xef\xbb\xbf")
	errNotCalendar   = errors.New("not an iCalendar file")
	errUTF16         = errors.New("the file is in UTF-16; save it as UTF-8")
	errVersion1      = errors.New("vCalendar 1.0 is not supported; export it as iCalendar, version 2.0")
	errManyBlocks    = fmt.Errorf("more than %d components", maxComponents)
	errManyLines     = fmt.Errorf("more than %d properties", maxProperties)
	icalFirstLine    = []byte("BEGIN:VCALENDAR")
	parameterEscapes = strings.NewReplacer("^n", "\n", "^'", `"`, "^^", "^") // RFC 6868
)

// isICal reports whether data is meant to be an iCalendar file.
func isICal(data []byte) bool {
	if isUTF16(data) {
		return true
	}
	data = bytes.TrimLeft(bytes.TrimPrefix(data, byteOrderMark), " \t\r\n")
	return len(data) >= len(icalFirstLine) && bytes.EqualFold(data[:len(icalFirstLine)], icalFirstLine)
}

// isUTF16 reports whether data is text in UTF-16, by its first characters.
func isUTF16(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) ||
		bytes.HasPrefix(data, []byte("B\x00E\x00")) || bytes.HasPrefix(data, []byte("\x00B\x00E"))
}

// parseICal reads the components of an iCalendar file. Blocks need not be nested well. A line that is none is skipped; its
// component knows which, if the line has a name.
func parseICal(data []byte) (*icalFile, error) {
	switch {
	case !isICal(data):
		return nil, errNotCalendar
	case isUTF16(data):
		return nil, errUTF16
	case !bytes.Contains(data, []byte("\n")):
		data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n")) // line ends of old programs
	}
	in := &icalCalendar{} // for properties outside a calendar
	f := &icalFile{calendars: []*icalCalendar{in}, other: make(map[string]int)}
	lines := ics.NewCalendarStream(bytes.NewReader(bytes.TrimPrefix(data, byteOrderMark)))
	current := &in.component
	var zone *component
	components, properties := 0, 0
	nested := 0 // depth of blocks that are skipped
	for {
		line, err := lines.ReadLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if line != nil {
			name, p, ok := parseLine(string(*line))
			switch {
			case name == "BEGIN":
				switch block := strings.ToUpper(strings.TrimSpace(p.value)); block {
				case "VCALENDAR":
					in, zone, nested = &icalCalendar{}, nil, 0
					current = &in.component
					f.calendars = append(f.calendars, in)
					f.open = true
				case "VEVENT":
					current, nested = &component{calendar: in}, 0
					f.events = append(f.events, current)
				case "VTIMEZONE":
					current, nested = &component{}, 0
					zone = current
					in.declared = append(in.declared, current)
				case "STANDARD", "DAYLIGHT":
					if nested == 0 && zone != nil && current == zone {
						current = &component{ofZone: true, daylight: block == "DAYLIGHT"}
						zone.changes = append(zone.changes, current)
					} else {
						nested++
					}
				default:
					if _, known := otherComponents[block]; known && nested == 0 && current == &in.component {
						f.other[block]++
					}
					nested++
				}
				if components++; components > maxComponents {
					return nil, errManyBlocks
				}
			case name == "END":
				switch block := strings.ToUpper(strings.TrimSpace(p.value)); block {
				case "VCALENDAR", "VEVENT", "VTIMEZONE":
					current, nested = &in.component, 0
					f.open = f.open && block != "VCALENDAR"
				case "STANDARD", "DAYLIGHT":
					if nested == 0 && current.ofZone {
						current = zone
					} else {
						nested = max(nested-1, 0)
					}
				default:
					nested = max(nested-1, 0)
				}
			case nested > 0 || name == "":
			default:
				if properties++; properties > maxProperties {
					return nil, errManyLines
				}
				if name == "VERSION" && current == &in.component && strings.TrimSpace(p.value) == "1.0" {
					return nil, errVersion1
				}
				if !utf8.ValidString(string(*line)) {
					f.notUTF8++
				}
				if !ok {
					current.broken = append(current.broken, name)
					break
				}
				if current.properties == nil {
					current.properties = make(map[string][]property)
				}
				current.properties[name] = append(current.properties[name], p)
			}
		}
		if err != nil {
			break
		}
	}
	f.inEvent = len(f.events) > 0 && current == f.events[len(f.events)-1]
	return f, nil
}

// parseLine reads a line. The name is "" for what is not read. Only the head is given to the library, whose time grows
// with the length of the line for each parameter.
func parseLine(line string) (name string, p property, ok bool) {
	name = line
	if at := strings.IndexAny(line[:min(len(line), maxLineHead)], ":;"); at >= 0 {
		name = line[:at]
	}
	if len(name) > maxLineHead {
		return "", property{}, false
	}
	name = strings.ToUpper(strings.TrimSpace(name))
	if name != "BEGIN" && name != "END" && !readProperties[name] {
		return "", property{}, false
	}
	head, value, ok := cutHead(line)
	if !ok {
		return name, property{}, false
	}
	p = property{value: strings.ToValidUTF8(value, "�")}
	if !strings.Contains(head, ";") {
		return name, p, true
	}
	parsed, err := ics.ParseProperty(ics.ContentLine(head + ":"))
	if err != nil || parsed == nil {
		return name, property{}, false
	}
	if encoding := parsed.ICalParameters["ENCODING"]; len(encoding) > 0 && strings.EqualFold(encoding[0], "QUOTED-PRINTABLE") {
		return name, property{}, false // of vCalendar 1.0
	}
	for key, values := range parsed.ICalParameters {
		if p.parameters == nil {
			p.parameters = make(map[string][]string, len(parsed.ICalParameters))
		}
		for i, v := range values {
			values[i] = strings.ToValidUTF8(parameterEscapes.Replace(v), "�")
		}
		p.parameters[strings.ToUpper(key)] = values
	}
	return name, p, true
}

// cutHead cuts a line at the colon before its value, which is the first one that is not in quotes.
func cutHead(line string) (head, value string, ok bool) {
	quoted := false
	for i := range min(len(line), maxLineHead) {
		switch line[i] {
		case '"':
			quoted = !quoted
		case ':':
			if !quoted {
				return line[:i], line[i+1:], true
			}
		}
	}
	return "", "", false
}

// icalText decodes a value of the type TEXT.
func icalText(value string) string {
	return strings.TrimSpace(strings.ReplaceAll(ics.FromText(value), "\r", ""))
}

// icalTexts decodes a list of values of the type TEXT: they are cut at commas that are not escaped.
func icalTexts(value string) []string {
	var out []string
	start := 0
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '\\':
			i++
		case ',':
			out = append(out, icalText(value[start:i]))
			start = i + 1
		}
	}
	return append(out, icalText(value[start:]))
}
