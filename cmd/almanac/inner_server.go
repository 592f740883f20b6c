package main

import (
	"context"
	"log/slog"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/server"
)

// newInnerServer returns a server to which a command sends requests in its own process. It has no caches and no
// limits. If pages is nil, it serves the API only.
func newInnerServer(
	ctx context.Context, st *store.Store, site calendar.Site, pages *settings.Site, mounts ...string,
) (*server.Server, error) {
	words, err := locale.Load()
	if err != nil {
		return nil, err
	}
	config := handlers.Config{
		Calendar: read.Calendar{Primary: st.Ent, Site: site, PageSettings: pages, Words: words},
		Mounts:   mounts, Fetcher: media.NewFetcher(), NoPages: pages == nil,
	}
	if pages != nil {
		// An export works without keys, because its database may be read-only.
		if config.FeedKey, err = edit.FeedKey(ctx, st.Ent); err != nil {
			return nil, err
		}
		if config.PasswordKey, err = edit.PasswordKey(ctx, st.Ent); err != nil {
			return nil, err
		}
	}
	api, err := handlers.New(config)
	if err != nil {
		return nil, usageError{err}
	}
	return server.New(server.Config{
		API: api, Auth: auth.NewVerifier(st.Ent, site.Now), Words: words, Site: site, Log: slog.New(slog.DiscardHandler),
		NoPages: pages == nil,
	})
}
