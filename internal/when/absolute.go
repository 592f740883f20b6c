package when

import (
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// parseAbsolute parses a written date with an optional time. An offset or a zone name after it makes it an
// instant. Without a time it means 00:00:00. If hasDiacritics is true, letters of the text had diacritics, which only
// month names may have.
func parseAbsolute(r reader, hasDiacritics bool) (Date, bool) {
	weekday, named := r.weekday(hasDiacritics)
	day, iso, ok := r.day(hasDiacritics)
	if !ok || named && !r.anyDay && day.Weekday() != weekday {
		return Date{}, false
	}
	if r.done() {
		return fromDay(day), true
	}
	var c clock
	if iso && r.eat('t') {
		if c, ok = r.isoClock(); !ok {
			return Date{}, false
		}
	} else if try := r; try.eat(' ') {
		switch c, ok = try.clock(); {
		case ok:
			r = try
		case isDigit(r.s[r.i+1]):
			return Date{}, false
		}
	}
	w := c.wallOn(day)
	if r.done() {
		return FromWall(w), true
	}
	r.eat(' ')
	if zone, ok := r.zone(); ok {
		return FromInstant(zone.Instant(w)), true
	}
	ahead, ok := r.offset()
	if !ok || !r.done() {
		return Date{}, false
	}
	return FromInstant(calendar.UTC().Instant(w.Add(-ahead))), true
}

// weekday parses the English weekday before a date, as in "Tue, 01 Dec 2026". It returns false if there is none.
func (r *reader) weekday(hasDiacritics bool) (weekday time.Weekday, ok bool) {
	try := *r
	weekday, ok = english.weekdays[try.word()]
	comma := try.eat(',')
	if !ok || hasDiacritics || !try.eat(' ') && !comma {
		return 0, false
	}
	*r = try
	return weekday, true
}

// zone parses a zone name at the end of the text. It rejects names without a slash, because abbreviations such as CST
// are ambiguous. If anyZone is set, it accepts all names without spaces.
func (r *reader) zone() (calendar.Zone, bool) {
	name := r.s[r.i:]
	if !isLetter(r.peek()) || !r.anyZone && !strings.Contains(name, "/") {
		return calendar.Zone{}, false
	}
	zone, err := calendar.ParseZone(name)
	if err != nil && r.anyZone && !strings.Contains(name, " ") {
		return calendar.UTC(), true
	}
	return zone, err == nil
}

// wallOn returns the wall time with the time of day c on the day of w.
func (c clock) wallOn(w calendar.Wall) calendar.Wall {
	y, m, d := w.Date()
	return calendar.WallAt(y, m, d, c.hour, c.minute, c.second)
}

// day parses a date without time. The separators and the place of the four-digit year determine the order:
//
//	2026-12-05  2026/12/05            year first
//	05.12.2026  05-12-2026            day first
//	12/05/2026                        month first
//	5 December 2026  5 grudnia 2026  5 de diciembre de 2026  December 5, 2026
//	20261205  2026-335  2026-W49  2026-W49-6  2026-12
//
// Days and months may have one digit. A week means its Monday, a month its first day. iso is true for forms
// that a T and a time may follow.
func (r *reader) day(hasDiacritics bool) (day calendar.Wall, iso, ok bool) {
	if isLetter(r.peek()) && !hasDiacritics {
		day, ok = r.monthDayYear()
		return day, false, ok
	}
	a, lenA := r.digits()
	sep := r.peek()
	if sep == ' ' && lenA <= 2 {
		day, ok = r.monthYear(a, hasDiacritics)
		return day, false, ok
	}
	if hasDiacritics {
		return calendar.Wall{}, false, false
	}
	if lenA == len("20261205") {
		day, ok = r.dayOf(a/10000, a/100%100, a%100)
		return day, true, ok
	}
	if !r.eat('-') && !r.eat('/') && !r.eat('.') {
		return calendar.Wall{}, false, false
	}
	fixed := lenA == 4 && sep == '-' // the form of ISO 8601
	if fixed && r.eat('w') {
		day, ok = r.isoWeek(a)
		return day, true, ok
	}
	b, lenB := r.digits()
	if fixed && lenB == 3 {
		day, ok = r.dayOfYear(a, b)
		return day, true, ok
	}
	if lenB < 1 || lenB > 2 {
		return calendar.Wall{}, false, false
	}
	if !r.eat(sep) {
		if !fixed || lenB != 2 {
			return calendar.Wall{}, false, false
		}
		day, ok = r.dayOf(a, b, 1)
		return day, false, ok
	}
	c, lenC := r.digits()
	yearFirst := lenA == 4 && (lenC == 1 || lenC == 2)
	yearLast := (lenA == 1 || lenA == 2) && lenC == 4
	switch {
	case yearFirst && sep != '.':
		day, ok = r.dayOf(a, b, c)
	case yearLast && sep != '/':
		day, ok = r.dayOf(c, b, a)
	case yearLast:
		day, ok = r.dayOf(c, a, b)
	}
	return day, yearFirst && sep == '-', ok
}

// monthYear parses the month and year after the day, as in "5 December 2026", in any language. It returns midnight of
// that day.
func (r *reader) monthYear(day int, hasDiacritics bool) (calendar.Wall, bool) {
	for _, v := range vocabularies {
		if hasDiacritics && !v.hasDiacritics {
			continue
		}
		try := *r
		if month, year, ok := v.monthYear(&try); ok {
			*r = try
			return r.dayOf(year, int(month), day)
		}
	}
	return calendar.Wall{}, false
}

// monthYear parses a month and a year in one language. A particle, such as the Spanish "de", may precede each.
func (v *vocabulary) monthYear(r *reader) (month time.Month, year int, ok bool) {
	if month, ok = v.months[v.skipParticle(r).nextWord()]; !ok {
		return 0, 0, false
	}
	if !v.skipParticle(r).eat(' ') {
		return 0, 0, false
	}
	year, ok = r.number(4, 4)
	return month, year, ok
}

// skipParticle advances r past the particle of the language, such as the Spanish "de", and returns r. It does nothing
// if no particle follows.
func (v *vocabulary) skipParticle(r *reader) *reader {
	if try := *r; v.particle != "" && try.nextWord() == v.particle {
		*r = try
	}
	return r
}

// monthDayYear parses an English date with the month first, such as "December 5, 2026" or "December 5 2026".
func (r *reader) monthDayYear() (calendar.Wall, bool) {
	month, ok := english.months[r.word()]
	if !ok || !r.eat(' ') {
		return calendar.Wall{}, false
	}
	day, ok := r.number(1, 2)
	if !ok {
		return calendar.Wall{}, false
	}
	comma := r.eat(',')
	if space := r.eat(' '); !comma && !space {
		return calendar.Wall{}, false
	}
	year, ok := r.number(4, 4)
	if !ok {
		return calendar.Wall{}, false
	}
	return r.dayOf(year, int(month), day)
}

// dayOf returns 00:00:00 of a day. It returns false if the day does not exist or is outside the years 1000–9999. If
// anyDay is set, it accepts all days.
func (r *reader) dayOf(year, month, day int) (calendar.Wall, bool) {
	if r.anyDay {
		return calendar.WallAt(minYear, time.January, 1, 0, 0, 0), true
	}
	if !isSupportedYear(year) || month < 1 || month > 12 || day < 1 {
		return calendar.Wall{}, false
	}
	w := calendar.WallAt(year, time.Month(month), day, 0, 0, 0)
	_, _, got := w.Date()
	return w, got == day
}

// dayOfYear returns 00:00:00 of the n-th day of a year. It returns false if the year has no such day.
func (r *reader) dayOfYear(year, n int) (calendar.Wall, bool) {
	first, ok := r.dayOf(year, 1, 1)
	if !ok || r.anyDay {
		return first, ok
	}
	w := first.AddDate(0, 0, n-1)
	return w, n >= 1 && yearOf(w) == year
}

// isoWeek parses the number of a week after the W in an ISO 8601 date, and an optional weekday. Week 1 contains
// January 4. The result is 00:00:00 of that day, or of the Monday.
func (r *reader) isoWeek(year int) (calendar.Wall, bool) {
	week, ok := r.number(2, 2)
	day := 1
	if try := *r; ok && try.eat('-') {
		if n, isDay := try.number(1, 1); isDay {
			day, *r = n, try
		}
	}
	fourth, exists := r.dayOf(year, 1, 4)
	if !ok || !exists || r.anyDay {
		return fourth, ok && exists
	}
	monday := startOfWeek(fourth).AddDate(0, 0, 7*(week-1))
	inYear := week >= 1 && yearOf(monday.AddDate(0, 0, 3)) == year
	return monday.AddDate(0, 0, day-1), inYear && 1 <= day && day <= 7
}

// startOfWeek returns 00:00:00 of the Monday in the week of w.
func startOfWeek(w calendar.Wall) calendar.Wall {
	return w.StartOfDay().AddDate(0, 0, -(int(w.Weekday())+6)%7)
}
