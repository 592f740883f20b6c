package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// TestCommands runs every command on tiny calendars, without checking times.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		args string
		want []string // in the output
	}{
		{"fill", "fill", nil},
		{"fill once only", "fill", nil},
		{"measure", "measure --requests 1 --throughput 1ms --clients 2", allNames()},
		{"measure without the index, in Markdown", "measure --no-index --requests 1 --throughput 0s --markdown", []string{
			"### SQLite, without the index", "| default list ",
		}},
		{"explain", "explain", []string{
			"with the index", "without the index", "SELECT value FROM counters", "USING INDEX event_status_hide_from_listings",
			"SEARCH events USING INTEGER PRIMARY KEY", `As in "default list"`,
		}},
		{"baseline", "baseline --requests 1 --rounds 1 --throughput 1ms", []string{"by hand, keeps the total", "GET /events/{id}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, err bytes.Buffer
			args := append(strings.Fields(c.args), "--dir", dir, "--sizes", "300")
			if status := run(t.Context(), args, &out, &err); status != 0 {
				t.Fatalf("status %d:\n%s", status, err.String())
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is missing:\n%s", want, out.String())
				}
			}
			if c.name == "fill once only" && !strings.Contains(err.String(), "there already") {
				t.Errorf("it was filled again:\n%s", err.String())
			}
		})
	}
}

// allNames returns the names of the questions that a small calendar can be asked.
func allNames() []string {
	var out []string
	for _, q := range questions() {
		if q.from == 0 {
			out = append(out, q.name)
		}
	}
	return out
}

func TestWrongUsage(t *testing.T) {
	for _, c := range []struct {
		name, args string
		want       int
	}{
		{"no command", "", 2},
		{"no size", "fill --dir . --sizes many", 2},
		{"nowhere", "measure", 1},
		{"not filled", "measure --dir " + t.TempDir(), 1},
		{"not a pattern", "explain --dir . --only (", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := run(t.Context(), strings.Fields(c.args), io.Discard, io.Discard); got != c.want {
				t.Errorf("status %d, want %d", got, c.want)
			}
		})
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		text, shown string
		want        size
	}{{"1k", "1k", 1000}, {"10000", "10k", 10_000}, {"1m", "1m", 1_000_000}, {"1000k", "1m", 1_000_000}, {"250", "250", 250}} {
		var s size
		if err := s.UnmarshalText([]byte(c.text)); err != nil || s != c.want || s.String() != c.shown {
			t.Errorf("%s is %d, %s, %v", c.text, s, s, err)
		}
	}
	for _, text := range []string{"", "k", "-1", "0", "1g", "99m"} {
		if err := new(size).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a size", text)
		}
	}
}

func TestAims(t *testing.T) {
	ms := func(values ...int) took {
		var out took
		for _, v := range values {
			out = append(out, time.Duration(v)*time.Millisecond)
		}
		return out
	}
	r := result{sizes: []size{1000, 10_000, 1_000_000}, by: map[string]map[size]measured{
		"default list": {1000: {took: ms(9)}, 10_000: {took: ms(2, 2, 2)}, 1_000_000: {took: ms(2, 2, 3)}},
		"slow":         {10_000: {took: ms(2)}, 1_000_000: {took: ms(7)}},
		"wide":         {10_000: {took: ms(2)}, 1_000_000: {took: ms(1, 1, 1, 21)}},
		"deep":         {1_000_000: {took: ms(1)}},
	}}
	for _, c := range []struct {
		name string
		aim  aim
		want string
	}{
		{"default list", flatAim, "flat yes"},
		{"slow", flatAim, "flat NO"},
		{"slow", growthAim, "≤ 3 NO"},
		{"wide", growthAim, "≤ 3 yes"},
		{"wide", searchAim, "p95 ≤ 20.0 ms NO"},
		{"slow", searchAim, "p95 ≤ 20.0 ms yes"},
		{"deep", growthAim, "≤ 3 –"},
	} {
		if got := strings.Join(r.judge(question{name: c.name, aim: c.aim}), " "); got != c.want {
			t.Errorf("%s, aim %d: %q, want %q", c.name, c.aim, got, c.want)
		}
	}
}
