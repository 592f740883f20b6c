package handlers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// statusRecords has ids of the records of one collection, by author and status.
type statusRecords map[string]map[calendar.Status]int64

// having returns the records of authors with any of the statuses, which commas separate.
func (r statusRecords) having(statuses string, authors ...string) (ids []int64) {
	for _, who := range authors {
		for s := range strings.SplitSeq(statuses, ",") {
			ids = append(ids, r[who][calendar.Status(s)])
		}
	}
	return ids
}

// adders returns a function for each collection that adds a record and returns its id. by is the author, and 0
// means none.
func adders(t *testing.T, api *apitest.API) map[string]func(title string, by int64, s calendar.Status, published time.Time) int64 {
	t.Helper()
	before := func(s calendar.Status) calendar.Status {
		if s == calendar.Trash {
			return calendar.Publish
		}
		return ""
	}
	author := func(by int64) *int64 {
		if by == 0 {
			return nil
		}
		return &by
	}
	return map[string]func(string, int64, calendar.Status, time.Time) int64{
		"events": func(title string, by int64, s calendar.Status, published time.Time) int64 {
			return api.AddEvent(t, title, "2026-12-01 10:00:00", "2026-12-01 11:00:00", func(c *ent.EventCreate) {
				c.SetNillableAuthorID(author(by)).SetStatus(s).SetPublishedAt(published).SetStatusBeforeTrash(before(s))
			})
		},
		"venues": func(title string, by int64, s calendar.Status, published time.Time) int64 {
			return api.AddVenue(t, title, func(c *ent.VenueCreate) {
				c.SetNillableAuthorID(author(by)).SetStatus(s).SetPublishedAt(published).SetStatusBeforeTrash(before(s))
			})
		},
		"organizers": func(title string, by int64, s calendar.Status, published time.Time) int64 {
			return api.AddOrganizer(t, title, func(c *ent.OrganizerCreate) {
				c.SetNillableAuthorID(author(by)).SetStatus(s).SetPublishedAt(published).SetStatusBeforeTrash(before(s))
			})
		},
	}
}

func TestStatusFilterFollowsTheRole(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		users := map[string]int64{}
		for _, role := range calendar.Roles {
			users[string(role)] = api.SignIn(t, string(role), role)
		}
		const everything = "publish,future,draft,pending,private"
		for collection, add := range adders(t, api) {
			written := statusRecords{}
			for _, who := range []string{"author", "contributor", "subscriber"} {
				written[who] = map[calendar.Status]int64{}
				for _, s := range calendar.Statuses {
					published := apitest.Now.AddDate(0, 0, -1)
					if s == calendar.Future {
						published = apitest.Now.AddDate(0, 0, 1)
					}
					written[who][s] = add(who+" "+string(s), users[who], s, published)
				}
			}
			// A scheduled record whose date has come is published everywhere.
			due := add("due", 0, calendar.Future, apitest.Now)
			public := append(written.having("publish", "author", "contributor", "subscriber"), due)
			for _, c := range []struct {
				login, status string
				want          []int64
			}{
				{"", "", public},
				{"", "publish", public},
				{"subscriber", "", public},
				{"subscriber", "publish", public},
				{"contributor", "", append(written.having("future,draft,pending,private", "contributor"), public...)},
				{"contributor", "publish", public},
				{"contributor", "draft", written.having("draft", "contributor")},
				{"contributor", "draft,publish", append(written.having("draft", "contributor"), public...)},
				{"contributor", "future,private", written.having("future,private", "contributor")},
				{"contributor", "trash", written.having("trash", "contributor")},
				{"author", "", append(written.having("future,draft,pending,private", "author"), public...)},
				{"author", "pending,trash", written.having("pending,trash", "author")},
				{"editor", "", append(written.having(everything, "author", "contributor", "subscriber"), due)},
				{"editor", "future", written.having("future", "author", "contributor", "subscriber")},
				{"editor", "trash", written.having("trash", "author", "contributor", "subscriber")},
				{"administrator", "draft,private", written.having("draft,private", "author", "contributor", "subscriber")},
			} {
				name := collection + " for " + c.login
				path := "/" + collection + "?per_page=50"
				if c.status != "" {
					name += " asking for " + c.status
					path += "&status=" + c.status
				}
				t.Run(name, func(t *testing.T) {
					got := listedIDs(t, api.Do(t, getAs(c.login, path)), collection)
					slices.Sort(got)
					slices.Sort(c.want)
					if diff := cmp.Diff(c.want, got); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
			t.Run(fmt.Sprintf("a due record of %s says it is published", collection), func(t *testing.T) {
				if got := api.Do(t, get(fmt.Sprintf("/%s/%d", collection, due))).Get(t, "status"); got != "publish" {
					t.Errorf("got %v", got)
				}
			})
		}
	})
}

func TestListsOfVenuesAndOrganizers(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		author := api.SignIn(t, "author", calendar.Author)
		api.SignIn(t, "editor", calendar.Editor)
		type pair struct{ venue, organizer int64 }
		add := func(name string, days int) pair {
			at := apitest.Now.AddDate(0, 0, days)
			return pair{
				api.AddVenue(t, name, func(c *ent.VenueCreate) { c.SetPublishedAt(at) }),
				api.AddOrganizer(t, name, func(c *ent.OrganizerCreate) { c.SetPublishedAt(at) }),
			}
		}
		old, unused := add("Old", -5), add("Unused", -4)
		upcoming, hidden := add("Upcoming", -2), add("Hidden", -3)
		draft, private, trashed := add("Draft", -3), add("Private", -6), add("Trashed", -7)
		link := func(p pair, title, start, end string, change func(*ent.EventCreate)) int64 {
			id := api.AddEvent(t, title, start, end, func(c *ent.EventCreate) {
				c.SetAuthorID(author)
				if change != nil {
					change(c)
				}
			})
			api.LinkVenues(t, id, p.venue)
			api.LinkOrganizers(t, id, p.organizer)
			return id
		}
		status := func(s calendar.Status) func(*ent.EventCreate) { return func(c *ent.EventCreate) { c.SetStatus(s) } }
		link(old, "Over", "2026-11-21 11:00:00", "2026-11-21 13:00:00", nil)
		on := link(upcoming, "Now", "2026-11-21 12:00:00", "2026-11-21 13:00:00", nil)
		link(hidden, "Hidden", "2026-12-01 12:00:00", "2026-12-01 13:00:00", func(c *ent.EventCreate) { c.SetHideFromListings(true) })
		drafted := link(draft, "Draft", "2026-12-01 12:00:00", "2026-12-01 13:00:00", status(calendar.Draft))
		link(private, "Private", "2026-12-01 12:00:00", "2026-12-01 13:00:00", status(calendar.Private))
		link(trashed, "Trashed", "2026-12-01 12:00:00", "2026-12-01 13:00:00", func(c *ent.EventCreate) {
			c.SetStatus(calendar.Trash).SetStatusBeforeTrash(calendar.Publish).SetSlug("trashed__trashed")
		})

		// Newest first; the later id first on a tie.
		all := []pair{upcoming, draft, hidden, unused, old, private, trashed}
		for _, c := range []struct {
			name, login, query string
			want               []pair
		}{
			{"by publication, newest first, then id", "", "", all},
			{"with events", "", "has_events=1", []pair{upcoming, hidden, old}},
			{"without events", "", "has_events=false", []pair{draft, unused, private, trashed}},
			{"with events of one's own", "author", "has_events=1", []pair{upcoming, draft, hidden, old, private}},
			{"with events of anybody", "editor", "has_events=1", []pair{upcoming, draft, hidden, old, private}},
			{"without events of anybody", "editor", "has_events=0", []pair{unused, trashed}},
			{"with upcoming events", "", "only_with_upcoming=1", []pair{upcoming, hidden}},
			{"with upcoming events of one's own", "author", "only_with_upcoming=1", []pair{upcoming, draft, hidden, private}},
			{"with upcoming events of anybody", "editor", "only_with_upcoming=true", []pair{upcoming, draft, hidden, private}},
			{"upcoming or not", "", "only_with_upcoming=0", all},
			{"of an event", "", fmt.Sprint("event=", on), []pair{upcoming}},
			{"of one's own draft", "author", fmt.Sprint("event=", drafted), []pair{draft}},
			{"combined", "", fmt.Sprint("event=", on, "&has_events=0"), []pair{}},
		} {
			venues, organizers := make([]int64, len(c.want)), make([]int64, len(c.want))
			for i, p := range c.want {
				venues[i], organizers[i] = p.venue, p.organizer
			}
			api.Run(t, []apitest.Case{
				{Name: "venues " + c.name, Request: getAs(c.login, "/venues?per_page=50&"+c.query), Status: 200, Check: listsExactly("venues", venues...)},
				{Name: "organizers " + c.name, Request: getAs(c.login, "/organizers?per_page=50&"+c.query), Status: 200, Check: listsExactly("organizers", organizers...)},
			})
		}
	})
}

func TestListsOfTerms(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		author := api.SignIn(t, "author", calendar.Author)
		count := func(n int, description string) func(*ent.TermCreate) {
			return func(c *ent.TermCreate) { c.SetEventCount(n).SetDescription(description) }
		}
		below := func(id int64) func(*ent.TermCreate) { return func(c *ent.TermCreate) { c.SetParentID(id) } }
		beta := api.AddTerm(t, calendar.Category, "beta", count(3, "Bees"))
		alpha := api.AddTerm(t, calendar.Category, "Alpha", count(5, "ants"), func(c *ent.TermCreate) { c.SetSlug("z") })
		empty := api.AddTerm(t, calendar.Category, "Delta", count(0, ""))
		gamma := api.AddTerm(t, calendar.Category, "Gamma", count(3, "Cats"), below(beta))
		twin := api.AddTerm(t, calendar.Category, "gamma", count(1, "cats"), below(gamma), func(c *ent.TermCreate) { c.SetSlug("gamma-2") })
		tag := api.AddTerm(t, calendar.Tag, "Tag")
		on := api.AddEvent(t, "On", "2026-12-01 10:00:00", "2026-12-01 11:00:00")
		api.LinkTerms(t, on, beta, twin, tag)
		other := api.AddEvent(t, "Other", "2026-12-01 10:00:00", "2026-12-01 11:00:00", func(c *ent.EventCreate) {
			c.SetStatus(calendar.Draft).SetAuthorID(author)
		})
		api.LinkTerms(t, other, alpha)
		api.Reindex(t)
		id := func(ids ...int64) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]") }

		var cases []apitest.Case
		for _, c := range []struct {
			name, query string
			want        []int64
		}{
			{"by name, any case, ties by id; empty ones hidden", "", []int64{alpha, beta, gamma, twin}},
			{"empty ones too", "hide_empty=0", []int64{alpha, beta, empty, gamma, twin}},
			{"hidden explicitly", "hide_empty=1", []int64{alpha, beta, gamma, twin}},
			{"descending, ties still by id", "order=DESC", []int64{gamma, twin, beta, alpha}},
			{"any other direction ascends", "order=down", []int64{alpha, beta, gamma, twin}},
			{"by id", "orderby=id", []int64{beta, alpha, gamma, twin}},
			{"by id, descending", "orderby=id&order=desc", []int64{twin, gamma, alpha, beta}},
			{"none is by id", "orderby=none", []int64{beta, alpha, gamma, twin}},
			{"term_group is by id", "orderby=term_group&order=desc", []int64{twin, gamma, alpha, beta}},
			{"by slug", "orderby=slug", []int64{beta, gamma, twin, alpha}},
			{"by count, ties by id", "orderby=count", []int64{twin, beta, gamma, alpha}},
			{"by count, descending", "orderby=count&order=desc", []int64{alpha, beta, gamma, twin}},
			{"by description, any case", "orderby=description", []int64{alpha, beta, gamma, twin}},
			{"by description, descending", "orderby=description&order=desc", []int64{gamma, twin, beta, alpha}},
			{"other words are the name", "orderby=weight", []int64{alpha, beta, gamma, twin}},
			{"in the order asked for", "orderby=include&include=" + id(twin, alpha, beta), []int64{twin, alpha, beta}},
			{"in the order asked for, backwards", "orderby=include&order=desc&include=" + id(twin, alpha, beta), []int64{beta, alpha, twin}},
			{"in an order not asked for", "orderby=include", []int64{beta, alpha, gamma, twin}},
			{"only some", "include=" + id(alpha, twin, empty), []int64{alpha, twin}},
			{"all but some", "exclude=" + id(alpha), []int64{beta, gamma, twin}},
			{"some but some of them", "include=" + id(alpha, beta) + "&exclude=" + id(alpha), []int64{beta}},
			{"direct children", "parent=" + id(beta), []int64{gamma}},
			{"of an event", "post=" + id(on), []int64{beta, twin}},
			{"of an event, by the other name", "event=" + id(on), []int64{beta, twin}},
			{"slug", "slug=z", []int64{alpha}},
			{"slug, normalised", "slug=GAMMA%202", []int64{twin}},
			{"slug is one", "slug=beta,z", []int64{}},
			{"slug of nobody", "slug=nothing", []int64{}},
			{"slug of nothing", "slug=!", []int64{}},
			{"slug of a tag", "slug=tag", []int64{}},
		} {
			cases = append(cases, apitest.Case{
				Name: c.name, Request: get("/categories?" + c.query), Status: 200, Check: listsExactly("categories", c.want...),
			})
		}
		cases = append(cases,
			apitest.Case{Name: "event is stronger than post", Request: getAs("author", "/categories?post="+id(on)+"&event="+id(other)), Status: 200, Check: listsExactly("categories", alpha)},
			apitest.Case{Name: "tags", Request: get("/tags"), Status: 200, Check: listsExactly("tags", tag)},
			apitest.Case{Name: "tags have no parents, so the parameter is unknown", Request: get("/tags?parent=0"), Status: 200, Check: listsExactly("tags", tag)},
		)
		api.Run(t, cases)
	})
}

// TestTermsAreOrderedAsTheLanguageDoes checks that terms are sorted by the rules of the reader's language,
// ignoring case, on all engines.
func TestTermsAreOrderedAsTheLanguageDoes(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		ids := map[string]int64{}
		names := []string{
			"żaba", "Łódź", "Czersk", "24 godziny", "Ñandú", "nube", "Zebra", "Lublin", "(nowe)", "a-b", "Ćmielów", "ab",
			"oca", "źdźbło", "Lwów", "año", "Ano", "anzuelo", "Cieszyn", "łąka", "Oboe", "Óbidos", "a b", "Lodz", "2 dni",
		}
		for i, name := range names {
			ids[name] = api.AddTerm(t, calendar.Tag, name, func(c *ent.TermCreate) {
				c.SetDescription(name).SetSlug(fmt.Sprint("term-", i))
			})
		}
		api.Reindex(t)
		var cases []apitest.Case
		for language, order := range map[calendar.Language][]string{
			calendar.English: {
				"(nowe)", "2 dni", "24 godziny", "a b", "a-b", "ab", "Ano", "año", "anzuelo", "Cieszyn", "Ćmielów",
				"Czersk", "łąka", "Lodz", "Łódź", "Lublin", "Lwów", "Ñandú", "nube", "Óbidos", "Oboe", "oca", "żaba",
				"źdźbło", "Zebra",
			},
			calendar.Polish: {
				"(nowe)", "2 dni", "24 godziny", "a b", "a-b", "ab", "Ano", "año", "anzuelo", "Cieszyn", "Czersk",
				"Ćmielów", "Lodz", "Lublin", "Lwów", "łąka", "Łódź", "Ñandú", "nube", "Oboe", "oca", "Óbidos", "Zebra",
				"źdźbło", "żaba",
			},
			calendar.Spanish: {
				"(nowe)", "2 dni", "24 godziny", "a b", "a-b", "ab", "Ano", "anzuelo", "año", "Cieszyn", "Ćmielów",
				"Czersk", "łąka", "Lodz", "Łódź", "Lublin", "Lwów", "nube", "Ñandú", "Óbidos", "Oboe", "oca", "żaba",
				"źdźbło", "Zebra",
			},
		} {
			want := make([]int64, len(order))
			for i, name := range order {
				want[i] = ids[name]
			}
			backwards := slices.Clone(want)
			slices.Reverse(backwards)
			for _, by := range []string{"name", "description"} {
				path := fmt.Sprintf("/tags?ml_language=%s&orderby=%s", language, by)
				cases = append(cases,
					apitest.Case{Name: path, Request: get(path + "&per_page=50"), Status: 200, Check: listsExactly("tags", want...)},
					apitest.Case{Name: path + ", descending", Request: get(path + "&per_page=50&order=desc"), Status: 200, Check: listsExactly("tags", backwards...)},
				)
				for page, part := range slices.Collect(slices.Chunk(want, 7)) {
					request := fmt.Sprintf("%s&per_page=7&page=%d", path, page+1)
					cases = append(cases, apitest.Case{Name: request, Request: get(request), Status: 200, Check: listsExactly("tags", part...)})
				}
			}
		}
		api.Run(t, cases)
	})
}

// TestTermsWithoutSortKeysAreListed lists terms that an older program wrote without sort keys. Each appears once,
// after the other terms.
func TestTermsWithoutSortKeysAreListed(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		beta := api.AddTerm(t, calendar.Tag, "beta")
		alpha := api.AddTerm(t, calendar.Tag, "Alpha")
		api.Reindex(t)
		twin := api.AddTerm(t, calendar.Tag, "gamma")
		late := api.AddTerm(t, calendar.Tag, "Aaa")
		again := api.AddTerm(t, calendar.Tag, "Gamma", func(c *ent.TermCreate) { c.SetSlug("gamma-2") })
		api.Run(t, []apitest.Case{
			{Name: "by name", Request: get("/tags"), Status: 200, Check: listsExactly("tags", alpha, beta, late, twin, again)},
			{Name: "a page of both", Request: get("/tags?per_page=3"), Status: 200, Check: listsExactly("tags", alpha, beta, late)},
			{Name: "the next", Request: get("/tags?per_page=3&page=2"), Status: 200, Check: listsExactly("tags", twin, again)},
			{Name: "descending", Request: get("/tags?order=desc"), Status: 200, Check: listsExactly("tags", beta, alpha, twin, again, late)},
			{Name: "by description", Request: get("/tags?orderby=description"), Status: 200, Check: listsExactly("tags", beta, alpha, twin, late, again)},
			{Name: "in another language", Request: get("/tags?ml_language=pl"), Status: 200, Check: listsExactly("tags", alpha, beta, late, twin, again)},
		})
		api.Reindex(t)
		api.Run(t, []apitest.Case{
			{Name: "afterwards", Request: get("/tags"), Status: 200, Check: listsExactly("tags", late, alpha, beta, twin, again)},
		})
	})
}

// TestTermsAreOrderedAsTheyAreServed checks that lists of terms are sorted by the texts in the language of the
// request.
func TestTermsAreOrderedAsTheyAreServed(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		both := func(c *ent.TermCreate) {
			c.SetLanguages(calendar.LanguagesOf(calendar.English, calendar.Polish)).SetDescription("none")
		}
		translate := func(id int64, name, slug, description string) {
			err := api.Store.Ent.TermTranslation.Create().SetTermID(id).SetLanguage(calendar.Polish).
				SetName(name).SetSlug(slug).SetDescription(description).Exec(t.Context())
			if err != nil {
				t.Fatal(err)
			}
		}
		classical := api.AddTerm(t, calendar.Tag, "Classical", both)
		film := api.AddTerm(t, calendar.Tag, "Film", both)
		outdoors := api.AddTerm(t, calendar.Tag, "Outdoors", both)
		plain := api.AddTerm(t, calendar.Tag, "kino")
		translate(classical, "Muzyka", "a-muzyka", "Koncerty")
		translate(film, "film", "film-pl", "Wieczorami")
		translate(outdoors, "Dwór", "", "Dniem")
		api.Reindex(t)
		api.Run(t, []apitest.Case{
			{Name: "names", Request: get("/tags?ml_language=pl"), Status: 200, Check: listsExactly("tags", outdoors, film, plain, classical)},
			{Name: "names, descending", Request: get("/tags?ml_language=pl&order=desc"), Status: 200, Check: listsExactly("tags", classical, plain, film, outdoors)},
			{Name: "a page", Request: get("/tags?ml_language=pl&per_page=3&page=2"), Status: 200, Check: listsExactly("tags", classical)},
			{Name: "slugs", Request: get("/tags?ml_language=pl&orderby=slug"), Status: 200, Check: listsExactly("tags", classical, film, plain, outdoors)},
			{Name: "descriptions", Request: get("/tags?ml_language=pl&orderby=description"), Status: 200, Check: listsExactly("tags", plain, outdoors, classical, film)},
			{Name: "originals", Request: get("/tags"), Status: 200, Check: listsExactly("tags", classical, film, plain, outdoors)},
			{Name: "originals where there is no translation", Request: get("/tags?ml_language=es"), Status: 200, Check: listsExactly("tags", classical, film, plain, outdoors)},
		})
	})
}
