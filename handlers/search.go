package handlers

import (
	"strconv"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/search"
)

// foundBy selects the records of a kind with a search text, served in the language, that contains all of some
// folded texts and none of others. The texts are compared as they are: both engines agree on bytes.
func foundBy[P predicateOf](kind calendar.Kind, language calendar.Language, all, none []string) P {
	return func(s *sql.Selector) {
		t := sql.Table(searchtext.Table)
		where := []*sql.Predicate{
			sql.ColumnsEQ(t.C(searchtext.FieldOwnerID), s.C("id")),
			sql.EQ(t.C(searchtext.FieldKind), kind),
			sql.P(func(b *sql.Builder) {
				b.Ident(t.C(searchtext.FieldLanguages)).WriteString(" & " + strconv.Itoa(language.Bit()) + " <> 0")
			}),
		}
		contains := func(text, comparison string) *sql.Predicate {
			return sql.P(func(b *sql.Builder) {
				b.WriteString("INSTR(").Ident(t.C(searchtext.FieldText)).Comma().Arg(text).WriteString(") " + comparison + " 0")
			})
		}
		for _, text := range all {
			where = append(where, contains(text, ">"))
		}
		for _, text := range none {
			where = append(where, contains(text, "="))
		}
		s.Where(sql.Exists(sql.Select(t.C(searchtext.FieldID)).From(t).Where(sql.And(where...))))
	}
}

// searched selects the events that a search finds: each word in title, excerpt or description, as served in the
// language of the request.
func (r *request) searched(q search.Query) predicate.Event {
	var all, none []string
	for _, t := range q.Terms {
		if t.Exclude {
			none = append(none, t.Text)
		} else {
			all = append(all, t.Text)
		}
	}
	return foundBy[predicate.Event](calendar.Event, r.lang, all, none)
}

// readable returns which protected events the caller is shown in full: those that the caller may edit (contract, section
// 12.3), and those that the password of the request has unlocked.
func (r *request) readable(unlocked []int64) index.Readable {
	out := index.Readable{IDs: unlocked}
	switch {
	case auth.MaySeeAllUnpublished(r.caller):
		out.All = true
	case r.caller.Role.AtLeast(calendar.Contributor):
		out.Author, out.DraftsOnly = r.caller.UserID, r.caller.Role == calendar.Contributor
	}
	return out
}

// unredacted selects the events that the caller is shown in full: those without a password, and those of readable. What
// filters find would tell the rest of the others.
func (r *request) unredacted(unlocked []int64) predicate.Event {
	may := r.readable(unlocked)
	if may.All {
		return func(*sql.Selector) {}
	}
	shown := []predicate.Event{event.PasswordHashIsNil()}
	if len(may.IDs) > 0 {
		shown = append(shown, event.IDIn(may.IDs...))
	}
	if may.Author != 0 {
		own := []predicate.Event{event.AuthorID(may.Author)}
		if may.DraftsOnly {
			own = append(own, event.Or(event.StatusIn(calendar.Draft, calendar.Pending), event.And(
				event.StatusEQ(calendar.Trash), event.StatusBeforeTrashIn(calendar.Draft, calendar.Pending))))
		}
		shown = append(shown, event.And(own...))
	}
	return event.Or(shown...)
}

// unlocked are the events that a password opens. Each has its own hash, so all are compared.
func (r *request) unlocked(password *string) ([]int64, error) {
	if password == nil || *password == "" {
		return nil, nil
	}
	rows, err := r.db.Event.Query().Where(event.PasswordHashNotNil()).
		Select(event.FieldID, event.FieldPasswordHash).All(r.ctx)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, e := range rows {
		if edit.PasswordMatches(r.h.PasswordKey, e.ID, *password, e.PasswordHash) {
			ids = append(ids, e.ID)
		}
	}
	return ids, nil
}

// venuesNear finds the venues within a distance of a position that the caller may read. The index on cells finds the
// venues around, the great circle decides. lookDue comes first.
func (r *request) venuesNear(latitude, longitude, kilometres float64) ([]int64, error) {
	var around []predicate.Venue
	for _, c := range calendar.Cells(latitude, longitude, kilometres) {
		around = append(around, venue.And(venue.CellGTE(c.First), venue.CellLTE(c.Last)))
	}
	rows, err := r.db.Venue.Query().Where(venue.Or(around...), inList[predicate.Venue](r, calendar.Venue, nil)).
		Select(venue.FieldID, venue.FieldLatitude, venue.FieldLongitude).All(r.ctx)
	if err != nil {
		return nil, err
	}
	ids := []int64{}
	for _, v := range rows {
		if v.Latitude != nil && v.Longitude != nil &&
			calendar.Distance(latitude, longitude, *v.Latitude, *v.Longitude) <= kilometres {
			ids = append(ids, v.ID)
		}
	}
	return ids, nil
}
