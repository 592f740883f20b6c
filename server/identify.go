package server

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/internal/limit"
)

// headerRequestID names a request, in its reply and in the log. A client or proxy may choose the name.
const headerRequestID = "X-Request-Id"

// identify attaches an exchange to the request and releases its resources at the end.
func (s *Server) identify(c *fiber.Ctx) error {
	x := s.newExchange(c)
	c.Locals(exchangeKey{}, x)
	defer func() {
		x.cancel()
		x.leaveGate()
	}()
	startReply(c, x)
	return c.Next()
}

func (s *Server) newExchange(c *fiber.Ctx) *exchange {
	return &exchange{
		began: time.Now(), id: requestID(c.Request().Header.Peek(fiber.HeaderXRequestID)), now: s.Site.Now().UTC().Truncate(time.Second),
		client: s.clientAddress(c), lang: s.Site.Language, ctx: context.Background(), cancel: func() {},
	}
}

// startReply sets what an empty reply has.
func startReply(c *fiber.Ctx, x *exchange) {
	// Names have their documented letters: X-TEC-Total, not X-Tec-Total. Some clients compare them.
	c.Response().Header.DisableNormalizing()
	c.Set(headerRequestID, x.id)
}

// maxRequestID bounds the request ids of clients in the log, in bytes.
const maxRequestID = 128

// requestID returns the id that a client or proxy has given a request. It makes a new one if the given one is empty,
// too long or unsafe in a log.
func requestID(given []byte) string {
	if isRequestID(given) {
		return string(given)
	}
	var id [8]byte
	binary.BigEndian.PutUint64(id[:], rand.Uint64()) //nolint:gosec // it is no secret, only another one each time
	return hex.EncodeToString(id[:])
}

func isRequestID(id []byte) bool {
	for _, b := range id {
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9':
		case b == '-', b == '_', b == '.', b == ':', b == '/', b == '+', b == '=', b == '@', b == '~':
		default:
			return false
		}
	}
	return len(id) > 0 && len(id) <= maxRequestID
}

// clientAddress returns the address of the client, as forwarded if a trusted proxy connects.
func (s *Server) clientAddress(c *fiber.Ctx) netip.Addr {
	peer := limit.Peer(c.Context().RemoteAddr())
	if len(s.Proxies) == 0 || !s.Proxies.Trusted(peer) {
		return peer
	}
	name, parse := fiber.HeaderXForwardedFor, limit.ForwardedFor
	if s.Forwarded {
		name, parse = "Forwarded", limit.Forwarded
	}
	var values []string
	for _, v := range c.Request().Header.PeekAll(name) {
		values = append(values, string(v))
	}
	return s.Proxies.Client(peer, parse(values...))
}
