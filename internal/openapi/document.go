package openapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/jsonwrite"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/represent"
)

// Development is the version of a program that was built without a tag and a commit.
const Development = "0.0.0-dev"

// API is the input of a description: the routes, and the time, address and language to describe them with.
type API struct {
	Site     calendar.Site
	Version  string // version of the program; "" means Development
	Words    *locale.Catalogues
	Now      time.Time         // clock for running declarations; the description does not depend on it
	Language calendar.Language // language of descriptions and summaries
	MaxPage  int               // most records on a page of a list
	MaxFeed  int               // most events in a feed
	Address  string            // base address of the API without a slash at the end: http://127.0.0.1:8080/pl/cal/events/v1
	Routes   []Route
}

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
	Tables    bool // clients may choose a table in CSV instead
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

// Document returns the OpenAPI 3.0 description of the API (contract, section 17).
func (a *API) Document() (json.RawMessage, error) { return jsonwrite.Encode(a.document()) }

// document builds the description from the route table, the parameter declarations and the representation
// types. It is built in English and then translated.
func (a *API) document() ordered {
	d := &description{api: a, schemas: schemas{}, shared: map[string]bool{}, shown: map[string]bool{}}
	paths := make(ordered, 0, len(a.Routes))
	for _, p := range a.inReadingOrder() {
		paths = append(paths, member{p.Path, d.path(p)})
	}
	d.schemas.add("Error", errorSchema())
	d.schemas.add("Problem", problemSchema())
	for i, m := range d.schemas.members {
		d.schemas.members[i].Value = withLimits(m.Value.(ordered), replyLimits) // those of requests have theirs
	}
	return a.translated(ordered{
		{"openapi", "3.0.0"},
		{"info", ordered{
			{"version", cmp.Or(a.Version, Development)},
			{"title", a.title()},
			{"description", "Events with their venues, organizers, categories, tags and images. " +
				"Texts are served and written in the language of the request."},
			{"contact", ordered{{"name", "Almanac"}, {"url", "https://github.com/almanac-cal/almanac"}}},
			{"license", ordered{
				{"name", "Apache 2.0"}, {"url", "https://www.apache.org/licenses/LICENSE-2.0.html"},
			}},
		}},
		{"servers", []ordered{{{"url", a.Address}}}},
		{"tags", d.tags},
		{"paths", paths},
		{"components", ordered{
			{"schemas", d.schemas.members},
			{"parameters", d.parameters},
			{"headers", headers},
			{"examples", d.examples},
			{"securitySchemes", ordered{
				{"basic", ordered{
					{"type", "http"},
					{"scheme", "basic"},
					{"description", "User name, and password or access token"},
				}},
				{"bearer", ordered{
					{"type", "http"}, {"scheme", "bearer"}, {"description", "Access token"},
				}},
			}},
		}},
	})
}

// readingOrder is the order of the tags in the description: events first, then what is linked to them, and the
// API itself last.
var readingOrder = func() (order []string) {
	for _, kind := range slices.Concat(calendar.TranslatedKinds, []calendar.Kind{calendar.Image, calendar.Series}) {
		order = append(order, tagOf(kind))
	}
	return append(order, feedTag, apiTag)
}()

// inReadingOrder returns the routes sorted by tag. Within a tag they keep the order of the table.
func (a *API) inReadingOrder() []*Route {
	routes := make([]*Route, len(a.Routes))
	for i := range a.Routes {
		routes[i] = &a.Routes[i]
	}
	slices.SortStableFunc(routes, func(p, q *Route) int {
		return cmp.Compare(slices.Index(readingOrder, p.tag()), slices.Index(readingOrder, q.tag()))
	})
	return routes
}

// methodOrder is the order of the operations of a path. PATCH comes before the other methods of an update.
var methodOrder = []string{http.MethodGet, http.MethodPatch, http.MethodPut, http.MethodPost, http.MethodDelete}

// inMethodOrder returns methods sorted by methodOrder.
func inMethodOrder(methods []string) []string {
	return slices.SortedFunc(slices.Values(methods), func(a, b string) int {
		return cmp.Compare(slices.Index(methodOrder, a), slices.Index(methodOrder, b))
	})
}

// description is an OpenAPI document under construction.
type description struct {
	api        *API
	schemas    schemas
	tags       []ordered
	parameters ordered         // components used by several operations
	shared     map[string]bool // names of the shared parameters
	examples   ordered         // examples that operations refer to
	shown      map[string]bool // names of the examples
}

// tag returns the OpenAPI tag of the route's operations.
func (p *Route) tag() string {
	switch {
	case p.isFeed():
		return feedTag
	case p.Kind == "":
		return apiTag
	}
	return tagOf(p.Kind)
}

func tagOf(kind calendar.Kind) string { return capitalise(kind.Plural()) }

// feedTag and apiTag are the tags of routes without a kind of record.
const feedTag, apiTag = "Feeds", "API"

// displayName is the extension member with the translated title of a tag. The tag name itself stays English,
// because clients and anchors use it.
const displayName = "x-displayName"

// tags maps each tag to its description.
var tags = func() map[string]string {
	all := map[string]string{
		apiTag:       "The index of routes and this description",
		feedTag:      "Events for calendar applications and feed readers",
		"Events":     "Events of the calendar",
		"Venues":     "Places where events are held",
		"Categories": "Categories of events, which form a tree",
		"Tags":       "Tags of events",
		"Images":     "Images of events, venues and organizers",
		"Series":     "Series of events that recur",
	}
	for _, s := range represent.ShownKinds {
		all[tagOf(s.Kind)] = s.Doc
	}
	return all
}()

func capitalise(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func (d *description) path(p *Route) ordered {
	tag := ordered{{"name", p.tag()}, {displayName, p.tag()}, {"description", tags[p.tag()]}}
	if !slices.ContainsFunc(d.tags, func(o ordered) bool {
		return o[0].Value == p.tag()
	}) {
		d.tags = append(d.tags, tag)
	}
	var item ordered
	if p.isFeed() {
		item = ordered{{"servers", []ordered{{{"url", p.Server}}}}}
	}
	for i := range p.Endpoints {
		e := &p.Endpoints[i]
		for _, method := range inMethodOrder(e.Methods) {
			item = append(item, member{strings.ToLower(method), d.operation(p, e, method)})
		}
	}
	return item
}

// operationID returns the unique, stable id of an operation. Client generators name their functions by it.
// PATCH has the plain id among the three methods of an update.
func operationID(p *Route, e *Endpoint, method string) string {
	kind := p.Kind
	switch {
	case p.isFeed():
		id := "get"
		for _, word := range p.feedName() {
			id += capitalise(word)
		}
		return id
	case kind == "" && p.isIndex():
		return "getIndex"
	case kind == "":
		return "get" + capitalise(p.collection())
	}
	one := capitalise(string(kind))
	if p.isBySlug() {
		one += "BySlug"
	}
	switch {
	case p.isPreview():
		return "preview" + one
	case method == http.MethodGet && !p.hasCaptures():
		return "list" + capitalise(kind.Plural())
	case method == http.MethodGet:
		return "get" + one
	case method == http.MethodDelete:
		return "delete" + one
	case e.Success == http.StatusCreated:
		return "create" + one
	case method == http.MethodPatch:
		return "update" + one
	}
	return "update" + one + "With" + capitalise(strings.ToLower(method))
}

// describeOperation returns what an operation does beyond its summary, in English.
func describeOperation(p *Route, e *Endpoint, method string) string {
	switch {
	case p.isFeed():
		return "A feed of public events to subscribe to. Credentials have no effect."
	case p.Kind == "":
		return "Describes the service to clients. It needs no credentials."
	case p.isPreview():
		return "Computes the occurrences of a schedule, and stores nothing."
	case method == http.MethodDelete:
		return "Returns the record as it is after the deletion, or as it was if it is gone for good."
	case e.In == param.InBody && e.Success == http.StatusCreated:
		return "Stores the record and those that it creates, or nothing. The header Location has its address."
	case e.In == param.InBody:
		return "Changes the fields that are sent, and no others. POST, PUT and PATCH do the same."
	case p.hasCaptures():
		return "Without credentials only what is public can be read. The reply has an ETag for conditional requests."
	}
	return "Without credentials the list has what is public. The header Link has the addresses of other pages."
}

func (d *description) operation(p *Route, e *Endpoint, method string) ordered {
	var parameters []ordered
	var fields []*param.Param
	params := param.Describe(d.api.Now, e.In, e.Declare)
	for _, one := range params {
		switch {
		case one.Hidden:
		case one.Name == "ml_language":
			parameters = append(parameters, d.share("Language", parameter(one)))
		case one.In == param.InBody:
			fields = append(fields, one)
		default:
			parameters = append(parameters, parameter(one))
		}
	}
	if !p.isFeed() {
		parameters = append(parameters, d.share("Fields", fieldsParameter()))
	}
	for _, h := range headerParameters {
		if h.of(p, method) {
			parameters = append(parameters, d.share(h.name, h.describe()))
		}
	}
	op := ordered{
		{"tags", []string{p.tag()}},
		{"summary", e.Summary},
		{"description", describeOperation(p, e, method)},
		{"operationId", operationID(p, e, method)},
		{"parameters", parameters},
	}
	if e.In == param.InBody {
		op = append(op, member{"requestBody", d.requestBody(p, e, fields)})
	}
	return append(op,
		member{"responses", d.responses(p, e, method)},
		member{"security", security(p, method)})
}

// share adds a parameter to the components once, and returns a reference to it.
func (d *description) share(name string, o ordered) ordered {
	if !d.shared[name] {
		d.shared[name] = true
		d.parameters = append(d.parameters, member{name, o})
	}
	return refTo("parameters", name)
}

func refTo(group, name string) ordered {
	return ordered{{"$ref", "#/components/" + group + "/" + name}}
}

// parameter returns the OpenAPI object of a path or query parameter.
func parameter(p *param.Param) ordered {
	in := param.InQuery
	if p.In == param.InPath {
		in = param.InPath
	}
	o := ordered{
		{"name", p.Name},
		{"in", in},
		{"description", p.Description},
		// OpenAPI has no optional path parameters.
		{"required", p.IsRequired || in == param.InPath},
	}
	schema := withLimits(valueSchema(p, false), queryLimits)
	if len(schema) > 0 && schema[0].Value == "array" {
		o = append(o, member{"style", "form"}, member{"explode", false})
	}
	return append(o, member{"schema", schema})
}

const fieldsDescription = "Keys to keep in the reply, dotted for nested ones: id,venue.venue. " +
	"In lists they apply to each element"

// fieldsParameter returns the OpenAPI object of _fields. All replies except feeds support it.
func fieldsParameter() ordered {
	return ordered{
		{"name", "_fields"},
		{"in", "query"},
		{"description", fieldsDescription},
		{"required", false},
		{"style", "form"},
		{"explode", false},
		{"schema", withLimits(ordered{{"type", "array"}, {"items", ordered{{"type", "string"}}}}, queryLimits)},
	}
}

// valueSchema returns the schema of a parameter's value. If no type is published, typeOf determines it.
func valueSchema(p *param.Param, nullable bool) ordered {
	o, ok := publishedSchema(p, nullable)
	if ok {
		return o
	}
	typ := typeOf(p)
	if typ != "" {
		o = append(o, member{"type", typ})
	}
	switch {
	case p.Format != "":
		o = append(o, member{"format", p.Format})
	case p.Type == "integer":
		o = append(o, member{"format", "int64"})
	}
	if p.In == param.InPath {
		if p.Type == "integer" {
			o = append(o, member{"minimum", 0})
		} else {
			o = append(o, member{"pattern", "^[^/]+$"})
		}
	}
	if p.Items != "" {
		o = append(o, member{"items", append(ordered{{"type", p.Items}}, valueBounds(p, false)...)})
	} else {
		o = append(o, valueBounds(p, nullable)...)
	}
	if nullable {
		o = append(o, member{"nullable", true})
	}
	if p.HasDefault && p.Published != nil && !p.IsRequired && !p.IsOfToday {
		value := p.Published
		if number, ok := value.(int); ok && typ == "boolean" {
			value = number != 0 // the index publishes 1, as the specification does
		}
		o = append(o, member{"default", value})
	}
	return o
}

// security returns the authentication schemes of an operation. Reads are open, with optional credentials, except
// the list of images. Feeds ignore credentials.
func security(p *Route, method string) []ordered {
	if p.isFeed() {
		return []ordered{}
	}
	schemes := []ordered{{{"basic", []string{}}}, {{"bearer", []string{}}}}
	private := p.Kind == calendar.Image && !p.hasCaptures()
	if method == http.MethodGet && !private {
		return append([]ordered{{}}, schemes...)
	}
	return schemes
}

// responses returns the replies of an operation by status, with the meaning of each error.
func (d *description) responses(p *Route, e *Endpoint, method string) ordered {
	out := ordered{{strconv.Itoa(e.Success), d.success(p, e, method)}}
	if method == http.MethodGet {
		if p.isFeed() {
			out = append(out, member{"301", d.otherLanguage(p)})
		}
		out = append(out, member{"304", response("The client has this reply", readHeaders(p), nil)})
	}
	for _, err := range errorsOf(p, e, method) {
		out = append(out, member{err.status, d.failure(p, method, err)})
	}
	return out
}

// otherLanguage returns the redirect of a feed below the segment of a language that the site does not offer.
func (d *description) otherLanguage(p *Route) ordered {
	example := ordered{{"address", ordered{{"value", p.Server + p.samplePath()}}}}
	content := ordered{{"text/plain", ordered{{"schema", ordered{{"type", "string"}, {"format", "uri"}}}, {"examples", example}}}}
	return response("The site does not offer the language of the path", []string{"Location", "Cache-Control"}, content)
}

func (d *description) success(p *Route, e *Endpoint, method string) ordered {
	kind := p.Kind
	list := p.isList(method)
	meaning, extra := "The "+string(kind), []string(nil)
	switch {
	case method == http.MethodGet:
		extra = readHeaders(p)
	case method != http.MethodDelete || isRecord(kind):
		extra = []string{"ETag", preferenceHeader, ignoredHeader}
	default:
		extra = []string{preferenceHeader, ignoredHeader}
	}
	var schema ordered
	switch {
	case p.isPreview():
		extra = []string{preferenceHeader, ignoredHeader}
		meaning, schema = "The occurrences that the schedule would create", d.schemas.of(reflect.TypeFor[represent.SeriesPreview]())
	case p.isFeed():
		meaning, schema = "The feed", d.feedSchema(p)
	case kind == "" && p.isIndex():
		meaning, schema = "The routes, their methods and parameters", d.schemas.add("Index", indexSchema())
	case kind == "":
		meaning, schema = "This document", ordered{{"type", "object"}}
	case list:
		meaning = "A page of the list"
		schema = d.schemas.add(capitalise(string(kind))+"List",
			listSchema(kind.Plural(), d.schemas.of(representations[kind]), d.api.MaxPage))
	default:
		schema = d.schemas.of(representations[kind])
	}
	switch {
	case e.Success == http.StatusCreated && kind.IsNamed():
		meaning, extra = "The new "+string(kind)+", or the existing one with that name", append(extra, "Location")
	case e.Success == http.StatusCreated:
		meaning, extra = "The new "+string(kind), append(extra, "Location")
	case method == http.MethodDelete && isRecord(kind):
		meaning = "The " + string(kind) + ", now in the trash"
	case method == http.MethodDelete:
		meaning = "The " + string(kind) + " before it was deleted"
	}
	if method == http.MethodPost {
		extra = append(extra, replayedHeader)
	}
	example := successExample(p, e, method)
	content := ordered{{e.MediaType, ordered{{"schema", schema}, {"examples", d.show(example)}}}}
	if e.Tables {
		table := ordered{{"schema", ordered{{"type", "string"}}}, {"examples", d.show(example + "_csv")}}
		content = append(content, member{"text/csv", table})
	}
	return response(meaning, extra, content)
}

// failure returns an error reply in both media types. The client chooses one by Accept.
func (d *description) failure(p *Route, method string, err possibleError) ordered {
	var names []string
	switch err.status {
	case "400":
		names = []string{preferenceHeader}
	case "401":
		names = []string{"WWW-Authenticate"}
	case "409", "429", "503":
		names = []string{"Retry-After"}
	}
	problem := ordered{{"schema", refTo("schemas", "Problem")}}
	if err.status == "400" {
		problem = append(problem, member{"examples", d.show("error_problem")})
	}
	return response(err.meaning, names, ordered{
		{"application/json", ordered{
			{"schema", refTo("schemas", "Error")}, {"examples", d.show(errorExample(p, method, err.status))},
		}},
		{"application/problem+json", problem},
	})
}

// isRecord reports whether records of the kind have a status and a trash. These are events, series, venues and
// organizers.
func isRecord(kind calendar.Kind) bool { return kind.IsDated() || kind.IsNamed() }

// possibleError is the status of an error that an operation can return, and what it means.
type possibleError struct{ status, meaning string }

// errorsOf returns the errors that an operation can return (contract, sections 3 and 16).
func errorsOf(p *Route, e *Endpoint, method string) []possibleError {
	kind, single, read := p.Kind, p.hasCaptures(), method == http.MethodGet
	out := []possibleError{
		{"400", "A parameter is missing or invalid, or the body is malformed"},
	}
	switch {
	case p.isFeed():
	case read:
		out = append(out, possibleError{"401", "The credentials are wrong"})
	default:
		out = append(out, possibleError{"401", "The credentials are wrong, or there are none"})
	}
	switch {
	case read && kind == calendar.Image && !single:
		out = append(out, possibleError{"403", "The caller may not list images"})
	case read && kind.IsDated() && single:
		out = append(out, possibleError{"403", "The " + string(kind) + " is protected or in the trash, or the caller may not read it"})
	case read && isRecord(kind) && single:
		out = append(out, possibleError{"403", "The caller may not read it"})
	case !read:
		out = append(out, possibleError{"403", "The caller may not do this"})
	}
	switch {
	case read && isRecord(kind) && !single, p.isCalendar() && !single:
		out = append(out, possibleError{"404", "The page is past the end"})
	case p.isCalendar():
		out = append(out, possibleError{"404", "There is no such event"})
	case kind == calendar.Image && single:
		out = append(out, possibleError{"404", "There is no such image"})
	case kind == calendar.Event && single && (!p.isBySlug() || e.In == param.InBody):
		out = append(out, possibleError{"404", "There is no such event"})
	case kind == calendar.Series && single:
		out = append(out, possibleError{"404", "There is no such series"})
	}
	// The schedule of a series in the trash cannot change, and an event in the trash cannot be added to a
	// series.
	if method == http.MethodDelete && isRecord(kind) || kind.IsDated() && single && !read {
		out = append(out, possibleError{"410", "The record is already in the trash"})
	}
	switch {
	case read:
		out = append(out, possibleError{"412", "If-Match does not contain the ETag of the reply"})
	case single:
		out = append(out, possibleError{"412", "The record does not meet If-Match"})
	}
	if method == http.MethodPost {
		out = append(out, keyInUse)
	}
	tooLarge := possibleError{"413", "The address is too long"}
	if !read {
		tooLarge.meaning = "The body or the address is too long"
	}
	out = append(out, tooLarge)
	if !read {
		out = append(out, possibleError{"415", "The declared type of the body is neither JSON nor a form"})
	}
	if method == http.MethodPost {
		out = append(out, keyReused)
	}
	return append(out,
		possibleError{"429", "Too many requests"},
		possibleError{"503", "The database is not available, or the service is stopping"},
		possibleError{"default", "Internal error (500)"})
}
