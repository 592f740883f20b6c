package handlers

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/query"
)

// RecordCache caches encoded records, as lists show them to callers with the same rights. A cached record is used
// until the index knows a newer change of what it shows. Requests that need the same record at the same time read it once.
// It is safe for concurrent use.
type RecordCache struct {
	records    *otter.Cache[recordKey, *cachedRecord]
	hits, made atomic.Int64

	mu     sync.Mutex
	shared map[claimKey]*sharedRecord
}

// claimKey identifies a record that a request reads for others. Requests with a password do not read protected events for
// those without one, because they may show more of them.
type claimKey struct {
	recordKey
	password bool
}

// sharedRecord is a record that one request reads while others wait for it.
type sharedRecord struct {
	changed int64         // query.Page.Changed of the record
	done    chan struct{} // closed when the request has read the record or failed
	record  *cachedRecord // nil means that others may not show the record
	failed  bool          // the request has not read the record
}

// join returns the shared record of a key. leads is true for the first request, which reads the record and then calls
// finish. It returns nil if the record is being read at another change: then the request reads it by itself. The caller
// holds c.mu.
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

// finish removes a shared record and releases the requests that wait for it.
func (c *RecordCache) finish(key claimKey, s *sharedRecord) {
	c.mu.Lock()
	delete(c.shared, key)
	c.mu.Unlock()
	close(s.done)
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
	redacted    bool // requests with a password do not use the bytes
}

// audience states which requests the bytes of a record are right for.
type audience int

const (
	onlyReader audience = iota // the request that read the record
	noPassword                 // requests with the same recordKey and without a password
	sameScope                  // requests with the same recordKey
)

// audienceOf returns which requests see an event in a list as the present one does. Callers whose ReadScope is "" may edit no
// event. So without a password, a protected event is redacted for all of them. In other scopes the role decides, too.
func (r *request) audienceOf(e *ent.Event) audience {
	switch {
	case !edit.HasPassword(e):
		return sameScope
	case r.password == "" && auth.ReadScope(r.caller) == "":
		return noPassword
	}
	return onlyReader
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
	return &RecordCache{records: records, shared: map[claimKey]*sharedRecord{}}, nil
}

// Clear drops all records.
func (c *RecordCache) Clear() {
	if c != nil {
		c.records.InvalidateAll()
	}
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
	kind  calendar.Kind
	codec codec                          // encodes the records
	read  func(ids []int64) ([]R, error) // loads rows with all that their representations show, in any order
	// value returns the representation of a row. For its audience, the representation depends only on recordKey and the row.
	value func(row R) (value any, is audience)
	// parts returns the records that the representation shows, including the row itself. Scheduled ones limit how
	// long it is right.
	parts func(row R) []ent.Core
	// since and until are when representations last changed and may next change without a write. Zero means never.
	since, until time.Time
	// expires returns when the representation of a row changes without a write of its parts. Zero means never. Nil means
	// that none does.
	expires func(row R) time.Time
}

// renderRecords returns the records of a page, encoded by the codec of the list. It leaves out records that were deleted
// meanwhile.
func renderRecords[R ent.Row](r *request, page query.Page, list recordRenderer[R]) ([][]byte, error) {
	cache := r.h.RecordCache
	if page.Changed == nil {
		cache = nil // without Changed, the age of cached records is unknown
	}
	p := recordPage[R]{
		r: r, page: page, list: list, cache: cache, bodies: make([][]byte, len(page.IDs)), earliest: math.MinInt64, latest: math.MaxInt64,
		key: recordKey{kind: list.kind, media: list.codec.mediaType, lang: r.lang, root: r.root, scope: auth.ReadScope(r.caller)},
	}
	p.table = r.newTableRows(list.kind)
	if !list.since.IsZero() {
		p.earliest = list.since.Unix()
	}
	if !list.until.IsZero() {
		p.latest = list.until.Unix()
	}
	missing := make([]int, 0, len(page.IDs))
	for i := range page.IDs {
		if !p.takeCached(i) {
			missing = append(missing, i)
		}
	}
	hits := len(page.IDs) - len(missing)
	if len(missing) > 0 && r.h.Moves.Number() != r.moves {
		p.cache = nil // the rows may be older than the index says
	}
	for len(missing) > 0 {
		var err error
		if missing, err = p.read(missing); err != nil {
			return nil, err
		}
	}
	if p.table.full() {
		return nil, errTableTooLarge()
	}
	cache.count(hits+p.joined, p.made)
	return slices.DeleteFunc(p.bodies, func(body []byte) bool { return body == nil }), nil
}

// recordPage is a page of records that a request is rendering.
type recordPage[R ent.Row] struct {
	r      *request
	page   query.Page
	list   recordRenderer[R]
	cache  *RecordCache // nil caches and shares nothing
	bodies [][]byte     // encoded records by position; nil for those that are not rendered yet or do not exist
	key    recordKey    // key of the records, without the id
	// earliest and latest are since and until of the renderer, in seconds since 1970.
	earliest, latest int64
	made, joined     int // numbers of records that this request and other requests read
	table            *tableRows
}

// keyOf returns the key of the record at a position.
func (p *recordPage[R]) keyOf(i int) recordKey {
	key := p.key
	key.id = p.page.IDs[i]
	return key
}

// claimOf returns the key under which requests share the read of the record at a position.
func (p *recordPage[R]) claimOf(i int) claimKey { return claimKey{p.keyOf(i), p.r.password != ""} }

// mayUse reports whether a record has the right bytes for a position.
func (p *recordPage[R]) mayUse(is *cachedRecord, i int) bool {
	return is.valid(p.page.Changed[i], p.r.now) && (!is.redacted || p.r.password == "")
}

// takeCached takes the record at a position from the cache. It returns false if the cache lacks it.
func (p *recordPage[R]) takeCached(i int) bool {
	if p.cache == nil {
		return false
	}
	is, _ := p.cache.records.GetIfPresent(p.keyOf(i))
	if !p.mayUse(is, i) {
		return false
	}
	p.bodies[i] = p.table.take(is.body)
	return true
}

// joinedRecord is a record at a position that another request reads.
type joinedRecord struct {
	at     int
	shared *sharedRecord
}

// recordBatch is the next part of the missing records of a page, by their positions.
type recordBatch struct {
	own     []int                 // records that the request reads, ent.MaxRead at most
	leading map[int]*sharedRecord // those of own that other requests wait for
	joined  []joinedRecord        // records that other requests read
	rest    []int                 // records of later batches
}

// nextBatch claims the next missing records. It locks the cache once for the whole batch, so that two requests for the same
// records do not split it.
func (p *recordPage[R]) nextBatch(missing []int) recordBatch {
	if p.cache == nil {
		n := min(len(missing), ent.MaxRead)
		return recordBatch{own: missing[:n], rest: missing[n:]}
	}
	p.cache.mu.Lock()
	defer p.cache.mu.Unlock()
	b := recordBatch{rest: missing, leading: map[int]*sharedRecord{}}
	for len(b.rest) > 0 && len(b.own) < ent.MaxRead {
		i := b.rest[0]
		b.rest = b.rest[1:]
		if p.takeCached(i) { // another request has just read it
			p.joined++
			continue
		}
		shared, leads := p.cache.join(p.claimOf(i), p.page.Changed[i])
		switch {
		case shared != nil && !leads:
			b.joined = append(b.joined, joinedRecord{i, shared})
			continue
		case leads:
			b.leading[i] = shared
		}
		b.own = append(b.own, i)
	}
	return b
}

// read renders the records at the given positions. It reads the rows in batches, so that few of them are in memory at the
// same time. It does not read what other requests are reading, but waits for these in the end. It returns the positions
// of records whose requests have failed.
func (p *recordPage[R]) read(missing []int) (again []int, err error) {
	var joined []joinedRecord
	for len(missing) > 0 {
		batch := p.nextBatch(missing)
		if err := p.readBatch(batch.own, batch.leading); err != nil {
			return nil, err
		}
		if p.table.full() {
			return nil, errTableTooLarge()
		}
		joined, missing = append(joined, batch.joined...), batch.rest
	}
	var alone []int
	for _, j := range joined {
		select {
		case <-j.shared.done:
		case <-p.r.ctx.Done():
			return nil, p.r.ctx.Err()
		}
		switch {
		case j.shared.failed:
			again = append(again, j.at)
		case p.mayUse(j.shared.record, j.at):
			p.bodies[j.at] = p.table.take(j.shared.record.body)
			p.joined++
		default:
			alone = append(alone, j.at)
		}
	}
	for some := range slices.Chunk(alone, ent.MaxRead) {
		if err := p.readBatch(some, nil); err != nil {
			return nil, err
		}
	}
	return again, nil
}

// readBatch reads and encodes the records at some positions. leading has the shared records that this request reads for
// others as well. They are finished in any case.
func (p *recordPage[R]) readBatch(some []int, leading map[int]*sharedRecord) error {
	defer func() {
		for i, shared := range leading {
			p.cache.finish(p.claimOf(i), shared)
		}
	}()
	if len(some) == 0 {
		return nil
	}
	ids, at := make([]int64, len(some)), make(map[int64]int, len(some))
	for k, i := range some {
		ids[k], at[p.page.IDs[i]] = p.page.IDs[i], i
	}
	rows, err := p.list.read(ids)
	if err != nil {
		return err
	}
	p.made += len(rows)
	err = p.list.encode(rows, func(row R, body []byte, is audience) {
		i := at[row.Core().ID]
		p.bodies[i] = p.table.take(body)
		if p.cache == nil || is == onlyReader || p.r.h.Moves.Number() != p.r.moves {
			return
		}
		record := &cachedRecord{
			changed: p.page.Changed[i], body: body, redacted: is == noPassword,
			from:  max(p.earliest, lastPublication(p.r.now, p.list.parts(row))),
			until: min(p.latest, nextPublication(p.r.now, p.list.parts(row))),
		}
		if p.list.expires != nil && !p.list.expires(row).IsZero() {
			record.until = min(record.until, p.list.expires(row).Unix())
		}
		p.cache.records.Set(p.keyOf(i), record)
		if leading[i] != nil {
			leading[i].record = record
		}
	})
	for _, shared := range leading {
		shared.failed = err != nil
	}
	return err
}

// encode encodes rows and calls each with the bytes of each row.
func (l *recordRenderer[R]) encode(rows []R, each func(row R, body []byte, is audience)) error {
	for _, row := range rows {
		value, is := l.value(row)
		body, err := l.codec.encode(value, "")
		if err != nil {
			return err
		}
		each(row, body, is)
	}
	return nil
}

// lastPublication returns when the last scheduled record of parts was published, in seconds since 1970. It returns
// math.MinInt64 if none was. A request that began a second before the one that read a record may use the record.
func lastPublication(now time.Time, parts []ent.Core) int64 {
	from := int64(math.MinInt64)
	for _, c := range parts {
		if c.Status == calendar.Future && !c.PublishedAt.After(now) {
			from = max(from, c.PublishedAt.Unix())
		}
	}
	return from
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
