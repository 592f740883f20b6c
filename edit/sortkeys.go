package edit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/termtranslation"
)

// sortRows is how many terms one statement gives their keys: each has six, and the database looks for each among
// those of the statement.
const sortRows = 100

// sortColumns are the columns of terms that hold what a language sorts them by.
var sortColumns = map[calendar.Language]struct{ name, description string }{
	calendar.English: {term.FieldSortEn, term.FieldDescriptionSortEn},
	calendar.Polish:  {term.FieldSortPl, term.FieldDescriptionSortPl},
	calendar.Spanish: {term.FieldSortEs, term.FieldDescriptionSortEs},
}

// NameSortColumn is the column that orders terms by their names as they are served in a language. It is null in
// rows that FillSortKeys has still to see.
func NameSortColumn(l calendar.Language) string { return sortColumns[l].name }

// DescriptionSortColumn is NameSortColumn for descriptions.
func DescriptionSortColumn(l calendar.Language) string { return sortColumns[l].description }

// TermSortKeys are the columns by which a term is sorted, with their values.
type TermSortKeys map[string][]byte

// SortKeysOf computes what a term is sorted by, from its original text and all others: for each language the
// keys of the name and the description that are served in it. Slugs do not matter.
func SortKeysOf(site calendar.Language, original calendar.Text, others []calendar.Text) TermSortKeys {
	keys := make(TermSortKeys, 2*len(calendar.Languages))
	for _, l := range calendar.Languages {
		served := calendar.Served(l, site, original, others)
		keys[NameSortColumn(l)] = calendar.SortKey(l, served.Title, calendar.NameKeySize)
		keys[DescriptionSortColumn(l)] = calendar.SortKey(l, served.Description, calendar.DescriptionKeySize)
	}
	return keys
}

// Set writes the keys into a term that is created or updated.
func (k TermSortKeys) Set(m *ent.TermMutation) error {
	for column, key := range k {
		if err := m.SetField(column, key); err != nil {
			return err
		}
	}
	return nil
}

// WriteSortKeys updates the sort keys of terms. It keeps version and modification date, because representations do not
// change.
func (e *Editor) WriteSortKeys(ctx context.Context, tx *ent.Tx, ids []int64) error {
	for part := range slices.Chunk(ids, sortRows) {
		rows, err := tx.Term.Query().Where(term.IDIn(part...)).All(ctx)
		if err != nil {
			return fmt.Errorf("sort keys: %w", err)
		}
		keys, err := e.sortKeys(ctx, tx, rows)
		if err != nil {
			return fmt.Errorf("sort keys: %w", err)
		}
		if len(keys) == 0 {
			continue
		}
		_, err = tx.Term.Update().Where(term.IDIn(slices.Collect(maps.Keys(keys))...)).Modify(func(u *sql.UpdateBuilder) {
			for _, l := range calendar.Languages {
				for _, column := range []string{NameSortColumn(l), DescriptionSortColumn(l)} {
					u.Set(column, byID(rows, func(id int64) []byte { return keys[id][column] }))
				}
			}
		}).Save(ctx)
		if err != nil {
			return fmt.Errorf("sort keys: %w", err)
		}
	}
	return nil
}

// sortKeys computes the keys of terms by their ids.
func (e *Editor) sortKeys(ctx context.Context, tx *ent.Tx, rows []*ent.Term) (map[int64]TermSortKeys, error) {
	var translated []int64
	for _, r := range rows {
		if r.Languages != calendar.LanguagesOf(r.Language) {
			translated = append(translated, r.ID)
		}
	}
	texts, err := translationsFor(ctx, translated, func(ctx context.Context) ([]*ent.TermTranslation, error) {
		return tx.TermTranslation.Query().Where(termtranslation.TermIDIn(translated...)).All(ctx)
	}, func(t *ent.TermTranslation) int64 { return t.TermID })
	if err != nil {
		return nil, err
	}
	keys := make(map[int64]TermSortKeys, len(rows))
	for _, r := range rows {
		others := make([]calendar.Text, len(texts[r.ID]))
		for i, t := range texts[r.ID] {
			others[i] = calendar.Text{Language: t.Language, Title: t.Name, Description: t.Description}
		}
		original := calendar.Text{Language: r.Language, Title: r.Name, Description: r.Description}
		keys[r.ID] = SortKeysOf(e.Site.Language, original, others)
	}
	return keys, nil
}

// byID is an expression for the value that belongs to a row's id, the same for both engines. A single row needs
// no choice.
func byID(rows []*ent.Term, value func(id int64) []byte) sql.Querier {
	return sql.ExprFunc(func(b *sql.Builder) {
		if len(rows) == 1 {
			b.Arg(value(rows[0].ID))
			return
		}
		b.WriteString("CASE ").Ident(term.FieldID)
		for _, r := range rows {
			b.WriteString(" WHEN ").Arg(r.ID).WriteString(" THEN ").Arg(value(r.ID))
		}
		b.WriteString(" END")
	})
}
