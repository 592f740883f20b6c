package edit

import (
	"context"
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/termtranslation"
	"github.com/almanac-cal/almanac/internal/auth"
)

// NewTerm is a category or a tag to load.
type NewTerm struct {
	TermInput
	Texts []calendar.Text // in other languages
	// Parent gives the id of the parent, 0 for the top, when it is called with the ids of the batch up to this
	// term. It replaces ParentID.
	Parent func(batch []int64) int64
}

// LoadedTerm is the id of a term. It is not created if there was one of the name already: of categories under
// the same parent, of tags anywhere.
type LoadedTerm struct {
	ID      int64
	Created bool
}

// Terms stores categories or tags in one transaction. There are few of them beside events, and their names are
// claimed one by one, so they take some statements each.
func (l *Loader) Terms(ctx context.Context, taxonomy calendar.Kind, in []NewTerm) ([]LoadedTerm, error) {
	if len(in) == 0 {
		return nil, nil
	}
	e := l.editor
	if !e.mayManageTerms(taxonomy) {
		return nil, forbidden()
	}
	var out []LoadedTerm
	err := Write(ctx, l.st.Ent, &e, func(tx *ent.Tx) error {
		b := &termBatch{e: &e, tx: tx, taxonomy: taxonomy}
		b.translations = namedTranslations(termtranslation.Table, termtranslation.FieldTermID)
		b.texts = rows{table: searchtext.Table, owner: 1, columns: searchColumns}
		for i := range in {
			if err := b.add(ctx, &in[i]); err != nil {
				return fmt.Errorf("%s: %w", apply(string(taxonomy), in[i].SourceID), err)
			}
		}
		for _, r := range []*rows{&b.translations, &b.texts} {
			if err := r.insert(ctx, tx, b.ids); err != nil {
				return fmt.Errorf("%s: %w", r.table, raced(err))
			}
		}
		var created []int64
		for _, t := range b.out {
			if t.Created {
				created = append(created, t.ID)
			}
		}
		e.logLoaded(taxonomy, created)
		out = b.out
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load %d records of kind %s: %w", len(in), taxonomy, err)
	}
	return out, nil
}

// termBatch is the terms of a transaction.
type termBatch struct {
	e                   *Editor
	tx                  *ent.Tx
	taxonomy            calendar.Kind
	ids                 []int64
	out                 []LoadedTerm
	translations, texts rows
}

// add stores a term, or finds the one that has its name.
func (b *termBatch) add(ctx context.Context, in *NewTerm) error {
	parent := applyID(nil, in.ParentID)
	if in.Parent != nil {
		parent = applyID(nil, new(in.Parent(b.ids)))
	}
	if b.taxonomy == calendar.Tag {
		parent = nil
	}
	key := calendar.FoldName(*in.Name)
	if err := claim(ctx, b.tx, b.taxonomy, nameBelow(apply(0, parent), key)); err != nil {
		return err
	}
	there, err := termsNamed(ctx, b.tx, b.taxonomy, []string{key})
	if err != nil {
		return err
	}
	for _, t := range there[key] {
		if apply(0, t.ParentID) == apply(0, parent) {
			b.ids, b.out = append(b.ids, t.ID), append(b.out, LoadedTerm{ID: t.ID})
			return nil
		}
	}
	return b.insert(ctx, in, parent)
}

func (b *termBatch) insert(ctx context.Context, in *NewTerm, parent *int64) error {
	e, own := b.e, in.TermInput
	own.Taxonomy = b.taxonomy
	w := &written{kind: b.taxonomy, language: e.original(), languages: calendar.LanguagesOf(e.original())}
	w.text = text{title: *own.Name, description: apply("", own.Description)}
	original := calendar.Text{Language: w.language, Title: w.title, Description: w.description}
	var others []calendar.Text
	for _, t := range in.Texts {
		if t.Language != w.language && (t.Title != "" || t.Description != "") {
			others = append(others, calendar.Text{Language: t.Language, Title: t.Title, Description: t.Description})
			w.languages = w.languages.With(t.Language)
		}
	}
	c := b.tx.Term.Create().SetTaxonomy(b.taxonomy).SetNillableParentID(parent).SetNillableSourceID(own.SourceID)
	e.fillTerm(c.Mutation(), w, &written{}, &own, 1, &diff{fresh: true})
	if err := SortKeysOf(e.Site.Language, original, others).Set(c.Mutation()); err != nil {
		return err
	}
	row, err := c.Save(ctx)
	if err != nil {
		return raced(err)
	}
	w.id = row.ID
	wanted := apply("", own.Slug)
	if wanted == "" {
		wanted = w.title
	}
	if original.Slug, err = w.slugIn(w.language, "").take(ctx, b.tx, calendar.Slug(wanted)); err != nil {
		return err
	}
	if err := b.tx.Term.Update().Where(term.ID(row.ID)).SetSlug(original.Slug).Exec(ctx); err != nil {
		return fmt.Errorf("slug: %w", err)
	}
	at := len(b.ids)
	b.ids, b.out = append(b.ids, row.ID), append(b.out, LoadedTerm{ID: row.ID, Created: true})
	for _, o := range others {
		b.translations.add(at, nil, string(o.Language), o.Title, calendar.FoldName(o.Title), o.Description, "")
	}
	for _, f := range e.foundBy(b.taxonomy, original, others) {
		b.texts.add(at, string(b.taxonomy), nil, int64(f.languages), f.text)
	}
	return nil
}

// Images stores the rows of pictures whose files are stored already, in one transaction, and returns their ids.
// Each of fill sets what is known of one.
func (l *Loader) Images(ctx context.Context, fill []func(*ent.ImageCreate)) ([]int64, error) {
	if len(fill) == 0 {
		return nil, nil
	}
	e := l.editor
	if !auth.May(e.By, auth.Upload, auth.Record{Kind: calendar.Image}) {
		return nil, forbidden()
	}
	var ids []int64
	err := Write(ctx, l.st.Ent, &e, func(tx *ent.Tx) (err error) {
		if ids, err = l.draw(ctx, tx, calendar.Image, len(fill)); err != nil {
			return fmt.Errorf("draw ids: %w", err)
		}
		for i, set := range fill {
			create := tx.Image.Create().SetID(ids[i]).SetNillableAuthorID(e.author()).SetCreatedAt(e.Now)
			set(create)
			if err := create.Exec(ctx); err != nil {
				return raced(err)
			}
		}
		e.logLoaded(calendar.Image, ids)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load %d images: %w", len(fill), err)
	}
	return ids, nil
}
