package endpoint

import (
	"bytes"
	"errors"
	"maps"
	"mime"
	"mime/multipart"
	"path"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

// sentValues returns the parameters of a request by name, and the keys that its JSON body repeats. The body
// counts for POST, PUT, PATCH and DELETE only. A parameter of the body replaces one of the query. Strings are
// copied, because Fiber reuses its buffers for the next request.
func sentValues(c *fiber.Ctx, m *Match) (values map[string]any, duplicates []string, err error) {
	query, err := QueryValues(c.Context().URI().QueryString())
	if err != nil {
		return nil, nil, err
	}
	switch c.Method() {
	case fiber.MethodPost, fiber.MethodPut, fiber.MethodPatch, fiber.MethodDelete:
	default:
		return query, nil, nil
	}
	body, duplicates, err := bodyValues(c, m.Endpoint.rawFile)
	if err != nil {
		return nil, nil, err
	}
	// In the query, these two parameters would filter what is read, instead of setting what is written.
	delete(query, "password")
	if _, captured := m.Path["slug"]; captured {
		delete(query, "slug")
	}
	return param.Merge(body, query), duplicates, nil
}

// bodyValues parses the body by its content type. It returns no parameters if the body is empty or has no
// content type. If mayBeFile is true, it returns none for a picture either. The result duplicates has the keys
// that JSON repeats.
func bodyValues(c *fiber.Ctx, mayBeFile bool) (values map[string]any, duplicates []string, err error) {
	if len(c.BodyRaw()) == 0 || c.Get(fiber.HeaderContentType) == "" {
		return nil, nil, nil
	}
	// The header is copied, because it is in a buffer of Fiber.
	kind, params, err := mime.ParseMediaType(strings.Clone(c.Get(fiber.HeaderContentType)))
	// If only a parameter of the content type is malformed, the type itself is known, and the body is parsed.
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return nil, nil, mediaTypeError()
	}
	// Compressed bodies are refused, because a few kilobytes may decompress to gigabytes.
	if coding := c.Get(fiber.HeaderContentEncoding); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, nil, malformedError(errors.New("compressed bodies are not understood"))
	}
	switch {
	case mayBeFile && rawFile(c) != nil:
		return nil, nil, nil
	case kind == fiber.MIMEApplicationJSON || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"):
		values, err = param.DecodeJSON(c.BodyRaw())
		switch {
		case errors.Is(err, param.ErrForm):
			return nil, nil, tooLargeError(err)
		case errors.Is(err, param.ErrNotObject):
			return nil, nil, &calendar.Error{Code: "rest_body_not_object", Key: "rest_body_not_object", Err: err}
		case err != nil:
			return nil, nil, malformedError(err)
		}
		return values, param.DuplicateKeys(c.BodyRaw(), maxUndeclared), nil
	case kind == fiber.MIMEApplicationForm:
		values, err = QueryValues(c.BodyRaw())
		return values, nil, err
	case kind == fiber.MIMEMultipartForm:
		form, err := MultipartForm(c, params["boundary"])
		if err != nil {
			if errors.Is(err, multipart.ErrMessageTooLarge) {
				return nil, nil, tooLargeError(err)
			}
			return nil, nil, malformedError(err)
		}
		values, err = multipartValues(form)
		return values, nil, err
	}
	return nil, nil, mediaTypeError()
}

// mediaTypeError returns the error for a body of a type that the service does not read.
func mediaTypeError() error {
	return &calendar.Error{Code: "rest_unsupported_media_type", Key: "rest_unsupported_media_type"}
}

// formKey is the key under which a Fiber context stores the parsed form of its request.
type formKey struct{}

// MultipartForm parses the body as a multipart form with the given boundary. It parses only once per request,
// and then returns the same form. Files stay in memory.
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

// QueryValues returns the parameters of a query or a URL-encoded form by name. It returns an error if there are
// too many, or if they are nested too deeply.
func QueryValues(text []byte) (map[string]any, error) {
	var form param.Form
	var failed error
	var one fasthttp.Args
	for pair := range bytes.SplitSeq(text, []byte("&")) {
		if len(pair) == 0 {
			continue
		}
		one.ParseBytes(pair)
		for key, value := range one.All() {
			failed = form.Add(string(key), string(value))
		}
		if failed != nil {
			return nil, tooLargeError(failed)
		}
	}
	return form.Values(), nil
}

// multipartValues returns the text fields and files of a form by name. If several files have the same name, it
// returns the first. Their content is not read yet.
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
	// If several files have the same name, the first one counts. Its content is not read yet.
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

// rawFile returns the body of a request as a file. It returns nil for an empty body, and if the content type is
// neither image/* nor application/octet-stream. WordPress clients send the file name in Content-Disposition.
func rawFile(c *fiber.Ctx) *SentFile {
	kind, _, _ := mime.ParseMediaType(strings.Clone(c.Get(fiber.HeaderContentType)))
	if !strings.HasPrefix(kind, "image/") && kind != fiber.MIMEOctetStream || len(c.BodyRaw()) == 0 {
		return nil
	}
	body := c.BodyRaw()
	return &SentFile{dispositionName(strings.Clone(c.Get(fiber.HeaderContentDisposition))), func() ([]byte, error) { return body, nil }}
}

// dispositionName returns the file name of a Content-Disposition header, without folders. It is "image" if there
// is none.
func dispositionName(header string) string {
	_, params, err := mime.ParseMediaType(header)
	if err != nil {
		// Some clients leave out the word before the name.
		_, params, _ = mime.ParseMediaType("attachment; " + header)
	}
	name := path.Base(strings.ReplaceAll(params["filename"], `\`, "/"))
	if name == "." || name == "/" {
		return "image"
	}
	return name
}

// SentFile is a file in a request, with the file name that the client gave it.
type SentFile struct {
	Name string
	Read func() ([]byte, error)
}
