// Command dates writes dates, times, numbers and plural forms in all languages, which compare.mjs compares with
// those of Node. Each line is a JSON array: language, kind, style, values and text.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/locale"
)

// The compared days are those of five years, of which two are leap years.
const (
	firstYear = 2024
	lastYear  = 2028
)

var styles = map[string]locale.DateStyle{
	"long": locale.LongDate, "full": locale.FullDate, "medium": locale.MediumDate, "day": locale.Day,
	"weekday-day": locale.WeekdayDay, "short-day": locale.ShortDay, "short-weekday-day": locale.ShortWeekdayDay,
	"month": locale.Month,
}

// spans are lengths of ranges in days: within a month, within a year, and longer. Successive days use them in
// turn, and minutes likewise. The numbers of both are coprime to 7, so that each weekday gets all of them.
var spans = []int{1, 2, 6, 30, 370}

var clocks = map[string]locale.Clock{"time": locale.UsualClock, "time12": locale.Clock12, "time24": locale.Clock24}

// minutes are lengths of ranges of times, in minutes.
var minutes = []int{0, 25, 300, 719}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	words, err := locale.Load()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	e := json.NewEncoder(out)
	for _, l := range []struct {
		tag     string
		lang    calendar.Language
		english locale.EnglishDates
	}{
		{"en", calendar.English, locale.American},
		{"en-GB", calendar.English, locale.British},
		{"pl", calendar.Polish, ""},
		{"es", calendar.Spanish, ""},
	} {
		d := locale.DatesIn(l.lang, l.english)
		write := func(what, style string, of []any, text string) error {
			return e.Encode([]any{l.tag, what, style, of, text})
		}
		if err := writeDates(d, write); err != nil {
			return err
		}
		for days := -1; days <= 1; days++ {
			if err := write("relative", "", []any{days}, d.RelativeDay(days)); err != nil {
				return err
			}
		}
		for _, n := range []int{0, 7, 999, 1000, 9999, 10_000, 123_456, 1_234_567} {
			if err := write("number", "", []any{n}, d.Number(n)); err != nil {
				return err
			}
		}
		for n := range 201 {
			text := words.Message(l.lang, "event-count", map[string]any{"Count": n, "Number": d.Number(n)})
			if err := write("plural", "", []any{n}, text); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// writeDates passes formatted dates to write: days, ranges and dates with times in each style, and times of day. of
// contains the first and the last day or time, and text is the formatted text.
func writeDates(d locale.Dates, write func(what, style string, of []any, text string) error) error {
	n, minute := 0, 0
	for day := calendar.WallAt(firstYear, time.January, 1, 0, 0, 0); day.Before(calendar.WallAt(lastYear+1, time.January, 1, 0, 0, 0)); day = day.AddDate(0, 0, 1) {
		n, minute = n+1, (minute+37)%(24*60)
		at := day.Add(time.Duration(minute) * time.Minute)
		for name, style := range styles {
			for _, span := range []int{0, spans[n%len(spans)]} {
				last := day.AddDate(0, 0, span)
				if err := write("date", name, []any{day, last}, d.DateRange(style, day, last)); err != nil {
					return err
				}
			}
			if style == locale.Month {
				continue
			}
			if err := write("datetime", name, []any{at, at}, d.DateTime(style, at)); err != nil {
				return err
			}
			// Ranges beyond a year are skipped: in a style without years they show years, and no page has such
			// ranges.
			end := at.Add(time.Duration(minutes[n%len(minutes)]) * time.Minute)
			if year, _, _ := at.Date(); end.Before(calendar.WallAt(year+1, time.January, 1, 0, 0, 0)) {
				if err := write("datetime", name, []any{at, end}, d.DateTimeRange(style, at, end)); err != nil {
					return err
				}
			}
		}
		for _, length := range minutes {
			end := at.Add(time.Duration(length) * time.Minute)
			if end.StartOfDay() != day {
				continue
			}
			for kind, clock := range clocks {
				if err := write(kind, "", []any{at, end}, d.With(clock).TimeRange(at, end)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
