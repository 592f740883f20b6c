package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// readRecurrence reads the schedule of a recurring event and its changed dates. It leaves out a rule that cannot be
// stored, with a notice. The start, the RDATEs and the changed dates remain. The result following has changes of a date
// and all later ones, which the caller applies. If no valid schedule remains, it records a fault and returns nil.
func (r *icalReader) readRecurrence(o icalObject, d decodedEvent, overrides []*icalComponent) (_ *Recurrence, following []*icalComponent) {
	span := d.event.Span
	rules, excluded, ok := r.readRules(o, span)
	if ok {
		var own []*icalComponent
		for _, c := range overrides {
			if c.changesFollowing {
				following = append(following, c)
			} else {
				own = append(own, c)
			}
		}
		overrides = own
	}
	var listed []recur.Date
	if len(rules) == 1 && len(excluded) == 0 && rules[0].isDaily() {
		var rule recur.Rule
		span, rule, listed = r.inZoneOfFile(o, span, rules[0], len(overrides))
		d.event.Span, rules[0] = span, icalRule{rule: rule}
		if rule.IsZero() {
			rules = nil
		}
	}
	rdates, periods := r.readDateList(o, "RDATE", span)
	rdates = append(listed, rdates...)
	exdates, _ := r.readDateList(o, "EXDATE", span)
	changed := r.readOverrides(o, d, overrides)

	s, err := r.scheduleOf(o, span, rules, excluded, rdates)
	if err == nil {
		s, err = addOrphans(o, s, &changed)
	}
	if err == nil {
		s, err = excludeDates(o, s, exdates, changed, ok) // exdates of a rule that is left out are no flaw
	}
	if err == nil {
		s, err = r.limitDates(o, s)
	}
	if err != nil {
		if refused, ok := errors.AsType[*recur.Error](err); ok && refused.Reason == recur.NoOccurrences && !r.file.isCutOff {
			r.cal.Gone = append(r.cal.Gone, icalKey(o.uid))
		}
		o.fault("RRULE", ruleReason(err))
		return nil, nil
	}
	changed = slices.DeleteFunc(changed, func(e *Event) bool {
		return e.Nominal.Before(s.Start) && !slices.ContainsFunc(s.RDate, e.Nominal.Equal)
	})
	for _, p := range periods {
		if !slices.ContainsFunc(changed, func(e *Event) bool { return e.Nominal.Equal(p.Nominal) }) {
			changed = append(changed, p.eventAt(d.event))
		}
	}
	return &Recurrence{Schedule: s, Changed: changed, Partial: r.file.isCutOff}, following
}

// readRules parses the RRULE and EXRULE properties, without repeats. If one of them cannot be stored, it returns no
// rules and false.
func (r *icalReader) readRules(o icalObject, span calendar.Span) (rules, excluded []icalRule, ok bool) {
	has := o.daysOfRule(span)
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
			if err == nil && span.AllDay && rule.until != "" {
				rule.rule.Until = o.calendar.lastDay(rule.until, has).EndOfDay()
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

// ruleLeftOut is the end of a notice about a rule that cannot be stored.
const ruleLeftOut = "; the rule is left out, the first date and the listed ones stay"

// scheduleOf combines rules and RDATEs in one schedule. If package recur has no such rule, the schedule is a list of
// dates.
func (r *icalReader) scheduleOf(
	o icalObject, span calendar.Span, rules, excluded []icalRule, rdates []recur.Date,
) (recur.Schedule, error) {
	switch {
	case len(rules) == 0:
		return scheduleFrom(o, span, recur.Rule{}, rdates)
	case len(rules) == 1 && len(excluded) == 0 && rules[0].isDaily():
		return scheduleFrom(o, span, rules[0].ruleFrom(span.Start), rdates)
	}
	zone, _ := o.zoneOfFile()
	if span.AllDay {
		zone = nil
	}
	now := span.Zone.Wall(r.now)
	year, _, _ := now.Date()
	last := calendar.WallAt(year+listedYears, 12, 31, 23, 59, 59)
	all, isCut := []calendar.Wall{span.Start}, false
	without := make(map[calendar.Wall]bool)
	for i, rule := range slices.Concat(rules, excluded) {
		if zone != nil {
			rule = rule.onClock(zone.clock)
		}
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
	if zone != nil {
		for i, w := range all {
			all[i] = span.Zone.Wall(zone.clock.instant(w))
		}
	}
	if len(all) == 0 {
		return recur.Schedule{}, &recur.Error{Param: "rrule", Reason: recur.NoOccurrences}
	}
	kept := datesToKeep(all, now, max(1, recur.MaxOccurrences-len(rdates)))
	text := fmt.Sprintf("taken as a list of %d dates, from %s to %s", len(kept), kept[0], kept[len(kept)-1])
	if len(kept) == 1 {
		text = "names no date but " + kept[0].String()
	}
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

// ruleReason returns, for a notice, the reason in an error that refuses a rule or a schedule.
func ruleReason(err error) string {
	var refused *recur.Error
	if !errors.As(err, &refused) {
		return err.Error()
	}
	data := func(name string) any { return refused.Data[name] }
	switch refused.Reason {
	case recur.RulePartNotSupported:
		return fmt.Sprintf("the part %v is not supported", abbreviate(fmt.Sprint(data("part"))))
	case recur.BadRule:
		return fmt.Sprintf("%v=%v is not supported", abbreviate(fmt.Sprint(data("part"))), abbreviate(fmt.Sprint(data("value"))))
	case recur.NoOccurrences:
		return "none of its dates is left"
	case recur.StartNotInRule:
		return "the rule does not have its start"
	case recur.TooManyOccurrences:
		return fmt.Sprintf("more than %v dates", data("maximum"))
	}
	return err.Error()
}

// scheduleFrom returns the schedule of one rule and RDATEs. If the rule does not produce the start of the event, the
// start becomes an RDATE, which COUNT includes.
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

// addOrphans adds those changed dates that a schedule does not have to its RDATEs, and returns it. If such a date is
// canceled, it removes the date from *changed instead. Each gets a notice.
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

// unknownDates returns the dates that are not starts of a schedule, as a set of their texts. Nil means that all are
// starts.
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

// excludeDates returns the schedule with EXDATEs. It drops those that the schedule does not have, with a notice if
// tell is true. An EXDATE does not exclude a changed date, unless the change cancels it.
func excludeDates(o icalObject, s recur.Schedule, exdates []recur.Date, changed []*Event, tell bool) (recur.Schedule, error) {
	unknown, err := unknownDates(s, exdates)
	if err != nil {
		return s, err
	}
	if len(unknown) > 0 {
		if tell {
			o.notice("EXDATE", fmt.Sprintf("dates that are none of the event, left out: %d", len(unknown)))
		}
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
