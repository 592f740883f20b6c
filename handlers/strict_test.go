package handlers_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/almanac-cal/almanac/proof/apitest"
)

// strictKind is a kind of record that a strict client writes.
type strictKind struct {
	collection string
	body       object
	bySlug     bool
}

// TestStrictWritesOfEveryKind writes each kind of record with Prefer: handling=strict. A write with an undeclared
// field must be refused.
func TestStrictWritesOfEveryKind(t *testing.T) {
	event := object{"title": "Strict", "start_date": "2027-03-01 10:00", "end_date": "2027-03-01 11:00", "timezone": "UTC"}
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		api.Example(t)
		for _, kind := range []strictKind{
			{"/events", event, true},
			{"/series", overlayBody(maps.Clone(event), object{"rrule": "FREQ=WEEKLY;COUNT=3"}), true},
			{"/venues", object{"venue": "Strict"}, true},
			{"/organizers", object{"organizer": "Strict"}, true},
			{"/categories", object{"name": "Strict"}, false},
			{"/tags", object{"name": "Strict"}, false},
		} {
			id, _ := kind.create(t, api)
			kind.changeAndDelete(t, api, fmt.Sprintf("%s/%v", kind.collection, id))
			if kind.bySlug {
				_, slug := kind.create(t, api)
				kind.changeAndDelete(t, api, fmt.Sprintf("%s/by-slug/%v", kind.collection, slug))
			}
		}
		image := api.Do(t, strictly(upload("admin", "strict.png", picture(t, 4, 4))))
		if image.Status != 201 {
			t.Fatalf("%d: %s", image.Status, image.Body)
		}
		if res := api.Do(t, strictly(apitest.Request{Method: "DELETE", Path: fmt.Sprintf("/images/%v", image.Get(t, "id"))})); res.Status != 200 {
			t.Errorf("%d: %s", res.Status, res.Body)
		}
	})
}

// create creates a record of the kind and returns its id and slug.
func (k strictKind) create(t *testing.T, api *apitest.API) (id, slug any) {
	t.Helper()
	to := k.collection
	if to == "/series" {
		to = "/events"
	}
	res := api.Do(t, strictly(apitest.Request{Method: "POST", Path: to, JSON: k.body}))
	if res.Status != 201 {
		t.Fatalf("%s: %d: %s", to, res.Status, res.Body)
	}
	if k.collection != "/series" {
		return res.Get(t, "id"), res.Get(t, "slug")
	}
	id = res.Get(t, "series", "id")
	return id, api.Do(t, apitest.Request{Path: fmt.Sprintf("/series/%v", id)}).Get(t, "slug")
}

// changeAndDelete writes to the path of a record by each method, after a refused write with an unknown field.
func (k strictKind) changeAndDelete(t *testing.T, api *apitest.API, path string) {
	t.Helper()
	for _, w := range []struct {
		method string
		body   object
	}{{"POST", k.body}, {"PUT", k.body}, {"DELETE", object{}}} {
		request := apitest.Request{Method: w.method, Path: path, JSON: overlayBody(maps.Clone(w.body), object{"unheard_of": "red"})}
		if res := api.Do(t, strictly(request)); res.Status != 400 {
			t.Errorf("%s %s with an unknown field: %d: %s", w.method, path, res.Status, res.Body)
		}
		request.JSON = w.body
		if res := api.Do(t, strictly(request)); res.Status != 200 || res.Header.Get("Preference-Applied") != "handling=strict" {
			t.Errorf("%s %s: %d %v: %s", w.method, path, res.Status, res.Header, res.Body)
		}
	}
}

// strictly returns the request with Prefer: handling=strict, as the administrator.
func strictly(r apitest.Request) apitest.Request {
	header := map[string]string{"Prefer": "handling=strict"}
	maps.Copy(header, r.Header)
	r.Header, r.As = header, "admin"
	return r
}
