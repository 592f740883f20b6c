package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// TestACalendarIsAliveToday generates a demo calendar for many days of a year. On each day one event must be going on,
// and others must follow soon. A city must have events on each day of the next weeks, and several at weekends. Short
// mode: fewer days.
func TestACalendarIsAliveToday(t *testing.T) {
	step := 29
	if testing.Short() {
		step = 3 * 29
	}
	for day := 0; day < 365; day += step {
		now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC).AddDate(0, 0, day)
		year, month, _ := now.Date()
		for _, s := range Scenarios {
			c := mustNew(t, Options{
				Scenario: s, Seed: 7, Events: 300, From: calendar.WallAt(year, month, 1, 0, 0, 0), Months: 6, Now: now,
			})
			today, days := c.today(), map[int]int{}
			running := false
			for i := range c.Len() {
				e := c.Event(i)
				if e.Status != calendar.Publish || e.Hide || e.Password != "" || e.EventStatus != calendar.Scheduled {
					continue
				}
				running = running || !e.Span.StartsAt().After(now) && !e.Span.Over(now)
				days[int(c.spots[i].day)]++
			}
			if !running {
				t.Errorf("%s on %s: nothing is going on", s, now)
			}
			weekend, busy := 0, 0
			for n := range 28 {
				at := today + n
				if days[at] > 0 {
					busy++
				} else if s == "city" && !c.publicHolidays[at] {
					t.Errorf("%s on %s: no event %d days later", s, now, n)
				}
				if weekday := c.weekday(at); n < 7 && weekday > 4 && !c.publicHolidays[at] {
					weekend += days[at]
				} else if n < 7 && weekday > 4 {
					weekend += 2
				}
			}
			if weekend < 4 && s == "city" || busy < 7 {
				t.Errorf("%s on %s: %d events at the weekend, events on %d days of four weeks", s, now, weekend, busy)
			}
		}
	}
}

// TestCities generates calendars of all cities. Short mode: each city in a third of the scenarios.
func TestCities(t *testing.T) {
	tests := []struct {
		city              string
		language          calendar.Language // preferred
		home              calendar.Language
		name, zone, price string
		located           bool
	}{
		{"Łódź", "pl", "pl", "Łódź", "Europe/Warsaw", "zł", true},
		{"lodz", "en", "pl", "Łódź", "Europe/Warsaw", "zł", true},
		{"Warsaw", "en", "pl", "Warszawa", "Europe/Warsaw", "zł", true},
		{"Nowy Jork", "pl", "en", "New York", "America/New_York", "$", true},
		{"Córdoba", "es", "es", "Córdoba", "Europe/Madrid", "€", true},
		{"Buenos Aires", "es", "es", "Buenos Aires", "America/Argentina/Buenos_Aires", "$", true},
		{"  Wąchock ", "pl", "pl", "Wąchock", "Europe/Warsaw", "zł", false},
		{"Villarriba", "es", "es", "Villarriba", "Europe/Madrid", "€", false},
		{"Ambridge", "en", "en", "Ambridge", "Europe/London", "£", false},
	}
	for i, tt := range tests {
		home, err := HomeOf(tt.city, tt.language)
		if err != nil || home != tt.home {
			t.Errorf("%s: home %s, %v", tt.city, home, err)
		}
		for j, s := range Scenarios {
			if testing.Short() && (i+j)%3 != 0 {
				continue
			}
			o := optionsOf(s, tt.language, 100)
			o.City = tt.city
			c := mustNew(t, o)
			if c.Zone().String() != tt.zone || c.cities[0].name != tt.name {
				t.Errorf("%s: %s in %s", tt.city, c.cities[0].name, c.Zone())
			}
			if !strings.Contains(c.cities[0].country.price, tt.price) {
				t.Errorf("%s: prices like %s", tt.city, c.cities[0].country.price)
			}
			if v := c.Venues()[0]; v.City != tt.name || v.Located != tt.located {
				t.Errorf("%s: %+v", tt.city, v)
			}
			for i := range c.Len() {
				checkEvent(t, c, i, c.Event(i))
			}
		}
	}
}

func TestCitiesAreComplete(t *testing.T) {
	for _, l := range calendar.Languages {
		c := mustNew(t, optionsOf("city", l, 10))
		entries, err := c.local.entries("list cities")
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) < 24 {
			t.Errorf("%s: %d cities", l, len(entries))
		}
		countries, err := c.readCountries()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			in, err := c.readCity(e, countries)
			if err != nil {
				t.Errorf("%s: %v", e[0], err)
			}
			if len(in.districts) < 4 || len(in.streets) < 6 {
				t.Errorf("%s: %d districts, %d streets", in.name, len(in.districts), len(in.streets))
			}
			names = append(names, calendar.Slug(in.name))
		}
		slices.Sort(names)
		if n := len(slices.Compact(names)); n != len(entries) {
			t.Errorf("%s: %d of %d cities have names of their own", l, n, len(entries))
		}
	}
}

// TestVenuesAreNamedForTheirPlace generates venues in cities for which the district of a street is unknown. Their names
// must not have a district.
func TestVenuesAreNamedForTheirPlace(t *testing.T) {
	for city, l := range map[string]calendar.Language{"Cardiff": "en", "Málaga": "es", "Lublin": "pl"} {
		o := optionsOf("city", l, 100)
		o.City, o.Venues = city, 120
		c := mustNew(t, o)
		for _, v := range c.Venues() {
			for _, district := range c.cities[0].districts {
				if strings.Contains(v.Name[l]+" ", district+" ") && !strings.Contains(v.Address, district) {
					t.Errorf("%s: %s", v.Name[l], v.Address)
				}
			}
		}
	}
}

// TestStreets checks the forms of street names in names of venues.
func TestStreets(t *testing.T) {
	for name, want := range map[string]string{
		"Szewska": "Szewskiej", "Długa": "Długiej", "Rybna": "Rybnej", "Wschodnia": "Wschodniej", "Krupnicza": "Krupniczej",
		"Hoża": "Hożej", "Mała": "Małej", "Prosta": "Prostej", "Mickiewicza": "Mickiewicza", "Kopernika": "Kopernika",
	} {
		if got := locative(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"Calle Feria": "de la Calle Feria", "Jirón Ica": "del Jirón Ica", "Defensa": "de Defensa",
	} {
		if got := streetInNames(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestCalendarsOfTheFuture generates a calendar without Options.Now that begins after the present. Most events must
// count as published already.
func TestCalendarsOfTheFuture(t *testing.T) {
	o := optionsOf("city", calendar.Polish, 300)
	o.Now = time.Time{}
	c := mustNew(t, o)
	open := 0
	for i := range c.Len() {
		if e := c.Event(i); e.Status == calendar.Publish && !e.Published.After(fixedPast) {
			open++
		}
	}
	if open < 200 || !c.Written().Equal(fixedPast) {
		t.Errorf("%d events are public at %s", open, c.Written())
	}
}

func TestOpenCalendars(t *testing.T) {
	o := optionsOf("city", calendar.Polish, 1000)
	o.Open = true
	c := mustNew(t, o)
	for i := range c.Len() {
		if e := c.Event(i); e.Status != calendar.Publish || e.Hide || e.Password != "" {
			t.Errorf("event %d: %s", i, e.Status)
		}
	}
}
