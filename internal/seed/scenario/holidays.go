package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// holiday is the rule of a public holiday, such as "12-25", "easter+1" or "mon1/05".
type holiday struct {
	day      yearDay // the day itself, or that from which the weekday is counted
	easter   bool    // whether the day is counted from Easter Sunday
	offset   int     // days from Easter
	counted  bool    // whether the day is a weekday of a month
	weekday  time.Weekday
	number   int    // which weekday of the month: 1 is the first, -1 the last
	next     bool   // whether the day is the first weekday that is not before day
	only     bool   // whether there is a holiday only in years when day is the weekday
	year     int    // the only year of the holiday; 0 means every year
	shifts   [7]int // days by which the law moves the holiday, by the weekday of day
	replaced bool   // whether a holiday at the weekend has a substitute on the next working day
}

var weekdayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// parseHoliday parses the rule of a holiday. The rules are:
//
//   - "12-25", a day of each year; "12-25~", the same with a substitute;
//   - "2027-06-25", a day of one year;
//   - "easter-2", days from Easter;
//   - "mon-1/05", the last Monday of May;
//   - "mon>=01-06", the first Monday from 6 January;
//   - "fri=09-17", 17 September if it is a Friday;
//   - "10-12@tue-1,wed-2", a day that moves from a Tuesday or Wednesday.
func parseHoliday(text string) (h holiday, err error) {
	if day, parseErr := calendar.ParseWall(text + " 00:00:00"); parseErr == nil {
		year, month, number := day.Date()
		return holiday{day: yearDay{month, number}, year: year}, nil
	}
	if day, shifts, ok := strings.Cut(text, "@"); ok {
		if h.shifts, err = parseShifts(shifts); err != nil {
			return h, fmt.Errorf("holiday %q: %w", text, err)
		}
		h.day, err = parseYearDay(day)
		return h, err
	}
	rest, ok := strings.CutPrefix(text, "easter")
	if ok {
		h.easter = true
		if rest != "" {
			h.offset, err = strconv.Atoi(rest)
		}
		return h, err
	}
	text, h.replaced = strings.CutSuffix(text, "~")
	if h.day, err = parseYearDay(text); err == nil {
		return h, nil
	}
	at := -1
	if len(text) > 3 {
		at = slices.Index(weekdayNames, text[:3])
	}
	if at < 0 {
		return h, fmt.Errorf("holiday %q: %w", text, err)
	}
	h.weekday = time.Weekday(at)
	if from, ok := strings.CutPrefix(text[3:], ">="); ok {
		h.next = true
		h.day, err = parseYearDay(from)
		return h, err
	}
	if on, ok := strings.CutPrefix(text[3:], "="); ok {
		h.only = true
		h.day, err = parseYearDay(on)
		return h, err
	}
	h.counted = true
	number, month, _ := strings.Cut(text[3:], "/")
	if h.number, err = strconv.Atoi(number); err != nil || h.number == 0 {
		return h, fmt.Errorf("holiday %q: no number of the weekday", text)
	}
	h.day, err = parseYearDay(month + "-01")
	return h, err
}

// parseShifts parses the days by which a holiday moves, such as "tue-1,wed-2". The result is by weekday, from Sunday.
func parseShifts(text string) (shifts [7]int, err error) {
	for shift := range strings.SplitSeq(text, ",") {
		at := -1
		if len(shift) > 3 {
			at = slices.Index(weekdayNames, shift[:3])
		}
		if at < 0 {
			return shifts, fmt.Errorf("no weekday in %q", shift)
		}
		if shifts[at], err = strconv.Atoi(shift[3:]); err != nil {
			return shifts, err
		}
	}
	return shifts, nil
}

// parseHolidays parses rules that are separated by spaces.
func parseHolidays(text string) ([]holiday, error) {
	var all []holiday
	for rule := range strings.FieldsSeq(text) {
		h, err := parseHoliday(rule)
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, nil
}

// in returns the day of the holiday in a year, whether or not the holiday exists in that year.
func (h holiday) in(year int) calendar.Wall {
	switch {
	case h.easter:
		return easterSunday(year).AddDate(0, 0, h.offset)
	case h.next:
		day := h.day.in(year)
		return day.AddDate(0, 0, int(h.weekday-day.Weekday()+7)%7)
	case h.counted && h.number > 0:
		day := h.day.in(year)
		return day.AddDate(0, 0, int(h.weekday-day.Weekday()+7)%7+7*(h.number-1))
	case h.counted:
		day := h.day.in(year).AddDate(0, 1, -1)
		return day.AddDate(0, 0, -int(day.Weekday()-h.weekday+7)%7+7*(h.number+1))
	}
	day := h.day.in(year)
	return day.AddDate(0, 0, h.shifts[day.Weekday()])
}

// observed reports whether the holiday exists in a year.
func (h holiday) observed(year int) bool {
	return (h.year == 0 || h.year == year) && (!h.only || h.day.in(year).Weekday() == h.weekday)
}

// easterSunday returns Easter Sunday of the Gregorian calendar, by the method of Meeus, Jones and Butcher.
func easterSunday(year int) calendar.Wall {
	a, b, c := year%19, year/100, year%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return calendar.WallAt(year, time.Month(n/31), n%31+1, 0, 0, 0)
}

// holidaysIn returns the days of a year that are holidays by the rules. It adds a later working day for a holiday at
// a weekend if its rule says so.
func holidaysIn(rules []holiday, year int) map[yearDay]bool {
	all := map[yearDay]bool{}
	of := func(w calendar.Wall) yearDay {
		_, month, day := w.Date()
		return yearDay{month, day}
	}
	rules = slices.DeleteFunc(slices.Clone(rules), func(h holiday) bool { return !h.observed(year) })
	for _, h := range rules {
		all[of(h.in(year))] = true
	}
	for _, h := range rules {
		day := h.in(year)
		if !h.replaced || day.Weekday() != time.Saturday && day.Weekday() != time.Sunday {
			continue
		}
		for day.Weekday() == time.Saturday || day.Weekday() == time.Sunday || all[of(day)] {
			day = day.AddDate(0, 0, 1)
		}
		all[of(day)] = true
	}
	return all
}
