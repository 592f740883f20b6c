// Package idempotency ensures that a request with an Idempotency-Key takes effect once, however often the
// client sends it (draft-ietf-httpapi-idempotency-key-header).
//
// A row for the key is written before the work begins. The transaction of the work writes the id of the created
// record into that row, and fails if another request has taken over the key. Both are committed together, so a
// process may be killed at any moment. The reply is stored last. All processes that use one database share the
// keys. While the work lasts, the process renews its claim in the row: see heartbeat.go.
package idempotency

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"entgo.io/ent/dialect/sql"

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

// Keys are the idempotency keys in a database, and the open claims of this process.
type Keys struct {
	db    *ent.Client
	clock sql.Querier // time by the clock of the database
	now   func() time.Time

	mu       sync.Mutex
	open     map[*Claim]struct{} // claims of requests in progress
	beating  bool                // true if a next heartbeat is scheduled
	renewing bool                // true while a heartbeat waits for the database
}

// New returns Keys that claim idempotency keys in the given database. It does not query the database yet.
func New(st *store.Store) *Keys {
	return &Keys{db: st.Ent, clock: sql.Raw(st.Clock()), now: time.Now, open: map[*Claim]struct{}{}}
}

// Claim is the right to carry out a request with an idempotency key. The caller of Begin has three cases:
//
//   - Reply is set: the caller sends it, unless the role of its user has changed.
//   - AlreadyWritten is set: the request was carried out before. The caller builds the reply from that record.
//   - Otherwise the caller carries out the request. It calls OnWritten in its transaction, then StoreReply or Release.
type Claim struct {
	Reply          *Reply
	AlreadyWritten int64 // id of the record that the request created; 0 means none

	keys *Keys

	// The mutex of keys guards the fields from id to writing.
	id      int64 // 0 means that the row is not claimed yet
	attempt int
	since   time.Time // when the row was claimed
	alive   time.Time // last time at which this process was seen running
	lost    bool      // true if the process was stopped for so long that the claim counts as abandoned
	writing bool      // true while a transaction has locked the row
}

// Begin claims the key of a request. While this process runs and the request is in progress, no other request gets
// the key. Programs without a heartbeat respect the claim until now + lease. Errors are ErrInUse, ErrReused,
// *calendar.Error rest_unavailable after repeated conflicts, and those of the database.
func (k *Keys) Begin(ctx context.Context, r Request, now time.Time, lease time.Duration) (_ *Claim, err error) {
	c := k.start()
	defer func() {
		if err != nil || c.AlreadyWritten != 0 || c.Reply != nil {
			k.end(c)
		}
	}()
	// The row may disappear between two statements, if the other request releases it. A few attempts suffice.
	for range 3 {
		var id int64
		err := run(ctx, func() (err error) { id, err = k.insert(ctx, r, now, lease); return err })
		if err == nil {
			c.setRow(id, firstAttempt)
			return c, nil
		}
		if !store.IsDuplicate(err) {
			return nil, err
		}
		row, err := k.db.IdempotencyKey.Query().Where(idempotencykey.Hash(r.hash())).Only(ctx)
		if err == nil {
			return c, k.claimExisting(ctx, c, r, row, now, lease)
		}
		if !ent.IsNotFound(err) {
			return nil, fmt.Errorf("idempotency key: %w", err)
		}
	}
	return nil, ErrInUse
}

// firstAttempt is the attempt of a request that writes the row of its key.
const firstAttempt = 1

// insert writes the row of a new key and returns its id. Ent's builder of inserts takes no expression, such as the
// time by the clock of the database.
func (k *Keys) insert(ctx context.Context, r Request, now time.Time, lease time.Duration) (int64, error) {
	statement, args := sql.Insert(idempotencykey.Table).
		Columns(
			idempotencykey.FieldHash, idempotencykey.FieldUserID, idempotencykey.FieldFingerprint, idempotencykey.FieldAttempt,
			idempotencykey.FieldLeaseUntil, idempotencykey.FieldExpiresAt, idempotencykey.FieldBeat, idempotencykey.FieldBeatAttempt,
			idempotencykey.FieldRecordID, idempotencykey.FieldStatus,
		).
		Values(
			r.hash(), r.User, r.Fingerprint[:], firstAttempt, now.Add(lease), now.Add(Lifetime), k.clock, firstAttempt, 0, 0,
		).Query()
	res, err := k.db.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// claimExisting decides about a request whose key has a row already. It completes the claim c with the stored reply
// or record, or takes over an abandoned row. Errors are those of Begin.
func (k *Keys) claimExisting(
	ctx context.Context, c *Claim, r Request, row *ent.IdempotencyKey, now time.Time, lease time.Duration,
) error {
	switch expired := !row.ExpiresAt.After(now); {
	case !expired && [sha256.Size]byte(row.Fingerprint) != r.Fingerprint:
		return ErrReused
	case !expired && (row.RecordID != 0 || row.Status != 0):
		c.setRow(row.ID, row.Attempt)
		c.AlreadyWritten = row.RecordID
		if row.Status != 0 {
			c.Reply = &Reply{row.Status, row.Header, row.Body}
		}
		return nil
	case k.hasOpen(row.ID, row.Attempt):
		return ErrInUse
	}
	// The row is read before it is written: most claims in use are alive, and a write waits for other writers.
	free := k.takeoverConditions(row, now)
	switch there, err := k.db.IdempotencyKey.Query().Where(free...).Exist(ctx); {
	case err != nil:
		return fmt.Errorf("idempotency key: %w", err)
	case !there:
		return ErrInUse
	}
	// Only one of several concurrent requests takes the claim over. None does if the first request has just finished,
	// or has just renewed its claim.
	taken := k.db.IdempotencyKey.Update().Where(free...).
		SetFingerprint(r.Fingerprint[:]).SetAttempt(row.Attempt + 1).SetLeaseUntil(now.Add(lease)).
		SetBeatAttempt(row.Attempt + 1).SetRecordID(0).SetStatus(0).ClearHeader().ClearBody()
	if !row.ExpiresAt.After(now) {
		taken.SetExpiresAt(now.Add(Lifetime))
	}
	n := 0
	err := run(ctx, func() (err error) { n, err = taken.Modify(k.setBeat).Save(ctx); return err })
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrInUse
	}
	c.setRow(row.ID, row.Attempt+1)
	return nil
}

// OnWritten stores the id of the created record, in the transaction that created it. OnWritten or the commit returns ErrInUse
// if another request has taken over the key. They also return it if this process was stopped for so long that
// another request may have the key. The caller must then roll back.
func (c *Claim) OnWritten(ctx context.Context, tx *ent.Tx, id int64) error {
	// From here to the end of the transaction the row is locked, so a heartbeat would wait for it.
	c.setWriting(true)
	tx.OnRollback(func(next ent.Rollbacker) ent.Rollbacker {
		return ent.RollbackFunc(func(ctx context.Context, tx *ent.Tx) error {
			c.setWriting(false)
			return next.Rollback(ctx, tx)
		})
	})
	tx.OnCommit(func(next ent.Committer) ent.Committer {
		return ent.CommitFunc(func(ctx context.Context, tx *ent.Tx) error {
			if c.isLost() {
				return ErrInUse
			}
			return next.Commit(ctx, tx)
		})
	})
	n, err := tx.IdempotencyKey.Update().
		Where(idempotencykey.ID(c.id), idempotencykey.Attempt(c.attempt), idempotencykey.RecordID(0)).
		SetRecordID(id).Save(ctx)
	if err != nil {
		return fmt.Errorf("idempotency key: %w", err)
	}
	if n == 0 || c.isLost() {
		return ErrInUse
	}
	return nil
}

// StoreReply stores the reply, unless one is stored already. It ignores a reply that is too large: a repeated
// request gets a reply that is built from the record.
func (c *Claim) StoreReply(ctx context.Context, a Reply) error {
	defer c.keys.end(c)
	if len(a.Body) > maxBody {
		return nil
	}
	return run(ctx, func() error {
		return c.keys.db.IdempotencyKey.Update().
			Where(idempotencykey.ID(c.id), idempotencykey.Attempt(c.attempt), idempotencykey.Status(0)).
			SetStatus(a.Status).SetHeader(a.Header).SetBody(a.Body).Exec(ctx)
	})
}

// Release deletes the key of a request that created nothing. The key of a created record stays.
func (c *Claim) Release(ctx context.Context) error {
	defer c.keys.end(c)
	return run(ctx, func() error {
		_, err := c.keys.db.IdempotencyKey.Delete().
			Where(idempotencykey.ID(c.id), idempotencykey.Attempt(c.attempt), idempotencykey.RecordID(0)).Exec(ctx)
		return err
	})
}

// run calls do, which runs one statement, and retries it after a conflict. Requests that wait for a released
// key can deadlock.
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
