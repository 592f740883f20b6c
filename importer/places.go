package importer

import (
	"context"
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/venue"
)

// prepareVenues compares venues with those stored.
func (r *run) prepareVenues(ctx context.Context, db *ent.Client, items []*Venue) ([]write, error) {
	rows, err := db.Venue.Query().Where(venue.SourceIDIn(keysOf(items)...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("venues by source: %w", err)
	}
	known := bySource(rows, func(v *ent.Venue) *string { return v.SourceID })
	writes := make([]write, len(items))
	for i, v := range items {
		if writes[i], err = r.prepareVenue(ctx, db, v, known[v.Key]); err != nil {
			return nil, err
		}
	}
	return writes, nil
}

func (r *run) prepareVenue(ctx context.Context, db *ent.Client, v *Venue, row *ent.Venue) (write, error) {
	c := &change{fresh: row == nil}
	old := row
	if old == nil {
		old = &ent.Venue{}
	}
	if old.Status == calendar.Trash {
		return write{action: Unchanged, id: old.ID, notice: trashed, hidden: true}, nil
	}
	in := &edit.VenueInput{}
	set(c, &in.Name, old.Name, v.Name)
	set(c, &in.Description, old.Description, v.Description)
	if err := r.setSlug(ctx, db, c, &in.Slug, calendar.Venue, old.ID, old.Slug, v.Slug); err != nil {
		return write{}, err
	}
	setStatus(c, r.editor.Now, &in.Status, old.Status, old.PublishedAt, v.Status, v.Published)
	setTime(c, &in.Published, old.PublishedAt, v.Published)
	set(c, &in.Address, old.Address, v.Address)
	set(c, &in.City, old.City, v.City)
	set(c, &in.Country, old.Country, v.Country)
	set(c, &in.Province, old.Province, v.Province)
	set(c, &in.State, old.State, v.State)
	set(c, &in.Zip, old.Zip, v.Zip)
	set(c, &in.Phone, old.Phone, v.Phone)
	set(c, &in.StateProvince, old.Stateprovince, v.StateProvince)
	set(c, &in.Website, old.Website, v.Website)
	set(c, &in.ShowMap, old.ShowMap, v.ShowMap)
	set(c, &in.ShowMapLink, old.ShowMapLink, v.ShowMapLink)
	set(c, &in.Latitude, coordinate(old.Latitude), coordinate(v.Latitude))
	set(c, &in.Longitude, coordinate(old.Longitude), coordinate(v.Longitude))
	r.setImage(c, &in.ImageID, old.ImageID, v.Image)
	setTime(c, &in.ModifiedAt, old.ModifiedAt, v.Modified)
	in.ModifiedAt = v.Modified
	w := write{action: c.action(), id: old.ID}
	switch w.action {
	case Create:
		in.SourceID, in.AuthorID = &v.Key, r.author()
		w.do = func(ctx context.Context, tx *ent.Tx) (int64, error) { return r.createVenue(ctx, tx, in) }
	case Update:
		w.do = func(ctx context.Context, tx *ent.Tx) (int64, error) {
			return row.ID, r.writeIn(row.Language, func() error {
				_, err := r.editor.UpdateVenue(ctx, tx, row, in)
				return err
			})
		}
	}
	return w, nil
}

func coordinate(degrees *float64) edit.Coordinate {
	if degrees == nil {
		return edit.Coordinate{}
	}
	return edit.Coordinate{Set: true, Degrees: *degrees}
}

// createVenue stores a new venue. Its source id tells it from others of the same name.
func (r *run) createVenue(ctx context.Context, tx *ent.Tx, in *edit.VenueInput) (int64, error) {
	row, _, err := r.editor.CreateVenue(ctx, tx, in)
	if err != nil {
		return 0, err
	}
	return row.ID, nil
}

// prepareOrganizers compares organizers with those stored.
func (r *run) prepareOrganizers(ctx context.Context, db *ent.Client, items []*Organizer) ([]write, error) {
	rows, err := db.Organizer.Query().Where(organizer.SourceIDIn(keysOf(items)...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("organizers by source: %w", err)
	}
	known := bySource(rows, func(o *ent.Organizer) *string { return o.SourceID })
	writes := make([]write, len(items))
	for i, o := range items {
		if writes[i], err = r.prepareOrganizer(ctx, db, o, known[o.Key]); err != nil {
			return nil, err
		}
	}
	return writes, nil
}

func (r *run) prepareOrganizer(ctx context.Context, db *ent.Client, o *Organizer, row *ent.Organizer) (write, error) {
	c := &change{fresh: row == nil}
	old := row
	if old == nil {
		old = &ent.Organizer{}
	}
	if old.Status == calendar.Trash {
		return write{action: Unchanged, id: old.ID, notice: trashed, hidden: true}, nil
	}
	in := &edit.OrganizerInput{}
	set(c, &in.Name, old.Name, o.Name)
	set(c, &in.Description, old.Description, o.Description)
	if err := r.setSlug(ctx, db, c, &in.Slug, calendar.Organizer, old.ID, old.Slug, o.Slug); err != nil {
		return write{}, err
	}
	setStatus(c, r.editor.Now, &in.Status, old.Status, old.PublishedAt, o.Status, o.Published)
	setTime(c, &in.Published, old.PublishedAt, o.Published)
	set(c, &in.Phone, old.Phone, o.Phone)
	set(c, &in.Email, old.Email, o.Email)
	set(c, &in.Website, old.Website, o.Website)
	r.setImage(c, &in.ImageID, old.ImageID, o.Image)
	setTime(c, &in.ModifiedAt, old.ModifiedAt, o.Modified)
	in.ModifiedAt = o.Modified
	w := write{action: c.action(), id: old.ID}
	switch w.action {
	case Create:
		in.SourceID, in.AuthorID = &o.Key, r.author()
		w.do = func(ctx context.Context, tx *ent.Tx) (int64, error) { return r.createOrganizer(ctx, tx, in) }
	case Update:
		w.do = func(ctx context.Context, tx *ent.Tx) (int64, error) {
			return row.ID, r.writeIn(row.Language, func() error {
				_, err := r.editor.UpdateOrganizer(ctx, tx, row, in)
				return err
			})
		}
	}
	return w, nil
}

// createOrganizer stores a new organizer. Its source id tells it from others of the same name.
func (r *run) createOrganizer(ctx context.Context, tx *ent.Tx, in *edit.OrganizerInput) (int64, error) {
	row, _, err := r.editor.CreateOrganizer(ctx, tx, in)
	if err != nil {
		return 0, err
	}
	return row.ID, nil
}
