package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// slowConnections to largePage configure the scenario of slow clients, and limit how they may affect others.
const (
	slowConnections = 1000 // connections that send slowly, and as many that take slowly
	largeReplies    = 8    // connections with replies larger than all buffers
	slowMemory      = 300 << 20
	slowP99         = 2 * time.Second
	slowWindow      = 512 // size of a slow reader's receive buffer in bytes
	slowEvents      = 200
	openWithin      = 60 * time.Second
	// headersEnd to repliesEnd are when the server must have closed connections, since the last was opened. Its own
	// limits are 10 s for headers, 30 s for bodies, 60 s for replies and 90 s when idle.
	headersEnd = 25 * time.Second
	bodiesEnd  = 50 * time.Second
	largeEnd   = 80 * time.Second
	repliesEnd = 120 * time.Second
	slowPage   = "/events?per_page=50&start_date=2000-01-01&end_date=2100-01-01"
	largePage  = "/events?per_page=50&start_date=2100-06-01&end_date=2110-01-01"
)

// slowClients is a scenario with four kinds of connections that never finish. It measures other clients meanwhile.
func slowClients(ctx context.Context, w *world) error {
	db := "sqlite://" + filepath.Join(w.dir, "almanac.db")
	if out, err := w.command(ctx, "seed", "--db", db, "--events", strconv.Itoa(slowEvents)); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	metrics := "127.0.0.1:" + strconv.Itoa(port)
	p, err := w.serve(ctx, "almanac", db, "--metrics-listen", metrics)
	if err != nil {
		return err
	}
	token, err := w.editor(ctx, db)
	if err != nil {
		return err
	}
	if err := w.largeEvents(ctx, p, token); err != nil {
		return err
	}
	// Until here connections are few, and quick.
	quick, err := w.asked(ctx, p, token, w.time)
	if err != nil {
		return err
	}
	const head = " HTTP/1.1\r\nHost: x\r\n"
	get := "GET " + namespace + slowPage + head
	post := "POST " + namespace + "/events" + head + "Authorization: Bearer " + token +
		"\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer func() {
		cancel()
		group.Wait()
	}()
	kinds := []*slow{
		{name: "headers", count: slowConnections / 2, first: get + "X-Long: ", drip: true, most: headersEnd},
		{name: "bodies", count: slowConnections / 2, first: post + "{", drip: true, most: bodiesEnd},
		{name: "large replies", count: largeReplies, first: "GET " + namespace + largePage + head + "\r\n", take: true, most: largeEnd, slots: make(chan struct{}, 4)},
		{name: "replies", count: slowConnections, first: get + "\r\n", take: true, most: repliesEnd, slots: make(chan struct{}, 16)},
	}
	w.inject(fmt.Sprintf("%d connections send a byte a second, %d take a byte a second", slowConnections, slowConnections))
	began := time.Now()
	for _, k := range kinds {
		for range k.count {
			group.Go(func() { k.hold(ctx, p.port) })
		}
	}
	err = wait(ctx, "the connections are open", openWithin, func(context.Context) error {
		for _, k := range kinds {
			if n := int(k.opened.Load()); n < k.count {
				return fmt.Errorf("%s: %d of %d", k.name, n, k.count)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.say("open after %v", time.Since(began).Round(time.Millisecond))
	began = time.Now()
	slow, err := w.asked(ctx, p, token, 5*w.time)
	if err != nil {
		return err
	}
	w.say("others meanwhile: p50 %v p99 %v; before: p50 %v p99 %v", quantile(slow, 0.5), quantile(slow, 0.99), quantile(quick, 0.5), quantile(quick, 0.99))
	if is := quantile(slow, 0.99); is > slowP99 {
		w.fail("beside slow clients p99 is %v, want at most %v", is, slowP99)
	}
	for _, k := range kinds[:2] {
		err := wait(ctx, k.name+": the server ends slow connections", k.most-time.Since(began), func(context.Context) error {
			if n := int(k.ended.Load()); n < k.count {
				return fmt.Errorf("%d of %d are ended", n, k.count)
			}
			return nil
		})
		if err != nil {
			return err
		}
		w.say("%s: all %d ended by the server within %v", k.name, k.count, time.Since(began).Round(time.Second))
	}
	// Those who take a reply do not see the end before they have taken what the system holds for them.
	for _, left := range []struct {
		open int
		most time.Duration
	}{{slowConnections, largeEnd}, {0, repliesEnd}} {
		what := fmt.Sprintf("the server has at most %d connections", left.open+10)
		err = wait(ctx, what, left.most-time.Since(began), func(ctx context.Context) error {
			open, err := gauge(ctx, "http://"+metrics+"/metrics", "almanac_http_connections")
			if err == nil && open > float64(left.open+10) {
				err = fmt.Errorf("%v are open", open)
			}
			return err
		})
		if err != nil {
			return err
		}
		w.say("%s after %v", what, time.Since(began).Round(time.Second))
	}
	w.recovered(time.Since(began), repliesEnd)
	memory, err := peakMemory(p.cmd.Process.Pid)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	w.say("the process took %d MiB at most", memory>>20)
	if memory > slowMemory {
		w.fail("the process took %d MiB, want at most %d", memory>>20, slowMemory>>20)
	}
	return p.stop(ctx)
}

// largeEvents creates 50 events, which make a page of a list about 3 MB large.
func (w *world) largeEvents(ctx context.Context, p *program, token string) error {
	c := w.client(token)
	defer c.http.CloseIdleConnections()
	for i := range 50 {
		_, err := c.json(ctx, p.base(), http.MethodPost, "/events", object{
			"title": fmt.Sprintf("Large %d", i), "start_date": "2101-01-01", "end_date": "2101-01-01",
			"description": strings.Repeat("all of it ", 6500),
		}, http.StatusCreated)
		if err != nil {
			return err
		}
	}
	return nil
}

// gauge returns the value of a metric without labels. url is that of the service's metrics.
func gauge(ctx context.Context, url, name string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", url, name)
}

// slow is a number of slow connections of one kind.
type slow struct {
	name  string
	count int
	first string // text to send at once
	drip  bool   // then sends a byte a second
	take  bool   // then reads a byte of the reply a second
	most  time.Duration

	slots         chan struct{} // limits how many requests begin at once; nil means no limit
	opened, ended atomic.Int64
}

// hold opens a slow connection and sends or reads a byte a second until the server closes it or ctx ends.
func (s *slow) hold(ctx context.Context, port int) {
	dialer := net.Dialer{Timeout: 20 * time.Second}
	if s.take {
		// Little room here, so that the reply stays with the server.
		dialer.Control = func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) { setWindow(fd, slowWindow) })
		}
	}
	c, err := dialer.DialContext(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return
	}
	end := func() { _ = c.Close() } // the server may have been first
	defer end()
	stop := context.AfterFunc(ctx, end)
	defer stop()
	one := make([]byte, 1)
	if err := s.begin(ctx, c, one); err != nil {
		return
	}
	s.opened.Add(1)
	for {
		if pause(ctx, time.Second) != nil {
			return
		}
		if s.drip {
			_, err = c.Write([]byte("x"))
		}
		if err == nil {
			// A sender looks whether it is answered, which is the end of its connection.
			wait := time.Now().Add(time.Millisecond)
			if s.take {
				wait = time.Now().Add(time.Second)
			}
			if err = c.SetReadDeadline(wait); err == nil {
				_, err = c.Read(one)
			}
			if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
				err = nil
			} else if err == nil && s.drip {
				err = io.EOF
			}
		}
		if err != nil && ctx.Err() == nil {
			s.ended.Add(1)
			return
		}
	}
}

// begin sends the first part of a request. Kinds that read replies slowly wait for the first byte. Only a few
// connections do so at a time, since the number of requests is not under test.
func (s *slow) begin(ctx context.Context, c net.Conn, one []byte) error {
	if s.slots != nil {
		select {
		case s.slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		defer func() { <-s.slots }()
	}
	_, err := io.WriteString(c, s.first)
	if err == nil && s.take {
		_, err = c.Read(one)
	}
	return err
}

// asked returns the latencies of two clients that read and one that writes, in ascending order. It returns an error
// if a request failed.
func (w *world) asked(ctx context.Context, p *program, token string, length time.Duration) ([]time.Duration, error) {
	end := time.Now().Add(length)
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var group sync.WaitGroup
	for i := range 3 {
		c := w.client(token)
		group.Go(func() {
			defer c.http.CloseIdleConnections()
			for n := 0; time.Now().Before(end) && ctx.Err() == nil; n++ {
				var a answer
				var err error
				if i == 0 {
					body := object{"title": fmt.Sprintf("Quick %d %d", w.rounds, n), "start_date": "2027-01-01", "end_date": "2027-01-01"}
					a, err = c.json(ctx, p.base(), http.MethodPost, "/events", body, http.StatusCreated)
				} else {
					a, err = c.get(ctx, p.base(), []string{"/events", "/venues", "/tags"}[n%3], http.StatusOK)
				}
				mu.Lock()
				failed = errors.Join(failed, err)
				all = append(all, a.took)
				mu.Unlock()
				if err != nil || pause(ctx, 5*time.Millisecond) != nil {
					return
				}
			}
		})
	}
	group.Wait()
	w.rounds++
	slices.Sort(all)
	if len(all) == 0 {
		failed = errors.Join(failed, errors.New("nothing was asked"))
	}
	return all, failed
}

// quantile returns a quantile of sorted durations, rounded to 10 microseconds. q is from 0 to 1.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(float64(len(sorted)-1)*q)].Round(10 * time.Microsecond)
}
