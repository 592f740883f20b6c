package reply

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/query"
)

// Caching configures the cache of finished replies to anonymous reads. Each cached reply belongs to a revision of
// the calendar. The cache also serves it at later revisions, until something that the reply depends on changes.
// Without a Delay, a request sees every change that was committed before it.
type Caching struct {
	// Size is the capacity of the cache in bytes. 0 disables the cache.
	Size int64
	// Delay is how long this process may overlook a change by another process, which saves reads of the revision.
	// 0 means no delay. This process notices its own changes immediately.
	Delay time.Duration
	// Revision returns the newest revision of the database that replies are made from.
	Revision func(context.Context) (int64, error)
	// ServerChanges returns a number that changes when reads switch to another database server. Nil means that
	// there is one server.
	ServerChanges query.ServerChanges
	// NextDue returns when the next scheduled record will be published. That changes replies without a write. The
	// zero time means that no record is scheduled.
	NextDue func(ctx context.Context, now time.Time) (time.Time, error)
}

// replyShare and maxReplySize limit a cached reply: to 1/replyShare of the cache, and to maxReplySize bytes.
const (
	replyShare   = 16
	maxReplySize = 4 << 20
)

// Cache has finished replies, and the replies that requests are making at the moment. It is safe for concurrent
// use.
type Cache struct {
	Caching
	Revisions Revisions
	replies   *otter.Cache[string, *Cached]
	schedule  publicationSchedule

	mu     sync.Mutex
	shared map[Key]*Shared
}

// NewCache returns a cache of finished replies, or nil if c.Size is 0. The timeout limits one read of the
// revision.
func NewCache(c Caching, timeout time.Duration) (*Cache, error) {
	if c.Size <= 0 {
		return nil, nil
	}
	replies, err := otter.New(&otter.Options[string, *Cached]{
		MaximumWeight: uint64(c.Size),
		Weigher: func(key string, r *Cached) uint32 {
			return uint32(min(len(key)+r.size(), math.MaxUint32)) //nolint:gosec // it is neither less nor more
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return &Cache{
		Caching: c, replies: replies, shared: map[Key]*Shared{}, schedule: publicationSchedule{scheduledReplies: make(chan struct{}, 1)},
		Revisions: Revisions{read: c.Revision, serverChanges: c.ServerChanges, timeout: timeout, delay: c.Delay},
	}, nil
}

// Cached is a finished reply, with the data needed to decide whether it may be sent again.
type Cached struct {
	// revision is the revision of the calendar when the reply was made.
	revision int64
	// until is when the reply expires at any revision. Zero means never.
	until     time.Time
	unchanged Unchanged
	// proof is the newest known proof that the reply is right.
	proof atomic.Pointer[proof]

	Tag      string
	Route    string
	Language calendar.Language
	Header   [][2]string // headers of this reply, without those that every reply has
	Body     []byte
	gzip, br compressedBody
}

// proof states how long a cached reply is known to be right: up to which revision of the calendar, and until when.
type proof struct {
	revision int64
	// until is when the reply expires. Zero means never.
	until time.Time
}

// size returns roughly how many bytes of memory a cached reply takes. Compression shrinks typical bodies to a
// fifth.
func (r *Cached) size() int {
	n := 1400 + len(r.Body) + 2*len(r.Body)/5
	for _, h := range r.Header {
		n += len(h[0]) + len(h[1]) + 32
	}
	return n
}

// Until returns when the reply expires, as far as is known. Zero means never.
func (r *Cached) Until() time.Time { return r.proof.Load().until }

// Compressed returns the body in a coding. It returns nil if the body should be sent uncompressed.
func (r *Cached) Compressed(in Coding) []byte {
	if in == Brotli {
		return r.br.bytes(r.Body, in)
	}
	return r.gzip.bytes(r.Body, in)
}

// IsRight reports whether a cached reply is known to be right at the given revision and time, so that it can be
// sent. A nil reply is not right.
func (r *Cached) IsRight(revision int64, now time.Time) bool {
	if r == nil {
		return false
	}
	v := r.proof.Load()
	return v.revision >= revision && (v.until.IsZero() || now.Before(v.until))
}

// Check is called for a cached reply that is older than the given revision. It checks whether changes since then
// affect the reply. If they do not, same is true, the reply is right at the revision, and until is its new expiry;
// zero means never. Check takes at most checkTime, and then returns false.
func (c *Cache) Check(
	ctx context.Context, r *Cached, revision int64, now time.Time,
) (same bool, until time.Time, err error) {
	if r == nil || r.unchanged == nil {
		return false, time.Time{}, nil
	}
	v := r.proof.Load()
	if v.revision >= revision || !v.until.IsZero() && !now.Before(v.until) {
		return false, time.Time{}, nil // the reply has expired
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	if same, err = r.unchanged(ctx, r.revision, revision, now); same && err == nil {
		until, err = c.validUntil(ctx, r.until, revision, now)
	}
	switch {
	case ctx.Err() != nil:
		return false, time.Time{}, nil // making a new reply may take longer than checkTime
	case !same || err != nil:
		return false, time.Time{}, err
	}
	r.proof.CompareAndSwap(v, &proof{revision, until})
	return true, until, nil
}

// Get returns the cached reply of a key, or nil if there is none. The caller must check with IsRight whether it may
// be sent.
func (c *Cache) Get(key Key) *Cached {
	r, _ := c.replies.GetIfPresent(key.Reply)
	return r
}

// Keep adds a reply to the cache, if the reply is not too large, and reports whether it did. The caller calls
// Prove first.
func (c *Cache) Keep(key Key, r *Cached) bool {
	if int64(len(r.Body)) > min(c.Size/replyShare, maxReplySize) {
		return false
	}
	c.replies.Set(key.Reply, r)
	return true
}

// Stats returns the approximate size in bytes and the number of cached replies.
func (c *Cache) Stats() (size uint64, replies int) {
	return c.replies.WeightedSize(), c.replies.EstimatedSize()
}

// Clear drops all replies.
func (c *Cache) Clear() { c.replies.InvalidateAll() }

// Prove prepares a new reply for Keep. It records the revision and the time at which the reply is right. The
// parameter until is when it expires without a write; zero means never. The function unchanged checks the reply at
// later revisions.
func (c *Cache) Prove(ctx context.Context, r *Cached, revision int64, now, until time.Time, unchanged Unchanged) error {
	r.revision, r.until, r.unchanged = revision, until, unchanged
	until, err := c.validUntil(ctx, until, revision, now)
	if err != nil {
		return err
	}
	r.proof.Store(&proof{revision, until})
	return nil
}

// validUntil returns the expiry of a reply: the earlier of until and the time when the next scheduled record is
// published.
func (c *Cache) validUntil(ctx context.Context, until time.Time, revision int64, now time.Time) (time.Time, error) {
	due, err := c.schedule.next(ctx, c.NextDue, revision, now)
	if err != nil {
		return time.Time{}, fmt.Errorf("scheduled records: %w", err)
	}
	if !due.IsZero() && (until.IsZero() || due.Before(until)) {
		return due, nil
	}
	return until, nil
}

// Key identifies a reply. Concurrent requests with the same key share it.
type Key struct {
	Reply    string // key of the reply in the cache
	Revision int64
}

// Shared is a reply that one request makes while others wait for it. Package x/sync/singleflight does not fit: the
// work needs the goroutine of its request, and each waiter has its own deadline.
type Shared struct {
	// Done is closed when the reply is finished.
	Done chan struct{}
	// Reply is the finished reply. Nil means that it may not be cached.
	Reply *Cached
}

// Join returns the shared reply of a key. leads is true for the first request, which makes the reply and then
// calls Finish.
func (c *Cache) Join(key Key) (r *Shared, leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.shared[key]; r != nil {
		return r, false
	}
	r = &Shared{Done: make(chan struct{})}
	c.shared[key] = r
	return r, true
}

// Finish removes a shared reply and releases the requests that wait for it. The request that leads must call it,
// even after an error.
func (c *Cache) Finish(key Key, r *Shared) {
	c.mu.Lock()
	delete(c.shared, key)
	c.mu.Unlock()
	close(r.Done)
}
