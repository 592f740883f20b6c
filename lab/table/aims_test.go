package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/lab/drive"
)

const ms = time.Millisecond

// newCell returns a cell with a rate and a CPU time per request. p50 and p99 are those at half of the rate.
func newCell(rate float64, cpu, p50, p99 time.Duration) *cell {
	c := &cell{rates: []float64{rate / 2, rate, rate * 2}, cpu: []time.Duration{cpu, cpu, 9 * cpu}, memory: 100 << 20}
	for i := range 1000 {
		took := p50
		if i >= 980 {
			took = p99
		}
		c.half.Took = append(c.half.Took, took)
	}
	c.half.Due = 1000
	return c
}

func verdicts(aims []aim) (out []string) {
	for _, a := range aims {
		out = append(out, fmt.Sprintf("%s: %s: %s, %s", a.on, strings.SplitN(a.found, " (", 2)[0], a.verdict, a.byCPU))
	}
	return out
}

func TestRatios(t *testing.T) {
	m := &runResult{
		effort: effort{Clients: []int{1, 64}},
		targets: []*target{
			{name: "hot", kind: cachedTarget, engine: "SQLite"},
			{name: "cold", kind: uncachedTarget, engine: "SQLite"},
			{name: "cold", kind: uncachedTarget, engine: "MySQL"},
			{name: "by hand", kind: byHand, engine: "SQLite"},
			{name: "by hand", kind: byHand, engine: "MySQL"},
			{name: "constant", kind: constantReply},
		},
		cells: map[key]*cell{
			{"hot, SQLite", list, 1}:      newCell(50, ms, ms, ms),
			{"hot, SQLite", list, 64}:     newCell(800, ms, ms, ms),
			{"constant", list, 1}:         newCell(100, ms, ms, ms),
			{"constant", list, 64}:        newCell(1000, ms*7/10, ms, ms),
			{"cold, SQLite", list, 1}:     newCell(90, 2*ms, ms, ms),
			{"cold, SQLite", list, 64}:    newCell(70, 2*ms, ms, ms),
			{"by hand, SQLite", list, 1}:  newCell(20, ms, ms, ms),
			{"by hand, SQLite", list, 64}: newCell(200, 2*ms, ms, ms),
			{"cold, MySQL", list, 64}:     newCell(90, 2*ms, ms, ms),
			{"by hand, MySQL", list, 64}:  newCell(100, 2*ms, ms, ms),
		},
	}
	got := verdicts(append(m.beside("a", cachedTarget, constantReply), m.beside("b", uncachedTarget, byHand)...))
	want := []string{
		"hot, SQLite, GET /events : constant: 0.80: met, **missed**", // 0.7 ms of CPU beside 1 ms
		"cold, SQLite, GET /events : by hand: 0.45: **missed**, met", // each where it is at its best
		"cold, MySQL, GET /events : by hand: 0.90: met, not measured",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Where it is known what the database did, that is part of it.
	m.cells[key{"cold, MySQL", list, 64}].store = []time.Duration{4 * ms}
	m.cells[key{"by hand, MySQL", list, 64}].store = []time.Duration{ms}
	got = verdicts(m.beside("b", uncachedTarget, byHand))[1:]
	if diff := cmp.Diff([]string{"cold, MySQL, GET /events : by hand: 0.90: met, **missed**"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m.targets = m.targets[5:]
	if got := m.beside("a", cachedTarget, constantReply); len(got) != 1 || got[0].verdict != notMeasured {
		t.Errorf("without a hot path: %v", got)
	}
}

func TestSpreads(t *testing.T) {
	m := &runResult{
		effort:  effort{Clients: []int{1, 8, 64}},
		targets: []*target{{name: "cold", kind: uncachedTarget, engine: "MySQL"}},
		cells: map[key]*cell{
			{"cold, MySQL", list, 1}: newCell(100, ms, ms, 9*ms),
			{"cold, MySQL", list, 8}: newCell(100, ms, ms, 10*ms-1),
		},
	}
	few := newCell(100, ms, ms, 100*ms)
	few.half.Took = few.half.Took[900:]
	m.cells[key{"cold, MySQL", list, 64}] = few
	if got := m.spreads(); len(got) != 1 || got[0].verdict != aimMet || !strings.HasPrefix(got[0].found, "10.0 × at worst (8 clients") {
		t.Errorf("%+v", got)
	}
	m.cells[key{"cold, MySQL", single, 1}] = newCell(100, ms, ms, 10*ms)
	if got := m.spreads(); got[0].verdict != aimMissed || !strings.HasSuffix(got[0].found, "over 10 × in 1 of 3") {
		t.Errorf("%+v", got)
	}
	m.cells = nil
	if got := m.spreads(); got[0].verdict != notMeasured {
		t.Errorf("%+v", got)
	}
}

func TestMemories(t *testing.T) {
	m := &runResult{
		effort:  effort{Clients: []int{1, 512}},
		targets: []*target{{name: "cold", kind: uncachedTarget, engine: "MySQL"}, {name: "cold", kind: uncachedTarget, engine: "SQLite"}},
		cells:   map[key]*cell{{"cold, MySQL", list, 512}: newCell(1, ms, ms, ms), {"cold, SQLite", list, 512}: {memory: 1 << 40}},
	}
	if got := verdicts(m.memories()); !cmp.Equal(got, []string{"cold, MySQL: 100 MiB at most, 0 of them its own: met, not measured"}) {
		t.Errorf("%q", got)
	}
	m.cells[key{"cold, MySQL", single, 512}] = &cell{memory: ofMemory}
	if got := m.memories(); got[0].verdict != aimMissed {
		t.Errorf("%+v", got)
	}
}

func TestOverloads(t *testing.T) {
	times := func(d time.Duration) drive.Times { return drive.Times{d} }
	at := func(first, second time.Duration) *drive.Result {
		return &drive.Result{
			Due: 100, Took: times(max(first, second)), Served: times(ms),
			Halves: [2]drive.Took{{Took: times(first), Served: times(ms)}, {Took: times(second), Served: times(ms)}},
		}
	}
	with := func(r *drive.Result, change func(r *drive.Result)) *drive.Result {
		change(r)
		return r
	}
	for _, tt := range []struct {
		name    string
		r       *drive.Result
		errors  verdict
		bounded verdict
	}{
		{"well", at(time.Second, time.Second), aimMet, aimMet},
		{"turned away", with(at(ms, ms), func(r *drive.Result) { r.Status = map[int]int{503: 9, 429: 1} }), aimMet, aimMet},
		{"an error", with(at(ms, ms), func(r *drive.Result) { r.Status = map[int]int{503: 9, 500: 1} }), aimMissed, aimMet},
		{"hung up on", with(at(ms, ms), func(r *drive.Result) { r.Faults = map[drive.Fault]int{drive.Closed: 1} }), aimMissed, aimMet},
		{"too long", at(2*time.Second+1, 2*time.Second), aimMet, aimMissed},
		{"longer and longer", at(time.Second, 1600*ms), aimMet, aimMissed},
		{"grows, but is short", at(ms, 100*ms), aimMet, aimMet},
		{"nobody is accepted", &drive.Result{Due: 100, Status: map[int]int{503: 100}}, aimMet, aimMissed},
		{"the generator is late", with(at(9*time.Second, 10*time.Second), func(r *drive.Result) { r.Late = 2 }), aimMet, aimMet},
		{
			"connections are not free for ever",
			with(at(ms, ms), func(r *drive.Result) { r.Faults = map[drive.Fault]int{drive.Unsent: 1} }), aimMet, aimMissed,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &runResult{floods: []flood{{"cold", 1, tt.r}}}
			got := m.overloads()
			if got[0].verdict != tt.errors || got[1].verdict != tt.bounded {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestWritings(t *testing.T) {
	fine := func() *writing {
		return &writing{
			api: []float64{50}, apiAlone: []float64{60}, bare: []float64{100}, bareAlone: []float64{110}, acknowledged: 7,
			audit: audit{events: 7, titles: 7, changes: 7, slugs: 7, counted: 7, listed: 7},
		}
	}
	sound := func(w *writing) verdict {
		all := (&runResult{writing: w}).writings()
		return all[len(all)-1].verdict
	}
	got := verdicts((&runResult{writing: fine()}).writings())
	for i, want := range []string{"0.50: met", "0.45: **missed**", "0.55: met"} {
		if !strings.Contains(got[i], want) {
			t.Errorf("%s; want %s", got[i], want)
		}
	}
	for name, spoil := range map[string]func(w *writing){
		"lost": func(w *writing) { w.lost = 1 }, "doubled": func(w *writing) { w.titles = 6 },
		"no change": func(w *writing) { w.changes = 6 }, "no slug": func(w *writing) { w.slugs = 6 },
		"counted twice": func(w *writing) { w.counted = 8 }, "not listed": func(w *writing) { w.listed = 6 },
		"nothing written": func(w *writing) { *w = writing{} }, "nobody was told": func(w *writing) { w.unknown, w.acknowledged = 1, 6 },
	} {
		w := fine()
		if sound(w) != aimMet {
			t.Fatal("what is fine is not")
		}
		spoil(w)
		if sound(w) != aimMissed {
			t.Errorf("%s: not noticed", name)
		}
	}
	// The connection broke before the answer: nobody could be told.
	w := fine()
	w.unknown, w.acknowledged, w.posts.Faults = 1, 6, map[drive.Fault]int{drive.Closed: 1}
	if sound(w) != aimMet {
		t.Error("a write without an answer counts as doubled")
	}
}

func TestMarkdown(t *testing.T) {
	var b strings.Builder
	markdown(&b, []string{"Name", "µs"}, [][]string{{"a", "12345"}, {"łódź", "1"}}, 1)
	want := "| Name |    µs |\n|------|------:|\n| a    | 12345 |\n| łódź |     1 |\n\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestShown(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0 µs": 0, "999 µs": 999 * time.Microsecond, "1.00 ms": ms, "12.3 ms": 12345 * time.Microsecond, "123 ms": 123 * ms, "1.50 s": 1500 * ms,
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
