// Package edit holds the rules for writing records. Requests, imports and seeds keep the same ones: what becomes of a
// status, which record gets a slug, which text a language means, what an event may be linked to.
//
// Its functions work in a transaction of the caller. Write opens one and appends its changes to the change log. Callers
// pass texts that are sanitised and of permitted length, and values that are valid by themselves. Package edit validates
// what depends on stored records, such as the ids that a request names. It refuses with param.Invalid, which names the
// parameter, or with *calendar.Error.
//
// Locks are taken in this order, so that transactions wait for each other instead of deadlocking: the series of an
// occurrence, the record that is changed (LockEvent and its like), linked venues and organizers, claims (claim), slugs,
// terms in the order of their ids, links, the revision. A venue, organizer, term or image that goes for good is locked before
// the series and events that lose it (decision 023). store.Tx retries a transaction that deadlocks nevertheless. A write
// of an occurrence locks its series first, so writes of one series wait for each other. Publication at the scheduled time,
// and the loss of a link or a parent, lock occurrences alone: these change no schedule and no own field.
package edit

import (
	"context"
	"errors"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
)

// Editor writes records on behalf of one request. It is not safe for concurrent use.
type Editor struct {
	Site calendar.Site
	// Now is the time of the request: UTC, whole seconds.
	Now time.Time
	By  auth.Principal
	// Write is the language that a parameter or the path chose for the texts sent, "" when none did.
	Write calendar.Language
	// Request is the language of the reply, "" for that of the site. Duplicates are recognised by their
	// original text and by that in this language.
	Request calendar.Language
	// PasswordKey is the result of the function PasswordKey. Only writes of passwords need it.
	PasswordKey []byte
	// Expect is the precondition on the record or term that Update or a similar call changes. It does not apply
	// to records that the call creates, finds or changes besides.
	Expect calendar.Expect

	refs references // looked up for the next Write

	// The state of the current transaction.
	changes []change
	fresh   map[int64]*ent.Event // events that it created, as they were then
	lost    []eventLink          // links of events that the public can no longer see
}

// Write runs do in a transaction of the store, brings the search texts of what e did in it up to date, appends
// it to the change log, and commits. As
// store.Tx, it may run do several times, so do loads what it changes itself, in the transaction.
func Write(ctx context.Context, db *ent.Client, e *Editor, do func(tx *ent.Tx) error) error {
	return store.Tx(ctx, db, func(tx *ent.Tx) error {
		e.changes, e.fresh, e.lost = nil, nil, nil
		err := do(tx)
		e.refs = references{} // may be stale in another attempt or another write
		if err != nil {
			return err
		}
		if err := e.reindex(ctx, tx); err != nil {
			return err
		}
		return e.flush(ctx, tx)
	})
}

// original returns the language of records that e creates.
func (e *Editor) original() calendar.Language {
	if e.Write != "" {
		return e.Write
	}
	return e.Site.Language
}

// request returns the language that duplicates are recognised in, besides the original.
func (e *Editor) request() calendar.Language {
	if e.Request != "" {
		return e.Request
	}
	return e.Site.Language
}

// author returns the author of new records; nil if the caller is not a user.
func (e *Editor) author() *int64 {
	if e.By.UserID == 0 {
		return nil
	}
	return new(e.By.UserID)
}

// Forbidden returns the refusal of what the caller may not do. Anonymous callers get 401 for it, others 403.
func Forbidden() error {
	return &calendar.Error{Code: "rest_forbidden", Key: "rest_forbidden"}
}

// expect returns *calendar.Error rest_precondition_failed if the version of a record does not match Expect. The
// caller checks the permission and locks the row first.
func (e *Editor) expect(version int64) error {
	if e.Expect.Met(version) {
		return nil
	}
	return PreconditionFailed()
}

// PreconditionFailed returns the error of a write whose precondition on the version of a record does not match.
func PreconditionFailed() error {
	return &calendar.Error{Code: "rest_precondition_failed", Key: "rest_precondition_failed"}
}

// expectOneRow checks the outcome of an update of one row that names the version it expects.
func expectOneRow(rows int, err error) error {
	if err == nil && rows == 0 {
		return store.ErrConflict
	}
	return store.AsConflict(err)
}

var errNoKey = errors.New("event passwords need a key")
