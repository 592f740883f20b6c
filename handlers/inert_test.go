package handlers_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// htmlKeys are the members of a representation that are HTML; json_ld is plain text by the contract, section 6.8, for
// programs that do not put it in a page.
var htmlKeys = map[string]bool{"description": true, "excerpt": true, "json_ld": true}

// markupIn returns the texts in v, a part of a decoded reply, in which a browser would find an element or a
// comment. The path of v is at, for messages. Members with a key in html may have markup, so they are skipped.
func markupIn(t *testing.T, at string, v any, html map[string]bool) (found []string) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if !html[key] {
				found = append(found, markupIn(t, at+"."+key, value, html)...)
			}
		}
	case []any:
		for i, value := range v {
			found = append(found, markupIn(t, fmt.Sprint(at, "[", i, "]"), value, html)...)
		}
	case string:
		if isMarkup(v) {
			found = append(found, fmt.Sprintf("%s: %q", at, v))
		}
	}
	return found
}

// isMarkup reports whether a browser would find more than plain text in s, as a part of a page.
func isMarkup(s string) bool {
	for _, after := range []string{"", "x>"} {
		z := html.NewTokenizer(strings.NewReader(s + after))
		kind := z.Next()
		for kind == html.TextToken {
			kind = z.Next()
		}
		if kind != html.ErrorToken {
			return true
		}
	}
	return false
}

// pieces are the parts of the test texts: markup, and ways to encode it.
var pieces = []string{
	"a", " ", "1", "ł", "<", ">", "&", ";", "/", "!", "-", "--", "'", "\"", "=", "b", "<b>", "</b>", "<!--", "-->", "<script>", "</script>",
	"lt", "gt", "amp", "&lt;", "&gt;", "&amp;", "&#60;", "&#x3e;", "&#38;", "#", "60", "x3c", "&lt", "&LT", "<img src=x onerror=alert(1)", "&nbsp;",
}

func anyText(chance *rand.Rand) string {
	var b strings.Builder
	b.WriteString("x")
	for range 1 + chance.IntN(12) {
		b.WriteString(pieces[chance.IntN(len(pieces))])
	}
	return b.String()
}

// TestNoTextIsMarkup sends random texts with tags and entities in each text field of each resource, and reads them back.
func TestNoTextIsMarkup(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "admin", "administrator")
		rounds := 60
		if storetest.IsBrief(api.Store) {
			rounds = 20
		}
		shares := map[string]int{}
		for n := range rounds {
			chance := rand.New(rand.NewPCG(uint64(n), 26))
			text := func() string { return anyText(chance) }
			venue, organizer := object{"venue": "Hall " + text()}, object{"organizer": "Choir " + text()}
			for _, name := range []string{"address", "city", "country", "province", "state", "zip", "phone", "stateprovince"} {
				venue[name] = text()
			}
			organizer["phone"], organizer["email"] = text(), text()
			event := concert(object{
				"title": "Jazz " + text(), "venue": venue, "organizer": organizer, "cost": []any{text(), "10" + text()},
				"tags": []any{fmt.Sprint("tag ", n, " ", text())},
			})
			for path, body := range map[string]object{
				"/venues": venue, "/organizers": organizer, "/events": event,
				"/tags": {"name": fmt.Sprint("name ", n, " ", text()), "description": "d" + text()},
			} {
				created := api.Do(t, post("admin", path, body))
				if created.Status != 201 {
					shares["refused"]++
					continue
				}
				record := fmt.Sprintf("%s/%v", path, created.Get(t, "id"))
				for _, reply := range []apitest.Response{created, api.Do(t, get(record))} {
					shares["replies"]++
					keys := htmlKeys
					if path == "/tags" {
						keys = nil
					}
					if found := markupIn(t, "", reply.JSON(t), keys); found != nil {
						t.Errorf("%s of %v:\n%s", path, body, strings.Join(found, "\n"))
					}
				}
			}
		}
		t.Log(shares)
		if shares["replies"] < rounds*4 {
			t.Errorf("only %d replies", shares["replies"])
		}
	})
}

// TestTextsOfOldRowsAreInert reads rows with markup that was stored before the service sanitised texts.
func TestTextsOfOldRowsAreInert(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "admin", "administrator")
		const bad = "Main <img src=x onerror=alert(1)> &lt;b> St"
		for path, body := range map[string]object{
			"/venues": {"venue": "Hall"}, "/organizers": {"organizer": "Choir"}, "/tags": {"name": "Tag"},
		} {
			record := fmt.Sprintf("%s/%v", path, api.Do(t, post("admin", path, body)).Get(t, "id"))
			api.Store.Ent.Venue.Update().SetAddress(bad).SetCity(bad).SetCountry(bad).SetProvince(bad).SetState(bad).SetZip(bad).
				SetPhone(bad).SetStateprovince(bad).ExecX(t.Context())
			api.Store.Ent.Organizer.Update().SetPhone(bad).SetEmail(bad).ExecX(t.Context())
			api.Store.Ent.Term.Update().SetDescription(bad).ExecX(t.Context())
			if found := markupIn(t, "", api.Do(t, get(record)).JSON(t), nil); found != nil {
				t.Errorf("%s:\n%s", path, strings.Join(found, "\n"))
			}
		}
	})
}

// TestTextsWithoutMarkup checks the examples of texts in the contract, section 6.2.
func TestTextsWithoutMarkup(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "admin", "administrator")
		for i, c := range []struct{ sent, want string }{
			{"1 < 2", "1 < 2"},
			{"1 &lt; 2", "1 < 2"},
			{"&lt;b&gt;Main&lt;/b&gt; St", "Main St"},
			{"R&amp;D", "R&D"},
			{"&amp;lt;script&amp;gt;alert(1)&amp;lt;/script&amp;gt;St", "St"},
		} {
			name := fmt.Sprintf("Hall %d", i)
			reply := api.Do(t, post("admin", "/venues", object{"venue": name, "address": c.sent}))
			if row := api.Store.Ent.Venue.Query().Where(venue.Name(name)).OnlyX(t.Context()); row.Address != c.want {
				t.Errorf("%q is stored as %q, want %q", c.sent, row.Address, c.want)
			}
			if got := reply.Get(t, "address"); got != c.want {
				t.Errorf("%q is %q, want %q", c.sent, got, c.want)
			}
		}
	})
}
