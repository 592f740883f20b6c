package importer

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
)

// namedRecord is a venue or organizer of the source. R is the type of its stored row. V has the values of the fields
// that only its kind has.
type namedRecord[R, V any] interface {
	sourceRecord
	named() *Named
	// matchesRow reports whether a stored row can be this record. It is called if the source knows little more than
	// a name.
	matchesRow(row R) bool
	// setValues sets in values what differs from the stored row.
	setValues(c *change, values *V, old R)
}

// namedRow is a stored venue or organizer.
type namedRow interface {
	comparable
	ent.Row
}

// namedKind has the queries and write rules for venues or for organizers.
type namedKind[R namedRow, V comparable] struct {
	kind             calendar.Kind
	empty            R // row without values, with which a new record is compared
	bySource, byName func(texts []string) ([]R, error)
	// keep removes the fields that only this kind has from the planned values if a person changed them.
	keep  func(*keptFields, *V) error
	rules interface {
		Create(ctx context.Context, tx *ent.Tx, e *edit.Editor, in *edit.NamedInput[V]) (R, bool, error)
		Update(ctx context.Context, tx *ent.Tx, e *edit.Editor, row R, in *edit.NamedInput[V]) (R, error)
	}
}

// prepareNamed compares venues or organizers of the source with the stored ones, and returns the writes that make them
// equal. If the source knows little more than a record's name, an existing record that matches stays unchanged.
func prepareNamed[T namedRecord[R, V], R namedRow, V comparable](
	ctx context.Context, r *importRun, db *ent.Client, k namedKind[R, V], items []T,
) ([]recordWrite, error) {
	rows, err := k.bySource(keysOf(items))
	if err != nil {
		return nil, fmt.Errorf("%s by source: %w", k.kind.Plural(), err)
	}
	known := bySource(rows, func(row R) *string { return row.Core().SourceID })
	var none R
	var names []string
	for _, item := range items {
		if n := item.named(); n.NameOnly && known[n.Key] == none {
			names = append(names, calendar.FoldName(n.Name))
		}
	}
	namesakes, err := k.byName(names)
	if err != nil {
		return nil, fmt.Errorf("%s by name: %w", k.kind.Plural(), err)
	}
	writes := make([]recordWrite, len(items))
	for i, item := range items {
		n := item.named()
		row := known[n.Key]
		if row == none && n.NameOnly {
			if at := slices.IndexFunc(namesakes, item.matchesRow); at >= 0 {
				row = namesakes[at]
			}
		}
		if row != none && n.NameOnly && row.Core().Status != calendar.Trash {
			writes[i] = recordWrite{action: Unchanged, id: row.Core().ID}
			continue
		}
		if writes[i], err = prepareNamedRecord(ctx, r, db, k, item, row); err != nil {
			return nil, err
		}
	}
	return writes, nil
}

// prepareNamedRecord compares a record with its stored row, and returns the write. The row is nil for a new record.
func prepareNamedRecord[T namedRecord[R, V], R namedRow, V comparable](
	ctx context.Context, r *importRun, db *ent.Client, k namedKind[R, V], item T, row R,
) (recordWrite, error) {
	var none R
	c := &change{isNew: row == none}
	stored := row
	if c.isNew {
		stored = k.empty
	}
	n, old := item.named(), stored.Core()
	if old.Status == calendar.Trash {
		return recordWrite{action: Unchanged, id: old.ID, notice: trashedNotice, hidden: true}, nil
	}
	in := &edit.NamedInput[V]{}
	s := storedTextsOf(stored)
	err := r.compareTexts(ctx, db, c, s, &n.Origin, sourceTexts{title: n.Name, slug: n.Slug, description: &n.Description})
	if err != nil {
		return recordWrite{}, err
	}
	setStatus(c, r.editor.Now, &in.Status, old.Status, old.PublishedAt, n.Status, n.Published)
	setTime(c, &in.Published, old.PublishedAt, n.Published)
	item.setValues(c, &in.Values, stored)
	r.setImage(c, &in.ImageID, old.ImageID, n.Image)
	edited, err := r.editedByPerson(ctx, db, k.kind, old.ID)
	if err != nil {
		return recordWrite{}, err
	}
	kept, err := keepNamed(c, s, in, k.keep, edited)
	if err != nil {
		return recordWrite{}, err
	}
	setModified(c, &in.ModifiedAt, old.LastWrite(), s.isTranslated() || len(edited) > 0, n.Modified)
	w := recordWrite{action: c.action(), id: old.ID, kept: kept}
	if c.isNew {
		// The source id distinguishes the record from others of the same name.
		in.SourceID, in.AuthorID = &n.Key, r.author()
	}
	if w.action != Unchanged {
		w.do = writeLanguages(r, s, c.texts, row, func(
			ctx context.Context, tx *ent.Tx, at R, one translationWrite, first bool,
		) (_ R, err error) {
			in := in
			if !first {
				in = &edit.NamedInput[V]{ModifiedAt: in.ModifiedAt}
			}
			in.Name, in.Description, in.Slug = one.title, one.description, one.slug
			if at == none {
				at, _, err = k.rules.Create(ctx, tx, r.editor, in)
				return at, err
			}
			return k.rules.Update(ctx, tx, r.editor, at, in)
		})
	}
	return w, nil
}
