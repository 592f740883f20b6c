package calendar

// Paths has the path segments that a site chose for its public pages, instead of the default ones (contract,
// section 21). "" means the default segment. Characters outside ASCII are percent-encoded, in lower case.
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

// PathName is a path segment of public pages: its setting, its default, and the one that the site chose.
type PathName struct {
	Key     string  // of the setting
	Program string  // name of the program
	Site    *string // name of the site in Paths, or ""
	Below   bool    // the segment is below that of Events
}

// Names returns all segments of p, for loading and showing settings. Each Site is a pointer into p: a write to it
// changes p.
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

// List returns the path of the page that lists all events, such as "/events/". It is relative to the base URL and
// the segment of the language.
func (p *Paths) List() string { return segmentPath(p.Events, "/events/") }

// Of returns the path in front of the slug for pages of a kind, such as "/event/" or "/events/category/". "" means
// that the kind has no pages.
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

// segmentPath returns the path for a segment that the site chose, such as "/name/". If name is "", it returns
// defaultPath.
func segmentPath(name, defaultPath string) string {
	if name == "" {
		return defaultPath
	}
	return "/" + name + "/"
}
