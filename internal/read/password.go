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

// SetPassword stores the password that a client sent, for later calls of TryPassword. Nil means that none was sent.
func (r *Reader) SetPassword(sent *string) {
	if sent != nil {
		r.Password = *sent
	}
}

// TryPassword compares the password of the request with those of protected events. No other function does that.
// Events that the password matches are unprotected for this request; see IsProtected. It returns an error if the
// client has no guesses left.
//
// All comparisons of a request are one guess. The guess is wrong if the password matches none of the events of the
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

// comparePasswords records in r.opened which events the password of the request matches, and reports whether it
// matches any. It compares in constant time. Each event has its own hash, but the occurrences of a series share
// one.
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

// secretID returns the id of the event or series for which the password of e was set. Events with the same secretID
// share a password.
func secretID(e *ent.Event) int64 {
	if e.PasswordID != nil {
		return *e.PasswordID
	}
	return e.ID
}

// secretOf returns the secretID that all given events share, or 0 if their passwords differ. The limit of
// guesses counts by this id.
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

// mayList reports whether the caller may see the event in a list, at least redacted. The password of other events
// is never compared. Otherwise a client could find out that such an event exists.
func (r *Reader) mayList(e *ent.Event) bool {
	own := e.AuthorID != nil && *e.AuthorID == r.Caller.UserID
	return own || auth.May(r.Caller, auth.Read, r.eventRecord(e))
}

func (r *Reader) eventRecord(e *ent.Event) auth.Record {
	return auth.RecordOf(calendar.Event, e.AuthorID, e.Status.Shown(r.Now, e.PublishedAt), e.StatusBeforeTrash)
}

// unlockedEvents returns the ids of events that the password of the request matches. It tries all protected events
// that the caller may list, whatever the other filters of the request. Otherwise the remaining number of guesses
// would reveal whether a filter matches a protected event.
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

// AudienceOf returns which other requests may get the bytes of an event that this request encodes for a list.
// Callers with the ReadScope "" may edit no event. So if they send no password, all of them see a protected event
// redacted. In other scopes, the role of the caller matters, too.
func (r *Reader) AudienceOf(e *ent.Event) reply.Audience {
	switch {
	case !edit.HasPassword(e):
		return reply.SameScope
	case r.Password == "" && auth.ReadScope(r.Caller) == "":
		return reply.NoPassword
	}
	return reply.OnlyReader
}

// Rendering returns the properties of the request that the rendering of its records depends on.
func (r *Reader) Rendering() *reply.Rendering {
	return &reply.Rendering{
		Now: r.Now, Language: r.Language, Base: r.Root.Segment + r.Root.Mount, Scope: auth.ReadScope(r.Caller), Password: r.Password != "",
		Cache: r.RecordCache, ServerChanges: r.ServerChanges, Began: r.Began,
	}
}
