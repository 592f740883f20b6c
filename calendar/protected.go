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

// HidesField reports whether a password of an event hides the changes of a field from the public. A change of one
// password for another is such a change. The field may have a language, as in title:pl.
func HidesField(name string) bool {
	field, _ := CutField(name)
	return slices.Contains(passwordFields, field)
}

// PublicOwnFields returns those own fields of an occurrence that the public sees. It leaves out fields that may
// differ from the series in a way that the public does not see: hidden links, and one password for another. If
// the event is protected, it leaves out all fields that the password hides.
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
