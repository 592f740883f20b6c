package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// decodedEvent is an event that was read from a VEVENT, with the problems found in it.
type decodedEvent struct {
	event *Event
	start icalDate
	log   *readLog
}

// readEvent converts a VEVENT to an event. Times in UTC are converted to zone, unless recurs is true.
func (r *icalReader) readEvent(c *icalComponent, zone calendar.Zone, recurs bool) decodedEvent {
	d := decodedEvent{event: &Event{Origin: Origin{Where: c.where}, InFile: true}, log: &readLog{}}
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
	if c.isPrivate() || c.isCutOff && r.hasPrivate {
		e.Status = new(calendar.Private)
	}
	if len(d.log.faults) == 0 && d.start.floating && c.calendar.ownZone == nil && !e.Span.AllDay {
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
		o.notice("SUMMARY", fmt.Sprintf("missing; the title is %q", abbreviate(e.Title)))
	}
	if c.isCutOff && len(d.log.faults) == 0 {
		o.keepStored(e)
	}
	e.Altered = d.isAltered()
	return d
}

// isAltered reports whether the reader left out or changed some property of the event.
func (d decodedEvent) isAltered() bool { return len(d.log.notices) > 0 || d.start.unknown }

// isCanceled reports whether the event's STATUS is CANCELLED.
func (c *component) isCanceled() bool {
	return slices.ContainsFunc(c.words("STATUS"), func(status string) bool { return status == "CANCELLED" || status == "CANCELED" })
}

// keepStored marks missing description, venues and status as unknown, because the file ends within the event. It does
// so for the status of a single event only. The import then keeps their stored values.
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

// isPrivate reports whether CLASS hides the event from the public. An unknown or unreadable CLASS means private (RFC
// 5545, section 3.8.1.3). The strictest of several values counts.
func (c *icalComponent) isPrivate() bool {
	return c.broken["CLASS"] > 0 ||
		slices.ContainsFunc(c.words("CLASS"), func(class string) bool { return class != "PUBLIC" })
}

// icalObject reads the properties of one VEVENT and records the problems found in them.
type icalObject struct {
	*icalComponent
	log *readLog
}

// fault records a reason why the event cannot be imported. name is the property that causes it.
func (o icalObject) fault(name, text string) {
	o.log.faults = append(o.log.faults, fmt.Errorf("line %d: %s: %s", o.lineOf(name), name, text))
}

// notice records that the reader left out or changed something in the property called name.
func (o icalObject) notice(name, text string) {
	o.log.notices = append(o.log.notices, fmt.Sprintf("line %d: %s: %s", o.lineOf(name), name, text))
}

// singleProperties are the properties of which an event has at most one (RFC 5545, section 3.6.1).
var singleProperties = []string{
	"DTSTART", "DTEND", "DURATION", "SUMMARY", "DESCRIPTION", "LOCATION", "GEO", "URL", "ORGANIZER", "UID", "RECURRENCE-ID",
}

// checkLines adds notices for unreadable and misplaced properties, for those with several different values, and for
// unknown values of STATUS. An unreadable DTSTART, UID or RECURRENCE-ID gets no notice here. If recurs is true, EXDATE
// and EXRULE are not misplaced.
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
			o.notice("STATUS", fmt.Sprintf("%q is no state of an event; left out", abbreviate(p.value)))
		}
	}
}

// knownStatuses are the values of STATUS in an event (RFC 5545, section 3.8.1.11), and one that programs write.
var knownStatuses = map[string]bool{"CONFIRMED": true, "TENTATIVE": true, "CANCELLED": true, "CANCELED": true}
