package handlers_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// occurrenceCase is a series whose occurrences are read and then written with the values that were read.
type occurrenceCase struct {
	name string
	over object // fields of the create
	as   string // "" is admin
	// change is sent to each occurrence before it is read.
	change object
	// into is sent in Polish.
	into object
	// store writes the row of each occurrence as it is.
	store func(*ent.EventUpdateOne)
}

// author returns the login that writes the series.
func (c occurrenceCase) author() string {
	if c.as == "" {
		return "admin"
	}
	return c.as
}

// create creates the series and returns the ids of its first two occurrences.
func (c occurrenceCase) create(t *testing.T, e *eventTest) []int64 {
	t.Helper()
	res := e.Do(t, post(c.author(), "/events", course(c.over)))
	if res.Status != 201 {
		t.Fatalf("got %d %s", res.Status, res.Body)
	}
	row := e.Store.Ent.Event.GetX(t.Context(), int64(res.Get(t, "id").(float64)))
	return e.occurrences(t, *row.SeriesID)[:2]
}

// prepare makes the changes that come before the occurrences are read.
func (c occurrenceCase) prepare(t *testing.T, e *eventTest, ids []int64) {
	t.Helper()
	for _, id := range ids {
		if c.change != nil {
			e.mustSucceed(t, patch(c.author(), eventPath(id), c.change))
		}
		if c.into != nil {
			e.mustSucceed(t, patch(c.author(), eventPath(id)+"?ml_language=pl", c.into))
		}
		if c.store != nil {
			changeEvent(t, e.API, id, c.store)
			e.Rewritten()
		}
	}
}

// sendBack writes to each occurrence what a read of it returned, by each method and in several languages.
func (c occurrenceCase) sendBack(t *testing.T, e *eventTest, ids []int64, methods []string) {
	t.Helper()
	as := c.author()
	for _, id := range ids {
		for _, method := range methods {
			e.unchanged(t, as, method, eventPath(id))
		}
		e.unchanged(t, as, "PUT", eventPath(id)+"?ml_language=pl")
	}
	// The path chooses the write language as well.
	e.unchanged(t, as, "PUT", "/es/"+handlers.Namespace+eventPath(ids[0]))
	if slug := e.slugOf(t, ids[0]); slug != "" {
		e.unchanged(t, as, "PUT", "/events/by-slug/"+slug+"?ml_language=pl")
	}
}

// TestAnOccurrenceSentBackStaysAsItIs reads occurrences and writes what was read. Nothing may change. If
// storetest.IsBrief, it does so for one occurrence of each series, by one method.
func TestAnOccurrenceSentBackStaysAsItIs(t *testing.T) {
	all := object{
		"description": "For *adults*\nand children\n\nTwice a month", "excerpt": "Short & sweet", "slug": "a-course", "image": poster,
		"cost": "10", "website": "https://course.example/", "show_map": true, "show_map_link": true, "sticky": true,
		"featured": true, "ticketed": true, "categories": []int64{music}, "tags": []string{"evening", "language"},
		"venue": []int64{grandHall, bareVenue}, "organizer": []int64{bob}, "post_parent": jazzNight, "password": "secret",
		"event_status": "postponed", "event_status_reason": "Rain < 5", "attendance": "mixed", "virtual_url": "https://meet.example/",
	}
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		private := e.mustPost(t, "admin", "/venues", object{"venue": "Cellar", "status": "private"})
		for i, c := range []occurrenceCase{
			{name: "no other fields"},
			{name: "all fields", over: all},
			{name: "no text", over: object{"description": "", "excerpt": " "}},
			{name: "markup in texts", over: object{"title": "Tea &amp; <b>&lt;cake&gt;</b>", "description": "<p>a</p><script>b</script>", "excerpt": "<br>"}},
			{name: "several prices", over: object{"cost": []string{"20", "5", "10 zł"}}},
			{name: "a price with a symbol", over: object{"cost": "12.50 zł"}},
			{name: "free", over: object{"cost": "0"}},
			{name: "free or not, with texts", over: object{"cost": []string{"Donation", "0", "15"}}},
			{name: "no website", over: object{"website": ""}},
			{name: "a draft", over: object{"status": "draft"}},
			{name: "a draft with a slug", over: object{"status": "draft", "slug": "a-draft"}},
			{name: "private", over: object{"status": "private"}},
			{name: "scheduled", over: object{"date": "2026-11-30 10:00"}},
			{name: "endless", over: object{"rrule": "FREQ=MONTHLY", "exdate": nil}},
			{name: "dates alone", over: object{"rrule": nil, "exdate": nil, "rdate": []string{"2026-11-30 10:00", "2026-12-01"}}},
			{name: "whole days", over: object{"all_day": true}},
			{name: "another zone", over: object{"timezone": "UTC+5:30"}},
			{name: "in a gap", over: object{
				"start_date": "2027-03-27 02:30", "end_date": "2027-03-27 02:45", "rrule": "FREQ=DAILY;COUNT=3", "exdate": nil,
			}},
			{name: "in a doubled hour", over: object{
				"start_date": "2026-10-24 02:30", "end_date": "2026-10-24 03:30", "rrule": "FREQ=DAILY;COUNT=3", "exdate": nil,
			}},
			{name: "moved", change: object{"start_date": "2026-11-28 10:00"}},
			{name: "with own fields", over: all, change: object{
				"title": "Another", "description": "Own", "cost": []int{1, 2, 3}, "venue": nil, "image": nil, "website": nil, "status": "private",
			}},
			{name: "canceled", change: object{"event_status": "canceled", "event_status_reason": "Ill"}},
			{name: "translated", over: all, into: object{
				"title": "Polski", "description": "Dla *dorosłych*", "excerpt": "Krótko", "slug": "polski", "event_status_reason": "Deszcz",
			}},
			{name: "translated in part", over: all, into: object{"description": "Dla dorosłych"}},
			{name: "written in Polish", over: object{"ml_language": "pl", "cost": "0"}},
			{name: "by its author", as: "author", over: all},
			{name: "by a contributor", as: "contributor"},
			{name: "at a venue that the author may not read", as: "author", store: func(u *ent.EventUpdateOne) { u.AddVenueIDs(private) }},
			{name: "without an author", store: func(u *ent.EventUpdateOne) { u.ClearAuthorID() }},
			{name: "below an event in the trash", store: func(u *ent.EventUpdateOne) { u.SetParentID(trashedEvent) }},
			{name: "a price of an import", store: func(u *ent.EventUpdateOne) {
				u.SetCost(calendar.Cost{Symbol: "€", Position: calendar.Postfix, Prices: []string{"1", "2"}, Texts: []string{"5 or so"}})
			}},
		} {
			t.Run(c.name, func(t *testing.T) {
				ids, methods := c.create(t, e), []string{"PUT", "PATCH", "POST"}
				if storetest.IsBrief(e.Store) {
					ids, methods = ids[:1], methods[i%3:i%3+1]
				}
				c.prepare(t, e, ids)
				c.sendBack(t, e, ids, methods)
			})
		}
	})
}

// slugOf returns the slug of an event in its original language.
func (e *eventTest) slugOf(t *testing.T, id int64) string {
	t.Helper()
	return e.Store.Ent.Event.Query().Where(event.ID(id)).Select(event.FieldSlug).StringX(t.Context())
}

// unchanged reads an event, writes what was read, and fails if anything in the calendar changes.
func (e *eventTest) unchanged(t *testing.T, as, method, path string) {
	t.Helper()
	absolute := strings.Contains(path, handlers.Namespace)
	read := apitest.Request{As: as, Path: path, Absolute: absolute}
	before := e.mustSucceed(t, read)
	rows := e.rowCounts(t)
	e.now = e.now.Add(time.Second)
	written := e.Do(t, apitest.Request{Method: method, As: as, Path: path, Absolute: absolute, JSON: before.JSON(t)})
	if written.Status != 200 {
		t.Errorf("%s %s: %d %s", method, path, written.Status, written.Body)
		return
	}
	after := e.mustSucceed(t, read)
	if diff := cmp.Diff(before.JSON(t), after.JSON(t)); diff != "" {
		t.Errorf("%s %s (-before +after):\n%s", method, path, diff)
	}
	if a, b := before.Header.Get("ETag"), after.Header.Get("ETag"); a != b || a == "" {
		t.Errorf("%s %s: ETag %s, then %s", method, path, a, b)
	}
	if diff := cmp.Diff(rows, e.rowCounts(t)); diff != "" {
		t.Errorf("%s %s: rows (-before +after):\n%s", method, path, diff)
	}
}

func TestOnlyAChangedFieldOfAnOccurrenceSentBackBecomesOwn(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		made := e.mustSucceed(t, post("admin", "/events", course(object{"description": "One\nTwo", "cost": []int{5, 10, 20}})))
		path := eventPath(int64(made.Get(t, "id").(float64)))
		own := []string{}
		for _, c := range []struct {
			language, name string
			value          any
			own            []string
		}{
			{"en", "featured", true, []string{"featured"}},
			{"en", "cost", "$5 – $10", []string{"cost", "featured"}},
			{"pl", "title", "Polski", []string{"title:pl", "cost", "featured"}},
			{"pl", "website", "https://own.example/", []string{"title:pl", "cost", "website", "featured"}},
			{"en", "description", "<p>One</p>", []string{"title:pl", "description", "cost", "website", "featured"}},
		} {
			asked := path + "?ml_language=" + c.language
			body := e.mustSucceed(t, get(asked)).JSON(t).(object)
			hasValues(t, e.mustSucceed(t, get(asked)), object{"series.own_fields": own})
			body[c.name] = c.value
			hasValues(t, e.mustSucceed(t, apitest.Request{Method: "PUT", As: "admin", Path: asked, JSON: body}), object{
				"series.own_fields": c.own, c.name: c.value,
			})
			own = c.own
		}
	})
}

// scheduleRequest is a write of the schedule of an occurrence.
type scheduleRequest struct {
	name         string
	body         object
	seen, hidden string // parameter and reason; "" means the request is accepted
}

// send sends the request. It checks that the reply is a refusal with the reason want, or a success if want is "".
func (q scheduleRequest) send(t *testing.T, e *eventTest, as string, occurrence int64, want string) apitest.Response {
	t.Helper()
	r := e.Do(t, patch(as, eventPath(occurrence), q.body))
	switch {
	case want != "" && r.Status == 400:
		namesExactly(want)(t, r)
	case want != "" || r.Status != 200:
		t.Errorf("%s: got %d %s", q.name, r.Status, r.Body)
	}
	return r
}

// sendToReader sends the request as a caller who may read the series, unless the occurrence would leave the series.
func (q scheduleRequest) sendToReader(t *testing.T, e *eventTest, as string, occurrence int64) {
	t.Helper()
	if q.body["rrule"] != "" {
		q.send(t, e, as, occurrence, q.seen)
	}
}

// sendToOthers sends the request as a caller who may not read the series. An event outside a series gets the same reply.
func (q scheduleRequest) sendToOthers(t *testing.T, e *eventTest, as string, occurrence, outside int64) {
	t.Helper()
	r := q.send(t, e, as, occurrence, q.hidden)
	if q.hidden == "scope scope-required" {
		return
	}
	other := e.Do(t, patch(as, eventPath(outside), q.body))
	if r.Status != other.Status || r.Status != 200 && string(r.Body) != string(other.Body) {
		t.Errorf("%s: got %d %s, outside a series %d %s", q.name, r.Status, r.Body, other.Status, other.Body)
	}
}

// addOccurrence creates a series with a status, and returns an occurrence of it that the author may edit.
func (e *eventTest) addOccurrence(t *testing.T, series calendar.Status) int64 {
	t.Helper()
	res := e.mustSucceed(t, post("admin", "/events", course(nil)))
	id := int64(res.Get(t, "series", "id").(float64))
	e.Store.Ent.Series.UpdateOneID(id).SetStatus(series).ExecX(t.Context())
	occurrence := e.occurrences(t, id)[1]
	changeEvent(t, e.API, occurrence, func(u *ent.EventUpdateOne) { u.SetAuthorID(e.user["author"]) })
	e.Rewritten()
	return occurrence
}

// TestAnOccurrenceSaysNothingOfAHiddenSeries sends the schedule of an occurrence as callers who may edit it. To those who may
// not read its series it is an event outside a series, whatever the series has for a schedule.
func TestAnOccurrenceSaysNothingOfAHiddenSeries(t *testing.T) {
	dates := object{"start_date": "2026-12-08 18:00", "end_date": "2026-12-08 19:30"}
	requests := []scheduleRequest{
		{"the rule of the series", object{"rrule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;UNTIL=20270303"}, "", "scope scope-required"},
		{"the rule and the dates", overlayBody(maps.Clone(dates), object{"rrule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;UNTIL=20270303"}), "", "scope scope-required"},
		{"another rule", object{"rrule": "FREQ=DAILY;COUNT=3"}, "scope scope-required", "scope scope-required"},
		{"another rule and the dates", overlayBody(maps.Clone(dates), object{"rrule": "FREQ=DAILY;COUNT=3"}), "scope scope-required", "scope scope-required"},
		{"a rule without the start", object{"rrule": "FREQ=WEEKLY;BYDAY=MO"}, "scope scope-required", "rrule start-not-in-rule"},
		{"a rule without the start and the dates", overlayBody(maps.Clone(dates), object{"rrule": "FREQ=WEEKLY;BYDAY=MO"}), "scope scope-required", "rrule start-not-in-rule"},
		{"no rule", object{"rrule": ""}, "", ""},
		{"no dates", object{"rdate": []string{}}, "", ""},
		{"another date", object{"rdate": "2026-12-30"}, "scope scope-required", "scope scope-required"},
		{"the exception of the series", object{"exdate": "2026-12-22"}, "", "exdate not-in-schedule"},
		{"another exception", object{"exdate": "2027-01-05"}, "scope scope-required", "exdate not-in-schedule"},
		{"a date that is none of the schedule", object{"exdate": "2026-12-23"}, "scope scope-required", "exdate not-in-schedule"},
		{"no exceptions", object{"exdate": ""}, "scope scope-required", ""},
		{"the one occurrence", object{"scope": "this"}, "", ""},
		{"a scope that there is not", object{"scope": "some"}, "scope rest_not_in_enum", "scope rest_not_in_enum"},
	}
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		for _, c := range []struct {
			series  calendar.Status
			readers []string
		}{
			{calendar.Publish, []string{"admin", "editor", "author"}},
			{calendar.Private, []string{"admin", "editor"}},
			{calendar.Draft, []string{"admin", "editor"}},
			{calendar.Trash, nil},
		} {
			for _, as := range []string{"admin", "editor", "author"} {
				t.Run(fmt.Sprintf("%s of a series in %s", as, c.series), func(t *testing.T) {
					canRead := slices.Contains(c.readers, as)
					occurrence := e.addOccurrence(t, c.series)
					if r := e.mustSucceed(t, apitest.Request{As: as, Path: eventPath(occurrence)}); (valueAt(r.JSON(t), "series") != nil) != canRead {
						t.Fatalf("series %v, read %t", valueAt(r.JSON(t), "series"), canRead)
					}
					outside := e.mustCreate(t, "author", overlayBody(maps.Clone(dates), object{"title": "Outside"}))
					for _, q := range requests {
						if canRead {
							q.sendToReader(t, e, as, occurrence)
						} else {
							q.sendToOthers(t, e, as, occurrence, outside)
						}
					}
					if row := e.Store.Ent.Event.GetX(t.Context(), occurrence); row.SeriesID == nil {
						t.Error("it left the series")
					}
				})
			}
		}
	})
}

// TestAnOccurrenceWrittenMeanwhileIsComparedAgain sends back a read event, while another caller writes between the
// comparison and the lock. The reply equals that of the two writes in sequence.
func TestAnOccurrenceWrittenMeanwhileIsComparedAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var between func() // the concurrent write after the event was read
		name := map[string]string{"mysql": dialect.MySQL, "sqlite": dialect.SQLite}[st.Engine()]
		watching := dialect.DebugWithContext(entsql.OpenDB(name, st.DB), func(_ context.Context, args ...any) {
			if do := between; do != nil && strings.Contains(fmt.Sprint(args...), eventvenue.Table) {
				between = nil
				do()
			}
		})
		api := apitest.New(t, st, func(c *handlers.Config) { c.Primary = ent.NewClient(ent.Driver(watching)) })
		api.Serve(api.Uncached())
		api.SignIn(t, "admin", calendar.Administrator)
		first := api.Do(t, post("admin", "/events", course(object{"title": "First"})))
		path := eventPath(int64(first.Get(t, "id").(float64)))
		between = func() { api.Do(t, patch("admin", path, object{"title": "Second", "description": "second"})) }
		res := api.Do(t, apitest.Request{Method: "PUT", As: "admin", Path: path, JSON: object{"title": "First", "description": "third"}})
		if between != nil {
			t.Fatal("nobody wrote meanwhile")
		}
		hasValues(t, res, object{"title": "First", "description": "<p>third</p>"})
	})
}

// TestAnOccurrenceRemovedMeanwhile removes an event or its series while a request writes one of them. Ids are never
// reused, so a removed event gets the error for an id of no event.
func TestAnOccurrenceRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var when string    // what the statement contains before which something is removed
		var between func() // what is removed
		name := map[string]string{"mysql": dialect.MySQL, "sqlite": dialect.SQLite}[st.Engine()]
		watching := dialect.DebugWithContext(entsql.OpenDB(name, st.DB), func(_ context.Context, args ...any) {
			if do := between; do != nil && strings.Contains(fmt.Sprint(args...), when) {
				between = nil
				do()
			}
		})
		api := apitest.New(t, st, func(c *handlers.Config) { c.Primary = ent.NewClient(ent.Driver(watching)) })
		api.Serve(api.Uncached())
		api.SignIn(t, "admin", calendar.Administrator)
		for _, c := range []struct {
			method, path string
			kind         calendar.Kind // what is removed
			when         string
			status       int
			code         string
		}{
			{"PATCH", "/events/%d", calendar.Event, eventvenue.Table, 400, "rest-invalid-event-id"},
			{"PATCH", "/events/%d?scope=following", calendar.Event, eventvenue.Table, 400, "rest-invalid-event-id"},
			{"PATCH", "/events/%d", calendar.Series, eventvenue.Table, 200, ""},
			{"PATCH", "/events/%d?scope=all", calendar.Series, eventvenue.Table, 400, "rest_invalid_param"},
			{"PATCH", "/events/%d?scope=all", calendar.Series, "FROM `series`", 400, "rest_invalid_param"},
			{"DELETE", "/events/%d?scope=all", calendar.Series, "FROM `series`", 400, "rest_invalid_param"},
			{"PATCH", "/series/%d", calendar.Series, "FROM `series_phases`", 404, "series-not-found"},
			{"DELETE", "/series/%d", calendar.Series, "FROM `series_phases`", 404, "series-not-found"},
		} {
			first := api.Do(t, post("admin", "/events", course(nil)))
			event, series := int64(first.Get(t, "id").(float64)), int64(first.Get(t, "series", "id").(float64))
			target := map[bool]int64{true: series, false: event}
			removed := target[c.kind == calendar.Series]
			when, between = c.when, func() {
				e := &edit.Editor{Site: api.Site, Now: apitest.Now, By: auth.System(), PasswordKey: api.Key}
				err := edit.Write(t.Context(), st.Ent, e, func(tx *ent.Tx) error {
					return e.RemoveAll(t.Context(), tx, c.kind, []int64{removed})
				})
				if err != nil {
					t.Error(err)
				}
			}
			req := apitest.Request{Method: c.method, As: "admin", Path: fmt.Sprintf(c.path, target[strings.HasPrefix(c.path, "/series")])}
			if c.method == "PATCH" {
				req.JSON = object{"title": "New"}
			}
			r := api.Do(t, req)
			if code, _ := valueAt(r.JSON(t), "code").(string); r.Status != c.status || code != c.code {
				t.Errorf("%s %s: got %d %s", c.method, c.path, r.Status, r.Body)
			}
			if between != nil {
				t.Errorf("%s %s: nothing was removed meanwhile", c.method, c.path)
				between = nil
			}
		}
	})
}
