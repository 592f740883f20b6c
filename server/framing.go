package server

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"golang.org/x/net/http/httpguts"
)

// framing describes where a request ends, according to its header lines. If header lines contradict each other,
// fasthttp reads the last one and a proxy may read another. The proxy may then take part of a body for a request
// (request smuggling).
type framing struct {
	// ambiguous means that header lines contradict each other or are malformed, or that Host is not valid. It is also
	// set for a protocol other than HTTP/1.0 and HTTP/1.1.
	ambiguous bool
	hostless  bool  // Host is missing, which HTTP/1.1 requires
	chunked   bool  // the body is sent in chunks
	length    int64 // length of the body in bytes, if it is not chunked
	closes    bool  // the client asks to close the connection, perhaps in a form that fasthttp does not know
}

// parseFraming parses header lines (RFC 9112, sections 3.2, 5, 6.1 and 6.3; RFC 9110, sections 5.5 and 7.6.1).
func parseFraming(protocol string, lines []byte) framing {
	var f framing
	f.ambiguous = protocol != "HTTP/1.1" && protocol != "HTTP/1.0"
	hosts, lengths, codings := 0, 0, 0
	for len(lines) > 0 {
		line := lines
		if i := bytes.IndexByte(lines, '\n'); i < 0 {
			lines = nil
		} else {
			line, lines = lines[:i], lines[i+1:]
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			continue // the end of the headers
		}
		name, value, ok := splitField(line)
		f.ambiguous = f.ambiguous || !ok
		switch {
		case hasText(name, fiber.HeaderHost):
			hosts++
			f.ambiguous = f.ambiguous || !httpguts.ValidHostHeader(string(value))
		case hasText(name, fiber.HeaderContentLength):
			lengths++
			f.length, ok = bodyLength(value)
			f.ambiguous = f.ambiguous || !ok
		case hasText(name, fiber.HeaderTransferEncoding):
			codings++
			f.chunked = true
			f.ambiguous = f.ambiguous || !hasText(value, "chunked") || protocol == "HTTP/1.0"
		case hasText(name, fiber.HeaderConnection):
			for option := range bytes.SplitSeq(value, []byte(",")) {
				f.closes = f.closes || hasText(bytes.TrimSpace(option), "close")
			}
		}
	}
	f.ambiguous = f.ambiguous || lengths+codings > 1 || hosts > 1
	f.hostless = hosts == 0 && protocol == "HTTP/1.1"
	return f
}

// splitField splits a line of headers or trailers at its colon. ok is false if the line is not a field or
// continues the line before. It is also false if the name is not a token, or the value has control characters.
func splitField(line []byte) (name, value []byte, ok bool) {
	name, value, ok = bytes.Cut(line, []byte(":"))
	ok = ok && len(name) > 0
	for _, c := range name {
		ok = ok && httpguts.IsTokenRune(rune(c))
	}
	for _, c := range value {
		ok = ok && (c >= ' ' && c != 0x7f || c == '\t')
	}
	return name, bytes.Trim(value, " \t"), ok
}

// bodyLength parses the value of a Content-Length header, in bytes.
func bodyLength(value []byte) (n int64, ok bool) {
	const digits = 18 // a number of 18 digits always fits into an int64
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, len(value) > 0 && len(value) <= digits
}

// framingError is the error of a connection that sent an ambiguous request.
type framingError struct {
	// request is the number of the ambiguous request on its connection, from 1.
	request uint64
}

func (e *framingError) Error() string {
	return "the request is not framed as RFC 9112, sections 5 to 7, requires"
}

// framer parses the bytes that a connection receives. It stops at a chunk that fasthttp and a proxy would read
// differently. For example, fasthttp takes the chunk size "0x10" for the last chunk. It also stops after
// ambiguous headers, since fasthttp rewrites headers before checkFraming sees them.
type framer struct {
	at framingState
	// line buffers what is parsed by lines: headers, the size of a chunk, trailers.
	line []byte
	from int   // offset in line where the current line begins
	left int64 // bytes of the body or chunk that have not arrived yet

	request uint64 // number of the current request on the connection, from 1
}

// framingState names the part of a request that a framer is parsing.
type framingState int

const (
	inHead framingState = iota
	inBody
	inChunkSize
	inChunk
	inChunkEnd
	inTrailers
	inRest    // after headers that are too long
	inRefusal // after ambiguous headers
)

// maxChunkLine bounds the line with the size of a chunk and its extensions, in bytes.
const maxChunkLine = 256

// inspect parses received bytes. It returns how many of them fasthttp may read, and a framingError if it must not
// read the rest.
func (f *framer) inspect(received []byte) (int, error) {
	for i := 0; i < len(received); {
		var n int
		var ok bool
		switch f.at {
		case inHead:
			n, ok = f.readHead(received[i:]), true
		case inBody, inChunk:
			n, ok = f.skip(received[i:]), true
		case inChunkSize:
			n, ok = f.readChunkSize(received[i:])
		case inChunkEnd:
			n, ok = f.readChunkEnd(received[i:])
		case inTrailers:
			n, ok = f.readTrailers(received[i:])
		default:
			return len(received), nil
		}
		if !ok {
			return i, &framingError{f.request}
		}
		i += n
		if f.at == inRefusal {
			return i, &framingError{f.request}
		}
	}
	return len(received), nil
}

// enter makes the framer parse the given part of the request next.
func (f *framer) enter(at framingState) { f.at, f.line, f.from = at, f.line[:0], 0 }

// readLine appends received bytes to the buffer until a line ends. n is the number of bytes consumed. If ended is
// true, whole is the line without its line feed. A carriage return before that stays.
func (f *framer) readLine(received []byte) (n int, whole []byte, ended bool) {
	i := bytes.IndexByte(received, '\n')
	if i < 0 {
		f.line = append(f.line, received...)
		return len(received), nil, false
	}
	f.line = append(f.line, received[:i+1]...)
	whole = f.line[f.from : len(f.line)-1]
	f.from = len(f.line)
	return i + 1, whole, true
}

func (f *framer) readHead(received []byte) (n int) {
	n, line, ended := f.readLine(received)
	switch {
	case len(f.line) > 2*maxHeader: // more than fasthttp accepts
		f.enter(inRest)
	case !ended:
	case len(bytes.TrimSuffix(line, []byte("\r"))) > 0:
	case len(f.line) <= len("\r\n"): // an empty line before the request, which fasthttp skips
		f.enter(inHead)
	default:
		f.enterBody()
	}
	return n
}

// enterBody switches the framer to the kind of body that the headers announce.
func (f *framer) enterBody() {
	first, lines, _ := bytes.Cut(f.line, []byte("\n"))
	first = bytes.TrimSuffix(first, []byte("\r"))
	found := parseFraming(string(first[bytes.LastIndexByte(first, ' ')+1:]), lines)
	f.left = found.length
	f.request++
	switch {
	case found.ambiguous || found.hostless:
		f.enter(inRefusal)
	case found.chunked:
		f.enter(inChunkSize)
	case f.left > 0:
		f.enter(inBody)
	default:
		f.enter(inHead)
	}
}

// skip consumes received bytes that belong to a body or chunk. It returns how many of them do.
func (f *framer) skip(received []byte) (n int) {
	n = int(min(f.left, int64(len(received))))
	if f.left -= int64(n); f.left == 0 {
		if f.at == inChunk {
			f.left = int64(len("\r\n"))
			f.enter(inChunkEnd)
		} else {
			f.enter(inHead)
		}
	}
	return n
}

func (f *framer) readChunkEnd(received []byte) (n int, ok bool) {
	if received[0] != "\n\r"[f.left-1] {
		return 0, false
	}
	if f.left--; f.left == 0 {
		f.enter(inChunkSize)
	}
	return 1, true
}

func (f *framer) readChunkSize(received []byte) (n int, ok bool) {
	n, line, ended := f.readLine(received)
	if len(f.line) > maxChunkLine {
		return 0, false
	}
	if !ended {
		return n, true
	}
	if f.left, ok = chunkSize(line); !ok {
		return 0, false
	}
	if f.left == 0 {
		f.enter(inTrailers)
	} else {
		f.enter(inChunk)
	}
	return n, true
}

// chunkSize parses the line before a chunk: the size in hexadecimal digits, then optional extensions, which it
// ignores.
func chunkSize(line []byte) (size int64, ok bool) {
	line, ok = bytes.CutSuffix(line, []byte("\r"))
	digits := 0
	for digits < len(line) && strings.IndexByte("0123456789abcdefABCDEF", line[digits]) >= 0 {
		digits++
	}
	extensions := bytes.TrimLeft(line[digits:], " \t")
	if !ok || len(line) > digits && (len(extensions) == 0 || extensions[0] != ';') {
		return 0, false
	}
	for _, c := range extensions {
		if c < ' ' && c != '\t' || c == 0x7f {
			return 0, false
		}
	}
	size, err := strconv.ParseInt(string(line[:digits]), 16, 64)
	return size, err == nil
}

func (f *framer) readTrailers(received []byte) (n int, ok bool) {
	n, line, ended := f.readLine(received)
	if len(f.line) > maxHeader {
		return 0, false
	}
	if !ended {
		return n, true
	}
	if line, ok = bytes.CutSuffix(line, []byte("\r")); !ok {
		return 0, false
	}
	if len(line) == 0 {
		f.enter(inHead)
		return n, true
	}
	// fasthttp reads a trailer that begins with a zero as the end of a chunk.
	_, _, ok = splitField(line)
	return n, ok && line[0] != '0'
}

// hasText reports whether a text equals a word, ignoring case.
func hasText(text []byte, word string) bool {
	return len(text) == len(word) && bytes.EqualFold(text, []byte(word))
}

// dropTrailers removes trailers from the headers, where fasthttp adds them. Proxies check headers but not
// trailers (RFC 9110, section 6.5.1).
func dropTrailers(h *fasthttp.RequestHeader) {
	sent := map[string]int{}
	for line := range bytes.SplitSeq(h.RawHeaders(), []byte("\n")) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok {
			sent[strings.ToLower(string(name))]++
		}
	}
	var names []string
	h.VisitAll(func(name, _ []byte) { names = append(names, string(name)) })
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		var values []string
		for _, v := range h.PeekAll(name) {
			values = append(values, string(v))
		}
		most := sent[strings.ToLower(name)]
		if len(values) <= most || hasText([]byte(name), fiber.HeaderContentLength) {
			continue
		}
		h.Del(name)
		for _, v := range values[:most] {
			h.Add(name, v)
		}
	}
}

// isUnambiguous reports whether a request has only one possible end. A request made by a test in this process has
// no connection and no Host line.
func isUnambiguous(c *fasthttp.RequestCtx, f framing) bool {
	conn, ok := c.Conn().(interface{ Refused() error })
	if !ok || f.ambiguous || f.hostless {
		return !ok && !f.ambiguous
	}
	// fasthttp takes an error in trailers for their end. It also reads ambiguous headers before it sees the
	// error.
	var refused *framingError
	return !errors.As(conn.Refused(), &refused) || refused.request > c.ConnRequestNum()
}

// checkFraming answers an ambiguous request with 400 and closes its connection.
func (s *Server) checkFraming(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		f := parseFraming(string(c.Request.Header.Protocol()), c.Request.Header.RawHeaders())
		if !isUnambiguous(c, f) {
			s.refuseUnread(c, fiber.ErrBadRequest)
			c.SetConnectionClose()
			return
		}
		if f.chunked {
			dropTrailers(&c.Request.Header)
		}
		next(c)
		if f.closes {
			c.SetConnectionClose()
		}
	}
}
