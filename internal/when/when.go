// Package when parses what a client writes for a date: Unix seconds, written-out dates, words such as "tomorrow 9am",
// "następny poniedziałek" or "en 3 días". It reads no clock: callers pass the time and its zone.
//
// It accepts the listed inputs (contract, section 5) and nothing else. A text with two readings is refused.
package when

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// ErrDate is returned for a text that is not a date. The errors below are ErrDate too, and say more.
var (
	ErrDate = errors.New("not a date")
	ErrDay  = fmt.Errorf("%w: there is no such day", ErrDate)
	ErrYear = fmt.Errorf("%w: not in the years 1000–9999", ErrDate)
	ErrZone = fmt.Errorf("%w: the name of the zone is not one of the IANA database", ErrDate)
)

// The years a date may have, in UTC as well as in the zone it is read in: both are answered, with four digits.
const (
	minYear = 1000
	maxYear = 9999
)

// maxText is the length in bytes beyond which a text is refused unread.
const maxText = 128

// Date is the meaning of a client's date: a wall time without a zone, or an instant. The zero value is a wall time that
// was never set.
type Date struct {
	wall    calendar.Wall
	at      time.Time
	instant bool
	dayOnly bool
	more    int    // days that follow in the stretch that the text names: 1 for a weekend
	ends    bool   // the date is that of the last day of the stretch
	words   string // that it was read from, if they are relative to the time
}

// AsEnd returns the date as the end of an event: the last day of what the text names, the Sunday of a weekend.
func (d Date) AsEnd() Date {
	if !d.ends {
		d.wall, d.ends = d.wall.AddDate(0, 0, d.more), true
	}
	return d
}

// FromWall is the date of a wall time.
func FromWall(w calendar.Wall) Date { return Date{wall: w} }

// fromDay is the date of a day without a time of day: its midnight.
func fromDay(w calendar.Wall) Date { return Date{wall: w, dayOnly: true} }

// FromInstant is the date of an instant; fractions of a second are cut.
func FromInstant(t time.Time) Date { return Date{at: t.UTC().Truncate(time.Second), instant: true} }

// Unix is the instant that many seconds after 1970-01-01 00:00:00 UTC, or ErrDate outside of the years
// 1000–9999 in UTC.
func Unix(sec int64) (Date, error) {
	d := FromInstant(time.Unix(sec, 0))
	if !isSupportedYear(d.at.Year()) {
		return Date{}, ErrDate
	}
	return d, nil
}

// Relative reports whether d was read from words that mean another date at another time.
func (d Date) Relative() bool { return d.words != "" }

// Again returns the date that the same relative words mean at another time. Other dates are unchanged.
func (d Date) Again(now time.Time, zone calendar.Zone) Date {
	if d.words == "" {
		return d
	}
	again, err := Parse(d.words, now, zone)
	if err != nil {
		return Date{} // beyond the years there are
	}
	if d.ends {
		return again.AsEnd()
	}
	return again
}

// DayOnly reports whether d was read from a day without a time of day.
func (d Date) DayOnly() bool { return d.dayOnly }

// IsInstant reports whether d is the same moment in every zone.
func (d Date) IsInstant() bool { return d.instant }

// Instant is the moment d means in the zone z: UTC, whole seconds. A wall time that the clock of z skips
// moves forward by the gap, one that it shows twice is the first pass.
func (d Date) Instant(z calendar.Zone) time.Time {
	if d.instant {
		return d.at
	}
	return z.Instant(d.wall)
}

// Wall returns the wall time in z of the moment d. A wall time is returned unchanged, unless the clock of z skips it.
// Then it is moved forward by the gap, as in Instant.
func (d Date) Wall(z calendar.Zone) calendar.Wall { return z.Wall(d.Instant(z)) }

// Nominal is Wall for a schedule: a wall time comes back as it was written even if the clock of z skips it on that day.
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
	s, marked, ok := normalise(text)
	if !ok {
		return Date{}, ErrDate
	}
	d, ok := readDate(s, marked, now, zone)
	switch {
	case !ok:
		return Date{}, dateError(s, marked)
	case !isSupportedYear(yearOf(d.Wall(zone))) || !isSupportedYear(d.Instant(zone).Year()):
		return Date{}, ErrYear
	}
	return d, nil
}

// dateError returns why a text is not a date: it would be one if some rule did not hold.
func dateError(s string, marked bool) error {
	if isInteger(s) && !isCompactDay(s) {
		return ErrYear
	}
	if _, ok := parseAbsolute(reader{s: s, anyDay: true}, marked); ok {
		return ErrDay
	}
	if _, ok := parseAbsolute(reader{s: s, anyZone: true}, marked); ok {
		return ErrZone
	}
	return ErrDate
}

// readDate tries the kinds of dates one after another; no text is read by two of them.
func readDate(s string, marked bool, now time.Time, zone calendar.Zone) (Date, bool) {
	if isCompactDay(s) {
		return parseAbsolute(reader{s: s}, marked)
	}
	if number := strings.TrimPrefix(s, "@"); number != "" && isInteger(number) {
		sec, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return Date{}, false
		}
		d, err := Unix(sec)
		return d, err == nil
	}
	if d, ok := parseAbsolute(reader{s: s}, marked); ok {
		return d, true
	}
	for _, v := range vocabularies {
		if marked && !v.marked {
			continue
		}
		if d, ok := v.date(s, now, zone); ok {
			d.words = s
			return d, true
		}
	}
	return Date{}, false
}

// isCompactDay reports whether s is eight digits that begin with a year there may be: 20261205, or 20260230, which is no day.
func isCompactDay(s string) bool {
	return len(s) == len("20261205") && s[0] != '-' && s[0] != '0' && isInteger(s)
}

// isInteger reports whether s consists of digits with an optional minus. Such a text is Unix seconds, unless isCompactDay.
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
