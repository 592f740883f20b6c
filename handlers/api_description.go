package handlers

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/handlers/feeds"
	"github.com/almanac-cal/almanac/internal/openapi"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

// docQuery is the input of GET /doc. Its only parameter is the language.
type docQuery struct{}

func (r *request) declareDoc(p *param.Set, _ *docQuery) { read.DeclareLanguage(p) }

// getDoc answers GET /doc with the OpenAPI 3.0.0 description of the API (contract, section 17).
func (r *request) getDoc(*docQuery) (*endpoint.Reply, error) {
	body, err := r.h.documents.get(r)
	if err != nil {
		return nil, err
	}
	r.Complete = true
	return &endpoint.Reply{Status: 200, Body: body}, nil
}

// documents caches the OpenAPI descriptions, because making one takes milliseconds.
type documents struct {
	mu     sync.Mutex
	cached map[documentVersion]json.RawMessage
}

// documentVersion is the key of a cached description: the root of its URLs (mount and language segment) and its
// language.
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

// Describe returns the OpenAPI description of the API below a root (mount and language segment), in the language
// lang. It also describes the feeds. The time now is the current time for parameters that depend on it. Describe
// does not use the database.
func (h *Handlers) Describe(now time.Time, root read.Root, lang calendar.Language) *openapi.API {
	r := endpoint.DescribingRequest(&h.Calendar, now, root, lang)
	site := h.Site.BaseURL + root.Segment
	var routes []openapi.Route
	describe := func(patterns []*endpoint.Pattern, server string) {
		for _, p := range patterns {
			route := openapi.Route{Path: p.Template(), Kind: p.Kind(), Server: server}
			for _, e := range p.Endpoints {
				route.Endpoints = append(route.Endpoints, openapi.Endpoint{
					Methods: e.Methods, In: e.In, Summary: e.Summary, Success: e.Success, MediaType: e.Codec.MediaType,
					Tables:  e.Tables,
					Declare: func(p *param.Set) { e.Declare(r, p) },
				})
			}
			routes = append(routes, route)
		}
	}
	describe(h.table, "")
	describe(h.Feeds.Patterns(), site)
	return &openapi.API{
		Site: h.Site, Version: h.Version, Words: h.Words, Now: now, Language: lang,
		MaxPage: ent.MaxRead, MaxFeed: feeds.MaxFeedSize, Address: site + root.Mount, Routes: routes,
	}
}

// Template returns the route that a URL path matches, as a path in OpenAPI, or "" if none does. Both /events/15
// and /cal/events/v1/events/{id} give /events/{id}. It also matches paths of feeds, such as /event/jazz.ics.
func (h *Handlers) Template(path string) string {
	path = strings.NewReplacer("{id}", "1", "{slug}", "a").Replace(path)
	root, below, ok := h.Locate(path)
	if ok {
		path = below
	}
	m := h.Match("GET", root, path)
	if m == nil {
		m = h.Feeds.Match("GET", path, "")
	}
	if m == nil {
		return ""
	}
	return m.Template()
}
