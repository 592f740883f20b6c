package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"maps"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/locale"
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
	// hasPrivate reports whether the file keeps some of its events from the public.
	hasPrivate bool
}

// decodeICal reads an iCalendar file. A property that cannot be used is left out of its event, with a notice. An event
// without a start becomes a Problem, and decodeICal continues with the next one. Titles that it makes up are in the
// language of the site. It returns an error if data is not an iCalendar file.
func decodeICal(data []byte, site calendar.Site) (*Calendar, error) {
	f, err := parseICal(data, site.Language)
	if err != nil {
		return nil, err
	}
	r := &icalReader{file: f, site: site, now: site.Now(), cal: &Calendar{Notices: f.notices}}
	budget := newZoneBudget()
	for _, c := range f.calendars {
		c.zone, c.zones = site.Zone, newICalZones(c.declared, site.Zone, r.now, budget)
		c.local = sync.OnceValues(c.localClock)
	}
	for _, c := range f.events {
		if c.calendar.isVersion1() {
			c.convertVersion1()
		}
		c.calendar.zones.addDates(c)
	}
	for _, c := range f.calendars {
		r.setZone(c)
	}
	groups := r.byUID(f.events)
	for _, group := range groups {
		r.group(group)
	}
	r.summarise()
	return r.cal, nil
}

// setZone sets the zone of a calendar from X-WR-TIMEZONE, or from TZ of vCalendar 1.0.
func (r *icalReader) setZone(c *icalCalendar) {
	name := icalText(c.value("X-WR-TIMEZONE"))
	if zone, ok := c.version1Zone(); ok && name == "" {
		c.zone, c.named = zone, true
	}
	if name == "" {
		return
	}
	zone := c.zones.find(name)
	if zone.clock != nil {
		c.own = zone
	}
	if !zone.known && zone.clock == nil {
		r.cal.Notices = append(r.cal.Notices,
			fmt.Sprintf("X-WR-TIMEZONE: time zone %q is unknown; %s is taken", shorten(zone.name), c.zone))
		return
	}
	if zone.known {
		c.zone, c.named = zone.zone, true
	}
}

// summarise adds the notices that concern the whole file.
func (r *icalReader) summarise() {
	note := func(format string, args ...any) {
		r.cal.Notices = append(r.cal.Notices, fmt.Sprintf(format, args...))
	}
	switch f := r.file; {
	case f.limit != nil:
		reason := f.limit.Error() + "; what follows is not read"
		if f.unread > 0 {
			reason += fmt.Sprintf(", with %d events", f.unread)
		}
		r.cal.Problems = append(r.cal.Problems, Problem{Where: "the file", Reason: reason})
	case f.open:
		r.cal.Problems = append(r.cal.Problems, Problem{
			Where: "end of the file", Reason: "END:VCALENDAR is missing; what may have come after it stays as it is here",
		})
	}
	floating := make([]string, 0, 1) // zones that floating times get
	for _, c := range r.file.calendars {
		r.cal.Notices = append(r.cal.Notices, c.zones.notices...)
		for _, name := range slices.Sorted(maps.Keys(c.zones.found)) {
			if zone := c.zones.found[name]; zone.clock != nil && zone.clock.cut {
				note("time zone %q has more changes of its clock than are read; its times may be wrong", shorten(zone.name))
			}
		}
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
	if r.tentative > 0 {
		note("events that are tentative: %d; they are taken as scheduled", r.tentative)
	}
	for _, block := range []string{"VTODO", "VJOURNAL", "VFREEBUSY"} {
		if n := r.file.other[block]; n > 0 {
			note("%s are left out: %d", otherComponents[block], n)
		}
	}
}

// problem adds an event that is not imported.
func (r *icalReader) problem(c *icalComponent, reason string) {
	r.cal.Problems = append(r.cal.Problems, Problem{
		Kind: calendar.Event, Title: shorten(onOneLine(icalText(c.value("SUMMARY")))), Where: c.where, Reason: reason,
	})
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
	hasUID   bool // the file has the UID, and no other event in it
	sequence int
	changed  time.Time // time of LAST-MODIFIED, otherwise DTSTAMP
	replaces *icalDate // RECURRENCE-ID, the date of a series that it changes; nil for the event itself
	// following reports whether it changes all later dates as well (RANGE=THISANDFUTURE).
	following bool
	// atReplaced reports whether it has no start of its own, so that it stays where the series has it.
	atReplaced bool
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
	others    []*icalComponent // events of their own that share the UID of master
	overrides []*icalComponent // components with RECURRENCE-ID
}

// byUID groups the components by UID, in the order of the first component of each.
func (r *icalReader) byUID(components []*component) []*icalGroup {
	var groups []*icalGroup
	byUID := make(map[string]*icalGroup)
	standIns := make(map[string]int)
	for i, c := range components {
		e := &icalComponent{component: c, uid: icalText(c.value("UID"))}
		e.where, e.hasUID = icalPlace(i+1, e.uid), e.uid != ""
		r.hasPrivate = r.hasPrivate || e.isPrivate()
		if e.uid == "" {
			e.uid = e.standInUID(standIns)
			r.cal.Notices = append(r.cal.Notices, fmt.Sprintf("%s: UID: missing; the event is known by its start and title", e.where))
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
		date, _ := c.first("RECURRENCE-ID")
		if strings.TrimSpace(date.value) == "" && c.broken["RECURRENCE-ID"] == 0 {
			g.masters = append(g.masters, e)
			continue
		}
		// Any other range is that of the date alone (RFC 5545, section 3.2.13). THISANDPRIOR is that of RFC 2445.
		switch strings.ToUpper(strings.TrimSpace(date.parameter("RANGE"))) {
		case "THISANDFUTURE":
			e.following = true
		case "THISANDPRIOR":
			r.problem(e, "a change of this and all earlier dates is not supported; they stay as the series has them")
			continue
		}
		id, err := c.calendar.date(date, date.value)
		if err != nil {
			start, startErr := c.start()
			if startErr != nil {
				r.problem(e, fmt.Sprintf("line %d: RECURRENCE-ID: %v", c.lineOf("RECURRENCE-ID"), err))
				continue
			}
			c.flaw(c.lineOf("RECURRENCE-ID"), fmt.Sprintf("RECURRENCE-ID: %v; DTSTART is taken", err))
			id = start
		}
		e.replaces = &id
		if e.atReplaced = len(c.properties["DTSTART"]) == 0 && c.broken["DTSTART"] == 0; e.atReplaced {
			c.properties["DTSTART"] = []property{date}
			if !c.isCanceled() {
				c.flaw(c.lineOf("RECURRENCE-ID"), "DTSTART: missing; RECURRENCE-ID is taken")
			}
		}
		g.overrides = append(g.overrides, e)
	}
	for _, g := range groups {
		g.chooseMaster(r)
	}
	return groups
}

// chooseMaster chooses the event itself among the components of a UID. Some programs write a RECURRENCE-ID into it.
func (g *icalGroup) chooseMaster(r *icalReader) {
	recurs := func(c *icalComponent) bool { return isRecurring(c.component) && !c.following }
	if i := slices.IndexFunc(g.overrides, recurs); i >= 0 && len(g.masters) == 0 {
		c := g.overrides[i]
		c.flaw(c.lineOf("RECURRENCE-ID"), "RECURRENCE-ID: beside a rule; left out")
		c.replaces = nil
		g.masters, g.overrides = []*icalComponent{c}, slices.Delete(g.overrides, i, i+1)
	}
	if len(g.masters) == 0 {
		return
	}
	distinct := r.latest(g.masters, g.versionKey())
	slices.SortStableFunc(distinct, func(a, b *icalComponent) int {
		if recurs(a) != recurs(b) {
			return map[bool]int{true: -1, false: 1}[recurs(a)]
		}
		return strings.Compare(a.startKey(), b.startKey())
	})
	g.master, g.others = distinct[0], distinct[1:]
	g.master.hasUID = g.master.hasUID && len(g.others) == 0
}

// versionKey returns a function whose result is equal for the versions of an event. Some programs give several events one
// UID. Without any sign of versions, events with different starts are different events.
func (g *icalGroup) versionKey() func(*icalComponent) string {
	first := g.masters[0]
	areVersions := slices.ContainsFunc(g.masters, func(c *icalComponent) bool {
		_, err := c.start()
		return err != nil || c.sequence != first.sequence || !c.changed.Equal(first.changed)
	})
	return func(c *icalComponent) string {
		if areVersions {
			return ""
		}
		return c.startKey()
	}
}

// startKey returns a text that is equal for equal starts, or "" without a start.
func (c *component) startKey() string {
	start, err := c.start()
	if err != nil {
		return ""
	}
	return start.key()
}

// group reads the components of one UID: a single event, a series with its changed dates, or changed dates
// without a series.
func (r *icalReader) group(g *icalGroup) {
	for _, c := range g.others {
		r.cal.Notices = append(r.cal.Notices,
			fmt.Sprintf("%s: line %d: UID: also that of %s, which has another start; taken as another event", c.where, c.lineOf("UID"), g.master.where))
		d := r.event(c, c.calendar.zone, false)
		r.add(c, d, icalKey(c.uid)+"?start="+d.start.key())
	}
	if g.master != nil && !isRecurring(g.master.component) {
		one := g.master
		if start, err := one.start(); err == nil {
			isOwn := func(c *icalComponent) bool { return c.replaces.key() == start.key() && !c.following }
			if i := slices.IndexFunc(g.overrides, isOwn); i >= 0 { // a change of the only date
				one = g.overrides[i]
				g.overrides = slices.Delete(g.overrides, i, i+1)
			}
		}
		r.add(one, r.event(one, one.calendar.zone, false), icalKey(one.uid))
		g.master = nil
	}
	if g.master != nil {
		r.readDates(g)
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
	hasValue := func(p property) bool { return strings.Trim(p.value, " \t,;") != "" }
	return slices.ContainsFunc(c.properties["RRULE"], hasValue) || slices.ContainsFunc(c.properties["RDATE"], hasValue)
}

// add adds a decoded event to the calendar, or a Problem if the event has faults.
func (r *icalReader) add(c *icalComponent, d decodedEvent, key string) {
	r.notices(c, d.log)
	if len(d.log.faults) > 0 {
		r.problem(c, joinErrors(d.log.faults))
		return
	}
	d.event.Key, d.event.Altered, d.event.Incomplete = key, d.isAltered(), r.file.open
	if c.hasUID && key == icalKey(c.uid) && d.event.Series == nil {
		d.event.UID = c.uid // each date of a series has one of its own
	}
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

// standInUID returns an identity for an event without UID that is the same in the next import: of its start and title. Seen
// counts those of the file, because several events may have the same.
func (c *icalComponent) standInUID(seen map[string]int) string {
	start := c.value("DTSTART")
	if d, err := c.start(); err == nil {
		start = d.key()
	}
	text := start + "\n" + calendar.FoldName(onOneLine(icalText(c.value("SUMMARY"))))
	seen[text]++
	if n := seen[text]; n > 1 {
		text += fmt.Sprintf("\n%d", n)
	}
	return "without-uid-" + digest(text)
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
	d.log.notices = append(d.log.notices, c.flaws...)
	var flaws []propertyFlaw
	var err error
	if e.Span, d.start, flaws, err = c.span(zone, recurs); err != nil {
		d.log.faults = append(d.log.faults, fmt.Errorf("line %d: %w", c.lineOf("DTSTART"), err))
	} else if !recurs && !e.Span.AllDay {
		// A wall time that the clock of the zone skips is replaced by the time at that instant.
		e.Span.Start, e.Span.End = e.Span.Zone.Wall(e.Span.StartsAt()), e.Span.Zone.Wall(e.Span.EndsAt())
	}
	for _, f := range flaws {
		o.notice(f.name, f.text)
	}
	o.checkLines(recurs)
	e.Description = new(o.description())
	e.Modified = c.instant("LAST-MODIFIED")
	if at := c.instant("CREATED"); at != nil && !at.After(r.now) {
		e.Published = at
	}
	e.EventStatus = new(calendar.Scheduled)
	switch {
	case c.isCanceled() || slices.Contains(c.calendar.words("METHOD"), "CANCEL"):
		e.EventStatus = new(calendar.Canceled)
	case slices.Contains(c.words("STATUS"), "TENTATIVE"):
		r.tentative++
	}
	if c.isPrivate() || c.cut && r.hasPrivate {
		e.Status = new(calendar.Private)
	}
	if len(d.log.faults) == 0 && d.start.floating && c.calendar.own == nil && !e.Span.AllDay {
		r.floating++
		c.calendar.floating = true
	}
	if website := o.address("URL"); website != "" {
		e.Website = &Website{URL: website}
	}
	o.places(e)
	o.organizer(e)
	o.categories(e)
	if e.Title = o.plain("SUMMARY", titleText(icalText(o.value("SUMMARY"))), maxTitle); e.Title == "" {
		e.Title = standInTitle(e, r.site.Language)
		o.notice("SUMMARY", fmt.Sprintf("missing; the title is %q", shorten(e.Title)))
	}
	if c.cut && len(d.log.faults) == 0 {
		o.keepStored(e)
	}
	e.Altered = d.isAltered()
	return d
}

// isAltered reports whether something of the event was left out or changed.
func (d decodedEvent) isAltered() bool { return len(d.log.notices) > 0 || d.start.unknown }

// isCanceled reports whether an event does not take place.
func (c *component) isCanceled() bool {
	return slices.ContainsFunc(c.words("STATUS"), func(status string) bool { return status == "CANCELLED" || status == "CANCELED" })
}

// standInTitle returns a title for an event without one: its category, else the word for an event in the language, with
// the name of the venue.
func standInTitle(e *Event, language calendar.Language) string {
	if len(e.Terms) > 0 {
		return e.Terms[0].Name
	}
	title := "Event"
	if words, err := locale.Load(); err == nil {
		title = words.Message(language, "event-without-title", nil)
	}
	if len(e.Venues) > 0 {
		title += ": " + e.Venues[0].Name
	}
	return cutTo(title, maxTitle)
}

// keepStored marks the fields as unknown that may stand in the missing part of an event. Stored ones stay.
func (o icalObject) keepStored(e *Event) {
	o.notice("END", "the file ends within the event; what it has of it is taken")
	if *e.Description == "" {
		e.Description = nil
	}
	if len(o.words("STATUS")) == 0 && o.replaces == nil && !isRecurring(o.component) {
		e.EventStatus = nil // dates of a series always have one
	}
	e.HasVenues = len(e.Venues) > 0
}

// isPrivate reports whether the file keeps the event from the public. A CLASS that is not recognised, or cannot be read,
// means private (RFC 5545, section 3.8.1.3). The strictest of several values counts.
func (c *icalComponent) isPrivate() bool {
	return c.broken["CLASS"] > 0 ||
		slices.ContainsFunc(c.words("CLASS"), func(class string) bool { return class != "PUBLIC" })
}

// icalObject reads the properties of a VEVENT, like object reads the members of a JSON object.
type icalObject struct {
	*icalComponent
	log *journal
}

// fault records why the event cannot be imported. Name is that of a property.
func (o icalObject) fault(name, text string) {
	o.log.faults = append(o.log.faults, fmt.Errorf("line %d: %s: %s", o.lineOf(name), name, text))
}

// notice records what is left out or changed. Name is that of a property.
func (o icalObject) notice(name, text string) {
	o.log.notices = append(o.log.notices, fmt.Sprintf("line %d: %s: %s", o.lineOf(name), name, text))
}

// singleProperties are the properties of which an event has at most one (RFC 5545, section 3.6.1).
var singleProperties = []string{
	"DTSTART", "DTEND", "DURATION", "SUMMARY", "DESCRIPTION", "LOCATION", "GEO", "URL", "ORGANIZER", "UID", "RECURRENCE-ID",
}

// checkLines adds a notice for each property that cannot be read, and for those that the event may not have.
func (o icalObject) checkLines(recurs bool) {
	for _, name := range slices.Sorted(maps.Keys(o.broken)) {
		if len(o.properties[name]) == 0 && name != "DTSTART" && name != "UID" && name != "RECURRENCE-ID" {
			o.notice(name, errUnreadable.Error()+"; left out")
		}
	}
	for _, name := range []string{"EXDATE", "EXRULE"} {
		if _, ok := o.first(name); ok && !recurs && o.replaces == nil {
			o.notice(name, "of an event that does not recur; left out")
		}
	}
	for _, name := range singleProperties {
		all := o.properties[name]
		if slices.ContainsFunc(all, func(p property) bool { return p.value != all[0].value }) {
			o.notice(name, "more than one; the first that can be used is taken")
		}
	}
	for _, p := range o.properties["STATUS"] {
		if !knownStatuses[strings.ToUpper(strings.TrimSpace(p.value))] {
			o.notice("STATUS", fmt.Sprintf("%q is no state of an event; left out", shorten(p.value)))
		}
	}
}

// knownStatuses are the values of STATUS in an event (RFC 5545, section 3.8.1.11), and one that programs write.
var knownStatuses = map[string]bool{"CONFIRMED": true, "TENTATIVE": true, "CANCELLED": true, "CANCELED": true}

// plain returns a text on one line without control characters, cut to limit characters. Whatever looks like markup in it
// stays: a value of type TEXT has none (RFC 5545, section 3.3.11).
func (o icalObject) plain(name, text string, limit int) string {
	s := onOneLine(text)
	if cut := cutTo(s, limit); cut != s {
		o.notice(name, fmt.Sprintf("cut to %d characters", limit))
		s = cut
	}
	return s
}

// onOneLine returns a text without line breaks and other control characters.
func onOneLine(text string) string {
	printable := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(printable), " ")
}

// cutTo returns the first characters of a text.
func cutTo(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:limit]))
}

// titleText returns a title, or "" if it consists of markup alone.
func titleText(s string) string {
	if !strings.Contains(s, "<") || strings.TrimSpace(strings.ReplaceAll(htmlTag.ReplaceAllString(s, ""), "&nbsp;", "")) != "" {
		return s
	}
	return ""
}

// htmlTag matches the tags that programs write into descriptions.
var htmlTag = regexp.MustCompile(`(?i)</?(a|b|br|div|em|font|h[1-6]|html|hr|i|img|li|ol|p|span|strong|u|ul)(\s[^<>]*)?/?>`)

// isHTML reports whether a text is surely HTML: it has an element with its end, or one that needs no end. A single tag, as
// in "use <b> for bold", or other angle brackets make no HTML.
func isHTML(text string) bool {
	open := make(map[string]bool)
	for _, m := range htmlTag.FindAllStringSubmatch(text, -1) {
		name := strings.ToLower(m[1])
		switch {
		case name == "br" || name == "hr" || name == "img" && m[2] != "":
			return true
		case !strings.HasPrefix(m[0], "</"):
			open[name] = true
		case open[name]:
			return true
		}
	}
	return false
}

// richDescriptions are the properties with a description in HTML. STYLED-DESCRIPTION is that of RFC 9073, section 6.5.
var richDescriptions = []string{"STYLED-DESCRIPTION", "X-ALT-DESC"}

// description returns the description as HTML. It keeps the lines of a plain text.
func (o icalObject) description() string {
	for _, name := range richDescriptions {
		for _, p := range o.properties[name] {
			if strings.EqualFold(p.parameter("FMTTYPE"), "text/html") && !strings.EqualFold(p.parameter("VALUE"), "URI") {
				if s := o.html(name, icalText(p.value)); s != "" {
					return s
				}
			}
		}
	}
	text := icalText(o.value("DESCRIPTION"))
	if !isHTML(text) {
		text = html.EscapeString(text)
	}
	return o.html("DESCRIPTION", text)
}

// html returns HTML without the parts that are not allowed.
func (o icalObject) html(name, text string) string {
	s, err := markup.HTML(text)
	if err != nil {
		o.notice(name, err.Error()+"; left out")
		return ""
	}
	return strings.TrimSpace(s)
}

// address returns the absolute http or https URL of a property. One without its scheme gets https. For anything else it
// returns "".
func (o icalObject) address(name string) string {
	if p, ok := o.first(name); ok {
		if s := webAddress(icalText(p.value)); s != "" {
			return s
		}
		if s := strings.TrimSpace(icalText(p.value)); hostPattern.MatchString(s) && webAddress("https://"+s) != "" {
			o.notice(name, "https:// is added")
			return "https://" + s
		}
		if p.value != "" {
			o.notice(name, "not an address of the web; left out")
		}
	}
	return ""
}

// hostPattern matches the start of a web address without a scheme: www.example.org, or example.org/path.
var hostPattern = regexp.MustCompile(`(?i)^(?:www\.[a-z0-9-]+\.|(?:[a-z0-9-]+\.)+[a-z]{2,}/)`)

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
	address := onOneLine(strings.Join(lines, ", "))
	if inert := markup.Inert(address); inert != address {
		name, address = location, "" // an address has no markup (contract, section 6.2), but a name may look like it
	}
	v := &Venue{
		Name: o.plain("LOCATION", name, maxTitle), Address: o.plain("LOCATION", address, maxText),
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
			email = markup.Inert(o.plain("ORGANIZER", a.Address, maxText))
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
