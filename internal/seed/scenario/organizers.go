package scenario

import (
	"math"

	"github.com/almanac-cal/almanac/calendar"
)

func (c *Calendar) fillOrganizers() error {
	if c.o.Organizers == 0 {
		c.o.Organizers = 5 + int(math.Sqrt(float64(c.o.Events))/2)
		c.o.Organizers = max(c.o.Organizers, len(c.cities)*len(c.plan.Organizers))
	}
	c.organizerIndex = newPlaceIndex(len(c.cities), c.plan.Organizers)
	n, err := c.newNamer()
	if err != nil {
		return err
	}
	for i := range c.o.Organizers {
		source := chanceOf(c.o.Seed, chanceOrganizers, uint64(i))
		typ := c.plan.Organizers[i%len(c.plan.Organizers)]
		at := i / len(c.plan.Organizers) % len(c.cities)
		in := &c.cities[at]
		street, district := n.street(in, &source)
		name, err := n.name("list organizer "+typ, in, street, district, n.address(in, street, &source), &source)
		if err != nil {
			return err
		}
		about, err := c.describePlace("organizer "+typ, at, source)
		if err != nil {
			return err
		}
		c.organizers = append(c.organizers, Organizer{
			SourceID: c.sourceID("organizer", i), Name: c.inAllLanguages(name), Description: about,
			Phone: randomPhone(in.dial, &source), Email: "info@" + calendar.Slug(name) + ".example", Website: siteURL(name),
			Picture: -1,
		})
		c.organizerIndex.add(i, typ, at)
	}
	return nil
}
