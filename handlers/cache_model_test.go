package handlers_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/bulk"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/upkeep"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/draw"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/randomcalendar"
	"github.com/almanac-cal/almanac/proof/storetest"
)

var (
	cacheRounds = flag.Int("cache-rounds", 1, "rounds of all kinds of writes in TestCachesFollowEveryWrite")
	cacheSeed   = flag.Uint64("cache-seed", 1, "seed of TestCachesFollowEveryWrite")
)

// leastKept is the least share, in percent, of the replies in the caches that a write may leave there.
const leastKept = 40

// longAge is how long clients may cache replies. It is longer than most steps of the clock, so that replies whose end
// comes earlier have to say so.
const longAge = 30 * 24 * time.Hour

// TestCachesFollowEveryWrite has two processes with caches write in turn, at random, in every possible way. Before
// each write, both answer a list of requests, so that the replies are in their caches. After it they must answer
// like a process without caches and index.
func TestCachesFollowEveryWrite(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st := storetest.Migrated(t, url)
		storetest.SkipShort(t, st)
		m := newCacheModel(t, st, url, *cacheSeed)
		for range *cacheRounds {
			kinds := slices.Concat(indexWrites, cacheWrites)
			m.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
			for _, kind := range kinds {
				m.write(kind.name, kind.do)
			}
			m.shareTerms()
			m.scheduleLinks()
		}
		m.report()
	})
}

// cacheModel is a calendar to which two processes with caches write at random.
type cacheModel struct {
	*indexModel
	services  [2]*apitest.API     // of the processes
	processes [2]*apitest.Process // with caches
	plain     *apitest.Process    // without caches, without an index
	asks      []cacheAsk
	witness   []cacheAsk // show an event that another write changes
	last      map[cacheAsk]freshReply
	revision  int64 // before the write
	fills     int

	compared      int
	asked, kept   int // replies that could be in a cache when the revision grew, and those that were used
	steady, reuse int // the same when it did not grow
	records       int // records that were used when the revision grew
	ended         int // replies that changed with the time alone
}

// cacheAsk is a request that is repeated after each write. The path is below the API unless it begins with a
// language.
type cacheAsk struct{ path, login string }

// single reports whether the request is for one record, without a query.
func (a cacheAsk) single() bool {
	return strings.Count(a.path, "/") == 2 && !strings.Contains(a.path, "?")
}

// freshReply is a reply with the time until which clients may use it if no write changes the calendar.
type freshReply struct {
	revision int64
	until    time.Time
	body     []byte
}

func newCacheModel(t *testing.T, st *store.Store, url string, seed uint64) *cacheModel {
	t.Helper()
	files, err := media.OpenDir(t.TempDir())
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	})
	common := func(c *handlers.Config) { c.Files = files }
	m := &cacheModel{
		indexModel: newIndexModel(t, st, seed, common), last: map[cacheAsk]freshReply{},
	}
	m.plain = m.indexModel.plain.Uncached()
	other := storetest.Open(t, url)
	second := apitest.New(t, other, common, func(c *handlers.Config) {
		c.Site = m.followed.Site
		c.Index = index.New(other.Ent, read.EventColumns(), slog.New(slog.DiscardHandler))
		must.Succeed(t, c.Index.Load(t.Context()))
	})
	second.ShareTokens(m.followed)
	m.services = [2]*apitest.API{m.followed, second}
	for i, api := range m.services {
		m.processes[i] = api.Caching(t, longAge)
		api.Serve(m.processes[i])
	}
	m.addGuest()
	for _, do := range []func(*indexModel) bool{
		(*indexModel).loadTerms, (*indexModel).loadVenues, (*indexModel).loadOrganizers, (*indexModel).loadVenues,
		(*indexModel).loadOrganizers,
	} {
		do(m.indexModel)
		m.loadRecords()
	}
	m.loadEvents(15)
	m.loadRecords()
	return m
}

// write makes one write by one of the processes, and compares all replies.
func (m *cacheModel) write(kind string, do func(m *indexModel) bool) {
	m.Helper()
	m.fill()
	m.followed = draw.Item(m.Rand, m.services[:]...)
	m.db = m.followed.Store.Ent
	for range 5 { // some attempts are refused, by chance
		if do(m.indexModel) {
			m.writes[kind]++
			break
		}
		m.refused++
		m.loadRecords()
	}
	m.loadRecords()
	m.compare(kind)
	if m.Failed() {
		m.Fatalf("run again with -cache-seed %d -cache-rounds %d", *cacheSeed, *cacheRounds)
	}
}

// fill chooses the requests to repeat after the next writes, and has both processes answer those that are new. It
// always chooses the requests in witness. It also chooses a quarter of the requests for single records, and a
// twelfth of the rest. If storetest.IsBrief, it chooses a sixteenth of all instead. The choice changes after ten
// writes.
func (m *cacheModel) fill() {
	m.Helper()
	before := map[cacheAsk]bool{}
	for _, a := range m.asks {
		before[a] = true
	}
	m.asks = nil
	m.fills++
	brief, turn := storetest.IsBrief(m.services[0].Store), m.fills/10
	for i, a := range m.requestsNow() {
		if slices.Contains(m.witness, a) || !brief && (a.single() && i%4 == turn%4 || i%12 == turn%12) || i%16 == 0 {
			m.asks = append(m.asks, a)
		}
	}
	for _, a := range m.asks {
		if !before[a] {
			m.send(a, m.processes[:]...)
		}
	}
	m.revision = m.newest()
}

func (m *cacheModel) newest() int64 {
	m.Helper()
	revision, err := edit.Revision(m.ctx, m.db)
	must.Succeed(m, err)
	return revision
}

// send has the given processes answer a request at the same time.
func (m *cacheModel) send(a cacheAsk, processes ...*apitest.Process) []apitest.Response {
	m.Helper()
	out := make([]apitest.Response, len(processes))
	var wait sync.WaitGroup
	for i, p := range processes {
		r := apitest.Request{Path: a.path, Absolute: strings.HasPrefix(a.path, "/pl/"), As: a.login}
		req := m.followed.NewRequest(m.T, r)
		wait.Go(func() { out[i] = p.Send(m.T, req) })
	}
	wait.Wait()
	return out
}

// compare sends all requests to both processes and to one without caches. It fails if the replies differ. kind
// names the write that came before.
func (m *cacheModel) compare(kind string) {
	m.Helper()
	var callers []string
	for _, c := range m.world.Callers {
		callers = append(callers, c.Login)
	}
	// The password of a removed user is remembered for some seconds.
	m.asks = slices.DeleteFunc(m.asks, func(a cacheAsk) bool { return !slices.Contains(callers, a.login) })
	revision, cacheable := m.newest(), 0
	counted := m.fills%4 == 0 // to read the counters takes longer than some requests
	var hits, records int
	if counted {
		hits, records = m.hits()
	}
	for _, a := range m.asks {
		replies := m.send(a, m.plain, m.processes[0], m.processes[1])
		want := replies[0]
		m.statuses[want.Status]++
		m.compared++
		if a.login == "" && want.Status == http.StatusOK && !strings.Contains(a.path, "password=") {
			m.checkAge(kind, a, revision, want.Body, replies[1:])
			cacheable += len(replies[1:])
		}
		for i, got := range replies[1:] {
			if diff := apitest.Difference(want, got); diff != nil {
				m.Errorf("after %q by process %d, at %s: process %d answers %s to %q (-without +with caches):\n%v",
					kind, slices.Index(m.services[:], m.followed), m.now(), i, a.path, a.login, diff)
			}
		}
	}
	if !counted {
		return
	}
	hitsNow, recordsNow := m.hits()
	if revision > m.revision {
		m.asked, m.kept, m.records = m.asked+cacheable, m.kept+hitsNow-hits, m.records+recordsNow-records
	} else {
		m.steady, m.reuse = m.steady+cacheable, m.reuse+hitsNow-hits
	}
}

// hits returns how many replies and records the two processes have answered from their caches.
func (m *cacheModel) hits() (replies, records int) {
	for _, p := range m.processes {
		r, n := p.Hits(m.T)
		replies, records = replies+r, records+n
	}
	return replies, records
}

// checkAge removes Cache-Control from the replies and checks it: without a write, a reply must stay the same while
// clients may use it. The process without caches does not send the header, since it does not know the next publication.
// A cached reply may have a shorter age than a new one.
func (m *cacheModel) checkAge(kind string, a cacheAsk, revision int64, body []byte, replies []apitest.Response) {
	m.Helper()
	if was, ok := m.last[a]; ok && was.revision == revision && !bytes.Equal(was.body, body) {
		m.ended++
		if m.now().Before(was.until) {
			m.Errorf("after %q, at %s: clients may use the reply to %s until %s, but it has changed", kind, m.now(), a.path, was.until)
		}
	}
	latest := m.now()
	for _, r := range replies {
		text, ok := strings.CutPrefix(r.Header.Get("Cache-Control"), "public, max-age=")
		seconds, err := strconv.Atoi(text)
		if !ok || err != nil {
			m.Errorf("after %q, %s: Cache-Control is %q", kind, a.path, r.Header.Get("Cache-Control"))
		}
		if until := m.now().Add(time.Duration(seconds) * time.Second); until.After(latest) {
			latest = until
		}
		r.Header.Set("Cache-Control", "public, max-age=0") // as without caches
	}
	m.last[a] = freshReply{revision, latest, body}
}

// requestsNow returns the requests among which fill chooses. They name records that exist now.
func (m *cacheModel) requestsNow() []cacheAsk {
	m.Helper()
	const all, most = "per_page=50&starts_after=1999-12-31", "per_page=15&starts_after=2026-10-31"
	e, v, o := m.ids(calendar.Event), m.ids(calendar.Venue), m.ids(calendar.Organizer)
	c, g := m.ids(calendar.Category), m.ids(calendar.Tag)
	images := m.db.Image.Query().IDsX(m.ctx)
	slices.Sort(images)
	images = images[max(0, len(images)-2):]
	event := m.db.Event.GetX(m.ctx, e[0])
	var out []cacheAsk
	add := func(format string, args ...any) { out = append(out, cacheAsk{path: fmt.Sprintf(format, args...)}) }
	for _, path := range []string{
		"/", "/events", "/events?" + all, "/events?per_page=7&page=2&starts_after=1999-12-31", "/events?per_page=3&page=1",
		"/events?" + all + "&ml_language=pl", "/events?" + most + "&ml_language=es", "/pl/" + handlers.Namespace + "/events?per_page=20",
		"/events?" + most + "&_fields=id,title,venue", "/events?" + most + "&_fields=id,categories,tags,image",
		"/events?" + most + "&search=loaded", "/events?" + most + "&featured=1", "/events?" + most + "&ticketed=0",
		"/events?" + most + "&event_status=canceled", "/events?" + most + "&event_status=scheduled,postponed",
		"/events?" + all + "&series=next", "/events?" + most + "&series=next", "/events?series=none&per_page=20",
		"/series", "/series?per_page=50&ml_language=pl", "/series?search=series", "/events?" + most + "&series=next&featured=0", "/events?" + most + "&status=publish", "/events?" + most + "&geoloc=1", "/events?" + most + "&geoloc=0",
		"/events?geoloc_lat=52.5&geoloc_lng=21.5&geoloc_radius=60", "/events?start_date=today&end_date=tomorrow",
		"/events?start_date=now&strict_dates=1&end_date=2027-03-01", "/events?starts_before=now", "/events?ends_after=-2+days&per_page=20",
		"/events?start_date=2026-11-01&end_date=2027-01-31&per_page=50", "/events?" + all + "&password=" + randomcalendar.Password,
		"/venues?per_page=50", "/venues?has_events=1&per_page=20", "/venues?only_with_upcoming=1&ml_language=pl", "/venues?search=loaded",
		"/organizers?per_page=50", "/organizers?has_events=0&per_page=20", "/organizers?only_with_upcoming=1", "/organizers?ml_language=es",
		"/categories?hide_empty=0&per_page=50", "/categories?orderby=count&order=desc", "/categories?ml_language=pl&per_page=50",
		"/tags?hide_empty=0&per_page=50", "/tags?orderby=count&order=desc", "/tags?ml_language=es",
	} {
		add("%s", path)
	}
	for _, path := range []string{
		"/pl/events.ics", "/pl/events.ics?per_page=3&page=2", "/pl/events.ics?starts_after=1999-12-31", "/pl/events.atom",
		"/pl/events.json?starts_after=1999-12-31", "/pl/events.ics?month=2026-12", "/pl/events/list/?ical=1&featured=1",
		"/pl/event/" + event.Slug + ".ics",
	} {
		add("%s", path)
	}
	add("/pl/events.ics?categories=%d", c[0])
	add("/pl/events.ics?venue=%d&per_page=5", v[0])
	for _, id := range e {
		add("/events/%d", id)
	}
	add("/events/%d?ml_language=pl", e[0])
	add("/events/%d?_fields=id,categories,venue,image", e[1])
	add("/events/%d?password=%s", e[1], randomcalendar.Password)
	add("/events/by-slug/%s", event.Slug)
	add("/events?include=%d,%d,%d", e[0], e[1], e[2])
	add("/events?"+most+"&post_parent=%d", e[0])
	for _, id := range v {
		add("/venues/%d", id)
		add("/events?"+most+"&venue=%d", id)
	}
	add("/venues?event=%d", e[0])
	add("/venues/by-slug/%s", m.db.Venue.GetX(m.ctx, v[0]).Slug)
	for _, id := range o {
		add("/organizers/%d", id)
		add("/events?"+most+"&organizer=%d", id)
	}
	add("/organizers/by-slug/%s?ml_language=pl", m.db.Organizer.GetX(m.ctx, o[0]).Slug)
	for _, id := range c {
		add("/categories/%d", id)
		add("/events?"+most+"&categories=%d", id)
	}
	add("/categories?parent=%d&hide_empty=0", c[0])
	add("/events?"+most+"&categories=%s", m.db.Term.GetX(m.ctx, c[0]).Slug)
	add("/categories?event=%d", e[0])
	series := m.db.Series.Query().IDsX(m.ctx)
	slices.Sort(series)
	for _, id := range series[max(0, len(series)-3):] {
		add("/events?"+all+"&series=%d", id)
		add("/series/%d", id)
	}
	for _, id := range g {
		add("/tags/%d?ml_language=pl", id)
		add("/events?"+most+"&tags=%d", id)
	}
	add("/tags?post=%d&hide_empty=0", e[0])
	for _, id := range images {
		add("/images/%d", id)
	}
	for i, caller := range m.world.Callers[1:] {
		as := func(format string, args ...any) {
			out = append(out, cacheAsk{fmt.Sprintf(format, args...), caller.Login})
		}
		if i > 6 {
			break // two guests are enough
		}
		as("/events?%s", most)
		as("/events?%s&series=next", most)
		as("/events/%d", e[i%len(e)])
		as("/venues?per_page=50")
		switch caller.Login {
		case "author", "editor":
			as("/events?" + all + "&status=draft,pending,private,future,publish&ml_language=pl")
			as("/images")
			as("/events/%d?_fields=id,status,categories", e[1])
		case "administrator":
			as("/events?" + all + "&status=trash")
			as("/venues?status=trash,draft,private,publish")
			as("/organizers?status=trash,draft,private,publish")
			as("/categories?hide_empty=0&per_page=50")
		}
	}
	for _, a := range m.witness {
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// ids returns ids of a kind for requests: those of the first published records with a slug, and of the newest
// records of any status.
func (m *cacheModel) ids(kind calendar.Kind) []int64 {
	m.Helper()
	var published, all []int64
	add := func(id int64, status calendar.Status, slug string) {
		if all = append(all, id); status == calendar.Publish && slug != "" {
			published = append(published, id)
		}
	}
	half := 1
	switch kind {
	case calendar.Event:
		half = 3
		for _, r := range m.db.Event.Query().AllX(m.ctx) {
			add(r.ID, r.Status, r.Slug)
		}
	case calendar.Venue:
		for _, r := range m.db.Venue.Query().AllX(m.ctx) {
			add(r.ID, r.Status, r.Slug)
		}
	case calendar.Organizer:
		for _, r := range m.db.Organizer.Query().AllX(m.ctx) {
			add(r.ID, r.Status, r.Slug)
		}
	default:
		for _, t := range m.world.Terms[kind][1:] {
			add(t.ID, calendar.Publish, "term")
		}
	}
	slices.Sort(all)
	slices.Sort(published)
	if len(published) < half || len(all) < 2*half {
		m.Fatalf("%d records of the kind %s are left, %d of them published", len(all), kind, len(published))
	}
	return append(published[:half:half], all[len(all)-half:]...)
}

// shareTerms changes one of two events that have the same terms, in all the ways that change the numbers of events of the
// terms. The other event shows these numbers. The change log has an entry for neither the other event nor the terms.
func (m *cacheModel) shareTerms() {
	m.Helper()
	shared := m.name("shared")
	body := func(status string) object {
		return object{
			"title": m.name("shared"), "start_date": m.stamp(100), "end_date": m.stamp(101), "status": status,
			"categories": []string{shared}, "tags": []string{shared},
		}
	}
	create := func(status string) int64 {
		if !m.sendAs("administrator", "POST", "/events", body(status)) {
			m.Fatalf("%d %s", m.lastReply.Status, m.lastReply.Body)
		}
		return int64(m.lastReply.Get(m.T, "id").(float64))
	}
	shown := create("publish")
	row := m.db.Event.GetX(m.ctx, shown)
	category, tag := m.lastReply.Get(m.T, "categories", 0, "id"), m.lastReply.Get(m.T, "tags", 0, "id")
	other := create("draft")
	m.witness = nil
	for _, path := range []string{
		fmt.Sprintf("/events/%d", shown), fmt.Sprintf("/events/%d?ml_language=pl", shown), "/events/by-slug/" + row.Slug,
		fmt.Sprintf("/events/%d?_fields=categories,tags", shown), fmt.Sprintf("/events?include=%d", shown),
		fmt.Sprintf("/events?include=%d&_fields=tags", shown), fmt.Sprintf("/categories/%v", category), fmt.Sprintf("/tags/%v", tag),
	} {
		m.witness = append(m.witness, cacheAsk{path: path})
	}
	for _, login := range []string{"subscriber", "editor"} {
		m.witness = append(m.witness, cacheAsk{fmt.Sprintf("/events/%d", shown), login})
	}
	m.loadRecords()

	patch := func(fields object) func(*indexModel) bool {
		return func(*indexModel) bool {
			return m.sendAs("administrator", "PATCH", m.path(calendar.Event, other), fields)
		}
	}
	for _, step := range []struct {
		name  string
		count float64 // of the terms, after it
		do    func(*indexModel) bool
	}{
		{"publish", 2, patch(object{"status": "publish"})},
		{"trash", 1, func(*indexModel) bool { return m.sendAs("editor", "DELETE", m.path(calendar.Event, other), nil) }},
		{"restore", 2, patch(object{"status": "publish"})},
		{"make private", 1, patch(object{"status": "private"})},
		{"publish with a password", 2, patch(object{"status": "publish", "password": randomcalendar.Password})},
		{"take the terms", 1, patch(object{"categories": []string{}, "tags": []string{}})},
		{"give the terms", 2, patch(object{"categories": []any{category}, "tags": []any{tag}})},
		{"schedule", 1, patch(object{"date_utc": m.stamp(1)})},
		{"reach the date of", 1, func(*indexModel) bool { m.clock.Add(3600); return true }},
		{"publish on its date", 2, func(*indexModel) bool {
			n, err := edit.PublishDue(m.ctx, m.db, m.now())
			if err != nil {
				m.Error(err)
			}
			return n > 0
		}},
		{"load an event like", 3, func(*indexModel) bool { return m.loadShared(int64(category.(float64)), int64(tag.(float64))) }},
		{"remove", 2, func(*indexModel) bool {
			return m.edit(func(tx *ent.Tx, e *edit.Editor) error {
				return e.RemoveAll(m.ctx, tx, calendar.Event, []int64{other})
			})
		}},
		{"create an event like", 3, func(*indexModel) bool { return m.sendAs("administrator", "POST", "/events", body("publish")) }},
	} {
		was := m.writes["share terms: "+step.name]
		m.write("share terms: "+step.name, step.do)
		if m.writes["share terms: "+step.name] == was {
			m.Errorf("%s an event: %d %s", step.name, m.lastReply.Status, m.lastReply.Body)
		}
		reply := m.send(m.witness[0], m.plain)[0]
		for _, taxonomy := range []string{"categories", "tags"} {
			if got := reply.Get(m.T, taxonomy, 0, "count"); got != step.count {
				m.Errorf("%s an event: the other one shows %s with %v events, want %v", step.name, taxonomy, got, step.count)
			}
		}
	}
	m.witness = nil
}

// scheduleLinks schedules the publication of an event's venue and organizer. The event shows them from that date
// on, without another write.
func (m *cacheModel) scheduleLinks() {
	m.Helper()
	due := m.stamp(2)
	venue, organizer := m.venueBody(), m.organizerBody()
	for _, linked := range []object{venue, organizer} {
		linked["status"], linked["date_utc"] = "publish", due
	}
	if !m.sendAs("administrator", "POST", "/events", object{
		"title": m.name("scheduled"), "start_date": m.stamp(100), "end_date": m.stamp(101), "venue": venue, "organizer": organizer,
	}) {
		m.Fatalf("%d %s", m.lastReply.Status, m.lastReply.Body)
	}
	id := int64(m.lastReply.Get(m.T, "id").(float64))
	m.witness = []cacheAsk{{path: m.path(calendar.Event, id)}}
	for _, login := range []string{"subscriber", "contributor", "author", "editor"} {
		m.witness = append(m.witness, cacheAsk{m.path(calendar.Event, id), login})
	}
	m.loadRecords()
	for _, step := range []struct {
		name  string
		shown int
		do    func(*indexModel) bool
	}{
		{"write another event", 0, func(*indexModel) bool { return m.sendAs("editor", "POST", "/events", m.eventBody()) }},
		{"reach the second before", 0, func(*indexModel) bool { m.clock.Add(2*3600 - 1); return true }},
		{"reach the date", 2, func(*indexModel) bool { m.clock.Add(1); return true }},
		{"publish", 2, func(*indexModel) bool {
			n, err := edit.PublishDue(m.ctx, m.db, m.now())
			if err != nil {
				m.Error(err)
			}
			return n > 1
		}},
	} {
		m.write("schedule links: "+step.name, step.do)
		var shown struct {
			Venue     json.RawMessage
			Organizer []json.RawMessage
		}
		m.send(m.witness[0], m.plain)[0].Into(m.T, &shown)
		n := len(shown.Organizer)
		if bytes.HasPrefix(shown.Venue, []byte("{")) {
			n++
		}
		if n != step.shown {
			m.Errorf("%s: the event shows %d of its venue and organizer, want %d", step.name, n, step.shown)
		}
	}
	m.witness = nil
}

// loadShared loads an event with a category and a tag.
func (m *cacheModel) loadShared(category, tag int64) bool {
	in := make([]bulk.Event, 1)
	e := &in[0].EventInput
	e.Title, e.Status = new(m.name("loaded")), new(calendar.Publish)
	e.Start = new(when.FromWall(calendar.UTC().Wall(m.now())))
	e.End = new(when.FromWall(calendar.UTC().Wall(m.now().Add(time.Hour))))
	e.Categories, e.Tags = &[]edit.TermRef{{ID: category}}, &[]edit.TermRef{{ID: tag}}
	l := bulk.NewLoader(m.followed.Store, m.editor())
	p, err := l.Events(in)
	return m.prepared(l, p, err)
}

// cacheWrites are kinds of writes that change what replies show and not what the index finds, and steps of the clock.
var cacheWrites = slices.Concat([]indexWrite{
	{"make venue private", func(m *indexModel) bool {
		return m.sendAs("editor", "PATCH", m.path(calendar.Venue, m.linkedID(calendar.Venue)), object{"status": "private"})
	}},
	{"publish venue", func(m *indexModel) bool {
		id := m.pick(calendar.Venue, calendar.Private, calendar.Draft)
		if id == 0 {
			m.update(calendar.Venue, "", object{"status": "draft"})
		}
		return id != 0 && m.sendAs("editor", "PATCH", m.path(calendar.Venue, id), object{"status": "publish"})
	}},
	{"rename venue of events", func(m *indexModel) bool {
		return m.sendAs("editor", "PATCH", m.path(calendar.Venue, m.linkedID(calendar.Venue)), object{"venue": m.name("venue")})
	}},
	{"rename organizer of events", func(m *indexModel) bool {
		return m.sendAs("editor", "PATCH", m.path(calendar.Organizer, m.linkedID(calendar.Organizer)), object{"organizer": m.name("organizer")})
	}},
	{"change texts of image of events", func(m *indexModel) bool {
		id := m.shownImage()
		return id != 0 && m.edit(func(tx *ent.Tx, e *edit.Editor) error {
			_, err := e.ReplaceImage(m.ctx, tx, id, func(u *ent.ImageUpdate) { u.SetWidth(m.IntN(1000) + 1).SetFilesize(int64(m.IntN(9999) + 1)) })
			return err
		})
	}},
	{"delete image of events", func(m *indexModel) bool {
		id := m.shownImage()
		return id != 0 && m.sendAs("administrator", "DELETE", fmt.Sprint("/images/", id), nil)
	}},
	{"reach a scheduled date", func(m *indexModel) bool {
		next, err := edit.NextDue(m.ctx, m.db, m.now())
		if err != nil {
			m.Error(err)
		}
		if next.IsZero() {
			m.update(draw.Item(m.Rand, calendar.Event, calendar.Venue, calendar.Organizer), "", object{"status": "publish", "date_utc": m.stamp(1)})
			return false
		}
		m.clock.Store(next.Unix())
		return true
	}},
	{"reach midnight", func(m *indexModel) bool {
		y, month, d := m.now().In(m.zone).Date()
		m.clock.Store(time.Date(y, month, d+1, 0, 0, 0, 0, m.zone).Unix())
		return true
	}},
	{"reach the end of an event", func(m *indexModel) bool {
		var ends []time.Time
		for _, e := range m.world.Events {
			if e.ID < 900_000 && e.End.After(m.now()) {
				ends = append(ends, e.End)
			}
		}
		if ends == nil {
			return false
		}
		m.clock.Store(slices.MinFunc(ends, time.Time.Compare).Unix() + int64(m.IntN(2)))
		return true
	}},
	{"reindex", func(m *indexModel) bool {
		if err := upkeep.Reindex(m.ctx, m.db, m.editor(), func(calendar.Kind, int) {}); err != nil {
			m.Error(err)
		}
		return true
	}},
	{"repair numbers of events", func(m *indexModel) bool {
		// The wrong number gets into replies with the next write of an event that shows it.
		rows := m.db.EventTerm.Query().AllX(m.ctx)
		if len(rows) == 0 {
			return false
		}
		shown := draw.Item(m.Rand, rows...)
		if _, err := m.db.ExecContext(m.ctx, fmt.Sprint("UPDATE terms SET event_count = event_count + 7 WHERE id = ", shown.TermID)); err != nil {
			m.Fatal(err)
		}
		m.sendAs("administrator", "PATCH", m.path(calendar.Event, shown.EventID), object{"title": m.name("event")})
		for _, path := range []string{m.path(calendar.Event, shown.EventID), "/events?per_page=50&starts_after=1999-12-31"} {
			m.followed.Do(m.T, apitest.Request{Path: path})
		}
		if err := upkeep.Repair(m.ctx, m.db, m.editor()); err != nil {
			m.Error(err)
		}
		return true
	}},
}, slugWrites())

// shownImage returns the id of an image that events show, or 0 if there is none.
func (m *indexModel) shownImage() int64 {
	m.Helper()
	m.lastReply = m.followed.Do(m.T, upload("author", "d.png", picture(m.T, 2+m.IntN(9), 3)))
	id := m.lastReply.Get(m.T, "id")
	for range 2 {
		if !m.update(calendar.Event, "", object{"image": id}) {
			return 0
		}
	}
	return int64(id.(float64))
}

// slugWrites returns the random writes that change slugs or remove a language from a record.
func slugWrites() (out []indexWrite) {
	for _, kind := range []calendar.Kind{calendar.Event, calendar.Venue, calendar.Organizer, calendar.Category, calendar.Tag} {
		out = append(out, indexWrite{"change slug of " + string(kind), func(m *indexModel) bool {
			return m.update(kind, "", object{"slug": strings.ReplaceAll(m.name("slug"), " ", "-")})
		}})
	}
	return append(out, indexWrite{"take language of event", func(m *indexModel) bool {
		// A translation without a title goes with its description.
		id := m.pick(calendar.Event, calendar.Publish)
		path := m.path(calendar.Event, id) + "?ml_language=es"
		return id != 0 && m.sendAs("administrator", "PATCH", path, object{"description": m.name("evento")}) &&
			m.sendAs("administrator", "PATCH", path, object{"description": ""})
	}})
}

// report logs how often each write was made and how many replies came from caches. It fails if one of these never
// happened.
func (m *cacheModel) report() {
	m.Helper()
	for _, kind := range slices.Sorted(maps.Keys(m.writes)) {
		m.Logf("%3d %s", m.writes[kind], kind)
	}
	for _, kind := range slices.Concat(indexWrites, cacheWrites) {
		if m.writes[kind.name] == 0 {
			m.Errorf("no write of the kind %q took effect", kind.name)
		}
	}
	share := func(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }
	m.Logf("%d attempts that were refused or found no record; %d requests, each of them to 3 processes, statuses %v",
		m.refused, m.compared, m.statuses)
	m.Logf("%.1f %% of %d replies that may be cached came from a cache after a write, %.1f %% of %d without a write; "+
		"%d replies changed without a write", share(m.kept, m.asked), m.asked, share(m.reuse, m.steady), m.steady, m.ended)
	if share(m.kept, m.asked) < leastKept {
		m.Errorf("less than %d %% of the replies survived a write", leastKept)
	}
	if m.reuse == 0 || m.ended == 0 && !storetest.IsBrief(m.services[0].Store) || m.records == 0 {
		m.Error("no reply or no record came from a cache, or none changed with the time")
	}
	if m.statuses[http.StatusOK] < m.compared*3/4 {
		m.Error("most requests are refused")
	}
}
