package upkeep_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"entgo.io/ent/dialect/sql"
	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/upkeep"
	"github.com/almanac-cal/almanac/proof/edittest"
)

func TestFillSortKeys(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		w.RowsPast = true
		ctx := t.Context()
		// More than one statement writes and more than one batch takes.
		const batch, terms = 500, 607
		rows := make([]*ent.TermCreate, terms)
		for i := range rows {
			name := fmt.Sprintf("Ż %d", (i*7919)%terms)
			rows[i] = w.DB.Term.Create().SetTaxonomy(calendar.Tag).SetName(name).SetNameKey(calendar.FoldName(name)).
				SetSlug(fmt.Sprint("t-", i)).SetLanguage(calendar.English).SetLanguages("en,pl").
				SetCreatedAt(edittest.Now).SetModifiedAt(edittest.Now)
		}
		for i := 0; i < terms; i += 100 {
			w.DB.Term.CreateBulk(rows[i:min(i+100, terms)]...).ExecX(ctx)
		}
		first := w.DB.Term.Query().Order(term.ByID()).FirstX(ctx)
		w.DB.TermTranslation.Create().SetTermID(first.ID).SetLanguage(calendar.Polish).SetName("Łódź").ExecX(ctx)
		category := w.Term(w.As(calendar.Editor), calendar.Category, "There", 0)

		var told []int
		interruptAfterBatch(t, w)
		without := predicate.Term(sql.FieldIsNull(edit.NameSortColumn(calendar.English)))
		if n := w.DB.Term.Query().Where(without).CountX(ctx); n != terms-batch {
			t.Errorf("%d terms are left after one batch, want %d", n, terms-batch)
		}
		changes := w.DB.Change.Query().CountX(ctx)
		for range 2 { // and with nothing left to do
			if err := upkeep.FillSortKeys(ctx, w.DB, w.As(calendar.Editor), func(n int) { told = append(told, n) }); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]int{terms - batch}, told); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
		for _, row := range w.DB.Term.Query().AllX(ctx) {
			want := edit.SortKeysOf(calendar.English, calendar.Text{Language: calendar.English, Title: row.Name}, nil)
			if row.ID == first.ID {
				want[term.FieldSortPl] = calendar.SortKey(calendar.Polish, "Łódź", calendar.NameKeySize)
			}
			if diff := cmp.Diff(want, edittest.SortKeys(row)); diff != "" {
				t.Fatalf("keys of %s (-want +got):\n%s", row.Name, diff)
			}
			if row.ID != category.ID && (row.Version != 1 || !row.ModifiedAt.Equal(edittest.Now)) {
				t.Fatalf("%s was changed: version %d of %s", row.Name, row.Version, row.ModifiedAt)
			}
		}
		// One for each batch: no term was changed, but lists may be in another order.
		if n := w.DB.Change.Query().CountX(ctx); n != changes+1 {
			t.Errorf("%d changes were logged", n-changes)
		}
		if n := w.DB.Change.Query().Where(entchange.RecordID(0), entchange.KindIn(calendar.Category, calendar.Tag)).CountX(ctx); n != 2 {
			t.Errorf("%d changes are of all terms, want one of the interrupted run and one of the next", n)
		}
		// The engine agrees about the order.
		ordered := w.DB.Term.Query().Where(term.TaxonomyEQ(calendar.Tag)).
			Order(func(s *sql.Selector) { s.OrderBy(s.C(edit.NameSortColumn(calendar.Polish)), s.C(term.FieldID)) }).AllX(ctx)
		for i := 1; i < len(ordered); i++ {
			if bytes.Compare(ordered[i-1].SortPl, ordered[i].SortPl) > 0 {
				t.Fatalf("%s is before %s", ordered[i-1].Name, ordered[i].Name)
			}
		}
	})
}

// interruptAfterBatch calls FillSortKeys and stops it after the first batch. The function step returns no error, so
// it panics.
func interruptAfterBatch(t *testing.T, w *edittest.World) {
	t.Helper()
	interrupted := errors.New("enough")
	defer func() {
		if got := recover(); got != interrupted { //nolint:errorlint // it is the value that was thrown
			t.Errorf("stopped by %v", got)
		}
	}()
	if err := upkeep.FillSortKeys(t.Context(), w.DB, w.As(calendar.Editor), func(int) { panic(interrupted) }); err != nil {
		t.Error(err)
	}
}
