package read

import (
	"context"
	"math"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/termtranslation"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/internal/search"
)

// TermQuery is the input of the lists of categories and tags.
type TermQuery struct {
	Paging
	Search           *string
	Exclude, Include []int64
	Order, OrderBy   *string
	HideEmpty        bool
	Parent           *int64
	Post, Event      *int64
	Slug             *string

	text string // folded form of Search, for comparison
}

// Declare declares the parameters of a list of categories or tags. A page has at most largest terms. Only
// categories have the parameters about parents.
func (q *TermQuery) Declare(r *Reader, p *param.Set, taxonomy calendar.Kind, largest int64) {
	noun := map[calendar.Kind]string{calendar.Category: "Categories", calendar.Tag: "Tags"}[taxonomy]
	r.DeclarePaging(p, &q.Paging, noun, largest)
	DeclareSearch(p, &q.Search, "Text in name or slug", func(text string) (ok bool) {
		q.text, ok = search.ParseName(text)
		return ok
	})
	p.IDs(&q.Exclude, "exclude", "IDs to leave out").Check(r.areTermIDs(taxonomy, &q.Exclude))
	p.IDs(&q.Include, "include", "Only these IDs").Check(r.areTermIDs(taxonomy, &q.Include))
	p.OptString(&q.Order, "order", "Direction: asc, or desc").Check(notBlank(&q.Order))
	p.OptString(&q.OrderBy, "orderby",
		"Attribute to sort by: id, name, slug, count, description, term_group, include or none").
		Check(notBlank(&q.OrderBy))
	hide := param.Default(p.Bool(&q.HideEmpty, "hide_empty", "Leave out terms without published events"),
		&q.HideEmpty, true)
	hide.Published = 1
	if taxonomy.IsHierarchical() {
		p.OptInt(&q.Parent, "parent", "Categories directly under this ID").
			Check(r.isTerm(calendar.Category, &q.Parent))
	}
	p.OptInt(&q.Post, "post", noun+" of the event with this ID").Check(r.IsOpenEvent(&q.Post))
	p.OptInt(&q.Event, "event", "The same as post, and takes precedence over it").Check(r.IsOpenEvent(&q.Event))
	p.OptString(&q.Slug, "slug", "Only the term with this slug").Check(r.isTermSlug(taxonomy, &q.Slug))
	DeclareLanguage(p)
}

// isTerm returns a check that an id is a term of the taxonomy.
func (r *Reader) isTerm(taxonomy calendar.Kind, id **int64) func(context.Context) *param.Fault {
	return func(ctx context.Context) *param.Fault {
		return r.areTermIDs(taxonomy, &[]int64{**id})(ctx)
	}
}

// SelectTerms makes a query read only the columns of terms that replies need.
func SelectTerms(q *ent.TermQuery) { q.Select(term.ReadColumns...) }

// FindTerms loads a page of terms with their texts. The database sorts by the texts in the language of the
// request, so only one page is loaded.
func (r *Reader) FindTerms(
	taxonomy calendar.Kind, query *ent.TermQuery, q *TermQuery, offset int,
) ([]*ent.Term, error) {
	order, err := r.termOrder(taxonomy, q)
	if err != nil {
		return nil, err
	}
	SelectTerms(query)
	rows, err := query.Order(order).Offset(offset).Limit(int(q.Size)).All(r.Ctx)
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// Predicates returns the filters of a list of terms (contract, section 9.3).
func (q *TermQuery) Predicates(taxonomy calendar.Kind, language calendar.Language) []predicate.Term {
	where := []predicate.Term{term.TaxonomyEQ(taxonomy)}
	if q.HideEmpty {
		where = append(where, term.EventCountGT(0))
	}
	if q.Include != nil {
		where = append(where, term.IDIn(q.Include...))
	}
	if q.Search != nil {
		where = append(where, query.HasText[predicate.Term](taxonomy, language, []string{q.text}, nil))
	}
	if q.Exclude != nil {
		where = append(where, term.IDNotIn(q.Exclude...))
	}
	if q.Parent != nil {
		where = append(where, term.ParentID(*q.Parent))
	}
	if of := firstNonNil(q.Event, q.Post); of != nil {
		where = append(where, term.HasEventsWith(event.ID(*of)))
	}
	if q.Slug != nil {
		where = append(where, ownsSlug(taxonomy, *q.Slug))
	}
	return where
}

// notBlank returns a check that a text is not only white space.
func notBlank(v **string) func(context.Context) *param.Fault {
	return func(context.Context) *param.Fault {
		if strings.TrimSpace(**v) == "" {
			return &param.Fault{Key: "empty-text"}
		}
		return nil
	}
}

func firstNonNil(a, b *int64) *int64 {
	if a != nil {
		return a
	}
	return b
}

// ownsSlug returns a predicate for the term that has a slug in any language.
func ownsSlug(taxonomy calendar.Kind, key string) predicate.Term {
	return func(s *sql.Selector) {
		t := sql.Table(slug.Table)
		s.Where(sql.In(s.C(term.FieldID), sql.Select(t.C(slug.FieldOwnerID)).From(t).
			Where(sql.And(sql.EQ(t.C(slug.FieldKind), taxonomy), sql.EQ(t.C(slug.FieldSlug), key)))))
	}
}

func (q *TermQuery) descending() bool { return q.Order != nil && strings.EqualFold(*q.Order, "desc") }

// by returns the attribute to sort by, from the parameter that the client sent. Unknown words mean the name.
func (q *TermQuery) by() string {
	if q.OrderBy != nil {
		switch *q.OrderBy {
		case "id", "slug", "count", "description", "include":
			return *q.OrderBy
		case "none", "term_group":
			return "id"
		}
	}
	return "name"
}

// termOrder returns the order of a list of terms: by the requested attribute, then by ascending id. Terms without a
// sort key come last in both directions. A process of another version has written these terms, and they get their
// keys later.
func (r *Reader) termOrder(taxonomy calendar.Kind, q *TermQuery) (term.OrderOption, error) {
	by, keyless, translated := q.by(), false, false
	var err error
	switch by {
	case "name":
		// If all terms have a sort key, the database can read them in the order of an index.
		keyless, err = r.DB.Term.Query().
			Where(term.TaxonomyEQ(taxonomy), sql.FieldIsNull(edit.NameSortColumn(r.Language))).Exist(r.Ctx)
	case "slug":
		translated, err = r.DB.TermTranslation.Query().Where(
			termtranslation.LanguageIn(r.Language, r.Site.Language),
			termtranslation.HasTermWith(term.TaxonomyEQ(taxonomy)),
		).Exist(r.Ctx)
	}
	if err != nil {
		return nil, err
	}
	direction := sql.Asc
	if q.descending() {
		direction = sql.Desc
	}
	return func(s *sql.Selector) {
		switch by {
		case "id":
			s.OrderBy(direction(s.C(term.FieldID)))
			return
		case "include":
			if q.Include != nil {
				s.OrderExpr(positionIn(s.C(term.FieldID), q.Include, q.descending()))
			}
		case "slug":
			if translated {
				s.OrderExpr(slugIn(s, []calendar.Language{r.Language, r.Site.Language}, q.descending()))
			} else {
				s.OrderBy(direction(s.C(term.FieldSlug)))
			}
		case "count":
			s.OrderBy(direction(s.C(term.FieldEventCount)))
		case "description":
			key := s.C(edit.DescriptionSortColumn(r.Language))
			s.OrderExpr(orderNullsLast(key))
			s.OrderBy(direction(key))
		default:
			key := s.C(edit.NameSortColumn(r.Language))
			if keyless {
				s.OrderExpr(orderNullsLast(key))
			}
			s.OrderBy(direction(key))
			if keyless {
				s.OrderBy(direction(s.C(term.FieldNameKey)))
			}
		}
		s.OrderBy(sql.Asc(s.C(term.FieldID)))
	}, nil
}

// orderNullsLast returns an SQL expression that is 0 for a value and 1 for NULL.
func orderNullsLast(column string) sql.Querier {
	return sql.ExprFunc(func(b *sql.Builder) { b.Ident(column).WriteString(" IS NULL") })
}

// slugIn returns an SQL expression for the slug of a term, in the first of the languages in which it has one.
// If descending is true, it sorts in descending order. It must give the same result as calendar.Served.
func slugIn(s *sql.Selector, languages []calendar.Language, descending bool) sql.Querier {
	own, original := s.C(term.FieldSlug), s.C(term.FieldLanguage)
	return sql.ExprFunc(func(b *sql.Builder) {
		b.WriteString("CASE WHEN ").Ident(s.C(term.FieldLanguages)).WriteString(" = ").Ident(original)
		b.WriteString(" THEN ").Ident(own).WriteString(" ELSE COALESCE(")
		for _, l := range slices.Compact(languages) {
			b.WriteString("CASE WHEN ").Ident(original).WriteString(" = ").Arg(l)
			b.WriteString(" THEN NULLIF(").Ident(own).WriteString(", '') END, NULLIF(")
			t := sql.Dialect(s.Dialect()).Table(termtranslation.Table).As("served")
			b.Wrap(func(b *sql.Builder) {
				b.Join(sql.Dialect(s.Dialect()).Select(t.C(termtranslation.FieldSlug)).From(t).Where(sql.And(
					sql.ColumnsEQ(t.C(termtranslation.FieldTermID), s.C(term.FieldID)),
					sql.EQ(t.C(termtranslation.FieldLanguage), l),
				)))
			})
			b.WriteString(", ''), ")
		}
		b.Ident(own).WriteString(") END")
		if descending {
			b.WriteString(" DESC")
		}
	})
}

// positionIn returns an SQL expression for the position of a column's value in ids. If descending is true, it
// sorts in descending order. It works on both engines.
func positionIn(column string, ids []int64, descending bool) sql.Querier {
	return sql.ExprFunc(func(b *sql.Builder) {
		b.WriteString("CASE ").Ident(column)
		for i, id := range ids {
			b.WriteString(" WHEN ").Arg(id).WriteString(" THEN ").Arg(i)
		}
		b.WriteString(" END")
		if descending {
			b.WriteString(" DESC")
		}
	})
}

// RepresentTerms returns the representations of terms, with the slugs of the ancestors of categories. It runs at most two
// SQL statements for each level of the tree, for any number of terms.
func (r *Reader) RepresentTerms(rows []*ent.Term) ([]represent.Term, error) {
	return RepresentTermsAs(r, rows, make(map[int64]*ent.Term), (*represent.View).Term)
}

// RepresentTermsAs calls show for each term, with the slugs of its ancestors from the top, and returns the results.
// The map known has terms by id that earlier calls have loaded. The function adds the terms and their ancestors to
// it.
func RepresentTermsAs[T any](
	r *Reader, rows []*ent.Term, known map[int64]*ent.Term, show func(*represent.View, *ent.Term, []string) T,
) ([]T, error) {
	for _, row := range rows {
		known[row.ID] = row
	}
	for range math.MaxUint8 { // a deeper tree has a cycle, which writes prevent
		var missing []int64
		for _, t := range known {
			if p := represent.ParentID(t); p != 0 && known[p] == nil && !slices.Contains(missing, p) {
				missing = append(missing, p)
			}
		}
		if missing == nil {
			break
		}
		above, err := r.DB.ReadTerms(r.Ctx, missing)
		if err != nil {
			return nil, err
		}
		if err := r.Translate(ent.PageOf(above...)); err != nil {
			return nil, err
		}
		for _, t := range above {
			known[t.ID] = t
		}
		if len(above) == 0 {
			break
		}
	}
	v := r.View()
	out := make([]T, len(rows))
	for i, row := range rows {
		var ancestors []string
		for t := known[represent.ParentID(row)]; t != nil && len(ancestors) < math.MaxUint8; t = known[represent.ParentID(t)] {
			ancestors = append(ancestors, v.Text(t).Slug)
		}
		slices.Reverse(ancestors)
		out[i] = show(v, row, ancestors)
	}
	return out, nil
}
