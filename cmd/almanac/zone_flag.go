package main

import (
	"fmt"
	"path"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// parseZone parses the value of --timezone. Its usageError suggests a zone with similar spelling.
func parseZone(text string) (calendar.Zone, error) {
	zone, err := calendar.ParseZone(text)
	if err == nil {
		return zone, nil
	}
	hint := "want a name such as Europe/Warsaw, or UTC+2"
	if name := nearestZone(text); name != "" {
		hint = "did you mean " + name + "?"
	}
	return calendar.Zone{}, usageError{fmt.Errorf("--timezone %q: %w; %s", text, err, hint)}
}

// nearestZone returns the time zone whose name or city is most similar to text. It returns "" if more than a
// third of the letters differ. It also returns "" for abbreviations such as CEST, since a wrong zone is worse
// than none.
func nearestZone(text string) (nearest string) {
	text = strings.ToLower(strings.ReplaceAll(text, " ", "_"))
	limit := 1
	if len(text) > 4 {
		limit += len(text) / 3
	}
	for _, name := range calendar.ZoneNames() {
		compared := name
		if !strings.Contains(text, "/") {
			compared = path.Base(name)
		}
		if d := editDistance(text, strings.ToLower(compared)); d < limit {
			nearest, limit = name, d
		}
	}
	return nearest
}

// editDistance returns how many characters must be inserted, deleted or replaced to turn a into b (Levenshtein).
func editDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range to {
			replaced := diagonal
			if x != y {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, diagonal+1, row[j]+1)
		}
	}
	return row[len(to)]
}
