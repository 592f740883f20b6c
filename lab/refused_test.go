package lab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
)

// refusedBody is the body of a POST to /events that is refused because its sender is unknown.
type refusedBody struct {
	name, kind, body string
}

const refusedSize = 1_000_000 // bytes, within the limit of a body

// repeated repeats a text up to the size of a body.
func repeated(text string) string { return strings.Repeat(text, refusedSize/len(text)) }

// inField returns the JSON of an event in which one field has a long value.
func inField(b *testing.B, field string, value any) string {
	b.Helper()
	all := map[string]any{"title": "Concert", "start_date": "2026-12-05 18:00", "end_date": "2026-12-05 20:00"}
	all[field] = value
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	must.Succeed(b, enc.Encode(all))
	return out.String()
}

const (
	prose  = "An evening of music by the river. "
	markup = "<p class=\"x\">An <b>evening</b> of <a href=\"https://example.com/?a=1&amp;b=2\">music</a></p>\n"
)

// refusedBodies returns the bodies that BenchmarkRefused sends. The first one is plain text, for comparison.
func refusedBodies(b *testing.B) []refusedBody {
	b.Helper()
	jsonType, formType := "application/json", "application/x-www-form-urlencoded"
	field := func(name string, value any) refusedBody {
		return refusedBody{kind: jsonType, body: inField(b, name, value)}
	}
	named := func(name string, r refusedBody) refusedBody {
		r.name = name
		return r
	}
	list := func(item any, size int) []any {
		items := make([]any, refusedSize/size)
		for i := range items {
			items[i] = item
		}
		return items
	}
	numbers := make([]any, refusedSize/7)
	for i := range numbers {
		numbers[i] = 100_000 + i
	}
	raw := func(open, item, end string) refusedBody {
		body := `{"title":"Concert","start_date":"2026-12-05 18:00","end_date":"2026-12-05 20:00",` + open + repeated(item) + end + `}`
		return refusedBody{kind: jsonType, body: body[:min(len(body), 1<<20)]}
	}
	form := func(pairs string) refusedBody {
		return refusedBody{kind: formType, body: "title=Concert&start_date=2026-12-05&end_date=2026-12-05&" + pairs}
	}
	return []refusedBody{
		named("text", field("description", repeated(prose))),
		// Quotation marks take two bytes in JSON.
		named("HTML", field("description", repeated(markup)[:refusedSize*9/10])),
		named("short tags", field("description", repeated("<b>"))),
		named("attributes", field("description", "<a "+repeated("b ")+">")),
		named("open lists", field("description", repeated("<ul><li>"))),
		named("entities", field("description", repeated("&amp;"))),
		named("title of tags", field("title", repeated("<b>"))),
		named("title of entities", field("title", repeated("&amp;"))),
		named("title of brackets", field("title", repeated("<"))),
		named("title of attributes", field("title", "<a "+repeated("b ")+">")),
		named("venue of tags", field("venue", map[string]any{"venue": repeated("<b>")})),
		named("cost of tags", field("cost", repeated("<b>"))),
		named("cost of many", field("cost", list("<b>", 6))),
		named("dates of spaces", field("start_date", repeated(" "))),
		named("tag ids", field("tags", numbers)),
		named("tag ids in a text", field("tags", strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ","), "[]"))),
		named("tags of commas", field("tags", repeated(","))),
		named("tag names", field("tags", list("a", 4))),
		named("venue ids", field("venue", numbers)),
		named("venue of one id", field("venue", list(1, 2))),
		named("venues", field("venue", list(map[string]any{"venue": "a", "author": 1}, 30)[:500])),
		named("fields", field("_fields", repeated("a,"))),
		named("unknown numbers", raw(`"x":[`, "0,", "0]")),
		named("unknown lists", raw(`"x":[`, "[],", "0]")),
		named("unknown objects", raw(`"x":[`, "{},", "0]")),
		named("keys", raw(``, `"a":0,`, `"b":0`)),
		named("pairs", form(repeated("a&"))),
		named("brackets", form("a"+repeated("[b]")+"=1")),
		named("escapes", form("description="+url.QueryEscape(strings.Repeat("ł", refusedSize/6)))),
	}
}

// BenchmarkRefused measures what a POST of a megabyte costs this process, the sending included, if its sender is unknown.
// "x-text" compares it with as much plain text:
//
//	go -C lab test -run '^$' -bench Refused -benchtime 20x .
func BenchmarkRefused(b *testing.B) {
	engines(b, func(b *testing.B, st *store.Store) {
		s := serve(b, st)
		var text time.Duration
		for _, r := range refusedBodies(b) {
			b.Run(r.name, func(b *testing.B) {
				send := refusedSender(b, s, r)
				send()
				began := cpuTime(b)
				for b.Loop() {
					send()
				}
				took := (cpuTime(b) - began) / time.Duration(b.N)
				if text == 0 {
					text = took
				}
				b.ReportMetric(took.Seconds()*1000, "cpu-ms/op")
				b.ReportMetric(took.Seconds()/text.Seconds(), "x-text")
			})
		}
	})
}

// refusedSender returns a function that sends a request and fails the benchmark unless it is refused. All calls use
// one connection.
func refusedSender(b *testing.B, s *service, r refusedBody) func() {
	b.Helper()
	at, err := url.Parse(s.api)
	must.Succeed(b, err)
	conn, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", at.Host)
	must.Succeed(b, err)
	b.Cleanup(func() { conn.Close() })
	request := fmt.Appendf(nil, "POST %s/events HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		at.Path, at.Host, r.kind, len(r.body), r.body)
	replies := bufio.NewReader(conn)
	return func() {
		if _, err := conn.Write(request); err != nil {
			b.Fatal(err)
		}
		res, err := http.ReadResponse(replies, nil)
		must.Succeed(b, err)
		if res.StatusCode < 400 || res.StatusCode > 499 {
			b.Fatalf("%s: %s", r.name, res.Status)
		}
		_, err = io.Copy(io.Discard, res.Body)
		must.Succeed(b, errors.Join(err, res.Body.Close()))
	}
}

// cpuTime returns the CPU time that this process has used so far.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must.Succeed(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
