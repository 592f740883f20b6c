package server

import (
	"time"

	"github.com/gofiber/fiber/v2"
)

// sendBuffer is the memory in bytes that sending a file takes. It is for buffers of the connection, not for the
// file.
const sendBuffer = 32 << 10

// send reserves memory for replies that clients receive slowly. While the server drains, it closes the connection
// after the reply.
func (s *Server) send(c *fiber.Ctx) error {
	err := c.Next()
	s.reserve(c, exchangeOf(c))
	if s.draining.Load() {
		c.Response().SetConnectionClose()
	}
	return err
}

// reserve reserves memory for a reply, and makes its headers and body leave in one write. If there is no memory
// left, a read is refused. The reply to a write is always sent.
func (s *Server) reserve(c *fiber.Ctx, x *exchange) {
	conn, ok := c.Context().Conn().(interface {
		Gather(body int)
		Reserve(size int) bool
	})
	if !ok {
		return
	}
	res := c.Response()
	if c.Method() == fiber.MethodHead {
		conn.Gather(0)
		return
	}
	size := sentBytes(c)
	inMemory := size
	if res.IsBodyStream() {
		inMemory = min(size, sendBuffer)
	}
	if !conn.Reserve(inMemory) && isRead(c) {
		res.Reset()
		startReply(c, x)
		x.failed = &refusedError{error: errBusy, retry: time.Second, reason: reasonSending}
		s.writeError(c, x)
		s.writeHeaders(c, x)
	}
	if res.StatusCode() == fiber.StatusOK && !res.IsBodyStream() {
		conn.Gather(size)
	} else {
		conn.Gather(0)
	}
}

// sentBytes returns the length in bytes of the body as it is sent. It is 0 for HEAD.
func sentBytes(c *fiber.Ctx) int {
	if c.Method() == fiber.MethodHead {
		return 0
	}
	if c.Response().IsBodyStream() {
		return c.Response().Header.ContentLength() // calling Body would read the stream
	}
	return len(c.Response().Body())
}
