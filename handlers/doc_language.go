package handlers

import "strings"

// text is a descriptive text in the language of the reply.
func (r *request) text(english string) string { return r.h.Words.Text(r.lang, english) }

// title names the API after its site. A site without a name leaves only what it is.
func (r *request) title() string {
	return strings.TrimSpace(strings.ReplaceAll(r.text("{{.Site}} events API"), "{{.Site}}", r.h.Site.Name))
}

// translated is a part of an interface description with the texts for people in the language of the reply. It
// is a copy, as parts are shared between descriptions. Names, enums and defaults are for programs and stay.
func (r *request) translated(part ordered) ordered {
	out := make(ordered, len(part))
	for i, m := range part {
		switch v := m.value.(type) {
		case string:
			switch m.name {
			case "description", "summary", displayName:
				m.value = r.text(v)
			}
		case ordered:
			m.value = r.translated(v)
		case []ordered:
			parts := make([]ordered, len(v))
			for i, one := range v {
				parts[i] = r.translated(one)
			}
			m.value = parts
		}
		out[i] = m
	}
	return out
}
