package handlers

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/openapi"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

// docQuery is the input of GET /doc. Its only parameter is the language.
type docQuery struct{}

func (r *request) declareDoc(p *param.Set, _ *docQuery) { read.DeclareLanguage(p) }

// getDoc answers GET /doc with the OpenAPI 3.0.0 description of the API (contract, section 17).
func (r *request) getDoc(*docQuery) (*Reply, error) {
	body, err := r.h.documents.get(r)
	if err != nil {
		return nil, err
	}
	r.Complete = true
	return &Reply{status: 200, body: body}, nil
}

// documents caches the OpenAPI descriptions, because making one takes milliseconds.
type documents struct {
	mu     sync.Mutex
	cached map[documentVersion]json.RawMessage
}

// documentVersion is the key of a cached description: each root and language has its own description.
type documentVersion struct {
	root read.Root
	lang calendar.Language
}

func (d *documents) get(r *request) (json.RawMessage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cached == nil {
		d.cached = make(map[documentVersion]json.RawMessage)
	}
	one := documentVersion{r.Root, r.Language}
	if body, ok := d.cached[one]; ok {
		return body, nil
	}
	body, err := r.h.Describe(r.Now, r.Root, r.Language).Document()
	if err != nil {
		return nil, err
	}
	d.cached[one] = body
	return body, nil
}

// Describe returns the description of the API below a root, in a language. Declarations run at the time now, on
// which the description does not depend. It does not use the database.
func (h *Handlers) Describe(now time.Time, root read.Root, lang calendar.Language) *openapi.API {
	r := DescribingRequest(&h.Calendar, now, root, lang)
	site := h.Site.BaseURL + root.Segment
	var routes []openapi.Route
	describe := func(patterns []*pattern, server string) {
		for _, p := range patterns {
			route := openapi.Route{Path: p.template(), Kind: p.kind(), Server: server}
			for _, e := range p.endpoints {
				route.Endpoints = append(route.Endpoints, openapi.Endpoint{
					Methods: e.methods, In: e.in, Summary: e.summary, Success: e.success, MediaType: e.codec.mediaType,
					Tables:  e.tables,
					Declare: func(p *param.Set) { e.declare(r, p) },
				})
			}
			routes = append(routes, route)
		}
	}
	describe(h.table, "")
	describe(h.feeds.patterns(), site)
	return &openapi.API{
		Site: h.Site, Version: h.Version, Words: h.Words, Now: now, Language: lang,
		MaxPage: ent.MaxRead, MaxFeed: maxFeedSize, Address: site + root.Mount, Routes: routes,
	}
}

// template returns the path in the notation of OpenAPI, such as /events/{id}.
func (p *pattern) template() string {
	var b strings.Builder
	for _, s := range p.path {
		if b.WriteByte('/'); s.capture != "" {
			b.WriteString("{" + s.capture + "}" + s.suffix)
		} else {
			b.WriteString(s.literal)
		}
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

// kind returns the kind of the records below the path. It returns "" for feeds and for paths that describe the
// API.
func (p *pattern) kind() calendar.Kind {
	if p.shows != "" {
		return p.shows
	}
	for _, kind := range calendar.Kinds {
		if len(p.path) > 0 && p.path[0].literal == kind.Plural() {
			return kind
		}
	}
	return ""
}

// Template returns the path of the matched route in the notation of OpenAPI, such as /events/{id}.
func (m *Match) Template() string { return m.pattern.template() }

// Template returns the route of a path in the notation of OpenAPI, or "" if the path is unknown. The path may
// name a record or be a template, with or without a mount. So /events/15 and /cal/events/v1/events/{id} both give
// /events/{id}. It may also be the path of a feed, such as /event/jazz.ics.
func (h *Handlers) Template(path string) string {
	path = strings.NewReplacer("{id}", "1", "{slug}", "a").Replace(path)
	root, below, ok := h.Locate(path)
	if ok {
		path = below
	}
	m := h.Match("GET", root, path)
	if m == nil {
		m = h.MatchFeed("GET", path, "")
	}
	if m == nil {
		return ""
	}
	return m.Template()
}
