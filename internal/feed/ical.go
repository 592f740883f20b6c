package feed

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/markup"
)

const (
	wallLayout = "20060102T150405"
	utcLayout  = wallLayout + "Z"
	dateLayout = "20060102"

	listedText = 1000 // longest description in a subscription, in characters
	maxLine    = 75   // longest line without its line end, in octets
)

// MaxText is the number of characters of a description in a file to import. Subscriptions have fewer.
const MaxText = 8000

// ICalendar returns the entries as iCalendar (RFC 5545, 7986), sorted by start and ID.
func (f *Feed) ICalendar(entries []Entry) []byte {
	parts := make([]Part, len(entries))
	for i := range entries {
		parts[i] = f.Part(&entries[i])
	}
	return f.ICalendarOf(parts)
}

type icalWriter struct {
	feed     *Feed
	out      []byte
	line     []byte // current content line, before folding
	canceled string // translated word for a cancelled event
}

// days reports whether the entry is written with dates instead of times. It is false for a protected all-day
// event, because the password protects that property.
func (e *Entry) days() bool { return e.AllDay && !e.Protected }

func (w *icalWriter) entry(e *Entry, local bool) {
	w.raw("BEGIN", "VEVENT")
	w.text("UID", e.UID)
	w.utc("DTSTAMP", e.Stamp)
	w.utc("LAST-MODIFIED", e.Stamp)
	if !e.Withdrawn && !e.Created.IsZero() {
		w.utc("CREATED", e.Created)
	}
	w.raw("SEQUENCE", strconv.Itoa(e.Sequence))
	w.span(e, local)
	w.recurrence(e, local)
	if e.Withdrawn {
		w.text("SUMMARY", w.canceled)
		w.raw("STATUS", "CANCELLED")
		w.raw("TRANSP", "TRANSPARENT")
		w.raw("END", "VEVENT")
		return
	}
	w.text("SUMMARY", w.summary(e))
	if !e.Protected {
		w.description(e)
	}
	w.uri("URL", e.URL)
	if !e.Protected {
		w.text("LOCATION", e.location())
		w.position(e.Places)
		w.categories(e.Categories)
		w.image(e.Image)
		w.organizers(e.Organizers)
		w.text("RELATED-TO", e.Related)
	}
	switch e.Status {
	case calendar.Canceled:
		w.raw("STATUS", "CANCELLED")
	case calendar.Postponed:
		w.raw("STATUS", "TENTATIVE")
	default:
		w.raw("STATUS", "CONFIRMED")
	}
	if !e.Protected && e.Status != calendar.Canceled {
		w.uri("CONFERENCE;VALUE=URI;FEATURE=VIDEO", e.VirtualURL)
	}
	if w.feed.Import && !e.days() {
		w.raw("TRANSP", "OPAQUE")
	} else {
		w.raw("TRANSP", "TRANSPARENT")
	}
	w.raw("END", "VEVENT")
}

// span writes DTSTART, and DTEND if the end is later than the start. If local is true, it writes wall times of
// the entry's zone, otherwise UTC.
func (w *icalWriter) span(e *Entry, local bool) {
	if e.days() {
		first, after := e.StartWall.StartOfDay(), e.EndWall.StartOfDay().AddDate(0, 0, 1)
		if year, _, _ := after.Date(); year > 9999 {
			after = e.EndWall.StartOfDay() // DTEND is exclusive, and a year has four digits
		}
		w.days("DTSTART", first)
		if first.Before(after) {
			w.days("DTEND", after)
		}
		return
	}
	w.instant("DTSTART", e.Start, e.Zone, local)
	if e.End.After(e.Start) {
		w.instant("DTEND", e.End, e.Zone, local)
	}
}

// recurrence writes the properties of a series or of a changed occurrence. A nil Recurrence writes nothing. If
// local is true, times are wall times of the entry's zone, otherwise UTC.
func (w *icalWriter) recurrence(e *Entry, local bool) {
	r := e.Recurrence
	if r == nil {
		return
	}
	write := func(name string, at calendar.Wall) {
		if e.days() {
			w.days(name, at)
		} else {
			w.instant(name, e.Zone.Instant(at), e.Zone, local)
		}
	}
	if !r.Replaces.IsZero() {
		write("RECURRENCE-ID", r.Replaces)
	}
	if r.Rule != "" {
		w.raw("RRULE", r.Rule)
	}
	for _, at := range r.Excluded {
		write("EXDATE", at)
	}
}

func (w *icalWriter) summary(e *Entry) string {
	switch {
	case e.Status != calendar.Canceled:
		return e.Title
	case e.Title == "":
		return w.canceled
	}
	return w.canceled + ": " + e.Title
}

func (w *icalWriter) description(e *Entry) {
	limit := listedText
	if w.feed.Import {
		limit = MaxText
	}
	text, address := markup.Lines(e.Description, limit), uri(e.URL)
	if text != "" && address != "" {
		text += "\n\n"
	}
	w.text("DESCRIPTION", text+address)
}

// location returns all places of the entry in one line.
func (e *Entry) location() string {
	lines := make([]string, len(e.Places))
	for i := range e.Places {
		lines[i] = e.Places[i].line()
	}
	return joinNonEmpty("; ", lines...)
}

// line returns the place in one line, without empty fields.
func (p *Place) line() string {
	return joinNonEmpty(", ", p.Name, p.Address, joinNonEmpty(" ", p.Zip, p.City), p.Region, p.Country)
}

// position writes GEO and X-APPLE-STRUCTURED-LOCATION with the first place that has coordinates.
func (w *icalWriter) position(places []Place) {
	i := slices.IndexFunc(places, func(p Place) bool { return p.Located })
	if i < 0 {
		return
	}
	p := &places[i]
	w.begin("GEO:")
	w.degrees(p.Latitude)
	w.line = append(w.line, ';')
	w.degrees(p.Longitude)
	w.end()
	w.begin("X-APPLE-STRUCTURED-LOCATION;VALUE=URI")
	w.parameter("X-TITLE", p.Name)
	w.line = append(w.line, ":geo:"...)
	w.degrees(p.Latitude)
	w.line = append(w.line, ',')
	w.degrees(p.Longitude)
	w.end()
}

func (w *icalWriter) degrees(d float64) { w.line = strconv.AppendFloat(w.line, d, 'f', 6, 64) }

func (w *icalWriter) categories(names []string) {
	w.begin("CATEGORIES:")
	none := len(w.line)
	for _, name := range names {
		if name == "" {
			continue
		}
		if len(w.line) > none {
			w.line = append(w.line, ',')
		}
		w.line = appendText(w.line, name)
	}
	if len(w.line) > none {
		w.end()
	}
}

func (w *icalWriter) image(i Image) {
	address := uri(i.URL)
	if address == "" {
		return
	}
	format := ""
	if isMediaType(i.MediaType) {
		format = ";FMTTYPE=" + i.MediaType
	}
	w.raw("IMAGE;VALUE=URI;DISPLAY=BADGE"+format, address)
	w.raw("ATTACH"+format, address)
}

// organizers writes the first organizer with an e-mail address as ORGANIZER, and all others as CONTACT.
func (w *icalWriter) organizers(all []Organizer) {
	first := slices.IndexFunc(all, func(o Organizer) bool { return mailto(o.Email) != "" })
	if first >= 0 {
		w.begin("ORGANIZER")
		w.parameter("CN", all[first].Name)
		w.line = append(append(w.line, ':'), mailto(all[first].Email)...)
		w.end()
	}
	for i, o := range all {
		if i != first {
			w.text("CONTACT", joinNonEmpty(", ", o.Name, o.Phone, o.Email))
		}
	}
}

// joinNonEmpty joins the texts that are not empty, with a separator.
func joinNonEmpty(separator string, texts ...string) string {
	texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" })
	return strings.Join(texts, separator)
}

// raw writes a property whose value needs no escaping.
func (w *icalWriter) raw(name, value string) {
	w.begin(name)
	w.line = append(append(w.line, ':'), value...)
	w.end()
}

// text writes a property of type TEXT. It writes nothing if the value is empty.
func (w *icalWriter) text(name, value string) {
	if value == "" {
		return
	}
	w.begin(name)
	w.line = appendText(append(w.line, ':'), value)
	w.end()
}

// uri writes a property of type URI. It writes nothing if the value is not a web address.
func (w *icalWriter) uri(name, address string) {
	if address = uri(address); address != "" {
		w.raw(name, address)
	}
}

func (w *icalWriter) utc(name string, at time.Time) {
	w.begin(name)
	w.line = at.UTC().AppendFormat(append(w.line, ':'), utcLayout)
	w.end()
}

// instant writes a property with an instant in UTC. If local is true, it writes the wall time in the zone
// instead.
func (w *icalWriter) instant(name string, at time.Time, zone calendar.Zone, local bool) {
	if !local {
		w.utc(name, at)
		return
	}
	w.begin(name)
	w.line = append(append(append(w.line, ";TZID="...), zone.String()...), ':')
	w.line = at.In(zone.Location()).AppendFormat(w.line, wallLayout)
	w.end()
}

func (w *icalWriter) days(name string, day calendar.Wall) {
	w.raw(name+";VALUE=DATE", day.Format(dateLayout))
}

func (w *icalWriter) begin(name string) { w.line = append(w.line[:0], name...) }

// end writes the current content line. It folds long lines without splitting a character.
func (w *icalWriter) end() {
	line, limit := w.line, maxLine
	for len(line) > limit {
		cut := limit
		for !utf8.RuneStart(line[cut]) {
			cut--
		}
		w.out = append(append(w.out, line[:cut]...), "\r\n "...)
		line, limit = line[cut:], maxLine-1 // the leading blank counts too
	}
	w.out = append(append(w.out, line...), "\r\n"...)
}

// parameter appends a property parameter with a quoted value (RFC 6868). It appends nothing if the value is
// empty.
func (w *icalWriter) parameter(name, value string) {
	if value == "" {
		return
	}
	w.line = append(append(append(w.line, ';'), name...), `="`...)
	w.line = append(appendEscaped(w.line, value, parameterEscape), '"')
}

// appendText appends a value of type TEXT with its escapes.
func appendText(b []byte, s string) []byte { return appendEscaped(b, s, textEscape) }

func textEscape(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\\':
		return `\\`
	case ';':
		return `\;`
	case ',':
		return `\,`
	}
	return ""
}

func parameterEscape(r rune) string {
	switch r {
	case '\n':
		return "^n"
	case '^':
		return "^^"
	case '"':
		return "^'"
	}
	return ""
}

// appendEscaped appends a text. escape returns the replacement of a character; "" keeps the character. Every
// kind of line break becomes a line feed, and a tab becomes a blank. Other control characters are left out, and
// invalid UTF-8 becomes U+FFFD.
func appendEscaped(b []byte, s string, escape func(rune) string) []byte {
	done := 0 // s is written up to this index
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		from := i
		i += size
		switch {
		case r == '\r' && i < len(s) && s[i] == '\n':
			b = append(b, s[done:from]...)
			done = i
			continue
		case breaksLine(r):
			r = '\n'
		case r == '\t':
			b = append(append(b, s[done:from]...), ' ')
			done = i
			continue
		case isControl(r):
			b = append(b, s[done:from]...)
			done = i
			continue
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[done:from]...), "\uFFFD"...)
			done = i
			continue
		}
		if text := escape(r); text != "" {
			b = append(append(b, s[done:from]...), text...)
			done = i
		}
	}
	return append(b, s[done:]...)
}

// breaksLine reports whether r is a line break in Unicode.
func breaksLine(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// isControl reports whether r is a control character of ASCII (C0) or C1.
func isControl(r rune) bool { return r < ' ' || 0x7f <= r && r < 0xa0 }
