package edit

import (
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// The template of a series is an event with the fields that its occurrences share: all fields except dates, author,
// status and publication date. Its edges have the texts in other languages, sorted by language, and the ids of what it
// is linked to. New occurrences do not get ids of records that no longer exist.

// carriedField is a field of an event that its series carries.
type carriedField = ent.Field[*ent.Event, *ent.EventMutation, *ent.EventTranslation]

// carriedFields are the fields of events that series carry: those in columns, then those in tables of links.
var carriedFields = append(
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

// linkField returns the field for a list of linked ids. If sorted is true, comparisons ignore the order of the
// ids.
func linkField(name string, of func(*ent.Event) []int64, set func(*ent.Event, []int64), sorted bool) carriedField {
	return carriedField{
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

// carriedFieldOf returns the field and the language of a name such as title:pl. Nil means an unknown field.
func carriedFieldOf(name string) (*carriedField, calendar.Language) {
	field, l := calendar.CutField(name)
	i := slices.IndexFunc(carriedFields, func(f carriedField) bool { return f.Name == field })
	if i < 0 {
		return nil, l
	}
	return &carriedFields[i], l
}

// linksOf returns the ids of what a template is linked to.
func linksOf(t *ent.Event) eventLinks {
	return eventLinks{termIDs{t.TermIDs(calendar.Category), t.TermIDs(calendar.Tag)}, t.VenueIDs(), t.OrganizerIDs()}
}

// templateOf returns an event as the template of a series, without its slug. Others are its translations.
func templateOf(row *ent.Event, others []calendar.Text, l eventLinks) ent.Event {
	t := *row
	t.Slug, t.Edges = "", ent.EventEdges{}
	t.SetTranslated(slices.SortedFunc(slices.Values(others), byLanguage))
	t.SetTermIDs(calendar.Category, l.terms.categories)
	t.SetTermIDs(calendar.Tag, l.terms.tags)
	t.SetVenueIDs(l.venues)
	t.SetOrganizerIDs(l.organizers)
	if HasPassword(row) && t.PasswordID == nil {
		t.PasswordID = &row.ID
	}
	return t
}

func byLanguage(a, b calendar.Text) int { return a.Language.Bit() - b.Language.Bit() }

// textIn returns a translation of a template. It is empty if the template has no text in the language.
func textIn(t *ent.Event, l calendar.Language) *ent.EventTranslation {
	for _, o := range t.Edges.Translations {
		if o.Language == l {
			return o
		}
	}
	return &ent.EventTranslation{Language: l}
}

// changeText changes the text of a template in a language other than the original. It removes a translation
// without any text and slug. It does not change templates that share the old translations.
func changeText(t *ent.Event, l calendar.Language, change func(*ent.EventTranslation)) {
	text := *textIn(t, l)
	change(&text)
	others := slices.DeleteFunc(t.Translated(), func(o calendar.Text) bool { return o.Language == l })
	if changed := text.Text(); hasText(changed) || changed.Slug != "" {
		others = append(others, changed)
	}
	slices.SortFunc(others, byLanguage)
	t.SetTranslated(others)
}

// setSlug sets the slug of a template in a language.
func setSlug(t *ent.Event, l calendar.Language, slug string) {
	if l == t.Language {
		t.Slug = slug
		return
	}
	changeText(t, l, func(o *ent.EventTranslation) { o.Slug = slug })
}

// hasText reports whether t has any text besides the slug.
func hasText(t calendar.Text) bool { return t != calendar.Text{Language: t.Language, Slug: t.Slug} }

// copyFields copies the named fields from src to dst. It removes a translation with its slug if its last text
// is cleared.
func copyFields(dst, src *ent.Event, names []string) {
	before := dst.Translated()
	for _, name := range names {
		switch f, l := carriedFieldOf(name); {
		case f == nil:
		case l == "":
			f.Copy(dst, src)
		default:
			changeText(dst, l, func(o *ent.EventTranslation) { *f.Text(o) = *f.Text(textIn(src, l)) })
		}
	}
	for _, b := range before {
		if hasText(b) && !hasText(textIn(dst, b.Language).Text()) {
			changeText(dst, b.Language, func(o *ent.EventTranslation) { o.Slug = "" })
		}
	}
}

// changedFields returns the names of the fields in names that differ between two templates.
func changedFields(a, b *ent.Event, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		switch f, l := carriedFieldOf(name); {
		case f == nil:
			return true
		case l == "":
			return f.Same(a, b)
		default:
			return *f.Text(textIn(a, l)) == *f.Text(textIn(b, l))
		}
	})
}

// templateNames returns the names of all fields of templates with their languages, in alphabetical order. Original is
// the original language of the template.
func templateNames(original calendar.Language) []string {
	var names []string
	for _, f := range carriedFields {
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

// differentFields returns the names of all fields that differ between two templates.
func differentFields(a, b *ent.Event) []string {
	return changedFields(a, b, templateNames(a.Language))
}
