package edit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/term"
)

// sortRows is the number of terms whose keys one statement writes. Each term has six keys, and the database
// searches the values of the statement once a term.
const sortRows = 100

// sortColumns are the columns of terms that hold what a language sorts them by.
var sortColumns = map[calendar.Language]struct{ name, description string }{
	calendar.English: {term.FieldSortEn, term.FieldDescriptionSortEn},
	calendar.Polish:  {term.FieldSortPl, term.FieldDescriptionSortPl},
	calendar.Spanish: {term.FieldSortEs, term.FieldDescriptionSortEs},
}

// NameSortColumn returns the column that orders terms by their names, and series by their titles, as they are served in a
// language. It is null in terms that FillSortKeys has still to see.
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

// SeriesSortKeysOf computes what a series is sorted by, from the template of its last phase, by column: the keys of the title
// that is served in each language.
func SeriesSortKeysOf(site calendar.Language, t *calendar.Template) map[string][]byte {
	keys := make(map[string][]byte, len(calendar.Languages))
	for _, l := range calendar.Languages {
		served := calendar.Served(l, site, t.Original, t.Others)
		keys[NameSortColumn(l)] = calendar.SortKey(l, served.Title, calendar.NameKeySize)
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
		changed := slices.Collect(maps.Keys(keys))
		_, err = tx.Term.Update().Where(term.IDIn(changed...)).Modify(func(u *sql.UpdateBuilder) {
			for _, l := range calendar.Languages {
				for _, column := range []string{NameSortColumn(l), DescriptionSortColumn(l)} {
					u.Set(column, byID(changed, func(id int64) []byte { return keys[id][column] }))
				}
			}
		}).Save(ctx)
		if err != nil {
			return fmt.Errorf("sort keys: %w", err)
		}
	}
	return nil
}

// WriteSeriesSortKeys is WriteSortKeys for series, which are sorted by the title of their last phase.
func (e *Editor) WriteSeriesSortKeys(ctx context.Context, tx *ent.Tx, ids []int64) error {
	// Before the first read of the transaction, which then sees what other writers left.
	rows, err := tx.Series.Query().Where(series.IDIn(ids...)).Order(series.ByID()).Modify(forUpdate).All(ctx)
	if err != nil {
		return fmt.Errorf("sort keys of series: %w", err)
	}
	for _, r := range rows {
		phases, err := loadPhases(ctx, tx, r.ID)
		if err != nil {
			return err
		}
		if len(phases) == 0 {
			continue // a series without a schedule has no title
		}
		update := tx.Series.UpdateOne(r)
		e.setSeriesSortKeys(update.Mutation(), &phases[len(phases)-1].Template)
		if err := update.Exec(ctx); err != nil {
			return fmt.Errorf("sort keys of series: %w", err)
		}
	}
	return nil
}

// sortKeys computes the keys of terms by their ids.
func (e *Editor) sortKeys(ctx context.Context, tx *ent.Tx, rows []*ent.Term) (map[int64]TermSortKeys, error) {
	keys := make(map[int64]TermSortKeys, len(rows))
	return keys, eachText(ctx, tx.Client(), rows, nil, func(row *ent.Term) {
		keys[row.ID] = SortKeysOf(e.Site.Language, row.Text(), row.Translated())
	})
}

// byID returns an expression for the value that belongs to a row's id, the same for both engines. A single row needs
// no choice.
func byID[V any](ids []int64, value func(id int64) V) sql.Querier {
	return byColumn(term.FieldID, ids, value)
}

// byColumn is byID for another column that has ids.
func byColumn[V any](column string, ids []int64, value func(id int64) V) sql.Querier {
	return sql.ExprFunc(func(b *sql.Builder) {
		if len(ids) == 1 {
			b.Arg(value(ids[0]))
			return
		}
		b.WriteString("CASE ").Ident(column)
		for _, id := range ids {
			b.WriteString(" WHEN ").Arg(id).WriteString(" THEN ").Arg(value(id))
		}
		b.WriteString(" END")
	})
}
