package edit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/slug"
)

func TestTranslations(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		type words struct{ Title, Description, Excerpt, Slug string }
		as := func(l calendar.Language) *Editor { return w.as(calendar.Editor).in(l) }
		row := w.event(as(""), &EventInput{Title: new("Fair"), Description: new("Big"), Excerpt: new("b")})
		english := words{"Fair", "Big", "b", "fair"}
		steps := []struct {
			name   string
			write  calendar.Language
			in     EventInput
			want   words // original
			polish *words
			langs  calendar.LanguageSet
		}{
			{"in the original language", "en", EventInput{Excerpt: new("c")}, words{"Fair", "Big", "c", "fair"}, nil, "en"},
			{"in another language", "pl", EventInput{Title: new("Targ")}, words{"Fair", "Big", "c", "fair"}, &words{Title: "Targ"}, "en,pl"},
			{"what is not text is common", "pl", EventInput{Sticky: new(true)}, words{"Fair", "Big", "c", "fair"}, &words{Title: "Targ"}, "en,pl"},
			{"the slug of the original sent back", "pl", EventInput{Slug: new("fair")}, words{"Fair", "Big", "c", "fair"}, &words{Title: "Targ"}, "en,pl"},
			{"a slug of its own", "pl", EventInput{Slug: new("Targ wielki"), Description: new("Duży")}, words{"Fair", "Big", "c", "fair"}, &words{"Targ", "Duży", "", "targ-wielki"}, "en,pl"},
			{"without a write language", "", EventInput{Title: new("Trade fair"), Excerpt: new("b")}, words{"Trade fair", "Big", "b", "fair"}, &words{"Targ", "Duży", "", "targ-wielki"}, "en,pl"},
			{"one text cleared", "pl", EventInput{Description: new("")}, words{"Trade fair", "Big", "b", "fair"}, &words{"Targ", "", "", "targ-wielki"}, "en,pl"},
			{"the last text cleared", "pl", EventInput{Title: new("")}, words{"Trade fair", "Big", "b", "fair"}, nil, "en"},
			{"a third language", "es", EventInput{Title: new("Feria")}, words{"Trade fair", "Big", "b", "fair"}, nil, "en,es"},
			{"the original back", "en", EventInput{Title: new("Fair"), Description: new("Big")}, english, nil, "en,es"},
			{"clearing what is not there", "pl", EventInput{Description: new("")}, english, nil, "en,es"},
			{"a slug alone", "pl", EventInput{Slug: new("targ")}, english, &words{Slug: "targ"}, "en,pl,es"},
		}
		for _, s := range steps {
			got := w.changeEvent(as(s.write), row.ID, &s.in)
			if diff := cmp.Diff(s.want, words{got.Title, got.Description, got.Excerpt, got.Slug}); diff != "" {
				t.Errorf("%s: original (-want +got):\n%s", s.name, diff)
			}
			var polish *words
			if tr := w.translation(row.ID, "pl"); tr != nil {
				polish = &words{tr.Title, tr.Description, tr.Excerpt, tr.Slug}
			}
			if diff := cmp.Diff(s.polish, polish); diff != "" {
				t.Errorf("%s: Polish (-want +got):\n%s", s.name, diff)
			}
			if got.Languages != s.langs {
				t.Errorf("%s: languages %q, want %q", s.name, got.Languages, s.langs)
			}
		}
		slugs, err := w.db.Slug.Query().Where(slug.OwnerID(row.ID), slug.KindEQ(calendar.Event)).
			Order(ent.Asc(slug.FieldSlug)).Select(slug.FieldSlug).Strings(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"fair", "targ"}, slugs); diff != "" {
			t.Errorf("slugs (-want +got):\n%s", diff)
		}
		_, err = w.updateEvent(as("en"), row.ID, &EventInput{Title: new("")})
		refused(t, err, "title")
	})
}

// TestForeignOriginal has an original in Polish on an English site: without a write language the English text
// is changed where there is one, field by field.
func TestForeignOriginal(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		as := func(l calendar.Language) *Editor { return w.as(calendar.Editor).in(l) }
		row := w.event(as("pl"), &EventInput{Title: new("Targ"), Description: new("Opis")})
		if row.Language != calendar.Polish || row.Languages != "pl" {
			t.Fatalf("language %s of %s", row.Language, row.Languages)
		}
		if row = w.changeEvent(as(""), row.ID, &EventInput{Title: new("Targi")}); row.Title != "Targi" {
			t.Errorf("without a text in English the original changes: %q", row.Title)
		}
		w.changeEvent(as("en"), row.ID, &EventInput{Title: new("Fair")})
		row = w.changeEvent(as(""), row.ID, &EventInput{Title: new("Trade fair"), Description: new("Nowy opis"), Slug: new("targi")})
		if row.Title != "Targi" || row.Description != "Nowy opis" || row.Slug != "targi" {
			t.Errorf("original %q, %q, %q", row.Title, row.Description, row.Slug)
		}
		if tr := w.translation(row.ID, "en"); tr.Title != "Trade fair" || tr.Description != "" {
			t.Errorf("English %q, %q", tr.Title, tr.Description)
		}
		row = w.changeEvent(as(""), row.ID, &EventInput{Title: new("")})
		if w.translation(row.ID, "en") != nil || row.Languages != "pl" || row.Title != "Targi" {
			t.Errorf("clearing the English title leaves %q in %s", row.Title, row.Languages)
		}
	})
}

func TestTranslatedSlugsAreUnique(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor)
		w.event(e, &EventInput{Title: new("Targ")})
		row := w.event(e, &EventInput{Title: new("Fair")})
		w.changeEvent(w.as(calendar.Editor).in("pl"), row.ID, &EventInput{Slug: new("targ")})
		if got := w.translation(row.ID, "pl").Slug; got != "targ-2" {
			t.Errorf("slug %q", got)
		}
		if got := w.event(e, &EventInput{Title: new("Targ 2")}).Slug; got != "targ-2-2" {
			t.Errorf("slug %q", got)
		}
	})
}
