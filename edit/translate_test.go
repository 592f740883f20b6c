package edit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/proof/edittest"
)

func TestTranslations(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		type words struct{ Title, Description, Excerpt, Slug string }
		as := func(l calendar.Language) *edit.Editor { return w.AsIn(calendar.Editor, l) }
		row := w.Event(as(""), &edit.EventInput{Title: new("Fair"), Description: new("Big"), Excerpt: new("b")})
		english := words{"Fair", "Big", "b", "fair"}
		steps := []struct {
			name   string
			write  calendar.Language
			in     edit.EventInput
			want   words // original
			polish *words
			langs  calendar.LanguageSet
		}{
			{"in the original language", "en", edit.EventInput{Excerpt: new("c")}, words{"Fair", "Big", "c", "fair"}, nil, "en"},
			{"in another language", "pl", edit.EventInput{Title: new("Targ")}, words{"Fair", "Big", "c", "fair"}, &words{Title: "Targ"}, "en,pl"},
			{"what is not text is common", "pl", edit.EventInput{EventValues: ent.EventValues{Sticky: new(true)}}, words{"Fair", "Big", "c", "fair"}, &words{Title: "Targ"}, "en,pl"},
			{"the slug of the original sent back", "pl", edit.EventInput{Slug: new("fair")}, words{"Fair", "Big", "c", "fair"}, &words{Title: "Targ"}, "en,pl"},
			{"a slug of its own", "pl", edit.EventInput{Slug: new("Targ wielki"), Description: new("Duży")}, words{"Fair", "Big", "c", "fair"}, &words{"Targ", "Duży", "", "targ-wielki"}, "en,pl"},
			{"without a write language", "", edit.EventInput{Title: new("Trade fair"), Excerpt: new("b")}, words{"Trade fair", "Big", "b", "fair"}, &words{"Targ", "Duży", "", "targ-wielki"}, "en,pl"},
			{"one text cleared", "pl", edit.EventInput{Description: new("")}, words{"Trade fair", "Big", "b", "fair"}, &words{"Targ", "", "", "targ-wielki"}, "en,pl"},
			{"the last text cleared", "pl", edit.EventInput{Title: new("")}, words{"Trade fair", "Big", "b", "fair"}, nil, "en"},
			{"a third language", "es", edit.EventInput{Title: new("Feria")}, words{"Trade fair", "Big", "b", "fair"}, nil, "en,es"},
			{"the original back", "en", edit.EventInput{Title: new("Fair"), Description: new("Big")}, english, nil, "en,es"},
			{"clearing what is not there", "pl", edit.EventInput{Description: new("")}, english, nil, "en,es"},
			{"a slug alone", "pl", edit.EventInput{Slug: new("targ")}, english, &words{Slug: "targ"}, "en,pl,es"},
		}
		for _, s := range steps {
			got := w.ChangeEvent(as(s.write), row.ID, &s.in)
			if diff := cmp.Diff(s.want, words{got.Title, got.Description, got.Excerpt, got.Slug}); diff != "" {
				t.Errorf("%s: original (-want +got):\n%s", s.name, diff)
			}
			var polish *words
			if tr := w.Translation(row.ID, "pl"); tr != nil {
				polish = &words{tr.Title, tr.Description, tr.Excerpt, tr.Slug}
			}
			if diff := cmp.Diff(s.polish, polish); diff != "" {
				t.Errorf("%s: Polish (-want +got):\n%s", s.name, diff)
			}
			if got.Languages != s.langs {
				t.Errorf("%s: languages %q, want %q", s.name, got.Languages, s.langs)
			}
		}
		slugs, err := w.DB.Slug.Query().Where(slug.OwnerID(row.ID), slug.KindEQ(calendar.Event)).
			Order(ent.Asc(slug.FieldSlug)).Select(slug.FieldSlug).Strings(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"fair", "targ"}, slugs); diff != "" {
			t.Errorf("slugs (-want +got):\n%s", diff)
		}
		_, err = w.UpdateEvent(as("en"), row.ID, &edit.EventInput{Title: new("")})
		edittest.Refused(t, err, "title")
	})
}

// TestForeignOriginal changes a record with a Polish original on an English site. Without a write language, each
// field is changed in English if it has an English text, and otherwise in Polish.
func TestForeignOriginal(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		as := func(l calendar.Language) *edit.Editor { return w.AsIn(calendar.Editor, l) }
		row := w.Event(as("pl"), &edit.EventInput{Title: new("Targ"), Description: new("Opis")})
		if row.Language != calendar.Polish || row.Languages != "pl" {
			t.Fatalf("language %s of %s", row.Language, row.Languages)
		}
		if row = w.ChangeEvent(as(""), row.ID, &edit.EventInput{Title: new("Targi")}); row.Title != "Targi" {
			t.Errorf("without a text in English the original changes: %q", row.Title)
		}
		w.ChangeEvent(as("en"), row.ID, &edit.EventInput{Title: new("Fair")})
		row = w.ChangeEvent(as(""), row.ID, &edit.EventInput{Title: new("Trade fair"), Description: new("Nowy opis"), Slug: new("targi")})
		if row.Title != "Targi" || row.Description != "Nowy opis" || row.Slug != "targi" {
			t.Errorf("original %q, %q, %q", row.Title, row.Description, row.Slug)
		}
		if tr := w.Translation(row.ID, "en"); tr.Title != "Trade fair" || tr.Description != "" {
			t.Errorf("English %q, %q", tr.Title, tr.Description)
		}
		row = w.ChangeEvent(as(""), row.ID, &edit.EventInput{Title: new("")})
		if w.Translation(row.ID, "en") != nil || row.Languages != "pl" || row.Title != "Targi" {
			t.Errorf("clearing the English title leaves %q in %s", row.Title, row.Languages)
		}
	})
}

func TestTranslatedSlugsAreUnique(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		w.Event(e, &edit.EventInput{Title: new("Targ")})
		row := w.Event(e, &edit.EventInput{Title: new("Fair")})
		w.ChangeEvent(w.AsIn(calendar.Editor, "pl"), row.ID, &edit.EventInput{Slug: new("targ")})
		if got := w.Translation(row.ID, "pl").Slug; got != "targ-2" {
			t.Errorf("slug %q", got)
		}
		if got := w.Event(e, &edit.EventInput{Title: new("Targ 2")}).Slug; got != "targ-2-2" {
			t.Errorf("slug %q", got)
		}
	})
}
