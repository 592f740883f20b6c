package series_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/proof/edittest"
	"github.com/almanac-cal/almanac/proof/must"
)

// refusalOf describes an error: the parameter and reason if it concerns one parameter, or else the error code. It
// returns "" for nil.
func refusalOf(t *testing.T, err error) string {
	t.Helper()
	var invalid param.Invalid
	var refused *calendar.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &invalid) && len(invalid.Faults) == 1:
		return invalid.Faults[0].Param + " " + invalid.Faults[0].Reason
	case errors.As(err, &refused):
		return refused.Code
	}
	t.Fatal(err)
	return ""
}

// storedTexts returns the number of bytes in all titles, descriptions and excerpts of events, and in all search
// texts.
func storedTexts(t *testing.T, db *ent.Client) (n int) {
	t.Helper()
	for _, e := range db.Event.Query().Select(event.FieldTitle, event.FieldDescription, event.FieldExcerpt).AllX(t.Context()) {
		n += len(e.Title) + len(e.Description) + len(e.Excerpt)
	}
	for _, o := range db.EventTranslation.Query().
		Select(eventtranslation.FieldTitle, eventtranslation.FieldDescription, eventtranslation.FieldExcerpt).AllX(t.Context()) {
		n += len(o.Title) + len(o.Description) + len(o.Excerpt)
	}
	for _, s := range db.SearchText.Query().Select(searchtext.FieldText).AllX(t.Context()) {
		n += len(s.Text)
	}
	return n
}

// TestSeriesWritesAreBounded sends small requests whose texts would be stored in many occurrences. Those that
// would store too much must be refused.
func TestSeriesWritesAreBounded(t *testing.T) {
	const limit = 16 << 20
	words := func(n int) *string { return new("<p>" + strings.Repeat("word ", n/5) + "</p>") }
	daily := func(count string, change func(*edit.EventInput)) *edit.EventInput {
		in := edittest.WeeklyEvent("FREQ=DAILY;COUNT=" + count)
		if change != nil {
			change(in)
		}
		return in
	}
	all := func(in edit.EventInput) *edit.EventInput {
		in.Scope = edit.AllOccurrences
		return &in
	}
	// A character that search texts write as 18 others.
	const ligature = "\ufdfa"
	tests := []struct {
		name    string
		create  *edit.EventInput
		refused string
		// change is a write of the created series in a language, which is refused for want.
		change *edit.EventInput
		in     calendar.Language
		want   string
	}{
		{name: "4,000 characters on 1,000 dates", create: daily("1000", func(in *edit.EventInput) { in.Description = words(4000) })},
		{
			name:   "65 KB on 1,000 dates",
			create: daily("1000", func(in *edit.EventInput) { in.Description = words(65_000) }), refused: "rrule too-many-occurrences",
		},
		{
			name:   "an excerpt of 65 KB on 1,000 dates",
			create: daily("1000", func(in *edit.EventInput) { in.Excerpt = words(65_000) }), refused: "rrule too-many-occurrences",
		},
		{
			name:    "a text that grows when it is folded",
			create:  daily("1000", func(in *edit.EventInput) { in.Description = new(strings.Repeat(ligature, 600)) }),
			refused: "rrule too-many-occurrences",
		},
		{name: "65 KB on 100 dates", create: daily("100", func(in *edit.EventInput) { in.Description = words(65_000) })},
		{name: "65 KB for one date", create: daily("1", func(in *edit.EventInput) { in.Description = words(1 << 20) })},
		{
			name: "a long description for all", create: daily("1000", nil),
			change: all(edit.EventInput{Description: words(65_000)}), want: "description rest_out_of_bounds",
		},
		{
			name: "a long excerpt for all", create: daily("1000", nil),
			change: all(edit.EventInput{Excerpt: words(65_000), Title: new("T")}), want: "excerpt rest_out_of_bounds",
		},
		{
			name: "a long translation for all", create: daily("1000", nil), in: calendar.Polish,
			change: all(edit.EventInput{Description: words(65_000)}), want: "description rest_out_of_bounds",
		},
		{
			name: "a short translation of long texts", in: calendar.Polish,
			create: daily("1000", func(in *edit.EventInput) { in.Description = words(7000) }),
			change: all(edit.EventInput{Title: new("Tytuł")}),
		},
		{
			name: "more dates of a long text", create: daily("10", func(in *edit.EventInput) { in.Description = words(65_000) }),
			change: all(edit.EventInput{Rule: new("FREQ=DAILY;COUNT=900")}), want: "rrule too-many-occurrences",
		},
		{
			name: "a text and dates together", create: daily("100", nil),
			change: all(edit.EventInput{Rule: new("FREQ=DAILY;COUNT=900"), Description: words(65_000)}), want: "rrule too-many-occurrences",
		},
		{
			name:   "a title for all of what is as large as it may be",
			create: daily("1000", func(in *edit.EventInput) { in.Description = words(7000) }),
			change: all(edit.EventInput{Title: new("Renamed")}),
		},
		{
			name:   "to the trash with all of what is as large as it may be",
			create: daily("1000", func(in *edit.EventInput) { in.Description = words(7000) }),
			change: all(edit.EventInput{Status: new(calendar.Trash)}),
		},
	}
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		w.Logged = false
		for _, tt := range tests {
			if w.Brief && tt.refused == "" && tt.want == "" {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				before := storedTexts(t, w.DB)
				row, err := w.CreateEvent(w.As(calendar.Editor), tt.create)
				if got := refusalOf(t, err); got != tt.refused {
					t.Fatalf("create: %q, want %q", got, tt.refused)
				}
				if tt.change != nil {
					e := w.As(calendar.Editor)
					e.Write = tt.in
					_, err := w.UpdateEvent(e, row.ID, tt.change)
					if got := refusalOf(t, err); got != tt.want {
						t.Fatalf("change: %q, want %q", got, tt.want)
					}
				}
				if grown := storedTexts(t, w.DB) - before; grown > 2*limit {
					t.Errorf("%d bytes are stored", grown)
				}
			})
		}
	})
}

// TestSeriesBudgets stores occurrences again and again until the hourly budget of a user is spent.
func TestSeriesBudgets(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		w.Logged = false
		type write struct {
			at    time.Duration
			dates string
			want  string
		}
		for _, tt := range []struct {
			role   calendar.Role
			writes []write
		}{
			{calendar.Contributor, []write{
				{0, "1000", ""},
				{0, "1000", ""},
				{0, "2", "rest_too_many_requests"},
				{0, "", ""},
				{time.Minute, "34", "rest_too_many_requests"},
				{time.Minute, "33", ""},
				{time.Hour, "1000", ""},
			}},
			{calendar.Author, []write{{0, "1000", ""}, {0, "1000", ""}, {0, "1000", ""}}},
		} {
			t.Run(string(tt.role), func(t *testing.T) {
				e := w.As(tt.role) // As refills the budgets
				for i, s := range tt.writes {
					e.Now = edittest.Now.Add(s.at)
					in := edittest.WeeklyEvent("FREQ=DAILY;COUNT=" + s.dates)
					if s.dates == "" {
						in.Rule = nil
					}
					_, err := w.CreateEvent(e, in)
					if diff := cmp.Diff(s.want, refusalOf(t, err)); diff != "" {
						t.Errorf("write %d (-want +got):\n%s", i, diff)
					}
					var refused *calendar.Error
					if errors.As(err, &refused) && (refused.Retry <= 0 || refused.Retry > time.Hour) {
						t.Errorf("write %d: retry after %s", i, refused.Retry)
					}
				}
			})
		}
		t.Run("long texts count as occurrences", func(t *testing.T) {
			e := w.As(calendar.Contributor)
			row, err := w.CreateEvent(e, edittest.WeeklyEvent("FREQ=DAILY;COUNT=100"))
			must.Succeed(t, err)
			refused := 0
			for i := range 5 {
				text := strings.Repeat(string(rune('a'+i))+" ", 35_000)
				_, err := w.UpdateEvent(e, row.ID, &edit.EventInput{Description: &text, Scope: edit.AllOccurrences})
				if got := refusalOf(t, err); got == "rest_too_many_requests" {
					refused++
				} else if got != "" {
					t.Fatal(got)
				}
			}
			if refused == 0 {
				t.Error("a contributor stores 70 MB within an hour")
			}
		})
	})
}

// TestSearchTextsAreBounded stores a description whose folded form is eleven times as long. Its search text is
// cut, and searches find its beginning.
func TestSearchTextsAreBounded(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		for _, rule := range []string{"", "FREQ=DAILY;COUNT=1"} {
			in := edittest.SomeEvent()
			if rule != "" {
				in = edittest.WeeklyEvent(rule)
			}
			in.Description = new("lantern " + strings.Repeat("\ufdfa", 340_000)) // a character that is folded into 18 others
			row := w.Event(w.As(calendar.Author), in)
			// A title in a further language copies the description.
			update := &edit.EventInput{Title: new("Tytuł")}
			if rule != "" {
				update.Scope = edit.AllOccurrences
			}
			w.ChangeEvent(w.AsIn(calendar.Editor, calendar.Polish), row.ID, update)
			stored := w.DB.SearchText.Query().Where(searchtext.KindEQ(calendar.Event), searchtext.OwnerID(row.ID)).AllX(t.Context())
			if len(stored) != 2 {
				t.Fatalf("%d search texts", len(stored))
			}
			for _, s := range stored {
				if len(s.Text) > 4<<20 || len(s.Text) < 3<<20 || !strings.Contains(s.Text, "lantern") || !utf8.ValidString(s.Text) {
					t.Errorf("a search text of %d bytes", len(s.Text))
				}
			}
		}
	})
}

// TestWithdrawalsOfDeepCategoriesAreBounded trashes a series whose category has very many ancestors.
func TestWithdrawalsOfDeepCategoriesAreBounded(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		deepest := int64(0)
		for i := range 120 {
			deepest = w.Term(w.As(calendar.Author), calendar.Category, "C"+strconv.Itoa(i), deepest).ID
		}
		in := edittest.WeeklyEvent("FREQ=DAILY;COUNT=3")
		in.Categories = &[]edit.TermRef{{ID: deepest}}
		row := w.Event(w.As(calendar.Author), in)
		must.Succeed(t, w.TrashSeries(w.As(calendar.Author), *row.SeriesID))
		if n := w.DB.WithdrawalKey.Query().CountX(t.Context()); n != 300 {
			t.Errorf("%d keys of three occurrences, want 100 of each", n)
		}
	})
}
