package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/seed"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/internal/store"
)

// export writes a calendar to a file. The calendar has no pictures, because their files are not exported.
func (c seedCmd) export(ctx context.Context, s streams, source siteSource, o scenario.Options) error {
	o.Pictures = false
	o.Open = c.Format != "sql" // an exported file has exactly as many events as requested
	made, err := scenario.New(o)
	if err != nil {
		return err
	}
	if source.flags.Layer, err = sampleSettings(made, source.flags); err != nil {
		return err
	}
	_, site, err := source.resolve(nil, "")
	if err != nil {
		return err
	}
	site.BaseURL = strings.TrimRight(c.BaseURL, "/")
	site.Now = func() time.Time { return made.Options().Now }
	return writeOutput(s, c.Out, "--out", func(out io.Writer) error {
		switch c.Format {
		case "ics":
			return seed.ICS(out, made)
		case "sql":
			return withScratchDatabase(ctx, s, site, made, func(st *store.Store) error { return seed.SQL(ctx, out, st.DB) })
		}
		return withScratchDatabase(ctx, s, site, made, func(st *store.Store) error {
			_, err := exportRecords(ctx, out, st, site, "events", "json")
			return err
		})
	})
}

// withScratchDatabase runs do with a temporary database that has the calendar.
func withScratchDatabase(
	ctx context.Context, s streams, site calendar.Site, made *scenario.Calendar, do func(*store.Store) error,
) (err error) {
	dir, err := os.MkdirTemp("", "almanac-seed-")
	if err != nil {
		return err
	}
	defer removeAll(dir, &err)
	return database{DB: "sqlite://" + filepath.Join(dir, "scratch.db")}.withStore(ctx, func(st *store.Store) error {
		if err := prepareSchema(ctx, st, siteSource{}, true); err != nil {
			return err
		}
		bar := newProgress(s.Err, "making up events")
		_, err := seed.Writer{
			Store: st, Progress: bar.show,
			Editor: &edit.Editor{Site: site, Now: made.Written(), By: auth.System()},
		}.Write(ctx, made)
		bar.end()
		if err != nil {
			return err
		}
		return do(st)
	})
}
