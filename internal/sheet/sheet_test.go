package sheet

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
	utf16 "golang.org/x/text/encoding/unicode"

	"github.com/almanac-cal/almanac/proof/must"
)

// lines returns the header and the rows of a table as texts. A row has its line number, cells and flaws.
func lines(t *testing.T, data string) []string {
	t.Helper()
	table, err := Open([]byte(data), false)
	if err != nil {
		return []string{err.Error()}
	}
	out := []string{strings.Join(table.Header, "/")}
	for row := range table.Rows(func(bool) {}) {
		text := fmt.Sprintf("%d: %s", row.Line, strings.ReplaceAll(strings.Join(row.Cells, "/"), "\n", `\n`))
		if len(row.Flaws) > 0 {
			text += " !" + strings.Join(row.Flaws, "; ")
		}
		out = append(out, text)
	}
	return out
}

func TestTablesAreRead(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		want       []string
	}{
		{"commas", "a,b\n1,2\n", []string{"a/b", "2: 1/2"}},
		{"semicolons with commas in cells", "a;b\n1,5;2\n3,5;4,5", []string{"a/b", "2: 1,5/2", "3: 3,5/4,5"}},
		{"tabs", "a\tb\r\n1\t\r\n", []string{"a/b", "2: 1/"}},
		{"bars", "a|b\n1|2", []string{"a/b", "2: 1/2"}},
		{"the separator that Excel names", "sep=;\na,x;b\n1;2", []string{"a,x/b", "3: 1/2"}},
		{"one column", "a\n1\n2", []string{"a", "2: 1", "3: 2"}},
		{"a byte order mark", "\ufeffa,b\n1,2", []string{"a/b", "2: 1/2"}},
		{"line ends of old programs", "a,b\r1,2\r3,4", []string{"a/b", "2: 1/2", "3: 3/4"}},
		{"empty lines", "\n\na,b\n\n,\n1,2\n", []string{"a/b", "6: 1/2"}},
		{"line breaks in quotes", "a,b\r\n\"x\r\ny\",2\r\n3,4", []string{"a/b", `2: x\ny/2`, "4: 3/4"}},
		{"quotes in quotes", "a,b\n\"say \"\"hi\"\"\",2", []string{"a/b", `2: say "hi"/2`}},
		{"quotes within a cell", "a,b\nKino \"Muza\",2", []string{"a/b", `2: Kino "Muza"/2`}},
		{"quotes in quotes that are not doubled", "a,b\n\"Kino \"Muza\" gra\",2", []string{"a/b", `2: Kino "Muza" gra/2 !` + flawQuotes}},
		{
			"a quote without its end",
			"a,b\n\"x,2\n3,4\n5,6",
			[]string{"a/b", `2: "x/2 !` + flawQuotes, "3: 3/4", "4: 5/6"},
		},
		{
			"a quote without its end before a good one",
			"a,b\n\"x,2\n3,\"4\"\n5,6",
			[]string{"a/b", `2: "x/2 !` + flawQuotes + "; " + flawOpen, "3: 3/4", "4: 5/6"},
		},
		{"too many cells", "a,b\n1,2,3", []string{"a/b", "2: 1/2 !more cells than the header has; the others are left out"}},
		{"nothing", "", []string{ErrEmpty.Error()}},
		{"only separators", ",,\n;;", []string{ErrEmpty.Error()}},
		{"a program", "\x7fELF\x00\x00", []string{ErrBinary.Error()}},
		{"too many columns", strings.Repeat("x,", maxColumns+1), []string{errColumns.Error()}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, lines(t, tt.data)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEncodingsAreFound(t *testing.T) {
	polish, spanish := "tytuł;miejsce\nWieczór jazzowy, święto;Łódź\n", "título;lugar\n¡Música en el jardín!;Peñíscola\n"
	encode := func(s string, e interface{ String(string) (string, error) }) string {
		out, err := e.String(s)
		must.Succeed(t, err)
		return out
	}
	for _, tt := range []struct{ name, data, want, text string }{
		{"UTF-8", polish, "UTF-8", polish},
		{"UTF-16, little endian", encode(polish, utf16.UTF16(utf16.LittleEndian, utf16.ExpectBOM).NewEncoder()), "UTF-16", polish},
		{"UTF-16, big endian", encode(polish, utf16.UTF16(utf16.BigEndian, utf16.ExpectBOM).NewEncoder()), "UTF-16", polish},
		{"Windows-1250", encode(polish, charmap.Windows1250.NewEncoder()), "Windows-1250", polish},
		{"Windows-1252", encode(spanish, charmap.Windows1252.NewEncoder()), "Windows-1252", spanish},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table, err := Open([]byte(tt.data), tt.want == "Windows-1252")
			must.Succeed(t, err)
			if table.Encoding != tt.want || table.Separator != ';' {
				t.Errorf("encoding %s, separator %q", table.Encoding, table.Separator)
			}
			if diff := cmp.Diff(lines(t, tt.text), lines(t, tt.data)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzRows(f *testing.F) {
	for _, seed := range []string{"a,b\n1,\"2\n3\"\n", "a;b\n\"x;1\n2;\"3\"", "\xff\xfea\x00,\x00b\x00", "sep=|\na|b\n\"\"\"|x\r"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := Open(data, false)
		if err != nil {
			return
		}
		last := 0
		for row := range table.Rows(func(bool) {}) {
			if row.Line <= last || len(row.Cells) != len(table.Header) {
				t.Fatalf("line %d after %d with %d cells, the header has %d", row.Line, last, len(row.Cells), len(table.Header))
			}
			last = row.Line
		}
	})
}
