package importer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// readSeries adds a recurring event with its changed dates to the calendar. An invalid changed date becomes a
// Problem, and its date keeps the fields of the series.
func (r *icalReader) readSeries(g *icalGroup) {
	d := r.readEvent(g.master, g.master.calendar.zone, true)
	o := icalObject{g.master, d.log}
	var following []*icalComponent
	if len(d.log.faults) == 0 {
		d.event.Series, following = r.readRecurrence(o, d, g.overrides)
	}
	if s := d.event.Series; s != nil && s.Schedule.Rule.IsZero() && len(s.Schedule.RDate) == 0 && len(s.Changed) == 0 {
		d.event.Series = nil // it has only its start
	}
	r.add(g.master, d, icalKey(g.master.uid))
	if d.event.Series != nil {
		r.splitAtChanges(d.event, following)
	}
}

// splitAtChanges splits a series at each change of a date and all later ones (RFC 5545, section 3.2.13). The later
// dates become another series with the fields of the change. A change of the first date changes the series itself. A
// change that does not fit the later dates applies to its own date only.
func (r *icalReader) splitAtChanges(series *Event, changes []*icalComponent) {
	original := series.Span
	at := func(c *icalComponent) calendar.Wall { return c.replaces.nominalIn(original) }
	changes = r.newestVersions(changes, func(c *icalComponent) string { return at(c).String() })
	if len(changes) > maxDates {
		changes = changes[:maxDates]
		series.Altered = true
		r.cal.Notices = append(r.cal.Notices, fmt.Sprintf("%s: RECURRENCE-ID: more than %d changes of all following dates; "+
			"the others are left out", series.Where, maxDates))
	}
	slices.SortStableFunc(changes, func(a, b *icalComponent) int { return at(a).Compare(at(b)) })
	from, to := original.Start, original.Start // how far the change before moved its dates
	for _, c := range changes {
		d := r.readEvent(c, original.Zone, false)
		if len(d.log.faults) > 0 {
			r.add(c, d, "")
			continue
		}
		o := icalObject{c, d.log}
		cut := moveWall(at(c), from, to)
		if instant := d.event.Span.StartsAt(); instant.Equal(original.Zone.Instant(cut)) { // written in another zone
			length := d.event.Span.EndsAt()
			d.event.Span.Zone, d.event.Span.Start, d.event.Span.End = original.Zone, cut, original.Zone.Wall(length)
		}
		before, hasBefore, rest, hasRest := series.Series.Schedule.Split(cut)
		start := d.event.Span.Start
		var err error
		if hasRest {
			rest, err = r.moveRest(o, rest, d.event.Span, cut, start)
		}
		if !hasRest || err != nil {
			r.changeOwnDate(o, series, d, cut)
			continue
		}
		later := *series.Series
		later.Schedule, later.Changed = rest, nil
		var earlier []*Event
		for _, e := range series.Series.Changed {
			if e.Nominal.Before(cut) {
				earlier = append(earlier, e)
			} else if e.Nominal = moveWall(e.Nominal, cut, start); rest.Has(e.Nominal) {
				later.Changed = append(later.Changed, e)
			} else {
				o.notice("RECURRENCE-ID", fmt.Sprintf("%s is no date after the change of all later ones; left out", e.Nominal))
			}
		}
		d.event.Span, d.event.Series = rest.Span, &later
		from, to = at(c), start
		if !hasBefore {
			d.event.Key = series.Key
			d.event.Altered = series.Altered || d.isAltered()
			*series = *d.event
			r.notices(c, d.log)
			continue
		}
		series.Series.Schedule, series.Series.Changed = before, earlier
		series.Span = before.Span
		o.notice("RECURRENCE-ID", fmt.Sprintf("the dates from %s on become a series of their own", start))
		r.add(c, d, icalDateKey(icalKey(c.uid), c.replaces.key()))
		series = d.event
	}
}

// moveRest returns the new schedule for the later dates of a split series, those from cut on. The parameter rest is
// their schedule so far. The change gives them the span, and moves cut to start. If the rule does not produce the moved
// dates, they become a list, with a notice.
func (r *icalReader) moveRest(o icalObject, rest recur.Schedule, span calendar.Span, cut, start calendar.Wall) (recur.Schedule, error) {
	span = span.MoveStart(moveWall(rest.Start, cut, start))
	changed, err := rest.Change(span, nil, nil, nil)
	if refused, ok := errors.AsType[*recur.Error](err); !ok || refused.Reason != recur.StartNotInRule {
		return changed, err
	}
	last := recur.LastStart()
	if rest.IsLong() {
		last = rest.Zone.Wall(r.now).AddDate(0, importMonths, 0)
	}
	var dates []calendar.Wall
	for w := range rest.Starts(calendar.Wall{}, last) {
		if dates = append(dates, moveWall(w, cut, start)); len(dates) == recur.MaxOccurrences {
			break
		}
	}
	if len(dates) == 0 {
		return changed, err
	}
	o.notice("RECURRENCE-ID", fmt.Sprintf("the rule does not have the moved dates; taken as a list, up to %s", dates[len(dates)-1]))
	return recur.New(span.MoveStart(dates[0]), recur.Rule{}, datesOf(dates), nil)
}

// changeOwnDate applies a change of a date and all later ones to its own date only. nominal is the start of that
// date before the change.
func (r *icalReader) changeOwnDate(o icalObject, series *Event, d decodedEvent, nominal calendar.Wall) {
	o.notice("RECURRENCE-ID", changesOneDate)
	d.event.Nominal, d.event.Altered = nominal, true
	changed := append(slices.Clone(series.Series.Changed), d.event)
	s, err := addOrphans(o, series.Series.Schedule, &changed)
	if err != nil {
		o.notice("RECURRENCE-ID", ruleReason(err)+"; left out")
	} else {
		series.Series.Schedule, series.Series.Changed = s, changed
	}
	series.Altered = true
	r.notices(o.icalComponent, d.log)
}

// changesOneDate is the notice about a change of all following dates that was applied to its own date only.
const changesOneDate = "the change of this and all following dates counts for this date alone"

// moveWall returns w moved by the difference on the clock from from to to.
func moveWall(w, from, to calendar.Wall) calendar.Wall {
	return calendar.Span{Start: from, End: w}.MoveStart(to).End
}

// readOverrides returns the changed dates of a series. Invalid ones become Problems.
func (r *icalReader) readOverrides(o icalObject, series decodedEvent, components []*icalComponent) []*Event {
	span := series.event.Span
	var out []*Event
	components = r.newestVersions(components, func(c *icalComponent) string { return o.nominal(*c.replaces, span).String() })
	if len(components) > maxDates {
		o.notice("RECURRENCE-ID", fmt.Sprintf("more than %d changed dates; the others are left out", maxDates))
		components = components[:maxDates]
	}
	for _, c := range components {
		if len(c.properties["SUMMARY"]) == 0 {
			c.properties["SUMMARY"] = o.properties["SUMMARY"]
		}
		d := r.readEvent(c, span.Zone, false)
		if c.keepsStart {
			d.event.Span = span.MoveStart(o.nominal(*c.replaces, span))
		}
		if c.changesFollowing {
			icalObject{c, d.log}.notice("RECURRENCE-ID", changesOneDate)
		}
		if isRecurring(c.component) {
			icalObject{c, d.log}.notice("RRULE", "of a changed date; left out")
		}
		d.event.Altered = d.isAltered()
		r.notices(c, d.log)
		if len(d.log.faults) > 0 {
			r.problem(c, joinErrors(d.log.faults))
			continue
		}
		d.event.Nominal = o.nominal(*c.replaces, span)
		out = append(out, d.event)
	}
	return out
}
