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
	"github.com/almanac-cal/almanac/proof/rightsmodel"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestCalendarBehavesAsItsModel lets users of all roles write at random. The model predicts each reply.
func TestCalendarBehavesAsItsModel(t *testing.T) {
	eachRandomly(t, 1, func(t *testing.T, rt *rapid.T, st *store.Store) {
		newStatefulRun(t, rt, st).run(map[string]int{"sqlite": 24, "mysql": 80}[st.Engine()])
	})
}

// eachRandomly runs a property on SQLite as often as rapid does, each time with a new database. It runs the property on
// MySQL three times with choices that follow from the stream.
func eachRandomly(t *testing.T, stream uint64, run func(t *testing.T, rt *rapid.T, st *store.Store)) {
	t.Helper()
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
			run(t, rt, st)
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
				r := rand.New(rand.NewPCG(seed, stream))
				for i := range choices {
					choices[i] = byte(r.Uint32())
				}
				rapid.MakeFuzz(func(rt *rapid.T) { run(t, rt, st) })(t, choices)
			})
		}
	})
}

// statefulRun is a calendar both in the service and in the model. Every write goes to both.
type statefulRun struct {
	t     *testing.T
	rt    *rapid.T
	api   *apitest.API
	names int
	model rightsmodel.Calendar
}

func newStatefulRun(t *testing.T, rt *rapid.T, st *store.Store) *statefulRun {
	m := &statefulRun{t: t, rt: rt, api: apitest.New(t, st), model: rightsmodel.Calendar{Terms: map[int64]string{}}}
	for _, role := range roles[1:] {
		m.api.SignIn(t, role, calendar.Role(role))
	}
	return m
}

// run makes at most most random writes and reads. It then compares the lists of each role with the model.
func (m *statefulRun) run(most int) {
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
	if a, b := m.model.SharedSlug(); a != nil {
		m.rt.Fatalf("%ss %d and %d have the slug %s", a.Kind, a.ID, b.ID, a.Slug)
	}
}

func (m *statefulRun) role() string { return rapid.SampledFrom(roles).Draw(m.rt, "role") }

func (m *statefulRun) yes(label string) bool { return rapid.Bool().Draw(m.rt, label) }

// drawRecord returns a random record of the kinds, or nil if there is none.
func (m *statefulRun) drawRecord(kinds ...string) *rightsmodel.Record {
	var all []*rightsmodel.Record
	for _, r := range m.model.Records {
		if slices.Contains(kinds, r.Kind) {
			all = append(all, r)
		}
	}
	if all == nil {
		return nil
	}
	return rapid.SampledFrom(all).Draw(m.rt, "record")
}

// do sends a request and fails unless the reply has the status want.
func (m *statefulRun) do(want int, method, role, path string, body object) apitest.Response {
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

// link adds random venues and terms to the body of an event. It returns their ids. areBad reports whether the role
// may not use some of them.
func (m *statefulRun) link(role string, body object) (links, tagged []int64, areBad bool) {
	if venue := m.drawRecord("venue"); venue != nil && m.yes("with venues") {
		body["venue"] = []int64{venue.ID, venue.ID}
		links = []int64{venue.ID}
		areBad = !venue.IsLinkable(role)
	}
	if len(m.model.TermIDs) > 0 && m.yes("with terms") {
		id := m.drawTerm()
		body["tags"] = []int64{id}
		tagged = []int64{id}
		areBad = areBad || m.model.Terms[id] == ""
	}
	return links, tagged, areBad
}

func (m *statefulRun) create() {
	role := m.role()
	kind := rapid.SampledFrom([]string{"event", "event", "venue", "organizer"}).Draw(m.rt, "kind")
	status := rapid.SampledFrom(sendable).Draw(m.rt, "status")
	m.names++
	r := &rightsmodel.Record{Kind: kind, Owner: role}
	// All want the same slug, but only events may have the same name.
	body := object{"slug": "same"}
	areBad, newTag := false, ""
	if kind == "event" {
		body = concert(object{"title": "Same"})
		r.Links, r.Tagged, areBad = m.link(role, body)
		if body["tags"] == nil && m.yes("with a new tag") {
			newTag = fmt.Sprint("tag ", m.names)
			body["tags"] = []string{newTag}
		}
	} else {
		body[kind] = fmt.Sprint("Name ", m.names)
	}
	if status != "" {
		body["status"] = status
	}
	want := rightsmodel.CreateReply(role, areBad, newTag != "")
	reply := m.do(want, "POST", role, "/"+kind+"s", body)
	if want != 201 {
		return
	}
	r.ID = int64(reply.Get(m.t, "id").(float64))
	if newTag != "" {
		id := int64(reply.Get(m.t, "tags", 0, "id").(float64))
		m.model.AddTerm(id, newTag)
		r.Tagged = []int64{id}
	}
	m.model.Create(role, r, status)
	m.shows(r, role, reply)
}

func (m *statefulRun) update() {
	r, role := m.drawRecord("event", "venue", "organizer"), m.role()
	if r == nil {
		return
	}
	body, status := object{}, rapid.SampledFrom(append(sendable, calendar.Trash)).Draw(m.rt, "status")
	if status != "" {
		body["status"] = status
	}
	var links, tagged []int64
	areBad := false
	if r.Kind == "event" {
		links, tagged, areBad = m.link(role, body)
	}
	want := r.UpdateReply(role, areBad)
	reply := m.do(want, rapid.SampledFrom([]string{"POST", "PUT", "PATCH"}).Draw(m.rt, "method"), role, m.path(r), body)
	if want == 200 {
		m.model.Update(role, r, status, links, tagged)
		m.shows(r, role, reply)
	}
}

func (m *statefulRun) path(r *rightsmodel.Record) string { return fmt.Sprintf("/%ss/%d", r.Kind, r.ID) }

func (m *statefulRun) remove() {
	r, role := m.drawRecord("event", "venue", "organizer"), m.role()
	if r == nil {
		return
	}
	want := r.DeleteReply(role)
	reply := m.do(want, "DELETE", role, m.path(r), nil)
	if want == 200 {
		m.model.Delete(r)
		m.shows(r, role, reply)
	}
}

func (m *statefulRun) read() {
	r, role := m.drawRecord("event", "venue", "organizer"), m.role()
	if r == nil {
		return
	}
	want := r.ReadReply(role)
	reply := m.do(want, "GET", role, m.path(r), nil)
	if want == 200 {
		m.shows(r, role, reply)
	}
}

// shows compares the representation of a record with the model, as a role sees it.
func (m *statefulRun) shows(r *rightsmodel.Record, role string, reply apitest.Response) {
	body := reply.JSON(m.t)
	if got := valueAt(body, "status"); got != string(r.Status) {
		m.rt.Fatalf("%s %d is %v, want %s", r.Kind, r.ID, got, r.Status)
	}
	slug, _ := valueAt(body, "slug").(string)
	if !r.TakesSlug(slug) {
		m.rt.Fatalf("%s %d, %s, has the slug %q", r.Kind, r.ID, r.Status, slug)
	}
	if r.Kind != "event" {
		return
	}
	if got, want := idsOf(valueAt(body, "venue")), m.model.ShownVenues(r, role); !slices.Equal(got, want) {
		m.rt.Fatalf("event %d shows %q the venues %v, want %v", r.ID, role, got, want)
	}
	if got := idsOf(valueAt(body, "tags")); !slices.Equal(got, r.Tagged) {
		m.rt.Fatalf("event %d has the tags %v, want %v", r.ID, got, r.Tagged)
	}
}

// idsOf returns the ids of an object or of a list of objects.
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

func (m *statefulRun) createTerm() {
	role := m.role()
	m.names++
	name, isTaken := fmt.Sprint("term ", m.names), false
	if len(m.model.TermIDs) > 0 && m.yes("existing") {
		if old := m.model.Terms[m.drawTerm()]; old != "" {
			name, isTaken = strings.ToUpper(old), true
		}
	}
	want := rightsmodel.CreateTermReply(role, isTaken)
	reply := m.do(want, "POST", role, "/tags", object{"name": name})
	if want == 201 {
		m.model.AddTerm(int64(reply.Get(m.t, "id").(float64)), name)
	}
}

func (m *statefulRun) drawTerm() int64 { return rapid.SampledFrom(m.model.TermIDs).Draw(m.rt, "term") }

func (m *statefulRun) renameTerm() {
	role := m.role()
	if len(m.model.TermIDs) == 0 {
		return
	}
	id := m.drawTerm()
	want := m.model.WriteTermReply(role, id)
	m.names++
	name := fmt.Sprint("renamed ", m.names)
	m.do(want, "PATCH", role, termPath("tags", id), object{"name": name})
	if want == 200 {
		m.model.Terms[id] = name
	}
}

func (m *statefulRun) deleteTerm() {
	role := m.role()
	if len(m.model.TermIDs) == 0 {
		return
	}
	id := m.drawTerm()
	want := m.model.WriteTermReply(role, id)
	m.do(want, "DELETE", role, termPath("tags", id), nil)
	if want == 200 {
		m.model.DeleteTerm(id)
	}
}

// lists compares the records and tags in lists with the model, as a role sees them.
func (m *statefulRun) lists(role string) {
	for _, kind := range []string{"event", "venue", "organizer"} {
		r := m.do(200, "GET", role, "/"+kind+"s", nil)
		if got, want := int(r.Get(m.t, "total").(float64)), m.model.CountListed(kind, role); got != want {
			m.rt.Fatalf("%q sees %d %ss, want %d", role, got, kind, want)
		}
	}
	counts := m.model.TermCounts()
	r := m.do(200, "GET", role, "/tags?hide_empty=no&per_page=50", nil)
	if got := int(r.Get(m.t, "total").(float64)); got != len(counts) {
		m.rt.Fatalf("%q sees %d tags, want %d", role, got, len(counts))
	}
	for _, item := range r.Get(m.t, "tags").([]any) {
		id := int64(valueAt(item, "id").(float64))
		if got := valueAt(item, "count"); got != float64(counts[id]) || valueAt(item, "name") != m.model.Terms[id] {
			m.rt.Fatalf("tag %d: count %v of %v, want %d of %q", id, got, valueAt(item, "name"), counts[id], m.model.Terms[id])
		}
	}
}
