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

// framing is what the lines of a request's head say about where it ends. fasthttp takes the last of lines that contradict
// each other, and so may others on the way take another: what one reads as a body is the next request to the other.
type framing struct {
	wrong    bool // it can be read in two ways, or its host is not valid
	hostless bool // HTTP/1.1 wants a host, and there is none
	chunked  bool
	length   int64 // of the body, if it is not chunked
	last     bool  // the client wants the connection closed, in words that fasthttp does not know
}

// framingOf reads the lines as they came (RFC 9112, sections 3.2, 5, 6.1 and 6.3; RFC 9110, sections 5.5 and 7.6.1).
func framingOf(protocol string, lines []byte) framing {
	var f framing
	f.wrong = protocol != "HTTP/1.1" && protocol != "HTTP/1.0"
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
			continue // the end of the head
		}
		name, value, ok := field(line)
		f.wrong = f.wrong || !ok
		switch {
		case is(name, fiber.HeaderHost):
			hosts++
			f.wrong = f.wrong || !httpguts.ValidHostHeader(string(value))
		case is(name, fiber.HeaderContentLength):
			lengths++
			f.length, ok = bodyLength(value)
			f.wrong = f.wrong || !ok
		case is(name, fiber.HeaderTransferEncoding):
			codings++
			f.chunked = true
			f.wrong = f.wrong || !is(value, "chunked") || protocol == "HTTP/1.0"
		case is(name, fiber.HeaderConnection):
			for option := range bytes.SplitSeq(value, []byte(",")) {
				f.last = f.last || is(bytes.TrimSpace(option), "close")
			}
		}
	}
	f.wrong = f.wrong || lengths+codings > 1 || hosts > 1
	f.hostless = hosts == 0 && protocol == "HTTP/1.1"
	return f
}

// field splits a line of a head or of trailers. ok is false for a line that is none, one that continues the line before,
// a name that is no token, and a value with control characters.
func field(line []byte) (name, value []byte, ok bool) {
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

// bodyLength reads the value of a Content-Length.
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

// framingError is the error of reading a chunked body that can be read in two ways.
type framingError struct {
	request uint64 // of the connection, from 1
}

func (e *framingError) Error() string {
	return "the chunks of the body are not those of RFC 9112, section 7.1"
}

// framer follows the requests that a connection receives, and stops at chunks that fasthttp would read in another way
// than others on the way: it takes the "0x10" of another for the last chunk. Everything before the chunks passes:
// framed refuses it.
type framer struct {
	at   part
	line []byte // of what is read by lines: the head, the size of a chunk, trailers
	from int    // where the last line of line begins
	left int64  // bytes of the body or the chunk that have not come yet

	request uint64 // of the connection, from 1
}

// part is a part of a request.
type part int

const (
	inHead part = iota
	inBody
	inChunkSize
	inChunk
	inChunkEnd
	inTrailers
	unread // the connection ends after the request
)

// maxChunkLine bounds the size of a chunk with its extensions, in bytes.
const maxChunkLine = 256

// inspect follows what was received. It returns how much of it may be read, and a framingError after that.
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
	}
	return len(received), nil
}

// next goes on to another part.
func (f *framer) next(at part) { f.at, f.line, f.from = at, f.line[:0], 0 }

// readLine adds to line until the end of a line, and returns how much it has taken. whole is the line without its end.
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
		f.next(unread)
	case !ended:
	case len(bytes.TrimSuffix(line, []byte("\r"))) > 0:
	case len(f.line) <= len("\r\n"): // an empty line before the request
		f.next(inHead)
	default:
		f.begin()
	}
	return n
}

// begin goes on to what the head announces.
func (f *framer) begin() {
	first, lines, _ := bytes.Cut(f.line, []byte("\n"))
	first = bytes.TrimSuffix(first, []byte("\r"))
	found := framingOf(string(first[bytes.LastIndexByte(first, ' ')+1:]), lines)
	f.left = found.length
	f.request++
	switch {
	case found.wrong || found.hostless:
		f.next(unread)
	case found.chunked:
		f.next(inChunkSize)
	case f.left > 0:
		f.next(inBody)
	default:
		f.next(inHead)
	}
}

// skip passes over bytes that mean nothing here.
func (f *framer) skip(received []byte) (n int) {
	n = int(min(f.left, int64(len(received))))
	if f.left -= int64(n); f.left == 0 {
		if f.at == inChunk {
			f.left = int64(len("\r\n"))
			f.next(inChunkEnd)
		} else {
			f.next(inHead)
		}
	}
	return n
}

func (f *framer) readChunkEnd(received []byte) (n int, ok bool) {
	if received[0] != "\n\r"[f.left-1] {
		return 0, false
	}
	if f.left--; f.left == 0 {
		f.next(inChunkSize)
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
		f.next(inTrailers)
	} else {
		f.next(inChunk)
	}
	return n, true
}

// chunkSize reads the line before a chunk: hexadecimal digits, and extensions that mean nothing here.
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
		f.next(inHead)
		return n, true
	}
	// fasthttp takes trailers that begin with a zero for the rest of a chunk.
	_, _, ok = field(line)
	return n, ok && line[0] != '0'
}

func is(text []byte, word string) bool {
	return len(text) == len(word) && bytes.EqualFold(text, []byte(word))
}

// dropTrailers takes back what fasthttp has added to the headers from behind a chunked body: they are by whoever sent the
// body, not by the proxies that have written headers (RFC 9110, section 6.5.1).
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
		if len(values) <= most || is([]byte(name), fiber.HeaderContentLength) {
			continue
		}
		h.Del(name)
		for _, v := range values[:most] {
			h.Add(name, v)
		}
	}
}

// mayServe reports whether a request ends in one place only. A request that was made in this process has no connection:
// its host is in its first line.
func mayServe(c *fasthttp.RequestCtx, f framing) bool {
	conn, ok := c.Conn().(interface{ Refused() error })
	if !ok || f.wrong || f.hostless {
		return !ok && !f.wrong
	}
	// fasthttp takes an error of reading trailers for their end.
	var refused *framingError
	return !errors.As(conn.Refused(), &refused) || refused.request > c.ConnRequestNum()
}

// framed is next for requests that end in one place only. After others the connection is of no use.
func (s *Server) framed(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		f := framingOf(string(c.Request.Header.Protocol()), c.Request.Header.RawHeaders())
		if !mayServe(c, f) {
			s.refuseUnread(c, fiber.ErrBadRequest)
			c.SetConnectionClose()
			return
		}
		if f.chunked {
			dropTrailers(&c.Request.Header)
		}
		next(c)
		if f.last {
			c.SetConnectionClose()
		}
	}
}
