// Package calendar has the rules of events without HTTP or SQL. It has wall times, zones, spans, slugs, costs,
// statuses and the settings of a site. It uses no clock: callers pass the time.
package calendar

import (
	"database/sql/driver"
	"fmt"
	"time"
)

// Layout is the format of all dates in the API: precise to the second, without a zone.
const Layout = "2006-01-02 15:04:05"

// Wall is a wall time: year to second, without a zone. The zero value is the start of year 1. A time.Time
// always has a zone, so a wall time in it could be mistaken for an instant. With Wall, the compiler
// distinguishes them. Its column type is datetime. Only Zone converts it to an instant.
type Wall struct{ t time.Time }

// WallAt returns a wall time from its parts. It normalises overflow like time.Date.
func WallAt(year int, month time.Month, day, hour, minute, second int) Wall {
	return Wall{time.Date(year, month, day, hour, minute, second, 0, time.UTC)}
}

// WallOf returns the wall time of t in the zone of t. It drops fractions of a second.
func WallOf(t time.Time) Wall {
	return WallAt(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second())
}

// ParseWall parses a wall time in the form of Layout. It drops a fraction of a second. The error is that of
// time.Parse.
func ParseWall(s string) (Wall, error) {
	t, err := time.Parse(Layout, s)
	if err != nil {
		return Wall{}, err
	}
	return WallOf(t), nil
}

func (w Wall) String() string { return w.t.Format(Layout) }

// Format formats the wall time with a layout of package time. Zone verbs print UTC.
func (w Wall) Format(layout string) string { return w.t.Format(layout) }

// Date returns the year, month and day.
func (w Wall) Date() (year int, month time.Month, day int) { return w.t.Date() }

// Clock returns the time of day.
func (w Wall) Clock() (hour, minute, second int) { return w.t.Clock() }

// Weekday returns the day of the week.
func (w Wall) Weekday() time.Weekday { return w.t.Weekday() }

// IsZero reports whether w is the zero value, which means that it was never set.
func (w Wall) IsZero() bool { return w.t.IsZero() }

// Before reports whether w is an earlier wall time than v.
func (w Wall) Before(v Wall) bool { return w.t.Before(v.t) }

// Equal reports whether w and v are the same wall time.
func (w Wall) Equal(v Wall) bool { return w.t.Equal(v.t) }

// Compare returns -1 if w is an earlier wall time than v, 1 if it is later, otherwise 0.
func (w Wall) Compare(v Wall) int { return w.t.Compare(v.t) }

// Add returns the wall time d later on the clock, without regard to any zone.
func (w Wall) Add(d time.Duration) Wall { return Wall{w.t.Add(d)} }

// Sub returns the duration from v to w on the clock, without regard to any zone.
func (w Wall) Sub(v Wall) time.Duration { return w.t.Sub(v.t) }

// AddDate adds calendar years, months and days like time.Time.AddDate.
func (w Wall) AddDate(years, months, days int) Wall { return Wall{w.t.AddDate(years, months, days)} }

// StartOfDay returns 00:00:00 of the same day.
func (w Wall) StartOfDay() Wall {
	y, m, d := w.t.Date()
	return WallAt(y, m, d, 0, 0, 0)
}

// EndOfDay returns 23:59:59 of the same day.
func (w Wall) EndOfDay() Wall {
	y, m, d := w.t.Date()
	return WallAt(y, m, d, 23, 59, 59)
}

// MarshalText returns the wall time in Layout.
func (w Wall) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText parses a text in Layout.
func (w *Wall) UnmarshalText(text []byte) (err error) {
	*w, err = ParseWall(string(text))
	return err
}

// Value returns the value to store in a datetime column. It implements driver.Valuer.
func (w Wall) Value() (driver.Value, error) { return w.t, nil }

// Scan reads the value of a datetime column. It implements sql.Scanner.
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
