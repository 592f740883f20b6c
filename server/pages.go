package server

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/web"
)

// pages are what the site has for people, and the headers that go with it.
type pages struct {
	*web.Pages
	policy string // of the reference
	link   string
}

// newPages makes the pages of a site.
func newPages(site calendar.Site) (*pages, error) {
	languages := make([]string, len(calendar.Languages))
	for i, lang := range calendar.Languages {
		languages[i] = string(lang)
	}
	base := strings.TrimRight(site.BaseURL, "/")
	made, err := web.New(web.Site{Name: site.Name, BaseURL: base, API: "/" + handlers.Namespace}, languages)
	if err != nil {
		return nil, err
	}
	address, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	return &pages{
		Pages: made, policy: pagePolicy(address),
		link: "<" + base + "/" + handlers.Namespace + `/doc>; rel="service-desc"; type="application/json", ` +
			"<" + base + `/docs>; rel="service-doc"; type="text/html"`,
	}, nil
}

// sources are the hosts that a content security policy can name.
var sources = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$`)

// pagePolicy is what the pages may load: what is ours, and nothing that stands in the pages themselves. data: is for
// the icons in the style of the reference. Operations are tried on the address of the page and on the base URL, which
// may be another one.
func pagePolicy(base *url.URL) string {
	connect := "'self'"
	if sources.MatchString(base.Host) {
		connect += " " + base.Scheme + "://" + base.Host
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src " + connect + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// page answers a path of the pages. What is none of theirs is not answered.
func (s *Server) page(c *fiber.Ctx, x *exchange, path string) (answered bool, err error) {
	if s.pages == nil || c.Method() != fiber.MethodGet && c.Method() != fiber.MethodHead {
		return false, nil
	}
	if name, ok := strings.CutPrefix(path, web.AssetsPath); ok {
		f, ok := s.pages.Asset(name)
		if !ok {
			return false, nil
		}
		x.route = web.AssetsPath
		c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
		return true, sendFile(c, f, "public, max-age=31536000, immutable")
	}
	root, path := segment(path)
	if trimmed := strings.TrimSuffix(path, "/"); trimmed != "" && trimmed != "/" {
		path = trimmed
	}
	lang := s.language(c, root, true)
	f, ok := s.pages.Page(string(lang), path)
	if !ok {
		return false, nil
	}
	x.route, x.lang = path, lang
	c.Set(fiber.HeaderContentLanguage, string(lang))
	c.Set(fiber.HeaderVary, "Accept-Language, Accept-Encoding")
	c.Set(fiber.HeaderContentSecurityPolicy, s.pages.policy)
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	if s.secure {
		c.Set("Cross-Origin-Opener-Policy", "same-origin") // browsers complain about it elsewhere
	}
	base := strings.TrimRight(s.Site.BaseURL, "/")
	c.Set("X-TEC-API-VERSION", "v1")
	c.Set("X-TEC-API-ORIGIN", base)
	c.Set("X-TEC-API-ROOT", base+"/"+handlers.Namespace+"/")
	c.Set(fiber.HeaderLink, s.pages.link)
	return true, sendFile(c, f, "no-cache")
}

// segment takes the language off a path: /pl/docs is /docs in Polish, /pl is / there.
func segment(path string) (handlers.Root, string) {
	if len(path) < 3 || !calendar.Language(path[1:3]).Known() || len(path) > 3 && path[3] != '/' {
		return handlers.Root{}, path
	}
	if len(path) == 3 {
		return handlers.Root{Segment: path}, "/"
	}
	return handlers.Root{Segment: path[:3]}, path[3:]
}

// sendFile sends a file in the form that the client likes best, or says that it has it.
func sendFile(c *fiber.Ctx, f *web.File, keep string) error {
	var data []byte
	encoding := accepted(c.Get(fiber.HeaderAcceptEncoding))
	switch encoding {
	case brotlied:
		data = f.Brotli
	case gzipped:
		data = f.Gzip
	}
	etag := tagIn(`"`+f.Tag+`"`, encoding)
	list, sent := tagsOf(c, fiber.HeaderIfNoneMatch)
	known := sent && list.weak(etag)
	if encoding == identity && !known {
		var err error
		if data, err = f.Plain(); err != nil {
			return fmt.Errorf("unpacking %s: %w", f.Tag, err)
		}
	}
	c.Set(fiber.HeaderETag, etag)
	c.Set(fiber.HeaderCacheControl, keep)
	if known {
		c.Status(fiber.StatusNotModified)
		return nil
	}
	if encoding != identity {
		c.Set(fiber.HeaderContentEncoding, string(encoding))
	}
	c.Set(fiber.HeaderContentType, f.Type)
	c.Response().SetBodyRaw(data)
	return nil
}
