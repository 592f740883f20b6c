package handlers_test

import (
	"encoding/json"
	"testing"

	"github.com/almanac-cal/almanac/proof/apitest"
)

// TestStartIsReadInAllWritings sends start dates in all formats that are understood. The clock of the tests shows
// Saturday 2026-11-21 13:00 in Warsaw.
func TestStartIsReadInAllWritings(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		for _, c := range []struct {
			sent any
			want string // on the clock of Warsaw
		}{
			{1700000000, "2023-11-14 23:13:20"},
			{json.Number("1.7e9"), "2023-11-14 23:13:20"},
			{json.Number("1700000000.9"), "2023-11-14 23:13:20"},
			{"1700000000", "2023-11-14 23:13:20"},
			{-86400, "1969-12-31 01:00:00"},
			{"-86400", "1969-12-31 01:00:00"},
			{"2026-12-05", "2026-12-05 00:00:00"},
			{"2026-12-05 18:00", "2026-12-05 18:00:00"},
			{"2026-12-05T18:00:01", "2026-12-05 18:00:01"},
			{"2026-12-05 18:00:01.987", "2026-12-05 18:00:01"},
			{"2026/12/05 18:00", "2026-12-05 18:00:00"},
			{"05.12.2026 18:00", "2026-12-05 18:00:00"},
			{"05-12-2026", "2026-12-05 00:00:00"},
			{"12/05/2026 6pm", "2026-12-05 18:00:00"},
			{"5 December 2026", "2026-12-05 00:00:00"},
			{"December 5, 2026 6:30 pm", "2026-12-05 18:30:00"},
			{"2026-12-05T18:00:00Z", "2026-12-05 19:00:00"},
			{"2026-12-05 18:00 UTC", "2026-12-05 19:00:00"},
			{"2026-12-05T18:00:00+02:00", "2026-12-05 17:00:00"},
			{"2026-12-05T18:00:00-0500", "2026-12-06 00:00:00"},

			{"now", "2026-11-21 13:00:00"},
			{"today", "2026-11-21 00:00:00"},
			{"midnight", "2026-11-21 00:00:00"},
			{"yesterday", "2026-11-20 00:00:00"},
			{"tomorrow 9am", "2026-11-22 09:00:00"},
			{"saturday", "2026-11-21 00:00:00"},
			{"this saturday", "2026-11-21 00:00:00"},
			{"next saturday", "2026-11-28 00:00:00"},
			{"last saturday", "2026-11-14 00:00:00"},
			{"Next Wednesday 4pm", "2026-11-25 16:00:00"},
			{"next week", "2026-11-28 13:00:00"},
			{"last month", "2026-10-21 13:00:00"},
			{"first monday of next month", "2026-12-07 00:00:00"},
			{"last friday of december 2026", "2026-12-25 00:00:00"},
			{"+3 days", "2026-11-24 13:00:00"},
			{"-2 weeks", "2026-11-07 13:00:00"},
			{"1 month", "2026-12-21 13:00:00"},
			{"+5 days 11am", "2026-11-26 11:00:00"},

			{"teraz", "2026-11-21 13:00:00"},
			{"dziś", "2026-11-21 00:00:00"},
			{"dzisiaj", "2026-11-21 00:00:00"},
			{"jutro", "2026-11-22 00:00:00"},
			{"wczoraj", "2026-11-20 00:00:00"},
			{"poniedziałek", "2026-11-23 00:00:00"},
			{"poniedzialek", "2026-11-23 00:00:00"},
			{"następny poniedziałek", "2026-11-23 00:00:00"},
			{"przyszły piątek", "2026-11-27 00:00:00"},
			{"za 3 dni", "2026-11-24 13:00:00"},
			{"ahora", "2026-11-21 13:00:00"},
			{"mañana", "2026-11-22 00:00:00"},
			{"manana", "2026-11-22 00:00:00"},
			{"ayer", "2026-11-20 00:00:00"},
			{"lunes", "2026-11-23 00:00:00"},
			{"próximo lunes", "2026-11-23 00:00:00"},
			{"lunes próximo", "2026-11-23 00:00:00"},
			{"en 3 días", "2026-11-24 13:00:00"},
		} {
			r := e.Do(t, post("admin", "/events", concert(object{"timezone": "Europe/Warsaw", "start_date": c.sent, "end_date": "2030-01-01"})))
			if r.Status != 201 {
				t.Errorf("%v: %d %s", c.sent, r.Status, r.Body)
				continue
			}
			if got := r.Get(t, "start_date"); got != c.want {
				t.Errorf("%v: got %v, want %s", c.sent, got, c.want)
			}
		}
		for _, sent := range []any{
			"", " ", "not a date", "2026-02-30", "2026-13-01", "2026-12-05 25:00", "0999-12-31", "10000-01-01", true,
			[]string{"2026-12-05"},
			object{},
			json.Number("1e99"), json.Number("-1e99"), "1e9",
		} {
			for _, field := range []string{"start_date", "end_date", "date", "date_utc"} {
				r := e.Do(t, post("admin", "/events", concert(object{field: sent})))
				if r.Status != 400 {
					t.Errorf("%s %v: %d", field, sent, r.Status)
					continue
				}
				namesExactly(field+" rest_invalid_date")(t, r)
			}
		}
	})
}

func TestZoneOfAnEvent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		for _, c := range []struct {
			sent            any
			want, utc, abbr string // of 2026-12-05 18:00 there
		}{
			{nil, "America/Chicago", "2026-12-06 00:00:00", "CST"},
			{"", "America/Chicago", "2026-12-06 00:00:00", "CST"},
			{"Europe/Warsaw", "Europe/Warsaw", "2026-12-05 17:00:00", "CET"},
			{"europe/WARSAW", "Europe/Warsaw", "2026-12-05 17:00:00", "CET"},
			{"Asia/Calcutta", "Asia/Calcutta", "2026-12-05 12:30:00", "IST"},
			{"UTC", "UTC", "2026-12-05 18:00:00", "UTC"},
			{"UTC+2", "UTC+2", "2026-12-05 16:00:00", "UTC+2"},
			{"UTC-3.5", "UTC-3.5", "2026-12-05 21:30:00", "UTC-3.5"},
			{"UTC+5:45", "UTC+5:45", "2026-12-05 12:15:00", "UTC+5:45"},
			{"+05:30", "+05:30", "2026-12-05 12:30:00", "+05:30"},
			{"-14:00", "-14:00", "2026-12-06 08:00:00", "-14:00"},
			{"UTC+14", "UTC+14", "2026-12-05 04:00:00", "UTC+14"},
		} {
			r := e.mustSucceed(t, post("admin", "/events", concert(object{"timezone": c.sent})))
			e.keeps(object{
				"timezone": c.want, "timezone_abbr": c.abbr, "start_date": "2026-12-05 18:00:00", "utc_start_date": c.utc,
			})(t, r)
		}
		for sent, fault := range map[any]string{
			"UTC+15": "timezone", "+14:01": "timezone", "Mars/Phobos": "timezone", "Warsaw": "timezone", "UTC+1.25": "timezone",
			5: "timezone rest_invalid_type", true: "timezone rest_invalid_type",
		} {
			namesExactly(fault)(t, e.Do(t, post("admin", "/events", concert(object{"timezone": sent}))))
		}
	}, siteIn(t, "America/Chicago"))
}

func TestDatesOfACreate(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		for _, c := range []struct {
			name       string
			sent, want object
		}{
			{"all derived values", object{"timezone": "America/New_York"}, object{
				"start_date": "2026-12-05 18:00:00", "utc_start_date": "2026-12-05 23:00:00",
				"end_date": "2026-12-05 20:30:00", "utc_end_date": "2026-12-06 01:30:00",
				"start_date_details.day": "05", "utc_end_date_details.day": "06", "utc_end_date_details.hour": "01",
				"timezone_abbr": "EST", "all_day": false,
			}},
			{"in a gap of the clock", object{
				"timezone": "Europe/Warsaw", "start_date": "2027-03-28 02:30", "end_date": "2027-03-28 04:00",
			}, object{"start_date": "2027-03-28 03:30:00", "utc_start_date": "2027-03-28 01:30:00", "timezone_abbr": "CEST"}},
			{"in a doubled hour", object{
				"timezone": "Europe/Warsaw", "start_date": "2026-10-25 02:30", "end_date": "2026-10-25 03:30",
			}, object{"utc_start_date": "2026-10-25 00:30:00", "utc_end_date": "2026-10-25 02:30:00", "timezone_abbr": "CEST"}},
			{"instants are converted", object{
				"timezone": "Asia/Tokyo", "start_date": "2026-12-05T18:00:00Z", "end_date": 1796500800,
			}, object{"start_date": "2026-12-06 03:00:00", "end_date": "2026-12-06 05:00:00", "utc_end_date": "2026-12-05 20:00:00"}},
			{"end may equal start", object{"end_date": "2026-12-05 18:00"}, object{"end_date": "2026-12-05 18:00:00"}},
			{"order is that of instants", object{
				"timezone": "Europe/Warsaw", "start_date": "2026-12-05 18:00", "end_date": "2026-12-05T17:30:00Z",
			}, object{"end_date": "2026-12-05 18:30:00"}},
			{"all day is rounded", object{"all_day": true, "end_date": "2026-12-07 10:00"}, object{
				"all_day": true, "start_date": "2026-12-05 00:00:00", "end_date": "2026-12-07 23:59:59",
			}},
			{"all day, end before start on one day", object{"all_day": true, "end_date": "2026-12-05 10:00"}, object{
				"start_date": "2026-12-05 00:00:00", "end_date": "2026-12-05 23:59:59",
			}},
			{"all day in the zone of the event", object{
				"all_day": "1", "timezone": "Asia/Tokyo", "start_date": "2026-12-05T18:00:00Z", "end_date": "2026-12-05T18:00:00Z",
			}, object{"start_date": "2026-12-06 00:00:00", "end_date": "2026-12-06 23:59:59", "utc_start_date": "2026-12-05 15:00:00"}},
			{
				"today is that of the zone",
				object{"timezone": "Pacific/Auckland", "start_date": "today", "end_date": "tomorrow"},
				object{"start_date": "2026-11-22 00:00:00", "end_date": "2026-11-23 00:00:00"},
			},
			{"all day is false by default", object{"all_day": nil}, object{"all_day": false}},
		} {
			t.Run(c.name, func(t *testing.T) { e.keeps(c.want)(t, e.mustSucceed(t, post("admin", "/events", concert(c.sent)))) })
		}
		for _, c := range []struct {
			name string
			sent object
		}{
			{"end before start", object{"end_date": "2026-12-05 17:59:59"}},
			{"end before start as instants", object{"timezone": "Europe/Warsaw", "end_date": "2026-12-05T16:59:59Z"}},
			{"whole days", object{"all_day": true, "end_date": "2026-12-04 23:00"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				namesExactly("end_date end-before-start")(t, e.Do(t, post("admin", "/events", concert(c.sent))))
			})
		}
	})
}

func TestDatesOfAnUpdate(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		for _, c := range []struct {
			name             string
			was, sent, wants object // wants without anything: 400 on end_date
		}{
			{"only the start", nil, object{"start_date": "2026-12-10 10:00"}, object{
				"start_date": "2026-12-10 10:00:00", "end_date": "2026-12-10 12:30:00", "utc_end_date": "2026-12-10 11:30:00",
			}},
			{"only the start, beyond the old end", nil, object{"start_date": "2027-07-01"}, object{
				"start_date": "2027-07-01 00:00:00", "end_date": "2027-07-01 02:30:00", "utc_start_date": "2027-06-30 22:00:00",
			}},
			{
				"only the start, across a change of the clock",
				object{"start_date": "2026-12-05 20:00", "end_date": "2026-12-06 08:00"},
				object{"start_date": "2027-03-27 20:00"},
				object{"end_date": "2027-03-28 08:00:00", "utc_end_date": "2027-03-28 06:00:00"},
			},
			{
				"only the start, an instant", nil,
				object{"start_date": "2026-12-05T18:00:00Z"},
				object{"start_date": "2026-12-05 19:00:00", "end_date": "2026-12-05 21:30:00"},
			},
			{
				"only the start, a number", nil,
				object{"start_date": 1796493600},
				object{"start_date": "2026-12-05 19:00:00", "end_date": "2026-12-05 21:30:00"},
			},
			{
				"only the start, relative in the zone of the event",
				object{"timezone": "Pacific/Auckland"},
				object{"start_date": "tomorrow 9am"},
				object{"start_date": "2026-11-23 09:00:00", "end_date": "2026-11-23 11:30:00"},
			},
			{
				"only the end", nil,
				object{"end_date": "2026-12-06 01:00"},
				object{"start_date": "2026-12-05 18:00:00", "end_date": "2026-12-06 01:00:00", "utc_end_date": "2026-12-06 00:00:00"},
			},
			{"only the end, equal to the start", nil, object{"end_date": "2026-12-05 18:00"}, object{"end_date": "2026-12-05 18:00:00"}},
			{"only the end, before the start", nil, object{"end_date": "2026-12-05 17:00"}, nil},
			{"only the zone", nil, object{"timezone": "America/New_York"}, object{
				"start_date": "2026-12-05 18:00:00", "utc_start_date": "2026-12-05 23:00:00",
				"end_date": "2026-12-05 20:30:00", "timezone": "America/New_York", "timezone_abbr": "EST",
			}},
			{"the zone cleared by null", nil, object{"timezone": nil}, object{"timezone": "UTC", "utc_start_date": "2026-12-05 18:00:00"}},
			{"the zone cleared by an empty text", nil, object{"timezone": ""}, object{"timezone": "UTC", "start_date": "2026-12-05 18:00:00"}},
			{"zone and start", nil, object{"timezone": "Asia/Tokyo", "start_date": "2026-12-06 09:00"}, object{
				"start_date": "2026-12-06 09:00:00", "utc_start_date": "2026-12-06 00:00:00", "end_date": "2026-12-06 11:30:00",
			}},
			{
				"zone and an instant", nil,
				object{"timezone": "Asia/Tokyo", "start_date": "2026-12-06T00:00:00Z"},
				object{"start_date": "2026-12-06 09:00:00", "end_date": "2026-12-06 11:30:00"},
			},
			{
				"both dates", nil,
				object{"start_date": "2026-12-01 10:00", "end_date": "2026-12-01 11:00"},
				object{"utc_start_date": "2026-12-01 09:00:00", "utc_end_date": "2026-12-01 10:00:00"},
			},
			{"both dates, in the wrong order", nil, object{"start_date": "2026-12-01 10:00", "end_date": "2026-12-01 09:00"}, nil},
			{
				"null says nothing", nil,
				object{"start_date": nil, "end_date": nil, "all_day": nil},
				object{"start_date": "2026-12-05 18:00:00", "end_date": "2026-12-05 20:30:00"},
			},
			{
				"other fields leave the dates", nil,
				object{"excerpt": "x"},
				object{"start_date": "2026-12-05 18:00:00", "end_date": "2026-12-05 20:30:00", "timezone": "Europe/Warsaw"},
			},

			{"whole days", object{"end_date": "2026-12-07 10:00"}, object{"all_day": true}, object{
				"all_day": true, "start_date": "2026-12-05 00:00:00", "end_date": "2026-12-07 23:59:59", "utc_start_date": "2026-12-04 23:00:00",
			}},
			{
				"no longer whole days",
				object{"all_day": true},
				object{"all_day": false},
				object{"all_day": false, "start_date": "2026-12-05 00:00:00", "end_date": "2026-12-05 23:59:59"},
			},
			{
				"another day",
				object{"all_day": true, "end_date": "2026-12-06"},
				object{"start_date": "2026-12-10 15:00"},
				object{"start_date": "2026-12-10 00:00:00", "end_date": "2026-12-11 23:59:59"},
			},
			{
				"a longer all-day event",
				object{"all_day": true},
				object{"end_date": "2026-12-08 10:00"},
				object{"start_date": "2026-12-05 00:00:00", "end_date": "2026-12-08 23:59:59"},
			},
			{
				"both dates on one day of an all-day event",
				object{"all_day": true},
				object{"start_date": "2026-12-06 18:00", "end_date": "2026-12-06 10:00"},
				object{"start_date": "2026-12-06 00:00:00", "end_date": "2026-12-06 23:59:59"},
			},
			{
				"all-day event in another zone",
				object{"all_day": true},
				object{"timezone": "Asia/Tokyo"},
				object{"start_date": "2026-12-05 00:00:00", "end_date": "2026-12-05 23:59:59", "utc_start_date": "2026-12-04 15:00:00"},
			},
			{
				"hours instead of a whole day",
				object{"all_day": true},
				object{"all_day": false, "start_date": "2026-12-05 18:00", "end_date": "2026-12-05 19:00"},
				object{"all_day": false, "start_date": "2026-12-05 18:00:00", "end_date": "2026-12-05 19:00:00"},
			},
		} {
			t.Run(c.name, func(t *testing.T) {
				was := object{"timezone": "Europe/Warsaw"}
				for k, v := range c.was {
					was[k] = v
				}
				id := e.mustCreate(t, "admin", was)
				if c.wants != nil {
					e.keeps(c.wants)(t, e.mustSucceed(t, patch("admin", eventPath(id), c.sent)))
					return
				}
				namesExactly("end_date end-before-start")(t, e.Do(t, patch("admin", eventPath(id), c.sent)))
				e.isStored(t, id, object{"start_date": "2026-12-05 18:00:00", "end_date": "2026-12-05 20:30:00"})
			})
		}
		edge := e.mustCreate(t, "admin", object{"start_date": "9999-12-31 20:00", "end_date": "9999-12-31 23:59:59"})
		e.isStored(t, edge, object{"start_date": "9999-12-31 20:00:00", "utc_end_date": "9999-12-31 23:59:59"})
		e.Run(t, []apitest.Case{
			{
				Name: "a start that leaves no year for the end", Request: patch("admin", eventPath(edge), object{"start_date": "9999-12-31 21:00"}),
				Status: 400, Check: namesExactly("end_date"),
			},
			{
				Name: "a zone that leaves no year for the dates", Request: patch("admin", eventPath(edge), object{"timezone": "UTC-5"}),
				Status: 400, Check: namesExactly("timezone"),
			},
			{
				Name: "a start before the first year in UTC", Request: post("admin", "/events", concert(object{"timezone": "UTC+5", "start_date": "1000-01-01"})),
				Status: 400, Check: namesExactly("start_date rest_invalid_date"),
			},
			{
				Name: "the first year", Request: post("admin", "/events", concert(object{"start_date": "1000-01-01"})),
				Status: 201, Check: e.keeps(object{"start_date": "1000-01-01 00:00:00", "utc_start_date": "1000-01-01 00:00:00"}),
			},
			{
				Name: "by slug, relative in the zone of the event", Request: patch("admin", "/events/by-slug/winter-jazz-blues", object{"start_date": "now"}),
				Status: 200, Check: e.keeps(object{"id": 15, "start_date": "2026-11-21 13:00:00", "end_date": "2026-11-21 15:30:00"}),
			},
		})
	})
}

func TestPublicationDate(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		for _, c := range []struct {
			name       string
			sent, want object
		}{
			{"now by default", nil, object{"date": "2026-11-21 13:00:00", "date_utc": "2026-11-21 12:00:00", "status": "publish"}},
			{
				"naive in the zone of the site",
				object{"date": "2026-11-01 10:00", "timezone": "Asia/Tokyo"},
				object{"date": "2026-11-01 10:00:00", "date_utc": "2026-11-01 09:00:00"},
			},
			{"naive in UTC", object{"date_utc": "2026-11-01 10:00"}, object{"date": "2026-11-01 11:00:00", "date_utc": "2026-11-01 10:00:00"}},
			{"date wins", object{"date": "2026-11-01 10:00", "date_utc": "2026-11-02 10:00"}, object{"date": "2026-11-01 10:00:00"}},
			{"null does not win", object{"date": nil, "date_utc": "2026-11-02 10:00"}, object{"date_utc": "2026-11-02 10:00:00"}},
			{"an instant", object{"date": "2026-11-01T10:00:00Z"}, object{"date": "2026-11-01 11:00:00"}},
			{"a number", object{"date_utc": 1700000000}, object{"date_utc": "2023-11-14 22:13:20"}},
			{"words in the zone of the site", object{"date": "yesterday"}, object{"date": "2026-11-20 00:00:00", "date_utc": "2026-11-19 23:00:00"}},
			{"words in UTC", object{"date_utc": "yesterday"}, object{"date_utc": "2026-11-20 00:00:00"}},
			{"to come", object{"date": "2026-11-22 10:00"}, object{"status": "future"}},
			{"future but past", object{"status": "future", "date": "2026-11-01 10:00"}, object{"status": "publish"}},
			{"future without a date", object{"status": "future"}, object{"status": "publish"}},
			{"a private event to come stays private", object{"status": "private", "date": "2026-12-01"}, object{"status": "private"}},
			{"a draft to come stays a draft", object{"status": "draft", "date": "2026-12-01"}, object{"status": "draft", "date": "2026-12-01 00:00:00"}},
		} {
			t.Run(c.name, func(t *testing.T) { e.keeps(c.want)(t, e.mustSucceed(t, post("admin", "/events", concert(c.sent)))) })
		}
	}, siteIn(t, "Europe/Warsaw"))
}

func TestFirstPublicationIsDated(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		const created, later, latest = "2026-11-21 12:00:00", "2026-11-22 12:00:00", "2026-11-23 12:00:00"
		for _, c := range []struct {
			name          string
			create        object
			second, third object // a day later each
			want          string // date at the end
		}{
			{"published out of draft", object{"status": "draft"}, object{"status": "publish"}, object{"excerpt": "x"}, later},
			{"private out of pending", object{"status": "pending"}, object{"status": "private"}, object{"status": "publish"}, later},
			{"pending is not public", object{"status": "draft"}, object{"status": "pending"}, object{"status": "publish"}, latest},
			{"back to draft and public again", object{}, object{"status": "draft"}, object{"status": "publish"}, created},
			{"dated when created", object{"status": "draft", "date": "2026-01-01"}, object{"excerpt": "x"}, object{"status": "publish"}, "2026-01-01 00:00:00"},
			{"dated meanwhile", object{"status": "draft"}, object{"date_utc": "2026-01-02"}, object{"status": "publish"}, "2026-01-02 00:00:00"},
			{"dated with the status", object{"status": "draft"}, object{"status": "publish", "date": "2026-01-03"}, object{}, "2026-01-03 00:00:00"},
			{"public from the start", object{}, object{"excerpt": "x"}, object{"status": "private"}, created},
		} {
			t.Run(c.name, func(t *testing.T) {
				e.now = apitest.Now
				id := e.mustCreate(t, "admin", c.create)
				for _, body := range []object{c.second, c.third} {
					e.now = e.now.AddDate(0, 0, 1)
					e.mustSucceed(t, patch("admin", eventPath(id), body))
				}
				e.isStored(t, id, object{"date": c.want, "modified": latest})
			})
		}
		e.now = apitest.Now
		id := e.mustCreate(t, "admin", object{"date": "2026-11-22 10:00"})
		e.isStored(t, id, object{"status": "future"})
		e.now = e.now.AddDate(0, 0, 1)
		e.Run(t, []apitest.Case{
			{Name: "a date that has come publishes", Request: get(eventPath(id)), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"status": "publish", "date": "2026-11-22 10:00:00", "slug": "concert-9"})
			}},
			{
				Name: "a date to come hides again", Request: patch("admin", eventPath(id), object{"date": "tomorrow"}), Status: 200,
				Check: e.keeps(object{"status": "future"}),
			},
		})
	})
}
