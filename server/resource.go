package server

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
)

// serveResource makes package handlers read or write what the route names. It sets the entity tag of a read.
func (s *Server) serveResource(c *fiber.Ctx) error {
	x := exchangeOf(c)
	out, err := s.API.Serve(x.ctx, c, x.match, s.newCall(c, x))
	switch {
	case err != nil:
		return err
	case isRead(c):
		x.tag, x.until, x.unchanged = entityTag(c.Response().Body(), out.Version), out.Until, out.Unchanged
		if out.Strong {
			x.tag = strings.TrimPrefix(x.tag, "W/")
		}
	case out.Version.Number != 0:
		c.Set(fiber.HeaderETag, entityTag(c.Response().Body(), out.Version))
	}
	return nil
}

// prefersStrict reports whether the client sent "Prefer: handling=strict": it wants undeclared parameters
// refused.
func prefersStrict(c *fiber.Ctx) bool {
	return handlers.PrefersStrict(c.Request().Header.PeekAll(handlers.HeaderPrefer))
}

// newCall returns what package handlers needs to know about a request.
func (s *Server) newCall(c *fiber.Ctx, x *exchange) handlers.Call {
	call := handlers.Call{
		Now: x.now, Caller: x.caller, Root: x.root, Language: x.lang,
		OnLanguage: func(l calendar.Language) { x.lang = l },
		Strict:     prefersStrict(c),
		EnterMedia: func() error { return s.enterMediaGate(x) }, EnterSeries: func() error { return s.enterSeriesGate(x) },
		Judge: s.judgePasswords(x), Revision: x.revision,
	}
	if !isRead(c) {
		call.Expect = expectedVersions(c)
	}
	if x.claim != nil {
		if call.Made = x.claim.Made; call.Made == 0 {
			call.Mark = x.claim.Mark
		}
	}
	return call
}
