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

// Prefixes of source ids of records in iCalendar files. Records other than events have no id in the file.
const (
	icalEvent     = "ical:"
	icalVenue     = "ical-venue:"
	icalOrganizer = "ical-organizer:"
	icalCategory  = "ical-category:"
)

// icalReader converts the components of an iCalendar file to events.
type icalReader struct {
	file *icalFile
	site calendar.Site
	now  time.Time
	cal  *Calendar
	// floating and tentative are numbers of events, for notices.
	floating, tentative int
}

// decodeICal reads an iCalendar file. An invalid event becomes a Problem, and decodeICal continues with the
// next one. It returns an error if data is not an iCalendar file.
func decodeICal(data []byte, site calendar.Site) (*Calendar, error) {
	f, err := parseICal(data)
	if err != nil {
		return nil, err
	}
	r := &icalReader{file: f, site: site, now: site.Now(), cal: &Calendar{}}
	budget := newZoneBudget()
	for _, c := range f.calendars {
		c.zone, c.zones = site.Zone, newICalZones(c.declared, site.Zone, r.now, budget)
	}
	for _, c := range f.events {
		c.calendar.zones.addDates(c)
	}
	for _, c := range f.calendars {
		if name := c.value("X-WR-TIMEZONE"); name != "" {
			zone := c.zones.find(name)
			if zone.clock != nil {
				c.own = zone
			}
			if zone.known {
				c.zone = zone.zone
			} else {
				r.cal.Notices = append(r.cal.Notices,
					fmt.Sprintf("X-WR-TIMEZONE: time zone %q is unknown; %s is taken", shorten(zone.name), c.zone))
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

// summarise adds the notices that concern the whole file.
func (r *icalReader) summarise() {
	note := func(format string, args ...any) {
		r.cal.Notices = append(r.cal.Notices, fmt.Sprintf(format, args...))
	}
	floating := make([]string, 0, 1) // zones that floating times get
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

// icalPlace returns the position of an event in a file, for messages.
func icalPlace(index int, uid string) string {
	at := fmt.Sprintf("event %d", index)
	if uid != "" {
		at += " (UID " + shorten(uid) + ")"
	}
	return at
}

// icalComponent is a VEVENT component with its identifying properties.
type icalComponent struct {
	*component
	where    string
	uid      string
	sequence int
	changed  time.Time // time of LAST-MODIFIED, otherwise DTSTAMP
	replaces *icalDate // RECURRENCE-ID, the date of a series that it changes; nil for the event itself
	// following reports whether it changes all later dates as well (RANGE=THISANDFUTURE).
	following bool
}

// isOlderThan reports whether c is an older version of the same event than d.
func (c *icalComponent) isOlderThan(d *icalComponent) bool {
	if c.sequence != d.sequence {
		return c.sequence < d.sequence
	}
	return c.changed.Before(d.changed)
}

// latest returns the newest version of each component. Components with the same key are versions of one. If two
// have the same time, the later one in the file wins. It adds a notice for each older version.
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

// icalGroup has the components of a file that share a UID.
type icalGroup struct {
	masters   []*icalComponent
	master    *icalComponent   // newest version; nil if the file has only changed dates
	overrides []*icalComponent // components with RECURRENCE-ID
}

// byUID groups the components by UID, in the order of the first component of each.
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
		// Any other range is that of the date alone (RFC 5545, section 3.2.13). THISANDPRIOR is that of RFC 2445.
		switch strings.ToUpper(strings.TrimSpace(date.parameter("RANGE"))) {
		case "THISANDFUTURE":
			e.following = true
		case "THISANDPRIOR":
			r.problem(e.where, "a change of this and all earlier dates is not supported; they stay as the series has them")
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

// group reads the components of one UID: a single event, a series with its changed dates, or changed dates
// without a series.
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
		if o.following {
			icalObject{o, d.log}.notice("RECURRENCE-ID", "the following dates stay as they are, because the series is not in the file")
		}
		d.event.Replaces = &replacedDate{icalKey(o.uid), *o.replaces}
		r.add(o, d, icalDateKey(icalKey(o.uid), o.replaces.key()))
	}
}

// isRecurring reports whether an event has an RRULE or RDATE with a value.
func isRecurring(c *component) bool {
	return slices.ContainsFunc(slices.Concat(c.properties["RRULE"], c.properties["RDATE"]), func(p property) bool {
		return strings.Trim(p.value, ", ") != ""
	})
}

// add adds a decoded event to the calendar, or a Problem if the event has faults.
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

// icalDateKey returns the source id of a changed date whose series is not in the file.
func icalDateKey(series, date string) string { return series + "?recurrence=" + date }

// maxICalKey is the maximum length of the source id of an event, in characters. It leaves room for icalDateKey.
const maxICalKey = maxSource - len("?recurrence=20261205T180000Z")

// icalKey returns the source id of an event.
func icalKey(uid string) string {
	if key := icalEvent + uid; utf8.RuneCountInString(key) <= maxICalKey && !strings.ContainsFunc(uid, unicode.IsControl) {
		return key
	}
	return icalEvent + digest(uid)
}

// digest returns a hash of a text in 32 hexadecimal digits.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// decodedEvent is an event with its DTSTART and its faults and notices.
type decodedEvent struct {
	event *Event
	start icalDate
	log   *journal
}

// event reads a VEVENT. Times in UTC are converted to zone, unless the event recurs.
func (r *icalReader) event(c *icalComponent, zone calendar.Zone, recurs bool) decodedEvent {
	d := decodedEvent{event: &Event{Origin: Origin{Where: c.where}, InFile: true}, log: &journal{}}
	e, o := d.event, icalObject{c, d.log}
	var err error
	if e.Span, d.start, err = c.span(zone, recurs); err != nil {
		d.log.faults = append(d.log.faults, err)
	} else if !recurs && !e.Span.AllDay {
		// A wall time that the clock of the zone skips is replaced by the time at that instant.
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
	switch statuses := c.words("STATUS"); {
	case slices.Contains(statuses, "CANCELLED") || slices.Contains(c.calendar.words("METHOD"), "CANCEL"):
		e.EventStatus = new(calendar.Canceled)
	case slices.Contains(statuses, "TENTATIVE"):
		r.tentative++
	}
	if c.isPrivate() {
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

// isPrivate reports whether the file keeps the event from the public. A CLASS that is not recognised, or cannot be read,
// means private (RFC 5545, section 3.8.1.3). The strictest of several values counts.
func (c *icalComponent) isPrivate() bool {
	return slices.Contains(c.broken, "CLASS") ||
		slices.ContainsFunc(c.words("CLASS"), func(class string) bool { return class != "PUBLIC" })
}

// icalObject reads the properties of a VEVENT, like object reads the members of a JSON object.
type icalObject struct {
	*icalComponent
	log *journal
}

func (o icalObject) fault(name, text string) {
	o.log.faults = append(o.log.faults, fmt.Errorf("%s: %s", name, text))
}

func (o icalObject) notice(name, text string) { o.log.notices = append(o.log.notices, name+": "+text) }

// datesOfEvents are the properties that affect the dates or the identity of an event. If one is unreadable, the
// event is not imported.
var datesOfEvents = []string{"DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID", "UID"}

// checkBroken adds a fault or a notice for each property that cannot be read.
func (o icalObject) checkBroken() {
	for _, name := range slices.Compact(slices.Sorted(slices.Values(o.broken))) {
		if slices.Contains(datesOfEvents, name) {
			o.fault(name, "cannot be read")
		} else {
			o.notice(name, "cannot be read; left out")
		}
	}
}

// text reads a property as plain text of at most limit characters.
func (o icalObject) text(name string, limit int) string {
	return o.plain(name, icalText(o.value(name)), limit)
}

// plain returns a text without markup, on one line, cut to limit characters.
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

// element matches the HTML elements that programs write into descriptions.
var element = regexp.MustCompile(`(?i)</?(a|b|br|div|em|h[1-6]|html|i|li|ol|p|span|strong|u|ul)(\s[^<>]*)?/?>`)

// description returns the description as HTML. It keeps the lines of a plain text.
func (o icalObject) description() string {
	if p, ok := o.first("X-ALT-DESC"); ok && strings.EqualFold(p.parameter("FMTTYPE"), "text/html") {
		if s := o.html("X-ALT-DESC", icalText(p.value)); s != "" {
			return s
		}
	}
	return o.html("DESCRIPTION", icalText(o.value("DESCRIPTION")))
}

// html returns a text as sanitised HTML.
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

// address returns the absolute http or https URL of a property. For anything else it returns "".
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

// webAddress returns s if it is an absolute http or https URL. For anything else it returns "".
func webAddress(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || utf8.RuneCountInString(s) > maxURL ||
		strings.ContainsAny(s, " <>\"") {
		return ""
	}
	return s
}

// meetingProperties are the properties with the address of an online meeting.
var meetingProperties = []string{"CONFERENCE", "X-GOOGLE-CONFERENCE", "X-MICROSOFT-SKYPETEAMSMEETINGURL"}

// places reads where an event takes place: at a venue, online, or both. A LOCATION that is a
// web address means online. An event without a location also loses its stored venues, because HasVenues is set.
func (o icalObject) places(e *Event) {
	e.HasVenues = true
	location := icalText(o.value("LOCATION"))
	meeting := webAddress(location)
	if meeting != "" {
		location = ""
	}
	for _, name := range meetingProperties {
		for _, p := range o.properties[name] {
			if meeting == "" && !p.isForModerators() {
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

// venue converts a location to a venue. The text before the first line break or comma is the name, the rest is
// the address. It returns nil if there is no location.
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
	case latitude != 0 || longitude != 0: // programs write 0;0 for an unknown position
		v.Latitude, v.Longitude = &latitude, &longitude
	}
	return v
}

// organizer reads the organizer of an event. The value of the property is the e-mail address.
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

// placeholderAddress reports whether Google Calendar generated the e-mail address for a calendar. Such an
// address receives no mail.
func placeholderAddress(email string) bool {
	return strings.HasSuffix(strings.ToLower(email), "calendar.google.com")
}

// maxICalCategories is the maximum number of categories of an event. The importer ignores others.
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
