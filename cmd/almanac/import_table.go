package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/almanac-cal/almanac/internal/importer"
)

// tableFlags are the flags for a table. Other sources do not need them.
type tableFlags struct {
	Map   []string `sep:"none" placeholder:"COLUMN=FIELD" help:"Field of a table's column, such as 'Nazwa=title' or 'B=-' to ignore it. Repeatable, or a comma list."`
	Dates string   `default:"" placeholder:"ORDER" enum:",dmy,mdy" help:"Order of ambiguous dates in a table, such as 05/06/2026: dmy or mdy. Default: ask on a terminal, else fail."`
}

// tables returns the options with which the importer reads tables. They include a preview that prints to s.
func (f tableFlags) tables(s streams) importer.Tables {
	var maps []string
	for _, list := range f.Map {
		maps = append(maps, importer.SplitMaps(list)...)
	}
	p := &tablePreview{streams: s}
	return importer.Tables{Maps: maps, Dates: importer.DateOrder(f.Dates), Preview: p.show}
}

// tablePreview prints once how the importer reads the columns and rows of a table.
type tablePreview struct {
	streams
	columns, rows bool // printed
}

func (p *tablePreview) show(t importer.TablePreview) (importer.DateOrder, error) {
	if !p.columns {
		p.columns = true
		separator := map[string]string{"\t": "tab"}[t.Separator]
		if separator == "" {
			separator = t.Separator
		}
		fmt.Fprintf(p.Out, "A table in %s, separated by %s:\n\n", t.Encoding, separator)
		columns := newTable(p.Out, "COLUMN", "READ AS")
		for _, c := range t.Columns {
			field := c.Field
			if field == "" {
				field = "(ignored)"
			}
			columns.row(c.Header, field)
		}
		if err := columns.Flush(); err != nil {
			return "", err
		}
		fmt.Fprintln(p.Out)
	}
	if len(t.Ambiguous) > 0 {
		return p.ask(t.Ambiguous)
	}
	if p.rows || len(t.Rows) == 0 {
		return "", nil
	}
	p.rows = true
	rows := newTable(p.Out, "LINE", "TITLE", "START", "END", "VENUE", "COST")
	for _, r := range t.Rows {
		if r.Problem != "" {
			r.End = "(does not come)"
		}
		rows.row(r.Line, shortCell(r.Title), shortCell(r.Start), r.End, shortCell(r.Venue), shortCell(r.Cost))
	}
	if err := rows.Flush(); err != nil {
		return "", err
	}
	fmt.Fprintln(p.Out)
	return "", nil
}

// shortCell returns the beginning of a text for a column.
func shortCell(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// ask shows both ways to read dates such as 03/04/2026. On a terminal it asks which one is meant. Elsewhere it
// returns "".
func (p *tablePreview) ask(dates []importer.AmbiguousDate) (importer.DateOrder, error) {
	t := newTable(p.Out, "LINE", "COLUMN", "DATE", "--dates dmy", "--dates mdy")
	for _, a := range dates {
		t.row(a.Line, a.Header, shortCell(a.Text), a.DayFirst, a.MonthFirst)
	}
	if err := t.Flush(); err != nil {
		return "", err
	}
	fmt.Fprintln(p.Out)
	f, ok := p.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return "", nil
	}
	return askOrder(p.streams)
}

// askOrder asks for the order of dates until the answer is dmy or mdy. It returns "" for an empty answer.
func askOrder(s streams) (importer.DateOrder, error) {
	in := bufio.NewReader(s.In)
	for {
		fmt.Fprint(s.Err, "Which order do these dates have, dmy or mdy? ")
		line, err := in.ReadString('\n')
		switch answer := importer.DateOrder(strings.ToLower(strings.TrimSpace(line))); {
		case answer == importer.DayFirst, answer == importer.MonthFirst, answer == "":
			return answer, nil
		case err != nil:
			return "", err
		}
	}
}
