package handlers_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// racers is how many requests are sent at once.
const racers = 8

// sendTogether sends requests that start at once. A reply of 500 or above fails the test by itself.
func sendTogether(t *testing.T, api *apitest.API, request func(i int) apitest.Request) []apitest.Response {
	t.Helper()
	start := make(chan struct{})
	replies := make([]apitest.Response, racers)
	var all sync.WaitGroup
	for i := range racers {
		r := request(i)
		all.Go(func() {
			<-start
			replies[i] = api.Do(t, r)
		})
	}
	close(start)
	all.Wait()
	return replies
}

// statuses returns the number of replies for each status and error code.
func statuses(t *testing.T, replies []apitest.Response) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, r := range replies {
		word := fmt.Sprint(r.Status)
		if r.Status >= 400 {
			word += fmt.Sprint(" ", r.Get(t, "code"))
		}
		out[word]++
	}
	return out
}

// values returns the value at a path in each reply, sorted.
func values(t *testing.T, replies []apitest.Response, path ...any) []string {
	t.Helper()
	out := make([]string, len(replies))
	for i, r := range replies {
		out[i] = fmt.Sprint(r.Get(t, path...))
	}
	slices.Sort(out)
	return out
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// countOf returns the number of rows that a query finds.
func countOf(t *testing.T, query interface {
	Count(ctx context.Context) (int, error)
},
) int {
	t.Helper()
	n, err := query.Count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRacersGetSlugsOfTheirOwn(t *testing.T) {
	for _, kind := range []string{"event", "venue", "organizer", "tag"} {
		t.Run(kind, func(t *testing.T) {
			eachEventTest(t, func(t *testing.T, e *eventTest) {
				replies := sendTogether(t, e.API, func(i int) apitest.Request {
					switch kind {
					case "event":
						return post("author", "/events", concert(object{"title": "Same"}))
					case "tag":
						return post("author", "/tags", object{"name": fmt.Sprint("Name ", i), "slug": "same"})
					}
					return post("author", "/"+kind+"s", object{kind: fmt.Sprint("Name ", i), "slug": "same"})
				})
				equal(t, "replies", map[string]int{"201": racers}, statuses(t, replies))
				want := []string{"same"}
				for i := 2; i <= racers; i++ {
					want = append(want, fmt.Sprint("same-", i))
				}
				equal(t, "slugs", want, values(t, replies, "slug"))
			})
		})
	}
}

func TestRacersShareTheTermTheyName(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		replies := sendTogether(t, e.API, func(i int) apitest.Request {
			return post("author", "/events", concert(object{
				"tags": []string{"new", "Newer"}, "categories": []string{[]string{"Fresh", "FRESH"}[i%2]},
			}))
		})
		equal(t, "replies", map[string]int{"201": racers}, statuses(t, replies))
		db := e.Store.Ent
		equal(t, "terms", 5+3, countOf(t, db.Term.Query()))
		for _, name := range []string{"new", "newer", "fresh"} {
			row := db.Term.Query().Where(term.NameKey(name)).OnlyX(t.Context())
			equal(t, "count of "+name, racers, row.EventCount)
			equal(t, "events of "+name, racers, countOf(t, db.EventTerm.Query().Where(eventterm.TermID(row.ID))))
		}
	})
}

func TestRacersShareTheRecordTheyCreate(t *testing.T) {
	eachLinkedTest(t, func(t *testing.T, e *linkedTest) {
		inline := sendTogether(t, e.API, func(i int) apitest.Request {
			return post("author", "/events", concert(object{e.kind: object{e.kind: "Inline", "phone": fmt.Sprint(i)}}))
		})
		equal(t, "inline", map[string]int{"201": racers}, statuses(t, inline))
		direct := sendTogether(t, e.API, func(i int) apitest.Request {
			return post("author", e.collection, e.named("Direct", object{"phone": fmt.Sprint(i)}))
		})
		equal(t, "direct", map[string]int{"201": racers}, statuses(t, direct))
		ids := slices.Compact(values(t, direct, "id"))
		equal(t, "ids", 1, len(ids))
		hasValues(t, e.mustSucceed(t, get(e.collection)), object{"total": 2 + 2})
		events := "/events?per_page=50&" + e.kind + "="
		id := e.mustSucceed(t, post("author", e.collection, e.named("inline", nil))).Get(t, "id")
		hasValues(t, e.mustSucceed(t, get(fmt.Sprint(events, id))), object{"total": racers})
	})
}

func TestOneOfTheRacersCreatesTheTerm(t *testing.T) {
	eachTermTest(t, func(t *testing.T, e *termTest, collection string) {
		replies := sendTogether(t, e.API, func(i int) apitest.Request {
			return post("author", "/"+collection, object{"name": []string{"Unique", "UNIQUE"}[i%2]})
		})
		equal(t, "replies", map[string]int{"201": 1, "400 term_exists": racers - 1}, statuses(t, replies))
		var id any
		for _, r := range replies {
			if r.Status == 201 {
				id = r.Get(t, "id")
			}
		}
		for _, r := range replies {
			if r.Status == 400 {
				equal(t, "id of the term", id, r.Get(t, "data", "term_id"))
			}
		}
	})
}

func TestOneOfTheRacersDeletes(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		for _, c := range []struct{ path, loser string }{
			{"/events/15", "410 event-is-in-trash"},
			{"/venues/10", "410 venue-is-in-trash"},
			{"/organizers/12", "410 organizer-is-in-trash"},
			{"/categories/3", "400 rest_invalid_param"},
			{"/tags/4", "400 rest_invalid_param"},
		} {
			replies := sendTogether(t, e.API, func(int) apitest.Request { return remove("admin", c.path) })
			equal(t, c.path, map[string]int{"200": 1, c.loser: racers - 1}, statuses(t, replies))
		}
		images := statuses(t, sendTogether(t, e.API, func(int) apitest.Request { return remove("admin", "/images/{poster}") }))
		if images["200"]+images["404 image-not-found"] != racers || images["200"] == 0 {
			t.Errorf("images: %v", images)
		}
	})
}

func TestRacersChangeOneEvent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		id := e.mustCreate(t, "admin", nil)
		fields := []object{
			{"cost": "5"},
			{"website": "https://example.org"},
			{"featured": true},
			{"sticky": true},
			{"excerpt": "Short"},
			{"venue": grandHall},
			{"categories": []int{music}},
			{"end_date": "2026-12-06 01:00"},
		}
		replies := sendTogether(t, e.API, func(i int) apitest.Request { return patch("admin", eventPath(id), fields[i]) })
		equal(t, "replies", map[string]int{"200": racers}, statuses(t, replies))
		e.isStored(t, id, object{
			"cost": "$5", "website": "https://example.org", "featured": true, "sticky": true, "excerpt": "<p>Short</p>",
			"venue.id": 10, "categories.0.id": 2, "end_date": "2026-12-06 01:00:00",
		})
		row := e.Store.Ent.Event.GetX(t.Context(), id)
		equal(t, "version", int64(1+racers), row.Version)
	})
}

func TestRacersTranslateOneEvent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		replies := sendTogether(t, e.API, func(i int) apitest.Request {
			lang := []string{"pl", "es"}[i%2]
			return patch("admin", "/events/{musicWalk}?ml_language="+lang, object{"title": fmt.Sprint(lang, i), "slug": fmt.Sprint("walk-", lang)})
		})
		equal(t, "replies", map[string]int{"200": racers}, statuses(t, replies))
		e.isStored(t, 17, object{"title": "Walk with music", "translations": []string{"en", "pl", "es"}})
		db := e.Store.Ent
		equal(t, "texts", 2, countOf(t, db.EventTranslation.Query().Where(eventtranslation.EventID(17))))
		equal(t, "slugs", 3, countOf(t, db.Slug.Query().Where(slug.KindEQ(calendar.Event), slug.OwnerID(17))))
	})
}

// TestRacersLinkWhatIsTakenAway links a venue, a term and an image to events while other requests delete these.
func TestRacersLinkWhatIsTakenAway(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		db := e.Store.Ent
		stays := e.mustPost(t, "admin", "/categories", object{"name": "Stays"})
		replies := sendTogether(t, e.API, func(i int) apitest.Request {
			switch i {
			case 2:
				return remove("admin", "/venues/{grandHall}")
			case 3:
				return remove("admin", "/categories/{music}")
			case 4:
				return remove("admin", "/images/{poster}")
			}
			return post("admin", "/events", concert(object{"title": fmt.Sprint("Racer ", i), "venue": grandHall, "categories": []int64{music, stays}, "image": poster}))
		})
		for word := range statuses(t, replies) {
			if word != "200" && word != "201" && word != "400 rest_invalid_param" {
				t.Errorf("reply %s", word)
			}
		}
		equal(t, "links to the venue", 0, countOf(t, db.EventVenue.Query().Where(eventvenue.VenueID(10))))
		equal(t, "links to the category", 0, countOf(t, db.EventTerm.Query().Where(eventterm.TermID(2))))
		equal(t, "events with the image", 0, countOf(t, db.Event.Query().Where(event.ImageID(14))))
		equal(t, "count of what stays", statuses(t, replies)["201"], db.Term.GetX(t.Context(), stays).EventCount)
	})
}

// TestRacersRestoreTheSameSlug restores events with the same slug from the trash at the same time.
func TestRacersRestoreTheSameSlug(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		ids := make([]int64, racers)
		for i := range ids {
			ids[i] = e.mustCreate(t, "admin", object{"title": "Same"})
			e.mustSucceed(t, remove("admin", eventPath(ids[i])))
			equal(t, "slug in the trash", "same__trashed", e.Store.Ent.Event.GetX(t.Context(), ids[i]).Slug)
		}
		replies := sendTogether(t, e.API, func(i int) apitest.Request {
			return patch("admin", eventPath(ids[i]), object{"status": "publish"})
		})
		equal(t, "replies", map[string]int{"200": racers}, statuses(t, replies))
		equal(t, "different slugs", racers, len(slices.Compact(values(t, replies, "slug"))))
	})
}

func TestRacersUploadTheSameName(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		data := picture(t, 200, 10)
		replies := sendTogether(t, e.API, func(int) apitest.Request { return upload("author", "same.png", data) })
		equal(t, "replies", map[string]int{"201": racers}, statuses(t, replies))
		urls := values(t, replies, "url")
		equal(t, "different addresses", racers, len(slices.Compact(slices.Clone(urls))))
		for _, url := range urls {
			equal(t, url, 200, servedPicture(t, e.API, url).Width)
		}
	})
}
