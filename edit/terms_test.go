package edit

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/term"
)

func TestTermNames(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor)
		music := w.term(e, calendar.Category, "Music", 0)
		jazz := w.term(e, calendar.Category, "Jazz", music.ID)
		if _, err := w.updateTerm(w.as(calendar.Editor).in("pl"), music.ID, &TermInput{Name: new("Muzyka")}); err != nil {
			t.Fatal(err)
		}
		tag := w.term(e, calendar.Tag, "Free", 0)
		tests := []struct {
			name   string
			by     calendar.Role
			in     TermInput
			want   string
			exists int64
		}{
			{"under the same parent", calendar.Editor, TermInput{Taxonomy: calendar.Category, Name: new("MUSIC")}, "term_exists", music.ID},
			{"in another language", calendar.Editor, TermInput{Taxonomy: calendar.Category, Name: new("muzyka")}, "term_exists", music.ID},
			{"below the same parent", calendar.Editor, TermInput{Taxonomy: calendar.Category, Name: new("jazz"), ParentID: &music.ID}, "term_exists", jazz.ID},
			{"under another parent", calendar.Editor, TermInput{Taxonomy: calendar.Category, Name: new("Jazz")}, "", 0},
			{"in the other taxonomy", calendar.Editor, TermInput{Taxonomy: calendar.Tag, Name: new("Music")}, "", 0},
			{"tags have no parent", calendar.Editor, TermInput{Taxonomy: calendar.Tag, Name: new("free"), ParentID: &music.ID}, "term_exists", tag.ID},
			{"unknown parent", calendar.Editor, TermInput{Taxonomy: calendar.Category, Name: new("X"), ParentID: new(int64(99))}, "parent:unknown-ids", 0},
			{"a tag as parent", calendar.Editor, TermInput{Taxonomy: calendar.Category, Name: new("X"), ParentID: &tag.ID}, "parent:unknown-ids", 0},
			{"unknown parent before the permission", calendar.Contributor, TermInput{Taxonomy: calendar.Category, Name: new("X"), ParentID: new(int64(99))}, "parent:unknown-ids", 0},
			{"contributor", calendar.Contributor, TermInput{Taxonomy: calendar.Tag, Name: new("X")}, "rest_forbidden", 0},
			{"author", calendar.Author, TermInput{Taxonomy: calendar.Tag, Name: new("X")}, "", 0},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				_, err := w.createTerm(w.as(tt.by), &tt.in)
				refused(t, err, tt.want)
				var c *calendar.Error
				if errors.As(err, &c) && tt.exists != 0 && c.Data["term_id"] != tt.exists {
					t.Errorf("term_id %v, want %d", c.Data["term_id"], tt.exists)
				}
			})
		}
		w.checkLog()
	})
}

func TestTermUpdates(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor)
		a := w.term(e, calendar.Category, "A", 0)
		b := w.term(e, calendar.Category, "B", a.ID)
		c := w.term(e, calendar.Category, "C", b.ID)
		second, err := w.createTerm(e, &TermInput{Taxonomy: calendar.Category, Name: new("Second"), Slug: new("A!")})
		if err != nil || second.Slug != "a-2" {
			t.Fatalf("%v, %v", second, err)
		}
		odd := w.term(e, calendar.Category, "???", 0)
		if want := calendar.Category.Slug(odd.ID); odd.Slug != want {
			t.Errorf("slug %q, want %q", odd.Slug, want)
		}
		tests := []struct {
			name string
			id   int64
			in   TermInput
			want string
		}{
			{"renamed to a name that exists", b.ID, TermInput{Name: new("A"), ParentID: new(int64(0))}, ""},
			{"slug of another", second.ID, TermInput{Slug: new("a")}, "duplicate_term_slug"},
			{"slug of its own", second.ID, TermInput{Slug: new("A-2")}, ""},
			{"a free slug", second.ID, TermInput{Slug: new("two")}, ""},
			{"itself as parent", a.ID, TermInput{ParentID: &a.ID}, "parent"},
			{"its child as parent", b.ID, TermInput{ParentID: &c.ID}, "parent"},
			{"another parent", a.ID, TermInput{ParentID: &c.ID}, ""},
			{"its descendant as parent", b.ID, TermInput{ParentID: &a.ID}, "parent"},
			{"unknown parent", b.ID, TermInput{ParentID: new(int64(99))}, "parent:unknown-ids"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				_, err := w.updateTerm(e, tt.id, &tt.in)
				refused(t, err, tt.want)
			})
		}
		if got := w.db.Term.GetX(t.Context(), second.ID); got.Slug != "two" || got.Version != 3 {
			t.Errorf("slug %q, version %d", got.Slug, got.Version)
		}
	})
}

func TestTermDelete(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor)
		a := w.term(e, calendar.Category, "A", 0)
		b := w.term(e, calendar.Category, "B", a.ID)
		c := w.term(e, calendar.Category, "C", b.ID)
		if _, err := w.updateTerm(w.as(calendar.Editor).in("pl"), b.ID, &TermInput{Name: new("Be"), Slug: new("be")}); err != nil {
			t.Fatal(err)
		}
		row := w.event(e, &EventInput{Categories: &[]TermRef{{ID: b.ID}, {ID: a.ID}}})
		w.deleteTerm(e, b.ID)
		if got := w.db.Term.GetX(t.Context(), c.ID); got.ParentID == nil || *got.ParentID != a.ID {
			t.Errorf("the child is below %v, want %d", got.ParentID, a.ID)
		}
		if diff := cmp.Diff([]int64{a.ID}, w.termsOf(row.ID).categories); diff != "" {
			t.Errorf("categories of the event (-want +got):\n%s", diff)
		}
		if n := w.db.Slug.Query().Where(slug.SlugIn("b", "be")).CountX(t.Context()); n != 0 {
			t.Errorf("%d slugs stay", n)
		}
		if n := w.db.TermTranslation.Query().CountX(t.Context()); n != 0 {
			t.Errorf("%d translations stay", n)
		}
		w.deleteTerm(e, a.ID)
		if got := w.db.Term.GetX(t.Context(), c.ID); got.ParentID != nil {
			t.Errorf("the child is below %d, want the top", *got.ParentID)
		}
		w.checkCounts()
		w.checkLog()
	})
}

func TestEventTerms(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor)
		music := w.term(e, calendar.Category, "Music", 0)
		sub := w.term(e, calendar.Category, "Live", music.ID)
		w.term(e, calendar.Category, "Live", 0) // the younger of the name
		if _, err := w.updateTerm(w.as(calendar.Editor).in("pl"), music.ID, &TermInput{Name: new("Muzyka"), Slug: new("muz")}); err != nil {
			t.Fatal(err)
		}
		tag := w.term(e, calendar.Tag, "Free", 0)
		tests := []struct {
			name    string
			by      calendar.Role
			refs    []TermRef
			want    []int64
			created int
			refusal string
		}{
			{"by id", calendar.Contributor, []TermRef{{ID: music.ID}}, []int64{music.ID}, 0, ""},
			{"by name", calendar.Contributor, []TermRef{{Name: "MUSIC"}}, []int64{music.ID}, 0, ""},
			{"by name in another language", calendar.Contributor, []TermRef{{Name: "muzyka"}}, []int64{music.ID}, 0, ""},
			{"by slug in another language", calendar.Contributor, []TermRef{{Name: "MUZ"}}, []int64{music.ID}, 0, ""},
			{"the oldest of the name", calendar.Contributor, []TermRef{{Name: "live"}}, []int64{sub.ID}, 0, ""},
			{"repeats", calendar.Contributor, []TermRef{{Name: "Music"}, {ID: music.ID}, {Name: "muz"}}, []int64{music.ID}, 0, ""},
			{"none", calendar.Contributor, []TermRef{}, nil, 0, ""},
			{"unknown id", calendar.Editor, []TermRef{{ID: 99}, {Name: "New"}}, nil, 0, "categories:unknown-ids"},
			{"zero", calendar.Editor, []TermRef{{}}, nil, 0, "categories:unknown-ids"},
			{"id of a tag", calendar.Editor, []TermRef{{ID: tag.ID}}, nil, 0, "categories:unknown-ids"},
			{"new name by a contributor", calendar.Contributor, []TermRef{{Name: "New"}}, nil, 0, "categories:unknown-terms"},
			{"new names by an author", calendar.Author, []TermRef{{Name: "New"}, {Name: "NEW"}, {Name: "C++"}, {Name: "C"}}, nil, 3, ""},
			{"a name that only resembles a slug", calendar.Author, []TermRef{{Name: "muz!"}}, nil, 1, ""},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				before := w.db.Term.Query().CountX(t.Context())
				row, err := w.createEvent(w.as(tt.by), &EventInput{Categories: &tt.refs})
				refused(t, err, tt.refusal)
				if n := w.db.Term.Query().CountX(t.Context()) - before; n != tt.created {
					t.Errorf("%d new terms, want %d", n, tt.created)
				}
				if err == nil && tt.created == 0 {
					if diff := cmp.Diff(tt.want, w.termsOf(row.ID).categories); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				}
			})
		}
		if n := w.db.Term.Query().Where(term.Name("NEW")).CountX(t.Context()); n != 0 {
			t.Error("a repeated new name was created twice")
		}
		w.checkCounts()
		w.checkLog()
	})
}

func TestTermCounts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.rowsPast = true
		e := w.as(calendar.Editor)
		a, b := w.term(e, calendar.Category, "A", 0), w.term(e, calendar.Tag, "B", 0)
		row := w.event(e, &EventInput{Categories: &[]TermRef{{ID: a.ID}}})
		steps := []struct {
			name string
			in   EventInput
			a, b int
		}{
			{"created", EventInput{}, 1, 0},
			{"another term", EventInput{Tags: &[]TermRef{{ID: b.ID}}}, 1, 1},
			{"draft", EventInput{Status: new(calendar.Draft)}, 0, 0},
			{"published with other terms", EventInput{Status: new(calendar.Publish), Categories: &[]TermRef{}}, 0, 1},
			{"private and terms at once", EventInput{Status: new(calendar.Private), Categories: &[]TermRef{{ID: a.ID}}}, 0, 0},
			{"scheduled", EventInput{Status: new(calendar.Publish), Published: new(now.AddDate(0, 0, 1))}, 0, 0},
			{"its date has come", EventInput{Published: new(now.AddDate(0, 0, -1))}, 1, 1},
			{"trashed", EventInput{Status: new(calendar.Trash)}, 0, 0},
			{"restored", EventInput{Status: new(calendar.Publish)}, 1, 1},
			{"no terms", EventInput{Categories: &[]TermRef{}, Tags: &[]TermRef{}}, 0, 0},
		}
		for _, s := range steps {
			w.changeEvent(e, row.ID, &s.in)
			if w.count(a.ID) != s.a || w.count(b.ID) != s.b {
				t.Errorf("%s: %d and %d, want %d and %d", s.name, w.count(a.ID), w.count(b.ID), s.a, s.b)
			}
		}
		w.changeEvent(e, row.ID, &EventInput{Categories: &[]TermRef{{ID: a.ID}}})
		if _, err := w.trashEvent(e, row.ID); err != nil || w.count(a.ID) != 0 {
			t.Errorf("trashed: %d, %v", w.count(a.ID), err)
		}
		if n := w.db.EventTerm.Query().Where(eventterm.EventID(row.ID)).CountX(t.Context()); n != 1 {
			t.Errorf("%d links in the trash, want 1", n)
		}
		w.db.Term.UpdateOneID(a.ID).SetEventCount(7).ExecX(t.Context())
		w.db.Event.UpdateOneID(row.ID).SetStatus(calendar.Publish).ExecX(t.Context())
		write(w, e, func(ctx context.Context, tx *ent.Tx) (any, error) { return nil, Recount(ctx, tx, a.ID) })
		if w.count(a.ID) != 1 {
			t.Errorf("recounted: %d", w.count(a.ID))
		}
	})
}
