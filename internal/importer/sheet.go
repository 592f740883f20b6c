package importer

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/sheet"
)

// tableReader converts the rows of a table, such as a CSV file or a spreadsheet, to events.
type tableReader struct {
	*Reader
	table   *sheet.Table
	columns []sheetColumn
	orders  map[string]DateOrder // order of day and month, by field
	isOurs  bool                 // a table that Almanac wrote: it has id and url
	lines   map[string]int       // line by source id
	cal     *Calendar
}

// readTable reads a table. It returns errSpreadsheet for a spreadsheet file, and errNoTable for other data that is not
// a table.
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

// Tables has the options with which a Reader reads tables.
type Tables struct {
	Maps  []string  // COLUMN=FIELD for columns with other names
	Dates DateOrder // order of dates that can be read in two ways
	// Preview is called before Read returns, with what was understood. If the order of dates is unknown, it is first
	// called with Ambiguous set, and returns the order; "" ends the read with an error. Nil disables it.
	Preview func(TablePreview) (DateOrder, error)
}

// csvEvent and the other constants are prefixes of source ids of records in tables. Venues, organizers and terms
// have no id in a table.
const (
	csvEvent     = "csv:"
	csvVenue     = "csv-venue:"
	csvOrganizer = "csv-organizer:"
	csvTerm      = "csv-term:"
	csvImage     = "csv-image:"
	csvHere      = "csv-here:" // records of this calendar that a table names by id or slug
)

// errSpreadsheet and errNoTable are the errors for files that are not tables of text.
var (
	errSpreadsheet = errors.New("a spreadsheet, not a table of text; save it as CSV (UTF-8) and import that")
	errNoTable     = errors.New("not a table")
)

// isSpreadsheet reports whether a file begins like a spreadsheet such as XLSX, ODS or XLS, not like text.
func isSpreadsheet(data []byte) bool {
	return bytes.HasPrefix(data, []byte("PK\x03\x04")) || bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0"))
}

// maxTitleRows is the maximum number of title rows above the header.
const maxTitleRows = 10

// findColumns finds the header row, and the field of each column. A header below the first row must have columns for
// title and start, so that no other row is mistaken for it. It returns an error if it finds none.
func (t *tableReader) findColumns() (err error) {
	first := t.table.Header
	for rows := range maxTitleRows + 1 {
		if t.columns, err = sheetColumns(t.table.Header, t.Tables.Maps); err != nil {
			return err
		}
		t.isOurs = hasField(t.columns, "id") && hasField(t.columns, "url")
		title, start := hasField(t.columns, "title"), hasField(t.columns, "start_date")
		switch {
		case t.isOurs || rows == 0 && (title || start):
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

// checkEnd adds a Problem if the reader stopped at the maximum number of rows. complete is true if it read the last
// row.
func (t *tableReader) checkEnd(complete bool) {
	if !complete {
		t.cal.Problems = append(t.cal.Problems, Problem{
			Where: "the file", Reason: fmt.Sprintf("more than %d rows; what follows is not read", sheet.MaxRows),
		})
	}
}
