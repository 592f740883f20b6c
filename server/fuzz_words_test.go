package server_test

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/proof/apitest"
)

// fuzzWords is the fuzzer's vocabulary: operations, their parameters, and interesting values.
type fuzzWords struct {
	operations []fuzzOperation
	parameters []string
}

type fuzzOperation struct{ method, path string }

// matches reports whether a path below the API belongs to the operation.
func (o fuzzOperation) matches(path string) bool {
	want, got := strings.Split(o.path, "/"), strings.Split(path, "/")
	if o.path == "/" {
		return path == ""
	}
	if len(want) != len(got) {
		return false
	}
	for i, part := range want {
		switch {
		case part == "{id}":
			if got[i] == "" || strings.Trim(got[i], "0123456789") != "" {
				return false
			}
		case part == "{slug}":
			if got[i] == "" {
				return false
			}
		case part != got[i]:
			return false
		}
	}
	return true
}

func newFuzzWords(t testing.TB) fuzzWords {
	t.Helper()
	described, err := apitest.Described()
	if err != nil {
		t.Fatal(err)
	}
	var w fuzzWords
	names := map[string]bool{"_fields": true, "_method": true, "slug": true, "id": true, "force": true}
	for _, name := range slices.Sorted(maps.Keys(described)) {
		method, path, _ := strings.Cut(name, " ")
		w.operations = append(w.operations, fuzzOperation{method, path})
		for _, p := range described[name].Parameters {
			names[p] = true
		}
	}
	w.parameters = slices.Sorted(maps.Keys(names))
	return w
}

// Values are written as in JSON; a query has their text.
var fuzzValues = []string{
	`1`, `0`, `-1`, `2`, `10`, `15`, `22`, `25`, `26`, `30`, `9223372036854775807`, `99999999999999999999`, `1.5`, `2.0`, `1e400`,
	`true`, `false`, `null`, `""`, `" "`, `"yes"`, `"off"`, `"any"`, `"x"`, `"sesame"`, `"p"`, `[]`, `{}`, `[null]`, `[[1]]`, `"1,2,,3"`,
	`[10,11,"12",{"venue":"New place"}]`, `{"organizer":"New club","email":"a@b.example"}`, `{"id":10}`, `[{"venue":""}]`, `"jazz"`,
	`"Brand new,Music"`, `"publish"`, `"draft"`, `"pending"`, `"private"`, `"future"`, `"trash"`, `"publish,trash,draft"`,
	`"2026-12-05"`, `"2026-12-05 18:00"`, `"2026-12-06T08:00:00+02:00"`, `1800000000`, `-99999999999999`, `"tomorrow 9am"`, `"za 3 dni"`,
	`"next wednesday 4pm"`, `"last friday of next month"`, `"9999-12-31 23:59:59"`, `"1000-01-01"`, `"2026-02-30"`, `"+99999999 years"`,
	`"Europe/Warsaw"`, `"UTC+5:30"`, `"-14:00"`, `"Nowhere/Place"`, `"pl"`, `"es"`, `"en"`, `"de"`, `"Zażółć gęślą jaźń 🎷"`, `"a\u0000b"`,
	`"<b onclick=x>a</b><script>c</script>"`, `"&lt;script&gt;"`, `"grand-hall"`, `"minimal-event"`, `"https://a.example/x.png"`,
	`"javascript:alert(1)"`, `"€5 - €8"`, `"free"`, `["12,50","8"]`, `91`, `52.2318`, `-181`, `"ASC"`, `"desc"`, `"name"`, `"count"`, `"include"`,
	`"id,title,venue.venue,events.id"`, `"%_\\"`, `"\"grand hall\" -bare"`, `"PUT"`, `"DELETE"`, `{"a":{"b":{"c":[1]}}}`,
}

var fuzzHeaders = []string{
	"Accept: application/problem+json", "Accept: text/html", "Accept: */*;q=0", "Accept-Language: pl, en;q=0.5", "Accept-Language: *;q=0, es;q=1.5",
	"Accept-Language: en-US-x-twain", "Authorization: " + editorsPassword, "Authorization: Basic Og==",
	"Authorization: Basic !", "Authorization: Bearer alm_0123456789abcdefghijklmnopqrstuvwxyzABC-_EF", "Authorization: Bearer x", "Authorization: Digest a=b",
	"Authorization:", "Content-Type: application/json", "Content-Type: application/ld+json; charset=utf-8", "Content-Type: application/x-www-form-urlencoded",
	"Content-Type: multipart/form-data; boundary=x", "Content-Type: multipart/form-data", "Content-Type: text/plain", "Content-Type: application/json;;",
	"Content-Encoding: gzip", "X-HTTP-Method-Override: PUT", "X-HTTP-Method-Override: delete", "X-HTTP-Method-Override: GET", "If-Match: *", `If-Match: "1"`,
	`If-Match: W/"x", "y"`, "If-None-Match: *", `If-None-Match: "1"`, "If-None-Match: broken", "If-Modified-Since: Sat, 21 Nov 2026 12:00:00 GMT",
	"If-Unmodified-Since: Sat, 01 Jan 2000 00:00:00 GMT", "Idempotency-Key: one", `Idempotency-Key: "two"`, "Idempotency-Key:", "Prefer: return=minimal",
	"Forwarded: for=192.0.2.1;proto=https", `Forwarded: for="[2001:db8::1]:80", for=unknown`, "X-Forwarded-For: 1.1.1.1, ::1", "Range: bytes=0-1",
	"Origin: https://evil.example", "Cookie: session=x", "X-Request-Id: a/b", "X-WP-Nonce: x", "Access-Control-Request-Method: DELETE",
}

var (
	fuzzIDs = []string{
		"15", "10", "12", "14", "2", "3", "4", "16", "20", "21", "22", "25", "26", "27", "28", "29", "30", "31", "32", "33", "34", "35",
		"0", "1", "007", "999999", "99999999999999999999", "x", "-1", "15/x",
	}
	fuzzSlugs = []string{
		"minimal-event", "zimowy-jazz", "reading", "members-only", "to-delete__trashed", "grand-hall", "library", "alice-co", "club",
		"none", "%C5%BB%C3%B3%C5%82w", "%00", "%2e%2e", "a%2Fb", "MINIMAL-EVENT", "%",
	}
	fuzzMounts = []string{"", "/en", "/pl", "/es"}
	fuzzLogins = []string{"", "admin", "editor", "author", "contributor", "subscriber"}
)

const fuzzRoot = "/cal/events/v1"

// edit applies up to 12 random changes to a request, such as another operation or one more parameter. Four bytes of
// edits select each change and its values.
func (w *fuzzWorld) edit(r *fuzzRequest, edits []byte) {
	for n := 0; len(edits) >= 4 && n < 12; n, edits = n+1, edits[4:] {
		w.editOnce(r, edits[0], edits[1], edits[2], edits[3])
	}
}

func (w *fuzzWorld) editOnce(r *fuzzRequest, what, a, b, c byte) {
	name := choose(w.words.parameters, a)
	value := choose(fuzzValues, b)
	switch what % 9 {
	case 0: // another operation
		o := choose(w.words.operations, a)
		_, query, asked := strings.Cut(r.target, "?")
		path := strings.NewReplacer("{id}", choose(fuzzIDs, b), "{slug}", choose(fuzzSlugs, b)).Replace(o.path)
		r.method, r.target = o.method, choose(fuzzMounts, c)+fuzzRoot+strings.TrimSuffix(path, "/")
		if asked {
			r.target += "?" + query
		}
	case 1, 2: // a parameter in the query
		r.target += queryMark(r.target) + url.QueryEscape(name) + choose([]string{"", "", "[]", "[a]"}, c) + "=" + plain(value)
	case 3:
		r.setHeader(choose(fuzzHeaders, a))
	case 4, 5: // a member of the JSON
		r.setHeader("Content-Type: application/json")
		r.addMember(name, value)
	case 6: // a member of an object in the JSON
		r.setHeader("Content-Type: application/json")
		inner := choose(w.words.parameters, c)
		r.addMember(choose([]string{"venue", "organizer"}, a), `{"venue":"V","organizer":"O","`+inner+`":`+value+`}`)
	case 7: // a field of a form
		r.setHeader("Content-Type: application/x-www-form-urlencoded")
		if strings.HasPrefix(r.body, "{") {
			r.body = ""
		}
		r.body += "&" + url.QueryEscape(name) + choose([]string{"", "", "[]", "[0][venue]", "[organizer]"}, c) + "=" + plain(value)
	case 8:
		r.as = choose(fuzzLogins, a)
	}
}

func choose[T any](from []T, b byte) T { return from[int(b)%len(from)] }

func queryMark(target string) string {
	if strings.Contains(target, "?") {
		return "&"
	}
	return "?"
}

// plain returns a JSON value as text for a query.
func plain(value string) string { return url.QueryEscape(strings.Trim(value, `"`)) }

func (r *fuzzRequest) setHeader(line string) {
	name, _, _ := strings.Cut(line, ":")
	r.headers = slices.DeleteFunc(slices.Clone(r.headers), func(old string) bool {
		n, _, _ := strings.Cut(old, ":")
		return strings.EqualFold(n, name)
	})
	r.headers = append(r.headers, line)
}

// addMember inserts a member at the start of the request's JSON body.
func (r *fuzzRequest) addMember(name, value string) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(r.body), "{")
	if !ok {
		rest = "}"
	}
	if strings.TrimSpace(rest) != "}" {
		value += ","
	}
	r.body = `{"` + name + `":` + value + rest
}

// seeds returns each operation as a signed-in user sends it, and some interesting requests.
func (w *fuzzWorld) seeds() []string {
	var out []string
	for i, o := range w.words.operations {
		id := "15"
		switch {
		case strings.HasPrefix(o.path, "/venues"):
			id = "10"
		case strings.HasPrefix(o.path, "/organizers"):
			id = "12"
		case strings.HasPrefix(o.path, "/categories"):
			id = "2"
		case strings.HasPrefix(o.path, "/tags"):
			id = "4"
		case strings.HasPrefix(o.path, "/images"):
			id = "14"
		}
		path := strings.NewReplacer("{id}", id, "{slug}", "minimal-event").Replace(strings.TrimSuffix(o.path, "/"))
		out = append(out, strings.TrimSpace(o.method+" "+fuzzRoot+path+" "+fuzzLogins[i%len(fuzzLogins)]))
	}
	const (
		inJSON = "\nContent-Type: application/json\n\n"
		inForm = "\nContent-Type: application/x-www-form-urlencoded\n\n"
		inPart = "\nContent-Type: multipart/form-data; boundary=x\n\n"
		a      = fuzzRoot
	)
	return append(out,
		"GET / admin", "GET /media/2026/11/pic.png", "GET /healthz", "HEAD /readyz", "GET /event/minimal-event/", "GET /?p=15", "BREW "+a, "TRACE "+a+"/events",
		"GET "+a+"/events/ author\nAuthorization: Basic %%%",
		"GET "+a+"?namespace=x&context=edit", "OPTIONS "+a+"/events/by-slug/x", "HEAD /es"+a+"/events\nAccept: application/problem+json",
		"GET "+a+"/doc\nAccept-Language: pl;q=0.5, es",
		"GET "+a+"/events?page=2&per_page=3&search=%22a+b%22+-c&categories=music,3&tags[]=4&venue=10&organizer[0]=12",
		"GET "+a+"/events?start_date=next+monday&end_date=%2B3+days&strict_dates=1&starts_after=1800000000&ends_before=2026-12-05T18:00Z",
		"GET "+a+"/events?geoloc_lat=52&geoloc_lng=21&geoloc_radius=500&featured=no&ticketed=1&geoloc=true",
		"GET "+a+"/events?include=15,16&status=publish,draft&post_parent=15&password=x&ml_language=pl&_fields=id,venue.id editor",
		"GET "+a+"/events/22?password=sesame", "GET "+a+"/events/99999999999999999999?password=", "GET "+a+"/events/by-slug/%C5%BB%C3%B3%C5%82w%00",
		"GET "+a+"/venues?search=a&event=15&has_events=1&only_with_upcoming=yes&status=trash admin",
		"GET "+a+"/organizers/?page=9223372036854775807&per_page=9223372036854775807",
		"GET "+a+"/categories?include=3,2&exclude=5&order=DESC&orderby=include&hide_empty=0&parent=2&post=15&slug=a%2Cb",
		"GET "+a+"/tags?search=%F0%9F%8E%B7%FF&orderby=description", "GET "+a+"/images?page=2 author", "GET "+a+"//events", "GET "+a+"/events/%25zz",
		"POST "+a+"/events author"+inJSON+`{"title":"A","start_date":"2026-12-05 18:00","end_date":"+2 days","timezone":"UTC+5.5","all_day":"yes","venue":[10,{"venue":"B","geo_lat":1,"geo_lng":"2"}],"organizer":{"organizer":"C","image":14},"categories":"jazz,New","tags":[{"id":4}],"cost":["5","€10"],"image":14,"post_parent":15,"password":"x"}`,
		"POST "+a+"/events admin"+inForm+"title=A&start_date=now&end_date=tomorrow+9am&venue[venue]=B&venue[city]=C&organizer[0][organizer]=D&organizer[1][id]=12&tags[]=E&cost=5+-+10",
		"POST "+a+"/events contributor"+inPart+"--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nA\r\n--x\r\nContent-Disposition: form-data; name=\"start_date\"\r\n\r\nnow\r\n--x--\r\n",
		"POST "+a+"/events admin"+inJSON+`{"title":{"a":[null,1.5e300]},"start_date":-1e99,"end_date":[],"venue":{"venue":{"venue":[]}},"status":0}`,
		"POST "+a+"/events/15?_method=DELETE admin\nX-HTTP-Method-Override: PATCH"+inJSON+`{"start_date":"31 December 9999","all_day":true}`,
		"PATCH "+a+"/events/15 editor"+inJSON+`{"start_date":253402300799,"end_date":null,"timezone":null,"website":null,"venue":null,"status":"trash"}`,
		"PATCH "+a+"/events/25 contributor"+inJSON+`{"title":"B","status":"publish","categories":"2","venue":{"venue":"Somewhere"}}`,
		"PUT "+a+"/events/by-slug/reading?ml_language=es author"+inJSON+`{"title":"Ñ","slug":"ñ","description":"<p onclick=x>a<script>b</script>"}`,
		"DELETE "+a+"/events/26 contributor", "DELETE "+a+"/events/21 admin",
		"POST "+a+"/venues author"+inJSON+`{"venue":"Grand hall","description":"a big hall","show_map":"","geo_lat":"","website":"","stateprovince":null}`,
		"PATCH "+a+"/venues/10 editor"+inForm+"geo_lat=&geo_lng=&image=0&date_utc=1800000000", "DELETE "+a+"/venues/by-slug/library author",
		"POST "+a+"/organizers admin"+inJSON+`{"organizer":"A","author":1,"date":"za 3 dni","email":"x","status":"private"}`,
		"POST "+a+"/categories author"+inJSON+`{"name":"A","parent":"2","slug":"%%%"}`, "PATCH "+a+"/categories/2 author"+inJSON+`{"parent":3,"name":"B"}`,
		"DELETE "+a+"/categories/2 author", "POST "+a+"/tags editor"+inJSON+`{"name":"Free entry"}`,
		"POST "+a+"/images author"+inPart+"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.gif\"\r\n\r\nGIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;\r\n--x--\r\n",
		"DELETE "+a+"/images/14 admin", "POST "+a+"/events author\nContent-Encoding: gzip"+inJSON+"\x1f\x8b",
		"POST "+a+"/events author"+inJSON+strings.Repeat("[", 10000),
		"POST "+a+"/events?a[b][c]=1&a[b]=2&a[]=3&[]=4&a]=5&a[=6 admin"+inForm+"a[b",
	)
}
