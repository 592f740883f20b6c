package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/sheet"
)

// Prefixes of source ids of records in tables. Records other than events have no id in a table.
const (
	csvEvent     = "csv:"
	csvVenue     = "csv-venue:"
	csvOrganizer = "csv-organizer:"
	csvTerm      = "csv-term:"
	csvImage     = "csv-image:"
	csvHere      = "csv-here:" // records of this calendar that a table names by id or slug
)

// Tables says how a Reader reads tables.
type Tables struct {
	Maps  []string  // COLUMN=FIELD for columns with other names
	Dates DateOrder // order of dates that can be read in two ways
	// Preview is called before Read returns, with what was understood. If the order of dates is unknown, it is first
	// called with Ambiguous set and returns the order; "" ends the read with an error. Nil shows and asks nothing.
	Preview func(TablePreview) (DateOrder, error)
}

// TablePreview is the beginning of a table as it was understood.
type TablePreview struct {
	Encoding, Separator string
	Columns             []PreviewColumn
	Rows                []PreviewRow
	Ambiguous           []AmbiguousDate
}

// PreviewColumn is a column with its field. Field is "" if the column is not read.
type PreviewColumn struct{ Header, Field string }

// PreviewRow is a row as it would be stored. Problem is the reason why it does not come, else "".
type PreviewRow struct {
	Line                                    int
	Title, Start, End, Venue, Cost, Problem string
}

// AmbiguousDate is the first date of a column with both of its readings.
type AmbiguousDate struct {
	Header, Text         string
	Line                 int
	DayFirst, MonthFirst string
}

const previewRows = 5

// Errors of files that are no tables of text.
var (
	errSpreadsheet = errors.New("a spreadsheet, not a table of text; save it as CSV (UTF-8) and import that")
	errNoTable     = errors.New("not a table")
)

// tableReader turns the rows of a table into events.
type tableReader struct {
	*Reader
	table   *sheet.Table
	columns []sheetColumn
	orders  map[string]DateOrder // by field
	own     bool                 // a table that Almanac wrote: it has id and url
	lines   map[string]int       // line by source id
	cal     *Calendar
}

// isSpreadsheet reports whether a file is one of a spreadsheet program.
func isSpreadsheet(data []byte) bool {
	return bytes.HasPrefix(data, []byte("PK\x03\x04")) || bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0"))
}

// readTable reads a table. It returns errNoTable for data that is not a table.
func (r *Reader) readTable(data []byte) (*Calendar, error) {
	if isSpreadsheet(data) {
		return nil, errSpreadsheet
	}
	if start := bytes.TrimSpace(bytes.TrimPrefix(data, byteOrderMark)); len(start) == 0 || strings.IndexByte("{[<", start[0]) >= 0 {
		return nil, errNoTable
	}
	table, err := sheet.Open(data, r.icalSite().Language == calendar.Polish)
	switch {
	case errors.Is(err, sheet.ErrBinary), errors.Is(err, sheet.ErrEmpty):
		return nil, errNoTable
	case err != nil:
		return nil, err
	}
	t := &tableReader{Reader: r, table: table, orders: make(map[string]DateOrder), lines: make(map[string]int), cal: &Calendar{}}
	if err := t.findColumns(); err != nil {
		return nil, err
	}
	preview := TablePreview{Encoding: table.Encoding, Separator: string(table.Separator)}
	var ignored []string
	for _, c := range t.columns {
		preview.Columns = append(preview.Columns, PreviewColumn{c.header, c.field})
		if c.field == "" {
			ignored = append(ignored, c.header)
		}
	}
	if err := t.findOrders(preview); err != nil {
		return nil, err
	}
	for row := range table.Rows(t.checkEnd) {
		shown := t.row(row)
		if len(preview.Rows) < previewRows {
			preview.Rows = append(preview.Rows, shown)
		}
	}
	if len(ignored) > 0 {
		t.cal.Notices = append(t.cal.Notices, fmt.Sprintf("columns that are not read: %s", quotedNames(ignored)))
	}
	if r.Tables.Preview != nil {
		if _, err := r.Tables.Preview(preview); err != nil {
			return nil, err
		}
	}
	return t.cal, nil
}

// maxTitleRows is the maximum number of rows above the header, which have the title of the table.
const maxTitleRows = 10

// findColumns finds the header and the fields of its columns. A header below other rows needs columns of titles and starts: a
// cell of any row may be the name of a column.
func (t *tableReader) findColumns() (err error) {
	first := t.table.Header
	for rows := range maxTitleRows + 1 {
		if t.columns, err = sheetColumns(t.table.Header, t.Tables.Maps); err != nil {
			return err
		}
		t.own = hasField(t.columns, "id") && hasField(t.columns, "url")
		title, start := hasField(t.columns, "title"), hasField(t.columns, "start_date")
		switch {
		case t.own || rows == 0 && (title || start):
			return nil
		case title && start:
			t.cal.Notices = append(t.cal.Notices, fmt.Sprintf("what is above the header in line %d is not read", t.table.HeaderLine))
			return nil
		}
		if t.table.NextHeader() != nil {
			break
		}
	}
	if len(first) == 1 {
		return errNoTable
	}
	return noColumnsError(first)
}

// checkEnd records a table with too many rows.
func (t *tableReader) checkEnd(complete bool) {
	if !complete {
		t.cal.Problems = append(t.cal.Problems, Problem{
			Where: "the file", Reason: fmt.Sprintf("more than %d rows; what follows is not read", sheet.MaxRows),
		})
	}
}

// dateFields are the fields with dates, in which the day or the month may come first.
var dateFields = []string{"start_date", "end_date", "published"}

// findOrders finds the order of day and month in each column of dates. Only dates of that column prove it.
func (t *tableReader) findOrders(preview TablePreview) error {
	type found struct {
		proved    map[DateOrder]bool
		ambiguous *AmbiguousDate
	}
	columns := make([]found, len(t.columns))
	for row := range t.table.Rows(func(bool) {}) {
		for i, c := range t.columns {
			if !slices.Contains(dateFields, c.field) || len(row.Cells[i]) > maxDateText {
				continue
			}
			order, ambiguous := evidence(row.Cells[i])
			if order != "" {
				if columns[i].proved == nil {
					columns[i].proved = make(map[DateOrder]bool)
				}
				columns[i].proved[order] = true
			}
			if ambiguous && columns[i].ambiguous == nil {
				columns[i].ambiguous = &AmbiguousDate{Header: c.header, Text: strings.TrimSpace(row.Cells[i]), Line: row.Line}
			}
		}
	}
	for i, c := range t.columns {
		f := columns[i]
		switch {
		case t.Tables.Dates != "":
			t.orders[c.field] = t.Tables.Dates
		case f.ambiguous == nil:
		case len(f.proved) == 1:
			for order := range f.proved {
				t.orders[c.field] = order
			}
		default:
			a := *f.ambiguous
			a.DayFirst, a.MonthFirst = readingOf(a.Text, DayFirst), readingOf(a.Text, MonthFirst)
			preview.Ambiguous = append(preview.Ambiguous, a)
		}
	}
	if len(preview.Ambiguous) == 0 {
		return nil
	}
	var order DateOrder
	if t.Tables.Preview != nil {
		var err error
		if order, err = t.Tables.Preview(preview); err != nil {
			return err
		}
	}
	if order == "" {
		a := preview.Ambiguous[0]
		return fmt.Errorf("line %d, column %q: %q is %s with --dates dmy and %s with --dates mdy; say which", a.Line, shorten(a.Header),
			shorten(a.Text), a.DayFirst, a.MonthFirst)
	}
	t.Tables.Dates = order // another read of the same source asks no more
	for _, field := range dateFields {
		if t.orders[field] == "" {
			t.orders[field] = order
		}
	}
	return nil
}

// readingOf returns a date as it is read in an order.
func readingOf(text string, order DateOrder) string {
	d, err := readDate(text, order)
	if err != nil {
		return err.Error()
	}
	return d.day.Format("2 January 2006")
}

// sheetRow is a row with its cells by field.
type sheetRow struct {
	*tableReader
	object
	cells map[string]string
	where string
}

// row reads a row and adds its event or a Problem to the calendar. It returns the row for the preview.
func (t *tableReader) row(in sheet.Row) PreviewRow {
	r := sheetRow{tableReader: t, cells: make(map[string]string, len(t.columns)), where: fmt.Sprintf("line %d", in.Line)}
	r.object = object{members: make(map[string]json.RawMessage), log: &journal{}}
	for i, c := range t.columns {
		if c.field != "" {
			r.cells[c.field] = strings.TrimSpace(withoutGuard(in.Cells[i]))
		}
	}
	if flag, ok := r.cells["all_day"]; t.own && ok && flag == "" {
		// The row of a protected event shows no fields but its title and dates. The others stay as they are.
		maps.DeleteFunc(r.cells, func(_, cell string) bool { return cell == "" })
	}
	r.log.notices = append(r.log.notices, in.Flaws...)
	e := r.event()
	if line, twice := t.lines[e.Key]; twice && len(r.log.faults) == 0 {
		r.log.faults = append(r.log.faults, fmt.Errorf("the same event as line %d: %s", line, t.identity(r.cells)))
	}
	shown := PreviewRow{
		Line: in.Line, Title: e.Title, Start: r.cells["start_date"], Venue: r.cells["venue"], Cost: r.cells["cost"],
	}
	if !e.Span.Start.IsZero() {
		layout := calendar.Layout
		if e.Span.AllDay {
			layout = "2006-01-02"
		}
		shown.Start, shown.End = e.Span.Start.Format(layout), e.Span.End.Format(layout)
	}
	for _, n := range r.log.notices {
		t.cal.Notices = append(t.cal.Notices, r.where+": "+t.inColumn(n))
	}
	if len(r.log.faults) > 0 {
		texts := make([]error, len(r.log.faults))
		for i, fault := range r.log.faults {
			texts[i] = errors.New(t.inColumn(fault.Error()))
		}
		shown.Problem = joinErrors(texts)
		t.cal.Problems = append(t.cal.Problems, Problem{Kind: calendar.Event, Title: shorten(e.Title), Where: r.where, Reason: shown.Problem})
		return shown
	}
	e.Altered = len(r.log.notices) > 0
	t.lines[e.Key] = in.Line
	t.cal.Events = append(t.cal.Events, e)
	return shown
}

// identity names what a row is known by.
func (t *tableReader) identity(cells map[string]string) string {
	if cells["id"] != "" {
		return "it has the same id"
	}
	return "it has the same title, start and venue"
}

// inColumn replaces the field at the start of a message by its column.
func (t *tableReader) inColumn(text string) string {
	field, rest, ok := strings.Cut(text, ": ")
	if i := slices.IndexFunc(t.columns, func(c sheetColumn) bool { return c.field == field }); ok && field != "" && i >= 0 {
		return t.columns[i].label() + ": " + rest
	}
	return text
}

// withoutGuard removes the apostrophe that exports put before a cell that a spreadsheet would take as a formula.
func withoutGuard(cell string) string {
	rest := strings.TrimLeft(cell, "'")
	if len(rest) < len(cell) && rest != "" && strings.IndexByte("=+-@\t\r\n", rest[0]) >= 0 {
		return cell[1:]
	}
	return cell
}

// set makes a cell a member of the object, so that it is read like a member of an event's JSON.
func (r sheetRow) set(field, text string) {
	raw, err := json.Marshal(text)
	if err == nil {
		r.members[field] = raw
	}
}

// has reports whether the table has the field.
func (r sheetRow) has(field string) bool {
	_, ok := r.cells[field]
	return ok
}

// event reads the event of a row.
func (r sheetRow) event() *Event {
	e := &Event{Origin: Origin{Where: r.where}, InFile: true}
	if id := r.cells["id"]; r.own && id != "" && r.cells["url"] != "" {
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
			r.notice("published", fmt.Sprintf("%q: %v; left out", shorten(d), err))
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

// title returns the text in the column of titles. In a table of Almanac it is as a write takes it.
func (r sheetRow) title() string {
	title := r.cells["title"]
	if !r.own {
		return title
	}
	text, err := markup.Text(title)
	if err != nil {
		r.notice("title", err.Error()+"; taken as it is")
		return title
	}
	return text
}

// oneLineTitle returns a title on one line.
func (r sheetRow) oneLineTitle(title string) string {
	s := onOneLine(title)
	if cut := cutTo(s, maxTitle); cut != s {
		r.notice("title", fmt.Sprintf("cut to %d characters", maxTitle))
		return cut
	}
	return s
}

// key returns the source id of the event: of its id, else of its title, start and venue.
func (r sheetRow) key(e *Event) string {
	id := r.cells["id"]
	if id == "" {
		start := e.Span.Start.String()
		return csvEvent + "without-id-" + digest(strings.Join([]string{
			calendar.FoldName(e.Title), start, calendar.FoldName(r.cells["venue"] + r.cells["location"]),
		}, "\n"))
	}
	if key := csvEvent + onOneLine(id); len(key) <= maxSource && key == csvEvent+id {
		return key
	}
	return csvEvent + digest(id)
}

// rich returns a text as HTML. Plain text keeps its lines. Nil means that the table has no such column.
func (r sheetRow) rich(field string) *string {
	if !r.has(field) {
		return nil
	}
	text := r.cells[field]
	if !r.own && !isHTML(text) {
		text = html.EscapeString(text)
	}
	out, err := markup.HTML(text)
	if err != nil {
		r.notice(field, err.Error()+"; left out")
		return nil
	}
	return new(strings.TrimSpace(out))
}

// status returns the status of a row. Unknown words are faults, because the event might not be for the public.
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

// synonyms maps folded words of states to those of the API.
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

// synonym returns the word of the API for a state.
func synonym(text string) string {
	folded := foldDate(text)
	if word := synonyms[folded]; word != "" {
		return word
	}
	return folded
}

// yesNo returns the flag in a cell. Nil means none.
func (r sheetRow) yesNo(field string) *bool {
	switch text := r.cells[field]; foldDate(text) {
	case "":
	case "1", "true", "yes", "y", "on", "x", "tak", "t", "prawda", "si", "s", "verdadero", "✓", "✔":
		return new(true)
	case "0", "false", "no", "n", "off", "nie", "falsz", "falso", "-":
		return new(false)
	default:
		r.notice(field, fmt.Sprintf("%q is neither yes nor no; left out", shorten(text)))
	}
	return nil
}

// cost returns the cost in a cell, with the currency of other columns.
func (r sheetRow) cost() calendar.Cost {
	c := calendar.ParseCost(costElements(r.text("cost", maxText)), r.Site.Currency.Decimal)
	if symbol := r.cells["currency_symbol"]; c.Symbol == "" && len(c.Prices) > 0 && isCurrencySymbol(symbol) {
		c.Symbol, c.Position = symbol, positionOf(r.cells["currency_position"])
	}
	return c
}

// website returns the web address in a cell. One without its scheme gets https.
func (r sheetRow) website() string {
	if text := r.cells["website"]; hostPattern.MatchString(text) && webAddress("https://"+text) != "" {
		return "https://" + text
	}
	return r.link("website")
}

// start returns the start of a date: its day with its first time.
func (d sheetDate) start() calendar.Wall {
	if len(d.times) > 0 {
		return d.times[0].on(d.day)
	}
	return d.day
}

// longNight is the longest time that an end without a date, before the start, may be after it on the next day.
const longNight = 12 * time.Hour

// span reads when the event takes place.
func (r sheetRow) span(e *Event) {
	s := calendar.Span{Zone: r.Site.Zone}
	if name := r.cells["timezone"]; name != "" {
		z, err := parseZone(name)
		if err != nil {
			r.fault("timezone", "%q is unknown", shorten(name))
			return
		}
		s.Zone = z
	}
	date := func(field string) (d sheetDate, ok bool) {
		text := r.cells[field]
		if text == "" {
			return d, false
		}
		d, err := readDate(text, r.orders[field])
		if err == nil && d.at != nil {
			wall := s.Zone.Wall(*d.at)
			h, m, sec := wall.Clock()
			d = sheetDate{day: wall.StartOfDay(), times: []sheetClock{{h, m, sec}}}
		}
		if err == nil {
			return d, true
		}
		if field == "end_date" {
			// A cell may have a time only.
			if times, timeErr := readTimes(text, false); timeErr == nil && len(times) == 1 {
				return sheetDate{times: times}, true
			}
			if e.Edited == nil {
				r.notice(field, fmt.Sprintf("%q: %v; left out", shorten(text), err))
				return d, false
			}
		}
		r.fault(field, "%q: %v", shorten(text), err)
		return d, false
	}
	clock := func(field string) (times []sheetClock) {
		text := r.cells[field]
		if text == "" {
			return nil
		}
		times, err := readTimes(text, true)
		if err != nil || len(times) == 0 {
			if field == "end_time" {
				r.notice(field, fmt.Sprintf("%q: %v; left out", shorten(text), errNoTime))
			} else {
				r.fault(field, "%q: %v", shorten(text), errNoTime)
			}
			return nil
		}
		return times
	}
	allDay := r.yesNo("all_day")
	first, started := date("start_date")
	if !started {
		switch {
		case len(r.log.faults) > 0:
		case e.Edited == nil:
			r.fault("start_date", "missing")
		default:
			if last, ok := date("end_date"); ok {
				e.Span.End = last.start()
			}
		}
		return
	}
	times := first.times
	if more := clock("start_time"); len(more) > 0 {
		times = more
	}
	last, ended := date("end_date")
	endTimes := last.times
	if more := clock("end_time"); len(more) > 0 {
		endTimes = more
	}
	if len(times) > 0 {
		s.Start = times[0].on(first.day)
	} else {
		s.Start = first.day
	}
	s.AllDay = len(times) == 0 && len(endTimes) == 0
	if allDay != nil {
		s.AllDay = *allDay
	}
	if !ended && first.last != nil {
		last, ended = *first.last, true
		if len(endTimes) == 0 {
			endTimes = last.times
		}
	}
	if len(endTimes) == 0 && len(times) == 2 {
		endTimes = times[1:]
	}
	dated := ended && !last.day.IsZero()
	s.End = s.Start
	switch {
	case s.AllDay:
		if dated {
			s.End = last.day
		}
	case len(endTimes) > 0 && dated:
		s.End = endTimes[len(endTimes)-1].on(last.day)
	case len(endTimes) > 0:
		s.End = endTimes[len(endTimes)-1].on(first.day)
		if next := s.End.AddDate(0, 0, 1); s.End.Before(s.Start) && next.Sub(s.Start) <= longNight {
			s.End = next
		}
	case dated && last.day.Equal(first.day):
	case dated:
		s.End = last.day.EndOfDay()
		if len(times) > 0 {
			s.End = times[0].on(last.day)
		}
	case r.cells["duration"] != "":
		length, err := readDuration(r.cells["duration"])
		if err != nil {
			r.notice("duration", fmt.Sprintf("%q: %v; left out", shorten(r.cells["duration"]), err))
		}
		s.End = s.Start.Add(length)
	}
	s = s.Rounded()
	if !s.AllDay {
		// A wall time that the clock of the zone skips is replaced by the time at that instant.
		s.Start, s.End = s.Zone.Wall(s.StartsAt()), s.Zone.Wall(s.EndsAt())
	}
	err := s.Check()
	if errors.Is(err, calendar.ErrEndBeforeStart) && e.Edited == nil {
		r.notice("end_date", "before the start; the event has no length")
		s.End = s.Start
		s = s.Rounded()
		err = s.Check()
	}
	if err != nil {
		r.fault("start_date", "%v", err)
	}
	e.Span = s
}

// links reads venue, organizer, categories and tags.
func (r sheetRow) links(e *Event) {
	ids := r.own && (e.Edited != nil || r.cells["id"] == "") // numbers are ids of this calendar
	if r.has("venue") || r.has("location") {
		e.HasVenues = true
		if list := idList(r.cells["venue"]); ids && list != nil {
			for _, id := range list {
				e.Venues = append(e.Venues, &Venue{Origin: r.here(calendar.Venue, id)})
			}
		} else if v := r.venue(); v != nil {
			e.Venues = []*Venue{v}
		}
	}
	if r.has("organizer") {
		e.HasOrganizers = true
		name := cutTo(onOneLine(r.cells["organizer"]), maxTitle)
		if list := idList(name); ids && list != nil {
			for _, id := range list {
				e.Organizers = append(e.Organizers, &Organizer{Origin: r.here(calendar.Organizer, id)})
			}
		} else if name != "" {
			email := r.inert("organizer_email", maxText)
			e.Organizers = []*Organizer{{
				Origin: Origin{
					Key:   csvOrganizer + digest(calendar.FoldName(name)+"\n"+strings.ToLower(email)),
					Where: "organizer of " + r.where, NameOnly: true,
				},
				Name: name, Email: email, Phone: r.inert("organizer_phone", maxText),
			}}
		}
	}
	e.HasCategories, e.HasTags = r.has("categories"), r.has("tags")
	r.terms(e, "categories", calendar.Category)
	r.terms(e, "tags", calendar.Tag)
}

// here returns the origin of a record of this calendar that the table names by its id.
func (r sheetRow) here(kind calendar.Kind, id int64) Origin {
	return Origin{Key: fmt.Sprintf("%s%s:%d", csvHere, kind, id), Where: fmt.Sprintf("%s of %s", kind, r.where), Here: id}
}

// idList returns the ids in a list such as 12,15. Nil means that the text is no such list.
func idList(text string) (ids []int64) {
	for item := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(item), 10, 64)
		if err != nil || id <= 0 {
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// venue returns the venue of a row; nil means none.
func (r sheetRow) venue() *Venue {
	name, address := r.cells["venue"], r.cells["venue_address"]
	if location := r.cells["location"]; name == "" && location != "" {
		if webAddress(location) != "" {
			return nil // it is the virtual_url
		}
		var rest string
		if name, rest, _ = strings.Cut(location, "\n"); rest == "" {
			name, rest, _ = strings.Cut(location, ",")
		}
		if address == "" {
			address = strings.TrimSpace(rest)
		}
	}
	r.set("venue_address", onOneLine(address))
	v := &Venue{
		Name: cutTo(onOneLine(name), maxTitle), Address: r.inert("venue_address", maxText), City: r.inert("venue_city", maxText),
		Zip: r.inert("venue_zip", maxText), Province: r.inert("venue_province", maxText), State: r.inert("venue_state", maxText),
		Country: r.inert("venue_country", maxText), ShowMap: true, ShowMapLink: true,
	}
	if v.Name == "" {
		if v.Address != "" {
			r.notice("venue_address", "without the name of a venue; left out")
		}
		return nil
	}
	v.Origin = Origin{
		Key: csvVenue + digest(calendar.FoldName(v.Name+"\n"+v.Address+"\n"+v.City)), Where: "venue of " + r.where, NameOnly: true,
	}
	return v
}

// maxSheetTerms is the maximum number of categories or tags of a row.
const maxSheetTerms = 50

// terms reads categories or tags: names or slugs with commas or semicolons between them.
func (r sheetRow) terms(e *Event, field string, kind calendar.Kind) {
	seen := make(map[string]bool)
	for item := range strings.FieldsFuncSeq(r.cells[field], func(c rune) bool { return strings.ContainsRune(",;|\n", c) }) {
		name := cutTo(onOneLine(item), maxText)
		folded := calendar.FoldName(name)
		if name == "" || seen[folded] {
			continue
		}
		if len(seen) == maxSheetTerms {
			r.notice(field, fmt.Sprintf("more than %d; the rest is left out", maxSheetTerms))
			return
		}
		seen[folded] = true
		e.Terms = append(e.Terms, &Term{
			Origin: Origin{
				Key: csvTerm + string(kind) + ":" + digest(folded), Where: fmt.Sprintf("%s of %s", kind, r.where), NameOnly: true, BySlug: r.own,
			},
			Kind: kind, Name: name,
		})
	}
}

// image reads the image of a row: an address, or an id of this calendar. An empty cell leaves it as it is.
func (r sheetRow) image(e *Event) {
	text := r.cells["image"]
	if list := idList(text); r.own && len(list) == 1 {
		if e.Edited != nil || r.cells["id"] == "" {
			e.HasImage, e.Image = true, &Image{Origin: r.here(calendar.Image, list[0])}
		}
		return
	}
	switch {
	case text == "0" && r.own:
		e.HasImage = true // none
		return
	case text == "":
		return
	}
	address := r.address("image")
	if address == "" {
		return
	}
	img := &Image{URL: address, Extension: extension("", address), Sizes: map[string]calendar.ImageSize{}}
	if img.MIMEType = mimeTypes[img.Extension]; img.MIMEType == "" {
		img.MIMEType = "application/octet-stream"
	}
	img.Origin = Origin{Key: csvImage + digest(address), Where: "image of " + r.where}
	e.HasImage, e.Image = true, img
}
