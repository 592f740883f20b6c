package seed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/seed/picture"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

var testTime = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

func editor() *edit.Editor {
	return &edit.Editor{
		Site: calendar.Site{Zone: calendar.UTC(), Language: calendar.English}, Now: testTime, By: auth.System(),
		PasswordKey: []byte("0123456789abcdef"),
	}
}

// fake is a small seed.Calendar with a few records of each kind.
type fake struct {
	events   int
	pictures int
}

func (f fake) Options() scenario.Options {
	return scenario.Options{Scenario: "fake", Languages: calendar.Languages, Events: f.events}
}

func text(s string) scenario.Text {
	return scenario.Text{calendar.English: s, calendar.Polish: s + " pl", calendar.Spanish: s + " es"}
}

func (fake) Categories() []scenario.Term {
	return []scenario.Term{
		{SourceID: "seed:fake:category:0", Parent: -1, Name: text("Music"), Description: text("All of it")},
		{SourceID: "seed:fake:category:1", Parent: 0, Name: text("Jazz")},
	}
}

func (fake) Tags() []scenario.Term {
	return []scenario.Term{{SourceID: "seed:fake:tag:0", Parent: -1, Name: text("Free")}}
}

func (f fake) Venues() []scenario.Venue {
	out := make([]scenario.Venue, 3)
	for i := range out {
		out[i] = scenario.Venue{
			SourceID: fmt.Sprintf("seed:fake:venue:%d", i), Picture: -1, City: "Łódź",
			Name:        scenario.Text{calendar.English: "Hall", calendar.Polish: "Hall"},
			Description: text("<p>Large</p>"), Located: i > 0, Latitude: 51.77, Longitude: 19.46,
		}
	}
	if f.pictures > 0 {
		out[0].Picture = 0
	}
	return out
}

func (fake) Organizers() []scenario.Organizer {
	return []scenario.Organizer{{SourceID: "seed:fake:organizer:0", Name: text("Choir"), Picture: -1}}
}

func (f fake) Pictures() []scenario.Picture {
	var out []scenario.Picture
	for i := range f.pictures {
		out = append(out, scenario.Picture{
			SourceID: fmt.Sprintf("seed:fake:picture:%d", i), Title: "Same", Poster: picture.Poster{Motif: "leaf", Seed: uint64(i)},
		})
	}
	return out
}

func (f fake) Len() int { return f.events }

func (f fake) Event(i int) scenario.Event {
	start := calendar.WallAt(2026, 6, 1, 18, 0, 0).AddDate(0, 0, i%300)
	zone, err := calendar.ParseZone("Europe/Warsaw")
	if err != nil {
		panic(err)
	}
	v := scenario.Event{
		SourceID: fmt.Sprintf("seed:fake:event:%d", i), Parent: -1, Picture: -1,
		Title: text(fmt.Sprintf("Concert %d", i%7)), Excerpt: text("<p>Short</p>"),
		Description: text("<p>An evening of music &amp; more.</p>\n<p>Doors open at six, and there will be something " +
			"to eat and to drink for everybody.</p>"),
		Status: calendar.Publish, Published: testTime.AddDate(0, 0, -3),
		Span: calendar.Span{Start: start, End: start.Add(2 * time.Hour), Zone: zone},
		Cost: calendar.Cost{Prices: []string{"5", "10"}},

		Categories: []int{i % 2}, Tags: []int{0}, Venues: []int{i % 3}, Organizers: []int{0},
	}
	switch i % 10 {
	case 1:
		v.Status, v.Parent = calendar.Draft, i-1
	case 2:
		v.Password, v.Parent = "open", i/2
	case 3:
		v.Status, v.Published = calendar.Future, testTime.AddDate(0, 1, 0)
	}
	if f.pictures > 0 {
		v.Picture = i % f.pictures
	}
	return v
}

// Series returns an endless series, and one with an excluded, a moved and a canceled date.
func (f fake) Series() []scenario.Series {
	first := f.Event(0)
	first.SourceID, first.Title, first.Published = "seed:fake:series:0", text("Every Monday"), testTime.AddDate(0, -1, 0)
	second := first
	second.SourceID, second.Title = "seed:fake:series:1", text("Five times")
	day := func(n int) calendar.Wall { return first.Span.Start.AddDate(0, 0, n) }
	return []scenario.Series{
		{Event: first, Rule: recur.Rule{Freq: recur.FreqWeekly}},
		{
			Event: second, Rule: recur.Rule{Freq: recur.FreqDaily, Count: 5}, ExDate: []calendar.Wall{day(1)},
			Exceptions: []scenario.Exception{{Nominal: day(2), Start: day(7)}, {Nominal: day(3), Reason: text("Nobody came")}},
		},
	}
}

// writeCalendar runs a Writer. If it fails, the test fails.
func writeCalendar(t *testing.T, w Writer, c Calendar) Summary {
	t.Helper()
	s, err := w.Write(t.Context(), c)
	must.Succeed(t, err)
	return s
}

func files(t *testing.T) (*media.Dir, string) {
	t.Helper()
	name := t.TempDir()
	dir, err := media.OpenDir(name)
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
	})
	return dir, name
}

func TestWriteAndRemove(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		dir, name := files(t)
		c := fake{events: 1203, pictures: 2}
		w := Writer{Store: st, Editor: editor(), Files: dir, Workers: 3, Verify: true}
		s := writeCalendar(t, w, c)
		want := Counts{
			calendar.Category: 2, calendar.Tag: 1, calendar.Image: 2, calendar.Venue: 3, calendar.Organizer: 1,
			calendar.Event: 1203, calendar.Series: 2,
		}
		if diff := cmp.Diff(want, s.Created); diff != "" {
			t.Errorf("created (-want +got):\n%s", diff)
		}
		const occurrences = 111 + 4 // Mondays until July 2028, and four of five days
		if s.Translations != 2*(3+3+1+1203+2) || s.Occurrences != occurrences {
			t.Errorf("%d translations, %d occurrences", s.Translations, s.Occurrences)
		}
		seeded, err := CountSeeded(t.Context(), st.Ent, "fake")
		must.Succeed(t, err)
		want[calendar.Event] += occurrences
		if diff := cmp.Diff(want, seeded); diff != "" {
			t.Errorf("seeded (-want +got):\n%s", diff)
		}
		again := writeCalendar(t, w, c)
		if again.Created.Sum() != 0 || again.Found.Sum() != want.Sum()-occurrences || again.Occurrences != 0 {
			t.Errorf("the second time: %+v", again)
		}
		second := w
		second.Number = 2
		third := writeCalendar(t, second, c)
		if third.Created[calendar.Event] != 1203 || third.Created[calendar.Category] != 0 || third.Found[calendar.Tag] != 1 {
			t.Errorf("the second calendar: %+v", third)
		}

		// An event of a user, with a seeded parent and venue.
		own := writeOwnEvents(t, st)
		foreign, err := CountForeign(t.Context(), st.Ent)
		must.Succeed(t, err)
		if foreign.Sum() != 5 || foreign[calendar.Event] != 4 || foreign[calendar.Series] != 1 {
			t.Errorf("foreign %v", foreign)
		}

		made, err := series.ExtendDue(t.Context(), st.Ent, editor().Site, testTime.AddDate(0, 3, 0))
		if err != nil || made == 0 {
			t.Fatalf("%d later occurrences, %v", made, err)
		}

		gone, err := Remover{Store: st, Editor: editor(), Files: dir}.Remove(t.Context())
		must.Succeed(t, err)
		if gone[calendar.Event] != 2*(1203+occurrences)+made || gone[calendar.Series] != 4 || gone[calendar.Venue] != 6 {
			t.Errorf("gone %v", gone)
		}
		left := map[string]int{
			"events": 4, "series": 1, "series_phases": 1, "venues": 0, "organizers": 0, "terms": 0, "images": 0, "slugs": 5,
			"search_texts":       5,
			"event_translations": 0, "venue_translations": 0, "event_venues": 0, "event_terms": 0, "event_organizers": 0,
		}
		checkRowCounts(t, st, left)
		// It lost its parent, and then its venue.
		if row := st.Ent.Event.GetX(t.Context(), own.ID); row.ParentID != nil || row.Version != 3 {
			t.Errorf("the own event is %v", row)
		}
		var fields []string
		for _, c := range st.Ent.Change.Query().Where(change.KindEQ(calendar.Event), change.RecordID(own.ID)).
			Order(change.ByID()).AllX(t.Context()) {
			fields = append(fields, c.Fields...)
		}
		if !slices.Equal(fields, []string{"post_parent", "venue"}) {
			t.Errorf("the change log names %q of the own event", fields)
		}
		if list := filesBelow(t, name); len(list) > 0 {
			t.Errorf("files are left: %v", list)
		}
	})
}

// writeOwnEvents writes records that a user would: an event with a seeded parent and venue, and a series. It returns
// the event.
func writeOwnEvents(t *testing.T, st *store.Store) (own *ent.Event) {
	t.Helper()
	e := editor()
	venue := st.Ent.Venue.Query().FirstX(t.Context())
	parent := st.Ent.Event.Query().FirstX(t.Context())
	err := edit.Write(t.Context(), st.Ent, e, func(tx *ent.Tx) (err error) {
		own, err = series.CreateEvent(t.Context(), tx, e, &edit.EventInput{
			Title: new("Own"), Start: wall("2026-07-01 18:00:00"), End: wall("2026-07-01 20:00:00"),
			ParentID: &parent.ID, Venues: &[]edit.VenueRef{{ID: venue.ID}},
		})
		return err
	})
	must.Succeed(t, err)
	err = edit.Write(t.Context(), st.Ent, e, func(tx *ent.Tx) error {
		_, err := series.CreateEvent(t.Context(), tx, e, &edit.EventInput{
			Title: new("Own series"), Start: wall("2026-07-01 18:00:00"), End: wall("2026-07-01 20:00:00"),
			Rule: new("FREQ=DAILY;COUNT=3"),
		})
		return err
	})
	must.Succeed(t, err)
	return own
}

// checkRowCounts checks the numbers of rows in tables.
func checkRowCounts(t *testing.T, st *store.Store, want map[string]int) {
	t.Helper()
	for table, n := range want {
		var got int
		must.Succeed(t, st.DB.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&got))
		if got != n {
			t.Errorf("%d rows are left in %s, want %d", got, table, n)
		}
	}
}

func TestInterruptedWriteGoesOn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		c := fake{events: 1300}
		ctx, stop := context.WithCancel(t.Context())
		w := Writer{Store: st, Editor: editor(), Workers: 2, Progress: func(done, _ int) {
			if done >= 2*batchSize {
				stop()
			}
		}}
		s, err := w.Write(ctx, c)
		if !errors.Is(err, context.Canceled) || s.Created[calendar.Event] != 2*batchSize {
			t.Fatalf("interrupted: %v, %+v", err, s)
		}
		w.Progress = nil
		rest := writeCalendar(t, w, c)
		if rest.Created[calendar.Event] != 1300-2*batchSize || rest.Found[calendar.Event] != 2*batchSize {
			t.Errorf("the rest: %+v", rest)
		}
		// Parents that were written before the interruption are found.
		orphans := 0
		for _, row := range st.Ent.Event.Query().Where(event.SeriesIDIsNil()).AllX(t.Context()) {
			var i int
			if _, err := fmt.Sscanf(*row.SourceID, "seed:fake:event:%d", &i); err != nil {
				t.Fatal(err)
			}
			if v := c.Event(i); v.Parent >= 0 {
				want := fmt.Sprintf("seed:fake:event:%d", v.Parent)
				if row.ParentID == nil || *st.Ent.Event.GetX(t.Context(), *row.ParentID).SourceID != want {
					orphans++
				}
			}
		}
		if orphans > 0 {
			t.Errorf("%d events have another parent", orphans)
		}
	})
}

// interruptedCalendar is a calendar of which all but the last series is written.
type interruptedCalendar struct{ fake }

func (i interruptedCalendar) Series() []scenario.Series { return i.fake.Series()[:1] }

func TestInterruptedSeriesGoOn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		c := fake{events: 3}
		w := Writer{Store: st, Editor: editor()}
		writeCalendar(t, w, interruptedCalendar{c})
		if s := writeCalendar(t, w, c); s.Created[calendar.Series] != 1 || s.Found[calendar.Series] != 1 || s.Occurrences != 4 {
			t.Errorf("the rest: %+v", s)
		}
		storetest.DisableSeries(t, st.Ent)
		w.Number = 2
		if s := writeCalendar(t, w, c); s.Created[calendar.Event] != 3 || s.Created[calendar.Series] != 0 {
			t.Errorf("while series are switched off: %+v", s)
		}
	})
}

func TestOccurrencesOfSeededSeries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		writeCalendar(t, Writer{Store: st, Editor: editor()}, fake{events: 3})
		type occurrence struct {
			Start, Status string
			Titles        []string
			Own           []string
		}
		var got []occurrence
		for _, row := range st.Ent.Event.Query().Where(event.TitleEQ("Five times")).WithTranslations().
			Order(event.ByOriginalStart()).AllX(t.Context()) {
			o := occurrence{row.StartWall.String(), string(row.EventStatus), []string{row.Title}, row.OwnFields}
			for _, other := range row.Edges.Translations {
				o.Titles = append(o.Titles, other.Title)
			}
			slices.Sort(o.Titles)
			got = append(got, o)
		}
		titles := []string{"Five times", "Five times es", "Five times pl"}
		want := []occurrence{
			{"2026-06-01 18:00:00", "scheduled", titles, nil},
			{"2026-06-08 18:00:00", "scheduled", titles, []string{"start_date", "end_date"}},
			{"2026-06-04 18:00:00", "canceled", titles, []string{
				"event_status", "event_status_reason", "event_status_reason:pl", "event_status_reason:es",
			}},
			{"2026-06-05 18:00:00", "scheduled", titles, nil},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestWrittenIsTheSameWhateverTheWorkers(t *testing.T) {
	t.Parallel()
	var first string
	for _, workers := range []int{1, 4} {
		st := storetest.Migrated(t, storetest.SQLite(t))
		writeCalendar(t, Writer{Store: st, Editor: editor(), Workers: workers}, fake{events: 1700})
		rows := st.Ent.Event.Query().Order(ent.Asc("id")).AllX(t.Context())
		all := fmt.Sprint(rows, st.Ent.Slug.Query().Order(ent.Asc("id")).AllX(t.Context()))
		if first == "" {
			first = all
		} else if first != all {
			t.Error("rows differ")
		}
	}
}

func TestNumbersOfCalendars(t *testing.T) {
	for _, tt := range []struct {
		number Number
		want   string
	}{{0, "seed:city:event:7"}, {1, "seed:city:event:7"}, {12, "seed:city.12:event:7"}} {
		if got := tt.number.sourceID("seed:city:event:7"); got != tt.want {
			t.Errorf("calendar %d: %s, want %s", tt.number, got, tt.want)
		}
	}
}

func TestPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		zone, err := calendar.ParseZone("Europe/Warsaw")
		must.Succeed(t, err)
		o := scenario.Options{
			Scenario: "city", Seed: 1<<64 - 1, Events: 3, From: calendar.WallAt(2026, 1, 1, 0, 0, 0), Zone: zone,
			Languages: []calendar.Language{calendar.Polish}, Now: testTime,
		}
		for _, s := range []Number{1, 10, 9} {
			must.Succeed(t, PlanOf(o, s).Save(t.Context(), st.Ent))
		}
		p, ok, err := LastPlan(t.Context(), st.Ent, "city")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if !p.Same(PlanOf(o, 10)) || p.Same(PlanOf(o, 9)) || p.Complete {
			t.Errorf("last is %+v", p)
		}
		p.Complete = true
		must.Succeed(t, p.Save(t.Context(), st.Ent))
		if p, _, err = LastPlan(t.Context(), st.Ent, "city"); err != nil || !p.Complete {
			t.Errorf("saved again: %+v, %v", p, err)
		}
		back, err := p.Options()
		must.Succeed(t, err)
		if !PlanOf(back, 10).Same(PlanOf(o, 10)) || !back.Now.Equal(testTime) {
			t.Errorf("options %+v", back)
		}
		if _, ok, err := LastPlan(t.Context(), st.Ent, "cit"); ok || err != nil {
			t.Errorf("of another scenario: %t, %v", ok, err)
		}
		must.Succeed(t, forgetPlans(t.Context(), st.Ent, ""))
		if _, ok, err := LastPlan(t.Context(), st.Ent, "city"); ok || err != nil {
			t.Errorf("forgotten: %t, %v", ok, err)
		}
	})
}

// filesBelow returns the paths of all files in a directory and below.
func filesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	must.Succeed(t, err)
	return names
}

func wall(s string) *when.Date {
	w, err := calendar.ParseWall(s)
	if err != nil {
		panic(err)
	}
	return new(when.FromWall(w))
}
