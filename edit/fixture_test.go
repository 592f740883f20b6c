package edit

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/storetest"
	"github.com/almanac-cal/almanac/internal/when"
)

var now = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// site is an English site in Warsaw, two hours before UTC in summer.
func site(t testing.TB) calendar.Site {
	t.Helper()
	zone, err := calendar.ParseZone("Europe/Warsaw")
	if err != nil {
		t.Fatal(err)
	}
	return calendar.Site{BaseURL: "http://127.0.0.1", Zone: zone, Language: calendar.English}
}

// world is a database with a user of each role.
type world struct {
	t     testing.TB
	db    *ent.Client
	users map[calendar.Role]*ent.User
	// rowsPast is set by tests that write rows past this package, which Check may not like.
	rowsPast bool
}

func newWorld(t testing.TB, db *ent.Client) *world {
	t.Helper()
	w := &world{t: t, db: db, users: make(map[calendar.Role]*ent.User)}
	for _, r := range calendar.Roles {
		u, err := db.User.Create().SetLogin(string(r)).SetRole(r).SetCreatedAt(now).Save(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		w.users[r] = u
	}
	return w
}

// each runs a test on every engine.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st.Ent)
		test(t, w)
		if t.Failed() || w.rowsPast {
			return
		}
		for _, p := range w.problems() {
			t.Errorf("what the test leaves: %s", p)
		}
	})
}

func (w *world) as(r calendar.Role) *Editor {
	u := w.users[r]
	return &Editor{
		Site: site(w.t), Now: now, PasswordKey: []byte("0123456789abcdef"),
		By: auth.Principal{UserID: u.ID, Login: u.Login, Role: r},
	}
}

// in sets the write language, which is then that of the request too.
func (e *Editor) in(l calendar.Language) *Editor {
	e.Write, e.Request = l, l
	return e
}

// wrote runs do in a transaction of e and returns its error.
func wrote[R any](w *world, e *Editor, do func(ctx context.Context, tx *ent.Tx) (R, error)) (R, error) {
	w.t.Helper()
	var row R
	err := Write(w.t.Context(), w.db, e, func(tx *ent.Tx) (err error) {
		row, err = do(w.t.Context(), tx)
		return err
	})
	return row, err
}

// write is wrote for what must succeed.
func write[R any](w *world, e *Editor, do func(ctx context.Context, tx *ent.Tx) (R, error)) R {
	w.t.Helper()
	row, err := wrote(w, e, do)
	if err != nil {
		w.t.Fatalf("write: %v", describe(err))
	}
	return row
}

func (w *world) createEvent(e *Editor, in *EventInput) (*ent.Event, error) {
	w.t.Helper()
	if in.Title == nil {
		in.Title = new("Concert")
	}
	if in.Start == nil {
		in.Start, in.End = wall("2026-07-01 18:00:00"), wall("2026-07-01 20:00:00")
	}
	return wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Event, error) { return e.CreateEvent(ctx, tx, in) })
}

func (w *world) event(e *Editor, in *EventInput) *ent.Event {
	w.t.Helper()
	row, err := w.createEvent(e, in)
	if err != nil {
		w.t.Fatalf("create event: %v", describe(err))
	}
	return row
}

func (w *world) updateEvent(e *Editor, id int64, in *EventInput) (*ent.Event, error) {
	w.t.Helper()
	return wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Event, error) {
		row, err := tx.Event.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return e.UpdateEvent(ctx, tx, row, in)
	})
}

func (w *world) changeEvent(e *Editor, id int64, in *EventInput) *ent.Event {
	w.t.Helper()
	row, err := w.updateEvent(e, id, in)
	if err != nil {
		w.t.Fatalf("update event: %v", describe(err))
	}
	return row
}

func (w *world) trashEvent(e *Editor, id int64) (*ent.Event, error) {
	w.t.Helper()
	return wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Event, error) {
		row, err := tx.Event.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return e.TrashEvent(ctx, tx, row)
	})
}

func (w *world) createVenue(e *Editor, in *VenueInput) (row *ent.Venue, created bool, err error) {
	w.t.Helper()
	err = Write(w.t.Context(), w.db, e, func(tx *ent.Tx) (err error) {
		row, created, err = e.CreateVenue(w.t.Context(), tx, in)
		return err
	})
	return row, created, err
}

func (w *world) venue(e *Editor, in *VenueInput) *ent.Venue {
	w.t.Helper()
	row, _, err := w.createVenue(e, in)
	if err != nil {
		w.t.Fatalf("create venue: %v", describe(err))
	}
	return row
}

func (w *world) updateVenue(e *Editor, id int64, in *VenueInput) (*ent.Venue, error) {
	w.t.Helper()
	return wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Venue, error) {
		row, err := tx.Venue.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return e.UpdateVenue(ctx, tx, row, in)
	})
}

func (w *world) createTerm(e *Editor, in *TermInput) (*ent.Term, error) {
	w.t.Helper()
	return wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Term, error) { return e.CreateTerm(ctx, tx, in) })
}

func (w *world) term(e *Editor, taxonomy calendar.Kind, name string, parent int64) *ent.Term {
	w.t.Helper()
	row, err := w.createTerm(e, &TermInput{Taxonomy: taxonomy, Name: &name, ParentID: &parent})
	if err != nil {
		w.t.Fatalf("create term: %v", describe(err))
	}
	return row
}

func (w *world) updateTerm(e *Editor, id int64, in *TermInput) (*ent.Term, error) {
	w.t.Helper()
	return wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Term, error) {
		row, err := tx.Term.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return e.UpdateTerm(ctx, tx, row, in)
	})
}

func (w *world) deleteTerm(e *Editor, id int64) {
	w.t.Helper()
	write(w, e, func(ctx context.Context, tx *ent.Tx) (any, error) {
		row, err := tx.Term.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return nil, e.DeleteTerm(ctx, tx, row)
	})
}

func (w *world) count(id int64) int {
	w.t.Helper()
	return w.db.Term.GetX(w.t.Context(), id).EventCount
}

// checkCounts counts the events of all terms anew and complains about each number that was wrong.
func (w *world) checkCounts() {
	w.t.Helper()
	before := w.db.Term.Query().AllX(w.t.Context())
	write(w, w.as(calendar.Editor), func(ctx context.Context, tx *ent.Tx) (any, error) { return nil, Recount(ctx, tx) })
	for _, b := range before {
		if n := w.count(b.ID); n != b.EventCount {
			w.t.Errorf("term %s counts %d events, but has %d", b.Name, b.EventCount, n)
		}
	}
}

// checkLog complains unless the revisions are 1, 2, 3 and so on.
func (w *world) checkLog() []*ent.Change {
	w.t.Helper()
	log := w.db.Change.Query().Order(ent.Asc(entchange.FieldID)).AllX(w.t.Context())
	for i, c := range log {
		if c.ID != int64(i+1) {
			w.t.Fatalf("change %d has revision %d", i+1, c.ID)
		}
	}
	if n := w.db.Counter.GetX(w.t.Context(), revision).Value; n != int64(len(log)) {
		w.t.Errorf("the newest revision is %d of %d", n, len(log))
	}
	return log
}

func (w *world) translation(id int64, l calendar.Language) *ent.EventTranslation {
	w.t.Helper()
	row, err := w.db.EventTranslation.Query().
		Where(eventtranslation.EventID(id), eventtranslation.LanguageEQ(l)).Only(w.t.Context())
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return row
}

func wall(s string) *when.Date {
	w, err := calendar.ParseWall(s)
	if err != nil {
		panic(err)
	}
	return new(when.FromWall(w))
}

// describe is an error as one line: its code, or its parameters with their reasons.
func describe(err error) string {
	var refused *calendar.Error
	var inv param.Invalid
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused):
		return refused.Code
	case errors.As(err, &inv):
		var b strings.Builder
		for i, f := range inv.Faults {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(f.Param)
			if reason := f.Reason; reason != "" {
				b.WriteString(":" + reason)
			}
		}
		return b.String()
	}
	return err.Error()
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if got := describe(err); got != want {
		t.Fatalf("refused with %q, want %q", got, want)
	}
}
