// Package handlers answers the routes of the API. It declares what each route may be asked, finds or writes the records
// and represents them. It opens nothing, starts no goroutine and writes no error body: it returns errors, and package
// server writes them.
package handlers

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/sitefolder"
	"github.com/almanac-cal/almanac/web"
)

// Namespace is the path of the API below the base URL, without the leading slash.
const Namespace = "cal/events/v1"

// Config configures the API.
type Config struct {
	DB      *ent.Client
	Replica *ent.Client  // answers anonymous reads, and may be behind DB; nil or DB means that there is none
	Index   *index.Index // follows Replica if there is one, else DB; finds events for lists; nil means that the database does
	// Moves returns another number whenever requests read another of several servers, which may be behind the one before
	// (store.Store.Moves). Nil means one server.
	Moves       func() int64
	Site        calendar.Site
	Words       *locale.Catalogues
	Version     string         // of the program; "" means openapi.Development
	RecordCache *RecordCache   // of records that lists show; nil means none
	PasswordKey []byte         // what event passwords are hashed with: edit.PasswordKey
	FeedKey     feed.Key       // what the UIDs of feeds are made with: edit.FeedKey
	Files       media.Store    // where uploaded images go
	Decoding    *media.Budget  // memory for pictures that are decoded; nil means no limit
	Fetcher     *media.Fetcher // downloads images on a client's word
	// PageSettings are those of the pages for people; nil means sitefolder.Default.
	PageSettings *sitefolder.Settings
	NoPages      bool     // serve no pages for people
	Mounts       []string // further paths under which the same API is served: /wp-json/tribe/events/v1
}

// Handlers answers the routes of the API. It holds no state but what can be made again, and serves any number of
// requests at once.
type Handlers struct {
	Config
	pictures decodeSlots // of those who decode images
	host     string      // of global ids: the base URL's host and path
	prefix   string      // path of the base URL: "" or /rest
	mounts   []string
	table    []*pattern
	root     *pattern // the index below WordPressRoot; nil means no mount is below it
	feeds    feedTable
	// documents are kept, because they take longer to make than to send.
	documents documents
	// pages writes the pages of the calendar; nil means none are served.
	pages       *web.Calendar
	pageFilters []string // names of the parameters of lists that pages repeat in their links
}

// New builds the table of routes. It fails when a declaration is wrong, a mount is unusable or the base URL is
// not absolute.
func New(c Config) (h *Handlers, err error) {
	base, err := url.Parse(c.Site.BaseURL)
	if err != nil {
		// Its message has all of the address, and there may be a password in it.
		if bad := (*url.Error)(nil); errors.As(err, &bad) {
			err = bad.Err
		}
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" || base.User != nil || base.RawQuery != "" ||
		base.Fragment != "" {
		return nil, fmt.Errorf("base URL %q: want http(s)://HOST, with a path or without", base.Redacted())
	}
	c.Site.BaseURL = strings.TrimRight(c.Site.BaseURL, "/")
	if c.PageSettings == nil {
		c.PageSettings = new(sitefolder.Default())
	}
	h = &Handlers{
		Config:   c,
		pictures: make(decodeSlots, 2),
		host:     base.Hostname() + strings.TrimRight(base.Path, "/"),
		prefix:   strings.TrimRight(base.Path, "/"),
		mounts:   []string{"/" + Namespace},
	}
	for _, m := range c.Mounts {
		m = "/" + strings.Trim(m, "/")
		if err := h.mount(m); err != nil {
			return nil, fmt.Errorf("mount %q: %w", m, err)
		}
	}
	defer func() {
		if bad := recover(); bad != nil {
			err = fmt.Errorf("declarations: %v", bad)
		}
	}()
	h.table = h.routes()
	if c.PageSettings.Pages.Feeds {
		h.feeds = newFeedTable()
	}
	if h.WordPressMount() != "" {
		h.root = newPattern("/", endpointFor("Index of the service", methodsGet, http.StatusOK, (*request).declareRootIndex, (*request).getRootIndex))
	}
	for _, p := range slices.Concat(h.table, h.feeds.patterns()) {
		for _, e := range p.endpoints {
			e.describe(h.Site.Now())
		}
	}
	if c.NoPages {
		return h, nil
	}
	h.pageFilters = pageFilterNames(h.Site.Now())
	languages := make([]string, len(calendar.Languages))
	for i, l := range calendar.Languages {
		languages[i] = string(l)
	}
	if h.pages, err = web.NewCalendar(languages, h.SiteFiles()); err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	return h, nil
}

// Root is where a request came in; the links of its reply go back there.
type Root struct {
	Segment string // "/pl" when the path named a language, else ""
	Mount   string // "/cal/events/v1"; "" for feeds, which are below the base URL
}

// IsFeed reports whether the request is for a feed.
func (r Root) IsFeed() bool { return r.Mount == "" }

// Language is that of the path, "" when it named none.
func (r Root) Language() calendar.Language {
	return calendar.Language(strings.TrimPrefix(r.Segment, "/"))
}

// mount adds a path to those of the API.
func (h *Handlers) mount(m string) error {
	if m == "/" || strings.ContainsAny(m, "?#%\\ ") || path.Clean(m) != m {
		return errors.New("want a path such as /wp-json/tribe/events/v1")
	}
	switch first, _, _ := strings.Cut(m[1:], "/"); {
	case calendar.Language(first).Known():
		return fmt.Errorf("/%s is how a path says its language", first)
	case isPageSegment(first) || h.PageSettings.PathAliases[first] != "" || slices.Contains(feedPaths, "/"+first):
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

// Mounts are the paths that the API is below, beside the language that may come before each.
func (h *Handlers) Mounts() []string { return slices.Clone(h.mounts) }

// WordPressRoot is the path of the REST root of WordPress. Clients look for the namespaces of a site there.
const WordPressRoot = "/wp-json"

// WordPressMount returns the first mount below WordPressRoot, "" if there is none.
func (h *Handlers) WordPressMount() string {
	for _, m := range h.mounts {
		if strings.HasPrefix(m, WordPressRoot+"/") {
			return m
		}
	}
	return ""
}

// PublicMount returns the mount that pages name: the first one that clients of WordPress find, else that of the API.
func (h *Handlers) PublicMount() string { return cmp.Or(h.WordPressMount(), h.mounts[0]) }

// Locate splits a path into the root of a mount and the rest below it. ok is false for a path outside the API. The path
// of the base URL may be present, or removed by a proxy.
func (h *Handlers) Locate(path string) (root Root, rest string, ok bool) {
	if h.prefix != "" {
		if below, found := strings.CutPrefix(path, h.prefix); found && strings.HasPrefix(below, "/") {
			if root, rest, ok = h.locate(below); ok {
				return root, rest, true
			}
		}
	}
	return h.locate(path)
}

// locate is Locate for a path below the base URL.
func (h *Handlers) locate(path string) (root Root, rest string, ok bool) {
	if len(path) > 3 && path[0] == '/' && path[3] == '/' && calendar.Language(path[1:3]).Known() {
		root.Segment, path = path[:3], path[3:]
	}
	for _, m := range h.mounts {
		if rest, found := strings.CutPrefix(path, m); found && (rest == "" || rest[0] == '/') {
			root.Mount = m
			return root, rest, true
		}
	}
	if h.root != nil && (path == WordPressRoot || path == WordPressRoot+"/") {
		root.Mount = WordPressRoot
		return root, "", true
	}
	return Root{}, "", false
}
