package translations

import (
	"context"
	"fmt"
	"strings"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
)

// Count is the progress of the translation of one kind of records into one language. It counts only fields that have
// text in the original. A record whose original is in this language counts as complete.
type Count struct {
	Kind          calendar.Kind     `json:"kind"`
	Language      calendar.Language `json:"language"`
	Records       int               `json:"records"`
	Complete      int               `json:"complete"`
	Partial       int               `json:"partial"`        // number of records with some of the fields
	MissingFields int               `json:"missing_fields"` // number of missing fields of all records
}

// Filter selects the kinds and languages to report. An empty list means all.
type Filter struct {
	Kinds     []calendar.Kind
	Languages []calendar.Language
}

func (f Filter) kinds() []calendar.Kind {
	if len(f.Kinds) == 0 {
		return Kinds
	}
	return f.Kinds
}

func (f Filter) languages() []calendar.Language {
	if len(f.Languages) == 0 {
		return calendar.Languages
	}
	return f.Languages
}

// Status returns one Count for each kind and language, with one query for each.
func Status(ctx context.Context, db *ent.Client, f Filter) ([]Count, error) {
	var out []Count
	for _, kind := range f.kinds() {
		for _, l := range f.languages() {
			c, err := count(ctx, db, kind, l)
			if err != nil {
				return nil, fmt.Errorf("count the texts of kind %s in %s: %w", kind, l, err)
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// sums is the result of one query for a Count.
type sums struct {
	Records  int `sql:"records"`
	Complete int `sql:"complete"`
	Partial  int `sql:"partial"`
	Missing  int `sql:"missing"`
}

func count(ctx context.Context, db *ent.Client, kind calendar.Kind, l calendar.Language) (Count, error) {
	var found []sums
	of := ent.TextTables[kind]
	var columns []string // of what a complete translation has
	for _, f := range Fields(kind) {
		if f != Slug {
			columns = append(columns, string(f))
		}
	}
	err := db.ScanKind(ctx, kind, &found, func(s *sql.Selector) {
		selection{}.where(kind)(s)
		sum(l, of.Table, of.Owner, columns...)(s)
	})
	if err != nil {
		return Count{}, err
	}
	c := Count{Kind: kind, Language: l}
	if len(found) == 1 {
		s := found[0]
		c.Records, c.Complete, c.Partial, c.MissingFields = s.Records, s.Complete, s.Partial, s.Missing
	}
	return c, nil
}

// sum turns a query for records into one that counts complete, partial and missing translations. It compares
// lengths, because in some databases a text of blanks equals an empty one.
func sum(l calendar.Language, table, owner string, fields ...string) func(*sql.Selector) {
	return func(s *sql.Selector) {
		t := sql.Table(table).As("translated")
		s.LeftJoin(t).OnP(sql.And(
			sql.ColumnsEQ(s.C(event.FieldID), t.C(owner)), sql.EQ(t.C(eventtranslation.FieldLanguage), l),
		))
		var have, lack []string
		for _, f := range fields {
			have = append(have, fmt.Sprintf("(CASE WHEN LENGTH(%s) > 0 THEN 1 ELSE 0 END)", s.C(f)))
			lack = append(lack, fmt.Sprintf(
				"(CASE WHEN LENGTH(%s) > 0 AND COALESCE(LENGTH(%s), 0) = 0 THEN 1 ELSE 0 END)", s.C(f), t.C(f)))
		}
		all, missing := strings.Join(have, " + "), strings.Join(lack, " + ")
		own := s.C(event.FieldLanguage) + " = ?"
		s.SelectExpr(
			sql.Expr("COUNT(*) AS records"),
			sql.Expr("COALESCE(SUM(CASE WHEN "+own+" OR "+missing+" = 0 THEN 1 ELSE 0 END), 0) AS complete", l),
			sql.Expr("COALESCE(SUM(CASE WHEN "+own+" THEN 0 WHEN "+missing+" > 0 AND "+missing+" < "+all+
				" THEN 1 ELSE 0 END), 0) AS partial", l),
			sql.Expr("COALESCE(SUM(CASE WHEN "+own+" THEN 0 ELSE "+missing+" END), 0) AS missing", l),
		)
	}
}

// Missing is a record that has untranslated fields in a language.
type Missing struct {
	Kind     calendar.Kind     `json:"kind"`
	ID       int64             `json:"id"`
	Title    string            `json:"title"` // title or name in the original language
	Language calendar.Language `json:"language"`
	Fields   []Field           `json:"fields"`
}

// ListMissing calls do for each record and language with untranslated fields, in the order of kind, id and language.
func ListMissing(ctx context.Context, db *ent.Client, f Filter, do func(Missing) error) error {
	for _, kind := range f.kinds() {
		err := forEachRecord(ctx, db, kind, selection{}, func(r *record) error {
			for _, l := range f.languages() {
				fields := r.missing(l)
				if len(fields) == 0 {
					continue
				}
				if err := do(Missing{kind, r.id, r.original.Title, l, fields}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
