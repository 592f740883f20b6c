package limit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Redis counts requests for all processes that share a Redis or Valkey server. While the server is unavailable,
// each process counts alone.
type Redis struct {
	pool   *redis.Pool
	prefix string
	own    *Memory
	began  time.Time
	away   atomic.Int64 // nanoseconds since began until which the server is not contacted

	wait  time.Duration // time limit for one answer
	pause time.Duration // pause after a failure
	fresh time.Duration // time after its last use during which a connection needs no check

	mu     sync.RWMutex // held for reading while the pool is in use, because a closed pool panics
	closed bool
}

const (
	redisWait  = 200 * time.Millisecond
	redisPause = time.Second
	redisFresh = time.Second
	redisIdle  = 5 * time.Minute // time until an unused connection is closed
)

var (
	errRedisURL = errors.New("want redis://USER:PASSWORD@HOST:PORT/NUMBER, or rediss:// with TLS, without options")
	errStale    = errors.New("last used before the last failure")
)

// NewRedis returns a limiter that counts on the server redis://user:password@host:6379/0, or rediss:// with
// TLS. Keys begin with the prefix. own counts while the server is unavailable. NewRedis does not connect yet.
func NewRedis(url, prefix string, own *Memory) (*Redis, error) {
	if err := checkRedisURL(url); err != nil {
		return nil, err
	}
	r := &Redis{
		prefix: prefix, own: own, began: time.Now(),
		wait: redisWait, pause: redisPause, fresh: redisFresh,
	}
	connections := 10 * runtime.GOMAXPROCS(0)
	r.pool = &redis.Pool{
		MaxActive: connections, MaxIdle: connections, Wait: true, IdleTimeout: redisIdle,
		DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialURLContext(ctx, url, redis.DialTLSHandshakeTimeout(r.wait))
		},
		// TestOnBorrowContext discards connections that were last used before a failure, because a restart of
		// the server closed them. It also discards idle ones that the server or a proxy has closed.
		TestOnBorrowContext: func(ctx context.Context, conn redis.Conn, used time.Time) error {
			if used.Before(r.began.Add(time.Duration(r.away.Load()))) {
				return errStale
			}
			if time.Since(used) < r.fresh {
				return nil
			}
			_, err := redis.DoContext(conn, ctx, "PING")
			return err
		},
	}
	return r, nil
}

// checkRedisURL rejects addresses that the library would misread, or reject only at the first connection. The
// error does not repeat the address, which may contain a password.
func checkRedisURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" {
		return errRedisURL
	}
	// With an empty password the library sends no credentials at all.
	if password, set := u.User.Password(); set && password == "" {
		return errRedisURL
	}
	// The library needs a port after an IPv6 address.
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") || strings.HasPrefix(u.Host, "[") {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return errRedisURL
		}
	}
	if number := strings.TrimPrefix(u.Path, "/"); number != "" {
		if _, err := strconv.ParseUint(number, 10, 16); err != nil {
			return errRedisURL
		}
	}
	return nil
}

// gcra is the algorithm of Memory in microseconds, using the server's clock. KEYS[1] is the key, ARGV[1] the
// interval and ARGV[2] the window. It returns whether the request is allowed, the time until a full burst, and
// the time until the next request.
var gcra = redis.NewScript(1, `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local wait = due + interval - window - now
if wait > 0 then
  return {0, math.ceil(due - now), math.ceil(wait)}
end
due = due + interval
redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', math.ceil((due - now) / 1000) + 1)
return {1, math.ceil(due - now), 0}
`)

// Take implements Limiter. An error comes with the decision of this process alone. If ctx has ended or the
// limiter is closed, this process decides alone without an error. It does so too during the pause after a failure.
func (r *Redis) Take(ctx context.Context, key string, rate Rate) (Decision, error) {
	if rate.Off() {
		return Decision{Allowed: true}, nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed || contextEnded(ctx) || int64(time.Since(r.began)) < r.away.Load() {
		return r.own.Take(ctx, key, rate)
	}
	d, err := r.take(ctx, key, rate)
	if err == nil {
		return d, nil
	}
	own, ownErr := r.own.Take(ctx, key, rate)
	if contextEnded(ctx) {
		return own, ownErr
	}
	r.away.Store(int64(time.Since(r.began) + r.pause))
	return own, errors.Join(fmt.Errorf("shared rate limit: %w", err), ownErr)
}

// contextEnded reports whether a context is cancelled or past its deadline. A connection may notice the
// deadline earlier.
func contextEnded(ctx context.Context) bool {
	deadline, set := ctx.Deadline()
	return ctx.Err() != nil || set && !time.Now().Before(deadline)
}

func (r *Redis) take(ctx context.Context, key string, rate Rate) (Decision, error) {
	ctx, cancel := context.WithTimeout(ctx, r.wait)
	defer cancel()
	interval, window := max(1, rate.Interval.Microseconds()), max(1, rate.Window().Microseconds())
	conn, err := r.pool.GetContext(ctx)
	if err != nil {
		return Decision{}, err
	}
	found, err := redis.Int64s(gcra.DoContext(ctx, conn, r.prefix+key, interval, window))
	if err := errors.Join(err, conn.Close()); err != nil {
		return Decision{}, err
	}
	if len(found) != 3 {
		return Decision{}, fmt.Errorf("%d values, want 3", len(found))
	}
	d := Decision{
		Allowed: found[0] == 1, Reset: time.Duration(found[1]) * time.Microsecond,
		Retry: time.Duration(found[2]) * time.Microsecond,
	}
	if d.Allowed {
		d.Remaining = max(0, int((window-found[1])/interval))
	}
	return d, nil
}

// Close ends the connections, after waiting for requests that use them.
func (r *Redis) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return r.pool.Close()
}
