package when

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// phrase is the date that relative words mean, such as "next friday", and whether a time of day may follow.
type phrase struct {
	date Date
	// timed is true if a time of day may follow.
	timed bool
}

// today is the current time: as an instant, and as a wall time in a zone. Relative words count from it.
type today struct {
	now  time.Time
	wall calendar.Wall
	zone calendar.Zone
}

// date parses a whole text of relative words, with a time of day if the words allow one. It returns false for other
// texts.
func (v *vocabulary) date(s string, now time.Time, zone calendar.Zone) (Date, bool) {
	r := reader{s: s}
	p, ok := v.phrase(&r, today{now, zone.Wall(now), zone})
	if !ok {
		return Date{}, false
	}
	if r.done() {
		return p.date, true
	}
	if !p.timed || !r.eat(' ') {
		return Date{}, false
	}
	c, ok := r.clock()
	if try := r; !ok && v.midnight[try.word()] {
		r, ok = try, true
	}
	if !ok || !r.done() {
		return Date{}, false
	}
	w := p.date.wall
	if p.date.instant {
		w = zone.Wall(p.date.at)
	}
	return FromWall(c.wallOn(w)), true
}

// phrase parses relative words such as "tomorrow" or "next friday", up to the time of day. It returns false for other
// words.
func (v *vocabulary) phrase(r *reader, t today) (phrase, bool) {
	if !isLetter(r.peek()) {
		if v.in != "" {
			return phrase{}, false
		}
		return v.amount(r, t)
	}
	word := r.word()
	switch {
	case v.now[word]:
		return phrase{date: FromInstant(t.now)}, true
	case v.midnight[word]:
		return phrase{date: FromWall(t.wall.StartOfDay())}, true
	case v.noon[word]:
		return phrase{date: FromWall(clock{hour: 12}.wallOn(t.wall))}, true
	case v.in != "" && word == v.in:
		if !r.eat(' ') {
			return phrase{}, false
		}
		return v.amount(r, t)
	}
	if n, ok := v.days[word]; ok {
		return phrase{fromDay(t.wall.StartOfDay().AddDate(0, 0, n)), true}, true
	}
	if weekday, ok := v.weekdays[word]; ok {
		step := 0
		if try := *r; v.stepBehind {
			if behind, ok := v.steps[try.nextWord()]; ok {
				step, *r = behind, try
			}
		}
		if try := *r; v.week != "" {
			if step, ok := v.steps[try.nextWord()]; ok && try.nextWord() == v.week {
				*r = try
				monday := startOfWeek(t.wall).AddDate(0, 0, 7*step)
				return phrase{fromDay(nearestWeekday(monday, weekday, 0)), true}, true
			}
		}
		return phrase{fromDay(nearestWeekday(t.wall, weekday, step)), true}, true
	}
	if month, ok := v.months[word]; ok && v.monthAlone {
		return phrase{fromDay(v.monthOf(r, t, month)), true}, true
	}
	step, isStep := v.steps[word]
	ordinal, isOrdinal := v.ordinals[word]
	if !isStep && !isOrdinal {
		return phrase{}, false
	}
	noun := r.nextWord()
	// "last day" is a step of one day, but "last day of next month" counts days of a month. Weekdays work
	// alike.
	try := *r
	if isOrdinal && v.of != "" && try.nextWord() == v.of {
		return v.ordinalDay(r, t, ordinal, noun)
	}
	if u, ok := v.stepped[noun]; ok && step != 0 {
		return t.shifted(step, u)
	}
	if isStep && v.week != "" && noun == v.week {
		return phrase{fromDay(startOfWeek(t.wall)), true}, true
	}
	if isStep && v.weekend != "" && noun == v.weekend {
		saturday := fromDay(startOfWeek(t.wall).AddDate(0, 0, 7*step+5))
		saturday.more = 1
		return phrase{saturday, true}, true
	}
	weekday, ok := v.weekdays[noun]
	if !ok {
		return phrase{}, false
	}
	return phrase{fromDay(nearestWeekday(t.wall, weekday, step)), true}, isStep
}

// ordinalDay parses the end of a text such as "first monday of next month" or "last day of december". The ordinal
// and the noun were read already.
func (v *vocabulary) ordinalDay(r *reader, t today, ordinal int, noun string) (phrase, bool) {
	r.nextWord() // skips the word "of"
	first, ok := v.month(r, t)
	if !ok {
		return phrase{}, false
	}
	if weekday, ok := v.weekdays[noun]; ok {
		return phrase{fromDay(nthWeekday(first, weekday, ordinal)), true}, true
	}
	if ordinal < 0 {
		first = first.AddDate(0, 1, -1)
	}
	return phrase{fromDay(first), true}, noun == v.day && (ordinal == 1 || ordinal == -1)
}

// month parses "next month", "this month", "january 2027" or "january". It returns the first day of that month, or
// false for other words.
func (v *vocabulary) month(r *reader, t today) (calendar.Wall, bool) {
	word := r.nextWord()
	if step, ok := v.steps[word]; ok {
		y, m, _ := t.wall.Date()
		return calendar.WallAt(y, m+time.Month(step), 1, 0, 0, 0), v.stepped[r.nextWord()] == aMonth
	}
	m, ok := v.months[word]
	if !ok {
		return calendar.Wall{}, false
	}
	return v.monthOf(r, t, m), true
}

// monthOf parses an optional year after a month and returns the first day of the month. Without a year it uses
// the current one.
func (v *vocabulary) monthOf(r *reader, t today, m time.Month) calendar.Wall {
	year := yearOf(t.wall)
	if try := *r; try.eat(' ') {
		if y, ok := try.number(4, 4); ok && try.peek() != ':' {
			year, *r = y, try
		}
	}
	return calendar.WallAt(year, m, 1, 0, 0, 0)
}

// amount parses a number and a unit, such as "+3 days" or "1 month". In some languages a unit alone means one unit.
// It returns false for other words.
func (v *vocabulary) amount(r *reader, t today) (phrase, bool) {
	if isLetter(r.peek()) {
		word := r.word()
		if u, ok := v.single[word]; ok {
			return t.shifted(1, u)
		}
		u, ok := v.units[r.nextWord()]
		if !ok || !v.one[word] {
			return phrase{}, false
		}
		return t.shifted(1, u)
	}
	sign, signed := 1, false
	if v.in == "" {
		if signed = r.eat('-'); signed {
			sign = -1
		} else {
			signed = r.eat('+')
		}
		r.eat(' ')
	}
	n, ok := r.number(1, maxDigits)
	if !ok {
		return phrase{}, false
	}
	r.eat(' ')
	u, ok := v.units[r.word()]
	if !ok {
		return phrase{}, false
	}
	if try := *r; v.ago != "" && !signed && try.nextWord() == v.ago {
		sign, *r = -1, try
	}
	return t.shifted(sign*n, u)
}

// shifted returns the current time moved by n units. The result is an instant for seconds, minutes and hours, and
// a wall time for days and months. For n = 0 it is the instant now, because a wall time is ambiguous in an hour
// that the clock repeats.
func (t today) shifted(n int, u unit) (phrase, bool) {
	// Larger shifts than all supported years are rejected first, because the arithmetic could overflow.
	const span = int64(maxYear) * 366 * 24 * 60 * 60
	const daySeconds, monthSeconds = 24 * 60 * 60, 28 * 24 * 60 * 60
	size := int64(u.seconds) + int64(u.days)*daySeconds + int64(u.months)*monthSeconds
	if many := int64(n); many > span/size || many < -span/size {
		return phrase{}, false
	}
	switch {
	case n == 0:
		return phrase{FromInstant(t.now), true}, true
	case u.seconds != 0:
		return phrase{FromInstant(time.Unix(t.now.Unix()+int64(n)*int64(u.seconds), 0)), true}, true
	}
	return phrase{FromWall(addMonths(t.wall, n*u.months).AddDate(0, 0, n*u.days)), true}, true
}

// addMonths returns w moved by n months. A day beyond the end of the month becomes its last day: January 31 and
// one month is February 28.
func addMonths(w calendar.Wall, n int) calendar.Wall {
	y, m, d := w.Date()
	h, mi, s := w.Clock()
	_, _, last := calendar.WallAt(y, m+time.Month(n)+1, 0, 0, 0, 0).Date()
	return calendar.WallAt(y, m+time.Month(n), min(d, last), h, mi, s)
}

// nearestWeekday returns 00:00:00 of a weekday near w. If step is negative, it is before the day of w, and if
// positive, after. For 0 it is the first that is not before that day.
func nearestWeekday(w calendar.Wall, weekday time.Weekday, step int) calendar.Wall {
	ahead := (int(weekday) - int(w.Weekday()) + 7) % 7
	switch {
	case step < 0:
		ahead -= 7
	case step > 0 && ahead == 0:
		ahead = 7
	}
	return w.StartOfDay().AddDate(0, 0, ahead)
}

// nthWeekday returns the n-th given weekday of a month, or the last for n = -1. The parameter first is the first day
// of the month.
func nthWeekday(first calendar.Wall, weekday time.Weekday, n int) calendar.Wall {
	if n < 0 {
		return nearestWeekday(first.AddDate(0, 1, 0), weekday, -1)
	}
	return nearestWeekday(first, weekday, 0).AddDate(0, 0, 7*(n-1))
}
