package importer

import (
	_ "embed"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

//go:embed windows_zones.txt
var windowsZoneTable string

// windowsZones yields the names of the Windows time zones with their IANA names, sorted by name.
func windowsZones() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for line := range strings.Lines(windowsZoneTable) {
			if name, iana, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && !yield(name, iana) {
				return
			}
		}
	}
}

// icalZones finds the time zones named in an iCalendar file.
type icalZones struct {
	site     calendar.Zone
	now      time.Time
	dates    map[string][]calendar.Wall // wall times of events, by TZID
	declared map[string]*component      // VTIMEZONE components, by TZID
	found    map[string]*calendar.Zone  // zones by name; nil means unknown
	notices  []string
}

func newICalZones(declared []*component, site calendar.Zone, now time.Time) *icalZones {
	z := &icalZones{
		site: site, now: now, dates: make(map[string][]calendar.Wall), declared: make(map[string]*component),
		found: make(map[string]*calendar.Zone),
	}
	for _, c := range declared {
		z.declared[c.value("TZID")] = c
	}
	return z
}

// maxZoneDates is the maximum number of wall times of events, per TZID, at which the clocks of two zones are
// compared.
const maxZoneDates = 1000

// addDates records the wall times of an event by TZID.
func (z *icalZones) addDates(c *component) {
	for _, name := range []string{"DTSTART", "DTEND"} {
		for _, p := range c.properties[name] {
			tzid := p.parameter("TZID")
			if d, ok := parseICalDate(strings.TrimSpace(p.value)); ok && tzid != "" && len(z.dates[tzid]) < maxZoneDates {
				z.dates[tzid] = append(z.dates[tzid], d.wall)
			}
		}
	}
}

// find returns the zone with a name. It tries IANA names, Windows names, IANA names at the end of a path, then
// the VTIMEZONE components of the file.
func (z *icalZones) find(name string) (calendar.Zone, error) {
	zone, asked := z.found[name]
	if !asked {
		named, ok := namedZone(name)
		if !ok {
			named, ok = z.declaredZone(name)
		}
		if ok {
			zone = &named
		}
		z.found[name] = zone
	}
	if zone == nil {
		return calendar.Zone{}, fmt.Errorf("time zone %q is unknown", shorten(name))
	}
	return *zone, nil
}

// namedZone returns the zone with an IANA or Windows name. Some programs write paths that end in the IANA name,
// such as /example.org/Tzfile/Europe/Warsaw.
func namedZone(name string) (calendar.Zone, bool) {
	name = strings.Trim(name, `"/ `)
	if zone, err := calendar.ParseZone(name); err == nil {
		return zone, true
	}
	for windows, iana := range windowsZones() {
		if strings.EqualFold(windows, name) {
			zone, err := calendar.ParseZone(iana)
			return zone, err == nil
		}
	}
	parts := strings.Split(name, "/")
	for _, n := range []int{3, 2} {
		if len(parts) > n {
			if zone, err := calendar.ParseZone(strings.Join(parts[len(parts)-n:], "/")); err == nil {
				return zone, true
			}
		}
	}
	return calendar.Zone{}, false
}

// declaredZone returns an IANA zone that matches a VTIMEZONE. A known zone in its X-LIC-LOCATION is taken without
// a comparison. Otherwise its clock must show the same time at the dates of the file. It must also have the same
// changes in the years around now. If several zones match, the one with most equal changes wins: first the zone
// of the site, then those of Windows by name. If the offset of a VTIMEZONE never changes, it gets the zone of that
// offset.
func (z *icalZones) declaredZone(name string) (calendar.Zone, bool) {
	c, ok := z.declared[name]
	if !ok {
		return calendar.Zone{}, false
	}
	if zone, ok := namedZone(c.value("X-LIC-LOCATION")); ok {
		return zone, true
	}
	changes, ok := clockChanges(c, z.now.AddDate(clockYears, 0, 0))
	if !ok {
		return calendar.Zone{}, false
	}
	fixed := !slices.ContainsFunc(changes, func(k clockChange) bool { return k.to != changes[0].to })
	if fixed {
		zone, err := calendar.ParseZone(offsetName(changes[0].to))
		return zone, err == nil
	}
	candidates := []calendar.Zone{z.site}
	for _, iana := range windowsZones() {
		if zone, err := calendar.ParseZone(iana); err == nil {
			candidates = append(candidates, zone)
		}
	}
	dates := append(slices.Clone(z.dates[name]), calendar.UTC().Wall(z.now))
	var best calendar.Zone
	most := -1
	for _, zone := range candidates {
		if n, ok := z.alike(zone, changes, dates); ok && n > most {
			best, most = zone, n
		}
	}
	if most < 0 {
		return calendar.Zone{}, false
	}
	z.notices = append(z.notices, fmt.Sprintf(
		"time zone %q is unknown; its clock is that of %s, which is taken", shorten(name), best))
	return best, true
}

// clockYears is the number of years before and after now in which the clocks of two zones must have the same
// changes.
const clockYears = 2

// clockChange is a change of the offset from UTC of a zone.
type clockChange struct {
	at       time.Time
	from, to int  // offsets in seconds east of UTC
	real     bool // false if the component starts before 1970: programs write current rules with the year 1601
}

// isIn reports whether a zone has this change at this instant.
func (k clockChange) isIn(zone calendar.Zone) bool {
	_, before := k.at.Add(-time.Second).In(zone.Location()).Zone()
	_, after := k.at.In(zone.Location()).Zone()
	return before == k.from && after == k.to
}

// alike reports whether a zone has the given changes in the years around now, and the same offsets at the
// dates. It also returns how many of all real changes the zone has.
func (z *icalZones) alike(zone calendar.Zone, changes []clockChange, dates []calendar.Wall) (same int, ok bool) {
	for _, k := range changes {
		switch {
		case k.isIn(zone):
			if k.real {
				same++
			}
		case k.from != k.to && k.at.After(z.now.AddDate(-clockYears, 0, 0)):
			return 0, false
		}
	}
	for _, w := range dates {
		offset := changes[0].from
		for _, k := range changes {
			if at := calendar.UTC().Instant(w).Add(-time.Duration(k.from) * time.Second); !at.Before(k.at) {
				offset = k.to
			}
		}
		at := calendar.UTC().Instant(w).Add(-time.Duration(offset) * time.Second)
		if _, here := at.In(zone.Location()).Zone(); here != offset {
			return 0, false
		}
	}
	return same, true
}

// maxClockChanges is the maximum number of starts of one STANDARD or DAYLIGHT component.
const maxClockChanges = 5000

// clockChanges returns the changes of the clock of a VTIMEZONE until an instant, in order of time. It reports
// false if the component is invalid.
func clockChanges(zone *component, until time.Time) (changes []clockChange, ok bool) {
	for _, c := range zone.changes {
		from, errFrom := parseUTCOffset(c.value("TZOFFSETFROM"))
		to, errTo := parseUTCOffset(c.value("TZOFFSETTO"))
		start, ok := parseICalDate(c.value("DTSTART"))
		if errFrom != nil || errTo != nil || !ok || start.day {
			return nil, false
		}
		starts, first := []calendar.Wall{start.wall}, start.wall
		epoch := calendar.WallAt(1970, 1, 1, 0, 0, 0)
		isReal := !first.Before(epoch)
		if !isReal {
			first = epoch
		}
		if rule, err := recur.Parse(c.value("RRULE"), calendar.UTC()); err == nil {
			for w := range rule.Starts(start.wall, first, calendar.UTC().Wall(until)) {
				if starts = append(starts, w); len(starts) > maxClockChanges {
					return nil, false
				}
			}
		}
		for _, p := range c.properties["RDATE"] {
			for value := range strings.SplitSeq(p.value, ",") {
				if d, ok := parseICalDate(strings.TrimSpace(value)); ok && !d.day && len(starts) <= maxClockChanges {
					starts = append(starts, d.wall)
				}
			}
		}
		for _, w := range starts {
			at := calendar.UTC().Instant(w).Add(-time.Duration(from) * time.Second)
			changes = append(changes, clockChange{at, from, to, isReal})
		}
	}
	slices.SortStableFunc(changes, func(a, b clockChange) int { return a.at.Compare(b.at) })
	return changes, len(changes) > 0
}

// parseUTCOffset returns the seconds of a value of type UTC-OFFSET, such as +0130.
func parseUTCOffset(text string) (int, error) {
	for _, layout := range []string{"-0700", "-070000"} {
		if t, err := time.Parse(layout, text); err == nil {
			_, seconds := t.Zone()
			return seconds, nil
		}
	}
	return 0, fmt.Errorf("%q is not an offset from UTC", shorten(text))
}

// offsetName returns the name of the zone with a fixed offset in seconds.
func offsetName(offset int) string {
	if offset == 0 {
		return "UTC"
	}
	sign := '+'
	if offset < 0 {
		sign, offset = '-', -offset
	}
	return fmt.Sprintf("UTC%c%d:%02d", sign, offset/3600, offset/60%60)
}
