package edit

import (
	"bytes"
	"fmt"
	"testing"

	"entgo.io/ent/dialect/sql"
	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/term"
)

// keysOf are the keys that a term has.
func keysOf(t *testing.T, row *ent.Term) TermSortKeys {
	t.Helper()
	return TermSortKeys{
		term.FieldSortEn: row.SortEn, term.FieldDescriptionSortEn: row.DescriptionSortEn,
		term.FieldSortPl: row.SortPl, term.FieldDescriptionSortPl: row.DescriptionSortPl,
		term.FieldSortEs: row.SortEs, term.FieldDescriptionSortEs: row.DescriptionSortEs,
	}
}

// sortedBy checks that a term is sorted by these names and descriptions in English, Polish and Spanish.
func (w *world) sortedBy(id int64, names, descriptions [3]string) {
	w.t.Helper()
	want := make(TermSortKeys)
	for i, l := range calendar.Languages {
		want[NameSortColumn(l)] = calendar.SortKey(l, names[i], calendar.NameKeySize)
		want[DescriptionSortColumn(l)] = calendar.SortKey(l, descriptions[i], calendar.DescriptionKeySize)
	}
	t, ok := w.t.(*testing.T)
	if !ok {
		w.t.Fatal("not in a test")
	}
	if diff := cmp.Diff(want, keysOf(t, w.db.Term.GetX(t.Context(), id))); diff != "" {
		w.t.Errorf("keys of %v (-want +got):\n%s", names, diff)
	}
}

func TestTermsAreSortedByWhatIsServed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor)
		row, err := w.createTerm(e, &TermInput{Taxonomy: calendar.Tag, Name: new("Castle"), Description: new("Old")})
		if err != nil {
			t.Fatal(err)
		}
		id := row.ID
		other := w.term(e, calendar.Tag, "Other", 0)
		steps := []struct {
			name                string
			do                  func() error
			names, descriptions [3]string
		}{
			{"created", func() error { return nil }, [3]string{"Castle", "Castle", "Castle"}, [3]string{"Old", "Old", "Old"}},
			{"translated", func() error {
				_, err := w.updateTerm(w.as(calendar.Editor).in(calendar.Polish), id, &TermInput{Name: new("Łazienki")})
				return err
			}, [3]string{"Castle", "Łazienki", "Castle"}, [3]string{"Old", "Old", "Old"}},
			{"original changed", func() error {
				_, err := w.updateTerm(w.as(calendar.Editor), id, &TermInput{Name: new("Palace"), Description: new("New")})
				return err
			}, [3]string{"Palace", "Łazienki", "Palace"}, [3]string{"New", "New", "New"}},
			{"description only", func() error {
				_, err := w.updateTerm(w.as(calendar.Editor).in(calendar.Spanish), id, &TermInput{Description: new("Ñ")})
				return err
			}, [3]string{"Palace", "Łazienki", "Palace"}, [3]string{"New", "New", "Ñ"}},
			{"translation taken away", func() error {
				_, err := w.updateTerm(w.as(calendar.Editor).in(calendar.Polish), id, &TermInput{Name: new("")})
				return err
			}, [3]string{"Palace", "Palace", "Palace"}, [3]string{"New", "New", "Ñ"}},
		}
		for _, step := range steps {
			if err := step.do(); err != nil {
				t.Fatalf("%s: %s", step.name, describe(err))
			}
			w.sortedBy(id, step.names, step.descriptions)
		}
		w.sortedBy(other.ID, [3]string{"Other", "Other", "Other"}, [3]string{})
	})
}

// A text of the site's language is served before the original.
func TestTermsAreSortedByTheLanguageOfTheSite(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.rowsPast = true
		row, err := w.createTerm(w.as(calendar.Editor).in(calendar.Polish), &TermInput{
			Taxonomy: calendar.Category, Name: new("Zamek"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.updateTerm(w.as(calendar.Editor).in(calendar.English), row.ID, &TermInput{Name: new("Castle")}); err != nil {
			t.Fatal(err)
		}
		w.sortedBy(row.ID, [3]string{"Castle", "Zamek", "Castle"}, [3]string{})

		e := w.as(calendar.Editor)
		e.Site.Language = calendar.Polish
		if err := Reindex(t.Context(), w.db, e, func(calendar.Kind, int) {}); err != nil {
			t.Fatal(err)
		}
		w.sortedBy(row.ID, [3]string{"Castle", "Zamek", "Zamek"}, [3]string{})
	})
}

func TestFillSortKeys(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.rowsPast = true
		ctx := t.Context()
		// More than one statement writes and more than one batch takes.
		const terms = batch + sortRows + 7
		rows := make([]*ent.TermCreate, terms)
		for i := range rows {
			name := fmt.Sprintf("Ż %d", (i*7919)%terms)
			rows[i] = w.db.Term.Create().SetTaxonomy(calendar.Tag).SetName(name).SetNameKey(calendar.FoldName(name)).
				SetSlug(fmt.Sprint("t-", i)).SetLanguage(calendar.English).SetLanguages("en,pl").
				SetCreatedAt(now).SetModifiedAt(now)
		}
		for i := 0; i < terms; i += 100 {
			w.db.Term.CreateBulk(rows[i:min(i+100, terms)]...).ExecX(ctx)
		}
		first := w.db.Term.Query().Order(term.ByID()).FirstX(ctx)
		w.db.TermTranslation.Create().SetTermID(first.ID).SetLanguage(calendar.Polish).SetName("Łódź").ExecX(ctx)
		category := w.term(w.as(calendar.Editor), calendar.Category, "There", 0)

		interrupted := fmt.Errorf("enough")
		var told []int
		// A step cannot fail, so the interruption is a panic.
		func() {
			defer func() {
				if got := recover(); got != interrupted { //nolint:errorlint // it is the value that was thrown
					t.Errorf("stopped by %v", got)
				}
			}()
			if err := FillSortKeys(ctx, w.db, w.as(calendar.Editor), func(int) { panic(interrupted) }); err != nil {
				t.Error(err)
			}
		}()
		without := predicate.Term(sql.FieldIsNull(NameSortColumn(calendar.English)))
		if n := w.db.Term.Query().Where(without).CountX(ctx); n != terms-batch {
			t.Errorf("%d terms are left after one batch, want %d", n, terms-batch)
		}
		changes := w.db.Change.Query().CountX(ctx)
		for range 2 { // and with nothing left to do
			if err := FillSortKeys(ctx, w.db, w.as(calendar.Editor), func(n int) { told = append(told, n) }); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]int{terms - batch}, told); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
		for _, row := range w.db.Term.Query().AllX(ctx) {
			want := SortKeysOf(calendar.English, calendar.Text{Language: calendar.English, Title: row.Name}, nil)
			if row.ID == first.ID {
				want[term.FieldSortPl] = calendar.SortKey(calendar.Polish, "Łódź", calendar.NameKeySize)
			}
			if diff := cmp.Diff(want, keysOf(t, row)); diff != "" {
				t.Fatalf("keys of %s (-want +got):\n%s", row.Name, diff)
			}
			if row.ID != category.ID && (row.Version != 1 || !row.ModifiedAt.Equal(now)) {
				t.Fatalf("%s was changed: version %d of %s", row.Name, row.Version, row.ModifiedAt)
			}
		}
		// One for each taxonomy, of the run that did something: no term was changed, but lists may be in another order.
		if n := w.db.Change.Query().CountX(ctx); n != changes+2 {
			t.Errorf("%d changes were logged", n-changes)
		}
		if n := w.db.Change.Query().Where(entchange.RecordID(0), entchange.KindIn(calendar.Category, calendar.Tag)).CountX(ctx); n != 2 {
			t.Errorf("%d of them are of all terms", n)
		}
		// The engine agrees about the order.
		ordered := w.db.Term.Query().Where(term.TaxonomyEQ(calendar.Tag)).
			Order(func(s *sql.Selector) { s.OrderBy(s.C(NameSortColumn(calendar.Polish)), s.C(term.FieldID)) }).AllX(ctx)
		for i := 1; i < len(ordered); i++ {
			if bytes.Compare(ordered[i-1].SortPl, ordered[i].SortPl) > 0 {
				t.Fatalf("%s is before %s", ordered[i-1].Name, ordered[i].Name)
			}
		}
	})
}

func TestEveryLanguageHasSortColumns(t *testing.T) {
	t.Parallel()
	for _, l := range calendar.Languages {
		for _, column := range []string{NameSortColumn(l), DescriptionSortColumn(l)} {
			if !term.ValidColumn(column) {
				t.Errorf("terms have no column %q for %s", column, l)
			}
		}
	}
}
