package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	ics "github.com/arran4/golang-ical"

	"github.com/almanac-cal/almanac/calendar"
)

// The limits of an iCalendar file. For a file from an address, maxBody is a further limit.
const (
	maxComponents = 100_000 // components of any kind, such as events, alarms and time zones
	maxProperties = 500_000 // properties of all components together
	maxLineHead   = 4096    // bytes of the name and the parameters of a line
)

// icalFile is an iCalendar file (RFC 5545). It may consist of several calendars one after another.
type icalFile struct {
	calendars []*icalCalendar
	events    []*component
	// other counts the components other than events that otherComponents lists, by name.
	other map[string]int
	// inEvent reports whether the file ends within an event. open reports whether it ends within a calendar.
	inEvent, open bool
	// notUTF8 counts the lines that are not valid UTF-8.
	notUTF8 int
}

// icalCalendar is a VCALENDAR component.
type icalCalendar struct {
	component               // properties of the calendar itself
	declared  []*component  // VTIMEZONE components
	zone      calendar.Zone // zone for days and floating times
	own       *icalZone     // zone for floating times if a VTIMEZONE defines it; else nil
	zones     *icalZones
	floating  bool // whether it has events with times without a zone
}

// component is a component of an iCalendar file, from BEGIN to END.
type component struct {
	calendar   *icalCalendar         // calendar of an event; nil for other components
	properties map[string][]property // by name, in upper case
	broken     []string              // names of properties that cannot be read
	changes    []*component          // STANDARD and DAYLIGHT components of a time zone
	ofZone     bool                  // whether this is a STANDARD or DAYLIGHT component
	daylight   bool                  // whether this is a DAYLIGHT component
}

// property is one line of a component, with its name left out.
type property struct {
	parameters map[string][]string // by name, in upper case
	value      string              // as written in the file
}

// parameter returns the first value of a parameter. "" means that there is none.
func (p property) parameter(name string) string {
	if values := p.parameters[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// isDay reports whether the value of the property is declared as a day.
func (p property) isDay() bool {
	return strings.EqualFold(strings.TrimSpace(p.parameter("VALUE")), "DATE")
}

// isForModerators reports whether a CONFERENCE is the access of its hosts (RFC 7986, section 6.3). It is not for the
// public.
func (p property) isForModerators() bool {
	return slices.ContainsFunc(p.parameters["FEATURE"], func(features string) bool {
		return slices.ContainsFunc(strings.Split(features, ","), func(one string) bool {
			return strings.EqualFold(strings.TrimSpace(one), "MODERATOR")
		})
	})
}

// first returns the first property with the name.
func (c *component) first(name string) (property, bool) {
	if all := c.properties[name]; len(all) > 0 {
		return all[0], true
	}
	return property{}, false
}

// value returns the value of the first property with the name, without surrounding white space. "" means none.
func (c *component) value(name string) string {
	p, _ := c.first(name)
	return strings.TrimSpace(p.value)
}

// words returns the values of all properties with the name, in upper case and without surrounding white space. Values of
// a closed set are compared in this form.
func (c *component) words(name string) (out []string) {
	for _, p := range c.properties[name] {
		out = append(out, strings.ToUpper(strings.TrimSpace(p.value)))
	}
	return out
}

// readProperties are the names of the properties that the importer reads. It stores no others, which saves
// memory.
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

// otherComponents are the ignored components that the importer counts for a notice, with their plural in it.
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

// isICal reports whether data starts like an iCalendar file, even in UTF-16.
func isICal(data []byte) bool {
	if isUTF16(data) {
		return true
	}
	data = bytes.TrimLeft(bytes.TrimPrefix(data, byteOrderMark), " \t\r\n")
	return len(data) >= len(icalFirstLine) && bytes.EqualFold(data[:len(icalFirstLine)], icalFirstLine)
}

// isUTF16 reports whether data starts like text in UTF-16.
func isUTF16(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) ||
		bytes.HasPrefix(data, []byte("B\x00E\x00")) || bytes.HasPrefix(data, []byte("\x00B\x00E"))
}

// parseICal reads the components of an iCalendar file, even if they are not nested correctly. It skips an
// invalid line. If the line has a name, the component records it in broken.
func parseICal(data []byte) (*icalFile, error) {
	switch {
	case !isICal(data):
		return nil, errNotCalendar
	case isUTF16(data):
		return nil, errUTF16
	case !bytes.Contains(data, []byte("\n")):
		data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n")) // old programs end lines with CR alone
	}
	in := &icalCalendar{} // receives properties outside of a calendar
	f := &icalFile{calendars: []*icalCalendar{in}, other: make(map[string]int)}
	lines := ics.NewCalendarStream(bytes.NewReader(bytes.TrimPrefix(data, byteOrderMark)))
	current := &in.component
	var zone *component
	components, properties := 0, 0
	nested := 0 // depth of ignored components
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

// parseLine reads a line. The name is "" for a property that the importer does not read. It passes only the
// part before the value to the library, which is slow for long lines with many parameters.
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
	head, value, ok := cutHead(quoteZone(line))
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
		return name, property{}, false // only vCalendar 1.0 has this encoding
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

// cutHead splits a line at the colon before its value, which is the first one outside of quotes.
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

// icalText decodes a value of type TEXT.
func icalText(value string) string {
	return strings.TrimSpace(strings.ReplaceAll(ics.FromText(value), "\r", ""))
}

// icalTexts decodes a list of values of type TEXT. Commas separate the values unless they are escaped.
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
