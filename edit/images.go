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
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
)

// CreateImage stores the row of an image whose files are stored already. The function fill sets columns such as
// the size.
func (e *Editor) CreateImage(ctx context.Context, tx *ent.Tx, fill func(*ent.ImageCreate)) (*ent.Image, error) {
	if !auth.May(e.By, auth.Upload, auth.Record{Kind: calendar.Image}) {
		return nil, Forbidden()
	}
	create := tx.Image.Create().SetNillableAuthorID(e.author()).SetCreatedAt(e.Now)
	fill(create)
	source, _ := create.Mutation().SourceID()
	id := e.Reserved.BySource[source]
	if id == 0 {
		var err error
		if id, err = drawID(ctx, tx, calendar.Image); err != nil {
			return nil, err
		}
	}
	row, err := create.SetID(id).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create image: %w", store.AsConflict(err))
	}
	e.LogChange(calendar.Image, row.ID, calendar.Created, nil, Impact{})
	return row, nil
}

// ReplaceImage updates the row of an image whose files were generated again. The function fill sets the changed
// columns. ReplaceImage returns false if the image was deleted meanwhile.
func (e *Editor) ReplaceImage(ctx context.Context, tx *ent.Tx, id int64, fill func(*ent.ImageUpdate)) (bool, error) {
	update := tx.Image.Update().Where(image.ID(id)).AddVersion(1)
	fill(update)
	n, err := update.Save(ctx)
	if err != nil {
		return false, fmt.Errorf("image %d: %w", id, err)
	}
	if n > 0 {
		e.LogChange(calendar.Image, id, calendar.Updated, []string{"image"}, Impact{Visible: true})
	}
	return n > 0, nil
}

// DeleteImage deletes the row of an image for good, and removes the image from all records that have it. The
// caller removes the files after the commit. If another transaction has deleted the image, DeleteImage does
// nothing, or returns PreconditionFailed if the request expects a version.
func (e *Editor) DeleteImage(ctx context.Context, tx *ent.Tx, row *ent.Image) error {
	if !auth.May(e.By, auth.DeleteImage, auth.RecordOf(calendar.Image, row.AuthorID, "", "")) {
		return Forbidden()
	}
	if err := e.CheckPrecondition(calendar.Version{All: row.Version}); err != nil {
		return err
	}
	// A transaction that links an event to the image waits for this lock.
	if _, err := lockRecords(ctx, tx, calendar.Image, sql.FieldEQ(image.FieldID, row.ID), noLimit); err != nil {
		return fmt.Errorf("image %d: %w", row.ID, err)
	}
	if err := e.unlinkSeries(ctx, tx, "image", []int64{row.ID}, true); err != nil {
		return err
	}
	err := e.clearReferences(ctx, tx, event.FieldImageID, row.ID, "image", slices.Concat([]calendar.Kind{calendar.Event}, calendar.NamedKinds)...)
	if err != nil {
		return err
	}
	gone, err := tx.Image.Delete().Where(image.ID(row.ID)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("image %d: %w", row.ID, err)
	}
	if gone == 0 && e.Expect.Some != nil {
		return PreconditionFailed()
	}
	if gone > 0 {
		e.LogChange(calendar.Image, row.ID, calendar.Deleted, nil, Impact{}) // the records that lost it have entries of their own
	}
	return nil
}
