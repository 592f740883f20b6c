// Package handlers answers the routes of the API. It registers the request parameters of each route, finds or
// writes the records, and encodes them. Functions named declare… register parameters with their types,
// descriptions and checks. Handlers return errors, and package server writes the error bodies. A mount is a path
// below which the API is served, such as /wp-json/tribe/events/v1. Handlers open no files or connections and
// start no goroutine.
package handlers

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/handlers/feeds"
	"github.com/almanac-cal/almanac/handlers/pages"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/settings"
)

// Namespace is the path of the API below the base URL, without a leading slash.
const Namespace = "cal/events/v1"

// ErrSiteChanged means that a write stored nothing, because the site's settings in the database differ from
// those of Config.
var ErrSiteChanged = edit.ErrSiteChanged

// Config has the parts and settings of the API.
type Config struct {
	read.Calendar
	Version  string         // version of the program; "" means openapi.Development
	Files    media.Store    // store of uploaded images
	Decoding *media.Budget  // memory for decoding pictures; nil means no limit
	Fetcher  *media.Fetcher // downloads images whose URLs clients send
	NoPages  bool           // serve no calendar pages
	Mounts   []string       // further paths of the same API, such as /wp-json/tribe/events/v1
}

// Handlers answers the routes of the API. It has no state except caches, and serves concurrent requests.
type Handlers struct {
	Config
	pictures decodeSlots // limits how many images are decoded at once
	prefix   string      // path of the base URL, such as "" or "/rest"
	mounts   []string
	table    []*endpoint.Pattern
	// wordPress has the routes below WordPressRoot that belong to no mount. Nil means that no mount is below it.
	wordPress []*endpoint.Pattern
	// documents caches API descriptions, which take longer to make than to send.
	documents documents
	Feeds     *feeds.Feeds
	Pages     *pages.Pages
}

// New returns the handlers of the API with their route table. It returns an error if the base URL, a mount, a
// route or a template of the pages is wrong. It also does so if the pages have another main language than the
// site.
func New(c Config) (h *Handlers, err error) {
	base, err := url.Parse(c.Site.BaseURL)
	if err != nil {
		// The error message has the whole URL, which may contain a password.
		if bad := (*url.Error)(nil); errors.As(err, &bad) {
			err = bad.Err
		}
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" || base.User != nil || base.RawQuery != "" ||
		base.Fragment != "" {
		return nil, fmt.Errorf("base URL %q: want http(s)://HOST, with a path or without", base.Redacted())
	}
	c.Host = base.Hostname() + strings.TrimRight(base.Path, "/")
	c.Site.BaseURL = strings.TrimRight(c.Site.BaseURL, "/")
	if c.PageSettings == nil {
		c.PageSettings = new(settings.Default())
		c.PageSettings.Lead(c.Site.Language)
	}
	if c.PageSettings.Language() != c.Site.Language {
		return nil, fmt.Errorf("the main language is %s, and that of the pages %s", c.Site.Language, c.PageSettings.Language())
	}
	names := address.NewNames(c.PageSettings.Paths, c.PageSettings.PathAliases)
	h = &Handlers{
		Config:   c,
		pictures: make(decodeSlots, 2),
		prefix:   strings.TrimRight(base.Path, "/"),
		mounts:   []string{"/" + Namespace},
	}
	for _, m := range c.Mounts {
		m = "/" + strings.Trim(m, "/")
		if err := h.mount(m, names); err != nil {
			return nil, fmt.Errorf("mount %q: %w", m, err)
		}
	}
	defer func() {
		if bad := recover(); bad != nil {
			err = fmt.Errorf("declarations: %v", bad)
		}
	}()
	h.table = h.routes()
	h.Feeds = feeds.New(names, c.PageSettings.Pages.Feeds)
	if h.wordPressMount() != "" {
		h.wordPress = wordPressRoutes(h)
	}
	r := endpoint.DescribingRequest(&h.Calendar, h.Site.Now(), read.Root{Mount: h.PublicMount()}, h.Site.Language)
	for _, p := range slices.Concat(h.table, h.wordPress) {
		p.Written = h.writtenReply
	}
	for _, p := range slices.Concat(h.table, h.wordPress, h.Feeds.Patterns()) {
		for _, e := range p.Endpoints {
			e.Describe(r)
		}
	}
	h.Pages, err = pages.New(&h.Calendar, pages.Config{
		Names: names, Prefix: h.prefix, APIRoot: h.PublicMount(), RESTRoot: h.RESTRoot(), Disabled: c.NoPages,
	})
	if err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	return h, nil
}

// mount adds a path to the mounts of the API. It returns an error if the path is unusable.
func (h *Handlers) mount(m string, names address.Names) error {
	if m == "/" || strings.ContainsAny(m, "?#%\\ ") || path.Clean(m) != m {
		return errors.New("want a path such as /wp-json/tribe/events/v1")
	}
	switch first, _, _ := strings.Cut(m[1:], "/"); {
	case calendar.Language(first).Known():
		return fmt.Errorf("/%s is how a path says its language", first)
	case names.Begin(first) || feeds.BeginsPath(first):
		return fmt.Errorf("/%s is where pages or feeds of the calendar are", first)
	}
	for _, other := range h.mounts {
		if other == m {
			return nil
		}
		if strings.HasPrefix(m+"/", other+"/") || strings.HasPrefix(other+"/", m+"/") {
			return fmt.Errorf("the API is below %s already", other)
		}
	}
	h.mounts = append(h.mounts, m)
	return nil
}

// Mounts returns the paths that the API is served below. A language may precede each of them.
func (h *Handlers) Mounts() []string { return slices.Clone(h.mounts) }

// wordPressMount returns the first mount below WordPressRoot, or "" if there is none.
func (h *Handlers) wordPressMount() string {
	for _, m := range h.mounts {
		if strings.HasPrefix(m, WordPressRoot+"/") {
			return m
		}
	}
	return ""
}

// RESTRoot returns the URL of the WordPress REST root, or "" if no mount is below it.
func (h *Handlers) RESTRoot() string {
	if h.wordPressMount() == "" {
		return ""
	}
	return h.Site.BaseURL + WordPressRoot + "/"
}

// PublicMount returns the mount that pages link to: the first one below WordPressRoot, else the first mount.
func (h *Handlers) PublicMount() string { return cmp.Or(h.wordPressMount(), h.mounts[0]) }

// Locate splits the path of a URL into the root and the rest below it. The root is the segment of a language, if
// there is one, and a mount. The result ok is false for a path outside the API. The path may begin with that of the
// base URL, unless a proxy has removed it.
func (h *Handlers) Locate(path string) (root read.Root, rest string, ok bool) {
	if h.prefix != "" {
		if below, found := strings.CutPrefix(path, h.prefix); found && strings.HasPrefix(below, "/") {
			if root, rest, ok = h.locate(below); ok {
				return root, rest, true
			}
		}
	}
	return h.locate(path)
}

// locate splits a path below the base URL into its root (language and mount) and the rest. The result ok is false for
// a path outside the API.
func (h *Handlers) locate(path string) (root read.Root, rest string, ok bool) {
	if len(path) > 3 && path[0] == '/' && path[3] == '/' && calendar.Language(path[1:3]).Known() {
		root.Segment, path = path[:3], path[3:]
	}
	for _, m := range h.mounts {
		if rest, found := strings.CutPrefix(path, m); found && (rest == "" || rest[0] == '/') {
			root.Mount = m
			return root, rest, true
		}
	}
	if rest, found := strings.CutPrefix(path, WordPressRoot); found && h.wordPress != nil &&
		(rest == "" || rest == "/" || strings.HasPrefix(rest, "/"+wordPressNamespace+"/")) {
		root.Mount = WordPressRoot
		return root, rest, true
	}
	return read.Root{}, "", false
}

// Match returns the route and endpoint for a path below a root (see Locate). It is nil for an unknown path.
func (h *Handlers) Match(method string, root read.Root, rest string) *endpoint.Match {
	if h.isWordPress(root) {
		return endpoint.Find(h.wordPress, method, rest)
	}
	return endpoint.Find(h.table, method, rest)
}
