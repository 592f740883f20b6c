package openapi

import "strings"

// text returns an English text in the language of the description.
func (a *API) text(english string) string { return a.Words.Text(a.Language, english) }

// title returns the title of the API with the name of the site. If the site has no name, the title has none
// either.
func (a *API) title() string {
	return strings.TrimSpace(strings.ReplaceAll(a.text("{{.Site}} events API"), "{{.Site}}", a.Site.Name))
}

// translated returns a copy of a part of a description with translated texts. It copies because descriptions
// share parts. Names, enums and defaults are for programs and stay as they are.
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
