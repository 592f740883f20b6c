package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/markup"
)

// The sources of what an iCalendar file names without an id.
const (
	icalEvent     = "ical:"
	icalVenue     = "ical-venue:"
	icalOrganizer = "ical-organizer:"
	icalCategory  = "ical-category:"
)

// icalReader makes events of an iCalendar file.
type icalReader struct {
	file *icalFile
	site calendar.Site
	now  time.Time
	cal  *Calendar
	// floating and tentative count events.
	floating, tentative int
}

// decodeICal reads an iCalendar file. An event that makes no sense becomes a Problem and does not keep the others from
// being read. It returns an error when the file is no calendar at all.
func decodeICal(data []byte, site calendar.Site) (*Calendar, error) {
	f, err := parseICal(data)
	if err != nil {
		return nil, err
	}
	r := &icalReader{file: f, site: site, now: site.Now(), cal: &Calendar{}}
	for _, c := range f.calendars {
		c.zone, c.zones = site.Zone, newICalZones(c.declared, site.Zone, r.now)
	}
	for _, c := range f.events {
		c.calendar.zones.addDates(c)
	}
	for _, c := range f.calendars {
		if name := c.value("X-WR-TIMEZONE"); name != "" {
			zone, err := c.zones.find(name)
			if err == nil {
				c.zone = zone
			} else {
				r.cal.Notices = append(r.cal.Notices, fmt.Sprintf("X-WR-TIMEZONE: %v; %s is taken", err, c.zone))
			}
		}
	}
	components := f.events
	switch {
	case f.inEvent:
		components = components[:len(components)-1]
		r.problem(icalPlace(len(components)+1, ""), "the file ends within the event")
	case f.open:
		r.cal.Problems = append(r.cal.Problems, Problem{
			Where: "end of the file", Reason: "END:VCALENDAR is missing; what may have come after it stays as it is here",
		})
	}
	for _, group := range r.byUID(components) {
		r.group(group)
	}
	r.summarise()
	return r.cal, nil
}

// summarise adds the notices that are about the whole file.
func (r *icalReader) summarise() {
	note := func(format string, args ...any) {
		r.cal.Notices = append(r.cal.Notices, fmt.Sprintf(format, args...))
	}
	floating := make([]string, 0, 1) // the zones that are taken
	for _, c := range r.file.calendars {
		r.cal.Notices = append(r.cal.Notices, c.zones.notices...)
		if c.floating && !slices.Contains(floating, c.zone.String()) {
			floating = append(floating, c.zone.String())
		}
	}
	if r.floating > 0 {
		note("events with times of no zone: %d; their times are taken as those of %s", r.floating, strings.Join(floating, ", "))
	}
	if len(r.file.events) == 0 {
		note("it has no events")
	}
	if r.file.notUTF8 > 0 {
		note("lines that are not UTF-8: %d; some of their characters are replaced", r.file.notUTF8)
	}
	if r.tentative > 0 {
		note("events that are tentative: %d; they are taken as scheduled", r.tentative)
	}
	for _, block := range []string{"VTODO", "VJOURNAL", "VFREEBUSY"} {
		if n := r.file.other[block]; n > 0 {
			note("%s are left out: %d", otherComponents[block], n)
		}
	}
}

func (r *icalReader) problem(where, reason string) {
	r.cal.Problems = append(r.cal.Problems, Problem{Kind: calendar.Event, Where: where, Reason: reason})
}

// icalPlace returns where an event stands in a file, for people.
func icalPlace(index int, uid string) string {
	at := fmt.Sprintf("event %d", index)
	if uid != "" {
		at += " (UID " + shorten(uid) + ")"
	}
	return at
}

// icalComponent is a VEVENT with what it is known by.
type icalComponent struct {
	*component
	where    string
	uid      string
	sequence int
	changed  time.Time // LAST-MODIFIED, else DTSTAMP
	replaces *icalDate // the date of a series that it changes; nil for an event itself
}

// isOlderThan reports whether c is an older version of the same event than d.
func (c *icalComponent) isOlderThan(d *icalComponent) bool {
	if c.sequence != d.sequence {
		return c.sequence < d.sequence
	}
	return c.changed.Before(d.changed)
}

// latest returns the last version of each component, grouped by key. Of versions with the same time, the later
// one in the file counts. It adds a notice for each other version.
func (r *icalReader) latest(all []*icalComponent, key func(*icalComponent) string) []*icalComponent {
	var out []*icalComponent
	places := make(map[string]int)
	for _, c := range all {
		at, twice := places[key(c)]
		if !twice {
			places[key(c)] = len(out)
			out = append(out, c)
			continue
		}
		older := out[at]
		if c.isOlderThan(older) {
			older, c = c, older
		}
		out[at] = c
		r.cal.Notices = append(r.cal.Notices, fmt.Sprintf("%s: left out, because %s is a later version of it", older.where, c.where))
	}
	return out
}

// icalGroup has the components of a file with the same UID.
type icalGroup struct {
	masters   []*icalComponent
	master    *icalComponent   // the last version; nil if the file has changed dates only
	overrides []*icalComponent // with RECURRENCE-ID
}

// byUID returns the events by UID, in the order in which the file names them first.
func (r *icalReader) byUID(components []*component) []*icalGroup {
	var groups []*icalGroup
	byUID := make(map[string]*icalGroup)
	for i, c := range components {
		e := &icalComponent{component: c, uid: icalText(c.value("UID"))}
		e.where = icalPlace(i+1, e.uid)
		if e.uid == "" {
			r.problem(e.where, "UID: missing; without it the event would be imported again each time")
			continue
		}
		if n, err := strconv.Atoi(c.value("SEQUENCE")); err == nil {
			e.sequence = n
		}
		for _, name := range []string{"DTSTAMP", "LAST-MODIFIED"} {
			if at := c.instant(name); at != nil {
				e.changed = *at
			}
		}
		g := byUID[e.uid]
		if g == nil {
			g = &icalGroup{}
			byUID[e.uid] = g
			groups = append(groups, g)
		}
		date, isOverride := c.first("RECURRENCE-ID")
		if !isOverride {
			g.masters = append(g.masters, e)
			continue
		}
		if strings.EqualFold(date.parameter("RANGE"), "THISANDFUTURE") {
			r.problem(e.where, "a change of this and all following dates is not supported; they stay as the series has them")
			continue
		}
		id, err := c.calendar.date(date, date.value)
		if err != nil {
			r.problem(e.where, fmt.Sprintf("RECURRENCE-ID: %v", err))
			continue
		}
		e.replaces = &id
		g.overrides = append(g.overrides, e)
	}
	for _, g := range groups {
		if len(g.masters) > 0 {
			g.master = r.latest(g.masters, func(*icalComponent) string { return "" })[0]
		}
	}
	return groups
}

// group reads what the file has of one UID: an event, a series with its changed dates, or changed dates alone.
func (r *icalReader) group(g *icalGroup) {
	if g.master != nil && !isRecurring(g.master.component) {
		r.add(g.master, r.event(g.master, g.master.calendar.zone, false), icalKey(g.master.uid))
		g.master = nil
	}
	if g.master != nil {
		r.series(g)
		return
	}
	for _, o := range r.latest(g.overrides, func(c *icalComponent) string { return c.replaces.key() }) {
		d := r.event(o, o.calendar.zone, false)
		d.event.Replaces = &replacedDate{icalKey(o.uid), *o.replaces}
		r.add(o, d, icalDateKey(icalKey(o.uid), o.replaces.key()))
	}
}

// isRecurring reports whether an event has more dates than its start.
func isRecurring(c *component) bool { return len(c.properties["RRULE"])+len(c.properties["RDATE"]) > 0 }

// add takes an event that was read, or says why not.
func (r *icalReader) add(c *icalComponent, d decodedEvent, key string) {
	r.notices(c, d.log)
	if len(d.log.faults) > 0 {
		r.problem(c.where, joinErrors(d.log.faults))
		return
	}
	d.event.Key = key
	r.cal.Events = append(r.cal.Events, d.event)
}

func (r *icalReader) notices(c *icalComponent, log *journal) {
	for _, n := range log.notices {
		r.cal.Notices = append(r.cal.Notices, c.where+": "+n)
	}
}

// icalDateKey returns the source id of a date of a series that is not in the file.
func icalDateKey(series, date string) string { return series + "?recurrence=" + date }

// maxICalKey leaves room for a date in the source id of an event.
const maxICalKey = maxSource - len("?recurrence=20261205T180000Z")

// icalKey returns the source id of an event.
func icalKey(uid string) string {
	if key := icalEvent + uid; utf8.RuneCountInString(key) <= maxICalKey && !strings.ContainsFunc(uid, unicode.IsControl) {
		return key
	}
	return icalEvent + digest(uid)
}

// digest returns a short name for a text of any length.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// decodedEvent is an event with what was found out while it was read.
type decodedEvent struct {
	event *Event
	start icalDate
	log   *journal
}

// event reads a VEVENT. Zone is that of times in UTC, unless the event recurs.
func (r *icalReader) event(c *icalComponent, zone calendar.Zone, recurs bool) decodedEvent {
	d := decodedEvent{event: &Event{Origin: Origin{Where: c.where}, InFile: true}, log: &journal{}}
	e, o := d.event, icalObject{c, d.log}
	var err error
	if e.Span, d.start, err = c.span(zone, recurs); err != nil {
		d.log.faults = append(d.log.faults, err)
	} else if !recurs && !e.Span.AllDay {
		// A time that the clock of the zone skips is stored as the one that it stands for.
		e.Span.Start, e.Span.End = e.Span.Zone.Wall(e.Span.StartsAt()), e.Span.Zone.Wall(e.Span.EndsAt())
	}
	o.checkBroken()
	for _, name := range []string{"EXDATE", "EXRULE"} {
		if _, ok := o.first(name); ok && !recurs && o.replaces == nil {
			o.notice(name, "of an event that does not recur; left out")
		}
	}
	if len(o.properties["DTSTART"]) > 1 {
		o.notice("DTSTART", "more than one; the first is taken")
	}
	if e.Title = o.text("SUMMARY", maxTitle); e.Title == "" {
		o.fault("SUMMARY", "missing")
	}
	e.Description = new(o.description())
	e.Modified = c.instant("LAST-MODIFIED")
	if at := c.instant("CREATED"); at != nil && !at.After(r.now) {
		e.Published = at
	}
	e.EventStatus = new(calendar.Scheduled)
	switch status := strings.ToUpper(c.value("STATUS")); {
	case status == "CANCELLED" || strings.EqualFold(c.calendar.value("METHOD"), "CANCEL"):
		e.EventStatus = new(calendar.Canceled)
	case status == "TENTATIVE":
		r.tentative++
	}
	switch strings.ToUpper(c.value("CLASS")) {
	case "PRIVATE", "CONFIDENTIAL":
		e.Status = new(calendar.Private)
	}
	if len(d.log.faults) == 0 && d.start.floating && !e.Span.AllDay {
		r.floating++
		c.calendar.floating = true
	}
	if website := o.address("URL"); website != "" {
		e.Website = &Website{URL: website}
	}
	o.places(e)
	o.organizer(e)
	o.categories(e)
	return d
}

// icalObject reads the properties of a VEVENT as object reads the members of a JSON object.
type icalObject struct {
	*icalComponent
	log *journal
}

func (o icalObject) fault(name, text string) {
	o.log.faults = append(o.log.faults, fmt.Errorf("%s: %s", name, text))
}

func (o icalObject) notice(name, text string) { o.log.notices = append(o.log.notices, name+": "+text) }

// datesOfEvents are the properties without which the dates of an event may be others.
var datesOfEvents = []string{"DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID", "UID"}

// checkBroken reports the lines that cannot be read.
func (o icalObject) checkBroken() {
	for _, name := range slices.Compact(slices.Sorted(slices.Values(o.broken))) {
		if slices.Contains(datesOfEvents, name) {
			o.fault(name, "cannot be read")
		} else {
			o.notice(name, "cannot be read; left out")
		}
	}
}

// text reads plain text, no longer than limit characters.
func (o icalObject) text(name string, limit int) string {
	return o.plain(name, icalText(o.value(name)), limit)
}

// plain returns a text without markup, on one line.
func (o icalObject) plain(name, text string, limit int) string {
	s, err := markup.Text(strings.Join(strings.Fields(text), " "))
	if err != nil {
		o.fault(name, err.Error())
		return ""
	}
	s = markup.Inert(s)
	if utf8.RuneCountInString(s) > limit {
		o.notice(name, fmt.Sprintf("cut to %d characters", limit))
		s = strings.TrimSpace(string([]rune(s)[:limit]))
	}
	return s
}

// element finds the elements of HTML that programs write into descriptions.
var element = regexp.MustCompile(`(?i)</?(a|b|br|div|em|h[1-6]|html|i|li|ol|p|span|strong|u|ul)(\s[^<>]*)?/?>`)

// description returns the description as HTML. Text without elements keeps its lines.
func (o icalObject) description() string {
	if p, ok := o.first("X-ALT-DESC"); ok && strings.EqualFold(p.parameter("FMTTYPE"), "text/html") {
		if s := o.html("X-ALT-DESC", icalText(p.value)); s != "" {
			return s
		}
	}
	return o.html("DESCRIPTION", icalText(o.value("DESCRIPTION")))
}

// html returns a text as HTML, cleaned.
func (o icalObject) html(name, text string) string {
	if !element.MatchString(text) {
		text = html.EscapeString(text)
	}
	s, err := markup.HTML(text)
	if err != nil {
		o.notice(name, err.Error()+"; left out")
		return ""
	}
	return strings.TrimSpace(s)
}

// address returns the absolute http or https URL of a property, "" for anything else.
func (o icalObject) address(name string) string {
	if p, ok := o.first(name); ok {
		if s := webAddress(icalText(p.value)); s != "" {
			return s
		}
		if p.value != "" {
			o.notice(name, "not an address of the web; left out")
		}
	}
	return ""
}

// webAddress returns a text that is an absolute http or https URL, "" for anything else.
func webAddress(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || utf8.RuneCountInString(s) > maxURL ||
		strings.ContainsAny(s, " <>\"") {
		return ""
	}
	return s
}

// meetingProperties are the properties with the address of a meeting on the web.
var meetingProperties = []string{"CONFERENCE", "X-GOOGLE-CONFERENCE", "X-MICROSOFT-SKYPETEAMSMEETINGURL"}

// places reads where an event takes place: a venue, on the web, or both. A file that names no venue says that there is
// none.
func (o icalObject) places(e *Event) {
	e.HasVenues = true
	location := icalText(o.value("LOCATION"))
	meeting := webAddress(location)
	if meeting != "" {
		location = ""
	}
	for _, name := range meetingProperties {
		for _, p := range o.properties[name] {
			if meeting == "" {
				meeting = webAddress(icalText(p.value))
			}
		}
	}
	if v := o.venue(location); v != nil {
		e.Venues = []*Venue{v}
	}
	if meeting == "" {
		return
	}
	e.VirtualURL, e.Attendance = &meeting, new(calendar.Online)
	if len(e.Venues) > 0 {
		e.Attendance = new(calendar.Mixed)
	}
}

// venue makes a venue of a location: what stands before the first line break or comma is its name, the rest its address.
// It returns nil for no location.
func (o icalObject) venue(location string) *Venue {
	apple, _ := o.first("X-APPLE-STRUCTURED-LOCATION")
	if location == "" {
		location = strings.TrimSpace(icalText(apple.parameter("X-TITLE")))
	}
	name, rest, _ := strings.Cut(location, "\n")
	if rest == "" {
		name, rest, _ = strings.Cut(location, ",")
	}
	lines := slices.DeleteFunc(strings.Split(rest, "\n"), func(s string) bool { return strings.TrimSpace(s) == "" })
	v := &Venue{
		Name: o.plain("LOCATION", name, maxTitle), Address: o.plain("LOCATION", strings.Join(lines, ", "), maxText),
		ShowMap: true, ShowMapLink: true,
	}
	if v.Name == "" {
		return nil
	}
	id := digest(calendar.FoldName(v.Name + "\n" + v.Address))
	v.Origin = Origin{Key: icalVenue + id, Where: "venue of " + o.where, NameOnly: true}
	coordinates := strings.Replace(o.value("GEO"), ",", ";", 1)
	if coordinates == "" {
		if text, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(apple.value)), "geo:"); ok {
			coordinates = strings.Replace(text, ",", ";", 1)
		}
	}
	if coordinates == "" {
		return v
	}
	north, east, _ := strings.Cut(coordinates, ";")
	latitude, errNorth := strconv.ParseFloat(strings.TrimSpace(north), 64)
	longitude, errEast := strconv.ParseFloat(strings.TrimSpace(east), 64)
	switch {
	case errNorth != nil || errEast != nil,
		!(latitude >= -90 && latitude <= 90 && longitude >= -180 && longitude <= 180):
		o.notice("GEO", "not a place on earth; left out")
	case latitude != 0 || longitude != 0: // both are 0 where a program writes none
		v.Latitude, v.Longitude = &latitude, &longitude
	}
	return v
}

// organizer reads the organizer. Its e-mail address is that of the property.
func (o icalObject) organizer(e *Event) {
	p, ok := o.first("ORGANIZER")
	if !ok {
		return
	}
	name := o.plain("ORGANIZER", icalText(p.parameter("CN")), maxTitle)
	email := ""
	if text := strings.TrimSpace(p.value); len(text) > len("mailto:") && strings.EqualFold(text[:len("mailto:")], "mailto:") {
		if a, err := mail.ParseAddress(text[len("mailto:"):]); err == nil && !placeholderAddress(a.Address) {
			email = o.plain("ORGANIZER", a.Address, maxText)
		}
	}
	if name == "" || strings.HasPrefix(strings.ToLower(name), "mailto:") {
		name = email
	}
	if name == "" {
		o.notice("ORGANIZER", "without a name and an address; left out")
		return
	}
	e.HasOrganizers = true
	e.Organizers = []*Organizer{{
		Origin: Origin{
			Key:   icalOrganizer + digest(calendar.FoldName(name)+"\n"+strings.ToLower(email)),
			Where: "organizer of " + o.where, NameOnly: true,
		},
		Name: name, Email: email,
	}}
}

// placeholderAddress reports whether an e-mail address is one that Google Calendar writes for a calendar. It takes no mail.
func placeholderAddress(email string) bool {
	return strings.HasSuffix(strings.ToLower(email), "calendar.google.com")
}

// maxICalCategories is the maximum number of categories of an event; others are ignored.
const maxICalCategories = 50

func (o icalObject) categories(e *Event) {
	seen := make(map[string]bool)
	for _, p := range o.properties["CATEGORIES"] {
		for _, text := range icalTexts(p.value) {
			name := o.plain("CATEGORIES", text, maxText)
			folded := calendar.FoldName(name)
			if name == "" || seen[folded] {
				continue
			}
			if len(seen) == maxICalCategories {
				o.notice("CATEGORIES", fmt.Sprintf("more than %d; the rest is left out", maxICalCategories))
				return
			}
			seen[folded] = true
			e.HasCategories = true
			e.Terms = append(e.Terms, &Term{
				Origin: Origin{Key: icalCategory + digest(folded), Where: "category of " + o.where, NameOnly: true},
				Kind:   calendar.Category, Name: name,
			})
		}
	}
}
