package server

import (
	"errors"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/reply"
)

// serveResource makes package handlers read or write what the route names. It sets the entity tag of a read.
func (s *Server) serveResource(c *fiber.Ctx) error {
	x := exchangeOf(c)
	out, err := s.API.Serve(x.ctx, c, x.match, s.newCall(c, x))
	if errors.Is(err, handlers.ErrSiteChanged) {
		out, err = s.serveAgain(c, x)
	}
	switch {
	case err != nil:
		return err
	case isRead(c):
		x.tag, x.until, x.unchanged = reply.Tag(c.Response().Body(), out.Version), out.Until, out.Unchanged
		if out.Strong {
			x.tag = strings.TrimPrefix(x.tag, "W/")
		}
	case out.Version.Number != 0:
		c.Set(fiber.HeaderETag, reply.Tag(c.Response().Body(), out.Version))
	}
	return nil
}

// serveAgain repeats a write that failed because the settings of the site changed meanwhile. The first attempt
// stored nothing. The second one uses the new settings.
func (s *Server) serveAgain(c *fiber.Ctx, x *exchange) (endpoint.Outcome, error) {
	if s.Follow == nil {
		return endpoint.Outcome{}, &refusedError{error: errBusy, retry: time.Second, reason: reasonBusy}
	}
	if err := s.Follow(x.ctx); err != nil {
		return endpoint.Outcome{}, err
	}
	s = s.newest.Load()
	x.lang = s.language(c, x.root)
	x.match = s.API.Match(effectiveMethod(c), x.root, x.rest)
	out, err := s.API.Serve(x.ctx, c, x.match, s.newCall(c, x))
	if errors.Is(err, handlers.ErrSiteChanged) {
		return endpoint.Outcome{}, &refusedError{error: errBusy, retry: time.Second, reason: reasonBusy}
	}
	return out, err
}

// prefersStrict reports whether the client sent "Prefer: handling=strict", so that unknown parameters are
// refused.
func prefersStrict(c *fiber.Ctx) bool {
	return endpoint.PrefersStrict(c.Request().Header.PeekAll(endpoint.HeaderPrefer))
}

// newCall returns what package handlers needs to know about a request.
func (s *Server) newCall(c *fiber.Ctx, x *exchange) endpoint.Call {
	call := endpoint.Call{
		Now: x.now, Caller: x.caller, Root: x.root, Language: x.lang,
		OnLanguage: func(l calendar.Language) { x.lang = l },
		Strict:     prefersStrict(c),
		EnterMedia: func() error { return s.enterMediaGate(x) }, EnterSeries: func() error { return s.enterSeriesGate(x) },
		Judge: s.judgePasswords(x), Revision: x.revision,
	}
	if !isRead(c) {
		call.Precondition = expectedVersions(c)
	}
	if x.claim != nil {
		if call.AlreadyWritten = x.claim.AlreadyWritten; call.AlreadyWritten == 0 {
			call.OnWritten = x.claim.OnWritten
		}
	}
	return call
}
