package limit

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Reason is the reason for refusing a connection.
type Reason string

// TooMany and TooManyFromAddress are the values of Reason.
const (
	TooMany            Reason = "total"   // too many connections in total
	TooManyFromAddress Reason = "address" // too many connections from one address
)

// Listener limits the connections that another listener accepts.
type Listener struct {
	net.Listener

	// Most is the largest number of connections, MostPerAddress that of one address (by Key). 0 means no limit.
	Most, MostPerAddress int
	// MostSending is the largest number of reply bytes in memory that clients have not received yet. It is the
	// total of all connections. Replies smaller than sendingLeast do not count. Reserve returns false for a
	// reply that would exceed it. 0 means no limit.
	MostSending int64
	// MostReceiving is the largest number of bytes of unanswered requests that have arrived or are announced.
	// MostReceivingPerAddress is that of one address (by Key). Requests up to receivingLeast do not count. 0 means
	// no limit. If MostReceiving is 0, MostReceivingPerAddress has no effect.
	MostReceiving, MostReceivingPerAddress int64
	// Exempt reports whether an address is exempt from limits per address.
	Exempt func(netip.Addr) bool
	// Refuse may write a reply to a refused connection, which is then closed. It must not block. Nil writes
	// nothing.
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
		// The connection is refused, so an error of Close does not matter.
		_ = c.Close()
	}
}

func (l *Listener) keep(c net.Conn) (*conn, Reason) {
	peer := Peer(c.RemoteAddr())
	k := &conn{Conn: c, of: l}
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

// Sending returns the number of bytes of large replies that clients have not received yet.
func (l *Listener) Sending() int64 { return l.sending.Load() }

// Hurry is called at shutdown. It sets a read deadline on connections that have not sent anything yet, so that they
// do not delay the shutdown.
func (l *Listener) Hurry(wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := time.Now().Add(wait)
	for c := range l.all {
		if !c.spoke.Load() {
			// SetReadDeadline fails only for a closed connection.
			_ = c.SetReadDeadline(at)
		}
	}
}

// conn is a connection that the listener counts.
type conn struct {
	net.Conn
	gathering
	incoming

	of      *Listener
	key     string      // address key under which it is counted; "" means none
	spoke   atomic.Bool // true after the client sent something
	gone    sync.Once
	lingers atomic.Bool  // true if Close must linger
	sending atomic.Int64 // bytes of the reply that are counted in of.sending
}

// sendingLeast is the size, in bytes, from which replies are counted. The system's buffers take smaller ones.
const sendingLeast = 16 << 10

// Reserve counts the bytes of a reply that is about to be sent, so that Sending includes them. The count ends with
// the next read, the next Reserve, or the end of the connection. It returns false, and counts nothing, if the
// listener's limit has no room.
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
	n, err := c.Conn.Read(b)
	c.got += int64(n)
	if n > 0 && !c.spoke.Load() {
		c.spoke.Store(true)
	}
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	c.got = 0
	c.answered()
	return c.write(c.Conn, b)
}

// ReadFrom implements io.ReaderFrom, so that the system can send directly from a file.
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

// writer hides all methods of a connection except Write.
type writer struct{ io.Writer }

// Close implements net.Conn. After Linger it shuts down sending and returns. A goroutine discards what still arrives, up
// to lingerTime and maxLingerBytes, and then closes the connection. Otherwise the system resets the connection, and
// many clients lose the reply (RFC 9112, section 9.6).
func (c *conn) Close() error {
	c.sent()
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.lingers.Swap(false) {
		c.answered()
		err := half.CloseWrite()
		go func() {
			// Errors do not matter, because the connection ends in any case.
			if c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
				_, _ = io.CopyN(io.Discard, c.Conn, maxLingerBytes)
			}
			_ = c.end()
		}()
		return err
	}
	return c.end()
}

// lingerTime and maxLingerBytes limit the reading after Linger.
const (
	lingerTime     = 2 * time.Second
	maxLingerBytes = 32 << 20
)

// Linger makes Close keep the connection open for a while, so that a client that is still sending can read its reply.
// The limits are lingerTime and maxLingerBytes.
func (c *conn) Linger() { c.lingers.Store(true) }

func (c *conn) end() error {
	c.gone.Do(func() { c.of.forget(c) })
	return c.Conn.Close()
}
