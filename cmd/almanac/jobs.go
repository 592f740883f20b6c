package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/idempotency"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/server"
)

// startJobs starts the jobs that a process runs beside serving requests. They end with ctx. The index lists is
// nil if the process has none.
func (f serveFlags) startJobs(
	ctx context.Context, group *errgroup.Group, log *slog.Logger, st databases, srv *server.Server, live *liveSite, lists *index.Index,
) error {
	every := func(interval time.Duration, do func()) {
		group.Go(func() error { return repeatEvery(ctx, interval, do) })
	}
	if lists != nil {
		group.Go(func() error { return lists.Run(ctx) })
		if lists.Snapshot != nil {
			group.Go(func() error { return lists.KeepSnapshot(ctx) })
		}
	}
	every(dueEvery, func() { publishDue(ctx, srv.Log, st.Store) })
	every(followEvery, func() { live.watch(ctx, log) })
	horizon := &horizonJob{log: srv.Log, db: st.Ent, site: live.site}
	every(dueEvery, func() { horizon.run(ctx, clockNow()) })
	if st.Engine() == "sqlite" {
		group.Go(func() error { return watchFiles(ctx, srv.Log, st.Store) })
	}
	every(forgetEvery, func() {
		forgetKeys(ctx, srv.Log, srv.Replays)
		forgetWithdrawals(ctx, srv.Log, st.Ent)
	})
	keep, err := f.keepChanges()
	if err != nil {
		return usageError{err}
	}
	if keep > 0 {
		every(forgetEvery, func() { forgetChanges(ctx, srv.Log, st.Ent, keep) })
	}
	return nil
}

// repeatEvery calls do once per interval until ctx ends.
func repeatEvery(ctx context.Context, interval time.Duration, do func()) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			do()
		}
	}
}

// checkFilesEvery is how often a process checks that the files of its SQLite database are still at their paths.
// Each write checks that, too.
const checkFilesEvery = time.Second

// watchFiles checks the files of an SQLite database until ctx ends. It logs once if they were removed or
// replaced.
func watchFiles(ctx context.Context, log *slog.Logger, st *store.Store) error {
	tick := time.NewTicker(checkFilesEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := st.CheckFiles(ctx); errors.Is(err, store.ErrFilesReplaced) {
			log.Error("database files replaced: writes are refused until this process is restarted",
				"error", err, "help", "docs/operations.md, section Files that are replaced")
			return nil
		}
	}
}

// dueEvery is how often a process publishes scheduled records and extends series. Replies do not depend on it. A
// scheduled record counts as published from its date, and occurrences are made two weeks before lists need them.
const dueEvery = time.Second

// publishDue publishes scheduled records whose date has passed. It logs an error, and the next call retries.
func publishDue(ctx context.Context, log *slog.Logger, st *store.Store) {
	n, err := edit.PublishDue(ctx, st.Ent, clockNow())
	switch {
	case err != nil && ctx.Err() == nil:
		log.Error("scheduled publication", "error", err)
	case n > 0:
		log.Info("scheduled publication", "records", n)
	}
}

// horizonJob creates the next occurrences of endless series, including series that other processes created.
type horizonJob struct {
	log     *slog.Logger
	db      *ent.Client
	site    func() calendar.Site
	retryAt time.Time // zero after a success
}

// horizonRetry is the pause after a series failed, so that the log gets at most one line a minute.
const horizonRetry = time.Minute

// run creates occurrences for series that lack them. It logs an error, and a later call retries.
func (j *horizonJob) run(ctx context.Context, at time.Time) {
	if at.Before(j.retryAt) {
		return
	}
	j.retryAt = time.Time{}
	n, err := series.ExtendDue(ctx, j.db, j.site(), at)
	if n > 0 {
		j.log.Info("occurrences of series", "events", n)
	}
	if err != nil && ctx.Err() == nil {
		j.log.Error("occurrences of series", "error", err)
		j.retryAt = at.Add(horizonRetry)
	}
}

// forgetEvery is the time between two removals of expired idempotency keys and of old withdrawals. Expired keys have
// no effect anyway.
const forgetEvery = time.Minute

// forgetKeys removes expired idempotency keys. It logs an error.
func forgetKeys(ctx context.Context, log *slog.Logger, keys *idempotency.Keys) {
	if _, err := keys.DeleteExpired(ctx, clockNow()); err != nil && ctx.Err() == nil {
		log.Error("expired idempotency keys", "error", err)
	}
}

// forgetWithdrawals removes withdrawals that no feed shows any more. It logs an error.
func forgetWithdrawals(ctx context.Context, log *slog.Logger, db *ent.Client) {
	if _, err := edit.ForgetWithdrawals(ctx, db, clockNow()); err != nil && ctx.Err() == nil {
		log.Error("old withdrawals", "error", err)
	}
}

// forgetPause is the pause of forgetChanges after a batch, as a multiple of the time that the batch took.
const forgetPause = 9

// forgetChanges removes the entries of the change log that are older than keep. It pauses between batches,
// because other writers wait during each batch. It logs an error.
func forgetChanges(ctx context.Context, log *slog.Logger, db *ent.Client, keep time.Duration) {
	for {
		started := time.Now()
		n, err := edit.ForgetChanges(ctx, db, clockNow().Add(-keep))
		if err != nil && ctx.Err() == nil {
			log.Error("old changes", "error", err)
		}
		if err != nil || n == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(forgetPause * time.Since(started)):
		}
	}
}
