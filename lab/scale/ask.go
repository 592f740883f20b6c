package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/search"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/lab/local"
)

// subject is a running service on a database, to be measured.
type subject struct {
	*local.Service
	size  size // of the calendar
	st    *store.Store
	lists *index.Index // index in memory, nil for none
	facts *facts
	end   []func() error
}

// start starts a service on a database, optionally with an index in memory. It then logs how long the index took and
// how much memory it uses.
func start(ctx context.Context, log io.Writer, st *store.Store, withIndex bool) (_ *subject, err error) {
	s := &subject{st: st}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if withIndex {
		if s.lists, err = s.index(ctx, log); err != nil {
			return nil, err
		}
	}
	if s.Service, err = local.Start(ctx, local.Config{Store: st, Index: s.lists}); err != nil {
		return nil, err
	}
	s.end = append(s.end, s.Close)
	c := s.client(1)
	body, err := c.ask("/events", false)
	if err != nil {
		return nil, err
	}
	list, err := totals(body)
	if err != nil {
		return nil, err
	}
	s.facts, err = loadFacts(ctx, st.DB, time.Now().UTC(), list.Pages)
	return s, err
}

// index starts an index in memory, waits until it is complete, and logs its duration and size.
func (s *subject) index(ctx context.Context, log io.Writer) (*index.Index, error) {
	before := heap()
	lists := index.New(s.st.Ent, read.EventColumns(), slog.New(slog.DiscardHandler))
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	began := time.Now()
	go func() { ended <- lists.Run(running) }()
	s.end = append(s.end, func() error {
		stop()
		return <-ended
	})
	filter := query.Events{
		Visible: query.Visible{Anyone: []calendar.Status{calendar.Publish}}, Language: calendar.English,
	}
	if err := ready(ctx, lists, &filter); err != nil {
		return nil, err
	}
	filters := time.Since(began)
	text, ok := search.ParseEvents("music")
	if !ok {
		return nil, errors.New("cannot search")
	}
	filter.Search = &text
	if err := ready(ctx, lists, &filter); err != nil {
		return nil, err
	}
	fmt.Fprintf(log, "%s: index filters after %s, searches after %s, takes %.1f MiB of heap\n", s.st,
		filters.Round(time.Millisecond), time.Since(began).Round(time.Millisecond), float64(heap()-before)/(1<<20))
	return lists, nil
}

// ready waits until an index answers a filter. It returns other errors than index.ErrNotReady.
func ready(ctx context.Context, lists *index.Index, filter *query.Events) error {
	for {
		_, err := lists.FindEvents(ctx, filter, 0, 1)
		if !errors.Is(err, index.ErrNotReady) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// heap returns the number of bytes in use on the heap after a garbage collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func (s *subject) close() error {
	var errs []error
	for _, end := range slices.Backward(s.end) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// client sends requests to a service under measurement. It must not be used concurrently.
type client struct {
	http  *fasthttp.Client
	api   string
	token string
	req   *fasthttp.Request
	res   *fasthttp.Response
}

func (s *subject) client(connections int) *client { return newClient(s.API, s.Token, connections) }

func newClient(api, token string, connections int) *client {
	return &client{
		http: &fasthttp.Client{MaxConnsPerHost: connections, ReadTimeout: time.Minute}, api: api, token: token,
		req: &fasthttp.Request{}, res: &fasthttp.Response{},
	}
}

// ask sends a GET request, as administrator if admin is true, and returns the body. The next call overwrites the
// body. Another status than 200 is an error.
func (c *client) ask(path string, admin bool) ([]byte, error) {
	c.req.Reset()
	c.req.SetRequestURI(c.api + path)
	if admin {
		c.req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if err := c.http.Do(c.req, c.res); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if c.res.StatusCode() != fasthttp.StatusOK {
		return nil, fmt.Errorf("%s: status %d: %s", path, c.res.StatusCode(), c.res.Body())
	}
	return c.res.Body(), nil
}

// took contains the durations of requests in ascending order.
type took []time.Duration

// at returns the duration within which a share (0 to 1) of the requests was answered. It returns 0 for no requests.
func (t took) at(share float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	return t[min(int(float64(len(t))*share), len(t)-1)]
}

// effort contains the flags that set how many requests are measured and for how long.
type effort struct {
	Requests   int           `help:"Requests for a question, at least 1." default:"200"`
	Limit      time.Duration `help:"Time for a question, after which fewer requests are enough." default:"5s"`
	Clients    int           `help:"Clients at once, where throughput is measured." default:"8"`
	Throughput time.Duration `help:"Time for which throughput is measured; 0 leaves it out." default:"3s"`
}

// alone requests paths in turn with one client, after a short warm-up. It returns the durations in ascending order.
func (e effort) alone(ctx context.Context, c *client, paths []string, admin bool) (took, error) {
	warm := time.Now()
	for i := range max(min(e.Requests/10, len(paths)), 2) {
		if _, err := c.ask(paths[i%len(paths)], admin); err != nil {
			return nil, err
		}
		if time.Since(warm) > e.Limit/5 {
			break
		}
	}
	var out took
	end := time.Now().Add(e.Limit)
	for i := 0; i < e.Requests && (i == 0 || time.Now().Before(end)); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		began := time.Now()
		if _, err := c.ask(paths[i%len(paths)], admin); err != nil {
			return nil, err
		}
		out = append(out, time.Since(began))
	}
	slices.Sort(out)
	return out, nil
}

// together requests paths with several concurrent clients and returns the requests per second. It returns 0 if
// throughput is not measured.
func (e effort) together(ctx context.Context, client func() *client, paths []string, admin bool) (float64, error) {
	if e.Throughput == 0 {
		return 0, nil
	}
	var group sync.WaitGroup
	var lock sync.Mutex
	var errs []error
	n := 0
	began := time.Now()
	end := began.Add(e.Throughput)
	for k := range e.Clients {
		group.Go(func() {
			c, mine := client(), 0
			var failed error
			for i := k; failed == nil && ctx.Err() == nil && time.Now().Before(end); i++ {
				_, failed = c.ask(paths[i%len(paths)], admin)
				mine++
			}
			lock.Lock()
			defer lock.Unlock()
			n, errs = n+mine, append(errs, failed)
		})
	}
	group.Wait()
	return float64(n) / time.Since(began).Seconds(), errors.Join(append(errs, ctx.Err())...)
}
