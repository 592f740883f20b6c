package server

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/read"
)

var errNoRoute = &calendar.Error{Code: "rest_no_route", Key: "rest_no_route"}

// redirectLanguage redirects URLs of pages and feeds whose path has the segment of a wrong language. Pages in
// the main language have no segment. Pages and feeds in a language that the site does not offer do not exist.
func (s *Server) redirectLanguage(c *fiber.Ctx) error {
	x := exchangeOf(c)
	root, below := cutLanguage(x.rest)
	l := root.Language()
	offered := s.API.PageSettings.Offers(l)
	switch {
	case l == "", x.longURL, x.kind == kindAPI, offered && (l != s.Site.Language || x.kind == kindFeed):
		return c.Next()
	case x.kind == kindPage && x.page.Redirects():
		return c.Next() // the page redirects, to a path without the language, too
	case x.kind != kindFeed && x.kind != kindPage && !s.hasDocument(below), !isRead(c) && !x.servesPage(c):
		return c.Next()
	}
	to := strings.TrimRight(s.Site.BaseURL, "/") + below
	if query := c.Request().URI().QueryString(); len(query) > 0 {
		to += "?" + string(query)
	}
	x.route = "/" + string(l)
	c.Set(fiber.HeaderCacheControl, "no-cache") // the languages may change, and browsers cache a 301 forever
	c.Set(fiber.HeaderLocation, to)
	c.Set(fiber.HeaderContentType, "text/plain; charset=UTF-8")
	status := fiber.StatusMovedPermanently
	if !isRead(c) {
		status = fiber.StatusPermanentRedirect // which keeps the method and the form
	}
	return c.Status(status).SendString(to)
}

// locate is the step that determines which part of the service answers the path (see kind) and the language of the
// reply.
func (s *Server) locate(c *fiber.Ctx) error {
	s.locateTarget(c, exchangeOf(c))
	return c.Next()
}

// joinSlashes replaces each run of slashes by one slash. Clients often append a path to a base URL that ends with
// a slash.
func joinSlashes(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

// joinLeadingSlashes reduces the leading slashes of a request target to one. After two slashes, fasthttp would
// read a host.
func joinLeadingSlashes(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		if target := c.Request.Header.RequestURI(); bytes.HasPrefix(target, []byte("//")) {
			c.Request.SetRequestURIBytes(append([]byte("/"), bytes.TrimLeft(target, "/")...))
		}
		next(c)
	}
}

// withoutIndexFile removes index.php from the start of a path below the base URL. WordPress accepts such paths,
// and clients send them if its web server rewrites no URLs.
func (s *Server) withoutIndexFile(path string) string {
	const file = "/index.php"
	below := s.trimPrefix(path)
	rest, ok := strings.CutPrefix(below, file)
	if !ok || rest != "" && rest[0] != '/' {
		return path
	}
	return strings.TrimSuffix(path, below) + cmp.Or(rest, "/")
}

// namedRoute returns the path that the query parameter rest_route of the home page names. WordPress without
// pretty permalinks has such URLs. /?rest_route=/tribe/events/v1/events becomes /wp-json/tribe/events/v1/events.
// Without that parameter, and for other pages, the path stays unchanged.
func (s *Server) namedRoute(c *fiber.Ctx, path string) string {
	values := c.Context().QueryArgs().PeekMulti("rest_route")
	if len(values) == 0 {
		return path
	}
	root, page := cutLanguage(s.trimPrefix(path))
	if page != "/" {
		return path
	}
	// The query value is already decoded, but the returned path will be decoded again.
	route := strings.ReplaceAll(string(values[len(values)-1]), "%", "%25")
	return root.Segment + joinSlashes(handlers.WordPressRoot+"/"+route)
}

// trimPrefix removes the path of the base URL from a path. If a proxy has already removed it, the path stays
// unchanged.
func (s *Server) trimPrefix(path string) string {
	below, ok := strings.CutPrefix(path, s.prefix)
	switch {
	case s.prefix == "" || !ok:
		return path
	case below == "":
		return "/"
	case below[0] == '/':
		return below
	}
	return path
}

// language returns the language of a reply. It is that of ml_language, else of the path, of Accept-Language or of
// the site.
func (s *Server) language(c *fiber.Ctx, root read.Root) calendar.Language {
	return requestedLanguage(c, root, locale.Negotiate(c.Get(fiber.HeaderAcceptLanguage), s.Site.Language))
}

// pageLanguage returns the language of a page or feed. It is that of ml_language, else that in the path, if the
// site offers it. Otherwise it is the main language.
func (s *Server) pageLanguage(c *fiber.Ctx, root read.Root) calendar.Language {
	l := requestedLanguage(c, root, s.Site.Language)
	if !s.API.PageSettings.Offers(l) {
		return s.Site.Language
	}
	return l
}

// requestedLanguage returns the language that ml_language or the path requests. Without either it returns lang.
func requestedLanguage(c *fiber.Ctx, root read.Root, lang calendar.Language) calendar.Language {
	if l := root.Language(); l != "" {
		lang = l
	}
	// If the parameter is repeated, its last value counts.
	if all := c.Context().QueryArgs().PeekMulti("ml_language"); len(all) > 0 {
		if l := calendar.Language(all[len(all)-1]); l.Known() {
			lang = l
		}
	}
	return lang
}

// match finds the endpoint of a request to the API in the route table of package handlers (decision 003).
func (s *Server) match(c *fiber.Ctx) error {
	if x := exchangeOf(c); x.kind == kindAPI && !x.longURL {
		x.match = s.API.Match(effectiveMethod(c), x.root, x.rest)
	}
	return c.Next()
}

// effectiveMethod returns the HTTP method that a request means. A POST may name PUT, PATCH or DELETE in
// X-HTTP-Method-Override or _method.
func effectiveMethod(c *fiber.Ctx) string {
	if c.Method() != fiber.MethodPost {
		return c.Method()
	}
	for _, named := range [2]string{c.Get("X-HTTP-Method-Override"), c.Query("_method")} {
		for _, method := range [3]string{fiber.MethodPut, fiber.MethodPatch, fiber.MethodDelete} {
			if strings.EqualFold(named, method) {
				return method
			}
		}
	}
	return fiber.MethodPost
}

// isRead reports whether a request is GET or HEAD, and so changes nothing.
func isRead(c *fiber.Ctx) bool {
	return c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead
}

// requirePath refuses a request whose path no route has.
func (s *Server) requirePath(c *fiber.Ctx) error {
	x := exchangeOf(c)
	if x.match == nil {
		return errNoRoute
	}
	x.route = x.match.Route
	return c.Next()
}

// serveOptions answers OPTIONS by describing the endpoints of the path.
func (s *Server) serveOptions(c *fiber.Ctx) error {
	if c.Method() != fiber.MethodOptions {
		return c.Next()
	}
	x := exchangeOf(c)
	return s.API.Options(c, x.match, s.newCall(c, x))
}

// requireMethod refuses a method that no route of the path has. The Allow header lists the methods that exist.
func (s *Server) requireMethod(c *fiber.Ctx) error {
	if m := exchangeOf(c).match; !m.Found() {
		c.Set(fiber.HeaderAllow, m.Allow)
		return errNoRoute
	}
	return c.Next()
}
