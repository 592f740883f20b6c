package handlers_test

import (
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// hasInLanguage reads an event in a language and fails unless it has the wanted values.
func (e *eventTest) hasInLanguage(t *testing.T, id int64, language string, want object) {
	t.Helper()
	hasValues(t, e.mustSucceed(t, apitest.Request{As: "admin", Path: eventPath(id) + "?ml_language=" + language}), want)
}

func TestLanguageOfWhatIsWritten(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		polish := map[string]string{"Accept-Language": "pl"}
		path := func(method, path string, body object) apitest.Request {
			return apitest.Request{Method: method, As: "admin", Path: "/pl/cal/events/v1" + path, Absolute: true, JSON: body}
		}
		e.Run(t, []apitest.Case{
			{
				Name: "created in that of the site", Request: post("admin", "/events", concert(nil)), Status: 201,
				Check: e.keeps(object{"language": "en", "translations": []string{"en"}}),
			},
			{
				Name: "created in that of a parameter", Request: post("admin", "/events?ml_language=es", concert(object{"title": "Feria"})), Status: 201,
				Check: e.keeps(object{"title": "Feria", "language": "es", "translations": []string{"es"}, "slug": "feria"}),
			},
			{
				Name: "created in that of the body", Request: post("admin", "/events", concert(object{"title": "Targi", "ml_language": "pl"})), Status: 201,
				Check: e.keeps(object{"title": "Targi", "language": "pl"}),
			},
			{Name: "created in that of the path", Request: path("POST", "/events", concert(object{"title": "Jarmark"})), Status: 201, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"language": "pl", "url": apitest.BaseURL + "/pl/event/jarmark/"})
			}},
			{
				Name: "the parameter over the path", Request: path("POST", "/events?ml_language=es", concert(object{"title": "Mercado"})), Status: 201,
				Check: e.keeps(object{"language": "es"}),
			},
			{
				Name: "Accept-Language chooses no text", Request: apitest.Request{Method: "POST", As: "admin", Path: "/events", Header: polish, JSON: concert(object{"cost": 0})},
				Status: 201, Check: func(t *testing.T, r apitest.Response) {
					hasValues(t, r, object{"language": "en", "translations": []string{"en"}, "cost": "Bezpłatnie"})
					if got := r.Header.Get("Content-Language"); got != "pl" {
						t.Errorf("Content-Language is %q", got)
					}
				},
			},
			{Name: "unknown language", Request: post("admin", "/events?ml_language=de", concert(nil)), Status: 400, Check: namesExactly("ml_language rest_not_in_enum")},
			{Name: "empty language", Request: patch("admin", "/events/{jazzNight}", object{"ml_language": ""}), Status: 400, Check: namesExactly("ml_language rest_not_in_enum")},
			{Name: "faults in the language asked for", Request: post("admin", "/events?ml_language=pl", object{}), Status: 400, Check: func(t *testing.T, r apitest.Response) {
				if got := r.Header.Get("Content-Language"); got != "pl" {
					t.Errorf("Content-Language is %q", got)
				}
			}},
		})
	})
}

func TestTranslationsOfAnEvent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		english := object{"title": "Concert", "description": "<p>Loud</p>", "excerpt": "<p>Short</p>", "slug": "concert", "language": "en"}
		id := e.mustCreate(t, "admin", object{"description": "Loud", "excerpt": "Short", "website": "https://x.example/"})
		reply := e.mustSucceed(t, patch("admin", eventPath(id)+"?ml_language=pl", object{
			"title": "Koncert", "description": "Głośno", "slug": "Koncert żywy", "cost": "10 zł",
		}))
		polish := object{
			"title": "Koncert", "description": "<p>Głośno</p>", "excerpt": "<p>Short</p>", "slug": "koncert-zywy", "language": "pl",
			"translations": []string{"en", "pl"}, "cost": "10zł", "website": "https://x.example/",
		}
		hasValues(t, reply, polish)
		e.hasInLanguage(t, id, "pl", polish)
		e.hasInLanguage(t, id, "en", english)
		e.hasInLanguage(t, id, "es", english)
		e.hasInLanguage(t, id, "en", object{"cost": "10zł"}) // common to all languages
		for _, slug := range []string{"concert", "koncert-zywy"} {
			hasValues(t, e.mustSucceed(t, get("/events/by-slug/"+slug)), object{"id": id})
		}

		e.mustSucceed(t, patch("admin", "/events/by-slug/koncert-zywy", object{"excerpt": "Shorter", "title": "Concert II"}))
		e.hasInLanguage(t, id, "en", object{"title": "Concert II", "excerpt": "<p>Shorter</p>", "slug": "concert"})
		e.hasInLanguage(t, id, "pl", object{"title": "Koncert", "excerpt": "<p>Shorter</p>", "slug": "koncert-zywy"})

		header := e.mustSucceed(t, apitest.Request{
			Method: "PATCH", As: "admin", Path: eventPath(id), Header: map[string]string{"Accept-Language": "pl"}, JSON: object{"title": "Concert III"},
		})
		hasValues(t, header, object{"title": "Koncert", "language": "pl"})
		e.hasInLanguage(t, id, "en", object{"title": "Concert III"})
		e.hasInLanguage(t, id, "pl", object{"title": "Koncert"})

		e.mustSucceed(t, apitest.Request{
			Method: "PUT", As: "admin", Path: "/es/cal/events/v1" + eventPath(id), Absolute: true, JSON: object{"title": "Concierto"},
		})
		e.hasInLanguage(t, id, "es", object{"title": "Concierto", "language": "es", "slug": "concert", "translations": []string{"en", "pl", "es"}})

		e.mustSucceed(t, patch("admin", eventPath(id)+"?ml_language=en", object{"title": "Concert IV", "description": ""}))
		e.hasInLanguage(t, id, "en", object{"title": "Concert IV", "description": ""})
		e.hasInLanguage(t, id, "pl", object{"description": "<p>Głośno</p>"})

		e.Run(t, []apitest.Case{
			{Name: "a title cannot be cleared", Request: patch("admin", eventPath(id)+"?ml_language=pl", object{"title": ""}), Status: 400, Check: namesExactly("title")},
			{
				Name: "clearing a text removes its translation", Request: patch("admin", eventPath(id)+"?ml_language=pl", object{"description": ""}), Status: 200,
				Check: func(t *testing.T, r apitest.Response) {
					hasValues(t, r, object{"description": "", "title": "Koncert", "translations": []string{"en", "pl", "es"}})
				},
			},
			{Name: "null clears too", Request: patch("admin", eventPath(id)+"?ml_language=es", object{"excerpt": "Breve"}), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"excerpt": "<p>Breve</p>"})
				hasValues(t, e.mustSucceed(t, patch("admin", eventPath(id)+"?ml_language=es", object{"excerpt": nil})), object{"excerpt": "<p>Shorter</p>"})
			}},
			{
				Name: "a slug of a translation is unique", Request: patch("admin", eventPath(id)+"?ml_language=es", object{"slug": "zimowy-jazz"}), Status: 200,
				Check: func(t *testing.T, r apitest.Response) {
					hasValues(t, r, object{"slug": "zimowy-jazz-2", "url": apitest.BaseURL + "/es/event/zimowy-jazz-2/"})
					e.hasInLanguage(t, id, "en", object{"slug": "concert"})
				},
			},
			{Name: "the trash takes all slugs", Request: remove("admin", eventPath(id)), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				for _, slug := range []string{"concert", "koncert-zywy", "zimowy-jazz-2"} {
					if got := e.Do(t, get("/events/by-slug/"+slug)); got.Status != 400 {
						t.Errorf("%s: %d", slug, got.Status)
					}
				}
			}},
			{Name: "and gives them back", Request: patch("admin", eventPath(id), object{"status": "publish"}), Status: 200, Check: func(t *testing.T, _ apitest.Response) {
				for _, slug := range []string{"concert", "koncert-zywy", "zimowy-jazz-2"} {
					hasValues(t, e.mustSucceed(t, get("/events/by-slug/"+slug)), object{"id": id})
				}
			}},
		})

		only := e.mustCreate(t, "admin", object{"title": "Only here"})
		e.mustSucceed(t, patch("admin", eventPath(only)+"?ml_language=pl", object{"description": "Tylko opis"}))
		e.hasInLanguage(t, only, "pl", object{"title": "Only here", "language": "en", "description": "<p>Tylko opis</p>", "translations": []string{"en", "pl"}})
		e.mustSucceed(t, patch("admin", eventPath(only)+"?ml_language=pl", object{"description": nil}))
		e.hasInLanguage(t, only, "pl", object{"description": "", "translations": []string{"en"}})
	})
}

func TestUpdatesWithoutALanguageChangeWhatIsServed(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		id := e.mustPost(t, "admin", "/events?ml_language=es", concert(object{"title": "Feria", "description": "Larga"}))
		e.mustSucceed(t, patch("admin", eventPath(id), object{"title": "Gran feria"})) // there is no text in the site's Polish
		e.hasInLanguage(t, id, "es", object{"title": "Gran feria", "translations": []string{"es"}})
		e.mustSucceed(t, patch("admin", eventPath(id)+"?ml_language=pl", object{"title": "Targi"}))
		e.mustSucceed(t, patch("admin", eventPath(id), object{"title": "Wielkie targi", "description": "Muy larga"}))
		e.hasInLanguage(t, id, "pl", object{"title": "Wielkie targi", "description": "<p>Muy larga</p>"})
		e.hasInLanguage(t, id, "es", object{"title": "Gran feria", "description": "<p>Muy larga</p>"})
		e.hasInLanguage(t, id, "en", object{"title": "Wielkie targi", "language": "pl", "translations": []string{"pl", "es"}})
		plain := e.mustPost(t, "admin", "/events", concert(nil))
		e.hasInLanguage(t, plain, "en", object{"language": "pl", "translations": []string{"pl"}})
	}, func(c *handlers.Config) { c.Site.Language = calendar.Polish })
}
