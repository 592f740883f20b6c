package server

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/limit"
)

// newApp returns a Fiber application without steps. It refuses a request that is ambiguous, too large, too slow or
// malformed.
func (s *Server) newApp() *fiber.App {
	app := fiber.New(fiber.Config{
		DisableStartupMessage: true,
		BodyLimit:             maxUpload,
		ReadBufferSize:        maxHeader,
		WriteBufferSize:       8 << 10, // most records with their headers
		ReadTimeout:           headTime,
		WriteTimeout:          writeTime,
		IdleTimeout:           idleTime,
		// Package handlers parses forms, after authentication.
		DisablePreParseMultipartForm: true,
		ErrorHandler:                 s.refuse,
	})
	engine := app.Server()
	engine.HeaderReceived = bodyLimits
	engine.CloseOnShutdown = true
	engine.Handler = s.checkFraming(joinLeadingSlashes(replaceUnknownMethod(engine.Handler)))
	malformed := engine.ErrorHandler
	engine.ErrorHandler = func(c *fasthttp.RequestCtx, err error) {
		var framing *framingError
		switch {
		case errors.Is(err, limit.ErrFull):
			s.refuseUnread(c, &refusedError{error: errBusy, retry: time.Second, reason: reasonReceiving})
		case errors.As(err, &framing):
			s.refuseUnread(c, fiber.ErrBadRequest)
		default:
			malformed(c, err)
		}
	}
	return app
}

// replaceUnknownMethod replaces a method that Fiber does not know with TRACE, which no route has. Fiber itself would
// reply with a plain 400.
func replaceUnknownMethod(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		if !slices.Contains(fiber.DefaultMethods, string(c.Method())) {
			c.Request.Header.SetMethod(fiber.MethodTrace)
		}
		next(c)
	}
}

// bodyLimits returns the largest body and the longest time to receive it. Only routes that accept files, and clients
// with credentials, may upload.
func bodyLimits(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	r := fasthttp.RequestConfig{ReadTimeout: bodyTime, MaxRequestBodySize: maxRead}
	if carriesFiles(h) && bytes.Contains(h.RequestURI(), []byte("images")) && len(h.Peek(fiber.HeaderAuthorization)) > 0 {
		r = fasthttp.RequestConfig{ReadTimeout: uploadTime, MaxRequestBodySize: maxUpload}
	}
	if h.ContentLength() == 0 || h.IsGet() || h.IsHead() {
		r.ReadTimeout = 0
	}
	return r
}

// carriesFiles reports whether a body may have files in it: only forms do.
func carriesFiles(h *fasthttp.RequestHeader) bool {
	return bytes.HasPrefix(bytes.ToLower(h.ContentType()), []byte("multipart/"))
}

// refuse replies to a request that fasthttp rejects before the first step. The language follows from what fasthttp has
// read, which is nothing if the headers are too large.
func (s *Server) refuse(c *fiber.Ctx, err error) error {
	x := s.newExchange(c)
	startReply(c, x)
	s.locateTarget(c, x)
	if len(c.Request().Host()) == 0 {
		x.page, x.errorPage = nil, false // fasthttp has not read the headers, and the path is not that of the request
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

// refuseUnread is refuse for a request that Fiber has not seen.
func (s *Server) refuseUnread(c *fasthttp.RequestCtx, err error) {
	fc := s.app.AcquireCtx(c)
	defer s.app.ReleaseCtx(fc)
	// refuse writes the reply and never fails.
	_ = s.refuse(fc, err)
}

// translateRefusal translates an error of fasthttp, which Fiber has given a status, into an error of the contract.
func translateRefusal(err error) error {
	var status *fiber.Error
	switch {
	case !errors.As(err, &status):
		return err
	case status.Code == http.StatusRequestEntityTooLarge || status.Code == http.StatusRequestHeaderFieldsTooLarge:
		return &refusedError{error: errLarge, reason: reasonTooLarge}
	case status.Code == http.StatusRequestTimeout || status.Code == http.StatusBadGateway:
		// The client was too slow or is gone. 503 would blame the server.
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
