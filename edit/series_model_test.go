package edit_test

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
)

// The model keeps series in maps and finds their dates by walking days. It shares no code with what it is compared with.
type (
	modelRule struct {
		text    string
		named   func(start, day time.Time) bool
		count   int       // 0: no limit
		until   time.Time // zero: no limit
		endless bool
	}
	modelSeries struct {
		start     time.Time // clock time, as if in UTC
		rule      *modelRule
		rdate     []time.Time
		exdate    map[string]bool
		generated time.Time
		version   int64
	}
	modelEvent struct {
		Series  int64
		Nominal string
		Own     string
		Title   string
		Start   string
		Status  calendar.Status
		State   calendar.EventStatus
	}
	model struct {
		now    time.Time
		series map[int64]*modelSeries
		events map[int64]modelEvent
	}
)

const clock = "2006-01-02 15:04:05"

// modelRules makes rules that name the day of the start.
func modelRules(r *rand.Rand, start time.Time) *modelRule {
	days := func(start, day time.Time) int { return int(day.Sub(start).Hours()) / 24 }
	rules := []modelRule{
		{text: "FREQ=DAILY;INTERVAL=9", named: func(s, d time.Time) bool { return days(s, d)%9 == 0 }},
		{text: "FREQ=WEEKLY", named: func(s, d time.Time) bool { return days(s, d)%7 == 0 }},
		{
			text:  "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE,FR,SA,SU,TU,TH",
			named: func(s, d time.Time) bool { return (days(s, d)+(int(s.Weekday())+6)%7)/7%2 == 0 },
		},
		{text: "FREQ=MONTHLY", named: func(s, d time.Time) bool { return s.Day() == d.Day() }},
		{text: "FREQ=YEARLY", named: func(s, d time.Time) bool { return s.Day() == d.Day() && s.Month() == d.Month() }},
	}
	rule := rules[r.IntN(len(rules))]
	switch r.IntN(3) {
	case 0:
		rule.count = 1 + r.IntN(12)
		rule.text += fmt.Sprintf(";COUNT=%d", rule.count)
	case 1:
		rule.until = start.AddDate(0, 0, r.IntN(200)).Add(5 * time.Hour)
		rule.text += ";UNTIL=" + rule.until.Format("20060102T150405")
	default:
		rule.endless = true
	}
	return &rule
}

// starts returns the nominal starts after a time and not after another one.
func (s *modelSeries) starts(after, last time.Time) []string {
	found := map[string]bool{}
	add := func(at time.Time) {
		if at.After(after) && !at.After(last) && !s.exdate[at.Format(clock)] {
			found[at.Format(clock)] = true
		}
	}
	n := 0
	if s.rule == nil {
		add(s.start)
	} else {
		for at := s.start; !at.After(last); at = at.AddDate(0, 0, 1) {
			if s.rule.count > 0 && n == s.rule.count || !s.rule.until.IsZero() && at.After(s.rule.until) {
				break
			}
			if s.rule.named(s.start, at) {
				add(at)
				n++
			}
		}
	}
	for _, at := range s.rdate {
		add(at)
	}
	return slices.Sorted(maps.Keys(found))
}

// horizon returns the time up to which a write at now stores occurrences, on the clock of Warsaw.
func (m *model) horizon(s *modelSeries) time.Time {
	if s.rule == nil || !s.rule.endless {
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	warsaw, err := time.LoadLocation("Europe/Warsaw")
	if err != nil {
		panic(err)
	}
	local := m.now.In(warsaw)
	y, mo, d := local.Date()
	return time.Date(y, mo+25, d, local.Hour(), local.Minute(), local.Second(), 0, time.UTC)
}

func TestSeriesAgreeWithAModel(t *testing.T) {
	t.Parallel()
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		w.Logged = false // too slow for so many writes
		seeds := uint64(3)
		if w.Brief {
			seeds = 1
		}
		for seed := range seeds {
			runModel(t, w, rand.New(rand.NewPCG(seed, 20)))
		}
	})
}

func runModel(t *testing.T, w *edittest.World, r *rand.Rand) {
	t.Helper()
	m := &model{now: edittest.Now, series: map[int64]*modelSeries{}, events: map[int64]modelEvent{}}
	versions := map[int64]int64{}
	others := w.DB.Series.Query().CountX(t.Context()) // of the runs before
	editor := func() *edit.Editor {
		e := w.As(calendar.Editor)
		e.Now = m.now
		return e
	}
	pick := func(fits func(modelEvent) bool) (int64, bool) {
		var ids []int64
		for _, id := range slices.Sorted(maps.Keys(m.events)) {
			if fits(m.events[id]) {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			return 0, false
		}
		return ids[r.IntN(len(ids))], true
	}
	// adopt enters the events that a write should have stored.
	adopt := func(id int64, starts []string, title string) {
		t.Helper()
		for _, nominal := range starts {
			at, err := calendar.ParseWall(nominal)
			if err != nil {
				t.Fatal(err)
			}
			row, err := w.DB.Event.Query().Where(event.SeriesID(id), event.OriginalStart(at)).Only(t.Context())
			if err != nil {
				t.Fatalf("series %d has no occurrence at %s: %v", id, nominal, err)
			}
			if _, known := m.events[row.ID]; !known {
				m.events[row.ID] = modelEvent{id, nominal, "", title, nominal, calendar.Publish, calendar.Scheduled}
			}
		}
	}
	own := func(e *modelEvent, names ...string) {
		if e.Series == 0 {
			return
		}
		all := strings.Fields(e.Own)
		for _, n := range names {
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
		order := []string{"title", "title:pl", "start_date", "end_date", "featured", "event_status"}
		slices.SortFunc(all, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
		e.Own = strings.Join(all, " ")
	}
	for step := range 60 {
		untouched := maps.Clone(m.events)
		what := ""
		anyLive := func(e modelEvent) bool { return e.Status != calendar.Trash }
		occurrence := func(e modelEvent) bool { return anyLive(e) && e.Series != 0 }
		switch r.IntN(11) {
		case 0: // create
			start := time.Date(2026, m.now.Month(), m.now.Day()+r.IntN(30), 18, 0, 0, 0, time.UTC).AddDate(m.now.Year()-2026, 0, 0)
			s := &modelSeries{start: start, exdate: map[string]bool{}, version: 1}
			title := fmt.Sprintf("Series %d", step)
			in := &edit.EventInput{Title: &title, Start: edittest.Wall(start.Format(clock)), End: edittest.Wall(start.Add(2 * time.Hour).Format(clock))}
			if r.IntN(4) > 0 {
				s.rule = modelRules(r, start)
				in.Rule = &s.rule.text
			}
			var rdate []recur.Date
			for range r.IntN(3) {
				at := start.AddDate(0, 0, r.IntN(40)).Add(time.Hour)
				s.rdate, rdate = append(s.rdate, at), append(rdate, recur.Date{Wall: calendar.WallOf(at)})
			}
			if s.rule == nil && rdate == nil {
				continue
			}
			in.RDate = &rdate
			all := s.starts(time.Time{}, m.horizon(s))
			if len(all) > 1 && r.IntN(2) == 0 {
				out := all[1+r.IntN(len(all)-1)]
				at, err := calendar.ParseWall(out)
				if err != nil {
					t.Fatal(err)
				}
				s.exdate[out] = true
				in.ExDate = &[]recur.Date{{Wall: at}}
				all = s.starts(time.Time{}, m.horizon(s))
			}
			what = "create " + valueOr(in.Rule)
			first := w.Event(editor(), in)
			s.generated = m.horizon(s)
			m.series[*first.SeriesID] = s
			adopt(*first.SeriesID, all, title)
			if m.events[first.ID].Nominal != all[0] {
				t.Fatalf("step %d, %s: answered %+v, want the occurrence of %s", step, what, m.events[first.ID], all[0])
			}
		case 1: // a title, which may be the stored one
			id, ok := pick(anyLive)
			if !ok {
				continue
			}
			e := m.events[id]
			title := []string{e.Title, "Other", "Third"}[r.IntN(3)]
			what = "title " + title
			w.ChangeEvent(editor(), id, &edit.EventInput{Title: &title})
			if title != e.Title {
				own(&e, "title")
			}
			e.Title = title
			m.events[id] = e
		case 2: // a title in another language
			id, ok := pick(occurrence)
			if !ok {
				continue
			}
			what = "title in Polish"
			polish := editor()
			polish.Write = calendar.Polish
			w.ChangeEvent(polish, id, &edit.EventInput{Title: new("Po polsku")})
			e := m.events[id]
			own(&e, "title:pl")
			m.events[id] = e
		case 3: // move
			id, ok := pick(anyLive)
			if !ok {
				continue
			}
			e := m.events[id]
			at, err := time.Parse(clock, e.Start)
			if err != nil {
				t.Fatal(err)
			}
			at = at.Add(time.Duration(1+r.IntN(5)) * time.Hour)
			what = "move"
			w.ChangeEvent(editor(), id, &edit.EventInput{Start: edittest.Wall(at.Format(clock)), EventValues: ent.EventValues{Featured: new(true)}})
			e.Start = at.Format(clock)
			own(&e, "start_date", "end_date")
			if row := w.DB.Event.GetX(t.Context(), id); slices.Contains(row.OwnFields, "featured") {
				own(&e, "featured")
			}
			m.events[id] = e
		case 4: // take out
			id, ok := pick(occurrence)
			if !ok {
				continue
			}
			what = "take out"
			e := m.events[id]
			w.ChangeEvent(editor(), id, &edit.EventInput{Rule: new("")})
			m.series[e.Series].exdate[e.Nominal] = true
			m.series[e.Series].version++
			e.Series, e.Nominal, e.Own = 0, "", ""
			m.events[id] = e
		case 5: // make a series of an event
			id, ok := pick(func(e modelEvent) bool { return anyLive(e) && e.Series == 0 })
			if !ok {
				continue
			}
			e := m.events[id]
			at, err := time.Parse(clock, e.Start)
			if err != nil {
				t.Fatal(err)
			}
			s := &modelSeries{start: at, exdate: map[string]bool{}, version: 1, rule: modelRules(r, at)}
			s.generated = m.horizon(s)
			all := s.starts(time.Time{}, s.generated)
			if len(all) == 0 || len(all) > 1000 {
				continue
			}
			what = "series of an event " + s.rule.text
			row := w.ChangeEvent(editor(), id, &edit.EventInput{Rule: &s.rule.text})
			m.series[*row.SeriesID] = s
			e.Series, e.Nominal = *row.SeriesID, e.Start
			if e.State != calendar.Scheduled {
				own(&e, "event_status")
			}
			m.events[id] = e
			adopt(*row.SeriesID, all, e.Title)
		case 6: // trash
			id, ok := pick(anyLive)
			if !ok {
				continue
			}
			what = "trash"
			if _, err := w.TrashEvent(editor(), id); err != nil {
				t.Fatal(err)
			}
			e := m.events[id]
			e.Status = calendar.Trash
			m.events[id] = e
			if e.Series != 0 {
				m.series[e.Series].exdate[e.Nominal] = true
				m.series[e.Series].version++
			}
		case 7: // restore
			id, ok := pick(func(e modelEvent) bool { return e.Status == calendar.Trash })
			if !ok {
				continue
			}
			what = "restore"
			w.ChangeEvent(editor(), id, &edit.EventInput{Status: new(calendar.Publish)})
			e := m.events[id]
			e.Status = calendar.Publish
			m.events[id] = e
			if e.Series != 0 {
				delete(m.series[e.Series].exdate, e.Nominal)
				m.series[e.Series].version++
			}
		case 8: // remove for good
			id, ok := pick(func(modelEvent) bool { return true })
			if !ok {
				continue
			}
			what = "remove"
			removeEvents(w, w.As(calendar.Administrator), id)
			e := m.events[id]
			delete(m.events, id)
			delete(versions, id)
			s := m.series[e.Series]
			switch {
			case s != nil && m.count(e.Series) == 0:
				delete(m.series, e.Series)
			case s != nil && !s.exdate[e.Nominal]:
				s.exdate[e.Nominal] = true
				s.version++
			}
		case 9: // a state, which may be the stored one
			id, ok := pick(anyLive)
			if !ok {
				continue
			}
			e := m.events[id]
			state := []calendar.EventStatus{calendar.Scheduled, calendar.Canceled, calendar.Postponed}[r.IntN(3)]
			what = "state " + string(state)
			w.ChangeEvent(editor(), id, &edit.EventInput{EventValues: ent.EventValues{EventStatus: &state}})
			if state != e.State {
				own(&e, "event_status")
			}
			e.State = state
			m.events[id] = e
		default:
			m.now = m.now.AddDate(0, 0, r.IntN(90))
			what = "clock to " + m.now.Format(clock)
			if _, err := series.ExtendDue(t.Context(), w.DB, edittest.Site(t), m.now); err != nil {
				t.Fatal(err)
			}
			for id, s := range m.series {
				if s.rule == nil || !s.rule.endless {
					continue
				}
				// Two hours, or one in winter, are the distance of Warsaw from UTC: too little to matter, by the choice of dates.
				due := s.generated.AddDate(0, -24, -15-int(id%7)).Add(-2 * time.Hour)
				if m.now.Before(due) {
					continue
				}
				title := templateOf(t, onlyPhase(t, w, id)).Title
				adopt(id, s.starts(s.generated, m.horizon(s)), title)
				s.generated = m.horizon(s)
				s.version++
			}
		}
		if n := w.DB.Series.Query().CountX(t.Context()) - others; n != len(m.series) {
			t.Fatalf("step %d, %s: %d series, want %d", step, what, n, len(m.series))
		}
		got := map[int64]modelEvent{}
		for _, row := range w.DB.Event.Query().Where(event.IDIn(slices.Collect(maps.Keys(m.events))...)).AllX(t.Context()) {
			e := modelEvent{Own: strings.Join(row.OwnFields, " "), Title: row.Title, Start: row.StartWall.String(), Status: row.Status, State: row.EventStatus}
			if row.SeriesID != nil {
				e.Series, e.Nominal = *row.SeriesID, row.OriginalStart.String()
			}
			got[row.ID] = e
			if row.Version < versions[row.ID] {
				t.Errorf("step %d, %s: version of %d falls from %d to %d", step, what, row.ID, versions[row.ID], row.Version)
			}
			if before, there := untouched[row.ID]; there && before == m.events[row.ID] && row.Version > versions[row.ID]+1 {
				t.Errorf("step %d, %s: version of %d rises by more than a write", step, what, row.ID)
			}
			versions[row.ID] = row.Version
		}
		if diff := cmp.Diff(m.events, got); diff != "" {
			t.Fatalf("step %d, %s: events (-model +stored)\n%s", step, what, diff)
		}
		for id, s := range m.series {
			if n := w.DB.Event.Query().Where(event.SeriesID(id)).CountX(t.Context()); n != m.count(id) {
				t.Fatalf("step %d, %s: series %d has %d occurrences, want %d", step, what, id, n, m.count(id))
			}
			phase := w.DB.SeriesPhase.Query().Where(seriesphase.SeriesID(id)).OnlyX(t.Context())
			var exdate []string
			for _, at := range phase.Exdate {
				exdate = append(exdate, at.String())
			}
			if diff := cmp.Diff(slices.Sorted(maps.Keys(s.exdate)), exdate); diff != "" {
				t.Fatalf("step %d, %s: exdate of series %d (-model +stored)\n%s", step, what, id, diff)
			}
			if v := w.DB.Series.GetX(t.Context(), id).Version; v != s.version {
				t.Fatalf("step %d, %s: series %d has version %d, want %d", step, what, id, v, s.version)
			}
		}
	}
}

func (m *model) count(series int64) (n int) {
	for _, e := range m.events {
		if e.Series == series {
			n++
		}
	}
	return n
}

func valueOr(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
