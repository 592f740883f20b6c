// Package server is what every request goes through: request id, log line, recovery, deadline, route, language,
// credentials, the error writer, and the end of the process. It knows no resource.
package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/auth"
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/locale"
	"github.com/almanac-cal/almanac/media"
)

// Limits on what a client can make us hold.
const (
	maxBody   = 1 << 20                 // of any request but an upload
	maxUpload = media.MaxBytes + 64<<10 // the file and the form around it
	maxHeader = 16 << 10                // request line and headers
	maxURL    = 8 << 10
)

// Config is what a server is built from. All but Media are required.
type Config struct {
	API     *handlers.Handlers
	Auth    *auth.Verifier
	Words   *locale.Catalogues
	Site    calendar.Site
	Log     *slog.Logger
	Media   media.Store   // files below /media/; nil: there are none
	Timeout time.Duration // of one request's work; 0: 30 s
}

// Server answers HTTP.
type Server struct {
	Config
	app    *fiber.App
	prefix string // path of the base URL
}

// New makes a server that listens nowhere yet.
func New(c Config) (*Server, error) {
	base, err := url.Parse(c.Site.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	s := &Server{Config: c, prefix: strings.TrimRight(base.Path, "/")}
	s.app = fiber.New(fiber.Config{
		DisableStartupMessage: true,
		BodyLimit:             maxUpload,
		ReadBufferSize:        maxHeader,
		ReadTimeout:           30 * time.Second,
		WriteTimeout:          60 * time.Second,
		IdleTimeout:           90 * time.Second,
		ErrorHandler:          s.refuse,
	})
	s.app.Use(s.handle)
	next := s.app.Server().Handler
	s.app.Server().Handler = func(c *fasthttp.RequestCtx) {
		// Fiber answers a method it has not heard of with a plain 400. No path has such a method, as none has
		// TRACE.
		if !slices.Contains(fiber.DefaultMethods, string(c.Method())) {
			c.Request.Header.SetMethod(fiber.MethodTrace)
		}
		next(c)
	}
	return s, nil
}

// App is the router, for tests.
func (s *Server) App() *fiber.App { return s.app }

// shutdownWait bounds how long requests under way may take to end.
const shutdownWait = 15 * time.Second

// Serve answers on a listener until ctx ends, then finishes the requests under way and returns nil.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	ended := make(chan error, 1)
	go func() { ended <- s.app.Listener(ln) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if err := s.app.ShutdownWithTimeout(shutdownWait); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return <-ended
}

// exchange is what is known of a request while it is answered.
type exchange struct {
	id     string
	now    time.Time
	route  string
	api    bool // the path is one of the API
	lang   calendar.Language
	caller auth.Principal
	failed error
}

// handle is the way of every request.
func (s *Server) handle(c *fiber.Ctx) error {
	began := time.Now()
	x := &exchange{id: requestID(), now: s.Site.Now().UTC().Truncate(time.Second), lang: s.Site.Language}
	ctx, cancel := context.WithTimeout(context.Background(), s.Timeout)
	defer cancel()
	c.SetUserContext(ctx)
	// Names as they are documented: X-TEC-Total, not X-Tec-Total, for clients that look at the letters.
	c.Response().Header.DisableNormalizing()
	c.Set("X-Request-Id", x.id)
	if err := s.recovered(ctx, c, x); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, ctx.Err()) // drivers do not always say that it was the time that ended them
		}
		x.failed = err
		s.writeError(c, x, err)
	}
	s.finish(c, x)
	s.line(c, x, time.Since(began))
	return nil
}

// recovered turns a panic of a handler into an error.
func (s *Server) recovered(ctx context.Context, c *fiber.Ctx, x *exchange) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return s.dispatch(ctx, c, x)
}

var errNoRoute = &calendar.Error{Code: "rest_no_route", Key: "rest_no_route"}

// dispatch takes the steps of the contract's section 3 up to the parameters, which package handlers reads.
func (s *Server) dispatch(ctx context.Context, c *fiber.Ctx, x *exchange) error {
	// Clone: Fiber's strings live in buffers that the next request overwrites.
	path := strings.Clone(string(c.Request().URI().PathOriginal()))
	x.lang = locale.Negotiate(c.Get(fiber.HeaderAcceptLanguage), s.Site.Language)
	tooLong := len(c.Request().RequestURI()) > maxURL
	root, rest, ok := s.API.Locate(path)
	if !ok && !tooLong {
		return s.other(ctx, c, x, path)
	}
	if l := root.Language(); l != "" {
		x.lang = l
	}
	// Of a key that is repeated the last one counts.
	if all := c.Context().QueryArgs().PeekMulti("ml_language"); len(all) > 0 {
		if l := calendar.Language(all[len(all)-1]); l.Known() {
			x.lang = l
		}
	}
	if tooLong {
		return &calendar.Error{Code: "rest_request_too_large", Key: "rest_request_too_large"}
	}
	m := s.API.Match(method(c), rest)
	if m == nil {
		return errNoRoute
	}
	x.route, x.api = m.Route, true
	call := handlers.Call{
		Now: x.now, Root: root, Language: x.lang,
		OnLanguage: func(l calendar.Language) { x.lang = l },
	}
	if c.Method() == fiber.MethodOptions {
		return s.API.Options(c, m, call)
	}
	if !m.Found() {
		c.Set(fiber.HeaderAllow, m.Allow)
		return errNoRoute
	}
	caller, err := s.Auth.Verify(ctx, strings.Clone(c.Get(fiber.HeaderAuthorization)))
	if err != nil {
		return err
	}
	x.caller, call.Caller = caller, caller
	// The body as it came: Fiber's Body would unpack a compressed one, however large that gets.
	if len(c.BodyRaw()) > maxBody && !m.Upload() {
		return &calendar.Error{Code: "rest_request_too_large", Key: "rest_request_too_large"}
	}
	return s.API.Serve(ctx, c, m, call)
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

// finish sets the headers that every reply has.
func (s *Server) finish(c *fiber.Ctx, x *exchange) {
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
	c.Set(fiber.HeaderAccessControlExposeHeaders, "X-TEC-Total, X-TEC-TotalPages, Link, Location, Allow, Content-Language")
	if c.Method() == fiber.MethodOptions {
		c.Set(fiber.HeaderAccessControlAllowMethods, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
		c.Set(fiber.HeaderAccessControlAllowHeaders,
			"Authorization, Content-Type, Accept-Language, X-HTTP-Method-Override")
		c.Set(fiber.HeaderAccessControlMaxAge, "86400")
	}
	if x.api || x.failed != nil {
		c.Set(fiber.HeaderContentLanguage, string(x.lang))
		c.Set(fiber.HeaderVary, "Accept, Accept-Language, Authorization")
	}
	if !x.caller.Anonymous() {
		c.Set(fiber.HeaderCacheControl, "no-store, private")
	}
}

// line logs the request: one line, at a level that follows the status.
func (s *Server) line(c *fiber.Ctx, x *exchange, took time.Duration) {
	status := c.Response().StatusCode()
	attrs := []slog.Attr{
		slog.String("id", x.id), slog.String("method", c.Method()), slog.String("route", x.route),
		slog.Int("status", status), slog.Duration("took", took), slog.Int("bytes", len(c.Response().Body())),
	}
	if !x.caller.Anonymous() {
		attrs = append(attrs, slog.String("user", x.caller.Login))
	}
	level := slog.LevelInfo
	if status >= 500 {
		level = slog.LevelError
		attrs = append(attrs, slog.Any("error", x.failed))
	}
	s.Log.LogAttrs(context.Background(), level, "request", attrs...)
}

func requestID() string {
	var id [8]byte
	// Since Go 1.24 it never fails.
	_, _ = rand.Read(id[:])
	return hex.EncodeToString(id[:])
}
