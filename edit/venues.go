package edit

import (
	"context"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/ent/venuetranslation"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
)

// CreateVenue stores a new venue. A duplicate is a venue outside the trash that the caller may read. It has the
// same name, and the same description if one is sent. If there is a duplicate, CreateVenue returns that, and
// created is false. It stores the other sent fields in the duplicate if the caller may edit it. For a venue that
// is sent with a source id, CreateVenue looks for no duplicate.
func (e *Editor) CreateVenue(ctx context.Context, tx *ent.Tx, in *VenueInput) (
	row *ent.Venue, created bool, err error,
) {
	return e.createVenue(ctx, tx, in, in.record())
}

func (e *Editor) createVenue(ctx context.Context, tx *ent.Tx, in *VenueInput, s *recordInput) (*ent.Venue, bool, error) {
	row, created, err := createNamed(ctx, tx, e, e.venues(tx, in, s))
	if err != nil || created {
		return row, created, err
	}
	rest := *in
	rest.Name, rest.Description = nil, nil
	if s.linked {
		rest.AuthorID = nil
	}
	if rest != (VenueInput{}) && e.isAllowed(auth.Edit, venueRecord(row)) {
		sent := rest.record()
		sent.inline = s.linked
		row, err = updateNamed(ctx, tx, e, e.venues(tx, &rest, sent), row, true)
	}
	return row, false, err
}

// UpdateVenue stores the sent fields of a venue that the same transaction loaded, best with LockVenue.
func (e *Editor) UpdateVenue(ctx context.Context, tx *ent.Tx, row *ent.Venue, in *VenueInput) (*ent.Venue, error) {
	return updateNamed(ctx, tx, e, e.venues(tx, in, in.record()), row, false)
}

// TrashVenue moves a venue to the trash and removes its links to events for good. If it is there already,
// TrashVenue returns *calendar.Error venue-is-in-trash.
func (e *Editor) TrashVenue(ctx context.Context, tx *ent.Tx, row *ent.Venue) (*ent.Venue, error) {
	return trashNamed(ctx, tx, e, e.venues(tx, &VenueInput{}, &recordInput{}), row)
}

func venueRecord(row *ent.Venue) *record {
	return &record{
		textOwner: textOwner{
			kind: calendar.Venue, id: row.ID, language: row.Language, languages: row.Languages,
			trashed:    row.Status == calendar.Trash,
			recordText: recordText{title: row.Name, description: row.Description, slug: row.Slug},
		},
		publicationState: publicationState{row.Status, row.StatusBeforeTrash, row.PublishedAt, row.Dated},
		author:           row.AuthorID, image: row.ImageID, source: row.SourceID,
		modified: row.ModifiedAt, version: row.Core().Writes(),
	}
}

func (in *VenueInput) record() *recordInput {
	return &recordInput{
		author: in.AuthorID, published: in.Published, status: in.Status,
		sentText: sentText{title: in.Name, description: in.Description, slug: in.Slug},
		image:    in.ImageID, source: in.SourceID, modified: in.ModifiedAt,
	}
}

// venues returns the namedTable of venues for the input of one venue.
func (e *Editor) venues(tx *ent.Tx, in *VenueInput, s *recordInput) namedTable[*ent.Venue] {
	return namedTable[*ent.Venue]{
		kind: calendar.Venue, record: venueRecord, sent: s, faults: in.faults, get: tx.Venue.Get,
		insert: func(ctx context.Context, d *diff, common func(namedMutation)) (*ent.Venue, error) {
			c := tx.Venue.Create()
			common(c.Mutation())
			in.fill(c.Mutation(), newVenue(), d)
			return c.Save(ctx)
		},
		update: func(ctx context.Context, old *ent.Venue, d *diff, common, stamp func(namedMutation)) error {
			u := tx.Venue.Update().Where(venue.ID(old.ID), venue.Version(old.Version))
			common(u.Mutation())
			in.fill(u.Mutation(), old, d)
			stamp(u.Mutation())
			return expectOneRow(u.Save(ctx))
		},
		named: func(ctx context.Context, key string, l calendar.Language) ([]*ent.Venue, error) {
			rows, err := tx.Venue.Query().Where(venue.NameKey(key), venue.StatusNEQ(calendar.Trash)).All(ctx)
			if err != nil {
				return nil, err
			}
			others, err := tx.VenueTranslation.Query().
				Where(venuetranslation.NameKey(key), venuetranslation.LanguageEQ(l)).
				QueryVenue().Where(venue.StatusNEQ(calendar.Trash)).All(ctx)
			return append(rows, others...), err
		},
	}
}

// newVenue returns a venue with the default values of a create.
func newVenue() *ent.Venue { return &ent.Venue{ShowMap: true, ShowMapLink: true} }

// after returns the row of a venue after a write of in, without what venues share with organizers.
func (in *VenueInput) after(old *ent.Venue) *ent.Venue {
	next := new(*old)
	in.Apply(next)
	next.ImageID = applyID(old.ImageID, in.ImageID)
	next.Latitude, next.Longitude = in.Latitude.applyTo(old.Latitude), in.Longitude.applyTo(old.Longitude)
	return next
}

// fill sets the fields in m that differ from the stored row old, except those that venues share with organizers.
func (in *VenueInput) fill(m *ent.VenueMutation, old *ent.Venue, d *diff) {
	next := in.after(old)
	putFields(d, ent.VenueFields, m, old, next)
	putOptional(d, "", old.Cell, VenueCell(next.Latitude, next.Longitude), m.SetCell, m.ClearCell)
}

// applyTo returns the coordinate after a write: nil means none. A nil receiver means not sent.
func (c *Coordinate) applyTo(old *float64) *float64 {
	switch {
	case c == nil:
		return old
	case !c.Set:
		return nil
	}
	return new(c.Degrees)
}

// faults returns a fault if only one of latitude and longitude would be set. The fault is that of the missing
// one.
func (in *VenueInput) faults(old *ent.Venue) []*param.Fault {
	if old == nil {
		old = &ent.Venue{}
	}
	lat, lng := in.Latitude.applyTo(old.Latitude), in.Longitude.applyTo(old.Longitude)
	missing, there := "geo_lng", "geo_lat"
	if (lat == nil) == (lng == nil) {
		return nil
	}
	if lat == nil {
		missing, there = there, missing
	}
	return []*param.Fault{{
		Param: missing, Key: "needs-other", Args: map[string]any{"Param": missing, "Other": there},
	}}
}

// VenueCell returns the cell of a position (calendar.Cell), nil if a coordinate is missing.
func VenueCell(latitude, longitude *float64) *int64 {
	if latitude == nil || longitude == nil {
		return nil
	}
	return new(calendar.Cell(*latitude, *longitude))
}
