package server

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/handlers/pages"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/web"
)

// kind is the part of the service that answers the path of a request. locateTarget determines it once per request.
type kind int

// kindOther to kindDocument are the values of kind.
const (
	kindOther    kind = iota // nothing answers the path
	kindHealth               // /healthz and others; decided before all other kinds, in serveHealth
	kindAPI                  // path below a mount of the API; the endpoint need not exist
	kindFeed                 // feed, or a calendar page in the format of a feed
	kindPage                 // calendar page
	kindSitemap              // sitemap or its index
	kindFile                 // stored picture
	kindDocument             // start page, API reference, or what they load
)

// hasEndpoints reports whether endpoints answer the path.
func (k kind) hasEndpoints() bool { return k == kindAPI || k == kindFeed }

// isDocument reports whether a path is that of the start page, the API reference or an asset.
func (s *Server) isDocument(path string) bool {
	if s.documents == nil {
		return false
	}
	if name, ok := strings.CutPrefix(path, web.AssetsPath); ok {
		_, ok := s.documents.Asset(name)
		return ok
	}
	_, below := cutLanguage(path)
	return s.hasDocument(below) && (trimSlash(below) == "/" || s.API.PageSettings.Pages.Docs)
}

// locateTarget decides what answers the path of a request, and in which language. It also serves requests that were
// refused before the first step.
func (s *Server) locateTarget(c *fiber.Ctx, x *exchange) {
	uri := c.Request().URI()
	path := string(uri.PathOriginal())
	x.longURL = len(path)+len("?")+len(uri.QueryString()) > maxURL
	path = s.namedRoute(c, s.withoutIndexFile(joinSlashes(path)))
	root, rest, isAPI := s.API.Locate(path)
	if isAPI {
		x.kind, x.root, x.rest = kindAPI, root, rest
	} else {
		x.rest = s.trimPrefix(path)
		s.locateOutsideAPI(c, x)
	}
	switch x.kind {
	case kindAPI:
		x.lang = s.language(c, x.root)
	case kindFeed:
		x.lang = s.pageLanguage(c, x.root)
	default:
		x.lang = s.language(c, x.root)
		s.chooseErrorForm(c, x)
	}
}

// locateOutsideAPI decides what answers a path outside the API. A URL that is too long is matched with no feed or page.
func (s *Server) locateOutsideAPI(c *fiber.Ctx, x *exchange) {
	query := c.Request().URI().QueryString()
	if !x.longURL {
		if x.match = s.API.Feeds.Match(c.Method(), x.rest, string(query)); x.match != nil {
			x.kind = kindFeed
			x.root, _ = cutLanguage(x.rest)
			return
		}
		if x.page = s.API.Pages.Match(x.rest, query); x.page != nil {
			x.kind = kindPage
			return
		}
	}
	_, numbered := pages.SitemapNumber(x.rest)
	switch {
	case s.documents != nil && (numbered || x.rest == pages.SitemapPath):
		x.kind = kindSitemap
	case s.Media != nil && strings.HasPrefix(x.rest, represent.MediaPath):
		x.kind = kindFile
	case s.isDocument(x.rest):
		x.kind = kindDocument
	}
}
