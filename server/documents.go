package server

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/handlers/pages"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/web"
)

// documents has the rendered start page and API reference, with their security and link headers.
type documents struct {
	*web.Pages
	// policy is the value of Content-Security-Policy.
	policy string
	// link is the value of Link.
	link string
}

// newDocuments renders the start page and the API reference in the languages of the site, the main one first. If
// the site has the API reference, the Link header names it.
func newDocuments(site calendar.Site, api *handlers.Handlers) (*documents, error) {
	offered := api.PageSettings.Languages
	languages := make([]string, len(offered))
	for i, lang := range offered {
		languages[i] = string(lang)
	}
	base := strings.TrimRight(site.BaseURL, "/")
	rendered, err := web.New(web.Site{Name: site.Name, BaseURL: base, API: "/" + handlers.Namespace, RESTRoot: api.RESTRoot(), Files: pages.SiteFiles(api.PageSettings)}, languages)
	if err != nil {
		return nil, err
	}
	address, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	link := "<" + base + "/" + handlers.Namespace + `/doc>; rel="service-desc"; type="application/json"`
	if api.PageSettings.Pages.Docs {
		link += ", <" + base + `/docs>; rel="service-doc"; type="text/html"`
	}
	return &documents{Pages: rendered, policy: pagePolicy(address), link: link}, nil
}

// policyHost matches the hosts that a Content-Security-Policy can name.
var policyHost = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$`)

// pagePolicy returns the Content-Security-Policy of the start page and the reference. They load files of this
// origin and nothing inline, except icons in the reference's style (data:). The reference sends requests to its
// own origin and to the base URL, which may differ.
func pagePolicy(base *url.URL) string {
	connect := "'self'"
	if policyHost.MatchString(base.Host) {
		connect += " " + base.Scheme + "://" + base.Host
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src " + connect + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// calendarPolicy returns the Content-Security-Policy of calendar pages. They load files from, and send forms to, this
// origin or that of the base URL. They load images of other hosts only if externalImages is true.
func calendarPolicy(base *url.URL, externalImages bool) string {
	self, images := "'self'", "data:"
	if externalImages {
		images = "data: http: https:"
	}
	if policyHost.MatchString(base.Host) {
		self += " " + base.Scheme + "://" + base.Host
	}
	return "default-src 'none'; script-src " + self + "; style-src " + self + "; img-src " + self + " " + images + "; connect-src " + self +
		"; form-action " + self + "; base-uri 'none'; frame-ancestors 'none'"
}

// serveDocuments answers requests for the start page, the API reference and their assets.
func (s *Server) serveDocuments(c *fiber.Ctx) error {
	x := exchangeOf(c)
	if x.kind != kindDocument || !isRead(c) {
		return c.Next()
	}
	if name, ok := strings.CutPrefix(x.rest, web.AssetsPath); ok {
		f, ok := s.documents.Asset(name)
		if !ok {
			return c.Next()
		}
		x.route = web.AssetsPath
		c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
		return sendPageFile(c, f, "public, max-age=31536000, immutable")
	}
	root, path := cutLanguage(x.rest)
	path = trimSlash(path)
	if path != "/" && !s.API.PageSettings.Pages.Docs {
		return c.Next()
	}
	lang := s.pageLanguage(c, root)
	f, ok := s.documents.Page(string(lang), path)
	if !ok {
		return c.Next()
	}
	x.route, x.lang = path, lang
	c.Set(fiber.HeaderContentLanguage, string(lang))
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	c.Set(fiber.HeaderContentSecurityPolicy, s.documents.policy)
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	if s.secure {
		// without https, browsers log a warning about this header
		c.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
	base := strings.TrimRight(s.Site.BaseURL, "/")
	c.Set("X-TEC-API-VERSION", "v1")
	c.Set("X-TEC-API-ORIGIN", base)
	c.Set("X-TEC-API-ROOT", base+s.API.PublicMount()+"/")
	c.Set(fiber.HeaderLink, s.documents.link)
	return sendPageFile(c, f, "no-cache")
}

// hasDocument reports whether a path without a language is that of the start page or the reference.
func (s *Server) hasDocument(path string) bool {
	if s.documents == nil {
		return false
	}
	_, ok := s.documents.Page(string(s.Site.Language), trimSlash(path))
	return ok
}

// trimSlash removes the slash at the end of a path, unless the path is only a slash.
func trimSlash(path string) string {
	if trimmed := strings.TrimSuffix(path, "/"); trimmed != "" {
		return trimmed
	}
	return path
}

// cutLanguage splits a path into its language and the rest. "/pl/docs" becomes "/docs" in Polish, and "/pl"
// becomes "/".
func cutLanguage(path string) (root read.Root, below string) {
	root.Segment, below = address.CutLanguage(path)
	return root, cmp.Or(below, "/")
}

// sendPageFile sends a page or an asset in the content coding that the client prefers, or replies 304.
func sendPageFile(c *fiber.Ctx, f *web.File, caching string) error {
	encoding := reply.AcceptedCoding(c.Get(fiber.HeaderAcceptEncoding))
	etag := reply.AddCoding(`"`+f.Tag+`"`, encoding)
	list, sent := headerTags(c, fiber.HeaderIfNoneMatch)
	known := sent && list.HasWeak(etag)
	var data []byte
	if !known {
		content := f.Plain
		switch encoding {
		case reply.Brotli:
			content = f.Brotli
		case reply.Gzip:
			content = f.Gzip
		}
		var err error
		if data, err = content(); err != nil {
			return fmt.Errorf("%s: %w", f.Tag, err)
		}
	}
	c.Set(fiber.HeaderETag, etag)
	c.Set(fiber.HeaderCacheControl, caching)
	if known {
		c.Status(fiber.StatusNotModified)
		return nil
	}
	if encoding != reply.Identity {
		c.Set(fiber.HeaderContentEncoding, string(encoding))
	}
	c.Set(fiber.HeaderContentType, f.Type)
	c.Response().SetBodyRaw(data)
	return nil
}
