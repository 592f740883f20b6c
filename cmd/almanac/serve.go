package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sync/errgroup"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/server"
)

type serveCmd struct {
	database `group:"Database:"`
	serveFlags
	DBRead    []string      `name:"db-read" sep:"none" placeholder:"URL" help:"Replica for anonymous reads. Requests with credentials read the primary. Repeatable, or a comma list. Default none."`
	DBReadLag time.Duration `name:"db-read-lag" default:"10s" placeholder:"TIME" help:"Longest replica lag. A replica that lags more gets no reads. Default ${default}."`
	Migrate   bool          `help:"Apply missing migrations before serving. SQLite needs no flag for it."`
}

// Run serves until ctx ends.
func (c serveCmd) Run(ctx context.Context, s streams, env *environment) (err error) {
	defer func() { err = reportStop(ctx, s, err) }()
	source, err := c.source()
	if err != nil {
		return err
	}
	if c.DBReadLag < time.Second || c.DBReadLag > time.Hour {
		return usageError{fmt.Errorf("--db-read-lag %v: want a time such as 10s, an hour at most", c.DBReadLag)}
	}
	log := c.logging(s)
	if names := env.unknownVariables(s.Environ); len(names) > 0 {
		log.Warn("there are no such settings", "variables", strings.Join(names, ","))
	}
	sock, err := c.openSocketsEarly(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sock.close()) }()
	fmt.Fprintf(s.Err, "almanac: starting at %s\n", c.address(sock))
	return c.withStore(ctx, func(st *store.Store) error {
		if err := prepareSchema(ctx, st, source, c.Migrate); err != nil {
			return err
		}
		if err := c.adopt(ctx, log, st, source); err != nil {
			return err
		}
		key, err := edit.PasswordKey(ctx, st.Ent)
		if err != nil {
			return fmt.Errorf("key of event passwords: %w", err)
		}
		sameCalendar := func(ctx context.Context, other *store.Store) error {
			return edit.CheckSameCalendar(ctx, other.Ent, key)
		}
		if err := st.CheckServers(ctx, sameCalendar); err != nil {
			return fmt.Errorf("--db %s: %w", st, err)
		}
		st.LogServers(log)
		if err := st.OpenPool(ctx); err != nil {
			return err
		}
		return c.withReplicas(ctx, log, st, sameCalendar, func(replicas *store.Store) error {
			return c.listen(ctx, s, log, sock, databases{st, replicas}, source, nil)
		})
	})
}

// reportStop prints that a server has stopped on request. It returns the error that the server ended with. A stop
// before the server was ready is not an error.
func reportStop(ctx context.Context, s streams, err error) error {
	if ctx.Err() == nil || err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	fmt.Fprintln(s.Err, "almanac: stopped")
	return nil
}

// listen serves an open database on sock. If sock is empty, it opens sockets itself. It calls ready once, when
// connections are accepted. The context of ready ends with the server.
func (f serveFlags) listen(
	ctx context.Context, s streams, log *slog.Logger, sock sockets, st databases, source siteSource,
	ready func(context.Context, calendar.Site) error,
) (err error) {
	if sock.public == nil {
		if sock, err = f.sockets(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, sock.close()) }()
	}
	at := sock.public.Addr()
	f.BaseURL = cmp.Or(strings.TrimRight(f.BaseURL, "/"), "http://"+reachableAddress(at))
	st.LimitStatements(store.StatementLimit)
	if st.replicas != nil {
		st.replicas.LimitStatements(store.StatementLimit)
	}
	op, err := f.openMonitoring(ctx, log, st, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, op.end()) }()
	lists, err := f.openIndex(ctx, log, st, op)
	if err != nil {
		return err
	}
	live := newLiveSite(f, source, st)
	srv, release, err := f.newServer(ctx, log, st, live, lists, op)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	site := live.site()
	if err := warnOfData(ctx, log, st.Store); err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "almanac: serving %s/%s on %s from %s\n", site.BaseURL, handlers.Namespace, at, st)
	if ready == nil {
		if err := f.welcome(ctx, s, st.Store, site); err != nil {
			return err
		}
	}
	// The private listener outlives ctx, so that monitoring also sees the shutdown.
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWatching()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer stopWatching()
		return srv.Serve(ctx, sock.public)
	})
	if sock.private != nil {
		fmt.Fprintf(s.Err, "almanac: metrics on http://%s/metrics\n", reachableAddress(sock.private.Addr()))
		if f.Pprof {
			warnOfPprof(log, sock.private.Addr())
		}
		group.Go(func() error { return server.ServePrivate(watching, sock.private, srv.Private(f.Pprof)) })
	}
	if err := f.startJobs(ctx, group, log, st, srv, live, lists); err != nil {
		return err
	}
	if ready != nil {
		group.Go(func() error {
			err := ready(ctx, site)
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				return nil // the server was stopped before it was ready
			}
			return err
		})
	}
	if _, err := daemon.SdNotify(false, daemon.SdNotifyReady); err != nil {
		log.Warn("systemd was not told", "error", err)
	}
	return group.Wait()
}
