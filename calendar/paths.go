package calendar

// Paths are the names that a site's public pages have in place of the program's (contract, section 21). "" stands for the
// program's name. Characters outside ASCII are percent-encoded, in lower case.
type Paths struct {
	// First segments.
	Events    string `json:"events,omitempty"`
	Event     string `json:"event,omitempty"`
	Venue     string `json:"venue,omitempty"`
	Organizer string `json:"organizer,omitempty"`
	Series    string `json:"series,omitempty"`
	Tag       string `json:"tag,omitempty"`
	// Segments below that of Events. EventsTag is the segment before a tag, by default that of Tag.
	Category  string `json:"category,omitempty"`
	EventsTag string `json:"events-tag,omitempty"`
}

// PathName is a name in Paths.
type PathName struct {
	Key     string  // of the setting
	Program string  // name of the program
	Site    *string // name of the site in Paths, or ""
	Below   bool    // the segment is below that of Events
}

// Names returns all names of p. Writes to their Site change p.
func (p *Paths) Names() []PathName {
	return []PathName{
		{"events", "events", &p.Events, false},
		{"event", "event", &p.Event, false},
		{"venue", "venue", &p.Venue, false},
		{"organizer", "organizer", &p.Organizer, false},
		{"series", "series", &p.Series, false},
		{"tag", "tag", &p.Tag, false},
		{"category", "category", &p.Category, true},
		{"events-tag", "tag", &p.EventsTag, true},
	}
}

// List returns the path of the page of all events, below the base URL and the segment of a language.
func (p *Paths) List() string { return segmentPath(p.Events, "/events/") }

// Of returns what precedes the slugs in the paths of pages of a kind, such as "/event/" or "/events/category/". "" means that the
// kind has no pages.
func (p *Paths) Of(kind Kind) string {
	switch kind {
	case Event:
		return segmentPath(p.Event, "/event/")
	case Venue:
		return segmentPath(p.Venue, "/venue/")
	case Organizer:
		return segmentPath(p.Organizer, "/organizer/")
	case Series:
		return segmentPath(p.Series, "/series/")
	case Tag:
		return segmentPath(p.Tag, "/tag/")
	case Category:
		if p.Events == "" && p.Category == "" {
			return "/events/category/"
		}
		return p.List() + segmentPath(p.Category, "/category/")[1:]
	}
	return ""
}

// segmentPath returns the path of a first segment. program is that of a site without a name for it.
func segmentPath(name, program string) string {
	if name == "" {
		return program
	}
	return "/" + name + "/"
}
