// Package calendar states what is true of events without HTTP or SQL. It has wall times, zones, spans, slugs, costs,
// statuses and the settings of a site. It reads no clock: callers pass the time.
package calendar

import (
	"database/sql/driver"
	"fmt"
	"time"
)

// Layout is the format of all dates of the API: precise to the second, without a zone.
const Layout = "2006-01-02 15:04:05"

// Wall is a time as a clock on a wall shows it: year to second, without a zone. The zero value is year 1. A
// time.Time always has a zone, so a wall time in one could be mistaken for an instant. Wall lets the compiler
// tell them apart. Its column type is datetime. Only Zone converts it to an instant.
type Wall struct{ t time.Time }

// WallAt makes a wall time out of its parts, normalising overflow as time.Date does.
func WallAt(year int, month time.Month, day, hour, minute, second int) Wall {
	return Wall{time.Date(year, month, day, hour, minute, second, 0, time.UTC)}
}

// WallOf reads the clock of t, in the zone t carries; fractions of a second are cut.
func WallOf(t time.Time) Wall {
	return WallAt(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second())
}

// ParseWall reads Layout; a fraction of a second, which package time lets pass, is cut.
func ParseWall(s string) (Wall, error) {
	t, err := time.Parse(Layout, s)
	if err != nil {
		return Wall{}, err
	}
	return WallOf(t), nil
}

func (w Wall) String() string { return w.t.Format(Layout) }

// Format writes the wall time in a layout of package time; zone verbs print UTC.
func (w Wall) Format(layout string) string { return w.t.Format(layout) }

// Date returns the day.
func (w Wall) Date() (year int, month time.Month, day int) { return w.t.Date() }

// Clock returns the time of day.
func (w Wall) Clock() (hour, minute, second int) { return w.t.Clock() }

// Weekday returns the day of the week.
func (w Wall) Weekday() time.Weekday { return w.t.Weekday() }

// IsZero reports whether w was never set.
func (w Wall) IsZero() bool { return w.t.IsZero() }

// Before reports whether w is earlier on the clock than v.
func (w Wall) Before(v Wall) bool { return w.t.Before(v.t) }

// Equal reports whether both show the same.
func (w Wall) Equal(v Wall) bool { return w.t.Equal(v.t) }

// Compare returns -1 if w is earlier on the clock than v, 1 if it is later, else 0.
func (w Wall) Compare(v Wall) int { return w.t.Compare(v.t) }

// Add moves the hands of the clock by d, without regard to any zone.
func (w Wall) Add(d time.Duration) Wall { return Wall{w.t.Add(d)} }

// Sub returns the distance on the clock.
func (w Wall) Sub(v Wall) time.Duration { return w.t.Sub(v.t) }

// AddDate moves by calendar years, months and days as time.Time.AddDate does.
func (w Wall) AddDate(years, months, days int) Wall { return Wall{w.t.AddDate(years, months, days)} }

// StartOfDay is 00:00:00 of the same day.
func (w Wall) StartOfDay() Wall {
	y, m, d := w.t.Date()
	return WallAt(y, m, d, 0, 0, 0)
}

// EndOfDay is 23:59:59 of the same day.
func (w Wall) EndOfDay() Wall {
	y, m, d := w.t.Date()
	return WallAt(y, m, d, 23, 59, 59)
}

// MarshalText writes the wall time as String does.
func (w Wall) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (w *Wall) UnmarshalText(text []byte) (err error) {
	*w, err = ParseWall(string(text))
	return err
}

// Value stores the wall time; it implements driver.Valuer.
func (w Wall) Value() (driver.Value, error) { return w.t, nil }

// Scan reads a stored wall time; it implements sql.Scanner.
func (w *Wall) Scan(src any) error {
	switch v := src.(type) {
	case time.Time:
		*w = WallOf(v)
		return nil
	case []byte:
		return w.scanText(string(v))
	case string:
		return w.scanText(v)
	}
	return fmt.Errorf("wall time: cannot read a %T", src)
}

func (w *Wall) scanText(s string) error {
	if len(s) > len(Layout) {
		s = s[:len(Layout)]
	}
	v, err := ParseWall(s)
	if err != nil {
		return fmt.Errorf("wall time: %w", err)
	}
	*w = v
	return nil
}
