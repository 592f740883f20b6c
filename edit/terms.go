package edit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/termtranslation"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/store"
)

// CreateTerm stores a new category or tag. If the name is taken, it returns *calendar.Error term_exists. The name
// of a tag is taken if any tag has it. That of a category is taken if one with the same parent has it. Names in
// all languages count.
func (e *Editor) CreateTerm(ctx context.Context, tx *ent.Tx, in *TermInput) (*ent.Term, error) {
	row, created, err := e.EnsureTerm(ctx, tx, in, nil)
	if err == nil && !created {
		return nil, &calendar.Error{Code: "term_exists", Key: "term_exists", Data: map[string]any{"term_id": row.ID}}
	}
	return row, err
}

// EnsureTerm stores a new category or tag with its translations. If the name is taken as described at
// CreateTerm, it returns the stored term without changes, and created is false.
func (e *Editor) EnsureTerm(ctx context.Context, tx *ent.Tx, in *TermInput, others []calendar.Text) (
	row *ent.Term, created bool, err error,
) {
	parent := in.parent(nil)
	if err := e.refuseUnknownParent(ctx, tx, nil, parent); err != nil {
		return nil, false, err
	}
	if !e.mayManageTerms(in.Taxonomy) {
		return nil, false, Forbidden()
	}
	key := calendar.FoldName(*in.Name)
	if err := lockName(ctx, tx, in.Taxonomy, nameBelow(ValueOr(0, parent), key)); err != nil {
		return nil, false, err
	}
	stored, err := termsNamed(ctx, tx, in.Taxonomy, []string{key})
	if err != nil {
		return nil, false, err
	}
	for _, t := range stored[key] {
		if ValueOr(0, t.ParentID) == ValueOr(0, parent) {
			return t, false, nil
		}
	}
	row, err = e.insertTerm(ctx, tx, in, parent, others)
	return row, err == nil, err
}

// insertTerm stores a new term. The caller has locked its name, and has checked that no other term has it.
func (e *Editor) insertTerm(
	ctx context.Context, tx *ent.Tx, in *TermInput, parent *int64, others []calendar.Text,
) (*ent.Term, error) {
	w := &textOwner{kind: in.Taxonomy, language: e.originalLanguage(), languages: calendar.LanguagesOf(e.originalLanguage())}
	w.recordText = recordText{title: *in.Name, description: ValueOr("", in.Description)}
	w.addTexts(others)
	base := calendar.KeptSlug(ValueOr("", in.Slug))
	if ValueOr("", in.Slug) == "" {
		base = calendar.Slug(w.title)
	}
	d := &diff{isNew: true}
	c := tx.Term.Create().SetTaxonomy(in.Taxonomy).SetNillableParentID(parent).SetNillableSourceID(in.SourceID)
	if id := e.Reserved.BySource[ValueOr("", in.SourceID)]; id != 0 {
		c.SetID(id)
	}
	e.fillTerm(c.Mutation(), w, &textOwner{}, in, d)
	if err := SortKeysOf(e.Site.IndexedIn(), w.inLanguage(w.language), w.otherTexts()).Set(c.Mutation()); err != nil {
		return nil, fmt.Errorf("sort keys: %w", err)
	}
	row, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", in.Taxonomy, store.AsConflict(err))
	}
	// The slug may need the id, which the database assigns on insert.
	w.id = row.ID
	if row.Slug, err = w.slugIn(w.language, "").Take(ctx, tx, base); err != nil {
		return nil, err
	}
	if err := tx.Term.Update().Where(term.ID(row.ID)).SetSlug(row.Slug).Exec(ctx); err != nil {
		return nil, fmt.Errorf("slug of %s %d: %w", in.Taxonomy, row.ID, err)
	}
	for i := range w.others {
		if err := w.others[i].save(ctx, tx, w.kind, w.id); err != nil {
			return nil, fmt.Errorf("translation of %s %d: %w", in.Taxonomy, row.ID, err)
		}
	}
	e.LogChange(in.Taxonomy, row.ID, calendar.Created, nil, Impact{Visible: true})
	return row, nil
}

// UpdateTerm stores the sent fields of a term that the same transaction loaded, best with LockTerm. For a taken
// slug it returns *calendar.Error duplicate_term_slug.
func (e *Editor) UpdateTerm(ctx context.Context, tx *ent.Tx, row *ent.Term, in *TermInput) (*ent.Term, error) {
	moved := in.ParentID != nil && ValueOr(0, row.ParentID) != *in.ParentID
	parent := row.ParentID
	if moved {
		parent = in.parent(row)
		if err := e.refuseUnknownParent(ctx, tx, row, parent); err != nil {
			return nil, err
		}
	}
	if !e.mayManageTerms(row.Taxonomy) {
		return nil, Forbidden()
	}
	if err := e.CheckPrecondition(row.Core().Writes()); err != nil {
		return nil, err
	}
	if moved && parent != nil {
		above := func(ctx context.Context, id int64) (*int64, error) {
			t, err := tx.Term.Query().Where(term.ID(id)).Select(term.FieldID, term.FieldParentID).Only(ctx)
			if err != nil {
				return nil, err
			}
			return t.ParentID, nil
		}
		if err := refuseLoop(ctx, tx, row.Taxonomy, func(id int64) bool { return id == row.ID }, *parent, "parent", above); err != nil {
			return nil, err
		}
	}
	old := termOwner(row)
	w := termOwner(row)
	d := &diff{}
	s := sentText{title: in.Name, description: in.Description, slug: in.Slug}
	if err := e.rewrite(ctx, tx, w, s, d); err != nil {
		return nil, err
	}
	u := tx.Term.Update().Where(term.ID(row.ID), term.Version(row.Version))
	m := u.Mutation()
	putOptional(d, "parent", row.ParentID, parent, m.SetParentID, m.ClearParentID)
	if in.SourceID != nil {
		m.SetSourceID(*in.SourceID)
	}
	e.fillTerm(m, w, old, in, d)
	public := PublicationState{Status: calendar.Publish}
	i := e.ImpactOf(&PublicChange{
		Before: public, After: public, Fields: d.fields, Languages: old.languages != w.languages, Dated: in.ModifiedAt != nil,
	})
	e.stamp(m, row.Version+1, in.ModifiedAt, i)
	if err := expectOneRow(u.Save(ctx)); err != nil {
		return nil, fmt.Errorf("%s %d: %w", row.Taxonomy, row.ID, err)
	}
	e.LogChange(row.Taxonomy, row.ID, calendar.Updated, FieldsInLanguages(d.fields, d.namesInLanguages), i)
	return tx.Term.Get(ctx, row.ID)
}

// DeleteTerm deletes a term for good, which the same transaction loaded. Its children move to its parent. Its
// events and series lose it.
func (e *Editor) DeleteTerm(ctx context.Context, tx *ent.Tx, row *ent.Term) error {
	if !e.mayManageTerms(row.Taxonomy) {
		return Forbidden()
	}
	if err := e.CheckPrecondition(row.Core().Writes()); err != nil {
		return err
	}
	if err := e.moveChildren(ctx, tx, row); err != nil {
		return fmt.Errorf("children of %s %d: %w", row.Taxonomy, row.ID, err)
	}
	_, err := tx.Slug.Delete().Where(slug.OwnerID(row.ID), slug.KindEQ(row.Taxonomy)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("slugs of %s %d: %w", row.Taxonomy, row.ID, err)
	}
	if err := e.unlink(ctx, tx, row.Taxonomy, []int64{row.ID}, true); err != nil {
		return fmt.Errorf("%s %d: %w", row.Taxonomy, row.ID, err)
	}
	// The database deletes the translations with the term.
	err = expectOneRow(tx.Term.Delete().Where(term.ID(row.ID), term.Version(row.Version)).Exec(ctx))
	if err != nil {
		return fmt.Errorf("%s %d: %w", row.Taxonomy, row.ID, err)
	}
	e.LogChange(row.Taxonomy, row.ID, calendar.Deleted, nil, Impact{Visible: true})
	return nil
}

// moveChildren sets the parent of the children of a term to the parent of the term.
func (e *Editor) moveChildren(ctx context.Context, tx *ent.Tx, row *ent.Term) error {
	ids, err := tx.Term.Query().Where(term.ParentID(row.ID)).Order(ent.Asc(term.FieldID)).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return err
	}
	// The update selects by parent and not by id, because another child may have been added.
	move := tx.Term.Update().Where(term.ParentID(row.ID)).AddVersion(1).SetModifiedAt(e.Now).ClearHiddenAt()
	if row.ParentID != nil {
		move.SetParentID(*row.ParentID)
	} else {
		move.ClearParentID()
	}
	if err := move.Exec(ctx); err != nil {
		return store.AsConflict(err)
	}
	for _, id := range ids {
		e.LogChange(row.Taxonomy, id, calendar.Updated, []string{"parent"}, Impact{Visible: true})
	}
	return nil
}

func (e *Editor) mayManageTerms(taxonomy calendar.Kind) bool {
	return auth.May(e.By, auth.ManageTerms, auth.Record{Kind: taxonomy})
}

// fillTerm sets the changed fields of a term in m. The term before the write is old, and w is the term after it.
func (e *Editor) fillTerm(m *ent.TermMutation, w, old *textOwner, in *TermInput, d *diff) {
	e.fillTracked(m, w, old, in.ModifiedAt, d)
	putValue(d, "", old.title, w.title, m.SetName)
	putValue(d, "", calendar.FoldName(old.title), calendar.FoldName(w.title), m.SetNameKey)
}

func termOwner(row *ent.Term) *textOwner {
	return &textOwner{
		kind: row.Taxonomy, id: row.ID, language: row.Language, languages: row.Languages,
		recordText: recordText{title: row.Name, description: row.Description, slug: row.Slug},
	}
}

// parent returns the parent id of a term after a write: the sent one, or else the stored one. It returns nil for a
// tag.
func (in *TermInput) parent(row *ent.Term) *int64 {
	switch {
	case row != nil && !row.Taxonomy.IsHierarchical(), row == nil && !in.Taxonomy.IsHierarchical():
		return nil
	case row == nil:
		return applyID(nil, in.ParentID)
	}
	return applyID(row.ParentID, in.ParentID)
}

// refuseUnknownParent returns param.Invalid for a new parent that is not a category. It accepts nil and the stored
// parent of row.
func (e *Editor) refuseUnknownParent(ctx context.Context, tx *ent.Tx, row *ent.Term, parent *int64) error {
	if parent == nil || (row != nil && equalsID(row.ParentID, *parent)) {
		return nil
	}
	fault, err := e.TermsFault(ctx, tx.Client(), calendar.Category, []int64{*parent})
	if err != nil {
		return fmt.Errorf("parent: %w", err)
	}
	return InvalidInput(faultOf("parent", fault))
}

// refuseLoop returns an error if a record would become its own ancestor. That is so if the new parent is a record
// that moves, or a descendant of one. Only one transaction at a time can pass this check for a kind, because two
// moves together could close a loop.
func refuseLoop(
	ctx context.Context, tx *ent.Tx, kind calendar.Kind, isMoved func(id int64) bool, parent int64, name string,
	above func(context.Context, int64) (*int64, error),
) error {
	if err := lockName(ctx, tx, kind, "\x00parents"); err != nil {
		return err
	}
	seen := map[int64]bool{}
	for at := &parent; at != nil && !seen[*at]; {
		if isMoved(*at) {
			return InvalidInput(&param.Fault{Param: name, Key: "parent-loop"})
		}
		seen[*at] = true
		next, err := above(ctx, *at)
		if err != nil && !ent.IsNotFound(err) {
			return fmt.Errorf("parents of %s %d: %w", kind, parent, err)
		}
		at = next
	}
	return nil
}

// termsNamed returns the terms that have one of the given folded names in any language. The map has them by name,
// the oldest first.
func termsNamed(ctx context.Context, tx *ent.Tx, taxonomy calendar.Kind, keys []string) (
	map[string][]*ent.Term, error,
) {
	found := make(map[string][]*ent.Term)
	for part := range slices.Chunk(keys, BatchSize) {
		own, err := tx.Term.Query().Where(term.TaxonomyEQ(taxonomy), term.NameKeyIn(part...)).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s by name: %w", taxonomy, err)
		}
		for _, t := range own {
			found[t.NameKey] = append(found[t.NameKey], t)
		}
		others, err := tx.TermTranslation.Query().Where(termtranslation.NameKeyIn(part...),
			termtranslation.HasTermWith(term.TaxonomyEQ(taxonomy))).WithTerm().All(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s by name: %w", taxonomy, err)
		}
		for _, t := range others {
			found[t.NameKey] = append(found[t.NameKey], t.Edges.Term)
		}
	}
	for _, terms := range found {
		slices.SortFunc(terms, func(a, b *ent.Term) int { return cmp.Compare(a.ID, b.ID) })
	}
	return found, nil
}

// termsSlugged returns the ids of the terms that have one of the given slugs in any language. The keys of the map
// are slugs in lower case.
func termsSlugged(ctx context.Context, tx *ent.Tx, taxonomy calendar.Kind, texts []string) (map[string]int64, error) {
	found := make(map[string]int64)
	for part := range slices.Chunk(texts, BatchSize) {
		keys := make([]string, 0, len(part))
		for _, t := range part {
			keys = append(keys, strings.ToLower(t))
			if encoded := calendar.EncodedSlug(t); strings.Contains(encoded, "%") {
				keys = append(keys, encoded)
			}
		}
		rows, err := tx.Slug.Query().Where(slug.KindEQ(taxonomy), slug.SlugIn(keys...)).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s by slug: %w", taxonomy, err)
		}
		for _, r := range rows {
			found[r.Slug], found[calendar.DecodedSlug(r.Slug)] = r.OwnerID, r.OwnerID
		}
	}
	return found, nil
}

// raiseTermSequence ensures that new terms get ids above the given one. It inserts a row with this id and deletes
// it, which raises the sequence in all engines.
func raiseTermSequence(ctx context.Context, tx *ent.Tx, id int64, now time.Time) error {
	err := tx.Term.Create().SetID(id).SetTaxonomy(calendar.Tag).SetName("").SetNameKey("").SetSlug("").
		SetLanguage(calendar.English).SetLanguages(calendar.LanguagesOf(calendar.English)).
		SetCreatedAt(now).SetModifiedAt(now).Exec(ctx)
	if err != nil {
		return err
	}
	_, err = tx.Term.Delete().Where(term.ID(id)).Exec(ctx)
	return err
}
