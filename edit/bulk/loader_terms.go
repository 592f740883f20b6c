package bulk

import (
	"context"
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
)

// Term is a category or tag for Loader.Terms.
type Term struct {
	edit.TermInput
	Texts []calendar.Text // translations
	// Parent returns the id of the parent from the ids of the batch before this term. 0 means the top level. It
	// replaces ParentID.
	Parent func(batch []int64) int64
}

// LoadedTerm is the result of Loader.Terms for one term. Created is false if the term existed already: a category
// with this name and parent, or a tag with this name.
type LoadedTerm struct {
	ID      int64
	Created bool
}

// Terms stores categories or tags in one transaction. For a term that exists already it returns the stored one.
// Each term takes several statements, because the transaction locks its name.
func (l *Loader) Terms(ctx context.Context, taxonomy calendar.Kind, in []Term) ([]LoadedTerm, error) {
	if len(in) == 0 {
		return nil, nil
	}
	e := l.editor
	var out []LoadedTerm
	err := edit.Write(ctx, l.st.Ent, &e, func(tx *ent.Tx) error {
		out = make([]LoadedTerm, 0, len(in))
		ids := make([]int64, 0, len(in))
		for i := range in {
			own := in[i].TermInput
			own.Taxonomy = taxonomy
			if in[i].Parent != nil {
				own.ParentID = new(in[i].Parent(ids))
			}
			row, created, err := e.EnsureTerm(ctx, tx, &own, in[i].Texts)
			if err != nil {
				return fmt.Errorf("%s: %w", nameOf(taxonomy, own.SourceID), err)
			}
			ids, out = append(ids, row.ID), append(out, LoadedTerm{ID: row.ID, Created: created})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load %d records of kind %s: %w", len(in), taxonomy, err)
	}
	return out, nil
}

// Images inserts the rows of images, and returns their ids. The files must be stored already. Each function in fill
// sets the columns of one image. Images runs one transaction.
func (l *Loader) Images(ctx context.Context, fill []func(*ent.ImageCreate)) ([]int64, error) {
	if len(fill) == 0 {
		return nil, nil
	}
	e := l.editor
	var ids []int64
	err := edit.Write(ctx, l.st.Ent, &e, func(tx *ent.Tx) error {
		ids = make([]int64, 0, len(fill))
		for _, set := range fill {
			row, err := e.CreateImage(ctx, tx, set)
			if err != nil {
				return err
			}
			ids = append(ids, row.ID)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load %d images: %w", len(fill), err)
	}
	return ids, nil
}
