package server

import (
	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers/pages"
	"github.com/almanac-cal/almanac/internal/reply"
)

// serveSitemaps answers requests for robots.txt and the sitemaps.
func (s *Server) serveSitemaps(c *fiber.Ctx) error {
	x := exchangeOf(c)
	if x.kind.hasEndpoints() || s.documents == nil || !isRead(c) {
		return c.Next()
	}
	var m pages.Sitemap
	var err error
	kind := "application/xml; charset=UTF-8"
	switch number, numbered := pages.SitemapNumber(x.rest); {
	case x.rest == pages.RobotsPath:
		m.Body, kind = s.API.Pages.Robots(), "text/plain; charset=UTF-8"
	case x.rest == pages.SitemapPath:
		m, err = s.API.Pages.SitemapIndex(x.ctx, x.now, x.revision)
	case numbered:
		m, err = s.API.Pages.Sitemap(x.ctx, x.now, x.revision, number)
	}
	if err != nil {
		return err
	}
	if m.Body == nil {
		return c.Next()
	}
	x.route, x.unchanged = x.rest, m.Unchanged
	if x.rest != pages.RobotsPath && x.rest != pages.SitemapPath {
		x.route = "/sitemap-{n}.xml"
	}
	x.tag = reply.Tag(m.Body, calendar.ShownVersion{})
	c.Set(fiber.HeaderContentType, kind)
	c.Response().SetBodyRaw(m.Body)
	return nil
}
