package main

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/server"
)

// liveSite is the site of a running server. When the settings in the database change, it replaces the handlers.
type liveSite struct {
	flags       serveFlags
	source      siteSource
	st          databases
	config      handlers.Config // of the handlers, without what depends on the site
	recordCache int64           // size of the cache of records, in bytes
	server      *server.Server

	replacing chan struct{} // full while one request or job looks for other settings
	now       atomic.Pointer[calendar.Site]
	unusable  atomic.Pointer[unusableSettings] // nil if the settings in the database are used
}

// newLiveSite returns a liveSite without settings and server. The method open reads the settings.
func newLiveSite(flags serveFlags, source siteSource, st databases) *liveSite {
	return &liveSite{flags: flags, source: source, st: st, replacing: make(chan struct{}, 1)}
}

// site returns the site with the settings that the process uses now.
func (l *liveSite) site() calendar.Site { return *l.now.Load() }

// open returns handlers with the settings that are stored in the database now, and the site of these settings.
func (l *liveSite) open(ctx context.Context) (*handlers.Handlers, calendar.Site, error) {
	stored, text, err := edit.StoredSite(ctx, l.st.Ent)
	if err != nil {
		return nil, calendar.Site{}, err
	}
	api, site, err := l.build(stored, text)
	if err == nil {
		l.now.Store(&site)
	}
	return api, site, err
}

// build returns handlers with the given stored settings and empty caches, and their site. The argument text is
// the stored form of the settings.
func (l *liveSite) build(stored settings.Layer, text string) (*handlers.Handlers, calendar.Site, error) {
	all, site, err := l.source.resolve(stored, text)
	if err != nil {
		return nil, site, err
	}
	site.BaseURL = l.flags.BaseURL
	c := l.config
	c.Site, c.PageSettings = site, &all
	if c.RecordCache, err = reply.NewRecordCache(l.recordCache); err != nil {
		return nil, site, err
	}
	api, err := handlers.New(c)
	if err != nil {
		return nil, site, usageError{err}
	}
	return api, site, nil
}

// usable returns the error why the process cannot use the settings in the database, for the readiness check. Nil
// means that it uses them.
func (l *liveSite) usable(context.Context) error {
	if bad := l.unusable.Load(); bad != nil {
		return bad.err
	}
	return nil
}

// follow reads the settings in the database. If they have changed, it makes the server use them. If the server
// cannot use them, usable reports that from then on.
func (l *liveSite) follow(ctx context.Context) error {
	select {
	case l.replacing <- struct{}{}:
		defer func() { <-l.replacing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	stored, text, err := edit.StoredSite(ctx, l.st.Ent)
	bad := l.unusable.Load()
	switch {
	case err != nil && text == "":
		return err
	case bad != nil && bad.text == text:
		return nil
	}
	if err == nil && text != l.site().Stored {
		err = l.replace(stored, text)
	}
	bad = nil
	if err != nil {
		bad = &unusableSettings{text: text, err: err}
	}
	l.unusable.Store(bad)
	return nil
}

// replace makes the server answer requests with the given stored settings. The argument text is their stored
// form.
func (l *liveSite) replace(stored settings.Layer, text string) error {
	api, site, err := l.build(stored, text)
	if err == nil {
		err = l.server.Replace(api, site)
	}
	if err == nil {
		l.now.Store(&site)
	}
	return err
}

// watch calls follow once. It logs new settings and errors.
func (l *liveSite) watch(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, followTimeout)
	defer cancel()
	before := l.site().Stored
	err := l.follow(ctx)
	bad := l.unusable.Load()
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		log.Error("settings of the site", "error", err)
	case bad != nil && bad.told.CompareAndSwap(false, true):
		log.Error("settings of the site", "error", bad.err)
	case l.site().Stored != before:
		log.Info("the settings of the site have changed")
	}
}

// unusableSettings are settings in the database that a process cannot use.
type unusableSettings struct {
	text string
	err  error
	told atomic.Bool // a warning about these settings was logged
}

// followEvery is how often a process looks for new settings of the site. A write finds them at once.
const followEvery = time.Second

// followTimeout is how long a process waits for the database when it looks for new settings.
const followTimeout = 5 * time.Second
