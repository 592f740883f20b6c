package handlers

import (
	"bytes"
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
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/web"
)

// The forms of an event in lists: a template of package web, and whether it says since when the event takes place.
const (
	rowItem    = "row"         // below the heading of its day
	rowSince   = "row since"   // on a later day
	cardItem   = "card"        // with its date
	entryItem  = "entry"       // in a month
	entrySince = "entry since" // on a later day
)

// pageItem is an event in a list as it is written.
type pageItem struct {
	id       int64
	pictured bool
	day      string // the first that it stands on: 2026-11-22
	last     string // its last day for people
	body     template.HTML
}

// items returns the events of a page of a list in one of the forms. Those that are the same for all visitors come from the
// cache of records.
func (r *pageRequest) items(page query.Page, form string) ([]pageItem, error) {
	written, _, _ := strings.Cut(form, " ")
	media := "text/html;" + form
	if form == cardItem {
		media += " " + r.today().Format("2006") // cards name other years
	}
	r.codec = codec{mediaType: media, encode: func(value any, _ string) ([]byte, error) {
		item := value.(*web.Item) //nolint:forcetypeassert // value below
		b := bytes.NewBufferString(item.Day + item.Last + strconv.FormatInt(item.ID, 10) + "\n")
		err := r.h.pages.Write(b, written, item)
		return b.Bytes(), err
	}}
	var v *represent.View
	bodies, err := renderRecords(r.request, page, recordRenderer[*ent.Event]{
		kind: calendar.Event,
		read: func(ids []int64) ([]*ent.Event, error) {
			rows, err := r.events(ids)
			v = r.view()
			return rows, err
		},
		value: func(e *ent.Event) (any, bool) { return r.item(v, e, form), !edit.HasPassword(e) },
		parts: r.partsOfEvent,
	})
	if err != nil {
		return nil, err
	}
	const day = len(time.DateOnly)
	out := make([]pageItem, len(bodies))
	for i, body := range bodies {
		head, rest, _ := strings.Cut(string(body), "\n")
		id, err := strconv.ParseInt(head[2*day:], 10, 64)
		if err != nil {
			return nil, err
		}
		out[i] = pageItem{
			id: id, day: head[:day], last: head[day : 2*day], pictured: strings.Contains(rest, "<img "),
			body: template.HTML(rest), //nolint:gosec // a template wrote it
		}
	}
	return out, nil
}

// itemsByID returns some events in one of the forms by their ids. Those that are gone meanwhile are missing.
func (r *pageRequest) itemsByID(events []dayEvent, form string) (map[int64]template.HTML, error) {
	out := make(map[int64]template.HTML, len(events))
	for part := range slices.Chunk(events, ent.MaxRead) {
		items, err := r.items(pageOfDays(part, len(part)), form)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			out[item.id] = item.body
		}
	}
	return out, nil
}

// itemBodies are the items without their days.
func itemBodies(items []pageItem) []template.HTML {
	out := make([]template.HTML, len(items))
	for i, item := range items {
		out[i] = item.body
	}
	return out
}

// representEvent returns the representation of an event, redacted if it is protected and the password is not its own.
func (r *pageRequest) representEvent(v *represent.View, e *ent.Event, full bool) (out represent.Event, redacted bool) {
	out = v.Event(e, full)
	if redacted = r.isProtected(e, r.password); redacted {
		out.Redact()
	}
	return out, redacted
}

// cost returns what an event costs as people write it, nothing if its representation shows nothing.
func (r *pageRequest) cost(e *ent.Event, shown string) string {
	if shown == "" {
		return ""
	}
	return r.dates.Cost(e.Cost, r.h.Site.Currency, r.h.Words.Message(r.lang, "free", nil))
}

// item returns what lists show of an event. It is made from the representation, which a protected event has redacted.
func (r *pageRequest) item(v *represent.View, e *ent.Event, form string) *web.Item {
	shown, redacted := r.representEvent(v, e, false)
	w := r.words
	when := r.eventTimeOf(e, redacted)
	stands := r.dayEvent(e)
	last := stands.last
	if !stands.allDay {
		last = lastDay(r.zone().Wall(e.StartsAt), r.zone().Wall(e.EndsAt))
	}
	out := &web.Item{
		ID: e.ID, Language: string(r.lang), W: w, Href: r.localAddress(shown.URL), Title: html.UnescapeString(shown.Title), Lang: r.foreignLanguage(shown.Language),
		Start: when.start, Day: stands.first.Format(time.DateOnly), Last: last.Format(time.DateOnly), Date: r.dates.near(when.first, r.today()), Time: when.time, Zone: when.zone,
		Until: when.until, DayNumber: strconv.Itoa(dayNumber(when.first)), MonthShort: r.dates.monthShort(when.first),
		WeekdayShort: r.dates.weekdayShort(when.first.Weekday()), Cost: r.cost(e, shown.Cost),
		Teaser: summary(firstText(shown.Excerpt, shown.Description), 150), Colour: colourOf(shown.Categories),
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
	if !r.h.servesView(viewEvent) {
		out.Href = ""
	}
	if strings.HasPrefix(form, entryItem) {
		out.Marks = slices.DeleteFunc(out.Marks, func(m web.Mark) bool { return m.Kind == "featured" || m.Kind == "online" })
	}
	return out
}

// setItemTime sets the time that an item in one of the forms shows.
func (r *pageRequest) setItemTime(item *web.Item, e *ent.Event, when *eventTime, stands *dayEvent, form string) {
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
		item.Time = r.dates.short(when.first) + ", " + item.Time // in its zone it is another day
	}
}

func firstText(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// eventMarks are the words that stand out at an event.
func (r *pageRequest) eventMarks(shown *represent.Event, redacted bool) []web.Mark {
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

// venueList returns the venues of a representation.
func venueList(of represent.OneOrMany) []represent.Venue {
	switch v := of.(type) {
	case *represent.Venue:
		return []represent.Venue{*v}
	case []represent.Venue:
		return v
	}
	return nil
}

// placeName is a venue with its town.
func placeName(v *represent.Venue) string {
	name, city := html.UnescapeString(v.Venue), html.UnescapeString(v.City)
	if city == "" || strings.Contains(name, city) {
		return name
	}
	return name + ", " + city
}

// foreignLanguage is a language if it is not that of the page, else "".
func (r *pageRequest) foreignLanguage(language string) string {
	if language == string(r.lang) {
		return ""
	}
	return language
}

// colours is how many colours there are for categories.
const colours = 12

// colourOf returns the number of the colour of an event, 0 for one without a category.
func colourOf(categories []represent.EventTerm) int {
	if len(categories) == 0 {
		return 0
	}
	return termColour(categories[0].ID)
}

func termColour(id int64) int { return 1 + int(id%colours) }

// picture returns an image in the sizes that pages show, nil for one of another host or none.
func (r *pageRequest) picture(of represent.OrFalse) *web.Picture {
	image, ok := of.(*represent.Image)
	if !ok || image == nil {
		return nil
	}
	src := r.localAddress(image.URL)
	if src == image.URL {
		return nil // of another host
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

// largePicture is picture with the large size for browsers that do not choose.
func (r *pageRequest) largePicture(of represent.OrFalse) *web.Picture {
	out := r.picture(of)
	if image, ok := of.(*represent.Image); ok && out != nil {
		out.URL, out.Width, out.Height = r.localAddress(image.URL), image.Width, image.Height
		if l := image.Sizes.Large; l != nil {
			out.URL, out.Width, out.Height = r.localAddress(l.URL), l.Width, l.Height
		}
	}
	return out
}

// sharedPicture is the picture that networks show: of this service, with its whole address.
func (r *pageRequest) sharedPicture(p *web.Picture) *web.Picture {
	if p == nil {
		return nil
	}
	return &web.Picture{URL: r.absoluteAddress(p.URL), Width: p.Width, Height: p.Height}
}

// eventTime is when an event takes place, as a page says it.
type eventTime struct {
	first, last calendar.Wall // days, in the zone of the event
	allDay      bool
	start, end  string // for machines: with offset, all-day ones the day alone
	time        string // of day, or that it takes the whole day
	zone        string // named where its clock is not the site's
	until       string // "" for an event on one day
	text        string // all of it
}

// eventTimeOf returns the moment of an event. A redacted one is shown as timed.
func (r *pageRequest) eventTimeOf(e *ent.Event, redacted bool) eventTime {
	zone, err := calendar.ParseZone(e.Timezone)
	if err != nil { // names in the database are valid by construction
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
		if !r.zone().Wall(e.StartsAt).Equal(e.StartWall) || !r.zone().Wall(e.EndsAt).Equal(e.EndWall) {
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

// lastDay is the last day of an event for people. One of less than a day that ends in the night does not take the next day,
// too.
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

// hostOf is the host of an address, as people read it.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return strings.TrimPrefix(u.Host, "www.")
}

// callNumber is a telephone number as a link calls it, "" for a text that is none.
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

// mapLink is the address of a map, "" if the venue has no position, or wants no link, or the site has no map.
func (r *pageRequest) mapLink(v *represent.Venue) string {
	link := r.h.PageSettings.MapLink
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

// placeOf is a venue on a page.
func (r *pageRequest) placeOf(v *represent.Venue) web.Place {
	out := web.Place{
		Name: html.UnescapeString(v.Venue), Lang: r.foreignLanguage(v.Language), Phone: v.Phone, Call: callNumber(v.Phone),
		Website: v.Website, Host: hostOf(v.Website), Map: r.mapLink(v),
	}
	if v.Slug != "" && v.Status == calendar.Publish && r.h.servesView(viewVenue) {
		out.Href = r.localAddress(v.URL)
	}
	town := strings.TrimSpace(v.Zip + " " + v.City)
	for _, line := range []string{v.Address, town, v.StateProvince, v.Country} {
		if line != "" {
			out.Lines = append(out.Lines, html.UnescapeString(line))
		}
	}
	return out
}
