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

// pattern is one path of the API, with an endpoint for each group of its methods.
type pattern struct {
	path      []segment
	text      string // path as published, such as /events/(?P<id>\d+)
	endpoints []*endpoint
	shows     calendar.Kind // kind of the records; "" means that of the first segment
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
	declare func(*request, *param.Set)
	serve   func(*request) (*reply, error)
	codec   codec // encodes the values of replies
	tables  bool  // clients may choose tableCodec instead
	summary string
	success int  // HTTP status of a successful reply
	upload  bool // the endpoint accepts files
	rawFile bool // the body may be the file itself, rather than a form with it
	strong  bool // entity tags of replies are strong, even without a record in the reply
}

// request is an API request while a handler answers it.
type request struct {
	ctx    context.Context
	h      *Handlers
	moves  int64       // Config.Moves when the request began
	db     *ent.Client // database that the request reads
	now    time.Time   // time of the request, in UTC and whole seconds
	caller auth.Principal
	lang   calendar.Language // language of the reply
	// write is the language that the parameter or path chooses, whose texts a write changes. "" means that none
	// was chosen.
	write    calendar.Language
	root     Root
	fields   string // value of _fields as sent, for links
	params   *param.Set
	until    time.Time // Outcome.Until of the reply so far
	revision int64     // Call.Revision
	codec    codec     // codec of the reply
	depends  dependencies
	expect   calendar.Precondition // precondition on the version of the record that is written
	// changes is the version that the record to change had when it was read. The zero value means that none has been read.
	changes    calendar.Version
	mark       func(context.Context, *ent.Tx, int64) error // Call.Mark
	locatedFor bool                                        // the reply gives its address, which is not that of the request
	outlook    bool                                        // the feed is for Outlook
	// upload means that the request writes an image, rather than a record with an image.
	upload      bool
	enterMedia  func() error // Call.EnterMedia
	enterSeries func() error // Call.EnterSeries
	password    string       // password sent for events; "" means none
	judge       Judge        // Call.Judge
	guessed     bool         // the password was judged, or refused
	// opened has the events with which the password was compared, and whether it opens them, by id.
	opened map[int64]bool
	// unclean points to the HTML texts of a write that are not sanitised yet.
	unclean []**string
	edits   *edit.Editor // created at the first use
	// recurrences has the series of the events that were read, by id.
	recurrences map[int64]*represent.Recurrence
	// fetched has the images downloaded for a write that is not committed yet.
	fetched []*ent.Image
}

// reply is the result of a handler. It has a value for the codec of the endpoint, and headers.
type reply struct {
	status  int
	body    any
	header  [][2]string
	version calendar.ShownVersion // for Outcome.Version
}

// expireBy records that the reply is right only before t.
func (r *request) expireBy(t time.Time) {
	if r.until.IsZero() || t.Before(r.until) {
		r.until = t
	}
}

// endpointFor returns an endpoint with a declaration of its input and a handler. The compiler checks that their
// types match.
func endpointFor[Q any](summary string, methods []string, status int,
	declare func(*request, *param.Set, *Q), handle func(*request, *Q) (*reply, error),
) *endpoint {
	in := param.InQuery
	if slices.Contains(methods, "POST") {
		in = param.InBody
	}
	// The declaration binds variables of an input, which must live as long as its request.
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

// describe returns the parameters of the endpoint. It runs the declaration without a request.
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
	// page has the readings of a calendar page's address that is requested as a feed. It is nil for other
	// requests.
	page []pagePath
}

// Match finds the route of a path below a root (see Locate). It returns nil for an unknown path. If no endpoint of
// a known path has the method, Found of the match returns false. That is so for OPTIONS on every known path.
func (h *Handlers) Match(method string, root Root, rest string) *Match {
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
