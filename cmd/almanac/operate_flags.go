package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/server"
)

// operateFlags are the flags for limits, caches, shutdown and monitoring.
type operateFlags struct {
	RequestTimeout          time.Duration `default:"15s" placeholder:"TIME" help:"Longest time for one request, the database included. Default ${default}."`
	UploadTimeout           time.Duration `default:"60s" placeholder:"TIME" help:"Longest time for an upload of an image. Default ${default}."`
	CacheSize               string        `default:"64MiB" placeholder:"SIZE" help:"Memory for cached responses to anonymous requests. 0 disables the cache. Default ${default}."`
	RecordCache             string        `default:"32MiB" placeholder:"SIZE" help:"Memory for cached records of lists. 0 disables the cache. Default ${default}."`
	CacheDelay              time.Duration `default:"0s" placeholder:"TIME" help:"How long a cached response may miss another process's write. Default ${default}."`
	MaxConcurrent           int           `default:"0" placeholder:"N" help:"Requests served at once. 0 means the default. Default 32 for each processor."`
	MaxSending              string        `default:"256MiB" placeholder:"SIZE" help:"Memory for large unread responses. 0 means no limit. Default ${default}."`
	MaxReceiving            string        `default:"128MiB" placeholder:"SIZE" help:"Memory for large arriving request bodies. 0 means no limit. Default ${default}."`
	MaxDecoding             string        `default:"512MiB" placeholder:"SIZE" help:"Memory for decoding pictures. 0 means no limit. Default ${default}."`
	MaxConnections          int           `default:"4096" placeholder:"N" help:"Connections at once. 0 means no limit. Default ${default}."`
	MaxConnectionsByAddress int           `default:"256" placeholder:"N" help:"Connections at once from one public address. 0 means no limit. Default ${default}."`
	RateLimit               string        `default:"auto" placeholder:"RATE" help:"Rate of requests without credentials from one address, such as 600/m burst 200, or off. Default 50/s burst 250 for public addresses."`
	RateLimitToken          string        `default:"auto" placeholder:"RATE" help:"Rate of requests with one token. Default 200/s burst 1000 for public addresses."`
	RateRedis               string        `placeholder:"URL" help:"Redis or Valkey for shared rates: redis://USER:PASSWORD@HOST:PORT/0. Default: each process counts its own."`
	TrustedProxy            []string      `placeholder:"CIDR" help:"Networks of trusted proxies. Repeatable, or a comma list."`
	ProxyHeader             string        `default:"x-forwarded-for" placeholder:"NAME" enum:"x-forwarded-for,forwarded" help:"Header of trusted proxies with the client's address: x-forwarded-for or forwarded. Default ${default}."`
	MaxAge                  time.Duration `default:"0s" placeholder:"TIME" help:"How long HTTP caches may use anonymous responses without revalidating. Default ${default}."`
	StaleWhileRevalidate    time.Duration `default:"10s" placeholder:"TIME" help:"How long HTTP caches may use a stale response while revalidating. Default ${default}."`
	DrainWait               time.Duration `default:"0s" placeholder:"TIME" help:"How long to continue serving after the signal to stop. Default ${default}."`
	IndexWait               time.Duration `default:"1m" placeholder:"TIME" help:"How long /readyz waits for the index after the start. Default ${default}."`
	IndexSnapshot           string        `default:"auto" placeholder:"DIR" help:"Folder for a copy of the index, or none. Default the folder of the SQLite file, and none on MySQL."`
	KeepChanges             string        `default:"90d" placeholder:"TIME" help:"How long to keep the change log, at least 24h. 0 keeps all of it. Default ${default}."`
	ReusePort               bool          `help:"Share the listen address with other processes."`
	MetricsListen           string        `placeholder:"HOST:PORT" help:"Second address, for operators only, with /metrics."`
	Pprof                   bool          `help:"Serve profiles at /debug/pprof/ of the --metrics-listen address."`
	OTLPEndpoint            string        `name:"otlp-endpoint" placeholder:"URL" help:"Collector of OpenTelemetry traces, over HTTP. Default OTEL_EXPORTER_OTLP_ENDPOINT."`
}

// autoValue is the value of --rate-limit and --rate-limit-token that means addressRate and tokenRate.
const (
	autoValue    = "auto"
	addressRate  = "50/s burst 250"
	tokenRate    = "200/s burst 1000" //nolint:gosec // no token, but how often one may ask
	countedLocal = 200_000            // largest number of keys counted in memory while Redis is unavailable
)

// keepChanges returns how long the change log is kept. 0 means forever.
func (f operateFlags) keepChanges() (time.Duration, error) {
	at, err := timeAfter(f.KeepChanges, time.Time{})
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

// warnOfUnusedFlags logs settings that have no effect without another one.
func (f operateFlags) warnOfUnusedFlags(log *slog.Logger) {
	if f.ProxyHeader == "forwarded" && len(f.TrustedProxy) == 0 {
		log.Warn("--proxy-header has no effect without --trusted-proxy: the header is not read")
	}
	if size, err := parseMemory("cache-size", f.CacheSize); err == nil && size == 0 && f.CacheDelay > 0 {
		log.Warn("--cache-delay has no effect with --cache-size 0: no responses are kept")
	}
}

// maxMemory is the largest size in bytes that parseMemory accepts: 1 TiB.
const maxMemory = 1 << 40

// parseMemory parses a size such as 64MiB and returns it in bytes. The argument flag is the flag's name for
// errors.
func parseMemory(flag, text string) (int64, error) {
	size, err := humanize.ParseBytes(text)
	if err != nil || size > maxMemory {
		return 0, fmt.Errorf("--%s %q: want a size such as 64MiB, or 0", flag, text)
	}
	return int64(size), nil
}

// limits returns the limits of a server that listens on the address at. Nil means any address.
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

// parseRate parses a rate limit. The text "auto" means usual, or no limit if the server listens on a loopback
// address. farOnly is true if the limit applies to public addresses only.
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
