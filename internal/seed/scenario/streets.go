package scenario

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
)

// street is a street in the form for addresses ("ul. Szewska") and in the form for names of venues ("na Szewskiej").
type street struct{ address, name string }

// in returns the street after a preposition, such as "on High Street". l must be the language of its country.
func (s street) in(l calendar.Language) string {
	switch {
	case l == calendar.Polish:
		return s.name
	case l != calendar.Spanish:
		return "on " + s.address
	case strings.HasPrefix(s.name, "del "):
		return "en el " + s.inText(l)
	case strings.HasPrefix(s.name, "de la "):
		return "en la " + s.inText(l)
	}
	return "en " + s.address
}

// inText returns the street as a sentence in the language of its country has it: "calle Feria" in Spanish.
func (s street) inText(l calendar.Language) string {
	if l == calendar.Spanish && s.name != "de "+s.address && !strings.HasPrefix(s.address, granVia) {
		return lowerFirst(s.address)
	}
	return s.address
}

func lowerFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[size:]
}

// streetOf parses a street such as "Szewska" or "Foksal=na Foksal". The part after = is the form for names.
func (c *Calendar) streetOf(text string) street {
	name, in, told := strings.Cut(text, "=")
	s := street{name, in}
	switch c.home {
	case calendar.Polish:
		s.address = "ul. " + name
		if !told {
			s.name = "na " + locative(name)
		}
	case calendar.Spanish:
		if !told {
			s.name = streetInNames(name)
		}
	default:
		s.name = name
	}
	return s
}

// locative returns the Polish locative of a street whose name is an adjective. It returns other names
// unchanged.
func locative(name string) string {
	for _, end := range []string{"ska", "cka", "dzka", "ga"} {
		if stem, ok := strings.CutSuffix(name, end); ok {
			return stem + end[:len(end)-1] + "iej"
		}
	}
	for _, end := range []string{"na", "nia", "nicza", "wa", "ła", "ta", "ża"} {
		if stem, ok := strings.CutSuffix(name, end); ok {
			return stem + end[:len(end)-1] + "ej"
		}
	}
	return name
}

// granVia is the name of a street that is capitalised everywhere.
const granVia = "Gran Vía"

// streetInNames returns the Spanish form of a street for names: "de la Calle Feria", "del Jirón Ica", "de
// Corrientes".
func streetInNames(name string) string {
	if strings.HasPrefix(name, granVia) {
		return "de la " + name
	}
	first, _, _ := strings.Cut(name, " ")
	switch first {
	case "Calle", "Avenida", "Carrera", "Cuesta", "Rambla", "Rúa", "Alameda":
		return "de la " + name
	case "Jirón", "Paseo", "Bulevar":
		return "del " + name
	}
	return "de " + name
}
