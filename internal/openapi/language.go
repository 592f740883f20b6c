package openapi

import "strings"

// text is a descriptive text in the language of the reply.
func (a *API) text(english string) string { return a.Words.Text(a.Language, english) }

// title names the API after its site. A site without a name leaves only what it is.
func (a *API) title() string {
	return strings.TrimSpace(strings.ReplaceAll(a.text("{{.Site}} events API"), "{{.Site}}", a.Site.Name))
}

// translated is a part of an interface description with the texts for people in the language of the reply. It
// is a copy, as parts are shared between descriptions. Names, enums and defaults are for programs and stay.
func (a *API) translated(part ordered) ordered {
	out := make(ordered, len(part))
	for i, m := range part {
		switch v := m.Value.(type) {
		case string:
			switch m.Name {
			case "description", "summary", displayName:
				m.Value = a.text(v)
			}
		case ordered:
			m.Value = a.translated(v)
		case []ordered:
			parts := make([]ordered, len(v))
			for i, one := range v {
				parts[i] = a.translated(one)
			}
			m.Value = parts
		}
		out[i] = m
	}
	return out
}
