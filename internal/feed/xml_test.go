package feed

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/must"
)

// tombstone returns a withdrawn entry. It has texts that no feed may contain.
func tombstone(t testing.TB) Entry {
	t.Helper()
	e := jazzNight(t)
	e.ID, e.UID, e.NewsID, e.Withdrawn, e.Stamp = 16, "gone", "urn:uuid:gone", true, e.Stamp.Add(-time.Hour)
	return e
}

// brunch returns a protected, all-day entry.
func brunch(t testing.TB) Entry {
	t.Helper()
	e := jazzNight(t)
	e.ID, e.UID, e.NewsID, e.Protected, e.AllDay, e.Title, e.Stamp = 17, "guarded", "urn:uuid:guarded", true, true, "Brunch", e.Stamp.Add(time.Hour)
	return e
}

func TestAtom(t *testing.T) {
	t.Parallel()
	const want = `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0" xml:lang="en">
<id>https://port.example/events.ics?search=a,b</id>
<title>Events in the port</title>
<updated>2026-11-21T13:00:00Z</updated>
<author>
<name>Events in the port</name>
</author>
<link rel="self" type="application/atom+xml" href="https://port.example/events.ics?search=a,b"/>
<link rel="alternate" type="text/html" href="https://port.example/events/"/>
<generator>Almanac</generator>
<entry>
<id>urn:uuid:guarded</id>
<title>Brunch</title>
<link rel="alternate" type="text/html" href="https://port.example/event/jazz-night/"/>
<published>2026-11-01T09:30:00Z</published>
<updated>2026-11-21T13:00:00Z</updated>
<summary>2026-12-05 18:00 – 20:00 Europe/Warsaw</summary>
</entry>
<entry>
<id>urn:uuid:abd5d90b-1c49-55fe-8333-45265f828753</id>
<title>Jazz; blues, soul \ more</title>
<link rel="alternate" type="text/html" href="https://port.example/event/jazz-night/"/>
<published>2026-11-01T09:30:00Z</published>
<updated>2026-11-21T12:00:00Z</updated>
<summary>2026-12-05 18:00 – 20:00 Europe/Warsaw · Online; The &quot;Old&quot; Hall, ul. Długa 1, 80-001 Gdańsk, Pomorze, Polska · An evening</summary>
<content type="html">&lt;p&gt;Doors at six.&lt;/p&gt;&lt;p&gt;Ask &lt;a href=&quot;https://a.example&quot;&gt;us&lt;/a&gt;.&lt;/p&gt;</content>
<category term="Food, drink"/>
<category term="Music"/>
<link rel="enclosure" href="https://port.example/media/a.jpg" type="image/jpeg" length="1234"/>
</entry>
<at:deleted-entry ref="urn:uuid:gone" when="2026-11-21T11:00:00Z"/>
</feed>
`
	if diff := cmp.Diff(want, string(testFeed(t).Atom([]Entry{tombstone(t), jazzNight(t), brunch(t)}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRSS(t *testing.T) {
	t.Parallel()
	const want = `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel>
<title>Events in the port</title>
<link>https://port.example/events/</link>
<description>Events in the port</description>
<language>en</language>
<generator>Almanac</generator>
<atom:link rel="self" type="application/rss+xml" href="https://port.example/events.ics?search=a,b"/>
<item>
<title>a &lt;b&gt; &amp;amp; c ]]&gt;</title>
<link>https://port.example/event/jazz-night/</link>
<guid isPermaLink="false">urn:uuid:abd5d90b-1c49-55fe-8333-45265f828753</guid>
<pubDate>Sun, 01 Nov 2026 09:30:00 +0000</pubDate>
<atom:updated>2026-11-21T12:00:00Z</atom:updated>
<description>Cancelled · 2026-12-05 18:00 – 20:00 Europe/Warsaw · A &amp;amp; B · 1 &amp;lt; 2</description>
<content:encoded>&lt;p&gt;1 &amp;lt; 2&lt;/p&gt;</content:encoded>
<category>Food, drink</category>
<category>Music</category>
<enclosure url="https://port.example/media/a.jpg" length="1234" type="image/jpeg"/>
</item>
</channel>
</rss>
`
	e := jazzNight(t)
	e.Title, e.Description, e.Excerpt = "a <b> &amp; c ]]>", "<p>1 &lt; 2</p>", "<p>1 &lt; 2</p>"
	e.Places, e.Status = []Place{{Name: "A & B"}}, calendar.Canceled
	if diff := cmp.Diff(want, string(testFeed(t).RSS([]Entry{tombstone(t), e}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	days := jazzNight(t)
	days.UID, days.NewsID, days.AllDay, days.Description, days.Places, days.Status = "days", "urn:uuid:days", true, "", nil, calendar.Postponed
	days.Stamp = days.Stamp.Add(-time.Hour)
	days.EndWall = wallOf(t, "2026-12-06 23:59:59")
	type object = map[string]any
	item := func(e object, more object) object {
		all := object{
			"url": "https://port.example/event/jazz-night/", "title": "Jazz; blues, soul \\ more", "date_published": "2026-11-01T09:30:00Z",
			"image": "https://port.example/media/a.jpg", "tags": []any{"Food, drink", "Music"}, "_event": e,
		}
		for name, value := range more {
			all[name] = value
			if value == nil {
				delete(all, name)
			}
		}
		return all
	}
	const place = `Online; The "Old" Hall, ul. Długa 1, 80-001 Gdańsk, Pomorze, Polska`
	want := object{
		"version": "https://jsonfeed.org/version/1.1", "title": "Events in the port", "language": "en",
		"home_page_url": "https://port.example/events/", "feed_url": "https://port.example/events.ics?search=a,b",
		"items": []any{
			item(object{
				"start": "2026-12-05T18:00:00+01:00", "end": "2026-12-05T20:00:00+01:00", "timezone": "Europe/Warsaw", "all_day": nil,
			}, object{
				"id": "urn:uuid:guarded", "title": "Brunch", "date_modified": "2026-11-21T13:00:00Z", "image": nil, "tags": nil,
				"content_text": "2026-12-05 18:00 – 20:00 Europe/Warsaw", "summary": "2026-12-05 18:00 – 20:00 Europe/Warsaw",
			}),
			item(object{
				"start": "2026-12-05T18:00:00+01:00", "end": "2026-12-05T20:00:00+01:00", "timezone": "Europe/Warsaw", "all_day": false,
				"location": place,
			}, object{
				"id": "urn:uuid:abd5d90b-1c49-55fe-8333-45265f828753", "date_modified": "2026-11-21T12:00:00Z",
				"content_html": `<p>Doors at six.</p><p>Ask <a href="https://a.example">us</a>.</p>`,
				"summary":      "2026-12-05 18:00 – 20:00 Europe/Warsaw · " + place + " · An evening",
			}),
			item(object{"start": "2026-12-05", "end": "2026-12-06", "timezone": "Europe/Warsaw", "all_day": true}, object{
				"id": "urn:uuid:days", "date_modified": "2026-11-21T11:00:00Z",
				"content_text": "Postponed · 2026-12-05 – 2026-12-06 · An evening", "summary": "Postponed · 2026-12-05 – 2026-12-06 · An evening",
			}),
		},
	}
	var got object
	must.Succeed(t, json.Unmarshal(testFeed(t).JSON([]Entry{tombstone(t), days, jazzNight(t), brunch(t)}), &got))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEmptyFeeds writes feeds without entries, and checks that no file contains one.
func TestEmptyFeeds(t *testing.T) {
	t.Parallel()
	f := testFeed(t)
	readICal(t, f.ICalendar(nil))
	if n := elements(t, f.Atom(nil))["entry"]; n != 0 {
		t.Errorf("%d entries", n)
	}
	if n := elements(t, f.RSS(nil))["item"]; n != 0 {
		t.Errorf("%d items", n)
	}
	if !bytes.Contains(f.JSON(nil), []byte(`"items":[]`)) {
		t.Errorf("%s", f.JSON(nil))
	}
}

// elements counts the elements of an XML file by name, and fails if it is not well-formed.
func elements(t testing.TB, file []byte) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(file)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return counts
		}
		if err != nil {
			t.Fatalf("%v in %.2000q", err, file)
		}
		if start, ok := token.(xml.StartElement); ok {
			counts[start.Name.Local]++
		}
	}
}

// FuzzFeeds puts texts from clients into all fields of an entry, and writes it in all formats.
func FuzzFeeds(f *testing.F) {
	for _, s := range []string{
		"a\r\nBEGIN:VEVENT\r\nX:y", "a\rb\nc", `;,\":^^n^'`, strings.Repeat("😀", 40), strings.Repeat("a", 74) + "łłł",
		"</title><script>]]>&amp;&", "\x00\x1b\x7f\u0085\u2028\u2029\ufffe\uffff\ufeff", "\xff\xfe\xf0\x9f", "https://a.example/\r\nX:y",
		"a@b.example\r\nX:y", "=?utf-8?q?=0D=0A?=", strings.Repeat("\\", 100), `<a href="https://x.example/;,">x</a>`, "image/png;x:y", "",
	} {
		f.Add(s, s)
	}
	feed := testFeed(f)
	zone := zoneOf(f, "Europe/Warsaw")
	start := time.Date(2026, 12, 5, 17, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, a, b string) {
		feed := *feed
		feed.Name, feed.Self, feed.Page = a, b, a
		e := Entry{
			UID: a, NewsID: a, Start: start, End: start.Add(time.Hour), Zone: zone, Title: b, Description: a, Excerpt: b, URL: a, VirtualURL: b,
			Places:     []Place{{Name: a, Address: b, Zip: a, City: b, Region: a, Country: b, Located: true}, {Name: b}},
			Categories: []string{a, b}, Image: Image{URL: b, MediaType: a}, Organizers: []Organizer{{a, b, b}, {b, a, a}, {a, b, "a@b.example"}}, Related: b,
		}
		file := feed.ICalendar([]Entry{e})
		c := readICal(t, file)
		events := c.children("VEVENT")
		if len(events) != 1 || len(c.components) != 2 || len(events[0].components) != 0 {
			t.Fatalf("%d components: %q", len(c.components), file)
		}
		most := map[string]int{"CONTACT": 2}
		for _, p := range events[0].properties {
			switch p.name {
			case "UID", "DTSTAMP", "LAST-MODIFIED", "SEQUENCE", "DTSTART", "DTEND", "SUMMARY", "DESCRIPTION", "URL", "LOCATION", "GEO",
				"X-APPLE-STRUCTURED-LOCATION", "CATEGORIES", "IMAGE", "ATTACH", "ORGANIZER", "CONTACT", "RELATED-TO", "STATUS", "CONFERENCE", "TRANSP":
				if n := len(events[0].all(p.name)); n > max(1, most[p.name]) {
					t.Fatalf("%d properties %s: %q", n, p.name, file)
				}
			default:
				t.Fatalf("the property %s was injected: %q", p.name, file)
			}
			if strings.ContainsAny(p.value, " \"<>") && (p.name == "URL" || p.parameters["VALUE"] == "URI" && p.name != "X-APPLE-STRUCTURED-LOCATION") {
				t.Fatalf("no URI: %q", p)
			}
		}
		if p := events[0].one(t, "SUMMARY"); p != nil && p.plain(t) != plainText(b) {
			t.Fatalf("title %q, want %q", p.plain(t), plainText(b))
		}
		if counts := elements(t, feed.Atom([]Entry{e})); counts["entry"] != 1 || counts["title"] != 2 || counts["category"] != 2 {
			t.Fatalf("elements %v", counts)
		}
		if counts := elements(t, feed.RSS([]Entry{e})); counts["item"] != 1 || counts["title"] != 2 || counts["guid"] != 1 {
			t.Fatalf("elements %v", counts)
		}
		var parsed struct{ Items []struct{ Title string } }
		must.Succeed(t, json.Unmarshal(feed.JSON([]Entry{e}), &parsed))
		if want := strings.ToValidUTF8(b, ""); len(parsed.Items) != 1 || strings.ReplaceAll(parsed.Items[0].Title, "\uFFFD", "") != strings.ReplaceAll(want, "\uFFFD", "") {
			t.Fatalf("title %q, want %q", parsed.Items, want)
		}
	})
}

// plainText returns the text that a feed reader shows.
func plainText(s string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch {
		case strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r):
			b.WriteByte('\n')
		case r == '\t':
			b.WriteByte(' ')
		case r >= ' ' && (r < 0x7f || r >= 0xa0):
			b.WriteRune(r)
		}
	}
	return b.String()
}
