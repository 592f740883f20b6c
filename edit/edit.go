// Package edit has the rules for writing records. They are the same for requests, imports and seeds. The rules decide on
// the status, the slug and the language of texts of a record, and on the records that an event may be linked to.
//
// Its functions work in a transaction of the caller. Write opens one and appends its changes to the change log.
// Callers pass texts that are sanitised and of permitted length, and values that are valid by themselves.
// Package edit validates what depends on stored records, such as the ids in a request. It returns
// param.Invalid, which names the parameter, or *calendar.Error. A fault (*param.Fault) is the error of one parameter.
//
// The nominal start of an occurrence is the wall time at which the schedule of its series says that it starts,
// even if the occurrence was moved. An own field is a field in which an occurrence differs from its series.
//
// Transactions take locks in one order, so that they wait for each other instead of deadlocking:
//
//  1. the series of an occurrence
//  2. the record that is changed (LockEvent and the other Lock functions)
//  3. linked venues and organizers
//  4. names (lockName)
//  5. slugs
//  6. terms, in the order of their ids
//  7. links
//  8. the budget of the caller
//  9. the revision
//
// A venue, organizer, term or image that is deleted for good is locked before the series and events that lose
// it (decision 023). store.Tx retries a transaction that deadlocks nevertheless. A write of an occurrence locks
// its series first, so writes of one series wait for each other. Publication at the scheduled time, and the
// loss of a link or a parent, lock only occurrences: these change no schedule and no own field.
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
	// Now is the time of the request in UTC, in whole seconds.
	Now time.Time
	By  auth.Principal
	// Write is the language of the texts sent, from a parameter or the path. "" means that the request has
	// none: then new records are in the language of the site, and changes go to the original text.
	Write calendar.Language
	// Request is the language of the response. "" means the language of the site. Duplicates are recognised by their
	// original text and by their text in this language.
	Request calendar.Language
	// Reserved has ids for new records. The zero value means that all are drawn.
	Reserved ReservedIDs
	// PasswordKey is the result of the function PasswordKey. Only writes of passwords need it.
	PasswordKey []byte
	// Expect is the condition on the record or term that a call such as UpdateEvent changes. It does not
	// apply to other records that the call creates, finds or changes.
	Expect calendar.Precondition

	refs references // ids that were looked up for the next Write

	// The fields from changes to units are the state of the current transaction.
	changes     []change
	derived     bool                 // search texts were written, which depend on the settings of the site
	created     map[int64]*ent.Event // events that the transaction created, as they were then
	hiddenLinks []eventLink          // links to venues and organizers that the transaction hid from the public
	units       int64                // units of the caller's budget that the transaction spends
}

// Write runs do in a transaction. Then it updates the search texts of the changed records, appends the changes
// of e to the change log, and commits. The function do may run several times (see store.Tx), so it has to load
// the records that it changes.
func Write(ctx context.Context, db *ent.Client, e *Editor, do func(tx *ent.Tx) error) error {
	return store.Tx(ctx, db, func(tx *ent.Tx) error {
		e.changes, e.derived, e.created, e.hiddenLinks, e.units = nil, false, nil, nil, 0
		err := do(tx)
		e.refs = references{} // they may be stale in the next attempt or the next write
		if err != nil {
			return err
		}
		if err := e.reindex(ctx, tx); err != nil {
			return err
		}
		if err := e.storeBudget(ctx, tx); err != nil {
			return err
		}
		return e.flush(ctx, tx)
	})
}

// originalLanguage returns the original language of new records: Editor.Write, or the language of the site.
func (e *Editor) originalLanguage() calendar.Language {
	if e.Write != "" {
		return e.Write
	}
	return e.Site.Language
}

// requestLanguage returns the second language in which a new record is compared with existing ones, to find
// duplicates. The first is their original language.
func (e *Editor) requestLanguage() calendar.Language {
	if e.Request != "" {
		return e.Request
	}
	return e.Site.Language
}

// author returns the caller's user id, as the author of new records. It returns nil if the caller is not a user.
func (e *Editor) author() *int64 {
	if e.By.UserID == 0 {
		return nil
	}
	return new(e.By.UserID)
}

// Forbidden returns the error for a missing permission. The server answers it with 401 to anonymous callers,
// with 403 to others.
func Forbidden() error {
	return &calendar.Error{Code: "rest_forbidden", Key: "rest_forbidden"}
}

// CheckPrecondition returns PreconditionFailed if the version of a record does not meet the precondition of the
// request. The caller must have checked the permission and locked the row.
func (e *Editor) CheckPrecondition(version calendar.Version) error {
	if e.Expect.Met(version) {
		return nil
	}
	return PreconditionFailed()
}

// PreconditionFailed returns *calendar.Error rest_precondition_failed. It means that a record is not in a version
// that the request allows.
func PreconditionFailed() error {
	return &calendar.Error{Code: "rest_precondition_failed", Key: "rest_precondition_failed"}
}

// expectOneRow checks the number of rows that an update with a version in its condition has changed. For 0 rows it
// returns store.ErrConflict, because another transaction changed the row.
func expectOneRow(rows int, err error) error {
	if err == nil && rows == 0 {
		return store.ErrConflict
	}
	return store.AsConflict(err)
}

var errNoKey = errors.New("event passwords need a key")
