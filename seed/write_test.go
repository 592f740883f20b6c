package seed

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/auth"
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/user"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/storetest"
	"github.com/almanac-cal/almanac/store"
)

func editor() *edit.Editor {
	return &edit.Editor{
		Site: calendar.Site{Zone: calendar.UTC(), Language: calendar.English}, Now: from, By: auth.System(),
	}
}

func write(t *testing.T, db *ent.Client, e *edit.Editor, c *Calendar) Summary {
	t.Helper()
	s, err := Write(t.Context(), db, e, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// must returns the value of a query that has to succeed.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func created(c *Calendar) Summary {
	translations := 0
	for _, texts := range [][]Text{
		each(c.Categories, func(x Term) Text { return x.Name }), each(c.Tags, func(x Term) Text { return x.Name }),
		each(c.Venues, func(x Venue) Text { return x.Description }),
		each(c.Organizers, func(x Organizer) Text { return x.Description }),
		each(c.Events, func(x Event) Text { return x.Title }),
	} {
		for _, text := range texts {
			translations += len(text) - 1
		}
	}
	return Summary{
		Categories: Count{Created: len(c.Categories)}, Tags: Count{Created: len(c.Tags)},
		Venues: Count{Created: len(c.Venues)}, Organizers: Count{Created: len(c.Organizers)},
		Events: Count{Created: len(c.Events)}, Translations: translations,
	}
}

func each[R any](records []R, text func(R) Text) []Text {
	var all []Text
	for _, r := range records {
		all = append(all, text(r))
	}
	return all
}

func TestWrittenIsWhatWasMadeUp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		db, ctx := st.Ent, t.Context()
		admin := must[*ent.User](t)(db.User.Create().SetLogin("admin").SetName("Admin").
			SetRole(calendar.Administrator).SetPasswordHash("-").SetCreatedAt(from).Save(ctx))
		c := City(Options{Seed: 1, From: from, AuthorID: admin.ID})
		e := editor()
		if diff := cmp.Diff(created(c), write(t, db, e, c)); diff != "" {
			t.Errorf("summary (-want +got)\n%s", diff)
		}
		if e.Write != "" || e.PasswordKey != nil {
			t.Error("the editor of the caller was changed")
		}
		rows := must[[]*ent.Event](t)(db.Event.Query().WithVenues().WithOrganizers().WithTerms().WithTranslations().
			WithParent().Order(ent.Asc(event.FieldID)).All(ctx))
		if len(rows) != len(c.Events) {
			t.Fatalf("%d events, want %d", len(rows), len(c.Events))
		}
		key := must[[]byte](t)(edit.PasswordKey(ctx, db))
		for i, want := range c.Events {
			got := rows[i]
			if got.Title != want.Title[calendar.English] || got.Description != want.Description[calendar.English] ||
				got.Excerpt != want.Excerpt[calendar.English] || got.Status != want.Status {
				t.Errorf("%s is %+v", want.SourceID, got)
			}
			if *got.SourceID != want.SourceID || *got.AuthorID != admin.ID || !got.PublishedAt.Equal(want.Published) {
				t.Errorf("%s: source %v, author %v, published %v", want.SourceID, got.SourceID, got.AuthorID, got.PublishedAt)
			}
			if !got.StartsAt.Equal(want.Span.StartsAt()) || !got.EndsAt.Equal(want.Span.EndsAt()) ||
				got.Timezone != "Europe/London" || got.AllDay != want.Span.AllDay {
				t.Errorf("%s is from %v to %v", want.SourceID, got.StartsAt, got.EndsAt)
			}
			if diff := cmp.Diff(want.Cost, got.Cost); diff != "" {
				t.Errorf("%s costs (-want +got)\n%s", want.SourceID, diff)
			}
			if edit.PasswordMatches(key, got.ID, want.Password, got.PasswordHash) != (want.Password != "") {
				t.Errorf("%s has another password", want.SourceID)
			}
			if (want.Status == calendar.Draft) != (got.Slug == "") {
				t.Errorf("%s has the slug %q", want.SourceID, got.Slug)
			}
			var venues, organizers, terms []string
			for _, v := range got.Edges.Venues {
				venues = append(venues, *v.SourceID)
			}
			for _, o := range got.Edges.Organizers {
				organizers = append(organizers, *o.SourceID)
			}
			for _, x := range got.Edges.Terms {
				terms = append(terms, *x.SourceID)
			}
			sorted := func(ids ...string) []string { slices.Sort(ids); return ids }
			for what, diff := range map[string]string{
				"venues":     cmp.Diff(sorted(slices.Clone(want.Venues)...), sorted(venues...)),
				"organizers": cmp.Diff(sorted(slices.Clone(want.Organizers)...), sorted(organizers...)),
				"terms":      cmp.Diff(sorted(slices.Concat(want.Categories, want.Tags)...), sorted(terms...)),
			} {
				if diff != "" {
					t.Errorf("%s of %s (-want +got)\n%s", what, want.SourceID, diff)
				}
			}
			if p := got.Edges.Parent; (p == nil) != (want.Parent == "") || p != nil && *p.SourceID != want.Parent {
				t.Errorf("%s has the parent %v", want.SourceID, p)
			}
			texts := Text{got.Language: got.Title}
			for _, x := range got.Edges.Translations {
				texts[x.Language] = x.Title
			}
			if diff := cmp.Diff(want.Title, texts); diff != "" {
				t.Errorf("titles of %s (-want +got)\n%s", want.SourceID, diff)
			}
		}
		jazz := must[*ent.Term](t)(db.Term.Query().Where(term.Name("Jazz")).WithParent().WithTranslations().Only(ctx))
		if jazz.Edges.Parent == nil || jazz.Edges.Parent.Name != "Music" || len(jazz.Edges.Translations) != 2 {
			t.Errorf("jazz is %+v", jazz.Edges)
		}
		cellar := must[*ent.Venue](t)(db.Venue.Query().Where(venue.Name("The Ropewalk Cellar")).WithTranslations().Only(ctx))
		if cellar.Zip != "BS1 4ER" || cellar.Latitude == nil || *cellar.Latitude != 51.4514 ||
			len(cellar.Edges.Translations) != 2 {
			t.Errorf("the cellar is %+v", cellar)
		}
		want := created(c)
		for action, n := range map[calendar.Action]int{
			calendar.Created: want.Created(), calendar.Updated: want.Translations,
		} {
			if got := must[int](t)(db.Change.Query().Where(change.ActionEQ(action)).Count(ctx)); got != n {
				t.Errorf("%d entries %s in the change log, want %d", got, action, n)
			}
		}
	})
}

func TestWritingTwiceAddsNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		c := City(Options{Seed: 1, From: from, Events: 20})
		first := write(t, st.Ent, editor(), c)
		changes := must[int](t)(st.Ent.Change.Query().Count(t.Context()))
		found := func(n Count) Count { return Count{Found: n.Created} }
		want := Summary{
			Categories: found(first.Categories), Tags: found(first.Tags), Venues: found(first.Venues),
			Organizers: found(first.Organizers), Events: found(first.Events),
		}
		second := write(t, st.Ent, editor(), c)
		if diff := cmp.Diff(want, second); diff != "" || second.Created() != 0 {
			t.Errorf("second summary (-want +got)\n%s", diff)
		}
		if n := must[int](t)(st.Ent.Change.Query().Count(t.Context())); n != changes {
			t.Errorf("the change log grew from %d to %d", changes, n)
		}
	})
}

func TestALongerCalendarIsWrittenOn(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	write(t, st.Ent, editor(), City(Options{Seed: 1, From: from, Events: 3}))
	// Both of more than one batch and with the parent in an earlier run.
	s := write(t, st.Ent, editor(), City(Options{Seed: 1, From: from, Events: batch + 10}))
	if diff := cmp.Diff(Count{Created: batch + 7, Found: 3}, s.Events); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
	if n := must[int](t)(st.Ent.Event.Query().Where(event.ParentIDNotNil()).Count(t.Context())); n != 4 {
		t.Errorf("%d events are part of the festival, want 4", n)
	}
}

func TestAnInterruptedWriteIsFinishedByTheNext(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	c := City(Options{Seed: 1, From: from, Events: 10})
	broken := *c
	broken.Events = slices.Clone(c.Events)
	broken.Events[9].Parent = "seed:city:0"
	s, err := Write(t.Context(), st.Ent, editor(), &broken)
	if err == nil {
		t.Fatal("a parent that is not there was accepted")
	}
	if s.Events.Created != 0 || s.Venues.Created != len(c.Venues) {
		t.Errorf("committed %+v", s)
	}
	if n := must[int](t)(st.Ent.Event.Query().Count(t.Context())); n != 0 {
		t.Errorf("%d events of a transaction that failed", n)
	}
	if s = write(t, st.Ent, editor(), c); s.Events.Created != 10 || s.Venues.Found != len(c.Venues) {
		t.Errorf("second time %+v", s)
	}
}

func TestACancelledWriteSaysSo(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := Write(ctx, st.Ent, editor(), City(Options{From: from})); !errors.Is(err, context.Canceled) ||
		s != (Summary{}) {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestTermsOfTheSameNameAreUsed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		e := editor()
		var music *ent.Term
		err := edit.Write(t.Context(), st.Ent, e, func(tx *ent.Tx) (err error) {
			music, err = e.CreateTerm(t.Context(), tx, &edit.TermInput{Taxonomy: calendar.Category, Name: new("MUSIC")})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		s := write(t, st.Ent, editor(), City(Options{Seed: 1, From: from, Events: 5}))
		if s.Categories.Found != 1 {
			t.Errorf("found %d categories, want 1", s.Categories.Found)
		}
		jazz := must[*ent.Term](t)(st.Ent.Term.Query().Where(term.Name("Jazz")).Only(t.Context()))
		if jazz.ParentID == nil || *jazz.ParentID != music.ID {
			t.Errorf("jazz is below %v, want %d", jazz.ParentID, music.ID)
		}
		// The festival and its opening.
		got := must[*ent.Term](t)(st.Ent.Term.Get(t.Context(), music.ID))
		if got.Name != "MUSIC" || got.Version != music.Version || got.EventCount != 2 {
			t.Errorf("music is %+v", got)
		}
	})
}

func TestWhatIsInTheTrashStaysThere(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	ctx := t.Context()
	write(t, st.Ent, editor(), City(Options{Seed: 1, From: from, Events: 1}))
	e := editor()
	err := edit.Write(ctx, st.Ent, e, func(tx *ent.Tx) error {
		festival, err := tx.Event.Query().Only(ctx)
		if err != nil {
			return err
		}
		if _, err := e.TrashEvent(ctx, tx, festival); err != nil {
			return err
		}
		park, err := tx.Venue.Query().Where(venue.Name("Queen Square Bandstand")).Only(ctx)
		if err != nil {
			return err
		}
		_, err = e.TrashVenue(ctx, tx, park)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s := write(t, st.Ent, editor(), City(Options{Seed: 1, From: from, Events: 2}))
	if diff := cmp.Diff(Count{Created: 1, Found: 1}, s.Events); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
	concert := must[*ent.Event](t)(st.Ent.Event.Query().Where(event.StatusEQ(calendar.Publish)).WithVenues().Only(ctx))
	if len(concert.Edges.Venues) != 0 || concert.ParentID != nil {
		t.Errorf("%s is in %v, part of %v", concert.Title, concert.Edges.Venues, concert.ParentID)
	}
}

func TestASeededCalendarOfNextYearIsPublished(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	write(t, st.Ent, editor(), City(Options{Seed: 1, From: from.AddDate(1, 0, 0), Events: 12}))
	if n := must[int](t)(st.Ent.Event.Query().Where(event.StatusEQ(calendar.Future)).Count(t.Context())); n != 0 {
		t.Errorf("%d events are scheduled", n)
	}
}

func TestOriginalsAreInTheMainLanguage(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	ctx := t.Context()
	write(t, st.Ent, editor(), City(Options{
		Seed: 1, From: from, Events: 6, Languages: []calendar.Language{calendar.Polish, calendar.Spanish},
	}))
	rows := must[[]*ent.Event](t)(st.Ent.Event.Query().Order(ent.Asc(event.FieldID)).All(ctx))
	if rows[0].Language != calendar.Polish || rows[0].Title != "Festiwal Małych Scen" {
		t.Errorf("the festival is %q in %s", rows[0].Title, rows[0].Language)
	}
	if n := must[int](t)(st.Ent.EventTranslation.Query().
		Where(eventtranslation.LanguageEQ(calendar.English)).Count(ctx)); n != 0 {
		t.Errorf("%d texts in a language that was not asked for", n)
	}
	if n := must[int](t)(st.Ent.User.Query().Where(user.IDGT(0)).Count(ctx)); n != 0 || rows[0].AuthorID != nil {
		t.Errorf("author %v of %d users", rows[0].AuthorID, n)
	}
}
