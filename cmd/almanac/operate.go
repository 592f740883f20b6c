package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"go.opentelemetry.io/otel/trace"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/server"
)

// operateFlags are the flags for limits, caches, shutdown and monitoring.
type operateFlags struct {
	RequestTimeout          time.Duration `default:"15s" placeholder:"TIME" help:"Longest time for one request, the database included. Default ${default}."`
	UploadTimeout           time.Duration `default:"60s" placeholder:"TIME" help:"Longest time for an upload of an image. Default ${default}."`
	CacheSize               string        `default:"64MiB" placeholder:"SIZE" help:"Memory for a cache of replies to anonymous requests. 0 disables it. Default ${default}."`
	RecordCache             string        `default:"32MiB" placeholder:"SIZE" help:"Memory for a cache of records as lists show them. 0 disables it. Default ${default}."`
	CacheDelay              time.Duration `default:"0s" placeholder:"TIME" help:"Longest time that a cached reply may miss a write of another process. 0s asks the database for its revision at each request. Default ${default}."`
	MaxConcurrent           int           `default:"0" placeholder:"N" help:"Requests served at once. 0 means the default. Others wait up to a second and are then refused. Default 32 for each processor."`
	MaxSending              string        `default:"256MiB" placeholder:"SIZE" help:"Memory for large replies that clients have not read yet. 0 means no limit. Beyond it, requests are refused. Default ${default}."`
	MaxReceiving            string        `default:"128MiB" placeholder:"SIZE" help:"Memory for request bodies of 64 KiB and more that are still arriving. 0 means no limit. Beyond it, requests are refused. Default ${default}."`
	MaxDecoding             string        `default:"512MiB" placeholder:"SIZE" help:"Memory for decoding pictures. 0 means no limit. Pictures wait for each other; one that needs more is refused. Default ${default}."`
	MaxConnections          int           `default:"4096" placeholder:"N" help:"Connections at once. 0 means no limit. Default ${default}."`
	MaxConnectionsByAddress int           `default:"256" placeholder:"N" help:"Connections at once from one public address. 0 means no limit. Default ${default}."`
	RateLimit               string        `default:"auto" placeholder:"RATE" help:"Rate of requests without credentials from one address, such as 100/s, 600/m burst 200, or off. Default 50/s burst 250 from public addresses, and off if the service listens on this machine only."`
	RateLimitToken          string        `default:"auto" placeholder:"RATE" help:"Rate of requests with one token. Default 200/s burst 1000 from public addresses, and off if the service listens on this machine only."`
	RateRedis               string        `placeholder:"URL" help:"Redis or Valkey in which all processes count rates together: redis://USER:PASSWORD@HOST:PORT/0. Default: each process counts its own."`
	TrustedProxy            []string      `placeholder:"CIDR" help:"Networks of trusted proxies, which name the address of the client in a header. Repeatable, or a comma list. Default none."`
	ProxyHeader             string        `default:"x-forwarded-for" placeholder:"NAME" enum:"x-forwarded-for,forwarded" help:"Header in which trusted proxies name the address of the client: x-forwarded-for or forwarded. Default ${default}."`
	MaxAge                  time.Duration `default:"0s" placeholder:"TIME" help:"How long HTTP caches may use replies to anonymous requests before they revalidate them. Default ${default}."`
	StaleWhileRevalidate    time.Duration `default:"10s" placeholder:"TIME" help:"How long HTTP caches may use a stale reply while they revalidate it. Default ${default}."`
	DrainWait               time.Duration `default:"0s" placeholder:"TIME" help:"How long to go on serving after the signal to stop, while /readyz answers 503. Default ${default}."`
	IndexWait               time.Duration `default:"1m" placeholder:"TIME" help:"Longest time after the start that /readyz answers 503 while the index loads. 0s does not wait. Default ${default}."`
	IndexSnapshot           string        `default:"auto" placeholder:"DIR" help:"Folder for a copy of the index, from which a process reads it when it starts. none makes no copy. Default the folder of the SQLite file, and none on MySQL."`
	KeepChanges             string        `default:"90d" placeholder:"TIME" help:"How long the change log of the database is kept, such as 90d or 48h, at least 24h. 0 keeps all of it. Default ${default}."`
	ReusePort               bool          `help:"Share the listen address with other processes, so that a new one can start before the old one stops."`
	MetricsListen           string        `placeholder:"HOST:PORT" help:"Second address, for operators only, with /metrics for Prometheus. Default none."`
	Pprof                   bool          `help:"Serve profiles of the process at /debug/pprof/ of the --metrics-listen address."`
	OTLPEndpoint            string        `name:"otlp-endpoint" placeholder:"URL" help:"Collector of OpenTelemetry traces, over HTTP. Default OTEL_EXPORTER_OTLP_ENDPOINT, if that is set."`
}

// Default rates of requests, for --rate-limit and --rate-limit-token, and the size of counters in memory.
const (
	autoValue    = "auto"
	addressRate  = "50/s burst 250"
	tokenRate    = "200/s burst 1000" //nolint:gosec // no token, but how often one may ask
	countedLocal = 200_000            // largest number of keys counted in memory while Redis is unavailable
)

// keepChanges returns how long the change log is kept. 0 means forever.
func (f operateFlags) keepChanges() (time.Duration, error) {
	at, err := later(f.KeepChanges, time.Time{})
	keep := at.Sub(time.Time{})
	if err != nil || keep != 0 && keep < edit.LeastKept {
		return 0, fmt.Errorf("--keep-changes %q: want a time such as 90d or 48h, of at least 24h, or 0", f.KeepChanges)
	}
	return keep, nil
}

// check returns an error that names the first wrong flag. It runs before anything is opened.
func (f operateFlags) check() error {
	if _, err := f.limits(nil); err != nil {
		return usageError{err}
	}
	for _, d := range []struct {
		flag  string
		value time.Duration
		least time.Duration
	}{
		{"request-timeout", f.RequestTimeout, time.Millisecond},
		{"upload-timeout", f.UploadTimeout, time.Millisecond},
		{"drain-wait", f.DrainWait, 0},
		{"index-wait", f.IndexWait, 0},
		{"cache-delay", f.CacheDelay, 0},
	} {
		if d.value < d.least || d.value > time.Hour {
			return usageError{fmt.Errorf("--%s %v: want a time such as 15s, an hour at most", d.flag, d.value)}
		}
	}
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{
		{"max-age", f.MaxAge},
		{"stale-while-revalidate", f.StaleWhileRevalidate},
	} {
		if d.value < 0 || d.value > 365*24*time.Hour || d.value%time.Second != 0 {
			return usageError{fmt.Errorf("--%s %v: want whole seconds, a year at most", d.flag, d.value)}
		}
	}
	for _, n := range []struct {
		flag  string
		value int
	}{
		{"max-concurrent", f.MaxConcurrent},
		{"max-connections", f.MaxConnections},
		{"max-connections-by-address", f.MaxConnectionsByAddress},
	} {
		if n.value < 0 || n.value > 1_000_000 {
			return usageError{fmt.Errorf("--%s %d: want 0 to 1000000", n.flag, n.value)}
		}
	}
	if _, err := f.keepChanges(); err != nil {
		return usageError{err}
	}
	for _, m := range []struct{ flag, size string }{{"cache-size", f.CacheSize}, {"record-cache", f.RecordCache}, {"max-sending", f.MaxSending}, {"max-receiving", f.MaxReceiving}, {"max-decoding", f.MaxDecoding}} {
		if _, err := parseMemory(m.flag, m.size); err != nil {
			return usageError{err}
		}
	}
	if f.RateRedis != "" {
		shared, err := limit.NewRedis(f.RateRedis, "", nil)
		if err != nil {
			return usageError{fmt.Errorf("--rate-redis: %w", err)}
		}
		if err := shared.Close(); err != nil {
			return err
		}
	}
	if f.MetricsListen != "" {
		if _, err := net.ResolveTCPAddr("tcp", numericHost(f.MetricsListen)); err != nil {
			return usageError{fmt.Errorf("--metrics-listen %q: want HOST:PORT or PORT", f.MetricsListen)}
		}
	}
	if f.Pprof && f.MetricsListen == "" {
		return usageError{errors.New("--pprof: want --metrics-listen with it, because profiles are not for the public")}
	}
	if _, err := f.collector(os.Getenv); err != nil {
		return usageError{err}
	}
	return nil
}

// warn logs settings that have no effect without another one.
func (f operateFlags) warn(log *slog.Logger) {
	if f.ProxyHeader == "forwarded" && len(f.TrustedProxy) == 0 {
		log.Warn("--proxy-header has no effect without --trusted-proxy: the header is not read")
	}
	if size, err := parseMemory("cache-size", f.CacheSize); err == nil && size == 0 && f.CacheDelay > 0 {
		log.Warn("--cache-delay has no effect with --cache-size 0: no replies are kept")
	}
}

// maxMemory is the largest size, in bytes, that parseMemory accepts.
const maxMemory = 1 << 40

// parseMemory parses the size in bytes that a flag gives. flag is the name for errors.
func parseMemory(flag, text string) (int64, error) {
	size, err := humanize.ParseBytes(text)
	if err != nil || size > maxMemory {
		return 0, fmt.Errorf("--%s %q: want a size such as 64MiB, or 0", flag, text)
	}
	return int64(size), nil
}

// caching returns the settings of the reply cache. Call stop before the database is closed.
func (f operateFlags) caching(st databases) (_ server.Caching, stop func() error, err error) {
	size, err := parseMemory("cache-size", f.CacheSize)
	if err != nil {
		return server.Caching{}, nil, usageError{err}
	}
	reading := st.reading()
	revision := reading.NewQuestion(index.RevisionQuery)
	return server.Caching{
		Size: size, Delay: f.CacheDelay, Revision: revision.Ask, Moves: st.moves,
		NextDue: func(ctx context.Context, now time.Time) (time.Time, error) {
			return edit.NextDue(ctx, reading.Ent, now)
		},
	}, revision.Close, nil
}

// limits returns the limits of a server that listens on an address. Nil means any address.
func (f operateFlags) limits(at net.Addr) (server.Limits, error) {
	l := server.Limits{
		Timeout: f.RequestTimeout, UploadTimeout: f.UploadTimeout, Concurrent: f.MaxConcurrent,
		Connections: f.MaxConnections, ConnectionsByAddress: f.MaxConnectionsByAddress,
		Forwarded: f.ProxyHeader == "forwarded",
	}
	var err error
	if l.Sending, err = parseMemory("max-sending", f.MaxSending); err != nil {
		return l, err
	}
	if l.Receiving, err = parseMemory("max-receiving", f.MaxReceiving); err != nil {
		return l, err
	}
	if l.Receiving > 0 && l.Receiving < server.LeastReceiving {
		return l, fmt.Errorf("--max-receiving %s: less than one picture takes, which is %s",
			f.MaxReceiving, humanize.IBytes(server.LeastReceiving))
	}
	if l.Proxies, err = limit.ParseProxies(f.TrustedProxy); err != nil {
		return l, fmt.Errorf("--trusted-proxy: %w", err)
	}
	if l.Rates.Address, l.Rates.AddressFar, err = parseRate(f.RateLimit, addressRate, at); err != nil {
		return l, fmt.Errorf("--rate-limit %q: %w", f.RateLimit, err)
	}
	if l.Rates.Token, l.Rates.TokenFar, err = parseRate(f.RateLimitToken, tokenRate, at); err != nil {
		return l, fmt.Errorf("--rate-limit-token %q: %w", f.RateLimitToken, err)
	}
	return l, nil
}

// parseRate parses a rate. usual applies to "auto", unless the server listens on a loopback address. farOnly
// means that the rate applies to public addresses only.
func parseRate(text, usual string, at net.Addr) (r limit.Rate, farOnly bool, err error) {
	if text != autoValue {
		r, err = limit.ParseRate(text)
		return r, false, err
	}
	if peer := limit.Peer(at); peer.IsValid() && peer.IsLoopback() {
		return limit.Rate{}, false, nil
	}
	r, err = limit.ParseRate(usual)
	return r, true, err
}

// operation has the limits, metrics and traces of a running server.
type operation struct {
	limits  server.Limits
	metrics *server.Metrics
	tracer  trace.Tracer
	close   []func() error
}

// operation creates the operation of a server. It observes the statements of the databases for metrics and
// traces.
func (f operateFlags) operation(
	ctx context.Context, log *slog.Logger, st databases, at net.Addr,
) (o *operation, err error) {
	o = &operation{}
	if o.limits, err = f.limits(at); err != nil {
		return nil, err
	}
	if f.RateRedis != "" {
		shared, err := limit.NewRedis(f.RateRedis, "almanac:rate:", limit.NewMemory(countedLocal))
		if err != nil {
			return nil, fmt.Errorf("--rate-redis: %w", err)
		}
		o.limits.Rates.Counter = shared
		o.close = append(o.close, shared.Close)
	}
	var watches []store.Watch
	if f.MetricsListen != "" {
		if o.metrics, err = newMetrics(st); err != nil {
			return nil, errors.Join(fmt.Errorf("metrics: %w", err), o.end())
		}
		watches = append(watches, o.metrics.SQL)
	}
	collector, err := f.collector(os.Getenv)
	if err != nil {
		return nil, errors.Join(err, o.end())
	}
	if collector != nil {
		if err := o.trace(ctx, log, collector); err != nil {
			return nil, errors.Join(fmt.Errorf("--otlp-endpoint: %w", err), o.end())
		}
		watches = append(watches, server.SQLSpans(o.tracer, st.Engine()))
	}
	if len(watches) > 0 {
		st.Watch(watches...)
		if st.replicas != nil {
			st.replicas.Watch(watches...)
		}
	}
	return o, nil
}

// newMetrics returns the metrics of a server and its databases.
func newMetrics(st databases) (*server.Metrics, error) {
	m := server.NewMetrics(buildVersion())
	if err := m.Pool("main", st.DB); err != nil {
		return nil, err
	}
	overdue := func(ctx context.Context) (int, error) { return series.CountOverdue(ctx, st.Ent, clockNow()) }
	if err := m.Series(overdue); err != nil {
		return nil, err
	}
	if st.Engine() == "sqlite" {
		replaced := func(ctx context.Context) bool { return errors.Is(st.CheckFiles(ctx), store.ErrFilesReplaced) }
		if err := m.Files(replaced); err != nil {
			return nil, err
		}
	}
	if st.replicas != nil {
		if err := errors.Join(m.Pool("replica", st.replicas.DB), m.Replicas(replicaStates(st.replicas))); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// replicaStates returns a function that returns the states of the replicas, for metrics.
func replicaStates(replicas *store.Store) func() []server.ReplicaState {
	return func() []server.ReplicaState {
		var out []server.ReplicaState
		for _, r := range replicas.Replicas() {
			lag := math.NaN()
			if r.LagKnown {
				lag = r.Lag.Seconds()
			}
			out = append(out, server.ReplicaState{Address: r.Address, Used: r.Used, Lag: lag})
		}
		return out
	}
}

// end sends the remaining traces and closes what operation has opened.
func (o *operation) end() error {
	var errs []error
	for _, c := range o.close {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
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

// warnOfPprof logs a warning if other machines can read profiles of the process.
func warnOfPprof(log *slog.Logger, at net.Addr) {
	if peer := limit.Peer(at); peer != (netip.Addr{}) && !peer.IsLoopback() {
		log.Warn("profiles of the process can be had from other machines", "address", at.String())
	}
}
