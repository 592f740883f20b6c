package represent

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/ruletext"
)

// EventSeries is the series of an occurrence, inside the representation of that event (contract, section 19.6).
type EventSeries struct {
	ID                int64    `json:"id"`
	RESTURL           string   `json:"rest_url"`
	OriginalStartDate string   `json:"original_start_date"`
	IsException       bool     `json:"is_exception"`
	OwnFields         []string `json:"own_fields"`
	Text              string   `json:"text"`
}

// Recurrence has the fields of a series that the representations of its occurrences need.
type Recurrence struct {
	ID          int64
	AuthorID    *int64
	Status      calendar.Status
	PublishedAt time.Time
	Phases      []RecurrencePhase // ordered by position
	// Template is the event of the last phase (ent.DecodeTemplate). Only JSON-LD needs it.
	Template *ent.Event
}

// RecurrencePhase is one phase of a series: a stretch of time with one schedule.
type RecurrencePhase struct {
	First    calendar.Wall // first nominal start of the phase
	Schedule recur.Schedule
	text     string // schedule in words; "" until the first use
}

// phase returns the phase of the series that contains a nominal start.
func (s *Recurrence) phase(nominal calendar.Wall) *RecurrencePhase {
	return &s.Phases[recur.PhaseAt(s.Phases, func(p RecurrencePhase) calendar.Wall { return p.First }, nominal)]
}

// recurrence returns the series of an event. Nil means that the event has none, or that the caller may not read
// it.
func (v *View) recurrence(e *ent.Event) *Recurrence {
	if e.SeriesID == nil || e.OriginalStart == nil {
		return nil
	}
	s := v.Recurrences[*e.SeriesID]
	if s == nil || len(s.Phases) == 0 || !v.Readable(calendar.Series, s.AuthorID, s.Status, s.PublishedAt) {
		return nil
	}
	return s
}

// eventSeries returns what an event's representation says about its series. Nil means that the event has no series
// that the caller may read.
func (v *View) eventSeries(e *ent.Event) *EventSeries {
	s := v.recurrence(e)
	if s == nil {
		return nil
	}
	p := s.phase(*e.OriginalStart)
	if p.text == "" {
		p.text = v.scheduleText(p.Schedule)
	}
	own := e.OwnFields
	if own == nil || !v.mayEdit(e.Core()) {
		own = calendar.PublicOwnFields(own, false)
	}
	return &EventSeries{
		ID: s.ID, RESTURL: v.Resource(calendar.Series.Plural(), s.ID), OriginalStartDate: e.OriginalStart.String(),
		IsException: len(own) > 0, OwnFields: own, Text: p.text,
	}
}

// scheduleText returns a schedule in words, in the language of the request.
func (v *View) scheduleText(s recur.Schedule) string { return ruletext.Format(v.Words, v.Language, s) }

// IsRescheduled reports whether a scheduled event takes place at another time than its series plans.
func (v *View) IsRescheduled(e *ent.Event) bool {
	s := v.recurrence(e)
	return s != nil && e.EventStatus == calendar.Scheduled &&
		!s.phase(*e.OriginalStart).Schedule.Zone.Instant(*e.OriginalStart).Equal(e.StartsAt)
}

// SeriesLD is the series of an event in the schema.org vocabulary.
type SeriesLD struct {
	Type string `json:"@type"`
	Name string `json:"name,omitempty"`
	URL  string `json:"url,omitempty"`
}

// linkedDataOfSeries adds the series of an event to its linked data (contract, section 19.5).
func (v *View) linkedDataOfSeries(e *ent.Event, ld *EventLD) {
	s := v.recurrence(e)
	if s == nil {
		return
	}
	if v.IsRescheduled(e) {
		zone := s.phase(*e.OriginalStart).Schedule.Zone
		ld.Status, ld.PreviousStartDate = eventRescheduled, zone.Instant(*e.OriginalStart).In(zone.Location()).Format(isoOffset)
	}
	if s.Template != nil {
		t := calendar.Served(v.Language, v.Site.Language, s.Template.Text(), s.Template.Translated())
		status := s.Status.Shown(v.Now, s.PublishedAt)
		ld.SuperEvent = &SeriesLD{Type: "EventSeries", Name: t.Title, URL: v.page(calendar.Series, s.ID, status, t.Slug)}
	}
}

// Series is the JSON representation of a series (contract, section 19.6). Flags are pointers because a redacted
// series has null in their place.
type Series struct {
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
	StartDate       string          `json:"start_date"`
	EndDate         string          `json:"end_date"`
	Timezone        string          `json:"timezone"`
	TimezoneAbbr    string          `json:"timezone_abbr"`

	Cost             string              `json:"cost"`
	CostDetails      CostDetails         `json:"cost_details"`
	Website          string              `json:"website"`
	ShowMap          *bool               `json:"show_map"`
	ShowMapLink      *bool               `json:"show_map_link"`
	HideFromListings *bool               `json:"hide_from_listings"`
	Sticky           *bool               `json:"sticky"`
	Featured         *bool               `json:"featured"`
	Attendance       calendar.Attendance `json:"attendance"`
	VirtualURL       string              `json:"virtual_url"`

	Categories   []EventTerm `json:"categories"`
	Tags         []EventTerm `json:"tags"`
	Venue        OneOrMany   `json:"venue"`
	Organizer    []Organizer `json:"organizer"`
	CustomFields []string    `json:"custom_fields"`
	Ticketed     *bool       `json:"ticketed"`
	EventFields
	Language     string   `json:"language"`
	Translations []string `json:"translations"`

	RRule          string        `json:"rrule"`
	RDate          []string      `json:"rdate"`
	ExDate         []string      `json:"exdate"`
	Text           string        `json:"text"`
	Phases         []SeriesPhase `json:"phases"`
	GeneratedUntil *string       `json:"generated_until"`
	Total          int           `json:"total"`
	Next           *int64        `json:"next"`
}

// SeriesPhase is one phase in the representation of a series.
type SeriesPhase struct {
	StartDate string   `json:"start_date"`
	EndDate   string   `json:"end_date"`
	Timezone  string   `json:"timezone"`
	AllDay    *bool    `json:"all_day"` // null if the series is redacted
	RRule     string   `json:"rrule"`
	RDate     []string `json:"rdate"`
	ExDate    []string `json:"exdate"`
}

// LoadedSeries is a series with all data that its representation needs.
type LoadedSeries struct {
	// Event has the row of the series, the fields of its last phase, and the records linked there.
	Event          *ent.Event
	Schedules      []recur.Schedule // schedules of the phases, by position; at least one
	GeneratedUntil *calendar.Wall
	Published      int   // number of published occurrences
	Next           int64 // id of the next occurrence; 0 means none
	Redacted       bool  // true if the caller did not give the password
}

// SeriesPage returns the address of the page of a series.
func (v *View) SeriesPage(id int64, status calendar.Status, slug string) string {
	return v.page(calendar.Series, id, status, slug)
}

// Series returns the representation of a loaded series.
func (v *View) Series(s *LoadedSeries) *Series {
	j := v.Event(s.Event, false)
	if s.Redacted {
		v.Redact(&j, s.Event)
	}
	phases := make([]SeriesPhase, len(s.Schedules))
	for i, p := range s.Schedules {
		phases[i] = SeriesPhase{
			StartDate: p.Start.String(), EndDate: p.End.String(), Timezone: p.Zone.String(),
			RRule: p.Rule.String(), RDate: wallTexts(p.RDate), ExDate: wallTexts(p.ExDate),
		}
		if !s.Redacted {
			phases[i].AllDay = new(p.AllDay)
		}
	}
	last := phases[len(phases)-1]
	out := &Series{
		ID: j.ID, GlobalID: j.GlobalID, GlobalIDLineage: j.GlobalIDLineage, Author: j.Author, Status: j.Status,
		Date: j.Date, DateUTC: j.DateUTC, Modified: j.Modified, ModifiedUTC: j.ModifiedUTC,
		URL: v.SeriesPage(j.ID, j.Status, j.Slug), RESTURL: v.Resource(calendar.Series.Plural(), j.ID),
		Title: j.Title, Description: j.Description, Excerpt: j.Excerpt, Slug: j.Slug, Image: j.Image, AllDay: j.AllDay,
		StartDate: j.StartDate, EndDate: j.EndDate, Timezone: j.Timezone, TimezoneAbbr: j.TimezoneAbbr,
		Cost: j.Cost, CostDetails: j.CostDetails, Website: j.Website,
		ShowMap: j.ShowMap, ShowMapLink: j.ShowMapLink, HideFromListings: j.HideFromListings, Sticky: j.Sticky,
		Featured: j.Featured, Attendance: j.Attendance, VirtualURL: j.VirtualURL,
		Categories: j.Categories, Tags: j.Tags, Venue: j.Venue, Organizer: j.Organizer, CustomFields: j.CustomFields,
		Ticketed: j.Ticketed, EventFields: j.EventFields, Language: j.Language, Translations: j.Translations,
		RRule: last.RRule, RDate: last.RDate, ExDate: last.ExDate,
		Text: v.scheduleText(s.Schedules[len(phases)-1]), Phases: phases, Total: s.Published,
	}
	if s.Event.Website == nil && !s.Redacted {
		out.Website = out.URL
	}
	if s.GeneratedUntil != nil {
		out.GeneratedUntil = new(s.GeneratedUntil.String())
	}
	if s.Next != 0 {
		out.Next = &s.Next
	}
	return out
}

// wallTexts returns wall times in the format of representations.
func wallTexts(walls []calendar.Wall) []string {
	out := make([]string, len(walls))
	for i, w := range walls {
		out[i] = w.String()
	}
	return out
}

// SeriesPreview is the reply about a schedule that is not stored (contract, section 19.2).
type SeriesPreview struct {
	RRule  string   `json:"rrule"`
	Text   string   `json:"text"`
	Starts []string `json:"starts"`
	Total  *int     `json:"total"`
}

// SeriesPreview represents a schedule that is not stored: its rule in words, and at most limit starts. found has
// the occurrences that storing the schedule would create.
func (v *View) SeriesPreview(s recur.Schedule, found []recur.Occurrence, limit int) *SeriesPreview {
	out := &SeriesPreview{RRule: s.Rule.String(), Text: v.scheduleText(s), Starts: []string{}}
	for _, o := range found[:min(limit, len(found))] {
		out.Starts = append(out.Starts, o.Start.String())
	}
	if !s.IsLong() {
		out.Total = new(len(found))
	}
	return out
}
