package importer

import (
	"fmt"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// periodDate is a date of RDATE with its own end.
type periodDate struct {
	Nominal calendar.Wall
	span    calendar.Span
}

// eventAt returns a copy of a recurring event that takes place on this date only, with its own end.
func (p periodDate) eventAt(e *Event) *Event {
	one := *e
	one.Key, one.Nominal, one.Span, one.Modified = "", p.Nominal, p.span, nil
	return &one
}

// readDateList reads up to maxDates dates of the property called name, RDATE or EXDATE. It returns nominal starts in
// the zone of span. It leaves out others with a notice. The result periods has the dates with their own end.
func (r *icalReader) readDateList(o icalObject, name string, span calendar.Span) (dates []recur.Date, periods []periodDate) {
	for _, p := range o.properties[name] {
		for value := range strings.SplitSeq(p.value, ",") {
			value = strings.TrimSpace(value)
			if value == "" {
				continue
			}
			if len(dates) == maxDates {
				o.notice(name, fmt.Sprintf("more than %d dates; the others are left out", maxDates))
				return dates, periods
			}
			text, end, hasEnd := strings.Cut(value, "/")
			d, err := o.calendar.date(p, text)
			if err != nil {
				o.notice(name, err.Error()+"; left out")
				continue
			}
			date := recur.Date{Wall: d.wallIn(span.Zone), DayOnly: d.day}
			if d.day {
				date = recur.Date{Wall: o.nominal(d, span), DayOnly: span.AllDay}
			}
			dates = append(dates, date)
			if !hasEnd || span.AllDay || d.day {
				continue
			}
			own := span
			own.Start = date.Wall
			if own.End, err = o.calendar.periodEnd(own, p, end); err != nil {
				continue // readDates leaves it out, with a notice
			}
			periods = append(periods, periodDate{date.Wall, own})
		}
	}
	return dates, periods
}

// nominal returns the nominal start that a date identifies in a series with the given span. A day without a time
// gets the series' time of day. If the series is in the zone of a VTIMEZONE, the time is read on that clock.
func (o icalObject) nominal(d icalDate, span calendar.Span) calendar.Wall {
	if !d.day || span.AllDay {
		return d.nominalIn(span)
	}
	if zone, start := o.zoneOfFile(); zone != nil {
		return span.Zone.Wall(zone.clock.instant(atTimeOf(d.wall, start)))
	}
	return d.nominalIn(span)
}
