package handlers_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/draw"
	"github.com/almanac-cal/almanac/proof/listreference"
	"github.com/almanac-cal/almanac/proof/randomcalendar"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// seedVariable names the environment variable that adds a seed to those that are always tried.
const seedVariable = "ALMANAC_TEST_SEED"

// asksPerSeed is how many lists are asked for on each of the random calendars; if storetest.IsBrief, two fifths of them.
const asksPerSeed = 150

// siteClocks are the sites, each with a zone and a time. The second site has the day on which the clock goes back. In
// the third it is still the day before the UTC one. The last has a 29 February, and its clock will skip a midnight.
var siteClocks = []struct {
	zone string
	now  time.Time
}{
	{"UTC", apitest.Now},
	{"Europe/Warsaw", time.Date(2026, 10, 24, 22, 30, 0, 0, time.UTC)},
	{"America/New_York", time.Date(2027, 3, 14, 3, 30, 0, 0, time.UTC)},
	{"Africa/Cairo", time.Date(2028, 2, 29, 12, 0, 0, 0, time.UTC)},
}

func TestListsAreWhatTheContractSelects(t *testing.T) {
	t.Parallel()
	seeds := []uint64{1, 2, 3}
	if testing.Short() {
		seeds = seeds[:1]
	}
	if text := os.Getenv(seedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				storetest.SkipShort(t, st)
				checkLists(t, st, seed)
			})
		})
	}
}

// listCheck compares the service with the reference on one random calendar.
type listCheck struct {
	seed   uint64
	rand   *rand.Rand
	maker  *randomcalendar.Maker
	world  *listreference.Calendar
	sites  []listreference.Site
	apis   []*apitest.API // by site
	plain  []*apitest.API // the same without the index
	tokens *apitest.API   // where the callers signed in
	tally  map[string]int
}

func checkLists(t *testing.T, st *store.Store, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	c := &listCheck{seed: seed, rand: r, world: randomcalendar.New(), tally: map[string]int{}}
	for _, clock := range siteClocks {
		zone, err := calendar.ParseZone(clock.zone)
		if err != nil {
			t.Fatal(err)
		}
		c.sites = append(c.sites, listreference.Site{Zone: zone.Location(), Now: clock.now})
		at := func(to *handlers.Config) {
			to.Site.Zone = zone
			to.Site.Now = func() time.Time { return clock.now }
		}
		c.apis = append(c.apis, apitest.New(t, st, at))
		c.plain = append(c.plain, apitest.New(t, st, at, apitest.Unindexed))
	}
	c.tokens = c.apis[0]
	for i, role := range []calendar.Role{
		calendar.Subscriber, calendar.Contributor, calendar.Author, calendar.Editor, calendar.Administrator,
	} {
		for _, login := range []string{string(role), string(role) + "2"} {
			c.world.Callers = append(c.world.Callers, listreference.Caller{ID: c.tokens.SignIn(t, login, role), Login: login, Role: i + 1})
		}
	}
	c.maker = &randomcalendar.Maker{Rand: r, Sites: c.sites, Calendar: c.world}
	c.maker.Fill()
	randomcalendar.Store(t, c.tokens, c.world)
	c.tokens.Reindex(t)
	asks := asksPerSeed
	if storetest.IsBrief(st) {
		asks = asks * 2 / 5
	}
	for i := range asks {
		c.ask(t, i)
		if t.Failed() {
			t.Fatalf("run again with %s=%d", seedVariable, seed)
		}
	}
	// The test is worth something only while most questions have an answer.
	if c.tally["full"] < asks/3 || c.tally["invalid"] == 0 || c.tally["beyond"] == 0 || c.tally["followed"] == 0 {
		t.Errorf("the questions have become too simple or too hard: %v", c.tally)
	}
	t.Log(c.tally)
}

// listBody is the body of any list, or of an error.
type listBody struct {
	Events, Venues, Organizers, Categories, Tags []struct{ ID int64 }

	RestURL  string `json:"rest_url"`
	Next     string `json:"next_rest_url"`
	Previous string `json:"previous_rest_url"`
	Total    int    `json:"total"`
	Pages    int    `json:"total_pages"`

	Code string
	Data struct{ Params map[string]string }
}

func (b listBody) ids() []int64 {
	ids := []int64{}
	for _, item := range slices.Concat(b.Events, b.Venues, b.Organizers, b.Categories, b.Tags) {
		ids = append(ids, item.ID)
	}
	return ids
}

// outcome has the parts of a reply that are compared with the prediction.
type outcome struct {
	Status         int
	Code           string
	Invalid        []string
	IDs            []int64
	Total, Pages   int
	Next, Previous bool
	HeaderTotal    string
	HeaderPages    string
}

// ask makes a random request, compares the reply with the prediction, and follows one of its links.
func (c *listCheck) ask(t *testing.T, number int) {
	t.Helper()
	r := c.rand
	at := r.IntN(len(c.sites))
	site, caller := c.sites[at], draw.Item(r, c.world.Callers...)
	a := &randomcalendar.RequestMaker{Maker: c.maker, Site: site}
	lang, segment := calendar.English, ""
	if draw.Percent(r, 15) {
		lang = draw.Item(r, calendar.Languages...)
		segment = "/" + string(lang)
	} else if draw.Percent(r, 15) {
		lang = draw.Item(r, calendar.Languages...)
		a.Add("ml_language", string(lang))
	}
	kind := draw.Item(r, calendar.Event, calendar.Event, calendar.Event,
		calendar.Venue, calendar.Organizer, calendar.Category, calendar.Tag)
	var want listreference.Reply
	collection := string(kind) + "s"
	switch kind {
	case calendar.Event:
		want = c.world.ListEvents(site, caller, lang, a.DrawEventQuery())
	case calendar.Venue, calendar.Organizer:
		want = c.world.ListLinked(site, caller, lang, kind, a.DrawLinkedQuery())
	case calendar.Category:
		collection = "categories"
		fallthrough
	default:
		want = c.world.ListTerms(site, caller, lang, kind, a.DrawTermQuery(kind))
	}
	page, perPage := 1, 10
	if draw.Percent(r, 60) {
		perPage = draw.Item(r, 1, 2, 3, 5, 7, 50, 60, 60, 60)
		a.Add("per_page", strconv.Itoa(perPage))
		perPage = min(perPage, 50)
	}
	if draw.Percent(r, 35) {
		page = 1 + r.IntN(len(want.IDs)/perPage+3)
		a.Add("page", strconv.Itoa(page))
	}
	if draw.Percent(r, 50) {
		a.Add("_fields", collection+".id,rest_url,next_rest_url,previous_rest_url,total,total_pages")
	}
	// The order of parameters means nothing, that of the items of a list does.
	name := func(i int) string { return strings.Split(a.Query[i], "=")[0] }
	r.Shuffle(len(a.Query), func(i, j int) {
		if !strings.Contains(name(i)+name(j), url.QueryEscape("[]")) {
			a.Query[i], a.Query[j] = a.Query[j], a.Query[i]
		}
	})
	path := segment + "/" + handlers.Namespace + "/" + collection
	if len(a.Query) > 0 {
		path += "?" + strings.Join(a.Query, "&")
	}
	c.compare(t, at, caller, kind, path, want, page, perPage, number, true)
}

// compare sends a request and compares the reply with the predicted page. Then it follows the link to the next page or,
// on the last one, the reply's own address.
func (c *listCheck) compare(
	t *testing.T, at int, caller listreference.Caller, kind calendar.Kind, path string, answer listreference.Reply, page, perPage, number int,
	follow bool,
) {
	t.Helper()
	req := apitest.Request{Path: path, Absolute: true}
	if caller.ID != 0 {
		req.Header = map[string]string{"Authorization": "Bearer " + c.tokens.Token(caller.Login)}
	}
	res := c.apis[at].Do(t, req)
	if plain := c.plain[at].Do(t, req); string(plain.Body) != string(res.Body) {
		t.Errorf("request %d on the site in %s at %s, as %q:\n%s\n(-with +without the index):\n%s", number,
			c.sites[at].Zone, c.sites[at].Now, caller.Login, path, cmp.Diff(string(res.Body), string(plain.Body)))
	}
	var body listBody
	res.Into(t, &body)
	want, got := c.want(kind, answer, page, perPage), c.got(res, body)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("request %d on the site in %s at %s, as %q (user %d):\n%s\n(-want +got):\n%s%s",
			number, c.sites[at].Zone, c.sites[at].Now, caller.Login, caller.ID, path, diff, c.concerned(kind, want.IDs, got.IDs))
		return
	}
	switch {
	case want.Status == 400:
		c.tally["invalid"]++
	case want.Status == 404:
		c.tally["beyond"]++
	case want.Total > 0:
		c.tally["full"]++
	default:
		c.tally["empty"]++
	}
	// Links never repeat the password, so what they lead to may be another list.
	if !follow || want.Status != 200 || strings.Contains(path, "password=") {
		return
	}
	next := body.RestURL
	if want.Next {
		c.tally["followed"]++
		next = body.Next
		page++
	}
	c.compare(t, at, caller, kind, strings.TrimPrefix(next, apitest.BaseURL), answer, page, perPage, number, false)
}

func (c *listCheck) want(kind calendar.Kind, a listreference.Reply, page, perPage int) outcome {
	total := len(a.IDs)
	pages := (total + perPage - 1) / perPage
	term := kind == calendar.Category || kind == calendar.Tag
	switch {
	case a.Invalid != nil:
		slices.Sort(a.Invalid)
		return outcome{Status: 400, Code: "rest_invalid_param", Invalid: a.Invalid}
	case page > max(pages, 1) && !term:
		return outcome{Status: 404, Code: string(kind) + "-archive-page-not-found"}
	}
	from := min((page-1)*perPage, total)
	return outcome{
		Status: 200, IDs: a.IDs[from:min(from+perPage, total)], Total: total, Pages: pages,
		Next: page < pages, Previous: page > 1,
		HeaderTotal: strconv.Itoa(total), HeaderPages: strconv.Itoa(pages),
	}
}

func (c *listCheck) got(res apitest.Response, body listBody) outcome {
	o := outcome{
		Status: res.Status, Code: body.Code, Total: body.Total, Pages: body.Pages,
		Next: body.Next != "", Previous: body.Previous != "",
		HeaderTotal: res.Header.Get("X-TEC-Total"), HeaderPages: res.Header.Get("X-TEC-TotalPages"),
	}
	for name := range body.Data.Params {
		o.Invalid = append(o.Invalid, name)
	}
	slices.Sort(o.Invalid)
	if ids := body.ids(); len(ids) > 0 {
		o.IDs = ids
	}
	return o
}

// concerned describes the records in which two lists differ, for error messages. If they differ in order alone, it
// describes the first swapped pair.
func (c *listCheck) concerned(kind calendar.Kind, want, got []int64) string {
	var ids []int64
	for _, id := range slices.Concat(want, got) {
		if slices.Contains(want, id) != slices.Contains(got, id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for i := 0; len(ids) == 0 && i < min(len(want), len(got)); i++ {
		if want[i] != got[i] {
			ids = []int64{want[i], got[i]}
		}
	}
	var b strings.Builder
	for _, id := range ids[:min(len(ids), 4)] {
		fmt.Fprintf(&b, "%d: %s\n", id, c.describe(kind, id))
	}
	return b.String()
}

func (c *listCheck) describe(kind calendar.Kind, id int64) string {
	for _, e := range c.world.Events {
		if kind == calendar.Event && e.ID == id {
			return fmt.Sprintf("%+v", *e)
		}
	}
	for _, l := range c.world.Linked[kind] {
		if l.ID == id {
			return fmt.Sprintf("%+v", *l)
		}
	}
	for _, term := range c.world.Terms[kind] {
		if term.ID == id {
			return fmt.Sprintf("%+v", *term)
		}
	}
	return "no such record"
}
