package openapi

import (
	"net/http"

	"github.com/almanac-cal/almanac/internal/param"
)

// headerParameters are headers of requests that package server obeys. They are no parameters of a declaration, so the
// index does not have them.
var headerParameters = []headerParameter{
	{
		"If-None-Match", "ETags of the replies that the client has: 304 if that of the reply is among them",
		func(_ *Route, method string) bool { return method == http.MethodGet },
	},
	{
		"If-Match", "ETags of the record as the client knows it: 412 if it has changed since. " +
			"A write accepts those of a version in any language and with any fields, a read only that of the reply",
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
			"If the client repeats the request within 24 hours, the service carries it out once and repeats the first reply",
		func(_ *Route, method string) bool { return method == http.MethodPost },
	},
}

// headerParameter is an optional header of the operations that it is of.
type headerParameter struct {
	name, description string
	of                func(p *Route, method string) bool
}

// describe is the header as OpenAPI has it.
func (h headerParameter) describe() ordered {
	return ordered{
		{"name", h.name},
		{"in", string(inHeader)},
		{"description", h.description},
		{"required", false},
		{"schema", ordered{{"type", "string"}}},
		{"example", samples[string(inHeader)+" "+h.name]},
	}
}

// declare is the header as a declaration.
func (h headerParameter) declare() *param.Param {
	return &param.Param{Name: h.name, Description: h.description, In: inHeader, Type: "string"}
}

const inHeader = param.Location("header")

// What is said about requests with an Idempotency-Key, and the header of a reply that was given before.
var (
	keyInUse  = possibleError{"409", "A request with this Idempotency-Key is still in progress"}
	keyReused = possibleError{"422", "Another request used this Idempotency-Key"}
)

// Headers of replies that not every reply of an operation has.
const (
	replayedHeader   = "Idempotency-Replayed"
	preferenceHeader = "Preference-Applied"
	ignoredHeader    = "X-Almanac-Ignored"
)

// isConditional reports whether an operation is about something that is there, and so has a tag.
func isConditional(p *Route, method string) bool {
	return method == http.MethodGet || p.hasCaptures()
}

// isList reports whether an operation answers with a page of records.
func (p *Route) isList(method string) bool {
	return p.Kind != "" && method == http.MethodGet && !p.hasCaptures()
}

// readHeaders are those of the reply to a read, whether the client has it or not.
func readHeaders(p *Route) []string {
	var names []string
	if p.isList(http.MethodGet) || p.isCalendar() && !p.hasCaptures() {
		names = []string{"X-TEC-Total", "X-TEC-TotalPages", "Link"}
	}
	if p.isCalendar() {
		names = append(names, "Content-Disposition")
	}
	if p.isFeed() {
		names = append(names, "Last-Modified")
	}
	return append(names, "ETag", "Cache-Control", preferenceHeader, ignoredHeader)
}

// response is a reply with headers, and those that every reply has; nil is no content.
func response(meaning string, names []string, content ordered) ordered {
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
