package edit

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
)

// CreateImage stores the row of a picture whose files are stored already. Fill sets what is known of them.
func (e *Editor) CreateImage(ctx context.Context, tx *ent.Tx, fill func(*ent.ImageCreate)) (*ent.Image, error) {
	if !auth.May(e.By, auth.Upload, auth.Record{Kind: calendar.Image}) {
		return nil, Forbidden()
	}
	drawn, err := tx.Record.Create().SetKind(calendar.Image).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("draw the id of a new image: %w", err)
	}
	create := tx.Image.Create().SetID(drawn.ID).SetNillableAuthorID(e.author()).SetCreatedAt(e.Now)
	fill(create)
	row, err := create.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create image: %w", store.AsConflict(err))
	}
	e.log(calendar.Image, row.ID, calendar.Created, nil)
	return row, nil
}

// ReplaceImage stores what changed of a picture when its files were made again. It reports false if the image is gone.
func (e *Editor) ReplaceImage(ctx context.Context, tx *ent.Tx, id int64, fill func(*ent.ImageUpdate)) (bool, error) {
	update := tx.Image.Update().Where(image.ID(id)).AddVersion(1)
	fill(update)
	n, err := update.Save(ctx)
	if err != nil {
		return false, fmt.Errorf("image %d: %w", id, err)
	}
	if n > 0 {
		e.log(calendar.Image, id, calendar.Updated, []string{"image"})
	}
	return n > 0, nil
}

// DeleteImage deletes the row of an image for good, and takes the image from the records that show it. The files
// are the caller's to remove, after the commit. Nothing is done if somebody else has deleted it, which is refused if a
// version is expected.
func (e *Editor) DeleteImage(ctx context.Context, tx *ent.Tx, row *ent.Image) error {
	about := auth.Record{Kind: calendar.Image}
	if row.AuthorID != nil {
		about.AuthorID = *row.AuthorID
	}
	if !auth.May(e.By, auth.DeleteImage, about) {
		return Forbidden()
	}
	if err := e.expect(row.Version); err != nil {
		return err
	}
	for _, t := range []struct {
		kind  calendar.Kind
		shows func(context.Context) ([]int64, error)
		clear func(context.Context, []int64) error
	}{
		{calendar.Event, tx.Event.Query().Where(shows[predicate.Event](row.ID)).
			Order(ent.Asc(event.FieldID)).Modify(forUpdate).IDs, func(ctx context.Context, ids []int64) error {
			return tx.Event.Update().Where(event.IDIn(ids...)).ClearImageID().AddVersion(1).SetModifiedAt(e.Now).Exec(ctx)
		}},
		{calendar.Venue, tx.Venue.Query().Where(shows[predicate.Venue](row.ID)).
			Order(ent.Asc(venue.FieldID)).Modify(forUpdate).IDs, func(ctx context.Context, ids []int64) error {
			return tx.Venue.Update().Where(venue.IDIn(ids...)).ClearImageID().AddVersion(1).SetModifiedAt(e.Now).Exec(ctx)
		}},
		{calendar.Organizer, tx.Organizer.Query().Where(shows[predicate.Organizer](row.ID)).
			Order(ent.Asc(organizer.FieldID)).Modify(forUpdate).IDs, func(ctx context.Context, ids []int64) error {
			return tx.Organizer.Update().Where(organizer.IDIn(ids...)).ClearImageID().AddVersion(1).
				SetModifiedAt(e.Now).Exec(ctx)
		}},
	} {
		ids, err := t.shows(ctx)
		if err != nil {
			return fmt.Errorf("%ss with image %d: %w", t.kind, row.ID, err)
		}
		for part := range slices.Chunk(ids, batch) {
			if err := t.clear(ctx, part); err != nil {
				return fmt.Errorf("%ss with image %d: %w", t.kind, row.ID, err)
			}
		}
		for _, id := range ids {
			e.log(t.kind, id, calendar.Updated, []string{"image"})
		}
	}
	gone, err := tx.Image.Delete().Where(image.ID(row.ID)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("image %d: %w", row.ID, err)
	}
	if gone == 0 && e.Expect.Some != nil {
		return PreconditionFailed()
	}
	if gone > 0 {
		e.log(calendar.Image, row.ID, calendar.Deleted, nil)
	}
	return nil
}

// shows selects the records that show an image. The tables share the column.
func shows[P ~func(*sql.Selector)](id int64) P { return P(sql.FieldEQ(event.FieldImageID, id)) }
