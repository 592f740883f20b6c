package handlers

import (
	"context"
	"errors"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent/user"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/store"
)

// maxTitle, maxText and maxURL are the largest lengths of texts that clients write, in characters (contract,
// section 4).
const (
	maxTitle = 500
	maxText  = 255
	maxURL   = 2048
)

// change runs do in a transaction that writes one record, after sanitising the sent HTML. The function do must
// set id to that of the record. If the precondition of the request fails, nothing is written.
func (r *writing) change(id *int64, do func(tx *entTx, e *edit.Editor) error) error {
	if err := r.sanitise(); err != nil {
		return err
	}
	err := r.commit(r.Ctx, r.Call.Precondition, func(tx *entTx, e *edit.Editor) error {
		if err := do(tx, e); err != nil {
			return err
		}
		return r.recordWrite(tx, *id)
	})
	if err == nil {
		r.fetched = nil // the images now belong to the record
	}
	return err
}

// recordWrite passes the id of the written record to Call.OnWritten, in the transaction that wrote it.
func (r *writing) recordWrite(tx *entTx, id int64) error {
	if r.Call.OnWritten == nil {
		return nil
	}
	return r.Call.OnWritten(r.Ctx, tx, id)
}

// commit runs do in a transaction. If all retries conflict with other writes, it returns an error that the client
// may retry.
func (r *writing) commit(
	ctx context.Context, expect calendar.Precondition, do func(tx *entTx, e *edit.Editor) error,
) error {
	e := r.Editor()
	e.Expect = expect
	err := edit.Write(ctx, r.Primary, e, func(tx *entTx) error { return do(tx, e) })
	if !errors.Is(err, store.ErrConflict) {
		return err
	}
	// Credentials are cached for some seconds. A user who was deleted meanwhile cannot be an author.
	if id := r.Caller.UserID; id != 0 {
		known, lookup := r.DB.User.Query().Where(user.ID(id)).Exist(ctx)
		if lookup == nil && !known {
			return &calendar.Error{Code: "rest_invalid_token", Key: "rest_invalid_token", Err: err}
		}
	}
	// The request itself is valid, so the client may retry.
	return &calendar.Error{Code: "rest_unavailable", Key: "rest_unavailable", Err: err}
}

// sanitise replaces the sent HTML texts by their sanitised form, which is stored. It is much more expensive than
// parsing, so it runs after the permission check (decision 024).
func (r *writing) sanitise() error {
	for _, text := range r.unclean {
		if *text == nil {
			continue
		}
		clean, err := sanitiseHTML(r.Ctx, **text)
		if err != nil {
			return err
		}
		*text = &clean
	}
	r.unclean = nil
	return nil
}

// sanitiseHTML returns the sanitised form of an HTML text. Text of white space only becomes "".
func sanitiseHTML(ctx context.Context, text string) (string, error) {
	clean, err := markup.HTMLContext(ctx, text)
	if strings.TrimSpace(clean) == "" {
		clean = ""
	}
	return clean, err
}
