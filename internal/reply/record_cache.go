package reply

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/almanac-cal/almanac/calendar"
)

// RecordCache caches encoded records for lists. Callers with the same rights share a cached record. It is used
// until the index knows of a newer change of the data that it shows. Requests that need the same record at the same
// time read it once. RecordCache is safe for concurrent use.
type RecordCache struct {
	records    *otter.Cache[recordKey, *cachedRecord]
	hits, made atomic.Int64

	mu     sync.Mutex
	shared map[claimKey]*sharedRecord
}

// claimKey identifies a record that one request reads on behalf of others. Requests with and without a password
// never share a read, because a password may reveal more of the record.
type claimKey struct {
	recordKey
	password bool
}

// sharedRecord is a record that one request reads while others wait for it.
type sharedRecord struct {
	changed int64         // query.Page.Changed of the record
	done    chan struct{} // closed when the request has read the record or failed
	record  *cachedRecord // nil means that waiting requests must read the record themselves
	failed  bool          // true if the request did not read the record
}

// join returns the shared record of a key, so that only one request reads it. The result leads is true for the
// first request. That request must read the record and then call finish. Later requests wait for the shared record.
// If another request is reading the record as of a different change, join returns nil, and the caller reads the
// record alone. The caller holds c.mu.
func (c *RecordCache) join(key claimKey, changed int64) (s *sharedRecord, leads bool) {
	if s := c.shared[key]; s != nil {
		if s.changed != changed {
			return nil, false
		}
		return s, false
	}
	s = &sharedRecord{changed: changed, done: make(chan struct{}), failed: true}
	c.shared[key] = s
	return s, true
}

// finish ends the read of a shared record. It releases the requests that wait for it, whether the read succeeded or
// not.
func (c *RecordCache) finish(key claimKey, s *sharedRecord) {
	c.mu.Lock()
	delete(c.shared, key)
	c.mu.Unlock()
	close(s.done)
}

// recordKey is the key of an encoded record in the cache. Records with the same key can still differ by the stored
// data, the time and the settings of the process.
type recordKey struct {
	kind  calendar.Kind
	id    int64
	media string // media type of the codec
	lang  calendar.Language
	base  string // Rendering.Base
	scope string // Rendering.Scope
}

// cachedRecord is a record encoded in one format.
type cachedRecord struct {
	changed int64 // query.Page.Changed of the record when its rows were read, or before
	// The bytes are right from from until before until, in seconds since 1970.
	from, until int64
	body        []byte
	redacted    bool // true if requests with a password must not use the bytes
}

// Audience states which other requests may use the encoded bytes of a record.
type Audience int

// OnlyReader, NoPassword and SameScope are the values of Audience.
const (
	OnlyReader Audience = iota // the request that read the record
	NoPassword                 // requests with the same recordKey and without a password
	SameScope                  // requests with the same recordKey
)

// size returns roughly how many bytes of memory a record and its key take.
func (r *cachedRecord) size() int { return 300 + len(r.body) }

// valid reports whether the cached bytes can be used at the time now. The parameter changed is the revision at
// which the record last changed. A nil record is not valid.
func (r *cachedRecord) valid(changed int64, now time.Time) bool {
	return r != nil && r.changed == changed && r.from <= now.Unix() && now.Unix() < r.until
}

// NewRecordCache returns a cache of at most size bytes. 0 returns nil, which caches nothing.
func NewRecordCache(size int64) (*RecordCache, error) {
	if size <= 0 {
		return nil, nil
	}
	records, err := otter.New(&otter.Options[recordKey, *cachedRecord]{
		MaximumWeight: uint64(size),
		Weigher: func(_ recordKey, r *cachedRecord) uint32 {
			return uint32(min(r.size(), math.MaxUint32)) //nolint:gosec // it is neither less nor more
		},
	})
	if err != nil {
		return nil, fmt.Errorf("rendered records: %w", err)
	}
	return &RecordCache{records: records, shared: map[claimKey]*sharedRecord{}}, nil
}

// Clear drops all records.
func (c *RecordCache) Clear() {
	if c != nil {
		c.records.InvalidateAll()
	}
}

// Stats returns counters for metrics: the approximate size in bytes and the number of cached records. The number
// hits counts records that lists took from the cache, and made counts records that were encoded.
func (c *RecordCache) Stats() (size, records, hits, made int64) {
	if c == nil {
		return 0, 0, 0, 0
	}
	return int64(c.records.WeightedSize()), int64(c.records.EstimatedSize()), c.hits.Load(), c.made.Load() //nolint:gosec // less than memory
}

// count adds to the counters hits and made that Stats returns. On a nil cache it does nothing.
func (c *RecordCache) count(hits, made int) {
	if c != nil {
		c.hits.Add(int64(hits))
		c.made.Add(int64(made))
	}
}
