package handlers_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/proof/apitest"
)

func TestTextsOfAnEvent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		long := strings.Repeat("ł", 500)
		for _, c := range []struct {
			name, field string
			sent        any
			want        any    // what is answered; nil when it is refused
			fault       string // reason
		}{
			{"title", "title", "Jazz & <Blues>, \"live\"", `Jazz &amp; , "live"`, ""},
			{"entities of a title", "title", "Salt &amp; pepper &lt;3", "Salt &amp; pepper &lt;3", ""},
			{"typography is left alone", "title", `"x" -- 'y'...`, `"x" -- 'y'...`, ""},
			{"script in a title", "title", "Hi<script>alert(1)</script> <b>there</b> ", "Hi there", ""},
			{"longest title", "title", long, long, ""},
			{"too long a title", "title", long + "x", nil, "rest_out_of_bounds"},
			{"length of the text, not of its markup", "title", "<b>" + long + "</b>", long, ""},
			{"empty title", "title", "", nil, ""},
			{"title of white space", "title", " \n\t ", nil, ""},
			{"title of tags", "title", "<b></b>", nil, ""},
			{"title of a script", "title", "<script>x</script>", nil, ""},
			{"number for a title", "title", 2026, nil, "rest_invalid_type"},
			{"boolean for a title", "title", true, nil, "rest_invalid_type"},
			{"list for a title", "title", []string{"x"}, nil, "rest_invalid_type"},
			{"object for a title", "title", object{"raw": "x"}, nil, "rest_invalid_type"},
			{"NUL in a title", "title", "a\x00b", nil, ""},

			{"paragraphs", "description", "One\n\nTwo\nThree", "<p>One</p>\n<p>Two<br />\nThree</p>", ""},
			{"blocks", "description", "<ul><li>One</li></ul>", "<ul><li>One</li></ul>", ""},
			{"scripts", "description", `<b onclick="x">Bold</b><script>x</script><iframe src="x">y</iframe>`, "<p><b>Bold</b></p>", ""},
			{"links", "excerpt", `<a href="javascript:x">a</a> <a href="https://x.example/">b</a>`, nil, "contains https://x.example/ but not javascript"},
			{"empty description", "description", "", "", ""},
			{"white space", "excerpt", " \n ", "", ""},
			{"only a script", "description", "<script>x</script>", "", ""},
			{"a long excerpt", "excerpt", strings.Repeat("x", 5000), "<p>" + strings.Repeat("x", 5000) + "</p>", ""},
			{"number", "description", 5, nil, "rest_invalid_type"},
			{"boolean", "excerpt", false, nil, "rest_invalid_type"},
			{"object as the original answers it", "description", object{"rendered": "x"}, nil, "rest_invalid_type"},
			{"NUL", "excerpt", "a\x00b", nil, ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				id := e.mustCreate(t, "admin", object{"description": "Before", "excerpt": "Before"})
				for _, r := range []apitest.Request{
					post("admin", "/events", concert(object{c.field: c.sent})), patch("admin", eventPath(id), object{c.field: c.sent}),
				} {
					got := e.Do(t, r)
					switch {
					case strings.HasPrefix(c.fault, "contains"):
						text, _ := got.Get(t, c.field).(string)
						if !strings.Contains(text, "https://x.example/") || strings.Contains(text, "javascript") {
							t.Errorf("got %q", text)
						}
					case c.want == nil:
						namesExactly(strings.TrimSpace(c.field+" "+c.fault))(t, got)
					default:
						e.keeps(object{c.field: c.want})(t, got)
					}
				}
			})
		}
		e.Run(t, []apitest.Case{
			{
				Name: "null on create", Request: post("admin", "/events", concert(object{"title": "Nulls", "description": nil, "excerpt": nil, "slug": nil, "status": nil})),
				Status: 201, Check: e.keeps(object{"description": "", "excerpt": "", "slug": "nulls", "status": "publish"}),
			},
			{
				Name: "null clears where there may be nothing", Request: patch("admin", "/events/{jazzNight}", object{"description": nil, "excerpt": nil}),
				Status: 200, Check: e.keeps(object{"description": "", "excerpt": ""}),
			},
			{
				Name: "null says nothing elsewhere", Request: patch("admin", "/events/{jazzNight}", object{"title": nil, "slug": nil, "status": nil, "author": nil, "featured": nil}),
				Status: 200, Check: e.keeps(object{"title": "Winter Jazz &amp; Blues", "slug": "winter-jazz-blues", "status": "publish", "featured": true}),
			},
			{
				Name: "invalid UTF-8 in a form", Request: apitest.Request{Method: "PATCH", As: "admin", Path: "/events/{jazzNight}", Form: "title=%ff&excerpt=%00&password=%fe"},
				Status: 400, Check: namesExactly("title", "excerpt", "password"),
			},
		})
	})
}

func TestFlagsAndNumbersOfAnEvent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		flags := []string{"all_day", "show_map", "show_map_link", "hide_from_listings", "sticky", "featured", "ticketed"}
		words := map[bool][]any{
			true:  {true, 1, "1", "true", "yes", "y", "on", "enable", "enabled", "TRUE", "Yes"},
			false: {false, 0, "0", "false", "no", "n", "off", "disable", "disabled", "FALSE", "No"},
		}
		for want, sent := range words {
			for _, word := range sent {
				body, wants := object{}, object{}
				for _, f := range flags {
					body[f], wants[f] = word, want
				}
				id := e.mustCreate(t, "admin", body)
				t.Run(fmt.Sprintf("create %T %v", word, word), func(t *testing.T) { e.isStored(t, id, wants) })
				for _, f := range flags {
					body[f] = !want
				}
				id = e.mustCreate(t, "admin", body)
				for _, f := range flags {
					body[f] = word
				}
				t.Run(fmt.Sprintf("update %T %v", word, word), func(t *testing.T) { e.keeps(wants)(t, e.mustSucceed(t, patch("admin", eventPath(id), body))) })
			}
		}
		e.Run(t, []apitest.Case{
			{Name: "false by default", Request: post("admin", "/events", concert(object{"featured": nil})), Status: 201, Check: e.keeps(object{
				"all_day": false, "show_map": false, "show_map_link": false, "hide_from_listings": false, "sticky": false, "featured": false, "ticketed": false,
			})},
			{Name: "kept when not sent", Request: patch("admin", "/events/{jazzNight}", object{"sticky": false}), Status: 200, Check: e.keeps(object{
				"show_map": true, "show_map_link": true, "sticky": false, "featured": true, "ticketed": true,
			})},
		})
		for _, word := range []any{"", " ", "maybe", "2", 2, -1, 1.5, []bool{true}, object{}} {
			namesExactly("featured rest_invalid_type", "ticketed rest_invalid_type")(t,
				e.Do(t, post("", "/events", concert(object{"featured": word, "ticketed": word}))))
		}
		author := e.user["author"]
		for _, id := range []any{author, json.Number(fmt.Sprintf("%d.0", author)), fmt.Sprint(author)} {
			e.keeps(object{"author": fmt.Sprint(author)})(t, e.mustSucceed(t, post("editor", "/events", concert(object{"author": id}))))
		}
		for _, c := range []struct {
			sent   any
			reason string
		}{
			{1.5, " rest_invalid_type"},
			{"", " rest_invalid_type"},
			{"abc", " rest_invalid_type"},
			{" 1", " rest_invalid_type"},
			{true, " rest_invalid_type"},
			{[]int{1}, " rest_invalid_type"},
			{object{"id": 1}, " rest_invalid_type"},
			{0, " unknown-ids"},
			{-1, " unknown-ids"},
			{999999, " unknown-ids"},
			{"99999999999999999999", " unknown-ids"},
		} {
			namesExactly("author"+c.reason)(t, e.Do(t, post("editor", "/events", concert(object{"author": c.sent}))))
		}
	})
}

func TestCostOfAnEvent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		list := func(items ...string) []string { return append([]string{}, items...) }
		for _, c := range []struct {
			sent     any
			cost, pl string // pl: "" when it is the same
			symbol   string
			position string
			values   []string
		}{
			{"", "", "", "", "", list()},
			{nil, "", "", "", "", list()},
			{list(), "", "", "", "", list()},
			{list("", " "), "", "", "", "", list()},
			{"0", "Free", "Bezpłatnie", "", "", list("0")},
			{0, "Free", "Bezpłatnie", "", "", list("0")},
			{"Free", "Free", "", "", "", list("free")},
			{"10", "$10", "", "", "", list("10")},
			{10, "$10", "", "", "", list("10")},
			{10.5, "$10.5", "", "", "", list("10.5")},
			{json.Number("1.500"), "$1.5", "", "", "", list("1.5")},
			{json.Number("1234.567"), "$1234.567", "", "", "", list("1234.567")},
			{"10.5", "$10.5", "", "", "", list("10.5")},
			{"10.50", "$10.50", "", "", "", list("10.50")},
			{"25,55", "$25.55", "", "", "", list("25.55")},
			{"1,500", "$1500", "", "", "", list("1500")},
			{"1.500", "$1.500", "", "", "", list("1.500")},
			{"1.234,50 zł", "1234.50zł", "", "zł", "postfix", list("1234.50")},
			{"$10", "$10", "", "$", "prefix", list("10")},
			{"20$", "20$", "", "$", "postfix", list("20")},
			{"€ 10", "€10", "", "€", "prefix", list("10")},
			{"10 €", "10€", "", "€", "postfix", list("10")},
			{"10 - 20", "$10 – $20", "", "", "", list("10", "20")},
			{"20 - 10", "$10 – $20", "", "", "", list("10", "20")},
			{"$12.50 - $20", "$12.50 – $20", "", "$", "prefix", list("12.50", "20")},
			{"€5 - €8", "€5 – €8", "", "€", "prefix", list("5", "8")},
			{"from 5 to 50 USD", "$5 – $50", "", "", "", list("5", "50")},
			{list("0$", "20$", "30$"), "Free – 30$", "Bezpłatnie – 30$", "$", "postfix", list("0", "20", "30")},
			{[]any{"Donation", 10}, "Donation – $10", "", "", "", list("donation", "10")},
			{[]any{20, "10", nil, 10.0}, "$10 – $20", "", "", "", list("10", "20")},
			{"<b>Pay</b> what you &amp; we want", "Pay what you &amp; we want", "", "", "", list("pay-what-you-we-want")},
		} {
			want := object{"cost": c.cost, "cost_details": object{
				"currency_symbol": c.symbol, "currency_code": "", "currency_position": c.position, "values": c.values,
			}}
			t.Run(fmt.Sprintf("%T %v", c.sent, c.sent), func(t *testing.T) {
				r := e.mustSucceed(t, post("admin", "/events", concert(object{"cost": c.sent})))
				e.keeps(want)(t, r)
				// What is shown and sent back changes nothing, so the cost of the row before goes first.
				e.mustSucceed(t, patch("admin", "/events/{jazzNight}", object{"cost": ""}))
				e.keeps(want)(t, e.mustSucceed(t, patch("admin", "/events/{jazzNight}", object{"cost": c.sent})))
				if c.pl != "" {
					want["cost"] = c.pl
				}
				hasValues(t, e.mustSucceed(t, get("/events/{jazzNight}?ml_language=pl")), want)
				hasValues(t, e.mustSucceed(t, apitest.Request{
					Method: "PATCH", As: "admin", Path: "/events/{jazzNight}", JSON: object{"cost": c.sent}, Header: map[string]string{"Accept-Language": "pl"},
				}), want)
			})
		}
		for _, c := range []struct {
			sent  any
			fault string
		}{
			{true, "cost"},
			{false, "cost"},
			{object{}, "cost"},
			{-1, "cost"},
			{[]any{true}, "cost"},
			{[]any{[]int{1}}, "cost"},
			{[]any{object{"value": 1}}, "cost"},
			{"1\x002", "cost"},
			{json.Number("1e999"), "cost"},
			{strings.Repeat("ł", 256), "cost rest_out_of_bounds"},
			{list(strings.Repeat("1", 200), strings.Repeat("2", 56)), "cost rest_out_of_bounds"},
		} {
			namesExactly(c.fault)(t, e.Do(t, post("admin", "/events", concert(object{"cost": c.sent}))))
		}
		e.Run(t, []apitest.Case{
			{
				Name: "the longest", Request: post("admin", "/events", concert(object{"cost": strings.Repeat("ł", 255)})), Status: 201,
				Check: e.keeps(object{"cost": strings.Repeat("ł", 255)}),
			},
			{Name: "kept when not sent", Request: patch("admin", "/events/{musicWalk}", object{"excerpt": "x"}), Status: 200, Check: e.keeps(object{"cost": "Free"})},
			{
				Name: "by form, several", Request: apitest.Request{Method: "PATCH", As: "admin", Path: "/events/{musicWalk}", Form: "cost[]=10+€&cost[]=5+€"},
				Status: 200, Check: e.keeps(object{"cost": "5€ – 10€"}),
			},
			{
				Name: "cleared by form", Request: apitest.Request{Method: "PATCH", As: "admin", Path: "/events/{musicWalk}", Form: "cost="},
				Status: 200, Check: e.keeps(object{"cost": "", "cost_details.values": []string{}}),
			},
		})
	})
}

func TestCostFollowsTheCurrencyOfTheSite(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		for _, c := range []struct {
			sent  any
			cost  string
			value string
		}{
			{"1.500", "1500 zł", "1500"},
			{"1,500", "1.500 zł", "1.500"},
			{"1,5", "1.5 zł", "1.5"},
			{json.Number("1.5"), "1.5 zł", "1.5"},
			{json.Number("1.125"), "1.125 zł", "1.125"},
			{1500, "1500 zł", "1500"},
			{"€7", "€7", "7"},
		} {
			e.keeps(object{"cost": c.cost, "cost_details.values": []string{c.value}})(t,
				e.mustSucceed(t, post("admin", "/events", concert(object{"cost": c.sent}))))
		}
	}, func(c *handlers.Config) {
		c.Site.Currency = calendar.Currency{Symbol: " zł", Code: "PLN", Position: calendar.Postfix, Decimal: ","}
	})
}

func TestWebsiteOfAnEvent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		own := object{"website": apitest.BaseURL + "/event/winter-jazz-blues/"}
		site := func(v any) apitest.Request { return patch("admin", "/events/{jazzNight}", object{"website": v}) }
		longest := "https://x.example/" + strings.Repeat("x", 2048-len("https://x.example/"))
		wide := strings.ReplaceAll(longest, "xx", "łł")
		e.Run(t, []apitest.Case{
			{Name: "never sent", Request: post("admin", "/events", concert(nil)), Status: 201, Check: e.keeps(object{"website": apitest.BaseURL + "/event/concert/"})},
			{Name: "sent empty", Request: post("admin", "/events", concert(object{"website": ""})), Status: 201, Check: e.keeps(object{"website": ""})},
			{Name: "null on create", Request: post("admin", "/events", concert(object{"website": nil})), Status: 201, Check: e.keeps(object{"website": apitest.BaseURL + "/event/concert-3/"})},
			{Name: "address", Request: post("admin", "/events", concert(object{"website": "HTTPS://x.example/a?b=c&d#e"})), Status: 201, Check: e.keeps(object{"website": "HTTPS://x.example/a?b=c&d#e"})},
			{Name: "longest", Request: site(longest), Status: 200, Check: e.keeps(object{"website": longest})},
			{Name: "longest in two-byte letters", Request: site(wide), Status: 200, Check: e.keeps(object{"website": wide})},
			{Name: "cleared", Request: site(""), Status: 200, Check: e.keeps(object{"website": ""})},
			{Name: "never set again", Request: site(nil), Status: 200, Check: e.keeps(own)},
			{Name: "too long", Request: site(longest + "x"), Status: 400, Check: namesExactly("website")},
			{Name: "too long in two-byte letters", Request: site(wide + "x"), Status: 400, Check: namesExactly("website")},
			{Name: "other scheme", Request: site("mailto:a@example.org"), Status: 400, Check: namesExactly("website")},
			{Name: "script", Request: site("javascript:alert(1)"), Status: 400, Check: namesExactly("website")},
			{Name: "quotes", Request: site(`https://x.example/a"onclick=1`), Status: 400, Check: namesExactly("website")},
			{Name: "an element", Request: site("https://x.example/<script>"), Status: 400, Check: namesExactly("website")},
			{Name: "other scripts", Request: site("https://x.example/łódź"), Status: 200, Check: e.keeps(object{"website": "https://x.example/łódź"})},
			{Name: "and back", Request: site(nil), Status: 200, Check: e.keeps(own)},
			{Name: "no host", Request: site("https:///x"), Status: 400, Check: namesExactly("website")},
			{Name: "relative", Request: site("/x"), Status: 400, Check: namesExactly("website")},
			{Name: "text", Request: site("x.example"), Status: 400, Check: namesExactly("website")},
			{Name: "number", Request: site(5), Status: 400, Check: namesExactly("website")},
			{Name: "list", Request: site([]string{"https://x.example/"}), Status: 400, Check: namesExactly("website")},
			{Name: "unchanged by what failed", Request: get("/events/{jazzNight}"), Status: 200, Check: e.keeps(own)},
		})
	})
}

func TestSlugOfAnEvent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		for _, c := range []struct {
			name       string
			sent, want object
		}{
			{"from the title", object{"title": "Zażółć gęślą jaźń! ¿Mañana?"}, object{"slug": "zazolc-gesla-jazn-manana"}},
			{"taken", object{"title": "Choir"}, object{"slug": "choir-2", "url": apitest.BaseURL + "/event/choir-2/"}},
			{"taken twice", object{"title": "choir"}, object{"slug": "choir-3"}},
			{"taken by a translation", object{"title": "Zimowy jazz"}, object{"slug": "zimowy-jazz-2"}},
			{"of another kind is free", object{"title": "Grand Hall"}, object{"slug": "grand-hall"}},
			{"sent", object{"slug": " My Own_Slug--here/ "}, object{"slug": "my-own_slug-here"}},
			{"sent and taken", object{"slug": "CHOIR"}, object{"slug": "choir-4"}},
			{"sent empty", object{"slug": "", "title": "Sent empty"}, object{"slug": "sent-empty"}},
			{"other scripts", object{"title": "Привет"}, object{"slug": "privet"}},
			{"cut when derived", object{"title": strings.Repeat("x", 300)}, object{"slug": strings.Repeat("x", 200)}},
			{"cut and numbered", object{"title": strings.Repeat("x", 300)}, object{"slug": strings.Repeat("x", 198) + "-2"}},
			{"draft without one", object{"status": "draft", "title": "Without"}, object{"slug": "", "url": apitest.BaseURL + "/?p="}},
			{"draft with one", object{"status": "draft", "slug": "With one"}, object{"slug": "with-one"}},
			{"private", object{"status": "private", "title": "Behind doors"}, object{"slug": "behind-doors", "url": apitest.BaseURL + "/event/behind-doors/"}},
			{"scheduled", object{"date": "2027-01-01", "title": "Later on"}, object{"slug": "later-on", "url": apitest.BaseURL + "/?p="}},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := e.mustSucceed(t, post("admin", "/events", concert(c.sent)))
				if url, _ := c.want["url"].(string); strings.HasSuffix(url, "?p=") {
					c.want["url"] = url + fmt.Sprint(r.Get(t, "id"))
				}
				e.keeps(c.want)(t, r)
			})
		}
		nothing := e.mustCreate(t, "admin", object{"title": "!!!"})
		e.isStored(t, nothing, object{"slug": fmt.Sprintf("event-%d", nothing)})
		draft := e.mustCreate(t, "contributor", object{"title": "Growing up"})
		e.Run(t, []apitest.Case{
			{Name: "too long", Request: post("admin", "/events", concert(object{"slug": strings.Repeat("x", 201)})), Status: 400, Check: namesExactly("slug rest_out_of_bounds")},
			{Name: "longest", Request: post("admin", "/events", concert(object{"slug": strings.Repeat("y", 200)})), Status: 201, Check: e.keeps(object{"slug": strings.Repeat("y", 200)})},
			{
				Name: "nothing left of the one sent", Request: patch("admin", eventPath(nothing), object{"slug": "???"}), Status: 200,
				Check: e.keeps(object{"slug": fmt.Sprintf("event-%d", nothing)}),
			},
			{Name: "renaming keeps it", Request: patch("admin", "/events/{choir}", object{"title": "Big choir"}), Status: 200, Check: e.keeps(object{"slug": "choir"})},
			{Name: "its own slug sent back", Request: patch("admin", "/events/{choir}", object{"slug": "Choir"}), Status: 200, Check: e.keeps(object{"slug": "choir"})},
			{Name: "that of another", Request: patch("admin", "/events/{choir}", object{"slug": "organ hour"}), Status: 200, Check: e.keeps(object{"slug": "organ-hour-2"})},
			{Name: "the old one is free", Request: patch("admin", "/events/{eveningSong}", object{"slug": "choir"}), Status: 200, Check: e.keeps(object{"slug": "choir"})},
			{Name: "pending still has none", Request: patch("contributor", eventPath(draft), object{"status": "pending"}), Status: 200, Check: e.keeps(object{"slug": ""})},
			{Name: "publishing gives one", Request: patch("admin", eventPath(draft), object{"status": "publish", "title": "Grown up"}), Status: 200, Check: e.keeps(object{"slug": "grown-up"})},
			{Name: "a draft keeps it", Request: patch("admin", eventPath(draft), object{"status": "draft"}), Status: 200, Check: e.keeps(object{"slug": "grown-up"})},
			{Name: "found by it, whatever the status", Request: patch("admin", "/events/by-slug/Grown%20Up", object{"excerpt": "x"}), Status: 200, Check: e.keeps(object{"id": draft})},
			{Name: "number for a slug", Request: post("admin", "/events", concert(object{"slug": 15})), Status: 400, Check: namesExactly("slug rest_invalid_type")},
		})
	})
}
