package seed

import (
	"embed"
	"fmt"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// texts holds a file per scenario and language, such as city.pl.txt. A line "# event organ" opens the section
// of that key. Empty lines separate its paragraphs; the first is the name or title, except of venues and
// organizers, whose names are not translated. {who} and the like are filled in for each event.
//
//go:embed text
var texts embed.FS

// sections are the paragraphs of a file by key. A key that is missing is a mistake in this package, as a
// template that does not parse would be, and panics.
type sections map[string][]string

func readTexts(scenario string, l calendar.Language) sections {
	name := "text/" + scenario + "." + string(l) + ".txt"
	b, err := texts.ReadFile(name)
	if err != nil {
		panic(err)
	}
	all := sections{}
	key := ""
	for block := range strings.SplitSeq(string(b), "\n\n") {
		block = strings.TrimSpace(block)
		if rest, ok := strings.CutPrefix(block, "# "); ok {
			key, block, _ = strings.Cut(rest, "\n")
			if all[key] != nil {
				panic(fmt.Sprintf("%s: %q twice", name, key))
			}
		}
		all[key] = append(all[key], strings.Join(strings.Fields(block), " "))
	}
	return all
}

func (s sections) get(key string) []string {
	paragraphs, ok := s[key]
	if !ok {
		panic(fmt.Sprintf("no text %q", key))
	}
	return paragraphs
}

// html makes a description of plain paragraphs.
func html(paragraphs []string) string {
	var b strings.Builder
	for i, p := range paragraphs {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("<p>")
		b.WriteString(calendar.Escape(p))
		b.WriteString("</p>")
	}
	return b.String()
}

// firstSentence is the beginning of a paragraph up to its first full stop.
func firstSentence(paragraph string) string {
	if end := strings.Index(paragraph, ". "); end >= 0 {
		return paragraph[:end+1]
	}
	return paragraph
}
