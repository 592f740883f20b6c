package idempotency

import (
	"context"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/idempotencykey"
	"github.com/almanac-cal/almanac/ent/predicate"
)

const (
	// beatEvery is the time between two heartbeats. A request that is faster writes none.
	beatEvery = time.Second
	// abandonedAfter is the age of the last heartbeat at which a claim is abandoned. Three heartbeats may be lost.
	abandonedAfter = 4 * time.Second
	// beatTimeout bounds one statement of a heartbeat.
	beatTimeout = 3 * time.Second
	// maxRenewed is the number of claims in one statement. SQLite limits the depth of a condition.
	maxRenewed = 200
)

// start returns a new claim that has no row in the database yet. It starts the heartbeats if none run. From now until
// end, the claim notices if this process is stopped for too long.
func (k *Keys) start() *Claim {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := &Claim{keys: k, alive: k.now()}
	k.open[c] = struct{}{}
	if !k.beating {
		k.beating = true
		time.AfterFunc(beatEvery, k.beat)
	}
	return c
}

// setRow sets the database row and attempt of a claim. Heartbeats renew the row from now until end.
func (c *Claim) setRow(id int64, attempt int) {
	c.keys.mu.Lock()
	defer c.keys.mu.Unlock()
	c.id, c.attempt, c.since = id, attempt, c.keys.now()
}

// end removes a claim from the open ones. Without open claims, the next heartbeat is the last.
func (k *Keys) end(c *Claim) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.open, c)
}

// hasOpen reports whether the claim of a row is open in this process. Its request is then still running, even if the
// row's heartbeat is old: on SQLite, a long transaction prevents heartbeats from being written.
func (k *Keys) hasOpen(id int64, attempt int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.open {
		if c.id == id && c.attempt == attempt {
			return true
		}
	}
	return false
}

// beat records that this process is running, and renews its open claims in the database. The next beat does not wait
// for this write, because a slow database does not mean that the process was stopped.
func (k *Keys) beat() {
	due := k.observe()
	if len(due) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), beatTimeout)
	defer cancel()
	// A heartbeat that fails is ignored, because the next one follows in a second.
	_ = k.renew(ctx, due)
	k.mu.Lock()
	k.renewing = false
	k.mu.Unlock()
}

// observe records that this process is running, and returns the claims to renew. The caller must renew them, and then
// clear k.renewing. The result is nil while an earlier heartbeat still waits for the database.
func (k *Keys) observe() (due []*Claim) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.beating = len(k.open) > 0; !k.beating {
		return nil
	}
	time.AfterFunc(beatEvery, k.beat)
	now := k.now()
	for c := range k.open {
		c.see(now)
		if !k.renewing && !c.lost && !c.writing && c.id != 0 && now.Sub(c.since) >= beatEvery {
			due = append(due, c)
		}
	}
	k.renewing = k.renewing || len(due) > 0
	return due
}

// renew writes the current heartbeat time to the rows of claims. It skips claims that another request has taken over.
// The time is that of the database's clock.
func (k *Keys) renew(ctx context.Context, due []*Claim) error {
	for part := range slices.Chunk(due, maxRenewed) {
		var claims []predicate.IdempotencyKey
		for _, c := range part {
			claims = append(claims, idempotencykey.And(idempotencykey.ID(c.id), idempotencykey.BeatAttempt(c.attempt)))
		}
		err := run(ctx, func() error {
			return k.db.IdempotencyKey.Update().Where(idempotencykey.Or(claims...)).Modify(k.setBeat).Exec(ctx)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (k *Keys) setBeat(u *sql.UpdateBuilder) { u.Set(idempotencykey.FieldBeat, k.clock) }

// takeoverConditions returns predicates that select the row only while its claim may be taken over. Only the clock of
// the database measures heartbeats, because the clocks of processes differ. A heartbeat in the future means that this
// clock was set back. A claim without heartbeats was written by an earlier version of the program.
func (k *Keys) takeoverConditions(row *ent.IdempotencyKey, now time.Time) []predicate.IdempotencyKey {
	claim := []predicate.IdempotencyKey{
		idempotencykey.ID(row.ID), idempotencykey.Attempt(row.Attempt), idempotencykey.RecordID(row.RecordID),
		idempotencykey.BeatAttempt(row.BeatAttempt),
	}
	switch {
	case row.RecordID != 0 || row.Status != 0: // the work is done, and the key has expired
		return claim
	case row.BeatAttempt != row.Attempt:
		return append(claim, idempotencykey.LeaseUntilLTE(now))
	}
	return append(claim, func(s *sql.Selector) {
		limit := abandonedAfter.Milliseconds()
		s.Where(sql.P(func(b *sql.Builder) {
			b.WriteString("ABS(").Join(k.clock).WriteString(" - ").Ident(s.C(idempotencykey.FieldBeat)).WriteString(") >= ").Arg(limit)
		}))
	})
}

// see records that the process is running at now. If the previous call is too long ago, it marks the claim as
// lost. The caller must hold the mutex of the keys.
func (c *Claim) see(now time.Time) {
	c.lost = c.lost || now.Sub(c.alive) >= abandonedAfter
	c.alive = now
}

// isLost reports whether this process was stopped for so long that another one may have taken over the key. It
// measures this with the clock of this process.
func (c *Claim) isLost() bool {
	c.keys.mu.Lock()
	defer c.keys.mu.Unlock()
	c.see(c.keys.now())
	return c.lost
}

func (c *Claim) setWriting(writing bool) {
	c.keys.mu.Lock()
	defer c.keys.mu.Unlock()
	c.writing = writing
}
