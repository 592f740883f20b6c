package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// maxDates limits each of three lists of a series in a file: RDATE, EXDATE, and changed dates. It also limits the
// dates that joinDates joins.
const maxDates = recur.MaxOccurrences

// series reads an event that recurs, with its changed dates. An invalid changed date becomes a Problem; the
// date then has the fields of the series.
func (r *icalReader) series(g *icalGroup) {
	d := r.event(g.master, g.master.calendar.zone, true)
	o := icalObject{g.master, d.log}
	if len(d.log.faults) == 0 {
		d.event.Series = r.recurrence(o, d, g.overrides)
	}
	r.add(g.master, d, icalKey(g.master.uid))
}

// recurrence reads the schedule of an event. For an unsupported schedule it adds a fault and returns nil.
func (r *icalReader) recurrence(o icalObject, d decodedEvent, overrides []*icalComponent) *Recurrence {
	span := d.event.Span
	if len(o.properties["EXRULE"]) > 0 {
		o.fault("EXRULE", "is not supported")
		return nil
	}
	if len(o.properties["RRULE"]) > 1 {
		o.fault("RRULE", "more than one is not supported")
		return nil
	}
	var rule recur.Rule
	if text := o.value("RRULE"); text != "" {
		var err error
		if rule, err = recur.Parse(trimClock(text, span.Start), span.Zone); err != nil {
			o.fault("RRULE", ruleReason(err))
			return nil
		}
	}
	rdates, periods := r.dates(o, "RDATE", span)
	exdates, _ := r.dates(o, "EXDATE", span)
	changed := r.overrides(o, d, overrides)
	if len(o.log.faults) > 0 {
		return nil
	}

	s, err := scheduleFrom(o, span, rule, rdates)
	if err == nil {
		s, err = addOrphans(o, s, &changed)
	}
	if err == nil {
		s, err = excludeDates(o, s, exdates, changed)
	}
	if err == nil {
		s, err = r.limitDates(o, s)
	}
	if err != nil {
		o.fault("RRULE", ruleReason(err))
		return nil
	}
	changed = slices.DeleteFunc(changed, func(e *Event) bool {
		return e.Nominal.Before(s.Start) && !slices.ContainsFunc(s.RDate, e.Nominal.Equal)
	})
	for _, p := range periods {
		if !slices.ContainsFunc(changed, func(e *Event) bool { return e.Nominal.Equal(p.Nominal) }) {
			changed = append(changed, p.eventAt(d.event))
		}
	}
	return &Recurrence{Schedule: s, Changed: changed, Partial: r.file.open}
}

// trimClock removes the parts of a rule that only repeat the time of day of the start. Some programs write
// them.
func trimClock(rule string, start calendar.Wall) string {
	hour, minute, second := start.Clock()
	same := map[string]string{
		fmt.Sprintf("BYHOUR=%d", hour): "", fmt.Sprintf("BYMINUTE=%d", minute): "", fmt.Sprintf("BYSECOND=%d", second): "",
	}
	parts := strings.Split(strings.TrimRight(strings.TrimSpace(rule), ";"), ";")
	parts = slices.DeleteFunc(parts, func(part string) bool {
		_, redundant := same[strings.ToUpper(part)]
		return redundant
	})
	return strings.Join(parts, ";")
}

// ruleReason returns the reason why a rule or a schedule is refused, as text.
func ruleReason(err error) string {
	var refused *recur.Error
	if !errors.As(err, &refused) {
		return err.Error()
	}
	data := func(name string) any { return refused.Data[name] }
	switch refused.Reason {
	case recur.RulePartNotSupported:
		return fmt.Sprintf("the part %v is not supported", shorten(fmt.Sprint(data("part"))))
	case recur.BadRule:
		return fmt.Sprintf("%v=%v is not supported", shorten(fmt.Sprint(data("part"))), shorten(fmt.Sprint(data("value"))))
	case recur.NoOccurrences:
		return "none of its dates is left"
	case recur.TooManyOccurrences:
		return fmt.Sprintf("more than %v dates", data("maximum"))
	}
	return err.Error()
}

// periodDate is a date of RDATE with its own end.
type periodDate struct {
	Nominal calendar.Wall
	span    calendar.Span
}

// eventAt returns a copy of the event e of a series on this date.
func (p periodDate) eventAt(e *Event) *Event {
	one := *e
	one.Key, one.Nominal, one.Span, one.Modified = "", p.Nominal, p.span, nil
	return &one
}

// dates reads the dates of a property, converted to the zone of the event. Periods are the dates with their own
// end.
func (r *icalReader) dates(o icalObject, name string, span calendar.Span) (dates []recur.Date, periods []periodDate) {
	for _, p := range o.properties[name] {
		for value := range strings.SplitSeq(p.value, ",") {
			if len(dates) == maxDates {
				o.fault(name, fmt.Sprintf("more than %d dates", maxDates))
				return nil, nil
			}
			value = strings.TrimSpace(value)
			if value == "" {
				continue
			}
			text, end, hasEnd := strings.Cut(value, "/")
			d, err := o.calendar.date(p, text)
			if err != nil {
				o.fault(name, err.Error())
				return nil, nil
			}
			date := recur.Date{Wall: d.wallIn(span.Zone), DayOnly: d.day}
			dates = append(dates, date)
			if !hasEnd || span.AllDay || d.day {
				continue
			}
			own := span
			own.Start = date.Wall
			if strings.HasPrefix(strings.ToUpper(end), "P") {
				own.End, err = addDuration(own, end)
			} else if d, err = o.calendar.date(p, end); err == nil {
				own.End = d.wallIn(span.Zone)
			}
			if err == nil {
				err = own.Check()
			}
			if err != nil {
				o.fault(name, err.Error())
				return nil, nil
			}
			periods = append(periods, periodDate{date.Wall, own})
		}
	}
	return dates, periods
}

// overrides reads the changed dates of a series.
func (r *icalReader) overrides(o icalObject, series decodedEvent, components []*icalComponent) []*Event {
	span := series.event.Span
	var out []*Event
	components = r.latest(components, func(c *icalComponent) string { return c.replaces.nominalIn(span).String() })
	if len(components) > maxDates {
		o.fault("RECURRENCE-ID", fmt.Sprintf("more than %d changed dates", maxDates))
		return nil
	}
	for _, c := range components {
		d := r.event(c, span.Zone, false)
		r.notices(c, d.log)
		if len(d.log.faults) > 0 {
			r.problem(c.where, joinErrors(d.log.faults))
			continue
		}
		d.event.Nominal = c.replaces.nominalIn(span)
		out = append(out, d.event)
	}
	return out
}

// scheduleFrom returns the schedule of a rule and rdates. If the rule excludes the start, the start becomes an
// rdate. COUNT includes it.
func scheduleFrom(o icalObject, span calendar.Span, rule recur.Rule, rdates []recur.Date) (recur.Schedule, error) {
	s, err := recur.New(span, rule, rdates, nil)
	var refused *recur.Error
	if !errors.As(err, &refused) || refused.Reason != recur.StartNotInRule {
		return s, err
	}
	next, ok := refused.Data["next"].(string)
	if rule.Count == 1 {
		ok = false
	}
	if !ok {
		o.notice("RRULE", "names no date but the start")
		return recur.New(span, recur.Rule{}, append(rdates, recur.Date{Wall: span.Start}), nil)
	}
	start, err := calendar.ParseWall(next)
	if err != nil {
		return recur.Schedule{}, err
	}
	if rule.Count > 1 {
		rule.Count--
	}
	o.notice("RRULE", "the start is none of its dates; it is taken as one more")
	return recur.New(span.MoveStart(start), rule, append(rdates, recur.Date{Wall: span.Start}), nil)
}

// addOrphans adds changed dates that the schedule lacks to its rdates. It removes canceled ones from changed.
func addOrphans(o icalObject, s recur.Schedule, changed *[]*Event) (recur.Schedule, error) {
	dates := make([]recur.Date, len(*changed))
	for i, e := range *changed {
		dates[i] = recur.Date{Wall: e.Nominal}
	}
	unknown, err := unknownDates(s, dates)
	if err != nil || len(unknown) == 0 {
		return s, err
	}
	*changed = slices.DeleteFunc(*changed, func(e *Event) bool {
		canceled := unknown[e.Nominal.String()] && *e.EventStatus == calendar.Canceled
		if canceled {
			o.notice("RECURRENCE-ID", fmt.Sprintf("%s is no date of the rule, and canceled; left out", e.Nominal))
		}
		return canceled
	})
	rdates := datesOf(s.RDate)
	for _, e := range *changed {
		if unknown[e.Nominal.String()] {
			o.notice("RECURRENCE-ID", fmt.Sprintf("%s is no date of the rule; it is taken as one more", e.Nominal))
			rdates = append(rdates, recur.Date{Wall: e.Nominal})
		}
	}
	return recur.New(s.Span, s.Rule, rdates, datesOf(s.ExDate))
}

// unknownDates returns the dates that are no starts of a schedule, in the text form of recur.Date.
func unknownDates(s recur.Schedule, dates []recur.Date) (map[string]bool, error) {
	_, err := recur.New(s.Span, s.Rule, datesOf(s.RDate), dates)
	var refused *recur.Error
	if !errors.As(err, &refused) || refused.Reason != recur.NotInSchedule {
		return nil, err
	}
	unknown := make(map[string]bool)
	if texts, ok := refused.Data["dates"].([]string); ok {
		for _, text := range texts {
			unknown[text] = true
		}
	}
	return unknown, nil
}

func datesOf(walls []calendar.Wall) []recur.Date {
	dates := make([]recur.Date, len(walls))
	for i, w := range walls {
		dates[i] = recur.Date{Wall: w}
	}
	return dates
}

// excludeDates returns the schedule with exdates. It leaves out exdates that are no dates of the schedule, with
// a notice. A changed date takes place even if it is an exdate, unless it is canceled.
func excludeDates(o icalObject, s recur.Schedule, exdates []recur.Date, changed []*Event) (recur.Schedule, error) {
	unknown, err := unknownDates(s, exdates)
	if err != nil {
		return s, err
	}
	if len(unknown) > 0 {
		o.notice("EXDATE", fmt.Sprintf("dates that are none of the event, left out: %d", len(unknown)))
		exdates = slices.DeleteFunc(exdates, func(d recur.Date) bool { return unknown[d.String()] })
	}
	if s, err = recur.New(s.Span, s.Rule, datesOf(s.RDate), exdates); err != nil {
		return s, err
	}
	for _, e := range changed {
		if *e.EventStatus != calendar.Canceled {
			s.ExDate = slices.DeleteFunc(s.ExDate, e.Nominal.Equal)
		}
	}
	return s, nil
}

// importMonths is the number of months after now for which the dates of an endless schedule are counted. It is
// not less than the horizon of stored occurrences.
const importMonths = 26

// limitDates returns the schedule without its oldest past dates if it has more occurrences than one write may
// store.
func (r *icalReader) limitDates(o icalObject, s recur.Schedule) (recur.Schedule, error) {
	now := s.Zone.Wall(r.now)
	last := recur.LastStart()
	if !s.Ends() {
		last = now.AddDate(0, importMonths, 0)
		if last.Before(s.Start) {
			last = s.Start
		}
	}
	_, err := s.Expand(last, recur.MaxOccurrences)
	var refused *recur.Error
	if !errors.As(err, &refused) || refused.Reason != recur.TooManyOccurrences || s.Rule.IsZero() {
		return s, err
	}
	var past []calendar.Wall // starts of the rule
	ahead := 0
	for w := range s.Rule.Starts(s.Start, calendar.Wall{}, last) {
		if w.Before(now) {
			past = append(past, w)
		} else if ahead++; ahead > recur.MaxOccurrences {
			return s, err
		}
	}
	for _, w := range s.RDate {
		if !w.Before(now) {
			ahead++
		}
	}
	keep := min(recur.MaxOccurrences-ahead, len(past)-1)
	if keep < 1 {
		return s, err
	}
	dropped := len(past) - keep
	start := past[dropped]
	rule := s.Rule.Complete(s.Start)
	if rule.Count > 0 {
		rule.Count -= dropped
	}
	cut := recur.Schedule{Span: s.MoveStart(start), Rule: rule}
	later := func(list []calendar.Wall) []calendar.Wall {
		return slices.DeleteFunc(slices.Clone(list), func(w calendar.Wall) bool { return w.Before(start) })
	}
	cut.RDate, cut.ExDate = later(s.RDate), later(s.ExDate)
	o.notice("RRULE", fmt.Sprintf("more than %d dates; those before %s are left out", recur.MaxOccurrences, start))
	_, err = cut.Expand(last, recur.MaxOccurrences)
	return cut, err
}
