package handlers_test

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// translate writes texts of a record in a language.
func (e *eventTest) translate(t *testing.T, path, language string, body object) apitest.Response {
	t.Helper()
	return e.mustSucceed(t, patch("admin", path+"?ml_language="+language, body))
}

// found returns the ids that a list has for a query.
func (e *eventTest) found(t *testing.T, collection, query string) []int64 {
	t.Helper()
	return listedIDs(t, e.mustSucceed(t, get("/"+collection+"?"+query)), collection)
}

// TestSearchFollowsTheTranslations checks that a search in a language finds the texts that readers of that
// language see, also after these change.
func TestSearchFollowsTheTranslations(t *testing.T) {
	for _, kind := range []struct {
		collection, title string
		body              object
		described         bool // descriptions are searched
	}{
		{"events", "title", concert(nil), true},
		{"venues", "venue", object{}, true},
		{"organizers", "organizer", object{}, true},
		{"categories", "name", object{}, false},
		{"tags", "name", object{}, false},
	} {
		t.Run(kind.collection, func(t *testing.T) {
			eachEventTest(t, func(t *testing.T, e *eventTest) {
				// Terms are found by their slugs too.
				body := mergeBodies(kind.body, object{kind.title: "Lighthouse", "description": "Keepers", "slug": "x"})
				id := e.mustPost(t, "admin", "/"+kind.collection, body)
				path := fmt.Sprintf("/%s/%d", kind.collection, id)
				finds := func(when, word string, languages ...string) {
					t.Helper()
					var got []string
					for _, l := range []string{"en", "pl", "es"} {
						query := "hide_empty=0&search=" + url.QueryEscape(word) + "&ml_language=" + l
						for _, one := range e.found(t, kind.collection, query) {
							if one == id {
								got = append(got, l)
							}
						}
					}
					if diff := cmp.Diff(languages, got); diff != "" {
						t.Errorf("%s, %s is found in (-want +got):\n%s", when, word, diff)
					}
				}
				finds("untranslated", "lighthouse", "en", "pl", "es")

				e.translate(t, path, "pl", object{kind.title: "Latarnia morska"})
				finds("translated", "lighthouse", "en", "es")
				finds("translated", "latarnia", "pl")

				e.translate(t, path, "pl", object{kind.title: "Żółta wieża"})
				finds("renamed", "latarnia")
				finds("renamed", "zolta wieza", "pl")
				finds("renamed", "lighthouse", "en", "es")

				e.translate(t, path, "en", object{kind.title: "Beacon"})
				finds("renamed in the original", "lighthouse")
				finds("renamed in the original", "beacon", "en", "es")
				finds("renamed in the original", "wieza", "pl")
				if !kind.described {
					return
				}
				finds("with one description", "keepers", "en", "pl", "es")
				e.translate(t, path, "pl", object{"description": "Latarnicy"})
				finds("with two descriptions", "keepers", "en", "es")
				finds("with two descriptions", "latarnicy", "pl")
				e.translate(t, path, "pl", object{"description": nil})
				finds("with one description again", "keepers", "en", "pl", "es")
				finds("with one description again", "latarnicy")
			})
		})
	}
}

// mergeBodies returns a body with the members of all bodies. A later body has precedence.
func mergeBodies(bodies ...object) object {
	out := object{}
	for _, b := range bodies {
		maps.Copy(out, b)
	}
	return out
}

func TestTermFiltersKnowTheSlugsOfAllLanguages(t *testing.T) {
	eachTermTest(t, func(t *testing.T, e *termTest, collection string) {
		id := e.mustPost(t, "admin", "/"+collection, object{"name": "Theatre"})
		event := e.mustCreate(t, "admin", object{collection: []int64{id}})
		path := termPath(collection, id)
		e.translate(t, path, "pl", object{"name": "Teatr", "slug": "teatr-pl"})
		e.translate(t, path, "es", object{"name": "Teatro"}) // without a slug
		finds := func(slug string) {
			t.Helper()
			for _, l := range []string{"en", "pl", "es"} {
				if got := e.found(t, "events", collection+"="+slug+"&ml_language="+l); !cmp.Equal(got, []int64{event}) {
					t.Errorf("%s=%s in %s: %v", collection, slug, l, got)
				}
				r := e.mustSucceed(t, get("/"+collection+"?slug="+slug+"&ml_language="+l))
				hasValues(t, r, object{"total": 1, collection + ".0.id": id})
			}
		}
		finds("theatre")
		finds("teatr-pl")
		finds("TEATR-pl")
		hasValues(t, e.mustSucceed(t, get(path+"?ml_language=es")), object{"name": "Teatro", "slug": "theatre"})

		// The former slug is free.
		e.translate(t, path, "pl", object{"slug": "scena"})
		finds("scena")
		if r := e.Do(t, get("/events?"+collection+"=teatr-pl")); r.Status != 400 {
			t.Errorf("a slug that was: %d %s", r.Status, r.Body)
		}
		hasValues(t, e.mustSucceed(t, get("/"+collection+"?slug=teatr-pl&hide_empty=0")), object{"total": 0})

		// The slug of another language cannot be taken, neither in that language nor in one more.
		other := e.mustPost(t, "admin", "/"+collection, object{"name": "Stage"})
		for _, l := range []string{"pl", "es"} {
			r := e.Do(t, patch("admin", termPath(collection, other)+"?ml_language="+l, object{"slug": "scena"}))
			if r.Status != 400 || r.Get(t, "code") != "duplicate_term_slug" {
				t.Errorf("a slug that is taken, in %s: %d %s", l, r.Status, r.Body)
			}
		}
	})
}

func TestCategoriesAreFoundBelowTheirTranslatedParents(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		top := e.mustPost(t, "admin", "/categories", object{"name": "Arts"})
		below := e.mustPost(t, "admin", "/categories", object{"name": "Ballet", "parent": top})
		e.translate(t, termPath("categories", top), "pl", object{"name": "Sztuka", "slug": "sztuka"})
		e.translate(t, termPath("categories", below), "es", object{"slug": "danza"})
		event := e.mustCreate(t, "admin", object{"categories": "sztuka,danza"})
		e.isStored(t, event, object{"categories.0.id": top, "categories.1.id": below})
		e.mustSucceed(t, patch("admin", eventPath(event), object{"categories": []int64{below}}))
		for _, slug := range []string{"arts", "sztuka", "ballet", "danza"} {
			if got := e.found(t, "events", "categories="+slug+"&ml_language=es"); !cmp.Equal(got, []int64{event}) {
				t.Errorf("%s: %v", slug, got)
			}
		}
		// The address has the slugs of the language that is read, from the top.
		for l, want := range map[string]string{
			"en": "/events/category/arts/ballet/", "pl": "/pl/events/category/sztuka/ballet/", "es": "/es/events/category/arts/danza/",
		} {
			hasValues(t, e.mustSucceed(t, get(termPath("categories", below)+"?ml_language="+l)), object{
				"url": apitest.BaseURL + want,
			})
		}
	})
}

func TestSlugsLeadToTheRecordFromAnyLanguage(t *testing.T) {
	for _, kind := range []struct {
		collection, title string
		body              object
	}{
		{"events", "title", concert(nil)}, {"venues", "venue", object{}}, {"organizers", "organizer", object{}},
	} {
		t.Run(kind.collection, func(t *testing.T) {
			eachEventTest(t, func(t *testing.T, e *eventTest) {
				id := e.mustPost(t, "admin", "/"+kind.collection+"?ml_language=es", mergeBodies(kind.body, object{kind.title: "Faro"}))
				path := fmt.Sprintf("/%s/%d", kind.collection, id)
				e.translate(t, path, "pl", object{kind.title: "Latarnia", "slug": "latarnia"})
				titles := map[string]string{"en": "Faro", "pl": "Latarnia", "es": "Faro"}
				leads := func(slug string) {
					t.Helper()
					for l, title := range titles {
						want := object{"id": id, kind.title: title}
						hasValues(t, e.mustSucceed(t, get("/"+kind.collection+"/by-slug/"+slug+"?ml_language="+l)), want)
						hasValues(t, e.mustSucceed(t, apitest.Request{
							Absolute: true, Path: "/" + l + "/cal/events/v1/" + kind.collection + "/by-slug/" + slug,
						}), want)
						hasValues(t, e.mustSucceed(t, apitest.Request{
							Path: "/" + kind.collection + "/by-slug/" + slug, Header: map[string]string{"Accept-Language": l},
						}), want)
					}
				}
				leads("faro")
				leads("latarnia")
				leads("LATARNIA")

				// Whatever the language of the slug, the wish says which text is written.
				e.mustSucceed(t, patch("admin", "/"+kind.collection+"/by-slug/latarnia?ml_language=en", object{
					kind.title: "Lighthouse", "slug": "lighthouse",
				}))
				titles["en"] = "Lighthouse"
				leads("lighthouse")
				leads("faro")
				e.mustSucceed(t, patch("admin", "/"+kind.collection+"/by-slug/faro", object{kind.title: "Beacon"})) // the site's English
				titles["en"] = "Beacon"
				leads("latarnia")

				// Translated slugs are given up when they change.
				e.translate(t, path, "pl", object{"slug": "wieza"})
				leads("wieza")
				if r := e.Do(t, get("/"+kind.collection+"/by-slug/latarnia")); r.Status != 400 && r.Status != 404 {
					t.Errorf("a slug that was: %d %s", r.Status, r.Body)
				}
				other := e.mustPost(t, "admin", "/"+kind.collection, mergeBodies(kind.body, object{kind.title: "Latarnia druga", "slug": "latarnia"}))
				hasValues(t, e.mustSucceed(t, get("/"+kind.collection+"/by-slug/latarnia")), object{"id": other, "slug": "latarnia"})
				// Those that are in use are numbered, in every language.
				hasValues(t, e.translate(t, fmt.Sprintf("/%s/%d", kind.collection, other), "es", object{"slug": "wieza"}), object{"slug": "wieza-2"})
				leads("wieza")
			})
		})
	}
}

func TestWhatIsInAnEventIsReadInTheLanguageOfTheRequest(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		hall := e.mustPost(t, "admin", "/venues", object{"venue": "Hall", "description": "Big"})
		yard := e.mustPost(t, "admin", "/venues?ml_language=es", object{"venue": "Patio"})
		city := e.mustPost(t, "admin", "/organizers", object{"organizer": "City", "description": "The city"})
		apples := e.mustPost(t, "admin", "/categories", object{"name": "Apples", "description": "Fruit"})
		zebras := e.mustPost(t, "admin", "/categories", object{"name": "Zebras"})
		tag := e.mustPost(t, "admin", "/tags?ml_language=pl", object{"name": "dzieci"})
		e.translate(t, fmt.Sprint("/venues/", hall), "pl", object{"venue": "Sala", "slug": "sala"})
		e.translate(t, fmt.Sprint("/organizers/", city), "pl", object{"organizer": "Miasto"})
		e.translate(t, fmt.Sprint("/organizers/", city), "es", object{"description": "La ciudad"})
		e.translate(t, termPath("categories", apples), "pl", object{"name": "Żurawiny", "slug": "zurawiny", "description": "Owoce"})
		e.translate(t, termPath("tags", tag), "en", object{"name": "kids"})
		id := e.mustCreate(t, "admin", object{
			"venue": []int64{hall, yard}, "organizer": city, "categories": []int64{apples, zebras}, "tags": []int64{tag},
		})
		wants := map[string]object{
			"en": {
				"venue.0.venue": "Hall", "venue.0.slug": "hall", "venue.0.language": "en", "venue.1.venue": "Patio",
				"organizer.0.organizer": "City", "organizer.0.description": "<p>The city</p>",
				"categories.0.name": "Apples", "categories.0.description": "Fruit", "categories.1.name": "Zebras", "tags.0.name": "kids",
			},
			"pl": {
				"venue.0.venue": "Sala", "venue.0.description": "<p>Big</p>", "venue.0.slug": "sala", "venue.0.language": "pl",
				"venue.1.venue": "Patio", "venue.1.language": "es",
				"organizer.0.organizer": "Miasto", "organizer.0.slug": "city", "organizer.0.description": "<p>The city</p>",
				// In the order of the names that are read.
				"categories.0.name": "Zebras", "categories.1.name": "Żurawiny", "categories.1.slug": "zurawiny",
				"categories.1.description": "Owoce", "tags.0.name": "dzieci",
			},
			"es": {
				"venue.0.venue": "Hall", "venue.1.venue": "Patio", "venue.1.translations": []string{"es"},
				"organizer.0.organizer": "City", "organizer.0.description": "<p>La ciudad</p>", "organizer.0.language": "en",
				"organizer.0.translations": []string{"en", "pl", "es"}, "categories.0.name": "Apples", "tags.0.name": "kids",
			},
		}
		for l, want := range wants {
			inList := object{}
			for path, v := range want {
				inList["events.0."+path] = v
			}
			for _, path := range []string{eventPath(id), fmt.Sprint("/events?include=", id)} {
				expected := want
				if path != eventPath(id) {
					expected = inList
				}
				mark := "?"
				if strings.Contains(path, mark) {
					mark = "&"
				}
				for _, r := range []apitest.Request{
					{Path: path + mark + "ml_language=" + l},
					{Absolute: true, Path: "/" + l + "/cal/events/v1" + path},
					{Path: path, Header: map[string]string{"Accept-Language": l}},
				} {
					hasValues(t, e.mustSucceed(t, r), expected)
				}
			}
		}
		hasValues(t, e.mustSucceed(t, get(eventPath(id)+"?ml_language=pl")), object{
			"json_ld.location.name": "Sala", "json_ld.organizer.name": "Miasto",
		})
	})
}

// TestClearedTextsFallBackFieldByField clears texts of a Spanish record on a Polish site. Each field falls back to
// the site's language, then to the original.
func TestClearedTextsFallBackFieldByField(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		id := e.mustPost(t, "admin", "/events?ml_language=es", concert(object{"title": "Feria", "description": "Larga", "excerpt": "Breve"}))
		path := eventPath(id)
		reads := func(step string, wants map[string]object) {
			t.Helper()
			for l, want := range wants {
				t.Run(step+" in "+l, func(t *testing.T) {
					hasValues(t, e.mustSucceed(t, get(path+"?ml_language="+l)), want)
				})
			}
		}
		spanish := object{"title": "Feria", "description": "<p>Larga</p>", "excerpt": "<p>Breve</p>", "language": "es"}
		reads("the original", map[string]object{"en": spanish, "pl": spanish, "es": spanish})

		e.translate(t, path, "pl", object{"title": "Targi", "description": "Długie", "slug": "targi"})
		e.translate(t, path, "en", object{"excerpt": "Short"})
		reads("all", map[string]object{
			"en": {"title": "Targi", "description": "<p>Długie</p>", "excerpt": "<p>Short</p>", "slug": "targi", "language": "pl", "translations": []string{"en", "pl", "es"}},
			"pl": {"title": "Targi", "description": "<p>Długie</p>", "excerpt": "<p>Breve</p>", "slug": "targi", "language": "pl"},
			"es": mergeBodies(spanish, object{"slug": "feria"}),
		})

		e.translate(t, path, "pl", object{"description": ""})
		reads("the site's description cleared", map[string]object{
			"en": {"title": "Targi", "description": "<p>Larga</p>"}, "pl": {"title": "Targi", "description": "<p>Larga</p>"}, "es": spanish,
		})

		e.translate(t, path, "en", object{"excerpt": nil})
		reads("the last English text cleared", map[string]object{
			"en": {"title": "Targi", "excerpt": "<p>Breve</p>", "translations": []string{"pl", "es"}}, "es": spanish,
		})

		e.translate(t, path, "es", object{"excerpt": nil, "description": ""})
		reads("the original's texts cleared", map[string]object{
			"en": {"excerpt": "", "description": ""}, "pl": {"title": "Targi", "excerpt": ""}, "es": {"title": "Feria", "excerpt": "", "description": ""},
		})

		// No description is left, so the original gets the one sent without a language.
		e.mustSucceed(t, patch("admin", path, object{"description": "Nueva"}))
		reads("a new description", map[string]object{
			"en": {"description": "<p>Nueva</p>"}, "pl": {"description": "<p>Nueva</p>"}, "es": {"description": "<p>Nueva</p>"},
		})
		// The title and the slug that are read without a wish are the site's.
		e.mustSucceed(t, patch("admin", path, object{"title": "Wielkie targi", "slug": "wielkie-targi"}))
		reads("a new title", map[string]object{
			"en": {"title": "Wielkie targi", "slug": "wielkie-targi"}, "pl": {"title": "Wielkie targi"}, "es": {"title": "Feria", "slug": "feria"},
		})
	}, func(c *handlers.Config) { c.Site.Language = calendar.Polish })
}

// TestClearedTranslationsGiveUpTheirSlugs checks that a translation loses its slug when its last text is cleared.
func TestClearedTranslationsGiveUpTheirSlugs(t *testing.T) {
	for _, kind := range []struct {
		collection, title string
		body              object
	}{
		{"events", "title", concert(nil)},
		{"venues", "venue", object{}},
		{"organizers", "organizer", object{}},
		{"categories", "name", object{}},
		{"tags", "name", object{}},
	} {
		t.Run(kind.collection, func(t *testing.T) {
			eachEventTest(t, func(t *testing.T, e *eventTest) {
				create := func(title, slug string) int64 {
					t.Helper()
					return e.mustPost(t, "admin", "/"+kind.collection, mergeBodies(kind.body, object{kind.title: title, "slug": slug}))
				}
				id := create("Only here", "only-here")
				path := fmt.Sprintf("/%s/%d", kind.collection, id)
				reads := func(want object) {
					t.Helper()
					hasValues(t, e.mustSucceed(t, get(path+"?ml_language=pl")), want)
				}
				e.translate(t, path, "pl", object{"description": "Tylko opis", "slug": "tylko-tu"})
				reads(object{kind.title: "Only here", "language": "en", "slug": "tylko-tu", "translations": []string{"en", "pl"}})
				if other := e.mustSucceed(t, post("admin", "/"+kind.collection, mergeBodies(kind.body, object{kind.title: "Other", "slug": "tylko-tu"}))); other.Get(t, "slug") != "tylko-tu-2" {
					t.Errorf("the slug of a translation: %s", other.Body)
				}
				e.translate(t, path, "pl", object{"description": nil})
				reads(object{"slug": "only-here", "translations": []string{"en"}})
				if other := e.mustSucceed(t, post("admin", "/"+kind.collection, mergeBodies(kind.body, object{kind.title: "Another", "slug": "tylko-tu"}))); other.Get(t, "slug") != "tylko-tu" {
					t.Errorf("the slug that was given up: %s", other.Body)
				}
			})
		})
	}
}
