package limit

import (
	"bytes"
	"net"
	"sync"
)

// gathering joins small writes on a connection into one. A server writes a reply in pieces as its buffer fills,
// and each send has a fixed cost. So a small first piece waits until the next one, if one is sure to follow.
// Only one goroutine reads and writes.
type gathering struct {
	expected int     // bytes of the body after the next reply head; 0 means unknown
	held     *[]byte // a waiting piece; nil means none
}

// maxBuffered is the largest piece, in bytes, that waits. Copying a larger one costs more than a send.
const maxBuffered = 8 << 10

var bufferPool = sync.Pool{New: func() any { return new([]byte) }}

// Gather announces that the next write is the head of a reply whose body has the given size in bytes. 0 means
// unknown. If several replies are buffered before a write, pass the size of the last one. At least that many bytes
// must follow the head, so that a waiting piece is always sent.
func (g *gathering) Gather(body int) { g.expected = body }

// write sends a piece, together with a waiting one if there is one, or keeps the piece for the next write.
func (g *gathering) write(to net.Conn, piece []byte) (int, error) {
	body := g.expected
	g.expected = 0
	if g.held != nil {
		first := g.held
		g.held = nil
		defer bufferPool.Put(first)
		both := net.Buffers{*first, piece}
		n, err := both.WriteTo(to)
		return max(int(n)-len(*first), 0), err
	}
	head := bytes.Index(piece, []byte("\r\n\r\n"))
	if body == 0 || len(piece) > maxBuffered || head < 0 || head+len("\r\n\r\n")+body <= len(piece) {
		return to.Write(piece)
	}
	g.held, _ = bufferPool.Get().(*[]byte)
	*g.held = append((*g.held)[:0], piece...)
	return len(piece), nil
}

// flush sends the waiting piece. It is called before a read, because then the reply is complete. ReadFrom calls it to
// keep the order of the bytes.
func (g *gathering) flush(to net.Conn) error {
	if g.held == nil {
		return nil
	}
	first := g.held
	g.held = nil
	defer bufferPool.Put(first)
	_, err := to.Write(*first)
	return err
}
