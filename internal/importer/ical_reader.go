package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// icalReader converts the components of an iCalendar file to events.
type icalReader struct {
	file *icalFile
	site calendar.Site
	now  time.Time
	cal  *Calendar
	// floating and tentative count events with floating times and with the status TENTATIVE, for notices.
	floating, tentative int
	// hasPrivate is true if the file hides some of its events from the public.
	hasPrivate bool
}

// decodeICal reads an iCalendar file. An unusable property is left out of its event, with a notice. An event without a
// start becomes a Problem, and the others are still read. Events without a title get one in the language of the site.
// It returns an error if data is not an iCalendar file.
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
	groups := r.groupByUID(f.events)
	for _, group := range groups {
		r.readGroup(group)
	}
	r.summarise()
	return r.cal, nil
}

// setZone sets the zone of a calendar from X-WR-TIMEZONE, or from TZ of vCalendar 1.0. If there is none or it is
// unknown, the calendar keeps its zone. An unknown X-WR-TIMEZONE adds a notice.
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
		c.ownZone = zone
	}
	if !zone.known && zone.clock == nil {
		r.cal.Notices = append(r.cal.Notices,
			fmt.Sprintf("X-WR-TIMEZONE: time zone %q is unknown; %s is taken", abbreviate(zone.name), c.zone))
		return
	}
	if zone.known {
		c.zone, c.named = zone.zone, true
	}
}

// summarise adds the notices and Problems about the whole file. Call it after all events are read.
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
	case f.isCutOff:
		r.cal.Problems = append(r.cal.Problems, Problem{
			Where: "end of the file", Reason: "END:VCALENDAR is missing; what may have come after it stays as it is here",
		})
	}
	floating := make([]string, 0, 1) // zones that floating times get
	for _, c := range r.file.calendars {
		r.cal.Notices = append(r.cal.Notices, c.zones.notices...)
		for _, name := range slices.Sorted(maps.Keys(c.zones.found)) {
			if zone := c.zones.found[name]; zone.clock != nil && zone.clock.cut {
				note("time zone %q has more changes of its clock than are read; its times may be wrong", abbreviate(zone.name))
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

// problem adds a Problem: the reason why a component is not imported.
func (r *icalReader) problem(c *icalComponent, reason string) {
	r.cal.Problems = append(r.cal.Problems, Problem{
		Kind: calendar.Event, Title: abbreviate(onOneLine(icalText(c.value("SUMMARY")))), Where: c.where, Reason: reason,
	})
}

// add adds a decoded event to the calendar, or a Problem if the event has faults.
func (r *icalReader) add(c *icalComponent, d decodedEvent, key string) {
	r.notices(c, d.log)
	if len(d.log.faults) > 0 {
		r.problem(c, joinErrors(d.log.faults))
		return
	}
	d.event.Key, d.event.Altered, d.event.Incomplete = key, d.isAltered(), r.file.isCutOff
	if c.hasUID && key == icalKey(c.uid) && d.event.Series == nil {
		d.event.UID = c.uid // each date of a series has one of its own
	}
	r.cal.Events = append(r.cal.Events, d.event)
}

func (r *icalReader) notices(c *icalComponent, log *readLog) {
	for _, n := range log.notices {
		r.cal.Notices = append(r.cal.Notices, c.where+": "+n)
	}
}

// icalPosition returns the position of an event in a file for messages, such as "event 3 (UID abc)". The UID is left
// out if it is "".
func icalPosition(index int, uid string) string {
	at := fmt.Sprintf("event %d", index)
	if uid != "" {
		at += " (UID " + abbreviate(uid) + ")"
	}
	return at
}
