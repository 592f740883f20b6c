package openapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

func (d *description) operation(p *Route, e *Endpoint, method string) ordered {
	var parameters []ordered
	var fields []*param.Param
	params := param.Describe(d.api.Now, e.In, e.Declare)
	for _, one := range params {
		switch {
		case one.Hidden:
		case one.Name == "ml_language":
			parameters = append(parameters, d.addComponent("Language", parameter(one)))
		case one.In == param.InBody:
			fields = append(fields, one)
		default:
			parameters = append(parameters, parameter(one))
		}
	}
	if !p.isFeed() {
		parameters = append(parameters, d.addComponent("Fields", fieldsParameter()))
	}
	for _, h := range headerParameters {
		if h.of(p, method) {
			parameters = append(parameters, d.addComponent(h.name, h.describe()))
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

// operationID returns the unique, stable id of an operation. Client generators name their functions by it. An
// update has three methods, and PATCH has the id without a suffix.
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
		return "Without credentials only what is public can be read. The response has an ETag for conditional requests."
	}
	return "Without credentials the list has what is public. The header Link has the addresses of other pages."
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

// addComponent adds a parameter to the components once, and returns a reference to it.
func (d *description) addComponent(name string, o ordered) ordered {
	if !d.shared[name] {
		d.shared[name] = true
		d.parameters = append(d.parameters, member{name, o})
	}
	return refTo("parameters", name)
}

func refTo(group, name string) ordered {
	return ordered{{"$ref", "#/components/" + group + "/" + name}}
}
