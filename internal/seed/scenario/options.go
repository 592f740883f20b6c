package scenario

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
)

// Options are the options of a calendar. Only From is required.
type Options struct {
	// Scenario is one of the names in Scenarios. "" means "city".
	Scenario string
	// Seed determines all random choices.
	Seed uint64
	// Events, Venues and Organizers are numbers of records. 0 means 200 events, and enough venues and organizers for
	// the events. Occurrences of series are additional events.
	Events, Venues, Organizers int
	// City is the city of the events, which may be unknown to the package. "" means a random city.
	City string
	// From is the first day of the calendar. Months is its length in months; 0 means 24.
	From   calendar.Wall
	Months int
	// Zone is the time zone of the events. The zero value means the zones of their cities.
	Zone calendar.Zone
	// Languages are the languages of the texts. The first is the original language. It selects the countries of
	// the cities, unless City does. None means all languages, English first.
	Languages []calendar.Language
	// Now is the time in UTC by which events are past, current or scheduled. Zero means the start of From. Then
	// records are published long before, so that a calendar of the future can be read today.
	Now time.Time
	// Open makes all events public: without drafts, hidden events and passwords.
	Open bool
	// Nasty adds texts that reveal faults of clients: emoji, quotes, ampersands, right-to-left text.
	Nasty bool
	// Pictures adds pictures to most events and to some venues and organizers.
	Pictures bool
}

// complete returns the options with default values. It returns an error for an invalid option.
func (o Options) complete() (Options, error) {
	o.Scenario = cmp.Or(o.Scenario, Scenarios[0])
	if !slices.Contains(Scenarios, o.Scenario) {
		return o, fmt.Errorf("unknown scenario %q: want one of %s", o.Scenario, strings.Join(Scenarios, ", "))
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"events", o.Events}, {"venues", o.Venues}, {"organizers", o.Organizers}} {
		if n.value < 0 {
			return o, fmt.Errorf("%s: %d is negative", n.name, n.value)
		}
	}
	o.Months = cmp.Or(o.Months, 24)
	if o.Months < 1 || o.Months > maxMonths {
		return o, fmt.Errorf("months: %d is not from 1 to %d", o.Months, maxMonths)
	}
	o.From = o.From.StartOfDay()
	// In UTC, events may begin a day before the first day, and end some weeks after the last.
	first, _, _ := o.From.AddDate(0, 0, -100).Date()
	last, _, _ := o.From.AddDate(0, o.Months, 100).Date()
	if o.From.IsZero() || first < 1000 || last > 9999 {
		return o, fmt.Errorf("from: %s is not a day from which a calendar can begin", o.From)
	}
	var languages []calendar.Language
	for _, l := range o.Languages {
		if !l.Known() {
			return o, fmt.Errorf("languages: %q is unknown: want some of %q", l, calendar.Languages)
		}
		if !slices.Contains(languages, l) {
			languages = append(languages, l)
		}
	}
	if len(languages) == 0 {
		languages = slices.Clone(calendar.Languages)
	}
	o.Languages = languages
	o.Events = cmp.Or(o.Events, 200)
	// A large calendar needs enough rooms for its events.
	o.Venues = cmp.Or(o.Venues, max(8+int(math.Sqrt(float64(o.Events))), o.Events/eventsOfVenue))
	o.Now = o.Now.UTC()
	if o.City = strings.Join(strings.Fields(o.City), " "); utf8.RuneCountInString(o.City) > maxCity ||
		strings.ContainsAny(o.City, "{}<>|") || o.City != "" && calendar.Slug(o.City) == "" {
		return o, fmt.Errorf("city: %q is not a name of at most %d letters", o.City, maxCity)
	}
	return o, nil
}

// Scenarios lists the names of all scenarios.
var Scenarios = []string{"city", "venue", "festival", "university", "conference", "sport"}

const (
	maxCity         = 60 // letters
	maxMonths       = 240
	lessonsOfCourse = 5
)

// eventsOfVenue is the approximate number of events of a venue in a large calendar. With twice as many in two
// years, rooms become scarce.
const eventsOfVenue = 250
