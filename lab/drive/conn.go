package drive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

// conn is a client's connection with one pending request at a time. A request opens it again after it was closed.
type conn struct {
	dial    func(ctx context.Context) (net.Conn, error)
	timeout time.Duration

	mu   sync.Mutex // of net and over
	net  net.Conn   // nil means closed
	over bool       // hangUp was called

	r        *bufio.Reader
	body     []byte
	deadline time.Time // deadline set on net
}

// readSize is the size of the read buffer in bytes. Most replies fit into it.
const readSize = 32 << 10

func (c *conn) open(ctx context.Context) error {
	n, err := c.dial(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return errors.Join(net.ErrClosed, n.Close())
	}
	c.net, c.deadline = n, time.Time{}
	if c.r == nil {
		c.r = bufio.NewReaderSize(n, readSize)
	}
	c.r.Reset(n)
	return nil
}

func (c *conn) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.net != nil {
		_ = c.net.Close() // no caller needs the error
		c.net = nil
	}
}

// hangUp closes the connection for good and aborts a pending request.
func (c *conn) hangUp() {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.close()
}

// do sends a request and reads the reply. If wanted is false, it skips the body.
func (c *conn) do(ctx context.Context, req []byte, wanted bool) (status int, body []byte, err error) {
	n := c.current()
	if n == nil {
		if err := c.open(ctx); err != nil {
			return 0, nil, err
		}
		n = c.current()
	}
	if n == nil {
		return 0, nil, net.ErrClosed
	}
	status, last, err := c.exchange(n, req, wanted)
	if err != nil || last {
		c.close()
	}
	return status, c.body, err
}

func (c *conn) current() net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.net
}

func (c *conn) exchange(n net.Conn, req []byte, wanted bool) (status int, last bool, err error) {
	// A deadline for each request would cost a timer each; one for several is as good, some tenths of a second aside.
	if limit := time.Now().Add(c.timeout); limit.Sub(c.deadline) > c.timeout/16 {
		if err := n.SetDeadline(limit); err != nil {
			return 0, true, err
		}
		c.deadline = limit
	}
	if _, err := n.Write(req); err != nil {
		return 0, true, err
	}
	return c.read(wanted)
}

var errGarbled = errors.New("no HTTP reply")

// read reads a reply into body, without interim ones. last is true if the connection ends with it, also because of an
// error. If wanted is false, it skips the body.
func (c *conn) read(wanted bool) (status int, last bool, err error) {
	c.body = c.body[:0]
	var h header
	for status = 100; status < 200; { // interim replies are skipped
		if h, err = c.header(); err != nil {
			return 0, true, err
		}
		status = h.status
	}
	switch {
	case status == 204 || status == 304:
	case h.chunked:
		err = c.chunks(wanted)
	case h.length >= 0:
		err = c.bytes(h.length, wanted)
	default: // to the end
		h.close = true
		c.body, err = io.ReadAll(c.r)
	}
	return status, h.close || err != nil, err
}

// header contains the fields of a reply's header that are needed to read its body.
type header struct {
	status  int
	length  int // -1 means none
	chunked bool
	close   bool
}

func (c *conn) header() (header, error) {
	line, err := c.line()
	if err != nil {
		return header{}, err
	}
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[8] != ' ' {
		return header{}, fmt.Errorf("%w: %.40q", errGarbled, line)
	}
	h := header{length: -1, close: line[7] == '0'}
	if h.status, err = strconv.Atoi(string(line[9:12])); err != nil || h.status < 100 {
		return header{}, fmt.Errorf("%w: %.40q", errGarbled, line)
	}
	for {
		if line, err = c.line(); err != nil {
			return header{}, err
		}
		if len(line) == 0 {
			return h, nil
		}
		if err := h.read(line); err != nil {
			return header{}, err
		}
	}
}

// read parses a header line. It ignores most headers, so it compares the lengths of names first.
func (h *header) read(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch {
	case len(name) == len("Content-Length") && bytes.EqualFold(name, []byte("Content-Length")):
		n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
		if err != nil || n < 0 {
			return fmt.Errorf("%w: %.40q", errGarbled, line)
		}
		h.length = n
	case len(name) == len("Connection") && bytes.EqualFold(name, []byte("Connection")):
		h.close = bytes.EqualFold(bytes.TrimSpace(value), []byte("close"))
	case len(name) == len("Transfer-Encoding") && bytes.EqualFold(name, []byte("Transfer-Encoding")):
		h.chunked = bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked"))
	}
	return nil
}

// line returns the next line without its line break. The next read overwrites it.
func (c *conn) line() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, fmt.Errorf("%w: a line of over %d bytes", errGarbled, readSize)
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// maxBody limits the size in bytes of a body that is read, unless the body ends with the connection.
const maxBody = 64 << 20

// bytes appends n bytes of the reply to body. If wanted is false, it skips them.
func (c *conn) bytes(n int, wanted bool) error {
	if !wanted {
		_, err := c.r.Discard(n)
		return unexpectedEOF(err)
	}
	from := len(c.body)
	if n > maxBody-from {
		return fmt.Errorf("%w: a body of over %d bytes", errGarbled, maxBody)
	}
	c.body = append(c.body, make([]byte, n)...)
	_, err := io.ReadFull(c.r, c.body[from:])
	return unexpectedEOF(err)
}

// unexpectedEOF returns io.ErrUnexpectedEOF for io.EOF, and other errors unchanged.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (c *conn) chunks(wanted bool) error {
	for {
		line, err := c.line()
		if err != nil {
			return unexpectedEOF(err)
		}
		size, _, _ := bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 31)
		if err != nil {
			return fmt.Errorf("%w: chunk %.20q", errGarbled, line)
		}
		if n == 0 {
			break
		}
		if err := c.bytes(int(n), wanted); err != nil {
			return err
		}
		if line, err = c.line(); err != nil {
			return unexpectedEOF(err)
		}
		if len(line) != 0 {
			return fmt.Errorf("%w: chunk ends in %.20q", errGarbled, line)
		}
	}
	for { // trailers
		line, err := c.line()
		if err != nil {
			return unexpectedEOF(err)
		}
		if len(line) == 0 {
			return nil
		}
	}
}
