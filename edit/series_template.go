package edit

import (
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// The template of a series is an event with the fields that its occurrences share: all fields except dates, author,
// status and publication date. Its edges have the texts in other languages, sorted by language, and the ids of what it
// is linked to. New occurrences do not get ids of records that no longer exist.

// TemplateField is a field of an event that a series stores and copies to its occurrences.
type TemplateField = ent.Field[*ent.Event, *ent.EventMutation, *ent.EventTranslation]

// templateFields are the fields that a series shares with its occurrences: those in columns, then those in tables of
// links.
var templateFields = append(
	slices.Clone(ent.EventFields),
	linkField("categories", termsOfEvent(calendar.Category), setTermsOfEvent(calendar.Category), true),
	linkField("tags", termsOfEvent(calendar.Tag), setTermsOfEvent(calendar.Tag), true),
	linkField("venue", (*ent.Event).VenueIDs, (*ent.Event).SetVenueIDs, false),
	linkField("organizer", (*ent.Event).OrganizerIDs, (*ent.Event).SetOrganizerIDs, false),
)

func termsOfEvent(taxonomy calendar.Kind) func(*ent.Event) []int64 {
	return func(e *ent.Event) []int64 { return e.TermIDs(taxonomy) }
}

func setTermsOfEvent(taxonomy calendar.Kind) func(*ent.Event, []int64) {
	return func(e *ent.Event, ids []int64) { e.SetTermIDs(taxonomy, ids) }
}

// linkField returns the TemplateField for a list of linked ids. The functions of and set read and write the list.
// If sorted is true, comparisons ignore the order of the ids.
func linkField(name string, of func(*ent.Event) []int64, set func(*ent.Event, []int64), sorted bool) TemplateField {
	return TemplateField{
		Name: name, Guarded: true,
		Same: func(a, b *ent.Event) bool {
			if sorted {
				return slices.Equal(slices.Sorted(slices.Values(of(a))), slices.Sorted(slices.Values(of(b))))
			}
			return slices.Equal(of(a), of(b))
		},
		Copy: func(to, from *ent.Event) { set(to, of(from)) },
		Size: func(e *ent.Event) int { return linkBytes * len(of(e)) },
	}
}

// linkBytes is roughly the number of bytes of a link to a term, venue or organizer, with its index entries.
const linkBytes = 160

// TemplateFieldOf returns the field and the language that a name such as title:pl means. The field is nil if the
// name is unknown.
func TemplateFieldOf(name string) (*TemplateField, calendar.Language) {
	field, l := calendar.CutField(name)
	i := slices.IndexFunc(templateFields, func(f TemplateField) bool { return f.Name == field })
	if i < 0 {
		return nil, l
	}
	return &templateFields[i], l
}

// LinksOf returns the ids of the records that the event t is linked to. Its edges must be loaded.
func LinksOf(t *ent.Event) EventLinks {
	return EventLinks{
		Categories: t.TermIDs(calendar.Category), Tags: t.TermIDs(calendar.Tag), Venues: t.VenueIDs(), Organizers: t.OrganizerIDs(),
	}
}

// TemplateOf returns a copy of row as the template of a series, which has the fields that occurrences share. It has
// no slug. Its translations are others, and its links are l.
func TemplateOf(row *ent.Event, others []calendar.Text, l EventLinks) ent.Event {
	t := *row
	t.Slug, t.Edges = "", ent.EventEdges{}
	t.SetTranslated(slices.SortedFunc(slices.Values(others), byLanguage))
	t.SetTermIDs(calendar.Category, l.Categories)
	t.SetTermIDs(calendar.Tag, l.Tags)
	t.SetVenueIDs(l.Venues)
	t.SetOrganizerIDs(l.Organizers)
	if HasPassword(row) && t.PasswordID == nil {
		t.PasswordID = &row.ID
	}
	return t
}

func byLanguage(a, b calendar.Text) int { return a.Language.Bit() - b.Language.Bit() }

// TextIn returns the loaded translation of the event t into a language. If there is none, the result has no texts.
func TextIn(t *ent.Event, l calendar.Language) *ent.EventTranslation {
	for _, o := range t.Edges.Translations {
		if o.Language == l {
			return o
		}
	}
	return &ent.EventTranslation{Language: l}
}

// ChangeText calls change for the translation of t, the shared fields of a series, into the language l. This is not
// the original language. It removes a translation that is left without any text and slug. Other events that share
// the old translations do not change.
func ChangeText(t *ent.Event, l calendar.Language, change func(*ent.EventTranslation)) {
	text := *TextIn(t, l)
	change(&text)
	others := slices.DeleteFunc(t.Translated(), func(o calendar.Text) bool { return o.Language == l })
	if changed := text.Text(); HasText(changed) || changed.Slug != "" {
		others = append(others, changed)
	}
	slices.SortFunc(others, byLanguage)
	t.SetTranslated(others)
}

// SetTemplateSlug sets the slug of t, the shared fields of a series, in one language.
func SetTemplateSlug(t *ent.Event, l calendar.Language, slug string) {
	if l == t.Language {
		t.Slug = slug
		return
	}
	ChangeText(t, l, func(o *ent.EventTranslation) { o.Slug = slug })
}

// HasText reports whether t has any text besides the slug.
func HasText(t calendar.Text) bool { return t != calendar.Text{Language: t.Language, Slug: t.Slug} }

// CopyFields copies the named fields of a series or occurrence from src to dst. Unknown names are ignored. If a
// translation is left without text, it removes the translation with its slug.
func CopyFields(dst, src *ent.Event, names []string) {
	before := dst.Translated()
	for _, name := range names {
		switch f, l := TemplateFieldOf(name); {
		case f == nil:
		case l == "":
			f.Copy(dst, src)
		default:
			ChangeText(dst, l, func(o *ent.EventTranslation) { *f.Text(o) = *f.Text(TextIn(src, l)) })
		}
	}
	for _, b := range before {
		if HasText(b) && !HasText(TextIn(dst, b.Language).Text()) {
			ChangeText(dst, b.Language, func(o *ent.EventTranslation) { o.Slug = "" })
		}
	}
}

// ChangedFields returns those of the given field names whose values differ between a and b. Names of fields that a
// series does not share are left out.
func ChangedFields(a, b *ent.Event, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		switch f, l := TemplateFieldOf(name); {
		case f == nil:
			return true
		case l == "":
			return f.Same(a, b)
		default:
			return *f.Text(TextIn(a, l)) == *f.Text(TextIn(b, l))
		}
	})
}

// TemplateFieldNames returns the names of all fields that a series shares with its occurrences, in alphabetical
// order. Translations are included, such as title:pl, but not into the language original.
func TemplateFieldNames(original calendar.Language) []string {
	var names []string
	for _, f := range templateFields {
		names = append(names, f.Name)
		for _, l := range calendar.Languages {
			if f.Text != nil && l != original {
				names = append(names, f.Name+":"+string(l))
			}
		}
	}
	slices.Sort(names)
	return names
}

// DifferentFields returns the names of the fields in which a and b differ, among those that a series shares.
func DifferentFields(a, b *ent.Event) []string {
	return ChangedFields(a, b, TemplateFieldNames(a.Language))
}
