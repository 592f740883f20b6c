package handlers_test

import (
	"fmt"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// header returns a check that a reply has a header with this value.
func header(name, want string) func(*testing.T, apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestLanguageOfARequest(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		id := api.AddEvent(t, "English", "2026-12-01 10:00:00", "2026-12-01 11:00:00", func(c *ent.EventCreate) {
			c.SetLanguages("en,pl,es").SetCost(calendar.Cost{Prices: []string{"0"}})
		})
		for lang, title := range map[calendar.Language]string{calendar.Polish: "Polski", calendar.Spanish: "Español"} {
			err := api.Store.Ent.EventTranslation.Create().SetEventID(id).SetLanguage(lang).SetTitle(title).Exec(t.Context())
			must.Succeed(t, err)
		}
		path := fmt.Sprint("/cal/events/v1/events/", id)
		ask := func(path, accept string) apitest.Request {
			r := apitest.Request{Absolute: true, Path: path}
			if accept != "" {
				r.Header = map[string]string{"Accept-Language": accept}
			}
			return r
		}
		says := func(title, lang, free string) func(*testing.T, apitest.Response) {
			return allChecks(
				showsMember(fmt.Sprintf("%q", title), "title"), showsMember(fmt.Sprintf("%q", lang), "language"),
				showsMember(fmt.Sprintf("%q", free), "cost"), showsMember(`["en","pl","es"]`, "translations"),
				header("Content-Language", lang),
			)
		}
		english, polish, spanish := says("English", "en", "Free"), says("Polski", "pl", "Bezpłatnie"), says("Español", "es", "Gratis")
		api.Run(t, []apitest.Case{
			{Name: "of the site", Request: ask(path, ""), Status: 200, Check: spanish},
			{Name: "of the header", Request: ask(path, "pl"), Status: 200, Check: polish},
			{Name: "best supported of the header", Request: ask(path, "de, en-GB;q=0.8, pl;q=0.7"), Status: 200, Check: english},
			{Name: "nothing supported in the header", Request: ask(path, "de, fr"), Status: 200, Check: spanish},
			{Name: "unusable header", Request: ask(path, "pl;q=x"), Status: 200, Check: spanish},
			{Name: "segment over header", Request: ask("/en"+path, "pl"), Status: 200, Check: english},
			{Name: "parameter over segment", Request: ask("/en"+path+"?ml_language=pl", "es"), Status: 200, Check: polish},
			{Name: "the last of a repeated parameter", Request: ask(path+"?ml_language=pl&ml_language=en", ""), Status: 200, Check: english},
			{Name: "unknown parameter", Request: ask("/pl"+path+"?ml_language=de", ""), Status: 400, Code: "rest_invalid_param", Check: allChecks(
				hasInvalid("ml_language rest_not_in_enum"), header("Content-Language", "pl"),
				showsMember(`["en","pl","es"]`, "data", "details", "ml_language", "data", "enum"),
			)},
			{Name: "list of parameters", Request: ask(path+"?ml_language[]=en", ""), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("ml_language rest_invalid_type")},
			{Name: "links keep the segment", Request: ask("/pl"+path, ""), Status: 200, Check: allChecks(
				showsMember(fmt.Sprintf(`"%s/pl%s"`, apitest.BaseURL, path), "rest_url"),
				showsMember(fmt.Sprintf(`"%s/pl/event/english/"`, apitest.BaseURL), "url"),
			)},
			{Name: "links do not repeat other choices", Request: ask(path+"?ml_language=pl", "en"), Status: 200, Check: showsMember(fmt.Sprintf(`"%s%s"`, apitest.BaseURL, path), "rest_url")},
			{Name: "the index has a language too", Request: ask("/pl/cal/events/v1", ""), Status: 200, Check: allChecks(header("Content-Language", "pl"), header("Vary", "Accept, Authorization"))},
			{Name: "messages", Request: ask("/en/cal/events/v1/events/999", ""), Status: 404, Check: allChecks(showsMember(`"There is no event with ID 999."`, "message"), header("Content-Language", "en"))},
			{Name: "messages by parameter", Request: ask(path+"9999?ml_language=pl", ""), Status: 404, Check: allChecks(showsMember(fmt.Sprintf(`"Nie ma wydarzenia o ID %d9999."`, id), "message"), header("Content-Language", "pl"))},
			{Name: "messages of the site", Request: ask("/cal/events/v1/nowhere", ""), Status: 404, Check: header("Content-Language", "es")},
			{Name: "messages by the last of a repeated parameter", Request: ask("/cal/events/v1/nowhere?ml_language=en&ml_language=pl", ""), Status: 404, Check: header("Content-Language", "pl")},
			{Name: "messages outside the API", Request: ask("/nowhere", "pl"), Status: 404, Check: header("Content-Language", "pl")},
		})
	}, func(c *handlers.Config) { c.Site.Language = calendar.Spanish })
}

func TestReadsFallBackFieldByField(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		// The site speaks Polish, the record was written in Spanish.
		api := apitest.New(t, st, func(c *handlers.Config) { c.Site.Language = calendar.Polish })
		spanish := calendar.LanguageSet("en,pl,es")
		event := api.AddEvent(t, "título", "2026-12-01 10:00:00", "2026-12-01 11:00:00", func(c *ent.EventCreate) {
			c.SetLanguage(calendar.Spanish).SetLanguages(spanish).SetDescription("descripción").SetSlug("original")
		})
		venue := api.AddVenue(t, "sala", func(c *ent.VenueCreate) {
			c.SetLanguage(calendar.Spanish).SetLanguages(spanish).SetDescription("descripción")
		})
		organizer := api.AddOrganizer(t, "grupo", func(c *ent.OrganizerCreate) { c.SetLanguage(calendar.Spanish).SetLanguages(spanish) })
		top := api.AddTerm(t, calendar.Category, "música", func(c *ent.TermCreate) { c.SetLanguage(calendar.Spanish).SetLanguages(spanish) })
		category := api.AddTerm(t, calendar.Category, "clásica", func(c *ent.TermCreate) {
			c.SetLanguage(calendar.Spanish).SetLanguages(spanish).SetParentID(top)
		})
		untranslated := api.AddEvent(t, "Tylko", "2026-12-02 10:00:00", "2026-12-02 11:00:00", func(c *ent.EventCreate) {
			c.SetLanguage(calendar.Polish).SetLanguages("pl")
		})
		api.LinkVenues(t, event, venue)
		api.LinkOrganizers(t, event, organizer)
		api.LinkTerms(t, event, category)
		db := st.Ent
		for _, err := range []error{
			db.EventTranslation.Create().SetEventID(event).SetLanguage(calendar.English).SetTitle("title").SetSlug("english").Exec(t.Context()),
			db.EventTranslation.Create().SetEventID(event).SetLanguage(calendar.Polish).SetExcerpt("wyciąg").SetDescription("opis").SetSlug("polski").Exec(t.Context()),
			db.VenueTranslation.Create().SetVenueID(venue).SetLanguage(calendar.English).SetName("hall").Exec(t.Context()),
			db.VenueTranslation.Create().SetVenueID(venue).SetLanguage(calendar.Polish).SetDescription("opis").SetSlug("sala-pl").Exec(t.Context()),
			db.OrganizerTranslation.Create().SetOrganizerID(organizer).SetLanguage(calendar.Polish).SetName("grupa").SetDescription("opis").Exec(t.Context()),
			db.TermTranslation.Create().SetTermID(top).SetLanguage(calendar.English).SetName("music").SetSlug("music").Exec(t.Context()),
			db.TermTranslation.Create().SetTermID(category).SetLanguage(calendar.English).SetName("classical").SetDescription("old").Exec(t.Context()),
		} {
			must.Succeed(t, err)
		}
		api.AddSlug(t, calendar.Event, "english", event, calendar.English)
		api.AddSlug(t, calendar.Event, "polski", event, calendar.Polish)
		api.AddSlug(t, calendar.Category, "music", top, calendar.English)
		says := func(root string, want ...string) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				for i, path := range [][]any{
					{"title"},
					{"description"},
					{"excerpt"},
					{"slug"},
					{"language"},
					{"url"},
					{"venue", "venue"},
					{"venue", "description"},
					{"venue", "slug"},
					{"venue", "language"},
					{"organizer", 0, "organizer"},
					{"organizer", 0, "description"},
					{"categories", 0, "name"},
					{"categories", 0, "slug"},
					{"categories", 0, "description"},
				} {
					if root != "" {
						path = append([]any{root, 0}, path...)
					}
					showsMember(fmt.Sprintf("%q", want[i]), path...)(t, r)
				}
			}
		}
		english := []string{
			"title", "<p>opis</p>", "<p>wyciąg</p>", "english", "en", apitest.BaseURL + "/en/event/english/",
			"hall", "<p>opis</p>", "sala-pl", "en", "grupa", "<p>opis</p>", "classical", "clasica", "old",
		}
		polish := []string{
			"título", "<p>opis</p>", "<p>wyciąg</p>", "polski", "es", apitest.BaseURL + "/event/polski/",
			"sala", "<p>opis</p>", "sala-pl", "es", "grupa", "<p>opis</p>", "clásica", "clasica", "",
		}
		// The excerpt is missing in the language of the request, which is the original: the site's comes next.
		spanishTexts := []string{
			"título", "<p>descripción</p>", "<p>wyciąg</p>", "original", "es", apitest.BaseURL + "/es/event/original/",
			"sala", "<p>descripción</p>", "sala", "es", "grupo", "<p>opis</p>", "clásica", "clasica", "",
		}
		one, list := fmt.Sprint("/events/", event), fmt.Sprint("/events?include=", event, "&ml_language=")
		api.Run(t, []apitest.Case{
			{Name: "request, site, original", Request: get(one + "?ml_language=en"), Status: 200, Check: says("", english...)},
			{Name: "site, original", Request: get(one), Status: 200, Check: says("", polish...)},
			{Name: "original, site", Request: get(one + "?ml_language=es"), Status: 200, Check: says("", spanishTexts...)},
			{Name: "request, site, original in lists", Request: get(list + "en"), Status: 200, Check: says("events", english...)},
			{Name: "site, original in lists", Request: get(list + "pl"), Status: 200, Check: says("events", polish...)},
			{Name: "original, site in lists", Request: get(list + "es"), Status: 200, Check: says("events", spanishTexts...)},
			{Name: "lists have every record, translated or not", Request: get("/events?ml_language=en"), Status: 200, Check: listsExactly("events", event, untranslated)},
			{Name: "slug of another language", Request: get("/events/by-slug/english"), Status: 200, Check: says("", polish...)},
			{Name: "slug of the original", Request: get("/events/by-slug/original?ml_language=en"), Status: 200, Check: says("", english...)},
			{Name: "venue", Request: get(fmt.Sprint("/venues/", venue, "?ml_language=en")), Status: 200, Check: allChecks(showsMember(`"hall"`, "venue"), showsMember(`"<p>opis</p>"`, "description"), showsMember(`"hall"`, "json_ld", "name"))},
			{Name: "organizers", Request: get("/organizers?ml_language=es"), Status: 200, Check: allChecks(showsMember(`"grupo"`, "organizers", 0, "organizer"), showsMember(`"<p>opis</p>"`, "organizers", 0, "description"))},
			{
				Name: "ancestors of a category", Request: get(fmt.Sprint("/categories/", category, "?ml_language=en")), Status: 200,
				Check: showsMember(fmt.Sprintf("%q", apitest.BaseURL+"/en/events/category/music/clasica/"), "url"),
			},
			{Name: "category by a slug of any language", Request: get("/categories?slug=music"), Status: 200, Check: listsExactly("categories", top)},
			{Name: "filter by a slug of any language", Request: get("/events?categories=MUSIC&ml_language=es"), Status: 200, Check: listsExactly("events", event)},
		})
	})
}
