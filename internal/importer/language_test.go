package importer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/importer"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

type object = map[string]any

// roots are URLs of the list of events in three languages: chosen by a header, by the path and by a parameter.
var roots = map[calendar.Language]string{
	calendar.English: "/cal/events/v1/events?start_date=2026-01-01&per_page=3",
	calendar.Polish:  "/pl/cal/events/v1/events?start_date=2026-01-01&per_page=3",
	calendar.Spanish: "/cal/events/v1/events?start_date=2026-01-01&per_page=3&ml_language=es",
}

// multilingual is a test service whose calendar has texts in three languages. Tests import from it.
type multilingual struct {
	*apitest.API
	url string
	ids map[string]int64 // by title
	// silent is true if the service does not say which languages a record is in.
	silent bool
}

func newMultilingual(t *testing.T, silent bool) *multilingual {
	t.Helper()
	m := &multilingual{
		API: apitest.New(t, storetest.Migrated(t, storetest.SQLite(t))), ids: map[string]int64{}, silent: silent,
	}
	m.SignIn(t, "admin", calendar.Administrator)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply := m.Do(t, apitest.Request{
			Absolute: true, Path: r.URL.RequestURI(),
			Header: map[string]string{"Accept-Language": r.Header.Get("Accept-Language")},
		})
		body := reply.Body
		if m.silent {
			v := reply.JSON(t)
			removeMembers(v, "language", "translations")
			var err error
			if body, err = json.Marshal(v); err != nil {
				t.Error(err)
			}
		}
		w.WriteHeader(reply.Status)
		if _, err := w.Write(bytes.ReplaceAll(body, []byte(apitest.BaseURL), []byte(m.url))); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	m.url = s.URL

	m.make(t, "venues", "en", object{"venue": "Hall", "description": "A big hall", "city": "Warsaw", "geo_lat": 52.1, "geo_lng": 21},
		"pl", object{"venue": "Sala", "description": "Duża sala", "slug": "sala"})
	m.make(t, "venues", "pl", object{"venue": "Zamek", "address": "Zamkowa 1"})
	m.make(t, "organizers", "en", object{"organizer": "City", "description": "The city", "email": "city@example.org"},
		"pl", object{"organizer": "Miasto", "slug": "miasto"}, "es", object{"organizer": "Ciudad", "description": "La ciudad"})
	m.make(t, "categories", "en", object{"name": "Music", "description": "Loud"},
		"pl", object{"name": "Muzyka", "slug": "muzyka"}, "es", object{"name": "Música", "description": "Fuerte"})
	m.make(t, "categories", "en", object{"name": "Jazz", "parent": m.ids["Music"]})
	m.make(t, "tags", "pl", object{"name": "dzieci"}, "en", object{"name": "Kids", "slug": "kids"})
	m.make(t, "tags", "en", object{"name": "indoors"}, "es", object{"name": "adentro"})

	all := object{
		"venue": []int64{m.ids["Hall"], m.ids["Zamek"]}, "organizer": m.ids["City"],
		"categories": []int64{m.ids["Jazz"]}, "tags": []int64{m.ids["dzieci"], m.ids["indoors"]},
	}
	m.make(t, "events", "en", listOf(all, object{"title": "Concert", "description": "Loud", "excerpt": "Short", "cost": "10"}),
		"pl", object{"title": "Koncert", "description": "Głośno", "excerpt": "Krótko", "slug": "koncert"},
		"es", object{"title": "Concierto", "description": "Ruidoso", "slug": "un-concierto"})
	m.make(t, "events", "en", object{
		"title": "Reading", "event_status": "canceled", "event_status_reason": "Illness", "attendance": "mixed", "virtual_url": "https://meet.example/r",
	}, "pl", object{"title": "Czytanie", "event_status_reason": "Choroba"}, "es", object{"event_status_reason": "Enfermedad"})
	m.make(t, "events", "en", object{"title": "English only", "description": "Nobody translated this", "cost": "0"})
	m.make(t, "events", "pl", object{"title": "Tylko po polsku", "venue": m.ids["Zamek"], "cost": "Donation"})
	m.make(t, "events", "en", listOf(all, object{"title": "Walk", "description": "In the woods", "website": "https://walk.example.org/"}),
		"pl", object{"title": "Spacer"})
	m.make(t, "events", "es", object{"title": "Feria", "description": "Grande", "categories": m.ids["Music"]},
		"en", object{"title": "Fair", "description": "Big"}, "pl", object{"title": "Targi", "description": "Targi wielkie"})
	m.make(t, "events", "en", object{"title": "Talk", "description": "In English"}, "pl", object{"description": "Po angielsku"})
	m.make(t, "events", "en", object{"title": "Opera", "excerpt": "An opera"}, "pl", object{"title": "Opera", "excerpt": "O operze"})
	return m
}

func listOf(bodies ...object) object {
	out := object{}
	for _, b := range bodies {
		maps.Copy(out, b)
	}
	return out
}

// make creates a record of a collection in a language and stores its id in m.ids. translations has pairs of a
// language and a body to write afterwards.
func (m *multilingual) make(t *testing.T, collection, language string, body object, translations ...any) {
	t.Helper()
	if collection == "events" {
		start := fmt.Sprintf("2026-12-%02d 18:00:00", len(m.ids)+1)
		body = listOf(body, object{"start_date": start, "end_date": start, "timezone": "Europe/Warsaw"})
	}
	r := m.Do(t, apitest.Request{Method: "POST", As: "admin", Path: "/" + collection + "?ml_language=" + language, JSON: body})
	if r.Status != http.StatusCreated {
		t.Fatalf("%v: %d %s", body, r.Status, r.Body)
	}
	id := int64(r.Get(t, "id").(float64))
	for _, name := range []string{"title", "venue", "organizer", "name"} {
		if text, ok := body[name].(string); ok {
			m.ids[text] = id
		}
	}
	for i := 0; i < len(translations); i += 2 {
		m.write(t, fmt.Sprintf("/%s/%d?ml_language=%s", collection, id, translations[i]), translations[i+1])
	}
}

func (m *multilingual) write(t *testing.T, path string, body any) {
	t.Helper()
	if r := m.Do(t, apitest.Request{Method: "PATCH", As: "admin", Path: path, JSON: body}); r.Status != http.StatusOK {
		t.Fatalf("%s %v: %d %s", path, body, r.Status, r.Body)
	}
}

// importInto imports the service's calendar in one language into another database. dry means a dry run.
func (m *multilingual) importInto(t *testing.T, st *store.Store, l calendar.Language, dry bool) *importer.Report {
	t.Helper()
	reader := &importer.Reader{Site: m.Site, Language: l, Rate: 1000}
	cal, err := reader.Read(t.Context(), m.url+roots[l])
	if err != nil {
		t.Fatal(err)
	}
	report, err := (&importer.Importer{DB: st.Ent, Site: m.Site, Language: l, DryRun: dry}).Run(t.Context(), cal)
	if err != nil {
		t.Fatal(err)
	}
	if !report.Complete() || len(report.Notices) > 0 {
		t.Errorf("%s: problems %v, notices %v", l, report.Problems, report.Notices)
	}
	return report
}

// countsOf formats the numbers of records in a report.
func countsOf(r *importer.Report) string {
	var out []string
	for _, kind := range importer.Kinds {
		for _, a := range importer.Actions {
			if n := r.Count(kind, a); n > 0 {
				out = append(out, fmt.Sprintf("%s %s %d", kind, a, n))
			}
		}
	}
	return strings.Join(out, ", ")
}

// identityMembers are the JSON members that contain ids, so that they differ between two databases.
var identityMembers = []string{"id", "global_id", "global_id_lineage", "author", "rest_url", "urls", "term_taxonomy_id", "parent"}

// replies returns all records that a service sends in a language, by collection and slug, for comparison. It leaves
// out ids, URLs, and the languages of terms, which importers cannot see in events.
func (m *multilingual) replies(t *testing.T, api *apitest.API, l calendar.Language) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, collection := range []string{"events", "venues", "organizers", "categories", "tags"} {
		query := fmt.Sprintf("/%s?per_page=50&ml_language=%s", collection, l)
		if collection == "events" {
			query += "&start_date=2026-01-01"
		}
		for _, item := range api.Do(t, apitest.Request{Path: query}).Get(t, collection).([]any) {
			path := fmt.Sprintf("/%s/%.0f?ml_language=%s", collection, item.(object)["id"], l)
			one := api.Do(t, apitest.Request{Path: path}).JSON(t).(object)
			for _, v := range []any{one, item} {
				removeMembers(v, identityMembers...)
				if m.silent || collection == "categories" || collection == "tags" {
					removeMembers(v, "language", "translations")
				}
			}
			out[fmt.Sprint(collection, "/", one["slug"])] = one
			out[fmt.Sprint(collection, "/", one["slug"], " in the list")] = item
		}
	}
	return out
}

// removeMembers removes members with the given names from a decoded JSON value, at any depth.
func removeMembers(v any, names ...string) {
	switch v := v.(type) {
	case object:
		for _, name := range names {
			delete(v, name)
		}
		for _, member := range v {
			removeMembers(member, names...)
		}
	case []any:
		for _, item := range v {
			removeMembers(item, names...)
		}
	}
}

// versions returns the sum of row versions by kind, and the length of the change log. Every write increases one of
// them.
func versions(t *testing.T, st *store.Store) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for _, table := range []string{"events", "venues", "organizers", "terms"} {
		var sum int64
		if err := st.DB.QueryRowContext(t.Context(), "SELECT SUM(version) FROM "+table).Scan(&sum); err != nil {
			t.Fatal(err)
		}
		out[table] = sum
	}
	changes, err := st.Ent.Change.Query().Count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out["changes"] = int64(changes)
	return out
}

func TestLanguagesOfASourceBecomeOneCalendar(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		order  string
		silent bool
		quick  bool // if storetest.IsBrief, too
	}{
		// Each language comes once in each place.
		{"en pl es", false, true},
		{"es en pl", false, false},
		{"pl es en", false, false},
		// A service that is silent is hardest to understand in another language than the original.
		{"pl es en", true, false},
		{"pl en es", true, false},
	} {
		t.Run(fmt.Sprint(tt.order, " silent ", tt.silent), func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				if storetest.IsBrief(st) && !tt.quick {
					t.Skip("another order is enough")
				}
				newMultilingual(t, tt.silent).checkReimport(t, st, strings.Fields(tt.order))
			})
		})
	}
}

// checkReimport imports the calendar once in each of the languages of order, and checks that replies equal those of
// the source. A second import must change nothing.
func (m *multilingual) checkReimport(t *testing.T, st *store.Store, order []string) {
	api := apitest.New(t, st)
	for _, l := range order {
		m.importInto(t, st, calendar.Language(l), false)
	}
	for _, l := range calendar.Languages {
		if diff := cmp.Diff(m.replies(t, m.API, l), m.replies(t, api, l)); diff != "" {
			t.Errorf("in %s (-source +imported):\n%s", l, diff)
		}
	}
	before := versions(t, st)
	for _, l := range order {
		got := countsOf(m.importInto(t, st, calendar.Language(l), false))
		if strings.Contains(got, "create") || strings.Contains(got, "update") || strings.Contains(got, "translate") {
			t.Errorf("%s again: %s", l, got)
		}
	}
	if diff := cmp.Diff(before, versions(t, st)); diff != "" {
		t.Errorf("versions (-before +after):\n%s", diff)
	}
	for _, l := range order {
		m.checkChanges(t, st, api, calendar.Language(l))
	}
}

// checkChanges edits texts in language l at the source and imports only that language. Texts in other languages must
// stay.
func (m *multilingual) checkChanges(t *testing.T, st *store.Store, api *apitest.API, l calendar.Language) {
	t.Helper()
	others := slices.DeleteFunc(slices.Clone(calendar.Languages), func(other calendar.Language) bool { return other == l })
	before := map[calendar.Language]any{}
	for _, other := range others {
		before[other] = m.replies(t, api, other)
	}
	for _, w := range []struct {
		path string
		id   int64
		body object
	}{
		{"events", m.ids["Concert"], object{"title": "New title " + string(l), "description": "New text", "slug": "new-slug-" + string(l)}},
		{"events", m.ids["Feria"], object{"title": "New fair " + string(l)}},
		{"organizers", m.ids["City"], object{"organizer": "New city " + string(l)}},
		{"categories", m.ids["Music"], object{"name": "New music " + string(l)}},
	} {
		m.write(t, fmt.Sprintf("/%s/%d?ml_language=%s", w.path, w.id, l), w.body)
	}
	if got, want := countsOf(m.importInto(t, st, l, true)), countsOf(m.importInto(t, st, l, false)); got != want {
		t.Errorf("a dry run says %s, the import %s", got, want)
	}
	if diff := cmp.Diff(m.replies(t, m.API, l), m.replies(t, api, l)); diff != "" {
		t.Errorf("changed in %s (-source +imported):\n%s", l, diff)
	}
	for _, other := range others {
		if diff := cmp.Diff(before[other], any(m.replies(t, api, other))); diff != "" {
			t.Errorf("changed in %s, read in %s (-before +after):\n%s", l, other, diff)
		}
	}
}
