package server

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/handlers/endpoint"
)

// report counts, traces and logs every request.
func (s *Server) report(c *fiber.Ctx) error {
	x := exchangeOf(c)
	s.startSpan(c, x)
	s.Metrics.requestStarted()
	err := c.Next()
	s.reportReply(c, x, time.Since(x.began))
	return err
}

func (s *Server) reportReply(c *fiber.Ctx, x *exchange, took time.Duration) {
	s.Metrics.requestEnded(x, knownMethod(c), c.Response().StatusCode(), sentBytes(c), took)
	s.endSpan(c, x)
	s.logRequest(c, x, took)
}

// logRequest logs one line for a request. The status decides its level. Path, query and body are left out, since
// they may contain passwords. Names of ignored parameters are included, without their values.
func (s *Server) logRequest(c *fiber.Ctx, x *exchange, took time.Duration) {
	status := c.Response().StatusCode()
	level := slog.LevelInfo
	var refused *refusedError
	switch {
	case errors.As(x.failed, &refused) && status >= 500:
		level = slog.LevelWarn
	case x.kind == kindHealth:
		level = slog.LevelDebug
	case status >= 500:
		level = slog.LevelError
	}
	if s.Quiet && level < slog.LevelWarn || !s.Log.Enabled(context.Background(), level) {
		return
	}
	// The log record has no source position, which would always be this line and takes time to find.
	line := slog.NewRecord(x.began.Add(took), level, "request", 0)
	line.AddAttrs(
		slog.String("id", x.id), slog.String("method", knownMethod(c)), slog.String("route", x.route),
		slog.Int("status", status), slog.Duration("took", took), slog.Int("bytes", sentBytes(c)),
		slog.String("client", x.client.String()),
	)
	if !x.caller.Anonymous() {
		line.AddAttrs(slog.String("user", x.caller.Login))
	}
	if names := c.Response().Header.Peek(endpoint.HeaderIgnored); len(names) > 0 {
		line.AddAttrs(slog.String("ignored", string(names)))
	}
	if id := x.traceID(); id != "" {
		line.AddAttrs(slog.String("trace", id))
	}
	switch {
	case refused != nil:
		line.AddAttrs(slog.String("reason", refused.reason))
	case status >= 500 && x.failed != nil:
		line.AddAttrs(slog.Any("error", x.failed))
	}
	_ = s.Log.Handler().Handle(context.Background(), line) // slog.Logger ignores the error as well
}

// knownMethod returns the HTTP method of a request, or "other" if Fiber does not know it. The returned string
// stays valid after the request.
func knownMethod(c *fiber.Ctx) string {
	if i := slices.Index(fiber.DefaultMethods, c.Method()); i >= 0 {
		return fiber.DefaultMethods[i]
	}
	return "other"
}
