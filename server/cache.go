package server

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/maypok86/otter/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
)

// Caching keeps finished replies to those who have not signed in. A reply is kept with the revision of the calendar it was made
// at, and used as long as that is the newest one: a change that was committed by any process is seen by the next
// request.
type Caching struct {
	Size int64 // of what is kept, in bytes; 0: nothing is
	// Delay is how long a change by another process may go unnoticed, for those who ask so often that looking each time
	// costs too much. 0: not at all. Changes by this process are noticed at once.
	Delay time.Duration
	// Revision reads the newest revision from the database that replies are made from.
	Revision func(context.Context) (int64, error)
	// Known is the newest revision, where it can be told without asking the database; nil: nowhere.
	Known func() (revision int64, ok bool)
	// NextDue is when the next scheduled record is published, zero if none is: replies change then without a write.
	NextDue func(ctx context.Context, now time.Time) (time.Time, error)
}

// maxKept is the share of the cache that one reply may take, and mostKept what it may at most.
const (
	maxKept  = 16
	mostKept = 4 << 20
)

// cache is the layer between route and handler that keeps replies.
type cache struct {
	Caching
	metrics   *Metrics
	revisions revisions
	replies   *otter.Cache[string, *kept]
	schedule  schedule

	mu      sync.Mutex
	flights map[flight]*landing
}

// flight is a reply that somebody is making: others who want the same wait for it.
type flight struct {
	key      string
	revision int64
}

// landing is the end of a flight, when done is closed; reply is nil if it is not to be kept.
type landing struct {
	done  chan struct{}
	reply *kept
}

// newCache makes a cache; nil for one that keeps nothing. The timeout is that of one look at the revision.
func newCache(c Caching, timeout time.Duration, m *Metrics) (*cache, error) {
	if c.Size <= 0 {
		return nil, nil
	}
	replies, err := otter.New(&otter.Options[string, *kept]{
		MaximumWeight: uint64(c.Size),
		Weigher: func(key string, k *kept) uint32 {
			return uint32(min(len(key)+k.size(), math.MaxUint32)) //nolint:gosec // it is neither less nor more
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return &cache{
		Caching: c, metrics: m, replies: replies, flights: map[flight]*landing{},
		revisions: revisions{read: c.Revision, known: c.Known, timeout: timeout, delay: c.Delay},
	}, nil
}

// kept is a finished reply, with all that its bytes depend on.
type kept struct {
	revision int64
	until    time.Time // zero: for ever
	tag      string
	route    string
	lang     calendar.Language
	header   [][2]string // what the handler set
	body     []byte
	gzip, br packed
}

// size is roughly what the reply takes: compressed, bodies of ours shrink to a fifth.
func (k *kept) size() int {
	n := 600 + len(k.body) + 2*len(k.body)/5
	for _, h := range k.header {
		n += len(h[0]) + len(h[1]) + 32
	}
	return n
}

// holds reports whether the reply is the one that would be made at a revision and time.
func (k *kept) holds(revision int64, now time.Time) bool {
	return k != nil && k.revision == revision && (k.until.IsZero() || now.Before(k.until))
}

// cacheable reports whether a request may be answered from the cache: it asks for nobody in particular, and tells no
// secret that would be kept.
func cacheable(c *fiber.Ctx) bool {
	return isRead(c) && len(c.Request().Header.Peek(fiber.HeaderAuthorization)) == 0 &&
		!c.Context().QueryArgs().Has("password")
}

// cached answers from the cache, or has work do it and keeps what it answered. work is done by one at a time for each
// reply.
func (s *Server) cached(c *fiber.Ctx, x *exchange, work func() (*handlers.Outcome, error)) error {
	// What is found needs no deadline: reading the revision has its own.
	revision, err := s.cache.revisions.current(x.ctx, x.began)
	if err != nil {
		return fmt.Errorf("revision: %w", err)
	}
	// Everything else that shapes a reply is a setting of the process. The path names the format of a reply, since an
	// endpoint has one codec. Accept shapes errors, which are not kept.
	uri := c.Request().URI()
	key := string(uri.PathOriginal()) + "?" + string(uri.QueryString()) + "\n" + string(x.lang)
	if k, _ := s.cache.replies.GetIfPresent(key); k.holds(revision, x.now) {
		s.Metrics.cached("hit")
		return s.resend(c, x, k)
	}
	mine, wait := s.cache.board(flight{key, revision})
	if !mine {
		x.within(c, s.Timeout)
		select {
		case <-wait.done:
		case <-x.ctx.Done():
			return x.ctx.Err()
		}
		if wait.reply.holds(revision, x.now) {
			s.Metrics.cached("joined")
			return s.resend(c, x, wait.reply)
		}
		s.Metrics.cached("not_kept")
		out, err := work()
		if err != nil || out == nil {
			return err
		}
		return s.condition(c, x, tagOf(c, *out), out.Until)
	}
	defer s.cache.land(flight{key, revision}, wait)
	out, err := work()
	if err == nil && out != nil {
		wait.reply, err = s.keep(c, x, revision, *out)
	}
	k := wait.reply
	switch {
	case err != nil || out == nil:
		s.Metrics.cached("not_kept")
		return err
	case k == nil:
		s.Metrics.cached("not_kept")
		return s.condition(c, x, tagOf(c, *out), out.Until)
	}
	s.Metrics.cached("miss")
	s.cache.replies.Set(key, k)
	return s.condition(c, x, k.tag, k.until)
}

// board joins a flight, or begins it.
func (c *cache) board(f flight) (mine bool, l *landing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.flights[f]; l != nil {
		return false, l
	}
	f.key = strings.Clone(f.key)
	l = &landing{done: make(chan struct{})}
	c.flights[f] = l
	return true, l
}

func (c *cache) land(f flight, l *landing) {
	c.mu.Lock()
	delete(c.flights, f)
	c.mu.Unlock()
	close(l.done)
}

// keep makes a reply that can be sent again of the one that was just made; nil if it is none to keep.
func (s *Server) keep(c *fiber.Ctx, x *exchange, revision int64, outcome handlers.Outcome) (*kept, error) {
	body := c.Response().Body()
	if c.Response().StatusCode() != fiber.StatusOK || int64(len(body)) > min(s.cache.Size/maxKept, mostKept) {
		return nil, nil
	}
	due, err := s.cache.schedule.next(x.ctx, s.cache.NextDue, revision, x.now)
	if err != nil {
		return nil, fmt.Errorf("scheduled records: %w", err)
	}
	k := &kept{
		revision: revision, until: outcome.Until, tag: tagOf(c, outcome), route: x.route, lang: x.lang,
		body: bytes.Clone(body),
	}
	if !due.IsZero() && (k.until.IsZero() || due.Before(k.until)) {
		k.until = due
	}
	c.Response().Header.VisitAll(func(name, value []byte) {
		if text := string(name); !ofOneReply[strings.ToLower(text)] {
			k.header = append(k.header, [2]string{text, string(value)})
		}
	})
	return k, nil
}

// resend answers with a kept reply.
func (s *Server) resend(c *fiber.Ctx, x *exchange, k *kept) error {
	x.route, x.api, x.lang = k.route, true, k.lang
	h := &c.Response().Header
	for _, pair := range k.header {
		h.Add(pair[0], pair[1])
	}
	body, tag := k.body, k.tag
	switch want := accepted(c.Get(fiber.HeaderAcceptEncoding)); want {
	case brotlied:
		body, tag = encoded(c, &k.br, k, want)
	case gzipped:
		body, tag = encoded(c, &k.gzip, k, want)
	}
	c.Status(fiber.StatusOK).Response().SetBodyRaw(body)
	return s.condition(c, x, tag, k.until)
}

// encoded is the body in a coding and its tag, if it is smaller that way.
func encoded(c *fiber.Ctx, p *packed, k *kept, in coding) (body []byte, tag string) {
	data := p.of(k.body, in)
	if data == nil {
		return k.body, k.tag
	}
	c.Set(fiber.HeaderContentEncoding, string(in))
	return data, tagIn(k.tag, in)
}

// schedule remembers when the next scheduled record is published, for one revision.
type schedule struct {
	mu       sync.Mutex
	revision int64
	asked    time.Time
	due      time.Time
}

func (d *schedule) next(
	ctx context.Context, ask func(context.Context, time.Time) (time.Time, error), revision int64, now time.Time,
) (time.Time, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.revision == revision && !d.asked.IsZero() && !now.Before(d.asked) && (d.due.IsZero() || now.Before(d.due))
	if known {
		return d.due, nil
	}
	due, err := ask(ctx, now)
	if err != nil {
		return time.Time{}, err
	}
	d.revision, d.asked, d.due = revision, now, due
	return due, nil
}
