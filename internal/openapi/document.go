package openapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/jsonwrite"
	"github.com/almanac-cal/almanac/internal/locale"
)

// API is the input of an OpenAPI description: the routes, the current time, and the address and language of the
// API.
type API struct {
	Site     calendar.Site
	Version  string // version of the program; "" means Development
	Words    *locale.Catalogues
	Now      time.Time         // clock for running declarations; the description does not depend on it
	Language calendar.Language // language of descriptions and summaries
	MaxPage  int               // largest number of records on a page of a list
	MaxFeed  int               // largest number of events in a feed
	Address  string            // base address of the API without a slash at the end: http://127.0.0.1:8080/pl/cal/events/v1
	Routes   []Route
}

// Document returns the OpenAPI 3.0 description of the API (contract, section 17).
func (a *API) Document() (json.RawMessage, error) { return jsonwrite.Encode(a.document()) }

// Development is the version of a program that was built without a tag and a commit.
const Development = "0.0.0-dev"

// document builds the description from the route table, the parameter declarations and the representation
// types. It is built in English and then translated.
func (a *API) document() ordered {
	d := &description{api: a, schemas: schemas{}, shared: map[string]bool{}, addedExamples: map[string]bool{}}
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

// readingOrder is the order of the tags of operations in the description: events first, then what is linked to
// them, and the API itself last.
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
	api           *API
	schemas       schemas
	tags          []ordered
	parameters    ordered         // parameter components, which several operations use
	shared        map[string]bool // names of the shared parameters
	examples      ordered         // examples that operations refer to
	addedExamples map[string]bool // names of the examples
}
