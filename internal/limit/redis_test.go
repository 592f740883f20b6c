package limit

import (
	"context"
	"crypto/rand"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/almanac-cal/almanac/proof/must"
)

func TestRedisAddresses(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "localhost", "http://x", "redis:h", "redis://h/one", "redis://h/0?db=1", "redis://h/0#1", "unix:///run/redis.sock",
		"redis://user:secret@host:port/1", "redis://user:secret@host:0", "redis://user:secret@host:65536", "redis://host:",
		"redis://user:@host", "redis://:@host", "redis://[::1]", "redis://[::1]:/0",
	} {
		if _, err := NewRedis(bad, "", NewMemory(1)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, good := range []string{
		"redis://h", "redis://h/", "rediss://h/15", "redis://user:secret@h:65535/0", "redis://:secret@h", "redis://secret@h",
		"redis://[::1]:6379/0",
	} {
		if _, err := NewRedis(good, "", NewMemory(1)); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

// unavailableRedis returns a limiter whose server does not answer.
func unavailableRedis(t *testing.T) *Redis {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	must.Succeed(t, ln.Close())
	r, err := NewRedis("redis://"+ln.Addr().String(), "t:", NewMemory(1000))
	must.Succeed(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// TestRedisAway checks that the limits of each process still apply while Redis is unavailable.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	r := unavailableRedis(t)
	rate := Rate{time.Hour, 2}
	for i, want := range []bool{true, true, false} {
		d, err := r.Take(t.Context(), "k", rate)
		if d.Allowed != want {
			t.Errorf("request %d: %+v", i, d)
		}
		if i == 0 && err == nil {
			t.Error("nobody is told that the server is away")
		}
	}
}

// TestGuessesWhileRedisIsAway checks that a process counts guesses itself while Redis is unavailable. Refunds then
// change the counts of the process.
func TestGuessesWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	r := unavailableRedis(t)
	g := &Guesses{Counter: r}
	hour := func(burst int) Rate { return Rate{time.Hour, burst} }
	rates := GuessRates{Source: hour(2), Target: hour(100), Trusted: hour(1)}
	for i, test := range []struct{ wrong, judged bool }{
		{false, true}, {false, true}, {false, true}, {true, true}, {true, true}, {false, false},
	} {
		refused, err := g.Judge(t.Context(), rates, "x", sources("a", false), func() bool { return test.wrong })
		if err != nil || (refused == nil) != test.judged {
			t.Errorf("guess %d: %+v, error %v", i, refused, err)
		}
	}
}

// TestRedisCounts runs on the Redis or Valkey server that ALMANAC_TEST_REDIS names, such as redis://127.0.0.1:6379/0.
func TestRedisCounts(t *testing.T) {
	t.Parallel()
	url := os.Getenv("ALMANAC_TEST_REDIS")
	if url == "" {
		t.Skip("ALMANAC_TEST_REDIS names no server")
	}
	prefix := "test:" + rand.Text() + ":"
	limiter := func() *Redis {
		r, err := NewRedis(url, prefix, NewMemory(1))
		must.Succeed(t, err)
		t.Cleanup(func() { r.Close() })
		return r
	}
	one, other := limiter(), limiter()
	rate := Rate{time.Hour, 3}
	for i, test := range []struct {
		by        *Redis
		allowed   bool
		remaining int
	}{{one, true, 2}, {other, true, 1}, {one, true, 0}, {other, false, 0}, {one, false, 0}} {
		d, err := test.by.Take(t.Context(), "k", rate)
		if err != nil || d.Allowed != test.allowed || d.Remaining != test.remaining {
			t.Errorf("request %d: got %+v and error %v, want %+v", i, d, err, test)
		}
		if d.Reset <= 0 || d.Reset > 3*time.Hour || d.Allowed != (d.Retry == 0) || d.Retry > time.Hour {
			t.Errorf("request %d: %+v", i, d)
		}
	}
	conn := one.pool.Get()
	defer conn.Close()
	ms, err := redis.Int64(conn.Do("PTTL", prefix+"k"))
	if ttl := time.Duration(ms) * time.Millisecond; err != nil || ttl <= 0 || ttl > 3*time.Hour+time.Second {
		t.Errorf("the key lives for %v, error %v", ttl, err)
	}
	if d, err := one.Take(t.Context(), "another", rate); err != nil || !d.Allowed {
		t.Errorf("another key: %+v %v", d, err)
	}
}

// TestRedisRestarts closes all connections, as a restart of the server does. One request fails. After the pause the
// next one succeeds.
func TestRedisRestarts(t *testing.T) {
	t.Parallel()
	r, opened := redisAt(t, "*3\r\n:1\r\n:0\r\n:0\r\n")
	r.fresh, r.pause = time.Hour, 50*time.Millisecond
	const connections = 3
	var idle []redis.Conn
	for range connections {
		conn, err := r.pool.GetContext(t.Context())
		must.Succeed(t, err)
		idle = append(idle, conn)
	}
	for _, conn := range idle {
		must.Succeed(t, conn.Close())
	}
	for range connections {
		must.Succeed(t, (<-opened).Close())
	}
	rate := Rate{time.Hour, 2}
	if _, err := r.Take(t.Context(), "k", rate); err == nil {
		t.Error("a closed connection answers")
	}
	time.Sleep(r.pause)
	if _, err := r.Take(t.Context(), "k", rate); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

// TestRedisClosesIdleConnections has the server close idle connections, as a timeout or a proxy does. No request may
// fail because of this.
func TestRedisClosesIdleConnections(t *testing.T) {
	t.Parallel()
	r, opened := redisAt(t, "*3\r\n:1\r\n:0\r\n:0\r\n")
	r.fresh = 0
	for i := range 3 {
		if _, err := r.Take(t.Context(), "k", Rate{time.Hour, 2}); err != nil {
			t.Errorf("request %d: %v", i, err)
		}
		must.Succeed(t, (<-opened).Close())
	}
}

// TestRedisCallerEnds cancels a request's context. The server must not count as unavailable because of this.
func TestRedisCallerEnds(t *testing.T) {
	t.Parallel()
	r, opened := redisAt(t, "") // never answers
	r.wait = time.Hour
	rate := Rate{time.Hour, 100}
	for _, test := range []struct {
		name string
		end  func() (context.Context, context.CancelFunc)
	}{
		{"before", func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return ctx, cancel
		}},
		{"meanwhile", func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-opened
				cancel()
			}()
			return ctx, cancel
		}},
		{"by its deadline", func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 20*time.Millisecond)
		}},
	} {
		ctx, cancel := test.end()
		if d, err := r.Take(ctx, "k", rate); err != nil || !d.Allowed {
			t.Errorf("%s: %+v, error %v", test.name, d, err)
		}
		cancel()
		if r.away.Load() != 0 {
			t.Errorf("%s: the server counts as away", test.name)
		}
	}
	must.Succeed(t, r.Close())
	if d, err := r.Take(t.Context(), "k", rate); err != nil || !d.Allowed {
		t.Errorf("closed: %+v, error %v", d, err)
	}
}

// redisAt returns a limiter that uses a fake server. The server sends answer to every command, or never answers if
// answer is "". The channel receives the server's end of each connection.
func redisAt(t *testing.T, answer string) (*Redis, <-chan net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { ln.Close() })
	opened := make(chan net.Conn, 10)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			opened <- conn
			go func() {
				defer conn.Close()
				// A command of the script is one packet here.
				for buf := make([]byte, 4096); ; {
					if _, err := conn.Read(buf); err != nil {
						return
					}
					if _, err := conn.Write([]byte(answer)); err != nil {
						return
					}
				}
			}()
		}
	}()
	r, err := NewRedis("redis://"+ln.Addr().String(), "t:", NewMemory(100))
	must.Succeed(t, err)
	t.Cleanup(func() { r.Close() })
	r.wait = 30 * time.Second // on a machine with much else to do
	return r, opened
}
