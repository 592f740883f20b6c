package series_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/edittest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestAnEventBecomesASeriesWhileItLosesALink trashes a linked venue and deletes a linked tag. Meanwhile another
// transaction turns the event into a series. Whichever is first, no occurrence and no template may keep the link.
func TestAnEventBecomesASeriesWhileItLosesALink(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		w.Logged = false
		for round := range 6 {
			e := w.As(calendar.Editor)
			hall := w.Venue(e, &edit.VenueInput{Name: new(fmt.Sprint("Hall ", round))})
			tag := w.Term(e, calendar.Tag, fmt.Sprint("Tag ", round), 0)
			in := edittest.SomeEvent()
			in.Venues, in.Tags = &[]edit.VenueRef{{ID: hall.ID}}, &[]edit.TermRef{{ID: tag.ID}}
			single := w.Event(e, in)
			edittest.RunConcurrently(t, func(i int) error {
				if i > 2 {
					return nil
				}
				e := w.As(calendar.Editor)
				return w.Run(e, func(ctx context.Context, tx *ent.Tx) error {
					switch i {
					case 0:
						row, err := edit.Venues.Lock(ctx, tx, hall.ID)
						if err == nil {
							_, err = edit.Venues.Trash(ctx, tx, e, row)
						}
						return err
					case 1:
						row, err := edit.LockTerm(ctx, tx, tag.ID)
						if err == nil {
							err = e.DeleteTerm(ctx, tx, row)
						}
						return err
					}
					row, err := edit.LockEvent(ctx, tx, single.ID)
					if err == nil {
						_, err = series.UpdateEvent(ctx, tx, e, row, &edit.EventInput{Rule: new(fmt.Sprintf("FREQ=DAILY;COUNT=%d", 1+round))})
					}
					return err
				})
			})
			row := w.DB.Event.GetX(t.Context(), single.ID)
			template := w.Template(w.OnlyPhase(*row.SeriesID))
			if venues, tags := template.VenueIDs(), template.TermIDs(calendar.Tag); len(venues)+len(tags) > 0 {
				t.Errorf("the template has venues %v and tags %v", venues, tags)
			}
			for _, o := range w.Occurrences(*row.SeriesID) {
				if len(o.Edges.Venues)+len(o.Edges.Terms) > 0 {
					t.Errorf("%s has venues %v and terms %v", o.OriginalStart, o.Edges.Venues, o.Edges.Terms)
				}
			}
		}
	})
}

// eachWithRowLocks runs a test on the engines that lock rows. The function statements returns the SQL
// statements since its last call.
func eachWithRowLocks(t *testing.T, test func(t *testing.T, w *edittest.World, e *edit.Editor, statements func() []string)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		if st.Engine() == "sqlite" {
			t.Skip("SQLite locks no rows")
		}
		statements := storetest.Statements(st)
		w := edittest.NewWorld(t, st.Ent)
		e := w.As(calendar.Administrator)
		test(t, w, e, statements)
	})
}

// TestRemovalOfParentsLocksSeriesInOrder removes an occurrence that is the parent of a series with a lower id.
// Series must be locked in the order of their ids.
func TestRemovalOfParentsLocksSeriesInOrder(t *testing.T) {
	eachWithRowLocks(t, func(t *testing.T, w *edittest.World, e *edit.Editor, statements func() []string) {
		child := w.Event(e, edittest.WeeklyEvent("FREQ=DAILY;COUNT=2"))
		parent := w.Event(e, edittest.WeeklyEvent("FREQ=DAILY;COUNT=3"))
		w.ChangeEvent(e, child.ID, &edit.EventInput{ParentID: &parent.ID, Scope: edit.AllOccurrences})
		statements()
		w.RemoveEvents(e, parent.ID)
		all := statements()
		storetest.CheckSeriesFirst(t, all)
		locks := slices.DeleteFunc(slices.Clone(all), func(s string) bool {
			return !strings.Contains(s, "FROM `series`") || !strings.Contains(s, "FOR UPDATE")
		})
		if !strings.Contains(locks[0], "IN (?, ?)") {
			t.Errorf("the first lock is not that of both series:\n%s", strings.Join(locks, "\n"))
		}
		for _, o := range w.Occurrences(*child.SeriesID) {
			if o.ParentID != nil {
				t.Errorf("%s has a parent", o.OriginalStart)
			}
		}
	})
}

// TestRemovalOfAUserLocksTheUserFirst removes a user. Meanwhile no other transaction may create a record of this
// user.
func TestRemovalOfAUserLocksTheUserFirst(t *testing.T) {
	eachWithRowLocks(t, func(t *testing.T, w *edittest.World, e *edit.Editor, statements func() []string) {
		first := w.Event(w.As(calendar.Author), edittest.WeeklyEvent("FREQ=DAILY;COUNT=2"))
		statements()
		edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (struct{}, error) {
			return struct{}{}, e.RemoveUser(ctx, tx, *first.AuthorID)
		})
		all := slices.DeleteFunc(statements(), func(s string) bool { return !strings.Contains(s, "FOR UPDATE") })
		if len(all) == 0 || !strings.Contains(all[0], "FROM `users`") {
			t.Errorf("the first lock is not that of the user:\n%s", strings.Join(all, "\n"))
		}
	})
}

// TestAStoredEventBecomesASeriesInAGap sends a rule and a start that the clock skips. The event must get the dates
// of the first occurrence of the schedule.
func TestAStoredEventBecomesASeriesInAGap(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		zone, err := calendar.ParseZone("Europe/Warsaw")
		if err != nil {
			t.Fatal(err)
		}
		e := w.As(calendar.Editor)
		in := edittest.SomeEvent()
		in.Zone = &zone
		single := w.Event(e, in)
		row := w.ChangeEvent(e, single.ID, &edit.EventInput{Start: edittest.Wall("2027-03-28 02:30:00"), Rule: new("FREQ=DAILY;COUNT=3")})
		var got []string
		for _, o := range append([]*ent.Event{row}, w.Occurrences(*row.SeriesID)...) {
			got = append(got, fmt.Sprint(o.OriginalStart, ": ", o.StartWall, " to ", o.EndWall))
		}
		want := []string{
			"2027-03-28 02:30:00: 2027-03-28 03:30:00 to 2027-03-28 04:30:00",
			"2027-03-28 02:30:00: 2027-03-28 03:30:00 to 2027-03-28 04:30:00",
			"2027-03-29 02:30:00: 2027-03-29 02:30:00 to 2027-03-29 04:30:00",
			"2027-03-30 02:30:00: 2027-03-30 02:30:00 to 2027-03-30 04:30:00",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("occurrences (-want +got):\n%s", diff)
		}
	})
}

// TestASeriesDoesNotBeginInTheTrash sends the status trash together with a rule. The write must be refused.
func TestASeriesDoesNotBeginInTheTrash(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		in := edittest.WeeklyEvent("FREQ=DAILY;COUNT=3")
		in.Status = new(calendar.Trash)
		if _, err := w.CreateEvent(e, in); edittest.Describe(err) != "status" {
			t.Errorf("create: %v", err)
		}
		single := w.Event(e, edittest.SomeEvent())
		change := &edit.EventInput{Rule: in.Rule, Status: in.Status}
		if _, err := w.UpdateEvent(e, single.ID, change); edittest.Describe(err) != "status" {
			t.Errorf("update: %v", err)
		}
		if _, err := w.TrashEvent(e, single.ID); err != nil {
			t.Fatal(err)
		}
		for _, status := range []*calendar.Status{nil, in.Status} {
			_, err := w.UpdateEvent(e, single.ID, &edit.EventInput{Rule: in.Rule, Status: status})
			if edittest.Describe(err) != "event-is-in-trash" {
				t.Errorf("in the trash: %v", err)
			}
		}
		w.ChangeEvent(e, single.ID, &edit.EventInput{Rule: in.Rule, Status: new(calendar.Publish)})
		if n := w.DB.Event.Query().Where(event.SeriesIDNotNil(), event.StatusEQ(calendar.Publish)).CountX(t.Context()); n != 3 {
			t.Errorf("%d occurrences after it was restored", n)
		}
	})
}

// TestALaterOccurrenceKeepsAVenueThatTheWriterMayNotRead adds an occurrence to a series at a private venue of another user.
func TestALaterOccurrenceKeepsAVenueThatTheWriterMayNotRead(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		hall := w.Venue(w.As(calendar.Editor), &edit.VenueInput{Name: new("Hall")})
		author := w.As(calendar.Author)
		in := edittest.WeeklyEvent("FREQ=DAILY;COUNT=2")
		in.Venues = &[]edit.VenueRef{{ID: hall.ID}}
		first := w.Event(author, in)
		if _, err := w.UpdateVenue(w.As(calendar.Editor), hall.ID, &edit.VenueInput{Status: new(calendar.Private)}); err != nil {
			t.Fatal(err)
		}
		w.ChangeEvent(author, first.ID, &edit.EventInput{Rule: new("FREQ=DAILY;COUNT=3"), Scope: edit.AllOccurrences})
		rows := w.Occurrences(*first.SeriesID)
		if len(rows) != 3 || len(rows[2].Edges.Venues) != 1 {
			t.Errorf("%d occurrences, the last with the venues %v", len(rows), rows[len(rows)-1].Edges.Venues)
		}
	})
}
