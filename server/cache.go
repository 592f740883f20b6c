package server

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/maypok86/otter/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
)

// Caching configures the cache of finished replies to anonymous reads. Each cached reply belongs to a revision of
// the calendar. The cache also serves it at later revisions, until something that the reply depends on changes.
// Without a Delay, a request sees every change that was committed before it.
type Caching struct {
	// Size is the capacity of the cache in bytes. 0 disables the cache.
	Size int64
	// Delay is how long this process may overlook a change by another process, which saves reads of the revision.
	// 0 means no delay. This process notices its own changes immediately.
	Delay time.Duration
	// Revision returns the newest revision of the database that replies are made from.
	Revision func(context.Context) (int64, error)
	// Moves is about the servers that replies are made from.
	Moves handlers.Moves
	// NextDue returns when the next scheduled record will be published. That changes replies without a write. The
	// zero time means that no record is scheduled.
	NextDue func(ctx context.Context, now time.Time) (time.Time, error)
}

// A cached reply may take 1/replyShare of the cache, and never more than maxReplySize bytes.
const (
	replyShare   = 16
	maxReplySize = 4 << 20
)

// cache has the finished replies, and the replies that requests are making at the moment.
type cache struct {
	Caching
	revisions revisions
	replies   *otter.Cache[string, *cachedReply]
	schedule  publicationSchedule

	mu     sync.Mutex
	shared map[sharedKey]*sharedReply
}

// newCache returns a cache of finished replies, or nil if c.Size is 0. The timeout limits one read of the
// revision.
func newCache(c Caching, timeout time.Duration) (*cache, error) {
	if c.Size <= 0 {
		return nil, nil
	}
	replies, err := otter.New(&otter.Options[string, *cachedReply]{
		MaximumWeight: uint64(c.Size),
		Weigher: func(key string, r *cachedReply) uint32 {
			return uint32(min(len(key)+r.size(), math.MaxUint32)) //nolint:gosec // it is neither less nor more
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return &cache{
		Caching: c, replies: replies, shared: map[sharedKey]*sharedReply{}, schedule: publicationSchedule{scheduledReplies: make(chan struct{}, 1)},
		revisions: revisions{read: c.Revision, moves: c.Moves, timeout: timeout, delay: c.Delay},
	}, nil
}

// cachedReply is a finished reply with all that its bytes depend on.
type cachedReply struct {
	// revision is the revision of the calendar when the reply was made.
	revision int64
	// until is when the reply expires at any revision. Zero means never.
	until     time.Time
	unchanged handlers.Unchanged
	// validity is the newest known proof that the reply is right.
	validity atomic.Pointer[validity]

	tag      string
	route    string
	lang     calendar.Language
	header   [][2]string // headers of this reply, without those that every reply has
	body     []byte
	gzip, br compressedBody
}

// validity states up to which revision and time a cached reply is right.
type validity struct {
	revision int64
	// until is when the reply expires. Zero means never.
	until time.Time
}

// size returns roughly how many bytes of memory a cached reply takes. Compression shrinks typical bodies to a
// fifth.
func (r *cachedReply) size() int {
	n := 1400 + len(r.body) + 2*len(r.body)/5
	for _, h := range r.header {
		n += len(h[0]) + len(h[1]) + 32
	}
	return n
}

// valid reports whether a cached reply is known to be right at the given revision and time. A nil reply is not
// valid.
func (r *cachedReply) valid(revision int64, now time.Time) bool {
	if r == nil {
		return false
	}
	v := r.validity.Load()
	return v.revision >= revision && (v.until.IsZero() || now.Before(v.until))
}

// revalidate checks whether the calendar changed in a way that the reply depends on. It returns whether the reply
// is the same as before, and when it expires. It takes at most gateWait.
func (c *cache) revalidate(
	ctx context.Context, r *cachedReply, revision int64, now time.Time,
) (same bool, until time.Time, err error) {
	if r == nil || r.unchanged == nil {
		return false, time.Time{}, nil
	}
	v := r.validity.Load()
	if v.revision >= revision || !v.until.IsZero() && !now.Before(v.until) {
		return false, time.Time{}, nil // the reply has expired
	}
	ctx, cancel := context.WithTimeout(ctx, gateWait)
	defer cancel()
	if same, err = r.unchanged(ctx, r.revision, revision, now); same && err == nil {
		until, err = c.validUntil(ctx, r.until, revision, now)
	}
	switch {
	case ctx.Err() != nil:
		return false, time.Time{}, nil // making a new reply may take longer than gateWait
	case !same || err != nil:
		return false, time.Time{}, err
	}
	r.validity.CompareAndSwap(v, &validity{revision, until})
	return true, until, nil
}

// validUntil returns the expiry of a reply: the earlier of until and the time when the next scheduled record is
// published.
func (c *cache) validUntil(ctx context.Context, until time.Time, revision int64, now time.Time) (time.Time, error) {
	due, err := c.schedule.next(ctx, c.NextDue, revision, now)
	if err != nil {
		return time.Time{}, fmt.Errorf("scheduled records: %w", err)
	}
	if !due.IsZero() && (until.IsZero() || due.Before(until)) {
		return due, nil
	}
	return until, nil
}

// cacheable reports whether a request may be answered from the cache. That is an anonymous read without a
// password. Pages ignore credentials, so a read of a page counts as anonymous.
func (x *exchange) cacheable(c *fiber.Ctx) bool {
	return isRead(c) && (x.page != nil || x.sitemap || !hasCredentials(c) && !c.Context().QueryArgs().Has("password"))
}

// serveCached answers a request from the cache. If the reply is missing, one request makes it and the others wait
// for it.
func (s *Server) serveCached(c *fiber.Ctx) error {
	x := exchangeOf(c)
	if s.cache == nil || !x.api && x.page == nil && !x.sitemap || x.longURL || !x.cacheable(c) {
		return c.Next()
	}
	moves := s.cache.Moves.Number()
	// A request that hits the cache needs no deadline, because reading the revision has its own.
	revision, err := s.cache.revisions.newest(x.ctx, x.began)
	if err != nil {
		return fmt.Errorf("revision: %w", err)
	}
	// The key has all that varies between replies. The settings of the process are fixed. Path, query and the preference
	// for a table determine the format. Otherwise Accept shapes errors only, which are not cached.
	uri := c.Request().URI()
	key := sharedKey{string(uri.PathOriginal()) + "?" + string(uri.QueryString()) + "\n" + string(x.lang), revision}
	if x.sitemap {
		key.reply = x.rest // a sitemap depends on its path only
	}
	if x.api && handlers.PrefersTable(c.Request().Header.PeekAll(fiber.HeaderAccept)) {
		key.reply += "\ntable"
	}
	if prefersStrict(c) {
		key.reply += "\nstrict"
	}
	r, _ := s.cache.replies.GetIfPresent(key.reply)
	if r.valid(revision, x.now) {
		s.Metrics.countCacheResult("hit")
		s.writeCached(c, x, r)
		return nil
	}
	same, until, err := s.cache.revalidate(x.ctx, r, revision, x.now)
	if err != nil {
		return fmt.Errorf("cached reply: %w", err)
	}
	if same {
		s.Metrics.countCacheResult("unchanged")
		s.writeCached(c, x, r)
		x.until = until
		return nil
	}
	shared, leads := s.cache.join(key)
	if leads {
		return s.makeShared(c, x, key, shared, moves)
	}
	x.setDeadline(c, s.Timeout)
	select {
	case <-shared.done:
	case <-x.ctx.Done():
		return x.ctx.Err()
	}
	if shared.reply.valid(revision, x.now) {
		s.Metrics.countCacheResult("joined")
		s.writeCached(c, x, shared.reply)
		return nil
	}
	s.Metrics.countCacheResult("not_kept")
	return c.Next()
}

// sharedKey identifies a reply that concurrent requests share.
type sharedKey struct {
	reply    string // key of the reply in the cache
	revision int64
}

// sharedReply is a reply that one request makes while others wait for it. Package x/sync/singleflight does not fit: the
// work needs the goroutine of its request, and each waiter has its own deadline.
type sharedReply struct {
	// done is closed when the reply is finished.
	done chan struct{}
	// reply is the finished reply. Nil means that it may not be cached.
	reply *cachedReply
}

// join returns the shared reply of a key. leads is true for the first request, which makes the reply and then
// calls finish.
func (c *cache) join(key sharedKey) (r *sharedReply, leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.shared[key]; r != nil {
		return r, false
	}
	r = &sharedReply{done: make(chan struct{})}
	c.shared[key] = r
	return r, true
}

// finish removes a shared reply and releases the requests that wait for it.
func (c *cache) finish(key sharedKey, r *sharedReply) {
	c.mu.Lock()
	delete(c.shared, key)
	c.mu.Unlock()
	close(r.done)
}

// makeShared runs the later steps, which make the reply. It caches the reply if that is allowed. It is not allowed if the
// database is another one than when Moves had the number moves: the revision is that of the one before.
func (s *Server) makeShared(c *fiber.Ctx, x *exchange, key sharedKey, shared *sharedReply, moves int64) error {
	defer s.cache.finish(key, shared)
	x.revision = key.revision
	err := c.Next()
	if err == nil && x.tag != "" && s.cache.Moves.Number() == moves {
		shared.reply, err = s.newCachedReply(c, x, key.revision)
	}
	if err != nil || shared.reply == nil {
		s.Metrics.countCacheResult("not_kept")
		return err
	}
	if int64(len(shared.reply.body)) > min(s.cache.Size/replyShare, maxReplySize) {
		s.Metrics.countCacheResult("not_kept") // the requests that wait for it get it, and no others
	} else {
		s.Metrics.countCacheResult("miss")
		s.cache.replies.Set(key.reply, shared.reply)
	}
	x.until = shared.reply.validity.Load().until
	return nil
}

// newCachedReply copies the reply before checkConditions changes it. It returns nil if the reply may not be cached.
func (s *Server) newCachedReply(c *fiber.Ctx, x *exchange, revision int64) (*cachedReply, error) {
	body := c.Response().Body()
	if c.Response().StatusCode() != fiber.StatusOK {
		return nil, nil
	}
	until, err := s.cache.validUntil(x.ctx, x.until, revision, x.now)
	if err != nil {
		return nil, err
	}
	r := &cachedReply{
		revision: revision, until: x.until, unchanged: x.unchanged,
		tag: x.tag, route: x.route, lang: x.lang, body: bytes.Clone(body),
	}
	r.validity.Store(&validity{revision, until})
	c.Response().Header.VisitAll(func(name, value []byte) {
		if text := string(name); !perReplyHeaders[strings.ToLower(text)] {
			r.header = append(r.header, [2]string{text, string(value)})
		}
	})
	return r, nil
}

// writeCached writes a cached reply in the coding that the client accepts.
func (s *Server) writeCached(c *fiber.Ctx, x *exchange, r *cachedReply) {
	x.route, x.lang, x.tag, x.until = r.route, r.lang, r.tag, r.validity.Load().until
	h := &c.Response().Header
	for _, pair := range r.header {
		h.Add(pair[0], pair[1])
	}
	body := r.body
	if in := acceptedCoding(c.Get(fiber.HeaderAcceptEncoding)); in != identityCoding {
		compressed := &r.gzip
		if in == brotliCoding {
			compressed = &r.br
		}
		if data := compressed.bytes(r.body, in); data != nil {
			c.Set(fiber.HeaderContentEncoding, string(in))
			body, x.tag = data, addCoding(r.tag, in)
		}
	}
	c.Status(fiber.StatusOK).Response().SetBodyRaw(body)
}

// expireRevision makes the next request read the revision from the database again after a write by this process.
func (s *Server) expireRevision(c *fiber.Ctx) error {
	if s.cache != nil && !isRead(c) {
		defer func() { s.newest.Load().cache.revisions.expire() }() // the settings may have changed meanwhile
	}
	return c.Next()
}

// publicationSchedule caches when the next scheduled record will be published, for one revision of the calendar.
type publicationSchedule struct {
	// scheduledReplies is a lock for the other fields. It is full while a request uses them.
	scheduledReplies chan struct{}
	revision         int64
	// asked is when the database was last queried. Zero means never.
	asked time.Time
	// due is when the next scheduled record will be published. Zero means that no record is scheduled.
	due time.Time
}

// next returns when the next scheduled record will be published. It queries the database if the revision has
// changed or the known time has passed.
func (d *publicationSchedule) next(
	ctx context.Context, ask func(context.Context, time.Time) (time.Time, error), revision int64, now time.Time,
) (time.Time, error) {
	select {
	case d.scheduledReplies <- struct{}{}:
		defer func() { <-d.scheduledReplies }()
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
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
