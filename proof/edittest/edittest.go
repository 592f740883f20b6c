// Package edittest prepares databases for tests of package edit.
package edittest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/upkeep"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// Now is the time of all writes.
var Now = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// Site returns a site in English whose zone is Europe/Warsaw, two hours ahead of UTC in summer.
func Site(t testing.TB) calendar.Site {
	t.Helper()
	zone, err := calendar.ParseZone("Europe/Warsaw")
	must.Succeed(t, err)
	return calendar.Site{BaseURL: "http://127.0.0.1", Zone: zone, Language: calendar.English}
}

// World is a database with a user of each role, for tests of package edit.
type World struct {
	T     testing.TB
	DB    *ent.Client
	Users map[calendar.Role]*ent.User
	// RowsPast is set by tests that write rows without package edit. Each then does not run upkeep.Check.
	RowsPast bool
	// Logged makes a write fail the test if a changed record has no entry in the change log. Each sets it unless Brief.
	Logged bool
	// Brief is the result of storetest.IsBrief for the database.
	Brief bool
}

// NewWorld adds a user of each role to a database and returns a World for it. Their logins are the names of the
// roles.
func NewWorld(t testing.TB, db *ent.Client) *World {
	t.Helper()
	w := &World{T: t, DB: db, Users: make(map[calendar.Role]*ent.User)}
	for _, r := range calendar.Roles {
		u, err := db.User.Create().SetLogin(string(r)).SetRole(r).SetCreatedAt(Now).Save(context.Background())
		must.Succeed(t, err)
		w.Users[r] = u
	}
	return w
}

// Each runs a test as a parallel subtest on each database engine under test. It then fails the test for
// inconsistencies that upkeep.Check finds, unless RowsPast.
func Each(t *testing.T, test func(t *testing.T, w *World)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := NewWorld(t, st.Ent)
		w.Brief = storetest.IsBrief(st)
		w.Logged = !w.Brief // it reads all records twice for each write
		test(t, w)
		if t.Failed() || w.RowsPast {
			return
		}
		for _, p := range w.Problems() {
			t.Errorf("what the test leaves: %s", p)
		}
	})
}

// As returns an Editor that acts as the user with a role. It refills the rate budgets for series of which half is
// spent, since the clock of tests stands still.
func (w *World) As(r calendar.Role) *edit.Editor {
	w.T.Helper()
	u := w.Users[r]
	spent := w.DB.Counter.Delete().Where(
		entsql.FieldHasPrefix(counter.FieldID, edit.BudgetPrefix), counter.ValueGT(Now.Add(time.Hour/2).UnixMilli()))
	if _, err := spent.Exec(context.Background()); err != nil {
		w.T.Fatal(err)
	}
	return &edit.Editor{
		Site: Site(w.T), Now: Now, PasswordKey: []byte("0123456789abcdef"),
		By: auth.Principal{UserID: u.ID, Login: u.Login, Role: r},
	}
}

// AsIn returns an Editor that acts as the user with a role. Requests read and write texts in the language l.
func (w *World) AsIn(r calendar.Role, l calendar.Language) *edit.Editor {
	e := w.As(r)
	e.Write, e.Request = l, l
	return e
}

// Wrote runs do in a transaction of the editor e and returns its result and error. Write is for tests that expect no
// error.
func Wrote[R any](w *World, e *edit.Editor, do func(ctx context.Context, tx *ent.Tx) (R, error)) (R, error) {
	w.T.Helper()
	var row R
	err := w.watched(func() error {
		return edit.Write(w.T.Context(), w.DB, e, func(tx *ent.Tx) (err error) {
			row, err = do(w.T.Context(), tx)
			return err
		})
	})
	return row, err
}

// watched runs a write. It fails the test for each record that the write changed without an entry in the change log.
func (w *World) watched(write func() error) error {
	w.T.Helper()
	if !w.Logged {
		return write()
	}
	before := storetest.ReadRecords(w.T, w.DB)
	err := write()
	for _, problem := range storetest.ReadRecords(w.T, w.DB).Unlogged(w.T, w.DB, before) {
		w.T.Error(problem)
	}
	return err
}

// Write runs do in a transaction of the editor e and returns its result. It fails the test if do returns an error.
func Write[R any](w *World, e *edit.Editor, do func(ctx context.Context, tx *ent.Tx) (R, error)) R {
	w.T.Helper()
	row, err := Wrote(w, e, do)
	if err != nil {
		w.T.Fatalf("write: %v", Describe(err))
	}
	return row
}

// CreateEvent creates an event and returns it, or the error of the write. It adds a title and dates to in, if they
// are missing.
func (w *World) CreateEvent(e *edit.Editor, in *edit.EventInput) (*ent.Event, error) {
	w.T.Helper()
	if in.Title == nil {
		in.Title = new("Concert")
	}
	if in.Start == nil {
		in.Start, in.End = Wall("2026-07-01 18:00:00"), Wall("2026-07-01 20:00:00")
	}
	return Wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Event, error) { return series.CreateEvent(ctx, tx, e, in) })
}

// Event creates an event and returns it. It fails the test on an error. It adds a title and dates to in, if they are
// missing.
func (w *World) Event(e *edit.Editor, in *edit.EventInput) *ent.Event {
	w.T.Helper()
	row, err := w.CreateEvent(e, in)
	if err != nil {
		w.T.Fatalf("create event: %v", Describe(err))
	}
	return row
}

// UpdateEvent writes the fields in to the event with an id. It returns the updated event, or an error.
func (w *World) UpdateEvent(e *edit.Editor, id int64, in *edit.EventInput) (*ent.Event, error) {
	w.T.Helper()
	return Wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Event, error) {
		row, err := tx.Event.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return series.UpdateEvent(ctx, tx, e, row, in)
	})
}

// ChangeEvent writes the fields in to the event with an id, and returns the event. It fails the test on an error.
func (w *World) ChangeEvent(e *edit.Editor, id int64, in *edit.EventInput) *ent.Event {
	w.T.Helper()
	row, err := w.UpdateEvent(e, id, in)
	if err != nil {
		w.T.Fatalf("update event: %v", Describe(err))
	}
	return row
}

// TrashEvent moves an event to the trash and returns it, or the error of the write.
func (w *World) TrashEvent(e *edit.Editor, id int64) (*ent.Event, error) {
	w.T.Helper()
	return Wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Event, error) {
		row, err := tx.Event.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return e.TrashEvent(ctx, tx, row)
	})
}

// CreateVenue creates a venue and returns it, or the error of the write. created is false if row is an existing venue
// with the same name.
func (w *World) CreateVenue(e *edit.Editor, in *edit.VenueInput) (row *ent.Venue, created bool, err error) {
	w.T.Helper()
	err = w.watched(func() error {
		return edit.Write(w.T.Context(), w.DB, e, func(tx *ent.Tx) (err error) {
			row, created, err = edit.Venues.Create(w.T.Context(), tx, e, in)
			return err
		})
	})
	return row, created, err
}

// Venue creates a venue and returns it, or an existing venue with the same name. It fails the test on an error.
func (w *World) Venue(e *edit.Editor, in *edit.VenueInput) *ent.Venue {
	w.T.Helper()
	row, _, err := w.CreateVenue(e, in)
	if err != nil {
		w.T.Fatalf("create venue: %v", Describe(err))
	}
	return row
}

// UpdateVenue writes the fields in to the venue with an id. It returns the venue or an error.
func (w *World) UpdateVenue(e *edit.Editor, id int64, in *edit.VenueInput) (*ent.Venue, error) {
	w.T.Helper()
	return Wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Venue, error) {
		row, err := tx.Venue.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return edit.Venues.Update(ctx, tx, e, row, in)
	})
}

// CreateTerm creates a category or tag and returns it, or the error of the write.
func (w *World) CreateTerm(e *edit.Editor, in *edit.TermInput) (*ent.Term, error) {
	w.T.Helper()
	return Wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Term, error) { return e.CreateTerm(ctx, tx, in) })
}

// Term creates a category or tag and returns it. It fails the test on an error. parent 0 means none.
func (w *World) Term(e *edit.Editor, taxonomy calendar.Kind, name string, parent int64) *ent.Term {
	w.T.Helper()
	row, err := w.CreateTerm(e, &edit.TermInput{Taxonomy: taxonomy, Name: &name, ParentID: &parent})
	if err != nil {
		w.T.Fatalf("create term: %v", Describe(err))
	}
	return row
}

// UpdateTerm writes the fields in to the category or tag with an id. It returns it, or an error.
func (w *World) UpdateTerm(e *edit.Editor, id int64, in *edit.TermInput) (*ent.Term, error) {
	w.T.Helper()
	return Wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Term, error) {
		row, err := tx.Term.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return e.UpdateTerm(ctx, tx, row, in)
	})
}

// DeleteTerm deletes a category or tag. It fails the test on an error.
func (w *World) DeleteTerm(e *edit.Editor, id int64) {
	w.T.Helper()
	Write(w, e, func(ctx context.Context, tx *ent.Tx) (any, error) {
		row, err := tx.Term.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return nil, e.DeleteTerm(ctx, tx, row)
	})
}

// Count returns the number of events that the database stores with a category or tag.
func (w *World) Count(id int64) int {
	w.T.Helper()
	return w.DB.Term.GetX(w.T.Context(), id).EventCount
}

// CheckCounts counts the events of categories and tags again. It fails the test for those whose stored number was
// wrong.
func (w *World) CheckCounts() {
	w.T.Helper()
	before := w.DB.Term.Query().AllX(w.T.Context())
	Write(w, w.As(calendar.Editor), func(ctx context.Context, tx *ent.Tx) (any, error) { return nil, upkeep.Recount(ctx, tx) })
	for _, b := range before {
		if n := w.Count(b.ID); n != b.EventCount {
			w.T.Errorf("term %s counts %d events, but has %d", b.Name, b.EventCount, n)
		}
	}
}

// CheckLog returns all entries of the change log. It fails the test unless their revisions are 1, 2, 3 and so on, up
// to the newest one.
func (w *World) CheckLog() []*ent.Change {
	w.T.Helper()
	log := w.DB.Change.Query().Order(ent.Asc(entchange.FieldID)).AllX(w.T.Context())
	for i, c := range log {
		if c.ID != int64(i+1) {
			w.T.Fatalf("change %d has revision %d", i+1, c.ID)
		}
	}
	n, err := edit.Revision(w.T.Context(), w.DB)
	if err != nil || n != int64(len(log)) {
		w.T.Errorf("the newest revision is %d of %d: %v", n, len(log), err)
	}
	return log
}

// Translation loads the translation of an event into a language. It returns nil if there is none.
func (w *World) Translation(id int64, l calendar.Language) *ent.EventTranslation {
	w.T.Helper()
	row, err := w.DB.EventTranslation.Query().
		Where(eventtranslation.EventID(id), eventtranslation.LanguageEQ(l)).Only(w.T.Context())
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.T.Fatal(err)
	}
	return row
}

// Wall parses a wall time ("2026-07-01 18:00:00") as a date without a zone, which means the event's zone. It panics
// on other texts.
func Wall(s string) *when.Date {
	w, err := calendar.ParseWall(s)
	if err != nil {
		panic(err)
	}
	return new(when.FromWall(w))
}

// Describe formats an error on one line for comparing: its code, its invalid parameters with their reasons, or its
// text. It returns "" for nil.
func Describe(err error) string {
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

// Refused fails the test unless Describe(err) is want.
func Refused(t *testing.T, err error, want string) {
	t.Helper()
	if got := Describe(err); got != want {
		t.Fatalf("refused with %q, want %q", got, want)
	}
}

// Problems returns the inconsistencies in the database that upkeep.Check finds, as texts. It is not nil if there are
// none.
func (w *World) Problems() []string {
	w.T.Helper()
	out := []string{}
	err := upkeep.Check(context.Background(), w.DB, w.As(calendar.Administrator), func(calendar.Kind, int) {},
		func(p upkeep.Problem) { out = append(out, p.String()) })
	if err != nil {
		w.T.Fatal(err)
	}
	return out
}

// SortKeys returns the sort keys that the row of a category or tag stores, by column.
func SortKeys(row *ent.Term) edit.TermSortKeys {
	return edit.TermSortKeys{
		term.FieldSortEn: row.SortEn, term.FieldDescriptionSortEn: row.DescriptionSortEn,
		term.FieldSortPl: row.SortPl, term.FieldDescriptionSortPl: row.DescriptionSortPl,
		term.FieldSortEs: row.SortEs, term.FieldDescriptionSortEs: row.DescriptionSortEs,
	}
}
