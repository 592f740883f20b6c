package handlers

import (
	"net/http"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
)

// Groups of methods in the route table.
var (
	methodsGet    = []string{http.MethodGet}
	methodsCreate = []string{http.MethodPost}
	methodsUpdate = []string{http.MethodPost, http.MethodPut, http.MethodPatch}
	methodsDelete = []string{http.MethodDelete}
)

// routes returns the route table: the only list of the API's paths. Routing, Allow, OPTIONS, the index and the
// OpenAPI description are derived from it.
func (h *Handlers) routes() []*pattern {
	get, create, update, remove, ok := methodsGet, methodsCreate, methodsUpdate, methodsDelete, http.StatusOK
	return slices.Concat([]*pattern{
		newPattern("/", endpointFor("Index of the namespace", get, ok, (*request).declareIndex, (*request).getIndex)),
		newPattern("/doc", endpointFor("Interface description", get, ok, (*request).declareDoc, (*request).getDoc)),
		newPattern("/events",
			endpointFor("List events", get, ok, (*request).declareEventQuery, (*request).listEvents).withTables(),
			endpointFor("Create an event", create, http.StatusCreated, (*request).declareEventCreate, (*request).createEvent)),
		newPattern("/events/{id}",
			endpointFor("Read an event", get, ok, (*request).declareEventByID, (*request).getEvent),
			endpointFor("Update an event", update, ok, (*request).declareEventUpdate, (*request).updateEvent),
			endpointFor("Delete an event", remove, ok, (*request).declareEventDelete, (*request).deleteEvent)),
		newPattern("/events/by-slug/{slug}",
			endpointFor("Read an event by slug", get, ok, (*request).declareEventBySlug, (*request).getEvent),
			endpointFor("Update an event by slug", update, ok, (*request).declareEventUpdateBySlug, (*request).updateEvent),
			endpointFor("Delete an event by slug", remove, ok, (*request).declareEventDeleteBySlug, (*request).deleteEvent)),
		newPattern("/series",
			endpointFor("List series", get, ok, (*request).declareSeriesQuery, (*request).listSeries)),
		newPattern("/series/{id}",
			endpointFor("Read a series", get, ok, (*request).declareSeriesByID, (*request).getSeries),
			endpointFor("Update a series", update, ok, (*request).declareSeriesUpdate, (*request).updateSeries),
			endpointFor("Delete a series", remove, ok, (*request).declareSeriesDelete, (*request).deleteSeries)),
		newPattern("/series/by-slug/{slug}",
			endpointFor("Read a series by slug", get, ok, (*request).declareSeriesBySlug, (*request).getSeries),
			endpointFor("Update a series by slug", update, ok, (*request).declareSeriesUpdateBySlug, (*request).updateSeries),
			endpointFor("Delete a series by slug", remove, ok, (*request).declareSeriesDeleteBySlug, (*request).deleteSeries)),
		newPattern("/series/preview",
			endpointFor("Preview the occurrences of a schedule", create, ok, (*request).declareSeriesPreview, (*request).previewSeries)),
	}, venues.patterns(), organizers.patterns(), []*pattern{
		newPattern("/categories",
			endpointFor("List categories", get, ok, declareTermQuery(calendar.Category), listTerms(calendar.Category)).withTables(),
			endpointFor("Create a category", create, http.StatusCreated, termCreate(calendar.Category), createTerm(calendar.Category))),
		newPattern("/categories/{id}",
			endpointFor("Read a category", get, ok, byID("the category"), getTerm(calendar.Category)),
			endpointFor("Update a category", update, ok, termUpdate(calendar.Category), updateTerm(calendar.Category)),
			endpointFor("Delete a category", remove, ok, deleteTarget(calendar.Category, "id"), deleteTerm(calendar.Category))),
		newPattern("/tags",
			endpointFor("List tags", get, ok, declareTermQuery(calendar.Tag), listTerms(calendar.Tag)).withTables(),
			endpointFor("Create a tag", create, http.StatusCreated, termCreate(calendar.Tag), createTerm(calendar.Tag))),
		newPattern("/tags/{id}",
			endpointFor("Read a tag", get, ok, byID("the tag"), getTerm(calendar.Tag)),
			endpointFor("Update a tag", update, ok, termUpdate(calendar.Tag), updateTerm(calendar.Tag)),
			endpointFor("Delete a tag", remove, ok, deleteTarget(calendar.Tag, "id"), deleteTerm(calendar.Tag))),
		newPattern("/images",
			endpointFor("List images", get, ok, (*request).declareImageQuery, (*request).listImages),
			endpointFor("Upload an image, by file or address", create, http.StatusCreated, (*request).declareImageCreate, (*request).createImage).takingFiles()),
		newPattern("/images/{id}",
			endpointFor("Read an image", get, ok, byID("the image"), (*request).getImage),
			endpointFor("Delete an image", remove, ok, byID("the image"), (*request).deleteImage)),
	})
}
