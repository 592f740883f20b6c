package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/lab/baseline"
	"github.com/almanac-cal/almanac/lab/command"
)

type baselineCmd struct {
	places
	effort
	Rounds   int  `help:"Times to measure each, in turn, so that no one has the machine at its best." default:"3"`
	Markdown bool `help:"Print Markdown."`
}

// contender is a server in a comparison, with its measurements.
type contender struct {
	name  string
	api   string
	took  map[string]took    // durations by question
	rates map[string]float64 // requests per second by question, the best of the rounds
}

func (b baselineCmd) Run(ctx context.Context, o command.Output) error {
	engines, err := b.engines()
	if err != nil {
		return err
	}
	for _, e := range engines {
		for _, s := range b.Sizes {
			if err := b.runOne(ctx, o, e, s); err != nil {
				return fmt.Errorf("%s, %s events: %w", e.name, s, err)
			}
		}
	}
	return nil
}

func (b baselineCmd) runOne(ctx context.Context, o command.Output, e engine, s size) (err error) {
	st, err := e.open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	sub, err := start(ctx, o.Err, st, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sub.close()) }()
	all := []*contender{{name: "service", api: sub.API}}
	for _, way := range []baseline.Way{baseline.Count, baseline.Keep, baseline.Index} {
		c := &contender{name: "by hand, " + way.String()}
		if c.api, err = sub.baseline(ctx, way); err != nil {
			return err
		}
		all = append(all, c)
	}
	list := question{name: "GET /events", paths: singlePath("events")}
	single := question{name: "GET /events/{id}", paths: func(f *facts) []string {
		return pathsOf(f.events, func(e eventName) string { return fmt.Sprintf("/events/%d", e.id) })
	}}
	asked := []question{list, single}
	if err := sub.agree(all, asked); err != nil {
		return err
	}
	for range b.Rounds {
		for _, c := range all {
			if err := b.round(ctx, c, asked, sub.facts); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	t := table{title: fmt.Sprintf("%s, %s events", e.name, s), head: []string{"", ""}}
	t.head = append(t.head, "p50", "p95", "service : this", fmt.Sprintf("requests/s of %d", b.Clients), "service : this")
	for _, q := range asked {
		first := all[0]
		for _, c := range all {
			slices.Sort(c.took[q.name])
			t.rows = append(t.rows, []string{
				q.name, c.name, formatDuration(c.took[q.name].at(0.5)), formatDuration(c.took[q.name].at(0.95)),
				fmt.Sprintf("%.2f", float64(first.took[q.name].at(0.5))/float64(c.took[q.name].at(0.5))),
				fmt.Sprintf("%.0f", c.rates[q.name]), fmt.Sprintf("%.2f", first.rates[q.name]/c.rates[q.name]),
			})
		}
	}
	return t.write(o.Out, b.Markdown)
}

// round sends all questions to a contender once and adds the measurements.
func (b baselineCmd) round(ctx context.Context, c *contender, asked []question, f *facts) error {
	if c.took == nil {
		c.took, c.rates = make(map[string]took), make(map[string]float64)
	}
	for _, q := range asked {
		paths := q.paths(f)
		some, err := b.alone(ctx, newClient(c.api, "", 1), paths, false)
		if err != nil {
			return err
		}
		c.took[q.name] = append(c.took[q.name], some...)
		rate, err := b.together(ctx, func() *client { return newClient(c.api, "", 1) }, paths, false)
		if err != nil {
			return err
		}
		c.rates[q.name] = max(c.rates[q.name], rate)
	}
	return nil
}

// agree returns an error unless all contenders give the same reply to the first path of each question.
func (s *subject) agree(all []*contender, asked []question) error {
	for _, q := range asked {
		path := q.paths(s.facts)[0]
		var want []byte
		for _, c := range all {
			body, err := newClient(c.api, "", 1).ask(path, false)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if want == nil {
				want = body
			}
			if !bytes.Equal(body, want) {
				return fmt.Errorf("%s: %s is answered with other bytes than by the service", c.name, path)
			}
		}
	}
	return nil
}

// baseline starts a server of package baseline on the subject's database and returns the URL of its API. It runs
// until the subject is closed.
func (s *subject) baseline(ctx context.Context, way baseline.Way) (api string, err error) {
	hand, err := baseline.New(ctx, baseline.Config{DB: s.st.DB, Site: s.Site, Way: way, Index: s.lists})
	if err != nil {
		return "", err
	}
	s.end = append(s.end, hand.Close)
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	web := &fasthttp.Server{Handler: hand.Handle, ReadTimeout: 30 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(ln) }()
	s.end = append(s.end, func() error { return errors.Join(web.Shutdown(), <-ended) })
	return "http://" + ln.Addr().String() + "/" + handlers.Namespace, nil
}
