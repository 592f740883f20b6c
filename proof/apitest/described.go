package apitest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	stdpath "path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

// asDescribed fails the test if a request or its reply does not fit the interface description. It checks status,
// headers, media type and body of replies, and the parameters of requests with success. It skips OPTIONS, HTML pages
// and the API of WordPress itself. describedForm covers forms of values that the service accepts beyond the
// description.
func (a *API) asDescribed(t testing.TB, req *http.Request, path, sent string, res Response) {
	t.Helper()
	d, err := description()
	if err != nil {
		t.Fatal(err)
	}
	path, _, _ = strings.Cut(path, "?")
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	root, rest, ok := a.routes.Locate(path)
	if req.Method == http.MethodOptions || root.Mount == handlers.WordPressRoot {
		return
	}
	method := effectiveMethod(req)
	var match *endpoint.Match
	if ok {
		match = a.routes.Match(method, root, rest)
	} else if match = a.routes.Feeds.Match(method, path, ""); match == nil || stdpath.Ext(path) != stdpath.Ext(match.Template()) {
		return // no feed, or the address of a page
	}
	if match == nil || !match.Found() {
		if res.Status != http.StatusNotFound && res.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s %s: no route answers %d", method, path, res.Status)
		}
		return
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	x := exchange{
		operation: method + " " + match.Template(), method: method,
		described: d.operation(method, match.Template()), req: req, sent: sent, res: res,
	}
	if x.described == nil {
		t.Errorf("%s is not described", x.operation)
		return
	}
	if err := d.check(&x); err != nil {
		t.Errorf("%s %s: not as described: %v", req.Method, req.URL.RequestURI(), err)
	}
	recordExchange(&x)
}

// effectiveMethod returns the method that the service applies to a request. A POST can override it by a header or a
// query parameter.
func effectiveMethod(req *http.Request) string {
	if req.Method != http.MethodPost {
		return req.Method
	}
	for _, wish := range [2]string{req.Header.Get("X-HTTP-Method-Override"), req.URL.Query().Get("_method")} {
		for _, other := range [3]string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
			if strings.EqualFold(wish, other) {
				return other
			}
		}
	}
	return http.MethodPost
}

// exchange is a request to an operation of the interface description, with its reply.
type exchange struct {
	operation string // method and path template, such as PATCH /events/{id}
	method    string
	described *operation
	req       *http.Request
	sent      string // body of the request
	res       Response

	status     string   // key in the description: 200, or default
	parameters []string // sent parameters of the operation that took effect
	strangers  []string // other names that were sent
}

// operation is an operation of the interface description. In part no member of replies is required, for requests with
// _fields.
type operation struct{ whole, part *openapi3.Operation }

// describedAPI is the parsed interface description. part is a copy in which no member of replies is required, for
// replies to requests with _fields.
type describedAPI struct{ whole, part *openapi3.T }

// description returns the interface description, which a process parses once. It is made with the configuration of
// New without options.
var description = sync.OnceValues(func() (*describedAPI, error) {
	words, err := locale.Load()
	if err != nil {
		return nil, err
	}
	h, err := handlers.New(handlers.Config{Calendar: read.Calendar{Words: words, Site: siteOf()}})
	if err != nil {
		return nil, err
	}
	body, err := h.Describe(Now, read.Root{Mount: "/" + handlers.Namespace}, calendar.English).Document()
	if err != nil {
		return nil, err
	}
	d := &describedAPI{}
	for _, doc := range []**openapi3.T{&d.whole, &d.part} {
		if *doc, err = openapi3.NewLoader().LoadFromData(body); err != nil {
			return nil, fmt.Errorf("interface description: %w", err)
		}
	}
	// Examples change with golden files, which tests are to write even when they do not fit.
	if err := d.whole.Validate(context.Background(), openapi3.DisableExamplesValidation()); err != nil {
		return nil, fmt.Errorf("interface description: %w", err)
	}
	d.seal()
	return d, nil
})

// seal makes both documents of the description stricter for tests: replies may not have members that no schema
// mentions. In part it makes all members optional.
func (d *describedAPI) seal() {
	seen := make(map[*openapi3.Schema]bool)
	for _, doc := range []*openapi3.T{d.whole, d.part} {
		for _, item := range doc.Paths.Map() {
			for _, op := range item.Operations() {
				for _, reply := range op.Responses.Map() {
					for _, content := range reply.Value.Content {
						everySchema(content.Schema, seen, func(s *openapi3.Schema) {
							if open := s.AdditionalProperties; len(s.Properties) > 0 && open.Has == nil && open.Schema == nil {
								s.AdditionalProperties.Has = new(false)
							}
							if doc == d.part {
								s.Required = nil
							}
						})
					}
				}
			}
		}
	}
}

// everySchema calls f for a schema and for all schemas nested in it, once each.
func everySchema(ref *openapi3.SchemaRef, seen map[*openapi3.Schema]bool, f func(*openapi3.Schema)) {
	if ref == nil || seen[ref.Value] {
		return
	}
	s := ref.Value
	seen[s] = true
	f(s)
	everySchema(s.Items, seen, f)
	everySchema(s.AdditionalProperties.Schema, seen, f)
	for _, one := range s.Properties {
		everySchema(one, seen, f)
	}
	for _, one := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
		everySchema(one, seen, f)
	}
}

// operation returns the operation with a method and a path template, nil if there is none.
func (d *describedAPI) operation(method, template string) *operation {
	item := d.whole.Paths.Value(template)
	if item == nil || item.GetOperation(method) == nil {
		return nil
	}
	return &operation{item.GetOperation(method), d.part.Paths.Value(template).GetOperation(method)}
}

func (d *describedAPI) check(x *exchange) error {
	if err := x.checkReply(); err != nil {
		return err
	}
	if x.res.Status >= http.StatusMultipleChoices {
		return nil
	}
	return x.checkRequest()
}

// commonHeaders are headers of the transport, of caches and browsers, and of the limits of a deployment. The
// description does not repeat them for each operation, so they are always allowed.
var commonHeaders = map[string]bool{
	"Content-Type": true, "Content-Length": true, "Date": true, "Vary": true, "Cache-Control": true,
	"X-Content-Type-Options": true, "Access-Control-Allow-Origin": true, "Access-Control-Expose-Headers": true,
	"Strict-Transport-Security": true, "Referrer-Policy": true, "Content-Security-Policy": true,
	"Ratelimit": true, "Ratelimit-Policy": true, "X-Robots-Tag": true, "Link": true,
}

func (x *exchange) checkReply() error {
	op := x.described.whole
	success := x.res.Status < http.StatusMultipleChoices
	if success && x.asksForFields() {
		op = x.described.part
	}
	x.status = strconv.Itoa(x.res.Status)
	ref := op.Responses.Value(x.status)
	if ref == nil {
		if x.status = "default"; x.res.Status != http.StatusInternalServerError {
			return fmt.Errorf("status %d is none of %s", x.res.Status, x.operation)
		}
		ref = op.Responses.Default()
	}
	if err := checkHeaders(ref.Value, x.res.Header); err != nil {
		return fmt.Errorf("status %d: %w", x.res.Status, err)
	}
	if x.req.Method == http.MethodHead {
		return nil
	}
	if len(ref.Value.Content) == 0 {
		if kind := x.res.Header.Get("Content-Type"); len(x.res.Body) > 0 || kind != "" {
			return fmt.Errorf("status %d: a body of type %q is not described", x.res.Status, kind)
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(x.res.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	content := ref.Value.Content[kind]
	if content == nil {
		return fmt.Errorf("status %d: %s is not described", x.res.Status, kind)
	}
	key := checkedBody{content.Schema.Value, sha256.Sum256(x.res.Body)}
	if _, ok := checkedBodies.Load(key); ok {
		return nil
	}
	var body any = string(x.res.Body)
	if strings.HasSuffix(kind, "json") {
		body = nil
		if err := json.Unmarshal(x.res.Body, &body); err != nil {
			return err
		}
	}
	if err := content.Schema.Value.VisitJSON(body, openapi3.VisitAsResponse(), uris); err != nil {
		return fmt.Errorf("status %d: %w", x.res.Status, err)
	}
	checkedBodies.Store(key, nil)
	if op == x.described.part {
		return nil
	}
	return recordReply(x.operation, x.status, kind, body)
}

// checkedBody identifies the body of a reply that fits its schema, so that it is not checked again.
type checkedBody struct {
	schema *openapi3.Schema
	sum    [sha256.Size]byte
}

// checkedBodies contains a checkedBody for each body that needs no second check. Many tests get equal bodies.
var checkedBodies sync.Map

// asksForFields reports whether the request has the parameter _fields in its query, or the text fields in its body.
func (x *exchange) asksForFields() bool {
	query, err := formOf(x.req.URL.RawQuery)
	return err == nil && query["_fields"] != nil || strings.Contains(x.sent, "fields")
}

// checkHeaders returns an error if a reply's headers do not fit the description. It refuses headers that are not
// described, required ones that are missing, and invalid ones.
func checkHeaders(reply *openapi3.Response, got http.Header) error {
	for name := range got {
		if !commonHeaders[http.CanonicalHeaderKey(name)] && headerOf(reply, name) == nil {
			return fmt.Errorf("header %s is not described", name)
		}
	}
	for name, ref := range reply.Headers {
		text := got.Get(name)
		if text == "" {
			if ref.Value.Required {
				return fmt.Errorf("header %s is described and not there", name)
			}
			continue
		}
		value := describedForm(text, ref.Value.Schema.Value)
		if err := ref.Value.Schema.Value.VisitJSON(value, uris); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	return nil
}

func headerOf(reply *openapi3.Response, name string) *openapi3.HeaderRef {
	for one, ref := range reply.Headers {
		if strings.EqualFold(one, name) {
			return ref
		}
	}
	return nil
}

// uris checks that texts of the format uri are absolute URLs, which the library does not.
var uris = openapi3.WithStringFormatValidator("uri", openapi3.NewCallbackValidator(func(text string) error {
	u, err := url.Parse(text)
	if err == nil && (u.Scheme == "" || u.Host == "") {
		err = errors.New("no absolute address")
	}
	return err
}))

// checkRequest returns an error if the parameters or the body of a successful request do not fit the operation.
func (x *exchange) checkRequest() error {
	query, err := formOf(x.req.URL.RawQuery)
	if err != nil {
		return err
	}
	for _, ref := range x.described.whole.Parameters {
		p := ref.Value
		switch p.In {
		case openapi3.ParameterInPath:
			x.parameters = append(x.parameters, p.Name)
			continue
		case openapi3.ParameterInHeader:
			if text := x.req.Header.Get(p.Name); text != "" {
				if err := x.checkValue(p.Name, text, p.Schema.Value); err != nil {
					return err
				}
			}
			continue
		}
		raw, ok := query[p.Name]
		if !ok {
			if p.Required {
				return fmt.Errorf("%s is required and was not sent", p.Name)
			}
			continue
		}
		delete(query, p.Name)
		if p.Name == "password" && x.req.Method != http.MethodGet && x.req.Method != http.MethodHead {
			x.parameters = append(x.parameters, p.Name) // of whatever form: a write does not ask for it
			continue
		}
		if _, fault := param.Strings(raw); p.Name == "_fields" && fault != nil {
			continue // what is no list of names asks for nothing
		}
		if err := x.checkValue(p.Name, raw, p.Schema.Value); err != nil {
			return err
		}
	}
	return x.checkBody(query)
}

// checkBody returns an error if the body of a request does not fit the fields of the operation. values are the rest
// of the query. They count as fields too, unless the body has them.
func (x *exchange) checkBody(values map[string]any) error {
	body := x.described.whole.RequestBody
	if body == nil {
		x.addUnknownNames(values)
		return nil
	}
	kind, typeParams, err := mime.ParseMediaType(x.req.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || x.sent == "" {
		kind = "application/json" // nothing was sent
	}
	err = nil
	var fields map[string]any
	switch {
	case x.sent == "":
	case kind == "application/x-www-form-urlencoded":
		fields, err = formOf(x.sent)
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		kind = "application/json"
		fields, err = param.DecodeJSON([]byte(x.sent))
	case kind == "multipart/form-data":
		fields, err = multipartOf(x.sent, typeParams["boundary"])
	default:
		kind = "application/json" // other types carry no fields
	}
	if err != nil {
		return err
	}
	content := body.Value.Content[kind]
	if content == nil && kind == "multipart/form-data" {
		content = body.Value.Content["application/x-www-form-urlencoded"] // the same without files
	}
	if content == nil {
		return fmt.Errorf("a body of type %s is not described", kind)
	}
	// In the query of a write these would be words about what is read, and are ignored.
	delete(values, "password")
	if slices.Contains(x.parameters, "slug") {
		delete(values, "slug")
	}
	values = param.Merge(fields, values)
	schema := content.Schema.Value
	for _, name := range schema.Required {
		if values[name] == nil {
			return fmt.Errorf("%s is required and was not sent", name)
		}
	}
	for name, ref := range schema.Properties {
		raw, ok := values[name]
		if !ok {
			continue
		}
		delete(values, name)
		if err := x.checkValue(name, raw, ref.Value); err != nil {
			return err
		}
	}
	x.addUnknownNames(values)
	return nil
}

// checkValue returns an error if the value of a parameter does not fit its schema. It records the parameter as used.
// Null for a parameter that cannot be null is ignored.
func (x *exchange) checkValue(name string, raw any, s *openapi3.Schema) error {
	value := describedForm(raw, s)
	if value == nil && !s.PermitsNull() {
		return nil
	}
	x.parameters = append(x.parameters, name)
	if err := s.VisitJSON(value, openapi3.VisitAsRequest()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// addUnknownNames records the names of values that are no parameters of the operation. The service ignores such values.
func (x *exchange) addUnknownNames(values map[string]any) {
	for name := range values {
		x.strangers = append(x.strangers, name)
	}
}

// multipartOf decodes a multipart form into its fields. A file becomes a fixed text.
func multipartOf(body, boundary string) (map[string]any, error) {
	data, err := multipart.NewReader(strings.NewReader(body), boundary).ReadForm(32 << 20)
	if err != nil {
		return nil, err
	}
	var form param.Form
	for name, values := range data.Value {
		for _, value := range values {
			if err := form.Add(name, value); err != nil {
				return nil, err
			}
		}
	}
	out := form.Values()
	for name := range data.File {
		out[name] = "a file"
	}
	return out, data.RemoveAll()
}

func formOf(text string) (map[string]any, error) {
	var form param.Form
	for pair := range strings.SplitSeq(text, "&") {
		name, value, _ := strings.Cut(pair, "=")
		key, err := url.QueryUnescape(name)
		if err != nil {
			key = name
		}
		decoded, err := url.QueryUnescape(value)
		if err != nil {
			decoded = value
		}
		if key == "" {
			continue
		}
		if err := form.Add(key, decoded); err != nil {
			return nil, err
		}
	}
	return form.Values(), nil
}
