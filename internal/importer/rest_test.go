package importer

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/markup"
)

const shapesFile = "../../testdata/calendars/shapes.json"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func testSite() calendar.Site {
	return calendar.Site{
		Name: "Test", Zone: calendar.UTC(), Language: calendar.English, PerPage: 10,
		Currency: calendar.Currency{Symbol: "$", Code: "USD", Position: calendar.Prefix, Decimal: "."},
		Now:      func() time.Time { return noon },
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecodeReportsWhatIsMalformedAndReadsTheRest(t *testing.T) {
	page, err := decode(readFile(t, shapesFile), 2, testSite())
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, e := range page.Events {
		titles = append(titles, e.Title)
	}
	wantTitles := []string{"Readers’ evening: poems &amp; prose", "Garden day", "Two rooms", "Walk"}
	if diff := cmp.Diff(wantTitles, titles); diff != "" {
		t.Errorf("titles (-want +got):\n%s", diff)
	}
	want := []string{
		`page 2, event 3 (id 103): start_date: "some day in June" is not a date of the form 2006-01-02 15:04:05`,
		`page 2, event 4: not an object`,
		`page 2, event 6 (id 106): end_date: end before start`,
	}
	var got []string
	for _, p := range page.Problems {
		got = append(got, p.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	wantNotices := []string{"page 2, event 7 (id 107): website: not an address of the web; left out"}
	if diff := cmp.Diff(wantNotices, page.Notices); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	if page.Total != 7 || page.Next != "" {
		t.Errorf("total %d, next %q", page.Total, page.Next)
	}
}

func TestDecodeReadsAllOfAnEvent(t *testing.T) {
	page, err := decode(readFile(t, shapesFile), 1, testSite())
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) *time.Time {
		w, err := calendar.ParseWall(text)
		if err != nil {
			t.Fatal(err)
		}
		return new(calendar.UTC().Instant(w))
	}
	image := &Image{
		Origin: Origin{Key: "calendar.example.org?id=301", Number: 301}, URL: "https://calendar.example.org/files/books.JPG",
		Extension: "jpg", MIMEType: "image/jpeg", Width: 1200, Height: 800, Filesize: 90210,
		Sizes: map[string]calendar.ImageSize{"thumbnail": {
			Path: "https://calendar.example.org/files/books-150x150.jpg", MIMEType: "image/jpeg",
			Width: 150, Height: 150, Filesize: 4100,
		}},
	}
	want := &Event{
		Origin: Origin{Key: "calendar.example.org?id=101", Number: 101, Removed: markup.Removed{Scripts: 1}}, Title: "Readers’ evening: poems &amp; prose",
		Description: new("<p>Bring a book.</p>\n<p>Tea &amp; cake.</p>"), Excerpt: new("<p>Bring a book.</p>"),
		Slug: "readers-evening", Status: new(calendar.Publish),
		Published: at("2026-03-01 09:00:00"), Modified: at("2026-03-02 10:30:00"),
		Cost:     &calendar.Cost{Symbol: "$", Position: calendar.Prefix, Prices: []string{"12.50", "20"}},
		Currency: Currency{Symbol: "$", Position: calendar.Prefix},
		Website:  &Website{URL: "https://readers.example.org/evening?a=1&copy=2"},
		HasImage: true, Image: image,
		EventValues: ent.EventValues{
			ShowMap: new(true), ShowMapLink: new(true), HideFromListings: new(false), Sticky: new(true), Featured: new(true),
			Attendance: new(calendar.Offline), VirtualURL: new(""),
		},
		Page:      "https://calendar.example.org/event/readers-evening/",
		HasVenues: true, HasOrganizers: true, HasCategories: true, HasTags: true,
		Venues: []*Venue{{
			Named: Named{
				Origin: Origin{Key: "calendar.example.org?id=201", Number: 201}, Name: "Reading Room – North",
				Description: "<p>Up the stairs.</p>", Slug: "reading-room", Status: new(calendar.Publish),
				Published: at("2026-01-01 08:00:00"), Modified: at("2026-01-02 08:00:00"), Website: "rooms.example.org",
			},
			Address: "4 Quiet Lane", City: "Riverton", Country: "United States", State: "OR", Zip: "97001", ShowMap: true, ShowMapLink: true,
			Latitude: new(45.5), Longitude: new(-122.6),
		}},
		Organizers: []*Organizer{
			{Email: "hello@page-turners.example.org", Named: Named{
				Origin: Origin{Key: "calendar.example.org?id=251", Number: 251}, Name: "Page Turners", Slug: "page-turners",
				Status: new(calendar.Publish), Published: at("2026-01-01 08:00:00"), Modified: at("2026-01-02 08:00:00"),
				Phone: "555-0100", Website: "page-turners.example.org",
			}},
			{Named: Named{
				Origin: Origin{Key: "calendar.example.org?id=252", Number: 252}, Name: "Library & Co",
				Status: new(calendar.Publish),
			}},
		},
		Terms: []*Term{
			{
				Origin: Origin{Key: "calendar.example.org?term=22", Number: 22}, Kind: calendar.Category, Name: "Poetry",
				Slug: "poetry", Parent: "calendar.example.org?term=21",
				ParentURL: "https://calendar.example.org/api/v1/categories/21",
			},
			{
				Origin: Origin{Key: "calendar.example.org?term=21", Number: 21}, Kind: calendar.Category, Name: "Books & more",
				Slug: "books", Description: "All that is printed.",
			},
			{Origin: Origin{Key: "calendar.example.org?term=31", Number: 31}, Kind: calendar.Tag, Name: "Indoors", Slug: "indoors"},
		},
	}
	ignore := cmp.Options{cmpopts.IgnoreFields(Origin{}, "Where"), cmpopts.IgnoreFields(Event{}, "Span")}
	if diff := cmp.Diff(want, page.Events[0], ignore); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	spans := []string{
		"2026-05-12 18:00:00 2026-05-12 20:30:00 Europe/Warsaw 2026-05-12T16:00:00Z false",
		"2026-06-01 00:00:00 2026-06-02 23:59:59 UTC+2 2026-05-31T22:00:00Z true",
		"2026-07-01 09:00:00 2026-07-01 09:00:00 UTC+5:45 2026-07-01T03:15:00Z false",
		"2026-08-01 09:00:00 2026-08-01 11:00:00 UTC 2026-08-01T09:00:00Z false",
	}
	for i, e := range page.Events {
		s := e.Span
		allDay := " false"
		if s.AllDay {
			allDay = " true"
		}
		got := s.Start.String() + " " + s.End.String() + " " + s.Zone.String() + " " +
			s.StartsAt().Format(time.RFC3339) + allDay
		if got != spans[i] {
			t.Errorf("span of event %d: %s, want %s", i, got, spans[i])
		}
	}
}

// pageOf returns a page with one valid event, in which some JSON members are replaced. The value "" removes a member.
func pageOf(t testing.TB, replace map[string]string) []byte {
	t.Helper()
	members := map[string]json.RawMessage{}
	good := map[string]string{
		"id": "7", "global_id": `"calendar.example.org?id=7"`, "title": `"Good"`,
		"start_date": `"2026-01-01 10:00:00"`, "end_date": `"2026-01-01 11:00:00"`, "timezone": `"Europe/Warsaw"`,
	}
	maps.Copy(good, replace)
	for name, raw := range good {
		if raw != "" {
			members[name] = json.RawMessage(raw)
		}
	}
	data, err := json.Marshal(map[string]any{"events": []any{members}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecodeRefusals(t *testing.T) {
	tests := []struct{ name, member, raw, want string }{
		{"no title", "title", "", "title: missing"},
		{"title of tags only", "title", `"<b></b>"`, "title: missing"},
		{"title that is a list", "title", `["x"]`, "title: not a text"},
		{"title with NUL", "title", `"a\u0000b"`, "title: text has a NUL character or is not valid UTF-8"},
		{"no start", "start_date", "", "start_date: missing"},
		{"no end", "end_date", "null", "end_date: missing"},
		{
			"impossible day", "start_date", `"2026-02-30 10:00:00"`,
			`start_date: "2026-02-30 10:00:00" is not a date of the form 2006-01-02 15:04:05`,
		},
		{
			"year without four digits", "start_date", `"0900-01-01 10:00:00"`,
			`start_date: "0900-01-01 10:00:00" is not a date of the form 2006-01-02 15:04:05`,
		},
		{"end before start", "end_date", `"2026-01-01 09:59:59"`, "end_date: end before start"},
		{"unknown zone", "timezone", `"Mars/Olympus"`, `timezone: "Mars/Olympus" is unknown`},
		{"zone too far", "timezone", `"UTC+15"`, `timezone: "UTC+15" is unknown`},
		{"unknown status", "status", `"archived"`, `status: "archived" is unknown`},
		{"flag that is a word", "featured", `"maybe"`, "featured: neither true nor false"},
		{"id that is a word", "id", `"seven"`, "id: not an id"},
		{"venue that is a number", "venue", "12", "venue: neither an object nor a list"},
		{"venue that is a list of numbers", "venue", "[12]", "venue: not an object"},
		{
			"venue without identity", "venue", `{"venue":"x"}`,
			"venue: global_id: missing, and no id with an address to make it of",
		},
		{"coordinate that is a word", "venue", `{"id":8,"geo_lat":"north"}`, "venue: geo_lat: not a number"},
		{"category without name", "categories", `[{"id":8}]`, "categories: name: missing"},
		{"category without id", "categories", `[{"name":"x"}]`, "categories: id: missing"},
		{"image that is a text", "image", `"x.jpg"`, "image: neither an object nor false"},
		{"cost that is true", "cost", "true", "cost: not a text"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page, err := decode(pageOf(t, map[string]string{tt.member: tt.raw}), 1, testSite())
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Problems) != 1 || len(page.Events) != 0 {
				t.Fatalf("%d problems, %d events", len(page.Problems), len(page.Events))
			}
			if got := page.Problems[0].Reason; got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestDecodeTolerates(t *testing.T) {
	tests := []struct {
		name, member, raw string
		got               func(*Event) any
		want              any
	}{
		{"no global id", "global_id", "", func(e *Event) any { return e.Key }, nil},
		{"number for a title", "title", "1984", func(e *Event) any { return e.Title }, "1984"},
		{
			"T between date and time", "start_date", `"2026-01-01T10:30:00"`,
			func(e *Event) any { return e.Span.Start.String() }, "2026-01-01 10:30:00",
		},
		{
			"zone in any case", "timezone", `"europe/warsaw"`,
			func(e *Event) any { return e.Span.Zone.String() }, "Europe/Warsaw",
		},
		{"half an hour", "timezone", `"UTC-3.5"`, func(e *Event) any { return e.Span.Zone.String() }, "UTC-3.5"},
		{"quarter of an hour", "timezone", `"UTC-3.25"`, func(e *Event) any { return e.Span.Zone.String() }, "UTC-3:15"},
		{"no zone is the site's", "timezone", "", func(e *Event) any { return e.Span.Zone.String() }, "UTC"},
		{
			"date that a clock skips", "start_date", `"2025-03-30 02:30:00"`,
			func(e *Event) any { return e.Span.Start.String() }, "2025-03-30 03:30:00",
		},
		{"date of nothing", "date_utc", `"0000-00-00 00:00:00"`, func(e *Event) any { return e.Published == nil }, true},
		{
			"date without date_utc", "date", `"2026-01-01 10:00:00"`,
			func(e *Event) any { return e.Published.Format(time.RFC3339) }, "2026-01-01T09:00:00Z",
		},
		{"flag null", "featured", "null", func(e *Event) any { return e.Featured == nil }, true},
		{"flag yes", "featured", `"Yes"`, func(e *Event) any { return *e.Featured }, true},
		{"flag 0", "featured", "0", func(e *Event) any { return *e.Featured }, false},
		{"canceled", "event_status", `"canceled"`, func(e *Event) any { return *e.EventStatus }, calendar.Canceled},
		{"upper case", "event_status", `"POSTPONED"`, func(e *Event) any { return *e.EventStatus }, calendar.Postponed},
		{"no state", "event_status", `""`, func(e *Event) any { return *e.EventStatus }, calendar.Scheduled},
		{"state null", "event_status", "null", func(e *Event) any { return e.EventStatus == nil }, true},
		{"unknown state", "event_status", `"moved-online"`, func(e *Event) any { return e.EventStatus == nil }, true},
		{
			"reason with markup", "event_status_reason", `"<p>Flood &amp;amp; fire</p>"`,
			func(e *Event) any { return *e.EventStatusReason }, "Flood & fire",
		},
		{"virtual", "is_virtual", "true", func(e *Event) any { return *e.Attendance }, calendar.Online},
		{"not virtual", "is_virtual", "false", func(e *Event) any { return *e.Attendance }, calendar.Offline},
		{"attendance", "attendance", `"mixed"`, func(e *Event) any { return *e.Attendance }, calendar.Mixed},
		{"unknown attendance", "attendance", `"space"`, func(e *Event) any { return e.Attendance == nil }, true},
		{
			"virtual url", "virtual_url", `"https://meet.example/a?b=1&amp;c=2"`,
			func(e *Event) any { return *e.VirtualURL }, "https://meet.example/a?b=1&c=2",
		},
		{"virtual url null", "virtual_url", "null", func(e *Event) any { return *e.VirtualURL }, ""},
		{"virtual url of another scheme", "virtual_url", `"zoommtg:1"`, func(e *Event) any { return *e.VirtualURL }, ""},
		{"venue false", "venue", "false", func(e *Event) any { return len(e.Venues) }, 0},
		{"venue empty text", "venue", `""`, func(e *Event) any { return len(e.Venues) }, 0},
		{"venue by id", "venue", `{"id":8}`, func(e *Event) any { return e.Venues[0].Key }, "calendar.example.org?id=8"},
		{
			"venue at the equator", "venue", `{"id":8,"geo_lat":0,"geo_lng":0}`,
			func(e *Event) any { return *e.Venues[0].Latitude + *e.Venues[0].Longitude }, 0.0,
		},
		{
			"venue off the earth", "venue", `{"id":8,"geo_lat":91,"geo_lng":0}`,
			func(e *Event) any { return e.Venues[0].Latitude == nil && e.Venues[0].Longitude == nil }, true,
		},
		{
			"state that does not follow", "venue", `{"id":8,"country":"Poland","province":"A","stateprovince":"B"}`,
			func(e *Event) any { return e.Venues[0].StateProvince }, "B",
		},
		{
			"state that follows", "venue", `{"id":8,"country":"Poland","province":"A","stateprovince":"A"}`,
			func(e *Event) any { return e.Venues[0].StateProvince }, "",
		},
		{
			"organizer object", "organizer", `{"id":8,"organizer":"A &amp; B"}`,
			func(e *Event) any { return e.Organizers[0].Name }, "A & B",
		},
		{"slug with percent", "slug", `"%c5%82%c3%b3d%c5%ba"`, func(e *Event) any { return e.Slug }, "%c5%82%c3%b3d%c5%ba"},
		{"slug with percent in upper case", "slug", `"%E6%97%A5-2"`, func(e *Event) any { return e.Slug }, "%e6%97%a5-2"},
		{"slug encoded twice", "slug", `"%25e6%2597%25a5"`, func(e *Event) any { return e.Slug }, "%e6%97%a5"},
		{"slug with encoded ASCII", "slug", `"queen%27s-caf%c3%a9"`, func(e *Event) any { return e.Slug }, "queens-caf%c3%a9"},
		{"slug in Latin letters", "slug", `"żółw"`, func(e *Event) any { return e.Slug }, "zolw"},
		{"slug in Japanese letters", "slug", `"日本語-Café"`, func(e *Event) any { return e.Slug }, "%e6%97%a5%e6%9c%ac%e8%aa%9e-caf%c3%a9"},
		{"slug in Greek letters", "slug", `"Τζαζ"`, func(e *Event) any { return e.Slug }, "%cf%84%ce%b6%ce%b1%ce%b6"},
		{"slug in Cyrillic letters", "slug", `"джаз-2026"`, func(e *Event) any { return e.Slug }, "%d0%b4%d0%b6%d0%b0%d0%b7-2026"},
		{"slug of a prime", "slug", `"7%e2%80%b2"`, func(e *Event) any { return e.Slug }, "7%e2%80%b2"},
		{"slug of an emoji in itself", "slug", `"🎉"`, func(e *Event) any { return e.Slug }, "%f0%9f%8e%89"},
		{"slug of a word and an emoji", "slug", `"party-🎉"`, func(e *Event) any { return e.Slug }, "party"},
		{"slug of half a character", "slug", `"a-%e6%97"`, func(e *Event) any { return e.Slug }, "a-e6-97"},
		{
			"website with port", "website", `"example.org:8080/x"`,
			func(e *Event) any { return e.Website.URL }, "example.org:8080/x",
		},
		{"website with tabs", "website", `"java\tscript:alert(1)"`, func(e *Event) any { return e.Website.URL }, ""},
		{"website of data", "website", `"data:text/html,x"`, func(e *Event) any { return e.Website.URL }, ""},
		{"image without address", "image", `{"id":8,"url":"/x.jpg"}`, func(e *Event) any { return e.Image == nil }, true},
		{
			"image without id", "image", `{"url":"https://e.example/a/x.PNG"}`,
			func(e *Event) any { return e.Image.Key + " " + e.Image.MIMEType }, "https://e.example/a/x.PNG image/png",
		},
		{
			"title too long", "title", `"` + strings.Repeat("ł", 501) + `"`,
			func(e *Event) any { return e.Title }, strings.Repeat("ł", 500),
		},
		{"unknown members", "anything", `{"a":[1]}`, func(e *Event) any { return e.Title }, "Good"},
		{
			"parent that is itself", "categories", `[{"id":8,"name":"x","parent":8}]`,
			func(e *Event) any { return e.Terms[0].Parent }, "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			replace := map[string]string{tt.member: tt.raw}
			if tt.want == nil { // identity from elsewhere
				replace["rest_url"] = `"https://other.example:8443/api/events/7"`
				tt.want = "other.example?id=7"
			}
			page, err := decode(pageOf(t, replace), 1, testSite())
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Events) != 1 {
				t.Fatal(page.Problems)
			}
			if diff := cmp.Diff(tt.want, tt.got(page.Events[0])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeKnowsEventsAtTwoPlaces(t *testing.T) {
	page, err := decode(pageOf(t, map[string]string{"is_virtual": "true", "virtual_event_type": `"hybrid"`}), 1, testSite())
	if err != nil {
		t.Fatal(err)
	}
	if got := *page.Events[0].Attendance; got != calendar.Mixed {
		t.Errorf("attendance %q", got)
	}
}

func TestDecodeFindsTheZoneOfEventsThatNameNone(t *testing.T) {
	page, err := decode(pageOf(t, map[string]string{
		"timezone": "", "utc_start_date": `"2026-01-01 15:30:00"`,
	}), 1, testSite())
	if err != nil {
		t.Fatal(err)
	}
	if got := page.Events[0].Span.Zone.String(); got != "UTC-5:30" {
		t.Errorf("zone %s", got)
	}
}

func TestDecodeRefusesWhatIsNoPage(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"nothing", "", "not a page of events: unexpected EOF"},
		{"HTML", "<html>", "not a page of events: invalid character '<' looking for beginning of value"},
		{"list", "[]", "not a page of events: not an object"},
		{"cut off", `{"events":[{}`, "not a page of events: unexpected EOF"},
		{"more than one object", `{"events":[]}{}`, "not a page of events: text after the end"},
		{"no events", "{}", `not a page of events: it has no "events"`},
		{"events that are no list", `{"events":{}}`, `not a page of events: "events" is not a list`},
		{
			"error", `{"code":"rest_no_route","message":"No such route"}`,
			"not a page of events but the error rest_no_route: No such route",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := decode([]byte(tt.data), 1, testSite())
			if !errors.Is(err, errEmptyPage) || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestCostKeepsWhatIsAnswered(t *testing.T) {
	details := func(symbol, position, values string) string {
		return `{"currency_symbol":"` + symbol + `","currency_code":"","currency_position":"` + position +
			`","values":` + values + `}`
	}
	tests := []struct {
		name, cost, details string
		want                calendar.Cost
		shown               string
	}{
		{"none", `""`, details("", "prefix", "[]"), calendar.Cost{}, ""},
		{
			"free", `"Free"`, details("$", "prefix", `["0"]`),
			calendar.Cost{Symbol: "$", Position: "prefix", Prices: []string{"0"}},
			"Free",
		},
		{"free in another language", `"Gratis"`, details("", "", `["0"]`), calendar.Cost{Prices: []string{"0"}}, "Free"},
		{"word", `"Free"`, details("", "", `["free"]`), calendar.Cost{Texts: []string{"Free"}}, "Free"},
		{
			"range", `"$10 – $20"`, details("$", "prefix", `["10","20"]`),
			calendar.Cost{Symbol: "$", Position: "prefix", Prices: []string{"10", "20"}},
			"$10 – $20",
		},
		{
			"prices between the ends", `"$10 – $30"`, details("", "", `["10","20.50","30"]`),
			calendar.Cost{Prices: []string{"10", "20.50", "30"}},
			"$10 – $30",
		},
		{"the site's symbol is not stored", `"$10"`, details("", "", `["10"]`), calendar.Cost{Prices: []string{"10"}}, "$10"},
		{
			"another site's symbol is", `"10 zł"`, details("", "", `["10"]`),
			calendar.Cost{Symbol: "zł", Position: "postfix", Prices: []string{"10"}},
			"10zł",
		},
		{
			"symbol after", `"20€"`, details("€", "postfix", `[20]`),
			calendar.Cost{Symbol: "€", Position: "postfix", Prices: []string{"20"}},
			"20€",
		},
		{
			"escaped symbol", `"&euro;20"`, details("&euro;", "prefix", `["20"]`),
			calendar.Cost{Symbol: "€", Position: "prefix", Prices: []string{"20"}},
			"€20",
		},
		{
			"text and price", `"Donation &amp; tea – $10"`, details("", "", `["donation-tea","10"]`),
			calendar.Cost{Texts: []string{"Donation & tea"}, Prices: []string{"10"}},
			"Donation &amp; tea – $10",
		},
		{
			"text that is not shown", `"$10"`, details("", "", `["donation","10"]`),
			calendar.Cost{Texts: []string{"donation"}, Prices: []string{"10"}},
			"donation – $10",
		},
		{
			"no details", `"€5 - €8"`, "",
			calendar.Cost{Symbol: "€", Position: "prefix", Prices: []string{"5", "8"}},
			"€5 – €8",
		},
		{
			"details without values", `"€5"`, details("", "", "[]"),
			calendar.Cost{Symbol: "€", Position: "prefix", Prices: []string{"5"}},
			"€5",
		},
		{"number", "12.5", "", calendar.Cost{Prices: []string{"12.5"}}, "$12.5"},
		{"grouped and 3 decimals", `"$1500"`, details("", "", `["1.500"]`), calendar.Cost{Prices: []string{"1.500"}}, "$1.500"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page, err := decode(pageOf(t, map[string]string{"cost": tt.cost, "cost_details": tt.details}), 1, testSite())
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Events) != 1 {
				t.Fatal(page.Problems)
			}
			got := *page.Events[0].costOn(testSite().Currency)
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if shown := got.Display(testSite().Currency, "Free"); shown != tt.shown {
				t.Errorf("shown as %q, want %q", shown, tt.shown)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(readFile(f, shapesFile))
	for _, member := range []string{"id", "title", "start_date", "venue", "organizer", "cost", "image", "categories"} {
		for _, raw := range []string{"null", `""`, "[]", "{}", "-1e400", `[{"id":1}]`, `{"id":"1","parent":2}`, "true"} {
			f.Add(pageOf(f, map[string]string{member: raw}))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		page, err := decode(data, 1, testSite())
		if err != nil {
			return
		}
		for _, e := range page.Events {
			if e.Key == "" || e.Title == "" || e.Span.Check() != nil || e.Slug != calendar.KeptSlug(e.Slug) {
				t.Errorf("event %q %q %v %q", e.Key, e.Title, e.Span, e.Slug)
			}
			for _, v := range e.Venues {
				if v.Key == "" || (v.Latitude == nil) != (v.Longitude == nil) {
					t.Errorf("venue %+v", v)
				}
			}
			for _, term := range e.Terms {
				if term.Key == term.Parent || term.Name == "" {
					t.Errorf("term %+v", term)
				}
			}
			if e.Cost != nil && e.Cost.IsZero() && e.Cost.Symbol != "" {
				t.Errorf("cost %+v", e.Cost)
			}
		}
		for _, p := range page.Problems {
			if p.Where == "" || p.Reason == "" {
				t.Errorf("problem %+v", p)
			}
		}
	})
}
