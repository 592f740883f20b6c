package calendar

// Kind is a kind of record or term.
type Kind string

// The kinds. Events, venues, organizers, images and series draw their ids from one sequence, categories and tags
// from another.
const (
	Event     Kind = "event"
	Venue     Kind = "venue"
	Organizer Kind = "organizer"
	Image     Kind = "image"
	Series    Kind = "series"
	Category  Kind = "category"
	Tag       Kind = "tag"
)

// IsTerm reports whether the kind is a taxonomy.
func (k Kind) IsTerm() bool { return k == Category || k == Tag }
