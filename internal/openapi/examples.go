package openapi

import (
	"bytes"
	"embed"
	"encoding/json"
	"net/http"
	"path"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// example returns a recorded reply as the example with a name. If none is recorded, it returns the JSON text "not
// recorded". A test then fails until go test -update records it.
func (a *API) example(name string) json.RawMessage {
	data, err := exampleFiles.ReadFile(path.Join("examples", name+".json"))
	if err != nil {
		return json.RawMessage(`"not recorded"`)
	}
	base := a.Site.BaseURL
	for _, one := range [][2]string{
		{exampleRoot, a.Address}, {exampleBase, base},
	} {
		data = bytes.ReplaceAll(data, []byte(one[0]), []byte(one[1]))
	}
	return data
}

// exampleFiles are recorded replies of the service, copied from testdata/golden. A test compares them with the
// originals.
//
//go:embed examples/*.json
var exampleFiles embed.FS

// exampleBase and exampleRoot are the addresses in the recorded replies. example replaces them.
const (
	exampleBase = "http://127.0.0.1:8080"
	exampleRoot = exampleBase + "/cal/events/v1"
)

// addExample adds an example to the components, unless it is there, and returns a reference to it. The example gets
// the addresses of this service.
func (d *description) addExample(name string) ordered {
	if !d.addedExamples[name] {
		d.addedExamples[name] = true
		d.examples = append(d.examples, member{name, ordered{{"value", d.api.example(name)}}})
	}
	return ordered{{name, refTo("examples", name)}}
}

// successExample returns the name of the example for a successful reply of an operation.
func successExample(p *Route, e *Endpoint, method string) string {
	kind := p.Kind
	one := string(kind)
	switch {
	case p.isFeed():
		return strings.Join(p.feedName(), "_")
	case p.isPreview():
		return one + "_preview"
	case kind == "" && p.isIndex():
		return "index_excerpt"
	case kind == "":
		return "doc_excerpt"
	case method == http.MethodGet && !p.hasCaptures():
		return one + "_list"
	case kind == calendar.Image:
		return one
	case !isRecord(kind):
		return one
	case method == http.MethodGet:
		return one + "_full"
	case method == http.MethodDelete:
		return one + "_deleted"
	case e.Success == http.StatusCreated:
		return one + "_created"
	}
	return one + "_updated"
}

// errorExample returns the name of the example for an error of an operation.
func errorExample(p *Route, method, status string) string {
	kind, read := p.Kind, method == http.MethodGet
	one := string(kind)
	switch status {
	case "400":
		if !read && method != http.MethodDelete && !p.hasCaptures() {
			return "error_missing_params"
		}
		return "error_invalid_params"
	case "401":
		return "error_bad_credentials_401"
	case "403":
		switch {
		case read && kind.IsDated():
			return "error_" + one + "_password_403"
		case read && isRecord(kind):
			return "error_" + one + "_not_accessible_403"
		}
		return "error_forbidden_403"
	case "404":
		switch {
		case p.isFeed() && p.hasCaptures():
			return "error_event_not_found_404"
		case (kind == calendar.Event || p.isFeed()) && !p.hasCaptures():
			return "error_page_not_found_404"
		case !p.hasCaptures():
			return "error_" + one + "_page_not_found_404"
		}
		return "error_" + one + "_not_found_404"
	case "410":
		return "error_" + one + "_in_trash_410"
	case "409":
		return "error_key_in_use_409"
	case "412":
		return "error_precondition_failed_412"
	case "413":
		return "error_too_large_413"
	case "415":
		return "error_media_type_415"
	case "422":
		return "error_key_reused_422"
	case "429":
		return "error_too_many_429"
	case "503":
		return "error_unavailable_503"
	}
	return "error_internal_500"
}
