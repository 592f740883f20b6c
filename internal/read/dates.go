package read

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/when"
)

// maxUnix is a number of seconds greater than that of any valid date. Smaller integers are exact as float64.
const maxUnix = 1e12

// ParseDate returns a parser for dates (contract, section 5). Relative words such as "today" refer to now in the
// zone.
func ParseDate(now time.Time, zone calendar.Zone) func(raw any) (when.Date, *param.Fault) {
	return func(raw any) (when.Date, *param.Fault) {
		if n, ok := raw.(json.Number); ok {
			sec, err := strconv.ParseFloat(string(n), 64)
			if err != nil || math.Abs(sec) > maxUnix {
				return when.Date{}, dateFault(when.ErrYear, string(n))
			}
			d, err := when.Unix(int64(math.Floor(sec)))
			if err != nil {
				return when.Date{}, dateFault(when.ErrYear, string(n))
			}
			return d, nil
		}
		text, fault := param.String(raw)
		if fault != nil {
			return when.Date{}, &param.Fault{Reason: reasonDate, Key: "date-type", Data: map[string]any{}}
		}
		d, err := when.Parse(text, now, zone)
		if err != nil {
			return when.Date{}, dateFault(err, text)
		}
		return d, nil
	}
}

// ParseEnd returns a parser for the date at which an event or period ends (contract, section 5). The word
// "weekend" means its Sunday. Relative words refer to now in the zone.
func ParseEnd(now time.Time, zone calendar.Zone) func(raw any) (when.Date, *param.Fault) {
	parse := ParseDate(now, zone)
	return func(raw any) (when.Date, *param.Fault) {
		d, fault := parse(raw)
		return d.AsEnd(), fault
	}
}

// reasonDate is the reason code of a fault for a text that is not a date.
const reasonDate = "rest_invalid_date"

// dateFault returns the fault of a text that is not a date, with an example of a valid one.
func dateFault(err error, text string) *param.Fault {
	key := "date-unreadable"
	switch {
	case text == "":
		key = "date-empty"
	case errors.Is(err, when.ErrDay):
		key = "date-no-day"
	case errors.Is(err, when.ErrZone):
		key = "date-zone"
	case errors.Is(err, when.ErrYear):
		key = "date-year"
	}
	return &param.Fault{
		Reason: reasonDate, Key: key, Args: map[string]any{"Text": Shorten(text)}, Data: map[string]any{},
	}
}

// DayOf returns the calendar day of a date in the zone, as wall time 00:00:00.
func DayOf(d when.Date, zone calendar.Zone) calendar.Wall { return d.Wall(zone).StartOfDay() }
