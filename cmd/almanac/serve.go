package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sync/errgroup"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/idempotency"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/server"
)

// parseZone parses the value of --timezone. Its usageError suggests a zone with similar spelling.
func parseZone(text string) (calendar.Zone, error) {
	zone, err := calendar.ParseZone(text)
	if err == nil {
		return zone, nil
	}
	hint := "want a name such as Europe/Warsaw, or UTC+2"
	if name := nearestZone(text); name != "" {
		hint = "did you mean " + name + "?"
	}
	return calendar.Zone{}, usageError{fmt.Errorf("--timezone %q: %w; %s", text, err, hint)}
}

// nearestZone returns the time zone whose name or city is most similar to text. It returns "" if more than a
// third of the letters differ. It also returns "" for abbreviations such as CEST, since a wrong zone is worse
// than none.
func nearestZone(text string) (nearest string) {
	text = strings.ToLower(strings.ReplaceAll(text, " ", "_"))
	limit := 1
	if len(text) > 4 {
		limit += len(text) / 3
	}
	for _, name := range calendar.ZoneNames() {
		compared := name
		if !strings.Contains(text, "/") {
			compared = path.Base(name)
		}
		if d := editDistance(text, strings.ToLower(compared)); d < limit {
			nearest, limit = name, d
		}
	}
	return nearest
}

// clockNow returns the current time in UTC and whole seconds. It is the clock of every site.
func clockNow() time.Time { return time.Now().UTC().Truncate(time.Second) }

// serveFlags has the flags that serve and demo share.
type serveFlags struct {
	siteFlags  `group:"Site:"`
	moneyFlags `group:"Site:"`
	Listen     string   `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to listen on. PORT alone is on 127.0.0.1, :PORT on all addresses. Default ${default}."`
	BaseURL    string   `placeholder:"URL" help:"Public address of the REST root, with a path or without. Default http:// and the listen address."`
	PerPage    *int     `placeholder:"N" help:"Records on a page if a request has no per_page, 1 to 50. Default that of the calendar, which is 10 until one is set."`
	Mount      []string `placeholder:"PATH" help:"Also serve the API under this path, such as /wp-json/tribe/events/v1. Repeatable, or a comma list."`
	Media      string   `default:"almanac-media" type:"path" placeholder:"DIR" help:"Folder of the images. Default ${default}."`
	FetchAllow []string `placeholder:"CIDR" help:"Private networks that images may be downloaded from. Repeatable, or a comma list. Default none."`
	Index      bool     `default:"true" negatable:"" help:"Keep an index in memory to filter and sort lists, about 0.2 to 0.3 KB per event. Without it the database does this work. On by default."`
	Pages      bool     `default:"true" negatable:"" help:"Serve pages for people, with an API reference to try at /docs. On by default."`
	Site       string   `type:"path" placeholder:"FOLDER" help:"Folder with the site's own title, colours, logo and more. Default none."`
	AccessLog  bool     `default:"true" negatable:"" help:"Log a line for each request. Without it, only for requests whose status is 500 or more. On by default."`
	LogFormat  string   `default:"text" placeholder:"FORMAT" enum:"text,json" help:"Format of log lines: text or json. Default ${default}."`

	operateFlags `group:"Limits, caches, shutdown and monitoring:"`
}

type serveCmd struct {
	database `group:"Database:"`
	serveFlags
	DBRead    []string      `name:"db-read" sep:"none" placeholder:"URL" help:"Replica of the database for anonymous reads. Requests with credentials read the database itself, so users see what they wrote. Repeatable, or a comma list. Default none."`
	DBReadLag time.Duration `name:"db-read-lag" default:"10s" placeholder:"TIME" help:"Longest replica lag. A replica that lags more, or does not answer, gets no reads. Default ${default}."`
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
	if names := env.strange(s.Environ); len(names) > 0 {
		log.Warn("there are no such settings", "variables", strings.Join(names, ","))
	}
	sock, err := c.early(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sock.close()) }()
	fmt.Fprintf(s.Err, "almanac: starting at %s\n", c.address(sock))
	return c.with(ctx, func(st *store.Store) error {
		if err := currentData(ctx, st, source, c.Migrate); err != nil {
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

// withReplicas opens the replicas, runs do with them, and closes them. do receives nil if there are none.
func (c serveCmd) withReplicas(
	ctx context.Context, log *slog.Logger, st *store.Store, sameCalendar func(context.Context, *store.Store) error,
	do func(*store.Store) error,
) (err error) {
	urls := splitURLs(c.DBRead)
	if len(urls) == 0 {
		return do(nil)
	}
	options := store.ReplicaOptions{
		Revision: index.RevisionQuery, MaxLag: c.DBReadLag,
		Check: func(ctx context.Context, replica *store.Store) error {
			if err := migrate.CheckCurrent(ctx, replica); err != nil {
				return err
			}
			return sameCalendar(ctx, replica)
		},
	}
	replicas, err := st.OpenReplicas(ctx, urls, options)
	switch {
	case errors.Is(err, store.ErrURL):
		return usageError{fmt.Errorf("--db-read: %w", err)}
	case err != nil:
		return fmt.Errorf("--db-read: %w", err)
	}
	defer func() { err = errors.Join(err, replicas.Close()) }()
	replicas.LogServers(log)
	return do(replicas)
}

// urlComma matches a comma between two URLs. A password may also contain a comma.
var urlComma = regexp.MustCompile(`,[a-z+]+://`)

// splitURLs returns the URLs of a flag that may be repeated and may have lists.
func splitURLs(given []string) (urls []string) {
	for _, text := range given {
		for {
			at := urlComma.FindStringIndex(text)
			if at == nil {
				break
			}
			urls, text = append(urls, text[:at[0]]), text[at[0]+1:]
		}
		urls = append(urls, text)
	}
	return urls
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

// address returns the address at which clients on this machine reach the server.
func (f serveFlags) address(sock sockets) string {
	if sock.public == nil {
		return hostPort(f.Listen)
	}
	return reachableAddress(sock.public.Addr())
}

// logging returns the log of a server, and logs warnings about settings that have no effect.
func (f serveFlags) logging(s streams) *slog.Logger {
	log := slog.New(f.handler(s.Err))
	s.Libraries.use(log)
	f.warn(log)
	return log
}

// databases has the primary database, and the store that reads its replicas. replicas is nil if there are none.
type databases struct {
	*store.Store
	replicas *store.Store
}

// moves returns a number that changes whenever other servers are read or written (store.Store.Moves).
func (d databases) moves() int64 {
	if d.replicas == nil {
		return d.Moves()
	}
	return d.Moves() + d.replicas.Moves()
}

// reading returns the store for anonymous reads: the replicas if there are any, else the primary database.
func (d databases) reading() *store.Store {
	if d.replicas != nil {
		return d.replicas
	}
	return d.Store
}

// source returns where the settings of the site come from. For a wrong flag or folder it returns a usageError.
func (f serveFlags) source() (siteSource, error) {
	var source siteSource
	var err error
	if source.flags, err = f.flags(); err != nil {
		return source, err
	}
	if err := f.add(source.flags.Layer); err != nil {
		return source, err
	}
	if f.PerPage != nil {
		if err := source.flags.Set("per-page", strconv.Itoa(*f.PerPage)); err != nil {
			return source, flagError(err)
		}
	}
	if _, err := net.ResolveTCPAddr("tcp", numericHost(f.Listen)); err != nil {
		return source, usageError{fmt.Errorf("--listen %q: want HOST:PORT, :PORT or PORT", f.Listen)}
	}
	if _, err := f.fetchAllow(); err != nil {
		return source, err
	}
	if err := f.check(); err != nil {
		return source, err
	}
	if f.Site != "" {
		if source.folder, err = settings.Read(f.Site); err != nil {
			return source, usageError{fmt.Errorf("--site %s: %w", f.Site, err)}
		}
	}
	if err := f.checkSockets(os.Getenv); err != nil {
		return source, err
	}
	return source, f.try(source)
}

// try builds the API without a database, so that a wrong base URL or mount is reported before anything is opened.
func (f serveFlags) try(source siteSource) error {
	all, site, err := source.resolve(nil, "")
	if err != nil {
		return usageError{err}
	}
	if site.BaseURL = f.BaseURL; site.BaseURL == "" {
		site.BaseURL = "http://localhost"
	}
	if _, err := handlers.New(handlers.Config{Site: site, PageSettings: &all, Mounts: f.Mount, NoPages: true}); err != nil {
		return usageError{err}
	}
	return nil
}

// numericHost returns an address whose host needs no DNS lookup.
func numericHost(address string) string {
	address = hostPort(address)
	if _, port, err := net.SplitHostPort(address); err == nil {
		return ":" + port
	}
	return address
}

// requireCurrent checks that the schema is up to date, or returns an error that says how to update it. On SQLite,
// or with apply, it applies migrations.
func requireCurrent(ctx context.Context, st *store.Store, apply bool) error {
	if apply || st.Engine() == "sqlite" {
		_, err := migrate.Apply(ctx, st, migrate.ApplyOptions{Operator: version()})
		return err
	}
	return adviseMigration(migrate.CheckCurrent(ctx, st), st)
}

// adviseMigration adds the command that updates an outdated schema to an error. The command has a placeholder instead
// of the user, because the user of the server may not be allowed to change tables.
func adviseMigration(err error, st *store.Store) error {
	if !errors.Is(err, migrate.ErrBehind) {
		return err
	}
	command, rights := "apply", ""
	if errors.Is(err, migrate.ErrNotEmpty) {
		command = "baseline VERSION"
	}
	if st.Engine() == "mysql" {
		rights = ", with a user that may change tables"
	}
	return fmt.Errorf("%w\nRun 'almanac migrate %s --db %s'%s", err, command, st.URLFor("MIGRATING-USER"), rights)
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
	op, err := f.operation(ctx, log, st, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, op.end()) }()
	var lists *index.Index
	if f.Index {
		// must follow operation, which starts to observe the statements
		lists = index.New(st.reading().Ent, handlers.EventColumns(), log)
		lists.Moves = st.moves
		lists.Snapshot = f.snapshot(ctx, log, st.Store)
		if op.metrics != nil {
			if err := op.metrics.Index(lists); err != nil {
				return fmt.Errorf("metrics: %w", err)
			}
		}
	}
	live := newLiveSite(f, source, st)
	srv, release, err := f.server(ctx, log, st, live, lists, op)
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
	if lists != nil {
		group.Go(func() error { return lists.Run(ctx) })
		if lists.Snapshot != nil {
			group.Go(func() error { return lists.KeepSnapshot(ctx) })
		}
	}
	group.Go(func() error {
		return repeatEvery(ctx, dueEvery, func() { publishDue(ctx, srv.Log, st.Store) })
	})
	group.Go(func() error { return repeatEvery(ctx, followEvery, func() { live.watch(ctx, log) }) })
	horizon := &horizonJob{log: srv.Log, db: st.Ent, site: live.site}
	group.Go(func() error {
		return repeatEvery(ctx, dueEvery, func() { horizon.run(ctx, clockNow()) })
	})
	if st.Engine() == "sqlite" {
		group.Go(func() error { return watchFiles(ctx, srv.Log, st.Store) })
	}
	group.Go(func() error {
		return repeatEvery(ctx, forgetEvery, func() {
			forgetKeys(ctx, srv.Log, srv.Replays)
			forgetWithdrawals(ctx, srv.Log, st.Ent)
		})
	})
	keep, err := f.keepChanges()
	if err != nil {
		return usageError{err}
	}
	if keep > 0 {
		group.Go(func() error {
			return repeatEvery(ctx, forgetEvery, func() { forgetChanges(ctx, srv.Log, st.Ent, keep) })
		})
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

// welcome prints the address of the pages. For a calendar without records it also prints what to do next.
func (f serveFlags) welcome(ctx context.Context, s streams, st *store.Store, site calendar.Site) error {
	if f.Pages {
		fmt.Fprintf(s.Err, "almanac: pages for visitors at %s/\n", site.BaseURL)
	}
	used, err := hasRecords(ctx, st)
	if err != nil || used {
		return err
	}
	users, err := auth.ListUsers(ctx, st.Ent)
	if err != nil {
		return err
	}
	db := shellQuote(st.String())
	fmt.Fprintln(s.Err, "almanac: the calendar is empty; next, in another terminal:")
	if len(users) == 0 {
		fmt.Fprintf(s.Err, "almanac:   almanac user add LOGIN --role administrator --db %s   # prints a token to write events with\n", db)
	}
	fmt.Fprintf(s.Err, "almanac:   almanac import FILE-OR-URL --db %s   # copies a calendar\n", db)
	if f.Pages {
		fmt.Fprintf(s.Err, "almanac:   %s/docs   # tries the API in the browser\n", site.BaseURL)
	}
	return nil
}

// reachableAddress returns the address of a listener for clients on this machine. It has the actual port if port
// 0 was requested. "localhost" replaces the address that means all addresses.
func reachableAddress(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return a.String()
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

// horizonJob makes the next occurrences of endless series, including those that other processes created.
type horizonJob struct {
	log     *slog.Logger
	db      *ent.Client
	site    func() calendar.Site
	retryAt time.Time // zero after a success
}

// horizonRetry is how long a process waits after a series failed, so that the log gets one line a minute.
const horizonRetry = time.Minute

// run makes occurrences for the series that are due. It logs an error, and a later call retries.
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

// forgetPause is the pause of forgetChanges after a batch, in times of the batch.
const forgetPause = 9

// forgetChanges removes the entries of the change log that are older than keep. It pauses between the batches, because writers
// wait for each. It logs an error.
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

// server builds the server that answers requests. release frees what it opened.
func (f serveFlags) server(
	ctx context.Context, log *slog.Logger, st databases, live *liveSite, lists *index.Index, op *operation,
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
		DB: st.Ent, Replica: st.reading().Ent, Index: lists, Moves: st.moves, Words: words,
		Version: buildVersion(), PasswordKey: key, FeedKey: feedKey, Mounts: f.Mount,
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

func (f serveFlags) fetchAllow() ([]netip.Prefix, error) {
	out := make([]netip.Prefix, len(f.FetchAllow))
	for i, text := range f.FetchAllow {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, usageError{fmt.Errorf("--fetch-allow: %w", err)}
		}
		out[i] = p
	}
	return out, nil
}

func (f serveFlags) handler(w io.Writer) slog.Handler {
	if f.LogFormat == "json" {
		return slog.NewJSONHandler(w, nil)
	}
	return slog.NewTextHandler(w, nil)
}

// removeAll removes a temporary folder and adds any error to *err. It is for defer statements.
func removeAll(dir string, err *error) { *err = errors.Join(*err, os.RemoveAll(dir)) }
