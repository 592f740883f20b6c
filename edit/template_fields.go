package edit

import (
	"bytes"
	"maps"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// templateField compares and copies a field of the template of a series. The language l is that of a
// translation, "" for the original; only texts have translations.
type templateField struct {
	same func(a, b *calendar.Template, l calendar.Language) bool
	copy func(dst, src *calendar.Template, l calendar.Language)
	// column sets the value in the mutation of an event. Nil means that the value is stored in another table.
	column func(m *ent.EventMutation, t *calendar.Template)
	// size returns roughly the bytes that the value takes in the database, without search texts. Nil means few.
	size func(t *calendar.Template, l calendar.Language) int
}

// templateFields are the fields of templates by their names in the API (contract, sections 10.1 and 27.3).
var templateFields = map[string]templateField{
	"title": textField(func(t *calendar.Text) *string { return &t.Title },
		func(m *ent.EventMutation, v string) { m.SetTitle(v) }),
	"description": textField(func(t *calendar.Text) *string { return &t.Description },
		func(m *ent.EventMutation, v string) { m.SetDescription(v) }),
	"excerpt": textField(func(t *calendar.Text) *string { return &t.Excerpt },
		func(m *ent.EventMutation, v string) { m.SetExcerpt(v) }),
	"event_status_reason": textField(func(t *calendar.Text) *string { return &t.EventStatusReason },
		func(m *ent.EventMutation, v string) { m.SetEventStatusReason(v) }),
	"image": plainField(func(t *calendar.Template) *int64 { return &t.ImageID },
		orClear((*ent.EventMutation).SetImageID, (*ent.EventMutation).ClearImageID)),
	"cost": {
		same: func(a, b *calendar.Template, _ calendar.Language) bool { return a.Cost.Equal(b.Cost) },
		copy: func(dst, src *calendar.Template, _ calendar.Language) { dst.Cost = src.Cost },
		column: func(m *ent.EventMutation, t *calendar.Template) {
			if t.Cost.IsZero() {
				m.ClearCost()
			} else {
				m.SetCost(t.Cost)
			}
		},
	},
	"website": {
		same: func(a, b *calendar.Template, _ calendar.Language) bool {
			return (a.Website == nil) == (b.Website == nil) && valueOr("", a.Website) == valueOr("", b.Website)
		},
		copy: func(dst, src *calendar.Template, _ calendar.Language) { dst.Website = src.Website },
		column: func(m *ent.EventMutation, t *calendar.Template) {
			if t.Website == nil {
				m.ClearWebsite()
			} else {
				m.SetWebsite(*t.Website)
			}
		},
		size: func(t *calendar.Template, _ calendar.Language) int { return len(valueOr("", t.Website)) },
	},
	"password": {
		same: func(a, b *calendar.Template, _ calendar.Language) bool {
			return bytes.Equal(a.PasswordHash, b.PasswordHash) && (len(a.PasswordHash) == 0 || a.PasswordID == b.PasswordID)
		},
		copy: func(dst, src *calendar.Template, _ calendar.Language) {
			dst.PasswordHash, dst.PasswordID = src.PasswordHash, src.PasswordID
		},
		column: func(m *ent.EventMutation, t *calendar.Template) {
			if len(t.PasswordHash) == 0 {
				m.ClearPasswordHash()
				m.ClearPasswordID()
				return
			}
			m.SetPasswordHash(t.PasswordHash)
			m.SetPasswordID(t.PasswordID)
		},
	},
	"show_map":      plainField(func(t *calendar.Template) *bool { return &t.ShowMap }, (*ent.EventMutation).SetShowMap),
	"show_map_link": plainField(func(t *calendar.Template) *bool { return &t.ShowMapLink }, (*ent.EventMutation).SetShowMapLink),
	"hide_from_listings": plainField(func(t *calendar.Template) *bool { return &t.HideFromListings },
		(*ent.EventMutation).SetHideFromListings),
	"sticky":   plainField(func(t *calendar.Template) *bool { return &t.Sticky }, (*ent.EventMutation).SetSticky),
	"featured": plainField(func(t *calendar.Template) *bool { return &t.Featured }, (*ent.EventMutation).SetFeatured),
	"ticketed": plainField(func(t *calendar.Template) *bool { return &t.Ticketed }, (*ent.EventMutation).SetTicketed),
	"post_parent": plainField(func(t *calendar.Template) *int64 { return &t.ParentID },
		orClear((*ent.EventMutation).SetParentID, (*ent.EventMutation).ClearParentID)),
	"event_status": plainField(func(t *calendar.Template) *calendar.EventStatus { return &t.EventStatus },
		(*ent.EventMutation).SetEventStatus),
	"attendance": plainField(func(t *calendar.Template) *calendar.Attendance { return &t.Attendance },
		(*ent.EventMutation).SetAttendance),
	"virtual_url": {
		same:   func(a, b *calendar.Template, _ calendar.Language) bool { return a.VirtualURL == b.VirtualURL },
		copy:   func(dst, src *calendar.Template, _ calendar.Language) { dst.VirtualURL = src.VirtualURL },
		column: func(m *ent.EventMutation, t *calendar.Template) { m.SetVirtualURL(t.VirtualURL) },
		size:   func(t *calendar.Template, _ calendar.Language) int { return len(t.VirtualURL) },
	},
	"categories": listField(func(t *calendar.Template) *[]int64 { return &t.Categories }, true),
	"tags":       listField(func(t *calendar.Template) *[]int64 { return &t.Tags }, true),
	"venue":      listField(func(t *calendar.Template) *[]int64 { return &t.Venues }, false),
	"organizer":  listField(func(t *calendar.Template) *[]int64 { return &t.Organizers }, false),
}

func plainField[T comparable](at func(*calendar.Template) *T, set func(*ent.EventMutation, T)) templateField {
	return templateField{
		same:   func(a, b *calendar.Template, _ calendar.Language) bool { return *at(a) == *at(b) },
		copy:   func(dst, src *calendar.Template, _ calendar.Language) { *at(dst) = *at(src) },
		column: func(m *ent.EventMutation, t *calendar.Template) { set(m, *at(t)) },
	}
}

// orClear returns a setter of an optional column that clears the column for 0.
func orClear(set func(*ent.EventMutation, int64), clear func(*ent.EventMutation)) func(*ent.EventMutation, int64) {
	return func(m *ent.EventMutation, id int64) {
		if id == 0 {
			clear(m)
		} else {
			set(m, id)
		}
	}
}

// listField returns the field for a list of linked ids. If sorted is true, comparisons ignore the order of the
// ids.
func listField(at func(*calendar.Template) *[]int64, sorted bool) templateField {
	return templateField{
		same: func(a, b *calendar.Template, _ calendar.Language) bool {
			if sorted {
				return slices.Equal(slices.Sorted(slices.Values(*at(a))), slices.Sorted(slices.Values(*at(b))))
			}
			return slices.Equal(*at(a), *at(b))
		},
		copy: func(dst, src *calendar.Template, _ calendar.Language) { *at(dst) = *at(src) },
		size: func(t *calendar.Template, _ calendar.Language) int { return linkBytes * len(*at(t)) },
	}
}

func textField(at func(*calendar.Text) *string, set func(*ent.EventMutation, string)) templateField {
	return templateField{
		same: func(a, b *calendar.Template, l calendar.Language) bool { return *at(textIn(a, l)) == *at(textIn(b, l)) },
		copy: func(dst, src *calendar.Template, l calendar.Language) { setText(dst, l, at, *at(textIn(src, l))) },
		column: func(m *ent.EventMutation, t *calendar.Template) {
			set(m, *at(&t.Original))
		},
		size: func(t *calendar.Template, l calendar.Language) int { return len(*at(textIn(t, l))) },
	}
}

// textIn returns the text of a template in language l, an empty one if there is none. "" means the original.
func textIn(t *calendar.Template, l calendar.Language) *calendar.Text {
	if l == "" {
		return &t.Original
	}
	if i := slices.IndexFunc(t.Others, func(o calendar.Text) bool { return o.Language == l }); i >= 0 {
		return &t.Others[i]
	}
	return &calendar.Text{Language: l}
}

// setText sets one text of a template in language l. It removes a translation without any text and slug. It
// does not change templates that share the old list of translations.
func setText(t *calendar.Template, l calendar.Language, at func(*calendar.Text) *string, value string) {
	if l == "" {
		*at(&t.Original) = value
		return
	}
	text := *textIn(t, l)
	*at(&text) = value
	t.Others = slices.DeleteFunc(slices.Clone(t.Others), func(o calendar.Text) bool { return o.Language == l })
	if hasText(text) || text.Slug != "" {
		t.Others = append(t.Others, text)
	}
	slices.SortFunc(t.Others, func(a, b calendar.Text) int { return a.Language.Bit() - b.Language.Bit() })
}

// hasText reports whether t has any text besides the slug.
func hasText(t calendar.Text) bool {
	return t.Title != "" || t.Description != "" || t.Excerpt != "" || t.EventStatusReason != ""
}

// cutLanguage returns the field and the language of a name such as title:pl. It reports false for an unknown
// field.
func cutLanguage(name string) (templateField, bool, calendar.Language) {
	field, l := calendar.CutField(name)
	f, ok := templateFields[field]
	return f, ok, l
}

// copyFields copies the named fields from src to dst. It removes a translation with its slug if its last text
// is cleared.
func copyFields(dst, src *calendar.Template, names []string) {
	before := dst.Others
	for _, name := range names {
		if f, ok, l := cutLanguage(name); ok {
			f.copy(dst, src, l)
		}
	}
	isCleared := func(o calendar.Text) bool {
		return !hasText(o) && slices.ContainsFunc(before, func(b calendar.Text) bool { return b.Language == o.Language && hasText(b) })
	}
	if slices.ContainsFunc(dst.Others, isCleared) {
		dst.Others = slices.DeleteFunc(slices.Clone(dst.Others), isCleared)
	}
}

// changedFields returns the names of the fields in names that differ between two templates.
func changedFields(a, b *calendar.Template, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		f, ok, l := cutLanguage(name)
		return !ok || f.same(a, b, l)
	})
}

// templateNames returns the names of all template fields with their languages. Original is the original
// language of the template.
func templateNames(original calendar.Language) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(templateFields)) {
		names = append(names, name)
		if slices.Contains([]string{"title", "description", "excerpt", "event_status_reason"}, name) {
			for _, l := range calendar.Languages {
				if l != original {
					names = append(names, name+":"+string(l))
				}
			}
		}
	}
	return names
}

// differentFields returns the names of all fields that differ between two templates.
func differentFields(a, b *calendar.Template) []string {
	return changedFields(a, b, templateNames(a.Original.Language))
}
