package limit

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// shards is the number of parts, each with its own mutex, into which Memory divides the keys.
const shards = 64

// Memory counts requests within one process, for a limited number of keys. When it is full, it evicts keys that
// are closest to a full burst, because that hardly affects their limits.
type Memory struct {
	seed maphash.Seed
	// clock returns the time since the limiter was made. It is monotonic, so changes of the system's clock have no
	// effect.
	clock  func() time.Duration
	most   int // largest number of keys in a shard
	shards [shards]shard
}

type shard struct {
	mu  sync.Mutex
	due map[string]int64 // time of the next full burst by key, in nanoseconds of Memory.clock
}

// NewMemory returns a limiter for about the given number of keys. Each takes about 100 bytes.
func NewMemory(keys int) *Memory {
	began := time.Now()
	m := &Memory{
		seed: maphash.MakeSeed(), most: max(1, keys/shards),
		clock: func() time.Duration { return time.Since(began) },
	}
	for i := range m.shards {
		m.shards[i].due = make(map[string]int64)
	}
	return m
}

// Take implements Limiter. It never fails.
func (m *Memory) Take(_ context.Context, key string, r Rate) (Decision, error) {
	return m.count(key, r, 1), nil
}

// Look implements Limiter. It never fails.
func (m *Memory) Look(_ context.Context, key string, r Rate) (Decision, error) {
	return m.count(key, r, 0), nil
}

// Refund implements Limiter. It never fails.
func (m *Memory) Refund(_ context.Context, key string, _ Decision, part time.Duration) error {
	s := m.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if due, known := s.due[key]; known {
		s.due[key] = due - int64(part)
	}
	return nil
}

func (m *Memory) shardOf(key string) *shard { return &m.shards[maphash.String(m.seed, key)%shards] }

// count decides about a request and counts it. cost is 1 for a request, and 0 for a look, which is not counted. It
// reads the clock after it has the key's mutex, because the times of a key must never go back.
func (m *Memory) count(key string, r Rate, cost int64) Decision {
	if r.Off() {
		return Decision{Allowed: true}
	}
	s := m.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := int64(m.clock())
	due, known := s.due[key]
	next, d := decide(now, due, r, cost)
	if cost == 0 {
		return d
	}
	if !known && len(s.due) >= m.most {
		s.makeRoom(now)
	}
	s.due[key] = next
	return d
}

// evictionSample is the number of keys to compare for an eviction.
const evictionSample = 32

// makeRoom evicts keys from the shard. It looks at a sample of the keys, and evicts those with a full burst. If there
// are none, it evicts the key closest to a full burst.
func (s *shard) makeRoom(now int64) {
	var first string
	var soonest int64
	seen, forgotten := 0, false
	for key, due := range s.due {
		switch {
		case due <= now:
			delete(s.due, key)
			forgotten = true
		case seen == 0 || due < soonest:
			first, soonest = key, due
		}
		if seen++; seen == evictionSample {
			break
		}
	}
	if !forgotten {
		delete(s.due, first)
	}
}

// Keys returns the number of stored keys.
func (m *Memory) Keys() int {
	n := 0
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		n += len(s.due)
		s.mu.Unlock()
	}
	return n
}
