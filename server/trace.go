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

// carrier reads the headers of a request.
type carrier struct{ h *fasthttp.RequestHeader }

// Get implements propagation.TextMapCarrier.
func (c carrier) Get(name string) string { return string(c.h.Peek(name)) }

// Set implements propagation.TextMapCarrier. A request that came in is not changed.
func (carrier) Set(string, string) {}

// Keys implements propagation.TextMapCarrier.
func (c carrier) Keys() []string {
	var out []string
	c.h.VisitAll(func(name, _ []byte) { out = append(out, string(name)) })
	return out
}

// startSpan begins the span of a request, within the trace that traceparent names.
func (s *Server) startSpan(c *fiber.Ctx, x *exchange) {
	if s.Tracer == nil {
		return
	}
	ctx := propagation.TraceContext{}.Extract(x.ctx, carrier{&c.Request().Header})
	x.ctx, x.span = s.Tracer.Start(ctx, verb(c), trace.WithSpanKind(trace.SpanKindServer))
}

// endSpan ends it, with what is known by then. The query is left out: there may be a password in it.
func (s *Server) endSpan(c *fiber.Ctx, x *exchange) {
	if x.span == nil {
		return
	}
	status := c.Response().StatusCode()
	if x.span.IsRecording() {
		if x.route != "" {
			x.span.SetName(verb(c) + " " + x.route)
			x.span.SetAttributes(attribute.String("http.route", x.route))
		}
		x.span.SetAttributes(
			attribute.String("http.request.method", verb(c)),
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

// traceID is that of the trace a request belongs to, "" for none.
func (x *exchange) traceID() string {
	if x.span == nil || !x.span.SpanContext().IsValid() {
		return ""
	}
	return x.span.SpanContext().TraceID().String()
}

// SQLSpans makes a span of each statement, in the form that store.Watch takes. system is "mysql" or "sqlite". Only
// statements within a request are traced.
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
