package server

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/jsonwrite"
	"github.com/almanac-cal/almanac/internal/param"
)

// statuses maps error codes to HTTP statuses (contract, section 16). rest_forbidden becomes 401 for anonymous
// callers. A code missing here is an internal error.
var statuses = addRecordCodes(map[string]int{
	"rest_no_route":               http.StatusNotFound,
	"rest_invalid_json":           http.StatusBadRequest,
	"rest_body_not_object":        http.StatusBadRequest,
	"rest_unsupported_media_type": http.StatusUnsupportedMediaType,
	"rest_missing_callback_param": http.StatusBadRequest,
	"rest_invalid_param":          http.StatusBadRequest,
	"rest_forbidden":              http.StatusForbidden,
	"rest_not_logged_in":          http.StatusUnauthorized,
	"incorrect_password":          http.StatusUnauthorized,
	"rest_invalid_token":          http.StatusUnauthorized,
	"rest-event-not-found":        http.StatusNotFound,
	"rest-invalid-event-id":       http.StatusBadRequest,
	"event-no-longer-available":   http.StatusForbidden,
	"series-no-longer-available":  http.StatusForbidden,
	"series-not-found":            http.StatusNotFound,
	"event-password-protected":    http.StatusForbidden,
	"series-password-protected":   http.StatusForbidden,
	"term_exists":                 http.StatusBadRequest,
	"duplicate_term_slug":         http.StatusBadRequest,
	"image-not-found":             http.StatusNotFound,
	"rest_post_invalid_id":        http.StatusNotFound,
	"rest_precondition_failed":    http.StatusPreconditionFailed,
	"rest_range_not_satisfiable":  http.StatusRequestedRangeNotSatisfiable,
	"rest_idempotency_key_in_use": http.StatusConflict,
	"rest_idempotency_key_reused": http.StatusUnprocessableEntity,
	"rest_request_too_large":      http.StatusRequestEntityTooLarge,
	"rest_too_many_requests":      http.StatusTooManyRequests,
	"rest_internal_error":         http.StatusInternalServerError,
	"rest_unavailable":            http.StatusServiceUnavailable,
})

// addRecordCodes adds to codes the error codes that each kind of records with a status has. It returns codes.
func addRecordCodes(codes map[string]int) map[string]int {
	for _, kind := range append([]calendar.Kind{calendar.Event, calendar.Series}, calendar.NamedKinds...) {
		codes[string(kind)+"-not-accessible"] = http.StatusForbidden
		codes[string(kind)+"-is-in-trash"] = http.StatusGone
		codes[string(kind)+"-archive-page-not-found"] = http.StatusNotFound
	}
	return codes
}

// typeJSON and typeProblem are the media types of error replies.
const (
	typeJSON    = "application/json; charset=UTF-8"
	typeProblem = "application/problem+json"
)

// errorReply is the content of an error reply.
type errorReply struct {
	status  int
	code    string
	message string
	data    map[string]any // members of "data" besides the status
	errors  []paramError   // wrong parameters, for application/problem+json
}

// paramError describes one wrong parameter in application/problem+json.
type paramError struct {
	Parameter string `json:"parameter"`
	Code      string `json:"code"`
	Detail    string `json:"detail"`
}

// explain translates an error into a reply in the language of the client. It hides the details of errors that
// are not the client's: the status is then 503 or 500.
func (s *Server) explain(x *exchange, err error) errorReply {
	translate := func(key string, args map[string]any) string { return s.Words.Message(x.lang, key, args) }
	var missing param.Missing
	var invalid param.Invalid
	var refusal *calendar.Error
	var refused *refusedError
	switch {
	case errors.As(err, &refused) && refused.status != 0:
		return errorReply{status: refused.status, code: errBusy.Code, message: translate(errBusy.Key, nil)}
	case errors.As(err, &missing):
		f := errorReply{
			status: http.StatusBadRequest, code: "rest_missing_callback_param",
			message: translate("missing-params", map[string]any{"Names": strings.Join(missing.Names, ", ")}),
			data:    map[string]any{"params": missing.Names},
		}
		for _, name := range missing.Names {
			f.errors = append(f.errors, paramError{name, f.code, f.message})
		}
		return f
	case errors.As(err, &invalid):
		return invalidFault(invalid, translate)
	case errors.As(err, &refusal) && statuses[refusal.Code] != 0:
		status := statuses[refusal.Code]
		if refusal.Code == "rest_forbidden" && x.caller.Anonymous() {
			status = http.StatusUnauthorized
		}
		return errorReply{status: status, code: refusal.Code, message: translate(refusal.Key, refusal.Args), data: refusal.Data}
	case s.unavailable(err):
		return errorReply{
			status: http.StatusServiceUnavailable, code: "rest_unavailable", message: translate("rest_unavailable", nil),
		}
	}
	return errorReply{
		status: http.StatusInternalServerError, code: "rest_internal_error",
		message: translate("rest_internal_error", nil),
	}
}

// invalidFault returns the reply about wrong parameters. Each parameter has a sentence. Those whose error has a
// reason also have an entry in details.
func invalidFault(invalid param.Invalid, translate func(string, map[string]any) string) errorReply {
	sentences := make(jsonwrite.Object, 0, len(invalid.Faults))
	details := make(jsonwrite.Object, 0, len(invalid.Faults))
	f := errorReply{
		status: http.StatusBadRequest, code: "rest_invalid_param",
		message: translate("invalid-params", map[string]any{"Names": strings.Join(invalid.Names(), ", ")}),
	}
	for _, p := range invalid.Faults {
		resolveLinked(&p, translate)
		sentence := translate(p.Key, p.Args)
		sentences = append(sentences, jsonwrite.Member{p.Param, sentence})
		code := f.code
		if p.Reason != "" {
			code = p.Reason
			data := p.Data
			if data == nil {
				data = map[string]any{}
			}
			details = append(details, jsonwrite.Member{p.Param, jsonwrite.Object{
				{"code", p.Reason}, {"message", sentence}, {"data", data},
			}})
		}
		f.errors = append(f.errors, paramError{p.Param, code, sentence})
	}
	f.data = map[string]any{"params": sentences, "details": details}
	if len(details) == 0 {
		f.data["details"] = []string{}
	}
	return f
}

// resolveLinked translates the faults of a linked record that was sent inside another record.
func resolveLinked(p *param.Fault, translate func(string, map[string]any) string) {
	inner, ok := p.Data["params"].([]param.Fault)
	if !ok {
		return
	}
	sentences := make(jsonwrite.Object, len(inner))
	reasons := make([]string, len(inner))
	for i, f := range inner {
		sentence := translate(f.Key, f.Args)
		sentences[i] = jsonwrite.Member{f.Param, sentence}
		reasons[i] = f.Param + ": " + sentence
	}
	data, args := maps.Clone(p.Data), maps.Clone(p.Args)
	data["params"], args["Reasons"] = sentences, strings.Join(reasons, " ")
	p.Data, p.Args = data, args
}

// unavailable reports whether an error means an unavailable or slow database, or a full or read-only disk.
func (s *Server) unavailable(err error) bool {
	var network *net.OpError
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, mysql.ErrInvalidConn) || errors.As(err, &network) ||
		errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) ||
		s.Away != nil && s.Away(err)
}

// writeErrors writes an error returned by a later step as the reply.
func (s *Server) writeErrors(c *fiber.Ctx) error {
	err := c.Next()
	if err == nil {
		return nil
	}
	x := exchangeOf(c)
	if x.ctx.Err() != nil {
		err = errors.Join(err, x.ctx.Err()) // drivers do not always report that the deadline ended a statement
	}
	x.failed = err
	s.writeError(c, x)
	return nil
}

// recoverPanics turns a panic in a later step into an error.
func (s *Server) recoverPanics(c *fiber.Ctx) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return c.Next()
}

// retryAfter returns the time after which the same request can succeed. 0 means that it is unknown.
func retryAfter(err error) time.Duration {
	var refused *refusedError
	var refusal *calendar.Error
	switch {
	case errors.As(err, &refused):
		return refused.retry
	case errors.As(err, &refusal):
		return refusal.Retry
	}
	return 0
}

// writeError writes x.failed as the reply: as an HTML page if x.errorPage is true, else as JSON.
func (s *Server) writeError(c *fiber.Ctx, x *exchange) {
	f := s.explain(x, x.failed)
	switch f.status {
	case http.StatusUnauthorized:
		c.Response().Header.Add(fiber.HeaderWWWAuthenticate, `Basic realm="almanac", charset="UTF-8"`)
		c.Response().Header.Add(fiber.HeaderWWWAuthenticate, "Bearer")
	case http.StatusServiceUnavailable:
		c.Set(fiber.HeaderRetryAfter, "5")
	}
	setRetry(c, x.failed)
	if x.errorPage && s.writePageError(c, x, f.status) {
		return
	}
	kind, body := typeJSON, f.body()
	// Media types ignore case, but Fiber compares it.
	c.Request().Header.Set(fiber.HeaderAccept, strings.ToLower(c.Get(fiber.HeaderAccept)))
	// Some clients ask for the type with the charset that it had.
	if strings.HasPrefix(c.Accepts(typeJSON, typeProblem, typeProblem+"; charset=UTF-8"), typeProblem) {
		kind, body = typeProblem, f.problem(string(c.Request().URI().PathOriginal()))
	}
	data, err := jsonwrite.Encode(body)
	if err != nil {
		s.Log.Error("error body", "id", x.id, "error", err)
		f.status, data = http.StatusInternalServerError, nil
	}
	c.Set(fiber.HeaderContentType, kind)
	c.Status(f.status)
	c.Response().SetBody(data)
}

// setRetry sets Retry-After if err is a refusal that names a time.
func setRetry(c *fiber.Ctx, err error) {
	if retry := retryAfter(err); retry > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.FormatInt(wholeSeconds(retry), 10))
	}
}

func (f errorReply) body() jsonwrite.Object {
	data := jsonwrite.Object{{"status", f.status}}
	for _, name := range []string{"params", "details"} {
		if v, ok := f.data[name]; ok {
			data = append(data, jsonwrite.Member{name, v})
		}
	}
	for name, v := range f.data {
		if name != "params" && name != "details" {
			data = append(data, jsonwrite.Member{name, v})
		}
	}
	return jsonwrite.Object{{"code", f.code}, {"message", f.message}, {"data", data}}
}

func (f errorReply) problem(path string) jsonwrite.Object {
	o := jsonwrite.Object{
		{"type", "about:blank"},
		{"title", http.StatusText(f.status)},
		{"status", f.status},
		{"detail", f.message},
		{"instance", path},
		{"code", f.code},
	}
	if f.errors != nil {
		o = append(o, jsonwrite.Member{"errors", f.errors})
	}
	return o
}
