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

// RecordCache holds records in the bytes of a format, as lists show them to some callers. A record is used as long as the
// index knows of no newer change of what it shows. It is for concurrent use.
type RecordCache struct {
	records    *otter.Cache[recordKey, *cachedRecord]
	hits, made atomic.Int64
}

// recordKey identifies the bytes of a record: they also depend on its rows, the time and the settings of the process.
type recordKey struct {
	kind  calendar.Kind
	id    int64
	media string // the media type of the codec
	lang  calendar.Language
	root  Root
	scope string
}

// cachedRecord is a record in the bytes of a format.
type cachedRecord struct {
	changed     int64 // query.Page.Changed when its rows were read, or before
	from, until int64 // period in which the bytes are right, in seconds since 1970; until is exclusive
	body        []byte
}

// size returns about how many bytes a record takes with its key.
func (r *cachedRecord) size() int { return 300 + len(r.body) }

// valid reports whether the bytes are those of a record that last changed at a revision. A nil record is not valid.
func (r *cachedRecord) valid(changed int64, now time.Time) bool {
	return r != nil && r.changed == changed && r.from <= now.Unix() && now.Unix() < r.until
}

// NewRecordCache returns a cache of up to a number of bytes, nil for none.
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

// Stats returns how many bytes and records there are, about, and how many records lists have taken from the cache and
// have rendered.
func (c *RecordCache) Stats() (size, records, hits, made int64) {
	if c == nil {
		return 0, 0, 0, 0
	}
	return int64(c.records.WeightedSize()), int64(c.records.EstimatedSize()), c.hits.Load(), c.made.Load() //nolint:gosec // less than memory
}

// count counts the records of a list. A nil cache counts nothing.
func (c *RecordCache) count(hits, made int) {
	if c != nil {
		c.hits.Add(int64(hits))
		c.made.Add(int64(made))
	}
}

// recordRenderer is how a kind of records becomes bytes.
type recordRenderer[R ent.Row] struct {
	kind calendar.Kind
	read func(ids []int64) ([]R, error) // rows with all that their representations need, in any order
	// value returns the representation. shared says that it depends on nothing but the key of RecordCache.
	value func(row R) (value any, shared bool)
	// parts returns the records that the representation shows, including the row itself. Their dates limit its
	// validity.
	parts func(row R) []ent.Core
	until time.Time // when the representation may be another one anyhow; zero means never
}

// moves returns the number of Config.Moves.
func (h *Handlers) moves() int64 {
	if h.Moves == nil {
		return 0
	}
	return h.Moves()
}

// renderRecords returns the records of a page in the bytes of the endpoint's codec. It leaves out those that are gone meanwhile.
func renderRecords[R ent.Row](r *request, page query.Page, list recordRenderer[R]) ([][]byte, error) {
	cache := r.h.RecordCache
	if page.Changed == nil {
		cache = nil // the age of the records is unknown
	}
	key := recordKey{kind: list.kind, media: r.codec.mediaType, lang: r.lang, root: r.root, scope: auth.ReadScope(r.caller)}
	bodies := make([][]byte, len(page.IDs))
	missing := make(map[int64]int) // by id: the place on the page
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
	if r.h.moves() != r.moves {
		cache = nil // the rows may be older than the index says
	}
	made := 0
	// No more rows are in memory at a time than one call reads.
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
			if cache != nil && shared && r.h.moves() == r.moves {
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

// encode calls each with the bytes of each row.
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

// nextPublication returns when the first of some scheduled records is published, in seconds since 1970.
func nextPublication(now time.Time, parts []ent.Core) int64 {
	until := int64(math.MaxInt64)
	for _, c := range parts {
		if c.Status == calendar.Future && c.PublishedAt.After(now) {
			until = min(until, c.PublishedAt.Unix())
		}
	}
	return until
}
