package openapi

import (
	"net/http"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

// headerParameter describes an optional request header. The function in the field of reports whether an
// operation supports the header.
type headerParameter struct {
	name, description string
	of                func(p *Route, method string) bool
}

// describe returns the OpenAPI object of the header.
func (h headerParameter) describe() ordered {
	return ordered{
		{"name", h.name},
		{"in", string(headerLocation)},
		{"description", h.description},
		{"required", false},
		{"schema", withLimits(ordered{{"type", "string"}}, queryLimits)},
		{"example", samples[string(headerLocation)+" "+h.name]},
	}
}

// declare returns the header as a parameter declaration.
func (h headerParameter) declare() *param.Param {
	return &param.Param{Name: h.name, Description: h.description, In: headerLocation, Type: "string"}
}

// headerParameters are the request headers that package server handles. They are not declared as parameters, so
// the namespace index does not list them.
var headerParameters = []headerParameter{
	{
		"If-None-Match", "ETags of the responses that the client has: 304 if that of the response is among them",
		func(_ *Route, method string) bool { return method == http.MethodGet },
	},
	{
		"If-Match", "ETags of the record as the client knows it: 412 if it has changed since. " +
			"A write accepts those of a version in any language and with any fields, a read only that of the response",
		isConditional,
	},
	{
		"If-Modified-Since", "Last-Modified of the feed that the client has: 304 if nothing has changed since. " +
			"If-None-Match counts before it",
		func(p *Route, _ string) bool { return p.isFeed() },
	},
	{
		"Prefer", "handling=strict refuses parameters that the operation does not have. Without it the service " +
			"ignores them and names them in X-Almanac-Ignored",
		func(*Route, string) bool { return true },
	},
	{
		"Idempotency-Key", "A unique key for this request, in double quotes: 1 to 255 printable ASCII characters. " +
			"If the client repeats the request within 24 hours, the service carries it out once and repeats the first response",
		func(_ *Route, method string) bool { return method == http.MethodPost },
	},
}

const headerLocation = param.Location("header")

// keyInUse and keyReused are the errors of requests with an Idempotency-Key.
var (
	keyInUse  = errorResponse{"409", "A request with this Idempotency-Key is still in progress"}
	keyReused = errorResponse{"422", "Another request used this Idempotency-Key"}
)

// replayedHeader, preferenceHeader and ignoredHeader are the headers that only some replies of an operation
// have.
const (
	replayedHeader   = "Idempotency-Replayed"
	preferenceHeader = "Preference-Applied"
	ignoredHeader    = "X-Almanac-Ignored"
)

// isConditional reports whether an operation reads or changes existing data. Only such operations support If-Match.
func isConditional(p *Route, method string) bool {
	return method == http.MethodGet || p.hasCaptures()
}

// isList reports whether an operation returns a page of records.
func (p *Route) isList(method string) bool {
	return p.Kind != "" && method == http.MethodGet && !p.hasCaptures()
}

// hasTables reports whether a reply of the path may be a table.
func (p *Route) hasTables() bool {
	return slices.ContainsFunc(p.Endpoints, func(e Endpoint) bool { return e.Tables })
}

// readHeaders returns the headers of the reply to a read, both for 200 and for 304.
func readHeaders(p *Route) []string {
	var names []string
	if p.isList(http.MethodGet) || p.isCalendar() && !p.hasCaptures() {
		names = []string{"X-TEC-Total", "X-TEC-TotalPages", "Link"}
	}
	if p.isCalendar() || p.hasTables() {
		names = append(names, "Content-Disposition")
	}
	if p.isFeed() {
		names = append(names, "Last-Modified")
	}
	return append(names, "ETag", "Cache-Control", preferenceHeader, ignoredHeader)
}

// responseObject returns a reply object with the given headers and the headers that every reply has. Nil content
// means no body.
func responseObject(meaning string, names []string, content ordered) ordered {
	var refs ordered
	for _, name := range append(names, "Content-Language", "X-Request-Id") {
		refs = append(refs, member{name, refTo("headers", name)})
	}
	out := ordered{{"description", meaning}, {"headers", refs}}
	if content != nil {
		out = append(out, member{"content", content})
	}
	return out
}

// headers are the reply headers that descriptions refer to, by name.
var headers = ordered{
	{"X-TEC-Total", headerObject("Number of records in the list", headerRequired, ordered{{"type", "integer"}, {"minimum", 0}})},
	{"X-TEC-TotalPages", headerObject("Number of pages", headerRequired, ordered{{"type", "integer"}, {"minimum", 0}})},
	{"Link", headerObject("Addresses of the first, previous, next and last page", headerRequired, ordered{{"type", "string"}})},
	{"Location", headerObject("Address of the record", headerRequired, ordered{{"type", "string"}, {"format", "uri"}})},
	{"ETag", headerObject("Identifies this version of the response, for If-None-Match and If-Match", headerRequired,
		ordered{{"type", "string"}, {"pattern", `^(W/)?"[^"]*"$`}})},
	{"Last-Modified", headerObject("When the calendar last changed, if that is some time ago", headerOptional, ordered{{"type", "string"}})},
	{"Content-Disposition", headerObject("Name of the file", headerOptional, ordered{{"type", "string"}})},
	{"Cache-Control", headerObject("How long caches may keep the response, and which ones", headerRequired, ordered{{"type", "string"}})},
	{"Content-Language", headerObject("Language of the response", headerRequired,
		ordered{{"type", "string"}, {"enum", calendar.Languages}})},
	{"X-Request-Id", headerObject("Identifies the request in the log of the service", headerRequired, ordered{{"type", "string"}})},
	{"WWW-Authenticate", headerObject("The authentication schemes", headerRequired, ordered{{"type", "string"}})},
	{replayedHeader, headerObject("Whether the response is that of an earlier request with the same Idempotency-Key", headerOptional,
		ordered{{"type", "boolean"}})},
	{preferenceHeader, headerObject("The preference of the request that the service applied", headerOptional, ordered{{"type", "string"}})},
	{ignoredHeader, headerObject("Parameters that the operation does not have and the service ignored. Each may name the one that was "+
		"probably meant: category; did-you-mean=categories", headerOptional, ordered{{"type", "string"}})},
	{"Retry-After", headerObject("Seconds to wait", headerRequired, ordered{{"type", "integer"}, {"minimum", 0}})},
}

// headerRequired and headerOptional are values of the OpenAPI member required: whether a reply always has a
// header.
const headerRequired, headerOptional = true, false

func headerObject(meaning string, always bool, schema ordered) ordered {
	o := ordered{{"description", meaning}}
	if always {
		o = append(o, member{"required", true})
	}
	return append(o, member{"schema", withLimits(schema, queryLimits)})
}
