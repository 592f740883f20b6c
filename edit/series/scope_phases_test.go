package series_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/proof/edittest"
)

// scopeStep is one write in a test of scopes: its target, its input and the expected fault.
type scopeStep struct {
	at    string // letter of the occurrence that the request is sent to; "series" means the series
	scope edit.Scope
	in    edit.EventInput
	trash bool
	now   string // day of the write, in 2026; "" means 15 June
	want  string // the fault, empty for none
}

// write makes the write and returns a description of its error, or "" if there is none.
func (s scopeStep) write(t *testing.T, w *edittest.World, series int64) string {
	t.Helper()
	e := w.As(calendar.Editor)
	if s.now != "" {
		now, err := time.Parse("2006-01-02", "2026-"+s.now)
		if err != nil {
			t.Fatal(err)
		}
		e.Now = now
	}
	in := s.in
	in.Scope = s.scope
	rows := w.DB.Event.Query().Where(event.SeriesID(series)).Order(event.ByID()).IDsX(t.Context())
	var err error
	switch {
	case s.at == "series":
		err = w.UpdateSeries(e, series, &in)
	case s.trash:
		_, err = w.TrashEvent(e, rows[s.at[0]-'a'])
	default:
		_, err = w.UpdateEvent(e, rows[s.at[0]-'a'], &in)
	}
	if err != nil {
		return edittest.Describe(err)
	}
	return ""
}

// TestScopesAfterEarlierChanges changes schedules of series that have several phases, exceptions or past
// occurrences. Unless the row says otherwise, the series is on Wednesdays from 1 July, 18:00 to 20:00. Its
// occurrences are called a, b and so on.
func TestScopesAfterEarlierChanges(t *testing.T) {
	following, all := edit.FollowingOccurrences, edit.AllOccurrences
	start := func(at string) edit.EventInput { return edit.EventInput{Start: edittest.Wall("2026-" + at + ":00")} }
	end := func(at string) edit.EventInput { return edit.EventInput{End: edittest.Wall("2026-" + at + ":00")} }
	rule := func(text string) edit.EventInput { return edit.EventInput{Rule: &text} }
	title := func(text string) edit.EventInput { return edit.EventInput{Title: &text} }
	dates := func(days ...string) *[]recur.Date {
		list := []recur.Date{}
		for _, d := range days {
			list = append(list, dayOnly("2026-"+d))
		}
		return &list
	}
	rdate := func(days ...string) edit.EventInput { return edit.EventInput{RDate: dates(days...)} }
	exdate := func(days ...string) edit.EventInput { return edit.EventInput{ExDate: dates(days...)} }
	weekly := func(count string) *edit.EventInput { return edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=" + count) }
	tests := []struct {
		name   string
		in     *edit.EventInput
		steps  []scopeStep
		phases []string
		events []string
	}{
		{
			"exdate leaves later phases", weekly("5"),
			[]scopeStep{
				{at: "d", scope: following, in: title("Other")},
				{at: "a", scope: all, in: exdate("07-08", "07-29")},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=3 -07-08 18:00", "07-22 18:00–20:00 FREQ=WEEKLY;COUNT=2 -07-29 18:00"},
			[]string{"a 07-01 18:00", "b 07-08 18:00 trash", "c 07-15 18:00", "d 07-22 18:00", "e 07-29 18:00 trash"},
		},
		{
			"rdate and exdate of a series leave earlier phases", weekly("5"),
			[]scopeStep{
				{at: "c", scope: following, in: title("Other")},
				{at: "series", in: edit.EventInput{RDate: dates("08-05", "07-02"), ExDate: dates("07-08", "07-22")}},
			},
			[]string{
				"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=2 +07-02 18:00 -07-08 18:00",
				"07-15 18:00–20:00 FREQ=WEEKLY;COUNT=3 +08-05 18:00 -07-22 18:00",
			},
			[]string{
				"a 07-01 18:00", "b 07-08 18:00 trash", "c 07-15 18:00", "d 07-22 18:00 trash", "e 07-29 18:00", "f 07-02 18:00",
				"g 08-05 18:00",
			},
		},
		{
			"dates of other phases that are not sent stay", weekly("5"),
			[]scopeStep{
				{at: "c", scope: following, in: title("Other")},
				{at: "series", in: edit.EventInput{RDate: dates("08-05")}},
				{at: "a", scope: all, in: edit.EventInput{RDate: dates("07-02")}},
				{at: "series", in: edit.EventInput{RDate: dates()}},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=2 +07-02 18:00", "07-15 18:00–20:00 FREQ=WEEKLY;COUNT=3"},
			[]string{
				"a 07-01 18:00", "b 07-08 18:00", "c 07-15 18:00", "d 07-22 18:00", "e 07-29 18:00", "f 08-05 18:00 trash off",
				"g 07-02 18:00",
			},
		},
		{
			"the schedule of a removed occurrence", weekly("5"),
			[]scopeStep{
				{at: "series", in: rule("FREQ=WEEKLY;COUNT=3")},
				{at: "e", scope: following, in: start("07-29 19:00"), want: "event-is-in-trash"},
				{at: "e", scope: following, in: rule("FREQ=DAILY;COUNT=2"), want: "event-is-in-trash"},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=3"},
			[]string{"a 07-01 18:00", "b 07-08 18:00", "c 07-15 18:00", "d 07-22 18:00 trash off", "e 07-29 18:00 trash off"},
		},
		{
			"a series that was split moves as a whole", edittest.WeeklyEvent("FREQ=WEEKLY;UNTIL=20260807"),
			[]scopeStep{
				{at: "b", scope: following, in: title("Other")},
				{at: "a", scope: all, in: start("07-08 18:00")},
			},
			[]string{"07-08 18:00–20:00 FREQ=WEEKLY;UNTIL=20260714", "07-15 18:00–20:00 FREQ=WEEKLY;UNTIL=20260807"},
			[]string{
				"a 07-01 18:00 trash off", "b 07-08 18:00", "c 07-15 18:00", "d 07-22 18:00", "e 07-29 18:00", "f 08-05 18:00",
			},
		},
		{
			"a daily one that was split keeps all days", edittest.WeeklyEvent("FREQ=DAILY;UNTIL=20260705"),
			[]scopeStep{
				{at: "c", scope: following, in: title("Other")},
				{at: "a", scope: all, in: start("07-02 19:00")},
			},
			[]string{"07-02 19:00–21:00 FREQ=DAILY;UNTIL=20260703", "07-04 19:00–21:00 FREQ=DAILY;UNTIL=20260705"},
			[]string{"a 07-01 18:00 trash off", "b 07-02 19:00", "c 07-03 19:00", "d 07-04 19:00", "e 07-05 19:00"},
		},
		{
			"one whose nominal start is past stays ahead", weekly("4"),
			[]scopeStep{
				{at: "b", in: start("07-20 18:00")},
				{at: "b", scope: all, in: start("07-20 19:00"), now: "07-10"},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=2", "07-15 19:00–21:00 FREQ=WEEKLY;COUNT=2"},
			[]string{"a 07-01 18:00", "b 07-08 18:00 at 07-20 19:00 own start_date,end_date", "c 07-15 19:00", "d 07-22 19:00"},
		},
		{
			"so it does with those that follow", weekly("4"),
			[]scopeStep{
				{at: "b", in: start("07-20 18:00")},
				{at: "b", scope: following, in: start("07-20 19:00"), now: "07-10"},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=2", "07-15 19:00–21:00 FREQ=WEEKLY;COUNT=2"},
			[]string{"a 07-01 18:00", "b 07-08 18:00 at 07-20 19:00 own start_date,end_date", "c 07-15 19:00", "d 07-22 19:00"},
		},
		{
			"so it does without exceptions", weekly("4"),
			[]scopeStep{
				{at: "b", in: start("07-20 18:00")},
				{at: "d", scope: all, in: edit.EventInput{Title: new("X"), DropExceptions: true}, now: "07-10"},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=4"},
			[]string{"a 07-01 18:00", "b 07-08 18:00 at 07-20 18:00 own start_date,end_date", "c 07-15 18:00", "d 07-22 18:00"},
		},
		{
			"a zone alone leaves own dates", weekly("3"),
			[]scopeStep{
				{at: "b", in: edit.EventInput{Start: edittest.Wall("2026-07-09 17:00:00"), End: edittest.Wall("2026-07-09 18:00:00")}},
				{at: "b", scope: following, in: edit.EventInput{Zone: new(zoneOf(t, "Europe/London"))}},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=1", "07-08 18:00–20:00 FREQ=WEEKLY;COUNT=2"},
			[]string{"a 07-01 18:00", "b 07-08 18:00 at 07-09 17:00 own start_date,end_date", "c 07-15 18:00"},
		},
		{
			"an end alone leaves the own start", weekly("3"),
			[]scopeStep{
				{at: "b", in: edit.EventInput{Start: edittest.Wall("2026-07-09 17:00:00"), End: edittest.Wall("2026-07-09 18:00:00")}},
				{at: "b", scope: following, in: end("07-09 20:00")},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=1", "07-08 18:00–21:00 FREQ=WEEKLY;COUNT=2"},
			[]string{"a 07-01 18:00", "b 07-08 18:00 at 07-09 17:00 to 20:00 own start_date", "c 07-15 18:00"},
		},
		{
			"an exdate that is sent moves and returns", weekly("4"),
			[]scopeStep{
				{at: "series", in: exdate("07-15")},
				{at: "series", in: start("07-01 19:00")},
				{at: "series", in: exdate()},
			},
			[]string{"07-01 19:00–21:00 FREQ=WEEKLY;COUNT=4"},
			[]string{"a 07-01 19:00", "b 07-08 19:00", "c 07-15 19:00", "d 07-22 19:00"},
		},
		{
			"an exdate that is sent with a move", weekly("4"),
			[]scopeStep{
				{at: "series", in: edit.EventInput{Start: edittest.Wall("2026-07-02 19:00:00"), ExDate: dates("07-16")}},
				{at: "series", in: exdate()},
			},
			[]string{"07-02 19:00–21:00 FREQ=WEEKLY;COUNT=4"},
			[]string{"a 07-02 19:00", "b 07-09 19:00", "c 07-16 19:00", "d 07-23 19:00"},
		},
		{
			"restoring what an exdate left out", weekly("4"),
			[]scopeStep{
				{at: "series", in: exdate("07-15")},
				{at: "c", in: edit.EventInput{Status: new(calendar.Publish)}},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=4"},
			[]string{"a 07-01 18:00", "b 07-08 18:00", "c 07-15 18:00", "d 07-22 18:00"},
		},
		{
			"one that was moved ahead and has begun", weekly("4"),
			[]scopeStep{
				{at: "c", in: start("07-09 18:00")},
				{at: "a", scope: all, in: start("07-01 19:00"), now: "07-10"},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=2", "07-15 19:00–21:00 FREQ=WEEKLY;COUNT=2"},
			[]string{"a 07-01 18:00", "b 07-08 18:00", "c 07-15 19:00 at 07-09 18:00 own start_date,end_date", "d 07-22 19:00"},
		},
		{
			"an own end moves with the start", weekly("4"),
			[]scopeStep{
				{at: "c", in: end("07-15 19:00")},
				{at: "a", scope: all, in: start("07-02 18:30")},
			},
			[]string{"07-02 18:30–20:30 FREQ=WEEKLY;COUNT=4"},
			[]string{"a 07-02 18:30", "b 07-09 18:30", "c 07-16 18:30 to 19:30 own end_date", "d 07-23 18:30"},
		},
		{
			"days alone of what has begun are sent again", weekly("4"),
			[]scopeStep{
				{at: "series", in: edit.EventInput{RDate: dates("07-02"), ExDate: dates("07-08")}},
				{at: "series", in: exdate("07-08", "07-22"), now: "07-10"},
				{at: "series", in: rdate("07-02", "07-23"), now: "07-10"},
			},
			[]string{
				"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=2 +07-02 18:00 -07-08 18:00",
				"07-15 18:00–20:00 FREQ=WEEKLY;COUNT=2 +07-23 18:00 -07-22 18:00",
			},
			[]string{
				"a 07-01 18:00", "b 07-08 18:00 trash", "c 07-15 18:00", "d 07-22 18:00 trash", "e 07-02 18:00", "f 07-23 18:00",
			},
		},
		{
			"dates of what has begun do not change", weekly("4"),
			[]scopeStep{
				{at: "series", in: edit.EventInput{RDate: dates("07-02"), ExDate: dates("07-08")}},
				{at: "series", in: edit.EventInput{RDate: dates(), ExDate: dates()}, now: "07-10"},
				{at: "series", in: edit.EventInput{RDate: dates(), ExDate: dates()}, now: "08-10"},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=4 +07-02 18:00 -07-08 18:00"},
			[]string{"a 07-01 18:00", "b 07-08 18:00 trash", "c 07-15 18:00", "d 07-22 18:00", "e 07-02 18:00"},
		},
		{
			"COUNT counts the phases of one rule", weekly("5"),
			[]scopeStep{
				{at: "b", scope: following, in: title("Other")},
				{at: "e", scope: all, in: rule("FREQ=WEEKLY;COUNT=6"), now: "07-10"},
			},
			[]string{
				"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=1", "07-08 18:00–20:00 FREQ=WEEKLY;COUNT=1", "07-15 18:00–20:00 FREQ=WEEKLY;COUNT=4",
			},
			[]string{
				"a 07-01 18:00", "b 07-08 18:00", "c 07-15 18:00", "d 07-22 18:00", "e 07-29 18:00", "f 08-05 18:00",
			},
		},
		{
			"following does not reach a deleted one before", weekly("4"),
			[]scopeStep{
				{at: "a", trash: true},
				{at: "b", scope: following, in: start("07-09 18:00")},
				{at: "a", in: edit.EventInput{Status: new(calendar.Publish)}},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=1", "07-09 18:00–20:00 FREQ=WEEKLY;COUNT=3"},
			[]string{"a 07-01 18:00", "b 07-09 18:00", "c 07-16 18:00", "d 07-23 18:00"},
		},
		{
			"all reaches a deleted one that has not begun", weekly("3"),
			[]scopeStep{
				{at: "a", trash: true},
				{at: "b", scope: all, in: start("07-08 19:00")},
			},
			[]string{"07-01 19:00–21:00 FREQ=WEEKLY;COUNT=3 -07-01 19:00"},
			[]string{"a 07-01 19:00 trash", "b 07-08 19:00", "c 07-15 19:00"},
		},
		{
			"COUNT of what follows after all have begun", weekly("3"),
			[]scopeStep{{at: "c", scope: following, in: rule("FREQ=WEEKLY;COUNT=2"), now: "08-01"}},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=3", "08-05 18:00–20:00 FREQ=WEEKLY;COUNT=2"},
			[]string{"a 07-01 18:00", "b 07-08 18:00", "c 07-15 18:00", "d 08-05 18:00", "e 08-12 18:00"},
		},
	}
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				first := w.Event(w.As(calendar.Editor), tt.in)
				for i, s := range tt.steps {
					if got := s.write(t, w, *first.SeriesID); got != s.want {
						t.Fatalf("step %d: %q, want %q", i, got, s.want)
					}
				}
				if diff := cmp.Diff(tt.phases, w.Phases(*first.SeriesID)); diff != "" {
					t.Errorf("phases (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.events, summary(t, w, *first.SeriesID)); diff != "" {
					t.Errorf("occurrences (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// TestScopeRefusesBeforeItExpects sends an old version in a write that is also refused for another reason. The
// reply must have the other reason.
func TestScopeRefusesBeforeItExpects(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		in := edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=3")
		in.AuthorID = &w.Users[calendar.Author].ID
		first := w.Event(w.As(calendar.Administrator), in)
		rows := w.Occurrences(*first.SeriesID)
		w.ChangeEvent(w.As(calendar.Administrator), rows[1].ID, &edit.EventInput{AuthorID: &w.Users[calendar.Administrator].ID})
		expecting := func(role calendar.Role) *edit.Editor {
			e := w.As(role)
			e.Expect = calendar.Precondition{Some: &calendar.Versions{List: []int64{77}}}
			return e
		}
		forbidden := edittest.Describe(edit.Forbidden())
		for _, tt := range []struct {
			name string
			err  error
			want string
		}{
			{"update", w.UpdateSeries(expecting(calendar.Author), *first.SeriesID, &edit.EventInput{Title: new("x")}), forbidden},
			{"delete", w.TrashSeries(expecting(calendar.Author), *first.SeriesID), forbidden},
			{
				"rule", w.UpdateSeries(expecting(calendar.Editor), *first.SeriesID, &edit.EventInput{Rule: new("FREQ=WEEKLY;BYDAY=TH")}),
				edittest.Describe(w.UpdateSeries(w.As(calendar.Editor), *first.SeriesID, &edit.EventInput{Rule: new("FREQ=WEEKLY;BYDAY=TH")})),
			},
			{
				"version", w.UpdateSeries(expecting(calendar.Editor), *first.SeriesID, &edit.EventInput{Title: new("x")}),
				edittest.Describe(edit.PreconditionFailed()),
			},
		} {
			if got := edittest.Describe(tt.err); got != tt.want {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
		}
	})
}

// TestScopeRefusesAnyLoop drops the exceptions of a series, so that all occurrences get its parent. One occurrence
// is an ancestor of that parent, so the write must be refused.
func TestScopeRefusesAnyLoop(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		festival := w.Event(w.As(calendar.Editor), edittest.SomeEvent())
		in := edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=2")
		in.ParentID = &festival.ID
		first := w.Event(w.As(calendar.Editor), in)
		rows := w.Occurrences(*first.SeriesID)
		w.ChangeEvent(w.As(calendar.Editor), rows[1].ID, &edit.EventInput{ParentID: new(int64(0))})
		w.ChangeEvent(w.As(calendar.Editor), festival.ID, &edit.EventInput{ParentID: &rows[1].ID})
		if err := w.UpdateSeries(w.As(calendar.Editor), *first.SeriesID, &edit.EventInput{DropExceptions: true}); err == nil {
			t.Error("a loop is accepted")
		}
	})
}

// TestSeriesInAGapIsSentBack sends the stored dates of a series back to it. The clock skips its first start, and
// nothing may change.
func TestSeriesInAGapIsSentBack(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		in := edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=4")
		in.Start, in.End = edittest.Wall("2027-03-28 02:30:00"), edittest.Wall("2027-03-28 04:00:00")
		first := w.Event(w.As(calendar.Editor), in)
		for _, now := range []time.Time{edittest.Now, time.Date(2027, 4, 1, 12, 0, 0, 0, time.UTC)} {
			e := w.As(calendar.Editor)
			e.Now = now
			if err := w.UpdateSeries(e, *first.SeriesID, &edit.EventInput{Start: in.Start, End: in.End}); err != nil {
				t.Fatal(edittest.Describe(err))
			}
		}
		if s := w.DB.Series.GetX(t.Context(), *first.SeriesID); s.Version != 1 {
			t.Errorf("version %d", s.Version)
		}
	})
}

// TestSeriesLosesATranslation clears the last text of a translation of a series. The translation and its slug must
// disappear.
func TestSeriesLosesATranslation(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		first := w.Event(w.As(calendar.Editor), edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=2"))
		id := *first.SeriesID
		for _, in := range []*edit.EventInput{{Title: new("Joga"), Slug: new("joga")}, {Title: new("")}} {
			if err := w.UpdateSeries(w.AsIn(calendar.Editor, calendar.Polish), id, in); err != nil {
				t.Fatal(edittest.Describe(err))
			}
		}
		if s := w.DB.Series.GetX(t.Context(), id); s.Languages != "en" {
			t.Errorf("languages %s", s.Languages)
		}
		if n := w.DB.Slug.Query().Where(slug.OwnerID(id), slug.LanguageEQ(calendar.Polish)).CountX(t.Context()); n != 0 {
			t.Errorf("%d Polish slugs", n)
		}
		if err := w.UpdateSeries(w.As(calendar.Editor), id, &edit.EventInput{Rule: new("FREQ=WEEKLY;COUNT=3")}); err != nil {
			t.Fatal(edittest.Describe(err))
		}
		for _, row := range w.Occurrences(id) {
			if row.Languages != "en" {
				t.Errorf("occurrence %s in %s", row.OriginalStart, row.Languages)
			}
		}
	})
}
