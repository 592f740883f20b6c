package pages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/web"
)

// Forms of an event in lists. Each is the name of a template in package web. " since" adds since when the event
// takes place.
const (
	rowItem    = "row"         // below the heading of its day
	rowSince   = "row since"   // row on a later day of an event that began before
	cardItem   = "card"        // card with the date of the event
	entryItem  = "entry"       // entry in a month
	entrySince = "entry since" // entry on a later day of an event that began before
)

// pageItem is an event in a list, rendered as HTML.
type pageItem struct {
	id       int64
	pictured bool   // the event has a picture
	day      string // first day that the event is shown on, such as 2026-11-22
	last     string // last day for readers, in the same format
	body     template.HTML
	linked   json.RawMessage // JSON-LD of the event; nil if the form or the event has none
	moves    time.Time       // when linked changes without a write; zero means never
}

// noLinkedData means that a list has no JSON-LD.
const noLinkedData = -1

// linkedDescription returns the largest number of characters of a description in the JSON-LD of a page that lists some events.
// It has few values, because records are cached for each of them.
func linkedDescription(events int) int {
	switch {
	case events <= 12:
		return 1000
	case events <= ent.MaxRead:
		return 300
	}
	return 0
}

// linkedEvents returns the JSON-LD of items, each event once.
func linkedEvents(items []pageItem) (out []json.RawMessage) {
	seen := make(map[int64]bool, len(items))
	for _, item := range items {
		if item.linked != nil && !seen[item.id] {
			seen[item.id] = true
			out = append(out, item.linked)
		}
	}
	return out
}

// listedEvent is an event of a list with its JSON-LD.
type listedEvent struct {
	*web.Item
	linked *represent.EventPageLD // nil means none
	moves  time.Time              // same as in pageItem
}

// items renders the events of a page of a list in one of the forms. Events that look the same for all visitors
// come from the record cache. description is the result of linkedDescription, or noLinkedData.
func (r *request) items(page query.Page, form string, description int) ([]pageItem, error) {
	written, _, _ := strings.Cut(form, " ")
	media := "text/html;" + form + ";" + strconv.Itoa(description)
	if form == cardItem {
		media += " " + r.today().Format("2006") // cards show the year if it is not the current one
	}
	var v *represent.View
	var moved map[int64]time.Time
	bodies, err := reply.Render(r.Ctx, r.Rendering(), page, reply.Renderer[*ent.Event]{
		Kind: calendar.Event, Media: media, Encode: func(value any) ([]byte, error) {
			return r.encodeListed(value.(*listedEvent), written) //nolint:forcetypeassert // value below
		},
		Read: func(ids []int64) ([]*ent.Event, error) {
			rows, err := r.DB.ReadEvents(r.Ctx, ids)
			if err != nil {
				return nil, err
			}
			if err := r.LoadRelated(rows, description != noLinkedData); err != nil {
				return nil, err
			}
			v = r.View()
			if description != noLinkedData {
				if moved, err = r.rescheduledAt(v, rows); err != nil {
					return nil, err
				}
			}
			return rows, r.TryPassword(rows...)
		},
		Value: func(e *ent.Event) (any, reply.Audience) {
			out := &listedEvent{Item: r.item(v, e, form), moves: endOfMove(moved[e.ID])}
			if description != noLinkedData && !edit.HasPassword(e) {
				out.linked = v.EventPageLD(e, moved[e.ID])
				out.linked.ShortenDescriptions(description)
			}
			return out, r.AudienceOf(e)
		},
		Parts:   r.PartsOfEvent,
		Expires: func(e *ent.Event) time.Time { return endOfMove(moved[e.ID]) },
	})
	if err != nil {
		return nil, err
	}
	out := make([]pageItem, len(bodies))
	for i, body := range bodies {
		if out[i], err = decodeListed(body); err != nil {
			return nil, err
		}
		if !out[i].moves.IsZero() {
			r.ExpireBy(out[i].moves)
		}
	}
	return out, nil
}

// endOfMove returns when pages no longer say that an event was moved. Zero means that it was not moved.
func endOfMove(movedAt time.Time) time.Time {
	if movedAt.IsZero() {
		return movedAt
	}
	return movedAt.Add(represent.RescheduledFor)
}

// encodeListed returns an event for the record cache: a line of facts, a line of JSON-LD, and the HTML of a template.
func (r *request) encodeListed(e *listedEvent, written string) ([]byte, error) {
	var moves int64
	if !e.moves.IsZero() {
		moves = e.moves.Unix()
	}
	b := bytes.NewBufferString(e.Day + e.Last + strconv.FormatInt(e.ID, 10) + " " + strconv.FormatInt(moves, 10) + "\n")
	if e.linked != nil {
		data, err := json.Marshal(e.linked)
		if err != nil {
			return nil, err
		}
		b.Write(data)
	}
	b.WriteByte('\n')
	err := r.pages.templates.Write(b, written, e.Item)
	return b.Bytes(), err
}

// decodeListed returns the event that encodeListed has encoded.
func decodeListed(body []byte) (out pageItem, err error) {
	const day = len(time.DateOnly)
	head, rest, _ := bytes.Cut(body, []byte("\n"))
	linked, shown, _ := bytes.Cut(rest, []byte("\n"))
	out = pageItem{
		day: string(head[:day]), last: string(head[day : 2*day]), pictured: bytes.Contains(shown, []byte("<img ")),
		body: template.HTML(shown), //nolint:gosec // a template wrote it
	}
	if len(linked) > 0 {
		out.linked = linked
	}
	var moves int64
	if _, err := fmt.Sscan(string(head[2*day:]), &out.id, &moves); err != nil {
		return out, err
	}
	if moves != 0 {
		out.moves = time.Unix(moves, 0).UTC()
	}
	return out, nil
}

// itemsByID renders events in one of the forms, by id. Events that were deleted meanwhile are missing.
func (r *request) itemsByID(events []dayEvent, form string, description int) (map[int64]pageItem, error) {
	out := make(map[int64]pageItem, len(events))
	for part := range slices.Chunk(events, ent.MaxRead) {
		items, err := r.items(pageOfDays(part, len(part)), form, description)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			out[item.id] = item
		}
	}
	return out, nil
}

// itemBodies returns the HTML of items, without their days.
func itemBodies(items []pageItem) []template.HTML {
	out := make([]template.HTML, len(items))
	for i, item := range items {
		out[i] = item.body
	}
	return out
}

// representEvent returns the representation of an event. It is redacted if the event is protected and the visitor
// has not sent its password.
func (r *request) representEvent(v *represent.View, e *ent.Event, full bool) (out represent.Event, redacted bool) {
	out = v.Event(e, full)
	if redacted = r.IsProtected(e); redacted {
		v.Redact(&out, e)
	}
	return out, redacted
}

// cost returns the cost of an event in the format of the language. It returns "" if shown, the cost in the
// representation, is "", and for a canceled event, which sells nothing.
func (r *request) cost(e *ent.Event, shown string) string {
	if shown == "" || e.EventStatus == calendar.Canceled {
		return ""
	}
	return r.dates.Cost(e.Cost, r.Site.Currency, r.Words.Message(r.Language, "free", nil))
}

// item returns what lists show of an event. It uses the representation, which is redacted for a protected event.
func (r *request) item(v *represent.View, e *ent.Event, form string) *web.Item {
	shown, redacted := r.representEvent(v, e, false)
	w := r.words
	when := r.eventTimeOf(e, redacted)
	stands := r.dayEvent(e)
	last := stands.last
	if !stands.allDay {
		last = lastDay(r.Zone().Wall(e.StartsAt), r.Zone().Wall(e.EndsAt))
	}
	out := &web.Item{
		ID: e.ID, Language: string(r.Language), W: w, Href: r.localAddress(shown.URL), Title: html.UnescapeString(shown.Title), Lang: r.foreignLanguage(shown.Language),
		Start: when.start, Day: stands.first.Format(time.DateOnly), Last: last.Format(time.DateOnly), Date: r.dates.near(when.first, r.today()), Time: when.time, Zone: when.zone,
		Until: when.until, DayNumber: strconv.Itoa(dayNumber(when.first)), MonthShort: r.dates.monthShort(when.first),
		WeekdayShort: r.dates.weekdayShort(when.first.Weekday()), Cost: r.cost(e, shown.Cost),
		Teaser: summary(cmp.Or(shown.Excerpt, shown.Description), 150), Colour: colourOf(shown.Categories),
	}
	r.setItemTime(out, e, &when, &stands, form)
	if len(shown.Categories) > 0 {
		out.Category = html.UnescapeString(shown.Categories[0].Name)
		for _, t := range e.Edges.Terms {
			if t.ID == shown.Categories[0].ID {
				out.CategoryLang = r.foreignLanguage(string(v.Text(t).Language))
			}
		}
	}
	if venues := venueList(shown.Venue); len(venues) > 0 {
		out.Place, out.PlaceLang = placeName(&venues[0]), r.foreignLanguage(venues[0].Language)
	}
	out.Marks = r.eventMarks(&shown, redacted)
	out.Picture = r.picture(shown.Image)
	if !r.pages.servesView(address.ViewEvent) {
		out.Href = ""
	}
	if strings.HasPrefix(form, entryItem) {
		out.Marks = slices.DeleteFunc(out.Marks, func(m web.Mark) bool { return m.Kind == "featured" || m.Kind == "online" })
	}
	return out
}

// setItemTime sets the time that an item shows in one of the forms.
func (r *request) setItemTime(item *web.Item, e *ent.Event, when *eventTime, stands *dayEvent, form string) {
	if form == entryItem && !when.allDay {
		item.Time = r.dates.Time(e.StartWall)
	}
	since := strings.ReplaceAll(r.words.Since, "{date}", r.dates.dayMonth(when.first, when.last))
	switch {
	case form == entrySince, form == rowSince && when.allDay:
		item.Time = since
	case form == rowSince:
		item.Time = since + ", " + item.Time
	case !when.allDay && when.first != stands.first:
		item.Time = r.dates.short(when.first) + ", " + item.Time // in the event's own zone it is another day
	}
}

// eventMarks returns the words that stand out in an event, such as "Canceled".
func (r *request) eventMarks(shown *represent.Event, redacted bool) []web.Mark {
	var out []web.Mark
	switch shown.EventStatus {
	case calendar.Canceled:
		out = append(out, web.Mark{Kind: "canceled", Text: r.words.Canceled})
	case calendar.Postponed:
		out = append(out, web.Mark{Kind: "postponed", Text: r.words.Postponed})
	}
	if redacted {
		return append(out, web.Mark{Kind: "protected", Text: r.words.Protected})
	}
	if shown.Featured != nil && *shown.Featured {
		out = append(out, web.Mark{Kind: "featured", Text: r.words.Featured})
	}
	if shown.Attendance == calendar.Online {
		out = append(out, web.Mark{Kind: "online", Text: r.words.OnlineEvent})
	}
	return out
}

// venueList returns the venues of a representation as a slice.
func venueList(of represent.OneOrMany) []represent.Venue {
	switch v := of.(type) {
	case *represent.Venue:
		return []represent.Venue{*v}
	case []represent.Venue:
		return v
	}
	return nil
}

// placeName returns the name of a venue with its city.
func placeName(v *represent.Venue) string {
	name, city := html.UnescapeString(v.Venue), html.UnescapeString(v.City)
	if city == "" || strings.Contains(name, city) {
		return name
	}
	return name + ", " + city
}

// foreignLanguage returns a language, or "" if it is that of the page.
func (r *request) foreignLanguage(language string) string {
	if language == string(r.Language) {
		return ""
	}
	return language
}

// colours is the number of colours for categories.
const colours = 12

// colourOf returns the number of an event's colour, from 1 to colours. 0 means that it has no category.
func colourOf(categories []represent.EventTerm) int {
	if len(categories) == 0 {
		return 0
	}
	return termColour(categories[0].ID)
}

func termColour(id int64) int { return 1 + int(id%colours) }

// picture returns an image in the sizes that pages show. It returns nil if there is none or another host has it.
func (r *request) picture(of represent.OrFalse) *web.Picture {
	image, ok := of.(*represent.Image)
	if !ok || image == nil {
		return nil
	}
	src := r.localAddress(image.URL)
	if src == image.URL {
		return nil // another host has the image
	}
	out := &web.Picture{URL: src, Width: image.Width, Height: image.Height}
	if m := image.Sizes.Medium; m != nil {
		out.URL, out.Width, out.Height = r.localAddress(m.URL), m.Width, m.Height
		full, width := src, image.Width
		if l := image.Sizes.Large; l != nil {
			full, width = r.localAddress(l.URL), l.Width
		}
		out.Set = out.URL + " " + strconv.Itoa(m.Width) + "w, " + full + " " + strconv.Itoa(width) + "w"
	}
	return out
}

// largePicture returns an image like picture, with the large size for browsers that do not choose a size.
func (r *request) largePicture(of represent.OrFalse) *web.Picture {
	out := r.picture(of)
	if image, ok := of.(*represent.Image); ok && out != nil {
		out.URL, out.Width, out.Height = r.localAddress(image.URL), image.Width, image.Height
		if l := image.Sizes.Large; l != nil {
			out.URL, out.Width, out.Height = r.localAddress(l.URL), l.Width, l.Height
		}
	}
	return out
}

// sharedPicture returns a picture with its absolute URL, for previews in social networks.
func (r *request) sharedPicture(p *web.Picture) *web.Picture {
	if p == nil {
		return nil
	}
	return &web.Picture{URL: r.absoluteAddress(p.URL), Width: p.Width, Height: p.Height}
}

// eventTime is when an event takes place, formatted for a page.
type eventTime struct {
	first, last calendar.Wall // first and last day, in the zone of the event
	allDay      bool
	start, end  string // for machines: times with UTC offset, or days of an all-day event
	time        string // time of day, or that the event lasts all day
	zone        string // name of the event's zone if its clock differs from that of the site, else ""
	until       string // last day; "" for an event on one day
	text        string // whole text of date and time
}

// eventTimeOf returns when an event takes place. A redacted event is never shown as all-day.
func (r *request) eventTimeOf(e *ent.Event, redacted bool) eventTime {
	zone, err := calendar.ParseZone(e.Timezone)
	if err != nil { // zones in the database are always valid
		zone = calendar.UTC()
	}
	allDay := e.AllDay && !redacted
	m := eventTime{allDay: allDay, first: e.StartWall.StartOfDay(), last: lastDay(e.StartWall, e.EndWall)}
	if allDay {
		m.start, m.end = m.first.Format(time.DateOnly), m.last.Format(time.DateOnly)
		m.time = r.words.AllDay
	} else {
		m.start = e.StartsAt.In(zone.Location()).Format(time.RFC3339)
		m.end = e.EndsAt.In(zone.Location()).Format(time.RFC3339)
		m.time = r.dates.Time(e.StartWall)
		if !r.Zone().Wall(e.StartsAt).Equal(e.StartWall) || !r.Zone().Wall(e.EndsAt).Equal(e.EndWall) {
			m.zone = zone.Abbreviation(e.StartsAt)
			if m.zone != zone.String() {
				m.zone += " (" + strings.ReplaceAll(zone.String(), "_", " ") + ")"
			}
		}
		if e.StartWall.StartOfDay() == m.last && e.EndWall != e.StartWall {
			m.time = r.dates.TimeRange(e.StartWall, e.EndWall)
		}
	}
	if m.last != m.first {
		m.until = strings.ReplaceAll(r.words.Until, "{date}", r.dates.dayMonth(m.last, m.first))
	}
	m.text = r.dates.span(e.StartWall, e.EndWall, m.last, allDay)
	return m
}

// lateHours is how long after midnight an event still belongs to the day before.
const lateHours = 6 * time.Hour

// lastDay returns the last day of an event for readers. If an event is shorter than a day and ends at night, that
// is its first day.
func lastDay(start, end calendar.Wall) calendar.Wall {
	last := end.StartOfDay()
	if last.Before(start.StartOfDay()) {
		return start.StartOfDay()
	}
	if end.Sub(start) < 24*time.Hour && end.Sub(last) <= lateHours && last.AddDate(0, 0, -1).Equal(start.StartOfDay()) {
		return start.StartOfDay()
	}
	return last
}

func dayNumber(w calendar.Wall) int {
	_, _, day := w.Date()
	return day
}

// hostOf returns the host of a URL for display, without "www.".
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return strings.TrimPrefix(u.Host, "www.")
}

// callNumber returns a telephone number for a tel: link. It returns "" if the text is not a telephone number.
func callNumber(text string) string {
	var b strings.Builder
	for i, c := range text {
		switch {
		case '0' <= c && c <= '9', c == '+' && i == 0:
			b.WriteRune(c)
		case strings.ContainsRune(" -./()\u00a0", c):
		default:
			return ""
		}
	}
	if b.Len() < 3 {
		return ""
	}
	return b.String()
}

// mapLink returns the URL of a map with the venue. It is "" if the venue has no position, wants no link, or the
// site has no map.
func (r *request) mapLink(v *represent.Venue) string {
	link := r.PageSettings.MapLink
	if link == "" || !v.ShowMap && !v.ShowMapLink || v.GeoLat == nil || v.GeoLng == nil {
		return ""
	}
	decimal := func(degrees float64) string { return strconv.FormatFloat(degrees, 'f', 6, 64) }
	var parts []string
	for _, part := range []string{v.Address, v.City, v.Country} {
		if part != "" {
			parts = append(parts, html.UnescapeString(part))
		}
	}
	return strings.NewReplacer("{lat}", decimal(*v.GeoLat), "{lon}", decimal(*v.GeoLng),
		"{query}", url.QueryEscape(strings.Join(parts, ", "))).Replace(link)
}

// placeOf returns a venue as pages show it.
func (r *request) placeOf(v *represent.Venue) web.Place {
	out := web.Place{
		Name: html.UnescapeString(v.Venue), Lang: r.foreignLanguage(v.Language), Phone: v.Phone, Call: callNumber(v.Phone),
		Website: v.Website, Host: hostOf(v.Website), Map: r.mapLink(v),
	}
	if v.Slug != "" && v.Status == calendar.Publish && r.pages.servesView(address.ViewVenue) {
		out.Href = r.localAddress(v.URL)
	}
	town := strings.TrimSpace(v.Zip + " " + v.City)
	for _, line := range []string{v.Address, town, v.Stateprovince, v.Country} {
		if line != "" {
			out.Lines = append(out.Lines, html.UnescapeString(line))
		}
	}
	return out
}
