package edit

import (
	"context"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/organizertranslation"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
)

// CreateOrganizer stores a new organizer. If one of the same name exists, it updates and returns that, like
// CreateVenue.
func (e *Editor) CreateOrganizer(ctx context.Context, tx *ent.Tx, in *OrganizerInput) (
	row *ent.Organizer, created bool, err error,
) {
	return e.createOrganizer(ctx, tx, in, in.record())
}

func (e *Editor) createOrganizer(ctx context.Context, tx *ent.Tx, in *OrganizerInput, s *recordInput) (
	*ent.Organizer, bool, error,
) {
	row, created, err := createNamed(ctx, tx, e, e.organizers(tx, in, s))
	if err != nil || created {
		return row, created, err
	}
	rest := *in
	rest.Name, rest.Description = nil, nil
	if s.linked {
		rest.AuthorID = nil
	}
	if rest != (OrganizerInput{}) && e.isAllowed(auth.Edit, organizerRecord(row)) {
		sent := rest.record()
		sent.inline = s.linked
		row, err = updateNamed(ctx, tx, e, e.organizers(tx, &rest, sent), row, true)
	}
	return row, false, err
}

// UpdateOrganizer stores the sent fields of an organizer that the same transaction loaded, preferably with
// LockOrganizer.
func (e *Editor) UpdateOrganizer(ctx context.Context, tx *ent.Tx, row *ent.Organizer, in *OrganizerInput) (
	*ent.Organizer, error,
) {
	return updateNamed(ctx, tx, e, e.organizers(tx, in, in.record()), row, false)
}

// TrashOrganizer moves an organizer to the trash and removes its links to events for good. If it is there
// already, TrashOrganizer returns *calendar.Error organizer-is-in-trash.
func (e *Editor) TrashOrganizer(ctx context.Context, tx *ent.Tx, row *ent.Organizer) (*ent.Organizer, error) {
	return trashNamed(ctx, tx, e, e.organizers(tx, &OrganizerInput{}, &recordInput{}), row)
}

func organizerRecord(row *ent.Organizer) *record {
	return &record{
		textOwner: textOwner{
			kind: calendar.Organizer, id: row.ID, language: row.Language, languages: row.Languages,
			trashed:    row.Status == calendar.Trash,
			recordText: recordText{title: row.Name, description: row.Description, slug: row.Slug},
		},
		publicationState: publicationState{row.Status, row.StatusBeforeTrash, row.PublishedAt, row.Dated},
		author:           row.AuthorID, image: row.ImageID, source: row.SourceID,
		modified: row.ModifiedAt, version: row.Core().Writes(),
	}
}

func (in *OrganizerInput) record() *recordInput {
	return &recordInput{
		author: in.AuthorID, published: in.Published, status: in.Status,
		sentText: sentText{title: in.Name, description: in.Description, slug: in.Slug},
		image:    in.ImageID, source: in.SourceID, modified: in.ModifiedAt,
	}
}

// organizers returns the namedTable of organizers for the input of one organizer.
func (e *Editor) organizers(tx *ent.Tx, in *OrganizerInput, s *recordInput) namedTable[*ent.Organizer] {
	return namedTable[*ent.Organizer]{
		kind: calendar.Organizer, record: organizerRecord, sent: s, get: tx.Organizer.Get,
		faults: func(*ent.Organizer) []*param.Fault { return nil },
		insert: func(ctx context.Context, d *diff, common func(namedMutation)) (*ent.Organizer, error) {
			c := tx.Organizer.Create()
			common(c.Mutation())
			in.fill(c.Mutation(), &ent.Organizer{}, d)
			return c.Save(ctx)
		},
		update: func(ctx context.Context, old *ent.Organizer, d *diff, common, stamp func(namedMutation)) error {
			u := tx.Organizer.Update().Where(organizer.ID(old.ID), organizer.Version(old.Version))
			common(u.Mutation())
			in.fill(u.Mutation(), old, d)
			stamp(u.Mutation())
			return expectOneRow(u.Save(ctx))
		},
		named: func(ctx context.Context, key string, l calendar.Language) ([]*ent.Organizer, error) {
			rows, err := tx.Organizer.Query().Where(organizer.NameKey(key), organizer.StatusNEQ(calendar.Trash)).All(ctx)
			if err != nil {
				return nil, err
			}
			others, err := tx.OrganizerTranslation.Query().
				Where(organizertranslation.NameKey(key), organizertranslation.LanguageEQ(l)).
				QueryOrganizer().Where(organizer.StatusNEQ(calendar.Trash)).All(ctx)
			return append(rows, others...), err
		},
	}
}

// after returns the row of an organizer after a write of in, without what organizers share with venues.
func (in *OrganizerInput) after(old *ent.Organizer) *ent.Organizer {
	next := new(*old)
	in.Apply(next)
	next.ImageID = applyID(old.ImageID, in.ImageID)
	return next
}

// fill sets the fields in m that differ from the stored row old, except those that organizers share with venues.
func (in *OrganizerInput) fill(m *ent.OrganizerMutation, old *ent.Organizer, d *diff) {
	putFields(d, ent.OrganizerFields, m, old, in.after(old))
}
