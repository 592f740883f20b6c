package calendar

import "slices"

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

// Plural returns the plural of the kind in English, the name of its collection in the API.
func (k Kind) Plural() string {
	switch k {
	case Category:
		return "categories"
	case Series:
		return "series"
	}
	return string(k) + "s"
}

// IsNamed reports whether k is one of NamedKinds.
func (k Kind) IsNamed() bool { return slices.Contains(NamedKinds, k) }

// IsLinked reports whether k is one of LinkedKinds.
func (k Kind) IsLinked() bool { return slices.Contains(LinkedKinds, k) }

// PublishedKinds are the kinds of records with a status, an author and a date of publication.
var PublishedKinds = slices.Concat([]Kind{Series, Event}, NamedKinds)

// TranslatedKinds are the kinds of records and terms whose texts are translated one by one.
var TranslatedKinds = slices.Concat([]Kind{Event}, NamedKinds, []Kind{Category, Tag})

// Kinds are all kinds.
var Kinds = slices.Concat(PublishedKinds, []Kind{Image, Category, Tag})
