package handlers

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

// pattern is one path of the API, with an endpoint for each group of its methods.
type pattern struct {
	path      []segment
	text      string // path as published, such as /events/(?P<id>\d+)
	endpoints []*endpoint
	shows     calendar.Kind // kind of the records; "" means that of the first segment
	written   Written       // reply to a repeated write; nil means that the path has no writes
}

// segment is a part of a path. It is a literal, or a parameter: "id" for digits, "slug" for any text.
type segment struct {
	literal string
	capture string
	suffix  string // literal text after the parameter
}

// endpoint is the handler of a group of methods on one path.
type endpoint struct {
	methods []string
	in      param.Location
	declare func(*Request, *param.Set)
	serve   func(*Request) (*Reply, error)
	codec   codec // encodes the values of replies
	tables  bool  // clients may choose tableCodec instead
	summary string
	success int  // HTTP status of a successful reply
	upload  bool // the endpoint accepts files
	rawFile bool // the body may be the file itself, rather than a form with it
	strong  bool // entity tags of replies are strong, even without a record in the reply
}

// Request is a request for a route while a handler answers it.
type Request struct {
	*read.Reader
	Call   Call
	Match  *Match
	Fields string     // value of _fields as sent, for links
	Params *param.Set // parameters of the endpoint
	Codec  codec      // codec of the reply
	// Page is the calendar page whose feed is requested. Nil means that the address is not that of a page.
	Page *address.Page
}

// Reply is the result of a handler. It has a value for the codec of the endpoint, and headers.
type Reply struct {
	status  int
	body    any
	header  [][2]string
	version calendar.ShownVersion // for Outcome.Version
}

// For returns an endpoint with a declaration of its input and a handler. The compiler checks that their types match. wrap
// returns the type of request that they have.
func For[R, Q any](wrap func(*Request) R, summary string, methods []string, status int,
	declare func(R, *param.Set, *Q), handle func(R, *Q) (*Reply, error),
) *endpoint {
	in := param.InQuery
	if slices.Contains(methods, "POST") {
		in = param.InBody
	}
	// The declaration binds variables of an input, which must live as long as its request.
	type bound struct {
		r R
		q Q
	}
	return &endpoint{
		methods: methods, in: in, codec: jsonCodec, summary: summary, success: status,
		declare: func(r *Request, p *param.Set) {
			b := &bound{r: wrap(r)}
			p.SetInput(b)
			declare(b.r, p, &b.q)
		},
		serve: func(r *Request) (*Reply, error) {
			b := r.Params.Input().(*bound) //nolint:forcetypeassert // declare has set it
			return handle(b.r, &b.q)
		},
	}
}

// takingFiles allows the endpoint a body as large as an upload. It returns the endpoint.
func (e *endpoint) takingFiles() *endpoint {
	e.upload = true
	return e
}

// takingRawFiles allows the body to be the file itself. It returns the endpoint.
func (e *endpoint) takingRawFiles() *endpoint {
	e.rawFile = true
	return e
}

// showing sets the kind of the records of a path. It returns the pattern.
func (p *pattern) showing(kind calendar.Kind) *pattern {
	p.shows = kind
	return p
}

// Describe returns the parameters of the endpoint. It runs the declaration and parses nothing.
func (e *endpoint) Describe(r *Request) []*param.Param {
	return param.Describe(r.Now, e.in, func(p *param.Set) { e.declare(r, p) })
}

// DescribingRequest returns an anonymous request for declarations that are described and not parsed.
func DescribingRequest(c *read.Calendar, now time.Time, root read.Root, language calendar.Language) *Request {
	return &Request{Reader: c.NewReader(context.Background(), c.Primary, now, auth.Principal{}, root, language), Codec: jsonCodec}
}

func newPattern(path string, endpoints ...*endpoint) *pattern {
	p := &pattern{endpoints: endpoints}
	for _, part := range strings.Split(strings.Trim(path, "/"), "/") {
		switch part {
		case "":
			continue
		case "{id}":
			p.path = append(p.path, segment{capture: "id"})
			p.text += `/(?P<id>\d+)`
		case "{slug}", "{slug}" + icsSuffix:
			suffix := strings.TrimPrefix(part, "{slug}")
			p.path = append(p.path, segment{capture: "slug", suffix: suffix})
			p.text += `/(?P<slug>[^/]+)` + regexp.QuoteMeta(suffix)
		default:
			p.path = append(p.path, segment{literal: part})
			p.text += "/" + part
		}
	}
	return p
}

// methods returns the methods of all endpoints of the path, in the order of the route table.
func (p *pattern) methods() []string {
	var out []string
	for _, e := range p.endpoints {
		out = append(out, e.methods...)
	}
	return out
}

// allow returns the value of the Allow header.
func (p *pattern) allow() string {
	methods := p.methods()
	if slices.Contains(methods, "GET") {
		methods = append(methods, "HEAD")
	}
	return strings.Join(append(methods, "OPTIONS"), ", ")
}

// hasCaptures reports whether the path has parameters.
func (p *pattern) hasCaptures() bool {
	return slices.ContainsFunc(p.path, func(s segment) bool { return s.capture != "" })
}

// match compares the segments of a path with the pattern. parts are below the API and percent-encoded. It returns
// the decoded path parameters.
func (p *pattern) match(parts []string) (map[string]string, bool) {
	if len(parts) != len(p.path) {
		return nil, false
	}
	var captures map[string]string
	for i, s := range p.path {
		text, err := url.PathUnescape(parts[i])
		if err != nil || text == "" {
			return nil, false
		}
		switch s.capture {
		case "":
			if text != s.literal {
				return nil, false
			}
			continue
		case "id":
			if strings.Trim(text, "0123456789") != "" {
				return nil, false
			}
		}
		if text, ok := strings.CutSuffix(text, s.suffix); ok && text != "" {
			if captures == nil {
				captures = make(map[string]string, 1)
			}
			captures[s.capture] = strings.Clone(text)
			continue
		}
		return nil, false
	}
	return captures, true
}

// Match is the result of matching a request's path and method with the route table.
type Match struct {
	// Route is the name of the route in logs and metrics. It is the path as published, such as
	// /events/(?P<id>\d+), or "index".
	Route    string
	Allow    string // value of the Allow header
	pattern  *pattern
	endpoint *endpoint
	path     map[string]string
	// Input returns the parameters that the address means, of the path and others, from those that were sent. Nil means
	// that they are as they were sent.
	Input func(r *Request, sent map[string]any) (path map[string]string, values map[string]any, err error)
}

// Match finds the route of a path below a root (see Locate). It returns nil for an unknown path. If no endpoint of
// a known path has the method, Found of the match returns false. That is so for OPTIONS on every known path.
func (h *Handlers) Match(method string, root read.Root, rest string) *Match {
	table := h.table
	if h.isWordPress(root) {
		table = h.wordPress
	}
	var parts []string
	if rest = strings.TrimSuffix(rest, "/"); rest != "" {
		parts = strings.Split(rest[1:], "/")
	}
	for _, p := range table {
		captures, ok := p.match(parts)
		if !ok {
			continue
		}
		m := &Match{Route: cmp.Or(p.text, "index"), Allow: p.allow(), pattern: p, path: captures}
		if method == "HEAD" {
			method = "GET"
		}
		for _, e := range p.endpoints {
			if slices.Contains(e.methods, method) {
				m.endpoint = e
			}
		}
		return m
	}
	return nil
}

// Found reports whether the path has the method of the request.
func (m *Match) Found() bool { return m.endpoint != nil }

// Upload reports whether the route accepts files, and so a larger body.
func (m *Match) Upload() bool { return m.endpoint != nil && m.endpoint.upload }
