package server

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
)

// done tells logs, metrics and traces of a request that is answered.
func (s *Server) done(c *fiber.Ctx, x *exchange, took time.Duration) {
	s.Metrics.ended(x, verb(c), c.Response().StatusCode(), sentBytes(c), took)
	s.endSpan(c, x)
	s.line(c, x, took)
}

// sentBytes is the length of the body of a reply, as it is sent.
func sentBytes(c *fiber.Ctx) int {
	if c.Method() == fiber.MethodHead {
		return 0
	}
	if c.Response().IsBodyStream() {
		return c.Response().Header.ContentLength() // asking for the body would read it
	}
	return len(c.Response().Body())
}

// line logs the request: one line, at a level that follows the status. It has neither the path nor the query, in which
// there may be passwords, nor anything of the body.
func (s *Server) line(c *fiber.Ctx, x *exchange, took time.Duration) {
	status := c.Response().StatusCode()
	level := slog.LevelInfo
	var away *turnedAway
	switch {
	case errors.As(x.failed, &away) && status >= 500:
		level = slog.LevelWarn
	case x.probe:
		level = slog.LevelDebug
	case status >= 500:
		level = slog.LevelError
	}
	if s.Quiet && level < slog.LevelWarn || !s.Log.Enabled(context.Background(), level) {
		return
	}
	// Without the place in the source, which is always this one and takes time to find.
	line := slog.NewRecord(x.began.Add(took), level, "request", 0)
	line.AddAttrs(
		slog.String("id", x.id), slog.String("method", verb(c)), slog.String("route", x.route),
		slog.Int("status", status), slog.Duration("took", took), slog.Int("bytes", sentBytes(c)),
		slog.String("client", x.client.String()),
	)
	if !x.caller.Anonymous() {
		line.AddAttrs(slog.String("user", x.caller.Login))
	}
	if id := x.traceID(); id != "" {
		line.AddAttrs(slog.String("trace", id))
	}
	switch {
	case away != nil:
		line.AddAttrs(slog.String("reason", away.reason))
	case status >= 500 && x.failed != nil:
		line.AddAttrs(slog.Any("error", x.failed))
	}
	_ = s.Log.Handler().Handle(context.Background(), line) // as the logger does: there is nowhere to say so
}

// verb is the method of a request, as a string that outlives it.
func verb(c *fiber.Ctx) string {
	if i := slices.Index(fiber.DefaultMethods, c.Method()); i >= 0 {
		return fiber.DefaultMethods[i]
	}
	return "other"
}

// maxRequestID bounds what a client may have us log.
const maxRequestID = 128

// requestID is the id that a client or proxy gave a request, if it is one that does no harm in a log, or a new one.
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
