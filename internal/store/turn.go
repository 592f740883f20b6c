package store

import (
	"context"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
)

// writerQueue lets the writers of one process write to an SQLite database in the order of their arrival. SQLite
// itself has no queue: writers poll for its lock, so a frequent writer could block others.
type writerQueue struct{ turn *semaphore.Weighted }

func newWriterQueue() writerQueue { return writerQueue{semaphore.NewWeighted(1)} }

// enter waits for the earlier writers, at most for limit. It returns the rest of that time, which is for writers of
// other processes. The caller must call leave after its transaction or statement. If the time or ctx has ended, the
// rest is 0, and the next statement fails.
func (q writerQueue) enter(ctx context.Context, limit time.Duration) (rest time.Duration, leave func()) {
	if q.turn.TryAcquire(1) {
		return limit, func() { q.turn.Release(1) }
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if q.turn.Acquire(limited, 1) != nil {
		return 0, func() {}
	}
	return max(0, limit-time.Since(began)), func() { q.turn.Release(1) }
}

// enterQueue waits for earlier writers of this process (see writerQueue.enter) if the statement writes outside a
// transaction. It returns the time for which the statement may wait for locks, and the function to call after it.
func (k *cachingConn) enterQueue(ctx context.Context, query string) (rest time.Duration, leave func()) {
	most := k.waitFor(query)
	if most == 0 || k.inTx || k.begun || isReadOnly(query) || hasVerb(query, "BEGIN") {
		return most, func() {}
	}
	return k.queue.enter(ctx, most)
}

// noteTransaction records whether a statement such as BEGIN or COMMIT began or ended a transaction without BeginTx.
func (k *cachingConn) noteTransaction(query string) {
	if !k.inTx && k.waitFor(query) > 0 {
		k.begun = hasVerb(query, "BEGIN") || k.begun && !hasVerb(query, "COMMIT", "END", "ROLLBACK")
	}
}

// hasVerb reports whether a statement begins with one of the verbs, in any case. It ignores white space and parentheses
// before it. The verbs are in upper case.
func hasVerb(query string, verbs ...string) bool {
	query = strings.TrimLeft(query, " \t\r\n(")
	for _, verb := range verbs {
		if len(query) >= len(verb) && strings.EqualFold(query[:len(verb)], verb) {
			return true
		}
	}
	return false
}
