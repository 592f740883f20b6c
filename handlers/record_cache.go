package handlers

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/query"
)

// RecordCache caches encoded records, as lists show them to callers with the same rights. A cached record is used
// until the index knows a newer change of what it shows. It is safe for concurrent use.
type RecordCache struct {
	records    *otter.Cache[recordKey, *cachedRecord]
	hits, made atomic.Int64
}

// recordKey identifies an encoded record. Its bytes also depend on its rows, the time and the settings of the
// process.
type recordKey struct {
	kind  calendar.Kind
	id    int64
	media string // media type of the codec
	lang  calendar.Language
	root  Root
	scope string
}

// cachedRecord is a record encoded in one format.
type cachedRecord struct {
	changed int64 // query.Page.Changed of the record when its rows were read, or before
	// The bytes are right from from until before until, in seconds since 1970.
	from, until int64
	body        []byte
}

// size returns roughly how many bytes of memory a record and its key take.
func (r *cachedRecord) size() int { return 300 + len(r.body) }

// valid reports whether the bytes are right for a record that last changed at a revision. A nil record is not
// valid.
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
	return &RecordCache{records: records}, nil
}

// Stats returns the approximate size in bytes and the number of cached records. hits counts records that lists
// took from the cache, made those that were encoded.
func (c *RecordCache) Stats() (size, records, hits, made int64) {
	if c == nil {
		return 0, 0, 0, 0
	}
	return int64(c.records.WeightedSize()), int64(c.records.EstimatedSize()), c.hits.Load(), c.made.Load() //nolint:gosec // less than memory
}

// count adds to the counters of Stats. A nil cache counts nothing.
func (c *RecordCache) count(hits, made int) {
	if c != nil {
		c.hits.Add(int64(hits))
		c.made.Add(int64(made))
	}
}

// recordRenderer states how records of one kind are loaded and encoded.
type recordRenderer[R ent.Row] struct {
	kind calendar.Kind
	read func(ids []int64) ([]R, error) // loads rows with all that their representations show, in any order
	// value returns the representation of a row. shared is true if the representation depends only on recordKey
	// and the row.
	value func(row R) (value any, shared bool)
	// parts returns the records that the representation shows, including the row itself. Scheduled ones limit how
	// long it is right.
	parts func(row R) []ent.Core
	until time.Time // when representations may change without a write; zero means never
}

// renderRecords returns the records of a page, encoded by the codec of the endpoint. It leaves out records that
// were deleted meanwhile.
func renderRecords[R ent.Row](r *request, page query.Page, list recordRenderer[R]) ([][]byte, error) {
	cache := r.h.RecordCache
	if page.Changed == nil {
		cache = nil // without Changed, the age of cached records is unknown
	}
	key := recordKey{kind: list.kind, media: r.codec.mediaType, lang: r.lang, root: r.root, scope: auth.ReadScope(r.caller)}
	bodies := make([][]byte, len(page.IDs))
	missing := make(map[int64]int) // position on the page, by record id
	var ids []int64
	for i, id := range page.IDs {
		if cache != nil {
			key.id = id
			if is, _ := cache.records.GetIfPresent(key); is.valid(page.Changed[i], r.now) {
				bodies[i] = is.body
				continue
			}
		}
		missing[id] = i
		ids = append(ids, id)
	}
	latest := int64(math.MaxInt64)
	if !list.until.IsZero() {
		latest = list.until.Unix()
	}
	if ids == nil {
		cache.count(len(bodies), 0)
		return bodies, nil
	}
	if r.h.Moves.Number() != r.moves {
		cache = nil // the rows may be older than the index says
	}
	made := 0
	// Rows are loaded in batches, so that few of them are in memory at the same time.
	for some := range slices.Chunk(ids, ent.MaxRead) {
		rows, err := list.read(some)
		if err != nil {
			return nil, err
		}
		made += len(rows)
		if err := list.encode(r, rows, func(row R, body []byte, shared bool) {
			key.id = row.Core().ID
			i := missing[key.id]
			bodies[i] = body
			if cache != nil && shared && r.h.Moves.Number() == r.moves {
				cache.records.Set(key, &cachedRecord{
					changed: page.Changed[i], from: r.now.Unix(), until: min(latest, nextPublication(r.now, list.parts(row))), body: body,
				})
			}
		}); err != nil {
			return nil, err
		}
	}
	cache.count(len(bodies)-len(ids), made)
	return slices.DeleteFunc(bodies, func(body []byte) bool { return body == nil }), nil
}

// encode encodes rows and calls each with the bytes of each row.
func (l *recordRenderer[R]) encode(r *request, rows []R, each func(row R, body []byte, shared bool)) error {
	for _, row := range rows {
		value, shared := l.value(row)
		body, err := r.codec.encode(value, "")
		if err != nil {
			return err
		}
		each(row, body, shared)
	}
	return nil
}

// nextPublication returns when the first scheduled record of parts will be published, in seconds since 1970. It
// returns math.MaxInt64 if none is scheduled.
func nextPublication(now time.Time, parts []ent.Core) int64 {
	until := int64(math.MaxInt64)
	for _, c := range parts {
		if c.Status == calendar.Future && c.PublishedAt.After(now) {
			until = min(until, c.PublishedAt.Unix())
		}
	}
	return until
}
