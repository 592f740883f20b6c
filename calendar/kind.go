package calendar

// Kind is the kind of a record or term.
type Kind string

// The kinds. Events, venues, organizers, images and series share one sequence of ids. Categories and tags share
// another.
const (
	Event     Kind = "event"
	Venue     Kind = "venue"
	Organizer Kind = "organizer"
	Image     Kind = "image"
	Series    Kind = "series"
	Category  Kind = "category"
	Tag       Kind = "tag"
)

// IsTerm reports whether k is Category or Tag.
func (k Kind) IsTerm() bool { return k == Category || k == Tag }
