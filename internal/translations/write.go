package translations

import (
	"bufio"
	"encoding/json"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// jsonFormat is the format identifier in a JSON file.
const jsonFormat = "almanac-translations/1"

// jsonUnit is a unit in a JSON file.
type jsonUnit struct {
	ID     string            `json:"id"`
	From   calendar.Language `json:"source_language"`
	Note   string            `json:"note,omitempty"`
	Source string            `json:"source"`
	Target *string           `json:"target,omitempty"`
}

// jsonWriter writes a JSON object with one unit per line, so that files can be compared line by line. The buffered
// writer remembers write errors, and Flush returns them.
type jsonWriter struct {
	*bufio.Writer
	to   calendar.Language
	some bool
}

func (w *jsonWriter) open() {
	w.say("{\n\"format\": \"", jsonFormat, "\",\n\"target_language\": \"", string(w.to), "\",\n\"units\": [")
}

func (w *jsonWriter) unit(u *Unit) error {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(jsonUnit{ID: u.ID.String(), From: u.From, Note: u.Note, Source: u.Source, Target: u.Target})
	if err != nil {
		return err
	}
	if w.some {
		w.say(",")
	}
	w.some = true
	w.say("\n", strings.TrimSuffix(text.String(), "\n"))
	return nil
}

func (w *jsonWriter) close() { w.say("\n]\n}\n") }

// say writes texts without escaping. Flush returns write errors.
func (w *jsonWriter) say(parts ...string) {
	for _, p := range parts {
		if _, err := w.WriteString(p); err != nil {
			return
		}
	}
}
