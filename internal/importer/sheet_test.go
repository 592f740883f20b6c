package importer

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// readSheet reads a table for the test site. Each set changes the options.
func readSheet(t testing.TB, data string, set ...func(*Tables)) (*Calendar, error) {
	t.Helper()
	r := newFastReader()
	for _, s := range set {
		s(&r.Tables)
	}
	return r.readTable([]byte(data))
}

func mustReadSheet(t testing.TB, data string, set ...func(*Tables)) *Calendar {
	t.Helper()
	cal, err := readSheet(t, data, set...)
	if err != nil {
		t.Fatal(err)
	}
	return cal
}

// sheetLines returns a line of text for each event and problem of a table.
func sheetLines(cal *Calendar) (out []string) {
	for _, e := range cal.Events {
		layout := "2006-01-02 15:04"
		if e.Span.AllDay {
			layout = "2006-01-02"
		}
		text := e.Title + " | " + e.Span.Start.Format(layout) + " | " + e.Span.End.Format(layout)
		for _, v := range e.Venues {
			text += " | " + v.Name
			if v.Address+v.City != "" {
				text += " (" + v.Address + "; " + v.City + ")"
			}
		}
		if e.Cost != nil {
			text += " | " + strings.Join(append(e.Cost.Texts, e.Cost.Prices...), "+") + e.Cost.Symbol
		}
		out = append(out, text)
	}
	for _, p := range cal.Problems {
		out = append(out, p.String())
	}
	return out
}

func TestTablesOfProgramsAreRead(t *testing.T) {
	for _, tt := range []struct {
		file string
		want []string
	}{
		{"google.csv", []string{
			"Jazz night | 2026-12-05 19:00 | 2026-12-05 21:30 | Blue hall (Long Street 5; )",
			"Street fair | 2026-12-25 | 2026-12-26 | Old market",
			"Board meeting | 2026-12-14 10:00 | 2026-12-14 11:00",
		}},
		{"tec.csv", []string{"Choir | 2026-12-05 18:00 | 2026-12-05 20:00 | Town hall | 15€"}},
		{"excel-pl.csv", []string{
			"Wieczór poezji | 2026-12-05 19:00 | 2026-12-05 19:00 | Dom Kultury | wstęp wolny",
			"Konkurs | 2026-12-06 10:00 | 2026-12-06 12:00 | Biblioteka | 10zł",
		}},
		{"excel-es.csv", []string{
			"Verbena | 2026-12-05 19:30 | 2026-12-05 19:30 | Plaza Mayor | Gratis",
			"Pregunta ¿qué hacer? | 2026-12-25 20:00 | 2026-12-25 22:00 | Teatro | 12.50€",
		}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			cal, err := newFastReader().Read(t.Context(), "../../testdata/calendars/"+tt.file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(tt.want, sheetLines(cal)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(cal.Notices) > 0 {
				t.Errorf("notices %q", cal.Notices)
			}
		})
	}
}

func TestDatesOfTablesAreRead(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"2026-12-05", "2026-12-05"},
		{"2026-12-05 19:00", "2026-12-05 19:00"},
		{"2026-12-05T19:00:30", "2026-12-05 19:00:30"},
		{"2026/12/05 7pm", "2026-12-05 19:00"},
		{"20261205", "2026-12-05"},
		{"2026-12-05T19:00:00+01:00", "2026-12-05 18:00"},
		{"5.12.2026", "2026-12-05"},
		{"05.06.26 19.00", "2026-06-05 19:00"},
		{"5.12.2026 r. godz. 19", "2026-12-05 19:00"},
		{"5.12.2026, 19:00–21:00", "2026-12-05 19:00 21:00"},
		{"5 grudnia 2026", "2026-12-05"},
		{"sob., 5 gru 2026 o 18:30", "2026-12-05 18:30"},
		{"5 XII 2026", "2026-12-05"},
		{"Sobota 5 grudzień 2026", "2026-12-05"},
		{"5 de diciembre de 2026", "2026-12-05"},
		{"sábado, 5 de diciembre de 2026 a las 19h30", "2026-12-05 19:30"},
		{"December 5, 2026", "2026-12-05"},
		{"Sat, Dec 5th 2026 at 7-9 pm", "2026-12-05 19:00 21:00"},
		{"5 Dec 2026 19:00", "2026-12-05 19:00"},
		{"5-Dec-2026", "2026-12-05"},
		{"25/06/2026", "2026-06-25"},
		{"06/25/2026 12:00 AM", "2026-06-25 00:00"},
		{"5/5/2026", "2026-05-05"},
		{"5-7 grudnia 2026", "2026-12-05 to 2026-12-07"},
		{"5.12.2026 22:00 - 6.12.2026 2:00", "2026-12-05 22:00 to 2026-12-06 02:00"},
		{"05/06/2026", errAmbiguous.Error()},
		{"05-06-26", errAmbiguous.Error()},
		{"31.11.2026", errNoSuchDay.Error()},
		{"13/13/2026", errNoSuchDay.Error()},
		{"5 grudnia", errNoYear.Error()},
		{"46361", errNoDate.Error()},
		{"soon", errNoDate.Error()},
		{"5.12.2026 19", "times"},
		{"5.12.2026 maybe", "times"},
	} {
		d, err := readDate(tt.text, "")
		show := func(d sheetDate) string {
			if d.at != nil {
				return d.at.Format("2006-01-02 15:04")
			}
			out := d.day.Format("2006-01-02")
			for _, c := range d.times {
				out += fmt.Sprintf(" %02d:%02d", c.hour, c.minute)
				if c.second > 0 {
					out += fmt.Sprintf(":%02d", c.second)
				}
			}
			return out
		}
		got := show(d)
		if d.last != nil {
			got += " to " + show(*d.last)
		}
		if err != nil {
			got = err.Error()
		}
		if errors.Is(err, errNoTime) {
			got = "times"
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
	}
}

func TestTimesOfTablesAreRead(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"7:00 PM", "[{19 0 0}]"},
		{"7 p.m.", "[{19 0 0}]"},
		{"19.00", "[{19 0 0}]"},
		{"19", "[{19 0 0}]"},
		{"19h", "[{19 0 0}]"},
		{"19h30", "[{19 30 0}]"},
		{"godz. 19", "[{19 0 0}]"},
		{"g. 19:30", "[{19 30 0}]"},
		{"19:00-21:00", "[{19 0 0} {21 0 0}]"},
		{"od 19 do 21", "[{19 0 0} {21 0 0}]"},
		{"de 19:00 a 21:00", "[{19 0 0} {21 0 0}]"},
		{"11-2 pm", "[{11 0 0} {14 0 0}]"},
		{"noon", "[{12 0 0}]"},
		{"12:30 am", "[{0 30 0}]"},
		{"25:00", ""},
		{"19:60", ""},
		{"evening", ""},
		{"13 pm", ""},
	} {
		got := ""
		if times, err := readTimes(tt.text, true); err == nil {
			got = fmt.Sprint(times)
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
	}
}

func TestRowsBecomeEventsOrProblems(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		want       []string
		notice     string
	}{
		{"a day", "title,date\nFair,2026-12-05", []string{"Fair | 2026-12-05 | 2026-12-05"}, ""},
		{
			"an end after midnight", "Title,Start,Start time,End time\nDance,2026-12-05,22:00,02:00",
			[]string{"Dance | 2026-12-05 22:00 | 2026-12-06 02:00"},
			"",
		},
		{
			"an end before the start", "title,start,end\nA,2026-12-05 19:00,2026-12-05 17:00",
			[]string{"A | 2026-12-05 19:00 | 2026-12-05 19:00"},
			`line 2: column "end": before the start; the event has no length`,
		},
		{"a length", "nazwa;początek;czas trwania\nA;2026-12-05 19:00;1,5 godz.", []string{"A | 2026-12-05 19:00 | 2026-12-05 20:30"}, ""},
		{"no title", "title,start\n,2026-12-05", []string{`line 2: column "title": missing`}, ""},
		{
			"a date that is none", "title,start\nA,whenever\nB,2026-12-05",
			[]string{"B | 2026-12-05 | 2026-12-05", `line 2: column "start": "whenever": not a date`},
			"",
		},
		{
			"the same event twice", "title,start,venue\nA,2026-12-05,Hall\na,5.12.2026,HALL",
			[]string{"A | 2026-12-05 | 2026-12-05 | Hall", "line 3: the same event as line 2: it has the same title, start and venue"},
			"",
		},
		{"an unknown zone", "title,start,timezone\nA,2026-12-05,Mars", []string{`line 2: column "timezone": "Mars" is unknown`}, ""},
		{"columns that are not known", "title,start,mood\nA,2026-12-05,x", []string{"A | 2026-12-05 | 2026-12-05"}, `columns that are not read: "mood"`},
		{"an unknown status", "title,start,status\nA,2026-12-05,secret", []string{`line 2: column "status": "secret" is unknown`}, ""},
		{"a guard against formulas", "title,start\n'=1+1,2026-12-05\n''-x,2026-12-05", []string{"=1+1 | 2026-12-05 | 2026-12-05", "'-x | 2026-12-05 | 2026-12-05"}, ""},
		{
			"the order that another row proves", "title,start\nA,05/06/2026\nB,25/06/2026",
			[]string{"A | 2026-06-05 | 2026-06-05", "B | 2026-06-25 | 2026-06-25"},
			"",
		},
		{
			"the address of a venue", "title;start;venue;adres;miasto\nA;2026-12-05;Hall;Long 5;Kraków",
			[]string{"A | 2026-12-05 | 2026-12-05 | Hall (Long 5; Kraków)"},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cal := mustReadSheet(t, tt.data)
			if diff := gocmp.Diff(tt.want, sheetLines(cal)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := strings.Join(cal.Notices, "\n"); got != tt.notice {
				t.Errorf("notices %q, want %q", got, tt.notice)
			}
		})
	}
}

func TestTablesThatCannotBeRead(t *testing.T) {
	maps := func(list ...string) func(*Tables) { return func(t *Tables) { t.Maps = list } }
	for _, tt := range []struct {
		name, data, want string
		set              func(*Tables)
	}{
		{"no column that is known", "foo,bar\n1,2", `its columns are "foo", "bar". Known names of titles: title, event`, maps()},
		{"two readings", "title,start\nA,05/06/2026", `line 2, column "start": "05/06/2026" is 5 June 2026 with --dates dmy and 6 May 2026`, maps()},
		{
			"rows that contradict each other", "title,start\nA,05/06/2026\nB,25/06/2026\nC,06/25/2026", "say which", maps(),
		},
		{"a cell that is the name of a column", "foo,bar\nevent,2026-12-05\nB,2026-12-06", `its columns are "foo", "bar"`, maps()},
		{"an unknown field", "title,start\nA,2026-12-05", `unknown field "titel"`, maps("title=titel")},
		{"an unknown column", "title,start\nA,2026-12-05", `there is no column "Nazwa"`, maps("Nazwa=title")},
		{"a field twice", "a,b,start\nA,B,2026-12-05", "is also that of", maps("a=title", "b=title")},
		{"no field", "title,start\nA,2026-12-05", "want COLUMN=FIELD", maps("title")},
		{"a spreadsheet", "PK\x03\x04rest", "save it as CSV", maps()},
		{"a web page", "<html>", errNoTable.Error(), maps()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := readSheet(t, tt.data, tt.set); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestTitlesAboveTheHeaderAreNotRead(t *testing.T) {
	cal := mustReadSheet(t, "Program na grudzień;;\n;;\nTytuł;Data;Miejsce\nKoncert;5.12.2026 19:00;Sala\n")
	if diff := gocmp.Diff([]string{"Koncert | 2026-12-05 19:00 | 2026-12-05 19:00 | Sala"}, sheetLines(cal)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := []string{"what is above the header in line 3 is not read"}; !slices.Equal(cal.Notices, want) {
		t.Errorf("notices %q", cal.Notices)
	}
}

func TestMapsNameColumns(t *testing.T) {
	for _, list := range []string{
		"Nazwa imprezy=title,Kiedy to=start_date", "A=title,2=start_date", `"Nazwa imprezy"=title,b=start_date`,
		"nazwa IMPREZY=title,Kiedy to=start_date,Cena=-",
	} {
		cal := mustReadSheet(t, "Nazwa imprezy;Kiedy to;Cena\nA;5.12.2026;5", func(x *Tables) { x.Maps = SplitMaps(list) })
		if got := sheetLines(cal); len(got) != 1 || !strings.HasPrefix(got[0], "A | 2026-12-05") {
			t.Errorf("%s: %q", list, got)
		}
	}
	cal := mustReadSheet(t, "\"a=b, c\",x\nA,2026-12-05", func(x *Tables) { x.Maps = SplitMaps(`"a=b, c"=title,B=start_date`) })
	if got := sheetLines(cal); len(got) != 1 || got[0] != "A | 2026-12-05 | 2026-12-05" {
		t.Errorf("%q", got)
	}
}

func TestAnAddressMayBeATable(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) string { return "title,start\nA,2026-12-05\n" })
	cal, err := newFastReader().Read(t.Context(), s.URL+"/events.csv")
	if err != nil || len(cal.Events) != 1 {
		t.Errorf("%v, %v", cal, err)
	}
}

func TestTableIsImportedAgainWithoutChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		table := "title,start,venue,organizer,category,description,cost\nChoir,2026-12-05 19:00,Hall,Club,\"Music,Jazz\",First,$5\n"
		importInto(t, st, mustReadSheet(t, table))
		report := importUnchanged(t, st, mustReadSheet(t, table))
		if got, want := counts(report), "category unchanged 2, venue unchanged 1, organizer unchanged 1, event unchanged 1"; got != want {
			t.Errorf("report: %s", got)
		}
		report = importInto(t, st, mustReadSheet(t, strings.Replace(table, "First", "Second", 1)))
		if report.Count(calendar.Event, Update) != 1 || st.Ent.Event.Query().OnlyX(t.Context()).Description != "Second" {
			t.Errorf("report: %s", counts(report))
		}
	})
}

func TestEditedRowsChangeTheirEventOnly(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		e := &edit.Editor{Site: testSite(), Now: noon, By: auth.System()}
		var rows []*ent.Event
		var hall *ent.Venue
		err := edit.Write(t.Context(), st.Ent, e, func(tx *ent.Tx) (err error) {
			hall, _, err = edit.Venues.Create(t.Context(), tx, e, &edit.VenueInput{Name: new("Hall")})
			if err != nil {
				return err
			}
			for _, title := range []string{"First", "Second", "Third"} {
				refs := make([]edit.VenueRef, 1)
				refs[0].ID = hall.ID
				cost := calendar.ParseCost([]string{"$10.50"}, ".")
				row, err := e.CreateEvent(t.Context(), tx, &edit.EventInput{
					Title: new(title), Description: new("<p>One</p>\n<p>Two</p>"), Status: new(calendar.Publish), Cost: &cost,
					Start: new(when.FromWall(calendar.WallAt(2026, time.December, 5, 19, 0, 0))),
					End:   new(when.FromWall(calendar.WallAt(2026, time.December, 5, 21, 0, 0))), Venues: &refs,
					Categories: &[]edit.TermRef{{Name: "Live music"}}, EventValues: ent.EventValues{Featured: new(true)},
				})
				if err != nil {
					return err
				}
				rows = append(rows, row)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		line := func(row *ent.Event, title, start, cost, venue string) string {
			return fmt.Sprintf("%d,https://cal.example.org/event/%s/,%s,%s,2026-12-05 21:00:00,UTC,false,TRUE,%s,%s,live-music,\"<p>One</p>\r\n<p>Two</p>\"\r\n",
				row.ID, row.Slug, title, start, cost, venue)
		}
		head := "id,url,title,start_date,end_date,timezone,all_day,featured,cost,venue,categories,description\r\n"
		place := fmt.Sprint(hall.ID)
		before := storedRecords(t, st)
		same := head + line(rows[0], "First", "2026-12-05 19:00:00", "$10.50", place) +
			line(rows[1], "Second", "05.12.2026 19:00", "$10.5", place) + line(rows[2], "Third", "2026-12-05T19:00", "10.50", place)
		report := importInto(t, st, mustReadSheet(t, same))
		if diff := gocmp.Diff(before, storedRecords(t, st)); diff != "" {
			t.Errorf("database (-before +after):\n%s", diff)
		}
		if got := counts(report); got != "event unchanged 3" {
			t.Errorf("report: %s", got)
		}
		changed := head + line(rows[0], "First", "2026-12-05 19:00:00", "$10.50", place) +
			line(rows[1], "Second", "2026-12-05 18:00:00", "$10.50", place) + line(rows[2], "Third", "2026-12-05 19:00:00", "$10.50", "")
		report = importInto(t, st, mustReadSheet(t, changed))
		if got := counts(report); got != "event update 2, event unchanged 1" {
			t.Errorf("report: %s; %q", got, report.Problems)
		}
		for i, row := range rows {
			now := st.Ent.Event.Query().Where(event.ID(row.ID)).WithVenueLinks().OnlyX(t.Context())
			if i == 0 && now.Version != row.Version || now.Title != row.Title || now.Description != row.Description ||
				(i == 2) != (len(now.Edges.VenueLinks) == 0) || (i == 1) != (now.StartWall.Format("15") == "18") {
				t.Errorf("event %d: %v", i, now)
			}
		}
		// Another calendar's row with the same id is a new event.
		report = importInto(t, st, mustReadSheet(t, fmt.Sprintf("id,url,title,start_date\n%d,https://other.example/event/else/,Else,2026-12-05\n", rows[0].ID)))
		if got := counts(report); got != "event create 1" {
			t.Errorf("report: %s", got)
		}
		// A table with one field changes that one.
		report = importInto(t, st, mustReadSheet(t, fmt.Sprintf("id,url,cost\n%d,/event/%s/,19 zł\n", rows[0].ID, rows[0].Slug)))
		if got := counts(report); got != "event update 1" {
			t.Errorf("a table with one field: %s", got)
		}
		report = importInto(t, st, mustReadSheet(t, fmt.Sprintf("id,url,title\n%d,/event/%s/,Renamed\n", rows[0].ID, rows[0].Slug)))
		now := st.Ent.Event.GetX(t.Context(), rows[0].ID)
		if got := counts(report); got != "event update 1" || now.Title != "Renamed" || !now.Featured || !now.EndWall.Equal(rows[0].EndWall) {
			t.Errorf("report: %s; %v", got, now)
		}
		// The row of a protected event shows nothing of it but its title and dates, all_day is empty.
		before = storedRecords(t, st)
		redacted := head + fmt.Sprintf("%d,/event/%s/,Second,2026-12-05 18:00:00,2026-12-05 21:00:00,UTC,,,,,,\n", rows[1].ID, rows[1].Slug)
		report = importInto(t, st, mustReadSheet(t, redacted))
		if diff := gocmp.Diff(before, storedRecords(t, st)); diff != "" || counts(report) != "event unchanged 1" {
			t.Errorf("report: %s; database (-before +after):\n%s", counts(report), diff)
		}
		redacted = strings.Replace(redacted, ",Second,", `,"Second, moved",`, 1)
		importInto(t, st, mustReadSheet(t, redacted))
		if now := st.Ent.Event.GetX(t.Context(), rows[1].ID); now.Title != "Second, moved" || now.Description == "" || !now.Featured || now.Cost.IsZero() {
			t.Errorf("after a new title: %v", now)
		}
	})
}

func FuzzTable(f *testing.F) {
	files, err := filepath.Glob("../../testdata/calendars/*.csv")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("id,url,title,start_date,venue\n1,https://x/event/a/,A,05/06/2026,12\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows := 0
		read := func() (*Calendar, error) {
			return readSheet(t, string(data), func(x *Tables) {
				x.Preview = func(p TablePreview) (DateOrder, error) { rows = len(p.Rows); return DayFirst, nil }
			})
		}
		first, err := read()
		if err != nil {
			return
		}
		second, err := read()
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(sheetLines(first), sheetLines(second)); diff != "" {
			t.Fatal(diff)
		}
		if len(first.Events)+len(first.Problems) < rows {
			t.Errorf("%d rows are %d events and %d problems", rows, len(first.Events), len(first.Problems))
		}
		keys := make(map[string]bool)
		for _, e := range first.Events {
			if e.Key == "" || keys[e.Key] || len(e.Key) > maxSource || !strings.HasPrefix(e.Where, "line ") {
				t.Errorf("event %q at %s", e.Key, e.Where)
			}
			keys[e.Key] = true
			if err := e.Span.Check(); e.Edited == nil && err != nil {
				t.Errorf("%s: %v", e.Where, err)
			}
		}
		for _, p := range first.Problems {
			if !strings.HasPrefix(p.Where, "line ") && p.Where != "the file" {
				t.Errorf("problem %s", p)
			}
		}
	})
}
