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
	isFollowing := func(c *icalComponent) bool { return c.following }
	if len(d.log.faults) == 0 {
		d.event.Series = r.recurrence(o, d, slices.DeleteFunc(slices.Clone(g.overrides), isFollowing))
	}
	if s := d.event.Series; s != nil && s.Schedule.Rule.IsZero() && len(s.Schedule.RDate) == 0 && len(s.Changed) == 0 {
		d.event.Series = nil // it has only its start
	}
	r.add(g.master, d, icalKey(g.master.uid))
	if d.event.Series != nil {
		r.following(d.event, slices.DeleteFunc(g.overrides, func(c *icalComponent) bool { return !c.following }))
	}
}

// following splits a series at changes of a date and all later ones (RFC 5545, section 3.2.13). The dates from there on
// become a series of their own, with the fields of the change. A change of the first date changes the series itself.
func (r *icalReader) following(series *Event, changes []*icalComponent) {
	original := series.Span
	at := func(c *icalComponent) calendar.Wall { return c.replaces.nominalIn(original) }
	changes = r.latest(changes, func(c *icalComponent) string { return at(c).String() })
	if len(changes) > maxDates {
		changes = changes[:maxDates]
		r.cal.Notices = append(r.cal.Notices, fmt.Sprintf("%s: RECURRENCE-ID: more than %d changes of all following dates; "+
			"the others are left out", series.Where, maxDates))
	}
	slices.SortStableFunc(changes, func(a, b *icalComponent) int { return at(a).Compare(at(b)) })
	from, to := original.Start, original.Start // how far the change before moved its dates
	for _, c := range changes {
		d := r.event(c, original.Zone, false)
		if len(d.log.faults) > 0 {
			r.add(c, d, "")
			continue
		}
		o := icalObject{c, d.log}
		cut := moveWall(at(c), from, to)
		before, hasBefore, rest, hasRest := series.Series.Schedule.Split(cut)
		if !hasRest {
			o.notice("RECURRENCE-ID", "the series has no date from there on; left out")
			r.notices(c, d.log)
			continue
		}
		start := d.event.Span.Start
		rest, err := rest.Change(d.event.Span.MoveStart(moveWall(rest.Start, cut, start)), nil, nil, nil)
		if err != nil {
			o.notice("RECURRENCE-ID", ruleReason(err)+"; left out")
			r.notices(c, d.log)
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
			}
		}
		d.event.Span, d.event.Series = rest.Span, &later
		from, to = at(c), start
		if !hasBefore {
			d.event.Key = series.Key
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

// moveWall moves a wall time on the clock by the distance from from to to.
func moveWall(w, from, to calendar.Wall) calendar.Wall {
	return calendar.Span{Start: from, End: w}.MoveStart(to).End
}

// recurrence reads the schedule of an event. A rule that cannot be kept is left out, with a notice: the start of the
// event, the dates of RDATE and the changed dates stay.
func (r *icalReader) recurrence(o icalObject, d decodedEvent, overrides []*icalComponent) *Recurrence {
	span := d.event.Span
	rules, excluded, ok := r.rules(o, span)
	var listed []recur.Date
	if len(rules) == 1 && len(excluded) == 0 && rules[0].isDaily() {
		var rule recur.Rule
		span, rule, listed = r.inZoneOfFile(o, span, rules[0].ruleFrom(span.Start), len(overrides))
		d.event.Span, rules[0] = span, icalRule{rule: rule}
		if rule.IsZero() {
			rules = nil
		}
	}
	rdates, periods := r.dates(o, "RDATE", span)
	rdates = append(listed, rdates...)
	exdates, _ := r.dates(o, "EXDATE", span)
	changed := r.overrides(o, d, overrides)

	s, err := r.schedule(o, span, rules, excluded, rdates)
	if err == nil {
		s, err = addOrphans(o, s, &changed)
	}
	if err == nil {
		if !ok { // exdates of a rule that is left out are no flaw
			exdates = knownDates(s, exdates)
		}
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

// ruleLeftOut ends a notice about a rule that cannot be kept.
const ruleLeftOut = "; the rule is left out, the first date and the listed ones stay"

// rules reads the different rules of RRULE and EXRULE. It reports false, and returns no rules, if one of them cannot
// be kept.
func (r *icalReader) rules(o icalObject, span calendar.Span) (rules, excluded []icalRule, ok bool) {
	for _, list := range []struct {
		name  string
		rules *[]icalRule
	}{{"RRULE", &rules}, {"EXRULE", &excluded}} {
		for _, p := range o.properties[list.name] {
			if strings.TrimSpace(p.value) == "" {
				continue
			}
			rule, notices, err := parseICalRule(p.value, span)
			for _, n := range notices {
				o.notice(list.name, n)
			}
			if err == nil && len(*list.rules) == maxRules {
				err = fmt.Errorf("more than %d rules", maxRules)
			}
			if err != nil {
				o.notice(list.name, ruleReason(err)+ruleLeftOut)
				return nil, nil, false
			}
			if !slices.ContainsFunc(*list.rules, func(r icalRule) bool { return r.key() == rule.key() }) {
				*list.rules = append(*list.rules, rule)
			}
		}
	}
	return rules, excluded, true
}

// schedule returns the schedule of rules and rdates. If package recur has no such rule, it lists the dates.
func (r *icalReader) schedule(
	o icalObject, span calendar.Span, rules, excluded []icalRule, rdates []recur.Date,
) (recur.Schedule, error) {
	switch {
	case len(rules) == 0:
		return scheduleFrom(o, span, recur.Rule{}, rdates)
	case len(rules) == 1 && len(excluded) == 0 && rules[0].isDaily():
		return scheduleFrom(o, span, rules[0].ruleFrom(span.Start), rdates)
	}
	now := span.Zone.Wall(r.now)
	year, _, _ := now.Date()
	last := calendar.WallAt(year+listedYears, 12, 31, 23, 59, 59)
	all, isCut := []calendar.Wall{span.Start}, false
	without := make(map[calendar.Wall]bool)
	for i, rule := range slices.Concat(rules, excluded) {
		until := last
		if rule.ends() {
			until = recur.LastStart()
		}
		starts, complete := rule.starts(span, now, until)
		if !complete || rule.step > 0 && len(starts) >= recur.MaxOccurrences {
			o.notice("RRULE", "it has too many times of day"+ruleLeftOut)
			return scheduleFrom(o, span, recur.Rule{}, rdates)
		}
		if i < len(rules) {
			all, isCut = append(all, starts...), isCut || !rule.ends()
			continue
		}
		for _, w := range starts {
			without[w] = true
		}
	}
	all = slices.DeleteFunc(all, func(w calendar.Wall) bool { return without[w] })
	slices.SortFunc(all, calendar.Wall.Compare)
	all = slices.CompactFunc(all, calendar.Wall.Equal)
	if zone, _ := o.zoneOfFile(); zone != nil && !span.AllDay {
		for i, w := range all {
			all[i] = span.Zone.Wall(zone.clock.instant(w))
		}
	}
	if len(all) == 0 {
		return recur.Schedule{}, &recur.Error{Param: "rrule", Reason: recur.NoOccurrences}
	}
	kept := datesToKeep(all, now, max(1, recur.MaxOccurrences-len(rdates)))
	text := fmt.Sprintf("taken as a list of %d dates, from %s to %s", len(kept), kept[0], kept[len(kept)-1])
	if isCut || len(kept) < len(all) {
		text += "; the others are left out"
	}
	all = kept
	if len(rules) > 1 {
		text = fmt.Sprintf("%d different rules; %s", len(rules), text)
	}
	o.notice("RRULE", text)
	return recur.New(span.MoveStart(all[0]), recur.Rule{}, append(rdates, datesOf(all)...), nil)
}

// datesToKeep returns at most most of the sorted dates: the next ones from now on, then the latest ones before.
func datesToKeep(dates []calendar.Wall, now calendar.Wall, most int) []calendar.Wall {
	if len(dates) <= most {
		return dates
	}
	ahead, _ := slices.BinarySearchFunc(dates, now, calendar.Wall.Compare)
	from := min(ahead, len(dates)-most)
	return dates[from : from+most]
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
			dates = append(dates, date)
			if !hasEnd || span.AllDay || d.day {
				continue
			}
			own := span
			own.Start = date.Wall
			if own.End, err = o.calendar.periodEnd(own, p, end); err != nil {
				continue // readDates has told
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
		o.notice("RECURRENCE-ID", fmt.Sprintf("more than %d changed dates; the others are left out", maxDates))
		components = components[:maxDates]
	}
	for _, c := range components {
		d := r.event(c, span.Zone, false)
		r.notices(c, d.log)
		if len(d.log.faults) > 0 {
			r.problem(c, joinErrors(d.log.faults))
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
	if !rule.Until.IsZero() && rule.Until.Before(span.Start) {
		o.notice("RRULE", "UNTIL is before the start; the start alone is taken")
		rule = recur.Rule{}
	}
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
		return recur.New(span, recur.Rule{}, rdates, nil)
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

// knownDates returns the dates that are starts of a schedule.
func knownDates(s recur.Schedule, dates []recur.Date) []recur.Date {
	unknown, _ := unknownDates(s, dates)
	return slices.DeleteFunc(dates, func(d recur.Date) bool { return unknown[d.String()] })
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
		exdates = knownDates(s, exdates)
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

// importMonths is the number of months after now for which the dates of a long schedule are counted. It is
// not less than the horizon of stored occurrences.
const importMonths = 26

// limitDates returns the schedule without its oldest past dates if it has more occurrences than one write may
// store. If there are still too many, it lists the next ones.
func (r *icalReader) limitDates(o icalObject, s recur.Schedule) (recur.Schedule, error) {
	now := s.Zone.Wall(r.now)
	last := recur.LastStart()
	if s.IsLong() {
		last = now.AddDate(0, importMonths, 0)
		if last.Before(s.Start) {
			last = s.Start
		}
	}
	_, err := s.Expand(last, recur.MaxOccurrences)
	var refused *recur.Error
	if !errors.As(err, &refused) || refused.Reason != recur.TooManyOccurrences {
		return s, err
	}
	var past []calendar.Wall // starts of the rule
	ahead := 0
	for w := range s.Rule.Starts(s.Start, calendar.Wall{}, last) {
		if w.Before(now) {
			past = append(past, w)
		} else if ahead++; ahead > recur.MaxOccurrences {
			break
		}
	}
	for _, w := range s.RDate {
		if !w.Before(now) {
			ahead++
		}
	}
	keep := min(recur.MaxOccurrences-ahead, len(past)-1)
	if s.Rule.IsZero() || keep < 1 {
		var dates []calendar.Wall
		for w := range s.Starts(calendar.Wall{}, last) {
			dates = append(dates, w)
		}
		dates = datesToKeep(dates, now, recur.MaxOccurrences)
		o.notice("RRULE", fmt.Sprintf("more than %d dates; those from %s to %s are taken", len(dates), dates[0], dates[len(dates)-1]))
		return recur.Schedule{Span: s.MoveStart(dates[0]), RDate: dates}, nil
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
