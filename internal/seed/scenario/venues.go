package scenario

import (
	"math"
	"slices"
	"strings"
)

func (c *Calendar) fillVenues() error {
	types := slices.Compact(slices.Sorted(slices.Values(c.plan.Venues)))
	c.venueIndex = newPlaceIndex(len(c.cities), types)
	n, err := c.newNamer()
	if err != nil {
		return err
	}
	var first *Venue
	for i := range c.o.Venues {
		source := chanceOf(c.o.Seed, chanceVenues, uint64(i))
		typ := c.plan.Venues[i%len(c.plan.Venues)]
		at := i / len(c.plan.Venues) % len(c.cities)
		in := &c.cities[at]
		street, district := n.street(in, &source)
		address := n.address(in, street, &source)
		name, err := n.name("list venue "+typ, in, street, district, address, &source)
		if err != nil {
			return err
		}
		c.venuePlaces = append(c.venuePlaces, venuePlace{street, district})
		about, err := c.describePlace("venue "+typ, at, source)
		if err != nil {
			return err
		}
		v := Venue{
			SourceID: c.sourceID("venue", i), Name: c.inAllLanguages(name), Description: about, Address: address, City: in.name,
			Province: in.province, Country: in.country.name,
			Phone: randomPhone(in.dial, &source), Website: siteURL(name), Picture: -1,
		}
		if v.Located = in.located && i%37 != 29; v.Located {
			v.Latitude = roundDegrees(in.lat + float64(source.between(-900, 900))/1e5)
			v.Longitude = roundDegrees(in.lng + float64(source.between(-1200, 1200))/1e5)
		}
		if district != nil {
			v.Zip = district.code
		}
		if c.plan.House && first != nil {
			c.venuePlaces[i] = c.venuePlaces[0]
			v.Address, v.Zip, v.Phone, v.Website = first.Address, first.Zip, first.Phone, first.Website
			v.Latitude, v.Longitude, v.Located = first.Latitude, first.Longitude, first.Located
		}
		if first == nil {
			first = &v
		}
		c.venues = append(c.venues, v)
		c.venueIndex.add(i, typ, at)
	}
	return nil
}

// venuePlace is the place of a venue in its city.
type venuePlace struct {
	street   street
	district *district // nil means unknown
}

// roundDegrees rounds a latitude or longitude to five decimals, which is about a metre.
func roundDegrees(degrees float64) float64 { return math.Round(degrees*1e5) / 1e5 }

// describePlace returns the description of a venue or organizer. Its paragraphs are in the section key of the text
// files. The parameter in is the index of the city.
func (c *Calendar) describePlace(key string, in int, source randomSource) (Text, error) {
	a, err := c.descriptionsOf(key)
	if err != nil {
		return nil, err
	}
	d := newDraft(c, source, in)
	lead := source.below(len(a[0].leads))
	t := Text{}
	more := source.below(2*len(a[0].more) + 1)
	for i, l := range c.o.Languages {
		var b strings.Builder
		d.paragraph(&b, a[i].leads[lead%len(a[i].leads)].template, i)
		if more < len(a[i].more) {
			d.paragraph(&b, a[i].more[more].template, i)
		}
		t[l] = b.String()
	}
	return t, nil
}
