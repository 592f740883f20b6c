package importer

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/markup"
)

// event returns the row's event. Problems in cells become faults and notices of the row.
func (r sheetRow) event() *Event {
	e := &Event{Origin: Origin{Where: r.where}, InFile: true}
	if id := r.cells["id"]; r.isOurs && id != "" && r.cells["url"] != "" {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil && n > 0 {
			e.Edited = newEditedRow(n, r.cells)
		}
	}
	e.Title = r.oneLineTitle(r.title())
	for field, text := range r.cells {
		r.set(field, text)
	}
	e.Description, e.Excerpt = r.rich("description"), r.rich("excerpt")
	if r.has("slug") {
		if e.Slug = keptSlug(r.cells["slug"]); e.Slug == "" && r.cells["slug"] != "" {
			r.notice("slug", "not a slug; left out")
		}
	}
	r.span(e)
	if e.Title == "" && e.Edited == nil {
		r.fault("title", "missing")
	}
	e.Status = r.status()
	if d := r.cells["published"]; d != "" {
		if read, err := readDate(d, r.orders["published"]); err != nil {
			r.notice("published", fmt.Sprintf("%q: %v; left out", abbreviate(d), err))
		} else {
			at := r.Site.Zone.Instant(read.start())
			if read.at != nil {
				at = *read.at
			}
			e.Published = &at
		}
	}
	if r.has("cost") {
		e.Cost = new(r.cost())
	}
	if r.has("website") {
		e.Website = &Website{URL: r.website()}
		if e.Website.URL != "" && e.Website.URL == r.cells["url"] {
			e.Website = &Website{Own: true}
		}
	}
	r.set("event_status", synonym(r.cells["event_status"]))
	r.set("attendance", synonym(r.cells["attendance"]))
	for _, f := range e.Plain() {
		if r.has(f.Name) {
			r.setPlain(f, r.yesNo)
		}
	}
	if r.has("event_status_reason") {
		e.EventStatusReason = new(r.inert("event_status_reason", maxText))
	}
	if meeting := webAddress(r.cells["location"]); meeting != "" && r.cells["venue"] == "" && r.cells["virtual_url"] == "" {
		e.VirtualURL = &meeting
		if e.Attendance == nil {
			e.Attendance = new(calendar.Online)
		}
	}
	r.links(e)
	r.image(e)
	e.Key = r.key(e)
	return e
}

// title returns the text of the title cell. In a table that Almanac exported, entities are decoded as in a title
// sent to the API.
func (r sheetRow) title() string {
	title := r.cells["title"]
	if !r.isOurs {
		return title
	}
	text, err := markup.Text(title)
	if err != nil {
		r.notice("title", err.Error()+"; taken as it is")
		return title
	}
	return text
}

// oneLineTitle removes line breaks from a title and cuts it to maxTitle characters, with a notice.
func (r sheetRow) oneLineTitle(title string) string {
	s := onOneLine(title)
	if cut := truncate(s, maxTitle); cut != s {
		r.notice("title", fmt.Sprintf("cut to %d characters", maxTitle))
		return cut
	}
	return s
}

// key returns the source id of a row's event. It is made of the row's id, or else of title, start and venue.
func (r sheetRow) key(e *Event) string {
	id := r.cells["id"]
	if id == "" {
		start := e.Span.Start.String()
		return csvEvent + "without-id-" + shortHash(strings.Join([]string{
			calendar.FoldName(e.Title), start, calendar.FoldName(r.cells["venue"] + r.cells["location"]),
		}, "\n"))
	}
	if key := csvEvent + onOneLine(id); len(key) <= maxSource && key == csvEvent+id {
		return key
	}
	return csvEvent + shortHash(id)
}

// rich returns the cell of a field as HTML. Plain text keeps its line breaks. Nil means that the table has no such
// column or, with a notice, that the text cannot be sanitised.
func (r sheetRow) rich(field string) *string {
	if !r.has(field) {
		return nil
	}
	text := r.cells[field]
	if !r.isOurs && !isHTML(text) {
		text = html.EscapeString(text)
	}
	out, err := markup.HTML(text)
	if err != nil {
		r.notice(field, err.Error()+"; left out")
		return nil
	}
	return new(strings.TrimSpace(out))
}

// status returns the publication status of the row's event. Nil means that none is given. An unknown word is a
// fault, because the event might not be public.
func (r sheetRow) status() *calendar.Status {
	if private := r.yesNo("private"); private != nil && *private {
		return new(calendar.Private)
	}
	text := r.cells["status"]
	if text == "" {
		return nil
	}
	r.set("status", synonym(text))
	return r.object.status()
}

// synonyms maps words for a status or for the attendance, in the form of foldDate, to those of the API.
var synonyms = map[string]string{
	"published": "publish", "opublikowane": "publish", "opublikowany": "publish", "publicado": "publish", "public": "publish",
	"szkic": "draft", "borrador": "draft", "prywatne": "private", "privado": "private",
	"oczekujace": "pending", "pendiente": "pending",
	"confirmed": "scheduled", "zaplanowane": "scheduled", "aktualne": "scheduled", "programado": "scheduled", "confirmado": "scheduled",
	"cancelled": "canceled", "odwolane": "canceled", "odwolany": "canceled", "cancelado": "canceled", "anulado": "canceled",
	"przelozone": "postponed", "aplazado": "postponed", "pospuesto": "postponed",
	"stacjonarnie": "offline", "presencial": "offline", "in person": "offline", "zdalnie": "online", "en linea": "online", "virtual": "online",
	"hybrid": "mixed", "hybrydowo": "mixed", "mieszane": "mixed", "mixto": "mixed", "hibrido": "mixed",
}

// synonym returns the API's word for a status or for the attendance. It returns an unknown word in the form of
// foldDate.
func synonym(text string) string {
	folded := foldDate(text)
	if word := synonyms[folded]; word != "" {
		return word
	}
	return folded
}

// yesNo parses the cell of a yes-or-no field. Nil means empty, missing or, with a notice, invalid.
func (r sheetRow) yesNo(field string) *bool {
	switch text := r.cells[field]; foldDate(text) {
	case "":
	case "1", "true", "yes", "y", "on", "x", "tak", "t", "prawda", "si", "s", "verdadero", "✓", "✔":
		return new(true)
	case "0", "false", "no", "n", "off", "nie", "falsz", "falso", "-":
		return new(false)
	default:
		r.notice(field, fmt.Sprintf("%q is neither yes nor no; left out", abbreviate(text)))
	}
	return nil
}

// cost returns the cost in the row, with the currency from other columns.
func (r sheetRow) cost() calendar.Cost {
	c := calendar.ParseCost(costElements(r.text("cost", maxText)), r.Site.Currency.Decimal)
	if symbol := r.cells["currency_symbol"]; c.Symbol == "" && len(c.Prices) > 0 && isCurrencySymbol(symbol) {
		c.Symbol, c.Position = symbol, positionOf(r.cells["currency_position"])
	}
	return c
}

// website returns the event's web URL. If the scheme is missing, it adds https. It returns "" for other text.
func (r sheetRow) website() string {
	if text := r.cells["website"]; hostPattern.MatchString(text) && webAddress("https://"+text) != "" {
		return "https://" + text
	}
	return r.link("website")
}
