package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/sheet"
)

// sheetRow is one row of a table, with the text of each cell by field.
type sheetRow struct {
	*tableReader
	object
	cells map[string]string
	where string
}

// row adds the event of a row, or a Problem, to the calendar. It returns the row for the preview.
func (t *tableReader) row(in sheet.Row) PreviewRow {
	r := sheetRow{tableReader: t, cells: make(map[string]string, len(t.columns)), where: fmt.Sprintf("line %d", in.Line)}
	r.object = object{members: make(map[string]json.RawMessage), log: &readLog{}}
	for i, c := range t.columns {
		if c.field != "" {
			r.cells[c.field] = strings.TrimSpace(withoutGuard(in.Cells[i]))
		}
	}
	if flag, ok := r.cells["all_day"]; t.isOurs && ok && flag == "" {
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
		t.cal.Problems = append(t.cal.Problems, Problem{Kind: calendar.Event, Title: abbreviate(e.Title), Where: r.where, Reason: shown.Problem})
		return shown
	}
	e.Altered = len(r.log.notices) > 0
	t.lines[e.Key] = in.Line
	t.cal.Events = append(t.cal.Events, e)
	return shown
}

// identity returns the reason, as text, why two rows are the same event: the same id, or the same title, start and
// venue.
func (t *tableReader) identity(cells map[string]string) string {
	if cells["id"] != "" {
		return "it has the same id"
	}
	return "it has the same title, start and venue"
}

// inColumn replaces the field at the start of a message by the name of its column.
func (t *tableReader) inColumn(text string) string {
	field, rest, ok := strings.Cut(text, ": ")
	if i := slices.IndexFunc(t.columns, func(c sheetColumn) bool { return c.field == field }); ok && field != "" && i >= 0 {
		return t.columns[i].label() + ": " + rest
	}
	return text
}

// withoutGuard removes the apostrophe that exports put before a text which a spreadsheet program would treat as a
// formula.
func withoutGuard(cell string) string {
	rest := strings.TrimLeft(cell, "'")
	if len(rest) < len(cell) && rest != "" && strings.IndexByte("=+-@\t\r\n", rest[0]) >= 0 {
		return cell[1:]
	}
	return cell
}

// set stores a text as a JSON member, so that the field is read like one from the API.
func (r sheetRow) set(field, text string) {
	raw, err := json.Marshal(text)
	if err == nil {
		r.members[field] = raw
	}
}

// has reports whether the table has a column for the field.
func (r sheetRow) has(field string) bool {
	_, ok := r.cells[field]
	return ok
}
