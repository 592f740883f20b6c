package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/seed"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/server"
)

// export writes a calendar to a file. The calendar has no pictures, because their files are not exported.
func (c seedCmd) export(ctx context.Context, s streams, source siteSource, o scenario.Options) error {
	o.Pictures = false
	o.Open = c.Format != "sql" // an exported file has exactly as many events as requested
	made, err := scenario.New(o)
	if err != nil {
		return err
	}
	if source.flags.Layer, err = madeUp(made, source.flags); err != nil {
		return err
	}
	_, site, err := source.resolve(nil, "")
	if err != nil {
		return err
	}
	site.BaseURL = strings.TrimRight(c.BaseURL, "/")
	site.Now = func() time.Time { return made.Options().Now }
	return c.writing(s, func(out io.Writer) error {
		switch c.Format {
		case "ics":
			return seed.ICS(out, made)
		case "sql":
			return withScratchDatabase(ctx, s, site, made, func(st *store.Store) error { return seed.SQL(ctx, out, st.DB) })
		}
		return withScratchDatabase(ctx, s, site, made, func(st *store.Store) error {
			return exportJSON(ctx, out, st, site)
		})
	})
}

// writing runs do with the output. It writes a file completely or not at all. Only the owner may read the file, as every
// file of a calendar.
func (c seedCmd) writing(s streams, do func(io.Writer) error) (err error) {
	if c.Out == "-" {
		return do(s.Out)
	}
	temp, err := os.CreateTemp(filepath.Dir(c.Out), "."+filepath.Base(c.Out)+"-*.tmp")
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	if err := errors.Join(do(temp), temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), c.Out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
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
	return database{DB: "sqlite://" + filepath.Join(dir, "scratch.db")}.with(ctx, func(st *store.Store) error {
		if err := currentData(ctx, st, siteSource{}, true); err != nil {
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

// exportPage is the number of events per request: the largest number that the API allows.
const exportPage = 50

// exportJSON requests all public events from the API and writes the pages as one list.
func exportJSON(ctx context.Context, out io.Writer, st *store.Store, site calendar.Site) error {
	words, err := locale.Load()
	if err != nil {
		return err
	}
	api, err := handlers.New(handlers.Config{DB: st.Ent, Site: site, Words: words, Fetcher: media.NewFetcher(), NoPages: true})
	if err != nil {
		return usageError{err}
	}
	srv, err := server.New(server.Config{
		API: api, Auth: auth.NewVerifier(st.Ent, site.Now), Words: words, Site: site, Log: slog.New(slog.DiscardHandler),
		NoPages: true,
	})
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	list := site.BaseURL + "/" + handlers.Namespace + "/events"
	// A day in each direction is left out, because the first year may not have begun and the last be over in UTC.
	const window = "?start_date=1000-01-02&end_date=9999-12-30"
	for page, total := 1, 1; page <= total; page++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet,
			fmt.Sprintf("%s%s&per_page=%d&page=%d", list, window, exportPage, page), nil)
		if err != nil {
			return err
		}
		res, err := srv.App().Test(req, -1)
		if err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
		var reply struct {
			Events     []json.RawMessage `json:"events"`
			Total      int               `json:"total"`
			TotalPages int               `json:"total_pages"`
			Code       string            `json:"code"`
		}
		err = errors.Join(json.NewDecoder(res.Body).Decode(&reply), res.Body.Close())
		if err == nil && res.StatusCode != http.StatusOK {
			err = fmt.Errorf("status %d, %s", res.StatusCode, reply.Code)
		}
		if err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
		total = reply.TotalPages
		text := ""
		if page == 1 {
			text = fmt.Sprintf(`{"rest_url":%q,"total":%d,"total_pages":1,"events":[`, list+"/"+window, reply.Total)
		}
		for i, event := range reply.Events {
			if page > 1 || i > 0 {
				text += ","
			}
			text += "\n" + string(event)
		}
		if _, err := w.WriteString(text); err != nil {
			return err
		}
	}
	if _, err := w.WriteString("\n]}\n"); err != nil {
		return err
	}
	return w.Flush()
}
