package importer

import (
	"slices"
)

// linkedRecords are the different terms, images, venues and organizers of a calendar and its events. They are in the
// order of first use, after the terms in Calendar.Parents. Records of this calendar that a table links by id or slug
// are left out.
type linkedRecords struct {
	terms      []*Term
	images     []*Image
	venues     []*Venue
	organizers []*Organizer
}

func collectLinked(cal *Calendar) linkedRecords {
	var f linkedRecords
	seen := make(map[string]bool)
	fresh := func(o *Origin) bool {
		was := seen[o.Key]
		seen[o.Key] = true
		return !was && o.Here == 0
	}
	image := func(i *Image) {
		if i != nil && fresh(&i.Origin) {
			f.images = append(f.images, i)
		}
	}
	for _, t := range cal.Parents {
		if fresh(&t.Origin) {
			f.terms = append(f.terms, t)
		}
	}
	events := slices.Clone(cal.Events)
	for _, e := range cal.Events {
		if e.Series != nil {
			events = append(events, e.Series.Changed...)
		}
	}
	terms := func(list []*Term) {
		for _, t := range list {
			if fresh(&t.Origin) {
				f.terms = append(f.terms, t)
			}
		}
	}
	venues := func(list []*Venue) {
		for _, v := range list {
			image(v.Image)
			if fresh(&v.Origin) {
				f.venues = append(f.venues, v)
			}
		}
	}
	organizers := func(list []*Organizer) {
		for _, o := range list {
			image(o.Image)
			if fresh(&o.Origin) {
				f.organizers = append(f.organizers, o)
			}
		}
	}
	for _, e := range events {
		terms(e.Terms)
		image(e.Image)
		venues(e.Venues)
		organizers(e.Organizers)
	}
	terms(cal.Terms)
	venues(cal.Venues)
	organizers(cal.Organizers)
	return f
}
