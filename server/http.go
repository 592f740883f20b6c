package server

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"golang.org/x/net/http/httpguts"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/limit"
)

// newApp returns a Fiber application without steps. It refuses requests that are ambiguous, too large, too slow
// or malformed.
func (s *Server) newApp() *fiber.App {
	app := fiber.New(fiber.Config{
		DisableStartupMessage: true,
		BodyLimit:             maxUpload,
		ReadBufferSize:        maxHeader,
		WriteBufferSize:       8 << 10, // fits most records with their headers
		ReadTimeout:           headTime,
		WriteTimeout:          writeTime,
		IdleTimeout:           idleTime,
		// Package handlers parses forms itself, after authentication.
		DisablePreParseMultipartForm: true,
		ErrorHandler:                 func(c *fiber.Ctx, err error) error { return s.newest.Load().refuse(c, err) },
	})
	engine := app.Server()
	engine.HeaderReceived = bodyLimits
	engine.CloseOnShutdown = true
	// Errors do not contain the request, in which Fiber would look for the word "timeout".
	engine.SecureErrorLogMessage = true
	s.answer = engine.Handler
	engine.Handler = s.checkFraming(joinLeadingSlashes(replaceUnknownMethod(func(c *fasthttp.RequestCtx) { s.newest.Load().answer(c) })))
	malformed := engine.ErrorHandler
	engine.ErrorHandler = func(c *fasthttp.RequestCtx, err error) {
		if errors.Is(err, limit.ErrFull) {
			s.refuseUnread(c, &refusedError{error: errBusy, retry: time.Second, reason: reasonReceiving})
			return
		}
		malformed(c, err)
	}
	return app
}

// checkFraming answers an ambiguous request with 400 and closes its connection.
func (s *Server) checkFraming(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		if isAmbiguous(&c.Request.Header) {
			s.refuseUnread(c, fiber.ErrBadRequest)
			c.SetConnectionClose()
			return
		}
		// fasthttp shows trailers as headers. Proxies check headers but not trailers (RFC 9110, section 6.5.1).
		for _, name := range c.Request.Header.PeekTrailerKeys() {
			c.Request.Header.Del(string(name))
		}
		next(c)
	}
}

// isAmbiguous reports whether a proxy could read the headers differently from fasthttp, which accepted them. The
// proxy could then take part of a body for a request (request smuggling). See RFC 9112, sections 2.3, 3.2, 5.2 and 6.1.
func isAmbiguous(h *fasthttp.RequestHeader) bool {
	if p := string(h.Protocol()); p != "HTTP/1.1" && p != "HTTP/1.0" || !httpguts.ValidHostHeader(string(h.Host())) {
		return true
	}
	length, coding, trailers := false, false, h.PeekTrailerKeys()
	for line := range bytes.Lines(h.RawHeaders()) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.ContainsAny(name, " \t"):
			return true // the name is no token, or the line continues the line before
		case slices.ContainsFunc(trailers, func(trailer []byte) bool { return bytes.EqualFold(trailer, name) }):
			return true
		case bytes.EqualFold(name, []byte(fiber.HeaderContentLength)):
			length = true
		case bytes.EqualFold(name, []byte(fiber.HeaderTransferEncoding)):
			coding = true
			if !bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked")) {
				return true
			}
		}
	}
	return length && coding
}

// replaceUnknownMethod replaces a method that Fiber does not know by TRACE, which no route accepts. Fiber itself
// would reply with 400 in plain text.
func replaceUnknownMethod(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		if !slices.Contains(fiber.DefaultMethods, string(c.Method())) {
			c.Request.Header.SetMethod(fiber.MethodTrace)
		}
		next(c)
	}
}

// bodyLimits returns the largest body of a request and the longest time to receive it. Only clients with
// credentials may upload, and only to routes that accept files.
func bodyLimits(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	r := fasthttp.RequestConfig{ReadTimeout: bodyTime, MaxRequestBodySize: maxRead}
	path, query, _ := bytes.Cut(h.RequestURI(), []byte("?"))
	uploads := bytes.Contains(path, []byte("images")) || bytes.Contains(path, []byte("media")) || bytes.Contains(query, []byte("rest_route="))
	if carriesFiles(h) && uploads && len(h.Peek(fiber.HeaderAuthorization)) > 0 {
		r = fasthttp.RequestConfig{ReadTimeout: uploadTime, MaxRequestBodySize: maxUpload}
	}
	if h.ContentLength() == 0 || h.IsGet() || h.IsHead() {
		r.ReadTimeout = 0
	}
	return r
}

// carriesFiles reports whether the content type of a request allows files: a multipart form, an image, or
// application/octet-stream.
func carriesFiles(h *fasthttp.RequestHeader) bool {
	kind := bytes.ToLower(h.ContentType())
	return slices.ContainsFunc([]string{"multipart/", "image/", "application/octet-stream"}, func(prefix string) bool {
		return bytes.HasPrefix(kind, []byte(prefix))
	})
}

// refuse replies to a request that fasthttp rejected before the first step. The reply is in the language that the
// headers prefer. If the headers are too large, fasthttp has read none.
func (s *Server) refuse(c *fiber.Ctx, err error) error {
	x := s.newExchange(c)
	startReply(c, x)
	s.locateTarget(c, x)
	if len(c.Request().Host()) == 0 {
		// fasthttp has not read the headers, so the path is not that of the request
		x.kind, x.match, x.page, x.errorPage = kindOther, nil, nil, false
	}
	x.failed = translateRefusal(err)
	if conn, ok := c.Context().Conn().(interface{ Linger() }); ok && refusalReason(x.failed) != reasonSlow {
		conn.Linger()
	}
	s.Metrics.requestStarted()
	s.writeError(c, x)
	s.writeHeaders(c, x)
	s.reportReply(c, x, 0)
	return nil
}

// refuseUnread replies with an error to a request that never reached Fiber, in the same way as refuse.
func (s *Server) refuseUnread(c *fasthttp.RequestCtx, err error) {
	fc := s.app.AcquireCtx(c)
	defer s.app.ReleaseCtx(fc)
	// refuse writes the reply and never fails.
	_ = s.newest.Load().refuse(fc, err)
}

// translateRefusal converts an error of fasthttp into one with an error code of the API. Fiber has given it a status.
func translateRefusal(err error) error {
	var status *fiber.Error
	switch {
	case !errors.As(err, &status):
		return err
	case status.Code == http.StatusRequestEntityTooLarge || status.Code == http.StatusRequestHeaderFieldsTooLarge:
		return &refusedError{error: errLarge, reason: reasonTooLarge}
	case status.Code == http.StatusRequestTimeout || status.Code == http.StatusBadGateway:
		// The client was too slow or has disconnected. 503 would blame the server.
		return &refusedError{error: errBusy, reason: reasonSlow, status: http.StatusRequestTimeout}
	case status.Code >= http.StatusInternalServerError:
		return err
	case status.Code == http.StatusBadRequest:
		return &refusedError{
			error:  &calendar.Error{Code: "rest_invalid_json", Key: "rest_invalid_json", Err: err},
			reason: reasonParse,
		}
	}
	return errNoRoute
}
