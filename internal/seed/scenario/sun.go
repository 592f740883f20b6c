package scenario

import (
	"math"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// sunset returns the time of sunset at a position on the given day, in minutes after midnight in the zone. The
// position is in degrees. The result ok is false if the sun does not set. The formulas of the Astronomical Almanac
// are accurate to 0.01 degrees from 1950 to 2050. Refraction and the radius of the sun together count as 50 arc
// minutes.
func sunset(lat, lng float64, zone calendar.Zone, day calendar.Wall) (minute int, ok bool) {
	noon := zone.Instant(day.Add(12 * time.Hour))
	// The second round uses the position of the sun at the sunset of the first round.
	at := noon
	for range 2 {
		hours, ok := hoursToSunset(lat, lng, at)
		if !ok {
			return 0, false
		}
		at = at.Add(time.Duration(math.Round(hours*3600)) * time.Second)
	}
	return int(math.Round(zone.Wall(at).Sub(day.StartOfDay()).Minutes())), true
}

// hoursToSunset returns the hours from an instant to the nearest sunset, negative if that is past. The result ok is
// false if the sun does not set then.
func hoursToSunset(lat, lng float64, at time.Time) (hours float64, ok bool) {
	const degree = math.Pi / 180
	days := float64(at.Unix())/86400 - 10957.5 // since noon of 1 January 2000 UTC
	anomaly := (357.528 + 0.9856003*days) * degree
	mean := 280.460 + 0.9856474*days
	ecliptic := (mean + 1.915*math.Sin(anomaly) + 0.020*math.Sin(2*anomaly)) * degree
	tilt := (23.439 - 0.0000004*days) * degree
	declination := math.Asin(math.Sin(tilt) * math.Sin(ecliptic))
	ascension := math.Atan2(math.Cos(tilt)*math.Sin(ecliptic), math.Cos(ecliptic)) / degree
	cosine := (math.Sin(-50.0/60*degree) - math.Sin(lat*degree)*math.Sin(declination)) /
		(math.Cos(lat*degree) * math.Cos(declination))
	if cosine < -1 || cosine > 1 {
		return 0, false
	}
	setting := math.Acos(cosine) / degree // hour angle
	sidereal := 280.46062 + 360.98564737*days + lng
	return math.Remainder(setting-(sidereal-ascension), 360) / 15.0411, true
}

// beforeDusk and the other constants determine when events at dusk or in darkness begin. On days when these would
// begin after candleTill, in minutes after midnight, other titles replace those of events in darkness.
const (
	beforeDusk = 25      // minutes before sunset at which a walk at dusk begins
	afterDusk  = 30      // minutes after sunset at which darkness begins
	darkFrom   = 19 * 60 // earliest start of an event in darkness, in minutes after midnight
	candleTill = 20*60 + 45
)

// sunsetOf returns the time of sunset in a city, in minutes after midnight. Where the sun does not set or rise that
// day, it returns 18:00.
func (c *Calendar) sunsetOf(city, day int) int {
	in := &c.cities[city]
	minute, ok := sunset(in.lat, in.lng, in.own, c.day(day))
	if !ok { // the sun does not set or does not rise on this day
		return 18 * 60
	}
	return minute
}

// dusk returns the start of a walk at dusk on a day in a city, in minutes after midnight.
func (c *Calendar) dusk(city, day int) int {
	return (c.sunsetOf(city, day) - beforeDusk + 14) / 15 * 15
}

func (c *Calendar) dark(city, day int) int {
	return max(darkFrom, (c.sunsetOf(city, day)+afterDusk+14)/15*15)
}
