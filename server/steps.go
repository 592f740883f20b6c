package server

import (
	"context"
	"net/netip"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/trace"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/handlers/pages"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/idempotency"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/reply"
)

// useSteps registers the steps of a request in their order (contract, section 3). A step calls c.Next, replies,
// or returns an error. A request that newApp refuses passes none of the steps.
func (s *Server) useSteps() {
	s.app.Use(
		// Every reply passes these steps. Each finishes the reply after the steps below it.
		s.identify,      // identify.go: id, client, time
		s.report,        // report.go: metrics, span, log line
		s.send,          // send.go: memory for the reply
		s.setHeaders,    // headers.go
		s.serveHealth,   // health.go: /healthz, /readyz, /readyz/write
		s.writeErrors,   // errors.go: error to status, code, message
		s.recoverPanics, // errors.go: panic to error

		// A reply from the cache passes only the steps above and these.
		s.locate,           // route.go: API or not, language
		s.limitAddress,     // rates.go: 429
		s.redirectLanguage, // route.go: 301
		s.checkConditions,  // conditional.go: ETag, Cache-Control, 304, 412
		s.serveCached,      // cached.go

		// All other requests pass the steps below, too.
		s.enterGate,      // gates.go: deadline, 503
		s.match,          // route.go: the route of the path
		s.limitUnknown,   // rates.go: 429
		s.limitURL,       // limits.go: 413
		s.serveFiles,     // files.go: /media/
		s.serveSitemaps,  // sitemaps.go: robots.txt, sitemaps
		s.serveCalendar,  // calendar.go: pages of the calendar
		s.serveDocuments, // documents.go: start page, reference, their assets
		s.requirePath,    // route.go: 404
		s.serveOptions,   // route.go: OPTIONS
		s.requireMethod,  // route.go: 404 with Allow
		s.extendDeadline, // limits.go: uploads
		s.authenticate,   // authenticate.go: 401
		s.limitCaller,    // rates.go: 429
		s.limitBody,      // limits.go: 413
		s.enterLargeGate, // gates.go: 503
		s.expireRevision, // cached.go: after a write
		s.applyKey,       // idempotency.go: Idempotency-Key
		s.serveResource,  // resource.go: package handlers
	)
}

// exchange has a request's properties that its steps have determined, and the state of its reply.
type exchange struct {
	id    string    // X-Request-Id header
	began time.Time // when the request was complete
	// now is the time by the clock of the site, in UTC and whole seconds.
	now    time.Time
	client netip.Addr // address of the client

	kind      kind              // what answers the path
	longURL   bool              // the URL is too long
	root      read.Root         // what precedes rest in the path: the mount and the language
	rest      string            // path below the API; outside the API, below the base URL
	match     *endpoint.Match   // route of the path; nil means that no route has it
	page      *pages.Match      // calendar page of the path; nil means that there is none
	errorPage bool              // an error is sent as an HTML page
	route     string            // name of the route in metrics and logs
	lang      calendar.Language // language of the reply
	caller    auth.Principal    // authenticated user; the zero value is anonymous

	rate *rateState // rate limit in the reply's headers; nil means that no rate applies
	slot gateSlot   // slot that the request occupies at a gate

	claim    *idempotency.Claim // claim of the idempotency key; nil means that there is none
	replayed bool               // the reply repeats the stored reply to an earlier request

	// revision is the calendar's revision for which the request makes a reply to cache. 0 means that it makes
	// none.
	revision int64
	tag      string // entity tag of a read; "" for other requests
	// until is when the reply to a read changes without a write. Zero means never.
	until     time.Time
	unchanged reply.Unchanged // checks whether a cached reply is still right
	failed    error           // error that writeError writes as the reply; nil means none

	ctx    context.Context // context with the deadline of the request
	cancel context.CancelFunc
	span   trace.Span // trace span; nil without a tracer
}

// exchangeKey is the key under which a Fiber context stores the exchange of its request.
type exchangeKey struct{}

// exchangeOf returns the exchange that identify attached to a request.
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
