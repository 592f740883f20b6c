package server

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/reply"
)

// cacheable reports whether a request may be answered from the cache. That is an anonymous read without a
// password. Pages ignore credentials, so a read of a page counts as anonymous.
func (x *exchange) cacheable(c *fiber.Ctx) bool {
	return isRead(c) && (x.kind == kindPage || x.kind == kindSitemap || !hasCredentials(c) && !c.Context().QueryArgs().Has("password"))
}

// serveCached answers a request from the cache. If the reply is missing, one request makes it and the others wait
// for it.
func (s *Server) serveCached(c *fiber.Ctx) error {
	x := exchangeOf(c)
	if s.cache == nil || !x.kind.hasEndpoints() && x.kind != kindPage && x.kind != kindSitemap || x.longURL || !x.cacheable(c) {
		return c.Next()
	}
	moves := s.cache.ServerChanges.Number()
	// A request that hits the cache needs no deadline, because reading the revision has its own.
	revision, err := s.cache.Revisions.Newest(x.ctx, x.began)
	if errors.Is(err, reply.ErrHangs) {
		return &refusedError{error: errBusy, retry: time.Second, reason: reasonBusy}
	}
	if err != nil {
		return fmt.Errorf("revision: %w", err)
	}
	// The key has all that varies between replies. The settings of the process are fixed. Path, query and the preference
	// for a table determine the format. Otherwise Accept shapes errors only, which are not cached.
	uri := c.Request().URI()
	key := reply.Key{Reply: string(uri.PathOriginal()) + "?" + string(uri.QueryString()) + "\n" + string(x.lang), Revision: revision}
	if x.kind == kindSitemap {
		key.Reply = x.rest // a sitemap depends on its path only
	}
	if x.kind.hasEndpoints() && endpoint.PrefersTable(c.Request().Header.PeekAll(fiber.HeaderAccept)) {
		key.Reply += "\ntable"
	}
	if prefersStrict(c) {
		key.Reply += "\nstrict"
	}
	r := s.cache.Get(key)
	if r.IsRight(revision, x.now) {
		s.Metrics.countCacheResult("hit")
		s.writeCached(c, x, r)
		return nil
	}
	same, until, err := s.cache.Check(x.ctx, r, revision, x.now)
	if err != nil {
		return fmt.Errorf("cached reply: %w", err)
	}
	if same {
		s.Metrics.countCacheResult("unchanged")
		s.writeCached(c, x, r)
		x.until = until
		return nil
	}
	shared, leads := s.cache.Join(key)
	if leads {
		return s.makeShared(c, x, key, shared, moves)
	}
	x.setDeadline(c, s.Timeout)
	select {
	case <-shared.Done:
	case <-x.ctx.Done():
		return x.ctx.Err()
	}
	if shared.Reply.IsRight(revision, x.now) {
		s.Metrics.countCacheResult("joined")
		s.writeCached(c, x, shared.Reply)
		return nil
	}
	s.Metrics.countCacheResult("not_kept")
	return c.Next()
}

// makeShared runs the later steps, which make the reply, and caches the reply if that is allowed. The number moves is
// the result of ServerChanges before the revision was read. If that number has changed, another database server
// answers, to which the revision need not apply. The reply is then not cached.
func (s *Server) makeShared(c *fiber.Ctx, x *exchange, key reply.Key, shared *reply.Shared, moves int64) error {
	defer s.cache.Finish(key, shared)
	x.revision = key.Revision
	err := c.Next()
	if err == nil && x.tag != "" && s.cache.ServerChanges.Number() == moves {
		shared.Reply, err = s.newCachedReply(c, x, key.Revision)
	}
	if err != nil || shared.Reply == nil {
		s.Metrics.countCacheResult("not_kept")
		return err
	}
	if s.cache.Keep(key, shared.Reply) {
		s.Metrics.countCacheResult("miss")
	} else {
		s.Metrics.countCacheResult("not_kept") // the requests that wait for it get it, and no others
	}
	x.until = shared.Reply.Until()
	return nil
}

// newCachedReply copies the reply before checkConditions changes it. It returns nil if the reply may not be cached.
func (s *Server) newCachedReply(c *fiber.Ctx, x *exchange, revision int64) (*reply.Cached, error) {
	body := c.Response().Body()
	if c.Response().StatusCode() != fiber.StatusOK {
		return nil, nil
	}
	r := &reply.Cached{Tag: x.tag, Route: x.route, Language: x.lang, Body: bytes.Clone(body)}
	if err := s.cache.Prove(x.ctx, r, revision, x.now, x.until, x.unchanged); err != nil {
		return nil, err
	}
	for name, value := range c.Response().Header.All() {
		if text := string(name); !perReplyHeaders[strings.ToLower(text)] {
			r.Header = append(r.Header, [2]string{text, string(value)})
		}
	}
	return r, nil
}

// writeCached writes a cached reply in the coding that the client accepts.
func (s *Server) writeCached(c *fiber.Ctx, x *exchange, r *reply.Cached) {
	x.route, x.lang, x.tag, x.until = r.Route, r.Language, r.Tag, r.Until()
	h := &c.Response().Header
	for _, pair := range r.Header {
		h.Add(pair[0], pair[1])
	}
	body := r.Body
	if in := reply.AcceptedCoding(c.Get(fiber.HeaderAcceptEncoding)); in != reply.Identity {
		if data := r.Compressed(in); data != nil {
			c.Set(fiber.HeaderContentEncoding, string(in))
			body, x.tag = data, reply.AddCoding(r.Tag, in)
		}
	}
	c.Status(fiber.StatusOK).Response().SetBodyRaw(body)
}

// expireRevision makes the next request read the revision from the database again after a write by this process.
func (s *Server) expireRevision(c *fiber.Ctx) error {
	if s.cache != nil && !isRead(c) {
		defer func() { s.newest.Load().cache.Revisions.Expire() }() // the settings may have changed meanwhile
	}
	return c.Next()
}
