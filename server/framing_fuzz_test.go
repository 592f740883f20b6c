package server

import (
	"bufio"
	"bytes"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// ownRequests returns the bodies of the requests in a stream that this server answers.
func ownRequests(stream io.Reader) (bodies []string) {
	reader := bufio.NewReader(stream)
	for {
		var req fasthttp.Request
		if !beginsWithVersion(reader) || req.ReadLimitBody(reader, 1<<20) != nil {
			return bodies
		}
		h := &req.Header
		// What the line of the request says is compared elsewhere.
		if isAmbiguous(h) || string(h.Method()) != "POST" || string(h.RequestURI()) != "/" {
			return bodies
		}
		// net/http refuses some trailers that fasthttp accepts.
		if len(h.PeekTrailerKeys()) > 0 {
			return bodies
		}
		bodies = append(bodies, string(req.Body()))
		if h.ConnectionClose() {
			return bodies
		}
	}
}

// beginsWithVersion reports whether the first line ends with an HTTP version that net/http accepts. It also
// reports false for an empty first line, which RFC 9112, section 2.2, allows and net/http rejects.
func beginsWithVersion(reader *bufio.Reader) bool {
	for n := 1; ; n++ {
		line, err := reader.Peek(n)
		if err != nil {
			return false
		}
		if line[n-1] == '\n' {
			text := strings.TrimRight(string(line), "\r\n")
			return strings.HasSuffix(text, " HTTP/1.1") || strings.HasSuffix(text, " HTTP/1.0")
		}
	}
}

// memory is a connection in memory, with a listener that accepts it. It has already received all bytes that it
// will receive.
type memory struct {
	io.Reader
	net.Conn
	closed chan struct{}
	once   sync.Once
}

func (c *memory) Read(b []byte) (int, error)      { return c.Reader.Read(b) }
func (c *memory) Write(b []byte) (int, error)     { return len(b), nil }
func (c *memory) Close() error                    { c.once.Do(func() { close(c.closed) }); return nil }
func (c *memory) SetDeadline(time.Time) error     { return nil }
func (c *memory) SetReadDeadline(time.Time) error { return nil }
func (c *memory) SetWriteDeadline(time.Time) error {
	return nil
}
func (c *memory) LocalAddr() net.Addr  { return &net.TCPAddr{} }
func (c *memory) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// Accept returns the connection once. The second call waits until the connection is closed.
func (c *memory) Accept() (net.Conn, error) {
	if c.Conn == nil {
		c.Conn = c
		return c, nil
	}
	<-c.closed
	return nil, io.EOF
}

func (c *memory) Addr() net.Addr { return &net.TCPAddr{} }

// theirRequests returns the bodies of the requests in a stream that net/http answers. A request with an unreadable
// body is the last one.
func theirRequests(stream io.Reader) (bodies []string) {
	var mu sync.Mutex
	broken := false
	conn := &memory{Reader: stream, closed: make(chan struct{})}
	server := http.Server{
		ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			if broken = broken || err != nil; !broken {
				bodies = append(bodies, string(body))
			}
		}),
	}
	// It ends with the connection.
	_ = server.Serve(conn)
	mu.Lock()
	defer mu.Unlock()
	return bodies
}

// FuzzFraming compares how this server and net/http split a connection into requests. net/http must find each
// request that this server answers, with the same body. This server may refuse more requests than net/http.
func FuzzFraming(f *testing.F) {
	const post = "POST / HTTP/1.1\r\nHost: x\r\n"
	for _, lines := range []string{
		"Content-Length: 5", "Content-Length: 5\r\nContent-Length: 0", "Content-Length: 5\r\ncontent-length: 5", "Content-Length: +5",
		"Transfer-Encoding: chunked", "transfer-encoding: Chunked\r\nContent-Length: 5", "Transfer-Encoding: chunked, identity",
		"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", "Transfer-Encoding:\tchunked", "Transfer-Encoding : chunked",
		"X: a\rContent-Length: 5", "X: a\x00", "Content-Length:\x0b5", " Content-Length: 5", "X: a\nContent-Length: 5", "Connection: foo, Close",
	} {
		f.Add(post + lines + "\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + post + "\r\n")
	}
	for _, chunks := range []string{
		"0x10\r\n\r\n", "+1\r\n \r\n0\r\n\r\n", "-1\r\n\r\n", "1_0\r\n", "\r\n", " 1\r\n \r\n0\r\n\r\n", "1 \r\n \r\n0\r\n\r\n", "1;a\nb\r\n \r\n0\r\n\r\n",
		"1;a\rb\r\n \r\n0\r\n\r\n", "fffffffffffffffff\r\n", "1\n \r\n0\r\n\r\n", "1\r\n \n0\r\n\r\n", "0\r\n0:\r\n\r\n", "0\r\nA: b\r\n\r\n", "0\r\nA b\r\n\r\n",
		"00001;a=\"b\r\n \r\nA\r\n0123456789\r\n0\r\n\r\n",
	} {
		f.Add(post + "Transfer-Encoding: chunked\r\n\r\n" + chunks + post + "\r\n")
	}
	for _, head := range []string{
		"POST / HTTP/1.1\r\n\r\n", "POST / HTTP/1.0\r\n\r\n", "POST / HTTP/1.1\r\nHost: a b\r\n\r\n", "POST / HTTP/1.1\r\nHost:\r\n\r\n", "\r\n\n" + post + "\r\n",
		"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\n y\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\nHost: y\n\n",
	} {
		f.Add(head + post + "\r\n")
	}
	// fasthttp joins the lines before it looks at them again.
	f.Add("POST / HTTP/1.0\nHost:0\n \r\n\r\n")
	f.Fuzz(func(t *testing.T, stream string) {
		// A client that waits for 100 is not read here; a form would be read before its body is known.
		if lower := strings.ToLower(stream); strings.Contains(lower, "expect") || strings.Contains(lower, "multipart") {
			return
		}
		stream += "\r\n\r\n" // fasthttp takes the end of a connection for the end of the last chunk
		own := ownRequests(bytes.NewReader([]byte(stream)))
		if len(own) == 0 {
			return
		}
		their := theirRequests(strings.NewReader(stream))
		for i, body := range own {
			if i >= len(their) || their[i] != body {
				t.Fatalf("%q: found %q, net/http %q", stream, own, their)
			}
		}
		// However it arrives.
		slow := ownRequests(&byteByByte{[]byte(stream)})
		if strings.Join(own, "|") != strings.Join(slow, "|") {
			t.Fatalf("%q: found %q, and byte by byte %q", stream, own, slow)
		}
	})
}

// byteByByte is a reader that returns one byte at a time.
type byteByByte struct{ rest []byte }

func (r *byteByByte) Read(b []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:1], r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
