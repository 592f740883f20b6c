package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// readCity parses a row in the list of cities. Its columns are native name, English, Polish and Spanish name,
// genitive and locative in Polish, and province. Country, zone, latitude, longitude, telephone number, adjective,
// districts and streets follow.
func (c *Calendar) readCity(e []string, countries map[string]*country) (city, error) {
	if len(e) != 15 {
		return city{}, fmt.Errorf("%d columns instead of 15", len(e))
	}
	to := city{
		name: e[0], province: strings.Trim(e[6], "-"), country: countries[e[7]], dial: e[11],
		adjective: strings.Fields(strings.Trim(e[12], "-")), districts: strings.Split(e[13], ", "), located: true,
	}
	if to.country == nil {
		return to, fmt.Errorf("no country %q", e[7])
	}
	for name := range strings.SplitSeq(e[14], ", ") {
		to.streets = append(to.streets, c.streetOf(name))
	}
	for _, l := range c.o.Languages {
		switch l {
		case calendar.Polish:
			to.names, to.of, to.in = append(to.names, e[2]), append(to.of, e[4]), append(to.in, e[5])
		case calendar.Spanish:
			to.names, to.of, to.in = append(to.names, e[3]), append(to.of, "de "+e[3]), append(to.in, "en "+e[3])
		default:
			to.names, to.of, to.in = append(to.names, e[1]), append(to.of, "of "+e[1]), append(to.in, "in "+e[1])
		}
	}
	if err := c.readDetails(&to); err != nil {
		return to, err
	}
	err := c.locate(&to, e[8], e[9], e[10])
	return to, err
}

type country struct {
	code        string // ISO 3166-1 alpha-2
	name, price string
	factor      int // units of the currency for about a pound
	closed      []holiday
	address     string // pattern of addresses with {street} and {number}
	of          city   // place in the country for cities without data
}

// readCountries reads the countries and returns them by code. The columns are code, name, price, units of the
// currency for a pound, public holidays and address. Zone, latitude and longitude of the largest city follow. The
// last is an invalid telephone number.
func (c *Calendar) readCountries() (map[string]*country, error) {
	entries, err := c.local.entries("list countries")
	if err != nil {
		return nil, err
	}
	countries := map[string]*country{}
	for _, e := range entries {
		to := &country{code: e[0], name: e[1], price: e[2], address: e[5]}
		if to.factor, err = strconv.Atoi(e[3]); err != nil {
			return nil, fmt.Errorf("country %q: %w", e[0], err)
		}
		if to.closed, err = parseHolidays(e[4]); err != nil {
			return nil, fmt.Errorf("country %q: %w", e[0], err)
		}
		to.of = city{country: to, dial: e[9], closed: to.closed}
		if err := c.locate(&to.of, e[6], e[7], e[8]); err != nil {
			return nil, fmt.Errorf("country %q: %w", e[0], err)
		}
		countries[e[0]] = to
	}
	return countries, nil
}

// locate sets the zone and the position of a city from texts. If Options.Zone is set, it is the zone of the events
// there.
func (c *Calendar) locate(in *city, zone, lat, lng string) (err error) {
	if in.own, err = calendar.ParseZone(zone); err != nil {
		return err
	}
	in.zone = in.own
	if c.o.Zone != (calendar.Zone{}) {
		in.zone = c.o.Zone
	}
	if in.lat, err = strconv.ParseFloat(lat, 64); err != nil {
		return err
	}
	in.lng, err = strconv.ParseFloat(lng, 64)
	return err
}

// readDetails reads the districts, sights, neighbouring towns and regional holidays of a city from the data files.
func (c *Calendar) readDetails(to *city) error {
	for _, e := range c.local["list quarters"].Entries {
		if e[0] != to.name {
			continue
		}
		q := district{placeName: placeName{e[1], e[2]}, code: strings.Trim(e[3], "-"), stop: placeName{strings.Trim(e[5], "-"), strings.Trim(e[6], "-")}}
		for name := range strings.SplitSeq(e[4], ", ") {
			q.streets = append(q.streets, c.streetOf(name))
		}
		to.mapped = append(to.mapped, q)
	}
	to.sights = map[int][]placeName{}
	for _, e := range c.local["list sights"].Entries {
		if e[0] != to.name {
			continue
		}
		placeholder, ok := sightPlaceholders[e[1]]
		if !ok {
			return fmt.Errorf("no kind of sights %q", e[1])
		}
		to.sights[placeholder] = append(to.sights[placeholder], placeName{e[2], e[3]})
	}
	for _, e := range c.local["list neighbours"].Entries {
		if e[0] == to.name {
			to.near = strings.Split(e[1], ", ")
		}
	}
	to.closed = to.country.closed
	for _, e := range c.local["list holidays"].Entries {
		if e[0] == to.country.code && e[1] == to.province {
			more, err := parseHolidays(e[2])
			if err != nil {
				return err
			}
			to.closed = slices.Concat(to.closed, more)
		}
	}
	return nil
}

// sightPlaceholders are the placeholders of the sights of a city, by their names in the list of sights.
var sightPlaceholders = map[string]int{"square": placeholderSquare, "park": placeholderPark, "river": placeholderRiver}
