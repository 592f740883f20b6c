package reply

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/query"
)

// Renderer has the functions that load and encode the records of one kind for a list.
type Renderer[R ent.Row] struct {
	Kind calendar.Kind
	// Media is the media type of the encoded records. It is part of the cache key.
	Media  string
	Encode func(value any) ([]byte, error)
	Read   func(ids []int64) ([]R, error) // loads rows with all that their representations show, in any order
	// Value returns the representation of a row. For its audience, the representation depends only on recordKey and the row.
	Value func(row R) (value any, is Audience)
	// Parts returns the records that the representation shows, including the row itself. Scheduled ones limit how
	// long it is right.
	Parts func(row R) []ent.Core
	// Since and Until are when representations last changed and may next change without a write. Zero means never.
	Since, Until time.Time
	// Expires returns when the representation of a row changes without a write of its parts. Zero means never. Nil means
	// that none does.
	Expires func(row R) time.Time
}

// Rendering has what the rendering of records depends on besides the records: the request, its caller and the
// cache.
type Rendering struct {
	Now           time.Time
	Language      calendar.Language
	Base          string              // start of the links in the records: the part that differs between requests
	Scope         string              // rights of the caller (auth.ReadScope)
	Password      bool                // true if the request has a password
	Cache         *RecordCache        // nil caches nothing
	ServerChanges query.ServerChanges // changes when reads switch to another server; nil means one server
	Began         int64               // number of ServerChanges when the request began
	// Cut returns an encoded record as the list shows it. Nil leaves it as it is.
	Cut func(body []byte) []byte
	// Full returns an error if the list may have no further record. Nil means that it never does.
	Full func() error
}

// cut applies r.Cut to an encoded record, and so returns it as the list shows it. If r.Cut is nil, it returns body
// unchanged.
func (r *Rendering) cut(body []byte) []byte {
	if r.Cut == nil {
		return body
	}
	return r.Cut(body)
}

// full returns the error of r.Full, which means that the list may have no further record. It returns nil if r.Full
// is nil.
func (r *Rendering) full() error {
	if r.Full == nil {
		return nil
	}
	return r.Full()
}

// Render returns the encoded records of a page, in the order of page.IDs. It takes records from the cache, or reads
// and encodes them. It leaves out records that were deleted meanwhile.
func Render[R ent.Row](ctx context.Context, r *Rendering, page query.Page, list Renderer[R]) ([][]byte, error) {
	cache := r.Cache
	if page.Changed == nil {
		cache = nil // without Changed, the age of cached records is unknown
	}
	p := recordPage[R]{
		r: r, page: page, list: list, cache: cache, bodies: make([][]byte, len(page.IDs)), earliest: math.MinInt64, latest: math.MaxInt64,
		key: recordKey{kind: list.Kind, media: list.Media, lang: r.Language, base: r.Base, scope: r.Scope},
	}
	if !list.Since.IsZero() {
		p.earliest = list.Since.Unix()
	}
	if !list.Until.IsZero() {
		p.latest = list.Until.Unix()
	}
	missing := make([]int, 0, len(page.IDs))
	for i := range page.IDs {
		if !p.takeCached(i) {
			missing = append(missing, i)
		}
	}
	hits := len(page.IDs) - len(missing)
	if len(missing) > 0 && r.ServerChanges.Number() != r.Began {
		p.cache = nil // the rows may be older than the index says
	}
	for len(missing) > 0 {
		var err error
		if missing, err = p.read(ctx, missing); err != nil {
			return nil, err
		}
	}
	if err := r.full(); err != nil {
		return nil, err
	}
	cache.count(hits+p.joined, p.made)
	return slices.DeleteFunc(p.bodies, func(body []byte) bool { return body == nil }), nil
}

// recordPage is a page of records that a request is rendering.
type recordPage[R ent.Row] struct {
	r      *Rendering
	page   query.Page
	list   Renderer[R]
	cache  *RecordCache // nil caches and shares nothing
	bodies [][]byte     // encoded records by position; nil for those that are not rendered yet or do not exist
	key    recordKey    // key of the records, without the id
	// earliest and latest are since and until of the renderer, in seconds since 1970.
	earliest, latest int64
	made, joined     int // numbers of records that this request and other requests read
}

// keyOf returns the cache key of the record at position i of the page.
func (p *recordPage[R]) keyOf(i int) recordKey {
	key := p.key
	key.id = p.page.IDs[i]
	return key
}

// claimOf returns the key under which requests share the read of the record at position i of the page.
func (p *recordPage[R]) claimOf(i int) claimKey { return claimKey{p.keyOf(i), p.r.Password} }

// mayUse reports whether the request may show a cached record at position i of the page. The record may be nil.
func (p *recordPage[R]) mayUse(is *cachedRecord, i int) bool {
	return is.valid(p.page.Changed[i], p.r.Now) && (!is.redacted || !p.r.Password)
}

// takeCached copies the record at position i of the page from the cache to p.bodies. It returns false if the cache
// has no usable one.
func (p *recordPage[R]) takeCached(i int) bool {
	if p.cache == nil {
		return false
	}
	is, _ := p.cache.records.GetIfPresent(p.keyOf(i))
	if !p.mayUse(is, i) {
		return false
	}
	p.bodies[i] = p.r.cut(is.body)
	return true
}

// joinedRecord is a record of the page, by position, that another request is reading.
type joinedRecord struct {
	at     int
	shared *sharedRecord
}

// recordBatch states which of the missing records of a page are read next, and by which request. All fields contain
// positions on the page.
type recordBatch struct {
	own     []int                 // records that the request reads, ent.MaxRead at most
	leading map[int]*sharedRecord // those of own that other requests wait for
	joined  []joinedRecord        // records that other requests read
	rest    []int                 // records of later batches
}

// nextBatch decides for the next missing records whether this request reads them or waits for another. The
// parameter missing has positions on the page. It locks the cache once per batch, so two requests for the same
// records do not each get a part.
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

// read renders the records at the positions missing. It reads rows in batches, so that few of them are in memory at
// a time. Records that other requests are reading come last, when it waits for those requests. It returns the
// positions of records whose reads failed there; the caller tries these again.
func (p *recordPage[R]) read(ctx context.Context, missing []int) (again []int, err error) {
	var joined []joinedRecord
	for len(missing) > 0 {
		batch := p.nextBatch(missing)
		if err := p.readBatch(batch.own, batch.leading); err != nil {
			return nil, err
		}
		if err := p.r.full(); err != nil {
			return nil, err
		}
		joined, missing = append(joined, batch.joined...), batch.rest
	}
	var alone []int
	for _, j := range joined {
		select {
		case <-j.shared.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		switch {
		case j.shared.failed:
			again = append(again, j.at)
		case p.mayUse(j.shared.record, j.at):
			p.bodies[j.at] = p.r.cut(j.shared.record.body)
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

// readBatch reads and encodes the records at the positions some. The map leading has those of them that other
// requests may wait for. It finishes them all, even after an error.
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
	rows, err := p.list.Read(ids)
	if err != nil {
		return err
	}
	p.made += len(rows)
	err = p.list.encode(rows, func(row R, body []byte, is Audience) {
		i := at[row.Core().ID]
		p.bodies[i] = p.r.cut(body)
		if p.cache == nil || is == OnlyReader || p.r.ServerChanges.Number() != p.r.Began {
			return
		}
		record := &cachedRecord{
			changed: p.page.Changed[i], body: body, redacted: is == NoPassword,
			from:  max(p.earliest, lastPublication(p.r.Now, p.list.Parts(row))),
			until: min(p.latest, nextPublication(p.r.Now, p.list.Parts(row))),
		}
		if p.list.Expires != nil && !p.list.Expires(row).IsZero() {
			record.until = min(record.until, p.list.Expires(row).Unix())
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

// encode encodes rows and calls each for every row, with its bytes and the audience that may get them.
func (l *Renderer[R]) encode(rows []R, each func(row R, body []byte, is Audience)) error {
	for _, row := range rows {
		value, is := l.Value(row)
		body, err := l.Encode(value)
		if err != nil {
			return err
		}
		each(row, body, is)
	}
	return nil
}

// lastPublication returns when the last scheduled record in parts was published that is public at the time now, in
// seconds since 1970. Encoded bytes are not right before that second. It returns math.MinInt64 if there is none.
func lastPublication(now time.Time, parts []ent.Core) int64 {
	from := int64(math.MinInt64)
	for _, c := range parts {
		if c.Status == calendar.Future && !c.PublishedAt.After(now) {
			from = max(from, c.PublishedAt.Unix())
		}
	}
	return from
}

// nextPublication returns when the first of the scheduled records in parts will be published, in seconds since
// 1970. Encoded bytes are not right from then on. It returns math.MaxInt64 if none is scheduled.
func nextPublication(now time.Time, parts []ent.Core) int64 {
	until := int64(math.MaxInt64)
	for _, c := range parts {
		if c.Status == calendar.Future && c.PublishedAt.After(now) {
			until = min(until, c.PublishedAt.Unix())
		}
	}
	return until
}
