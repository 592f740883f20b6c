package edit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/upkeep"
	"github.com/almanac-cal/almanac/proof/edittest"
)

// sortedBy fails the test unless the stored sort keys of a term are right. They must be those of the given
// names and descriptions in English, Polish and Spanish.
func sortedBy(w *edittest.World, id int64, names, descriptions [3]string) {
	w.T.Helper()
	want := make(edit.TermSortKeys)
	for i, l := range calendar.Languages {
		want[edit.NameSortColumn(l)] = calendar.SortKey(l, names[i], calendar.NameKeySize)
		want[edit.DescriptionSortColumn(l)] = calendar.SortKey(l, descriptions[i], calendar.DescriptionKeySize)
	}
	if diff := cmp.Diff(want, edittest.SortKeys(w.DB.Term.GetX(w.T.Context(), id))); diff != "" {
		w.T.Errorf("keys of %v (-want +got):\n%s", names, diff)
	}
}

func TestTermsAreSortedByWhatIsServed(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		row, err := w.CreateTerm(e, &edit.TermInput{Taxonomy: calendar.Tag, Name: new("Castle"), Description: new("Old")})
		if err != nil {
			t.Fatal(err)
		}
		id := row.ID
		other := w.Term(e, calendar.Tag, "Other", 0)
		steps := []struct {
			name                string
			do                  func() error
			names, descriptions [3]string
		}{
			{"created", func() error { return nil }, [3]string{"Castle", "Castle", "Castle"}, [3]string{"Old", "Old", "Old"}},
			{"translated", func() error {
				_, err := w.UpdateTerm(w.AsIn(calendar.Editor, calendar.Polish), id, &edit.TermInput{Name: new("Łazienki")})
				return err
			}, [3]string{"Castle", "Łazienki", "Castle"}, [3]string{"Old", "Old", "Old"}},
			{"original changed", func() error {
				_, err := w.UpdateTerm(w.As(calendar.Editor), id, &edit.TermInput{Name: new("Palace"), Description: new("New")})
				return err
			}, [3]string{"Palace", "Łazienki", "Palace"}, [3]string{"New", "New", "New"}},
			{"description only", func() error {
				_, err := w.UpdateTerm(w.AsIn(calendar.Editor, calendar.Spanish), id, &edit.TermInput{Description: new("Ñ")})
				return err
			}, [3]string{"Palace", "Łazienki", "Palace"}, [3]string{"New", "New", "Ñ"}},
			{"translation taken away", func() error {
				_, err := w.UpdateTerm(w.AsIn(calendar.Editor, calendar.Polish), id, &edit.TermInput{Name: new("")})
				return err
			}, [3]string{"Palace", "Palace", "Palace"}, [3]string{"New", "New", "Ñ"}},
		}
		for _, step := range steps {
			if err := step.do(); err != nil {
				t.Fatalf("%s: %s", step.name, edittest.Describe(err))
			}
			sortedBy(w, id, step.names, step.descriptions)
		}
		sortedBy(w, other.ID, [3]string{"Other", "Other", "Other"}, [3]string{})
	})
}

// TestTermsAreSortedByTheLanguageOfTheSite checks a term without a text in some language. Its sort key must be
// that of the text in the site's language, not of the original.
func TestTermsAreSortedByTheLanguageOfTheSite(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		w.RowsPast = true
		row, err := w.CreateTerm(w.AsIn(calendar.Editor, calendar.Polish), &edit.TermInput{
			Taxonomy: calendar.Category, Name: new("Zamek"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.UpdateTerm(w.AsIn(calendar.Editor, calendar.English), row.ID, &edit.TermInput{Name: new("Castle")}); err != nil {
			t.Fatal(err)
		}
		sortedBy(w, row.ID, [3]string{"Castle", "Zamek", "Castle"}, [3]string{})

		e := w.As(calendar.Editor)
		e.Site.Language = calendar.Polish
		if err := upkeep.Reindex(t.Context(), w.DB, e, func(calendar.Kind, int) {}); err != nil {
			t.Fatal(err)
		}
		sortedBy(w, row.ID, [3]string{"Castle", "Zamek", "Zamek"}, [3]string{})
	})
}

func TestEveryLanguageHasSortColumns(t *testing.T) {
	t.Parallel()
	for _, l := range calendar.Languages {
		for _, column := range []string{edit.NameSortColumn(l), edit.DescriptionSortColumn(l)} {
			if !term.ValidColumn(column) {
				t.Errorf("terms have no column %q for %s", column, l)
			}
		}
	}
}
