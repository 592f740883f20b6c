package limit

import (
	"errors"
	"sync/atomic"
)

// ErrFull is returned for a read if the limit of received bytes is reached.
var ErrFull = errors.New("too much is being received")

// receiving counts the bytes of large unanswered requests on all connections. The listener's mutex guards it, but
// bytes may be read without the mutex.
type receiving struct {
	bytes atomic.Int64
	from  map[string]int64 // bytes by address key
}

func (r *receiving) add(key string, n int64) {
	r.bytes.Add(n)
	if key == "" {
		return
	}
	if r.from == nil {
		r.from = map[string]int64{}
	}
	if r.from[key] += n; r.from[key] == 0 {
		delete(r.from, key)
	}
}

// Receiving returns the number of bytes of large unanswered requests that have arrived or are announced.
func (l *Listener) Receiving() int64 { return l.receiving.bytes.Load() }

// incoming counts the bytes that a connection reads. One goroutine reads and writes; others may only close the
// connection.
type incoming struct {
	got     int64        // bytes read since the last reply
	counted atomic.Int64 // bytes counted in receiving, including announced ones
}

// receivingLeast is the size, in bytes, up to which requests are not counted. Most requests are smaller.
const receivingLeast = 64 << 10

// expect reserves room for n bytes that are about to be read. Servers allocate a body of known length at once,
// so all of it is counted before it arrives.
func (c *conn) expect(n int) error {
	want := c.got + int64(n)
	if c.of.MostReceiving == 0 || want <= receivingLeast || want <= c.counted.Load() {
		return nil
	}
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	more := want - c.counted.Load()
	_, open := l.all[c]
	if !open || l.receiving.bytes.Load()+more > l.MostReceiving ||
		c.key != "" && l.MostReceivingPerAddress > 0 && l.receiving.from[c.key]+more > l.MostReceivingPerAddress {
		return ErrFull
	}
	l.receiving.add(c.key, more)
	c.counted.Store(want)
	return nil
}

// answered releases the room of a request when its reply is written.
func (c *conn) answered() {
	if c.counted.Load() == 0 {
		return
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.receiving.add(c.key, -c.counted.Swap(0))
}
