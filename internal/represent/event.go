package represent

import (
	"cmp"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/markup"
)

// Event is the JSON representation of an event (contract, section 6.1). Flags are pointers because a redacted
// event has null in their place.
type Event struct {
	ID              int64           `json:"id"`
	GlobalID        string          `json:"global_id"`
	GlobalIDLineage []string        `json:"global_id_lineage"`
	Author          string          `json:"author"`
	Status          calendar.Status `json:"status"`
	Date            string          `json:"date"`
	DateUTC         string          `json:"date_utc"`
	Modified        string          `json:"modified"`
	ModifiedUTC     string          `json:"modified_utc"`
	URL             string          `json:"url"`
	RESTURL         string          `json:"rest_url"`
	Title           string          `json:"title"`
	Description     string          `json:"description"`
	Excerpt         string          `json:"excerpt"`
	Slug            string          `json:"slug"`
	Image           OrFalse         `json:"image"`
	AllDay          *bool           `json:"all_day"`

	StartDate           string      `json:"start_date"`
	StartDateDetails    DateDetails `json:"start_date_details"`
	EndDate             string      `json:"end_date"`
	EndDateDetails      DateDetails `json:"end_date_details"`
	UTCStartDate        string      `json:"utc_start_date"`
	UTCStartDateDetails DateDetails `json:"utc_start_date_details"`
	UTCEndDate          string      `json:"utc_end_date"`
	UTCEndDateDetails   DateDetails `json:"utc_end_date_details"`
	Timezone            string      `json:"timezone"`
	TimezoneAbbr        string      `json:"timezone_abbr"`

	Cost             string      `json:"cost"`
	CostDetails      CostDetails `json:"cost_details"`
	Website          string      `json:"website"`
	ShowMap          *bool       `json:"show_map"`
	ShowMapLink      *bool       `json:"show_map_link"`
	HideFromListings *bool       `json:"hide_from_listings"`
	Sticky           *bool       `json:"sticky"`
	Featured         *bool       `json:"featured"`

	EventStatus       calendar.EventStatus `json:"event_status"`
	EventStatusReason string               `json:"event_status_reason"`
	Attendance        calendar.Attendance  `json:"attendance"`
	VirtualURL        string               `json:"virtual_url"`

	Categories   []EventTerm `json:"categories"`
	Tags         []EventTerm `json:"tags"`
	Venue        OneOrMany   `json:"venue"`
	Organizer    []Organizer `json:"organizer"`
	CustomFields []string    `json:"custom_fields"`
	Ticketed     *bool       `json:"ticketed"`
	PostParent   int64       `json:"post_parent"`
	EventFields
	Language     string   `json:"language"`
	Translations []string `json:"translations"`

	Series *EventSeries `json:"series"`
	JSONLD *EventLD     `json:"json_ld,omitempty" escape:"script"`
}

// DateDetails is a date cut into its parts. The parts are digits with leading zeros.
type DateDetails struct {
	Year    string `json:"year"`
	Month   string `json:"month"`
	Day     string `json:"day"`
	Hour    string `json:"hour"`
	Minutes string `json:"minutes"`
	Seconds string `json:"seconds"`
}

// dateDetails returns the parts of a date that is formatted as calendar.Layout.
func dateDetails(date string) DateDetails {
	return DateDetails{
		Year: date[0:4], Month: date[5:7], Day: date[8:10],
		Hour: date[11:13], Minutes: date[14:16], Seconds: date[17:19],
	}
}

// CostDetails is the cost of an event as prices and their currency (contract, section 7).
type CostDetails struct {
	CurrencySymbol   string   `json:"currency_symbol"`
	CurrencyCode     string   `json:"currency_code"`
	CurrencyPosition string   `json:"currency_position"`
	Values           []string `json:"values"`
}

// OneOrMany is the JSON value for the venues of an event. It is an object for one venue, else a list. No venue
// gives an empty list.
type OneOrMany any

func venuesOf(vs []Venue) OneOrMany {
	if len(vs) == 1 {
		return &vs[0]
	}
	if vs == nil {
		return []Venue{}
	}
	return vs
}

// Event returns the representation of a loaded event. If full is true, it has the member json_ld, which only
// the reply with a single event has.
func (v *View) Event(e *ent.Event, full bool) Event {
	t := v.Text(e)
	status := e.Status.Shown(v.Now, e.PublishedAt)
	start, end := e.StartWall.String(), e.EndWall.String()
	utcStart, utcEnd := v.utc(e.StartsAt), v.utc(e.EndsAt)
	changed, _ := v.LastWrite(e.Core(), e.PasswordHash != nil) // Redact replaces it
	out := Event{
		ID: e.ID, GlobalID: v.globalID(e.ID, e.SourceID), GlobalIDLineage: []string{v.globalID(e.ID, e.SourceID)},
		Author: authorID(e.AuthorID), Status: status,
		Date: v.local(e.PublishedAt), DateUTC: v.utc(e.PublishedAt),
		Modified: v.local(changed), ModifiedUTC: v.utc(changed),
		URL:     v.page(calendar.Event, e.ID, status, t.Slug),
		RESTURL: v.Resource("events", e.ID),
		Title:   calendar.Escape(t.Title), Description: markup.Paragraphs(t.Description),
		Excerpt: markup.Paragraphs(t.Excerpt), Slug: t.Slug,
		Image:  imageOrFalse(v.Image(e.Edges.Image)),
		AllDay: &e.AllDay,

		StartDate: start, StartDateDetails: dateDetails(start), EndDate: end, EndDateDetails: dateDetails(end),
		UTCStartDate: utcStart, UTCStartDateDetails: dateDetails(utcStart),
		UTCEndDate: utcEnd, UTCEndDateDetails: dateDetails(utcEnd),
		Timezone: e.Timezone, TimezoneAbbr: abbreviation(e.Timezone, e.StartsAt),

		Cost:              e.Cost.Display(v.Site.Currency, v.Words.Message(v.Language, "free", nil)),
		CostDetails:       v.costDetails(e.Cost),
		EventStatusReason: markup.Inert(t.EventStatusReason),

		Categories: v.eventTerms(e, calendar.Category), Tags: v.eventTerms(e, calendar.Tag),
		CustomFields: []string{},
		Language:     string(t.Language), Translations: languageCodes(e.Languages), Series: v.eventSeries(e),
	}
	out.setPlain(e)
	out.Website = out.URL
	if e.Website != nil {
		out.Website = *e.Website
	}
	if e.ParentID != nil {
		out.PostParent = *e.ParentID
	}
	venues, organizers := readableRows(v, e.Edges.Venues), readableRows(v, e.Edges.Organizers)
	venueJSONs := make([]Venue, len(venues))
	for i, row := range venues {
		venueJSONs[i] = v.Venue(row, full)
	}
	out.Venue = venuesOf(venueJSONs)
	out.Organizer = make([]Organizer, len(organizers))
	for i, row := range organizers {
		out.Organizer[i] = v.Organizer(row, full)
	}
	if full {
		out.JSONLD = v.linkedDataOfEvent(e, t, &out, venueJSONs)
	}
	return out
}

// abbreviation returns the abbreviation of a time zone at an instant, such as CET. An unknown zone gives the
// name itself.
func abbreviation(zone string, t time.Time) string {
	z, err := calendar.ParseZone(zone)
	if err != nil {
		return zone
	}
	return z.Abbreviation(t)
}

// Redact empties the members of the representation of e that its password protects (contract, section 13).
func (v *View) Redact(j *Event, e *ent.Event) {
	j.Modified, j.ModifiedUTC = v.local(e.ModifiedAt), v.utc(e.ModifiedAt)
	if j.Series != nil {
		j.Series.OwnFields = calendar.PublicOwnFields(j.Series.OwnFields, true)
		j.Series.IsException = len(j.Series.OwnFields) > 0
	}
	j.redactPlain()
	j.Description, j.Excerpt, j.Cost, j.Website = "", "", "", ""
	j.Image, j.AllDay, j.HideFromListings = false, nil, nil
	j.Categories, j.Tags = []EventTerm{}, []EventTerm{}
	j.Venue, j.Organizer, j.CustomFields = []Venue{}, []Organizer{}, []string{}
	j.CostDetails = CostDetails{Values: []string{}}
	j.JSONLD = nil
}

// EventLD is the linked data of an event in the schema.org vocabulary (contract, section 6.8).
type EventLD struct {
	Context           string       `json:"@context"`
	Type              string       `json:"@type"`
	Name              string       `json:"name,omitempty"`
	Description       string       `json:"description,omitempty"`
	Image             string       `json:"image,omitempty"`
	URL               string       `json:"url,omitempty"`
	AttendanceMode    string       `json:"eventAttendanceMode"`
	Status            string       `json:"eventStatus"`
	PreviousStartDate string       `json:"previousStartDate,omitempty"`
	StartDate         string       `json:"startDate"`
	EndDate           string       `json:"endDate"`
	Location          *PlaceLD     `json:"location,omitempty"`
	Organizer         *OrganizerLD `json:"organizer,omitempty"`
	SuperEvent        *SeriesLD    `json:"superEvent,omitempty"`
	Offers            *OfferLD     `json:"offers,omitempty"`
}

// OfferLD is the price of an event in the schema.org vocabulary.
type OfferLD struct {
	Type          string `json:"@type"`
	Price         string `json:"price"`
	PriceCurrency string `json:"priceCurrency,omitempty"`
	URL           string `json:"url,omitempty"`
	Availability  string `json:"availability"`
	ValidFrom     string `json:"validFrom"`
}

// eventStatuses maps the states of events to schema.org addresses.
var eventStatuses = map[calendar.EventStatus]string{
	calendar.Scheduled: "https://schema.org/EventScheduled",
	calendar.Canceled:  "https://schema.org/EventCancelled",
	calendar.Postponed: "https://schema.org/EventPostponed",
}

// eventRescheduled is the schema.org state of an occurrence whose start was moved.
const eventRescheduled = "https://schema.org/EventRescheduled"

// attendanceModes maps the ways to attend an event to schema.org addresses.
var attendanceModes = map[calendar.Attendance]string{
	calendar.Offline: "https://schema.org/OfflineEventAttendanceMode",
	calendar.Online:  "https://schema.org/OnlineEventAttendanceMode",
	calendar.Mixed:   "https://schema.org/MixedEventAttendanceMode",
}

// isoOffset is the layout of an ISO 8601 time with an offset. UTC has the offset +00:00.
const isoOffset = "2006-01-02T15:04:05-07:00"

func (v *View) linkedDataOfEvent(e *ent.Event, t calendar.Text, j *Event, venues []Venue) *EventLD {
	loc := time.UTC
	if z, err := calendar.ParseZone(e.Timezone); err == nil {
		loc = z.Location()
	}
	ld := &EventLD{
		Context: "http://schema.org", Type: "Event",
		Name: t.Title, Description: plainText(t.Description), URL: j.URL,
		AttendanceMode: attendanceModes[e.Attendance],
		Status:         eventStatuses[e.EventStatus],
		StartDate:      e.StartsAt.In(loc).Format(isoOffset),
		EndDate:        e.EndsAt.In(loc).Format(isoOffset),
	}
	if e.Edges.Image != nil {
		ld.Image = v.imageURL(e.Edges.Image)
	}
	if len(venues) > 0 {
		ld.Location = venues[0].JSONLD
	}
	if len(j.Organizer) > 0 {
		ld.Organizer = j.Organizer[0].JSONLD
	}
	v.linkedDataOfSeries(e, ld)
	// A canceled event sells nothing.
	if price := e.Cost.Lowest(); price != "" && e.EventStatus != calendar.Canceled {
		ld.Offers = &OfferLD{
			Type: "Offer", Price: price, PriceCurrency: e.Cost.CodeOn(v.Site.Currency), URL: j.URL,
			Availability: "https://schema.org/InStock",
			ValidFrom:    e.PublishedAt.In(v.Site.Zone.Location()).Format(isoOffset),
		}
	}
	return ld
}

func (v *View) costDetails(c calendar.Cost) CostDetails {
	symbol, position := c.OwnCurrency(v.Site.Currency)
	return CostDetails{CurrencySymbol: markup.Inert(symbol), CurrencyPosition: position, Values: c.Values()}
}

// byName compares two terms of an event by name, ignoring case, then by id.
func byName(a, b *namedTerm) int {
	if c := strings.Compare(calendar.FoldName(a.text.Title), calendar.FoldName(b.text.Title)); c != 0 {
		return c
	}
	return cmp.Compare(a.row.ID, b.row.ID)
}
