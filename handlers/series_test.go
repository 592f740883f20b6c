package handlers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// course returns the body of the contract's example of a series. The members of over are added or replace them.
func course(over object) object {
	body := concert(object{
		"title": "Polish for beginners", "start_date": "2026-11-24 18:00", "end_date": "2026-11-24 19:30",
		"timezone": "Europe/Warsaw", "rrule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;UNTIL=20270303", "exdate": []string{"2026-12-22"},
	})
	return overlayBody(body, over)
}

// overlayBody returns a body with the members of o added or replaced. A nil member is removed.
func overlayBody(body, o object) object {
	for name, v := range o {
		if body[name] = v; v == nil {
			delete(body, name)
		}
	}
	return body
}

// occurrences returns the ids of the events of a series by their starts.
func (e *eventTest) occurrences(t *testing.T, series int64) []int64 {
	t.Helper()
	rows, err := e.Store.Ent.Event.Query().All(t.Context())
	must.Succeed(t, err)
	rows = slices.DeleteFunc(rows, func(r *ent.Event) bool { return r.SeriesID == nil || *r.SeriesID != series })
	slices.SortFunc(rows, func(a, b *ent.Event) int { return a.StartsAt.Compare(b.StartsAt) })
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids
}

// TestSeriesOfTheContract replays the example of the contract, section 19.9.
func TestSeriesOfTheContract(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		first := e.Do(t, post("admin", "/events", course(nil)))
		id, series := int64(first.Get(t, "id").(float64)), int64(first.Get(t, "series", "id").(float64))
		text := "every second Tuesday until 3 March 2027, except 22 December 2026"
		if want := fmt.Sprintf("%s/cal/events/v1/events/%d", apitest.BaseURL, id); first.Status != 201 || first.Header.Get("Location") != want {
			t.Errorf("got %d, Location %q, want %q", first.Status, first.Header.Get("Location"), want)
		}
		rest := fmt.Sprintf("%s/cal/events/v1/series/%d", apitest.BaseURL, series)
		hasValues(t, first, object{
			"start_date": "2026-11-24 18:00:00", "slug": "polish-for-beginners-2026-11-24",
			"series": object{
				"id": series, "rest_url": rest, "original_start_date": "2026-11-24 18:00:00", "is_exception": false,
				"own_fields": []string{}, "text": text,
			},
		})
		ids := e.occurrences(t, series)
		if len(ids) != 7 || ids[0] != id {
			t.Fatalf("occurrences are %v, want 7 from %d on", ids, id)
		}
		hasValues(t, e.mustSucceed(t, patch("admin", eventPath(ids[1]), object{"start_date": "2026-12-09 17:00"})), object{
			"start_date": "2026-12-09 17:00:00", "end_date": "2026-12-09 18:30:00",
			"series": object{
				"id": series, "rest_url": rest, "original_start_date": "2026-12-08 18:00:00", "is_exception": true,
				"own_fields": []string{"start_date", "end_date"}, "text": text,
			},
		})
		hasValues(t, e.mustSucceed(t, get(eventPath(ids[1]))), object{
			"json_ld.eventStatus": "https://schema.org/EventRescheduled", "json_ld.previousStartDate": "2026-12-08T18:00:00+01:00",
			"json_ld.superEvent": object{
				"@type": "EventSeries", "name": "Polish for beginners", "url": apitest.BaseURL + "/series/polish-for-beginners/",
			},
		})
		e.mustSucceed(t, patch("admin", eventPath(ids[1]), object{"event_status": "canceled"}))
		hasValues(t, e.mustSucceed(t, get(eventPath(ids[1]))), object{
			"json_ld.eventStatus": "https://schema.org/EventCancelled", "json_ld.previousStartDate": nil,
		})
		hasValues(t, e.mustSucceed(t, get(fmt.Sprint("/series/", series))), object{
			"id": series, "rest_url": rest, "url": apitest.BaseURL + "/series/polish-for-beginners/", "slug": "polish-for-beginners",
			"start_date": "2026-11-24 18:00:00", "rrule": "FREQ=WEEKLY;INTERVAL=2;UNTIL=20270303;BYDAY=TU",
			"rdate": []string{}, "exdate": []string{"2026-12-22 18:00:00"}, "text": text, "generated_until": nil,
			"total": 7, "next": id, "event_status": nil, "post_parent": nil, "utc_start_date": nil,
		})
		hasValues(t, e.mustSucceed(t, get("/series/by-slug/polish-for-beginners?ml_language=pl")), object{
			"text": "co drugi wtorek do 3 marca 2027, z wyjątkiem 22 grudnia 2026",
		})
	})
}

func TestRefusedSchedules(t *testing.T) {
	many := make([]string, 367)
	for i := range many {
		many[i] = calendar.WallAt(2027, 1, 1+i, 18, 0, 0).String()
	}
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		single := e.mustCreate(t, "admin", nil)
		made := e.Do(t, post("admin", "/events", course(object{"slug": "a-course"})))
		occurrence := int64(made.Get(t, "id").(float64))
		made = e.mustSucceed(t, post("admin", "/events", course(object{"title": "Long", "exdate": nil, "rrule": "FREQ=DAILY;COUNT=200"})))
		long := int64(made.Get(t, "id").(float64))
		before := e.rowCounts(t)
		create := func(over object) apitest.Request {
			return post("admin", "/events", overlayBody(course(object{"exdate": nil}), over))
		}
		for _, c := range []struct {
			name    string
			request apitest.Request
			fault   string // parameter and reason
			data    object
			message [3]string // in en, pl, es; none means not looked at
		}{
			{"a value that no rule has", create(object{"rrule": "FREQ=WEEKLY;COUNT=0"}), "rrule bad-rule", object{"part": "COUNT", "value": "0"}, [3]string{
				"COUNT=0 is not valid in a recurrence rule.", "COUNT=0 jest nieprawidłowe w regule powtarzania.", "COUNT=0 no es válido en una regla de repetición.",
			}},
			{"a part twice", create(object{"rrule": "FREQ=DAILY;FREQ=DAILY"}), "rrule bad-rule", nil, [3]string{}},
			{"no rule at all", create(object{"rrule": "often"}), "rrule bad-rule", nil, [3]string{}},
			{"an end before the start", create(object{"rrule": "FREQ=DAILY;UNTIL=20260101"}), "rrule bad-rule", object{"part": "UNTIL", "value": "20260101"}, [3]string{}},
			{"by the hour", create(object{"rrule": "FREQ=DAILY;BYHOUR=9,17"}), "rrule rule-part-not-supported", object{"part": "BYHOUR"}, [3]string{
				"BYHOUR is not supported. A rule can repeat an event by day, week, month or year.", "BYHOUR nie jest obsługiwane. Wydarzenie można powtarzać co pewną liczbę dni, tygodni, miesięcy lub lat.",
				"BYHOUR no se admite. Una regla puede repetir un evento cada cierto número de días, semanas, meses o años.",
			}},
			{"a start on another day", create(object{"rrule": "FREQ=WEEKLY;BYDAY=WE;COUNT=3"}), "rrule start-not-in-rule", object{"next": "2026-11-25 18:00:00"}, [3]string{
				"The rule has no occurrence at the start. Start at 2026-11-25 18:00:00, or change the rule.",
				"Reguła nie daje terminu w chwili rozpoczęcia. Należy podać początek 2026-11-25 18:00:00 albo zmienić regułę.",
				"La regla no da ninguna fecha de la serie en el inicio. Indique el inicio 2026-11-25 18:00:00 o cambie la regla.",
			}},
			{"a rule without a start, made to be slow", create(object{"rrule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}), "rrule start-not-in-rule", object{"next": nil}, [3]string{
				"The rule has no occurrences. Change the rule or the start.", "Reguła nie daje żadnego terminu. Należy zmienić regułę albo początek.", "La regla no da ninguna fecha de la serie. Cambie la regla o el inicio.",
			}},
			{"a rule with parts made to be slow", create(object{"rrule": "FREQ=YEARLY;BYDAY=53MO;BYMONTHDAY=1;BYSETPOS=366;COUNT=1000"}), "rrule start-not-in-rule", nil, [3]string{}},
			{"nothing left", create(object{"rrule": "FREQ=DAILY;COUNT=1", "exdate": "2026-11-24"}), "rrule no-occurrences", object{}, [3]string{
				"The series would have no occurrences left. Keep at least one, or delete the series.", "W cyklu nie pozostałby żaden termin. Należy zostawić co najmniej jeden albo usunąć cykl.", "No quedaría ninguna fecha de la serie. Conserve al menos una o elimine la serie.",
			}},
			{"too many", create(object{"rrule": "FREQ=DAILY;COUNT=1000", "rdate": "2040-01-01"}), "rrule too-many-occurrences", object{"maximum": 1000}, [3]string{
				"A request may create at most 1000 occurrences. Set COUNT or UNTIL, or a later start.",
				"Jedno żądanie może utworzyć najwyżej 1000 terminów. Należy podać COUNT lub UNTIL albo późniejszy początek.",
				"Una solicitud puede crear como máximo 1000 fechas de la serie. Indique COUNT o UNTIL, o un inicio posterior.",
			}},
			{"an exception that is no start", create(object{"exdate": []string{"2026-11-25", "2026-12-08 17:00"}}), "exdate not-in-schedule", object{"dates": []string{"2026-11-25", "2026-12-08 17:00:00"}}, [3]string{
				"No occurrence starts at 2026-11-25, 2026-12-08 17:00:00.", "Żaden termin nie zaczyna się: 2026-11-25, 2026-12-08 17:00:00.",
				"Ninguna fecha de la serie empieza en 2026-11-25, 2026-12-08 17:00:00.",
			}},
			{
				"too many for such a text",
				create(object{"rrule": "FREQ=DAILY;COUNT=700", "description": strings.Repeat("x", 100<<10)}),
				"rrule too-many-occurrences",
				object{"maximum": 81},
				[3]string{},
			},
			{
				"too many of all for such a text",
				create(object{"rrule": "FREQ=DAILY;UNTIL=20300101", "description": strings.Repeat("x", 100<<10)}),
				"rrule too-many-occurrences",
				object{"maximum": 81},
				[3]string{},
			},
			{
				"the same in a preview",
				post("admin", "/series/preview", course(object{
					"title": nil, "exdate": nil, "rrule": "FREQ=DAILY;COUNT=700", "description": strings.Repeat("x", 100<<10),
				})),
				"rrule too-many-occurrences",
				object{"maximum": 81},
				[3]string{},
			},
			{
				"a text that is too long for all",
				patch("admin", eventPath(long)+"?scope=all", object{"description": strings.Repeat("x", 100<<10)}),
				"description rest_out_of_bounds",
				object{"maximum": 83886},
				[3]string{
					"This is too much for 200 occurrences: at most 83886 bytes each. Shorten it, or change fewer occurrences.",
					"To za dużo dla 200 terminów: najwyżej 83886 bajtów na termin. Należy skrócić tekst albo zmienić mniej terminów.",
					"Es demasiado para 200 fechas de la serie: como máximo 83886 bytes cada una. Acorte el texto o cambie menos fechas.",
				},
			},
			{"an end that the clock shows before the start", create(object{
				"start_date": "2027-03-28 03:15", "end_date": "2027-03-28 02:45", "rrule": "FREQ=DAILY;COUNT=3",
			}), "end_date end-before-start", object{}, [3]string{}},
			{"the same in a preview", post("admin", "/series/preview", object{
				"start_date": "2027-03-28 03:15", "end_date": "2027-03-28 02:45", "timezone": "Europe/Warsaw", "rdate": "2027-03-30",
			}), "end_date end-before-start", object{}, [3]string{}},
			{"the same in an update", patch("admin", eventPath(single), object{
				"start_date": "2027-03-28 03:15", "end_date": "2027-03-28 02:45", "timezone": "Europe/Warsaw", "rrule": "FREQ=DAILY;COUNT=3",
			}), "end_date end-before-start", object{}, [3]string{}},
			{"367 dates", create(object{"rdate": many}), "rdate rest_out_of_bounds", object{"maximum": 366}, [3]string{}},
			{"367 exceptions", create(object{"exdate": many}), "exdate rest_out_of_bounds", object{"maximum": 366}, [3]string{}},
			{"501 characters", create(object{"rrule": "FREQ=DAILY;COUNT=" + strings.Repeat("0", 483) + "2"}), "rrule rest_out_of_bounds", object{"maximum": 500}, [3]string{}},
			{"a number for a rule", create(object{"rrule": 5}), "rrule rest_invalid_type", nil, [3]string{}},
			{"no date", create(object{"rdate": []string{"soon"}}), "rdate rest_invalid_date", nil, [3]string{}},
			{"an object for dates", create(object{"exdate": object{"a": 1}}), "exdate rest_invalid_type", nil, [3]string{}},
			{"a scope on create", create(object{"scope": "all"}), "scope not-recurring", object{}, [3]string{"The event is not part of a series.", "To wydarzenie nie należy do cyklu.", "El evento no forma parte de una serie."}},
			{"a scope outside a series", patch("admin", eventPath(single), object{"scope": "following", "title": "x"}), "scope not-recurring", object{}, [3]string{}},
			{"a scope of a deletion outside a series", remove("admin", eventPath(single)+"?scope=all"), "scope not-recurring", object{}, [3]string{}},
			{"a scope that there is not", patch("admin", eventPath(occurrence), object{"scope": "some", "title": "x"}), "scope rest_not_in_enum", object{"enum": []string{"this", "following", "all"}}, [3]string{}},
			{"another rule for one occurrence", patch("admin", eventPath(occurrence), object{"rrule": "FREQ=DAILY"}), "scope scope-required", object{}, [3]string{
				"Set scope to following or all, to say which occurrences change.", "Należy podać w scope wartość following lub all, aby wskazać, których terminów dotyczy zmiana.",
				"Indique en scope el valor following o all para señalar qué fechas de la serie cambian.",
			}},
			{"a rule that becomes too long a series", patch("admin", eventPath(single), object{"rrule": "FREQ=DAILY;COUNT=1000", "rdate": "2040-01-01"}), "rrule too-many-occurrences", object{"maximum": 1000}, [3]string{}},
		} {
			t.Run(c.name, func(t *testing.T) {
				for i, l := range []string{"en", "pl", "es"} {
					request := c.request
					separator := "?"
					if strings.Contains(request.Path, "?") {
						separator = "&"
					}
					request.Path += separator + "ml_language=" + l
					r := e.Do(t, request)
					if r.Status != 400 {
						t.Fatalf("got %d %s", r.Status, r.Body)
					}
					namesExactly(c.fault)(t, r)
					name, _, _ := strings.Cut(c.fault, " ")
					if c.data != nil {
						hasValues(t, r, object{"data.details." + name + ".data": c.data})
					}
					if c.message[i] != "" {
						hasValues(t, r, object{"data.params." + name: c.message[i]})
					}
				}
			})
		}
		if diff := cmp.Diff(before, e.rowCounts(t)); diff != "" {
			t.Errorf("rows (-before +after):\n%s", diff)
		}
		e.Run(t, []apitest.Case{
			{Name: "every fault at once", Request: create(object{
				"rrule": "FREQ=HOURLY", "rdate": "soon", "exdate": "later", "scope": "all", "cost": true,
			}), Status: 400, Check: namesExactly("cost", "rrule bad-rule", "rdate rest_invalid_date", "exdate rest_invalid_date", "scope not-recurring")},
			{Name: "a rule before the permission", Request: post("", "/events", course(object{"rrule": "FREQ=X"})), Status: 400, Check: namesExactly("rrule bad-rule")},
			{Name: "what it makes after the permission", Request: post("", "/events", course(object{"rrule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"})), Status: 401, Code: "rest_forbidden"},
			{Name: "and for who may not create", Request: post("subscriber", "/series/preview", course(object{"rrule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"})), Status: 403, Code: "rest_forbidden"},
			{Name: "null is no schedule", Request: create(object{"rrule": "", "rdate": []string{}, "exdate": ""}), Status: 201, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"series": nil})
			}},
			{Name: "dates alone", Request: post("admin", "/events", concert(object{"rdate": "2026-12-06,2026-12-07 10:00"})), Status: 201, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, e.mustSucceed(t, get(fmt.Sprint("/series/", r.Get(t, "series", "id")))), object{
					"rrule": "", "rdate": []string{"2026-12-06 18:00:00", "2026-12-07 10:00:00"}, "total": 3,
				})
			}},
		})
	})
}

// TestMoreExceptionsThanAreSent deletes occurrences one by one, until the series has more exdates than a client may send.
func TestMoreExceptionsThanAreSent(t *testing.T) {
	t.Parallel()
	e := newEventTest(t, storetest.Migrated(t, storetest.SQLite(t)))
	made := e.Do(t, post("admin", "/events", course(object{"rrule": "FREQ=DAILY;COUNT=400", "exdate": nil})))
	series := int64(made.Get(t, "series", "id").(float64))
	ids := e.occurrences(t, series)
	editor := &edit.Editor{Now: e.now, By: auth.System()}
	err := edit.Write(t.Context(), e.Store.Ent, editor, func(tx *ent.Tx) error {
		for _, id := range ids[1:368] {
			row, err := edit.LockEvent(t.Context(), tx, id)
			if err != nil {
				return err
			}
			if _, err := editor.TrashEvent(t.Context(), tx, row); err != nil {
				return err
			}
		}
		return nil
	})
	must.Succeed(t, err)
	e.mustSucceed(t, remove("admin", eventPath(ids[368])))
	shown := e.mustSucceed(t, get(fmt.Sprint("/series/", series)))
	stored := shown.Get(t, "exdate").([]any)
	if len(stored) != 368 {
		t.Fatalf("%d exceptions", len(stored))
	}
	e.Run(t, []apitest.Case{
		{Name: "a title", Request: patch("admin", eventPath(ids[1]), object{"title": "Other"}), Status: 200},
		{Name: "of a new series", Request: post("admin", "/events", course(object{"rrule": "FREQ=DAILY;COUNT=400", "exdate": stored})), Status: 400, Check: namesExactly("exdate rest_out_of_bounds")},
		{Name: "the next one", Request: remove("admin", eventPath(ids[369])), Status: 200},
	})
}

func TestPreviewOfASeries(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		before := e.rowCounts(t)
		preview := func(as string, over object) apitest.Request {
			return post(as, "/series/preview", overlayBody(course(object{"title": nil}), over))
		}
		shows := func(want object) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) { hasValues(t, r, want) }
		}
		e.Run(t, []apitest.Case{
			{Name: "a rule that ends", Request: preview("contributor", object{"limit": 2}), Status: 200, Check: shows(object{
				"rrule": "FREQ=WEEKLY;INTERVAL=2;UNTIL=20270303;BYDAY=TU", "total": 7,
				"text":   "every second Tuesday until 3 March 2027, except 22 December 2026",
				"starts": []string{"2026-11-24 18:00:00", "2026-12-08 18:00:00"},
			})},
			{Name: "an endless one", Request: preview("admin", object{"rrule": "rrule:freq=daily", "exdate": nil, "limit": 1}), Status: 200, Check: shows(object{
				"rrule": "FREQ=DAILY", "total": nil, "starts": []string{"2026-11-24 18:00:00"},
			})},
			{Name: "an end far ahead", Request: preview("admin", object{"rrule": "FREQ=DAILY;UNTIL=20300101", "exdate": nil, "limit": 1}), Status: 200, Check: shows(object{
				"rrule": "FREQ=DAILY;UNTIL=20300101", "total": nil, "text": "every day until 1 January 2030", "starts": []string{"2026-11-24 18:00:00"},
			})},
			{Name: "a start far ahead", Request: preview("admin", object{"start_date": "2040-01-02 18:00", "end_date": "2040-01-02 19:00", "rrule": "FREQ=DAILY", "exdate": nil}), Status: 200, Check: shows(object{
				"total": nil, "starts": []string{"2040-01-02 18:00:00"},
			})},
			{Name: "the calendar and the way to skip of RFC 7529", Request: preview("admin", object{
				"start_date": "2027-01-31", "end_date": "2027-01-31", "all_day": true, "rrule": "RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD;COUNT=3", "exdate": nil,
			}), Status: 200, Check: shows(object{
				"rrule": "FREQ=MONTHLY;COUNT=3;SKIP=BACKWARD", "starts": []string{"2027-01-31 00:00:00", "2027-02-28 00:00:00", "2027-03-31 00:00:00"},
			})},
			{Name: "a week of the year", Request: preview("admin", object{
				"start_date": "2027-05-17 18:00", "end_date": "2027-05-17 19:00", "rrule": "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=2", "exdate": nil,
			}), Status: 200, Check: shows(object{
				"text": "on 17 May 2027 and 15 May 2028", "total": 2, "starts": []string{"2027-05-17 18:00:00", "2028-05-15 18:00:00"},
			})},
			{Name: "no rule", Request: preview("admin", object{"rrule": nil, "exdate": nil}), Status: 200, Check: shows(object{
				"rrule": "", "total": 1, "starts": []string{"2026-11-24 18:00:00"},
			})},
			{Name: "through a gap", Request: preview("admin", object{
				"start_date": "2027-03-27 02:30", "end_date": "2027-03-27 03:00", "rrule": "FREQ=DAILY;COUNT=3", "exdate": nil,
			}), Status: 200, Check: shows(object{"starts": []string{"2027-03-27 02:30:00", "2027-03-28 03:30:00", "2027-03-29 02:30:00"}})},
			{Name: "no dates", Request: preview("admin", object{"start_date": nil, "end_date": nil}), Status: 400, Check: namesExactly("start_date", "end_date")},
			{Name: "too many starts", Request: preview("admin", object{"limit": 101}), Status: 400, Check: namesExactly("limit rest_out_of_bounds")},
			{Name: "none", Request: preview("admin", object{"limit": 0}), Status: 400, Check: namesExactly("limit rest_out_of_bounds")},
			{Name: "other fields", Request: preview("admin", object{"venue": 999999, "cost": true}), Status: 400, Check: namesExactly("cost", "venue unknown-ids")},
			{Name: "more than a write makes", Request: preview("admin", object{"rrule": "FREQ=DAILY;COUNT=1000", "rdate": "2040-01-01", "exdate": nil}), Status: 400, Check: namesExactly("rrule too-many-occurrences")},
			{Name: "anonymous", Request: preview("", nil), Status: 401, Code: "rest_forbidden"},
			{Name: "a subscriber", Request: preview("subscriber", nil), Status: 403, Code: "rest_forbidden"},
			{Name: "no other method", Request: get("/series/preview"), Status: 404, Code: "rest_no_route"},
		})
		if diff := cmp.Diff(before, e.rowCounts(t)); diff != "" {
			t.Errorf("rows (-before +after):\n%s", diff)
		}
	})
}

// TestSeriesFollowTheMatrix reads series of each status and of several authors, as each kind of caller.
func TestSeriesFollowTheMatrix(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		type one struct {
			id     int64
			status calendar.Status
			owner  string
		}
		var all []one
		for _, status := range calendar.Statuses {
			for _, owner := range []string{"contributor", "author", "admin"} {
				id := e.AddSeries(t, apitest.SeriesRow{
					Title: fmt.Sprintf("Of %s, %s", owner, status), Slug: fmt.Sprintf("%s-%s", owner, status), Author: e.user[owner], Status: status,
					Start: "2026-12-01 10:00:00", End: "2026-12-01 11:00:00", RRule: "FREQ=DAILY;COUNT=2",
					Occurrences: []string{"2026-12-01 10:00:00"},
				})
				// Its occurrence is published, whatever the series is.
				changeEvent(t, e.API, id+1, func(u *ent.EventUpdateOne) { u.SetStatus(calendar.Publish) })
				all = append(all, one{id, status, owner})
			}
		}
		e.Reindex(t)
		for _, as := range []string{"", "subscriber", "contributor", "author", "editor", "admin"} {
			listed := make(map[int64]bool)
			r := e.mustSucceed(t, apitest.Request{As: as, Path: "/series?per_page=50"})
			for i := range int(r.Get(t, "total").(float64)) {
				listed[int64(r.Get(t, "series", i, "id").(float64))] = true
			}
			for _, s := range all {
				may := s.status == calendar.Publish || as == "editor" || as == "admin" || as != "" && as == s.owner
				want, code := 200, any(nil)
				switch {
				case s.status == calendar.Trash:
					want, code, may = 403, "series-no-longer-available", false
				// A scheduled record whose date has come is published everywhere.
				case s.status == calendar.Future:
					may = true
				case !may:
					want, code = 403, "series-not-accessible"
				}
				for _, path := range []string{fmt.Sprint("/series/", s.id), fmt.Sprintf("/series/by-slug/%s-%s", s.owner, s.status)} {
					if r := e.Do(t, apitest.Request{As: as, Path: path}); r.Status != want || code != nil && r.Get(t, "code") != code {
						t.Errorf("%s as %q: got %d %s, want %d %v", path, as, r.Status, r.Body, want, code)
					}
				}
				if listed[s.id] != may {
					t.Errorf("%s series of %s is listed for %q: %t", s.status, s.owner, as, !may)
				}
				// The occurrence tells of its series to those who may read that.
				shown := e.mustSucceed(t, apitest.Request{As: as, Path: eventPath(s.id + 1)})
				if (shown.Get(t, "series") != nil) != may || (valueAt(shown.JSON(t), "json_ld.superEvent") != nil) != may {
					t.Errorf("an occurrence of the %s series of %s, for %q, has the series %v", s.status, s.owner, as, shown.Get(t, "series"))
				}
			}
		}
	})
}

func TestListOfSeries(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		add := func(title, description string, template ent.Event) int64 {
			template.Description = description
			id := e.AddSeries(t, apitest.SeriesRow{
				Title: title, Slug: calendar.Slug(title), Start: "2026-12-01 10:00:00", End: "2026-12-01 11:00:00",
				RRule: "FREQ=DAILY;COUNT=2", Occurrences: []string{"2026-12-01 10:00:00", "2026-12-02 10:00:00"}, Template: template,
			})
			must.Succeed(t, e.Store.Ent.SearchText.Create().SetKind(calendar.Series).SetOwnerID(id).SetLanguages(7).
				SetText(strings.ToLower(title+"\n\n"+description)).Exec(t.Context()))
			return id
		}
		lodz := add("łódź walk", "With a guide", ent.Event{})
		add("Zebra", "", ent.Event{})
		var polish ent.Event
		polish.SetTranslated([]calendar.Text{{Language: calendar.Polish, Title: "Żaglówka"}})
		add("Lido", "", polish)
		add("Backstage", "", ent.Event{HideFromListings: true})
		secret := add("Members", "Handshake", ent.Event{PasswordHash: new([]byte("x")), Featured: true})
		changeEvent(t, e.API, secret+1, func(u *ent.EventUpdateOne) { u.SetStatus(calendar.Draft) })
		for _, c := range []struct {
			name, as, query string
			want            []string
		}{
			{"by title", "", "", []string{"Lido", "łódź walk", "Members", "Zebra"}},
			{"by title in Polish", "", "?ml_language=pl", []string{"łódź walk", "Members", "Zebra", "Żaglówka"}},
			{"a page", "", "?per_page=2&page=2", []string{"Members", "Zebra"}},
			{"words", "", "?search=guide+walk", []string{"łódź walk"}},
			{"what is redacted is not found", "", "?search=handshake", []string{}},
			{"but by who may edit it", "admin", "?search=handshake", []string{"Members"}},
			{"a status", "admin", "?status=draft", []string{}},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := e.mustSucceed(t, apitest.Request{As: c.as, Path: "/series" + c.query})
				if diff := cmp.Diff(c.want, titlesOf(t, r, "series", "title")); diff != "" {
					t.Error(diff)
				}
			})
		}
		e.Run(t, []apitest.Case{
			{Name: "redacted", Request: get("/series"), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{
					"series.2.title": "Members", "series.2.description": "", "series.2.featured": nil, "series.2.website": "",
					"series.2.total": 1, "series.2.next": secret + 2, "series.0.featured": false, "series.0.total": 2,
				})
			}},
			{Name: "next is what the caller sees", Request: apitest.Request{As: "admin", Path: "/series"}, Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"series.2.description": "<p>Handshake</p>", "series.2.featured": true, "series.2.total": 1, "series.2.next": secret + 1})
			}},
			{Name: "protected", Request: get(fmt.Sprint("/series/", secret)), Status: 403, Code: "series-password-protected"},
			{Name: "not for who may edit it", Request: apitest.Request{As: "editor", Path: fmt.Sprint("/series/", secret)}, Status: 200},
			{Name: "past the end", Request: get("/series?page=9"), Status: 404, Code: "series-archive-page-not-found"},
			{Name: "the id of an event", Request: get("/series/{jazzNight}"), Status: 404, Code: "series-not-found"},
			{Name: "a slug of nobody", Request: get("/series/by-slug/nobody"), Status: 404, Code: "series-not-found"},
			{Name: "the id of a series", Request: get(eventPath(lodz)), Status: 400, Code: "rest-invalid-event-id"},
			{Name: "another status", Request: get("/series?status=draft"), Status: 400, Check: namesExactly("status")},
			{Name: "a blank search", Request: get("/series?search=%20"), Status: 400, Check: namesExactly("search")},
		})
	})
}

// TestEveryWriteOfAnEventTakesASchedule makes series of events by each method and path, and deletes the events.
func TestEveryWriteOfAnEventTakesASchedule(t *testing.T) {
	t.Parallel()
	api := newSweepAPI(t)
	body := object{
		"rrule": "FREQ=WEEKLY;COUNT=3", "rdate": []string{"2026-12-08"}, "exdate": []string{"2026-12-12"}, "scope": "this",
	}
	for _, method := range []string{"POST", "PUT", "PATCH"} {
		for _, by := range []string{"id", "slug"} {
			slug := strings.ToLower(method) + "-by-" + by
			event := api.Do(t, post("admin", "/events", concert(object{"slug": slug, "start_date": "2026-12-05 18:00", "end_date": "2026-12-05 20:00"})))
			path := fmt.Sprint("/events/", event.Get(t, "id"))
			if by == "slug" {
				path = "/events/by-slug/" + slug
			}
			api.Run(t, []apitest.Case{
				{Name: slug, Request: apitest.Request{Method: method, As: "admin", Path: path, JSON: body}, Status: 200, Check: func(t *testing.T, r apitest.Response) {
					hasValues(t, r, object{"series.original_start_date": "2026-12-05 18:00:00"})
				}},
				{Name: slug + ", deleted", Request: remove("admin", path+"?scope=this"), Status: 200},
			})
		}
	}
}
