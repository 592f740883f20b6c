package represent

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// EventPageLD is the linked data on the page of an event, in the schema.org vocabulary (contract, section 21).
type EventPageLD struct {
	Context           string       `json:"@context"`
	Type              string       `json:"@type"`
	Name              string       `json:"name,omitempty"`
	Description       string       `json:"description,omitempty"`
	Language          string       `json:"inLanguage"`
	Image             []string     `json:"image,omitempty"`
	URL               string       `json:"url,omitempty"`
	AttendanceMode    string       `json:"eventAttendanceMode"`
	Status            string       `json:"eventStatus"`
	PreviousStartDate string       `json:"previousStartDate,omitempty"`
	StartDate         string       `json:"startDate"` // a date without time for an all-day event
	EndDate           string       `json:"endDate"`
	Location          []any        `json:"location,omitempty"` // a PlaceLD for each venue, then a VirtualLocationLD
	Organizer         *OrganizerLD `json:"organizer,omitempty"`
	SuperEvent        *SeriesLD    `json:"superEvent,omitempty"`
	Offers            *OfferLD     `json:"offers,omitempty"`
}

// VirtualLocationLD is the address of an online event in the schema.org vocabulary.
type VirtualLocationLD struct {
	Type string `json:"@type"`
	URL  string `json:"url"`
}

// RescheduledFor is the time after a move during which the page says that the event was moved.
const RescheduledFor = 30 * 24 * time.Hour

// EventPageLD returns the linked data on the page of an event. The caller must not use it for a protected
// event. movedAt is the time at which the start last changed. Zero means unknown; then the page does not say
// that the event was moved. The organizer has no e-mail address there, because programs collect addresses from pages.
func (v *View) EventPageLD(e *ent.Event, movedAt time.Time) *EventPageLD {
	shown := v.Event(e, true)
	ld := shown.JSONLD
	out := &EventPageLD{
		Context: ld.Context, Type: ld.Type, Name: ld.Name, Description: ld.Description, Language: shown.Language,
		Image: v.pageImages(e.Edges.Image), URL: ld.URL, AttendanceMode: ld.AttendanceMode, Status: ld.Status,
		PreviousStartDate: ld.PreviousStartDate, StartDate: ld.StartDate, EndDate: ld.EndDate,
		Organizer: ld.Organizer, SuperEvent: ld.SuperEvent, Offers: ld.Offers,
	}
	if out.Organizer != nil {
		out.Organizer.Email = ""
	}
	for _, row := range readableRows(v, e.Edges.Venues) {
		out.Location = append(out.Location, v.Venue(row, true).JSONLD)
	}
	if e.VirtualURL != "" && e.EventStatus != calendar.Canceled {
		out.Location = append(out.Location, VirtualLocationLD{"VirtualLocation", e.VirtualURL})
	}
	if e.AllDay {
		out.StartDate, out.EndDate = e.StartWall.Format(time.DateOnly), e.EndWall.Format(time.DateOnly)
	}
	if out.Status == eventRescheduled {
		if movedAt.IsZero() || v.Now.Sub(movedAt) >= RescheduledFor {
			out.Status, out.PreviousStartDate = eventStatuses[calendar.Scheduled], ""
		} else if e.AllDay && e.OriginalStart != nil {
			out.PreviousStartDate = e.OriginalStart.Format(time.DateOnly)
		}
	}
	return out
}

// ShortenDescriptions cuts the descriptions of the event, its venues and its organizer to a number of characters. 0 removes them.
func (ld *EventPageLD) ShortenDescriptions(characters int) {
	ld.Description = Shorten(ld.Description, characters)
	for _, one := range ld.Location {
		if place, ok := one.(*PlaceLD); ok {
			place.Description = Shorten(place.Description, characters)
		}
	}
	if ld.Organizer != nil {
		ld.Organizer.Description = Shorten(ld.Organizer.Description, characters)
	}
}

// Shorten returns the beginning of a plain text. It has at most the given number of characters, and an ellipsis if it
// is cut. It ends with a whole word, unless the last word is very long.
func Shorten(text string, characters int) string {
	if utf8.RuneCountInString(text) <= characters {
		return text
	}
	if characters <= 0 {
		return ""
	}
	cut := string([]rune(text)[:characters])
	if at := strings.LastIndexByte(cut, ' '); at > characters/2 {
		cut = cut[:at]
	}
	return strings.TrimRight(cut, " ,;:.–-") + "…"
}

// pageImages returns the addresses of a picture and of its large copy. Nil gives none.
func (v *View) pageImages(row *ent.Image) []string {
	if row == nil {
		return nil
	}
	urls := []string{v.imageURL(row)}
	if large := v.imageSize(row, "large"); large != nil {
		urls = append(urls, large.URL)
	}
	return slices.Compact(urls)
}

// PlacePageLD is the linked data on the page of a venue, in the schema.org vocabulary.
type PlacePageLD struct {
	Context string `json:"@context"`
	*PlaceLD
}

// PlacePageLD returns the linked data on the page of a venue.
func (v *View) PlacePageLD(e *ent.Venue) PlacePageLD {
	return PlacePageLD{schemaOrg, v.Venue(e, true).JSONLD}
}

// OrganizerPageLD is the linked data on the page of an organizer, in the schema.org vocabulary.
type OrganizerPageLD struct {
	Context string `json:"@context"`
	*OrganizerLD
}

// OrganizerPageLD returns the linked data on the page of an organizer. It omits the e-mail address, as EventPageLD does.
func (v *View) OrganizerPageLD(e *ent.Organizer) OrganizerPageLD {
	ld := v.Organizer(e, true).JSONLD
	ld.Email = ""
	return OrganizerPageLD{schemaOrg, ld}
}

const schemaOrg = "http://schema.org"
