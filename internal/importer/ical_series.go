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
	var following []*icalComponent
	if len(d.log.faults) == 0 {
		d.event.Series, following = r.recurrence(o, d, g.overrides)
	}
	if s := d.event.Series; s != nil && s.Schedule.Rule.IsZero() && len(s.Schedule.RDate) == 0 && len(s.Changed) == 0 {
		d.event.Series = nil // it has only its start
	}
	r.add(g.master, d, icalKey(g.master.uid))
	if d.event.Series != nil {
		r.following(d.event, following)
	}
}

// following splits a series at changes of a date and all later ones (RFC 5545, section 3.2.13). The dates from there on
// become a series of their own, with the fields of the change. A change of the first date changes the series itself. A
// change that does not fit the later dates counts for its own date.
func (r *icalReader) following(series *Event, changes []*icalComponent) {
	original := series.Span
	at := func(c *icalComponent) calendar.Wall { return c.replaces.nominalIn(original) }
	changes = r.latest(changes, func(c *icalComponent) string { return at(c).String() })
	if len(changes) > maxDates {
		changes = changes[:maxDates]
		series.Altered = true
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
		if instant := d.event.Span.StartsAt(); instant.Equal(original.Zone.Instant(cut)) { // written in another zone
			length := d.event.Span.EndsAt()
			d.event.Span.Zone, d.event.Span.Start, d.event.Span.End = original.Zone, cut, original.Zone.Wall(length)
		}
		before, hasBefore, rest, hasRest := series.Series.Schedule.Split(cut)
		start := d.event.Span.Start
		var err error
		if hasRest {
			rest, err = r.moved(o, rest, d.event.Span, cut, start)
		}
		if !hasRest || err != nil {
			r.changeOne(o, series, d, cut)
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

// moved returns the part of a schedule from cut on, with the span of a change that moves cut to start. If the rule does not
// have the moved dates, they are listed.
func (r *icalReader) moved(o icalObject, rest recur.Schedule, span calendar.Span, cut, start calendar.Wall) (recur.Schedule, error) {
	span = span.MoveStart(moveWall(rest.Start, cut, start))
	changed, err := rest.Change(span, nil, nil, nil)
	var refused *recur.Error
	if !errors.As(err, &refused) || refused.Reason != recur.StartNotInRule {
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

// changeOne applies a change of all following dates to its own date.
func (r *icalReader) changeOne(o icalObject, series *Event, d decodedEvent, nominal calendar.Wall) {
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

// changesOneDate is the notice on a change of all following dates that is applied to its own date.
const changesOneDate = "the change of this and all following dates counts for this date alone"

// moveWall moves a wall time on the clock by the distance from from to to.
func moveWall(w, from, to calendar.Wall) calendar.Wall {
	return calendar.Span{Start: from, End: w}.MoveStart(to).End
}

// recurrence reads the schedule of an event. A rule that cannot be kept is left out, with a notice: the start of the
// event, the dates of RDATE and the changed dates stay. It also returns the changes of all following dates, which it does not
// apply.
func (r *icalReader) recurrence(o icalObject, d decodedEvent, overrides []*icalComponent) (_ *Recurrence, following []*icalComponent) {
	span := d.event.Span
	rules, excluded, ok := r.rules(o, span)
	if ok {
		var own []*icalComponent
		for _, c := range overrides {
			if c.following {
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
	rdates, periods := r.dates(o, "RDATE", span)
	rdates = append(listed, rdates...)
	exdates, _ := r.dates(o, "EXDATE", span)
	changed := r.overrides(o, d, overrides)

	s, err := r.schedule(o, span, rules, excluded, rdates)
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
		var refused *recur.Error
		if errors.As(err, &refused) && refused.Reason == recur.NoOccurrences && !r.file.open {
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
	return &Recurrence{Schedule: s, Changed: changed, Partial: r.file.open}, following
}

// ruleLeftOut ends a notice about a rule that cannot be kept.
const ruleLeftOut = "; the rule is left out, the first date and the listed ones stay"

// rules reads the different rules of RRULE and EXRULE. It reports false, and returns no rules, if one of them cannot
// be kept.
func (r *icalReader) rules(o icalObject, span calendar.Span) (rules, excluded []icalRule, ok bool) {
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
	case recur.StartNotInRule:
		return "the rule does not have its start"
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

// overrides reads the changed dates of a series.
func (r *icalReader) overrides(o icalObject, series decodedEvent, components []*icalComponent) []*Event {
	span := series.event.Span
	var out []*Event
	components = r.latest(components, func(c *icalComponent) string { return o.nominal(*c.replaces, span).String() })
	if len(components) > maxDates {
		o.notice("RECURRENCE-ID", fmt.Sprintf("more than %d changed dates; the others are left out", maxDates))
		components = components[:maxDates]
	}
	for _, c := range components {
		if len(c.properties["SUMMARY"]) == 0 {
			c.properties["SUMMARY"] = o.properties["SUMMARY"]
		}
		d := r.event(c, span.Zone, false)
		if c.atReplaced {
			d.event.Span = span.MoveStart(o.nominal(*c.replaces, span))
		}
		if c.following {
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

// nominal returns the nominal start of a date of a series with the given span. A day has the time of day of the start, on the
// clock of the file.
func (o icalObject) nominal(d icalDate, span calendar.Span) calendar.Wall {
	if !d.day || span.AllDay {
		return d.nominalIn(span)
	}
	if zone, start := o.zoneOfFile(); zone != nil {
		return span.Zone.Wall(zone.clock.instant(atTimeOf(d.wall, start)))
	}
	return d.nominalIn(span)
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

func datesOf(walls []calendar.Wall) []recur.Date {
	dates := make([]recur.Date, len(walls))
	for i, w := range walls {
		dates[i] = recur.Date{Wall: w}
	}
	return dates
}

// excludeDates returns the schedule with exdates. It leaves out exdates that are no dates of the schedule, with
// a notice if tell is set. A changed date takes place even if it is an exdate, unless it is canceled.
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

// importMonths is the number of months after now for which the dates of a long schedule are counted. It is
// not less than the horizon of stored occurrences.
const importMonths = 26

// lastStarts returns the starts of the rule of a schedule until now. If the rule has no COUNT, those are the last ones, at least as
// many as a write may store.
func lastStarts(s recur.Schedule, now calendar.Wall) (past []calendar.Wall) {
	for years := 3; ; years *= 10 {
		after := calendar.Wall{}
		if from := now.AddDate(-min(years, 9000), 0, 0); s.Rule.Count == 0 && s.Start.Before(from) {
			after = from
		}
		past = past[:0]
		for w := range s.Rule.Starts(s.Start, after, now) {
			past = append(past, w)
		}
		if len(past) >= recur.MaxOccurrences || after.IsZero() {
			return past
		}
	}
}

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
	ahead := 0
	for range s.Starts(now, last) {
		if ahead++; ahead == recur.MaxOccurrences {
			break
		}
	}
	// The oldest date to keep, and the first start of the rule from there.
	past := lastStarts(s, now)
	before := calendar.Wall{} // all past dates that may be kept are later
	if len(past) > recur.MaxOccurrences {
		before = past[len(past)-recur.MaxOccurrences-1]
	}
	kept := slices.Collect(s.Starts(before, now))
	if n := recur.MaxOccurrences - ahead; len(kept) > n {
		kept = kept[len(kept)-n:]
	}
	dropped := len(past)
	if len(kept) > 0 {
		dropped, _ = slices.BinarySearchFunc(past, kept[0], calendar.Wall.Compare)
	}
	if dropped == len(past) { // the rule has no past date to begin with
		dates := kept
		for w := range s.Starts(now, last) {
			if len(dates) == recur.MaxOccurrences {
				break
			}
			dates = append(dates, w)
		}
		if len(dates) == 0 {
			return s, err
		}
		o.notice("RRULE", fmt.Sprintf("more than %d dates; those from %s to %s are taken", len(dates), dates[0], dates[len(dates)-1]))
		return recur.Schedule{Span: s.MoveStart(dates[0]), RDate: dates}, nil
	}
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
