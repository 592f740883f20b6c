package fill

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/bulk"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/when"
)

// city is a city with its position in degrees and its time zone. Cities with most venues come first in the list.
type city struct {
	name, country       string
	latitude, longitude float64
	zone                string
}

var cities = []city{
	{"Warszawa", "Poland", 52.2297, 21.0122, "Europe/Warsaw"},
	{"Madrid", "Spain", 40.4168, -3.7038, "Europe/Madrid"},
	{"London", "United Kingdom", 51.5072, -0.1276, "Europe/London"},
	{"New York", "United States", 40.7128, -74.0060, "America/New_York"},
	{"Barcelona", "Spain", 41.3874, 2.1686, "Europe/Madrid"},
	{"Kraków", "Poland", 50.0647, 19.9450, "Europe/Warsaw"},
	{"Łódź", "Poland", 51.7592, 19.4560, "Europe/Warsaw"},
	{"Dublin", "Ireland", 53.3498, -6.2603, "Europe/Dublin"},
	{"Chicago", "United States", 41.8781, -87.6298, "America/Chicago"},
	{"Sevilla", "Spain", 37.3891, -5.9845, "Europe/Madrid"},
	{"Gdańsk", "Poland", 54.3520, 18.6466, "Europe/Warsaw"},
	{"Manchester", "United Kingdom", 53.4808, -2.2426, "Europe/London"},
	{"Bilbao", "Spain", 43.2630, -2.9350, "Europe/Madrid"},
	{"Wrocław", "Poland", 51.1079, 17.0385, "Europe/Warsaw"},
	{"Denver", "United States", 39.7392, -104.9903, "America/Denver"},
	{"Poznań", "Poland", 52.4064, 16.9252, "Europe/Warsaw"},
	{"Valencia", "Spain", 39.4699, -0.3763, "Europe/Madrid"},
	{"Edinburgh", "United Kingdom", 55.9533, -3.1883, "Europe/London"},
	{"Cork", "Ireland", 51.8985, -8.4756, "Europe/Dublin"},
	{"Auckland", "New Zealand", -36.8509, 174.7645, "Pacific/Auckland"},
}

// Centre returns the position of a city's centre in degrees. rank 0 is the city with most venues.
func Centre(rank int) (latitude, longitude float64) {
	at := cities[rank%len(cities)]
	return at.latitude, at.longitude
}

// cityOf returns the city of the venue with a number, which counts from 0.
func cityOf(venue int) city {
	c := chanceOf("city", venue)
	return cities[c.rank(len(cities))]
}

func (r *run) venueCount() int     { return min(max(r.Events/50, 5), 20_000) }
func (r *run) organizerCount() int { return max(r.Events/100, 3) }

func (r *run) places(ctx context.Context) (err error) {
	r.venues, err = writeNamed(ctx, r, r.venueCount(), r.venue, r.loader.Venues)
	return err
}

// writeNamed writes a number of venues or organizers in batches, and returns their ids. record makes the i-th one.
func writeNamed[T any](
	ctx context.Context, r *run, count int, record func(i int) T, batchOf func([]T) (*bulk.Batch, error),
) (ids []int64, err error) {
	for from := 0; from < count; from += batch {
		var some []T
		for i := from; i < min(from+batch, count); i++ {
			some = append(some, record(i))
		}
		p, err := batchOf(some)
		if err != nil {
			return nil, err
		}
		written, err := r.loader.Write(ctx, p)
		if err != nil {
			return nil, err
		}
		ids = append(ids, written...)
	}
	return ids, nil
}

func (r *run) venue(i int) bulk.Venue {
	c := chanceOf("venue", i)
	at := cityOf(i)
	v := bulk.Venue{NamedInput: edit.VenueInput{
		SourceID: new(fmt.Sprintf("bench:venue:%d", i)), Published: r.before(&c), Status: r.status(&c),
		AuthorID: r.author(&c), Name: new(name(&c, 2)), Description: new(paragraphs(&c, 20)),
		Values: edit.VenueValues{VenueValues: ent.VenueValues{Address: new(fmt.Sprintf("%s %d", name(&c, 1), 1+c.below(200))), City: &at.name, Country: &at.country, Zip: new(fmt.Sprintf("%05d", c.below(100_000))), Phone: new(fmt.Sprintf("+48 %09d", c.below(1_000_000_000))), Website: new(fmt.Sprintf("https://venue-%d.example/", i))}}, ImageID: r.picture(&c, 20),
	}}
	if c.percent(90) {
		// Within some 15 kilometres of the centre.
		v.Values.Latitude = &edit.Coordinate{Set: true, Degrees: at.latitude + (c.real()-0.5)*0.25}
		v.Values.Longitude = &edit.Coordinate{Set: true, Degrees: at.longitude + (c.real()-0.5)*0.25}
	}
	if c.percent(33) {
		v.Texts = []calendar.Text{{Language: calendar.Polish, Description: paragraphs(&c, 20)}}
	}
	return v
}

func (r *run) organizers(ctx context.Context) (err error) {
	r.holders, err = writeNamed(ctx, r, r.organizerCount(), r.organizer, r.loader.Organizers)
	return err
}

func (r *run) organizer(i int) bulk.Organizer {
	c := chanceOf("organizer", i)
	o := bulk.Organizer{NamedInput: edit.OrganizerInput{
		SourceID: new(fmt.Sprintf("bench:organizer:%d", i)), Published: r.before(&c), Status: r.status(&c),
		AuthorID: r.author(&c), Name: new(name(&c, 2)), Description: new(paragraphs(&c, 20)),
		Values:  ent.OrganizerValues{Phone: new(fmt.Sprintf("+34 %09d", c.below(1_000_000_000))), Website: new(fmt.Sprintf("https://organizer-%d.example/", i)), Email: new(fmt.Sprintf("o%d@organizer.example", i))},
		ImageID: r.picture(&c, 10),
	}}
	if c.percent(33) {
		o.Texts = []calendar.Text{{Language: calendar.Polish, Description: paragraphs(&c, 20)}}
	}
	return o
}

// before returns a random publication date in the half year before the time of all writes.
func (r *run) before(c *randomSource) *time.Time {
	return new(r.now.Add(-time.Duration(c.below(180*24*3600)) * time.Second))
}

func (r *run) author(c *randomSource) *int64 { return &r.authors[c.below(len(r.authors))] }

func (r *run) picture(c *randomSource, percent float64) *int64 {
	if !c.percent(percent) {
		return nil
	}
	return &r.images[c.below(len(r.images))]
}

// status returns a random status for a record: mostly publish, never future or trash.
func (r *run) status(c *randomSource) *calendar.Status {
	status := calendar.Publish
	switch n := c.below(100); {
	case n < 3:
		status = calendar.Draft
	case n < 4:
		status = calendar.Pending
	case n < 5:
		status = calendar.Private
	}
	return &status
}

// event generates the i-th event. first is the number of the first event in the same batch.
func (r *run) event(i, first int) bulk.Event {
	c := chanceOf("event", i)
	venue := c.rank(len(r.venues))
	e := bulk.Event{EventInput: edit.EventInput{
		AuthorID: r.author(&c), Published: r.before(&c), Status: r.status(&c),
		Title: new(sentence(&c, 2+c.below(4))), Description: new(paragraphs(&c, 55)), ImageID: r.picture(&c, 50),
		EventValues: ent.EventValues{ShowMap: new(true), HideFromListings: new(c.percent(1)), Sticky: new(c.percent(1)), Featured: new(c.percent(3)), Ticketed: new(c.percent(20))},
		Venues:      &[]edit.VenueRef{}, Organizers: &[]edit.OrganizerRef{},
		Categories: &[]edit.TermRef{}, Tags: &[]edit.TermRef{},
	}}
	if c.percent(4) {
		// In the two years to come, so that some become due while a calendar is measured.
		e.Status, e.Published = new(calendar.Future), new(r.now.Add(time.Duration(c.below(700*24*3600))*time.Second))
	}
	if c.percent(40) {
		e.Excerpt = new("<p>" + sentence(&c, 12) + ".</p>")
	}
	r.time(&c, &e.EventInput, venue)
	switch n := c.below(10); {
	case n < 2:
		e.Cost = &calendar.Cost{Prices: []string{"0"}}
	case n < 5:
		e.Cost = &calendar.Cost{Prices: []string{fmt.Sprint(5 + c.below(90))}}
	case n < 6:
		low := 5 + c.below(50)
		e.Cost = &calendar.Cost{Prices: []string{fmt.Sprint(low), fmt.Sprint(low + 10)}}
	}
	if c.percent(30) {
		e.Website = &edit.Website{Set: true, URL: fmt.Sprintf("https://event-%d.example/", i)}
	}
	if c.percent(0.5) {
		e.Password = new("open sesame")
	}
	if c.percent(95) {
		*e.Venues = append(*e.Venues, edit.VenueRef{ID: r.venues[venue]})
		if c.percent(2) {
			*e.Venues = append(*e.Venues, edit.VenueRef{ID: r.venues[c.below(len(r.venues))]})
		}
	}
	for range 1 + c.below(10)/8 {
		*e.Organizers = append(*e.Organizers, edit.OrganizerRef{ID: r.holders[c.rank(len(r.holders))]})
	}
	for range 1 + c.below(2) {
		*e.Categories = append(*e.Categories, edit.TermRef{ID: r.categories[c.rank(len(r.categories))]})
	}
	for range c.below(3) {
		*e.Tags = append(*e.Tags, edit.TermRef{ID: r.tags[c.rank(len(r.tags))]})
	}
	if c.percent(33) {
		e.Texts = []calendar.Text{{
			Language: calendar.Polish, Title: sentence(&c, 2+c.below(4)), Description: paragraphs(&c, 55),
		}}
	}
	// One of the first events of its batch is what a few are part of.
	if parent := c.below(20); c.percent(2) && i-first > parent {
		e.Parent = func(ids []int64) int64 { return ids[parent] }
	}
	e.Organizers = new(slices.Compact(*e.Organizers))
	return e
}

// time sets a random start and end of an event in the zone of its venue. Some events are all-day.
func (r *run) time(c *randomSource, e *edit.EventInput, venue int) {
	zone, err := calendar.ParseZone(cityOf(venue).zone)
	if err != nil {
		zone = calendar.UTC()
	}
	year, month, day := r.From.Date()
	first := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	days := int(first.AddDate(0, months, 0).Sub(first).Hours() / 24)
	start := r.From.AddDate(0, 0, c.below(days))
	var end calendar.Wall
	if c.percent(5) {
		e.AllDay = new(true)
		end = start.AddDate(0, 0, c.below(4))
	} else {
		start = start.Add(time.Duration(8*4+c.below(14*4)) * 15 * time.Minute)
		end = start.Add(time.Duration(1+c.below(16)) * 15 * time.Minute)
	}
	e.Zone, e.Start, e.End = &zone, new(when.FromWall(start)), new(when.FromWall(end))
}
