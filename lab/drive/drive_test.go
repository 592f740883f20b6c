package drive

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/proof/must"
)

// server is a fake HTTP server. reply gets the number of a request and its arrival time, sleeps as long as the reply
// should take, and returns the reply.
type server struct {
	began time.Time
	n     atomic.Int64
	reply func(i int, at time.Duration) string
}

const okReply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func (s *server) dial(context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go func() {
		defer ours.Close()
		r := bufio.NewReader(ours)
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				return
			}
			answer := s.reply(int(s.n.Add(1)-1), time.Since(s.began))
			if answer == "" {
				return
			}
			if _, err := io.WriteString(ours, answer); err != nil {
				return
			}
		}
	}()
	return theirs, nil
}

// simulate runs a load in a synctest bubble with fake time against a server that answers by reply.
func simulate(t *testing.T, c Config, reply func(i int, at time.Duration) string) *Result {
	t.Helper()
	s := &server{began: time.Now(), reply: reply}
	c.Dial, c.Sleep = s.dial, time.Sleep
	c.Request = Each([][]byte{Get(&url.URL{Scheme: "http", Host: "test", Path: "/"})}, 0)
	r, err := Run(t.Context(), c)
	must.Succeed(t, err)
	synctest.Wait()
	return r
}

// stalls replies after a millisecond, except that all replies stop for 200 ms in the middle of each second.
func stalls(_ int, at time.Duration) string {
	time.Sleep(time.Millisecond)
	if in := at % time.Second; in >= 500*time.Millisecond && in < 700*time.Millisecond {
		time.Sleep(700*time.Millisecond - in)
	}
	return okReply
}

// TestNothingIsLeftOutWhileTheServerStandsStill checks that a stalling server shows in the percentiles. The server
// stalls for a fifth of the time, so one in five requests waits, 100 ms on average. A closed loop would count only
// one slow request per client and stall.
func TestNothingIsLeftOutWhileTheServerStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop := simulate(t, Config{Clients: 1, Length: 10 * time.Second}, stalls)
		if got := loop.Took.At(0.99); got != time.Millisecond {
			t.Errorf("closed loop: p99 is %s: it should not have noticed", got)
		}
		if got := loop.Took.At(1); got < 190*time.Millisecond {
			t.Errorf("closed loop: the longest is %s", got)
		}
	})
	for name, clients := range map[string]int{"a client": 1, "many clients": 100} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := simulate(t, Config{Clients: clients, Length: 10 * time.Second, Rate: 300}, stalls)
				if r.Due != 2999 || r.Bad() != 0 {
					t.Errorf("%d were due, errors: %s", r.Due, r.Errors())
				}
				if got := r.Took.At(0.5); got != time.Millisecond {
					t.Errorf("p50 is %s", got)
				}
				// The slowest tenth is at least the half of those that came while it stood still.
				if got := r.Took.At(0.9); got < 90*time.Millisecond {
					t.Errorf("p90 is %s: the time of standing still is left out", got)
				}
				if got := r.Took.At(0.99); got < 180*time.Millisecond || got > 220*time.Millisecond {
					t.Errorf("p99 is %s", got)
				}
				if clients == 1 {
					if r.Waited == 0 || r.Served.At(0.99) != time.Millisecond {
						t.Errorf("%d waited for the connection, p99 from sending is %s", r.Waited, r.Served.At(0.99))
					}
				}
				if r.Late != 0 {
					t.Errorf("%d were told of late", r.Late)
				}
			})
		})
	}
}

// The rate of an open loop does not depend on the replies.
func TestArrivalsDoNotWaitForReplies(t *testing.T) {
	slow := func(int, time.Duration) string {
		time.Sleep(300 * time.Millisecond)
		return okReply
	}
	synctest.Test(t, func(t *testing.T) {
		r := simulate(t, Config{Clients: 50, Warm: time.Second, Length: 2 * time.Second, Rate: 100}, slow)
		if r.Due != 200 || r.Waited != 0 || r.Took.At(0) != 300*time.Millisecond || r.Took.At(1) != 300*time.Millisecond {
			t.Errorf("%d due, %d waited, %s to %s", r.Due, r.Waited, r.Took.At(0), r.Took.At(1))
		}
		if got := r.Rate(); got != 100 {
			t.Errorf("rate %v", got)
		}
	})
	// Twice as many as can be: those at the end have waited for half of the time and more.
	synctest.Test(t, func(t *testing.T) {
		r := simulate(t, Config{Clients: 3, Length: 2 * time.Second, Rate: 20, Timeout: time.Minute}, slow)
		if r.Due != 39 || r.Took.At(1) < 2*time.Second || r.Served.At(1) != 300*time.Millisecond {
			t.Errorf("%d due, %s from when they were due, %s from sending", r.Due, r.Took.At(1), r.Served.At(1))
		}
		if first, second := r.Halves[0].Took.At(1), r.Halves[1].Took.At(1); first >= second {
			t.Errorf("the second half, %s, is not slower than the first, %s", second, first)
		}
	})
	// They do not wait for ever.
	synctest.Test(t, func(t *testing.T) {
		r := simulate(t, Config{Clients: 1, Length: 2 * time.Second, Rate: 20, Timeout: time.Second}, slow)
		if r.Faults[Unsent] == 0 || r.Due != 39 || len(r.Took)+r.Faults[Unsent] != 39 {
			t.Errorf("%d due, %d replies, %s", r.Due, len(r.Took), r.Errors())
		}
	})
}

func TestClosedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simulate(t, Config{Clients: 8, Warm: time.Second, Length: 3 * time.Second}, func(int, time.Duration) string {
			time.Sleep(10 * time.Millisecond)
			return okReply
		})
		if r.Rate() != 800 || r.Due != 2400 || r.All != 3200 || r.Took.At(0.99) != 10*time.Millisecond {
			t.Errorf("rate %v, %d due, %d in all, p99 %s", r.Rate(), r.Due, r.All, r.Took.At(0.99))
		}
	})
}

// TestClosedLoopGoesOnUntilThereIsEnough checks that a closed loop runs on until it has the least number of replies,
// for four times its length at most.
func TestClosedLoopGoesOnUntilThereIsEnough(t *testing.T) {
	slow := func(int, time.Duration) string {
		time.Sleep(300 * time.Millisecond)
		return okReply
	}
	for _, tt := range []struct {
		least  int
		length time.Duration
	}{
		{0, 100 * time.Millisecond},
		{1, 300*time.Millisecond + 1},
		{100, 400 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := simulate(t, Config{Clients: 1, Length: 100 * time.Millisecond, Least: tt.least}, slow)
			if r.Length != tt.length {
				t.Errorf("at least %d: it took %s, want %s", tt.least, r.Length, tt.length)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	replies := []string{
		okReply, "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "", "220 ready\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", "HTTP/1.1 429 \r\nContent-Length: 1\r\n\r\n!",
	}
	synctest.Test(t, func(t *testing.T) {
		r := simulate(t, Config{Clients: 1, Length: 610 * time.Millisecond, Rate: 10, Timeout: 50 * time.Millisecond},
			func(i int, _ time.Duration) string { return replies[i] })
		if diff := cmp.Diff(map[int]int{200: 1, 429: 1, 503: 1}, r.Status); diff != "" {
			t.Errorf("statuses:\n%s", diff)
		}
		// Of the last but one the rest is waited for in vain.
		if diff := cmp.Diff(map[Fault]int{Closed: 1, Garbled: 1, TimedOut: 1}, r.Faults); diff != "" {
			t.Errorf("faults:\n%s", diff)
		}
		const want = "429: 1, 503: 1, closed: 1, garbled: 1, timed out: 1"
		if got := r.Errors(); got != want || r.Bad() != 5 || len(r.Took) != 1 {
			t.Errorf("errors %q, want %q; %d bad, %d good", got, want, r.Bad(), len(r.Took))
		}
	})
}

func TestInterrupted(t *testing.T) {
	for name, rate := range map[string]float64{"closed": 0, "open": 100} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				s := &server{began: time.Now(), reply: func(int, time.Duration) string {
					time.Sleep(time.Hour)
					return okReply
				}}
				_, err := Run(ctx, Config{
					Clients: 2, Length: time.Minute, Rate: rate, Dial: s.dial, Sleep: time.Sleep, Timeout: 2 * time.Hour,
					Request: Each([][]byte{Get(&url.URL{Host: "test", Path: "/"})}, 0),
				})
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(s.began) > 2*time.Second {
					t.Errorf("%v after %s", err, time.Since(s.began))
				}
				time.Sleep(2 * time.Hour) // until the server has noticed
			})
		})
	}
}

func TestReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bodies [3]string
		s := &server{began: time.Now(), reply: func(i int, _ time.Duration) string {
			time.Sleep(100 * time.Millisecond)
			return []string{
				"HTTP/1.1 201 Created\r\ncontent-length: 5\r\n\r\nfirst",
				"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nsec\r\n3\r\nond\r\n0\r\nA: b\r\n\r\n",
				"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
			}[i]
		}}
		_, err := Run(t.Context(), Config{
			Clients: 1, Length: 250 * time.Millisecond, Dial: s.dial,
			Request: func(b []byte, i int) []byte {
				return Append(b, "POST", &url.URL{Host: "test", Path: "/a"}, []byte{byte('0' + i)}, "A: b")
			},
			Reply: func(i, _ int, body []byte) { bodies[i] = string(body) },
		})
		if err != nil || bodies != [3]string{"first", "second", ""} {
			t.Errorf("%q, %v", bodies, err)
		}
	})
}

func TestSchedule(t *testing.T) {
	even := (&run{Config: Config{Rate: 3}, end: 2 * time.Second}).schedule()
	want := []time.Duration{333333333, 666666667, 1000000000, 1333333333, 1666666667}
	if !slices.Equal(even, want) {
		t.Errorf("even: %v", even)
	}
	random := func(seed uint64) []time.Duration {
		return (&run{Config: Config{Rate: 1000, Poisson: true, Seed: seed}, end: 100 * time.Second}).schedule()
	}
	one := random(1)
	if !slices.Equal(one, random(1)) || slices.Equal(one, random(2)) {
		t.Error("the seed does not say which one it is")
	}
	if !slices.IsSorted(one) || len(one) < 99_000 || len(one) > 101_000 {
		t.Errorf("%d arrivals, in order: %v", len(one), slices.IsSorted(one))
	}
	// Of random gaps a share of 1/e is longer than the mean.
	long := 0
	for i := range one[1:] {
		if one[i+1]-one[i] > time.Millisecond {
			long++
		}
	}
	if share := float64(long) / float64(len(one)); share < 0.36 || share > 0.376 {
		t.Errorf("%v of the gaps are longer than the mean", share)
	}
}

func TestMessage(t *testing.T) {
	u, err := url.Parse("http://example.org:8080/a%20b?c=d")
	must.Succeed(t, err)
	got := string(Message("POST", u, []byte("{}"), "Content-Type: application/json"))
	want := "POST /a%20b?c=d HTTP/1.1\r\nHost: example.org:8080\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	if got != want {
		t.Errorf("%q", got)
	}
	if got := Address(u); got != "example.org:8080" {
		t.Errorf("address %q", got)
	}
	if got := Address(&url.URL{Host: "example.org"}); got != "example.org:80" {
		t.Errorf("address %q", got)
	}
}
