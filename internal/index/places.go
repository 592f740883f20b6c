package index

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/query"
)

// place is the position of a venue, in degrees north and east.
type place struct {
	venue               int64
	cell                int64 // number of its cell in the grid of calendar.Cells
	latitude, longitude float64
	complete            bool  // has a cell and a longitude; other places are not found by distance
	status              uint8 // status of the venue, as index into calendar.Statuses
}

// places are the positions of all venues that have one, by venue id.
type places struct {
	all map[int64]place
	// byCell is the list of complete places, sorted by cell. Nil means that byCell and unpublished must be
	// rebuilt.
	byCell      []place
	unpublished []place
}

func (p *places) put(at place) {
	if p.all == nil {
		p.all = map[int64]place{}
	}
	p.all[at.venue] = at
	p.byCell = nil
}

// change sets or removes the place of a venue after a write. If found lacks the venue, it no longer has a position.
func (p *places) change(venue int64, found map[int64]place) {
	before, had := p.all[venue]
	now, has := found[venue]
	switch {
	case has && now != before:
		p.put(now)
	case had && !has:
		delete(p.all, venue)
		p.byCell = nil
	}
}

// sort rebuilds byCell and unpublished.
func (p *places) sort() {
	p.byCell, p.unpublished = make([]place, 0, len(p.all)), nil
	for _, at := range p.all {
		if at.status != statusPublished {
			p.unpublished = append(p.unpublished, at)
		}
		if at.complete {
			p.byCell = append(p.byCell, at)
		}
	}
	slices.SortFunc(p.byCell, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.venue, b.venue))
	})
}

// near returns the ids of the venues inside a circle. It leaves out places that counts does not accept.
func (p *places) near(c query.Circle, counts func(place) bool) []int64 {
	var venues []int64
	for _, r := range calendar.Cells(c.Latitude, c.Longitude, c.Kilometres) {
		at, _ := slices.BinarySearchFunc(p.byCell, r.First, func(at place, cell int64) int { return cmp.Compare(at.cell, cell) })
		for ; at < len(p.byCell) && p.byCell[at].cell <= r.Last; at++ {
			here := p.byCell[at]
			if calendar.Distance(c.Latitude, c.Longitude, here.latitude, here.longitude) <= c.Kilometres && counts(here) {
				venues = append(venues, here.venue)
			}
		}
	}
	return venues
}

// places calls each for every venue with a position. The text where limits the venues: a condition that begins with "
// AND", or "" for all.
func (r reader) places(ctx context.Context, where string, each func(place)) error {
	var at place
	var cell sql.NullInt64
	var longitude sql.NullFloat64
	var status sql.RawBytes
	return r.rows(ctx, venue.Table, []field{
		{venue.FieldID, &at.venue},
		{venue.FieldCell, &cell},
		{venue.FieldLatitude, &at.latitude},
		{venue.FieldLongitude, &longitude},
		{venue.FieldStatus, &status},
	}, " WHERE "+venue.FieldLatitude+" IS NOT NULL"+where, func() (err error) {
		if at.status, err = statusNumber(status); err != nil {
			return fmt.Errorf("%d %w", at.venue, err)
		}
		at.cell, at.longitude = cell.Int64, longitude.Float64
		at.complete = cell.Valid && longitude.Valid
		each(at)
		return nil
	})
}
