package server

import (
	"runtime"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/internal/media"
)

// Sizes of what a client sends, in bytes.
const (
	maxBody   = 1 << 20                 // without files
	maxRead   = 4 * maxBody             // received, so that a wrong route and wrong credentials are answered first
	maxUpload = media.MaxBytes + 64<<10 // the file and the form around it
	maxHeader = 16 << 10                // request line and headers
	maxURL    = 8 << 10
)

// LeastReceiving is the minimum of Limits.Receiving: one upload with its headers.
const LeastReceiving = maxUpload + maxHeader + 64<<10

// How long a client may take. A slow client occupies only its connection. The work begins when the request is complete,
// and sending begins when the reply is complete.
const (
	headTime   = 10 * time.Second // to send the request line and headers
	bodyTime   = 30 * time.Second // to send a body
	uploadTime = 2 * time.Minute  // to send a file
	writeTime  = 60 * time.Second // to receive a reply
	idleTime   = 90 * time.Second // between requests; longer than the usual proxy keeps a connection
)

// Limits bounds what the server does. The zero value has the defaults and no rates.
type Limits struct {
	Timeout       time.Duration // of one request's work, SQL included; 0 means 15 s
	UploadTimeout time.Duration // the same for routes that take files; 0 means 60 s

	Concurrent  int // requests at once; 0 means 32 for each processor
	Connections int // 0 means no limit
	// ConnectionsByAddress does not apply to proxies, private addresses and this machine. 0 means no limit.
	ConnectionsByAddress int
	// Sending bounds the bytes of replies that clients have not received yet. 0 means no limit.
	Sending int64
	// Receiving bounds the bytes of unanswered requests, received or announced. 0 means no limit. One address may have a
	// quarter of it, and LeastReceiving in any case. That share does not apply to proxies, private addresses and this
	// machine.
	Receiving int64

	Rates   Rates
	Proxies limit.Proxies // trusted to forward the address of a client
	// Forwarded has proxies forward the address in Forwarded (RFC 7239) instead of X-Forwarded-For.
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

// limitURL refuses a URL that is too long.
func (s *Server) limitURL(c *fiber.Ctx) error {
	if exchangeOf(c).longURL {
		return errLarge
	}
	return c.Next()
}

// extendDeadline gives uploads more time.
func (s *Server) extendDeadline(c *fiber.Ctx) error {
	if x := exchangeOf(c); x.match.Upload() {
		x.setDeadline(c, s.UploadTimeout)
	}
	return c.Next()
}

// limitBody refuses a body that is too large for its route.
func (s *Server) limitBody(c *fiber.Ctx) error {
	// BodyRaw is the body as it was sent. Body would unpack a compressed one to any size.
	if len(c.BodyRaw()) > maxBody && (!exchangeOf(c).match.Upload() || !carriesFiles(&c.Request().Header)) {
		return errLarge
	}
	return c.Next()
}
