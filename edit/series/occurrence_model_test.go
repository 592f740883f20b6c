package series_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/proof/edittest"
	"github.com/almanac-cal/almanac/proof/occurrencemodel"
)

// TestSeriesAgreeWithAModel makes random writes to single events of series, and lets time pass. After each write,
// it compares the database with a simple model in memory.
func TestSeriesAgreeWithAModel(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		w.Logged = false // too slow for so many writes
		seeds := uint64(3)
		if w.Brief {
			seeds = 1
		}
		for seed := range seeds {
			run := newOccurrenceRun(t, w, seed)
			for step := range 60 {
				run.step(step)
			}
		}
	})
}

// occurrenceWrites are the kinds of writes. Each draws one, makes it in the database and in the model, and returns its description.
// It returns "" if there is no event for it.
var occurrenceWrites = []func(r *occurrenceRun) string{
	(*occurrenceRun).createSeries, (*occurrenceRun).setTitle, (*occurrenceRun).setPolishTitle, (*occurrenceRun).move,
	(*occurrenceRun).takeOut, (*occurrenceRun).makeRecurring, (*occurrenceRun).trash, (*occurrenceRun).restore,
	(*occurrenceRun).remove, (*occurrenceRun).setState, (*occurrenceRun).passTime,
}

// occurrenceRun has a calendar both in the database and in the model, and makes random writes to both.
type occurrenceRun struct {
	*testing.T
	*rand.Rand
	world       *edittest.World
	model       *occurrencemodel.Calendar
	versions    map[int64]int64 // versions of events, by id
	otherSeries int             // number of series that earlier runs stored
	number      int             // number of the current step
}

func newOccurrenceRun(t *testing.T, w *edittest.World, seed uint64) *occurrenceRun {
	t.Helper()
	r := &occurrenceRun{
		T: t, Rand: rand.New(rand.NewPCG(seed, 20)), world: w, versions: map[int64]int64{},
		otherSeries: w.DB.Series.Query().CountX(t.Context()),
	}
	r.model = &occurrencemodel.Calendar{
		Now: edittest.Now, Zone: edittest.Site(t).Zone.Location(), Series: map[int64]*occurrencemodel.Series{},
		Events: map[int64]occurrencemodel.Event{}, IDOf: r.idOf,
	}
	return r
}

func (r *occurrenceRun) step(number int) {
	r.Helper()
	r.number = number
	before := maps.Clone(r.model.Events)
	what := occurrenceWrites[r.IntN(len(occurrenceWrites))](r)
	if what == "" {
		return
	}
	where := fmt.Sprintf("step %d, %s", number, what)
	r.compareEvents(where, before)
	r.compareSeries(where)
}

func (r *occurrenceRun) compareEvents(where string, before map[int64]occurrencemodel.Event) {
	r.Helper()
	stored := map[int64]occurrencemodel.Event{}
	ids := slices.Collect(maps.Keys(r.model.Events))
	for _, row := range r.world.DB.Event.Query().Where(event.IDIn(ids...)).AllX(r.Context()) {
		stored[row.ID] = modelEvent(row)
		old := r.versions[row.ID]
		r.versions[row.ID] = row.Version
		if row.Version < old {
			r.Errorf("%s: version of %d falls from %d to %d", where, row.ID, old, row.Version)
		}
		if e, existed := before[row.ID]; existed && e == r.model.Events[row.ID] && row.Version > old+1 {
			r.Errorf("%s: version of %d rises by more than a write", where, row.ID)
		}
	}
	if diff := cmp.Diff(r.model.Events, stored); diff != "" {
		r.Fatalf("%s: events (-model +stored)\n%s", where, diff)
	}
}

// modelEvent converts an event of the database to the form of the model.
func modelEvent(row *ent.Event) occurrencemodel.Event {
	e := occurrencemodel.Event{
		Own: strings.Join(row.OwnFields, " "), Title: row.Title, Start: row.StartWall.String(), Status: row.Status, State: row.EventStatus,
	}
	if row.SeriesID != nil {
		e.Series, e.Nominal = *row.SeriesID, row.OriginalStart.String()
	}
	return e
}

func (r *occurrenceRun) compareSeries(where string) {
	r.Helper()
	db := r.world.DB
	if n := db.Series.Query().CountX(r.Context()) - r.otherSeries; n != len(r.model.Series) {
		r.Fatalf("%s: %d series, want %d", where, n, len(r.model.Series))
	}
	for id, s := range r.model.Series {
		if n := db.Event.Query().Where(event.SeriesID(id)).CountX(r.Context()); n != r.model.Count(id) {
			r.Fatalf("%s: series %d has %d occurrences, want %d", where, id, n, r.model.Count(id))
		}
		var exdate []string
		for _, at := range db.SeriesPhase.Query().Where(seriesphase.SeriesID(id)).OnlyX(r.Context()).Exdate {
			exdate = append(exdate, at.String())
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(s.ExDate)), exdate); diff != "" {
			r.Fatalf("%s: exdate of series %d (-model +stored)\n%s", where, id, diff)
		}
		if v := db.Series.GetX(r.Context(), id).Version; v != s.Version {
			r.Fatalf("%s: series %d has version %d, want %d", where, id, v, s.Version)
		}
	}
}

// idOf returns the id of the stored occurrence that a series has at a nominal start.
func (r *occurrenceRun) idOf(series int64, nominal string) int64 {
	r.Helper()
	at := calendar.WallOf(clockTime(r.T, nominal))
	row, err := r.world.DB.Event.Query().Where(event.SeriesID(series), event.OriginalStart(at)).Only(r.Context())
	if err != nil {
		r.Fatalf("series %d has no occurrence at %s: %v", series, nominal, err)
	}
	return row.ID
}

// clockTime parses a wall time. It returns it as a time in UTC, which is how the model represents wall times.
func clockTime(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.DateTime, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func (r *occurrenceRun) editor() *edit.Editor {
	e := r.world.As(calendar.Editor)
	e.Now = r.model.Now
	return e
}

// pick returns the id of a random event for which fits returns true. It returns 0 if there is none.
func (r *occurrenceRun) pick(fits func(occurrencemodel.Event) bool) int64 {
	var ids []int64
	for _, id := range slices.Sorted(maps.Keys(r.model.Events)) {
		if fits(r.model.Events[id]) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return 0
	}
	return ids[r.IntN(len(ids))]
}

func isLive(e occurrencemodel.Event) bool       { return e.Status != calendar.Trash }
func isOccurrence(e occurrencemodel.Event) bool { return isLive(e) && e.Series != 0 }
func isSingle(e occurrencemodel.Event) bool     { return isLive(e) && e.Series == 0 }

// drawRule returns a random rule, with COUNT or UNTIL in two of three cases. The day of start is one of its
// starts.
func (r *occurrenceRun) drawRule(start time.Time) *occurrencemodel.Rule {
	rule := occurrencemodel.Rules[r.IntN(len(occurrencemodel.Rules))]
	switch r.IntN(3) {
	case 0:
		rule.Count = 1 + r.IntN(12)
		rule.Text += fmt.Sprintf(";COUNT=%d", rule.Count)
	case 1:
		rule.Until = start.AddDate(0, 0, r.IntN(200)).Add(5 * time.Hour)
		rule.Text += ";UNTIL=" + rule.Until.Format("20060102T150405")
	}
	return &rule
}

func (r *occurrenceRun) createSeries() string {
	r.Helper()
	now := r.model.Now
	start := time.Date(2026, now.Month(), now.Day()+r.IntN(30), 18, 0, 0, 0, time.UTC).AddDate(now.Year()-2026, 0, 0)
	s := &occurrencemodel.Series{Title: fmt.Sprintf("Series %d", r.number), Start: start, ExDate: map[string]bool{}}
	in := &edit.EventInput{
		Title: &s.Title, Start: edittest.Wall(start.Format(time.DateTime)), End: edittest.Wall(start.Add(2 * time.Hour).Format(time.DateTime)),
	}
	what := "create"
	if r.IntN(4) > 0 {
		s.Rule = r.drawRule(start)
		in.Rule = &s.Rule.Text
		what += " " + s.Rule.Text
	}
	for range r.IntN(3) {
		s.RDate = append(s.RDate, start.AddDate(0, 0, r.IntN(40)).Add(time.Hour))
	}
	if s.Rule == nil && s.RDate == nil {
		return ""
	}
	in.RDate = scheduleDates(s.RDate)
	if all := r.model.AllStarts(s); len(all) > 1 && r.IntN(2) == 0 {
		out := all[1+r.IntN(len(all)-1)]
		s.ExDate[out] = true
		in.ExDate = scheduleDates([]time.Time{clockTime(r.T, out)})
	}
	first := r.world.Event(r.editor(), in)
	r.model.AddSeries(*first.SeriesID, s)
	if want, got := r.model.AllStarts(s)[0], r.model.Events[first.ID]; got.Nominal != want {
		r.Fatalf("step %d, %s: answered %+v, want the occurrence of %s", r.number, what, got, want)
	}
	return what
}

// scheduleDates converts dates of the model to the form that the input of a write has.
func scheduleDates(dates []time.Time) *[]recur.Date {
	out := []recur.Date{}
	for _, at := range dates {
		out = append(out, recur.Date{Wall: calendar.WallOf(at)})
	}
	return &out
}

func (r *occurrenceRun) setTitle() string {
	r.Helper()
	id := r.pick(isLive)
	if id == 0 {
		return ""
	}
	title := []string{r.model.Events[id].Title, "Other", "Third"}[r.IntN(3)] // may be the stored one
	r.world.ChangeEvent(r.editor(), id, &edit.EventInput{Title: &title})
	r.model.SetTitle(id, title)
	return "title " + title
}

func (r *occurrenceRun) setPolishTitle() string {
	r.Helper()
	id := r.pick(isOccurrence)
	if id == 0 {
		return ""
	}
	polish := r.editor()
	polish.Write = calendar.Polish
	r.world.ChangeEvent(polish, id, &edit.EventInput{Title: new("Po polsku")})
	r.model.SetPolishTitle(id)
	return "title in Polish"
}

func (r *occurrenceRun) move() string {
	r.Helper()
	id := r.pick(isLive)
	if id == 0 {
		return ""
	}
	old := clockTime(r.T, r.model.Events[id].Start)
	start := old.Add(time.Duration(1+r.IntN(5)) * time.Hour).Format(time.DateTime)
	r.world.ChangeEvent(r.editor(), id, &edit.EventInput{Start: edittest.Wall(start), EventValues: ent.EventValues{Featured: new(true)}})
	r.model.SetStart(id, start)
	// An occurrence may be featured already, as the event was that its series was made of.
	if row := r.world.DB.Event.GetX(r.Context(), id); slices.Contains(row.OwnFields, "featured") {
		r.model.SetFeatured(id)
	}
	return "move"
}

func (r *occurrenceRun) takeOut() string {
	r.Helper()
	id := r.pick(isOccurrence)
	if id == 0 {
		return ""
	}
	r.world.ChangeEvent(r.editor(), id, &edit.EventInput{Rule: new("")})
	r.model.TakeOut(id)
	return "take out"
}

func (r *occurrenceRun) makeRecurring() string {
	r.Helper()
	id := r.pick(isSingle)
	if id == 0 {
		return ""
	}
	start := clockTime(r.T, r.model.Events[id].Start)
	s := &occurrencemodel.Series{Start: start, ExDate: map[string]bool{}, Rule: r.drawRule(start)}
	if n := len(r.model.AllStarts(s)); n == 0 || n > 1000 {
		return ""
	}
	row := r.world.ChangeEvent(r.editor(), id, &edit.EventInput{Rule: &s.Rule.Text})
	r.model.MakeRecurring(id, *row.SeriesID, s)
	return "series of an event " + s.Rule.Text
}

func (r *occurrenceRun) trash() string {
	r.Helper()
	id := r.pick(isLive)
	if id == 0 {
		return ""
	}
	if _, err := r.world.TrashEvent(r.editor(), id); err != nil {
		r.Fatal(err)
	}
	r.model.Trash(id)
	return "trash"
}

func (r *occurrenceRun) restore() string {
	r.Helper()
	id := r.pick(func(e occurrencemodel.Event) bool { return !isLive(e) })
	if id == 0 {
		return ""
	}
	r.world.ChangeEvent(r.editor(), id, &edit.EventInput{Status: new(calendar.Publish)})
	r.model.Restore(id)
	return "restore"
}

func (r *occurrenceRun) remove() string {
	r.Helper()
	id := r.pick(func(occurrencemodel.Event) bool { return true })
	if id == 0 {
		return ""
	}
	r.world.RemoveEvents(r.world.As(calendar.Administrator), id)
	r.model.Remove(id)
	delete(r.versions, id)
	return "remove"
}

func (r *occurrenceRun) setState() string {
	r.Helper()
	id := r.pick(isLive)
	if id == 0 {
		return ""
	}
	// It may be the stored one.
	state := []calendar.EventStatus{calendar.Scheduled, calendar.Canceled, calendar.Postponed}[r.IntN(3)]
	r.world.ChangeEvent(r.editor(), id, &edit.EventInput{EventValues: ent.EventValues{EventStatus: &state}})
	r.model.SetState(id, state)
	return "state " + string(state)
}

func (r *occurrenceRun) passTime() string {
	r.Helper()
	r.model.Now = r.model.Now.AddDate(0, 0, r.IntN(90))
	if _, err := series.ExtendDue(r.Context(), r.world.DB, edittest.Site(r.T), r.model.Now); err != nil {
		r.Fatal(err)
	}
	r.model.Extend()
	return "clock to " + r.model.Now.Format(time.DateTime)
}
