package limit

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis counts for all processes that share a Redis or Valkey. While that is away each process counts for itself.
type Redis struct {
	client *redis.Client
	prefix string
	own    *Memory
	began  time.Time
	away   atomic.Int64 // nanoseconds since the beginning until which the server is left alone
}

const (
	redisWait  = 200 * time.Millisecond // for one answer
	redisPause = time.Second            // after a failure
)

// NewRedis is a limiter that counts at redis://user:password@host:6379/0, or rediss:// with TLS, under keys that begin
// with the prefix. own counts while the server is away. Nothing is connected yet.
func NewRedis(url, prefix string, own *Memory) (*Redis, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		// The error repeats the address, and so a password.
		return nil, errors.New("want redis://USER:PASSWORD@HOST:PORT/NUMBER, or rediss:// with TLS")
	}
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = redisWait, redisWait, redisWait
	o.MaxRetries, o.DialerRetries = -1, 1
	o.PoolTimeout = redisWait
	o.ContextTimeoutEnabled = true
	o.DisableIdentity = true
	return &Redis{client: redis.NewClient(o), prefix: prefix, own: own, began: time.Now()}, nil
}

// gcra is the algorithm of Memory in microseconds, by the clock of the server. KEYS[1] is the key, ARGV[1] the interval
// and ARGV[2] the window. It returns whether the request is allowed, until when a whole burst is, and until when the
// next request is, both from now on.
var gcra = redis.NewScript(`
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
	found, err := gcra.Run(ctx, r.client, []string{r.prefix + key}, interval, window).Int64Slice()
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

// SilenceRedis keeps the library of Redis from writing lines of its own to the standard error: what goes wrong is returned
// by Take. It is for the start of a program.
func SilenceRedis() { redis.SetLogger(silent{}) }

type silent struct{}

// Printf implements the logger of the library.
func (silent) Printf(context.Context, string, ...any) {}

// Close ends the connections.
func (r *Redis) Close() error { return r.client.Close() }
