package calendar

import (
	"slices"
	"strings"
)

// Language is a content language, as an ISO 639-1 code.
type Language string

// English, Polish and Spanish are the values of Language that Almanac supports.
const (
	English Language = "en"
	Polish  Language = "pl"
	Spanish Language = "es"
)

// Languages lists all languages, in their order in replies.
var Languages = []Language{English, Polish, Spanish}

// Known reports whether l is one of Languages.
func (l Language) Known() bool { return slices.Contains(Languages, l) }

// Bit returns the bit of the language in a number that represents a set of languages: 1 for the first of
// Languages, 2 for the second, 4 for the third.
func (l Language) Bit() int { return 1 << slices.Index(Languages, l) }

// LanguageSet is a set of languages in its stored form: codes in the order of Languages, joined by commas.
type LanguageSet string

// LanguagesOf returns the set of the given languages.
func LanguagesOf(ls ...Language) LanguageSet {
	var s LanguageSet
	for _, l := range Languages {
		if slices.Contains(ls, l) {
			s = s.with(l)
		}
	}
	return s
}

func (s LanguageSet) with(l Language) LanguageSet {
	if s == "" {
		return LanguageSet(l)
	}
	return s + "," + LanguageSet(l)
}

// List returns the languages of the set in the order of Languages.
func (s LanguageSet) List() []Language {
	ls := make([]Language, 0, len(Languages))
	for _, l := range Languages {
		if s.Has(l) {
			ls = append(ls, l)
		}
	}
	return ls
}

// Has reports whether l is in the set.
func (s LanguageSet) Has(l Language) bool { return strings.Contains(string(s), string(l)) && l != "" }

// With returns the set with l added.
func (s LanguageSet) With(l Language) LanguageSet { return LanguagesOf(append(s.List(), l)...) }

// Without returns the set with l removed.
func (s LanguageSet) Without(l Language) LanguageSet {
	return LanguagesOf(slices.DeleteFunc(s.List(), func(m Language) bool { return m == l })...)
}
