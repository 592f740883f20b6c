package importer

import (
	"fmt"
	"net/mail"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/markup"
)

// places sets where an event takes place: at a venue, online, or both. A LOCATION that is a URL means online. An
// event without a location also loses its stored venues, because HasVenues is set.
func (o icalObject) places(e *Event) {
	e.HasVenues = true
	location := icalText(o.value("LOCATION"))
	meeting := webAddress(location)
	if meeting != "" {
		location = ""
	}
	for _, name := range meetingProperties {
		for _, p := range o.properties[name] {
			if meeting == "" && !p.isForModerators() {
				meeting = webAddress(icalText(p.value))
			}
		}
	}
	if v := o.venue(location); v != nil {
		e.Venues = []*Venue{v}
	}
	if meeting == "" {
		return
	}
	e.VirtualURL, e.Attendance = &meeting, new(calendar.Online)
	if len(e.Venues) > 0 {
		e.Attendance = new(calendar.Mixed)
	}
}

// meetingProperties are the properties with the address of an online meeting.
var meetingProperties = []string{"CONFERENCE", "X-GOOGLE-CONFERENCE", "X-MICROSOFT-SKYPETEAMSMEETINGURL"}

// venue returns the venue in a LOCATION. The name is the text before the first line break or comma, and the address
// is the rest. If location is "", the title of X-APPLE-STRUCTURED-LOCATION is used. Nil means that there is no name.
func (o icalObject) venue(location string) *Venue {
	apple, _ := o.first("X-APPLE-STRUCTURED-LOCATION")
	if location == "" {
		location = strings.TrimSpace(icalText(apple.parameter("X-TITLE")))
	}
	name, rest, _ := strings.Cut(location, "\n")
	if rest == "" {
		name, rest, _ = strings.Cut(location, ",")
	}
	lines := slices.DeleteFunc(strings.Split(rest, "\n"), func(s string) bool { return strings.TrimSpace(s) == "" })
	address := onOneLine(strings.Join(lines, ", "))
	if inert := markup.Inert(address); inert != address {
		name, address = location, "" // an address has no markup (contract, section 6.2), but a name may look like it
	}
	v := &Venue{
		Named: Named{Name: o.plain("LOCATION", name, maxTitle)}, Address: o.plain("LOCATION", address, maxText),
		ShowMap: true, ShowMapLink: true,
	}
	if v.Name == "" {
		return nil
	}
	id := shortHash(calendar.FoldName(v.Name + "\n" + v.Address))
	v.Origin = Origin{Key: icalVenue + id, Where: "venue of " + o.where, NameOnly: true}
	coordinates := strings.Replace(o.value("GEO"), ",", ";", 1)
	if coordinates == "" {
		if text, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(apple.value)), "geo:"); ok {
			coordinates = strings.Replace(text, ",", ";", 1)
		}
	}
	if coordinates == "" {
		return v
	}
	north, east, _ := strings.Cut(coordinates, ";")
	latitude, errNorth := strconv.ParseFloat(strings.TrimSpace(north), 64)
	longitude, errEast := strconv.ParseFloat(strings.TrimSpace(east), 64)
	switch {
	case errNorth != nil || errEast != nil,
		!(latitude >= -90 && latitude <= 90 && longitude >= -180 && longitude <= 180):
		o.notice("GEO", "not a place on earth; left out")
	case latitude != 0 || longitude != 0: // programs write 0;0 for an unknown position
		v.Latitude, v.Longitude = &latitude, &longitude
	}
	return v
}

// organizer sets the event's organizer from ORGANIZER. The value of that property is an e-mail address.
func (o icalObject) organizer(e *Event) {
	p, ok := o.first("ORGANIZER")
	if !ok {
		return
	}
	name := o.plain("ORGANIZER", icalText(p.parameter("CN")), maxTitle)
	email := ""
	if text := strings.TrimSpace(p.value); len(text) > len("mailto:") && strings.EqualFold(text[:len("mailto:")], "mailto:") {
		if a, err := mail.ParseAddress(text[len("mailto:"):]); err == nil && !placeholderAddress(a.Address) {
			email = markup.Inert(o.plain("ORGANIZER", a.Address, maxText))
		}
	}
	if name == "" || strings.HasPrefix(strings.ToLower(name), "mailto:") {
		name = email
	}
	if name == "" {
		o.notice("ORGANIZER", "without a name and an address; left out")
		return
	}
	e.HasOrganizers = true
	e.Organizers = []*Organizer{{Email: email, Named: Named{
		Origin: Origin{
			Key:   icalOrganizer + shortHash(calendar.FoldName(name)+"\n"+strings.ToLower(email)),
			Where: "organizer of " + o.where, NameOnly: true,
		},
		Name: name,
	}}}
}

// placeholderAddress reports whether Google Calendar made up an e-mail address for a calendar. Such an address
// receives no mail.
func placeholderAddress(email string) bool {
	return strings.HasSuffix(strings.ToLower(email), "calendar.google.com")
}

// maxICalCategories is the maximum number of categories of an event. The importer ignores others.
const maxICalCategories = 50

func (o icalObject) categories(e *Event) {
	seen := make(map[string]bool)
	for _, p := range o.properties["CATEGORIES"] {
		for _, text := range icalTexts(p.value) {
			name := o.plain("CATEGORIES", text, maxText)
			folded := calendar.FoldName(name)
			if name == "" || seen[folded] {
				continue
			}
			if len(seen) == maxICalCategories {
				o.notice("CATEGORIES", fmt.Sprintf("more than %d; the rest is left out", maxICalCategories))
				return
			}
			seen[folded] = true
			e.HasCategories = true
			e.Terms = append(e.Terms, &Term{
				Origin: Origin{Key: icalCategory + shortHash(folded), Where: "category of " + o.where, NameOnly: true},
				Kind:   calendar.Category, Name: name,
			})
		}
	}
}
