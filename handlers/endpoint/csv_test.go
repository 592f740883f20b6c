package endpoint

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// FuzzRowsAreReadAsWritten checks that every cell can be read exactly, and that none begins a formula.
func FuzzRowsAreReadAsWritten(f *testing.F) {
	for _, cell := range []string{"", "=1+1", "'=1", "''@x", "+48", "-", "\tx", "\rx", "a,b", "\"", "a\r\nb\nc\rd", "'plain", " =x", "\ufeff"} {
		f.Add(cell, "second", "=third")
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		cells := []string{a, b, c}
		line, err := encodeRow(cells)
		if err != nil {
			t.Fatal(err)
		}
		got := decodeRow(line)
		for i, cell := range got {
			if cell != "" && strings.IndexByte("=+-@\t\r", cell[0]) >= 0 {
				t.Errorf("%q begins a formula", cell)
			}
			if rest := strings.TrimLeft(cell, "'"); rest != cell && rest != "" && strings.IndexByte("=+-@\t\r", rest[0]) >= 0 {
				got[i] = cell[1:]
			}
		}
		if !slices.Equal(got, cells) {
			t.Errorf("got %q, want %q", got, cells)
		}
		some := decodeRow(appendCells(nil, line, []bool{true, false, true}))
		if all := decodeRow(line); some[0] != all[0] || some[1] != all[2] || len(some) != 2 {
			t.Errorf("kept %q of %q", some, all)
		}
	})
}

// decodeRow reads a line of RFC 4180. Package encoding/csv does not keep the line breaks in cells.
func decodeRow(line []byte) (cells []string) {
	rest := string(bytes.TrimSuffix(line, []byte("\r\n")))
	for {
		var cell strings.Builder
		if strings.HasPrefix(rest, `"`) {
			rest = rest[1:]
			for {
				before, after, _ := strings.Cut(rest, `"`)
				cell.WriteString(before)
				if rest = after; !strings.HasPrefix(rest, `"`) {
					break
				}
				cell.WriteByte('"')
				rest = rest[1:]
			}
		} else {
			end := strings.IndexByte(rest+",", ',')
			cell.WriteString(rest[:end])
			rest = rest[end:]
		}
		cells = append(cells, cell.String())
		if rest == "" {
			return cells
		}
		rest = rest[1:]
	}
}
