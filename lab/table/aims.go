package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/lab/drive"
	"github.com/almanac-cal/almanac/lab/proc"
)

// runResult contains all measurements of a run.
type runResult struct {
	effort
	targets []*target
	cells   map[key]*cell
	floods  []flood
	writing *writing // nil if not measured
	events  int
}

// verdict is whether an aim is reached.
type verdict int

const (
	notMeasured verdict = iota
	aimMet
	aimMissed
)

func (v verdict) String() string { return [...]string{"not measured", "met", "**missed**"}[v] }

func verdictOf(ok bool) verdict {
	if ok {
		return aimMet
	}
	return aimMissed
}

// aim is a goal with what it was measured on, the measured value as text, and the verdict.
type aim struct {
	what, on, found string
	verdict         verdict
	// byCPU is the verdict by the server's CPU time, which other load on the machine affects less than throughput.
	// notMeasured means that CPU times cannot be compared.
	byCPU verdict
}

// ofOther to ofBare are the limits of aims: for throughput, p99 divided by p50, memory in bytes, and writes.
const (
	ofOther        = 0.8
	ofP50          = 10
	ofMemory       = 150 << 20
	ofBare         = 0.5
	minP99Requests = 200 // smallest number of requests for a p99
)

func (m *runResult) aims() []aim {
	return slices.Concat(
		m.beside("hot at least 0.8 of the constant reply", cachedTarget, constantReply),
		m.beside("cold at least 0.8 of what was written by hand", uncachedTarget, byHand),
		m.spreads(), m.memories(), m.overloads(), m.writings(),
	)
}

// beside compares targets of the kind ours with those of the kind theirs. The latter run on the same database engine
// or on none. It returns an aim for each comparison, or one that is not measured.
func (m *runResult) beside(what string, ours, theirs kind) (out []aim) {
	for _, t := range m.targets {
		for _, other := range m.targets {
			if t.kind != ours || other.kind != theirs || other.engine != "" && other.engine != t.engine {
				continue
			}
			for _, path := range paths {
				if a, ok := m.ratio(t, other, path); ok {
					a.what, a.on = what, fmt.Sprintf("%s, GET %s : %s", t, path, other.name)
					out = append(out, a)
				}
			}
		}
	}
	if out == nil {
		out = []aim{{what: what, on: "–", found: "–"}}
	}
	return out
}

// ratio compares the best throughput of two targets on a path, as an aim. It also compares their CPU times per
// request at the same number of clients. It returns false if one was not measured.
func (m *runResult) ratio(t, other *target, path string) (aim, bool) {
	best, at := bestThroughput(m.cells, t.String(), path, m.Clients)
	most, where := bestThroughput(m.cells, other.String(), path, m.Clients)
	if best == nil || most == nil || most.rate() == 0 {
		return aim{}, false
	}
	rate := best.rate() / most.rate()
	a := aim{
		found:   fmt.Sprintf("%.2f (%.0f/s of %d : %.0f/s of %d)", rate, best.rate(), at, most.rate(), where),
		verdict: verdictOf(rate >= ofOther),
	}
	if same := m.cells[key{t.String(), path, where}]; same != nil && same.all() > 0 && most.all() > 0 {
		byCPU := float64(most.all()) / float64(same.all())
		a.found += fmt.Sprintf("; by CPU %.2f", byCPU)
		a.byCPU = verdictOf(byCPU >= ofOther)
	}
	if len(most.store) == 0 && t.engine == "MySQL" && other.kind == byHand {
		a.byCPU = notMeasured // what the database did for either is not in it
	}
	return a, true
}

// spreads returns an aim for the worst ratio of p99 to p50, for each target that is the service.
func (m *runResult) spreads() (out []aim) {
	for _, t := range m.targets {
		if t.kind != cachedTarget && t.kind != uncachedTarget {
			continue
		}
		a := aim{what: "p99 under 10 × p50 at half of the throughput", on: t.String(), found: "–"}
		worst, over, all := 0.0, 0, 0
		for _, path := range paths {
			for _, n := range m.Clients {
				c := m.cells[key{t.String(), path, n}]
				if c == nil || len(c.half.Took) < minP99Requests {
					continue
				}
				all++
				if c.spread() >= ofP50 {
					over++
				}
				if c.spread() > worst {
					worst = c.spread()
					a.found = fmt.Sprintf("%.1f × at worst (%d clients, GET %s: %s and %s)", worst, n, path,
						formatDuration(c.half.Took.At(0.99)), formatDuration(c.half.Took.At(0.5)))
					if generatorLate(&c.half) {
						a.found += "; the generator was late"
					}
				}
			}
		}
		if all > 0 {
			a.verdict = verdictOf(over == 0)
			a.found += fmt.Sprintf("; over 10 × in %d of %d", over, all)
		}
		out = append(out, a)
	}
	return out
}

// memories returns the aims for the service's peak memory on MySQL, at the largest number of clients.
func (m *runResult) memories() (out []aim) {
	most := slices.Max(m.Clients)
	what := fmt.Sprintf("memory under 150 MiB at %d clients, %d events, on MySQL", most, m.events)
	for _, t := range m.targets {
		if t.engine != "MySQL" || t.kind != cachedTarget && t.kind != uncachedTarget {
			continue
		}
		var peak, private int64
		for _, path := range paths {
			if c := m.cells[key{t.String(), path, most}]; c != nil {
				peak, private = max(peak, c.memory), max(private, c.private)
			}
		}
		if peak > 0 {
			out = append(out, aim{
				what: what, on: t.String(), verdict: verdictOf(peak < ofMemory),
				found: fmt.Sprintf("%.0f MiB at most, %.0f of them its own", proc.MiB(peak), proc.MiB(private)),
			})
		}
	}
	if out == nil {
		out = []aim{{what: what, on: "MySQL", found: "–"}}
	}
	return out
}

func (m *runResult) overloads() (out []aim) {
	const errors, bounded = "twice the throughput: no error but 503 and 429", "twice the throughput: p99 of the accepted is bounded"
	for _, f := range m.floods {
		all, halves, due := f.accepted()
		from := "from when they were due"
		if !due {
			from = "from sending, as the generator was late"
		}
		out = append(out,
			aim{what: errors, on: f.target, found: f.Errors(), verdict: verdictOf(f.strange() == 0)},
			aim{
				what: bounded, on: f.target, verdict: verdictOf(f.bounded()),
				found: fmt.Sprintf("%s %s (at most %s); first half %s, second %s", formatDuration(all.At(0.99)), from, maxWait,
					formatDuration(halves[0].At(0.99)), formatDuration(halves[1].At(0.99))),
			})
	}
	if out == nil {
		out = []aim{{what: errors, on: "–", found: "–"}, {what: bounded, on: "–", found: "–"}}
	}
	return out
}

func (m *runResult) writings() []aim {
	const half, sound = "writes beside reads at least 0.5 of bare transactions", "no record lost or doubled"
	w := m.writing
	if w == nil {
		return []aim{{what: half, on: "MySQL", found: "–"}, {what: sound, on: "MySQL", found: "–"}}
	}
	ratio := func(on string, ours, theirs []float64) aim {
		r := drive.Median(ours) / drive.Median(theirs)
		if math.IsNaN(r) || math.IsInf(r, 0) {
			return aim{what: half, on: on, found: "–"}
		}
		return aim{
			what: half, on: on, verdict: verdictOf(r >= ofBare),
			found: fmt.Sprintf("%.2f (%.0f/s : %.0f/s)", r, drive.Median(ours), drive.Median(theirs)),
		}
	}
	return []aim{
		ratio("both beside the same reads", w.api, w.bare),
		ratio("bare ones alone, which is more than was asked", w.api, w.bareAlone),
		ratio("both alone", w.apiAlone, w.bareAlone),
		{
			what: sound, on: "MySQL", verdict: verdictOf(w.sound()),
			found: fmt.Sprintf("%d acknowledged, %d in the database with %d titles, %d slugs, %d changes, %d counted, %d listed; "+
				"lost %d, without an answer %d; errors: %s", w.acknowledged, w.events, w.titles, w.slugs, w.changes, w.counted,
				w.listed, w.lost, w.unknown, w.posts.Errors()),
		},
	}
}

// summary returns the numbers of aims by verdict as text, such as "3 met, 1 missed".
func summary(aims []aim) string {
	n := map[verdict]int{}
	for _, a := range aims {
		n[a.verdict]++
	}
	parts := []string{fmt.Sprintf("%d met", n[aimMet]), fmt.Sprintf("%d missed", n[aimMissed])}
	if n[notMeasured] > 0 {
		parts = append(parts, fmt.Sprintf("%d not measured", n[notMeasured]))
	}
	return strings.Join(parts, ", ")
}

// formatDuration formats a duration in seconds, milliseconds or microseconds, mostly with three digits.
func formatDuration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1e3)
	case d >= time.Millisecond:
		return fmt.Sprintf("%.2f ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.0f µs", d.Seconds()*1e6)
}
