package feed

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// Part is one entry in iCalendar format, for a file with many entries. It depends only on the entry and on
// Language, Year and Import of the feed, so it can be cached.
type Part struct {
	ID    int64
	Start time.Time
	Stamp time.Time // time of the last change
	Zone  string    // zone of the written times; "" for dates and UTC
	Text  []byte
}

// Part returns the iCalendar component of an entry. ICalendarOf joins such parts to a file.
func (f *Feed) Part(e *Entry) Part {
	w := &icalWriter{feed: f, canceled: f.Words.Message(f.Language, "feed-canceled", nil)}
	p := Part{ID: e.ID, Start: e.Start, Stamp: e.Stamp}
	if !e.days() {
		loc := e.Zone.Location()
		if rule := f.rule(e.Zone); rule != nil && rule.resolves(e.Start.In(loc)) && rule.resolves(e.End.In(loc)) {
			p.Zone = e.Zone.String()
		}
	}
	w.entry(e, p.Zone != "")
	p.Text = w.out
	return p
}

// Relate adds a RELATED-TO property with the UID of another entry. It copies p.Text, so that cached copies of the
// part do not change.
func (p *Part) Relate(uid string) {
	const end = "END:VEVENT\r\n"
	n := len(p.Text) - len(end)
	w := &icalWriter{out: make([]byte, 0, len(p.Text)+len("RELATED-TO:\r\n")+len(uid))}
	w.out = append(w.out, p.Text[:n]...)
	w.text("RELATED-TO", uid)
	w.out = append(w.out, end...)
	p.Text = w.out
}

// rule returns the clock rule of a zone, and caches it because finding it is slow. Nil means that no rule describes
// the zone.
func (f *Feed) rule(zone calendar.Zone) *zoneRule {
	rule, ok := f.rules[zone.String()]
	if !ok {
		if f.rules == nil {
			f.rules = make(map[string]*zoneRule)
		}
		rule = ruleOf(zone, f.Year)
		f.rules[zone.String()] = rule
	}
	return rule
}

// ICalendarOf returns the parts as iCalendar, sorted by start and ID.
func (f *Feed) ICalendarOf(parts []Part) []byte {
	size := 4 << 10
	zones := make(map[string]bool)
	for i := range parts {
		size += len(parts[i].Text)
		if name := parts[i].Zone; name != "" {
			zones[name] = true
		}
	}
	w := &icalWriter{feed: f, out: make([]byte, 0, size)}
	w.raw("BEGIN", "VCALENDAR")
	w.raw("PRODID", "-//Almanac//Events//EN")
	w.raw("VERSION", "2.0")
	w.raw("CALSCALE", "GREGORIAN")
	w.text("NAME", f.Name)
	if !f.Outlook {
		w.text("X-WR-CALNAME", f.Name)
	}
	w.text("X-WR-TIMEZONE", f.Zone.String())
	if f.Self != "" {
		w.raw("REFRESH-INTERVAL;VALUE=DURATION", "PT1H")
		w.raw("X-PUBLISHED-TTL", "PT1H")
	}
	w.uri("SOURCE;VALUE=URI", f.Self)
	w.uri("URL", f.Page)
	for _, name := range slices.Sorted(maps.Keys(zones)) {
		rule := f.rules[name]
		if rule == nil {
			if zone, err := calendar.ParseZone(name); err == nil { // the name is valid, because Part has written it
				rule = f.rule(zone)
			}
		}
		w.zone(rule)
	}
	sorted := slices.Clone(parts)
	slices.SortStableFunc(sorted, func(a, b Part) int { return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.ID, b.ID)) })
	for i := range sorted {
		w.out = append(w.out, sorted[i].Text...)
	}
	w.raw("END", "VCALENDAR")
	return w.out
}
