// Package manual reads the pages of the manual. Tests run their blocks of commands, compare the outputs and tables with
// the program, and check links and citations of the contract. Generated parts are written in place.
package manual

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Block is a fenced code block of a page in Markdown.
type Block struct {
	Line int    // line of its fence, from 1
	Lang string // the first word after the fence: sh, json, text
	Mark string // text after that word
	Text string // lines without the indentation of the fence
}

// ErrOpen is the error for a fence or a generated part without an end.
var ErrOpen = errors.New("is not closed")

// Blocks returns the fenced code blocks of a page, in order. The error wraps ErrOpen if a block has no end.
func Blocks(page string) ([]Block, error) {
	var out []Block
	var open *Block
	indent := ""
	line := 0
	for text := range strings.Lines(page) {
		line++
		bare := strings.TrimLeft(text, " ")
		switch {
		case open == nil && strings.HasPrefix(bare, "```"):
			indent = text[:len(text)-len(bare)]
			lang, mark, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(bare, "```")), " ")
			open = &Block{Line: line, Lang: lang, Mark: strings.TrimSpace(mark)}
		case open != nil && strings.TrimSpace(text) == "```":
			out = append(out, *open)
			open = nil
		case open != nil:
			open.Text += strings.TrimPrefix(text, indent)
		}
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the block %w", open.Line, ErrOpen)
	}
	return out, nil
}

// partBegins and partEnds begin the lines before and after a generated part of a page.
const (
	partBegins = "<!-- generated: "
	partEnds   = "<!-- /generated -->"
)

// Fill replaces the generated parts of a page. It calls part with the name of each part, and inserts the result.
func Fill(page string, part func(name string) (string, error)) (string, error) {
	var b strings.Builder
	inside := 0
	line := 0
	for text := range strings.Lines(page) {
		line++
		name, begins := strings.CutPrefix(strings.TrimSpace(text), partBegins)
		switch {
		case inside == 0 && begins:
			inside = line
			made, err := part(strings.TrimSpace(strings.TrimSuffix(name, "-->")))
			if err != nil {
				return "", fmt.Errorf("line %d: %w", line, err)
			}
			b.WriteString(text + "\n" + strings.Trim(made, "\n") + "\n\n")
		case begins:
			return "", fmt.Errorf("line %d: the generated part %w", inside, ErrOpen)
		case strings.TrimSpace(text) == partEnds:
			inside = 0
			b.WriteString(text)
		case inside == 0:
			b.WriteString(text)
		}
	}
	if inside > 0 {
		return "", fmt.Errorf("line %d: the generated part %w", inside, ErrOpen)
	}
	return b.String(), nil
}

// Table returns a table in Markdown. It escapes bars in cells, and replaces line breaks by spaces.
func Table(header []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + cellEscaper.Replace(c) + " ")
		}
		b.WriteString("|\n")
	}
	line(header)
	b.WriteString(strings.Repeat("|---", len(header)) + "|\n")
	for _, row := range rows {
		line(row)
	}
	return b.String()
}

var cellEscaper = strings.NewReplacer("|", `\|`, "\n", " ")

// Examples is a table of examples that tests compare with the program. In the page, the line <!-- checked: NAME -->
// stands above it. NAME says what the examples are compared with.
type Examples struct {
	Line int      // line of the checked comment, from 1
	Name string   // NAME of the comment, such as "dates Europe/Warsaw"
	Rows []Row    // rows without the header
	Head []string // the header
}

// Row is a row of a table of examples. Cells have no back quotes around code.
type Row struct {
	Line  int
	Cells []string
}

var checkedMark = regexp.MustCompile(`^<!-- checked: (.*) -->$`)

// Tables returns all tables of examples of a page, in order.
func Tables(page string) []Examples {
	var out []Examples
	var open *Examples
	line := 0
	for text := range strings.Lines(page) {
		line++
		text = strings.TrimSpace(text)
		switch m := checkedMark.FindStringSubmatch(text); {
		case m != nil:
			out = append(out, Examples{Line: line, Name: m[1]})
			open = &out[len(out)-1]
		case open == nil, text == "" && open.Head == nil:
		case !strings.HasPrefix(text, "|"):
			open = nil
		case open.Head == nil:
			open.Head = splitCells(text)
		case strings.Trim(text, "|-: ") != "":
			open.Rows = append(open.Rows, Row{line, splitCells(text)})
		}
	}
	return out
}

// splitCells returns the cells of a table row in Markdown. An escaped bar does not end a cell.
func splitCells(row string) []string {
	row = strings.ReplaceAll(row, `\|`, "\x00")
	parts := strings.Split(strings.Trim(row, "|"), "|")
	for i, c := range parts {
		c = strings.ReplaceAll(strings.TrimSpace(c), "\x00", "|")
		if code := strings.Trim(c, "`"); c == "`"+code+"`" && !strings.Contains(code, "`") {
			c = code
		}
		parts[i] = c
	}
	return parts
}
