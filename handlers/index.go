package handlers

import (
	"net/http"
	"slices"
	"strings"

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
func (r *request) getIndex(*indexQuery) (*Reply, error) {
	r.ExpireBy(r.Tomorrow()) // defaults of dates depend on the current day
	r.Complete = true
	up := ordered{{"href", r.Site.BaseURL + r.Root.Segment + "/"}}
	return &Reply{status: 200, body: ordered{
		{"namespace", namespaceOf(r.Root)},
		{"routes", r.h.publish(r)},
		{"_links", ordered{{"up", []ordered{up}}}},
	}}, nil
}

func (r *request) declareRootIndex(p *param.Set, q *indexQuery) {
	param.Default(param.Var(p, &q.Context, "context", "Context", "string", param.String), &q.Context, "view")
	read.DeclareLanguage(p)
}

// getRootIndex answers with the namespaces below WordPressRoot and their routes (contract, section 18).
func (r *request) getRootIndex(*indexQuery) (*Reply, error) {
	r.ExpireBy(r.Tomorrow())
	r.Complete = true
	var namespaces []string
	var routes ordered
	for _, mount := range r.h.mounts {
		if !strings.HasPrefix(mount, WordPressRoot+"/") {
			continue
		}
		below := *r
		below.Root.Mount = mount
		namespaces = append(namespaces, namespaceOf(below.Root))
		routes = append(routes, r.h.publish(&below)...)
	}
	site := r.Site.BaseURL + r.Root.Segment
	return &Reply{status: 200, body: ordered{
		{"name", r.SiteName()},
		{"description", r.PageSettings.Tagline.In(r.Language, r.Site.Language)},
		{"url", site},
		{"home", site},
		{"namespaces", namespaces},
		{"routes", routes},
	}}, nil
}

// publish returns the table of routes below the root of the request.
func (h *Handlers) publish(r *request) ordered {
	namespace := namespaceOf(r.Root)
	routes := make(ordered, 0, len(h.table))
	for _, p := range h.table {
		entry := h.describe(p, r)
		if !p.hasCaptures() && slices.Contains(p.methods(), http.MethodGet) {
			self := ordered{{"href", h.Site.BaseURL + r.Root.Segment + r.Root.Mount + p.text}}
			entry = append(entry, member{"_links", ordered{{"self", []ordered{self}}}})
		}
		routes = append(routes, member{"/" + namespace + p.text, entry})
	}
	return routes
}

// namespaceOf returns the namespace of a root: its mount without WordPressRoot.
func namespaceOf(root read.Root) string {
	return strings.TrimPrefix(strings.TrimPrefix(root.Mount, WordPressRoot), "/")
}

// options returns the body of the reply to OPTIONS on a path.
func (h *Handlers) options(p *pattern, call Call) ordered {
	return h.describe(p, &request{DescribingRequest(&h.Calendar, call.Now, call.Root, call.Language), h})
}

// describe returns the description of a path: its namespace, methods, and the arguments of each endpoint.
func (h *Handlers) describe(p *pattern, r *request) ordered {
	endpoints := make([]ordered, len(p.endpoints))
	for i, e := range p.endpoints {
		endpoints[i] = ordered{{"methods", e.methods}, {"args", h.args(e, r)}}
	}
	namespace := namespaceOf(r.Root)
	if r.isWordPress() && len(p.path) > 0 {
		namespace = wordPressNamespace
	}
	return ordered{{"namespace", namespace}, {"methods", p.methods()}, {"endpoints", endpoints}}
}

// args returns the parameters of an endpoint, described in the language of the reply. A parameter of the path and
// a field of the body may have the same name. Then only the one of the path is published.
func (h *Handlers) args(e *endpoint, r *request) ordered {
	params := param.Describe(r.Now, e.in, func(p *param.Set) { e.declare(r.Request, p) })
	args := make(ordered, 0, len(params))
	for _, p := range params {
		if p.Hidden || slices.ContainsFunc(args, func(m member) bool { return m.Name == p.Name }) {
			continue
		}
		args = append(args, member{p.Name, argument(p, h.Words.Text(r.Language, p.Description))})
	}
	return args
}

func argument(p *param.Param, description string) ordered {
	var o ordered
	if p.Type != "" {
		o = append(o, member{"type", p.Type})
	}
	if p.Format != "" {
		o = append(o, member{"format", p.Format})
	}
	values := ordered{}
	if p.Enum != nil {
		values = ordered{{"enum", p.Enum}}
	}
	if p.Items != "" {
		o = append(o, member{"items", append(ordered{{"type", p.Items}}, values...)})
	} else {
		o = append(o, values...)
	}
	if p.HasDefault {
		o = append(o, member{"default", p.Published})
	}
	return append(o, member{"description", description}, member{"required", p.IsRequired})
}
