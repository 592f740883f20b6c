package sheet

import (
	"slices"
	"strings"
)

// parser splits the text of a table into rows. It accepts quotes in any place of a cell.
type parser struct {
	text      string // rest of the text
	line      int
	separator byte
	reread    int // bytes that were read again because of a flaw
}

// flawQuotes and the other constants are values of Row.Flaws.
const (
	flawQuotes = "quotes that do not match; read as written"
	flawOpen   = "a quote without its end; the row ends with its line"
	flawCell   = "a cell over 1 MiB; cut"
	flawMany   = "more columns than a table may have"
)

// next returns the next row, and false at the end of the text. Rows should have as many cells as columns says, where
// 0 means unknown. A row with an unmatched quote could swallow the rows after it. In that case next ends the row at
// the end of its line.
func (p *parser) next(columns int) (Row, bool) {
	if p.text == "" {
		return Row{}, false
	}
	if p.reread > maxReread {
		row, rest := p.read(true)
		return p.accept(row, rest), true
	}
	row, rest := p.read(false)
	whole := p.text[:len(p.text)-len(rest)]
	body := strings.TrimRight(whole, "\r\n")
	if strings.ContainsAny(body, "\r\n") && (len(row.Flaws) > 0 || columns > 0 && len(row.Cells) != columns) {
		p.reread += len(whole)
		single, afterLine := p.read(true)
		if columns == 0 || len(single.Cells) == columns || len(row.Flaws) > 0 {
			single.Flaws = append(single.Flaws, flawOpen)
			return p.accept(single, afterLine), true
		}
	}
	return p.accept(row, rest), true
}

// accept sets the row's line number, and moves the parser behind the row. rest is the text after the row.
func (p *parser) accept(row Row, rest string) Row {
	row.Line = p.line
	p.line += lineBreaks(p.text[:len(p.text)-len(rest)])
	p.text = rest
	return row
}

// lineBreaks returns the number of line breaks in a text. CR LF counts as one.
func lineBreaks(s string) int {
	return strings.Count(s, "\n") + strings.Count(s, "\r") - strings.Count(s, "\r\n")
}

// read reads a row from the start of the text, and returns the text after it. If oneLine is true, the row ends at the
// end of its line, even within quotes. The position of the parser does not change.
func (p *parser) read(oneLine bool) (row Row, rest string) {
	rest = p.text
	if oneLine {
		if end := strings.IndexAny(rest, "\r\n"); end >= 0 {
			rest = rest[:end]
		}
		defer func(line string) {
			rest = p.text[len(line):]
			if strings.HasPrefix(rest, "\r\n") {
				rest = rest[2:]
			} else if rest != "" {
				rest = rest[1:]
			}
		}(rest)
	}
	stops := string(p.separator) + "\r\n"
	for {
		var cell string
		cell, rest = p.cell(rest, stops, &row)
		if len(row.Cells) <= maxColumns {
			row.Cells = append(row.Cells, cell)
		} else if len(row.Cells) == maxColumns+1 && !slices.Contains(row.Flaws, flawMany) {
			row.Flaws = append(row.Flaws, flawMany)
		}
		switch {
		case rest == "":
			return row, rest
		case rest[0] == p.separator:
			rest = rest[1:]
		case strings.HasPrefix(rest, "\r\n"):
			return row, rest[2:]
		default:
			return row, rest[1:]
		}
	}
}

// cell reads one cell from the start of text. The cell ends before a character in stops, and the result rest begins
// with that character. Flaws of the cell are added to row.
func (p *parser) cell(text, stops string, row *Row) (cell, rest string) {
	trimmed := strings.TrimLeft(text, " ")
	if !strings.HasPrefix(trimmed, `"`) {
		end := strings.IndexAny(text, stops)
		if end < 0 {
			end = len(text)
		}
		return p.limited(text[:end], row), text[end:]
	}
	var out strings.Builder
	body := trimmed[1:]
	flawed := false
	for {
		at := strings.IndexByte(body[:min(len(body), maxCell)], '"')
		if at < 0 {
			break
		}
		out.WriteString(body[:at])
		body = body[at+1:]
		after := strings.TrimLeft(body, " ")
		switch {
		case strings.HasPrefix(body, `"`):
			out.WriteByte('"')
			body = body[1:]
		case after == "" || strings.IndexByte(stops, after[0]) >= 0:
			if flawed {
				row.Flaws = append(row.Flaws, flawQuotes)
			}
			return p.limited(unixLines(out.String()), row), after
		default:
			out.WriteByte('"')
			flawed = true
		}
		if out.Len() > maxCell {
			break
		}
	}
	// The quote has no end, so the cell is text as written.
	row.Flaws = append(row.Flaws, flawQuotes)
	end := strings.IndexAny(text, stops)
	if end < 0 {
		end = len(text)
	}
	return p.limited(text[:end], row), text[end:]
}

// unixLines returns a text with each line break replaced by LF.
func unixLines(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func (p *parser) limited(s string, row *Row) string {
	if len(s) <= maxCell {
		return s
	}
	row.Flaws = append(row.Flaws, flawCell)
	return strings.ToValidUTF8(s[:maxCell], "")
}
