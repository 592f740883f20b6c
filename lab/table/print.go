package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/lab/drive"
	"github.com/almanac-cal/almanac/lab/proc"
)

// print writes all results as Markdown tables.
func (m *runResult) print(w io.Writer) error {
	var b strings.Builder
	engines := map[string]bool{}
	for _, t := range m.targets {
		if t.engine == "" || engines[t.engine] {
			continue
		}
		engines[t.engine] = true
		for _, path := range paths {
			m.cellTable(&b, t.engine, path)
		}
	}
	m.floodTable(&b)
	m.writeTable(&b)
	aims := m.aims()
	fmt.Fprintf(&b, "### Aims: %s\n\n", summary(aims))
	rows := make([][]string, len(aims))
	for i, a := range aims {
		byCPU := "–"
		if a.byCPU != notMeasured {
			byCPU = a.byCPU.String()
		}
		rows[i] = []string{a.what, a.on, a.found, a.verdict.String(), byCPU}
	}
	markdown(&b, []string{"Aim", "On", "Measured", "Verdict", "By CPU"}, rows, 5)
	_, err := io.WriteString(w, b.String())
	return err
}

// cellTable writes the table of the targets on one database engine for one path.
func (m *runResult) cellTable(b *strings.Builder, engine, path string) {
	fmt.Fprintf(b, "### GET %s, %s, %d events\n\n", path, engine, m.events)
	head := []string{"Server", "clients", "replies/s", "CPU/request", "p50 at half", "p99 at half", "p99 : p50", "MiB", "errors"}
	withStore := m.MySQLPID != 0 && engine == "MySQL"
	if withStore {
		head = append(head[:4], append([]string{"CPU of MySQL"}, head[4:]...)...)
	}
	var rows [][]string
	late := false
	for _, t := range m.targets {
		if t.engine != "" && t.engine != engine {
			continue
		}
		for _, n := range m.Clients {
			c := m.cells[key{t.String(), path, n}]
			if c == nil {
				continue
			}
			mark := ""
			if generatorLate(&c.half) {
				mark, late = "†", true
			}
			row := []string{t.name, fmt.Sprint(n), fmt.Sprintf("%.0f", c.rate()), formatDuration(drive.Median(c.cpu))}
			if withStore {
				row = append(row, formatDuration(drive.Median(c.store)))
			}
			row = append(row, formatDuration(c.half.Took.At(0.5)), formatDuration(c.half.Took.At(0.99))+mark, fmt.Sprintf("%.1f", c.spread()),
				fmt.Sprintf("%.0f", proc.MiB(c.memory)), errorsOf(c))
			rows = append(rows, row)
		}
	}
	markdown(b, head, rows, 1)
	if late {
		b.WriteString("† Over one in a hundred requests were sent over a millisecond late by the generator, for want of a " +
			"processor: that is in the times.\n\n")
	}
}

func errorsOf(c *cell) string {
	r := c.closed
	r.Merge(&c.half)
	return r.Errors()
}

func (m *runResult) floodTable(b *strings.Builder) {
	if len(m.floods) == 0 {
		return
	}
	fmt.Fprintf(b, "### GET %s at twice the throughput, %d connections\n\n", list, overloadClients)
	var rows [][]string
	for _, f := range m.floods {
		sent := float64(f.Due-f.Faults["unsent"]) / f.Length.Seconds()
		rows = append(rows, []string{
			f.target, fmt.Sprintf("%.0f", f.rate), fmt.Sprintf("%.0f", f.Wanted), fmt.Sprintf("%.0f", sent),
			fmt.Sprintf("%.0f", f.Rate()), f.Errors(), formatDuration(f.Took.At(0.5)), formatDuration(f.Took.At(0.99)), formatDuration(f.Served.At(0.99)),
			fmt.Sprintf("%.0f %%", 100*float64(f.Late)/float64(max(f.Due, 1))),
		})
	}
	markdown(b, []string{
		"Server", "throughput/s", "asked/s", "sent/s", "accepted/s", "errors", "p50", "p99", "p99 from sending",
		"sent late by the generator",
	}, rows, 1)
}

func (m *runResult) writeTable(b *strings.Builder) {
	w := m.writing
	if w == nil {
		return
	}
	fmt.Fprintf(b, "### POST /events by an administrator, MySQL, %d writers\n\n", writers)
	rate := func(v []float64) string { return fmt.Sprintf("%.0f", drive.Median(v)) }
	markdown(b, []string{"Events/s", "alone", fmt.Sprintf("beside %.0f reads/s", w.reads)}, [][]string{
		{"service", rate(w.apiAlone), rate(w.api)}, {"bare transactions of the same rows", rate(w.bareAlone), rate(w.bare)},
	}, 1)
	took := func(t interface{ At(float64) time.Duration }) string {
		return formatDuration(t.At(0.5)) + " / " + formatDuration(t.At(0.99))
	}
	fmt.Fprintf(b, "p50 / p99 of a write %s, of the reads beside them %s; errors of reads: %s.\n\n",
		took(w.posts.Took), took(w.beside.Took), w.beside.Errors())
}

// markdown writes a Markdown table. The first columns are left-aligned (left is their number), the others
// right-aligned.
func markdown(b *strings.Builder, head []string, rows [][]string, left int) {
	width := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, text := range row {
			width[i] = max(width[i], utf8.RuneCountInString(text), 3)
		}
	}
	line := func(row []string) {
		for i, text := range row {
			blank := strings.Repeat(" ", width[i]-utf8.RuneCountInString(text))
			if i < left {
				b.WriteString("| " + text + blank + " ")
			} else {
				b.WriteString("| " + blank + text + " ")
			}
		}
		b.WriteString("|\n")
	}
	line(head)
	for i := range head {
		if i < left {
			b.WriteString("|" + strings.Repeat("-", width[i]+2))
		} else {
			b.WriteString("|" + strings.Repeat("-", width[i]+1) + ":")
		}
	}
	b.WriteString("|\n")
	for _, row := range rows {
		line(row)
	}
	b.WriteString("\n")
}
