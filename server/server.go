// Package server is what every request goes through: request id, log line, recovery, deadline, route, language,
// credentials, the error writer, and the end of the process. It knows no resource.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/idempotency"
	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/web"
)

// Config is what a server is built from. API, Auth, Words, Site and Log are required.
type Config struct {
	API   *handlers.Handlers
	Auth  *auth.Verifier
	Words *locale.Catalogues
	Site  calendar.Site
	Log   *slog.Logger
	Media media.Store // files below /media/; nil: there are none
	// Replays remembers answers to requests with a key; nil: keys are ignored.
	Replays *idempotency.Keeper

	// MaxAge is how long caches may answer with what anonymous callers read, Stale how long they may go on with it
	// while they ask anew. Whole seconds.
	MaxAge, Stale time.Duration

	// Away reports whether an error is the database refusing for a while, beyond what the connection tells; nil: none is.
	Away func(error) bool

	Limits
	Checks    []Check       // what has to be well for /readyz
	Index     IndexState    // nil if there is none
	IndexWait time.Duration // how long after the start /readyz waits for Index at most; 0: not at all
	DrainWait time.Duration // how long to go on when told to stop, for those who send us requests to notice
	Caching   Caching       // the zero value keeps nothing
	Metrics   *Metrics      // nil: nothing is counted
	Tracer    trace.Tracer  // nil: nothing is traced
	NoPages   bool          // neither a start page nor a reference
	Quiet     bool          // no line in the log for a request that went well
}

// Server answers HTTP.
type Server struct {
	Config
	app    *fiber.App
	prefix string // path of the base URL
	secure bool   // the base URL is https
	pages  *pages // nil: there are none

	cache    *cache // nil: nothing is kept
	gate     *limit.Gate
	failures *limit.Memory // wrong credentials, by address
	started  time.Time
	listener atomic.Pointer[limit.Listener]
	draining atomic.Bool
	health   health
}

// New makes a server that listens nowhere yet.
func New(c Config) (*Server, error) {
	base, err := url.Parse(c.Site.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if err := checkMounts(c.API.Mounts()); err != nil {
		return nil, err
	}
	c.setDefaults()
	if c.Rates.Counter == nil {
		c.Rates.Counter = limit.NewMemory(countedKeys)
	}
	s := &Server{
		Config: c, prefix: strings.TrimRight(base.Path, "/"), secure: base.Scheme == "https",
		gate:     limit.NewGate(c.Concurrent, gateLine*c.Concurrent, gateWait),
		failures: limit.NewMemory(countedKeys), started: time.Now(),
	}
	if !c.NoPages {
		if s.pages, err = newPages(c.Site); err != nil {
			return nil, fmt.Errorf("pages: %w", err)
		}
	}
	if s.cache, err = newCache(c.Caching, c.Timeout, c.Metrics); err != nil {
		return nil, err
	}
	s.app = fiber.New(fiber.Config{
		DisableStartupMessage: true,
		BodyLimit:             maxUpload,
		ReadBufferSize:        maxHeader,
		WriteBufferSize:       8 << 10, // most records with their headers
		ReadTimeout:           headTime,
		WriteTimeout:          writeTime,
		IdleTimeout:           idleTime,
		// A form is read when it is known who sent it, and where to.
		DisablePreParseMultipartForm: true,
		ErrorHandler:                 s.refuse,
	})
	s.app.Use(s.handle)
	web := s.app.Server()
	web.HeaderReceived = s.receive
	web.CloseOnShutdown = true
	next := web.Handler
	web.Handler = s.framed(func(c *fasthttp.RequestCtx) {
		// Fiber answers a method it has not heard of with a plain 400. No path has such a method, as none has
		// TRACE.
		if !slices.Contains(fiber.DefaultMethods, string(c.Method())) {
			c.Request.Header.SetMethod(fiber.MethodTrace)
		}
		next(c)
	})
	broken := web.ErrorHandler
	web.ErrorHandler = func(c *fasthttp.RequestCtx, err error) {
		if !errors.Is(err, limit.ErrFull) {
			broken(c, err)
			return
		}
		s.refuseUnread(c, &turnedAway{error: errBusy, retry: time.Second, reason: reasonReceiving})
	}
	if s.Metrics != nil {
		if err := s.Metrics.watch(s); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return s, nil
}

// checkMounts finds a mount of the API that would hide something else that is served, or be hidden by it.
func checkMounts(mounts []string) error {
	for _, m := range mounts {
		for _, taken := range [...]string{handlers.MediaPath, web.AssetsPath, web.DocsPath + "/", alivePath + "/", readyPath + "/"} {
			if strings.HasPrefix(m+"/", taken) || strings.HasPrefix(taken, m+"/") {
				return fmt.Errorf("mount %q: %s is served already", m, strings.TrimRight(taken, "/"))
			}
		}
	}
	return nil
}

// App is the router, for tests.
func (s *Server) App() *fiber.App { return s.app }

// headerRequestID names a request, in its reply and in the log. Proxies may have given it the name.
const headerRequestID = "X-Request-Id"

// exchange is what is known of a request while it is answered.
type exchange struct {
	id      string
	began   time.Time
	now     time.Time // of the site
	client  netip.Addr
	route   string
	api     bool // the path is one of the API
	probe   bool // of health
	lang    calendar.Language
	caller  auth.Principal
	failed  error
	rate    *rateState // nil: no rate is kept
	entered bool       // the gate
	// replayed is whether the reply is that of an earlier request.
	replayed bool

	ctx    context.Context // with the deadline of the work
	cancel context.CancelFunc
	span   trace.Span
}

func (s *Server) exchange(c *fiber.Ctx, began time.Time) *exchange {
	return &exchange{
		began: began, id: requestID(c.Request().Header.Peek(fiber.HeaderXRequestID)), now: s.Site.Now().UTC().Truncate(time.Second),
		client: s.clientOf(c), lang: s.Site.Language, ctx: context.Background(), cancel: func() {},
	}
}

// handle is the way of every request.
func (s *Server) handle(c *fiber.Ctx) error {
	began := time.Now()
	x := s.exchange(c, began)
	s.startSpan(c, x)
	s.Metrics.began()
	defer func() {
		x.cancel()
		if x.entered {
			s.gate.Leave()
		}
	}()
	s.begin(c, x)
	if !s.probe(c, x) {
		s.answer(c, x)
	}
	s.finish(c, x)
	s.send(c, x)
	if s.draining.Load() {
		c.Response().SetConnectionClose()
	}
	s.done(c, x, time.Since(began))
	return nil
}

// send has the head and the body of a reply leave at once, and counts it while its client takes it. Reads for which there is
// no room are refused; what was written is told in any case.
func (s *Server) send(c *fiber.Ctx, x *exchange) {
	to, ok := c.Context().Conn().(interface {
		Gather(body int)
		Reserve(size int) bool
	})
	if !ok {
		return
	}
	res := c.Response()
	if c.Method() == fiber.MethodHead || res.IsBodyStream() {
		to.Gather(0)
		return
	}
	if !to.Reserve(len(res.Body())) && isRead(c) {
		res.Reset()
		s.begin(c, x)
		x.failed = &turnedAway{error: errBusy, retry: time.Second, reason: reasonSending}
		s.writeError(c, x, x.failed)
		s.finish(c, x)
	}
	if res.StatusCode() == fiber.StatusOK {
		to.Gather(len(res.Body()))
	} else {
		to.Gather(0)
	}
}

// begin sets up a reply that is empty.
func (s *Server) begin(c *fiber.Ctx, x *exchange) {
	// Names as they are documented: X-TEC-Total, not X-Tec-Total, for clients that look at the letters.
	c.Response().Header.DisableNormalizing()
	c.Set(headerRequestID, x.id)
}

// answer writes the reply, or the error instead.
func (s *Server) answer(c *fiber.Ctx, x *exchange) {
	err := s.recovered(c, x)
	if err == nil {
		return
	}
	if x.ctx.Err() != nil {
		err = errors.Join(err, x.ctx.Err()) // drivers do not always say that it was the time that ended them
	}
	x.failed = err
	s.writeError(c, x, err)
}

// within sets the deadline of the work on a request. Everything after hangs on x.ctx.
func (x *exchange) within(c *fiber.Ctx, timeout time.Duration) {
	x.cancel()
	ctx := context.Background()
	if x.span != nil {
		ctx = trace.ContextWithSpan(ctx, x.span)
	}
	x.ctx, x.cancel = context.WithTimeout(ctx, timeout)
	c.SetUserContext(x.ctx)
}

// recovered turns a panic of a handler into an error.
func (s *Server) recovered(c *fiber.Ctx, x *exchange) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return s.dispatch(c, x)
}

var errNoRoute = &calendar.Error{Code: "rest_no_route", Key: "rest_no_route"}

// dispatch takes the steps of the contract's section 3 up to the parameters, which package handlers reads.
func (s *Server) dispatch(c *fiber.Ctx, x *exchange) error {
	uri := c.Request().URI()
	path := string(uri.PathOriginal())
	tooLong := len(path)+len("?")+len(uri.QueryString()) > maxURL
	root, rest, ok := s.API.Locate(path)
	x.lang = s.language(c, root, ok)
	if err := s.admitAddress(c, x); err != nil {
		return err
	}
	in := entry{root: root, rest: rest, path: path, api: ok, tooLong: tooLong}
	if s.cache == nil || !ok || tooLong || !cacheable(c) {
		out, err := s.work(c, x, in)
		if err != nil || out == nil {
			return err
		}
		return s.condition(c, x, tagOf(c, *out), out.Until)
	}
	return s.cached(c, x, func() (*handlers.Outcome, error) { return s.work(c, x, in) })
}

// entry is where a request came in.
type entry struct {
	root    handlers.Root
	rest    string // of the path, below the API
	path    string
	api     bool // the path is one of the API
	tooLong bool // the URL is
}

// work takes the steps that the cache saves. Only what the API answers has an outcome.
func (s *Server) work(c *fiber.Ctx, x *exchange, in entry) (none *handlers.Outcome, err error) {
	x.within(c, s.Timeout)
	if err := s.enter(x); err != nil {
		return none, err
	}
	var m *handlers.Match
	if in.api && !in.tooLong {
		m = s.API.Match(method(c), in.rest)
	}
	if m == nil || !m.Found() {
		// Nobody looks at their credentials.
		if err := s.admitUnknown(c, x); err != nil {
			return none, err
		}
	}
	switch {
	case in.tooLong:
		return none, errLarge
	case !in.api:
		return none, s.other(x.ctx, c, x, in.path)
	case m == nil:
		return none, errNoRoute
	}
	x.route, x.api = m.Route, true
	call := handlers.Call{
		Now: x.now, Root: in.root, Language: x.lang,
		OnLanguage: func(l calendar.Language) { x.lang = l },
	}
	if c.Method() == fiber.MethodOptions {
		return none, s.API.Options(c, m, call)
	}
	if !m.Found() {
		c.Set(fiber.HeaderAllow, m.Allow)
		return none, errNoRoute
	}
	if m.Upload() {
		x.within(c, s.UploadTimeout)
	}
	authorization := strings.Clone(c.Get(fiber.HeaderAuthorization))
	caller, err := s.Auth.Verify(x.ctx, authorization)
	x.caller, call.Caller = caller, caller
	if err := s.admitCaller(x.ctx, x, authorization, err); err != nil {
		return none, err
	}
	// The body as it came: Fiber's Body would unpack a compressed one, however large that gets.
	if len(c.BodyRaw()) > maxBody && (!m.Upload() || !carriesFiles(&c.Request().Header)) {
		return none, errLarge
	}
	if isRead(c) {
		out, err := s.API.Serve(x.ctx, c, m, call)
		return &out, err
	}
	call.Expect = expectation(c)
	if s.cache != nil {
		defer s.cache.revisions.forget()
	}
	return nil, s.once(c, x, m, call, func(call handlers.Call) error {
		out, err := s.API.Serve(x.ctx, c, m, call)
		if err != nil {
			return err
		}
		return s.condition(c, x, tagOf(c, out), out.Until)
	})
}

// language is that of a reply: by parameter, by path, by header, or that of the site.
func (s *Server) language(c *fiber.Ctx, root handlers.Root, api bool) calendar.Language {
	lang := locale.Negotiate(c.Get(fiber.HeaderAcceptLanguage), s.Site.Language)
	if !api {
		return lang
	}
	if l := root.Language(); l != "" {
		lang = l
	}
	// Of a key that is repeated the last one counts.
	if all := c.Context().QueryArgs().PeekMulti("ml_language"); len(all) > 0 {
		if l := calendar.Language(all[len(all)-1]); l.Known() {
			lang = l
		}
	}
	return lang
}

// method is that of the request, or the one that a POST names instead of its own.
func method(c *fiber.Ctx) string {
	if c.Method() != fiber.MethodPost {
		return c.Method()
	}
	for _, wish := range [2]string{c.Get("X-HTTP-Method-Override"), c.Query("_method")} {
		for _, other := range [3]string{fiber.MethodPut, fiber.MethodPatch, fiber.MethodDelete} {
			if strings.EqualFold(wish, other) {
				return other
			}
		}
	}
	return fiber.MethodPost
}

// What browsers are told about replies of a service on the internet: they are data, and never a document of its origin.
const policy = "default-src 'none'; frame-ancestors 'none'"

// finish sets the headers that every reply has.
func (s *Server) finish(c *fiber.Ctx, x *exchange) {
	h := &c.Response().Header
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	if s.secure {
		c.Set(fiber.HeaderStrictTransportSecurity, "max-age=31536000")
		c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
		if len(h.Peek(fiber.HeaderContentSecurityPolicy)) == 0 {
			c.Set(fiber.HeaderContentSecurityPolicy, policy)
		}
	}
	c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
	expose := exposed
	if !s.Rates.off() {
		expose = exposed + ", RateLimit, RateLimit-Policy, Retry-After"
	}
	if x.replayed {
		c.Set(headerReplayed, "true")
		expose += ", " + headerReplayed
	}
	c.Set(fiber.HeaderAccessControlExposeHeaders, expose)
	if x.rate != nil {
		policy, state := x.rate.headers()
		c.Set("RateLimit-Policy", policy)
		c.Set("RateLimit", state)
	}
	if c.Method() == fiber.MethodOptions {
		c.Set(fiber.HeaderAccessControlAllowMethods, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
		c.Set(fiber.HeaderAccessControlAllowHeaders, allowedHeaders(c.Get(fiber.HeaderAccessControlRequestHeaders)))
		c.Set(fiber.HeaderAccessControlMaxAge, "86400")
	}
	if x.api || x.failed != nil {
		c.Set(fiber.HeaderContentLanguage, string(x.lang))
		c.Set(fiber.HeaderVary, "Accept, Accept-Language, Authorization")
		if s.cache != nil {
			// A line of its own, for clients that compare the one above.
			h.Add(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
		}
	}
	if !x.caller.Anonymous() {
		c.Set(fiber.HeaderCacheControl, "no-store, private")
	}
}
