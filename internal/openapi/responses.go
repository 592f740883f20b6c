package openapi

import (
	"net/http"
	"reflect"
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/represent"
)

// responses returns the replies of an operation by status, with the meaning of each error.
func (d *description) responses(p *Route, e *Endpoint, method string) ordered {
	out := ordered{{strconv.Itoa(e.Success), d.success(p, e, method)}}
	if method == http.MethodGet {
		if p.isFeed() {
			out = append(out, member{"301", d.otherLanguage(p)})
		}
		out = append(out, member{"304", responseObject("The client has this response", readHeaders(p), nil)})
	}
	for _, err := range errorsOf(p, e, method) {
		out = append(out, member{err.status, d.failure(p, method, err)})
	}
	return out
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
		meaning, schema = "The occurrences that the schedule would create", d.schemas.schemaOf(reflect.TypeFor[represent.SeriesPreview]())
	case p.isFeed():
		meaning, schema = "The feed", d.feedSchema(p)
	case kind == "" && p.isIndex():
		meaning, schema = "The routes, their methods and parameters", d.schemas.add("Index", indexSchema())
	case kind == "":
		meaning, schema = "This document", ordered{{"type", "object"}}
	case list:
		meaning = "A page of the list"
		schema = d.schemas.add(capitalise(string(kind))+"List",
			listSchema(kind.Plural(), d.schemas.schemaOf(representations[kind]), d.api.MaxPage))
	default:
		schema = d.schemas.schemaOf(representations[kind])
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
	content := ordered{{e.MediaType, ordered{{"schema", schema}, {"examples", d.addExample(example)}}}}
	if e.Tables {
		table := ordered{{"schema", ordered{{"type", "string"}}}, {"examples", d.addExample(example + "_csv")}}
		content = append(content, member{"text/csv", table})
	}
	return responseObject(meaning, extra, content)
}

// failure returns an error reply in both media types. The client chooses one by Accept.
func (d *description) failure(p *Route, method string, err errorResponse) ordered {
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
		problem = append(problem, member{"examples", d.addExample("error_problem")})
	}
	return responseObject(err.meaning, names, ordered{
		{"application/json", ordered{
			{"schema", refTo("schemas", "Error")}, {"examples", d.addExample(errorExample(p, method, err.status))},
		}},
		{"application/problem+json", problem},
	})
}

// otherLanguage returns the redirect that a feed answers with if its path begins with a language that the site does
// not offer.
func (d *description) otherLanguage(p *Route) ordered {
	example := ordered{{"address", ordered{{"value", p.Server + p.samplePath()}}}}
	content := ordered{{"text/plain", ordered{{"schema", ordered{{"type", "string"}, {"format", "uri"}}}, {"examples", example}}}}
	return responseObject("The site does not offer the language of the path", []string{"Location", "Cache-Control"}, content)
}

// errorResponse is the status of an error that an operation can return, and what it means.
type errorResponse struct{ status, meaning string }

// errorsOf returns the errors that an operation can return (contract, sections 3 and 16).
func errorsOf(p *Route, e *Endpoint, method string) []errorResponse {
	kind, single, read := p.Kind, p.hasCaptures(), method == http.MethodGet
	out := []errorResponse{
		{"400", "A parameter is missing or invalid, or the body is malformed"},
	}
	switch {
	case p.isFeed():
	case read:
		out = append(out, errorResponse{"401", "The credentials are wrong"})
	default:
		out = append(out, errorResponse{"401", "The credentials are wrong, or there are none"})
	}
	switch {
	case read && kind == calendar.Image && !single:
		out = append(out, errorResponse{"403", "The caller may not list images"})
	case read && kind.IsDated() && single:
		out = append(out, errorResponse{"403", "The " + string(kind) + " is protected or in the trash, or the caller may not read it"})
	case read && isRecord(kind) && single:
		out = append(out, errorResponse{"403", "The caller may not read it"})
	case !read:
		out = append(out, errorResponse{"403", "The caller may not do this"})
	}
	switch {
	case read && isRecord(kind) && !single, p.isCalendar() && !single:
		out = append(out, errorResponse{"404", "The page is past the end"})
	case p.isCalendar():
		out = append(out, errorResponse{"404", "There is no such event"})
	case kind == calendar.Image && single:
		out = append(out, errorResponse{"404", "There is no such image"})
	case kind == calendar.Event && single && (!p.isBySlug() || e.In == param.InBody):
		out = append(out, errorResponse{"404", "There is no such event"})
	case kind == calendar.Series && single:
		out = append(out, errorResponse{"404", "There is no such series"})
	}
	// The schedule of a series in the trash cannot change, and an event in the trash cannot be added to a
	// series.
	if method == http.MethodDelete && isRecord(kind) || kind.IsDated() && single && !read {
		out = append(out, errorResponse{"410", "The record is already in the trash"})
	}
	switch {
	case read:
		out = append(out, errorResponse{"412", "If-Match does not contain the ETag of the response"})
	case single:
		out = append(out, errorResponse{"412", "The record does not meet If-Match"})
	}
	if method == http.MethodPost {
		out = append(out, keyInUse)
	}
	tooLarge := errorResponse{"413", "The address is too long"}
	if !read {
		tooLarge.meaning = "The body or the address is too long"
	}
	out = append(out, tooLarge)
	if !read {
		out = append(out, errorResponse{"415", "The declared type of the body is neither JSON nor a form"})
	}
	if method == http.MethodPost {
		out = append(out, keyReused)
	}
	return append(out,
		errorResponse{"429", "Too many requests"},
		errorResponse{"503", "The database is not available, or the service is stopping"},
		errorResponse{"default", "Internal error (500)"})
}
