package limit

import (
	"errors"
	"sync/atomic"
)

// ErrFull is returned for a read if the limit of received bytes is reached.
var ErrFull = errors.New("too much is being received")

// receiving counts the bytes of large requests, on all connections, that have no reply yet. The listener's mutex
// guards it, but bytes may be read without the mutex.
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

// Receiving returns the total size of large requests without a reply yet, in bytes. If the length of a body is known,
// the whole body counts from the start.
func (l *Listener) Receiving() int64 { return l.receiving.bytes.Load() }

// incoming counts the bytes that one connection reads. One goroutine reads and writes. Other goroutines may only
// close the connection.
type incoming struct {
	got     int64        // bytes read since the last reply
	counted atomic.Int64 // bytes counted in receiving, including announced ones
}

// receivingLeast is the size, in bytes, up to which requests are not counted. Most requests are smaller.
const receivingLeast = 64 << 10

// expect counts n bytes that the connection is about to read. It returns ErrFull if the limits of the listener have
// no room for them. Servers allocate a body of known length at once, so all of it is counted before it arrives.
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

// answered ends the count of a request's bytes. It is called when the reply has been written.
func (c *conn) answered() {
	if c.counted.Load() == 0 {
		return
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.receiving.add(c.key, -c.counted.Swap(0))
}
