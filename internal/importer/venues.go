package importer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/venue"
)

// prepareVenues compares venues of the source with the stored ones, and returns the writes.
func (r *importRun) prepareVenues(ctx context.Context, db *ent.Client, items []*Venue) ([]recordWrite, error) {
	rows, err := db.Venue.Query().Where(venue.SourceIDIn(keysOf(items)...)).WithTranslations().All(ctx)
	if err != nil {
		return nil, fmt.Errorf("venues by source: %w", err)
	}
	known := bySource(rows, func(v *ent.Venue) *string { return v.SourceID })
	var names []string
	for _, v := range items {
		if v.NameOnly && known[v.Key] == nil {
			names = append(names, calendar.FoldName(v.Name))
		}
	}
	namesakes, err := db.Venue.Query().Where(venue.NameKeyIn(names...), venue.StatusNEQ(calendar.Trash)).
		Order(ent.Asc(venue.FieldID)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("venues by name: %w", err)
	}
	writes := make([]recordWrite, len(items))
	for i, v := range items {
		row := known[v.Key]
		if row == nil && v.NameOnly {
			if at := slices.IndexFunc(namesakes, v.matchesRow); at >= 0 {
				row = namesakes[at]
			}
		}
		if row != nil && v.NameOnly && row.Status != calendar.Trash {
			writes[i] = recordWrite{action: Unchanged, id: row.ID}
			continue
		}
		if writes[i], err = r.prepareVenue(ctx, db, v, row); err != nil {
			return nil, err
		}
	}
	return writes, nil
}

// matchesRow reports whether a stored venue can be the venue v of the source. It is used if the source knows only a
// name and perhaps an address.
func (v *Venue) matchesRow(row *ent.Venue) bool {
	address := calendar.FoldName(row.Address)
	return row.NameKey == calendar.FoldName(v.Name) &&
		(v.Address == "" || address == "" || strings.Contains(calendar.FoldName(v.Address), address))
}

func (r *importRun) prepareVenue(ctx context.Context, db *ent.Client, v *Venue, row *ent.Venue) (recordWrite, error) {
	c := &change{isNew: row == nil}
	old := row
	if old == nil {
		old = &ent.Venue{}
	}
	if old.Status == calendar.Trash {
		return recordWrite{action: Unchanged, id: old.ID, notice: trashedNotice, hidden: true}, nil
	}
	in := &edit.VenueInput{}
	s := storedTextsOf(old)
	err := r.compareTexts(ctx, db, c, s, &v.Origin, sourceTexts{title: v.Name, slug: v.Slug, description: &v.Description})
	if err != nil {
		return recordWrite{}, err
	}
	setStatus(c, r.editor.Now, &in.Status, old.Status, old.PublishedAt, v.Status, v.Published)
	setTime(c, &in.Published, old.PublishedAt, v.Published)
	setIfChanged(c, &in.Values.Address, old.Address, v.Address)
	setIfChanged(c, &in.Values.City, old.City, v.City)
	setIfChanged(c, &in.Values.Country, old.Country, v.Country)
	setIfChanged(c, &in.Values.Province, old.Province, v.Province)
	setIfChanged(c, &in.Values.State, old.State, v.State)
	setIfChanged(c, &in.Values.Zip, old.Zip, v.Zip)
	setIfChanged(c, &in.Values.Phone, old.Phone, v.Phone)
	setIfChanged(c, &in.Values.Stateprovince, old.Stateprovince, v.StateProvince)
	setIfChanged(c, &in.Values.Website, old.Website, v.Website)
	setIfChanged(c, &in.Values.ShowMap, old.ShowMap, v.ShowMap)
	setIfChanged(c, &in.Values.ShowMapLink, old.ShowMapLink, v.ShowMapLink)
	setIfChanged(c, &in.Values.Latitude, coordinate(old.Latitude), coordinate(v.Latitude))
	setIfChanged(c, &in.Values.Longitude, coordinate(old.Longitude), coordinate(v.Longitude))
	r.setImage(c, &in.ImageID, old.ImageID, v.Image)
	setModified(c, &in.ModifiedAt, old.Core().LastWrite(), s.isTranslated(), v.Modified)
	w := recordWrite{action: c.action(), id: old.ID}
	if c.isNew {
		// The source id distinguishes the venue from others of the same name.
		in.SourceID, in.AuthorID = &v.Key, r.author()
	}
	if w.action != Unchanged {
		w.do = writeLanguages(r, s, c.texts, row, func(
			ctx context.Context, tx *ent.Tx, at *ent.Venue, one translationWrite, first bool,
		) (_ *ent.Venue, err error) {
			in := in
			if !first {
				in = &edit.VenueInput{ModifiedAt: in.ModifiedAt}
			}
			in.Name, in.Description, in.Slug = one.title, one.description, one.slug
			if at == nil {
				at, _, err = edit.Venues.Create(ctx, tx, r.editor, in)
				return at, err
			}
			return edit.Venues.Update(ctx, tx, r.editor, at, in)
		})
	}
	return w, nil
}

func coordinate(degrees *float64) edit.Coordinate {
	if degrees == nil {
		return edit.Coordinate{}
	}
	return edit.Coordinate{Set: true, Degrees: *degrees}
}
