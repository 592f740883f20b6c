package pages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
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

// rowItem to entrySince are the forms in which lists show an event. The first word is the name of a template in
// package web. The word "since" means that the item states since when the event takes place.
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

// noLinkedData is the argument of items for a list without JSON-LD.
const noLinkedData = -1

// linkedDescription returns the longest description, in characters, in the JSON-LD of a page that lists the
// given number of events. It has few values, because the record cache stores an entry for each of them.
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

// items renders the events on a page of a list, in one of the forms, such as rowItem. Events that look the same
// for all visitors come from the record cache. The argument description is the result of linkedDescription, or
// noLinkedData.
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

// endOfMove returns when pages stop showing that an event was rescheduled. The argument is when that happened.
// Zero means that it did not.
func endOfMove(movedAt time.Time) time.Time {
	if movedAt.IsZero() {
		return movedAt
	}
	return movedAt.Add(represent.RescheduledFor)
}

// encodeListed encodes an event for the record cache: a line with days, id and expiry, one with JSON-LD, and
// HTML. The template with the name form writes the HTML.
func (r *request) encodeListed(e *listedEvent, form string) ([]byte, error) {
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
	err := r.pages.templates.Write(b, form, e.Item)
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

// itemsByID renders events in one of the forms, such as rowItem, and returns them by id. Events that were
// deleted meanwhile are missing. The argument description is that of items.
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

// representEvent returns the representation of an event, with json_ld if full is true. It is redacted if the event is
// protected and the visitor has not sent its password.
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

// item returns what lists show of an event in one of the forms, such as rowItem. A protected event is redacted.
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
		WeekdayShort: r.dates.ShortWeekdayName(when.first.Weekday()), Cost: r.cost(e, shown.Cost),
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

// setItemTime sets the time that an item of a list shows in one of the forms, such as rowItem. The event's own
// zone determines when, and the zone of the site inSite.
func (r *request) setItemTime(item *web.Item, e *ent.Event, when *eventTime, inSite *dayEvent, form string) {
	if form == entryItem && !when.allDay {
		item.Time = r.dates.Time(e.StartWall)
	}
	since := strings.ReplaceAll(r.words.Since, "{date}", r.dates.dayMonth(when.first, when.last))
	switch {
	case form == entrySince, form == rowSince && when.allDay:
		item.Time = since
	case form == rowSince:
		item.Time = since + ", " + item.Time
	case !when.allDay && when.first != inSite.first:
		item.Time = r.dates.short(when.first) + ", " + item.Time // in the event's own zone it is another day
	}
}

// eventMarks returns the highlighted labels of an event, such as "Canceled". If redacted is set, the visitor may not
// see protected fields.
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
