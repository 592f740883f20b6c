package endpoint

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

// Match is the result of matching a request's path and method with the route table.
type Match struct {
	// Route is the name of the route in logs and metrics. It is the path with patterns for its parameters, such
	// as /events/(?P<id>\d+), or "index".
	Route    string
	Allow    string // value of the Allow header
	Pattern  *Pattern
	Endpoint *Endpoint
	Path     map[string]string
	// Input returns the path parameters and all others, as the URL of a calendar page implies them. It receives
	// the sent parameters. Nil means that the sent ones apply unchanged.
	Input func(r *Request, sent map[string]any) (path map[string]string, values map[string]any, err error)
}

// Find returns the first match of a path with a pattern of the table, for an HTTP method. The path rest is
// percent-encoded and relative to the root of the API. Find returns nil for an unknown path. If the path has no
// endpoint for the method, Match.Found reports false. HEAD counts as GET.
func Find(table []*Pattern, method, rest string) *Match {
	var parts []string
	if rest = strings.TrimSuffix(rest, "/"); rest != "" {
		parts = strings.Split(rest[1:], "/")
	}
	for _, p := range table {
		if path, ok := p.MatchPath(parts); ok {
			return NewMatch(p, method, path)
		}
	}
	return nil
}

// NewMatch returns the match of a method and a path with a pattern. HEAD counts as GET. The match has no
// endpoint if the pattern has none for the method. The argument path has the path parameters by name.
func NewMatch(p *Pattern, method string, path map[string]string) *Match {
	m := &Match{Route: cmp.Or(p.Text, "index"), Allow: p.Allow(), Pattern: p, Path: path}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, e := range p.Endpoints {
		if slices.Contains(e.Methods, method) {
			m.Endpoint = e
		}
	}
	return m
}

// Found reports whether the matched path has an endpoint for the method of the request.
func (m *Match) Found() bool { return m.Endpoint != nil }

// Upload reports whether the route accepts files, and so a larger body.
func (m *Match) Upload() bool { return m.Endpoint != nil && m.Endpoint.upload }

// Template returns the path of the matched route in the notation of OpenAPI, such as /events/{id}.
func (m *Match) Template() string { return m.Pattern.Template() }
