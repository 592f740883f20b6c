package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// textTable prints values in aligned columns.
type textTable struct{ *tabwriter.Writer }

func newTable(w io.Writer, columns ...string) textTable {
	t := textTable{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	fmt.Fprintln(t, strings.Join(columns, "\t"))
	return t
}

// row prints one cell for each value. A *time.Time is shown in UTC. A nil *time.Time and "" are shown as a dash.
func (t textTable) row(values ...any) {
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = cellText(v)
	}
	fmt.Fprintln(t, strings.Join(cells, "\t"))
}

func cellText(v any) string {
	text := ""
	if at, ok := v.(*time.Time); !ok {
		text = fmt.Sprint(v)
	} else if at != nil {
		text = at.UTC().Format(time.RFC3339)
	}
	// Names are untrusted, so characters that break columns or control the terminal are replaced.
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '�'
		}
		return r
	}, text)
	if text == "" {
		return "-"
	}
	return text
}

// printJSON prints a value as indented JSON.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func toUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC())
}
