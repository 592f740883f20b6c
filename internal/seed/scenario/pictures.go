package scenario

import (
	"slices"

	"github.com/almanac-cal/almanac/internal/seed/picture"
)

// fillPictures plans the pictures. Kinds, series, some venues and organizers, and up to maxOwnPictures events have
// pictures. These events are mostly festivals, courses, and those of the next weeks, which people see first.
func (c *Calendar) fillPictures() error {
	if !c.o.Pictures {
		return nil
	}
	c.kindPictures, c.ownPictures = map[string][]int{}, map[int]int{}
	add := func(title, motif string) int {
		i := len(c.pictures)
		source := chanceOf(c.o.Seed, chancePictures, uint64(i))
		c.pictures = append(c.pictures, Picture{c.sourceID("picture", i), title, picture.Poster{Motif: motif, Seed: source.next()}})
		return i
	}
	first := c.o.Languages[0]
	for _, k := range c.plan.Kinds {
		if len(k.In) > 0 && !slices.Contains([]role{currentRole, clockChangeRole, festivalRole, courseRole}, k.Role) {
			name := c.categories[c.categoryIndex[k.In[0]]].Name[first]
			c.kindPictures[k.Key] = append(c.kindPictures[k.Key], add(name, k.Motif))
		}
	}
	for i := range c.series {
		s, k := &c.series[i], c.plan.Series[i]
		s.Picture = add(s.Title[first], k.Motif)
	}
	for i := range c.venues[:min(len(c.venues), maxVenuePictures)] {
		v := &c.venues[i]
		v.Picture = add(v.Name[first], motifOfVenue(c.plan.Venues[i%len(c.plan.Venues)]))
	}
	for i := range c.organizers[:min(len(c.organizers), maxOrganizerPictures)] {
		o := &c.organizers[i]
		o.Picture = add(o.Name[first], "nodes")
	}
	l := &c.layout
	var of []int
	for i := range l.firstPart() {
		of = append(of, i)
	}
	for n := range l.soon {
		of = append(of, l.firstFree()+n)
	}
	for _, i := range of[:min(len(of), maxOwnPictures)] {
		e := c.Event(i)
		var p eventOutline
		c.outlineEvent(&p, i)
		c.ownPictures[i] = add(e.Title[first], p.kind.Motif)
	}
	return nil
}

// maxOwnPictures and the other constants limit the numbers of records with their own picture. Other events share a
// picture of their festival or their kind, or have none.
const (
	maxOwnPictures       = 60 // of events
	maxVenuePictures     = 10
	maxOrganizerPictures = 4
)

// motifOfVenue returns the motif of pictures for a type of venue, or "house" for an unknown type.
func motifOfVenue(typ string) string {
	switch typ {
	case "park", "stage":
		return "leaf"
	case "gallery":
		return "frame"
	case "cinema":
		return "film"
	case "theatre", "room":
		return "stage"
	case "club", "hall":
		return "record"
	case "stadium", "arena":
		return "lanes"
	case "market":
		return "awning"
	case "library":
		return "book"
	case "lab":
		return "flask"
	}
	return "house"
}

// pictureOf returns the index of the picture of an event: its own, that of its festival, one of its kind, or -1
// for none.
func (c *Calendar) pictureOf(p *eventOutline, source *randomSource) int {
	draw := source.below(100)
	if own, ok := c.ownPictures[p.index]; ok {
		return own
	}
	of := c.kindPictures[p.kind.Key]
	l := &c.layout
	if p.index >= l.firstPart() && p.index < l.firstLesson() && draw%2 == 0 {
		if own, ok := c.ownPictures[len(l.pinned)+p.draft.fest]; ok {
			of = []int{own}
		}
	}
	if len(of) == 0 || draw >= 65 {
		return -1
	}
	return of[draw%len(of)]
}
