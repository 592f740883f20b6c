package limit

import (
	"errors"
	"sync/atomic"
)

// ErrFull is the error of reading more of a request than there is room for.
var ErrFull = errors.New("too much is being received")

// receiving counts the bytes that all connections have received and not answered. The mutex of the listener guards it.
type receiving struct {
	bytes atomic.Int64
	from  map[string]int64 // by address
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

// Receiving returns how many bytes of large requests have arrived, or are announced, without a reply yet.
func (l *Listener) Receiving() int64 { return l.receiving.bytes.Load() }

// incoming counts what a connection reads. One goroutine reads and writes; others may close the connection.
type incoming struct {
	got     int64        // bytes since the last reply
	counted atomic.Int64 // of them and of what was announced
}

// receivingLeast is the size in bytes up to which a request is not counted. Most are smaller.
const receivingLeast = 64 << 10

// expect reserves room for the bytes about to be read. A server allocates a body of known length in full, so all of it
// is counted in advance.
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
