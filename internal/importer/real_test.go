package importer

import (
	"encoding/json"
	"html"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// realCalendar is the environment variable with the path of a city's calendar. That is other people's text and so
// not a part of the project.
const realCalendar = "ALMANAC_REAL_CALENDAR"

func TestRealCalendarComesBackAsItWas(t *testing.T) {
	path := os.Getenv(realCalendar)
	if path == "" {
		t.Skipf("%s names no file: the test with a real city's calendar is left out", realCalendar)
	}
	storetest.Each(t, func(t *testing.T, st *store.Store) { compareReal(t, st, path) })
}

// realEvent and the other types have the compared members of an event in a real service's response. Terms are
// compared by name, because their ids differ.
type (
	realEvent struct {
		GlobalID     string    `json:"global_id"`
		Title        string    `json:"title"`
		Description  string    `json:"description"`
		Excerpt      string    `json:"excerpt"`
		Slug         string    `json:"slug"`
		Status       string    `json:"status"`
		DateUTC      string    `json:"date_utc"`
		ModifiedUTC  string    `json:"modified_utc"`
		AllDay       bool      `json:"all_day"`
		StartDate    string    `json:"start_date"`
		EndDate      string    `json:"end_date"`
		UTCStartDate string    `json:"utc_start_date"`
		UTCEndDate   string    `json:"utc_end_date"`
		Timezone     string    `json:"timezone"`
		Cost         string    `json:"cost"`
		CostDetails  realCost  `json:"cost_details"`
		Website      string    `json:"website"`
		ShowMap      bool      `json:"show_map"`
		ShowMapLink  bool      `json:"show_map_link"`
		Hide         bool      `json:"hide_from_listings"`
		Sticky       bool      `json:"sticky"`
		Featured     bool      `json:"featured"`
		Categories   []realTag `json:"categories"`
		Venue        realPlace `json:"venue"`
		Organizer    []realWho `json:"organizer"`
	}
	realCost struct {
		Symbol string   `json:"currency_symbol"`
		Values []string `json:"values"`
	}
	realTag struct {
		Name        string `json:"name"`
		Slug        string `json:"slug"`
		Description string `json:"description"`
	}
	realPlace struct {
		GlobalID      string   `json:"global_id"`
		Name          string   `json:"venue"`
		Slug          string   `json:"slug"`
		DateUTC       string   `json:"date_utc"`
		ModifiedUTC   string   `json:"modified_utc"`
		Address       string   `json:"address"`
		City          string   `json:"city"`
		Country       string   `json:"country"`
		State         string   `json:"state"`
		Zip           string   `json:"zip"`
		StateProvince string   `json:"stateprovince"`
		Website       string   `json:"website"`
		Latitude      *float64 `json:"geo_lat"`
		Longitude     *float64 `json:"geo_lng"`
		ShowMap       bool     `json:"show_map"`
		ShowMapLink   bool     `json:"show_map_link"`
	}
	realWho struct {
		GlobalID string `json:"global_id"`
		Name     string `json:"organizer"`
		Slug     string `json:"slug"`
		Phone    string `json:"phone"`
		Website  string `json:"website"`
		Email    string `json:"email"`
	}
)

// realCalendarEvents reads the events that are expected after the import of a file. Names have no entities, values
// are trimmed, and descriptions are reduced to their text.
func realCalendarEvents(t *testing.T, path string) []realEvent {
	var page struct {
		Events []realEvent `json:"events"`
	}
	if err := json.Unmarshal(readFile(t, path), &page); err != nil {
		t.Fatal(err)
	}
	for i := range page.Events {
		e := &page.Events[i]
		e.Title = html.UnescapeString(e.Title)
		e.Description, e.Excerpt = markup.Plain(e.Description), markup.Plain(e.Excerpt)
		e.Venue.Name = html.UnescapeString(e.Venue.Name)
		e.Venue.City = strings.TrimSpace(e.Venue.City)
		for j := range e.Categories {
			e.Categories[j].Name = html.UnescapeString(e.Categories[j].Name)
			e.Categories[j].Description = html.UnescapeString(e.Categories[j].Description)
		}
		for j := range e.Organizer {
			e.Organizer[j].Name = html.UnescapeString(e.Organizer[j].Name)
		}
	}
	return page.Events
}

// storedEvents returns the events of the database, for comparison with realCalendarEvents.
func storedEvents(t *testing.T, st *store.Store) []realEvent {
	rows, err := st.Ent.Event.Query().Order(ent.Asc(event.FieldID)).WithVenues().WithTerms().
		WithOrganizerLinks(func(q *ent.EventOrganizerQuery) { q.Order(eventorganizer.ByPosition()).WithOrganizer() }).
		All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := func(t time.Time) string { return t.Format(calendar.Layout) }
	out := make([]realEvent, len(rows))
	for i, e := range rows {
		out[i] = realEvent{
			GlobalID: *e.SourceID, Title: e.Title, Description: markup.Plain(markup.Paragraphs(e.Description)),
			Excerpt: markup.Plain(e.Excerpt), Slug: e.Slug, Status: string(e.Status),
			DateUTC: at(e.PublishedAt), ModifiedUTC: at(e.ModifiedAt), AllDay: e.AllDay,
			StartDate: e.StartWall.String(), EndDate: e.EndWall.String(), UTCStartDate: at(e.StartsAt),
			UTCEndDate: at(e.EndsAt), Timezone: e.Timezone, Cost: e.Cost.Display(testSite().Currency, "Free"),
			CostDetails: realCost{e.Cost.Symbol, e.Cost.Values()}, Website: *e.Website,
			ShowMap: e.ShowMap, ShowMapLink: e.ShowMapLink, Hide: e.HideFromListings, Sticky: e.Sticky,
			Featured: e.Featured,
		}
		for _, c := range e.Edges.Terms {
			out[i].Categories = append(out[i].Categories, realTag{c.Name, c.Slug, c.Description})
		}
		for _, v := range e.Edges.Venues {
			out[i].Venue = realPlace{
				GlobalID: *v.SourceID, Name: v.Name, Slug: v.Slug, DateUTC: at(v.PublishedAt),
				ModifiedUTC: at(v.ModifiedAt), Address: v.Address, City: v.City, Country: v.Country, State: v.State,
				Zip: v.Zip, StateProvince: v.Stateprovince, Website: v.Website, Latitude: v.Latitude,
				Longitude: v.Longitude, ShowMap: v.ShowMap, ShowMapLink: v.ShowMapLink,
			}
			if v.Stateprovince == "" { // derived when read
				out[i].Venue.StateProvince = v.State
			}
		}
		for _, l := range e.Edges.OrganizerLinks {
			o := l.Edges.Organizer
			out[i].Organizer = append(out[i].Organizer, realWho{*o.SourceID, o.Name, o.Slug, o.Phone, o.Website, o.Email})
		}
	}
	return out
}

func compareReal(t *testing.T, st *store.Store, path string) {
	cal, err := newFastReader().Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	report := importInto(t, st, cal)
	want := realCalendarEvents(t, path)
	if len(want) == 0 || !report.Complete() {
		t.Fatalf("of %d events: %s; %v", len(want), counts(report), report.Problems)
	}
	options := gocmp.Options{
		cmpopts.SortSlices(func(a, b realTag) int { return strings.Compare(a.Name, b.Name) }),
		// Dates of a recurring event come together.
		cmpopts.SortSlices(func(a, b realEvent) int { return strings.Compare(a.GlobalID, b.GlobalID) }),
	}
	if diff := gocmp.Diff(want, storedEvents(t, st), options, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-source +stored):\n%s", diff)
	}
	before := storedRecords(t, st)
	again := importInto(t, st, cal)
	if got := counts(again); strings.Contains(got, "create") || strings.Contains(got, "update") {
		t.Errorf("second import: %s", got)
	}
	if !slices.Equal(before, storedRecords(t, st)) {
		t.Errorf("second import: %s", gocmp.Diff(before, storedRecords(t, st)))
	}
}
