package feed

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/proof/must"
)

var loadWords = sync.OnceValues(locale.Load)

func testFeed(t testing.TB) *Feed {
	t.Helper()
	words, err := loadWords()
	must.Succeed(t, err)
	return &Feed{
		Name: "Events in the port", Language: calendar.English, Zone: zoneOf(t, "Europe/Warsaw"), Words: words, Year: 2026,
		Self: "https://port.example/events.ics?search=a,b", Page: "https://port.example/events/",
	}
}

// linesOf writes entries as an iCalendar file and returns its lines, unfolded.
func linesOf(t testing.TB, f *Feed, entries ...Entry) []string {
	t.Helper()
	file := f.ICalendar(entries)
	readICal(t, file)
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(file), "\r\n ", ""), "\r\n"), "\r\n")
}

func wallOf(t testing.TB, text string) calendar.Wall {
	t.Helper()
	w, err := calendar.ParseWall(text)
	must.Succeed(t, err)
	return w
}

// jazzNight returns an entry with a value in every field.
func jazzNight(t testing.TB) Entry {
	t.Helper()
	e := Entry{
		ID: 15, UID: "abd5d90b-1c49-55fe-8333-45265f828753", NewsID: "urn:uuid:abd5d90b-1c49-55fe-8333-45265f828753", Sequence: 2,
		Stamp: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Created: time.Date(2026, 11, 1, 9, 30, 0, 0, time.UTC),
		StartWall: wallOf(t, "2026-12-05 18:00:00"), EndWall: wallOf(t, "2026-12-05 20:00:00"), Zone: zoneOf(t, "Europe/Warsaw"),
		Title: `Jazz; blues, soul \ more`, Description: "<p>Doors at six.</p><p>Ask <a href=\"https://a.example\">us</a>.</p>",
		Excerpt: "<p>An evening</p>", URL: "https://port.example/event/jazz-night/", VirtualURL: "https://meet.example/jazz",
		Places: []Place{
			{Name: "Online"},
			{
				Name: `The "Old" Hall`, Address: "ul. Długa 1", Zip: "80-001", City: "Gdańsk", Region: "Pomorze", Country: "Polska",
				Located: true, Latitude: 54.352, Longitude: 18.6466,
			},
		},
		Categories: []string{"Food, drink", "Music"},
		Image:      Image{URL: "https://port.example/media/a.jpg", MediaType: "image/jpeg", Size: 1234},
		Organizers: []Organizer{{Name: "Port", Phone: "+48 1"}, {Name: "Anna ^ Ola", Email: "anna@a.example"}, {Name: "Jan", Email: "jan@a.example"}},
		Related:    "4beeed5d-cc31-54a5-bfd3-3c18a5c97db1",
	}
	e.Start, e.End = e.Zone.Instant(e.StartWall), e.Zone.Instant(e.EndWall)
	return e
}

func TestICalendar(t *testing.T) {
	t.Parallel()
	want := []string{
		"BEGIN:VCALENDAR", "PRODID:-//Almanac//Events//EN", "VERSION:2.0", "CALSCALE:GREGORIAN",
		"NAME:Events in the port", "X-WR-CALNAME:Events in the port", "X-WR-TIMEZONE:Europe/Warsaw",
		"REFRESH-INTERVAL;VALUE=DURATION:PT1H", "X-PUBLISHED-TTL:PT1H",
		"SOURCE;VALUE=URI:https://port.example/events.ics?search=a,b", "URL:https://port.example/events/",
		"BEGIN:VTIMEZONE", "TZID:Europe/Warsaw",
		"BEGIN:DAYLIGHT", "DTSTART:19700329T020000", "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU",
		"TZOFFSETFROM:+0100", "TZOFFSETTO:+0200", "TZNAME:CEST", "END:DAYLIGHT",
		"BEGIN:STANDARD", "DTSTART:19701025T030000", "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
		"TZOFFSETFROM:+0200", "TZOFFSETTO:+0100", "TZNAME:CET", "END:STANDARD", "END:VTIMEZONE",
		"BEGIN:VEVENT", "UID:abd5d90b-1c49-55fe-8333-45265f828753", "DTSTAMP:20261121T120000Z", "LAST-MODIFIED:20261121T120000Z",
		"CREATED:20261101T093000Z", "SEQUENCE:2",
		"DTSTART;TZID=Europe/Warsaw:20261205T180000", "DTEND;TZID=Europe/Warsaw:20261205T200000",
		`SUMMARY:Jazz\; blues\, soul \\ more`,
		`DESCRIPTION:Doors at six.\nAsk us (https://a.example).\n\nhttps://port.example/event/jazz-night/`,
		"URL:https://port.example/event/jazz-night/",
		`LOCATION:Online\; The "Old" Hall\, ul. Długa 1\, 80-001 Gdańsk\, Pomorze\, Polska`,
		"GEO:54.352000;18.646600", `X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-TITLE="The ^'Old^' Hall":geo:54.352000,18.646600`,
		`CATEGORIES:Food\, drink,Music`,
		"IMAGE;VALUE=URI;DISPLAY=BADGE;FMTTYPE=image/jpeg:https://port.example/media/a.jpg",
		"ATTACH;FMTTYPE=image/jpeg:https://port.example/media/a.jpg",
		`ORGANIZER;CN="Anna ^^ Ola":mailto:anna@a.example`, `CONTACT:Port\, +48 1`, `CONTACT:Jan\, jan@a.example`,
		"RELATED-TO:4beeed5d-cc31-54a5-bfd3-3c18a5c97db1", "STATUS:CONFIRMED",
		"CONFERENCE;VALUE=URI;FEATURE=VIDEO:https://meet.example/jazz", "TRANSP:TRANSPARENT",
		"END:VEVENT", "END:VCALENDAR",
	}
	if diff := cmp.Diff(want, linesOf(t, testFeed(t), jazzNight(t))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestICalendarOfEntries(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ł", 9000)
	tests := []struct {
		name   string
		change func(f *Feed, e *Entry)
		want   []string // lines there are
		not    []string // beginnings of lines there are not
	}{
		{"no more than an id", func(f *Feed, e *Entry) {
			*f = Feed{Words: f.Words, Language: calendar.English}
			*e = Entry{UID: "x", Start: e.Start, End: e.Start}
		}, []string{"DTSTART:20261205T170000Z", "X-WR-TIMEZONE:UTC"}, []string{
			"DTEND", "NAME", "X-WR-CALNAME", "SOURCE", "URL", "REFRESH", "X-PUBLISHED", "SUMMARY", "DESCRIPTION", "LOCATION", "GEO", "X-APPLE",
			"CATEGORIES", "IMAGE", "ATTACH", "ORGANIZER", "CONTACT", "RELATED-TO", "CONFERENCE", "CREATED",
		}},
		{"for Outlook", func(f *Feed, _ *Entry) { f.Outlook = true }, []string{"NAME:Events in the port"}, []string{"X-WR-CALNAME"}},
		{
			"canceled", func(f *Feed, e *Entry) { e.Status, f.Language = calendar.Canceled, calendar.Polish },
			[]string{"STATUS:CANCELLED", `SUMMARY:Odwołane: Jazz\; blues\, soul \\ more`},
			nil,
		},
		{"canceled without a title", func(_ *Feed, e *Entry) { e.Status, e.Title = calendar.Canceled, "" }, []string{"SUMMARY:Cancelled"}, nil},
		{"postponed", func(_ *Feed, e *Entry) { e.Status = calendar.Postponed }, []string{"STATUS:TENTATIVE", `SUMMARY:Jazz\; blues\, soul \\ more`}, nil},
		{
			"withdrawn", func(f *Feed, e *Entry) { e.Withdrawn, f.Language = true, calendar.Spanish },
			[]string{"SUMMARY:Cancelado", "STATUS:CANCELLED", "SEQUENCE:2", "DTSTART;TZID=Europe/Warsaw:20261205T180000", "TRANSP:TRANSPARENT"},
			[]string{"DESCRIPTION", "URL:https://port.example/event/", "LOCATION", "GEO", "CATEGORIES", "IMAGE", "ORGANIZER", "CREATED", "RELATED", "CONFERENCE"},
		},
		{
			"protected", func(_ *Feed, e *Entry) { e.Protected, e.AllDay = true, true },
			[]string{"DTSTART;TZID=Europe/Warsaw:20261205T180000", "URL:https://port.example/event/jazz-night/", "STATUS:CONFIRMED", "CREATED:20261101T093000Z"},
			[]string{"DESCRIPTION", "LOCATION", "GEO", "X-APPLE", "CATEGORIES", "IMAGE", "ATTACH", "ORGANIZER", "CONTACT", "RELATED", "CONFERENCE"},
		},
		{
			"whole days end the day after", func(_ *Feed, e *Entry) { e.AllDay, e.EndWall = true, wallOf(t, "2026-12-31 23:59:59") },
			[]string{"DTSTART;VALUE=DATE:20261205", "DTEND;VALUE=DATE:20270101"},
			[]string{"BEGIN:VTIMEZONE"},
		},
		{
			"the last day of all", func(_ *Feed, e *Entry) {
				e.AllDay, e.StartWall, e.EndWall = true, wallOf(t, "9999-12-31 00:00:00"), wallOf(t, "9999-12-31 23:59:59")
			},
			[]string{"DTSTART;VALUE=DATE:99991231"},
			[]string{"DTEND"},
		},
		{
			"until the last day of all", func(_ *Feed, e *Entry) { e.AllDay, e.EndWall = true, wallOf(t, "9999-12-31 23:59:59") },
			[]string{"DTSTART;VALUE=DATE:20261205", "DTEND;VALUE=DATE:99991231"},
			nil,
		},
		{
			"into the repeated hour", func(_ *Feed, e *Entry) {
				e.Start, e.End = time.Date(2026, 10, 24, 20, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)
			},
			[]string{"DTSTART:20261024T200000Z", "DTEND:20261025T003000Z"},
			[]string{"BEGIN:VTIMEZONE"},
		},
		{
			"after the years of readers", func(_ *Feed, e *Entry) {
				e.Start, e.End = e.Start.AddDate(10, 0, 0), e.End.AddDate(10, 0, 0)
			},
			[]string{"DTSTART:20361205T170000Z"},
			[]string{"BEGIN:VTIMEZONE"},
		},
		{
			"a stored instant that the zone no longer has", func(_ *Feed, e *Entry) { e.Start = e.Start.Add(-time.Hour) },
			[]string{"DTSTART;TZID=Europe/Warsaw:20261205T170000"},
			nil,
		},
		{"to import", func(f *Feed, _ *Entry) { f.Import = true }, []string{"TRANSP:OPAQUE"}, nil},
		{"days to import", func(f *Feed, e *Entry) { f.Import, e.AllDay = true, true }, []string{"TRANSP:TRANSPARENT"}, nil},
		{
			"a long description", func(_ *Feed, e *Entry) { e.Description, e.URL = long, "" },
			[]string{"DESCRIPTION:" + long[:2*999] + "…"},
			nil,
		},
		{
			"a long description to import", func(f *Feed, e *Entry) { e.Description, e.URL, f.Import = long, "", true },
			[]string{"DESCRIPTION:" + long[:2*7999] + "…"},
			nil,
		},
		{"no description", func(_ *Feed, e *Entry) { e.Description = "" }, []string{"DESCRIPTION:https://port.example/event/jazz-night/"}, nil},
		{
			"line ends and control characters", func(_ *Feed, e *Entry) {
				e.Title = "a\r\nb\rc\nd\ve\ff\u0085g\u2028h\u2029i\tj\x00\x7f\x1b\u009fk\xff\xc5"
			},
			[]string{`SUMMARY:a\nb\nc\nd\ne\nf\ng\nh\ni jk` + "\uFFFD\uFFFD"},
			nil,
		},
		{
			"addresses that are none", func(_ *Feed, e *Entry) {
				e.URL, e.VirtualURL, e.Image.URL = "https://a.example/\r\nX-A:b", "javascript:alert(1)", "a b"
				e.Organizers = []Organizer{{Name: "Port", Email: "a@a.example\r\nX-A:b"}}
			},
			[]string{`CONTACT:Port\, a@a.example\nX-A:b`},
			[]string{"URL:https://a", "CONFERENCE", "IMAGE", "ATTACH", "ORGANIZER", "X-A:"},
		},
		{
			"addresses that have to be encoded", func(_ *Feed, e *Entry) {
				e.URL, e.VirtualURL = "https://łódź.example:8443/a b/ł?q=%zz \"x\"#é", "http://a.example/%41"
				e.Organizers = []Organizer{{Name: "Port", Email: "a%b?c@a.example"}}
			},
			[]string{
				"URL:https://xn--d-uga0v4h.example:8443/a%20b/%C5%82?q=%25zz%20%22x%22#%C3%A9", "CONFERENCE;VALUE=URI;FEATURE=VIDEO:http://a.example/%41",
				`ORGANIZER;CN="Port":mailto:a%25b%3Fc@a.example`,
			},
			nil,
		},
		{
			"a media type that is none", func(_ *Feed, e *Entry) { e.Image.MediaType = "image/jpeg:x" },
			[]string{"ATTACH:https://port.example/media/a.jpg", "IMAGE;VALUE=URI;DISPLAY=BADGE:https://port.example/media/a.jpg"},
			nil,
		},
		{
			"a series", func(_ *Feed, e *Entry) {
				e.Recurrence = &Recurrence{Rule: "FREQ=DAILY;COUNT=5", Excluded: []calendar.Wall{wallOf(t, "2026-12-06 18:00:00")}}
			},
			[]string{"RRULE:FREQ=DAILY;COUNT=5", "EXDATE;TZID=Europe/Warsaw:20261206T180000"},
			[]string{"RECURRENCE-ID"},
		},
		{
			"an occurrence in UTC", func(_ *Feed, e *Entry) {
				e.Zone, e.Recurrence = calendar.UTC(), &Recurrence{Replaces: wallOf(t, "2026-12-06 18:00:00")}
			},
			[]string{"RECURRENCE-ID:20261206T180000Z"},
			[]string{"RRULE:FREQ=DAILY"},
		},
		{
			"an occurrence on a day", func(_ *Feed, e *Entry) {
				e.AllDay, e.Recurrence = true, &Recurrence{Replaces: wallOf(t, "2026-12-06 00:00:00")}
			},
			[]string{"RECURRENCE-ID;VALUE=DATE:20261206"},
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, e := testFeed(t), jazzNight(t)
			tt.change(f, &e)
			lines := linesOf(t, f, e)
			for _, want := range tt.want {
				if !slices.Contains(lines, want) {
					t.Errorf("no line %.300q", want)
				}
			}
			for _, not := range tt.not {
				if i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, not) }); i >= 0 {
					t.Errorf("a line %.300q", lines[i])
				}
			}
			if t.Failed() {
				t.Logf("%.5000q", lines)
			}
		})
	}
}

func TestICalendarIsOrdered(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	var uids []string
	for _, line := range linesOf(t, testFeed(t),
		Entry{ID: 3, UID: "c", Start: noon.Add(time.Second)}, Entry{ID: 12, UID: "b", Start: noon}, Entry{ID: 2, UID: "a", Start: noon, Withdrawn: true},
	) {
		if uid, ok := strings.CutPrefix(line, "UID:"); ok {
			uids = append(uids, uid)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, uids); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
