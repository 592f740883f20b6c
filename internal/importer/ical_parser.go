package importer

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// icalFile is an iCalendar file (RFC 5545). It may consist of several calendars one after another.
type icalFile struct {
	calendars []*icalCalendar
	events    []*component
	// other counts the tasks, journal entries and busy times, which are ignored, by component name.
	other map[string]int
	// isCutOff is true if the file ends within a calendar, or was not read to its end.
	isCutOff bool
	// limit is the error for the limit that the file exceeds. Nil means none.
	limit error
	// unread counts the events after the limit.
	unread int
	// notices are messages about the file as a whole.
	notices []string
}

// icalCalendar is a VCALENDAR component.
type icalCalendar struct {
	component               // properties of the calendar itself
	declared  []*component  // VTIMEZONE components
	zone      calendar.Zone // zone for days and floating times
	ownZone   *icalZone     // zone for floating times if a VTIMEZONE defines it; else nil
	zones     *icalZones
	named     bool // whether zone is that of X-WR-TIMEZONE
	floating  bool // whether it has events with times without a zone
	// local returns the result of localClock, which it computes once.
	local func() (wall func(time.Time) calendar.Wall, ok bool)
}

// component is a component of an iCalendar file, such as a VEVENT: its properties between BEGIN and END.
type component struct {
	calendar   *icalCalendar         // calendar of an event; nil for other components
	line       int                   // line of its BEGIN in the file
	properties map[string][]property // by name, in upper case
	broken     map[string]int        // line of the first unreadable property of each name
	flaws      []string              // flaws of its lines, for notices
	isCutOff   bool                  // the file ends within the component, or is not read further
	changes    []*component          // STANDARD and DAYLIGHT components of a time zone
	ofZone     bool                  // whether this is a STANDARD or DAYLIGHT component
}

// property is one property of a component: its value and parameters. Its name is the key in component.properties.
type property struct {
	parameters map[string]string // by name, in upper case; without quotes
	value      string            // as written in the file
	line       int               // line in the file
}

// maxComponents and maxProperties limit what is read of an iCalendar file. maxBody also limits the size of a
// downloaded one.
const (
	maxComponents = 100_000 // calendars, events, time zones and their parts
	maxProperties = 500_000 // properties of all components together
)

// parameter returns the value of a parameter, or "" without it.
func (p property) parameter(name string) string { return p.parameters[name] }

// isDay reports whether the property has VALUE=DATE.
func (p property) isDay() bool {
	return strings.EqualFold(strings.TrimSpace(p.parameter("VALUE")), "DATE")
}

// isForModerators reports whether a CONFERENCE property is for the hosts of a meeting (RFC 7986, section 6.3). Its
// URL must not be published.
func (p property) isForModerators() bool {
	return slices.ContainsFunc(strings.Split(p.parameter("FEATURE"), ","), func(feature string) bool {
		return strings.EqualFold(strings.TrimSpace(feature), "MODERATOR")
	})
}

// first returns the first property with the name that is not empty, or else the first one. It returns false if there
// is none.
func (c *component) first(name string) (property, bool) {
	all := c.properties[name]
	for _, p := range all {
		if strings.TrimSpace(p.value) != "" {
			return p, true
		}
	}
	if len(all) > 0 {
		return all[0], true
	}
	return property{}, false
}

// flaw records a problem in a line, which the import reports as a notice. After 20 flaws it records only that there are
// more.
func (c *component) flaw(line int, text string) {
	const most = 20 // flaws of a component that are named
	switch {
	case len(c.flaws) < most:
		c.flaws = append(c.flaws, fmt.Sprintf("line %d: %s", line, text))
	case len(c.flaws) == most:
		c.flaws = append(c.flaws, "it has more flaws, which are not listed")
	}
}

// lineOf returns the line of the first unreadable property with the name, or else of a readable one. If there is none,
// it returns the line of the component's BEGIN.
func (c *component) lineOf(name string) int {
	if line, ok := c.broken[name]; ok {
		return line
	}
	if p, ok := c.first(name); ok {
		return p.line
	}
	return c.line
}

// value returns the value of the first property with the name, without surrounding white space. "" means none.
func (c *component) value(name string) string {
	p, _ := c.first(name)
	return strings.TrimSpace(p.value)
}

// words returns the values of all properties with the name, trimmed and in upper case. Use it for properties with a
// fixed set of values, such as STATUS.
func (c *component) words(name string) (out []string) {
	for _, p := range c.properties[name] {
		out = append(out, strings.ToUpper(strings.TrimSpace(p.value)))
	}
	return out
}

// readProperties are the names of the properties that the importer reads. It stores no others, which saves
// memory.
var readProperties = map[string]bool{
	"VERSION": true, "METHOD": true, "X-WR-TIMEZONE": true, "TZ": true, "DAYLIGHT": true,
	"TZID": true, "X-LIC-LOCATION": true, "TZOFFSETFROM": true, "TZOFFSETTO": true, "RRULE": true, "DTSTART": true,
	"UID": true, "RECURRENCE-ID": true, "SEQUENCE": true, "DTSTAMP": true, "CREATED": true, "LAST-MODIFIED": true,
	"DTEND": true, "DURATION": true, "RDATE": true, "EXDATE": true, "EXRULE": true,
	"SUMMARY": true, "DESCRIPTION": true, "X-ALT-DESC": true, "STYLED-DESCRIPTION": true, "STATUS": true, "CLASS": true,
	"LOCATION": true, "GEO": true, "URL": true, "ORGANIZER": true, "CATEGORIES": true, "CONFERENCE": true,
	"X-GOOGLE-CONFERENCE": true, "X-APPLE-STRUCTURED-LOCATION": true, "X-MICROSOFT-CDO-ALLDAYEVENT": true,
	"X-MICROSOFT-SKYPETEAMSMEETINGURL": true,
}

// textProperties are the properties with prose. They can have unescaped line breaks. If the file ends within one,
// its beginning is kept.
var textProperties = map[string]bool{
	"SUMMARY": true, "DESCRIPTION": true, "X-ALT-DESC": true, "STYLED-DESCRIPTION": true, "LOCATION": true,
}

// otherComponents are the ignored components that the importer counts. The values are their plurals in the notice.
var otherComponents = map[string]string{"VTODO": "tasks", "VJOURNAL": "journal entries", "VFREEBUSY": "busy times"}

var (
	byteOrderMark  = []byte("\xef\xbb\xbf")
	errNotCalendar = errors.New("not an iCalendar file")
	errManyBlocks  = fmt.Errorf("more than %d components", maxComponents)
	errManyLines   = fmt.Errorf("more than %d properties", maxProperties)
	// icalBegin matches the line with which a calendar begins, or an event without a calendar.
	icalBegin = regexp.MustCompile(`(?i)(?:^|[\r\n])[ \t]*BEGIN[ \t]*:[ \t]*(?:VCALENDAR|VEVENT)\b`)
)

// maxICalStart is the number of bytes within which the first BEGIN line must begin. Other text, such as the headers
// of a web server, can come before it.
const maxICalStart = 64 << 10

// isICal reports whether a file begins like an iCalendar file, in UTF-16 or any encoding that extends ASCII.
func isICal(data []byte) bool {
	data = data[:min(len(data), maxICalStart)]
	if text, ok := decodeUTF16(data); ok {
		data = text
	}
	return icalBegin.Match(bytes.ReplaceAll(bytes.TrimPrefix(data, byteOrderMark), []byte{0}, nil))
}

// parseICal reads the components of an iCalendar file, even if they are not nested correctly. It skips invalid lines,
// and records those of known properties in component.broken. Texts that are not UTF-8 are converted from the usual
// encoding of language. When the file exceeds a limit, the rest is ignored. It returns errNotCalendar for other files.
func parseICal(data []byte, language calendar.Language) (*icalFile, error) {
	if !isICal(data) {
		return nil, errNotCalendar
	}
	in := &icalCalendar{} // receives properties outside of a calendar
	p := icalParser{
		file: &icalFile{calendars: []*icalCalendar{in}, other: make(map[string]int)},
		in:   in, current: &in.component, decoder: newTextDecoder(language),
	}
	if text, ok := decodeUTF16(data); ok {
		data = text
		p.note("the file is in UTF-16; it is converted to UTF-8")
	}
	data = bytes.TrimPrefix(data, byteOrderMark)
	if n := bytes.Count(data, []byte{0}); n > 0 {
		data = bytes.ReplaceAll(data, []byte{0}, nil)
		p.note("NUL characters are left out: %d", n)
	}
	for line := range contentLines(string(data)) {
		p.add(line)
	}
	p.finish()
	return p.file, nil
}

// icalParser builds the components of a file from its lines.
type icalParser struct {
	file    *icalFile
	in      *icalCalendar
	current *component
	zone    *component // open time zone; nil if there is none
	nested  int        // depth of ignored components
	decoder *textDecoder
	// last is the name of the property that current got last; "" means none. more is the text that later lines add
	// to its value.
	last string
	more []byte
	// length is the length of the last line of that property in the file. ended is true if the line has a line
	// break.
	length int
	ended  bool

	components, properties int
	strayLine, strayLines  int // lines that are no properties: the first, and the number
}

// note adds a notice about the whole file.
func (p *icalParser) note(format string, args ...any) {
	p.file.notices = append(p.file.notices, fmt.Sprintf(format, args...))
}

// isEvent reports whether the parser is inside a VEVENT.
func (p *icalParser) isEvent() bool {
	return len(p.file.events) > 0 && p.current == p.file.events[len(p.file.events)-1]
}

// add parses the next logical line of the file.
func (p *icalParser) add(line contentLine) {
	name, rest := splitName(line.text)
	if p.file.limit != nil {
		if name == "BEGIN" && blockName(rest) == "VEVENT" {
			p.file.unread++
		}
		return
	}
	known := readProperties[name]
	switch {
	case name == "BEGIN" && isBlock(name, rest):
		p.flush()
		p.begin(blockName(rest), line.number)
	case name == "END" && isBlock(name, rest):
		p.flush()
		p.end(blockName(rest), line.number)
	case p.nested > 0:
	case !known && continuesText(name, rest):
		p.continueLast(line)
	case !known:
		p.flush()
	default:
		p.flush()
		p.property(name, rest, line)
	}
}

// readBlocks are the components that the importer reads.
var readBlocks = []string{"VCALENDAR", "VEVENT", "VTIMEZONE", "STANDARD", "DAYLIGHT"}

// isBlock reports whether a line begins or ends a component. Lines such as "Begin: 18:00" do not: they belong to a text
// with an unescaped line break. name and rest are the results of splitName.
func isBlock(name, rest string) bool {
	if name != "BEGIN" && name != "END" {
		return false
	}
	block := blockName(rest)
	return propertyName.MatchString(block) && (slices.Contains(readBlocks, block) || !strings.HasPrefix(rest, ": "))
}

// blockName returns the name of the component in a BEGIN or END line. rest is the line after that word.
func blockName(rest string) string {
	_, value, _ := strings.Cut(rest, ":")
	return strings.ToUpper(strings.TrimSpace(value))
}

// count counts a new component. It returns false if the file has too many.
func (p *icalParser) count() bool {
	if p.components++; p.components > maxComponents {
		p.stop(errManyBlocks)
		return false
	}
	return true
}

// stop ends the parsing. limit is the error for the exceeded limit.
func (p *icalParser) stop(limit error) {
	p.file.limit = limit
	if p.isEvent() {
		p.current.isCutOff = true
	}
}

func (p *icalParser) begin(block string, line int) {
	switch block {
	case "VCALENDAR", "VEVENT", "VTIMEZONE":
		if p.isEvent() {
			p.current.flaw(line, "END:VEVENT is missing before it")
		}
		p.current, p.zone, p.nested = &p.in.component, nil, 0
		if !p.count() {
			if block == "VEVENT" {
				p.file.unread++
			}
			return
		}
	}
	switch block {
	case "VCALENDAR":
		p.in = &icalCalendar{}
		p.current = &p.in.component
		p.file.calendars = append(p.file.calendars, p.in)
		p.file.isCutOff = true
	case "VEVENT":
		p.current = &component{calendar: p.in, line: line}
		p.file.events = append(p.file.events, p.current)
	case "VTIMEZONE":
		p.current = &component{line: line}
		p.zone = p.current
		p.in.declared = append(p.in.declared, p.current)
	case "STANDARD", "DAYLIGHT":
		if p.nested > 0 || p.zone == nil || p.current != p.zone {
			p.nested++
		} else if p.count() {
			p.current = &component{line: line, ofZone: true}
			p.zone.changes = append(p.zone.changes, p.current)
		}
	default:
		if _, counted := otherComponents[block]; counted && p.nested == 0 && p.current == &p.in.component {
			p.file.other[block]++
		}
		p.nested++
	}
}

func (p *icalParser) end(block string, line int) {
	switch block {
	case "VCALENDAR", "VEVENT", "VTIMEZONE":
		if block != "VEVENT" && p.isEvent() {
			p.current.flaw(line, "END:VEVENT is missing before it")
		}
		p.current, p.nested = &p.in.component, 0
		p.file.isCutOff = p.file.isCutOff && block != "VCALENDAR"
	case "STANDARD", "DAYLIGHT":
		if p.nested == 0 && p.current.ofZone {
			p.current = p.zone
			return
		}
		p.nested = max(p.nested-1, 0)
	default:
		p.nested = max(p.nested-1, 0)
	}
}

// property adds a property to the current component, or to its broken properties if the line cannot be read. It stops
// the parser after maxProperties.
func (p *icalParser) property(name, rest string, line contentLine) {
	if p.properties++; p.properties > maxProperties {
		p.stop(errManyLines)
		return
	}
	c := p.current
	one, ok := parseProperty(name, rest)
	if ok && strings.EqualFold(one.parameter("ENCODING"), quotedPrintable) {
		one.value = decodeQuotedPrintable(one.value)
	} else if encoding := one.parameter("ENCODING"); encoding != "" && !strings.EqualFold(encoding, "8BIT") {
		ok = false
	}
	if !ok {
		if c.broken == nil {
			c.broken = make(map[string]int)
		}
		if _, twice := c.broken[name]; !twice {
			c.broken[name] = line.number
		}
		return
	}
	one.line = line.number
	one.value = p.decoder.text(one.value, one.parameter("CHARSET"))
	for key, value := range one.parameters {
		one.parameters[key] = p.decoder.text(value, one.parameter("CHARSET"))
	}
	if c.properties == nil {
		c.properties = make(map[string][]property)
	}
	c.properties[name] = append(c.properties[name], one)
	p.last, p.length, p.ended = name, line.length, line.ended
}

// shortLine is the number of bytes of a line below which a program does not fold it.
const shortLine = 60

// continueLast appends a line that is not a property to the value of the last property. If there is none, it counts the
// line as stray.
func (p *icalParser) continueLast(line contentLine) {
	if p.last == "" {
		if p.strayLines++; p.strayLines == 1 {
			p.strayLine = line.number
		}
		return
	}
	list := p.current.properties[p.last]
	if p.more == nil {
		p.more = append(p.more, list[len(list)-1].value...)
		p.current.flaw(line.number, "not a property; taken as part of "+p.last)
	}
	if textProperties[p.last] && p.length < shortLine {
		p.more = append(p.more, `\n`...)
	}
	p.more = append(p.more, p.decoder.text(line.text, "")...)
	p.length, p.ended = line.length, line.ended
}

// flush writes the appended lines into the value of the last property.
func (p *icalParser) flush() {
	if p.more != nil {
		list := p.current.properties[p.last]
		list[len(list)-1].value = string(p.more)
	}
	p.last, p.more = "", nil
}

// finish is called after the last line. It adds the notices about the whole file. If the file ends within an event, it
// marks the event as cut off.
func (p *icalParser) finish() {
	last := p.last
	p.flush()
	f := p.file
	if f.limit == nil && p.isEvent() {
		p.current.isCutOff = true
		if list := p.current.properties[last]; !p.ended && last != "" && !textProperties[last] {
			// Its value may be incomplete.
			p.current.flaw(list[len(list)-1].line, last+": the file ends within it; left out")
			p.current.properties[last] = list[:len(list)-1]
		}
	}
	f.isCutOff = f.isCutOff || f.limit != nil || p.isEvent()
	if p.strayLines > 0 {
		p.note("lines that are no properties are left out: %d, the first is line %d", p.strayLines, p.strayLine)
	}
	if p.decoder.decoded > 0 {
		p.note("lines that are not UTF-8: %d; they are read as %s", p.decoder.decoded, p.decoder.charmap)
	}
	if p.decoder.replaced > 0 {
		p.note("lines that are partly UTF-8: %d; some of their characters are replaced", p.decoder.replaced)
	}
}

// textEscapes decodes the escaped characters of a value of type TEXT (RFC 5545, section 3.3.11). Some programs escape
// quotes and colons too.
var textEscapes = strings.NewReplacer(
	`\\`, `\`, `\n`, "\n", `\N`, "\n", `\;`, ";", `\,`, ",", `\"`, `"`, `\:`, ":",
)

// icalText decodes a value of type TEXT. It removes white space at both ends.
func icalText(value string) string {
	return strings.TrimSpace(strings.ReplaceAll(textEscapes.Replace(value), "\r", ""))
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
