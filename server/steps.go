package server

import (
	"context"
	"net/netip"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/trace"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/idempotency"
)

// useSteps registers the steps of a request in their order (contract, section 3). A step calls c.Next, answers, or
// returns an error. A request that newApp refuses passes none of them.
func (s *Server) useSteps() {
	s.app.Use(
		// These steps finish every reply, the last one first.
		s.identify,      // identify.go: id, client, time
		s.report,        // report.go: metrics, span, log line
		s.send,          // send.go: memory for the reply
		s.setHeaders,    // headers.go
		s.serveHealth,   // health.go: /healthz, /readyz, /readyz/write
		s.writeErrors,   // errors.go: error to status, code, message
		s.recoverPanics, // errors.go: panic to error

		// A reply from the cache passes these steps only.
		s.locate,          // route.go: API or not, language
		s.limitAddress,    // rates.go: 429
		s.checkConditions, // conditional.go: ETag, Cache-Control, 304, 412
		s.serveCached,     // cache.go

		// All other requests do the work.
		s.enterGate,      // gates.go: deadline, 503
		s.match,          // route.go: the route of the path
		s.limitUnknown,   // rates.go: 429
		s.limitURL,       // limits.go: 413
		s.serveFiles,     // files.go: /media/
		s.serveSitemaps,  // sitemaps.go: robots.txt, sitemaps
		s.serveCalendar,  // calendar.go: pages of the calendar
		s.servePages,     // pages.go: start page, reference, their assets
		s.requirePath,    // route.go: 404
		s.serveOptions,   // route.go: OPTIONS
		s.requireMethod,  // route.go: 404 with Allow
		s.extendDeadline, // limits.go: uploads
		s.authenticate,   // authenticate.go: 401
		s.limitCaller,    // rates.go: 429
		s.limitBody,      // limits.go: 413
		s.enterLargeGate, // gates.go: 503
		s.expireRevision, // cache.go: after a write
		s.applyKey,       // idempotency.go: Idempotency-Key
		s.serveResource,  // resource.go: package handlers
	)
}

// exchange is a request with what its steps have found out about it.
type exchange struct {
	id     string // X-Request-Id
	began  time.Time
	now    time.Time // by the clock of the site: UTC, whole seconds
	client netip.Addr

	health    bool // the path is one of serveHealth
	api       bool // the path is below the API
	sitemap   bool // the path is that of a sitemap
	document  bool // the reply is a page of servePages
	longURL   bool // the URL is too long
	root      handlers.Root
	rest      string          // path below the API; outside the API, below the base URL
	match     *handlers.Match // nil means no route has the path
	page      *handlers.Page  // of the calendar; nil means that the path has none
	errorPage bool            // an error is answered with a page
	route     string          // in metrics and logs
	lang      calendar.Language
	caller    auth.Principal

	rate *rateState // nil means no rate applies
	slot gateSlot   // place behind a gate

	claim    *idempotency.Claim // of the idempotency key; nil means none
	replayed bool               // the reply repeats that of an earlier request

	revision  int64     // revision of the reply that the cache makes; 0 means none
	tag       string    // entity tag of a read; "" for all else
	until     time.Time // when the reply to a read changes without a write; zero means never
	unchanged handlers.Unchanged
	failed    error // what writeErrors has answered

	ctx    context.Context // with the deadline of the work
	cancel context.CancelFunc
	span   trace.Span // nil without a tracer
}

// isFeed reports whether the request is for a feed. Feeds are served anonymously, in the language of their address.
func (x *exchange) isFeed() bool { return x.api && x.root.IsFeed() }

// exchangeKey is the key of an exchange among the values of a Fiber context.
type exchangeKey struct{}

// exchangeOf returns the exchange that identify has attached.
func exchangeOf(c *fiber.Ctx) *exchange {
	return c.Locals(exchangeKey{}).(*exchange) //nolint:forcetypeassert // identify is the first step
}

// setDeadline replaces x.ctx by a context that ends after the timeout.
func (x *exchange) setDeadline(c *fiber.Ctx, timeout time.Duration) {
	x.cancel()
	ctx := context.Background()
	if x.span != nil {
		ctx = trace.ContextWithSpan(ctx, x.span)
	}
	x.ctx, x.cancel = context.WithTimeout(ctx, timeout)
	c.SetUserContext(x.ctx)
}
