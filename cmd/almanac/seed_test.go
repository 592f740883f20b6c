package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/seed"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestWhichCalendarIsSeeded(t *testing.T) {
	t.Parallel()
	options := func(events int) scenario.Options {
		return scenario.Options{
			Scenario: "city", Seed: 7, Events: events, From: calendar.WallAt(2026, 11, 1, 0, 0, 0), Months: 24,
			Languages: calendar.Languages, Now: clockNow(),
		}
	}
	begun := func(n seed.Number, complete bool) *seed.Plan {
		o := options(200)
		o.From = calendar.WallAt(2026, 10, 1, 0, 0, 0) // last month
		p := planOf(o, n)
		p.Complete = complete
		return &p
	}
	tests := []struct {
		name   string
		stored *seed.Plan
		c      seedCmd
		events int
		want   seed.Number
		from   string
		err    string
	}{
		{"the first", nil, seedCmd{}, 200, 1, "2026-11-01 00:00:00", ""},
		{"adding to nothing is the first", nil, seedCmd{Append: true}, 200, 1, "2026-11-01 00:00:00", ""},
		{"there is one", begun(1, true), seedCmd{}, 200, 0, "", "--append adds another"},
		{"another", begun(1, true), seedCmd{Append: true}, 200, 2, "2026-11-01 00:00:00", ""},
		{"a third", begun(2, true), seedCmd{Append: true}, 200, 3, "2026-11-01 00:00:00", ""},
		{"an interrupted one goes on, in a later month too", begun(1, false), seedCmd{}, 200, 1, "2026-10-01 00:00:00", ""},
		{"an interrupted further one goes on", begun(2, false), seedCmd{Append: true}, 200, 2, "2026-10-01 00:00:00", ""},
		{"an interrupted one with other settings", begun(1, false), seedCmd{}, 100, 0, "", "was interrupted"},
		{
			"an interrupted one that began on another day than is asked for", begun(1, false),
			seedCmd{calendarFlags: calendarFlags{calendarChoice: calendarChoice{From: "2026-11-01"}}},
			200, 0, "", "was interrupted",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st := storetest.Migrated(t, storetest.SQLite(t))
			if tt.stored != nil {
				must.Succeed(t, tt.stored.Save(t.Context(), st.Ent))
			}
			got, err := tt.c.plan(t.Context(), streams{Err: &bytes.Buffer{}}, st, options(tt.events))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			must.Succeed(t, err)
			if got.Number != tt.want || got.From != tt.from {
				t.Errorf("calendar %d from %s, want %d from %s", got.Number, got.From, tt.want, tt.from)
			}
		})
	}
}

// TestExportInEachZone exports events of a site in the zone of each city that the program knows.
func TestExportInEachZone(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	zones := map[string]bool{}
	for _, l := range calendar.Languages {
		file, err := os.ReadFile("../../internal/seed/scenario/data/places." + string(l) + ".txt")
		must.Succeed(t, err)
		for _, match := range regexp.MustCompile(`\| ([A-Z]\w+/[\w/]+) \|`).FindAllSubmatch(file, -1) {
			zones[string(match[1])] = true
		}
	}
	if len(zones) < 20 {
		t.Fatalf("only %d zones", len(zones))
	}
	_, site, err := siteSource{}.resolve(nil, "")
	must.Succeed(t, err)
	site.BaseURL, site.Now = "https://calendar.example", clockNow
	for zone := range zones {
		if site.Zone, err = calendar.ParseZone(zone); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := exportRecords(t.Context(), &out, st, site, "events", "json"); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("%s: %v %s", zone, err, out.Bytes())
		}
	}
}

func TestInterruptedSeedSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	o := scenario.Options{
		Scenario: "city", Seed: 7, Events: 600, From: calendar.WallAt(2026, 11, 1, 0, 0, 0), Months: 24,
		Languages: calendar.Languages, Now: clockNow(),
	}
	ctx, stop := context.WithCancel(t.Context())
	_, err := writePlan(ctx, streams{Err: io.Discard}, st, siteSource{}, planOf(o, 1), seed.Writer{Progress: func(int, int) { stop() }})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	c := seedCmd{calendarFlags: calendarFlags{NoImages: true}}
	var out, said bytes.Buffer
	ctx, stop = context.WithCancel(t.Context())
	stop()
	err = c.fill(ctx, streams{Out: &out, Err: &said}, st, siteSource{}, o)
	if err == nil {
		t.Fatal("a context that has ended is no error")
	}
	must.Succeed(t, c.fill(t.Context(), streams{Out: &out, Err: &said}, st, siteSource{}, o))
	if !strings.Contains(said.String(), "continuing the interrupted calendar") ||
		!strings.HasPrefix(out.String(), "seeded city: 100 events") {
		t.Errorf("said %q and %q", said.String(), out.String())
	}
}
