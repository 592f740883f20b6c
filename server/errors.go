package server

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

// statuses are the HTTP statuses of the error codes (contract, section 16). rest_forbidden is 401 for
// anonymous callers. A code that is missing here is our own fault.
var statuses = map[string]int{
	"rest_no_route":                    http.StatusNotFound,
	"rest_invalid_json":                http.StatusBadRequest,
	"rest_missing_callback_param":      http.StatusBadRequest,
	"rest_invalid_param":               http.StatusBadRequest,
	"rest_forbidden":                   http.StatusForbidden,
	"incorrect_password":               http.StatusUnauthorized,
	"rest_invalid_token":               http.StatusUnauthorized,
	"rest-event-not-found":             http.StatusNotFound,
	"rest-invalid-event-id":            http.StatusBadRequest,
	"event-no-longer-available":        http.StatusForbidden,
	"event-not-accessible":             http.StatusForbidden,
	"venue-not-accessible":             http.StatusForbidden,
	"organizer-not-accessible":         http.StatusForbidden,
	"event-password-protected":         http.StatusForbidden,
	"event-is-in-trash":                http.StatusGone,
	"venue-is-in-trash":                http.StatusGone,
	"organizer-is-in-trash":            http.StatusGone,
	"event-archive-page-not-found":     http.StatusNotFound,
	"venue-archive-page-not-found":     http.StatusNotFound,
	"organizer-archive-page-not-found": http.StatusNotFound,
	"term_exists":                      http.StatusBadRequest,
	"duplicate_term_slug":              http.StatusBadRequest,
	"image-not-found":                  http.StatusNotFound,
	"rest_precondition_failed":         http.StatusPreconditionFailed,
	"rest_idempotency_key_in_use":      http.StatusConflict,
	"rest_idempotency_key_reused":      http.StatusUnprocessableEntity,
	"rest_request_too_large":           http.StatusRequestEntityTooLarge,
	"rest_too_many_requests":           http.StatusTooManyRequests,
	"rest_internal_error":              http.StatusInternalServerError,
	"rest_unavailable":                 http.StatusServiceUnavailable,
}

// The types of an error body.
const (
	typeJSON    = "application/json; charset=UTF-8"
	typeProblem = "application/problem+json; charset=UTF-8"
)

// fault is an error as a client is told about it.
type fault struct {
	status  int
	code    string
	message string
	data    map[string]any // beyond the status
	errors  []paramError   // for problem+json
}

// paramError is one wrong parameter in application/problem+json.
type paramError struct {
	Parameter string `json:"parameter"`
	Code      string `json:"code"`
	Detail    string `json:"detail"`
}

// explain turns an error into what the client is told. What no rule knows is our own fault, told without
// detail.
func (s *Server) explain(x *exchange, err error) fault {
	say := func(key string, args map[string]any) string { return s.Words.Message(x.lang, key, args) }
	var missing param.Missing
	var invalid param.Invalid
	var refusal *calendar.Error
	var away *turnedAway
	switch {
	case errors.As(err, &away) && away.status != 0:
		return fault{status: away.status, code: errBusy.Code, message: say(errBusy.Key, nil)}
	case errors.As(err, &missing):
		f := fault{
			status: http.StatusBadRequest, code: "rest_missing_callback_param",
			message: say("missing-params", map[string]any{"Names": strings.Join(missing.Names, ", ")}),
			data:    map[string]any{"params": missing.Names},
		}
		for _, name := range missing.Names {
			f.errors = append(f.errors, paramError{name, f.code, f.message})
		}
		return f
	case errors.As(err, &invalid):
		return invalidFault(invalid, say)
	case errors.As(err, &refusal) && statuses[refusal.Code] != 0:
		status := statuses[refusal.Code]
		if refusal.Code == "rest_forbidden" && x.caller.Anonymous() {
			status = http.StatusUnauthorized
		}
		return fault{status: status, code: refusal.Code, message: say(refusal.Key, refusal.Args), data: refusal.Data}
	case s.unavailable(err):
		return fault{
			status: http.StatusServiceUnavailable, code: "rest_unavailable", message: say("rest_unavailable", nil),
		}
	}
	return fault{
		status: http.StatusInternalServerError, code: "rest_internal_error",
		message: say("rest_internal_error", nil),
	}
}

// invalidFault is the answer for wrong parameters: a sentence for each, details for those with a reason.
func invalidFault(invalid param.Invalid, say func(string, map[string]any) string) fault {
	sentences := make(object, 0, len(invalid.Faults))
	details := make(object, 0, len(invalid.Faults))
	f := fault{
		status: http.StatusBadRequest, code: "rest_invalid_param",
		message: say("invalid-params", map[string]any{"Names": strings.Join(invalid.Names(), ", ")}),
	}
	for _, p := range invalid.Faults {
		resolveLinked(&p, say)
		sentence := say(p.Key, p.Args)
		sentences = append(sentences, pair{p.Param, sentence})
		code := f.code
		if p.Reason != "" {
			code = p.Reason
			data := p.Data
			if data == nil {
				data = map[string]any{}
			}
			details = append(details, pair{p.Param, object{
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

// resolveLinked turns the faults of a record that was sent inside another into sentences, for the body and for
// the sentence about the whole.
func resolveLinked(p *param.Fault, say func(string, map[string]any) string) {
	inner, ok := p.Data["params"].([]param.Fault)
	if !ok {
		return
	}
	sentences := make(object, len(inner))
	reasons := make([]string, len(inner))
	for i, f := range inner {
		sentence := say(f.Key, f.Args)
		sentences[i] = pair{f.Param, sentence}
		reasons[i] = f.Param + ": " + sentence
	}
	data, args := maps.Clone(p.Data), maps.Clone(p.Args)
	data["params"], args["Reasons"] = sentences, strings.Join(reasons, " ")
	p.Data, p.Args = data, args
}

// unavailable reports whether the database is away or did not answer in time, or there is no room for a file.
func (s *Server) unavailable(err error) bool {
	var network *net.OpError
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, mysql.ErrInvalidConn) || errors.As(err, &network) ||
		errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) ||
		s.Away != nil && s.Away(err)
}

// writeError is the one place that writes an error body.
func (s *Server) writeError(c *fiber.Ctx, x *exchange, err error) {
	f := s.explain(x, err)
	switch f.status {
	case http.StatusUnauthorized:
		c.Response().Header.Add(fiber.HeaderWWWAuthenticate, `Basic realm="almanac", charset="UTF-8"`)
		c.Response().Header.Add(fiber.HeaderWWWAuthenticate, "Bearer")
	case http.StatusServiceUnavailable:
		c.Set(fiber.HeaderRetryAfter, "5")
	}
	var away *turnedAway
	if errors.As(err, &away) && away.retry > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.FormatInt(seconds(away.retry), 10))
	}
	kind, body := typeJSON, f.body()
	// Fiber compares media types letter by letter; they have no case.
	c.Request().Header.Set(fiber.HeaderAccept, strings.ToLower(c.Get(fiber.HeaderAccept)))
	if c.Accepts(typeJSON, typeProblem) == typeProblem {
		kind, body = typeProblem, f.problem(string(c.Request().URI().PathOriginal()))
	}
	data, err := encode(body)
	if err != nil {
		s.Log.Error("error body", "id", x.id, "error", err)
		f.status, data = http.StatusInternalServerError, nil
	}
	c.Set(fiber.HeaderContentType, kind)
	c.Status(f.status)
	c.Response().SetBody(data)
}

func (f fault) body() object {
	data := object{{"status", f.status}}
	for _, name := range []string{"params", "details"} {
		if v, ok := f.data[name]; ok {
			data = append(data, pair{name, v})
		}
	}
	for name, v := range f.data {
		if name != "params" && name != "details" {
			data = append(data, pair{name, v})
		}
	}
	return object{{"code", f.code}, {"message", f.message}, {"data", data}}
}

func (f fault) problem(path string) object {
	o := object{
		{"type", "about:blank"},
		{"title", http.StatusText(f.status)},
		{"status", f.status},
		{"detail", f.message},
		{"instance", path},
		{"code", f.code},
	}
	if f.errors != nil {
		o = append(o, pair{"errors", f.errors})
	}
	return o
}

// refusedCaller reports whether credentials are wrong, rather than the database away.
func refusedCaller(err error) bool {
	var refusal *calendar.Error
	return errors.As(err, &refusal) && statuses[refusal.Code] == http.StatusUnauthorized
}

// refuse answers what never reached a handler: requests that fasthttp gives up on. What it has read of them by then says
// the language; of headers that are too large it is nothing.
func (s *Server) refuse(c *fiber.Ctx, err error) error {
	x := s.exchange(c, time.Now())
	root, _, ok := s.API.Locate(string(c.Request().URI().PathOriginal()))
	x.lang = s.language(c, root, ok)
	s.begin(c, x)
	x.failed = refusal(err)
	if to, ok := c.Context().Conn().(interface{ Linger() }); ok && reasonOf(x.failed) != reasonSlow {
		to.Linger()
	}
	s.Metrics.began()
	s.writeError(c, x, x.failed)
	s.finish(c, x)
	s.done(c, x, 0)
	return nil
}

// refuseUnread is refuse for what Fiber has not seen.
func (s *Server) refuseUnread(c *fasthttp.RequestCtx, err error) {
	fc := s.app.AcquireCtx(c)
	defer s.app.ReleaseCtx(fc)
	// It writes the reply, and has no error of its own.
	_ = s.refuse(fc, err)
}

// refusal is what a client is told of an error of fasthttp, as Fiber names it.
func refusal(err error) error {
	var status *fiber.Error
	switch {
	case !errors.As(err, &status):
		return err
	case status.Code == http.StatusRequestEntityTooLarge || status.Code == http.StatusRequestHeaderFieldsTooLarge:
		return &turnedAway{error: errLarge, reason: reasonTooLarge}
	case status.Code == http.StatusRequestTimeout || status.Code == http.StatusBadGateway:
		// The client was too slow, or is gone. That is no fault of ours, as 503 would say.
		return &turnedAway{error: errBusy, reason: reasonSlow, status: http.StatusRequestTimeout}
	case status.Code >= http.StatusInternalServerError:
		return err
	case status.Code == http.StatusBadRequest:
		return &turnedAway{
			error:  &calendar.Error{Code: "rest_invalid_json", Key: "rest_invalid_json", Err: err},
			reason: reasonParse,
		}
	}
	return errNoRoute
}

// object is a JSON object whose members keep their order.
type object []pair

type pair struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, p := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := encode(p.name)
		if err != nil {
			return nil, err
		}
		value, err := encode(p.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

func encode(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}
