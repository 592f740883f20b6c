package calendar

import (
	"slices"
	"strings"
)

// passwordFields are the fields of an event that its password hides from the public (contract, section 13).
var passwordFields = append(slices.Clone(guardedFields), "all_day", "categories", "tags", "venue", "organizer")

// CutField splits the name of a field, such as title:pl, into the field and the language. The language is "" if the name
// has none.
func CutField(name string) (field string, l Language) {
	field, language, _ := strings.Cut(name, ":")
	return field, Language(language)
}

// HidesField reports whether the password of an event hides changes of a field from the public. That includes a
// change from one password to another. The name may have a language, as in title:pl.
func HidesField(name string) bool {
	field, _ := CutField(name)
	return slices.Contains(passwordFields, field)
}

// PublicOwnFields returns the own fields of an occurrence that public replies may name. An own field is a field
// that differs from the series. PublicOwnFields leaves out fields whose difference may be invisible: hidden links,
// and one password instead of another. If protected is true, it leaves out all fields that the password hides.
func PublicOwnFields(own []string, protected bool) []string {
	out := []string{}
	for _, name := range own {
		switch {
		case protected && HidesField(name), name == "venue", name == "organizer", name == "password":
		default:
			out = append(out, name)
		}
	}
	return out
}
