package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/lab/local"
	"github.com/almanac-cal/almanac/lab/process"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		code       int
	}{
		{"help", "--help", 0},
		{"an unknown flag", "--loud", 2},
		{"no clients", "--clients 0", 1},
		{"too few events", "--events 10", 1},
		{"no expression", "--only (", 1},
		{"other arrivals", "--arrivals bursts", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := run(t.Context(), append(strings.Fields(tt.args), "--dir", t.TempDir()), &out, &errs); code != tt.code {
				t.Errorf("status %d, want %d: %s%s", code, tt.code, &out, &errs)
			}
		})
	}
}

// TestTargetsFollowTheFlagsOfTheProgram checks that targets are left out whose flags the program does not have.
func TestTargetsFollowTheFlagsOfTheProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	for _, tt := range []struct {
		help string
		want []string
	}{
		{"--listen", []string{"cold"}},
		{"--cache-size=BYTES", []string{"hot", "cold --cache-size 0"}},
		{"--cache-size=BYTES --cache-delay=TIME", []string{"hot", "hot, 100 ms --cache-delay 100ms", "cold --cache-size 0"}},
	} {
		must.Succeed(t, os.WriteFile(program, []byte("#!/bin/sh\necho '"+tt.help+"'\n"), 0o700))
		has, err := probe(t.Context(), program)
		must.Succeed(t, err)
		var got []string
		for _, target := range targets([]engine{{name: "SQLite"}}, has, true) {
			if target.kind == cachedTarget || target.kind == uncachedTarget {
				got = append(got, strings.Join(append([]string{target.name}, target.flags...), " "))
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.help, diff)
		}
	}
}

func TestConstantAnswersWhatWasRecorded(t *testing.T) {
	var from fasthttp.Response
	from.Header.DisableNormalizing()
	from.SetBodyString(`{"events":[]}`)
	from.Header.SetContentType("application/json; charset=UTF-8")
	from.Header.Set("X-TEC-Total", "7")
	from.Header.Set("Date", "then")
	for every, total := range map[bool]string{false: "", true: "7"} {
		app := constantServer([]reply{recordReply("/a", &from, every)}, every)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/a", nil)
		must.Succeed(t, err)
		res, err := app.Test(req)
		must.Succeed(t, err)
		body, err := io.ReadAll(res.Body)
		must.Succeed(t, errors.Join(err, res.Body.Close()))
		if string(body) != `{"events":[]}` || res.Header.Get("Content-Type") != "application/json; charset=UTF-8" {
			t.Errorf("%s, %v", body, res.Header)
		}
		if got := res.Header.Get("X-TEC-Total"); got != total {
			t.Errorf("all headers %v: total %q, want %q: %v", every, got, total, res.Header)
		}
	}
}

// TestPatternIsTheRowsOfTheService checks that inserting a pattern adds as many rows to each table as the service
// does.
func TestPatternIsTheRowsOfTheService(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		service, err := local.Start(ctx, local.Config{Store: st})
		must.Succeed(t, err)
		t.Cleanup(func() {
			if err := service.Close(); err != nil {
				t.Error(err)
			}
		})
		w := &eventWriter{token: service.Token, service: &target{Process: &process.Process{
			Address: strings.TrimPrefix(service.Site.BaseURL, "http://"),
		}}}
		create := func(path string, body []byte) int64 {
			t.Helper()
			id, err := w.create(path, body)
			must.Succeed(t, err)
			return id
		}
		venue, category := create("/venues", []byte(`{"venue":"Hall"}`)), create("/categories", []byte(`{"name":"Music"}`))
		id := create("/events", eventBody("Example", 1, venue, category))
		before := counts(t, st)
		p, err := learnPattern(ctx, st.DB, id)
		must.Succeed(t, err)
		must.Succeed(t, p.insert(ctx, st.DB, 2))
		inserted := counts(t, st)
		create("/events", eventBody("Example", 3, venue, category))
		posted := counts(t, st)
		for table, n := range before {
			if bare, ours := inserted[table]-n, posted[table]-inserted[table]; bare != ours {
				t.Errorf("%s: %d more by hand, %d more by the service", table, bare, ours)
			}
		}
		if inserted["changes"] != before["changes"]+1 || inserted["counted"] != before["counted"]+1 {
			t.Errorf("nothing was inserted: %v, %v", before, inserted)
		}
	})
}

// counts returns the number of rows by table, and sums of counting columns.
func counts(t *testing.T, st *store.Store) map[string]int64 {
	t.Helper()
	out := make(map[string]int64)
	tables := []string{
		"records", "slugs", "events", "event_translations", "event_venues", "event_organizers", "event_terms", "search_texts",
		"changes", "terms", "venues", "settings",
	}
	queries := map[string]string{
		"counted": "SELECT SUM(event_count) FROM terms", "revision": "SELECT SUM(value) FROM counters",
	}
	for _, table := range tables {
		queries[table] = "SELECT COUNT(*) FROM " + table
	}
	for name, query := range queries {
		var n int64
		must.Succeed(t, st.DB.QueryRowContext(t.Context(), query).Scan(&n))
		out[name] = n
	}
	return out
}
