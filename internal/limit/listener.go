package limit

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Reason is why a connection is refused.
type Reason string

// The reasons.
const (
	TooMany            Reason = "total"   // connections at all
	TooManyFromAddress Reason = "address" // connections from one address
)

// Listener bounds the connections that another listener accepts.
type Listener struct {
	net.Listener

	// Most bounds the number of connections, and MostPerAddress those of one address by Key. 0 means no limit.
	Most, MostPerAddress int
	// MostSending bounds the bytes of replies that clients have not received yet. 0 means no limit.
	MostSending int64
	// MostReceiving bounds the bytes of requests that have arrived, or are announced, without a reply yet.
	// MostReceivingPerAddress bounds those of one address by Key. 0 means no limit.
	MostReceiving, MostReceivingPerAddress int64
	// Exempt are addresses that may have any number, within Most.
	Exempt func(netip.Addr) bool
	// Inspect returns a function that gets the bytes of a new connection in order. The function returns how many of
	// them may be read. If it returns an error, reading fails after those bytes. Nil disables it.
	Inspect func() func(received []byte) (int, error)
	// Refuse may write a last word to a connection, which is closed then. It must not wait.
	Refuse func(net.Conn, Reason)

	sending atomic.Int64

	mu        sync.Mutex
	all       map[*conn]struct{}
	from      map[string]int
	receiving receiving
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		kept, why := l.keep(c)
		if kept != nil {
			return kept, nil
		}
		if l.Refuse != nil {
			l.Refuse(c, why)
		}
		// The connection is unusable, so an error of Close does not matter.
		_ = c.Close()
	}
}

func (l *Listener) keep(c net.Conn) (*conn, Reason) {
	peer := Peer(c.RemoteAddr())
	k := &conn{Conn: c, of: l}
	if l.Inspect != nil {
		k.inspect = l.Inspect()
	}
	if l.Exempt == nil || !l.Exempt(peer) {
		k.key = Key(peer)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all, l.from = map[*conn]struct{}{}, map[string]int{}
	}
	if l.Most > 0 && len(l.all) >= l.Most {
		return nil, TooMany
	}
	if k.key != "" && l.MostPerAddress > 0 {
		if l.from[k.key] >= l.MostPerAddress {
			return nil, TooManyFromAddress
		}
		l.from[k.key]++
	}
	l.all[k] = struct{}{}
	return k, ""
}

func (l *Listener) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, c)
	l.receiving.add(c.key, -c.counted.Swap(0))
	if c.key == "" || l.MostPerAddress == 0 {
		return
	}
	if l.from[c.key]--; l.from[c.key] <= 0 {
		delete(l.from, c.key)
	}
}

// Open returns the number of open connections.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

// Sending is how many bytes of large replies are on their way.
func (l *Listener) Sending() int64 { return l.sending.Load() }

// Hurry gives connections that have sent nothing yet that long to begin. They would delay the shutdown.
func (l *Listener) Hurry(wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := time.Now().Add(wait)
	for c := range l.all {
		if !c.spoke.Load() {
			// A connection that ended meanwhile has no deadline to set.
			_ = c.SetReadDeadline(at)
		}
	}
}

// conn is a connection that is counted.
type conn struct {
	net.Conn
	gathering
	incoming

	of      *Listener
	key     string                    // of the address it is counted for; "" for none
	inspect func([]byte) (int, error) // nil means nothing is inspected
	refused error                     // by inspect
	spoke   atomic.Bool
	gone    sync.Once
	lingers atomic.Bool
	sending atomic.Int64 // bytes of its reply that are counted
}

// sendingLeast is the size of replies that count: smaller ones wait in buffers of the system, if at all.
const sendingLeast = 16 << 10

// Reserve counts a reply of that many bytes until the next read from the connection, or its end. It reports whether
// there is room for it.
func (c *conn) Reserve(size int) bool {
	c.sent()
	if size < sendingLeast || c.of.MostSending == 0 {
		return true
	}
	n := int64(size)
	if c.of.sending.Add(n) > c.of.MostSending {
		c.of.sending.Add(-n)
		return false
	}
	c.sending.Store(n)
	return true
}

func (c *conn) sent() {
	if n := c.sending.Swap(0); n != 0 {
		c.of.sending.Add(-n)
	}
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	c.sent()
	if err := c.flush(c.Conn); err != nil {
		return 0, err
	}
	if err := c.expect(len(b)); err != nil {
		return 0, err
	}
	if c.refused != nil {
		return 0, c.refused
	}
	n, err := c.Conn.Read(b)
	c.got += int64(n)
	if n > 0 && c.inspect != nil {
		var allowed int
		if allowed, c.refused = c.inspect(b[:n]); c.refused != nil {
			if n, err = allowed, nil; n == 0 {
				err = c.refused
			}
		}
	}
	if n > 0 && !c.spoke.Load() {
		c.spoke.Store(true)
	}
	return n, err
}

// Refused returns the error that Inspect ended reading with, nil if it did not.
func (c *conn) Refused() error { return c.refused }

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	c.got = 0
	c.answered()
	return c.write(c.Conn, b)
}

// ReadFrom implements io.ReaderFrom, so that the system can send from a file.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	to, ok := c.Conn.(io.ReaderFrom)
	if !ok {
		return io.Copy(writer{c}, r)
	}
	if err := c.flush(c.Conn); err != nil {
		return 0, err
	}
	c.expected = 0
	c.got = 0
	c.answered()
	return to.ReadFrom(r)
}

// writer hides all of a connection but Write.
type writer struct{ io.Writer }

// Close implements net.Conn. It reads unwanted bytes for a moment before it closes. Otherwise the system resets the
// connection, and many clients then lose the reply (RFC 9112, section 9.6).
func (c *conn) Close() error {
	c.sent()
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.lingers.Swap(false) {
		c.answered()
		err := half.CloseWrite()
		go func() {
			// Errors are ignored: the connection ends in any case.
			if c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
				_, _ = io.CopyN(io.Discard, c.Conn, maxLingerBytes)
			}
			_ = c.end()
		}()
		return err
	}
	return c.end()
}

// A lingering client may send this many bytes, for this long.
const (
	lingerTime     = 2 * time.Second
	maxLingerBytes = 32 << 20
)

// Linger has the client read its reply before the connection is closed, though it has more to send.
func (c *conn) Linger() { c.lingers.Store(true) }

func (c *conn) end() error {
	c.gone.Do(func() { c.of.forget(c) })
	return c.Conn.Close()
}
