package limit

import (
	"bytes"
	"net"
	"sync"
)

// gathering joins small writes on a connection. A server writes a reply in pieces, as its buffer fills. Sending the
// first piece alone costs about as much as sending all, so it waits for the next piece if one is sure to follow. One
// goroutine reads and writes.
type gathering struct {
	expected int     // bytes of the body that follows the next head
	held     *[]byte // a piece that waits; nil means none
}

// maxBuffered is the longest piece, in bytes, that waits. Copying a longer one would cost more than it saves.
const maxBuffered = 8 << 10

var bufferPool = sync.Pool{New: func() any { return new([]byte) }}

// Gather announces that the next write is the head of a reply with a body of so many bytes. 0 means unknown. If several
// replies are buffered before a write, it describes the last one. At least that many bytes follow the first head, so a
// waiting piece is always sent.
func (g *gathering) Gather(body int) { g.expected = body }

// write sends a piece together with a waiting one, or makes the piece wait.
func (g *gathering) write(to net.Conn, piece []byte) (int, error) {
	body := g.expected
	g.expected = 0
	if g.held != nil {
		first := g.held
		g.held = nil
		defer releaseBuffer(first)
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

// flush sends the waiting piece. A read shows that the reply is complete.
func (g *gathering) flush(to net.Conn) error {
	if g.held == nil {
		return nil
	}
	first := g.held
	g.held = nil
	defer releaseBuffer(first)
	_, err := to.Write(*first)
	return err
}

func releaseBuffer(piece *[]byte) { bufferPool.Put(piece) }
