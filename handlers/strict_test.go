package handlers_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/almanac-cal/almanac/proof/apitest"
)

// TestStrictWritesOfEveryKind writes each kind of record with Prefer: handling=strict, and refuses a name that a write does not
// have.
func TestStrictWritesOfEveryKind(t *testing.T) {
	event := object{"title": "Strict", "start_date": "2027-03-01 10:00", "end_date": "2027-03-01 11:00", "timezone": "UTC"}
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		api.Example(t)
		for _, kind := range []struct {
			collection string
			body       object
			bySlug     bool
		}{
			{"/events", event, true},
			{"/series", overlayBody(maps.Clone(event), object{"rrule": "FREQ=WEEKLY;COUNT=3"}), true},
			{"/venues", object{"venue": "Strict"}, true},
			{"/organizers", object{"organizer": "Strict"}, true},
			{"/categories", object{"name": "Strict"}, false},
			{"/tags", object{"name": "Strict"}, false},
		} {
			paths := []string{"%[1]s/%[2]v"}
			if kind.bySlug {
				paths = append(paths, "%[1]s/by-slug/%[3]v")
			}
			for _, path := range paths {
				to := kind.collection
				if to == "/series" {
					to = "/events"
				}
				made := api.Do(t, strictly(apitest.Request{Method: "POST", Path: to, JSON: kind.body}))
				if made.Status != 201 {
					t.Fatalf("%s: %d: %s", to, made.Status, made.Body)
				}
				id, slug := made.Get(t, "id"), made.Get(t, "slug")
				if kind.collection == "/series" {
					id = made.Get(t, "series", "id")
					slug = api.Do(t, apitest.Request{Path: fmt.Sprintf("/series/%v", id)}).Get(t, "slug")
				}
				path = fmt.Sprintf(path, kind.collection, id, slug)
				for _, method := range []string{"POST", "PUT", "DELETE"} {
					sent := kind.body
					if method == "DELETE" {
						sent = object{}
					}
					request := apitest.Request{Method: method, Path: path, JSON: overlayBody(maps.Clone(sent), object{"unheard_of": "red"})}
					if res := api.Do(t, strictly(request)); res.Status != 400 {
						t.Errorf("%s %s with an unknown field: %d: %s", method, path, res.Status, res.Body)
					}
					request.JSON = sent
					if res := api.Do(t, strictly(request)); res.Status != 200 || res.Header.Get("Preference-Applied") != "handling=strict" {
						t.Errorf("%s %s: %d %v: %s", method, path, res.Status, res.Header, res.Body)
					}
				}
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

// strictly returns the request of a strict client.
func strictly(r apitest.Request) apitest.Request {
	header := map[string]string{"Prefer": "handling=strict"}
	maps.Copy(header, r.Header)
	r.Header, r.As = header, "admin"
	return r
}
