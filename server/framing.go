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

// framing describes where a request ends, by its header lines. If lines contradict each other, fasthttp reads the last
// one and a proxy may read another. The proxy may then take a part of a body for a request (request smuggling).
type framing struct {
	ambiguous bool // the lines contradict each other, or the host is not valid
	hostless  bool // a host is missing, which HTTP/1.1 requires
	chunked   bool
	length    int64 // of the body, if it is not chunked
	closes    bool  // the client asks to close the connection, in a form that fasthttp does not know
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

// splitField splits a line of headers or trailers. It refuses lines that are no field or continue the line before,
// names that are no token, and values with control characters.
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

// bodyLength parses the value of a Content-Length.
func bodyLength(value []byte) (n int64, ok bool) {
	const digits = 18 // fit
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, len(value) > 0 && len(value) <= digits
}

// framingError is the error of reading a request that is ambiguous.
type framingError struct {
	request uint64 // on the connection, from 1
}

func (e *framingError) Error() string {
	return "the request is not framed as RFC 9112, sections 5 to 7, requires"
}

// framer parses what a connection receives, and stops at a chunk that fasthttp and a proxy would read differently. For
// example, fasthttp takes the size "0x10" for that of the last chunk. It stops after ambiguous headers as well:
// checkFraming sees them as fasthttp has rewritten them, with a line that continues another joined to it.
type framer struct {
	at   framingState
	line []byte // what is parsed by lines: headers, the size of a chunk, trailers
	from int    // where the last line begins
	left int64  // missing bytes of the body or the chunk

	request uint64 // on the connection, from 1
}

// framingState is a part of a request.
type framingState int

const (
	inHead framingState = iota
	inBody
	inChunkSize
	inChunk
	inChunkEnd
	inTrailers
	inRest    // after headers that are too long
	inRefusal // after headers that are ambiguous
)

// maxChunkLine bounds the size of a chunk with its extensions, in bytes.
const maxChunkLine = 256

// inspect parses received bytes. It returns how many of them may be read, and a framingError if the rest may not.
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

// enter starts a part of the request.
func (f *framer) enter(at framingState) { f.at, f.line, f.from = at, f.line[:0], 0 }

// readLine appends to line until the end of a line, and returns the number of bytes. whole is the line without its end.
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
	case len(f.line) > 2*maxHeader: // more than fasthttp reads
		f.enter(inRest)
	case !ended:
	case len(bytes.TrimSuffix(line, []byte("\r"))) > 0:
	case len(f.line) <= len("\r\n"): // an empty line before the request
		f.enter(inHead)
	default:
		f.enterBody()
	}
	return n
}

// enterBody starts the part that the headers announce.
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

// skip passes over a body or a chunk.
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

// chunkSize parses the line before a chunk: hexadecimal digits, and extensions, which it ignores.
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
	// fasthttp takes a trailer that begins with a zero for the rest of a chunk.
	_, _, ok = splitField(line)
	return n, ok && line[0] != '0'
}

// hasText compares ignoring case.
func hasText(text []byte, word string) bool {
	return len(text) == len(word) && bytes.EqualFold(text, []byte(word))
}

// dropTrailers removes trailers, which fasthttp adds to the headers. The client writes them, and proxies do not check
// them as they do headers (RFC 9110, section 6.5.1).
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

// isUnambiguous reports whether a request has one possible end. A request that a test makes in this process has no
// connection, and its host is in its first line.
func isUnambiguous(c *fasthttp.RequestCtx, f framing) bool {
	conn, ok := c.Conn().(interface{ Refused() error })
	if !ok || f.ambiguous || f.hostless {
		return !ok && !f.ambiguous
	}
	// fasthttp takes an error while reading trailers for their end, and reads ambiguous headers before the error.
	var refused *framingError
	return !errors.As(conn.Refused(), &refused) || refused.request > c.ConnRequestNum()
}

// checkFraming refuses a request that is ambiguous, and closes its connection.
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
