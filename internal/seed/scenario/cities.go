package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// city is a city in which events take place.
type city struct {
	name      string   // name in its own language
	in, of    []string // such as "in Kraków" and "of Kraków", by language of the calendar
	names     []string
	adjective []string // adjective of the city: masculine, feminine, neuter, if the language has them
	province  string
	country   *country
	zone      calendar.Zone // time zone of events: Options.Zone or own
	own       calendar.Zone // time zone of the city
	lat, lng  float64
	located   bool                // whether lat and lng are those of the city, not of its country
	dial      string              // pattern of a telephone number; # stands for a random digit
	mapped    []district          // districts with their streets, for cities in full
	sights    map[int][]placeName // squares, parks and rivers, by placeholder
	near      []string            // neighbouring towns
	districts []string
	streets   []street
	closed    []holiday
	changes   []int // numbers of the days in whose night the clocks change
}

// placeName is a place's name, and the form after a preposition (at): "George Square", "in George Square".
type placeName struct{ name, at string }

// district is a district of a city, with its streets.
type district struct {
	placeName
	code    string // first part of the postcode; "" means unknown
	streets []street
	stop    placeName // stop of the public transport; "" means unknown
}

// HomeOf returns the language spoken in the city with this name, in any language. For an unknown city it returns
// preferred.
func HomeOf(name string, preferred calendar.Language) (calendar.Language, error) {
	order := append([]calendar.Language{preferred}, calendar.Languages...)
	for _, l := range order {
		places := sections{}
		if err := places.read("places." + string(l) + ".txt"); err != nil {
			return "", err
		}
		entries, err := places.entries("list cities")
		if err != nil {
			return "", err
		}
		if cityAt(entries, name) >= 0 {
			return l, nil
		}
	}
	return preferred, nil
}

// cityAt returns the index of the city with a name, in any language, in a list of cities. It returns -1 if it is
// missing.
func cityAt(entries [][]string, name string) int {
	slug := calendar.Slug(name)
	return slices.IndexFunc(entries, func(e []string) bool {
		return slices.ContainsFunc(e[:4], func(n string) bool { return calendar.Slug(n) == slug })
	})
}

// fillCities reads the cities, and chooses those of the calendar and the sports teams. It also sets the default of
// Options.Now.
func (c *Calendar) fillCities() error {
	countries, err := c.readCountries()
	if err != nil {
		return err
	}
	entries, err := c.local.entries("list cities")
	if err != nil {
		return err
	}
	source := chanceOf(c.o.Seed, chanceCities)
	cities := make([]city, len(entries))
	for i, e := range entries {
		if cities[i], err = c.readCity(e, countries); err != nil {
			return fmt.Errorf("city %q: %w", e[0], err)
		}
	}
	if c.o.City != "" {
		first := cityAt(entries, c.o.City)
		if first < 0 {
			first = len(cities)
			cities = append(cities, c.unknownCity(countries[c.local["list countries"].Entries[0][0]]))
		}
		cities[0], cities[first] = cities[first], cities[0]
	}
	for i := len(cities) - 1; i > 0; i-- {
		j := source.below(i + 1)
		if c.o.City != "" {
			j = 1 + source.below(i)
		}
		cities[i], cities[j] = cities[j], cities[i]
	}
	if c.plan.Country {
		cities = citiesByCountry(cities)
	}
	n := 1
	if c.plan.Cities && c.o.City == "" {
		n = max(1, min(len(cities), c.o.Venues/len(c.plan.Venues), maxCities))
	}
	c.cities = cities[:n]
	c.written = c.o.Now
	if c.o.Now.IsZero() {
		c.o.Now = c.cities[0].zone.Instant(c.o.From)
		c.written = fixedPast
		if c.o.Now.Before(fixedPast) {
			c.written = c.o.Now
		}
	}
	teams, err := c.local.entries("list teams")
	if err != nil {
		return err
	}
	// The home team is from a district of the city, its opponents also from neighbouring towns. A city without
	// districts has several teams.
	home := &c.cities[0]
	places := slices.Clone(home.districts)
	if len(home.mapped) > 0 {
		places = nil
		for _, q := range home.mapped {
			if !slices.Contains(centralDistricts, q.name) {
				places = append(places, q.name)
			}
		}
	}
	places = append(places, home.name)
	if len(places) == 1 {
		places = slices.Repeat(places, len(teams))
	}
	c.homeTeams = len(places)
	for t, place := range slices.Concat(places, home.near) {
		c.teams = append(c.teams, team{strings.ReplaceAll(teams[t%len(teams)][0], "{city}", place)})
	}
	return nil
}

// centralDistricts are the names of districts that no team has.
var centralDistricts = []string{"City Centre", "Centro", "Śródmieście", "Stare Miasto", "Old City", "Old Town"}

// fixedPast is a time before any use of the program. It is the default of Calendar.Written, unless the calendar
// begins earlier.
var fixedPast = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// maxCities is the maximum number of cities of a calendar.
const maxCities = 14

// unknownCity returns a city with the name c.o.City, which is in no list. Position, zone and telephone numbers are
// those that the country has for such cities. The name is not declined.
func (c *Calendar) unknownCity(in *country) city {
	to := in.of
	to.name = c.o.City
	for _, l := range c.o.Languages {
		to.names = append(to.names, to.name)
		switch l {
		case calendar.Polish:
			to.of, to.in = append(to.of, "miasta "+to.name), append(to.in, "w mieście "+to.name)
		case calendar.Spanish:
			to.of, to.in = append(to.of, "de "+to.name), append(to.in, "en "+to.name)
		default:
			to.of, to.in = append(to.of, "of "+to.name), append(to.in, "in "+to.name)
		}
	}
	return to
}

// citiesByCountry returns up to eight cities of one country. It is the country of the first city that has at least
// two others in the list. If there is none, it returns all cities.
func citiesByCountry(cities []city) []city {
	for _, first := range cities {
		var in []city
		for _, other := range cities {
			if other.country == first.country {
				in = append(in, other)
			}
		}
		if len(in) > 2 {
			return in[:min(len(in), 8)]
		}
	}
	return cities
}
