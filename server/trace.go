package server

import (
	"context"
	"net/http"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// headerCarrier lets OpenTelemetry read the headers of a request.
type headerCarrier struct{ h *fasthttp.RequestHeader }

// Get implements propagation.TextMapCarrier.
func (c headerCarrier) Get(name string) string { return string(c.h.Peek(name)) }

// Set implements propagation.TextMapCarrier and does nothing.
func (headerCarrier) Set(string, string) {}

// Keys implements propagation.TextMapCarrier.
func (c headerCarrier) Keys() []string {
	var out []string
	for name := range c.h.All() {
		out = append(out, string(name))
	}
	return out
}

// startSpan starts the trace span of a request. The span belongs to the trace that the traceparent header names.
func (s *Server) startSpan(c *fiber.Ctx, x *exchange) {
	if s.Tracer == nil {
		return
	}
	ctx := propagation.TraceContext{}.Extract(x.ctx, headerCarrier{&c.Request().Header})
	x.ctx, x.span = s.Tracer.Start(ctx, knownMethod(c), trace.WithSpanKind(trace.SpanKindServer))
}

// endSpan describes the request in its trace span and ends the span. It leaves out the query, which may contain a
// password.
func (s *Server) endSpan(c *fiber.Ctx, x *exchange) {
	if x.span == nil {
		return
	}
	status := c.Response().StatusCode()
	if x.span.IsRecording() {
		if x.route != "" {
			x.span.SetName(knownMethod(c) + " " + x.route)
			x.span.SetAttributes(attribute.String("http.route", x.route))
		}
		x.span.SetAttributes(
			attribute.String("http.request.method", knownMethod(c)),
			attribute.Int("http.response.status_code", status),
			attribute.Int("http.response.body.size", sentBytes(c)),
			attribute.String("client.address", x.client.String()),
			attribute.String("request.id", x.id),
		)
		if status >= http.StatusInternalServerError {
			x.span.SetStatus(codes.Error, http.StatusText(status))
		}
	}
	x.span.End()
}

// traceID returns the trace id of a request, or "" if the request is not traced.
func (x *exchange) traceID() string {
	if x.span == nil || !x.span.SpanContext().IsValid() {
		return ""
	}
	return x.span.SpanContext().TraceID().String()
}

// SQLSpans returns a hook for store.Watch that records a span for each statement of a traced request. system is
// "mysql" or "sqlite".
func SQLSpans(tracer trace.Tracer, system string) func(context.Context, string, string) (context.Context, func(error)) {
	return func(ctx context.Context, operation, statement string) (context.Context, func(error)) {
		if !trace.SpanFromContext(ctx).IsRecording() {
			return ctx, func(error) {}
		}
		ctx, span := tracer.Start(ctx, operation, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			attribute.String("db.system.name", system), attribute.String("db.operation.name", operation),
			attribute.String("db.query.text", statement),
		))
		return ctx, func(err error) {
			if err != nil {
				span.SetStatus(codes.Error, "")
			}
			span.End()
		}
	}
}
