package handlers

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

// maxUnix is beyond all seconds that are a date. Numbers up to it lose nothing as float64.
const maxUnix = 1e12

// parseDate reads a date (contract, section 5); relative words refer to now in the zone.
func parseDate(now time.Time, zone calendar.Zone) func(raw any) (when.Date, *param.Fault) {
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
			return when.Date{}, &param.Fault{Key: "date-type"}
		}
		d, err := when.Parse(text, now, zone)
		if err != nil {
			return when.Date{}, dateFault(err, text)
		}
		return d, nil
	}
}

// parseEnd is parseDate for the end of an event or of a stretch of time: a weekend ends on its Sunday.
func parseEnd(now time.Time, zone calendar.Zone) func(raw any) (when.Date, *param.Fault) {
	parse := parseDate(now, zone)
	return func(raw any) (when.Date, *param.Fault) {
		d, fault := parse(raw)
		return d.AsEnd(), fault
	}
}

// dateFault says why a text is no date, with an example of one that is. It has no reason.
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
	return &param.Fault{Key: key, Args: map[string]any{"Text": shortenForMessage(text)}}
}

// dayOf is the calendar day of an instant or wall time in the zone, as wall time 00:00:00.
func dayOf(d when.Date, zone calendar.Zone) calendar.Wall { return d.Wall(zone).StartOfDay() }

// dateText returns an instant as links write it: as wall time in the zone. In a doubled hour the second pass has its
// offset added.
func dateText(t time.Time, zone calendar.Zone) string {
	w := zone.Wall(t)
	if zone.Instant(w).Equal(t) {
		return w.String()
	}
	return t.In(zone.Location()).Format(calendar.Layout + "-07:00")
}
