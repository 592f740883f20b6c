package endpoint

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// MethodsRead, MethodsCreate, MethodsUpdate and MethodsDelete are the groups of HTTP methods in the route table.
var (
	MethodsRead   = []string{http.MethodGet}
	MethodsCreate = []string{http.MethodPost}
	MethodsUpdate = []string{http.MethodPost, http.MethodPut, http.MethodPatch}
	MethodsDelete = []string{http.MethodDelete}
)

// Pattern is one path of the API, with an endpoint for each group of its methods.
type Pattern struct {
	path      []segment
	Text      string // path as published, such as /events/(?P<id>\d+)
	Endpoints []*Endpoint
	shows     calendar.Kind // kind of the records; "" means that of the first segment
	Written   Written       // reply to a repeated write; nil means that the path has no writes
}

// segment is a part of a path. It is a literal, or a parameter: "id" for digits, "slug" for any text.
type segment struct {
	literal string
	capture string
	suffix  string // literal text after the parameter
}

// Showing sets the kind of records that the path serves. It returns the pattern.
func (p *Pattern) Showing(kind calendar.Kind) *Pattern {
	p.shows = kind
	return p
}

// SuffixICal ends the paths of iCalendar files.
const SuffixICal = ".ics"

// NewPattern returns the pattern of a path such as /events/{id}. A segment may be {id}, {slug} or {slug}.ics.
func NewPattern(path string, endpoints ...*Endpoint) *Pattern {
	p := &Pattern{Endpoints: endpoints}
	for _, part := range strings.Split(strings.Trim(path, "/"), "/") {
		switch part {
		case "":
			continue
		case "{id}":
			p.path = append(p.path, segment{capture: "id"})
			p.Text += `/(?P<id>\d+)`
		case "{slug}", "{slug}" + SuffixICal:
			suffix := strings.TrimPrefix(part, "{slug}")
			p.path = append(p.path, segment{capture: "slug", suffix: suffix})
			p.Text += `/(?P<slug>[^/]+)` + regexp.QuoteMeta(suffix)
		default:
			p.path = append(p.path, segment{literal: part})
			p.Text += "/" + part
		}
	}
	return p
}

// Methods returns the HTTP methods that the path accepts, in the order of the route table.
func (p *Pattern) Methods() []string {
	var out []string
	for _, e := range p.Endpoints {
		out = append(out, e.Methods...)
	}
	return out
}

// Allow returns the value of the Allow header: the methods of the endpoints, HEAD if there is GET, and OPTIONS.
func (p *Pattern) Allow() string {
	methods := p.Methods()
	if slices.Contains(methods, "GET") {
		methods = append(methods, "HEAD")
	}
	return strings.Join(append(methods, "OPTIONS"), ", ")
}

// HasParameters reports whether the path has parameters.
func (p *Pattern) HasParameters() bool {
	return slices.ContainsFunc(p.path, func(s segment) bool { return s.capture != "" })
}

// MatchPath compares the segments of a path with the pattern. parts are below the API and percent-encoded. It returns
// the decoded path parameters. The second result is false if the path does not match.
func (p *Pattern) MatchPath(parts []string) (map[string]string, bool) {
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

// Template returns the path in the notation of OpenAPI, such as /events/{id}.
func (p *Pattern) Template() string {
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

// Kind returns the kind of the records below the path. It returns "" for feeds and for paths that describe the
// API.
func (p *Pattern) Kind() calendar.Kind {
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
