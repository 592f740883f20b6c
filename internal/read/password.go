package read

import (
	"math"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/reply"
)

// SetPassword notes the password that a client sent. Nil means none.
func (r *Reader) SetPassword(sent *string) {
	if sent != nil {
		r.Password = *sent
	}
}

// TryPassword compares the password of the request with those of protected events. It is the only place that
// does so. It returns an error if the client has no guess left. An event whose password was not tried, or did
// not match, stays protected.
//
// All comparisons of a request are one guess. The guess is wrong if the password opens none of the events of the
// first call.
func (r *Reader) TryPassword(events ...*ent.Event) error {
	if r.Password == "" {
		return nil
	}
	var closed []*ent.Event
	for _, e := range events {
		if _, tried := r.opened[e.ID]; !tried && r.IsProtected(e) && r.mayList(e) {
			closed = append(closed, e)
		}
	}
	if len(closed) == 0 {
		return nil
	}
	compare := func() (wrong bool) { return !r.comparePasswords(closed) }
	if r.Judge == nil || r.guessed {
		compare()
		return nil
	}
	r.guessed = true
	return r.Judge(secretOf(closed), compare)
}

// comparePasswords notes which events the password of the request opens, and reports whether it opens any. It
// compares in constant time. Each event has a hash of its own, but the occurrences of a series share one.
func (r *Reader) comparePasswords(events []*ent.Event) (right bool) {
	type secret struct {
		id   int64
		hash string
	}
	if r.opened == nil {
		r.opened = make(map[int64]bool, len(events))
	}
	matches := map[secret]bool{}
	for _, e := range events {
		s := secret{secretID(e), string(*e.PasswordHash)}
		opens, known := matches[s]
		if !known {
			opens = edit.PasswordMatches(r.PasswordKey, e, r.Password)
			matches[s] = opens
		}
		r.opened[e.ID] = opens
		right = right || opens
	}
	return right
}

// secretID returns the id of the event or series for which the password of an event was sent.
func secretID(e *ent.Event) int64 {
	if e.PasswordID != nil {
		return *e.PasswordID
	}
	return e.ID
}

// secretOf returns the id of the password that events share, or 0 if their passwords differ.
func secretOf(events []*ent.Event) int64 {
	id := secretID(events[0])
	for _, e := range events[1:] {
		if secretID(e) != id {
			return 0
		}
	}
	return id
}

// IsProtected reports whether the event must be redacted or refused. That is so if it has a password, TryPassword
// did not open it, and the caller may not edit it.
func (r *Reader) IsProtected(e *ent.Event) bool {
	return edit.HasPassword(e) && !r.opened[e.ID] && !auth.May(r.Caller, auth.Edit, r.eventRecord(e))
}

// mayList reports whether lists can show the event to the caller. Other events are not compared, because a client
// can tell a right guess from a wrong one.
func (r *Reader) mayList(e *ent.Event) bool {
	own := e.AuthorID != nil && *e.AuthorID == r.Caller.UserID
	return own || auth.May(r.Caller, auth.Read, r.eventRecord(e))
}

func (r *Reader) eventRecord(e *ent.Event) auth.Record {
	return auth.RecordOf(calendar.Event, e.AuthorID, e.Status.Shown(r.Now, e.PublishedAt), e.StatusBeforeTrash)
}

// unlockedEvents returns the ids of the events that the password of the request opens, of all that the caller may list.
// Other conditions of the list do not count: otherwise a client could tell by the budget of guesses whether they match a
// protected event.
func (r *Reader) unlockedEvents(visible query.Visible) ([]int64, error) {
	if r.Password == "" {
		return nil, nil
	}
	page, err := r.FindEvents(&query.Events{Now: r.Now, Visible: visible, Hidden: true, Protected: true}, 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	var rows []*ent.Event
	const most = 1000 // in a statement
	for some := range slices.Chunk(page.IDs, most) {
		part, err := r.DB.Event.Query().Where(event.IDIn(some...), event.PasswordHashNotNil()).
			Select(event.FieldID, event.FieldPasswordHash, event.FieldPasswordID, event.FieldAuthorID, event.FieldStatus,
				event.FieldStatusBeforeTrash, event.FieldPublishedAt).All(r.Ctx)
		if err != nil {
			return nil, err
		}
		rows = append(rows, part...)
	}
	if err := r.TryPassword(rows...); err != nil {
		return nil, err
	}
	var ids []int64
	for id, opens := range r.opened {
		if opens {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// AudienceOf returns which requests see an event in a list as the present one does. Callers whose ReadScope is "" may edit no
// event. So without a password, a protected event is redacted for all of them. In other scopes the role decides, too.
func (r *Reader) AudienceOf(e *ent.Event) reply.Audience {
	switch {
	case !edit.HasPassword(e):
		return reply.SameScope
	case r.Password == "" && auth.ReadScope(r.Caller) == "":
		return reply.NoPassword
	}
	return reply.OnlyReader
}

// Rendering returns the properties of the request for the records of its reply.
func (r *Reader) Rendering() *reply.Rendering {
	return &reply.Rendering{
		Now: r.Now, Language: r.Language, Base: r.Root.Segment + r.Root.Mount, Scope: auth.ReadScope(r.Caller), Password: r.Password != "",
		Cache: r.RecordCache, ServerChanges: r.ServerChanges, Began: r.Began,
	}
}
