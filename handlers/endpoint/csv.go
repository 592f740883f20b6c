package endpoint

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/represent"
)

// Table encodes the rows of a list as CSV (contract, section 8).
var Table = Codec{"text/csv", "text/csv; charset=utf-8; header=present", encodeTable}

// maxTableSize is the largest number of records on a page of a table.
const maxTableSize = 2000

// formatJSONList and FormatTable are the values of the request parameter format, for JSON and CSV.
const (
	formatJSONList = "json"
	FormatTable    = "csv"
)

// byteOrderMark tells spreadsheets that a file is in UTF-8.
const byteOrderMark = "\ufeff"

// WithTables lets clients choose CSV for the replies of a list, by the parameter format or by Accept. It returns the
// endpoint.
func (e *Endpoint) WithTables() *Endpoint {
	e.Tables = true
	declare := e.Declare
	e.Declare = func(r *Request, p *param.Set) {
		var format *string
		p.Enum(&format, "format", "Form of the list: json, or csv for a table with up to 2000 records on a page",
			formatJSONList, FormatTable).PublishDefault(formatJSONList)
		declare(r, p)
	}
	return e
}

// codecFor returns Table if the request chooses CSV, else the codec of the endpoint. A request can choose CSV
// only for lists that WithTables extends. The parameter format decides if it was sent, else the values accept of
// the Accept header.
func (e *Endpoint) codecFor(format any, accept [][]byte) Codec {
	if !e.Tables {
		return e.Codec
	}
	if format != nil {
		if text, fault := param.String(format); fault != nil || text != FormatTable {
			return e.Codec
		}
		return Table
	}
	if PrefersTable(accept) {
		return Table
	}
	return e.Codec
}

// PrefersTable reports whether values of the Accept header prefer CSV to JSON (RFC 9110, section 12.5.1). It is false
// if both have the same weight.
func PrefersTable(accept [][]byte) bool {
	var table, json acceptedQuality
	for _, value := range accept {
		for part := range strings.SplitSeq(strings.ToLower(string(value)), ",") {
			media, params, _ := strings.Cut(part, ";")
			media = strings.TrimSpace(media)
			q := qualityOf(params)
			table.consider(media, "text/*", Table.MediaType, q)
			json.consider(media, "application/*", JSON.MediaType, q)
		}
	}
	return table.value > json.value
}

// acceptedQuality is the weight (q) that an Accept header gives to one media type. The most specific matching
// range of the header decides.
type acceptedQuality struct {
	value       float64
	specificity int // 0 means that no range matched
}

func (a *acceptedQuality) consider(media, family, exact string, q float64) {
	specificity := 1 + slices.Index([]string{"*/*", family, exact}, media)
	switch {
	case specificity == 0 || specificity < a.specificity:
	case specificity == a.specificity:
		a.value = max(a.value, q)
	default:
		a.value, a.specificity = q, specificity
	}
}

// qualityOf returns the weight q of a media range in an Accept header, given its parameters. It is 1 if q is
// missing, and 0 if q is not a number from 0 to 1.
func qualityOf(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		if name, text, _ := strings.Cut(p, "="); strings.TrimSpace(name) == "q" {
			q, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || !(q >= 0 && q <= 1) {
				return 0
			}
			return q
		}
	}
	return 1
}

// IsTable reports whether the reply is encoded as CSV.
func (r *Request) IsTable() bool { return r.Codec.MediaType == Table.MediaType }

// LargestPage returns the largest number of records on a page of a list: 2000 in CSV, ent.MaxRead in JSON.
func (r *Request) LargestPage() int64 {
	if r.IsTable() {
		return maxTableSize
	}
	return ent.MaxRead
}

// encodeTable encodes a represent.Row as a line of CSV, or a list of encoded rows as a CSV file. It returns an
// error for other values. The argument fields names the columns of a file, separated by commas. "" means all.
func encodeTable(value any, fields string) ([]byte, error) {
	switch v := value.(type) {
	case represent.Row:
		return encodeRow(v)
	case *list:
		return v.table(fields)
	}
	return nil, fmt.Errorf("%T is no table", value)
}

// table returns the list as CSV, with a header line. The argument fields names the columns to keep, separated by
// commas. "" means all. If no column has one of the names, only the byte order mark is left.
func (l *list) table(fields string) ([]byte, error) {
	columns := represent.Columns[l.kind]
	head, err := encodeRow(columns)
	if err != nil {
		return nil, err
	}
	size := len(byteOrderMark) + len(head)
	for _, item := range l.items {
		size += len(item)
	}
	out := append(make([]byte, 0, size), byteOrderMark...)
	switch kept := keptColumns(columns, fields); {
	case kept == nil:
		out = append(out, head...)
	case !slices.Contains(kept, true):
		return out, nil
	default:
		out = appendCells(out, head, kept)
	}
	for _, item := range l.items {
		out = append(out, item...)
	}
	return out, nil
}

// keptColumns returns, for each column of a table, whether a comma-separated list of fields names it. Nil means that
// all columns are kept.
func keptColumns(columns []string, fields string) []bool {
	keep := fieldPaths(fields)
	if keep == nil {
		return nil
	}
	kept := make([]bool, len(columns))
	for i, name := range columns {
		_, kept[i] = keep[name]
	}
	return kept
}

// maxTableBytes is the largest total size of rows in a CSV reply, in bytes. The row of a usual event takes about
// 800 bytes.
const maxTableBytes = 16 << 20

// TableRows collects the rows of a CSV reply. It reduces each row to the requested columns and adds up their
// sizes. A nil *TableRows is for JSON replies: it changes nothing and is never full.
type TableRows struct {
	kept []bool // see keptColumns
	size int
}

// TableRows returns a new collector of CSV rows for a list of the kind. It returns nil if the reply is not CSV.
func (r *Request) TableRows(kind calendar.Kind) *TableRows {
	if !r.IsTable() {
		return nil
	}
	return &TableRows{kept: keptColumns(represent.Columns[kind], r.Fields)}
}

// Take reduces an encoded row to the requested columns and adds its size to the total. It returns the reduced row.
// On nil it returns the row unchanged.
func (t *TableRows) Take(row []byte) []byte {
	if t == nil {
		return row
	}
	if t.kept != nil {
		row = slices.Clip(appendCells(nil, row, t.kept))
	}
	t.size += len(row)
	return row
}

// Full reports whether the collected rows are larger than maxTableBytes. It is false on nil.
func (t *TableRows) Full() bool { return t != nil && t.size > maxTableBytes }

// Cut makes the rendering r pass each encoded row through Take. The rendering fails with ErrTableTooLarge once
// the rows are larger than maxTableBytes. Cut returns r. On nil it changes nothing.
func (t *TableRows) Cut(r *reply.Rendering) *reply.Rendering {
	if t != nil {
		r.Cut = t.Take
		r.Full = func() error {
			if t.Full() {
				return ErrTableTooLarge()
			}
			return nil
		}
	}
	return r
}

// ErrTableTooLarge returns the error for a CSV reply whose rows exceed maxTableBytes. It asks the client for a
// smaller per_page.
func ErrTableTooLarge() error {
	return param.Invalid{Faults: []param.Fault{{
		Param: "per_page", Reason: "rest_out_of_bounds", Key: "table-too-large", Args: map[string]any{"Maximum": maxTableBytes >> 20},
	}}}
}

// appendCells appends to out those cells of an encoded row for which kept is true. The cells stay encoded, so
// their bytes do not change.
func appendCells(out, row []byte, kept []bool) []byte {
	row = bytes.TrimSuffix(row, []byte("\r\n"))
	start := len(out)
	for _, keep := range kept {
		quoted, end := false, 0
		for end < len(row) && (quoted || row[end] != ',') {
			if row[end] == '"' {
				quoted = !quoted
			}
			end++
		}
		if keep {
			if len(out) > start {
				out = append(out, ',')
			} else if end == 0 {
				out = append(out, `""`...) // an empty line would be no row, and the first cell needs bytes before its comma
			}
			out = append(out, row[:end]...)
		}
		row = row[min(end+1, len(row)):]
	}
	return append(out, "\r\n"...)
}

// encodeRow returns a row as a line of CSV (RFC 4180), with formulas made inert by inertCell. Line breaks inside
// cells stay as they are.
func encodeRow(cells []string) ([]byte, error) {
	safe := make([]string, len(cells))
	for i, cell := range cells {
		safe[i] = inertCell(cell)
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(safe); err != nil {
		return nil, err
	}
	w.Flush()
	// The row may stay in the record cache, so it takes no more memory than it needs.
	return slices.Concat(bytes.TrimSuffix(b.Bytes(), []byte("\n")), []byte("\r\n")), w.Error()
}

// inertCell puts an apostrophe before a cell that a spreadsheet would run as a formula, such as "=1+2". It also
// does so if apostrophes precede the formula, so that a reader can remove exactly one.
func inertCell(cell string) string {
	if rest := strings.TrimLeft(cell, "'"); rest != "" && strings.IndexByte("=+-@\t\r", rest[0]) >= 0 {
		return "'" + cell
	}
	return cell
}
