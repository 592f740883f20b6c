package importer

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/internal/markup"
)

// withShortTexts returns the event with a description short enough for one write of all its dates (series.MostText).
// Otherwise the whole event would be refused. notice says what was cut; "" means nothing.
func (r *importRun) withShortTexts(e *Event) (_ *Event, notice string) {
	if e.Description == nil {
		return e, ""
	}
	last, dates := recur.LastStart(), 0
	if s := e.Series.Schedule; s.IsLong() {
		last = s.Zone.Wall(r.editor.Now).AddDate(0, importMonths, 0)
	}
	for range e.Series.Schedule.Occurrences(calendar.Wall{}, last) {
		if dates++; dates == recur.MaxOccurrences {
			break
		}
	}
	others := len(e.Title)
	if e.Excerpt != nil {
		others += len(*e.Excerpt)
	}
	most := max(0, series.MostText(dates)-others)
	if len(*e.Description) <= most {
		return e, ""
	}
	plain := markup.Plain(*e.Description)
	text := html.EscapeString(truncateWords(plain, most))
	for n := most; len(text) > most; { // escaping lengthens it
		n = n * 3 / 4
		text = html.EscapeString(truncateWords(plain, n))
	}
	one := *e
	one.Description = &text
	return &one, fmt.Sprintf("its description is shortened, because it has %d dates", dates)
}

// truncateWords cuts a text of more than most bytes and adds an ellipsis. It cuts between words if it can. It
// returns "" if only the ellipsis fits.
func truncateWords(text string, most int) string {
	const ellipsis = "…"
	if len(text) <= most {
		return text
	}
	most -= len(ellipsis)
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	if most <= 0 {
		return ""
	}
	if end := strings.LastIndexAny(text[:most], " \n"); end > 0 {
		most = end
	}
	return strings.TrimRight(text[:most], " \n") + ellipsis
}
