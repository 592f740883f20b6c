package limit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Redis counts for all processes that share a Redis or Valkey. While that is away each process counts for itself.
type Redis struct {
	pool   *redis.Pool
	prefix string
	own    *Memory
	began  time.Time
	away   atomic.Int64 // nanoseconds since the beginning until which the server is left alone
}

const (
	redisWait  = 200 * time.Millisecond // for one answer
	redisPause = time.Second            // after a failure
	redisIdle  = 5 * time.Minute        // until an unused connection is closed
)

var (
	errRedisURL = errors.New("want redis://USER:PASSWORD@HOST:PORT/NUMBER, or rediss:// with TLS")
	errStale    = errors.New("opened before the last failure")
)

// NewRedis is a limiter that counts at redis://user:password@host:6379/0, or rediss:// with TLS, under keys that begin
// with the prefix. own counts while the server is away. Nothing is connected yet.
func NewRedis(url, prefix string, own *Memory) (*Redis, error) {
	if err := checkRedisURL(url); err != nil {
		return nil, err
	}
	r := &Redis{prefix: prefix, own: own, began: time.Now()}
	connections := 10 * runtime.GOMAXPROCS(0)
	r.pool = &redis.Pool{
		MaxActive: connections, MaxIdle: connections, Wait: true, IdleTimeout: redisIdle,
		DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialURLContext(ctx, url, redis.DialTLSHandshakeTimeout(redisWait))
		},
		// A server that restarts takes all connections with it. One failure is enough to see that.
		TestOnBorrowContext: func(_ context.Context, _ redis.Conn, used time.Time) error {
			if used.Before(r.began.Add(time.Duration(r.away.Load()))) {
				return errStale
			}
			return nil
		},
	}
	return r, nil
}

// checkRedisURL refuses what the library would only refuse with the first connection. Its error does not repeat the
// address, which may have a password.
func checkRedisURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" {
		return errRedisURL
	}
	if number := strings.TrimPrefix(u.Path, "/"); number != "" {
		if _, err := strconv.ParseUint(number, 10, 16); err != nil {
			return errRedisURL
		}
	}
	return nil
}

// gcra is the algorithm of Memory in microseconds, by the clock of the server. KEYS[1] is the key, ARGV[1] the interval
// and ARGV[2] the window. It returns whether the request is allowed, until when a whole burst is, and until when the
// next request is, both from now on.
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

// Take implements Limiter. With an error comes the decision of this process alone.
func (r *Redis) Take(ctx context.Context, key string, rate Rate) (Decision, error) {
	if rate.Off() {
		return Decision{Allowed: true}, nil
	}
	if int64(time.Since(r.began)) < r.away.Load() {
		return r.own.Take(ctx, key, rate)
	}
	d, err := r.take(ctx, key, rate)
	if err == nil {
		return d, nil
	}
	r.away.Store(int64(time.Since(r.began) + redisPause))
	own, ownErr := r.own.Take(ctx, key, rate)
	return own, errors.Join(fmt.Errorf("shared rate limit: %w", err), ownErr)
}

func (r *Redis) take(ctx context.Context, key string, rate Rate) (Decision, error) {
	ctx, cancel := context.WithTimeout(ctx, redisWait)
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

// Close ends the connections.
func (r *Redis) Close() error { return r.pool.Close() }
