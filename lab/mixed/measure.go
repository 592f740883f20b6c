package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/lab/drive"
	"github.com/almanac-cal/almanac/lab/proc"
	"github.com/almanac-cal/almanac/lab/process"
)

const (
	readers = 8
	// writers is the number of connections for writes. With several, a late reply does not delay the next write.
	writers = 4
	// connections is the number of reading clients while memory is measured.
	connections = 512
)

// engine is a database engine with a running service and all measurements on it.
type engine struct {
	*settings
	name  string
	where string // folder of SQLite files, or URL of the MySQL server
	log   io.Writer

	db    string // URL of the database
	token string // access token of an administrator
	*process.Process
	*requestChoice

	mixes []mix
	// CPU times of a request by round: a cached list (hot), a write, and a list without the cache. After a write of
	// another event, a cached list takes afterWrite more than hot.
	hot, write, afterWrite, uncached []time.Duration
	memory                           memory // with many clients
	mixedMemory                      memory // with the same clients during 10 writes a second
}

// memory is the service's peak memory in bytes, with the errors of requests during that time.
type memory struct {
	peak   int64
	errors string
}

// mix is a rate of writes with the measurements at that rate, by round.
type mix struct {
	rate    float64 // writes per second that are due
	popular bool    // writes change events that one list in ten shows, otherwise events that no list shows

	lists    []float64       // lists per second
	cpu      []time.Duration // CPU time of the service per list, including writes
	written  []float64       // acknowledged writes per second
	p50, p99 []time.Duration
}

func (e *engine) measure(ctx context.Context) error {
	e.mixes = []mix{{}, {rate: 1}, {rate: 10}, {rate: 100}, {rate: 10, popular: true}, {rate: 100, popular: true}}
	if err := e.prepare(ctx); err != nil {
		return err
	}
	for _, part := range []struct {
		flags []string
		do    func(context.Context) error
	}{
		{nil, e.beside}, {[]string{"--cache-size", "0"}, e.withoutCache}, {nil, e.peak},
	} {
		if err := e.served(ctx, part.flags, part.do); err != nil {
			return err
		}
	}
	return nil
}

// served starts a service with flags, calls do and stops the service. The first call also chooses the requests.
func (e *engine) served(ctx context.Context, flags []string, do func(context.Context) error) (err error) {
	e.Process, err = process.Serve(ctx, e.Program, e.db, filepath.Join(e.Dir, "media"), append(flags, e.ServeFlags...)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	if e.requestChoice == nil {
		if e.requestChoice, err = chooseRequests(e.get, time.Now().UTC(), e.Seed); err != nil {
			return err
		}
	}
	if err := do(ctx); err != nil {
		return err
	}
	return e.Alive()
}

func (e *engine) url(path string) (*url.URL, error) {
	return url.Parse("http://" + e.Address + "/" + handlers.Namespace + path)
}

// get requests a list and returns its events. It returns nil for a page that does not exist.
func (e *engine) get(path string) ([]event, error) {
	u, err := e.url(path)
	if err != nil {
		return nil, err
	}
	status, body, err := fasthttp.GetTimeout(nil, u.String(), process.Patience)
	if err != nil || status == fasthttp.StatusNotFound {
		return nil, err
	}
	if status != fasthttp.StatusOK {
		return nil, fmt.Errorf("%s: status %d: %s", path, status, body)
	}
	var reply struct{ Events []event }
	err = json.Unmarshal(body, &reply)
	return reply.Events, err
}

// requests returns the bytes of a request for each chosen list.
func (e *engine) requests() ([][]byte, error) {
	var out [][]byte
	for _, l := range e.lists {
		u, err := e.url(l.path)
		if err != nil {
			return nil, err
		}
		out = append(out, drive.Get(u))
	}
	return out, nil
}

// reading returns the configuration of a closed loop that requests the chosen lists in turn.
func (e *engine) reading(clients int) (drive.Config, error) {
	requests, err := e.requests()
	return drive.Config{
		Address: e.Address, Request: drive.Each(requests, e.Seed), Clients: clients, Warm: e.Warm, Length: e.Time,
	}, err
}

// editor makes requests that give events new titles, one event after the other, and checks the replies.
type editor struct {
	urls         []*url.URL
	headers      []string
	began        int64 // nanoseconds since 1970, so that titles differ from those of earlier editors
	acknowledged atomic.Int64
	refusal      atomic.Value // description of the last reply that was no acknowledgement
}

func (e *engine) editor(events []int64) (*editor, error) {
	w := &editor{
		began:   time.Now().UnixNano(),
		headers: []string{"Authorization: Bearer " + e.token, "Content-Type: application/json"},
	}
	for _, id := range events {
		u, err := e.url(fmt.Sprintf("/events/%d", id))
		if err != nil {
			return nil, err
		}
		w.urls = append(w.urls, u)
	}
	return w, nil
}

// titleFormat formats the title that an editor's write sends, from the write's number and editor.began.
const titleFormat = "Title %d of %d"

func (w *editor) request(b []byte, n int) []byte {
	body := fmt.Appendf(nil, `{"title":"`+titleFormat+`"}`, n, w.began)
	return drive.Append(b, "PATCH", w.urls[n%len(w.urls)], body, w.headers...)
}

// reply counts a write as acknowledged if the reply shows its title or a later one of the same event. A later write
// may be committed before the service makes the reply.
func (w *editor) reply(n, status int, body []byte) {
	var shown struct{ Title string }
	var number int
	var began int64
	err := json.Unmarshal(body, &shown)
	if err == nil {
		_, err = fmt.Sscanf(shown.Title, titleFormat, &number, &began)
	}
	if err == nil && status == fasthttp.StatusOK && began == w.began && number >= n && (number-n)%len(w.urls) == 0 {
		w.acknowledged.Add(1)
		return
	}
	w.refusal.Store(fmt.Sprintf("write %d was answered with status %d: %.500s", n, status, body))
}

// lost returns an error unless all sent writes were acknowledged. sent is their number.
func (w *editor) lost(sent int) error {
	if n := int(w.acknowledged.Load()); n != sent {
		return fmt.Errorf("%d of %d writes were acknowledged; %v", n, sent, w.refusal.Load())
	}
	return nil
}

// beside measures lists during writes and the CPU times of lists and writes, for several rounds.
func (e *engine) beside(ctx context.Context) error {
	for round := range e.Rounds {
		for i := range e.mixes {
			if err := e.mix(ctx, &e.mixes[i]); err != nil {
				return err
			}
		}
		if err := e.costs(ctx); err != nil {
			return err
		}
		fmt.Fprintf(e.log, "%s: round %d of %d\n", e.name, round+1, e.Rounds)
	}
	return nil
}

// mix measures one round of lists while an editor writes at the rate of m. It adds the results to m.
func (e *engine) mix(ctx context.Context, m *mix) error {
	events := e.other
	if m.popular {
		events = e.popular
	}
	w, err := e.editor(events)
	if err != nil {
		return err
	}
	l, err := e.load(ctx, readers, m.rate, w)
	if err != nil {
		return err
	}
	if l.read.Bad() > 0 {
		return fmt.Errorf("lists beside %g writes a second: %s", m.rate, l.read.Errors())
	}
	m.lists, m.written = append(m.lists, l.read.Rate()), append(m.written, l.write.Rate())
	m.cpu = append(m.cpu, l.cpu/time.Duration(max(l.read.Done, 1)))
	m.p50, m.p99 = append(m.p50, l.read.Took.At(0.5)), append(m.p99, l.read.Took.At(0.99))
	return w.lost(l.sent)
}

// load is the outcome of requesting lists while an editor writes.
type load struct {
	read, write *drive.Result
	sent        int           // number of writes, including the warm-up
	cpu         time.Duration // CPU time of the service after the warm-up
}

// load lets clients request lists while an editor writes at a rate per second. A rate of 0 means no writes.
func (e *engine) load(ctx context.Context, clients int, rate float64, w *editor) (*load, error) {
	reading, err := e.reading(clients)
	if err != nil {
		return nil, err
	}
	l := &load{write: &drive.Result{Length: e.Time}}
	var sent atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		l.read, err = drive.Run(ctx, reading)
		return err
	})
	var before proc.Usage
	group.Go(func() (err error) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(e.Warm):
			before, err = proc.Read(e.PID())
			return err
		}
	})
	if rate > 0 {
		group.Go(func() (err error) {
			l.write, err = drive.Run(ctx, drive.Config{
				Address: e.Address, Clients: writers, Warm: e.Warm, Length: e.Time, Rate: rate, Reply: w.reply,
				Request: func(b []byte, n int) []byte {
					sent.Add(1)
					return w.request(b, n)
				},
			})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	after, err := proc.Read(e.PID())
	l.sent, l.cpu = int(sent.Load()), after.CPU-before.CPU
	return l, err
}

// cpu runs a load and returns the CPU time that the service used meanwhile. A failed request is an error.
func (e *engine) cpu(ctx context.Context, c drive.Config) (time.Duration, *drive.Result, error) {
	before, err := proc.Read(e.PID())
	if err != nil {
		return 0, nil, err
	}
	r, err := drive.Run(ctx, c)
	if err != nil {
		return 0, nil, err
	}
	if r.Bad() > 0 {
		return 0, nil, errors.New(r.Errors())
	}
	after, err := proc.Read(e.PID())
	return after.CPU - before.CPU, r, err
}

// listCost returns the CPU time per list for one client, after all lists were requested. Lists come from the cache
// unless it is disabled.
func (e *engine) listCost(ctx context.Context) (time.Duration, error) {
	c, err := e.reading(1)
	if err != nil {
		return 0, err
	}
	warm := c
	warm.Clients, warm.Warm, warm.Length, warm.Least = readers, 0, e.Warm, 2*len(e.lists)
	if _, err := drive.Run(ctx, warm); err != nil {
		return 0, err
	}
	c.Warm = 0
	total, r, err := e.cpu(ctx, c)
	if err != nil {
		return 0, err
	}
	return total / time.Duration(r.All), nil
}

// costs measures CPU times with one client: of a cached list, a write, and a cached list after a write. It adds them
// to the results.
func (e *engine) costs(ctx context.Context) error {
	hot, err := e.listCost(ctx)
	if err != nil {
		return err
	}
	w, err := e.editor(e.other)
	if err != nil {
		return err
	}
	total, r, err := e.cpu(ctx, drive.Config{
		Address: e.Address, Clients: 1, Length: e.Time, Request: w.request, Reply: w.reply,
	})
	if err != nil {
		return err
	}
	if err := w.lost(r.All); err != nil {
		return err
	}
	write := total / time.Duration(r.All)
	if w, err = e.editor(e.other); err != nil {
		return err
	}
	lists, err := e.requests()
	if err != nil {
		return err
	}
	// In turn: one write, and each list once.
	turn := 1 + len(lists)
	total, r, err = e.cpu(ctx, drive.Config{
		Address: e.Address, Clients: 1, Length: e.Time,
		Request: func(b []byte, i int) []byte {
			if i%turn == 0 {
				return w.request(b, i/turn)
			}
			return lists[i%turn-1]
		},
		Reply: func(i, status int, body []byte) {
			if i%turn == 0 {
				w.reply(i/turn, status, body)
			}
		},
	})
	if err != nil {
		return err
	}
	writes := (r.All + turn - 1) / turn
	e.hot, e.write = append(e.hot, hot), append(e.write, write)
	e.afterWrite = append(e.afterWrite, checkCost(total, writes, write, r.All-writes, hot))
	return w.lost(writes)
}

// checkCost returns how much more CPU time a list after a write takes than a cached (hot) one. total is the time of
// all writes and lists. write and hot are the times of one.
func checkCost(total time.Duration, writes int, write time.Duration, lists int, hot time.Duration) time.Duration {
	return (total-time.Duration(writes)*write)/time.Duration(max(lists, 1)) - hot
}

// withoutCache measures the CPU time of lists on a service that served started without a cache of replies.
func (e *engine) withoutCache(ctx context.Context) error {
	for range e.Rounds {
		cost, err := e.listCost(ctx)
		if err != nil {
			return err
		}
		e.uncached = append(e.uncached, cost)
	}
	return nil
}

// peak measures the service's peak memory with many clients, first without writes, then during writes.
func (e *engine) peak(ctx context.Context) error {
	for _, m := range []*memory{&e.memory, &e.mixedMemory} {
		if err := proc.ResetPeak(e.PID()); err != nil {
			return err
		}
		rate := 0.0
		if m == &e.mixedMemory {
			rate = 10
		}
		w, err := e.editor(e.other)
		if err != nil {
			return err
		}
		l, err := e.load(ctx, connections, rate, w)
		if err != nil {
			return err
		}
		u, err := proc.Read(e.PID())
		if err != nil {
			return err
		}
		*m = memory{peak: u.Peak, errors: l.read.Errors()}
	}
	return nil
}
