package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/lab/command"
	"github.com/almanac-cal/almanac/lab/drive"
	"github.com/almanac-cal/almanac/lab/fill"
	"github.com/almanac-cal/almanac/lab/local"
	"github.com/almanac-cal/almanac/lab/process"
)

// writers is the number of concurrent clients that write.
const writers = 8

// readers is the number of connections for reads during writes.
const readers = 64

// writing contains the results of measuring writes.
type writing struct {
	reads float64 // reads per second during writes
	// api to bareAlone are events per second, by round.
	api, apiAlone   []float64 // POST /events by an administrator, during reads and alone
	bare, bareAlone []float64 // the same rows inserted without the service, during reads and alone
	beside          drive.Result
	posts           drive.Result

	acknowledged int // POSTs answered with 201
	audit
}

// audit contains counts in the database, for comparing with the acknowledged writes.
type audit struct {
	events  int // events with a title of this run
	titles  int // different titles of these events
	lost    int // acknowledged ids without an event
	unknown int // events whose id no reply contained
	changes int // entries of the change log with these events
	slugs   int // slugs of these events
	counted int // number of events that the category's row stores
	listed  int // number of events at the venue that the service lists
}

// sound reports whether all acknowledged events exist once with their rows. There may be at most as many other events
// as failed requests.
func (w *writing) sound() bool {
	return w.acknowledged > 0 && w.lost == 0 && w.titles == w.events && w.changes == w.events && w.slugs == w.events &&
		w.counted == w.events && w.listed == w.events && w.unknown <= w.posts.Bad() && w.events == w.acknowledged+w.unknown
}

// eventWriter writes events, through the service or directly to the database.
type eventWriter struct {
	effort
	st      *store.Store
	service *target
	token   string

	venue, category         int64 // those of posted events
	bareVenue, bareCategory int64 // those of events inserted without the service
	first                   int64 // start of the numbers in titles, greater than in earlier runs
	n                       atomic.Int64
	rows                    pattern

	mu  sync.Mutex
	ids []int64 // ids in successful replies
}

// writes measures writes on the MySQL database with the URL db, alone and during reads. It then checks that no event
// was lost.
func (e effort) writes(ctx context.Context, o command.Output, s *testStand, db string, length time.Duration) (_ *writing, err error) {
	st, err := fill.Open(ctx, db)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	w := &eventWriter{effort: e, st: st, service: &target{name: "writing", engine: "MySQL"}}
	w.Time = length
	if w.token, _, err = local.Administrator(ctx, st.Ent); err != nil {
		return nil, err
	}
	// As it is used: with its cache, if it has one.
	w.service.Process, err = s.serve(ctx, db, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.service.Stop()) }()
	if err := w.prepare(ctx); err != nil {
		return nil, err
	}
	out := &writing{}
	r, err := drive.Run(ctx, w.reading(0))
	if err != nil {
		return nil, err
	}
	out.reads = r.Rate() / 4
	for round := range e.Rounds {
		for _, do := range []func(context.Context, *writing) error{w.bareBeside, w.apiBeside, w.bareOnly, w.apiOnly} {
			if err := do(ctx, out); err != nil {
				return nil, err
			}
		}
		fmt.Fprintf(o.Err, "round %d of %d: writes\n", round+1, e.Rounds)
	}
	out.acknowledged = len(w.ids)
	err = w.audit(ctx, out)
	return out, err
}

// prepare creates venues and categories, posts one event and reads its rows as the pattern. It also makes the
// requests for reads.
func (w *eventWriter) prepare(ctx context.Context) (err error) {
	if err := w.st.DB.QueryRowContext(ctx, "SELECT MAX(id) FROM records").Scan(&w.first); err != nil {
		return err
	}
	for _, made := range []struct {
		path, body string
		into       *int64
	}{
		{"/venues", `{"venue":"Hall %d"}`, &w.venue},
		{"/categories", `{"name":"Music %d"}`, &w.category},
		{"/venues", `{"venue":"Other hall %d"}`, &w.bareVenue},
		{"/categories", `{"name":"Other music %d"}`, &w.bareCategory},
	} {
		if *made.into, err = w.create(made.path, fmt.Appendf(nil, made.body, w.first)); err != nil {
			return err
		}
	}
	id, err := w.create("/events", eventBody("Example", w.first, w.bareVenue, w.bareCategory))
	if err != nil {
		return err
	}
	if w.rows, err = learnPattern(ctx, w.st.DB, id); err != nil {
		return err
	}
	var e engine
	if err := e.learnFrom(ctx, w.st.DB, w.Seed); err != nil {
		return err
	}
	w.service.requests = map[string][][]byte{}
	for _, id := range e.ids[:min(coldIDs, len(e.ids))] {
		// Half of the reads are lists.
		w.service.requests[list] = append(w.service.requests[list], w.service.request(list),
			w.service.request(fmt.Sprintf("/events/%d", id)))
	}
	return nil
}

// eventBody returns the JSON of an event. Its title consists of a name and the number n.
func eventBody(name string, n, venue, category int64) []byte {
	return fmt.Appendf(nil, `{"title":"%s number %d","description":"<p>An evening of music.</p>",`+
		`"start_date":"2030-12-05 18:00","end_date":"2030-12-05 20:00","cost":"10","venue":%d,"categories":[%d]}`,
		name, n, venue, category)
}

func (w *eventWriter) headers() []string {
	return []string{"Authorization: Bearer " + w.token, "Content-Type: application/json"}
}

// create posts one record and returns its id. Another status than 201 is an error.
func (w *eventWriter) create(path string, body []byte) (int64, error) {
	var req fasthttp.Request
	var res fasthttp.Response
	req.SetRequestURI("http://" + w.service.Address + api + path)
	req.Header.SetMethod("POST")
	req.Header.Set("Authorization", "Bearer "+w.token)
	req.Header.SetContentType("application/json")
	req.SetBody(body)
	if err := fasthttp.DoTimeout(&req, &res, process.Patience); err != nil {
		return 0, fmt.Errorf("POST %s: %w", path, err)
	}
	if res.StatusCode() != fasthttp.StatusCreated {
		return 0, fmt.Errorf("POST %s: status %d: %s", path, res.StatusCode(), res.Body())
	}
	return idOf(res.Body())
}

func idOf(body []byte) (int64, error) {
	var record struct{ ID int64 }
	err := json.Unmarshal(body, &record)
	return record.ID, err
}

// reading returns the load of reads at a rate per second (open loop). A rate of 0 means a closed loop.
func (w *eventWriter) reading(rate float64) drive.Config {
	c := w.loadOn(w.service, list, readers)
	c.Rate = rate
	if rate == 0 {
		c.Clients = writers
	}
	return c
}

// posting returns a closed loop that posts events to the service and collects the ids in the replies.
func (w *eventWriter) posting() drive.Config {
	headers := w.headers()
	u := &url.URL{Scheme: "http", Host: w.service.Address, Path: api + "/events"}
	return drive.Config{
		Address: w.service.Address, Clients: writers, Warm: w.Warm, Length: w.Time,
		Request: func(b []byte, _ int) []byte {
			return drive.Append(b, "POST", u, eventBody("Posted", w.first+w.n.Add(1), w.venue, w.category), headers...)
		},
		Reply: func(_, status int, body []byte) {
			if status != fasthttp.StatusCreated {
				return
			}
			id, err := idOf(body)
			if err != nil {
				id = -1 // which no event has, so it counts as lost
			}
			w.mu.Lock()
			w.ids = append(w.ids, id)
			w.mu.Unlock()
		},
	}
}

// beside calls do while reads run at the rate out.reads, and merges the result of the reads into out.beside.
func (w *eventWriter) beside(ctx context.Context, out *writing, do func() error) error {
	var r *drive.Result
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, failed = drive.Run(ctx, w.reading(out.reads))
	}()
	err := do()
	<-done
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	out.beside.Merge(r)
	return nil
}

func (w *eventWriter) bareBeside(ctx context.Context, out *writing) error {
	return w.beside(ctx, &writing{reads: out.reads}, func() error {
		rate, err := w.bare(ctx)
		out.bare = append(out.bare, rate)
		return err
	})
}

func (w *eventWriter) apiBeside(ctx context.Context, out *writing) error {
	return w.beside(ctx, out, func() error {
		rate, err := w.post(ctx, out)
		out.api = append(out.api, rate)
		return err
	})
}

func (w *eventWriter) bareOnly(ctx context.Context, out *writing) error {
	rate, err := w.bare(ctx)
	out.bareAlone = append(out.bareAlone, rate)
	return err
}

func (w *eventWriter) apiOnly(ctx context.Context, out *writing) error {
	rate, err := w.post(ctx, out)
	out.apiAlone = append(out.apiAlone, rate)
	return err
}

func (w *eventWriter) post(ctx context.Context, out *writing) (float64, error) {
	r, err := drive.Run(ctx, w.posting())
	if err != nil {
		return 0, err
	}
	out.posts.Merge(r)
	return r.Rate(), w.service.Alive()
}

// bare inserts events directly into the database, for the same time as posts are measured. It returns the events per
// second after the warm-up.
func (w *eventWriter) bare(ctx context.Context) (float64, error) {
	var group sync.WaitGroup
	var done atomic.Int64
	var lock sync.Mutex
	var failed error
	began := time.Now()
	end := w.Warm + w.Time
	for range writers {
		group.Go(func() {
			for ctx.Err() == nil && time.Since(began) < end {
				err := w.rows.insert(ctx, w.st.DB, w.first+w.n.Add(1))
				if err != nil {
					lock.Lock()
					failed = errors.Join(failed, err)
					lock.Unlock()
					return
				}
				if at := time.Since(began); at >= w.Warm && at < end {
					done.Add(1)
				}
			}
		})
	}
	group.Wait()
	return float64(done.Load()) / w.Time.Seconds(), errors.Join(failed, ctx.Err())
}
