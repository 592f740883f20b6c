package server

import (
	"runtime"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/param"
)

// maxBody to maxHeader are the largest sizes of a request's parts, in bytes.
const (
	maxBody = param.MaxBody // body without files
	// body received before it is refused, so that a wrong route or wrong credentials are answered first
	maxRead   = 4 * maxBody
	maxUpload = media.MaxBytes + 64<<10 // a picture with the form around it
	maxHeader = 16 << 10                // request line and headers
	maxURL    = param.MaxURL
)

// LeastReceiving is the minimum of Limits.Receiving: one upload with its headers.
const LeastReceiving = maxUpload + maxHeader + 64<<10

// headTime to idleTime are the longest times that a client may take. A slow client occupies only its connection. Work
// begins when the request is complete, and sending when the reply is complete.
const (
	headTime   = 10 * time.Second // to send the request line and headers
	bodyTime   = 30 * time.Second // to send a body
	uploadTime = 2 * time.Minute  // to send a file
	writeTime  = 60 * time.Second // to receive a reply
	idleTime   = 90 * time.Second // between requests; longer than most proxies keep an idle connection
)

// Limits bounds what the server does. In the zero value, times and Concurrent have defaults, and nothing else is
// limited.
type Limits struct {
	// Timeout bounds the work on one request, including SQL. 0 means 15 s.
	Timeout time.Duration
	// UploadTimeout replaces Timeout for routes that accept files. 0 means 60 s.
	UploadTimeout time.Duration

	// Concurrent bounds the requests worked on at the same time. 0 means 32 for each processor.
	Concurrent int
	// Connections bounds the open connections of all clients. 0 means no limit.
	Connections int
	// ConnectionsByAddress bounds the open connections of one address. It does not apply to proxies, private
	// addresses and this machine. 0 means no limit.
	ConnectionsByAddress int
	// Sending bounds the bytes of replies of 16 KiB and more that clients have not received yet, of all connections
	// together. Beyond it the server refuses reads. It always sends replies to writes. 0 means no limit.
	Sending int64
	// Receiving bounds the bytes of unanswered requests, received or announced. 0 means no limit. One address may
	// use a quarter of it, and at least LeastReceiving. That share does not apply to proxies, private addresses
	// and this machine.
	Receiving int64

	Rates   Rates
	Proxies limit.Proxies // proxies trusted to forward the address of a client
	// Forwarded means that the address of a client is in the Forwarded header (RFC 7239), not in X-Forwarded-For.
	Forwarded bool
}

func (l *Limits) setDefaults() {
	if l.Timeout == 0 {
		l.Timeout = 15 * time.Second
	}
	if l.UploadTimeout == 0 {
		l.UploadTimeout = 60 * time.Second
	}
	if l.Concurrent == 0 {
		l.Concurrent = 32 * runtime.GOMAXPROCS(0)
	}
}

// limitURL refuses a request whose URL is too long.
func (s *Server) limitURL(c *fiber.Ctx) error {
	if exchangeOf(c).longURL {
		return errLarge
	}
	return c.Next()
}

// extendDeadline gives requests to routes that accept files the deadline UploadTimeout.
func (s *Server) extendDeadline(c *fiber.Ctx) error {
	if x := exchangeOf(c); x.match.Upload() {
		x.setDeadline(c, s.UploadTimeout)
	}
	return c.Next()
}

// limitBody refuses a request whose body is too large for its route.
func (s *Server) limitBody(c *fiber.Ctx) error {
	// BodyRaw returns the body as it was sent. Body would decompress it to any size.
	if len(c.BodyRaw()) > maxBody && (!exchangeOf(c).match.Upload() || !carriesFiles(&c.Request().Header)) {
		return errLarge
	}
	return c.Next()
}
