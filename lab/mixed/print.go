package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/almanac-cal/almanac/lab/drive"
	"github.com/almanac-cal/almanac/lab/proc"
)

// aim is a goal for a measured value, a row of the last table.
type aim struct {
	name   string
	unit   string // format of the value, such as "%.3f ms"
	figure func(*engine) float64
	wanted string
	met    func(float64) bool // reports whether a value reaches the goal; nil for values only reported
	only   string             // name of the only engine with this goal; "" for all
}

func aims(all []*engine) []aim {
	share := all[0].share(all[0].popular)
	under := func(most float64) func(float64) bool { return func(v float64) bool { return v <= most } }
	over := func(least float64) func(float64) bool { return func(v float64) bool { return v >= least } }
	mixed := func(rate float64, popular bool) func(*engine) float64 {
		return func(e *engine) float64 { return e.ratio(rate, popular) }
	}
	milliseconds := func(of func(*engine) []time.Duration) func(*engine) float64 {
		return func(e *engine) float64 { return drive.Median(of(e)).Seconds() * 1e3 }
	}
	return []aim{
		{
			"checking a cached list after an unrelated write, CPU", "%.3f ms",
			milliseconds(func(e *engine) []time.Duration { return e.afterWrite }), "<= 0.05 ms", under(0.05), "",
		},
		{
			"a list, reply not cached, CPU", "%.3f ms",
			milliseconds(func(e *engine) []time.Duration { return e.uncached }), "<= 0.5 ms", under(0.5), "",
		},
		{"10 writes/s that touch no list : no writes", "%.2f", mixed(10, false), ">= 0.7", over(0.7), ""},
		{"100 writes/s that touch no list : no writes", "%.2f", mixed(100, false), ">= 0.4", over(0.4), ""},
		{fmt.Sprintf("10 writes/s, each touches %.3f of the lists : no writes", share), "%.2f", mixed(10, true), "reported", nil, ""},
		{fmt.Sprintf("100 writes/s, each touches %.3f of the lists : no writes", share), "%.2f", mixed(100, true), "reported", nil, ""},
		{
			fmt.Sprintf("memory, %d clients", connections), "%.0f MiB",
			func(e *engine) float64 { return proc.MiB(e.memory.peak) }, "<= 200 MiB, MySQL", under(200), "MySQL",
		},
		{
			fmt.Sprintf("memory, %d clients, 10 writes/s that touch no list", connections), "%.0f MiB",
			func(e *engine) float64 { return proc.MiB(e.mixedMemory.peak) }, "<= 200 MiB, MySQL", under(200), "MySQL",
		},
	}
}

// ratio returns the throughput of lists during writes divided by that without writes. It returns 0 if it was not
// measured.
func (e *engine) ratio(rate float64, popular bool) float64 {
	for _, m := range e.mixes {
		if m.rate == rate && m.popular == popular {
			return drive.Median(m.lists) / drive.Median(e.mixes[0].lists)
		}
	}
	return 0
}

// verdict returns an engine's value as text, and whether it reaches the goal if the engine has one.
func (a *aim) verdict(e *engine) string {
	v := a.figure(e)
	text := fmt.Sprintf(a.unit, v)
	switch {
	case a.met == nil || a.only != "" && a.only != e.name:
		return text
	case a.met(v):
		return text + ", met"
	}
	return text + ", MISSED"
}

// printTables prints tables of measurements for each database engine, and a table of the aims.
func printTables(out io.Writer, all []*engine) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	for _, e := range all {
		fmt.Fprintf(w, "%s: %d lists, asked for by %d clients, beside writes\n\n", e.name, len(e.lists), readers)
		fmt.Fprint(w, "writes/s\teach touches\tacknowledged/s\tlists/s\tp50\tp99\tCPU/list, writes included\t: no writes\n")
		for _, m := range e.mixes {
			touched := "no list"
			switch {
			case m.rate == 0:
				touched = ""
			case m.popular:
				touched = fmt.Sprintf("%.3f of the lists", e.share(e.popular))
			}
			fmt.Fprintf(w, "%g\t%s\t%.1f\t%.0f\t%s\t%s\t%s\t%.3f\n", m.rate, touched, drive.Median(m.written), drive.Median(m.lists),
				formatMilliseconds(drive.Median(m.p50)), formatMilliseconds(drive.Median(m.p99)), formatMilliseconds(drive.Median(m.cpu)), e.ratio(m.rate, m.popular))
		}
		fmt.Fprintf(w, "\n%s: CPU of the service for one request, one client\n\n", e.name)
		for _, row := range []struct {
			name  string
			times []time.Duration
		}{
			{"a list, reply cached", e.hot},
			{"a PATCH of a title", e.write},
			{"a list, first after an unrelated write: more than a cached one by", e.afterWrite},
			{"a list, reply not cached (--cache-size 0)", e.uncached},
		} {
			fmt.Fprintf(w, "%s\t%s\trounds:", row.name, formatMilliseconds(drive.Median(row.times)))
			for _, t := range row.times {
				fmt.Fprintf(w, " %s", formatMilliseconds(t))
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "\nFailed requests while memory was measured: %s; beside writes: %s\n\n", e.memory.errors, e.mixedMemory.errors)
	}
	fmt.Fprint(w, "Aim\t")
	for _, e := range all {
		fmt.Fprintf(w, "%s\t", e.name)
	}
	fmt.Fprintln(w, "wanted")
	for _, a := range aims(all) {
		fmt.Fprintf(w, "%s\t", a.name)
		for _, e := range all {
			fmt.Fprintf(w, "%s\t", a.verdict(e))
		}
		fmt.Fprintln(w, a.wanted)
	}
	fmt.Fprint(w, "hot : constant reply with the same headers\tmeasured by: go -C lab run ./table --mysql URL --only '^hot|^constant' --no-writes --no-flood\n")
	return w.Flush()
}

// formatMilliseconds formats a duration in milliseconds with three decimals.
func formatMilliseconds(d time.Duration) string { return fmt.Sprintf("%.3f ms", d.Seconds()*1e3) }
