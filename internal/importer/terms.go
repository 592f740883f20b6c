package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/termtranslation"
)

// terms imports the terms, parents before their children.
func (r *importRun) terms(ctx context.Context, all []*Term) error {
	depth := termDepths(all)
	for _, kind := range []calendar.Kind{calendar.Category, calendar.Tag} {
		var items []*Term
		for _, t := range all {
			if t.Kind == kind {
				items = append(items, t)
			}
		}
		slices.SortStableFunc(items, func(a, b *Term) int { return cmp.Compare(depth[a.Key], depth[b.Key]) })
		// All terms of a batch have the same depth, so their parents are in earlier batches.
		for len(items) > 0 {
			n := slices.IndexFunc(items, func(t *Term) bool { return depth[t.Key] != depth[items[0].Key] })
			if n < 0 {
				n = len(items)
			}
			if err := syncRecords(ctx, r, kind, items[:n], r.prepareTerms); err != nil {
				return err
			}
			items = items[n:]
		}
	}
	return nil
}

// termDepths returns the number of known ancestors of each term, by source id. If parents form a loop, it stops
// counting there.
func termDepths(all []*Term) map[string]int {
	parents := make(map[string]string, len(all))
	for _, t := range all {
		parents[t.Key] = t.Parent
	}
	out := make(map[string]int, len(all))
	for _, t := range all {
		seen := map[string]bool{t.Key: true}
		for at := t.Parent; !seen[at]; at = parents[at] {
			if _, known := parents[at]; !known {
				break
			}
			seen[at] = true
			out[t.Key]++
		}
	}
	return out
}

// prepareTerms compares terms of one taxonomy with the stored ones. A term is identified by its source id,
// otherwise by its name. A category must then also have the same slug or parent. The import links a term that it
// found by name without changing it. Its name may be a translation in the language of the source.
func (r *importRun) prepareTerms(ctx context.Context, db *ent.Client, items []*Term) ([]recordWrite, error) {
	keys, names := keysOf(items), make([]string, len(items))
	for i, t := range items {
		if t.Parent != "" && r.ids[t.Parent] == 0 {
			keys = append(keys, t.Parent)
		}
		names[i] = calendar.FoldName(t.Name)
	}
	rows, err := db.Term.Query().Where(term.SourceIDIn(keys...)).WithTranslations().All(ctx)
	if err != nil {
		return nil, fmt.Errorf("terms by source: %w", err)
	}
	known := bySource(rows, func(t *ent.Term) *string { return t.SourceID })
	namesakes, err := db.Term.Query().Where(term.TaxonomyEQ(items[0].Kind), term.NameKeyIn(names...)).
		Order(ent.Asc(term.FieldID)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("terms by name: %w", err)
	}
	translated, err := db.Term.Query().Where(term.TaxonomyEQ(items[0].Kind), term.HasTranslationsWith(
		termtranslation.LanguageEQ(r.language), termtranslation.NameKeyIn(names...))).
		WithTranslations(func(q *ent.TermTranslationQuery) { q.Where(termtranslation.LanguageEQ(r.language)) }).
		Order(ent.Asc(term.FieldID)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("terms by translated name: %w", err)
	}
	for _, row := range translated {
		name := row.Edges.Translations[0]
		row.NameKey, row.Slug = name.NameKey, name.Slug
		namesakes = append(namesakes, row)
	}
	writes := make([]recordWrite, len(items))
	for i, t := range items {
		parent, notice := r.parentOf(t, known)
		row := known[t.Key]
		if row != nil && t.NameOnly {
			writes[i] = recordWrite{action: Unchanged, id: row.ID}
			continue
		}
		if row == nil {
			at := slices.IndexFunc(namesakes, func(n *ent.Term) bool {
				return n.NameKey == names[i] && (n.Slug == t.Slug || isTransliteration(n.Slug, t.Slug) || sameParent(n, parent))
			})
			if at >= 0 {
				writes[i] = recordWrite{action: Unchanged, id: namesakes[at].ID}
				continue
			}
		}
		if writes[i], err = r.prepareTerm(ctx, db, t, row, parent); err != nil {
			return nil, err
		}
		writes[i].notice = notice
	}
	return writes, nil
}

// parentOf returns the id of a term's parent. 0 means that the term has no parent. If the parent is neither imported
// nor stored, it returns nil and a notice.
func (r *importRun) parentOf(t *Term, known map[string]*ent.Term) (id *int64, notice string) {
	if t.Parent == "" {
		return new(int64(0)), ""
	}
	if id := r.ids[t.Parent]; id != 0 {
		return &id, ""
	}
	if row := known[t.Parent]; row != nil {
		return &row.ID, ""
	}
	return nil, fmt.Sprintf("%q: its parent %s is not in what was read; its place is left as it is, new ones "+
		"come to the top level", t.Name, t.Parent)
}

func sameParent(row *ent.Term, parent *int64) bool {
	if !row.Taxonomy.IsHierarchical() {
		return true
	}
	return parentID(row) == idOrZero(parent)
}

func parentID(row *ent.Term) int64 { return idOrZero(row.ParentID) }

func idOrZero(id *int64) int64 {
	if id == nil {
		return 0
	}
	return *id
}

func (r *importRun) prepareTerm(
	ctx context.Context, db *ent.Client, t *Term, row *ent.Term, parent *int64,
) (recordWrite, error) {
	c := &change{isNew: row == nil}
	old := row
	if old == nil {
		old = &ent.Term{}
	}
	in := &edit.TermInput{Taxonomy: t.Kind}
	s := storedTextsOf(old)
	s.kind = t.Kind
	err := r.compareTexts(ctx, db, c, s, &t.Origin, sourceTexts{title: t.Name, slug: t.Slug, description: &t.Description})
	if err != nil {
		return recordWrite{}, err
	}
	if t.Kind.IsHierarchical() {
		setIfSent(c, &in.ParentID, parentID(old), parent)
	}
	edited, err := r.editedByPerson(ctx, db, t.Kind, old.ID)
	if err != nil {
		return recordWrite{}, err
	}
	kept := keepTerm(c, s, in, edited)
	w := recordWrite{action: c.action(), id: old.ID, kept: kept}
	if c.isNew {
		in.SourceID = &t.Key
	}
	if w.action != Unchanged {
		w.do = func(ctx context.Context, tx *ent.Tx) (int64, error) {
			at := row
			err := r.writeLanguages(ctx, tx, s, c.texts, func(one translationWrite, first bool) (err error) {
				in := in
				if !first {
					in = &edit.TermInput{}
				}
				in.Name, in.Description, in.Slug = one.title, one.description, one.slug
				if at == nil {
					at, err = r.editor.CreateTerm(ctx, tx, in)
				} else {
					at, err = r.editor.UpdateTerm(ctx, tx, at, in)
				}
				return err
			})
			if id, ok := termOfSameName(err); ok {
				return id, nil
			}
			if err != nil {
				return 0, err
			}
			return at.ID, nil
		}
	}
	return w, nil
}

// termOfSameName returns the id of the stored term whose name is that of a refused new term. err is the refusal. It
// reports false for other errors. The source then has two terms with one name.
func termOfSameName(err error) (id int64, ok bool) {
	var refused *calendar.Error
	if !errors.As(err, &refused) || refused.Code != "term_exists" {
		return 0, false
	}
	id, ok = refused.Data["term_id"].(int64)
	return id, ok
}
