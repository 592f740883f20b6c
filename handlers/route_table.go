package handlers

import (
	"net/http"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers/endpoint"
)

// namedResources describe how the API serves the records with a name: venues and organizers.
var namedResources = []interface {
	of() calendar.Kind
	patterns(h *Handlers) []*endpoint.Pattern
	replies() recordReplies
}{
	venues,
	organizers,
}

// namedPatterns returns the routes of namedResources: for each, its list, a record by id, and a record by slug.
func namedPatterns(h *Handlers) (all []*endpoint.Pattern) {
	for _, n := range namedResources {
		all = append(all, n.patterns(h)...)
	}
	return all
}

// routes returns the route table: the only list of the API's paths. Routing, Allow, OPTIONS, the index and the
// OpenAPI description are derived from it.
func (h *Handlers) routes() []*endpoint.Pattern {
	get, create, update, remove, ok := endpoint.MethodsRead, endpoint.MethodsCreate, endpoint.MethodsUpdate, endpoint.MethodsDelete, http.StatusOK
	return slices.Concat([]*endpoint.Pattern{
		endpoint.NewPattern("/", readFor(h, "Index of the namespace", get, ok, (*request).declareIndex, (*request).getIndex)),
		endpoint.NewPattern("/doc", readFor(h, "Interface description", get, ok, (*request).declareDoc, (*request).getDoc)),
		endpoint.NewPattern("/events",
			readFor(h, "List events", get, ok, (*request).declareEventQuery, (*request).listEvents).WithTables(),
			writeFor(h, "Create an event", create, http.StatusCreated, (*writing).declareEventCreate, (*writing).createEvent)),
		endpoint.NewPattern("/events/{id}",
			readFor(h, "Read an event", get, ok, protectedTarget(calendar.Event, "id"), (*request).getEvent),
			writeFor(h, "Update an event", update, ok, eventUpdate(calendar.Event, "id"), (*writing).updateEvent),
			writeFor(h, "Delete an event", remove, ok, (*writing).declareEventDelete, (*writing).deleteEvent)),
		endpoint.NewPattern("/events/by-slug/{slug}",
			readFor(h, "Read an event by slug", get, ok, protectedTarget(calendar.Event, "slug"), (*request).getEvent),
			writeFor(h, "Update an event by slug", update, ok, eventUpdate(calendar.Event, "slug"), (*writing).updateEvent),
			writeFor(h, "Delete an event by slug", remove, ok, (*writing).declareEventDeleteBySlug, (*writing).deleteEvent)),
		endpoint.NewPattern("/series",
			readFor(h, "List series", get, ok, (*request).declareSeriesQuery, (*request).listSeries)),
		endpoint.NewPattern("/series/{id}",
			readFor(h, "Read a series", get, ok, protectedTarget(calendar.Series, "id"), (*request).getSeries),
			writeFor(h, "Update a series", update, ok, eventUpdate(calendar.Series, "id"), (*writing).updateSeries),
			writeFor(h, "Delete a series", remove, ok, (*writing).declareSeriesDelete, (*writing).deleteSeries)),
		endpoint.NewPattern("/series/by-slug/{slug}",
			readFor(h, "Read a series by slug", get, ok, protectedTarget(calendar.Series, "slug"), (*request).getSeries),
			writeFor(h, "Update a series by slug", update, ok, eventUpdate(calendar.Series, "slug"), (*writing).updateSeries),
			writeFor(h, "Delete a series by slug", remove, ok, (*writing).declareSeriesDeleteBySlug, (*writing).deleteSeries)),
		endpoint.NewPattern("/series/preview",
			writeFor(h, "Preview the occurrences of a schedule", create, ok, (*writing).declareSeriesPreview, (*writing).previewSeries)),
	}, namedPatterns(h), []*endpoint.Pattern{
		endpoint.NewPattern("/categories",
			readFor(h, "List categories", get, ok, declareTermQuery(calendar.Category), listTerms(calendar.Category)).WithTables(),
			writeFor(h, "Create a category", create, http.StatusCreated, termCreate(calendar.Category), createTerm(calendar.Category))),
		endpoint.NewPattern("/categories/{id}",
			readFor(h, "Read a category", get, ok, byID("the category"), getTerm(calendar.Category)),
			writeFor(h, "Update a category", update, ok, termUpdate(calendar.Category), updateTerm(calendar.Category)),
			writeFor(h, "Delete a category", remove, ok, deleteTarget(calendar.Category, "id"), deleteTerm(calendar.Category))),
		endpoint.NewPattern("/tags",
			readFor(h, "List tags", get, ok, declareTermQuery(calendar.Tag), listTerms(calendar.Tag)).WithTables(),
			writeFor(h, "Create a tag", create, http.StatusCreated, termCreate(calendar.Tag), createTerm(calendar.Tag))),
		endpoint.NewPattern("/tags/{id}",
			readFor(h, "Read a tag", get, ok, byID("the tag"), getTerm(calendar.Tag)),
			writeFor(h, "Update a tag", update, ok, termUpdate(calendar.Tag), updateTerm(calendar.Tag)),
			writeFor(h, "Delete a tag", remove, ok, deleteTarget(calendar.Tag, "id"), deleteTerm(calendar.Tag))),
		endpoint.NewPattern("/images",
			readFor(h, "List images", get, ok, (*request).declareImageQuery, (*request).listImages),
			writeFor(h, "Upload an image, by file or address", create, http.StatusCreated, (*writing).declareImageCreate, (*writing).createImage).TakingFiles()),
		endpoint.NewPattern("/images/{id}",
			readFor(h, "Read an image", get, ok, byID("the image"), (*request).getImage),
			writeFor(h, "Delete an image", remove, ok, declareImageWrite, (*writing).deleteImage)),
	})
}
