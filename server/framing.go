package server

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// framing is what the lines of a request's head say about where it ends. fasthttp takes the last of lines that contradict
// each other, and so may others on the way take another: what one reads as a body is the next request to the other.
type framing struct {
	wrong   bool // it can be read in two ways
	chunked bool
	last    bool // the client wants the connection closed, in words that fasthttp does not know
}

// framingOf looks at the lines as they came (RFC 9112, sections 3.2, 6.1 and 6.3; RFC 9110, sections 5.5 and 7.6.1). That
// there is no Host does not matter here: no reply depends on it.
func framingOf(h *fasthttp.RequestHeader) framing {
	var f framing
	protocol := string(h.Protocol())
	f.wrong = protocol != "HTTP/1.1" && protocol != "HTTP/1.0"
	hosts, lengths, codings := 0, 0, 0
	for raw := h.RawHeaders(); len(raw) > 0; {
		line := raw
		if i := bytes.IndexByte(raw, '\n'); i < 0 {
			raw = nil
		} else {
			line, raw = raw[:i], raw[i+1:]
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if bytes.IndexByte(line, '\r') >= 0 || bytes.IndexByte(line, 0) >= 0 {
			f.wrong = true
		}
		if len(line) == 0 || !strings.ContainsRune("hctHCT", rune(line[0])) {
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case is(name, fiber.HeaderHost):
			hosts++
		case is(name, fiber.HeaderContentLength):
			lengths++
		case is(name, fiber.HeaderTransferEncoding):
			codings++
			f.chunked = true
			f.wrong = f.wrong || !is(bytes.TrimSpace(value), "chunked") || protocol == "HTTP/1.0"
		case is(name, fiber.HeaderConnection):
			for option := range bytes.SplitSeq(value, []byte(",")) {
				f.last = f.last || is(bytes.TrimSpace(option), "close")
			}
		}
	}
	f.wrong = f.wrong || lengths+codings > 1 || hosts > 1
	return f
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

// framed is next for requests that end in one place only. After others the connection is of no use.
func (s *Server) framed(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		f := framingOf(&c.Request.Header)
		if f.wrong {
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
