package limit

import (
	"bytes"
	"net"
	"sync"
)

// gathering is the writing side of a connection. A server writes a reply in pieces, as its buffer fills: the first has the
// head and the beginning of the body. Sending that by itself costs about as much as sending all, so it waits for the next
// piece if one is sure to come. As for other connections, one writes and reads at a time.
type gathering struct {
	expected int     // bytes of the body that follows the next head
	held     *[]byte // a piece that waits; nil: none does
}

// maxBuffered is the longest piece that waits: copying a longer one would cost what it saves.
const maxBuffered = 8 << 10

var bufferPool = sync.Pool{New: func() any { return new([]byte) }}

// Gather says that what is written next is the head of a reply, and a body of so many bytes after it; 0: of no use. Where
// replies are put together before they are written, it is about the last of them. So of what follows the first head there
// is at least as much, and a piece never waits for nothing.
func (g *gathering) Gather(body int) { g.expected = body }

// write sends a piece, with the one before it if that has waited, or has it wait.
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

// flush sends what waits. Who reads has written all there was.
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
