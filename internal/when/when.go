// Package when parses the dates that clients send. These are Unix seconds, written dates, and words such as "tomorrow
// 9am", "następny poniedziałek" or "en 3 días". It does not read the clock; callers pass the time and the zone.
//
// It accepts the inputs of the contract, section 5, and nothing else. Ambiguous texts are rejected.
package when

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// ErrDate is returned for a text that is not a date. The other errors wrap it and are more specific.
var (
	ErrDate = errors.New("not a date")
	ErrDay  = fmt.Errorf("%w: there is no such day", ErrDate)
	ErrYear = fmt.Errorf("%w: not in the years 1000–9999", ErrDate)
	ErrZone = fmt.Errorf("%w: the name of the zone is not one of the IANA database", ErrDate)
)

// minYear and maxYear limit dates both in UTC and in their zone, because replies contain both with four-digit
// years.
const (
	minYear = 1000
	maxYear = 9999
)

// maxText is the longest accepted text in bytes, without a zone name in parentheses.
const maxText = 128

// Date is the meaning of a text that a client sent: a wall time without a zone, or an instant. The zero value
// is an unset wall time.
type Date struct {
	wall    calendar.Wall
	at      time.Time
	instant bool
	dayOnly bool
	more    int    // further days that the text covers: 1 for a weekend, else 0
	ends    bool   // true if the date is already that of the last day
	words   string // the relative words of the text; "" for absolute dates
}

// AsEnd returns the date to use as the end of an event. If the text means several days, such as a weekend, it is the
// last of them.
func (d Date) AsEnd() Date {
	if !d.ends {
		d.wall, d.ends = d.wall.AddDate(0, 0, d.more), true
	}
	return d
}

// FromWall returns the date of a wall time.
func FromWall(w calendar.Wall) Date { return Date{wall: w} }

// fromDay returns the date of a day without a time of day. The wall time w must be the midnight at its start.
func fromDay(w calendar.Wall) Date { return Date{wall: w, dayOnly: true} }

// FromInstant returns the date of an instant. Fractions of a second are dropped.
func FromInstant(t time.Time) Date { return Date{at: t.UTC().Truncate(time.Second), instant: true} }

// Unix returns the date of an instant in seconds since 1970-01-01 00:00:00 UTC. It returns ErrDate for instants
// outside the years 1000–9999.
func Unix(sec int64) (Date, error) {
	d := FromInstant(time.Unix(sec, 0))
	if !isSupportedYear(d.at.Year()) {
		return Date{}, ErrDate
	}
	return d, nil
}

// Relative reports whether the text had words such as "today", which mean another date on another day.
func (d Date) Relative() bool { return d.words != "" }

// Again parses the relative words of d once more, at the time now. It returns an absolute date unchanged. If the
// result is outside the supported years, it returns the zero Date.
func (d Date) Again(now time.Time, zone calendar.Zone) Date {
	if d.words == "" {
		return d
	}
	again, err := Parse(d.words, now, zone)
	if err != nil {
		return Date{} // outside the supported years
	}
	if d.ends {
		return again.AsEnd()
	}
	return again
}

// DayOnly reports whether the text had a day without a time of day.
func (d Date) DayOnly() bool { return d.dayOnly }

// IsInstant reports whether d is an instant, which is the same moment in every zone.
func (d Date) IsInstant() bool { return d.instant }

// Instant returns the moment of d in the zone z, in UTC and whole seconds. A wall time that the clock of z
// skips moves forward by the gap. For a time that the clock shows twice it is the first.
func (d Date) Instant(z calendar.Zone) time.Time {
	if d.instant {
		return d.at
	}
	return z.Instant(d.wall)
}

// Wall returns the wall time of d in the zone z. If the clock of z skips a wall time, it moves forward by the gap.
func (d Date) Wall(z calendar.Zone) calendar.Wall { return z.Wall(d.Instant(z)) }

// Nominal returns the wall time of d in the zone z. Unlike Wall, it does not change a wall time that the clock of z
// skips. Schedules need it.
func (d Date) Nominal(z calendar.Zone) calendar.Wall {
	if d.instant {
		return d.Wall(z)
	}
	return d.wall
}

// Parse parses text as a date, ignoring letter case and extra white space. now and zone define relative words: "today"
// is the day of now in zone.
//
// The result is within the years 1000–9999 both in zone and in UTC. Any other text is ErrDate, or a more specific
// error.
func Parse(text string, now time.Time, zone calendar.Zone) (Date, error) {
	s, hasDiacritics, ok := normalise(text)
	if !ok {
		return Date{}, ErrDate
	}
	d, ok := readDate(s, hasDiacritics, now, zone)
	switch {
	case !ok:
		return Date{}, dateError(s, hasDiacritics)
	case !isSupportedYear(yearOf(d.Wall(zone))) || !isSupportedYear(d.Instant(zone).Year()):
		return Date{}, ErrYear
	}
	return d, nil
}

// dateError returns the most specific error for a text that readDate rejects. It parses the text again, accepting any
// day, then any zone.
func dateError(s string, hasDiacritics bool) error {
	if isInteger(s) && !isCompactDay(s) {
		return ErrYear
	}
	if _, ok := parseAbsolute(reader{s: s, anyDay: true}, hasDiacritics); ok {
		return ErrDay
	}
	if _, ok := parseAbsolute(reader{s: s, anyZone: true}, hasDiacritics); ok {
		return ErrZone
	}
	return ErrDate
}

// readDate parses a normalised text as Unix seconds, as a written date, or as relative words. At most one of these
// accepts a text. It returns false if none does.
func readDate(s string, hasDiacritics bool, now time.Time, zone calendar.Zone) (Date, bool) {
	if isCompactDay(s) {
		return parseAbsolute(reader{s: s}, hasDiacritics)
	}
	if number := strings.TrimPrefix(s, "@"); number != "" && isInteger(number) {
		sec, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return Date{}, false
		}
		d, err := Unix(sec)
		return d, err == nil
	}
	if d, ok := parseAbsolute(reader{s: s}, hasDiacritics); ok {
		return d, true
	}
	for _, v := range vocabularies {
		if hasDiacritics && !v.hasDiacritics {
			continue
		}
		if d, ok := v.date(s, now, zone); ok {
			d.words = s
			return d, true
		}
	}
	return Date{}, false
}

// isCompactDay reports whether s has the form of a day in eight digits, such as 20261205, from year 1000 on. The
// day need not exist.
func isCompactDay(s string) bool {
	return len(s) == len("20261205") && s[0] != '-' && s[0] != '0' && isInteger(s)
}

// isInteger reports whether s has only digits after an optional minus. A date of this form means Unix
// seconds. Without a leading @, eight digits are a day.
func isInteger(s string) bool {
	if s[0] == '-' {
		s = s[1:]
	}
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

func isSupportedYear(year int) bool { return minYear <= year && year <= maxYear }

func yearOf(w calendar.Wall) int {
	year, _, _ := w.Date()
	return year
}
