package handlers_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// titlesOf returns the titles or names in a list, in its order. key is the member of a record that has them.
func titlesOf(t *testing.T, r apitest.Response, collection, key string) []string {
	t.Helper()
	items, ok := r.Get(t, collection).([]any)
	if !ok {
		t.Fatalf("no %s in %s", collection, r.Body)
	}
	titles := make([]string, len(items))
	for i, item := range items {
		titles[i] = fmt.Sprint(item.(map[string]any)[key])
	}
	return titles
}

func TestSearchFindsWhatIsServed(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "admin", calendar.Administrator)
		api.SignIn(t, "author", calendar.Author)
		write := func(as, method, path string, body object) string {
			t.Helper()
			res := api.Do(t, apitest.Request{Method: method, As: as, Path: path, JSON: body})
			if res.Status >= 300 {
				t.Fatalf("%s %s: %d %s", method, path, res.Status, res.Body)
			}
			return fmt.Sprint(res.Get(t, "id"))
		}
		day := 0
		event := func(as string, body object) string {
			day++
			body["start_date"] = fmt.Sprintf("2026-12-%02d 18:00", day)
			body["end_date"] = fmt.Sprintf("2026-12-%02d 20:00", day)
			return write(as, "POST", "/events", body)
		}
		lodz := event("admin", object{
			"title": "Jesień w Łodzi", "description": "<p>Koncert <b>na żywo</b></p>", "ml_language": "pl",
		})
		write("admin", "PATCH", "/events/"+lodz+"?ml_language=en", object{"title": "Autumn in the city"})
		event("admin", object{"title": "Fin de año", "excerpt": "Música 100% en vivo_", "description": "Brindis \\ bailes"})
		event("admin", object{"title": "Jazz & Blues", "description": "An evening of swing.\n\nBring your own chair."})
		event("author", object{"title": "Locked", "description": "secret handshake", "password": "sesame"})

		for _, test := range []struct{ name, as, query, search, want string }{
			{"a word of the title", "", "", "jazz", "Jazz &amp; Blues"},
			{"inside a word", "", "", "azz", "Jazz &amp; Blues"},
			{"case and diacritics do not count", "", "ml_language=pl", "JESIEN w lodzi", "Jesień w Łodzi"},
			{"ñ", "", "", "ano", "Fin de año"},
			{"words in different fields", "", "", "musica ano", "Fin de año"},
			{"every word must occur", "", "", "jazz koncert", ""},
			{"a phrase", "", "", `"evening of swing"`, "Jazz &amp; Blues"},
			{"a phrase in another order", "", "", `"swing of evening"`, ""},
			{"excluded", "", "", "en -brindis", "Jazz &amp; Blues"},
			{"tags of HTML are not text", "", "ml_language=pl", "strong", ""},
			{"text across inline tags", "", "ml_language=pl", `"koncert na zywo"`, "Jesień w Łodzi"},
			{"entities are characters", "", "", "jazz & blues", "Jazz &amp; Blues"},
			{"percent is a character", "", "", "100%", "Fin de año"},
			{"percent is no wildcard", "", "", "a%o", ""},
			{"underscore is a character", "", "", "vivo_", "Fin de año"},
			{"underscore is no wildcard", "", "", "an_", ""},
			{"backslash is a character", "", "", `\ bailes`, "Fin de año"},
			{"served in English: the English title", "", "ml_language=en", "autumn", "Autumn in the city"},
			{"served in English: not the Polish title", "", "ml_language=en", "jesien", ""},
			{"served in English: the description falls back", "", "ml_language=en", "koncert", "Autumn in the city"},
			{"served in Spanish: falls back to the site's language", "", "ml_language=es", "autumn", "Autumn in the city"},
			{"redacted events never match", "", "", "handshake", ""},
			{"nor their titles", "", "", "locked", ""},
			{"with the password they do", "", "password=sesame", "handshake", "Locked"},
			{"a wrong password does not help", "", "password=sesam", "handshake", ""},
			{"the author may edit it", "author", "", "handshake", "Locked"},
			{"an administrator may, too", "admin", "", "handshake", "Locked"},
		} {
			t.Run(test.name, func(t *testing.T) {
				path := "/events?" + test.query + "&search=" + url.QueryEscape(test.search)
				res := api.Do(t, apitest.Request{Path: path, As: test.as})
				if got := strings.Join(titlesOf(t, res, "events", "title"), "|"); got != test.want {
					t.Errorf("%q finds %q, want %q", test.search, got, test.want)
				}
			})
		}
		t.Run("a changed text is found anew", func(t *testing.T) {
			id := event("admin", object{"title": "Before"})
			write("admin", "PATCH", "/events/"+id, object{"title": "Afterwards"})
			for search, want := range map[string]int{"before": 0, "afterwards": 1} {
				res := api.Do(t, get("/events?search="+search))
				if got := res.Get(t, "total"); got != float64(want) {
					t.Errorf("%s finds %v, want %d", search, got, want)
				}
			}
		})
		for _, search := range []string{"", "%20", "-jazz"} {
			res := api.Do(t, get("/events?search="+search))
			if strings.TrimSpace(strings.ReplaceAll(search, "%20", "")) == "" && res.Status != 400 {
				t.Errorf("search=%q: %d, want 400", search, res.Status)
			}
		}
	})
}

func TestSearchOfPlacesAndTerms(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "admin", calendar.Administrator)
		for path, bodies := range map[string][]object{
			"/venues": {
				{"venue": "Teatr Wielki", "city": "Łódź", "address": "Plac Dąbrowskiego 1"},
				{"venue": "City Hall", "city": "Warsaw", "phone": "+48 22 000"},
			},
			"/organizers": {{"organizer": "Peña Flamenca", "email": "hola@pena.example"}, {"organizer": "Bob"}},
			"/categories": {{"name": "Música", "slug": "conciertos"}, {"name": "Sport"}},
		} {
			for _, b := range bodies {
				if res := api.Do(t, post("admin", path, b)); res.Status != 201 {
					t.Fatalf("%s: %d %s", path, res.Status, res.Body)
				}
			}
		}
		for _, test := range []struct {
			name, path, collection, key string
			want                        []string
		}{
			{"venue by name", "/venues?search=wielki", "venues", "venue", []string{"Teatr Wielki"}},
			{"venue by city", "/venues?search=lodz", "venues", "venue", []string{"Teatr Wielki"}},
			{"pieces in one field", "/venues?search=dabrowskiego,plac", "venues", "venue", []string{"Teatr Wielki"}},
			{"pieces in different fields", "/venues?search=wielki+lodz", "venues", "venue", []string{}},
			{"venue by phone", "/venues?search=22+000", "venues", "venue", []string{"City Hall"}},
			{"organizer by e-mail", "/organizers?search=pena.example", "organizers", "organizer", []string{"Peña Flamenca"}},
			{"organizer by name", "/organizers?search=PENA", "organizers", "organizer", []string{"Peña Flamenca"}},
			{"category by name", "/categories?hide_empty=0&search=musica", "categories", "name", []string{"Música"}},
			{"category by slug", "/categories?hide_empty=0&search=concierto", "categories", "name", []string{"Música"}},
			{"nothing", "/categories?hide_empty=0&search=zzz", "categories", "name", []string{}},
		} {
			t.Run(test.name, func(t *testing.T) {
				res := api.Do(t, get(test.path))
				if diff := cmp.Diff(test.want, titlesOf(t, res, test.collection, test.key)); diff != "" {
					t.Error(diff)
				}
			})
		}
	})
}

func TestEventsNearAPosition(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "admin", calendar.Administrator)
		for i, place := range []struct {
			name     string
			lat, lng any
		}{
			{"Warsaw", 52.2297, 21.0122},
			{"Pruszków", 52.1708, 20.8129},
			{"Kraków", 50.0647, 19.9450},
			{"East of the line", 10.0, 179.95},
			{"West of the line", 10.0, -179.95},
			{"This side of the pole", 89.99, 10.0},
			{"That side of the pole", 89.99, -170.0},
			{"Nowhere", nil, nil},
		} {
			venue := object{"venue": place.name}
			if place.lat != nil {
				venue["geo_lat"], venue["geo_lng"] = place.lat, place.lng
			}
			res := api.Do(t, post("admin", "/events", object{
				"title": place.name, "start_date": fmt.Sprintf("2026-12-%02d", i+1), "end_date": fmt.Sprintf("2026-12-%02d", i+1),
				"venue": venue,
			}))
			if res.Status != 201 {
				t.Fatalf("%d %s", res.Status, res.Body)
			}
		}
		for _, test := range []struct {
			name, query string
			want        []string
		}{
			{"25 km by default", "geoloc_lat=52.2297&geoloc_lng=21.0122", []string{"Warsaw", "Pruszków"}},
			{"a smaller circle", "geoloc_lat=52.2297&geoloc_lng=21.0122&geoloc_radius=5", []string{"Warsaw"}},
			{"a larger circle", "geoloc_lat=52.2297&geoloc_lng=21.0122&geoloc_radius=260", []string{"Warsaw", "Pruszków", "Kraków"}},
			{"across the date line", "geoloc_lat=10&geoloc_lng=180", []string{"East of the line", "West of the line"}},
			{"over the pole", "geoloc_lat=90&geoloc_lng=0", []string{"This side of the pole", "That side of the pole"}},
			{"nothing there", "geoloc_lat=0&geoloc_lng=0", []string{}},
			{"located or not", "geoloc=0", []string{"Nowhere"}},
		} {
			t.Run(test.name, func(t *testing.T) {
				res := api.Do(t, get("/events?"+test.query))
				if diff := cmp.Diff(test.want, titlesOf(t, res, "events", "title")); diff != "" {
					t.Error(diff)
				}
			})
		}
	})
}
