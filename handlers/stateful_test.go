package handlers_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestCalendarBehavesAsItsModel lets users of all roles write at random. A small model predicts each reply: it has the
// owner, the status and the links of each record.
func TestCalendarBehavesAsItsModel(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "run.db")
		rapid.Check(t, func(rt *rapid.T) {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				if err := os.Remove(file + suffix); err != nil && !os.IsNotExist(err) {
					rt.Fatal(err)
				}
			}
			storetest.WriteMigrated(t, file)
			st, err := store.Open(t.Context(), "sqlite://"+file)
			if err != nil {
				rt.Fatal(err)
			}
			defer func() {
				if err := st.Close(); err != nil {
					rt.Error(err)
				}
			}()
			newModel(t, rt, st).run(24)
		})
	})
	t.Run("mysql", func(t *testing.T) {
		t.Parallel()
		if os.Getenv(storetest.Variable) == "" {
			t.Skipf("%s names no server", storetest.Variable)
		}
		for seed := range uint64(3) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				st := storetest.Open(t, storetest.Lent(t))
				choices := make([]byte, 1<<16)
				r := rand.New(rand.NewPCG(seed, 1))
				for i := range choices {
					choices[i] = byte(r.Uint32())
				}
				rapid.MakeFuzz(func(rt *rapid.T) { newModel(t, rt, st).run(80) })(t, choices)
			})
		}
	})
}

// statefulRecord is an event, a venue or an organizer of the model.
type statefulRecord struct {
	id            int64
	kind, owner   string // the role of its author
	status        calendar.Status
	before        calendar.Status
	slug          string
	slugged       bool // it has had a slug
	links, tagged []int64
}

// model is the expected content of the service.
type model struct {
	t     *testing.T
	rt    *rapid.T
	api   *apitest.API
	names int

	records []*statefulRecord
	terms   map[int64]string // name by id; "" once deleted
	ids     []int64          // of terms, in the order they were created
}

func newModel(t *testing.T, rt *rapid.T, st *store.Store) *model {
	m := &model{t: t, rt: rt, api: apitest.New(t, st), terms: map[int64]string{}}
	for _, role := range roles[1:] {
		m.api.SignIn(t, role, calendar.Role(role))
	}
	return m
}

// run does up to so many things, and compares all that can be seen afterwards.
func (m *model) run(most int) {
	steps := rapid.IntRange(1, most).Draw(m.rt, "steps")
	actions := map[string]func(){
		"create": m.create, "update": m.update, "delete": m.remove, "read": m.read,
		"create term": m.createTerm, "rename term": m.renameTerm, "delete term": m.deleteTerm,
	}
	names := []string{"create", "create", "create", "update", "update", "update", "delete", "read", "create term", "rename term", "delete term"}
	for range steps {
		actions[rapid.SampledFrom(names).Draw(m.rt, "action")]()
	}
	for _, role := range roles {
		m.lists(role)
	}
	m.slugs()
}

func (m *model) role() string { return rapid.SampledFrom(roles).Draw(m.rt, "role") }

func (m *model) yes(label string) bool { return rapid.Bool().Draw(m.rt, label) }

// any is a record of the kinds, nil if there is none.
func (m *model) any(kinds ...string) *statefulRecord {
	var all []*statefulRecord
	for _, r := range m.records {
		if slices.Contains(kinds, r.kind) {
			all = append(all, r)
		}
	}
	if all == nil {
		return nil
	}
	return rapid.SampledFrom(all).Draw(m.rt, "record")
}

func editor(role string) bool { return role == "editor" || role == "administrator" }

func publisher(role string) bool { return role == "author" || editor(role) }

func (r *statefulRecord) mayEdit(role string) bool {
	status := r.status
	if status == calendar.Trash {
		status = r.before
	}
	switch {
	case editor(role):
		return true
	case role == "" || r.owner != role:
		return false
	case role == "contributor":
		return status == calendar.Draft || status == calendar.Pending
	}
	return role == "author"
}

func (r *statefulRecord) mayRead(role string) bool {
	switch r.status {
	case calendar.Publish:
		return true
	case calendar.Trash:
		return r.kind != "event" && r.mayEdit(role)
	}
	return editor(role) || (r.owner == role && (role == "author" || role == "contributor"))
}

// settle sets the status of a record after a caller has sent one.
func (r *statefulRecord) settle(role string, sent calendar.Status) {
	switch {
	case sent == calendar.Trash:
		if r.status != calendar.Trash {
			r.before, r.status = r.status, calendar.Trash
		}
		return
	case (sent == calendar.Publish || sent == calendar.Private) && !publisher(role):
		sent = calendar.Pending
	}
	r.status, r.before = sent, ""
}

// refusal returns the status for a caller without the right.
func refusal(role string) int {
	if role == "" {
		return 401
	}
	return 403
}

// do sends a request and compares its status.
func (m *model) do(want int, method, role, path string, body object) apitest.Response {
	r := apitest.Request{Method: method, As: role, Path: path}
	if body != nil {
		r.JSON = body
	}
	got := m.api.Do(m.t, r)
	if got.Status != want {
		m.rt.Fatalf("%q %s %s %v: %d, want %d: %s", role, method, path, body, got.Status, want, got.Body)
	}
	return got
}

var sendable = []calendar.Status{"", calendar.Publish, calendar.Draft, calendar.Pending, calendar.Private}

// link draws venues and terms for an event. status is that of the reply if they cannot be had: 400 before the
// permission is looked at.
func (m *model) link(role string, body object) (links, tagged []int64, wrong bool) {
	if venue := m.any("venue"); venue != nil && m.yes("with venues") {
		body["venue"] = []int64{venue.id, venue.id}
		links = []int64{venue.id}
		wrong = venue.status == calendar.Trash || !venue.mayRead(role)
	}
	if len(m.ids) > 0 && m.yes("with terms") {
		id := rapid.SampledFrom(m.ids).Draw(m.rt, "term")
		body["tags"] = []int64{id}
		tagged = []int64{id}
		wrong = wrong || m.terms[id] == ""
	}
	return links, tagged, wrong
}

func (m *model) create() {
	role := m.role()
	kind := rapid.SampledFrom([]string{"event", "event", "venue", "organizer"}).Draw(m.rt, "kind")
	status := rapid.SampledFrom(sendable).Draw(m.rt, "status")
	m.names++
	r := &statefulRecord{kind: kind, owner: role}
	// All want the same slug, but only events may have the same name.
	body := object{"slug": "same"}
	wrong, named := false, ""
	if kind == "event" {
		body = concert(object{"title": "Same"})
		r.links, r.tagged, wrong = m.link(role, body)
		if body["tags"] == nil && m.yes("with a new tag") {
			named = fmt.Sprint("tag ", m.names)
			body["tags"] = []string{named}
		}
	} else {
		body[kind] = fmt.Sprint("Name ", m.names)
	}
	if status != "" {
		body["status"] = status
	}
	want := 201
	switch {
	case wrong:
		want = 400
	case role == "" || role == "subscriber":
		want = refusal(role)
	case named != "" && !publisher(role):
		want = 400
	}
	reply := m.do(want, "POST", role, "/"+kind+"s", body)
	if want != 201 {
		return
	}
	if status == "" {
		status = calendar.Publish
		if !publisher(role) {
			status = calendar.Draft
		}
	}
	r.settle(role, status)
	r.id = int64(reply.Get(m.t, "id").(float64))
	if named != "" {
		id := int64(reply.Get(m.t, "tags", 0, "id").(float64))
		m.terms[id], m.ids, r.tagged = named, append(m.ids, id), []int64{id}
	}
	m.records = append(m.records, r)
	m.shows(r, role, reply)
}

func (m *model) update() {
	r, role := m.any("event", "venue", "organizer"), m.role()
	if r == nil {
		return
	}
	body, status := object{}, rapid.SampledFrom(append(sendable, calendar.Trash)).Draw(m.rt, "status")
	if status != "" {
		body["status"] = status
	}
	var links, tagged []int64
	wrong := false
	if r.kind == "event" {
		links, tagged, wrong = m.link(role, body)
	}
	want := 200
	switch {
	case wrong:
		want = 400
	case !r.mayEdit(role):
		want = refusal(role)
	}
	reply := m.do(want, rapid.SampledFrom([]string{"POST", "PUT", "PATCH"}).Draw(m.rt, "method"), role, m.path(r), body)
	if want != 200 {
		return
	}
	was := r.status
	if status != "" {
		r.settle(role, status)
	}
	if links != nil {
		r.links = links
	}
	if tagged != nil {
		r.tagged = tagged
	}
	if r.status == calendar.Trash && was != calendar.Trash {
		m.unlink(r)
	}
	m.shows(r, role, reply)
}

func (m *model) path(r *statefulRecord) string { return fmt.Sprintf("/%ss/%d", r.kind, r.id) }

// unlink removes a venue in the trash from all events.
func (m *model) unlink(gone *statefulRecord) {
	for _, r := range m.records {
		r.links = slices.DeleteFunc(r.links, func(id int64) bool { return id == gone.id })
	}
}

func (m *model) remove() {
	r, role := m.any("event", "venue", "organizer"), m.role()
	if r == nil {
		return
	}
	want := 200
	switch {
	case !r.mayEdit(role):
		want = refusal(role)
	case r.status == calendar.Trash:
		want = 410
	}
	reply := m.do(want, "DELETE", role, m.path(r), nil)
	if want == 200 {
		r.settle(role, calendar.Trash)
		m.unlink(r)
		m.shows(r, role, reply)
	}
}

func (m *model) read() {
	r, role := m.any("event", "venue", "organizer"), m.role()
	if r == nil {
		return
	}
	if !r.mayRead(role) {
		m.do(403, "GET", role, m.path(r), nil)
		return
	}
	m.shows(r, role, m.do(200, "GET", role, m.path(r), nil))
}

// shows compares a representation with the model.
func (m *model) shows(r *statefulRecord, role string, reply apitest.Response) {
	body := reply.JSON(m.t)
	if got := valueAt(body, "status"); got != string(r.status) {
		m.rt.Fatalf("%s %d is %v, want %s", r.kind, r.id, got, r.status)
	}
	r.slug, _ = valueAt(body, "slug").(string)
	r.slugged = r.slugged || r.kind != "event" || r.status.HasSlug() || r.before.HasSlug()
	if (r.slug != "") != r.slugged {
		m.rt.Fatalf("%s %d, %s, has the slug %q", r.kind, r.id, r.status, r.slug)
	}
	if trashed := strings.HasSuffix(r.slug, "__trashed"); r.slugged && trashed != (r.status == calendar.Trash) {
		m.rt.Fatalf("%s %d, %s, has the slug %q", r.kind, r.id, r.status, r.slug)
	}
	if r.kind != "event" {
		return
	}
	var venues []int64
	for _, id := range r.links {
		if venue := m.find(id); venue.mayRead(role) {
			venues = append(venues, id)
		}
	}
	got := idsOf(valueAt(body, "venue"))
	if !slices.Equal(got, venues) {
		m.rt.Fatalf("event %d shows %q the venues %v, want %v", r.id, role, got, venues)
	}
	if got := idsOf(valueAt(body, "tags")); !slices.Equal(got, r.tagged) {
		m.rt.Fatalf("event %d has the tags %v, want %v", r.id, got, r.tagged)
	}
}

func (m *model) find(id int64) *statefulRecord {
	return m.records[slices.IndexFunc(m.records, func(r *statefulRecord) bool { return r.id == id })]
}

// idsOf are the ids of an object or of a list of objects.
func idsOf(v any) (ids []int64) {
	if one, ok := v.(object); ok {
		v = []any{one}
	}
	list, _ := v.([]any)
	for _, item := range list {
		ids = append(ids, int64(item.(object)["id"].(float64)))
	}
	return ids
}

func (m *model) createTerm() {
	role := m.role()
	m.names++
	name, want := fmt.Sprint("term ", m.names), 201
	if len(m.ids) > 0 && m.yes("existing") {
		if old := m.terms[rapid.SampledFrom(m.ids).Draw(m.rt, "term")]; old != "" {
			name, want = strings.ToUpper(old), 400
		}
	}
	if !publisher(role) {
		want = refusal(role)
	}
	reply := m.do(want, "POST", role, "/tags", object{"name": name})
	if want == 201 {
		id := int64(reply.Get(m.t, "id").(float64))
		m.terms[id], m.ids = name, append(m.ids, id)
	}
}

// oneTerm draws a term for a write, and tells the status it will be refused with.
func (m *model) oneTerm(role string) (id int64, want int) {
	id, want = rapid.SampledFrom(m.ids).Draw(m.rt, "term"), 200
	switch {
	case m.terms[id] == "":
		want = 400
	case !publisher(role):
		want = refusal(role)
	}
	return id, want
}

func (m *model) renameTerm() {
	role := m.role()
	if len(m.ids) == 0 {
		return
	}
	id, want := m.oneTerm(role)
	m.names++
	name := fmt.Sprint("renamed ", m.names)
	m.do(want, "PATCH", role, termPath("tags", id), object{"name": name})
	if want == 200 {
		m.terms[id] = name
	}
}

func (m *model) deleteTerm() {
	role := m.role()
	if len(m.ids) == 0 {
		return
	}
	id, want := m.oneTerm(role)
	m.do(want, "DELETE", role, termPath("tags", id), nil)
	if want != 200 {
		return
	}
	m.terms[id] = ""
	for _, r := range m.records {
		r.tagged = slices.DeleteFunc(r.tagged, func(t int64) bool { return t == id })
	}
}

// lists compares what a role sees in lists.
func (m *model) lists(role string) {
	for _, kind := range []string{"event", "venue", "organizer"} {
		want := 0
		for _, r := range m.records {
			if r.kind == kind && r.status != calendar.Trash && r.mayRead(role) {
				want++
			}
		}
		r := m.do(200, "GET", role, "/"+kind+"s", nil)
		if got := int(r.Get(m.t, "total").(float64)); got != want {
			m.rt.Fatalf("%q sees %d %ss, want %d", role, got, kind, want)
		}
	}
	counts := map[int64]int{}
	for id, name := range m.terms {
		if name != "" {
			counts[id] = 0
		}
	}
	for _, r := range m.records {
		if r.kind == "event" && r.status == calendar.Publish {
			for _, id := range r.tagged {
				counts[id]++
			}
		}
	}
	r := m.do(200, "GET", role, "/tags?hide_empty=no&per_page=50", nil)
	if got := int(r.Get(m.t, "total").(float64)); got != len(counts) {
		m.rt.Fatalf("%q sees %d tags, want %d", role, got, len(counts))
	}
	for _, item := range r.Get(m.t, "tags").([]any) {
		id := int64(valueAt(item, "id").(float64))
		if got := valueAt(item, "count"); got != float64(counts[id]) || valueAt(item, "name") != m.terms[id] {
			m.rt.Fatalf("tag %d: count %v of %v, want %d of %q", id, got, valueAt(item, "name"), counts[id], m.terms[id])
		}
	}
}

// slugs checks that no two records share a slug, except in the trash.
func (m *model) slugs() {
	taken := map[string]int64{}
	for _, r := range m.records {
		if r.slug == "" || r.status == calendar.Trash {
			continue
		}
		key := r.kind + " " + r.slug
		if taken[key] != 0 {
			m.rt.Fatalf("%ss %d and %d have the slug %s", r.kind, r.id, taken[key], r.slug)
		}
		taken[key] = r.id
	}
}
