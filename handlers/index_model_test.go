package handlers_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/bulk"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/draw"
	"github.com/almanac-cal/almanac/proof/listreference"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/randomcalendar"
	"github.com/almanac-cal/almanac/proof/storetest"
)

var (
	indexRounds = flag.Int("index-rounds", 1, "rounds of all kinds of writes in TestIndexFollowsEveryWrite")
	indexSeed   = flag.Uint64("index-seed", 2, "seed of TestIndexFollowsEveryWrite")
)

// TestIndexFollowsEveryWrite writes at random, in every possible way. After each write it compares lists of two
// processes, for callers of all roles. One has an index that follows the change log, the other asks the database.
// The index is loaded once, before the first write.
func TestIndexFollowsEveryWrite(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		storetest.SkipShort(t, st)
		m := newIndexModel(t, st, *indexSeed)
		m.load(15)
		for range *indexRounds {
			kinds := slices.Clone(indexWrites)
			m.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
			for _, kind := range kinds {
				m.write(kind.name, kind.do)
				if t.Failed() {
					t.Fatalf("run again with -index-seed %d -index-rounds %d", *indexSeed, *indexRounds)
				}
			}
		}
		m.report()
	})
}

// indexModel is a calendar that a test writes at random and reads with and without the index.
type indexModel struct {
	*testing.T
	*rand.Rand
	ctx       context.Context
	db        *ent.Client
	index     *index.Index
	followed  *apitest.API // finds lists with the index
	plain     *apitest.API // finds lists in the database
	clock     atomic.Int64 // seconds since 1970
	zone      *time.Location
	maker     *randomcalendar.Maker
	world     *listreference.Calendar // what requests are made of; its records have no texts but slugs
	records   storetest.Records       // as the last write left them
	users     map[string]int64
	names     int
	writes    map[string]int // by kind: those that took effect
	refused   int
	requests  map[string]int // by collection
	statuses  map[int]int    // of replies
	nonEmpty  int
	lastReply apitest.Response
}

func newIndexModel(t *testing.T, st *store.Store, seed uint64, options ...apitest.Option) *indexModel {
	zone, err := calendar.ParseZone("Europe/Warsaw")
	must.Succeed(t, err)
	m := &indexModel{
		T: t, Rand: rand.New(rand.NewPCG(seed, 0)), ctx: t.Context(), db: st.Ent, zone: zone.Location(),
		index: index.New(st.Ent, read.EventColumns(), slog.New(slog.DiscardHandler)), world: randomcalendar.New(),
		users: map[string]int64{}, writes: map[string]int{}, requests: map[string]int{}, statuses: map[int]int{},
	}
	m.clock.Store(apitest.Now.Unix())
	options = append(options, func(c *handlers.Config) { c.Site.Zone, c.Site.Now = zone, m.now })
	m.followed = apitest.New(t, st, append(options, func(c *handlers.Config) { c.Index = m.index })...)
	m.plain = apitest.New(t, st, append(options, apitest.Unindexed)...)
	for i, role := range []calendar.Role{
		calendar.Subscriber, calendar.Contributor, calendar.Author, calendar.Editor, calendar.Administrator,
	} {
		m.signIn(string(role), role, i+1)
	}
	m.maker = &randomcalendar.Maker{Rand: m.Rand, Calendar: m.world}
	must.Succeed(t, m.index.Load(t.Context()))
	m.loadRecords()
	m.records = storetest.ReadRecords(t, m.db)
	return m
}

func (m *indexModel) now() time.Time { return time.Unix(m.clock.Load(), 0).UTC() }

func (m *indexModel) signIn(login string, role calendar.Role, rank int) {
	m.users[login] = m.followed.SignIn(m.T, login, role)
	m.world.Callers = append(m.world.Callers, listreference.Caller{ID: m.users[login], Login: login, Role: rank})
}

// write makes one write, checks that the change log names all that it changed, and compares lists.
func (m *indexModel) write(kind string, do func(m *indexModel) bool) {
	m.Helper()
	for range 5 { // some attempts are refused, by chance
		if do(m) {
			m.writes[kind]++
			break
		}
		m.refused++
		m.loadRecords()
	}
	m.loadRecords()
	records := storetest.ReadRecords(m.T, m.db)
	for _, problem := range records.Unlogged(m.T, m.db, m.records) {
		m.Errorf("%s: %s", kind, problem)
	}
	m.records = records
	m.compareLists(kind)
}

// loadRecords reads the records from which random requests are made. It adds one invented record of each kind, so
// that no kind is empty.
func (m *indexModel) loadRecords() {
	m.Helper()
	w, none := m.world, int64(999998)
	w.Events = []*listreference.Event{{Record: listreference.Record{ID: none, Status: calendar.Publish}, Start: m.now(), End: m.now()}}
	for _, r := range m.db.Event.Query().AllX(m.ctx) {
		w.Events = append(w.Events, &listreference.Event{Record: listreference.Record{ID: r.ID, Status: r.Status}, Start: r.StartsAt, End: r.EndsAt})
	}
	w.Linked = map[calendar.Kind][]*listreference.Linked{
		calendar.Venue:     {{Record: listreference.Record{ID: none, Status: calendar.Publish}, Lat: 52, Lng: 21}},
		calendar.Organizer: {{Record: listreference.Record{ID: none, Status: calendar.Publish}}},
	}
	for _, r := range m.db.Venue.Query().AllX(m.ctx) {
		l := &listreference.Linked{Record: listreference.Record{ID: r.ID, Status: r.Status}, Lat: 52, Lng: 21}
		if r.Latitude != nil {
			l.Located, l.Lat, l.Lng = true, *r.Latitude, *r.Longitude
		}
		w.Linked[calendar.Venue] = append(w.Linked[calendar.Venue], l)
	}
	for _, r := range m.db.Organizer.Query().AllX(m.ctx) {
		w.Linked[calendar.Organizer] = append(w.Linked[calendar.Organizer], &listreference.Linked{Record: listreference.Record{ID: r.ID, Status: r.Status}})
	}
	w.Terms = map[calendar.Kind][]*listreference.Term{calendar.Category: {{ID: none}}, calendar.Tag: {{ID: none}}}
	for _, r := range m.db.Term.Query().AllX(m.ctx) {
		w.Terms[r.Taxonomy] = append(w.Terms[r.Taxonomy], &listreference.Term{ID: r.ID, Texts: listreference.Texts{
			Original: r.Language, In: map[calendar.Language]listreference.Text{r.Language: {Slug: r.Slug}},
		}})
	}
	w.Series = []*listreference.Record{{ID: none, Status: calendar.Publish}}
	for _, r := range m.db.Series.Query().AllX(m.ctx) {
		w.Series = append(w.Series, &listreference.Record{ID: r.ID, Status: r.Status})
	}
	m.maker.Sites = []listreference.Site{{Zone: m.zone, Now: m.now()}}
}

// compareLists compares lists of the two processes: those that show links, and some random ones. If
// storetest.IsBrief, these are three and one.
func (m *indexModel) compareLists(kind string) {
	m.Helper()
	paths := []string{
		"/events?per_page=50&starts_after=1999-12-31",
		"/events?per_page=50&starts_after=1999-12-31&geoloc=" + draw.Item(m.Rand, "true", "false"),
		"/events?per_page=50&starts_after=1999-12-31&series=" + draw.Item(m.Rand, "next", "next", "none"),
		"/venues?per_page=50&has_events=" + draw.Item(m.Rand, "true", "false"),
		"/organizers?per_page=50&has_events=" + draw.Item(m.Rand, "true", "false"),
		"/series?per_page=50&ml_language=" + string(draw.Item(m.Rand, calendar.Languages...)) +
			draw.Item(m.Rand, "", "", "&search="+url.QueryEscape(m.maker.DrawWords(1)), "&search=-"+url.QueryEscape(m.maker.DrawWords(1))),
	}
	for _, of := range []calendar.Kind{calendar.Venue, calendar.Organizer} {
		if id := m.pick(of, calendar.Publish, calendar.Draft, calendar.Private, calendar.Future); id != 0 {
			paths = append(paths, fmt.Sprintf("/events?per_page=50&starts_after=1999-12-31&%s=%d", of, id))
		}
	}
	random := 2
	if storetest.IsBrief(m.followed.Store) {
		random = 1
		m.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		paths = paths[:3]
	}
	for range random {
		a := &randomcalendar.RequestMaker{Maker: m.maker, Site: m.maker.Sites[0]}
		collection := draw.Item(m.Rand, "events", "events", "events", "venues", "organizers", "categories", "tags")
		switch collection {
		case "events":
			a.DrawEventQuery()
		case "venues", "organizers":
			a.DrawLinkedQuery()
		case "categories":
			a.DrawTermQuery(calendar.Category)
		default:
			a.DrawTermQuery(calendar.Tag)
		}
		if draw.Percent(m.Rand, 50) {
			a.Add("per_page", draw.Item(m.Rand, "1", "3", "7", "50", "50"))
		}
		if draw.Percent(m.Rand, 20) {
			a.Add("page", draw.Item(m.Rand, "1", "2", "3"))
		}
		if draw.Percent(m.Rand, 30) {
			a.Add("ml_language", string(draw.Item(m.Rand, calendar.Languages...)))
		}
		paths = append(paths, "/"+collection+"?"+strings.Join(a.Query, "&"))
	}
	for _, path := range paths {
		m.compareList(kind, path, draw.Item(m.Rand, m.world.Callers...).Login)
	}
	newest, err := edit.Revision(m.ctx, m.db)
	must.Succeed(m, err)
	if ready, _, revision := m.index.Stats(); !ready || revision != newest {
		m.Errorf("%s: the index is at revision %d of %d, ready is %t: it did not answer", kind, revision, newest, ready)
	}
}

func (m *indexModel) compareList(kind, path, login string) {
	m.Helper()
	req := apitest.Request{Path: path}
	if login != "" {
		req.Header = map[string]string{"Authorization": "Bearer " + m.followed.Token(login)}
	}
	with, without := m.followed.Do(m.T, req), m.plain.Do(m.T, req)
	shown := func(r apitest.Response) []string {
		var body listBody
		r.Into(m.T, &body)
		return []string{
			fmt.Sprint(r.Status), "ids " + fmt.Sprint(body.ids()), "total " + r.Header.Get("X-TEC-Total"),
			"pages " + r.Header.Get("X-TEC-TotalPages"), "tag " + r.Header.Get("ETag"), "links " + r.Header.Get("Link"),
		}
	}
	diff := cmp.Diff(shown(with), shown(without))
	if diff == "" {
		diff = cmp.Diff(string(with.Body), string(without.Body))
	}
	if diff != "" {
		m.Errorf("after %q, at %s, %q asks %s\n(-with +without the index):\n%s", kind, m.now(), login, path, diff)
	}
	collection, _, _ := strings.Cut(path[1:], "?")
	m.requests[collection]++
	m.statuses[with.Status]++
	if total := with.Header.Get("X-TEC-Total"); total != "" && total != "0" {
		m.nonEmpty++
	}
}

// report logs how often each write and request was made. It fails if a kind of write never took effect, or if the
// requests find too little.
func (m *indexModel) report() {
	m.Helper()
	writes, requests := 0, 0
	for _, n := range m.writes {
		writes += n
	}
	for _, n := range m.requests {
		requests += n
	}
	m.Logf("%d writes, %d attempts that were refused or found no record", writes, m.refused)
	for _, kind := range slices.Sorted(maps.Keys(m.writes)) {
		m.Logf("%5.1f %% %s", 100*float64(m.writes[kind])/float64(writes), kind)
	}
	m.Logf("%d requests, each sent to both processes: %v, statuses %v, %d with records", requests, m.requests, m.statuses, m.nonEmpty)
	for _, kind := range indexWrites {
		if m.writes[kind.name] == 0 {
			m.Errorf("no write of the kind %q took effect", kind.name)
		}
	}
	if m.nonEmpty < requests/3 || m.statuses[http.StatusBadRequest] > requests/4 {
		m.Errorf("the requests have become too hard")
	}
	all, err := m.db.Change.Query().Where(change.RecordID(0)).Count(m.ctx)
	if err != nil || all > 0 {
		m.Errorf("%d entries of the change log made the index load anew, %v", all, err)
	}
}

// pick returns the id of a random record of a kind with one of the statuses, or 0 if there is none. No statuses
// means any status.
func (m *indexModel) pick(kind calendar.Kind, statuses ...calendar.Status) int64 {
	var ids []int64
	add := func(r *listreference.Record) {
		if r.ID < 900_000 && (len(statuses) == 0 || slices.Contains(statuses, r.Status)) {
			ids = append(ids, r.ID)
		}
	}
	for _, e := range m.world.Events {
		if kind == calendar.Event {
			add(&e.Record)
		}
	}
	for _, l := range m.world.Linked[kind] {
		add(&l.Record)
	}
	for _, t := range m.world.Terms[kind] {
		add(&listreference.Record{ID: t.ID})
	}
	if ids == nil {
		return 0
	}
	return draw.Item(m.Rand, ids...)
}

// notTrashed are the statuses that records may be linked in.
var notTrashed = []calendar.Status{
	calendar.Publish, calendar.Future, calendar.Draft, calendar.Pending, calendar.Private,
}

// links returns at most most random ids of a kind, for the body of a write.
func (m *indexModel) links(kind calendar.Kind, most int) []int64 {
	ids := []int64{}
	for range m.IntN(most + 1) {
		statuses := notTrashed
		if kind == calendar.Category || kind == calendar.Tag {
			statuses = nil
		}
		if id := m.pick(kind, statuses...); id != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// send sends a write as a user with most rights, and reports whether it succeeded.
func (m *indexModel) send(method, path string, body object) bool {
	m.Helper()
	as := draw.Item(m.Rand, "administrator", "administrator", "administrator", "editor", "author")
	return m.sendAs(as, method, path, body)
}

func (m *indexModel) sendAs(as, method, path string, body object) bool {
	m.Helper()
	r := apitest.Request{Method: method, As: as, Path: path}
	if body != nil {
		r.JSON = body
	}
	m.lastReply = m.followed.Do(m.T, r)
	return m.lastReply.Status < 300
}

func (m *indexModel) name(kind string) string {
	m.names++
	return fmt.Sprintf("%s %s %d", m.maker.DrawWords(2), kind, m.names)
}

// path returns the path of a record below the API.
func (m *indexModel) path(kind calendar.Kind, id int64) string {
	if kind == calendar.Category {
		return fmt.Sprint("/categories/", id)
	}
	return fmt.Sprintf("/%ss/%d", kind, id)
}

// stamp returns the time that is the given number of hours from now, as clients send it.
func (m *indexModel) stamp(hours int) string {
	return m.now().Add(time.Duration(hours) * time.Hour).Format("2006-01-02T15:04:05Z")
}

// eventBody returns random fields of an event, for creates. Updates send a part of them.
func (m *indexModel) eventBody() object {
	start := m.IntN(2000) - 500
	body := object{
		"title": m.name("event"), "description": "<p>" + m.maker.DrawWords(1) + "</p>",
		"start_date": m.stamp(start), "end_date": m.stamp(start + m.IntN(40)), "all_day": draw.Percent(m.Rand, 20),
		"hide_from_listings": draw.Percent(m.Rand, 10),
		"cost":               draw.Item(m.Rand, "", "0", "5"), "status": draw.Item(m.Rand, "publish", "publish", "publish", "draft", "pending", "private"),
		"password": draw.Item(m.Rand, "", "", "", randomcalendar.Password), "venue": m.links(calendar.Venue, 2),
		"organizer": m.links(calendar.Organizer, 2), "categories": m.links(calendar.Category, 2),
		"tags": m.links(calendar.Tag, 2),
	}
	m.maker.DrawAside(func() {
		for _, f := range m.world.FlagColumns {
			body[f.Field] = draw.Percent(m.maker.Rand, 30)
		}
		for _, f := range m.world.WordColumns {
			body[f.Field] = draw.Item(m.maker.Rand, f.Words...)
		}
	})
	return body
}

func (m *indexModel) venueBody() object {
	return object{
		"venue": m.name("venue"), "city": m.maker.DrawWords(1), "address": m.maker.DrawWords(1), "description": m.maker.DrawWords(1),
		"geo_lat": 52 + m.Float64(), "geo_lng": 21 + m.Float64(), "status": draw.Item(m.Rand, "publish", "publish", "draft", "private"),
	}
}

func (m *indexModel) organizerBody() object {
	return object{
		"organizer": m.name("organizer"), "phone": m.maker.DrawWords(1), "email": "a@example.org", "description": m.maker.DrawWords(1),
		"status": draw.Item(m.Rand, "publish", "publish", "draft", "private"),
	}
}

// part returns a random part of a body, with at least one key.
func (m *indexModel) part(body object) object {
	out := object{}
	for _, key := range draw.Items(m.Rand, slices.Sorted(maps.Keys(body)), 1+m.IntN(4)) {
		out[key] = body[key]
	}
	if _, there := out["start_date"]; there {
		out["end_date"] = body["end_date"]
	} else if _, there := out["end_date"]; there {
		out["start_date"] = body["start_date"]
	}
	if _, there := out["geo_lat"]; there {
		out["geo_lng"] = body["geo_lng"]
	} else if _, there := out["geo_lng"]; there {
		out["geo_lat"] = body["geo_lat"]
	}
	return out
}

// update sends an update of a random record that is not in the trash, and reports whether it succeeded.
func (m *indexModel) update(kind calendar.Kind, query string, body object) bool {
	m.Helper()
	statuses := notTrashed
	if kind == calendar.Category || kind == calendar.Tag {
		statuses = nil
	}
	id := m.pick(kind, statuses...)
	return id != 0 && m.send("PATCH", m.path(kind, id)+query, body)
}

// linkedID returns the id of a venue or organizer, preferably one that events are linked to.
func (m *indexModel) linkedID(kind calendar.Kind) int64 {
	m.Helper()
	var ids []int64
	if kind == calendar.Venue {
		for _, l := range m.db.EventVenue.Query().AllX(m.ctx) {
			ids = append(ids, l.VenueID)
		}
	} else {
		for _, l := range m.db.EventOrganizer.Query().AllX(m.ctx) {
			ids = append(ids, l.OrganizerID)
		}
	}
	if ids == nil {
		return m.pick(kind, notTrashed...)
	}
	return draw.Item(m.Rand, ids...)
}

// editor returns an editor that writes without the API, like the command line.
func (m *indexModel) editor() *edit.Editor {
	return &edit.Editor{Site: m.followed.Site, Now: m.now(), By: auth.System(), PasswordKey: m.followed.Key}
}

func (m *indexModel) edit(do func(tx *ent.Tx, e *edit.Editor) error) bool {
	m.Helper()
	e := m.editor()
	if err := edit.Write(m.ctx, m.db, e, func(tx *ent.Tx) error { return do(tx, e) }); err != nil {
		m.Error(err)
		return false
	}
	return true
}

// prepared stores a batch that a loader has prepared, unless preparing it returned an error. It reports whether
// the batch was stored, and fails the test if not.
func (m *indexModel) prepared(l *bulk.Loader, p *bulk.Batch, err error) bool {
	m.Helper()
	if err == nil {
		_, err = l.Write(m.ctx, p)
	}
	if err != nil {
		m.Error(err)
	}
	return err == nil
}

// load adds venues, organizers and terms with the bulk loader, and the given number of events linked to them.
func (m *indexModel) load(events int) {
	m.Helper()
	m.write("load terms", (*indexModel).loadTerms)
	m.write("load venues", (*indexModel).loadVenues)
	m.write("load organizers", (*indexModel).loadOrganizers)
	m.write("load events", func(m *indexModel) bool { return m.loadEvents(events) })
}

func (m *indexModel) loadTerms() bool {
	for _, kind := range []calendar.Kind{calendar.Category, calendar.Tag} {
		in := make([]bulk.Term, 4)
		for i := range in {
			in[i].Name = new(m.name(string(kind)))
			if i > 0 && kind == calendar.Category {
				in[i].Parent = func(batch []int64) int64 { return batch[i/2] }
			}
		}
		if _, err := bulk.NewLoader(m.followed.Store, m.editor()).Terms(m.ctx, kind, in); err != nil {
			m.Error(err)
			return false
		}
	}
	return true
}

func (m *indexModel) loadVenues() bool {
	in := make([]bulk.Venue, 4)
	for i := range in {
		in[i].Name, in[i].SourceID = new(m.name("loaded")), new(fmt.Sprint("model?venue=", m.names))
		if i > 0 {
			in[i].Values.Latitude = &edit.Coordinate{Set: true, Degrees: 52 + m.Float64()}
			in[i].Values.Longitude = &edit.Coordinate{Set: true, Degrees: 21 + m.Float64()}
		}
	}
	l := bulk.NewLoader(m.followed.Store, m.editor())
	p, err := l.Venues(in)
	return m.prepared(l, p, err)
}

func (m *indexModel) loadOrganizers() bool {
	in := make([]bulk.Organizer, 4)
	for i := range in {
		in[i].Name, in[i].SourceID = new(m.name("loaded")), new(fmt.Sprint("model?organizer=", m.names))
	}
	l := bulk.NewLoader(m.followed.Store, m.editor())
	p, err := l.Organizers(in)
	return m.prepared(l, p, err)
}

func (m *indexModel) loadEvents(count int) bool {
	in := make([]bulk.Event, count)
	for i := range in {
		start := m.now().Add(time.Duration(m.IntN(2000)-200) * time.Hour)
		e := &in[i].EventInput
		e.Title, e.Status = new(m.name("loaded")), new(draw.Item(m.Rand, calendar.Publish, calendar.Publish, calendar.Draft))
		e.Start = new(when.FromWall(calendar.UTC().Wall(start)))
		e.End = new(when.FromWall(calendar.UTC().Wall(start.Add(time.Hour))))
		var venues []edit.VenueRef
		for _, id := range m.links(calendar.Venue, 2) {
			venues = append(venues, edit.VenueRef{ID: id})
		}
		var organizers []edit.OrganizerRef
		for _, id := range m.links(calendar.Organizer, 2) {
			organizers = append(organizers, edit.OrganizerRef{ID: id})
		}
		var terms []edit.TermRef
		for _, id := range m.links(calendar.Tag, 2) {
			terms = append(terms, edit.TermRef{ID: id})
		}
		e.Venues, e.Organizers, e.Tags = &venues, &organizers, &terms
		in[i].Parent = func(batch []int64) int64 { return batch[0] * int64(i%2) }
	}
	l := bulk.NewLoader(m.followed.Store, m.editor())
	p, err := l.Events(in)
	return m.prepared(l, p, err)
}

// removeAll permanently removes up to three records of a kind, in or out of the trash.
func (m *indexModel) removeAll(kind calendar.Kind) bool {
	ids := []int64{m.pick(kind), m.pick(kind)}
	if kind != calendar.Event {
		ids = append(ids, m.linkedID(kind))
	}
	before := m.count(kind)
	return m.edit(func(tx *ent.Tx, e *edit.Editor) error { return e.RemoveAll(m.ctx, tx, kind, ids) }) && m.count(kind) < before
}

func (m *indexModel) count(kind calendar.Kind) int {
	switch kind {
	case calendar.Venue:
		return m.db.Venue.Query().CountX(m.ctx)
	case calendar.Organizer:
		return m.db.Organizer.Query().CountX(m.ctx)
	}
	return m.db.Event.Query().CountX(m.ctx)
}

// guest returns the login of a user who has written something and may be removed.
func (m *indexModel) guest() string {
	var guests []string
	for _, c := range m.world.Callers {
		if strings.HasPrefix(c.Login, "guest") {
			guests = append(guests, c.Login)
		}
	}
	if guests == nil {
		m.addGuest()
		return m.guest()
	}
	return draw.Item(m.Rand, guests...)
}

// addGuest adds a user who writes something, for a later removal.
func (m *indexModel) addGuest() bool {
	login := fmt.Sprint("guest", len(m.users))
	m.signIn(login, calendar.Author, listreference.Author)
	return m.sendAs(login, "POST", "/events", m.eventBody()) && m.sendAs(login, "POST", "/venues", m.venueBody()) &&
		m.sendAs(login, "POST", "/organizers", m.organizerBody())
}

func (m *indexModel) trash(kind calendar.Kind) int64 {
	if kind == calendar.Event {
		return m.pick(kind, notTrashed...)
	}
	return m.linkedID(kind)
}

var errRolledBack = errors.New("rolled back")

// indexWrites are the kinds of writes. Each reports whether it took effect.
var indexWrites = slices.Concat(seriesWrites, []indexWrite{
	{"create event", func(m *indexModel) bool { return m.send("POST", "/events", m.eventBody()) }},
	{"create event with new records", func(m *indexModel) bool {
		body := m.eventBody()
		body["venue"], body["organizer"] = m.venueBody(), m.organizerBody()
		body["tags"], body["categories"] = []string{m.name("tag")}, []string{m.name("category")}
		return m.send("POST", "/events", body)
	}},
	{"create venue", func(m *indexModel) bool { return m.send("POST", "/venues", m.venueBody()) }},
	{"create venue again", func(m *indexModel) bool {
		id := m.pick(calendar.Venue, calendar.Publish)
		if id == 0 {
			return false
		}
		body := m.venueBody()
		body["venue"] = m.db.Venue.GetX(m.ctx, id).Name
		delete(body, "description")
		return m.sendAs("administrator", "POST", "/venues", body)
	}},
	{"create organizer", func(m *indexModel) bool { return m.send("POST", "/organizers", m.organizerBody()) }},
	{"create category", func(m *indexModel) bool {
		return m.send("POST", "/categories", object{"name": m.name("category"), "parent": m.pick(calendar.Category)})
	}},
	{"create tag", func(m *indexModel) bool { return m.send("POST", "/tags", object{"name": m.name("tag")}) }},

	{"update event", func(m *indexModel) bool { return m.update(calendar.Event, "", m.part(m.eventBody())) }},
	{"relink event", func(m *indexModel) bool {
		body := m.eventBody()
		return m.update(calendar.Event, "", object{
			"venue": body["venue"], "organizer": body["organizer"], "categories": body["categories"], "tags": body["tags"],
		})
	}},
	{"protect event", func(m *indexModel) bool {
		return m.update(calendar.Event, "", object{"password": randomcalendar.Password})
	}},
	{"open event", func(m *indexModel) bool { return m.update(calendar.Event, "", object{"password": ""}) }},
	{"place event below another", func(m *indexModel) bool {
		return m.update(calendar.Event, "", object{"post_parent": m.pick(calendar.Event, calendar.Publish)})
	}},
	{"update venue", func(m *indexModel) bool { return m.update(calendar.Venue, "", m.part(m.venueBody())) }},
	{"move venue", func(m *indexModel) bool {
		return m.update(calendar.Venue, "", object{"geo_lat": 52 + m.Float64(), "geo_lng": 21 + m.Float64()})
	}},
	{"take position of venue", func(m *indexModel) bool {
		return m.update(calendar.Venue, "", object{"geo_lat": nil, "geo_lng": nil})
	}},
	{"update organizer", func(m *indexModel) bool { return m.update(calendar.Organizer, "", m.part(m.organizerBody())) }},
	{"change author", func(m *indexModel) bool {
		author := m.users[draw.Item(m.Rand, "contributor", "author", "editor")]
		return m.update(draw.Item(m.Rand, calendar.Event, calendar.Venue, calendar.Organizer), "", object{"author": author})
	}},
	{"rename term", func(m *indexModel) bool {
		kind := draw.Item(m.Rand, calendar.Category, calendar.Tag)
		return m.update(kind, "", object{"name": m.name(string(kind))})
	}},
	{"move category", func(m *indexModel) bool {
		return m.update(calendar.Category, "", object{"parent": m.pick(calendar.Category)})
	}},
	{"delete category", func(m *indexModel) bool {
		id := m.pick(calendar.Category)
		return id != 0 && m.send("DELETE", m.path(calendar.Category, id), nil)
	}},
	{"delete tag", func(m *indexModel) bool {
		id := m.pick(calendar.Tag)
		return id != 0 && m.send("DELETE", m.path(calendar.Tag, id), nil)
	}},

	{"schedule event", func(m *indexModel) bool {
		return m.update(calendar.Event, "", object{"status": "publish", "date_utc": m.stamp(1 + m.IntN(48))})
	}},
	{"schedule venue", func(m *indexModel) bool {
		return m.update(calendar.Venue, "", object{"status": "publish", "date_utc": m.stamp(1 + m.IntN(48))})
	}},
	{"schedule organizer", func(m *indexModel) bool {
		return m.update(calendar.Organizer, "", object{"status": "publish", "date_utc": m.stamp(1 + m.IntN(48))})
	}},
	{"pass of time", func(m *indexModel) bool {
		m.clock.Add(3600*int64(m.IntN(24)) + 1)
		return true
	}},
	{"scheduled publication", func(m *indexModel) bool {
		m.update(calendar.Event, "", object{"status": "publish", "date_utc": m.stamp(2)})
		m.clock.Add(2 * 3600)
		n, err := edit.PublishDue(m.ctx, m.db, m.now())
		if err != nil {
			m.Error(err)
		}
		return n > 0
	}},

	{"trash venue in a write of an event", func(m *indexModel) bool {
		id := m.linkedID(calendar.Venue)
		if id == 0 {
			return false
		}
		name := m.db.Venue.GetX(m.ctx, id).Name
		event := m.pick(calendar.Event, notTrashed...)
		return event != 0 && m.sendAs("administrator", "PATCH", m.path(calendar.Event, event), object{
			"title": m.name("event"), "venue": object{"venue": name, "status": "trash"},
		})
	}},
	{"rolled back", func(m *indexModel) bool {
		venue, event := m.linkedID(calendar.Venue), m.pick(calendar.Event)
		e := m.editor()
		err := edit.Write(m.ctx, m.db, e, func(tx *ent.Tx) error {
			if err := e.RemoveAll(m.ctx, tx, calendar.Venue, []int64{venue}); err != nil {
				return err
			}
			return errors.Join(e.RemoveAll(m.ctx, tx, calendar.Event, []int64{event}), errRolledBack)
		})
		return errors.Is(err, errRolledBack)
	}},

	{"create image", func(m *indexModel) bool {
		m.lastReply = m.followed.Do(m.T, upload("author", "a.png", picture(m.T, 2+m.IntN(9), 2)))
		return m.lastReply.Status == http.StatusCreated
	}},
	{"show image", func(m *indexModel) bool {
		m.lastReply = m.followed.Do(m.T, upload("author", "b.png", picture(m.T, 2, 2)))
		return m.update(draw.Item(m.Rand, calendar.Event, calendar.Venue, calendar.Organizer), "",
			object{"image": m.lastReply.Get(m.T, "id")})
	}},
	{"delete image", func(m *indexModel) bool {
		m.followed.Do(m.T, upload("author", "c.png", picture(m.T, 3, 2))) // so that there is one
		ids := m.db.Image.Query().IDsX(m.ctx)
		for _, r := range m.db.Event.Query().AllX(m.ctx) {
			if r.ImageID != nil {
				ids = append(ids, *r.ImageID)
			}
		}
		if len(ids) == 0 {
			m.lastReply = m.followed.Do(m.T, upload("author", "c.png", picture(m.T, 2, 2)))
			ids = []int64{int64(m.lastReply.Get(m.T, "id").(float64))}
		}
		return m.sendAs("administrator", "DELETE", fmt.Sprint("/images/", draw.Item(m.Rand, ids...)), nil)
	}},

	{"add user", (*indexModel).addGuest},
	{"change role", func(m *indexModel) bool {
		login := m.guest()
		role := draw.Item(m.Rand, calendar.Subscriber, calendar.Contributor, calendar.Author, calendar.Editor)
		if err := store.Tx(m.ctx, m.db, func(tx *ent.Tx) error {
			return auth.SetRole(m.ctx, tx.Client(), m.users[login], role)
		}); err != nil {
			m.Error(err)
		}
		m.clock.Add(60) // a process knows roles for some seconds
		return true
	}},
	{"remove user", func(m *indexModel) bool {
		login := m.guest()
		m.world.Callers = slices.DeleteFunc(m.world.Callers, func(c listreference.Caller) bool { return c.Login == login })
		return m.edit(func(tx *ent.Tx, e *edit.Editor) error { return e.RemoveUser(m.ctx, tx, m.users[login]) })
	}},

	{"load terms", (*indexModel).loadTerms},
	{"load venues", (*indexModel).loadVenues},
	{"load organizers", (*indexModel).loadOrganizers},
	{"load events", func(m *indexModel) bool { return m.loadEvents(4) }},
}, indexWritesOfKinds())

type indexWrite struct {
	name string
	do   func(m *indexModel) bool
}

// indexWritesOfKinds returns the random writes that exist for several kinds of records.
func indexWritesOfKinds() (out []indexWrite) {
	bodies := map[calendar.Kind]func(m *indexModel) object{
		calendar.Event: (*indexModel).eventBody, calendar.Venue: (*indexModel).venueBody, calendar.Organizer: (*indexModel).organizerBody,
		calendar.Category: func(m *indexModel) object { return object{"name": m.name("kategoria")} },
		calendar.Tag:      func(m *indexModel) object { return object{"name": m.name("tag")} },
	}
	texts := []string{"title", "venue", "organizer", "name", "description"}
	for _, kind := range []calendar.Kind{calendar.Event, calendar.Venue, calendar.Organizer, calendar.Category, calendar.Tag} {
		out = append(out, indexWrite{"translate " + string(kind), func(m *indexModel) bool {
			body := object{}
			for key, value := range bodies[kind](m) {
				if text, ok := value.(string); ok && slices.Contains(texts, key) {
					body[key] = text
				}
			}
			return m.update(kind, "?ml_language="+string(draw.Item(m.Rand, calendar.Polish, calendar.Spanish)), body)
		}})
	}
	for _, kind := range []calendar.Kind{calendar.Event, calendar.Venue, calendar.Organizer} {
		out = append(out, []indexWrite{
			{"trash " + string(kind), func(m *indexModel) bool {
				id := m.trash(kind)
				return id != 0 && m.sendAs("editor", "DELETE", m.path(kind, id), nil)
			}},
			{"trash " + string(kind) + " by status", func(m *indexModel) bool {
				id := m.trash(kind)
				return id != 0 && m.sendAs("editor", "PATCH", m.path(kind, id), object{"status": "trash"})
			}},
			{"restore " + string(kind), func(m *indexModel) bool {
				id := m.pick(kind, calendar.Trash)
				if id == 0 {
					if id = m.trash(kind); id == 0 || !m.sendAs("editor", "DELETE", m.path(kind, id), nil) {
						return false
					}
				}
				return m.sendAs("editor", "PATCH", m.path(kind, id), object{"status": draw.Item(m.Rand, "publish", "draft")})
			}},
			{"change status of " + string(kind), func(m *indexModel) bool {
				return m.update(kind, "", object{"status": draw.Item(m.Rand, "publish", "draft", "pending", "private")})
			}},
			{"remove " + string(kind) + "s in bulk", func(m *indexModel) bool { return m.removeAll(kind) }},
		}...)
	}
	return out
}
