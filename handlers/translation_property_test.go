package handlers_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// TestWritesInOneLanguageLeaveTheOthersAlone writes random texts in random languages. It compares the texts read
// in each language with a small model of the texts of each record.
func TestWritesInOneLanguageLeaveTheOthersAlone(t *testing.T) {
	eachRandomly(t, 2, func(t *testing.T, rt *rapid.T, st *store.Store) {
		newTongues(t, rt, st).run(map[string]int{"sqlite": 20, "mysql": 60}[st.Engine()])
	})
}

// textsKind describes the text fields of a kind of records.
type textsKind struct {
	collection, title string
	html              []string // fields answered in a paragraph
	plain             []string // fields answered as they are sent
}

var textsKinds = []textsKind{
	{"events", "title", []string{"description", "excerpt"}, nil},
	{"venues", "venue", []string{"description"}, nil},
	{"organizers", "organizer", []string{"description"}, nil},
	{"categories", "name", nil, []string{"description"}},
	{"tags", "name", nil, []string{"description"}},
}

// texts returns the names of all text fields except the slug, the title first.
func (k textsKind) texts() []string { return slices.Concat([]string{k.title}, k.html, k.plain) }

// term reports whether the kind is a category or a tag.
func (k textsKind) term() bool { return k.title == "name" }

// modelRecord is a record of the model. It has its own texts by language and field. A missing text or "" means none.
type modelRecord struct {
	textsKind
	id       int64
	original calendar.Language
	own      map[calendar.Language]map[string]string
	linked   []*modelRecord // of an event
}

// languageModel is the model of a calendar.
type languageModel struct {
	t       *testing.T
	rt      *rapid.T
	api     *apitest.API
	site    calendar.Language
	records []*modelRecord
	count   int
}

func newTongues(t *testing.T, rt *rapid.T, st *store.Store) *languageModel {
	m := &languageModel{t: t, rt: rt, site: rapid.SampledFrom(calendar.Languages).Draw(rt, "site")}
	m.api = apitest.New(t, st, func(c *handlers.Config) { c.Site.Language = m.site })
	m.api.SignIn(t, "admin", calendar.Administrator)
	return m
}

func (m *languageModel) run(most int) {
	for range rapid.IntRange(1, most).Draw(m.rt, "steps") {
		if len(m.records) == 0 || rapid.IntRange(0, 3).Draw(m.rt, "create") == 0 {
			m.create()
		} else {
			m.update()
		}
	}
	for _, r := range m.records {
		m.reads(r)
	}
	m.lists()
}

// choice is a random way to choose the languages of a request.
type choice struct {
	write, reply  calendar.Language // write is "" when none is chosen
	prefix, query string
	header        map[string]string
}

// choose draws the languages of a request. For writes the parameter has precedence over the path. The header
// matters for the reply alone.
func (m *languageModel) choose() choice {
	any := rapid.SampledFrom(append([]calendar.Language{""}, calendar.Languages...))
	header, path, parameter := any.Draw(m.rt, "header"), any.Draw(m.rt, "path"), any.Draw(m.rt, "parameter")
	c := choice{reply: m.site}
	if header != "" {
		c.header, c.reply = map[string]string{"Accept-Language": string(header)}, header
	}
	if path != "" {
		c.prefix, c.write, c.reply = "/"+string(path), path, path
	}
	if parameter != "" {
		c.query, c.write, c.reply = "?ml_language="+string(parameter), parameter, parameter
	}
	return c
}

// word returns a text that was not used before.
func (m *languageModel) word(kind string) string {
	m.count++
	return fmt.Sprintf("%s %d", kind, m.count)
}

func (m *languageModel) send(method string, c choice, path string, body object) apitest.Response {
	return m.api.Do(m.t, apitest.Request{
		Method: method, As: "admin", Absolute: true, Path: c.prefix + "/cal/events/v1/" + path + c.query,
		Header: c.header, JSON: body,
	})
}

func (m *languageModel) create() {
	k, c := rapid.SampledFrom(textsKinds).Draw(m.rt, "kind"), m.choose()
	r := &modelRecord{textsKind: k, original: c.write, own: map[calendar.Language]map[string]string{}}
	if r.original == "" {
		r.original = m.site
	}
	own := map[string]string{k.title: m.word("title")}
	r.own[r.original] = own
	own["slug"] = calendar.Slug(own[k.title])
	if rapid.Bool().Draw(m.rt, "with a slug") {
		own["slug"] = calendar.Slug(m.word("slug"))
	}
	for _, f := range k.texts()[1:] {
		if rapid.Bool().Draw(m.rt, "with "+f) {
			own[f] = m.word(f)
		}
	}
	body := object{}
	for f, v := range own {
		body[f] = v
	}
	if k.collection == "events" {
		body = concert(body)
		m.link(r, body)
	}
	reply := m.send("POST", c, k.collection, body)
	if reply.Status != 201 {
		m.rt.Fatalf("create %v: %d %s", body, reply.Status, reply.Body)
	}
	r.id = int64(reply.Get(m.t, "id").(float64))
	m.records = append(m.records, r)
	m.shows(r, c.reply, reply.JSON(m.t).(object))
	m.reads(r)
}

// link adds the latest record of each other kind to the body of an event.
func (m *languageModel) link(r *modelRecord, body object) {
	for member, collection := range map[string]string{
		"venue": "venues", "organizer": "organizers", "categories": "categories", "tags": "tags",
	} {
		for _, other := range slices.Backward(m.records) {
			if other.collection == collection {
				body[member] = []int64{other.id}
				r.linked = append(r.linked, other)
				break
			}
		}
	}
}

func (m *languageModel) update() {
	r, c := rapid.SampledFrom(m.records).Draw(m.rt, "record"), m.choose()
	body := object{}
	for _, f := range r.texts() {
		switch rapid.IntRange(0, 3).Draw(m.rt, f) {
		case 1:
			body[f] = m.word(f)
		case 2:
			body[f] = nil
			if (f == r.title || !r.term()) && rapid.Bool().Draw(m.rt, "empty") {
				body[f] = ""
			}
		}
	}
	switch rapid.IntRange(0, 5).Draw(m.rt, "slug") {
	case 1:
		body["slug"] = calendar.Slug(m.word("slug"))
	case 2: // as answered
		body["slug"] = r.served(m.site, m.site)["slug"]
	case 3: // one that it has in some language
		language := rapid.SampledFrom(calendar.Languages).Draw(m.rt, "whose slug")
		if slug := r.own[language]["slug"]; slug != "" {
			body["slug"] = slug
		}
	}
	want := 200
	if body[r.title] == "" {
		want = 400
	}
	method := rapid.SampledFrom([]string{"POST", "PUT", "PATCH"}).Draw(m.rt, "method")
	reply := m.send(method, c, fmt.Sprintf("%s/%d", r.collection, r.id), body)
	if reply.Status != want {
		m.rt.Fatalf("%s %s %d %v: %d, want %d: %s", method, r.collection, r.id, body, reply.Status, want, reply.Body)
	}
	if want == 200 {
		r.write(m.site, c.write, body)
		m.shows(r, c.reply, reply.JSON(m.t).(object))
	}
	m.reads(r)
}

// write applies a body to the model. With a language it writes the texts of that language. Without one, it writes each
// field where a read without a language finds it.
func (r *modelRecord) write(site, language calendar.Language, body object) {
	chosen := language != ""
	if !chosen {
		language = site
	}
	if r.own[language] == nil && chosen {
		r.own[language] = map[string]string{}
	}
	cleared := false
	for _, f := range r.texts() {
		sent, ok := body[f]
		if !ok || f == r.title && sent == nil {
			continue // null clears what can be cleared, and is not sent otherwise
		}
		text, _ := sent.(string)
		if language != r.original && (chosen || r.own[language][f] != "") {
			r.own[language][f] = text
			cleared = cleared || text == ""
		} else {
			r.own[r.original][f] = text
		}
	}
	if slug, _ := body["slug"].(string); slug != "" && !r.has(slug) {
		at := r.original
		if language != r.original && (chosen || r.own[language]["slug"] != "") {
			at = language
		}
		r.own[at]["slug"] = slug
	}
	// A translation ends with its last text. One that never had a text may still have a slug.
	if own := r.own[language]; language != r.original && own != nil {
		empty := !slices.ContainsFunc(r.texts(), func(f string) bool { return own[f] != "" })
		if empty && (cleared || own["slug"] == "") {
			delete(r.own, language)
		}
	}
}

// has reports whether the record has the slug in any language.
func (r *modelRecord) has(slug string) bool {
	for _, own := range r.own {
		if own["slug"] == slug {
			return true
		}
	}
	return false
}

// served returns the texts that a read shows, and the language of the title. Each field is in the requested
// language, else in that of the site, else in the original.
func (r *modelRecord) served(site, wish calendar.Language) map[string]string {
	out := map[string]string{}
	for _, l := range []calendar.Language{wish, site, r.original} {
		for f, text := range r.own[l] {
			if out[f] != "" || text == "" {
				continue
			}
			out[f] = text
			if f == r.title {
				out["language"] = string(l)
			}
		}
	}
	return out
}

// answer returns the members of the representation that the model predicts.
func (r *modelRecord) answer(site, wish calendar.Language) object {
	served := r.served(site, wish)
	out := object{r.title: served[r.title], "slug": served["slug"]}
	for _, f := range r.html {
		out[f] = ""
		if served[f] != "" {
			out[f] = "<p>" + served[f] + "</p>"
		}
	}
	for _, f := range r.plain {
		out[f] = served[f]
	}
	return out
}

// shows compares the representation of a record, and of embedded records, with the model.
func (m *languageModel) shows(r *modelRecord, l calendar.Language, body object) {
	want := r.answer(m.site, l)
	want["language"] = r.served(m.site, l)["language"]
	var languages []any
	for _, other := range calendar.Languages {
		if r.own[other] != nil {
			languages = append(languages, string(other))
		}
	}
	want["translations"] = languages
	m.compare(fmt.Sprintf("%s %d", r.collection, r.id), l, want, body)
	for _, other := range r.linked {
		var in any
		switch other.collection {
		case "venues":
			in = body["venue"]
		case "organizers":
			in = valueAt(body, "organizer.0")
		default:
			in = valueAt(body, other.collection+".0")
		}
		where := fmt.Sprintf("%s %d in event %d", other.collection, other.id, r.id)
		m.compare(where, l, other.answer(m.site, l), in.(object))
	}
}

func (m *languageModel) compare(what string, l calendar.Language, want, body object) {
	got := object{}
	for f := range want {
		got[f] = body[f]
		if want[f] == "" && got[f] == nil {
			got[f] = "" // venues and organizers leave out what is empty
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		m.rt.Fatalf("%s in %s, on a site in %s (-want +got):\n%s", what, l, m.site, diff)
	}
}

// reads compares reads of a record in all languages with the model, and checks where its slugs lead.
func (m *languageModel) reads(r *modelRecord) {
	for _, l := range calendar.Languages {
		path := fmt.Sprintf("/%s/%d?ml_language=%s", r.collection, r.id, l)
		reply := m.api.Do(m.t, get(path))
		if reply.Status != 200 {
			m.rt.Fatalf("%s: %d %s", path, reply.Status, reply.Body)
		}
		m.shows(r, l, reply.JSON(m.t).(object))
	}
	if r.term() {
		return
	}
	for _, l := range slices.Sorted(maps.Keys(r.own)) {
		if slug := r.own[l]["slug"]; slug != "" {
			reply := m.api.Do(m.t, get("/"+r.collection+"/by-slug/"+slug))
			if reply.Status != 200 || reply.Get(m.t, "id") != float64(r.id) {
				m.rt.Fatalf("the slug %s of %s %d leads to %d %s", slug, r.collection, r.id, reply.Status, reply.Body)
			}
		}
	}
}

// lists compares all lists in all languages with the model.
func (m *languageModel) lists() {
	for _, l := range calendar.Languages {
		for _, k := range textsKinds {
			reply := m.api.Do(m.t, get(fmt.Sprintf("/%s?per_page=50&hide_empty=0&ml_language=%s", k.collection, l)))
			items := map[int64]object{}
			if reply.Status == 200 {
				for _, item := range reply.Get(m.t, k.collection).([]any) {
					items[int64(item.(object)["id"].(float64))] = item.(object)
				}
			}
			for _, r := range m.records {
				if r.collection != k.collection {
					continue
				}
				if items[r.id] == nil {
					m.rt.Fatalf("%s in %s do not list %d: %s", k.collection, l, r.id, reply.Body)
				}
				m.shows(r, l, items[r.id])
			}
		}
	}
}
