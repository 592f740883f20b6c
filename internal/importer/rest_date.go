package importer

import (
	"fmt"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// span returns the start, end and zone of an event. An invalid date is recorded as a fault.
func (d recordReader) span(o object) calendar.Span {
	start, started := o.wall("start_date")
	end, ended := o.wall("end_date")
	switch {
	case !started && o.isEmpty("start_date"):
		o.fault("start_date", "missing")
	case !ended && o.isEmpty("end_date"):
		o.fault("end_date", "missing")
	}
	s := calendar.Span{Start: start, End: end, Zone: d.zone(o, start)}
	if allDay := o.flag("all_day"); allDay != nil {
		s.AllDay = *allDay
	}
	s = s.Rounded()
	if !s.AllDay && started && ended {
		// A wall time that the clock of the zone skips is replaced by the time at that instant.
		s.Start, s.End = s.Zone.Wall(s.StartsAt()), s.Zone.Wall(s.EndsAt())
	}
	if started && ended {
		if err := s.Check(); err != nil {
			o.fault("end_date", "%v", err)
		}
	}
	return s
}

// zone returns the zone of an event. If the service names none, it is the site's zone, unless the start in UTC
// disagrees. Then it is the fixed offset between start and the start in UTC.
func (d recordReader) zone(o object, start calendar.Wall) calendar.Zone {
	text := strings.TrimSpace(o.raw("timezone"))
	if text != "" {
		z, err := parseZone(text)
		if err != nil {
			o.fault("timezone", "%q is unknown", text)
		}
		return z
	}
	utc, ok := o.wall("utc_start_date")
	if !ok || start.IsZero() || d.site.Zone.Instant(start).Equal(calendar.UTC().Instant(utc)) {
		return d.site.Zone
	}
	minutes := int(start.Sub(utc).Minutes())
	sign := '+'
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	z, err := calendar.ParseZone(fmt.Sprintf("UTC%c%d:%02d", sign, minutes/60, minutes%60))
	if err != nil {
		o.fault("utc_start_date", "too far from start_date")
	}
	return z
}

// offsetFractions replaces the fractions of an hour that some services write in offsets, as in UTC+5.75.
var offsetFractions = strings.NewReplacer(".25", ":15", ".5", ":30", ".75", ":45")

func parseZone(text string) (calendar.Zone, error) {
	z, err := calendar.ParseZone(text)
	if err != nil && len(text) > 3 && strings.EqualFold(text[:3], "UTC") {
		return calendar.ParseZone(offsetFractions.Replace(text))
	}
	return z, err
}
