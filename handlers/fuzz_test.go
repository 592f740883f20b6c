package handlers_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/apitest"
	"github.com/almanac-cal/almanac/internal/storetest"
)

// FuzzRequest sends whatever it likes through the router. No request may be answered by a fault of ours, and the
// API answers in JSON, always.
func FuzzRequest(f *testing.F) {
	const (
		anything = "application/json"
		form     = "application/x-www-form-urlencoded"
	)
	for _, seed := range []struct{ method, target, kind, header, body string }{
		{"GET", "", "", "", ""},
		{"GET", "?namespace=x&context=edit", "", "", ""},
		{"OPTIONS", "/events/by-slug/x", "", "", ""},
		{"HEAD", "/events", "", "Accept: application/problem+json", ""},
		{"GET", "/doc", "", "Accept-Language: pl;q=0.5, es", ""},
		{"GET", "/events?page=2&per_page=3&search=%22a+b%22+-c&categories=music,3&tags[]=4&venue=10&organizer[0]=12", "", "", ""},
		{"GET", "/events?start_date=next+monday&end_date=%2B3+days&strict_dates=1&starts_after=1800000000&ends_before=2026-12-05T18:00Z", "", "", ""},
		{"GET", "/events?geoloc_lat=52&geoloc_lng=21&geoloc_radius=500&featured=no&ticketed=1&geoloc=true", "", "", ""},
		{"GET", "/events?include=15,16&status=publish,draft&post_parent=15&password=x&ml_language=pl&_fields=id,venue.id", "", "", ""},
		{"GET", "/events/99999999999999999999?password=", "", "", ""},
		{"GET", "/events/by-slug/%C5%BB%C3%B3%C5%82w%00", "", "", ""},
		{"GET", "/venues?search=a&event=15&has_events=1&only_with_upcoming=yes&status=trash", "", "", ""},
		{"GET", "/organizers/?page=9223372036854775807&per_page=9223372036854775807", "", "", ""},
		{"GET", "/categories?include=3,2&exclude=5&order=DESC&orderby=include&hide_empty=0&parent=2&post=15&slug=a%2Cb", "", "", ""},
		{"GET", "/tags?search=%F0%9F%8E%B7%FF&orderby=description", "", "", ""},
		{"GET", "/images?page=2", "", "", ""},
		{"GET", "//events", "", "", ""},
		{"GET", "/events/%zz", "", "", ""},
		{"POST", "/events", anything, "", `{"title":"A","start_date":"2026-12-05 18:00","end_date":"+2 days","timezone":"UTC+5.5","all_day":"yes","venue":[10,{"venue":"B","geo_lat":1,"geo_lng":"2"}],"organizer":{"organizer":"C","image":14},"categories":"jazz,New","tags":[{"id":4}],"cost":["5","€10"],"image":14,"post_parent":15,"password":"x"}`},
		{"POST", "/events", form, "", "title=A&start_date=now&end_date=tomorrow+9am&venue[venue]=B&venue[city]=C&organizer[0][organizer]=D&organizer[1][id]=12&tags[]=E&cost=5+-+10"},
		{"POST", "/events", "multipart/form-data; boundary=x", "", "--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nA\r\n--x--\r\n"},
		{"POST", "/events", anything, "", `{"title":{"a":[null,1.5e300]},"start_date":-1e99,"end_date":[],"venue":{"venue":{"venue":[]}},"status":0}`},
		{"POST", "/events/15?_method=DELETE", anything, "X-HTTP-Method-Override: PATCH", `{"start_date":"31 December 9999","all_day":true}`},
		{"PATCH", "/events/15", anything, "", `{"start_date":253402300799,"end_date":null,"timezone":null,"website":null,"venue":null,"status":"trash"}`},
		{"PUT", "/events/by-slug/minimal-event?ml_language=es", anything, "", `{"title":"Ñ","slug":"ñ","description":"<p onclick=x>a<script>b</script>"}`},
		{"DELETE", "/events/17", "", "", ""},
		{"POST", "/venues", anything, "", `{"venue":"Grand hall","description":"a big hall","show_map":"","geo_lat":"","website":"","stateprovince":null}`},
		{"PATCH", "/venues/10", form, "", "geo_lat=&geo_lng=&image=0&date_utc=1800000000"},
		{"DELETE", "/venues/by-slug/bare-venue", "", "", ""},
		{"POST", "/organizers", anything, "", `{"organizer":"A","author":1,"date":"za 3 dni","email":"x","status":"private"}`},
		{"POST", "/categories", anything, "", `{"name":"A","parent":"2","slug":"%%%"}`},
		{"PATCH", "/categories/2", anything, "", `{"parent":3,"name":"B"}`},
		{"DELETE", "/categories/2", "", "", ""},
		{"POST", "/tags", anything, "", `{"name":"Free entry"}`},
		{"POST", "/images", "multipart/form-data; boundary=x", "", "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\r\nGIF89a\x01\x00\r\n--x--\r\n"},
		{"DELETE", "/images/14", "", "", ""},
		{"POST", "/events", "application/json; charset=x", "Content-Encoding: gzip", "\x1f\x8b"},
		{"POST", "/events", anything, "", strings.Repeat("[", 10000)},
		{"POST", "/events?a[b][c]=1&a[b]=2&a[]=3&[]=4&a]=5&a[=6", form, "Authorization: Basic %%%", "a[b"},
		{"TRACE", "/events", "", "", ""},
	} {
		for _, who := range []byte{0, 1} {
			f.Add(who, seed.method, seed.target, seed.kind, seed.header, []byte(seed.body))
		}
	}
	api := apitest.New(f, storetest.Migrated(f, storetest.SQLite(f)))
	api.Example(f)
	api.SignIn(f, "contributor", calendar.Contributor)
	f.Fuzz(func(t *testing.T, who byte, method, target, kind, header string, body []byte) {
		request := apitest.Request{
			Method: method, Path: target, JSON: string(body), Header: map[string]string{"Content-Type": kind},
			As: []string{"admin", "contributor", ""}[who%3],
		}
		name, value, _ := strings.Cut(header, ":")
		if header != "" {
			request.Header[name] = strings.TrimSpace(value)
		}
		if !sendableRequest(request) {
			t.Skip("no HTTP")
		}
		// Who may have images downloaded must not be led to do so.
		if request.As == "admin" && mayHideURL(target+kind+header+string(body)) {
			request.As = "contributor"
		}
		r := api.Do(t, request)
		if r.Status < 200 || r.Status >= 500 {
			t.Errorf("status %d", r.Status)
		}
		if method == http.MethodHead {
			return
		}
		if !json.Valid(r.Body) {
			t.Errorf("%d with %q", r.Status, r.Body)
		}
		if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/") || !strings.Contains(kind, "json; charset=UTF-8") {
			t.Errorf("content type %q", kind)
		}
		if code := at(r.JSON(t), "code"); r.Status >= 400 && code == nil {
			t.Errorf("%d without a code: %s", r.Status, r.Body)
		}
	})
}

// sendableRequest reports whether a request can be written in HTTP at all.
func sendableRequest(r apitest.Request) bool {
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}
	target := r.Path
	if target != "" && target[0] != '/' && target[0] != '?' {
		return false
	}
	control := func(c rune) bool { return c <= ' ' || c >= 0x7f }
	if !slices.Contains(methods, r.Method) || strings.ContainsFunc(target, control) {
		return false
	}
	if _, err := url.ParseRequestURI(apitest.BaseURL + "/" + target); err != nil {
		return false
	}
	for name, value := range r.Header {
		token := func(c rune) bool {
			return !strings.ContainsRune("-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", c)
		}
		if name == "" || strings.ContainsFunc(name, token) || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c >= 0x7f }) {
			return false
		}
		// These are about the connection, and about how the body is sent.
		for _, other := range []string{"Host", "Connection", "Content-Length", "Transfer-Encoding", "Expect", "Trailer", "Upgrade", "TE"} {
			if strings.EqualFold(name, other) {
				return false
			}
		}
	}
	return true
}

// mayHideURL reports whether there is an absolute URL in a request, as it is or in one of the encodings that the
// service reads.
func mayHideURL(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{"://", `\`, "%3a", "%2f", "quoted-printable", "encoding"}, func(mark string) bool {
		return strings.Contains(text, mark)
	})
}
