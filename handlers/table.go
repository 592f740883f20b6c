package handlers

import (
	"net/http"

	"github.com/almanac-cal/almanac/calendar"
)

// The groups of methods that the table is made of.
var (
	methodsGet    = []string{http.MethodGet}
	methodsCreate = []string{http.MethodPost}
	methodsUpdate = []string{http.MethodPost, http.MethodPut, http.MethodPatch}
	methodsDelete = []string{http.MethodDelete}
)

// routes is the API: the only list of its paths. Routing, Allow, OPTIONS, the index and the interface
// description are made from it.
func (h *Handlers) routes() []*pattern {
	get, create, update, remove, ok := methodsGet, methodsCreate, methodsUpdate, methodsDelete, http.StatusOK
	return []*pattern{
		at("/", on("Index of the namespace", get, ok, (*request).declareIndex, (*request).getIndex)),
		at("/doc", on("Interface description", get, ok, (*request).declareDoc, (*request).getDoc)),
		at("/events",
			on("List events", get, ok, (*request).declareEventQuery, (*request).listEvents),
			on("Create an event", create, http.StatusCreated, (*request).declareEventCreate, (*request).createEvent)),
		at("/events/{id}",
			on("Read an event", get, ok, (*request).declareEventByID, (*request).getEvent),
			on("Update an event", update, ok, (*request).declareEventUpdate, (*request).updateEvent),
			on("Delete an event", remove, ok, (*request).declareEventDelete, (*request).deleteEvent)),
		at("/events/by-slug/{slug}",
			on("Read an event by slug", get, ok, (*request).declareEventBySlug, (*request).getEvent),
			on("Update an event by slug", update, ok, (*request).declareEventUpdateBySlug, (*request).updateEvent),
			on("Delete an event by slug", remove, ok, (*request).declareEventDeleteBySlug, (*request).deleteEvent)),
		at("/series",
			on("List series", get, ok, (*request).declareSeriesQuery, (*request).listSeries)),
		at("/series/{id}",
			on("Read a series", get, ok, (*request).declareSeriesByID, (*request).getSeries),
			on("Update a series", update, ok, (*request).declareSeriesUpdate, (*request).updateSeries),
			on("Delete a series", remove, ok, (*request).declareSeriesDelete, (*request).deleteSeries)),
		at("/series/by-slug/{slug}",
			on("Read a series by slug", get, ok, (*request).declareSeriesBySlug, (*request).getSeries),
			on("Update a series by slug", update, ok, (*request).declareSeriesUpdateBySlug, (*request).updateSeries),
			on("Delete a series by slug", remove, ok, (*request).declareSeriesDeleteBySlug, (*request).deleteSeries)),
		at("/series/preview",
			on("Show what a schedule would make", create, ok, (*request).declareSeriesPreview, (*request).previewSeries)),
		at("/venues",
			on("List venues", get, ok, declareLinkedQuery("Venues"), venues.list),
			on("Create a venue", create, http.StatusCreated, venueCreate, venueWrites.post)),
		at("/venues/{id}",
			on("Read a venue", get, ok, byID("the venue"), venues.get),
			on("Update a venue", update, ok, venueUpdate("id"), venueWrites.patch),
			on("Delete a venue", remove, ok, deleteTarget(calendar.Venue, "id"), venueWrites.remove)),
		at("/venues/by-slug/{slug}",
			on("Read a venue by slug", get, ok, bySlug("the venue"), venues.get),
			on("Update a venue by slug", update, ok, venueUpdate("slug"), venueWrites.patch),
			on("Delete a venue by slug", remove, ok, deleteTarget(calendar.Venue, "slug"), venueWrites.remove)),
		at("/organizers",
			on("List organizers", get, ok, declareLinkedQuery("Organizers"), organizers.list),
			on("Create an organizer", create, http.StatusCreated, organizerCreate, organizerWrites.post)),
		at("/organizers/{id}",
			on("Read an organizer", get, ok, byID("the organizer"), organizers.get),
			on("Update an organizer", update, ok, organizerUpdate("id"), organizerWrites.patch),
			on("Delete an organizer", remove, ok, deleteTarget(calendar.Organizer, "id"), organizerWrites.remove)),
		at("/organizers/by-slug/{slug}",
			on("Read an organizer by slug", get, ok, bySlug("the organizer"), organizers.get),
			on("Update an organizer by slug", update, ok, organizerUpdate("slug"), organizerWrites.patch),
			on("Delete an organizer by slug", remove, ok, deleteTarget(calendar.Organizer, "slug"), organizerWrites.remove)),
		at("/categories",
			on("List categories", get, ok, declareTermQuery(calendar.Category), listTerms(calendar.Category)),
			on("Create a category", create, http.StatusCreated, termCreate(calendar.Category), createTerm(calendar.Category))),
		at("/categories/{id}",
			on("Read a category", get, ok, byID("the category"), getTerm(calendar.Category)),
			on("Update a category", update, ok, termUpdate(calendar.Category), updateTerm(calendar.Category)),
			on("Delete a category", remove, ok, deleteTarget(calendar.Category, "id"), deleteTerm(calendar.Category))),
		at("/tags",
			on("List tags", get, ok, declareTermQuery(calendar.Tag), listTerms(calendar.Tag)),
			on("Create a tag", create, http.StatusCreated, termCreate(calendar.Tag), createTerm(calendar.Tag))),
		at("/tags/{id}",
			on("Read a tag", get, ok, byID("the tag"), getTerm(calendar.Tag)),
			on("Update a tag", update, ok, termUpdate(calendar.Tag), updateTerm(calendar.Tag)),
			on("Delete a tag", remove, ok, deleteTarget(calendar.Tag, "id"), deleteTerm(calendar.Tag))),
		at("/images",
			on("List images", get, ok, (*request).declareImageQuery, (*request).listImages),
			on("Upload an image, by file or address", create, http.StatusCreated, (*request).declareImageCreate, (*request).createImage).takingFiles()),
		at("/images/{id}",
			on("Read an image", get, ok, byID("the image"), (*request).getImage),
			on("Delete an image", remove, ok, byID("the image"), (*request).deleteImage)),
	}
}
