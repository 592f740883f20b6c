// Package sheet reads tables that spreadsheets write as text. It finds their encoding and their separator.
package sheet

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// MaxRows and the other constants limit a table. maxReread limits how much text the parser reads twice, in bytes.
const (
	maxBytes   = 32 << 20
	maxColumns = 500
	MaxRows    = 100_000
	maxCell    = 1 << 20 // bytes of a cell in quotes
	maxReread  = 64 << 20
)

// ErrEmpty and the other errors of Open say why it refuses a file.
var (
	ErrEmpty   = errors.New("the table is empty")
	ErrBinary  = errors.New("not a text")
	errColumns = fmt.Errorf("more than %d columns", maxColumns)
	errBytes   = fmt.Errorf("over %d MiB", maxBytes>>20)
)

// Table is a table with a header. It has the whole text in memory. Rows parses one row at a time.
type Table struct {
	Header     []string
	HeaderLine int    // number of its first line in the file, from 1
	Encoding   string // name of the encoding, such as UTF-8
	Separator  byte

	text string // UTF-8, from the row after the header
	line int    // number of the first line of text
}

// Row is a row of a table.
type Row struct {
	Line  int // number of its first line in the file, from 1
	Cells []string
	Flaws []string // messages on parts of the row that could not be read as written
}

// Open reads the header of a table in CSV or a similar format. It skips empty lines before the header. If the text
// does not show its encoding, it is Windows-1250 if polish is true, or else Windows-1252.
func Open(data []byte, polish bool) (*Table, error) {
	if len(data) > maxBytes {
		return nil, errBytes
	}
	text, encoding, err := decode(data, polish)
	if err != nil {
		return nil, err
	}
	t := &Table{Encoding: encoding, text: text, line: 1}
	named := byte(0) // separator that the first line names
	for {
		line, rest, _ := strings.Cut(t.text, "\n")
		line = strings.TrimRight(line, "\r")
		if len(line) == len("sep=;") && strings.EqualFold(line[:4], "sep=") {
			named = line[4]
		} else if strings.Trim(line, " \t,;|\"\r") != "" {
			break
		}
		if rest == "" {
			return nil, ErrEmpty
		}
		t.text, t.line = rest, t.line+1
	}
	if t.Separator = named; named == 0 || !strings.Contains(separators, string(named)) {
		t.Separator = findSeparator(t.text)
	}
	if err := t.NextHeader(); err != nil {
		return nil, err
	}
	return t, nil
}

// NextHeader makes the next row the header. Call it if the table has a title above its header. It returns ErrEmpty if
// there is no further row.
func (t *Table) NextHeader() error {
	p := parser{text: t.text, line: t.line, separator: t.Separator}
	header, ok := p.next(0)
	switch {
	case !ok:
		return ErrEmpty
	case len(header.Cells) > maxColumns:
		return errColumns
	}
	t.Header = make([]string, len(header.Cells))
	for i, name := range header.Cells {
		t.Header[i] = strings.Join(strings.Fields(name), " ")
	}
	t.HeaderLine, t.text, t.line = header.Line, p.text, p.line
	return nil
}

// Rows yields the rows of the table, except for empty ones. Each has as many cells as the header. After the last row
// it calls complete with true. If the table has more than MaxRows rows, it stops and calls complete with false. If
// the caller stops, it does not call complete.
func (t *Table) Rows(complete func(bool)) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		p := parser{text: t.text, line: t.line, separator: t.Separator}
		for n := 0; ; {
			row, ok := p.next(len(t.Header))
			if !ok {
				break
			}
			if !slices.ContainsFunc(row.Cells, func(s string) bool { return strings.TrimSpace(s) != "" }) {
				continue
			}
			if n++; n > MaxRows {
				complete(false)
				return
			}
			if len(row.Cells) > len(t.Header) {
				if slices.ContainsFunc(row.Cells[len(t.Header):], func(s string) bool { return strings.TrimSpace(s) != "" }) {
					row.Flaws = append(row.Flaws, "more cells than the header has; the others are left out")
				}
				row.Cells = row.Cells[:len(t.Header)]
			}
			for len(row.Cells) < len(t.Header) {
				row.Cells = append(row.Cells, "")
			}
			if !yield(row) {
				return
			}
		}
		complete(true)
	}
}

// separators are the characters that may separate cells. The first wins if several fit.
const separators = ",;\t|"

// findSeparator returns the most likely separator of cells. It is the one with which most of the first rows have as
// many cells as the header. The default is a comma.
func findSeparator(text string) byte {
	const enough = 20 // rows
	best, bestFit, bestColumns := separators[0], -1.0, 0
	for i := range len(separators) {
		p := parser{text: text, separator: separators[i]}
		header, ok := p.next(0)
		columns := len(header.Cells)
		if !ok || columns < 2 || columns > maxColumns {
			continue
		}
		same, all := 1, 1
		for range enough {
			row, ok := p.next(0)
			if !ok {
				break
			}
			if all++; len(row.Cells) == columns {
				same++
			}
		}
		fit := float64(same) / float64(all)
		if fit > bestFit+0.001 || fit > bestFit-0.001 && columns > bestColumns {
			best, bestFit, bestColumns = separators[i], fit, columns
		}
	}
	return best
}
