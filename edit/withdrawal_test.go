package edit_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/withdrawalkey"
	"github.com/almanac-cal/almanac/proof/edittest"
)

func statusOf(s calendar.Status) *edit.EventInput { return &edit.EventInput{Status: &s} }

func TestSequenceCountsWhatCalendarApplicationsAreToldOf(t *testing.T) {
	later := edittest.Now.Add(time.Hour)
	moved := func() *edit.EventInput { return &edit.EventInput{Start: edittest.Wall("2026-07-02 18:00:00")} }
	tests := map[string]struct {
		first  calendar.Status // "" is published
		writes []*edit.EventInput
		want   int64
	}{
		"new":                    {},
		"title":                  {writes: []*edit.EventInput{{Title: new("Other")}}},
		"description and flags":  {writes: []*edit.EventInput{{Description: new("x"), EventValues: ent.EventValues{Featured: new(true), HideFromListings: new(true)}}}},
		"password":               {writes: []*edit.EventInput{{Password: new("secret")}}},
		"start":                  {writes: []*edit.EventInput{moved()}, want: 1},
		"end":                    {writes: []*edit.EventInput{{End: edittest.Wall("2026-07-01 21:00:00")}}, want: 1},
		"same start again":       {writes: []*edit.EventInput{moved(), moved()}, want: 1},
		"start and end together": {writes: []*edit.EventInput{{Start: edittest.Wall("2026-07-03 10:00:00"), End: edittest.Wall("2026-07-03 11:00:00")}}, want: 1},
		"all day":                {writes: []*edit.EventInput{{AllDay: new(true)}}, want: 1},
		"canceled":               {writes: []*edit.EventInput{{EventValues: ent.EventValues{EventStatus: new(calendar.Canceled)}}}, want: 1},
		"start of a draft":       {first: calendar.Draft, writes: []*edit.EventInput{moved()}},
		"draft is published":     {first: calendar.Draft, writes: []*edit.EventInput{moved(), statusOf(calendar.Publish)}},
		"to the trash":           {writes: []*edit.EventInput{statusOf(calendar.Trash)}, want: 1},
		"draft":                  {writes: []*edit.EventInput{statusOf(calendar.Draft)}, want: 1},
		"pending":                {writes: []*edit.EventInput{statusOf(calendar.Pending)}, want: 1},
		"private":                {writes: []*edit.EventInput{statusOf(calendar.Private)}, want: 1},
		"scheduled":              {writes: []*edit.EventInput{{Published: &later}}, want: 1},
		"draft with a new start": {writes: []*edit.EventInput{{Status: new(calendar.Draft), Start: edittest.Wall("2026-07-02 18:00:00")}}, want: 1},
		"start while withdrawn":  {writes: []*edit.EventInput{statusOf(calendar.Draft), moved(), statusOf(calendar.Trash)}, want: 1},
		"return":                 {writes: []*edit.EventInput{statusOf(calendar.Trash), statusOf(calendar.Publish)}, want: 2},
		"return at another time": {writes: []*edit.EventInput{statusOf(calendar.Draft), moved(), statusOf(calendar.Publish)}, want: 2},
		"twice":                  {writes: []*edit.EventInput{statusOf(calendar.Draft), statusOf(calendar.Publish), statusOf(calendar.Private)}, want: 3},
	}
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		for name, tt := range tests {
			in := edittest.SomeEvent()
			if tt.first != "" {
				in.Status = &tt.first
			}
			row := w.Event(e, in)
			for _, write := range tt.writes {
				row = w.ChangeEvent(e, row.ID, write)
			}
			if row.Sequence != tt.want {
				t.Errorf("%s: sequence %d, want %d", name, row.Sequence, tt.want)
			}
		}
	})
}

// withdrawals returns the stored withdrawals as lines of text, ordered by event id.
func withdrawals(t *testing.T, w *edittest.World) (out []string) {
	t.Helper()
	for _, row := range w.DB.Withdrawal.Query().AllX(t.Context()) {
		var keys []string
		for _, k := range w.DB.WithdrawalKey.Query().Where(withdrawalkey.WithdrawalID(row.ID)).AllX(t.Context()) {
			value := k.Value
			if k.Kind != calendar.Event {
				value = "" // an id
			}
			keys = append(keys, string(k.Kind)+":"+value)
		}
		slices.Sort(keys)
		listed := "hidden"
		if row.Listed {
			listed = "listed"
		}
		out = append(out, row.StartWall.String()+" "+listed+" "+strings.Join(keys, " "))
	}
	return out
}

func TestWithdrawnEventsAreNotedAsTheyWere(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		hall := w.Venue(e, &edit.VenueInput{Name: new("Hall")})
		cellar := w.Venue(e, &edit.VenueInput{Name: new("Cellar"), Status: new(calendar.Private)})
		music := w.Term(e, calendar.Category, "Music", 0)
		event := func(title string, change func(*edit.EventInput)) *ent.Event {
			in := edittest.SomeEvent()
			in.Title = &title
			in.Venues = &[]edit.VenueRef{{ID: hall.ID}, {ID: cellar.ID}}
			in.Categories = &[]edit.TermRef{{ID: music.ID}}
			if change != nil {
				change(in)
			}
			return w.Event(e, in)
		}
		const at = "2026-07-01 18:00:00 "
		expect := func(name string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, withdrawals(t, w)); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", name, diff)
			}
		}
		jazz := event("Jazz", nil)
		expect("public")
		w.ChangeEvent(e, jazz.ID, &edit.EventInput{
			Status: new(calendar.Draft), Start: edittest.Wall("2026-08-01 18:00:00"), Slug: new("secret"), Venues: &[]edit.VenueRef{},
		})
		expect("draft with another start, slug and venue", at+"listed category: event:jazz venue:")
		w.ChangeEvent(e, jazz.ID, statusOf(calendar.Trash))
		expect("draft to the trash", at+"listed category: event:jazz venue:")
		w.ChangeEvent(e, jazz.ID, statusOf(calendar.Publish))
		expect("return")

		secret := event("Secret", func(in *edit.EventInput) { in.Password, in.HideFromListings = new("x"), new(true) })
		if _, err := w.TrashEvent(e, secret.ID); err != nil {
			t.Fatal(err)
		}
		expect("protected and hidden", at+"hidden event:secret-2")
		admin := w.As(calendar.Administrator)
		edittest.Write(w, admin, func(ctx context.Context, tx *ent.Tx) (any, error) {
			return nil, admin.RemoveAll(ctx, tx, calendar.Event, []int64{secret.ID})
		})
		expect("removed for good")

		later := edittest.Now.Add(time.Hour)
		scheduled := w.ChangeEvent(e, jazz.ID, &edit.EventInput{Published: &later})
		expect("scheduled", "2026-08-01 18:00:00 listed category: event:secret")
		if got := edit.Sequence(scheduled, later); got != scheduled.Sequence+1 {
			t.Errorf("sequence when the date has come: %d, want %d", got, scheduled.Sequence+1)
		}
		if _, err := edit.PublishDue(t.Context(), w.DB, later); err != nil {
			t.Fatal(err)
		}
		expect("publication at the date")
		if got := w.DB.Event.GetX(t.Context(), jazz.ID).Sequence; got != scheduled.Sequence+1 {
			t.Errorf("sequence after publication: %d, want %d", got, scheduled.Sequence+1)
		}
	})
}

func TestWithdrawalsKeepWhatTheWriteTakesFromThePublic(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Administrator)
		for _, tt := range []struct {
			name string
			rule *string
			hall calendar.Status // that the write gives the venue
			want string
		}{
			{name: "venue to the trash", hall: calendar.Trash, want: "category: event:same venue:"},
			{name: "venue as a draft", hall: calendar.Draft, want: "category: event:same venue:"},
			{name: "series and venue to the trash", rule: new("FREQ=WEEKLY;COUNT=1"), hall: calendar.Trash, want: "category: event:same-2026-07-01 venue:"},
		} {
			w.DB.Withdrawal.Delete().ExecX(t.Context())
			in := edittest.SomeEvent()
			in.Title, in.Slug, in.Rule = new("Same"), new("same"), tt.rule
			in.Venues = &[]edit.VenueRef{{ID: w.Venue(e, &edit.VenueInput{Name: new("Hall " + tt.name)}).ID}}
			in.Categories = &[]edit.TermRef{{ID: w.Term(e, calendar.Category, tt.name, 0).ID}}
			row := w.Event(e, in)
			change := statusOf(calendar.Trash)
			change.Venues = &[]edit.VenueRef{{New: &edit.VenueInput{Name: new("Hall " + tt.name), Status: &tt.hall}}}
			if tt.rule != nil {
				change.Scope = edit.AllOccurrences
			}
			w.ChangeEvent(e, row.ID, change)
			want := []string{"2026-07-01 18:00:00 listed " + tt.want}
			if diff := cmp.Diff(want, withdrawals(t, w)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
	})
}

func TestOccurrencesAreWithdrawnWithTheirSeries(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		first := w.Event(e, edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=3"))
		if err := w.TrashSeries(e, *first.SeriesID); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"2026-07-01 18:00:00 listed event:same-2026-07-01", "2026-07-08 18:00:00 listed event:same-2026-07-08",
			"2026-07-15 18:00:00 listed event:same-2026-07-15",
		}
		if diff := cmp.Diff(want, withdrawals(t, w)); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
		if err := w.UpdateSeries(e, *first.SeriesID, statusOf(calendar.Publish)); err != nil {
			t.Fatal(edittest.Describe(err))
		}
		if got := withdrawals(t, w); got != nil {
			t.Errorf("after the return: %q", got)
		}
		for _, row := range w.Occurrences(*first.SeriesID) {
			if row.Sequence != 2 {
				t.Errorf("%s: sequence %d, want 2", row.StartWall, row.Sequence)
			}
		}
		in := statusOf(calendar.Draft)
		in.Scope = edit.FollowingOccurrences
		w.ChangeEvent(e, w.Occurrences(*first.SeriesID)[1].ID, in)
		if diff := cmp.Diff(want[1:], withdrawals(t, w)); diff != "" {
			t.Errorf("following as drafts, -want +got:\n%s", diff)
		}
	})
}

func TestOldWithdrawalsAreForgotten(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		if _, err := w.TrashEvent(e, w.Event(e, edittest.SomeEvent()).ID); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			at   time.Time
			want int
		}{{edittest.Now.Add(edit.RememberedTime - time.Second), 0}, {edittest.Now.Add(edit.RememberedTime), 1}} {
			if got, err := edit.ForgetWithdrawals(t.Context(), w.DB, tt.at); err != nil || got != tt.want {
				t.Errorf("at %s: %d, %v, want %d", tt.at, got, err, tt.want)
			}
		}
		if n := w.DB.WithdrawalKey.Query().CountX(t.Context()); n > 0 {
			t.Errorf("%d keys are left", n)
		}
	})
}

func TestFeedKeyIsMadeOnce(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		type made struct {
			key [16]byte
			err error
		}
		keys := make(chan made)
		for range 8 {
			go func() {
				key, err := edit.FeedKey(t.Context(), w.DB)
				keys <- made{key, err}
			}()
		}
		first := <-keys
		if first.err != nil || first.key == ([16]byte{}) {
			t.Fatal(first)
		}
		for range 7 {
			if other := <-keys; other != first {
				t.Errorf("%v, want %v", other, first)
			}
		}
	})
}
