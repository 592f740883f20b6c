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
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/represent"
)

// pattern is one path of the API with its endpoints, one per group of methods.
type pattern struct {
	path      []segment
	text      string // as published: /events/(?P<id>\d+)
	endpoints []*endpoint
}

// segment is one part of a path: a literal, or a capture of digits ("id") or of anything ("slug").
type segment struct {
	literal string
	capture string
	suffix  string // after the capture
}

// endpoint is a group of methods on one path, answered alike.
type endpoint struct {
	methods []string
	in      param.Location
	declare func(*request, *param.Set)
	serve   func(*request) (*reply, error)
	codec   codec // writes the values of replies
	summary string
	success int  // status of the reply
	upload  bool // takes a file
	strong  bool // the entity tags of replies are strong, though they show no record
}

// request is one request on its way through a handler.
type request struct {
	ctx      context.Context
	h        *Handlers
	moves    int64       // Config.Moves when the request began
	db       *ent.Client // what is read from
	now      time.Time   // of the request, UTC, whole seconds
	caller   auth.Principal
	lang     calendar.Language // of the reply
	write    calendar.Language // chosen by parameter or path; what writes change; "" when none was
	root     Root
	fields   string // _fields as sent, for links
	params   *param.Set
	until    time.Time // Outcome.Until of what was answered so far
	revision int64     // Call.Revision
	codec    codec     // of the reply
	depends  dependencies
	expect   calendar.Expect // of the version of the record that is changed
	// changes is the version that the record to be changed had when it was looked up; 0 means nothing is looked up
	changes    int64
	mark       func(context.Context, *ent.Tx, int64) error // Call.Mark
	locatedFor bool                                        // the reply names its address, which is not that of the request
	outlook    bool                                        // the feed is for Outlook
	upload     bool                                        // what is written is an image, and not a part of what is written
	enterMedia func() error                                // Call.EnterMedia
	// unclean are the HTML texts of a write, as they were sent.
	unclean []**string
	edits   *edit.Editor // nil until the first use
	// recurrences are the series of the events that were read, by id.
	recurrences map[int64]*represent.Recurrence
	// fetched are images downloaded for a write that is not committed yet.
	fetched []*ent.Image
}

// reply is the result of a handler: a value for the codec of its endpoint, and headers.
type reply struct {
	status  int
	body    any
	header  [][2]string
	version int64 // Outcome.Version
}

// expireBy notes that the reply depends on the time: it holds before t only.
func (r *request) expireBy(t time.Time) {
	if r.until.IsZero() || t.Before(r.until) {
		r.until = t
	}
}

// endpointFor ties an input to its declaration and its handler. The compiler checks that the three fit.
func endpointFor[Q any](summary string, methods []string, status int,
	declare func(*request, *param.Set, *Q), handle func(*request, *Q) (*reply, error),
) *endpoint {
	in := param.InQuery
	if slices.Contains(methods, "POST") {
		in = param.InBody
	}
	// The declaration binds variables of an input that lives as long as its request.
	type bound struct{ q Q }
	inputs := func(r *request) *bound { return r.params.Input().(*bound) }
	return &endpoint{
		methods: methods, in: in, codec: jsonCodec, summary: summary, success: status,
		declare: func(r *request, p *param.Set) {
			b := &bound{}
			p.SetInput(b)
			declare(r, p, &b.q)
		},
		serve: func(r *request) (*reply, error) { return handle(r, &inputs(r).q) },
	}
}

// takingFiles allows the larger body of an upload.
func (e *endpoint) takingFiles() *endpoint {
	e.upload = true
	return e
}

// describe runs the declaration without a request.
func (e *endpoint) describe(now time.Time) []*param.Param {
	return param.Describe(now, e.in, func(p *param.Set) { e.declare(&request{now: now}, p) })
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

// methods of all endpoints, in the order of the table.
func (p *pattern) methods() []string {
	var out []string
	for _, e := range p.endpoints {
		out = append(out, e.methods...)
	}
	return out
}

// allow is the value of an Allow header.
func (p *pattern) allow() string {
	methods := p.methods()
	if slices.Contains(methods, "GET") {
		methods = append(methods, "HEAD")
	}
	return strings.Join(append(methods, "OPTIONS"), ", ")
}

// captures holds what a path's segments captured.
func (p *pattern) hasCaptures() bool {
	return slices.ContainsFunc(p.path, func(s segment) bool { return s.capture != "" })
}

// match compares a path below the API, still percent-encoded, with the pattern. The captures are decoded.
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

// Match is the route of a request.
type Match struct {
	Route    string // for logs and metrics: as published, such as /events/(?P<id>\d+), or index
	Allow    string // the methods of the path
	pattern  *pattern
	endpoint *endpoint
	path     map[string]string
	page     []pagePath // readings of the address of a page that is asked for as a feed, else nil
}

// Match finds the route of a path below a root (see Locate). An unknown path gives nil. A known path with a
// method it does not have gives a match whose Serve answers that there is no such route; OPTIONS always has
// one.
func (h *Handlers) Match(method string, root Root, rest string) *Match {
	table := h.table
	if h.root != nil && root.Mount == WordPressRoot {
		table = []*pattern{h.root}
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

// Found reports whether the path has the method.
func (m *Match) Found() bool { return m.endpoint != nil }

// Upload reports whether the route takes files, and so a larger body.
func (m *Match) Upload() bool { return m.endpoint != nil && m.endpoint.upload }
