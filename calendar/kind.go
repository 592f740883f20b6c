package calendar

import "slices"

// Kind is the kind of a record or term, such as "event", "venue" or "tag".
type Kind string

// Event to Tag are the values of Kind. Events, venues, organizers, images and series share one sequence of ids.
// Categories and tags share another.
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

// IsHierarchical reports whether terms of the taxonomy k have parents: categories do, tags do not.
func (k Kind) IsHierarchical() bool { return k == Category }

// IsDated reports whether records of the kind have dates: events and series. Only these kinds can have a password.
// Only their slugs depend on the status.
func (k Kind) IsDated() bool { return k == Event || k == Series }

// Plural returns the English plural of the kind. The API uses it as the name of the collection.
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

// PublishedKinds lists the kinds of records with a status, an author and a date of publication.
var PublishedKinds = slices.Concat([]Kind{Series, Event}, NamedKinds)

// TranslatedKinds lists the kinds whose texts are translated. It lacks Series, which shows the texts of its
// occurrences.
var TranslatedKinds = slices.Concat([]Kind{Event}, NamedKinds, []Kind{Category, Tag})

// Kinds lists all values of Kind.
var Kinds = slices.Concat(PublishedKinds, []Kind{Image, Category, Tag})
