package series_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/proof/edittest"
	"github.com/almanac-cal/almanac/proof/scopemodel"
)

var scopeSeeds = flag.Int("scope-seeds", 12, "series that TestScopesAgreeWithAModel writes to")

// TestScopesAgreeWithAModel makes random writes to series with all scopes. After each write, it compares the
// database with a simple model in memory.
func TestScopesAgreeWithAModel(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		w.Logged = false // too slow for so many writes
		accepted, refused := 0, 0
		for seed := range uint64(*scopeSeeds) {
			run := newScopeRun(t, w, seed)
			for step := range 25 {
				run.step(step)
			}
			accepted, refused = accepted+run.accepted, refused+run.refused
		}
		t.Logf("%d writes, %d refused", accepted, refused)
		if refused > accepted {
			t.Errorf("%d of %d writes were refused", refused, accepted+refused)
		}
	})
}

// scopeRun has a series both in the database and in the model, and makes random writes to both.
type scopeRun struct {
	*testing.T
	*rand.Rand
	world    *edittest.World
	seed     uint64
	now      time.Time
	id       int64 // id of the series
	model    scopemodel.Series
	accepted int
	refused  int
}

// newScopeRun stores a series with a random rule.
func newScopeRun(t *testing.T, w *edittest.World, seed uint64) *scopeRun {
	t.Helper()
	r := &scopeRun{T: t, Rand: rand.New(rand.NewPCG(seed, 21)), world: w, seed: seed, now: edittest.Now}
	p := scopemodel.Phase{Rule: r.drawRule(), ExDate: map[time.Time]bool{}, Title: "A"}
	p.Start = time.Date(2026, 6, 16+r.IntN(4), 18, 0, 0, 0, time.UTC)
	in := &edit.EventInput{
		Title: new("A"), Rule: new(ruleText(p.Rule)),
		Start: edittest.Wall(p.Start.Format(time.DateTime)), End: edittest.Wall(p.Start.Add(time.Hour).Format(time.DateTime)),
	}
	if r.IntN(2) == 0 {
		p.RDate = []time.Time{p.Start.AddDate(0, 0, 3).Add(time.Hour)}
		in.RDate = scheduleDates(p.RDate)
	}
	r.id = *w.Event(r.editor(), in).SeriesID
	r.model = scopemodel.Series{Phases: []scopemodel.Phase{p}, Events: r.read()}
	return r
}

func (r *scopeRun) editor() *edit.Editor {
	e := r.world.As(calendar.Editor)
	e.Now = r.now
	return e
}

func (r *scopeRun) drawRule() scopemodel.Rule {
	units := []string{scopemodel.Daily, scopemodel.Weekly, scopemodel.Monthly}
	return scopemodel.Rule{Unit: units[r.IntN(3)], Every: 1 + r.IntN(2), Count: 1 + r.IntN(8)}
}

func ruleText(p scopemodel.Rule) string {
	return fmt.Sprintf("FREQ=%s;INTERVAL=%d;COUNT=%d", p.Unit, p.Every, p.Count)
}

// step makes a random write to the database and to the model, and compares them. Sometimes there is no possible
// write.
func (r *scopeRun) step(number int) {
	r.Helper()
	if r.IntN(4) == 0 {
		r.now = r.now.AddDate(0, 0, r.IntN(6))
	}
	// The clock of Warsaw in summer. In winter the distance is less, which no start is near to.
	r.model.Now = r.now.Add(2 * time.Hour)
	write, possible := r.drawWrite()
	if !possible {
		return
	}
	in, possible := r.drawInput(&write)
	if !possible {
		return
	}
	where := fmt.Sprintf("seed %d, step %d, %s: %s", r.seed, number, r.model.Now.Format(time.DateTime), write)
	want, wantErr := r.model.After(write)
	before := r.versions()
	err := r.send(write, in)
	if (err != nil) != (wantErr != nil) {
		r.Fatalf("%s: error %v, the model says %v\nphases %v\nmodel %v",
			where, edittest.Describe(err), wantErr, r.world.Phases(r.id), r.model.Phases)
	}
	stored := r.read()
	if err != nil {
		r.refused++
		if diff := cmp.Diff(r.model.Events, stored); diff != "" {
			r.Fatalf("%s is refused, and changes\n%s", where, diff)
		}
		return
	}
	r.accepted++
	giveIDs(want.Events, stored)
	if diff := cmp.Diff(want.Events, stored); diff != "" {
		r.Fatalf("%s: occurrences (-model +stored)\n%s\nphases %v", where, diff, r.world.Phases(r.id))
	}
	for id, version := range r.versions() {
		old, existed := r.model.Events[id]
		if rise := version - before[id]; existed && (rise > 1 || rise == 0 && old != stored[id]) {
			r.Fatalf("%s: version of %d rises by %d", where, id, rise)
		}
	}
	r.model = want
}

// drawWrite chooses a random action, scope and occurrence. The result possible is false if the write would be
// refused for reasons that the model does not know.
func (r *scopeRun) drawWrite() (w scopemodel.Write, possible bool) {
	ids := slices.Sorted(maps.Keys(r.model.Events))
	w = scopemodel.Write{
		Action: []scopemodel.Action{
			scopemodel.SetTitle, scopemodel.SetTitle, scopemodel.Move, scopemodel.Move, scopemodel.SetRule, scopemodel.SetRule,
			scopemodel.SetExDate, scopemodel.SetRDate, scopemodel.Delete, scopemodel.Restore,
		}[r.IntN(10)],
		Scope: []scopemodel.Scope{scopemodel.This, scopemodel.Following, scopemodel.All}[r.IntN(3)],
		ID:    ids[r.IntN(len(ids))], Title: string(rune('A' + r.IntN(5))), Rule: r.drawRule(), Drop: r.IntN(6) == 0,
	}
	if w.Scope == scopemodel.All && r.IntN(3) == 0 {
		w.ID = 0
	}
	isTrashed := r.model.Events[w.ID].Trashed
	switch {
	case w.Action == scopemodel.Restore && r.model.Trashed:
		w.ID, w.Scope, w.Drop = 0, scopemodel.All, false
	case w.Action == scopemodel.Restore && isTrashed:
		w.Scope = scopemodel.This
	case w.Action == scopemodel.Restore, w.Action == scopemodel.Delete && w.Scope == scopemodel.All && r.IntN(3) > 0, r.model.Trashed:
		return w, false
	case isTrashed && (w.Action == scopemodel.Delete || w.Scope == scopemodel.This && w.Action != scopemodel.SetTitle):
		return w, false
	}
	if w.Scope != scopemodel.This {
		return w, true
	}
	w.Drop = false
	return w, !slices.Contains([]scopemodel.Action{scopemodel.SetRule, scopemodel.SetExDate, scopemodel.SetRDate}, w.Action)
}

// drawInput chooses random values for a write. It sets them in w for the model, and returns them for the
// database. The result possible is false if nothing would change, or if a start is near a change of the clock.
func (r *scopeRun) drawInput(w *scopemodel.Write) (in *edit.EventInput, possible bool) {
	in = &edit.EventInput{Scope: edit.Scope(w.Scope), DropExceptions: w.Drop}
	addressed := r.model.Phases[len(r.model.Phases)-1]
	start := addressed.Start
	if w.ID != 0 {
		e := r.model.Events[w.ID]
		addressed, start = r.model.Phases[scopemodel.PhaseOf(r.model.Phases, e.Nominal)], e.Start
	}
	switch w.Action {
	case scopemodel.SetTitle:
		in.Title = &w.Title
	case scopemodel.Move:
		const day = 24 * time.Hour
		w.By = []time.Duration{time.Hour, -time.Hour, day, -day, 7 * day, -7 * day, 12 * day}[r.IntN(7)]
		start = start.Add(w.By)
		in.Start = edittest.Wall(start.Format(time.DateTime))
		return in, start.Hour() >= 3
	case scopemodel.SetRule:
		in.Rule = new(ruleText(w.Rule))
		return in, w.Rule != addressed.Rule
	case scopemodel.SetExDate:
		w.Dates = r.drawDates(addressed.Starts(), func(at time.Time) time.Time { return at })
		in.ExDate = scheduleDates(w.Dates)
		return in, !slices.Equal(w.Dates, slices.SortedFunc(maps.Keys(addressed.ExDate), time.Time.Compare))
	case scopemodel.SetRDate:
		w.Dates = r.drawDates(addressed.Starts(), func(at time.Time) time.Time { return at.AddDate(0, 0, 1+r.IntN(5)).Add(2 * time.Hour) })
		in.RDate = scheduleDates(w.Dates)
		return in, !slices.Equal(w.Dates, addressed.RDate)
	case scopemodel.Restore:
		in.Status = new(calendar.Publish)
	}
	return in, true
}

// drawDates returns up to two random dates. The function dateOf makes a date from a random start.
func (r *scopeRun) drawDates(starts []time.Time, dateOf func(time.Time) time.Time) (dates []time.Time) {
	for range r.IntN(3) {
		if at := dateOf(starts[r.IntN(len(starts))]); !slices.Contains(dates, at) {
			dates = append(dates, at)
		}
	}
	slices.SortFunc(dates, time.Time.Compare)
	return dates
}

// send makes a write in the database. It returns the error if the write is refused, and fails the test for any
// other error.
func (r *scopeRun) send(w scopemodel.Write, in *edit.EventInput) (err error) {
	r.Helper()
	e := r.editor()
	switch {
	case w.Action == scopemodel.Delete && w.ID == 0:
		err = r.world.TrashSeries(e, r.id)
	case w.Action == scopemodel.Delete && w.Scope == scopemodel.This:
		_, err = r.world.TrashEvent(e, w.ID)
	case w.Action == scopemodel.Delete:
		err = r.world.TrashOccurrences(e, w.ID, in.Scope)
	case w.ID == 0:
		err = r.world.UpdateSeries(e, r.id, in)
	default:
		_, err = r.world.UpdateEvent(e, w.ID, in)
	}
	var invalid param.Invalid
	var refusal *calendar.Error
	if err != nil && !errors.As(err, &invalid) && !errors.As(err, &refusal) {
		r.Fatalf("seed %d: %s: %v", r.seed, w, err)
	}
	return err
}

// rows returns the stored occurrences of the series.
func (r *scopeRun) rows() []*ent.Event {
	return r.world.DB.Event.Query().Where(event.SeriesID(r.id)).AllX(r.Context())
}

// read returns the stored occurrences in the form of the model, by id.
func (r *scopeRun) read() map[int64]scopemodel.Event {
	r.Helper()
	events := map[int64]scopemodel.Event{}
	for _, row := range r.rows() {
		events[row.ID] = scopemodel.Event{
			Nominal: clockTime(r.T, row.OriginalStart.String()), Start: clockTime(r.T, row.StartWall.String()), Title: row.Title,
			Own: strings.Join(row.OwnFields, " "), Trashed: row.Status == calendar.Trash, OffSchedule: row.OffSchedule,
		}
	}
	return events
}

// versions returns the versions of the stored occurrences by id.
func (r *scopeRun) versions() map[int64]int64 {
	out := map[int64]int64{}
	for _, row := range r.rows() {
		out[row.ID] = row.Version
	}
	return out
}

// giveIDs replaces the temporary ids of new occurrences in the model by the ids of the stored ones.
func giveIDs(model, stored map[int64]scopemodel.Event) {
	for id, e := range stored {
		if _, known := model[id]; known {
			continue
		}
		for newID, f := range maps.Clone(model) {
			if newID < 0 && f.Nominal.Equal(e.Nominal) {
				delete(model, newID)
				model[id] = f
			}
		}
	}
}
