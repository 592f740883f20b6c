package edit_test

import (
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/proof/edittest"
)

func TestOldChangesAreForgotten(t *testing.T) {
	t.Parallel()
	// Change i of 1 to 999 is made i minutes after the first one. Every tenth is public.
	first := edittest.Now
	at := func(i int) time.Time { return first.Add(time.Duration(i) * time.Minute) }
	for _, tt := range []struct {
		name           string
		before         time.Time
		oldest, public int // 0 for public means that none is forgotten
	}{
		{"none is old enough", at(1), 1, 0},
		{"one", at(2), 2, 0},
		{"less than a batch", at(151), 151, 150},
		{"several batches", at(777), 777, 770},
		{"all, of which the newest stays", at(100_000), 999, 990},
	} {
		t.Run(tt.name, func(t *testing.T) {
			edittest.Each(t, func(t *testing.T, w *edittest.World) {
				writeChanges(t, w.DB, at)
				for {
					n, err := edit.ForgetChanges(t.Context(), w.DB, tt.before)
					if err != nil {
						t.Fatal(err)
					}
					if n == 0 {
						break
					}
				}
				left := w.DB.Change.Query().Order(ent.Asc(entchange.FieldID)).AllX(t.Context())
				if len(left) != 1000-tt.oldest || left[0].ID != int64(tt.oldest) {
					t.Errorf("%d entries from %d on, want %d from %d on", len(left), left[0].ID, 1000-tt.oldest, tt.oldest)
				}
				if problems := w.Problems(); len(problems) > 0 {
					t.Errorf("check: %v", problems)
				}
				var forgotten time.Time
				switch c, err := w.DB.Counter.Get(t.Context(), "forgotten-public"); {
				case err == nil && c.Value > 0:
					forgotten = time.Unix(c.Value, 0)
				case err != nil && !ent.IsNotFound(err):
					t.Fatal(err)
				}
				want := time.Time{}
				if tt.public > 0 {
					want = at(tt.public)
				}
				if !forgotten.Equal(want) {
					t.Errorf("the newest public one that is forgotten was of %s, want %s", forgotten, want)
				}
			})
		})
	}
}

// writeChanges stores the changes 1 to 999 in the log of an empty calendar. The function at returns the time of
// each.
func writeChanges(t *testing.T, db *ent.Client, at func(int) time.Time) {
	t.Helper()
	db.Change.Delete().ExecX(t.Context())
	for from := 1; from < 1000; from += 111 {
		var some []*ent.ChangeCreate
		for i := from; i < from+111; i++ {
			some = append(some, db.Change.Create().SetID(int64(i)).SetKind(calendar.Event).SetRecordID(1).
				SetAction(calendar.Updated).SetFields([]string{"cost"}).SetAt(at(i)).SetHidden(i%10 != 0))
		}
		db.Change.CreateBulk(some...).ExecX(t.Context())
	}
	if db.Counter.UpdateOneID("revision").SetValue(999).Exec(t.Context()) != nil {
		db.Counter.Create().SetID("revision").SetValue(999).ExecX(t.Context())
	}
}
