package importer

import (
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// icalZones finds the time zones named in an iCalendar file.
type icalZones struct {
	site     calendar.Zone
	now      time.Time
	dates    map[string][]calendar.Wall // wall times of events, by TZID
	declared map[string][]*component    // VTIMEZONE components, by TZID
	used     map[string]bool            // TZIDs of events, as written
	found    map[string]*icalZone       // by name as written
	budget   *zoneBudget
	notices  []string
}

// zoneBudget has what is left of the work that the time zones of one file may cause.
type zoneBudget struct {
	clocks   int // see maxClockCost
	compared int // wall times to compare in two zones
	dates    int // wall times of events to remember
}

// maxCompared limits how many wall times of a file are compared to choose between zones. maxZoneDates limits how
// many are remembered for it.
const (
	maxCompared  = 3_000_000
	maxZoneDates = 100_000
)

func newZoneBudget() *zoneBudget { return &zoneBudget{maxClockCost, maxCompared, maxZoneDates} }

// icalZone is a time zone that a file names by a TZID.
type icalZone struct {
	name string
	// zone is the zone to store. If clock is set, only wall times that mean the same instant on both are stored in
	// it.
	zone    calendar.Zone
	known   bool       // whether there is a zone
	clock   *icalClock // clock of the VTIMEZONE; nil means that zone counts
	isNoted bool       // whether a notice says that another zone than zone is taken
}

func newICalZones(declared []*component, site calendar.Zone, now time.Time, budget *zoneBudget) *icalZones {
	z := &icalZones{
		site: site, now: now, budget: budget,
		dates: make(map[string][]calendar.Wall), declared: make(map[string][]*component), used: make(map[string]bool),
		found: make(map[string]*icalZone),
	}
	for _, c := range declared {
		id := foldTZID(c.value("TZID"))
		z.declared[id] = append(z.declared[id], c)
	}
	return z
}

// foldTZID returns a TZID in a form for comparison: in lower case, without escapes, quotes and extra white space. A
// property escapes its value and a parameter can be quoted, and programs mix both.
func foldTZID(name string) string { return strings.ToLower(plainTZID(name)) }

// plainTZID returns a TZID without escapes, quotes and superfluous white space.
func plainTZID(name string) string {
	name = strings.ReplaceAll(icalText(name), `\`, "")
	return strings.Trim(strings.Join(strings.Fields(name), " "), `"' `)
}

// maxUsedZones is the number of TZIDs of events that are remembered.
const maxUsedZones = 50

// addDates records the wall times of an event in zones with a VTIMEZONE: DTSTART, DTEND, RDATE, RECURRENCE-ID, and
// the rule's starts near now. They later serve to find the IANA zone with the same clock.
func (z *icalZones) addDates(c *component) {
	const perRule = 500
	for _, name := range []string{"DTSTART", "DTEND", "RDATE", "RECURRENCE-ID"} {
		for _, p := range c.properties[name] {
			tzid := p.parameter("TZID")
			if tzid != "" && len(z.used) < maxUsedZones {
				z.used[tzid] = true
			}
			if tzid = foldTZID(tzid); len(z.declared[tzid]) == 0 {
				continue
			}
			for value := range strings.SplitSeq(p.value, ",") {
				d, ok := parseICalDate(strings.TrimSpace(value))
				if !ok || d.day || d.utc {
					continue
				}
				z.addDate(tzid, d.wall)
				if name != "DTSTART" {
					continue
				}
				left := perRule
				for w := range z.ruleStarts(c, d.wall, z.now.AddDate(-1, 0, 0)) {
					if left--; left < 0 || !z.addDate(tzid, w) {
						break
					}
				}
			}
		}
	}
}

// addDate records a wall time in the zone of a TZID. It returns false if the file has too many.
func (z *icalZones) addDate(tzid string, w calendar.Wall) bool {
	if z.budget.dates--; z.budget.dates < 0 {
		return false
	}
	z.dates[tzid] = append(z.dates[tzid], w)
	return true
}

// ruleStarts yields the starts of an event's rule, from an instant to importMonths after now. Some can be up to 14
// hours after UNTIL, because the zone's offset is not known yet.
func (z *icalZones) ruleStarts(c *component, start calendar.Wall, after time.Time) iter.Seq[calendar.Wall] {
	read, _, err := parseICalRule(c.value("RRULE"), calendar.Span{Start: start, End: start, Zone: calendar.UTC()})
	if err != nil || read.rule.IsZero() {
		return func(func(calendar.Wall) bool) {}
	}
	rule := read.ruleFrom(start)
	if !rule.Until.IsZero() {
		rule.Until = rule.Until.Add(14 * time.Hour)
	}
	last := calendar.UTC().Wall(z.now)
	if last.Before(start) {
		last = start
	}
	return rule.Starts(start, calendar.UTC().Wall(after), last.AddDate(0, importMonths, 0))
}

// find returns the zone that a TZID names. IANA names come first, as in other programs, because a VTIMEZONE is often
// old or incomplete. Next are the VTIMEZONE components of the file, then Windows names and offsets. For an unknown
// name, the result has no clock, and known is false.
func (z *icalZones) find(name string) *icalZone {
	found := z.found[name]
	if found == nil {
		found = &icalZone{name: plainTZID(name)}
		z.found[name] = found
		var ok bool
		if found.zone, ok = ianaZone(found.name); ok {
			found.known = true
		} else if !z.declare(found) {
			var err error
			found.zone, err = knownZone(found.name)
			found.known = err == nil
			if iana := abbreviatedZones[strings.ToUpper(found.name)]; iana != "" {
				z.note("time zone %q is taken as %s", found.name, iana)
			}
		}
	}
	return found
}

// declare fills in a zone from its VTIMEZONE components. It returns false if none is usable. An IANA name in
// X-LIC-LOCATION counts like one in TZID.
func (z *icalZones) declare(found *icalZone) bool {
	id := strings.ToLower(found.name)
	declared := z.declared[id]
	hint, hinted := windowsZone(found.name)
	for _, c := range declared {
		location := plainTZID(c.value("X-LIC-LOCATION"))
		if found.zone, found.known = ianaZone(location); found.known {
			return true
		}
		if !hinted {
			hint, hinted = windowsZone(location)
		}
	}
	clock, ok := newICalClock(declared, &z.budget.clocks)
	if !ok {
		return false
	}
	dates := z.dates[id]
	if len(dates) == 0 {
		dates = []calendar.Wall{calendar.UTC().Wall(z.now)}
	}
	found.clock = clock
	switch offset, fixed := clock.onlyOffset(); {
	case hinted && z.agree(clock, hint, dates):
		found.zone, found.known = hint, true
	case fixed:
		found.zone, found.known = fixedZone(offset)
	default:
		if found.zone, found.known = z.mostSimilar(clock, hint, hinted, dates); found.known {
			known := "is unknown"
			if hinted {
				known = "has another clock than its name says"
			}
			z.note("time zone %q %s; its clock is that of %s, which is taken", abbreviate(found.name), known, found.zone)
		}
	}
	return true
}

func (z *icalZones) note(format string, args ...any) {
	z.notices = append(z.notices, fmt.Sprintf(format, args...))
}

// agree reports whether a zone and the clock of a VTIMEZONE map all dates to the same instants.
func (z *icalZones) agree(clock *icalClock, zone calendar.Zone, dates []calendar.Wall) bool {
	return z.differences(clock, zone, dates, 0) == 0
}

// differences counts the wall times that a zone and a clock map to different instants. It stops when the number exceeds
// most. If the budget is used up, it returns the number of dates.
func (z *icalZones) differences(clock *icalClock, zone calendar.Zone, dates []calendar.Wall, most int) int {
	n := 0
	for _, w := range dates {
		if z.budget.compared--; z.budget.compared < 0 {
			return len(dates)
		}
		if !zone.Instant(w).Equal(clock.instant(w)) {
			if n++; n > most {
				break
			}
		}
	}
	return n
}

// ianaZones lists the zones of Windows by name, then all IANA zones by name.
var ianaZones = sync.OnceValue(func() (zones []calendar.Zone) {
	var names []string
	for _, iana := range windowsZones() {
		names = append(names, iana)
	}
	for _, name := range append(names, calendar.ZoneNames()...) {
		if zone, err := calendar.ParseZone(name); err == nil {
			zones = append(zones, zone)
		}
	}
	return zones
})

// clockYears is the number of years before and after now in which the clocks of zones are compared.
const clockYears = 2

// mostSimilar returns the zone that differs from a VTIMEZONE's clock at the fewest dates. Ties go to the zone that
// differs least in the years around now, then to the one that shares the most clock changes. Further ties go to hint
// if hinted is true, to the site's zone, to the first of the others. A zone that differs at some dates must agree
// for nine tenths of those years. ok is false if no zone is similar enough.
func (z *icalZones) mostSimilar(clock *icalClock, hint calendar.Zone, hinted bool, dates []calendar.Wall) (best calendar.Zone, ok bool) {
	candidates := []calendar.Zone{z.site}
	if hinted {
		candidates = []calendar.Zone{hint, z.site}
	}
	candidates = append(candidates, ianaZones()...)
	from, until := z.now.AddDate(-clockYears, 0, 0), z.now.AddDate(clockYears, 0, 0)
	fewest, least, most := len(dates)-1, time.Duration(0), 0
	for _, zone := range candidates {
		n := z.differences(clock, zone, dates, fewest)
		if n > fewest {
			continue
		}
		apart, same := clock.differingTime(zone, from, until), clock.countSharedChanges(zone)
		z.budget.compared -= 20 + len(clock.changes) // about what they cost
		if n > 0 && apart > until.Sub(from)/10 {
			continue
		}
		if !ok || n < fewest || apart < least || apart == least && same > most {
			best, fewest, least, most, ok = zone, n, apart, same, true
		}
	}
	return best, ok
}

// read returns a wall time and the zone to store with it: the IANA zone, if that maps the wall time to the
// VTIMEZONE's instant. Otherwise it is the fixed offset at that time, and the wall time may change. For an unknown
// zone it is noZone.
func (z *icalZones) read(zone *icalZone, w calendar.Wall, noZone calendar.Zone) (calendar.Wall, calendar.Zone) {
	switch {
	case zone.clock == nil && !zone.known:
		z.noteOnce(zone, fmt.Sprintf("time zone %q is unknown; its times are taken as those of %s", abbreviate(zone.name), noZone))
		return w, noZone
	case zone.clock == nil, zone.known && zone.zone.Instant(w).Equal(zone.clock.instant(w)):
		return w, zone.zone
	}
	if zone.known {
		z.noteOnce(zone, fmt.Sprintf("the clock of time zone %q differs from that of %s at some times; they are taken with their offset from UTC",
			abbreviate(zone.name), zone.zone))
	} else {
		z.noteOnce(zone, fmt.Sprintf("no IANA zone has the clock of time zone %q; its times are taken with their offset from UTC", abbreviate(zone.name)))
	}
	return zone.inOffsetZone(w)
}

// inOffsetZone converts a wall time on a VTIMEZONE's clock to the zone with the fixed offset at that time. If no
// zone has that offset, it converts to UTC.
func (zone *icalZone) inOffsetZone(w calendar.Wall) (calendar.Wall, calendar.Zone) {
	fixed, ok := fixedZone(zone.clock.offset(w))
	if !ok { // as of local mean time
		fixed = calendar.UTC()
	}
	return fixed.Wall(zone.clock.instant(w)), fixed
}

// noteOnce adds a notice about a zone, unless the zone already has one.
func (z *icalZones) noteOnce(zone *icalZone, notice string) {
	if !zone.isNoted {
		zone.isNoted = true
		z.notices = append(z.notices, notice)
	}
}

// yearsAround is how many years before and after now the dates of a rule are compared with a VTIMEZONE's clock, and
// listed. If the event starts later, it counts from the start.
const yearsAround = 50

// inZoneOfFile converts a series whose start is in the zone of a VTIMEZONE. It keeps the rule if a stored zone maps
// all starts to the same instants: an IANA zone, or the offset of the start. Otherwise it returns no rule, and the
// starts as RDATEs in that offset's zone. changed is the number of changed dates, which can be additional ones.
func (r *icalReader) inZoneOfFile(o icalObject, span calendar.Span, read icalRule, changed int) (
	calendar.Span, recur.Rule, []recur.Date,
) {
	rule := read.ruleFrom(span.Start)
	zone, start := o.zoneOfFile()
	if span.AllDay || rule.IsZero() || zone == nil {
		return span, rule, nil
	}
	clock := zone.clock
	local := read.onClock(clock).ruleFrom(start)
	from := calendar.UTC().Wall(r.now)
	if from.Before(start) {
		from = start
	}
	after := from.AddDate(-yearsAround, 0, 0)
	starts := func(last calendar.Wall) iter.Seq[calendar.Wall] { return local.Starts(start, after, last) }
	soon := starts(from.AddDate(0, importMonths, 0))
	if zone.known && span.Zone.String() == zone.zone.String() && clock.agreesWith(zone.zone, soon) {
		return span, rule, nil
	}
	first, fixed := zone.inOffsetZone(start)
	span.End = fixed.Wall(span.EndsAt())
	span.Start, span.Zone = first, fixed
	if first.Equal(start) && clock.agreesWith(fixed, soon) {
		return span, local, nil
	}

	isInRule := false
	for range local.Starts(start, calendar.Wall{}, start) {
		isInRule = true
	}
	switch { // COUNT includes the start
	case isInRule || local.Count == 0:
	case local.Count == 1:
		local.Count, local.Until = 0, start
	default:
		local.Count--
	}
	most := maxDates - changed
	for _, p := range o.properties["RDATE"] {
		most -= 1 + strings.Count(p.value, ",")
	}
	most = max(most, 1)
	listed := []calendar.Wall{start}
	for w := range starts(from.AddDate(yearsAround, 0, 0)) {
		isFull := len(listed) == most
		if isFull && !listed[0].Before(from) {
			break
		}
		if isFull || listed[0].Before(after) {
			listed = listed[1:] // the oldest past date
		}
		if !w.Equal(start) {
			listed = append(listed, w)
		}
	}
	dates := make([]recur.Date, len(listed))
	for i, w := range listed {
		dates[i].Wall = fixed.Wall(clock.instant(w))
	}
	text := fmt.Sprintf("no IANA zone has the clock of time zone %q at its dates; taken as %d listed dates", abbreviate(zone.name), len(dates))
	if !listed[0].Equal(start) {
		text += fmt.Sprintf("; those before %s are left out", listed[0])
	}
	last := listed[len(listed)-1]
	for range local.Starts(start, last, recur.LastStart()) {
		text += fmt.Sprintf("; those after %s are left out", last)
		break
	}
	o.notice("RRULE", text)
	return span.MoveStart(dates[0].Wall), recur.Rule{}, dates
}

// zoneOfFile returns the zone and wall time of an event's start, if a VTIMEZONE defines its clock. Otherwise the
// zone is nil.
func (o icalObject) zoneOfFile() (*icalZone, calendar.Wall) {
	p, _ := o.first("DTSTART")
	d, ok := parseICalDate(strings.ToUpper(strings.TrimSpace(p.value)))
	zone := o.calendar.ownZone
	if name := p.parameter("TZID"); name != "" {
		zone = o.calendar.zones.find(name)
	}
	if !ok || d.day || d.utc || zone == nil || zone.clock == nil {
		return nil, d.wall
	}
	return zone, d.wall
}
