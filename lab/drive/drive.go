// Package drive sends HTTP requests to a server and measures the replies.
//
// There are two ways. In a closed loop, clients wait for a reply before they send the next request. That shows the
// throughput of a server. It shows little about latency, because a server that stalls gets no requests meanwhile. In an
// open loop, requests are due at times that were fixed before, whatever happens to earlier ones. Latency counts from
// the time at which a request was due, so stalls are not left out.
//
// Client and server usually share a machine, so the client uses little CPU time. It keeps connections open, sends
// prepared bytes, and skips bodies of replies unless Config.Reply is set.
package drive

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Request returns the bytes of the i-th request, counted from 0. It appends them to the empty buf or returns bytes
// that it shares. Clients call it concurrently.
type Request func(buf []byte, i int) []byte

// Config describes a load: requests, server, number of clients, and duration. Address, Request, Clients and Length
// are required. Dial replaces Address.
type Config struct {
	Address string // host:port
	Request Request
	Clients int           // number of connections, with one pending request at a time
	Warm    time.Duration // duration of the warm-up before measuring
	Length  time.Duration // duration of measuring
	Least   int           // replies without which a closed loop goes on, up to four times Length

	Rate    float64 // requests per second of an open loop; 0 means a closed loop
	Poisson bool    // requests come at random, as from many users, and not evenly spaced
	Seed    uint64  // seed of random numbers

	// Timeout limits how long a reply may take. It also limits how long due requests wait for a free connection after
	// the end. 0 means 10 s.
	Timeout time.Duration
	// Reply gets the status and body of each reply. Clients call it concurrently, and overwrite the body afterwards.
	// Nil means that bodies are skipped.
	Reply func(i, status int, body []byte)

	// Dial and Sleep replace TCP and the most precise sleep of the system. Nil means no replacement.
	Dial  func(ctx context.Context) (net.Conn, error)
	Sleep func(time.Duration)
}

func (c *Config) setDefaults() {
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	if c.Dial == nil {
		c.Dial = func(ctx context.Context) (net.Conn, error) {
			return (&net.Dialer{Timeout: c.Timeout}).DialContext(ctx, "tcp", c.Address)
		}
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
}

// Run sends requests for the configured time. It returns the results, in which most counts cover requests due after
// the warm-up. It returns an error for an invalid Config, if ctx ends, or if no connection can be opened.
func Run(ctx context.Context, c Config) (*Result, error) {
	if c.Request == nil || c.Clients < 1 || c.Length <= 0 || c.Rate < 0 {
		return nil, errors.New("drive: a request, clients and a length are needed")
	}
	c.setDefaults()
	r := &run{Config: c, end: c.Warm + c.Length}
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	// An interrupt aborts pending requests instead of waiting for their timeout.
	stop := context.AfterFunc(ctx, r.hangUp)
	defer stop()
	if c.Rate > 0 {
		r.open(ctx)
	} else {
		r.closed(ctx)
	}
	r.hangUp()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.result(), nil
}

// run is the state of one load. Its times count from the start of the load.
type run struct {
	Config
	began   time.Time
	end     time.Duration // end of measuring, after the last request is due
	workers []*worker
	next    atomic.Int64 // number of the next request of a closed loop
	replies atomic.Int64 // since the warm-up
	enough  atomic.Int64 // time of reply number Least, 0 before
}

// worker is one client with its connection.
type worker struct {
	conn    conn
	buf     []byte // empty buffer for requests
	samples []Sample
}

// connect opens all connections before the load starts, so that opening them is not measured.
func (r *run) connect(ctx context.Context) error {
	for range r.Clients {
		w := &worker{conn: conn{dial: r.Dial, timeout: r.Timeout}, buf: make([]byte, 0, 4<<10)}
		if err := w.conn.open(ctx); err != nil {
			r.hangUp()
			return err
		}
		r.workers = append(r.workers, w)
	}
	return nil
}

func (r *run) hangUp() {
	for _, w := range r.workers {
		w.conn.hangUp()
	}
}

func (r *run) since() time.Duration { return time.Since(r.began) }

// send sends the i-th request and records a sample. due is when it should have been sent, and told when the generator
// passed it to a client. It returns the reason if there was no reply, else "".
func (r *run) send(ctx context.Context, w *worker, i int, due, told time.Duration) Fault {
	req := r.Request(w.buf, i)
	s := Sample{Due: due, Told: told, Sent: r.since()}
	status, body, err := w.conn.do(ctx, req, r.Reply != nil)
	s.Done, s.Status, s.Fault = r.since(), status, faultOf(err)
	w.samples = append(w.samples, s)
	if err == nil && r.Reply != nil {
		r.Reply(i, status, body)
	}
	return s.Fault
}

// closed runs a closed loop, in which a client sends its next request as soon as it has a reply.
func (r *run) closed(ctx context.Context) {
	var group sync.WaitGroup
	r.began = time.Now()
	for _, w := range r.workers {
		group.Go(func() {
			for ctx.Err() == nil {
				now := r.since()
				if r.over(now) {
					return
				}
				if r.send(ctx, w, int(r.next.Add(1)-1), now, now) != "" {
					time.Sleep(10 * time.Millisecond) // an unavailable server gets fewer requests
				}
				if done := r.since(); done >= r.Warm && r.replies.Add(1) == int64(r.Least) {
					r.enough.Store(int64(done))
				}
			}
		})
	}
	group.Wait()
	switch enough := time.Duration(r.enough.Load()); {
	case enough > 0:
		r.end = max(r.end, enough+1) // that reply is one of them
	case r.Least > 0:
		r.end = r.latest()
	}
}

// latest returns the time at which a closed loop ends even with too few replies.
func (r *run) latest() time.Duration { return r.Warm + 4*r.Length }

// over reports whether a closed loop may end: its time is over, and there are enough replies or latest is reached.
func (r *run) over(now time.Duration) bool {
	return now >= r.end && (r.replies.Load() >= int64(r.Least) || now >= r.latest())
}

// arrival is a request that is due in an open loop. told is when the generator passed it to a client.
type arrival struct {
	i         int
	due, told time.Duration
}

// open runs an open loop: requests are due at a fixed average rate, and any free client sends them.
func (r *run) open(ctx context.Context) {
	schedule := r.schedule()
	// The channel has room for all, so that the generator never waits for clients.
	due := make(chan arrival, len(schedule))
	var group sync.WaitGroup
	r.began = time.Now()
	for _, w := range r.workers {
		group.Go(func() {
			for a := range due {
				if ctx.Err() != nil || r.since() > r.end+r.Timeout {
					w.samples = append(w.samples, Sample{Due: a.due, Told: a.told, Fault: Unsent})
					continue
				}
				r.send(ctx, w, a.i, a.due, a.told)
			}
		})
	}
	r.tell(ctx, schedule, due)
	close(due)
	group.Wait()
}

// tell sends an arrival to the channel due at each time of the schedule. It returns after the last one, or when ctx
// ends.
func (r *run) tell(ctx context.Context, schedule []time.Duration, due chan<- arrival) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		reduceTimerSlack() // for this goroutine, to its end
		for i, at := range schedule {
			now := r.since()
			for now < at && ctx.Err() == nil {
				r.Sleep(at - now)
				now = r.since()
			}
			if ctx.Err() != nil {
				return
			}
			due <- arrival{i, at, now}
		}
	}()
	<-done
}

// schedule returns the times at which the requests of an open loop are due, in ascending order.
func (r *run) schedule() []time.Duration {
	chance := rand.New(rand.NewPCG(r.Seed, 0x9E3779B97F4A7C15))
	gap := float64(time.Second) / r.Rate
	out := make([]time.Duration, 0, int(r.end.Seconds()*r.Rate*1.1)+16)
	for at, n := 0.0, 1; ; n++ {
		if r.Poisson {
			at += chance.ExpFloat64() * gap
		} else {
			at = float64(n) * gap // a sum of many gaps would drift
		}
		if d := time.Duration(math.Round(at)); d < r.end {
			out = append(out, d)
			continue
		}
		return out
	}
}

// result merges the samples of all clients into a Result.
func (r *run) result() *Result {
	out := &Result{Wanted: r.Rate, Length: r.end - r.Warm}
	for _, w := range r.workers {
		for _, s := range w.samples {
			out.add(s, r.Warm, r.end)
		}
	}
	out.sort()
	return out
}
