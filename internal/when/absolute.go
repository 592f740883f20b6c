package when

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// absolute reads a written-out date with an optional time, and an optional offset from UTC that makes it an
// instant. No time means 00:00:00. Marked tells of letters that have lost their diacritics, which only the name
// of a month may have.
func absolute(s string, marked bool) (Date, bool) {
	r := reader{s: s}
	day, iso, ok := r.day(marked)
	if !ok {
		return Date{}, false
	}
	if r.done() {
		return fromDay(day), true
	}
	var c clock
	if iso && r.eat('t') {
		if c, ok = r.clock(); !ok {
			return Date{}, false
		}
	} else if try := r; try.eat(' ') && isDigit(try.peek()) {
		if c, ok = try.clock(); !ok {
			return Date{}, false
		}
		r = try
	}
	w := c.on(day)
	if r.done() {
		return FromWall(w), true
	}
	r.eat(' ')
	ahead, ok := r.offset()
	if !ok || !r.done() {
		return Date{}, false
	}
	return FromInstant(calendar.UTC().Instant(w.Add(-ahead))), true
}

// on is the time of day on the day of w.
func (c clock) on(w calendar.Wall) calendar.Wall {
	y, m, d := w.Date()
	return calendar.WallAt(y, m, d, c.hour, c.minute, c.second)
}

// day reads a date without time. The separators and the place of the four digits of the year tell the order:
//
//	2026-12-05  2026/12/05            year first
//	05.12.2026  05-12-2026            day first
//	12/05/2026                        month first
//	5 December 2026  5 grudnia 2026  5 de diciembre de 2026  December 5, 2026
//
// Days and months may have one digit. Iso tells the very first form, the only one a T may follow.
func (r *reader) day(marked bool) (day calendar.Wall, iso, ok bool) {
	if isLetter(r.peek()) && !marked {
		day, ok = r.monthDayYear()
		return day, false, ok
	}
	a, lenA := r.digits()
	sep := r.peek()
	if sep == ' ' && lenA <= 2 {
		day, ok = r.monthYear(a, marked)
		return day, false, ok
	}
	if marked {
		return calendar.Wall{}, false, false
	}
	if !r.eat('-') && !r.eat('/') && !r.eat('.') {
		return calendar.Wall{}, false, false
	}
	b, lenB := r.digits()
	if lenB < 1 || lenB > 2 || !r.eat(sep) {
		return calendar.Wall{}, false, false
	}
	c, lenC := r.digits()
	yearFirst := lenA == 4 && (lenC == 1 || lenC == 2)
	yearLast := (lenA == 1 || lenA == 2) && lenC == 4
	switch {
	case yearFirst && sep != '.':
		day, ok = dayOf(a, b, c)
	case yearLast && sep != '/':
		day, ok = dayOf(c, b, a)
	case yearLast:
		day, ok = dayOf(c, a, b)
	}
	return day, yearFirst && sep == '-', ok
}

// monthYear reads the rest of "5 December 2026" behind the day, in whichever language knows the month.
func (r *reader) monthYear(day int, marked bool) (calendar.Wall, bool) {
	for _, v := range vocabularies {
		if marked && !v.marked {
			continue
		}
		try := *r
		if month, year, ok := v.monthYear(&try); ok {
			*r = try
			return dayOf(year, int(month), day)
		}
	}
	return calendar.Wall{}, false
}

// monthYear reads a month and the year it is in, each with the language's particle before it or without.
func (v *vocabulary) monthYear(r *reader) (month time.Month, year int, ok bool) {
	if month, ok = v.months[v.behindParticle(r).nextWord()]; !ok {
		return 0, 0, false
	}
	if !v.behindParticle(r).eat(' ') {
		return 0, 0, false
	}
	year, ok = r.number(4, 4)
	return month, year, ok
}

// behindParticle moves over the particle if it comes next.
func (v *vocabulary) behindParticle(r *reader) *reader {
	if try := *r; v.particle != "" && try.nextWord() == v.particle {
		*r = try
	}
	return r
}

// monthDayYear reads "December 5, 2026"; the comma may be missing.
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
	return dayOf(year, int(month), day)
}

// dayOf is 00:00:00 of a day that exists, in the years 1000–9999.
func dayOf(year, month, day int) (calendar.Wall, bool) {
	if !inRange(year) || month < 1 || month > 12 || day < 1 {
		return calendar.Wall{}, false
	}
	w := calendar.WallAt(year, time.Month(month), day, 0, 0, 0)
	_, _, got := w.Date()
	return w, got == day
}
