package edit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/proof/edittest"
	"github.com/almanac-cal/almanac/proof/must"
)

func TestRaceForSlug(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		edittest.RunConcurrently(t, func(int) error {
			e := w.As(calendar.Editor)
			return w.Run(e, func(ctx context.Context, tx *ent.Tx) error {
				_, err := e.CreateEvent(ctx, tx, edittest.SomeEvent())
				return err
			})
		})
		got, err := w.DB.Event.Query().Select(event.FieldSlug).Strings(t.Context())
		must.Succeed(t, err)
		slices.Sort(got)
		want := []string{"same"}
		for i := 2; i <= edittest.Racers; i++ {
			want = append(want, fmt.Sprint("same-", i))
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("slugs %v", got)
		}
		if n := len(w.CheckLog()); n != edittest.Racers {
			t.Errorf("%d changes", n)
		}
	})
}

func TestRaceForTerm(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		exists := make([]bool, edittest.Racers)
		edittest.RunConcurrently(t, func(i int) error {
			e := w.As(calendar.Editor)
			err := w.Run(e, func(ctx context.Context, tx *ent.Tx) error {
				_, err := e.CreateTerm(ctx, tx, &edit.TermInput{Taxonomy: calendar.Category, Name: new(fmt.Sprintf("M%cSIC", "uU"[i%2]))})
				return err
			})
			var refusal *calendar.Error
			if errors.As(err, &refusal) && refusal.Code == "term_exists" {
				exists[i] = true
				return nil
			}
			return err
		})
		losers := 0
		for _, lost := range exists {
			if lost {
				losers++
			}
		}
		if n := w.DB.Term.Query().CountX(t.Context()); n != 1 || losers != edittest.Racers-1 {
			t.Errorf("%d terms, %d were told that it exists", n, losers)
		}
		if n := w.DB.Slug.Query().Where(slug.KindEQ(calendar.Category)).CountX(t.Context()); n != 1 {
			t.Errorf("%d slugs", n)
		}
		w.CheckLog()
	})
}

// TestRaceForEverything creates events concurrently that all send the same new terms, venue and organizer.
func TestRaceForEverything(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		edittest.RunConcurrently(t, func(i int) error {
			e := w.As(calendar.Editor)
			return w.Run(e, func(ctx context.Context, tx *ent.Tx) error {
				in := edittest.SomeEvent()
				in.Categories, in.Tags = &[]edit.TermRef{{Name: "One"}, {Name: "Two"}}, &[]edit.TermRef{{Name: "Three"}}
				if i%2 == 1 {
					slices.Reverse(*in.Categories)
				}
				in.Venues = &[]edit.VenueRef{{New: &edit.VenueInput{Name: new("Hall"), Values: edit.VenueValues{VenueValues: ent.VenueValues{City: new("Łódź")}}}}}
				in.Organizers = &[]edit.OrganizerRef{{New: &edit.OrganizerInput{Name: new("Org")}}}
				_, err := e.CreateEvent(ctx, tx, in)
				return err
			})
		})
		ctx := t.Context()
		got := []int{
			w.DB.Event.Query().CountX(ctx), w.DB.Venue.Query().CountX(ctx), w.DB.Organizer.Query().CountX(ctx),
			w.DB.Term.Query().CountX(ctx), w.DB.EventVenue.Query().CountX(ctx), w.DB.EventTerm.Query().CountX(ctx),
		}
		if want := []int{edittest.Racers, 1, 1, 3, edittest.Racers, 3 * edittest.Racers}; !slices.Equal(got, want) {
			t.Errorf("events, venues, organizers, terms, venue links, term links: %v, want %v", got, want)
		}
		for _, c := range w.DB.Term.Query().Order(ent.Asc(term.FieldID)).AllX(ctx) {
			if c.EventCount != edittest.Racers {
				t.Errorf("term %s counts %d events", c.Name, c.EventCount)
			}
		}
		w.CheckCounts()
		w.CheckLog()
	})
}

// TestRaceOnOneEvent changes, trashes and restores the same event concurrently, and changes its terms.
func TestRaceOnOneEvent(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		a, b := w.Term(e, calendar.Category, "A", 0), w.Term(e, calendar.Category, "B", 0)
		hall := w.Venue(e, &edit.VenueInput{Name: new("Hall")})
		row := w.Event(e, &edit.EventInput{Categories: &[]edit.TermRef{{ID: a.ID}}})
		edittest.RunConcurrently(t, func(i int) error {
			e := w.As(calendar.Editor)
			return w.Run(e, func(ctx context.Context, tx *ent.Tx) error {
				row, err := edit.LockEvent(ctx, tx, row.ID)
				if err != nil {
					return err
				}
				in := &edit.EventInput{Categories: &[]edit.TermRef{{ID: b.ID}}, Venues: &[]edit.VenueRef{{ID: hall.ID}}}
				switch i % 4 {
				case 1:
					in = &edit.EventInput{Status: new(calendar.Trash)}
				case 2:
					in = &edit.EventInput{Status: new(calendar.Publish), Categories: &[]edit.TermRef{{ID: a.ID}, {ID: b.ID}}}
				case 3:
					e.Write = calendar.Polish
					in = &edit.EventInput{Title: new(fmt.Sprint("Tytuł ", i)), Venues: &[]edit.VenueRef{}}
				}
				_, err = e.UpdateEvent(ctx, tx, row, in)
				return err
			})
		})
		if got := w.DB.Event.GetX(t.Context(), row.ID); got.Version != edittest.Racers+1 {
			t.Errorf("version %d after %d writes", got.Version, edittest.Racers)
		}
		w.CheckCounts()
		w.CheckLog()
	})
}

// TestRaceOnTerms creates events with the same category and tag while the category is deleted.
func TestRaceOnTerms(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		a, b := w.Term(e, calendar.Category, "A", 0), w.Term(e, calendar.Tag, "B", 0)
		edittest.RunConcurrently(t, func(i int) error {
			e := w.As(calendar.Editor)
			err := w.Run(e, func(ctx context.Context, tx *ent.Tx) error {
				if i == edittest.Racers-1 {
					row, err := edit.LockTerm(ctx, tx, a.ID)
					if err != nil {
						return err
					}
					return e.DeleteTerm(ctx, tx, row)
				}
				in := edittest.SomeEvent()
				in.Categories, in.Tags = &[]edit.TermRef{{ID: a.ID}}, &[]edit.TermRef{{ID: b.ID}}
				if i%3 == 0 {
					in.Status = new(calendar.Draft)
				}
				_, err := e.CreateEvent(ctx, tx, in)
				return err
			})
			if edittest.Describe(err) == "categories:unknown-ids" {
				return nil // it was deleted first
			}
			return err
		})
		if n := w.DB.EventTerm.Query().Where().CountX(t.Context()); n != w.DB.Event.Query().CountX(t.Context()) {
			t.Errorf("%d links of %d events", n, w.DB.Event.Query().CountX(t.Context()))
		}
		w.CheckCounts()
		w.CheckLog()
	})
}

// TestRaceOfVenueAndTrash links events to a venue while the venue moves to the trash. Afterwards no event may be
// linked to it.
func TestRaceOfVenueAndTrash(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		hall := w.Venue(w.As(calendar.Editor), &edit.VenueInput{Name: new("Hall")})
		edittest.RunConcurrently(t, func(i int) error {
			e := w.As(calendar.Editor)
			err := w.Run(e, func(ctx context.Context, tx *ent.Tx) error {
				if i == edittest.Racers/2 {
					row, err := edit.Venues.Lock(ctx, tx, hall.ID)
					if err != nil {
						return err
					}
					_, err = edit.Venues.Trash(ctx, tx, e, row)
					return err
				}
				in := edittest.SomeEvent()
				in.Venues = &[]edit.VenueRef{{ID: hall.ID}}
				_, err := e.CreateEvent(ctx, tx, in)
				return err
			})
			if edittest.Describe(err) == "venue:unknown-ids" {
				return nil
			}
			return err
		})
		if n := w.DB.EventVenue.Query().CountX(t.Context()); n != 0 {
			t.Errorf("%d links to a venue in the trash", n)
		}
		w.CheckLog()
	})
}

// TestRaceForLoop moves two categories below each other in concurrent transactions. Only one of them may succeed.
func TestRaceForLoop(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		a, b := w.Term(e, calendar.Category, "A", 0), w.Term(e, calendar.Category, "B", 0)
		edittest.RunConcurrently(t, func(i int) error {
			e, id, parent := w.As(calendar.Editor), a.ID, b.ID
			if i%2 == 0 {
				id, parent = parent, id
			}
			err := w.Run(e, func(ctx context.Context, tx *ent.Tx) error {
				row, err := edit.LockTerm(ctx, tx, id)
				if err != nil {
					return err
				}
				_, err = e.UpdateTerm(ctx, tx, row, &edit.TermInput{ParentID: &parent})
				return err
			})
			if edittest.Describe(err) == "parent" {
				return nil
			}
			return err
		})
		a, b = w.DB.Term.GetX(t.Context(), a.ID), w.DB.Term.GetX(t.Context(), b.ID)
		if (a.ParentID == nil) == (b.ParentID == nil) {
			t.Errorf("parents %v and %v, want exactly one", a.ParentID, b.ParentID)
		}
	})
}

// isMariaDB reports whether the test runs on MariaDB.
func isMariaDB(t *testing.T, w *edittest.World) bool {
	t.Helper()
	rows, err := w.DB.QueryContext(t.Context(), "SELECT VERSION()")
	if err != nil {
		return false // SQLite has no such function
	}
	defer rows.Close()
	var version string
	for rows.Next() {
		must.Succeed(t, rows.Scan(&version))
	}
	must.Succeed(t, rows.Err())
	return strings.Contains(version, "MariaDB")
}

// TestRevisionsBecomeVisibleInOrder reads the change log while other goroutines write to it. A revision must never
// appear below one that a reader has seen.
func TestRevisionsBecomeVisibleInOrder(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		mariaDB := isMariaDB(t, w)
		// gap returns an error if the log has fewer changes than its newest revision.
		gap := func() error {
			ids, err := w.DB.Change.Query().IDs(t.Context())
			if err != nil {
				return err
			}
			slices.Sort(ids)
			if n := len(ids); n > 0 && ids[n-1] != int64(n) {
				return fmt.Errorf("%d changes up to revision %d", n, ids[n-1])
			}
			return nil
		}
		go func() {
			var err error
			for ctx.Err() == nil && err == nil {
				err = gap()
				if err != nil && mariaDB {
					// On a busy machine one statement has shown a change without the one before it. The next statement shows
					// both. The index takes a gap for a change of everything.
					err = gap()
				}
			}
			done <- err
		}()
		edittest.RunConcurrently(t, func(i int) error {
			for j := range 5 {
				e := w.As(calendar.Editor)
				err := w.Run(e, func(ctx context.Context, tx *ent.Tx) error {
					in := edittest.SomeEvent()
					in.Title = new(fmt.Sprint("Event ", i, " ", j))
					_, err := e.CreateEvent(ctx, tx, in)
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n := len(w.CheckLog()); n != 5*edittest.Racers {
			t.Errorf("%d changes", n)
		}
	})
}
