package edit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/upkeep"
	"github.com/almanac-cal/almanac/proof/edittest"
)

func TestTermNames(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		music := w.Term(e, calendar.Category, "Music", 0)
		jazz := w.Term(e, calendar.Category, "Jazz", music.ID)
		if _, err := w.UpdateTerm(w.AsIn(calendar.Editor, "pl"), music.ID, &edit.TermInput{Name: new("Muzyka")}); err != nil {
			t.Fatal(err)
		}
		tag := w.Term(e, calendar.Tag, "Free", 0)
		tests := []struct {
			name   string
			by     calendar.Role
			in     edit.TermInput
			want   string
			exists int64
		}{
			{"under the same parent", calendar.Editor, edit.TermInput{Taxonomy: calendar.Category, Name: new("MUSIC")}, "term_exists", music.ID},
			{"in another language", calendar.Editor, edit.TermInput{Taxonomy: calendar.Category, Name: new("muzyka")}, "term_exists", music.ID},
			{"below the same parent", calendar.Editor, edit.TermInput{Taxonomy: calendar.Category, Name: new("jazz"), ParentID: &music.ID}, "term_exists", jazz.ID},
			{"under another parent", calendar.Editor, edit.TermInput{Taxonomy: calendar.Category, Name: new("Jazz")}, "", 0},
			{"in the other taxonomy", calendar.Editor, edit.TermInput{Taxonomy: calendar.Tag, Name: new("Music")}, "", 0},
			{"tags have no parent", calendar.Editor, edit.TermInput{Taxonomy: calendar.Tag, Name: new("free"), ParentID: &music.ID}, "term_exists", tag.ID},
			{"unknown parent", calendar.Editor, edit.TermInput{Taxonomy: calendar.Category, Name: new("X"), ParentID: new(int64(99))}, "parent:unknown-ids", 0},
			{"a tag as parent", calendar.Editor, edit.TermInput{Taxonomy: calendar.Category, Name: new("X"), ParentID: &tag.ID}, "parent:unknown-ids", 0},
			{"unknown parent before the permission", calendar.Contributor, edit.TermInput{Taxonomy: calendar.Category, Name: new("X"), ParentID: new(int64(99))}, "parent:unknown-ids", 0},
			{"contributor", calendar.Contributor, edit.TermInput{Taxonomy: calendar.Tag, Name: new("X")}, "rest_forbidden", 0},
			{"author", calendar.Author, edit.TermInput{Taxonomy: calendar.Tag, Name: new("X")}, "", 0},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				_, err := w.CreateTerm(w.As(tt.by), &tt.in)
				edittest.Refused(t, err, tt.want)
				var c *calendar.Error
				if errors.As(err, &c) && tt.exists != 0 && c.Data["term_id"] != tt.exists {
					t.Errorf("term_id %v, want %d", c.Data["term_id"], tt.exists)
				}
			})
		}
		w.CheckLog()
	})
}

func TestTermUpdates(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		a := w.Term(e, calendar.Category, "A", 0)
		b := w.Term(e, calendar.Category, "B", a.ID)
		c := w.Term(e, calendar.Category, "C", b.ID)
		second, err := w.CreateTerm(e, &edit.TermInput{Taxonomy: calendar.Category, Name: new("Second"), Slug: new("A!")})
		if err != nil || second.Slug != "a-2" {
			t.Fatalf("%v, %v", second, err)
		}
		odd := w.Term(e, calendar.Category, "???", 0)
		if want := calendar.Category.Slug(odd.ID); odd.Slug != want {
			t.Errorf("slug %q, want %q", odd.Slug, want)
		}
		tests := []struct {
			name string
			id   int64
			in   edit.TermInput
			want string
		}{
			{"renamed to a name that exists", b.ID, edit.TermInput{Name: new("A"), ParentID: new(int64(0))}, ""},
			{"slug of another", second.ID, edit.TermInput{Slug: new("a")}, "duplicate_term_slug"},
			{"slug of its own", second.ID, edit.TermInput{Slug: new("A-2")}, ""},
			{"a free slug", second.ID, edit.TermInput{Slug: new("two")}, ""},
			{"itself as parent", a.ID, edit.TermInput{ParentID: &a.ID}, "parent"},
			{"its child as parent", b.ID, edit.TermInput{ParentID: &c.ID}, "parent"},
			{"another parent", a.ID, edit.TermInput{ParentID: &c.ID}, ""},
			{"its descendant as parent", b.ID, edit.TermInput{ParentID: &a.ID}, "parent"},
			{"unknown parent", b.ID, edit.TermInput{ParentID: new(int64(99))}, "parent:unknown-ids"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				_, err := w.UpdateTerm(e, tt.id, &tt.in)
				edittest.Refused(t, err, tt.want)
			})
		}
		if got := w.DB.Term.GetX(t.Context(), second.ID); got.Slug != "two" || got.Version != 3 {
			t.Errorf("slug %q, version %d", got.Slug, got.Version)
		}
	})
}

func TestTermDelete(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		a := w.Term(e, calendar.Category, "A", 0)
		b := w.Term(e, calendar.Category, "B", a.ID)
		c := w.Term(e, calendar.Category, "C", b.ID)
		if _, err := w.UpdateTerm(w.AsIn(calendar.Editor, "pl"), b.ID, &edit.TermInput{Name: new("Be"), Slug: new("be")}); err != nil {
			t.Fatal(err)
		}
		row := w.Event(e, &edit.EventInput{Categories: &[]edit.TermRef{{ID: b.ID}, {ID: a.ID}}})
		w.DeleteTerm(e, b.ID)
		if got := w.DB.Term.GetX(t.Context(), c.ID); got.ParentID == nil || *got.ParentID != a.ID {
			t.Errorf("the child is below %v, want %d", got.ParentID, a.ID)
		}
		if diff := cmp.Diff([]int64{a.ID}, categoriesOf(w, row.ID)); diff != "" {
			t.Errorf("categories of the event (-want +got):\n%s", diff)
		}
		if n := w.DB.Slug.Query().Where(slug.SlugIn("b", "be")).CountX(t.Context()); n != 0 {
			t.Errorf("%d slugs stay", n)
		}
		if n := w.DB.TermTranslation.Query().CountX(t.Context()); n != 0 {
			t.Errorf("%d translations stay", n)
		}
		w.DeleteTerm(e, a.ID)
		if got := w.DB.Term.GetX(t.Context(), c.ID); got.ParentID != nil {
			t.Errorf("the child is below %d, want the top", *got.ParentID)
		}
		w.CheckCounts()
		w.CheckLog()
	})
}

func TestEventTerms(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		music := w.Term(e, calendar.Category, "Music", 0)
		sub := w.Term(e, calendar.Category, "Live", music.ID)
		w.Term(e, calendar.Category, "Live", 0) // the younger of the name
		if _, err := w.UpdateTerm(w.AsIn(calendar.Editor, "pl"), music.ID, &edit.TermInput{Name: new("Muzyka"), Slug: new("muz")}); err != nil {
			t.Fatal(err)
		}
		tag := w.Term(e, calendar.Tag, "Free", 0)
		tests := []struct {
			name    string
			by      calendar.Role
			refs    []edit.TermRef
			want    []int64
			created int
			refusal string
		}{
			{"by id", calendar.Contributor, []edit.TermRef{{ID: music.ID}}, []int64{music.ID}, 0, ""},
			{"by name", calendar.Contributor, []edit.TermRef{{Name: "MUSIC"}}, []int64{music.ID}, 0, ""},
			{"by name in another language", calendar.Contributor, []edit.TermRef{{Name: "muzyka"}}, []int64{music.ID}, 0, ""},
			{"by slug in another language", calendar.Contributor, []edit.TermRef{{Name: "MUZ"}}, []int64{music.ID}, 0, ""},
			{"the oldest of the name", calendar.Contributor, []edit.TermRef{{Name: "live"}}, []int64{sub.ID}, 0, ""},
			{"repeats", calendar.Contributor, []edit.TermRef{{Name: "Music"}, {ID: music.ID}, {Name: "muz"}}, []int64{music.ID}, 0, ""},
			{"none", calendar.Contributor, []edit.TermRef{}, nil, 0, ""},
			{"unknown id", calendar.Editor, []edit.TermRef{{ID: 99}, {Name: "New"}}, nil, 0, "categories:unknown-ids"},
			{"zero", calendar.Editor, []edit.TermRef{{}}, nil, 0, "categories:unknown-ids"},
			{"id of a tag", calendar.Editor, []edit.TermRef{{ID: tag.ID}}, nil, 0, "categories:unknown-ids"},
			{"new name by a contributor", calendar.Contributor, []edit.TermRef{{Name: "New"}}, nil, 0, "categories:unknown-terms"},
			{"new names by an author", calendar.Author, []edit.TermRef{{Name: "New"}, {Name: "NEW"}, {Name: "C++"}, {Name: "C"}}, nil, 3, ""},
			{"a name that only resembles a slug", calendar.Author, []edit.TermRef{{Name: "muz!"}}, nil, 1, ""},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				before := w.DB.Term.Query().CountX(t.Context())
				row, err := w.CreateEvent(w.As(tt.by), &edit.EventInput{Categories: &tt.refs})
				edittest.Refused(t, err, tt.refusal)
				if n := w.DB.Term.Query().CountX(t.Context()) - before; n != tt.created {
					t.Errorf("%d new terms, want %d", n, tt.created)
				}
				if err == nil && tt.created == 0 {
					if diff := cmp.Diff(tt.want, categoriesOf(w, row.ID)); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				}
			})
		}
		if n := w.DB.Term.Query().Where(term.Name("NEW")).CountX(t.Context()); n != 0 {
			t.Error("a repeated new name was created twice")
		}
		w.CheckCounts()
		w.CheckLog()
	})
}

func TestTermCounts(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		w.RowsPast = true
		e := w.As(calendar.Editor)
		a, b := w.Term(e, calendar.Category, "A", 0), w.Term(e, calendar.Tag, "B", 0)
		row := w.Event(e, &edit.EventInput{Categories: &[]edit.TermRef{{ID: a.ID}}})
		steps := []struct {
			name string
			in   edit.EventInput
			a, b int
		}{
			{"created", edit.EventInput{}, 1, 0},
			{"another term", edit.EventInput{Tags: &[]edit.TermRef{{ID: b.ID}}}, 1, 1},
			{"draft", edit.EventInput{Status: new(calendar.Draft)}, 0, 0},
			{"published with other terms", edit.EventInput{Status: new(calendar.Publish), Categories: &[]edit.TermRef{}}, 0, 1},
			{"private and terms at once", edit.EventInput{Status: new(calendar.Private), Categories: &[]edit.TermRef{{ID: a.ID}}}, 0, 0},
			{"scheduled", edit.EventInput{Status: new(calendar.Publish), Published: new(edittest.Now.AddDate(0, 0, 1))}, 0, 0},
			{"its date has come", edit.EventInput{Published: new(edittest.Now.AddDate(0, 0, -1))}, 1, 1},
			{"trashed", edit.EventInput{Status: new(calendar.Trash)}, 0, 0},
			{"restored", edit.EventInput{Status: new(calendar.Publish)}, 1, 1},
			{"no terms", edit.EventInput{Categories: &[]edit.TermRef{}, Tags: &[]edit.TermRef{}}, 0, 0},
		}
		for _, s := range steps {
			w.ChangeEvent(e, row.ID, &s.in)
			if w.Count(a.ID) != s.a || w.Count(b.ID) != s.b {
				t.Errorf("%s: %d and %d, want %d and %d", s.name, w.Count(a.ID), w.Count(b.ID), s.a, s.b)
			}
		}
		w.ChangeEvent(e, row.ID, &edit.EventInput{Categories: &[]edit.TermRef{{ID: a.ID}}})
		if _, err := w.TrashEvent(e, row.ID); err != nil || w.Count(a.ID) != 0 {
			t.Errorf("trashed: %d, %v", w.Count(a.ID), err)
		}
		if n := w.DB.EventTerm.Query().Where(eventterm.EventID(row.ID)).CountX(t.Context()); n != 1 {
			t.Errorf("%d links in the trash, want 1", n)
		}
		w.DB.Term.UpdateOneID(a.ID).SetEventCount(7).ExecX(t.Context())
		w.DB.Event.UpdateOneID(row.ID).SetStatus(calendar.Publish).ExecX(t.Context())
		edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (any, error) { return nil, upkeep.Recount(ctx, tx, a.ID) })
		if w.Count(a.ID) != 1 {
			t.Errorf("recounted: %d", w.Count(a.ID))
		}
	})
}
