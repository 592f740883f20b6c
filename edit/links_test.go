package edit_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/proof/edittest"
)

// linkedWorld is a test calendar with an event of each status. Each of them has one link of every kind. One more
// event has no links.
type linkedWorld struct {
	*edittest.World
	venue         *ent.Venue
	organizer     *ent.Organizer
	category, tag *ent.Term
	image         *ent.Image
	events        []int64
	free          int64
	// series is linked to the same records as the events. freeSeries has no links.
	series, freeSeries int64
}

func newLinkedWorld(w *edittest.World) *linkedWorld {
	w.T.Helper()
	e := w.As(calendar.Administrator)
	l := &linkedWorld{World: w, venue: w.Venue(e, &edit.VenueInput{Name: new("Hall")})}
	l.organizer = edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Organizer, error) {
		row, _, err := edit.Organizers.Create(ctx, tx, e, &edit.OrganizerInput{Name: new("Choir")})
		return row, err
	})
	l.category, l.tag = w.Term(e, calendar.Category, "Music", 0), w.Term(e, calendar.Tag, "Night", 0)
	by := w.As(calendar.Author)
	l.image = edittest.Write(w, by, func(ctx context.Context, tx *ent.Tx) (*ent.Image, error) {
		return by.CreateImage(ctx, tx, func(c *ent.ImageCreate) {
			c.SetExtension("png").SetMimeType("image/png").SetWidth(1).SetHeight(1).SetFilesize(1)
		})
	})
	for _, status := range calendar.Statuses {
		in := &edit.EventInput{
			Title: new(string(status)), Status: new(status), AuthorID: &w.Users[calendar.Author].ID, ImageID: &l.image.ID,
			Venues: &[]edit.VenueRef{{ID: l.venue.ID}}, Organizers: &[]edit.OrganizerRef{{ID: l.organizer.ID}},
			Categories: &[]edit.TermRef{{ID: l.category.ID}}, Tags: &[]edit.TermRef{{ID: l.tag.ID}},
		}
		if status == calendar.Future {
			in.Published = new(edittest.Now.AddDate(0, 1, 0))
		}
		if len(l.events) > 0 {
			in.ParentID = &l.events[0]
		}
		l.events = append(l.events, w.Event(e, in).ID)
	}
	l.free = w.Event(e, &edit.EventInput{Title: new("Free")}).ID
	l.series = *w.Event(e, &edit.EventInput{
		Rule: new("FREQ=WEEKLY"), AuthorID: &w.Users[calendar.Author].ID, ImageID: &l.image.ID, ParentID: &l.events[0],
		Venues: &[]edit.VenueRef{{ID: l.venue.ID}}, Organizers: &[]edit.OrganizerRef{{ID: l.organizer.ID}},
		Categories: &[]edit.TermRef{{ID: l.category.ID}}, Tags: &[]edit.TermRef{{ID: l.tag.ID}},
	}).SeriesID
	l.freeSeries = *w.Event(e, &edit.EventInput{Rule: new("FREQ=WEEKLY")}).SeriesID
	return l
}

// linkLosses are the ways in which events lose a link.
var linkLosses = []struct {
	name, field string
	// from is the place of the first event that loses it.
	from int
	do   func(ctx context.Context, tx *ent.Tx, e *edit.Editor, l *linkedWorld) error
}{
	{"venue trashed", "venue", 0, func(ctx context.Context, tx *ent.Tx, e *edit.Editor, l *linkedWorld) error {
		_, err := edit.Venues.Trash(ctx, tx, e, l.venue)
		return err
	}},
	{"venue updated to trash", "venue", 0, func(ctx context.Context, tx *ent.Tx, e *edit.Editor, l *linkedWorld) error {
		_, err := edit.Venues.Update(ctx, tx, e, l.venue, &edit.VenueInput{Status: new(calendar.Trash)})
		return err
	}},
	{"venue created again in the trash", "venue", 0, func(ctx context.Context, tx *ent.Tx, e *edit.Editor, l *linkedWorld) error {
		_, _, err := edit.Venues.Create(ctx, tx, e, &edit.VenueInput{Name: new("hall"), Status: new(calendar.Trash)})
		return err
	}},
	{"venue removed", "venue", 0, func(ctx context.Context, tx *ent.Tx, e *edit.Editor, l *linkedWorld) error {
		return e.RemoveAll(ctx, tx, calendar.Venue, []int64{l.venue.ID})
	}},
	{"organizer trashed", "organizer", 0, func(ctx context.Context, tx *ent.Tx, e *edit.Editor, l *linkedWorld) error {
		_, err := edit.Organizers.Trash(ctx, tx, e, l.organizer)
		return err
	}},
	{"organizer updated to trash", "organizer", 0, func(ctx context.Context, tx *ent.Tx, e *edit.Editor, l *linkedWorld) error {
		_, err := edit.Organizers.Update(ctx, tx, e, l.organizer, &edit.OrganizerInput{Status: new(calendar.Trash)})
		return err
	}},
	{"organizer removed", "organizer", 0, func(ctx context.Context, tx *ent.Tx, e *edit.Editor, l *linkedWorld) error {
		return e.RemoveAll(ctx, tx, calendar.Organizer, []int64{l.organizer.ID})
	}},
	{"category deleted", "categories", 0, func(ctx context.Context, tx *ent.Tx, e *edit.Editor, l *linkedWorld) error {
		return e.DeleteTerm(ctx, tx, l.category)
	}},
	{"tag deleted", "tags", 0, func(ctx context.Context, tx *ent.Tx, e *edit.Editor, l *linkedWorld) error {
		return e.DeleteTerm(ctx, tx, l.tag)
	}},
	{"image deleted", "image", 0, func(ctx context.Context, tx *ent.Tx, e *edit.Editor, l *linkedWorld) error {
		return e.DeleteImage(ctx, tx, l.image)
	}},
	{"parent removed", "post_parent", 1, func(ctx context.Context, tx *ent.Tx, e *edit.Editor, l *linkedWorld) error {
		return e.RemoveAll(ctx, tx, calendar.Event, l.events[:1])
	}},
	{"user removed", "author", 0, func(ctx context.Context, tx *ent.Tx, e *edit.Editor, l *linkedWorld) error {
		return e.RemoveUser(ctx, tx, l.Users[calendar.Author].ID)
	}},
}

// changesSince returns the entries of the change log after the first ones, as text by record id. It leaves out
// deletions and records other than events and series.
func changesSince(w *edittest.World, first int) map[int64]string {
	found := map[int64]string{}
	for _, c := range w.CheckLog()[first:] {
		if (c.Kind == calendar.Event || c.Kind == calendar.Series) && c.Action != calendar.Deleted {
			found[c.RecordID] += fmt.Sprintf("%s %v by %d at %s", c.Action, c.Fields, *c.UserID, c.At)
		}
	}
	return found
}

// TestLosingALinkIsAChangeOfTheEvent removes a linked record in each possible way. Events of all statuses must get
// a new version and an entry in the change log.
func TestLosingALinkIsAChangeOfTheEvent(t *testing.T) {
	t.Parallel()
	for _, tt := range linkLosses {
		t.Run(tt.name, func(t *testing.T) {
			edittest.Each(t, func(t *testing.T, w *edittest.World) {
				l := newLinkedWorld(w)
				e := w.As(calendar.Administrator)
				e.Now = edittest.Now.Add(time.Hour)
				before := len(w.CheckLog())
				edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (any, error) { return nil, tt.do(ctx, tx, e, l) })
				got := changesSince(w, before)
				want := fmt.Sprintf("%s [%s] by %d at %s", calendar.Updated, tt.field, e.By.UserID, e.Now)
				l.checkChangedEvents(t, tt.from, e.Now, got, want)
				l.checkSeries(t, e.Now, got, want)
				l.checkLaterOccurrence(t, tt.field)
				if row := w.DB.Event.GetX(t.Context(), l.free); row.Version != 1 || got[l.free] != "" {
					t.Errorf("an event without links has version %d, and the log says %q", row.Version, got[l.free])
				}
				w.CheckCounts()
			})
		})
	}
}

// checkChangedEvents checks that the linked events have version 2 and the wanted entry in the log. The parameter
// from is the index of the first event to check. The map got has the log by record id.
func (l *linkedWorld) checkChangedEvents(t *testing.T, from int, now time.Time, got map[int64]string, want string) {
	t.Helper()
	for i, id := range l.events[from:] {
		status := calendar.Statuses[from+i]
		if got[id] != want {
			t.Errorf("the log says of the event in status %s: %q, want %q", status, got[id], want)
		}
		row := l.DB.Event.GetX(t.Context(), id)
		if row.Version != 2 || !row.ModifiedAt.Equal(now) {
			t.Errorf("the event in status %s has version %d of %s", row.Status, row.Version, row.ModifiedAt)
		}
		if row.Status != status {
			t.Errorf("the event in status %s has status %s", status, row.Status)
		}
	}
}

// checkSeries checks that the linked series has version 2 and the wanted log entry, and that the other series is
// unchanged.
func (l *linkedWorld) checkSeries(t *testing.T, now time.Time, got map[int64]string, want string) {
	t.Helper()
	if got[l.series] != want {
		t.Errorf("the log says of the series: %q, want %q", got[l.series], want)
	}
	if row := l.DB.Series.GetX(t.Context(), l.series); row.Version != 2 || !row.ModifiedAt.Equal(now) {
		t.Errorf("the series has version %d of %s", row.Version, row.ModifiedAt)
	}
	if row := l.DB.Series.GetX(t.Context(), l.freeSeries); row.Version != 1 || got[l.freeSeries] != "" {
		t.Errorf("a series without links has version %d, and the log says %q", row.Version, got[l.freeSeries])
	}
}

// checkLaterOccurrence restores the trashed record and creates a later occurrence of the series. Its links must be
// those of the first occurrence: the lost link must not come back.
func (l *linkedWorld) checkLaterOccurrence(t *testing.T, lost string) {
	t.Helper()
	e := l.As(calendar.Administrator)
	if v, err := l.DB.Venue.Get(t.Context(), l.venue.ID); err == nil && v.Status == calendar.Trash {
		if _, err := l.UpdateVenue(e, v.ID, &edit.VenueInput{Status: new(calendar.Publish)}); err != nil {
			t.Fatal(err)
		}
	}
	if o, err := l.DB.Organizer.Get(t.Context(), l.organizer.ID); err == nil && o.Status == calendar.Trash {
		edittest.Write(l.World, e, func(ctx context.Context, tx *ent.Tx) (*ent.Organizer, error) {
			return edit.Organizers.Update(ctx, tx, e, o, &edit.OrganizerInput{Status: new(calendar.Publish)})
		})
	}
	if _, err := series.ExtendDue(t.Context(), l.DB, edittest.Site(t), edittest.Now.AddDate(0, 2, 0)); err != nil {
		t.Fatal(err)
	}
	links := func(r *ent.Event) map[string]int {
		n := map[string]int{"venue": len(r.Edges.Venues), "organizer": len(r.Edges.Organizers), "categories": 0, "tags": 0}
		for _, term := range r.Edges.Terms {
			n[map[calendar.Kind]string{calendar.Category: "categories", calendar.Tag: "tags"}[term.Taxonomy]]++
		}
		for field, id := range map[string]*int64{"image": r.ImageID, "post_parent": r.ParentID, "author": r.AuthorID} {
			n[field] = 0
			if id != nil {
				n[field] = 1
			}
		}
		return n
	}
	want := map[string]int{"venue": 1, "organizer": 1, "categories": 1, "tags": 1, "image": 1, "post_parent": 1, "author": 1}
	want[lost] = 0
	rows := l.Occurrences(l.series)
	for _, row := range []*ent.Event{rows[0], rows[len(rows)-1]} {
		if diff := cmp.Diff(want, links(row)); diff != "" {
			t.Errorf("links of the occurrence of %s (-want +got)\n%s", row.OriginalStart, diff)
		}
	}
}

// TestVersionReadBeforeALossIsStale updates an event with the version that it had before it lost a venue. The
// update must fail.
func TestVersionReadBeforeALossIsStale(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		l := newLinkedWorld(w)
		e := w.As(calendar.Administrator)
		edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Venue, error) {
			return edit.Venues.Trash(ctx, tx, e, l.venue)
		})
		e.Expect = calendar.Precondition{Some: &calendar.Versions{List: []int64{1}}}
		_, err := w.UpdateEvent(e, l.events[0], &edit.EventInput{Title: new("Other")})
		edittest.Refused(t, err, "rest_precondition_failed")
	})
}

// TestEventMaySendItsOwnVenueToTheTrash updates an event and sends its venue with the status trash.
func TestEventMaySendItsOwnVenueToTheTrash(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		l := newLinkedWorld(w)
		e := w.As(calendar.Administrator)
		row := w.ChangeEvent(e, l.events[0], &edit.EventInput{
			Title:  new("Other"),
			Venues: &[]edit.VenueRef{{New: &edit.VenueInput{Name: new("Hall"), Status: new(calendar.Trash)}}},
		})
		if row.Title != "Other" || row.Version < 2 {
			t.Errorf("the event is %q in version %d", row.Title, row.Version)
		}
		if got := venuesOf(w, row.ID); len(got) > 0 {
			t.Errorf("the event has the venues %v", got)
		}
		var fields []string
		for _, c := range w.DB.Change.Query().Where(entchange.RecordID(row.ID)).Order(ent.Asc(entchange.FieldID)).AllX(t.Context()) {
			fields = append(fields, c.Fields...)
		}
		if !slices.Contains(fields, "venue") || !slices.Contains(fields, "title") {
			t.Errorf("the log names the fields %q", fields)
		}
	})
}

// TestManyEventsLoseALink removes a record with more linked events than one statement can change.
func TestManyEventsLoseALink(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		w.Logged = false
		e := w.As(calendar.Administrator)
		tag := w.Term(e, calendar.Tag, "Night", 0)
		const many = 1001
		edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (any, error) {
			for i := range many {
				in := edittest.SomeEvent()
				in.Slug, in.Tags = new(fmt.Sprint("night-", i)), &[]edit.TermRef{{ID: tag.ID}}
				if _, err := e.CreateEvent(ctx, tx, in); err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
		before := len(w.CheckLog())
		w.DeleteTerm(e, tag.ID)
		if got := len(w.CheckLog()) - before; got != many+1 {
			t.Errorf("%d entries, want %d", got, many+1)
		}
		if n := w.DB.Event.Query().Where(event.Version(2)).CountX(t.Context()); n != many {
			t.Errorf("%d events of %d have a new version", n, many)
		}
	})
}

// TestImagesHaveNoSearchTexts creates and deletes an image that has the same id as a term. No search text
// of an image may be stored.
func TestImagesHaveNoSearchTexts(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Administrator)
		term := w.Term(e, calendar.Tag, "Night", 0)
		image := edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Image, error) {
			return e.CreateImage(ctx, tx, func(c *ent.ImageCreate) {
				c.SetExtension("png").SetMimeType("image/png").SetWidth(1).SetHeight(1).SetFilesize(1)
			})
		})
		if image.ID != term.ID {
			t.Fatalf("image %d, term %d", image.ID, term.ID)
		}
		found := func() int {
			return w.DB.SearchText.Query().Where(searchtext.KindEQ(calendar.Image)).CountX(t.Context())
		}
		if n := found(); n != 0 {
			t.Errorf("%d search texts after it was created", n)
		}
		edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (any, error) {
			return nil, e.DeleteImage(ctx, tx, image)
		})
		if n := found(); n != 0 {
			t.Errorf("%d search texts after it was deleted", n)
		}
	})
}

// TestWritersOfEventsRaceWithTheTrash links events to venues that are trashed at the same time.
func TestWritersOfEventsRaceWithTheTrash(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		l := newLinkedWorld(w)
		before := w.CheckLog()
		edittest.RunConcurrently(t, func(i int) error {
			e := w.As(calendar.Administrator)
			return w.Run(e, func(ctx context.Context, tx *ent.Tx) error {
				if i%4 == 0 {
					row, err := edit.Venues.Lock(ctx, tx, l.venue.ID)
					if err != nil {
						return err
					}
					status := calendar.Trash
					if row.Status == calendar.Trash {
						status = calendar.Publish
					}
					_, err = edit.Venues.Update(ctx, tx, e, row, &edit.VenueInput{Status: &status})
					return err
				}
				row, err := edit.LockEvent(ctx, tx, l.events[i%len(l.events)])
				if err != nil {
					return err
				}
				_, err = e.UpdateEvent(ctx, tx, row, &edit.EventInput{
					Title: new(fmt.Sprint("Title ", i)), Venues: &[]edit.VenueRef{{ID: l.venue.ID}},
				})
				if _, trashed := err.(param.Invalid); trashed { //nolint:errorlint // it is not wrapped
					return nil
				}
				return err
			})
		})
		// The versions of events count their entries.
		entries := map[int64]int64{}
		for _, c := range w.CheckLog() {
			if c.Kind == calendar.Event {
				entries[c.RecordID]++
			}
		}
		for _, id := range l.events {
			if row := w.DB.Event.GetX(t.Context(), id); row.Version != entries[id] {
				t.Errorf("event %d has version %d and %d entries, %d before the race", id, row.Version, entries[id], len(before))
			}
		}
	})
}
