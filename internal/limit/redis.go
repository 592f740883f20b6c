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
	away   atomic.Int64 // time until which the server is not contacted, in nanoseconds since began

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
// interval, ARGV[2] the window and ARGV[3] the cost: 1 for a request and 0 for a look. It returns whether the
// request is allowed, the time until a full burst, and the time until the next request.
var gcra = redis.NewScript(1, `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local wait = due + interval - window - now
if wait > 0 then
  return {0, math.ceil(due - now), math.ceil(wait)}
end
if ARGV[3] == '1' then
  due = due + interval
  redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', math.ceil((due - now) / 1000) + 1)
end
return {1, math.ceil(due - now), 0}
`)

// refund brings the next full burst of KEYS[1] forward by ARGV[1] microseconds. A key that expired needs none.
var refund = redis.NewScript(1, `
local due, left = redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])
if due and left > 0 then
  redis.call('SET', KEYS[1], string.format('%.0f', due - ARGV[1]), 'PX', left)
end
return 0
`)

// Take implements Limiter. An error comes with the decision of this process alone. If ctx has ended or the
// limiter is closed, this process decides alone, and the error is nil. It does so too during the pause after a
// failure.
func (r *Redis) Take(ctx context.Context, key string, rate Rate) (Decision, error) {
	return r.decide(ctx, key, rate, 1, r.own.Take)
}

// Look implements Limiter. An error comes with the decision of this process alone. If ctx has ended or the
// limiter is closed, this process decides alone, and the error is nil.
func (r *Redis) Look(ctx context.Context, key string, rate Rate) (Decision, error) {
	return r.decide(ctx, key, rate, 0, r.own.Look)
}

// decide returns the server's decision about a request. While the server is unavailable, it returns the decision of
// own, which counts in this process.
func (r *Redis) decide(
	ctx context.Context, key string, rate Rate, cost int, own func(context.Context, string, Rate) (Decision, error),
) (d Decision, err error) {
	if rate.Off() {
		return Decision{Allowed: true}, nil
	}
	err = r.use(ctx, func(ctx context.Context, conn redis.Conn) (err error) {
		d, err = ask(ctx, conn, r.prefix+key, rate, cost)
		return err
	})
	if err == nil {
		return d, nil
	}
	d, ownErr := own(ctx, key, rate)
	d.local = true
	if errors.Is(err, errUnused) {
		err = nil
	}
	return d, errors.Join(err, ownErr)
}

// Refund implements Limiter. It changes the counts that Take has used. If the server fails, nothing is refunded.
func (r *Redis) Refund(ctx context.Context, key string, taken Decision, part time.Duration) error {
	if taken.local {
		return r.own.Refund(ctx, key, taken, part)
	}
	err := r.use(ctx, func(ctx context.Context, conn redis.Conn) error {
		_, err := refund.DoContext(ctx, conn, r.prefix+key, part.Microseconds())
		return err
	})
	if errors.Is(err, errUnused) {
		return nil
	}
	return err
}

// errUnused means that the server was not contacted, or that its answer came after the end of the request.
var errUnused = errors.New("shared rate limit not used")

// use calls do with a connection to the server. After a failure, it returns errUnused for a while without calling do.
func (r *Redis) use(ctx context.Context, do func(context.Context, redis.Conn) error) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed || contextEnded(ctx) || int64(time.Since(r.began)) < r.away.Load() {
		return errUnused
	}
	within, cancel := context.WithTimeout(ctx, r.wait)
	defer cancel()
	conn, err := r.pool.GetContext(within)
	if err == nil {
		err = errors.Join(do(within, conn), conn.Close())
	}
	if err == nil {
		return nil
	}
	if contextEnded(ctx) {
		return errUnused
	}
	r.away.Store(int64(time.Since(r.began) + r.pause))
	return fmt.Errorf("shared rate limit: %w", err)
}

// contextEnded reports whether a context is cancelled or past its deadline. A connection may notice the
// deadline earlier.
func contextEnded(ctx context.Context) bool {
	deadline, set := ctx.Deadline()
	return ctx.Err() != nil || set && !time.Now().Before(deadline)
}

// ask runs the script gcra on the server, and returns its decision about a request.
func ask(ctx context.Context, conn redis.Conn, key string, rate Rate, cost int) (Decision, error) {
	interval, window := max(1, rate.Interval.Microseconds()), max(1, rate.Window().Microseconds())
	found, err := redis.Int64s(gcra.DoContext(ctx, conn, key, interval, window, cost))
	if err != nil {
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
