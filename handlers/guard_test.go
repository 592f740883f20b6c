package handlers_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
)

// TestMediaTypesHaveNoCase checks that upper and lower case do not matter in media types and in the names of their
// parameters.
func TestMediaTypesHaveNoCase(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		form := "--XX\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nChanged\r\n--XX--\r\n"
		change := func(kind, body string, more ...string) apitest.Request {
			header := map[string]string{"Content-Type": kind}
			for i := 0; i < len(more); i += 2 {
				header[more[i]] = more[i+1]
			}
			return apitest.Request{Method: "PATCH", Path: "/events/{jazzNight}", As: "admin", JSON: body, Header: header}
		}
		changed := e.keeps(object{"title": "Changed"})
		e.Run(t, []apitest.Case{
			{Name: "form", Request: change("Application/x-www-form-urlencoded", "title=Changed"), Status: 200, Check: changed},
			{Name: "back", Request: patch("admin", "/events/{jazzNight}", object{"title": "Before"}), Status: 200},
			{Name: "parts", Request: change("Multipart/Form-Data; Boundary=XX", form), Status: 200, Check: changed},
			{Name: "and back", Request: patch("admin", "/events/{jazzNight}", object{"title": "Before"}), Status: 200},
			{Name: "parts that are not compressed", Request: change("multipart/form-data; boundary=XX", form, "Content-Encoding", "identity"), Status: 200, Check: changed},
			{Name: "no boundary", Request: change("multipart/form-data", form), Status: 400, Code: "rest_invalid_json"},
			{Name: "cut off", Request: change("multipart/form-data; boundary=XX", form[:60]), Status: 400, Code: "rest_invalid_json"},
		})
	})
}

// TestCompressedFormsAreNotRead checks that no compressed body is decompressed, with or without an idempotency
// key.
func TestCompressedFormsAreNotRead(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write([]byte("--XX\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\n" + strings.Repeat("a", 1<<20) + "\r\n--XX--\r\n")); err != nil {
			t.Fatal(err)
		}
		must.Succeed(t, w.Close())
		for _, key := range []string{"", `"one"`} {
			header := map[string]string{"Content-Type": "multipart/form-data; boundary=XX", "Content-Encoding": "gzip"}
			if key != "" {
				header["Idempotency-Key"] = key
			}
			r := e.Do(t, apitest.Request{Method: "POST", Path: "/tags", As: "admin", JSON: packed.String(), Header: header})
			if r.Status != 400 || r.Get(t, "code") != "rest_invalid_json" {
				t.Errorf("key %s: got %d %s", key, r.Status, r.Body)
			}
		}
	})
}

// TestNoTextEndsTheScript checks that JSON-LD contains no </script>, because pages put it into a script element.
func TestNoTextEndsTheScript(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		id := e.mustPost(t, "admin", "/events", concert(object{
			"title": "&lt;/script&gt;&lt;script&gt;alert(1)", "venue": object{"venue": "&lt;/script&gt; Hall", "description": "x"},
			"organizer": object{"organizer": "&lt;!--&lt;script&gt;"},
		}))
		r := e.mustSucceed(t, apitest.Request{Path: fmt.Sprint("/events/", id)})
		_, ld, found := bytes.Cut(r.Body, []byte(`"json_ld":`))
		if !found || bytes.Contains(ld, []byte("</")) || bytes.Contains(ld, []byte("<!")) {
			t.Errorf("JSON-LD is %s", ld)
		}
		hasValues(t, r, object{"json_ld.name": "</script><script>alert(1)", "json_ld.location.name": "</script> Hall", "json_ld.organizer.name": "<!--<script>"})
	})
}

func TestMounts(t *testing.T) {
	t.Parallel()
	words, err := locale.Load()
	must.Succeed(t, err)
	for mount, fault := range map[string]string{
		"/wp-json/tribe/events/v1": "", "api": "", "/cal/events/v1/": "",
		"/": "want a path", "/a//b": "want a path", "/../x": "want a path", "/a/./b": "want a path", "/a?b": "want a path", "/a b": "want a path",
		"/pl": "says its language", "/en/api": "says its language",
		"/events": "where pages or feeds", "/event": "where pages or feeds", "/venue/api": "where pages or feeds", "/tag": "where pages or feeds",
		"/events.ics": "where pages or feeds", "/ical": "where pages or feeds", "/eventful": "",
		"/developers/api":       "where pages or feeds",
		"/cal/events/v1/events": "below /cal/events/v1 already", "/cal": "below /cal/events/v1 already",
	} {
		_, err := handlers.New(handlers.Config{Mounts: []string{mount}, Calendar: read.Calendar{Words: words, Site: calendar.Site{
			BaseURL: apitest.BaseURL, Language: calendar.English, PerPage: 10, Now: func() time.Time { return apitest.Now },
		}}})
		if (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v, want %q", mount, err, fault)
		}
	}
}
