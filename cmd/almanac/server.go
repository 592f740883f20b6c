package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/idempotency"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/server"
)

// newServer builds the server that answers requests. Its result release frees the resources that it opened.
func (f serveFlags) newServer(
	ctx context.Context, log *slog.Logger, st databases, live *liveSite, lists *index.Index, op *monitoring,
) (_ *server.Server, release func() error, err error) {
	words, err := locale.Load()
	if err != nil {
		return nil, nil, err
	}
	key, err := edit.PasswordKey(ctx, st.Ent)
	if err != nil {
		return nil, nil, fmt.Errorf("key of event passwords: %w", err)
	}
	feedKey, err := edit.FeedKey(ctx, st.Ent)
	if err != nil {
		return nil, nil, fmt.Errorf("key of feeds: %w", err)
	}
	allow, err := f.fetchAllow()
	if err != nil {
		return nil, nil, err
	}
	decoding, err := parseMemory("max-decoding", f.MaxDecoding)
	if err != nil {
		return nil, nil, usageError{err}
	}
	files, err := media.OpenDir(f.Media)
	if err != nil {
		return nil, nil, fmt.Errorf("--media: %w", err)
	}
	size, err := parseMemory("record-cache", f.RecordCache)
	if err != nil {
		return nil, nil, errors.Join(usageError{err}, files.Close())
	}
	live.config = handlers.Config{
		Calendar: read.Calendar{
			Primary: st.Ent, Replica: st.reading().Ent, Index: lists, ServerChanges: st.moves, Words: words, PasswordKey: key, FeedKey: feedKey,
		},
		Version: buildVersion(), Mounts: f.Mount,
		Files: files, Fetcher: media.NewFetcher(allow...), Decoding: media.NewBudget(decoding), NoPages: !f.Pages,
	}
	live.recordCache = size
	api, site, err := live.open(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, files.Close())
	}
	caching, stop, err := f.caching(st)
	if err != nil {
		return nil, nil, errors.Join(err, files.Close())
	}
	release = func() error { return errors.Join(stop(), files.Close()) }
	verifier := auth.NewVerifier(st.Ent, site.Now)
	verifier.Log = log
	var state server.IndexState
	if lists != nil {
		state = lists
	}
	srv, err := server.New(server.Config{
		API: api, Auth: verifier, Words: words, Site: site, Log: log, Media: files, Away: store.IsUnavailable,
		Limits: op.limits, Checks: readinessChecks(st, live), DrainWait: f.DrainWait, Metrics: op.metrics, Tracer: op.tracer,
		Caching: caching, Replays: idempotency.New(st.Store), MaxAge: f.MaxAge, Stale: f.StaleWhileRevalidate, NoPages: !f.Pages,
		Quiet: !f.AccessLog, Index: state, IndexWait: f.IndexWait, Follow: live.follow,
	})
	if err != nil {
		return nil, nil, errors.Join(err, release())
	}
	live.server = srv
	return srv, release, nil
}

// openIndex returns the index of a server, or nil if the flags disable it. Call it after openMonitoring, which
// starts to observe the SQL statements.
func (f serveFlags) openIndex(ctx context.Context, log *slog.Logger, st databases, op *monitoring) (*index.Index, error) {
	if !f.Index {
		return nil, nil
	}
	lists := index.New(st.reading().Ent, read.EventColumns(), log)
	lists.ServerChanges = st.moves
	lists.Snapshot = f.snapshot(ctx, log, st.Store)
	if op.metrics != nil {
		if err := op.metrics.Index(lists); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return lists, nil
}

// readinessChecks returns the checks of /readyz. Anonymous reads use the replicas if there are any, and the
// primary database while these are unavailable.
func readinessChecks(st databases, live *liveSite) []server.Check {
	reading := st.reading()
	schema := func(ctx context.Context) error { return migrate.CheckCurrent(ctx, reading) }
	out := []server.Check{{Name: "database", Do: reading.Reach}, {Name: "schema", Do: schema}}
	if st.Engine() == "sqlite" {
		out = append(out, server.Check{Name: "files", Do: st.CheckFiles})
	}
	return append(out, server.Check{Name: "write", Do: st.CheckWrite, Write: true}, server.Check{Name: "settings", Do: live.usable, Write: true})
}

// caching returns the settings of the reply cache. Call stop before the database is closed.
func (f operateFlags) caching(st databases) (_ reply.Caching, stop func() error, err error) {
	size, err := parseMemory("cache-size", f.CacheSize)
	if err != nil {
		return reply.Caching{}, nil, usageError{err}
	}
	reading := st.reading()
	revision := reading.NewQuestion(index.RevisionQuery)
	return reply.Caching{
		Size: size, Delay: f.CacheDelay, Revision: revision.Ask, ServerChanges: st.moves,
		NextDue: func(ctx context.Context, now time.Time) (time.Time, error) {
			return edit.NextDue(ctx, reading.Ent, now)
		},
	}, revision.Close, nil
}
