// Package idempotency ensures that a request with an Idempotency-Key takes effect once, however often the
// client sends it (draft-ietf-httpapi-idempotency-key-header).
//
// A row for the key is written before the work begins. The transaction of the work writes the id of the created
// record into that row, and fails if another request has taken over the key. Both are committed together, so a
// process may be killed at any moment. The reply is stored last. All processes that use one database share the
// keys.
package idempotency

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/idempotencykey"
	"github.com/almanac-cal/almanac/internal/store"
)

// ErrInUse and ErrReused are returned by Begin for a key that is not available. ErrInUse is temporary: another
// request with the key is still running.
var (
	ErrInUse  = errors.New("the key is in use")
	ErrReused = errors.New("the key belongs to another request")
)

// Lifetime is the time for which a key is stored, from its first use.
const Lifetime = 24 * time.Hour

// maxBody is the largest stored reply, in bytes. A larger reply is built again from the record.
const maxBody = 256 << 10

// Request identifies a request with an idempotency key.
type Request struct {
	User        int64  // id of the user who sent the key
	Key         string // key from the header, without quotes and escapes
	Fingerprint [sha256.Size]byte
}

func (r Request) hash() []byte {
	sum := sha256.Sum256(append(append(strconv.AppendInt(nil, r.User, 10), ' '), r.Key...))
	return sum[:]
}

// Reply is a stored reply, without the headers that each reply sets itself. Package server adds entries with the
// language of the reply and the role of the caller to Header.
type Reply struct {
	Status int
	Header [][2]string
	Body   []byte
}

// Keys are the idempotency keys in a database.
type Keys struct{ db *ent.Client }

// New returns the idempotency keys in a database.
func New(db *ent.Client) *Keys { return &Keys{db} }

// Claim is the right to answer a request. If Reply is set, the caller sends it, unless the role of its user has
// changed. Otherwise, if Made is set, the request was already carried out. Then the caller builds the reply from
// that record. If Made is 0, the caller carries out the request: it calls Mark in its transaction, then
// StoreReply or Release.
type Claim struct {
	Reply *Reply
	Made  int64 // id of the record that the request created; 0 means none

	db      *ent.Client
	id      int64
	attempt int
}

// Begin claims the key of a request. No other request gets the key until now + lease. A claim that is still
// open then counts as abandoned. Errors are ErrInUse, ErrReused, *calendar.Error rest_unavailable after repeated
// conflicts, and those of the database.
func (k *Keys) Begin(ctx context.Context, r Request, now time.Time, lease time.Duration) (*Claim, error) {
	// The row may disappear between two statements, if the other request releases it. A few attempts suffice.
	for range 3 {
		var row *ent.IdempotencyKey
		err := run(ctx, func() (err error) {
			row, err = k.db.IdempotencyKey.Create().SetHash(r.hash()).SetUserID(r.User).SetFingerprint(r.Fingerprint[:]).
				SetLeaseUntil(now.Add(lease)).SetExpiresAt(now.Add(Lifetime)).Save(ctx)
			return err
		})
		if err == nil {
			return &Claim{db: k.db, id: row.ID, attempt: row.Attempt}, nil
		}
		if !store.IsDuplicate(err) {
			return nil, err
		}
		row, err = k.db.IdempotencyKey.Query().Where(idempotencykey.Hash(r.hash())).Only(ctx)
		if err == nil {
			return k.found(ctx, r, row, now, lease)
		}
		if !ent.IsNotFound(err) {
			return nil, fmt.Errorf("idempotency key: %w", err)
		}
	}
	return nil, ErrInUse
}

// found decides whether a request gets a key that was used before.
func (k *Keys) found(
	ctx context.Context, r Request, row *ent.IdempotencyKey, now time.Time, lease time.Duration,
) (*Claim, error) {
	c := &Claim{db: k.db, id: row.ID, attempt: row.Attempt}
	switch expired := !row.ExpiresAt.After(now); {
	case !expired && [sha256.Size]byte(row.Fingerprint) != r.Fingerprint:
		return nil, ErrReused
	case !expired && row.Status != 0:
		c.Reply, c.Made = &Reply{row.Status, row.Header, row.Body}, row.RecordID
		return c, nil
	case !expired && row.RecordID != 0:
		c.Made = row.RecordID
		return c, nil
	case row.LeaseUntil.After(now):
		return nil, ErrInUse
	}
	// The claim is abandoned or expired. Only one of several concurrent requests takes it over. None does if
	// the first request has just finished.
	taken := k.db.IdempotencyKey.Update().
		Where(idempotencykey.ID(row.ID), idempotencykey.Attempt(row.Attempt), idempotencykey.RecordID(row.RecordID)).
		SetFingerprint(r.Fingerprint[:]).SetAttempt(row.Attempt + 1).SetLeaseUntil(now.Add(lease)).
		SetRecordID(0).SetStatus(0).ClearHeader().ClearBody()
	if !row.ExpiresAt.After(now) {
		taken.SetExpiresAt(now.Add(Lifetime))
	}
	n := 0
	if err := run(ctx, func() (err error) { n, err = taken.Save(ctx); return err }); err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, ErrInUse
	}
	c.attempt++
	return c, nil
}

// Mark stores the id of the created record, in the transaction that created it. The error is ErrInUse if
// another request has taken over the key. The caller must then roll back.
func (c *Claim) Mark(ctx context.Context, tx *ent.Tx, id int64) error {
	n, err := tx.IdempotencyKey.Update().
		Where(idempotencykey.ID(c.id), idempotencykey.Attempt(c.attempt), idempotencykey.RecordID(0)).
		SetRecordID(id).Save(ctx)
	if err != nil {
		return fmt.Errorf("idempotency key: %w", err)
	}
	if n == 0 {
		return ErrInUse
	}
	return nil
}

// StoreReply stores the reply, unless one is stored already. It ignores a reply that is too large: a repeated
// request gets a reply that is built from the record.
func (c *Claim) StoreReply(ctx context.Context, a Reply) error {
	if len(a.Body) > maxBody {
		return nil
	}
	return run(ctx, func() error {
		return c.db.IdempotencyKey.Update().
			Where(idempotencykey.ID(c.id), idempotencykey.Attempt(c.attempt), idempotencykey.Status(0)).
			SetStatus(a.Status).SetHeader(a.Header).SetBody(a.Body).Exec(ctx)
	})
}

// Release deletes the key of a request that created nothing. The key of a created record stays.
func (c *Claim) Release(ctx context.Context) error {
	return run(ctx, func() error {
		_, err := c.db.IdempotencyKey.Delete().
			Where(idempotencykey.ID(c.id), idempotencykey.Attempt(c.attempt), idempotencykey.RecordID(0)).Exec(ctx)
		return err
	})
}

// run runs one statement and retries it after a conflict. Requests that wait for a released key can deadlock.
func run(ctx context.Context, do func() error) error {
	err := store.Retry(ctx, do)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrConflict):
		return &calendar.Error{Code: "rest_unavailable", Key: "rest_unavailable", Err: err}
	}
	return fmt.Errorf("idempotency key: %w", err)
}

// batch is the number of rows that one statement deletes.
const batch = 500

// DeleteExpired deletes expired keys in batches and returns their number. Several processes may call it
// concurrently.
func (k *Keys) DeleteExpired(ctx context.Context, now time.Time) (int, error) {
	total := 0
	for {
		// The statement deletes by id, so that inserts do not wait for a lock at the end of the index.
		ids, err := k.db.IdempotencyKey.Query().Where(idempotencykey.ExpiresAtLTE(now)).
			Order(ent.Asc(idempotencykey.FieldExpiresAt)).Limit(batch).IDs(ctx)
		if err != nil || len(ids) == 0 {
			return total, err
		}
		n := 0
		err = run(ctx, func() (err error) {
			n, err = k.db.IdempotencyKey.Delete().
				Where(idempotencykey.IDIn(ids...), idempotencykey.ExpiresAtLTE(now)).Exec(ctx)
			return err
		})
		total += n
		if err != nil || len(ids) < batch {
			return total, err
		}
	}
}
