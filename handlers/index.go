package handlers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/jsonwrite"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

// indexQuery is the input of GET on the root of the API. Its parameters have no effect.
type indexQuery struct{ Namespace, Context string }

func (r *request) declareIndex(p *param.Set, q *indexQuery) {
	param.Default(param.Var(p, &q.Namespace, "namespace", "Namespace", "string", param.String),
		&q.Namespace, Namespace)
	param.Default(param.Var(p, &q.Context, "context", "Context", "string", param.String), &q.Context, "view")
	read.DeclareLanguage(p)
}

// getIndex answers GET on the root of the API with the table of routes (contract, section 17).
func (r *request) getIndex(*indexQuery) (*endpoint.Reply, error) {
	r.ExpireBy(r.Tomorrow()) // defaults of dates depend on the current day
	r.Complete = true
	up := jsonwrite.Object{{"href", r.Site.BaseURL + r.Root.Segment + "/"}}
	return &endpoint.Reply{Status: 200, Body: jsonwrite.Object{
		{"namespace", namespaceOf(r.Root)},
		{"routes", r.h.publish(r)},
		{"_links", jsonwrite.Object{{"up", []jsonwrite.Object{up}}}},
	}}, nil
}

func (r *request) declareRootIndex(p *param.Set, q *indexQuery) {
	param.Default(param.Var(p, &q.Context, "context", "Context", "string", param.String), &q.Context, "view")
	read.DeclareLanguage(p)
}

// getRootIndex answers GET on WordPressRoot with the namespaces of the API and their routes (contract, section
// 18).
func (r *request) getRootIndex(*indexQuery) (*endpoint.Reply, error) {
	r.ExpireBy(r.Tomorrow())
	r.Complete = true
	var namespaces []string
	var routes jsonwrite.Object
	for _, mount := range r.h.mounts {
		if !strings.HasPrefix(mount, WordPressRoot+"/") {
			continue
		}
		root := read.Root{Segment: r.Root.Segment, Mount: mount}
		namespaces = append(namespaces, namespaceOf(root))
		below := &request{endpoint.DescribingRequest(&r.h.Calendar, r.Now, root, r.Language), r.h}
		routes = append(routes, r.h.publish(below)...)
	}
	site := r.Site.BaseURL + r.Root.Segment
	return &endpoint.Reply{Status: 200, Body: jsonwrite.Object{
		{"name", r.SiteName()},
		{"description", r.PageSettings.Tagline.In(r.Language, r.Site.Language)},
		{"url", site},
		{"home", site},
		{"namespaces", namespaces},
		{"routes", routes},
	}}, nil
}

// publish returns the table of routes below the root of the request.
func (h *Handlers) publish(r *request) jsonwrite.Object {
	namespace := namespaceOf(r.Root)
	routes := make(jsonwrite.Object, 0, len(h.table))
	for _, p := range h.table {
		entry := h.describe(p, r)
		if !p.HasParameters() && slices.Contains(p.Methods(), http.MethodGet) {
			self := jsonwrite.Object{{"href", h.Site.BaseURL + r.Root.Segment + r.Root.Mount + p.Text}}
			entry = append(entry, jsonwrite.Member{"_links", jsonwrite.Object{{"self", []jsonwrite.Object{self}}}})
		}
		routes = append(routes, jsonwrite.Member{"/" + namespace + p.Text, entry})
	}
	return routes
}

// namespaceOf returns the namespace of a root: its mount without the prefix WordPressRoot.
func namespaceOf(root read.Root) string {
	return strings.TrimPrefix(strings.TrimPrefix(root.Mount, WordPressRoot), "/")
}

// options returns the body of the reply to OPTIONS on a path.
func (h *Handlers) options(p *endpoint.Pattern, call endpoint.Call) jsonwrite.Object {
	return h.describe(p, &request{endpoint.DescribingRequest(&h.Calendar, call.Now, call.Root, call.Language), h})
}

// describe returns the description of a path: its namespace, methods, and the arguments of each endpoint.
func (h *Handlers) describe(p *endpoint.Pattern, r *request) jsonwrite.Object {
	endpoints := make([]jsonwrite.Object, len(p.Endpoints))
	for i, e := range p.Endpoints {
		endpoints[i] = jsonwrite.Object{{"methods", e.Methods}, {"args", h.args(e, r)}}
	}
	namespace := namespaceOf(r.Root)
	if r.isWordPress() && p.Text != "" {
		namespace = wordPressNamespace
	}
	return jsonwrite.Object{{"namespace", namespace}, {"methods", p.Methods()}, {"endpoints", endpoints}}
}

// args returns the parameters of an endpoint, described in the language of the reply. A parameter of the path and
// a field of the body may have the same name. Then only the one of the path is published.
func (h *Handlers) args(e *endpoint.Endpoint, r *request) jsonwrite.Object {
	params := param.Describe(r.Now, e.In, func(p *param.Set) { e.Declare(r.Request, p) })
	args := make(jsonwrite.Object, 0, len(params))
	for _, p := range params {
		if p.Hidden || slices.ContainsFunc(args, func(m jsonwrite.Member) bool { return m.Name == p.Name }) {
			continue
		}
		args = append(args, jsonwrite.Member{p.Name, argument(p, h.Words.Text(r.Language, p.Description))})
	}
	return args
}

func argument(p *param.Param, description string) jsonwrite.Object {
	var o jsonwrite.Object
	if p.Type != "" {
		o = append(o, jsonwrite.Member{"type", p.Type})
	}
	if p.Format != "" {
		o = append(o, jsonwrite.Member{"format", p.Format})
	}
	values := jsonwrite.Object{}
	if p.Enum != nil {
		values = jsonwrite.Object{{"enum", p.Enum}}
	}
	if p.Items != "" {
		o = append(o, jsonwrite.Member{"items", append(jsonwrite.Object{{"type", p.Items}}, values...)})
	} else {
		o = append(o, values...)
	}
	if p.HasDefault {
		o = append(o, jsonwrite.Member{"default", p.Published})
	}
	return append(o, jsonwrite.Member{"description", description}, jsonwrite.Member{"required", p.IsRequired})
}
