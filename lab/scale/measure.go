package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/lab/command"
)

type measureCmd struct {
	places
	effort
	Index    bool   `help:"Find what lists show in the index; otherwise the database is asked." default:"true" negatable:""`
	Markdown bool   `help:"Print Markdown."`
	Only     string `help:"Ask only questions whose name matches." placeholder:"REGEXP"`
	Profile  string `help:"Write a CPU profile of the questions, of the calendar measured last." placeholder:"FILE" type:"path"`
}

// measured contains the measurements of a question on one calendar.
type measured struct {
	took  took
	rate  float64 // requests per second of several clients, 0 if not measured
	total int     // number of records in the list; -1 if the reply is no list
}

// result contains the measurements on one database engine, by question and by size of the calendar.
type result struct {
	sizes []size
	by    map[string]map[size]measured
}

func (m measureCmd) Run(ctx context.Context, o command.Output) error {
	engines, err := m.engines()
	if err != nil {
		return err
	}
	only, err := regexp.Compile(m.Only)
	if err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	var asked []question
	for _, q := range questions() {
		if only.MatchString(q.name) || q.name == "default list" { // others are compared with it
			asked = append(asked, q)
		}
	}
	for _, e := range engines {
		r := result{sizes: m.Sizes, by: make(map[string]map[size]measured)}
		if err := m.all(ctx, o, e, asked, &r); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		way := "with the index"
		if !m.Index {
			way = "without the index"
		}
		for _, t := range r.tables(asked, e.name+", "+way, m.effort) {
			if err := t.write(o.Out, m.Markdown); err != nil {
				return err
			}
		}
	}
	return nil
}

// all measures the questions on all calendars of a database engine. It alternates between sizes, so that other load
// on the machine affects all of them equally.
func (m measureCmd) all(ctx context.Context, o command.Output, e engine, asked []question, r *result) (err error) {
	subjects := make(map[size]*subject)
	defer func() {
		for _, sub := range subjects {
			err = errors.Join(err, sub.close())
		}
	}()
	for _, s := range m.Sizes {
		st, err := e.open(ctx, s)
		if err != nil {
			return err
		}
		sub, err := start(ctx, o.Err, st, m.Index)
		if err != nil {
			return errors.Join(err, st.Close())
		}
		sub.size = s
		sub.end = append([]func() error{st.Close}, sub.end...)
		subjects[s] = sub
	}
	if m.Profile != "" {
		stop, fault := profile(m.Profile)
		if fault != nil {
			return fault
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	began, parts := time.Now(), min(rounds, max(m.Requests, 1))
	for _, q := range asked {
		r.by[q.name] = make(map[size]measured)
		for round := range parts {
			for _, s := range m.Sizes {
				if s < q.from {
					continue
				}
				if err := m.round(ctx, subjects[s], q, round, parts, r.by[q.name]); err != nil {
					return fmt.Errorf("%s events: %s: %w", s, q.name, err)
				}
			}
		}
	}
	fmt.Fprintf(o.Err, "%s: %d questions in %s\n", e.name, len(asked), time.Since(began).Round(time.Second))
	return nil
}

// rounds is the largest number of parts in which the requests for a question are sent.
const rounds = 4

// round sends one of several parts of the requests for a question and adds the durations to into. The last part may
// also measure throughput.
func (m measureCmd) round(
	ctx context.Context, sub *subject, q question, round, parts int, into map[size]measured,
) error {
	paths, c, found := q.paths(sub.facts), sub.client(1), into[sub.size]
	if round == 0 {
		body, err := c.ask(paths[0], q.admin)
		if err != nil {
			return err
		}
		list, err := totals(body)
		if err != nil {
			return err
		}
		found.total = list.Total
	}
	part := m.effort
	part.Requests, part.Limit = m.Requests/parts, m.Limit/time.Duration(parts)
	// Each part goes on with the paths where the one before it ended.
	from := round * part.Requests % len(paths)
	some, err := part.alone(ctx, c, slices.Concat(paths[from:], paths[:from]), q.admin)
	if err != nil {
		return err
	}
	found.took = append(found.took, some...)
	slices.Sort(found.took)
	if q.clients && round == parts-1 {
		found.rate, err = m.together(ctx, func() *client { return sub.client(1) }, paths, q.admin)
	}
	into[sub.size] = found
	return err
}

// profile writes a CPU profile to a file until the caller calls stop.
func profile(file string) (stop func() error, err error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

// pageTotals contains the total and the number of pages in the reply to a list.
type pageTotals struct {
	Total int `json:"total"`
	Pages int `json:"total_pages"`
}

// totals parses the totals in a reply. Total is -1 and Pages 0 if the reply is no list.
func totals(body []byte) (pageTotals, error) {
	t := pageTotals{Total: -1}
	err := json.Unmarshal(body, &t)
	return t, err
}

// tables returns a table of durations with the aims, and one of throughput if it was measured. title is the beginning
// of their titles.
func (r *result) tables(asked []question, title string, e effort) []table {
	times := table{title: title + ": p50 / p95 of one client", head: []string{"Question"}}
	rates := table{title: fmt.Sprintf("%s: requests/s of %d clients", title, e.Clients), head: []string{"Question"}}
	for _, s := range r.sizes {
		times.head = append(times.head, s.String())
		rates.head = append(rates.head, s.String())
	}
	small, large := r.span()
	fuller := false
	times.head = append(times.head, "found", fmt.Sprintf("%s:%s", large, small), "aim", "met")
	for _, q := range asked {
		if len(r.by[q.name]) == 0 {
			continue // no calendar was large enough
		}
		row, rate := []string{q.name}, []string{q.name}
		for _, s := range r.sizes {
			m, ok := r.by[q.name][s]
			if !ok {
				row, rate = append(row, "–"), append(rate, "–")
				continue
			}
			row = append(row, formatDuration(m.took.at(0.5))+" / "+formatDuration(m.took.at(0.95)))
			rate = append(rate, fmt.Sprintf("%.0f", m.rate))
		}
		total := "–"
		if m, ok := r.by[q.name][large]; ok && m.total >= 0 {
			total = fmt.Sprint(m.total)
		}
		factor := "–"
		if f := r.growth(q.name); !math.IsNaN(f) {
			factor = fmt.Sprintf("%.2f", f)
			if before, after := r.by[q.name][small].total, r.by[q.name][large].total; before >= 0 && before < min(10, after) {
				factor += "†"
				fuller = true
			}
		}
		times.rows = append(times.rows, append(row, append([]string{total, factor}, r.judge(q)...)...))
		if q.clients && e.Throughput > 0 {
			rates.rows = append(rates.rows, rate)
		}
	}
	if fuller {
		times.note = fmt.Sprintf("† The page of the calendar of %s was not full.", small)
	}
	if len(rates.rows) == 0 {
		return []table{times}
	}
	return []table{times, rates}
}

// span returns the two sizes of calendars between which growth is measured. They are 10k (or else the smallest) and
// the largest.
func (r *result) span() (small, large size) {
	small, large = slices.Min(r.sizes), slices.Max(r.sizes)
	if slices.Contains(r.sizes, 10_000) && large > 10_000 {
		small = 10_000
	}
	return small, large
}

// growth returns a question's median duration on the large calendar of span, divided by that on the small one. It is
// NaN if one was not measured, or if there is only one calendar.
func (r *result) growth(name string) float64 {
	small, large := r.span()
	before, after := r.by[name][small].took.at(0.5), r.by[name][large].took.at(0.5)
	if before == 0 || after == 0 || small == large {
		return math.NaN()
	}
	return float64(after) / float64(before)
}

// flatness is the largest growth that still counts as flat, because of noise.
const flatness = 1.5

// judge returns two cells of the table: the aim of a question, and whether it is reached. Without an aim they are "–"
// and "".
func (r *result) judge(q question) []string {
	within := func(what string, value, limit float64) []string {
		switch {
		case math.IsNaN(value):
			return []string{what, "–"}
		case value <= limit:
			return []string{what, "yes"}
		}
		return []string{what, "NO"}
	}
	switch q.aim {
	case flatAim:
		return within("flat", r.growth(q.name), flatness)
	case growthAim:
		return within("≤ 3", r.growth(q.name), 3)
	case searchAim:
		_, large := r.span()
		list := r.by["default list"][large].took.at(0.5)
		if list == 0 {
			return []string{"", "–"}
		}
		limit := 10 * list
		return within("p95 ≤ "+formatDuration(limit), float64(r.by[q.name][large].took.at(0.95)), float64(limit))
	}
	return []string{"–", ""}
}

// formatDuration formats a duration in milliseconds: two decimals below 10 ms, one below 100 ms, none above.
func formatDuration(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.2f ms", ms)
}
