package importer

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// icalClock computes UTC offsets from the VTIMEZONE components with one TZID (RFC 5545, section 3.6.5). The latest
// STANDARD or DAYLIGHT that began before a wall time sets its offset.
type icalClock struct {
	observances []observance
	budget      *int // work left, which the clocks of a file share; see maxClockCost
	cut         bool // whether the budget was used up, so that changes may be incomplete

	// changes has the onsets in the years from first to last, sorted by time. It can also have others.
	changes     []clockChange
	first, last int
}

// observance is a STANDARD or DAYLIGHT component of a VTIMEZONE: a UTC offset, and the wall times (onsets) from
// which it applies.
type observance struct {
	from, to int             // offsets in seconds east of UTC, before and after an onset
	start    calendar.Wall   // first onset
	rule     recur.Rule      // further onsets; the zero value means none
	dates    []calendar.Wall // onsets of RDATE
}

// clockChange is one instant at which an observance begins, with the offsets before and after it.
type clockChange struct {
	at       time.Time
	shown    calendar.Wall // first wall time that surely has the new offset
	from, to int           // offsets in seconds east of UTC
	real     bool          // false if the observance starts before 1970: programs write current rules with the year 1601
}

// happensIn reports whether the offset of a time zone changes from k.from to k.to at the instant k.at.
func (k clockChange) happensIn(zone calendar.Zone) bool {
	return offsetAt(zone, k.at.Add(-time.Second)) == k.from && offsetAt(zone, k.at) == k.to
}

// offsetAt returns the offset of a zone at an instant, in seconds east of UTC.
func offsetAt(zone calendar.Zone, t time.Time) int {
	_, offset := t.In(zone.Location()).Zone()
	return offset
}

// secondsLater returns w moved by a number of seconds on the clock.
func secondsLater(w calendar.Wall, seconds int) calendar.Wall {
	return w.Add(time.Duration(seconds) * time.Second)
}

// utcOffset matches a value of type UTC-OFFSET, such as +0130. Some programs leave out the sign or write colons.
var utcOffset = regexp.MustCompile(`^([+-]?)([01]?[0-9]|2[0-3]):?([0-5][0-9])(?::?([0-5][0-9]))?$`)

// parseUTCOffset parses a value of type UTC-OFFSET and returns seconds east of UTC. It returns false for invalid
// text.
func parseUTCOffset(text string) (seconds int, ok bool) {
	m := utcOffset.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	for _, digits := range m[2:] {
		n, _ := strconv.Atoi("0" + digits) // the pattern has digits only
		seconds = 60*seconds + n
	}
	if m[1] == "-" {
		seconds = -seconds
	}
	return seconds, true
}

// fixedZone returns the zone with an offset, given in seconds east of UTC. It returns false for an offset that no
// event can have: one with seconds, or of more than 14 hours.
func fixedZone(offset int) (calendar.Zone, bool) {
	if offset == 0 {
		return calendar.UTC(), true
	}
	sign, size := '+', offset
	if offset < 0 {
		sign, size = '-', -offset
	}
	if size%60 != 0 {
		return calendar.Zone{}, false
	}
	zone, err := calendar.ParseZone(fmt.Sprintf("UTC%c%d:%02d", sign, size/3600, size/60%60))
	return zone, err == nil
}

// maxClockCost and observanceCost limit the work for the VTIMEZONE components of a file. A year of an observance
// costs 1, as does an onset. Each observance costs observanceCost in addition.
const (
	maxClockCost   = 1_000_000
	observanceCost = 5
)

// maxOnsets is the maximum number of onsets of one observance.
const maxOnsets = 10_000

// newICalClock builds the clock of VTIMEZONE components with the same TZID, and subtracts the work from *budget. It
// skips observances without an offset. It returns false if none is left, a rule cannot be read or the budget is used
// up.
func newICalClock(zones []*component, budget *int) (*icalClock, bool) {
	c := &icalClock{budget: budget}
	for _, zone := range zones {
		for _, change := range zone.changes {
			if *budget -= observanceCost; *budget < 0 {
				return nil, false
			}
			o, ok, err := newObservance(change)
			if err != nil {
				return nil, false
			}
			if ok {
				c.observances = append(c.observances, o)
			}
		}
	}
	return c, len(c.observances) > 0
}

// onsetParts are the parts of a rule that count in an observance. Others say nothing about yearly onsets, such as WKST.
var onsetParts = []string{"FREQ", "INTERVAL", "COUNT", "UNTIL", "BYMONTH", "BYMONTHDAY", "BYDAY", "BYSETPOS", "BYYEARDAY", "BYWEEKNO"}

// newObservance reads a STANDARD or DAYLIGHT component. It returns false if TZOFFSETTO is missing. Without DTSTART,
// the observance applies from the beginning of time. Without TZOFFSETFROM, the offset before it is the same. The
// error says why its rule cannot be used.
func newObservance(c *component) (o observance, ok bool, err error) {
	if o.to, ok = parseUTCOffset(c.value("TZOFFSETTO")); !ok {
		return o, false, nil
	}
	if o.from, ok = parseUTCOffset(c.value("TZOFFSETFROM")); !ok {
		o.from = o.to
	}
	if o.start, ok = parseOnset(c.value("DTSTART")); !ok {
		o.start = calendar.WallAt(earliestOnset, time.January, 1, 0, 0, 0)
	}
	// UNTIL is in UTC (RFC 5545, section 3.6.5). The clock shows the earlier offset then.
	before, ok := fixedZone(o.from)
	if !ok {
		before = calendar.UTC()
	}
	var parts []string
	for _, part := range ruleParts(c.value("RRULE")) {
		name, _, _ := strings.Cut(part, "=")
		if slices.Contains(onsetParts, name) {
			parts = append(parts, part)
		}
	}
	if len(parts) > 0 {
		read, _, err := parseICalRule(strings.Join(parts, ";"), calendar.Span{Start: o.start, End: o.start, Zone: before})
		if err != nil {
			return o, false, err
		}
		if read.count > maxOnsets {
			return o, false, fmt.Errorf("COUNT=%d", read.count)
		}
		o.rule = read.ruleFrom(o.start).Complete(o.start)
	}
	for _, p := range c.properties["RDATE"] {
		for value := range strings.SplitSeq(p.value, ",") {
			value, _, _ = strings.Cut(value, "/")
			if w, ok := parseOnset(strings.TrimSpace(value)); ok && len(o.dates) < maxOnsets {
				o.dates = append(o.dates, w)
			}
		}
	}
	return o, true, nil
}

// earliestOnset is the earliest year of an onset. Some programs write the year 0001 for an onset that applies always.
const earliestOnset = 1000

// parseOnset parses the wall time at which an observance begins. It raises years before earliestOnset to that year.
// It returns false for invalid text.
func parseOnset(text string) (calendar.Wall, bool) {
	if d, ok := parseICalDate(text); ok {
		return d.wall, true
	}
	layout := "20060102T150405"
	if len(text) == len("20261025") {
		layout = "20060102"
	}
	t, err := time.Parse(layout, strings.TrimSuffix(strings.ToUpper(text), "Z"))
	if year := t.Year(); year < earliestOnset {
		t = t.AddDate(earliestOnset-year, 0, 0)
	}
	return calendar.WallOf(t), err == nil
}

// readOnsetsAround makes sure that c.changes has the onsets of the years around w. If the file's budget is used up, it
// sets c.cut instead.
func (c *icalClock) readOnsetsAround(w calendar.Wall) {
	const around = 8 // years read before and after
	year, _, _ := w.Date()
	first, last := year-around, year+around
	if c.changes != nil {
		if year > c.first+1 && year < c.last {
			return
		}
		first, last = min(first, c.first), max(last, c.last)
	}
	if *c.budget -= (last - first) * len(c.observances); *c.budget < 0 {
		c.cut = true
		return
	}
	c.first, c.last, c.changes = first, last, nil
	from := calendar.WallAt(max(first, earliestOnset), time.January, 1, 0, 0, 0)
	until := calendar.WallAt(min(last, 9999), time.December, 31, 23, 59, 59)
	for _, o := range c.observances {
		// An onset counts until that of another observance, so the last one before these years counts too.
		after := from
		if u := o.rule.Until; !u.IsZero() && u.Before(from) {
			after = u
		}
		after = after.AddDate(-2*o.rule.Interval, 0, 0)
		if o.rule.Count > 0 {
			after = o.start
		}
		onsets := append([]calendar.Wall{o.start}, o.dates...)
		if !o.rule.IsZero() {
			for w := range o.rule.Starts(o.start, after, until) {
				if onsets = append(onsets, w); len(onsets) > maxOnsets {
					break
				}
			}
		}
		if *c.budget -= len(onsets); *c.budget < 0 {
			c.cut = true
			break
		}
		for _, w := range onsets {
			c.changes = append(c.changes, clockChange{
				at: instantAt(w, o.from), shown: secondsLater(w, max(o.to-o.from, 0)), from: o.from, to: o.to,
				real: !o.start.Before(calendar.WallAt(1970, time.January, 1, 0, 0, 0)),
			})
		}
	}
	slices.SortStableFunc(c.changes, func(a, b clockChange) int { return a.at.Compare(b.at) })
}

// instantAt returns the instant at which a clock with an offset in seconds shows w.
func instantAt(w calendar.Wall, offset int) time.Time {
	return calendar.UTC().Instant(secondsLater(w, -offset))
}

// offset returns the offset at a wall time, in seconds east of UTC. If the clock skips that wall time, the offset
// before the skip applies. If the wall time occurs twice, the first one counts (RFC 5545, section 3.3.5).
func (c *icalClock) offset(w calendar.Wall) int {
	c.readOnsetsAround(w)
	n, _ := slices.BinarySearchFunc(c.changes, w, func(k clockChange, w calendar.Wall) int {
		if w.Before(k.shown) {
			return 1
		}
		return -1
	})
	return c.offsetAfter(n)
}

// instant returns the instant at which the clock shows w, in UTC.
func (c *icalClock) instant(w calendar.Wall) time.Time { return instantAt(w, c.offset(w)) }

// changesUntil returns the number of clock changes up to and including an instant, among those read so far.
func (c *icalClock) changesUntil(t time.Time) int {
	n, _ := slices.BinarySearchFunc(c.changes, t, func(k clockChange, t time.Time) int {
		if k.at.After(t) {
			return 1
		}
		return -1
	})
	return n
}

// wall returns the wall time that the clock shows at an instant.
func (c *icalClock) wall(t time.Time) calendar.Wall {
	utc := calendar.UTC().Wall(t)
	c.readOnsetsAround(utc)
	return secondsLater(utc, c.offsetAfter(c.changesUntil(t)))
}

// offsetAfter returns the offset, in seconds east of UTC, after the first n of the clock changes read so far.
func (c *icalClock) offsetAfter(n int) int {
	switch {
	case n > 0:
		return c.changes[n-1].to
	case len(c.changes) > 0:
		return c.changes[0].from
	}
	return c.observances[0].to
}

// agreesWith reports whether a zone and the clock map each of the wall times to the same instant.
func (c *icalClock) agreesWith(zone calendar.Zone, dates iter.Seq[calendar.Wall]) bool {
	for w := range dates {
		if !zone.Instant(w).Equal(c.instant(w)) {
			return false
		}
	}
	return true
}

// onlyOffset returns the offset of all observances in seconds east of UTC, or false if they differ.
func (c *icalClock) onlyOffset() (offset int, ok bool) {
	offset = c.observances[0].to
	return offset, !slices.ContainsFunc(c.observances, func(o observance) bool { return o.to != offset })
}

// differingTime returns how long a zone and the clock have different offsets, between two instants.
func (c *icalClock) differingTime(zone calendar.Zone, from, until time.Time) (d time.Duration) {
	c.readOnsetsAround(calendar.UTC().Wall(from))
	c.readOnsetsAround(calendar.UTC().Wall(until))
	for n := c.changesUntil(from); from.Before(until); {
		next := until
		if _, end := from.In(zone.Location()).ZoneBounds(); !end.IsZero() && end.Before(next) {
			next = end
		}
		for n < len(c.changes) && !c.changes[n].at.After(from) {
			n++
		}
		if n < len(c.changes) && c.changes[n].at.Before(next) {
			next = c.changes[n].at
		}
		if offsetAt(zone, from) != c.offsetAfter(n) {
			d += next.Sub(from)
		}
		from = next
	}
	return d
}

// countSharedChanges returns how many clock changes read so far also happen in a zone. It skips observances that
// start before 1970, because programs write current rules with the year 1601.
func (c *icalClock) countSharedChanges(zone calendar.Zone) (n int) {
	for _, k := range c.changes {
		if k.real && k.happensIn(zone) {
			n++
		}
	}
	return n
}
