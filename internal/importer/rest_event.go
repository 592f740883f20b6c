package importer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

func decodeEvent(raw json.RawMessage, page, index int, site calendar.Site, log *readLog) *Event {
	e := &Event{Origin: Origin{Where: recordPosition(page, index, "")}}
	o, ok := newObject(raw, "", log)
	if !ok {
		log.faults = append(log.faults, errNotObject)
		return e
	}
	id := o.id("id")
	e.Where = recordPosition(page, index, id)
	d := recordReader{prefix: prefixOf(o), where: e.Where, site: site}
	if root, ok := strings.CutSuffix(o.raw("rest_url"), "/events/"+id); ok {
		d.root = root
	}
	e.Origin = d.origin(o, id, "")
	e.Title = o.requiredText("title")
	e.Description, e.Excerpt = o.sentHTML("description"), o.sentHTML("excerpt")
	e.Removed = log.takeRemoved()
	e.Slug = o.slug("slug")
	e.Span = d.span(o)
	e.Page = o.page()
	e.SeriesPage = seriesPageOf(o.raw("url"))
	e.Status = o.status()
	e.Published = o.instant("date_utc", "date", e.Span.Zone)
	e.Modified = o.instant("modified_utc", "modified", e.Span.Zone)
	if o.has("cost") || o.has("cost_details") {
		e.Cost = new(o.cost(site))
		e.Currency = o.currency(e.Cost)
	}
	if o.has("website") {
		e.Website = &Website{URL: o.link("website")}
		if e.Website.URL != "" && e.Website.URL == o.raw("url") {
			e.Website = &Website{Own: true}
		}
	}
	if e.HasImage = o.has("image"); e.HasImage {
		e.Image = d.image(o)
	}
	for _, f := range e.Plain() {
		o.setPlain(f, o.flag)
	}
	if o.has("event_status_reason") {
		e.EventStatusReason = new(o.inert("event_status_reason", maxText))
	}
	e.HasVenues, e.HasOrganizers = o.has("venue"), o.has("organizer")
	for _, v := range o.objects("venue") {
		e.Venues = append(e.Venues, d.venue(v))
	}
	for _, v := range o.objects("organizer") {
		e.Organizers = append(e.Organizers, d.organizer(v))
	}
	e.HasCategories, e.HasTags = o.has("categories"), o.has("tags")
	for _, t := range o.objects("categories") {
		e.Terms = append(e.Terms, d.term(t, calendar.Category))
	}
	for _, t := range o.objects("tags") {
		e.Terms = append(e.Terms, d.term(t, calendar.Tag))
	}
	if o.isProtected() {
		e.protect()
	}
	return e
}

// setPlain sets a plain field of the event from the JSON member of that name. flag parses a boolean. A text that is
// null becomes "". A missing member leaves the field nil.
func (o object) setPlain(f ent.PlainField, flag func(name string) *bool) {
	_, said := o.members[f.Name]
	switch value := f.Value.(type) {
	case **bool:
		*value = flag(f.Name)
	case **int:
		*value = o.integer(f)
	case **string:
		switch {
		case !said:
		case f.Address:
			*value = new(o.address(f.Name))
		default:
			*value = new(o.inert(f.Name, f.Longest))
		}
	case **calendar.EventStatus:
		*value = o.eventStatus()
	case **calendar.Attendance:
		*value = o.attendance()
	}
}

// integer returns the integer in a field. Nil means missing, invalid or outside the field's bounds.
func (o object) integer(f ent.PlainField) *int {
	text := strings.TrimSpace(o.raw(f.Name))
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.Min || n > f.Max {
		o.notice(f.Name, fmt.Sprintf("%q is no integer between %d and %d; left out", abbreviate(text), f.Min, f.Max))
		return nil
	}
	return &n
}

// redactedFlags are members that are null in a list if the reader lacks the password of the event (contract,
// section 13). Ticketed is null too, but is not checked.
var redactedFlags = []string{"all_day", "show_map", "show_map_link", "hide_from_listings", "sticky", "featured"}

// isProtected reports whether the event needs a password at the source.
func (o object) isProtected() bool {
	for _, name := range redactedFlags {
		if _, said := o.members[name]; !said || o.has(name) {
			return false
		}
	}
	return true
}

// protect marks an event as protected at the source, and clears the fields that the source then hides. So the import
// does not overwrite their stored values.
func (e *Event) protect() {
	e.Protected = true
	e.Description, e.Excerpt, e.Cost, e.Website, e.Currency = nil, nil, nil, nil, Currency{}
	e.DropGuarded()
	e.HasImage, e.HasVenues, e.HasOrganizers, e.HasCategories, e.HasTags = false, false, false, false, false
	e.Image, e.Venues, e.Organizers, e.Terms = nil, nil, nil, nil
	e.SeriesPage = "" // its dates share no visible fields
	if days := (calendar.Span{Start: e.Span.Start, End: e.Span.End, Zone: e.Span.Zone, AllDay: true}).Rounded(); days.Start.Equal(e.Span.Start) &&
		days.End.Equal(e.Span.End) {
		e.Span = days
	}
}

// eventStatus returns whether the event takes place, such as canceled. Nil means missing or unknown.
func (o object) eventStatus() *calendar.EventStatus {
	if !o.has("event_status") {
		return nil
	}
	s := cmp.Or(calendar.EventStatus(strings.ToLower(o.raw("event_status"))), calendar.Scheduled)
	if !s.Known() {
		o.notice("event_status", fmt.Sprintf("%q is unknown; left out", s))
		return nil
	}
	return &s
}

// attendance returns whether people attend in person or online. Nil means missing or unknown. Some services send
// is_virtual instead, and virtual_event_type for events that also have a venue.
func (o object) attendance() *calendar.Attendance {
	if o.has("attendance") {
		a := cmp.Or(calendar.Attendance(strings.ToLower(o.raw("attendance"))), calendar.Offline)
		if !a.Known() {
			o.notice("attendance", fmt.Sprintf("%q is unknown; left out", a))
			return nil
		}
		return &a
	}
	virtual := o.flag("is_virtual")
	switch {
	case virtual == nil:
		return nil
	case !*virtual:
		return new(calendar.Offline)
	case strings.EqualFold(o.raw("virtual_event_type"), "hybrid"):
		return new(calendar.Mixed)
	}
	return new(calendar.Online)
}
