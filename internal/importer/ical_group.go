package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// icalGroup has the components of a file that share a UID.
type icalGroup struct {
	masters   []*icalComponent
	master    *icalComponent   // newest version; nil if the file has only changed dates
	others    []*icalComponent // events of their own that share the UID of master
	overrides []*icalComponent // components with RECURRENCE-ID
}

// groupByUID groups the components by UID, in the order of the first component of each. An event without a UID gets one
// from its start and title. A change with an unusable RECURRENCE-ID and no start becomes a Problem, as does one with
// RANGE=THISANDPRIOR.
func (r *icalReader) groupByUID(components []*component) []*icalGroup {
	var groups []*icalGroup
	byUID := make(map[string]*icalGroup)
	standIns := make(map[string]int)
	for i, c := range components {
		e := &icalComponent{component: c, uid: icalText(c.value("UID"))}
		e.where, e.hasUID = icalPosition(i+1, e.uid), e.uid != ""
		r.hasPrivate = r.hasPrivate || e.isPrivate()
		if e.uid == "" {
			e.uid = e.standInUID(standIns)
			r.cal.Notices = append(r.cal.Notices, fmt.Sprintf("%s: UID: missing; the event is known by its start and title", e.where))
		}
		if n, err := strconv.Atoi(c.value("SEQUENCE")); err == nil {
			e.sequence = n
		}
		for _, name := range []string{"DTSTAMP", "LAST-MODIFIED"} {
			if at := c.instant(name); at != nil {
				e.changed = *at
			}
		}
		g := byUID[e.uid]
		if g == nil {
			g = &icalGroup{}
			byUID[e.uid] = g
			groups = append(groups, g)
		}
		date, _ := c.first("RECURRENCE-ID")
		if strings.TrimSpace(date.value) == "" && c.broken["RECURRENCE-ID"] == 0 {
			g.masters = append(g.masters, e)
			continue
		}
		// Any other range is that of the date alone (RFC 5545, section 3.2.13). THISANDPRIOR is that of RFC 2445.
		switch strings.ToUpper(strings.TrimSpace(date.parameter("RANGE"))) {
		case "THISANDFUTURE":
			e.changesFollowing = true
		case "THISANDPRIOR":
			r.problem(e, "a change of this and all earlier dates is not supported; they stay as the series has them")
			continue
		}
		id, err := c.calendar.date(date, date.value)
		if err != nil {
			start, startErr := c.start()
			if startErr != nil {
				r.problem(e, fmt.Sprintf("line %d: RECURRENCE-ID: %v", c.lineOf("RECURRENCE-ID"), err))
				continue
			}
			c.flaw(c.lineOf("RECURRENCE-ID"), fmt.Sprintf("RECURRENCE-ID: %v; DTSTART is taken", err))
			id = start
		}
		e.replaces = &id
		if e.keepsStart = len(c.properties["DTSTART"]) == 0 && c.broken["DTSTART"] == 0; e.keepsStart {
			c.properties["DTSTART"] = []property{date}
			if !c.isCanceled() {
				c.flaw(c.lineOf("RECURRENCE-ID"), "DTSTART: missing; RECURRENCE-ID is taken")
			}
		}
		g.overrides = append(g.overrides, e)
	}
	for _, g := range groups {
		g.chooseMaster(r)
	}
	return groups
}

// chooseMaster sets g.master and g.others from the components of a UID. The master describes the whole event or
// series; the overrides change single dates. Some programs write a RECURRENCE-ID into the master too.
func (g *icalGroup) chooseMaster(r *icalReader) {
	recurs := func(c *icalComponent) bool { return isRecurring(c.component) && !c.changesFollowing }
	if i := slices.IndexFunc(g.overrides, recurs); i >= 0 && len(g.masters) == 0 {
		c := g.overrides[i]
		c.flaw(c.lineOf("RECURRENCE-ID"), "RECURRENCE-ID: beside a rule; left out")
		c.replaces = nil
		g.masters, g.overrides = []*icalComponent{c}, slices.Delete(g.overrides, i, i+1)
	}
	if len(g.masters) == 0 {
		return
	}
	distinct := r.newestVersions(g.masters, g.versionKey())
	slices.SortStableFunc(distinct, func(a, b *icalComponent) int {
		if recurs(a) != recurs(b) {
			return map[bool]int{true: -1, false: 1}[recurs(a)]
		}
		return strings.Compare(a.startKey(), b.startKey())
	})
	g.master, g.others = distinct[0], distinct[1:]
	g.master.hasUID = g.master.hasUID && len(g.others) == 0
}

// versionKey returns a function that gives components of the same event the same key. Some programs give several
// events one UID. So unless the components look like versions, those with different starts are different events.
func (g *icalGroup) versionKey() func(*icalComponent) string {
	first := g.masters[0]
	areVersions := slices.ContainsFunc(g.masters, func(c *icalComponent) bool {
		_, err := c.start()
		return err != nil || c.sequence != first.sequence || !c.changed.Equal(first.changed)
	})
	return func(c *icalComponent) string {
		if areVersions {
			return ""
		}
		return c.startKey()
	}
}

// startKey returns the start as text, for comparison, or "" if the component has none. Equal instants have equal
// texts.
func (c *component) startKey() string {
	start, err := c.start()
	if err != nil {
		return ""
	}
	return start.key()
}

// readGroup adds the components of one UID to the calendar: a single event, a series with its changed dates, or
// changed dates without a series.
func (r *icalReader) readGroup(g *icalGroup) {
	for _, c := range g.others {
		r.cal.Notices = append(r.cal.Notices,
			fmt.Sprintf("%s: line %d: UID: also that of %s, which has another start; taken as another event", c.where, c.lineOf("UID"), g.master.where))
		d := r.readEvent(c, c.calendar.zone, false)
		r.add(c, d, icalKey(c.uid)+"?start="+d.start.key())
	}
	if g.master != nil && !isRecurring(g.master.component) {
		one := g.master
		if start, err := one.start(); err == nil {
			isOwn := func(c *icalComponent) bool { return c.replaces.key() == start.key() && !c.changesFollowing }
			if i := slices.IndexFunc(g.overrides, isOwn); i >= 0 { // a change of the only date
				one = g.overrides[i]
				g.overrides = slices.Delete(g.overrides, i, i+1)
			}
		}
		r.add(one, r.readEvent(one, one.calendar.zone, false), icalKey(one.uid))
		g.master = nil
	}
	if g.master != nil {
		r.readDates(g)
		r.readSeries(g)
		return
	}
	for _, o := range r.newestVersions(g.overrides, func(c *icalComponent) string { return c.replaces.key() }) {
		d := r.readEvent(o, o.calendar.zone, false)
		if o.changesFollowing {
			icalObject{o, d.log}.notice("RECURRENCE-ID", "the following dates stay as they are, because the series is not in the file")
		}
		d.event.Replaces = &replacedDate{icalKey(o.uid), *o.replaces}
		r.add(o, d, icalDateKey(icalKey(o.uid), o.replaces.key()))
	}
}

// isRecurring reports whether an event has an RRULE or RDATE that is not empty.
func isRecurring(c *component) bool {
	hasValue := func(p property) bool { return strings.Trim(p.value, " \t,;") != "" }
	return slices.ContainsFunc(c.properties["RRULE"], hasValue) || slices.ContainsFunc(c.properties["RDATE"], hasValue)
}

// icalComponent is a VEVENT component with its identifying properties.
type icalComponent struct {
	*component
	where    string
	uid      string
	hasUID   bool // whether the UID is from the file, and no other event shares it
	sequence int
	changed  time.Time // time of LAST-MODIFIED, otherwise DTSTAMP
	replaces *icalDate // RECURRENCE-ID, the date of a series that it changes; nil for the event itself
	// changesFollowing is true if the component changes all later dates as well (RANGE=THISANDFUTURE).
	changesFollowing bool
	// keepsStart is true if the component has no start of its own, so that the date is not moved.
	keepsStart bool
}

// isOlderThan reports whether c is an older version of the same event than d.
func (c *icalComponent) isOlderThan(d *icalComponent) bool {
	if c.sequence != d.sequence {
		return c.sequence < d.sequence
	}
	return c.changed.Before(d.changed)
}

// newestVersions returns the newest of the components with each key. If two are equally new, the later one in the
// file wins. It adds a notice for each version that it drops.
func (r *icalReader) newestVersions(all []*icalComponent, key func(*icalComponent) string) []*icalComponent {
	var out []*icalComponent
	places := make(map[string]int)
	for _, c := range all {
		at, twice := places[key(c)]
		if !twice {
			places[key(c)] = len(out)
			out = append(out, c)
			continue
		}
		older := out[at]
		if c.isOlderThan(older) {
			older, c = c, older
		}
		out[at] = c
		r.cal.Notices = append(r.cal.Notices, fmt.Sprintf("%s: left out, because %s is a later version of it", older.where, c.where))
	}
	return out
}
