package handlers

import (
	"bytes"
	"errors"
	"maps"
	"mime"
	"mime/multipart"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

// values merges what body and query carry, the body over the query. It is the only place that touches the
// raw request, and it clones every string: Fiber reuses its buffers for the next request.
func (h *Handlers) values(c *fiber.Ctx, path map[string]string) (map[string]any, error) {
	query, err := pairValues(c.Context().URI().QueryString())
	if err != nil {
		return nil, err
	}
	switch c.Method() {
	case fiber.MethodPost, fiber.MethodPut, fiber.MethodPatch, fiber.MethodDelete:
	default:
		return query, nil
	}
	body, err := bodyValues(c)
	if err != nil {
		return nil, err
	}
	// In the query they would be words about what is read, not what is written.
	delete(query, "password")
	if _, captured := path["slug"]; captured {
		delete(query, "slug")
	}
	return param.Merge(body, query), nil
}

// bodyValues reads the body by its content type; types that carry no parameters give none.
func bodyValues(c *fiber.Ctx) (map[string]any, error) {
	// Clone: the header lives in Fiber's buffer.
	kind, params, err := mime.ParseMediaType(strings.Clone(c.Get(fiber.HeaderContentType)))
	// The type of a broken parameter is known all the same: its body is not to get lost for a semicolon too many.
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return nil, nil
	}
	// A few kilobytes can unpack to gigabytes, so compressed bodies are not read at all.
	if coding := c.Get(fiber.HeaderContentEncoding); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, malformedError(errors.New("compressed bodies are not understood"))
	}
	switch {
	case kind == fiber.MIMEApplicationJSON || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"):
		values, err := param.DecodeJSON(c.BodyRaw())
		if errors.Is(err, param.ErrForm) {
			return nil, tooLargeError(err)
		}
		if err != nil {
			return nil, malformedError(err)
		}
		return values, nil
	case kind == fiber.MIMEApplicationForm:
		return pairValues(c.BodyRaw())
	case kind == fiber.MIMEMultipartForm:
		form, err := MultipartForm(c, params["boundary"])
		if err != nil {
			if errors.Is(err, multipart.ErrMessageTooLarge) {
				return nil, tooLargeError(err)
			}
			return nil, malformedError(err)
		}
		return multipartValues(form)
	}
	return nil, nil
}

// formKey is where a request keeps its form, once it is read.
type formKey struct{}

// MultipartForm reads the body as a form. Files stay in memory, where the body is already. It is read once for a request.
func MultipartForm(c *fiber.Ctx, boundary string) (*multipart.Form, error) {
	if form, ok := c.Locals(formKey{}).(*multipart.Form); ok {
		return form, nil
	}
	body := c.BodyRaw()
	form, err := multipart.NewReader(bytes.NewReader(body), boundary).ReadForm(int64(len(body)))
	if err != nil {
		return nil, err
	}
	c.Locals(formKey{}, form)
	return form, nil
}

// pairValues reads a form or a query pair by pair, and ends at the first pair that is one too many.
func pairValues(text []byte) (map[string]any, error) {
	var form param.Form
	var failed error
	var one fasthttp.Args
	for pair := range bytes.SplitSeq(text, []byte("&")) {
		if len(pair) == 0 {
			continue
		}
		one.ParseBytes(pair)
		one.VisitAll(func(key, value []byte) { failed = form.Add(string(key), string(value)) })
		if failed != nil {
			return nil, tooLargeError(failed)
		}
	}
	return form.Values(), nil
}

// multipartValues reads the text fields, and hands files on as they are.
func multipartValues(data *multipart.Form) (map[string]any, error) {
	var form param.Form
	for _, key := range slices.Sorted(maps.Keys(data.Value)) {
		for _, v := range data.Value[key] {
			if err := form.Add(strings.Clone(key), strings.Clone(v)); err != nil {
				return nil, tooLargeError(err)
			}
		}
	}
	out := form.Values()
	// The first file of a name; nothing of it is read yet.
	for key, files := range data.File {
		out[strings.Clone(key)] = files[0]
	}
	return out, nil
}

// tooLargeError returns the error for too many parameters, or for parameters nested too deeply.
func tooLargeError(err error) error {
	return &calendar.Error{Code: "rest_request_too_large", Key: "rest_request_too_large", Err: err}
}

func malformedError(err error) error {
	return &calendar.Error{
		Code: "rest_invalid_json", Key: "rest_invalid_json",
		Data: map[string]any{"json_error_message": err.Error()}, Err: err,
	}
}
