package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is a table to print. Its rows have as many cells as its head.
type table struct {
	title string
	head  []string
	rows  [][]string
	note  string // below the table
}

// write prints the table with aligned columns, or as Markdown if markdown is true.
func (t table) write(w io.Writer, markdown bool) error {
	var b strings.Builder
	width := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	left, between, right := "", "  ", ""
	if markdown {
		left, between, right = "| ", " | ", " |"
		b.WriteString("### ")
	}
	b.WriteString(t.title + "\n\n")
	line := func(row []string) {
		cells := make([]string, len(row))
		for i, cell := range row {
			blank := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if cells[i] = blank + cell; i == 0 {
				cells[i] = cell + blank
			}
		}
		b.WriteString(left + strings.TrimRight(strings.Join(cells, between), " ") + right + "\n")
	}
	line(t.head)
	if markdown {
		for i := range t.head {
			b.WriteString("|" + strings.Repeat("-", width[i]+1))
			if i == 0 {
				b.WriteByte('-')
			} else {
				b.WriteByte(':')
			}
		}
		b.WriteString("|\n")
	}
	for _, row := range t.rows {
		line(row)
	}
	if t.note != "" {
		b.WriteString("\n" + t.note + "\n")
	}
	_, err := fmt.Fprintln(w, b.String())
	return err
}
