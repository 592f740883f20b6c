package translations

import (
	"bufio"
	"encoding/json"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// writer writes a file of translations. The buffered writer remembers write errors, and Flush returns them.
type writer interface {
	open()
	unit(u *Unit) error
	close()
}

func newWriter(f Format, w *bufio.Writer, from, to calendar.Language) writer {
	if f == XLIFF {
		return &xliffWriter{Writer: w, from: from, to: to}
	}
	return &jsonWriter{Writer: w, to: to}
}

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

// jsonWriter writes a JSON object with one unit per line, so that files can be compared line by line.
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

func (w *jsonWriter) say(parts ...string) { writeStrings(w.Writer, parts...) }

// writeStrings writes texts without escaping.
func writeStrings(w *bufio.Writer, parts ...string) {
	for _, p := range parts {
		if _, err := w.WriteString(p); err != nil {
			return // Flush returns the error
		}
	}
}

const xliff2 = "urn:oasis:names:tc:xliff:document:2.0"

// xliffWriter writes XLIFF 2.0, with one file element for each kind.
type xliffWriter struct {
	*bufio.Writer
	from, to calendar.Language
	kind     calendar.Kind // kind of the file element that is open
}

func (w *xliffWriter) open() {
	writeStrings(w.Writer, `<?xml version="1.0" encoding="UTF-8"?>`, "\n<xliff xmlns=\"", xliff2, `" version="2.0" srcLang="`,
		string(w.from), `" trgLang="`, string(w.to), "\">\n")
}

func (w *xliffWriter) unit(u *Unit) error {
	if u.ID.Kind != w.kind {
		w.endFile()
		w.kind = u.ID.Kind
		// Tools must not split the texts, and must keep their line breaks.
		writeStrings(w.Writer, `<file id="`, string(w.kind), `" canResegment="no" xml:space="preserve">`, "\n")
	}
	// The id of a unit must be an XML name, which has no slashes. The name attribute has the ID as in JSON
	// files.
	writeStrings(w.Writer, `<unit id="`, u.ID.joined("."), `" name="`, u.ID.String(), "\">\n")
	if u.Note != "" {
		writeStrings(w.Writer, `<notes><note category="location">`, escape(u.Note), "</note></notes>\n")
	}
	if u.Target == nil {
		writeStrings(w.Writer, `<segment state="initial"><source>`, escape(u.Source), "</source></segment>\n</unit>\n")
		return nil
	}
	writeStrings(w.Writer, `<segment state="translated"><source>`, escape(u.Source), "</source>\n<target>", escape(*u.Target),
		"</target></segment>\n</unit>\n")
	return nil
}

func (w *xliffWriter) endFile() {
	if w.kind != "" {
		writeStrings(w.Writer, "</file>\n")
	}
}

func (w *xliffWriter) close() {
	w.endFile()
	writeStrings(w.Writer, "</xliff>\n")
}

// escape escapes a text for XML. It keeps line breaks readable. Characters that XML cannot represent become
// U+FFFD.
func escape(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '\r':
			b.WriteString("&#xD;")
		case !inXML(r):
			b.WriteRune('\uFFFD')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// inXML reports whether XML 1.0 can represent a character.
func inXML(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd ||
		r >= 0x10000 && r <= 0x10ffff
}
