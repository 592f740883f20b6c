package openapi

import (
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

// Route is a path of the API with its endpoints.
type Route struct {
	Path      string        // OpenAPI path template: /events/{id}, or / for the index
	Kind      calendar.Kind // kind of the records; "" for feeds and for paths that describe the API
	Server    string        // base address of a feed's path; "" means that of the API
	Endpoints []Endpoint
}

// Endpoint is a group of methods on one path that share parameters and the form of the reply.
type Endpoint struct {
	Methods []string
	In      param.Location // location of the fields of a write, or of the parameters of a read
	Declare func(*param.Set)
	Summary string // one line in English
	Success int    // HTTP status of a successful reply
	// MediaType is the media type of a successful reply. Errors are always JSON.
	MediaType string
	Tables    bool // true if clients may choose a table in CSV instead
}

func (p *Route) isIndex() bool { return p.Path == "/" }

// hasCaptures reports whether the path has a placeholder, such as {id}, for a record.
func (p *Route) hasCaptures() bool { return strings.Contains(p.Path, "{") }

// isBySlug reports whether the path identifies a record by its slug.
func (p *Route) isBySlug() bool { return strings.HasSuffix(p.Path, "{slug}") }

// isPreview reports whether the path is a preview: it returns what a write would create, and stores nothing.
func (p *Route) isPreview() bool { return strings.HasSuffix(p.Path, "/preview") }

// collection returns the first segment of the path, such as "events". For a feed it is feedCollection.
func (p *Route) collection() string {
	if p.isFeed() {
		return feedCollection
	}
	first, _, _ := strings.Cut(p.Path[1:], "/")
	return first
}

// isRecord reports whether records of the kind have a status and a trash. These are events, series, venues and
// organizers.
func isRecord(kind calendar.Kind) bool { return kind.IsDated() || kind.IsNamed() }
