package pages

import (
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestWhenTheStartOfAnEventMoved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
		const moved, movedLongAgo, retitled, never = 1, 2, 3, 4
		for i, row := range []struct {
			id     int64
			kind   calendar.Kind
			ago    time.Duration
			fields []string
		}{
			{movedLongAgo, calendar.Event, represent.RescheduledFor, []string{"start_date", "end_date"}},
			{moved, calendar.Event, 5 * time.Hour, []string{"start_date"}},
			{moved, calendar.Event, 3 * time.Hour, []string{"title", "start_date"}},
			{moved, calendar.Event, 2 * time.Hour, []string{"title"}},
			{retitled, calendar.Event, time.Hour, []string{"title"}},
			{retitled, calendar.Series, time.Hour, []string{"start_date"}},
		} {
			err := st.Ent.Change.Create().SetID(int64(1000 + i)).SetKind(row.kind).SetRecordID(row.id).SetAction(calendar.Updated).
				SetAt(now.Add(-row.ago)).SetFields(row.fields).Exec(t.Context())
			if err != nil {
				t.Fatal(err)
			}
		}
		r := &request{Reader: &read.Reader{Ctx: t.Context(), DB: st.Ent, Now: now}}
		for id, want := range map[int64]time.Time{
			moved: now.Add(-3 * time.Hour), movedLongAgo: {}, retitled: {}, never: {},
		} {
			for _, asked := range [][]int64{{id}, {moved, movedLongAgo, retitled, never}} {
				got, err := r.startsMovedAt(asked...)
				if err != nil || !got[id].Equal(want) {
					t.Errorf("event %d of %v: %v, %v, want %v", id, asked, got[id], err, want)
				}
			}
		}
	})
}
