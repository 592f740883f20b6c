package importer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/organizer"
)

// prepareOrganizers compares organizers of the source with the stored ones, and returns the writes.
func (r *importRun) prepareOrganizers(ctx context.Context, db *ent.Client, items []*Organizer) ([]recordWrite, error) {
	rows, err := db.Organizer.Query().Where(organizer.SourceIDIn(keysOf(items)...)).WithTranslations().All(ctx)
	if err != nil {
		return nil, fmt.Errorf("organizers by source: %w", err)
	}
	known := bySource(rows, func(o *ent.Organizer) *string { return o.SourceID })
	var names []string
	for _, o := range items {
		if o.NameOnly && known[o.Key] == nil {
			names = append(names, calendar.FoldName(o.Name))
		}
	}
	namesakes, err := db.Organizer.Query().Where(organizer.NameKeyIn(names...), organizer.StatusNEQ(calendar.Trash)).
		Order(ent.Asc(organizer.FieldID)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("organizers by name: %w", err)
	}
	writes := make([]recordWrite, len(items))
	for i, o := range items {
		row := known[o.Key]
		if row == nil && o.NameOnly {
			if at := slices.IndexFunc(namesakes, o.matchesRow); at >= 0 {
				row = namesakes[at]
			}
		}
		if row != nil && o.NameOnly && row.Status != calendar.Trash {
			writes[i] = recordWrite{action: Unchanged, id: row.ID}
			continue
		}
		if writes[i], err = r.prepareOrganizer(ctx, db, o, row); err != nil {
			return nil, err
		}
	}
	return writes, nil
}

// matchesRow reports whether a stored organizer can be the organizer o of the source. It is used if the source knows
// only a name and perhaps an e-mail address.
func (o *Organizer) matchesRow(row *ent.Organizer) bool {
	return row.NameKey == calendar.FoldName(o.Name) &&
		(o.Email == "" || row.Email == "" || strings.EqualFold(o.Email, row.Email))
}

func (r *importRun) prepareOrganizer(ctx context.Context, db *ent.Client, o *Organizer, row *ent.Organizer) (recordWrite, error) {
	c := &change{isNew: row == nil}
	old := row
	if old == nil {
		old = &ent.Organizer{}
	}
	if old.Status == calendar.Trash {
		return recordWrite{action: Unchanged, id: old.ID, notice: trashedNotice, hidden: true}, nil
	}
	in := &edit.OrganizerInput{}
	s := storedTextsOf(old)
	err := r.compareTexts(ctx, db, c, s, &o.Origin, sourceTexts{title: o.Name, slug: o.Slug, description: &o.Description})
	if err != nil {
		return recordWrite{}, err
	}
	setStatus(c, r.editor.Now, &in.Status, old.Status, old.PublishedAt, o.Status, o.Published)
	setTime(c, &in.Published, old.PublishedAt, o.Published)
	setIfChanged(c, &in.Values.Phone, old.Phone, o.Phone)
	setIfChanged(c, &in.Values.Email, old.Email, o.Email)
	setIfChanged(c, &in.Values.Website, old.Website, o.Website)
	r.setImage(c, &in.ImageID, old.ImageID, o.Image)
	setModified(c, &in.ModifiedAt, old.Core().LastWrite(), s.isTranslated(), o.Modified)
	w := recordWrite{action: c.action(), id: old.ID}
	if c.isNew {
		// The source id distinguishes the organizer from others of the same name.
		in.SourceID, in.AuthorID = &o.Key, r.author()
	}
	if w.action != Unchanged {
		w.do = writeLanguages(r, s, c.texts, row, func(
			ctx context.Context, tx *ent.Tx, at *ent.Organizer, one translationWrite, first bool,
		) (_ *ent.Organizer, err error) {
			in := in
			if !first {
				in = &edit.OrganizerInput{ModifiedAt: in.ModifiedAt}
			}
			in.Name, in.Description, in.Slug = one.title, one.description, one.slug
			if at == nil {
				at, _, err = edit.Organizers.Create(ctx, tx, r.editor, in)
				return at, err
			}
			return edit.Organizers.Update(ctx, tx, r.editor, at, in)
		})
	}
	return w, nil
}
