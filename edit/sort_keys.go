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
	"github.com/almanac-cal/almanac/internal/store"
)

// sortRows is the number of terms whose keys one statement writes. Each term has six keys, and the database
// searches the values of the statement again for each term.
const sortRows = 100

// sortColumns are the columns with the sort keys of terms, by language.
var sortColumns = map[calendar.Language]struct{ name, description string }{
	calendar.English: {term.FieldSortEn, term.FieldDescriptionSortEn},
	calendar.Polish:  {term.FieldSortPl, term.FieldDescriptionSortPl},
	calendar.Spanish: {term.FieldSortEs, term.FieldDescriptionSortEs},
}

// NameSortColumn returns the column with the keys by which a language sorts terms by name, and series by title. It
// is null in terms that an older version wrote, until upkeep.FillSortKeys has run.
func NameSortColumn(l calendar.Language) string { return sortColumns[l].name }

// DescriptionSortColumn returns the column with the keys by which a language sorts terms by description.
func DescriptionSortColumn(l calendar.Language) string { return sortColumns[l].description }

// TermSortKeys has the sort keys of a term, by the name of their column.
type TermSortKeys map[string][]byte

// SortKeysOf returns the sort keys of a term for all languages. They are the keys of the name and the description
// that readers of each language get. The parameter site is the language of the site.
func SortKeysOf(site calendar.Language, original calendar.Text, others []calendar.Text) TermSortKeys {
	keys := make(TermSortKeys, 2*len(calendar.Languages))
	for _, l := range calendar.Languages {
		served := calendar.Served(l, site, original, others)
		keys[NameSortColumn(l)] = calendar.SortKey(l, served.Title, calendar.NameKeySize)
		keys[DescriptionSortColumn(l)] = calendar.SortKey(l, served.Description, calendar.DescriptionKeySize)
	}
	return keys
}

// Set sets the keys in the mutation of a term.
func (k TermSortKeys) Set(m *ent.TermMutation) error {
	for column, key := range k {
		if err := m.SetField(column, key); err != nil {
			return err
		}
	}
	return nil
}

// WriteSortKeys updates the stored sort keys of terms. It does not change the version and the modification
// date, because representations do not have the keys.
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
		changed := slices.Collect(maps.Keys(keys))
		_, err = tx.Term.Update().Where(term.IDIn(changed...)).Modify(func(u *sql.UpdateBuilder) {
			for _, l := range calendar.Languages {
				for _, column := range []string{NameSortColumn(l), DescriptionSortColumn(l)} {
					u.Set(column, store.CaseByID(term.FieldID, changed, func(id int64) []byte { return keys[id][column] }))
				}
			}
		}).Save(ctx)
		if err != nil {
			return fmt.Errorf("sort keys: %w", err)
		}
	}
	return nil
}

// sortKeys returns the sort keys of terms by term id.
func (e *Editor) sortKeys(ctx context.Context, tx *ent.Tx, rows []*ent.Term) (map[int64]TermSortKeys, error) {
	keys := make(map[int64]TermSortKeys, len(rows))
	if err := tx.Client().ReadTranslations(ctx, calendar.Languages, ent.PageOf(rows...)); err != nil {
		return nil, err
	}
	for _, row := range rows {
		keys[row.ID] = SortKeysOf(e.Site.IndexedIn(), row.Text(), row.Translated())
	}
	return keys, nil
}
