package represent

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/markup"
)

// Row has the cells of a record in a table, in the order of its columns (contract, section 8). A write accepts the
// cells as values of the fields with the names of the columns.
type Row []string

// Columns are the names of the columns of a table, by kind of record. They are the fields of a write without those
// that only repeat another one.
var Columns = func() map[calendar.Kind][]string {
	all := map[calendar.Kind][]string{
		calendar.Event:    columnNames(eventColumns),
		calendar.Venue:    columnNames(venueColumns),
		calendar.Category: columnNames(termColumns),
		calendar.Tag:      columnNames(termColumns[:len(termColumns)-1]),
	}
	for _, s := range ShownKinds {
		all[s.Kind] = s.columns
	}
	return all
}()

// column is a column of a CSV table. name is its heading. cell returns its text for a record.
type column[R any] struct {
	name string
	cell func(R) string
}

func columnNames[R any](columns []column[R]) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

// columnsOf returns the result of one for each name, in the order of names.
func columnsOf[R any](one func(name string) column[R], names []string) []column[R] {
	columns := make([]column[R], len(names))
	for i, name := range names {
		columns[i] = one(name)
	}
	return columns
}

func cellsOf[R any](columns []column[R], record R) Row {
	row := make(Row, len(columns))
	for i, c := range columns {
		row[i] = c.cell(record)
	}
	return row
}

// eventSource is an event from which the cells of its CSV row are made. json is its representation, which is
// redacted if protected is true.
type eventSource struct {
	v         *View
	row       *ent.Event
	json      *Event
	protected bool
}

var eventColumns = append([]column[eventSource]{
	{"id", func(s eventSource) string { return idCell(s.json.ID) }},
	{"url", func(s eventSource) string { return s.json.URL }},
	{"author", func(s eventSource) string { return s.json.Author }},
	{"date", func(s eventSource) string { return DateText(s.row.PublishedAt, s.v.Site.Zone) }},
	{"title", func(s eventSource) string { return textCell(s.v.Text(s.row).Title) }},
	{"description", func(s eventSource) string { return s.json.Description }},
	{"slug", func(s eventSource) string { return s.json.Slug }},
	{"excerpt", func(s eventSource) string { return s.json.Excerpt }},
	{"status", func(s eventSource) string { return string(s.json.Status) }},
	{"timezone", func(s eventSource) string { return s.json.Timezone }},
	{"all_day", func(s eventSource) string { return flagCell(s.json.AllDay) }},
	{"start_date", func(s eventSource) string { return s.date(s.row.StartsAt, s.json.StartDate) }},
	{"end_date", func(s eventSource) string { return s.date(s.row.EndsAt, s.json.EndDate) }},
	{"image", eventSource.image},
	{"cost", eventSource.cost},
	{"website", func(s eventSource) string { return s.json.Website }},
	plainEvent("show_map"),
	plainEvent("show_map_link"),
	plainEvent("hide_from_listings"),
	plainEvent("sticky"),
	plainEvent("featured"),
	{"categories", func(s eventSource) string { return termCell(s.json.Categories) }},
	{"tags", func(s eventSource) string { return termCell(s.json.Tags) }},
	{"venue", eventSource.venues},
	{"organizer", eventSource.organizers},
	plainEvent("ticketed"),
	{"post_parent", func(s eventSource) string { return idCell(s.json.PostParent) }},
	plainEvent("event_status"),
	{"event_status_reason", func(s eventSource) string { return textCell(s.json.EventStatusReason) }},
	plainEvent("attendance"),
	plainEvent("virtual_url"),
}, columnsOf(plainEvent, unplacedEventCells)...)

func plainEvent(name string) column[eventSource] {
	return column[eventSource]{name, func(s eventSource) string { return s.json.plainCell(name) }}
}

// EventRow returns the CSV row of a loaded event. If protected is true, the row shows no more than a redacted
// representation.
func (v *View) EventRow(e *ent.Event, protected bool) Row {
	shown := v.Event(e, false)
	if protected {
		v.Redact(&shown, e)
	}
	return cellsOf(eventColumns, eventSource{v, e, &shown, protected})
}

// date formats t, a date of the event, in the event's zone. If the zone is unknown, it returns wall, the same date
// as JSON shows it.
func (s eventSource) date(t time.Time, wall string) string {
	zone, err := calendar.ParseZone(s.row.Timezone)
	if err != nil {
		return wall // the zone is not known here, and a write without an offset keeps the wall time
	}
	return DateText(t, zone)
}

// image returns the id of the event's picture, "0" for none. It returns "" if a password hides whether there is
// one.
func (s eventSource) image() string {
	if i, ok := s.json.Image.(*Image); ok {
		return idCell(i.ID)
	}
	if s.protected {
		return ""
	}
	return "0"
}

// cost returns a text that a write parses as the stored cost. If no text does, it returns the displayed cost. An
// update that sends the displayed cost does not change the stored one.
func (s eventSource) cost() string {
	if s.protected {
		return ""
	}
	c, decimal := s.row.Cost, s.v.Site.Currency.Decimal
	for _, separator := range []string{" – ", ";"} {
		text := textCell(c.Text(decimal, separator))
		if utf8.RuneCountInString(text) > maxCost {
			continue
		}
		sent, err := markup.Text(text)
		if err == nil && calendar.ParseCost([]string{sent}, decimal).Equal(c) {
			return text
		}
	}
	return s.json.Cost
}

// maxCost is the largest length in characters of a cost that a write accepts.
const maxCost = 255

func (s eventSource) venues() string {
	switch venues := s.json.Venue.(type) {
	case *Venue:
		return idCell(venues.ID)
	case []Venue:
		return listCell(venues, func(v Venue) string { return idCell(v.ID) })
	}
	return ""
}

func (s eventSource) organizers() string {
	return listCell(s.json.Organizer, func(o Organizer) string { return idCell(o.ID) })
}

// namedSource is a venue or organizer from which the cells of its CSV row are made. json is its representation.
type namedSource[J any] struct {
	v       *View
	row     ent.Row
	members members
	json    *J
}

// namedColumns returns the CSV columns of a kind of record, such as venues. The parameter name is the heading of
// the column with the record's name. The function plainCell returns the cell of a placed or unplaced column by
// heading. The placed columns come before the image, the unplaced ones at the end. The columns in own exist only
// for this kind. Each of them replaces the column with the same heading, or follows the image.
func namedColumns[J any](name string, plainCell func(*J, string) string, placed, unplaced []string, own ...column[namedSource[J]]) []column[namedSource[J]] {
	plain := func(name string) column[namedSource[J]] {
		return column[namedSource[J]]{name, func(s namedSource[J]) string { return plainCell(s.json, name) }}
	}
	columns := slices.Concat([]column[namedSource[J]]{
		{"id", func(s namedSource[J]) string { return idCell(s.members.ID) }},
		{"url", func(s namedSource[J]) string { return s.members.URL }},
		{"author", func(s namedSource[J]) string { return s.members.Author }},
		{"date", func(s namedSource[J]) string { return DateText(s.row.Core().PublishedAt, s.v.Site.Zone) }},
		{name, func(s namedSource[J]) string { return textCell(s.members.text.Title) }},
		{"description", func(s namedSource[J]) string { return s.members.Description }},
		{"slug", func(s namedSource[J]) string { return s.members.Slug }},
		{"status", func(s namedSource[J]) string { return string(s.members.Status) }},
	}, columnsOf(plain, placed), []column[namedSource[J]]{
		{"image", func(s namedSource[J]) string { return imageCell(s.members.Image) }},
	})
	for _, o := range own {
		if i := slices.IndexFunc(columns, func(c column[namedSource[J]]) bool { return c.name == o.name }); i >= 0 {
			columns[i] = o
		} else {
			columns = append(columns, o)
		}
	}
	return append(columns, columnsOf(plain, unplaced)...)
}

var venueColumns = namedColumns("venue", (*Venue).plainCell, []string{
	"show_map", "show_map_link", "address", "city", "country", "province", "state", "zip", "phone", "stateprovince", "website",
}, unplacedVenueCells,
	// A derived value stays empty, so that a row that is sent back does not store it.
	column[namedSource[Venue]]{"stateprovince", func(s namedSource[Venue]) string {
		if row, ok := s.row.(*ent.Venue); ok {
			return textCell(markup.Inert(row.Stateprovince))
		}
		return ""
	}},
	column[namedSource[Venue]]{"geo_lat", func(s namedSource[Venue]) string { return degreesCell(s.json.GeoLat) }},
	column[namedSource[Venue]]{"geo_lng", func(s namedSource[Venue]) string { return degreesCell(s.json.GeoLng) }},
)

// VenueRow returns the CSV row of a loaded venue.
func (v *View) VenueRow(e *ent.Venue) Row {
	json := v.Venue(e, false)
	return cellsOf(venueColumns, namedSource[Venue]{v, e, v.members(e, e.Edges.Image), &json})
}

// termSource is a category or tag from which the cells of its CSV row are made.
type termSource struct {
	v    *View
	row  *ent.Term
	json Term
}

// termColumns are the columns of a category. A tag lacks the last one.
var termColumns = []column[termSource]{
	{"id", func(s termSource) string { return idCell(s.json.ID) }},
	{"url", func(s termSource) string { return s.json.URL }},
	{"name", func(s termSource) string { return textCell(s.v.Text(s.row).Title) }},
	{"description", func(s termSource) string { return textCell(s.json.Description) }},
	{"slug", func(s termSource) string { return s.json.Slug }},
	{"parent", func(s termSource) string { return idCell(ParentID(s.row)) }},
}

// TermRow returns the CSV row of a loaded category or tag. ancestors are the slugs of its parents, from the top.
func (v *View) TermRow(e *ent.Term, ancestors []string) Row {
	columns := termColumns
	if !e.Taxonomy.IsHierarchical() {
		columns = columns[:len(columns)-1]
	}
	return cellsOf(columns, termSource{v, e, v.Term(e, ancestors)})
}

// textCell returns a plain text as a cell that a write reads back unchanged. It escapes a text that looks like
// HTML.
func textCell(text string) string {
	if stored, err := markup.Text(text); err == nil && stored == text {
		return text
	}
	return calendar.Escape(text)
}

func idCell(id int64) string { return numberCell(&id) }

// flagCell returns a boolean as a word for a CSV cell. Nil gives "".
func flagCell(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}

// numberCell returns an integer. Nil gives "".
func numberCell[N int | int64](n *N) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(int64(*n), 10)
}

// degreesCell formats degrees for a CSV cell without rounding. Nil gives "".
func degreesCell(degrees *float64) string {
	if degrees == nil {
		return ""
	}
	return strconv.FormatFloat(*degrees, 'f', -1, 64)
}

// imageCell returns the id of an image. Nil gives "".
func imageCell(i *Image) string {
	if i == nil {
		return ""
	}
	return idCell(i.ID)
}

// termCell returns the slugs of terms for a CSV cell. If a slug is all digits, it returns the term's id instead. A
// write would read such a slug as an id.
func termCell(terms []EventTerm) string {
	return listCell(terms, func(t EventTerm) string {
		if strings.Trim(t.Slug, "0123456789") == "" {
			return idCell(t.ID)
		}
		return t.Slug
	})
}

func listCell[T any](items []T, cell func(T) string) string {
	cells := make([]string, len(items))
	for i, item := range items {
		cells[i] = cell(item)
	}
	return strings.Join(cells, ",")
}
