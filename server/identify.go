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

// headerRequestID is the header with the id of a request, which the log shows too. A client or proxy may choose
// the id.
const headerRequestID = "X-Request-Id"

// identify creates the exchange of a request, and releases its resources after the reply.
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

// startReply sets the header with the request id, and makes the reply keep the case of header names.
func startReply(c *fiber.Ctx, x *exchange) {
	// Header names keep their documented case, X-TEC-Total instead of X-Tec-Total, because some clients compare
	// it.
	c.Response().Header.DisableNormalizing()
	c.Set(headerRequestID, x.id)
}

// maxRequestID bounds the request ids that clients may choose, in bytes.
const maxRequestID = 128

// requestID returns the request id that a client or proxy has given. It makes a random one if that id is empty,
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

// clientAddress returns the address of the client. If a trusted proxy connects, that is the forwarded address.
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
