package importer

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/almanac-cal/almanac/ent"
)

// sheetColumn is a column of a table. Field is "" for a column that is not read.
type sheetColumn struct {
	header, field string
}

// sheetColumns returns the columns of a header row with their fields. maps are the user's entries COLUMN=FIELD,
// which precede the known names.
func sheetColumns(header, maps []string) ([]sheetColumn, error) {
	names := loadColumnNames()
	columns := make([]sheetColumn, len(header))
	used := make(map[string]int) // column by field
	fixed := make(map[int]bool)  // columns that the maps name
	for i, name := range header {
		columns[i].header = name
		if name == "" {
			columns[i].header = columnLetters(i)
		}
	}
	for _, entry := range maps {
		at, field, err := parseMap(entry, header)
		if err != nil {
			return nil, err
		}
		if before, twice := used[field]; twice && before != at && field != "" {
			return nil, fmt.Errorf("--map %s: %s is also that of %s", entry, field, columns[before].label())
		}
		fixed[at], columns[at].field = true, field
		if field != "" {
			used[field] = at
		}
	}
	take := func(i int, field string) {
		if _, twice := used[field]; !fixed[i] && columns[i].field == "" && field != "" && !twice {
			columns[i].field, used[field] = field, i
		}
	}
	for i, name := range header {
		if slices.Contains(names.fields, name) {
			take(i, name) // the name of the API wins over other names of the same field
		}
	}
	for i, name := range header {
		take(i, names.byName[foldHeader(name)])
	}
	// In a table with start_date, a column called date is the day of publication.
	if at := slices.IndexFunc(columns, func(c sheetColumn) bool { return c.field == "" && foldHeader(c.header) == "date" }); at >= 0 &&
		!fixed[at] && hasField(columns, "url") && !hasField(columns, "published") {
		columns[at].field = "published"
	}
	return columns, nil
}

//go:embed sheet_columns.txt
var sheetColumnNames string

// columnNames maps the known names of columns to fields. The keys are in the form of foldHeader.
type columnNames struct {
	fields []string            // in the order of the file
	byName map[string]string   // field by folded name
	names  map[string][]string // names as written by field
}

var loadColumnNames = sync.OnceValue(func() columnNames {
	n := columnNames{byName: make(map[string]string), names: make(map[string][]string)}
	for line := range strings.Lines(sheetColumnNames) {
		field, list, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(field, "#") {
			continue
		}
		n.fields = append(n.fields, field)
		for name := range strings.SplitSeq(field+","+list, ",") {
			name = strings.TrimSpace(name)
			if key := foldHeader(name); n.byName[key] == "" {
				n.byName[key] = field
				n.names[field] = append(n.names[field], name)
			}
		}
	}
	for _, f := range new(ent.EventValues).Plain() {
		if key := foldHeader(f.Name); n.byName[key] == "" {
			n.fields, n.byName[key], n.names[f.Name] = append(n.fields, f.Name), f.Name, []string{f.Name}
		}
	}
	return n
})

// foldLetters returns a text in lower case, without accents.
func foldLetters(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == 'ł' || r == 'Ł':
			return 'l'
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
}

// foldHeader returns a column's name in lower case, without accents and punctuation, for comparison.
func foldHeader(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, foldLetters(s))
}

// label returns the name of a column for messages.
func (c sheetColumn) label() string { return fmt.Sprintf("column %q", abbreviate(c.header)) }

func hasField(columns []sheetColumn, field string) bool {
	return slices.ContainsFunc(columns, func(c sheetColumn) bool { return c.field == field })
}

// parseMap parses an entry COLUMN=FIELD into the column's index and the field. COLUMN is a name, which may be
// quoted, letters (A, AB) or a number. The field "-" means that the column is ignored.
func parseMap(entry string, header []string) (at int, field string, err error) {
	cut := strings.LastIndexByte(entry, '=')
	if cut < 0 {
		return 0, "", fmt.Errorf("--map %s: want COLUMN=FIELD", entry)
	}
	name := strings.TrimSpace(entry[:cut])
	field = strings.TrimSpace(entry[cut+1:])
	names := loadColumnNames()
	switch {
	case field == "-":
		field = ""
	case !slices.Contains(names.fields, field):
		return 0, "", fmt.Errorf("--map %s: unknown field %q; want one of %s, or - to ignore the column", entry, field,
			strings.Join(names.fields, ", "))
	}
	quoted := len(name) > 1 && name[0] == '"' && strings.HasSuffix(name, `"`)
	if quoted {
		name = strings.ReplaceAll(name[1:len(name)-1], `""`, `"`)
	}
	same := func(h string) bool { return h == name }
	folded := func(h string) bool { return foldHeader(h) != "" && foldHeader(h) == foldHeader(name) }
	if at = slices.IndexFunc(header, same); at < 0 {
		at = slices.IndexFunc(header, folded)
	}
	if at < 0 && !quoted {
		at = columnNumber(name)
	}
	if at < 0 || at >= len(header) {
		return 0, "", fmt.Errorf("--map %s: there is no column %q; the columns are %s", entry, name, quotedNames(header))
	}
	return at, field, nil
}

// SplitMaps splits a list of entries COLUMN=FIELD at its commas. A comma in quotes belongs to the column's name.
func SplitMaps(list string) (entries []string) {
	start, quoted := 0, false
	for i := range len(list) {
		switch {
		case list[i] == '"':
			quoted = !quoted
		case list[i] == ',' && !quoted:
			entries = append(entries, list[start:i])
			start = i + 1
		}
	}
	return slices.DeleteFunc(append(entries, list[start:]), func(s string) bool { return strings.TrimSpace(s) == "" })
}

// columnNumber returns the index of a column, from 0, for its letters (A, AB) or its number from 1. It returns -1
// for other text.
func columnNumber(name string) int {
	if n, err := strconv.Atoi(name); err == nil {
		return n - 1
	}
	if name == "" || len(name) > 2 {
		return -1
	}
	n := 0
	for _, c := range []byte(strings.ToUpper(name)) {
		if c < 'A' || c > 'Z' {
			return -1
		}
		n = n*26 + int(c-'A') + 1
	}
	return n - 1
}

// columnLetters returns a spreadsheet's letters for the column with index i, such as A for 0.
func columnLetters(i int) string {
	if i < 26 {
		return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i : i+1]
	}
	return columnLetters(i/26-1) + columnLetters(i%26)
}

// quotedNames returns the quoted names of the first 30 columns, for an error message.
func quotedNames(header []string) string {
	const most = 30
	shown := make([]string, 0, most)
	for _, h := range header[:min(len(header), most)] {
		shown = append(shown, strconv.Quote(abbreviate(h)))
	}
	text := strings.Join(shown, ", ")
	if more := len(header) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// noColumnsError returns the error for a table in which no columns for title and start were found.
func noColumnsError(header []string) error {
	names := loadColumnNames()
	return fmt.Errorf("the table has neither a column of titles nor one of starts; its columns are %s. "+
		"Known names of titles: %s; of starts: %s. Name others with --map 'COLUMN=title,COLUMN=start_date'",
		quotedNames(header), strings.Join(names.names["title"], ", "), strings.Join(names.names["start_date"], ", "))
}
