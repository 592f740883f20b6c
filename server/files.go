package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
)

// sendBuffer is the memory that sending a file takes: buffers of the connection, not the file.
const sendBuffer = 32 << 10

var errRange = &calendar.Error{Code: "rest_range_not_satisfiable", Key: "rest_range_not_satisfiable"}

// file serves one stored picture, or a range of its bytes. The reply reads the file while it is sent.
func (s *Server) file(ctx context.Context, c *fiber.Ctx, name string) error {
	if !isRead(c) {
		return errNoRoute
	}
	name, err := url.PathUnescape(name)
	if err != nil {
		return errNoRoute
	}
	f, info, err := s.Media.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoRoute
	}
	if err != nil {
		return err
	}
	r := &fileReply{header: http.Header{}}
	r.header.Set(fiber.HeaderContentType, info.MIMEType)
	r.header.Set(fiber.HeaderETag, `"`+strconv.FormatInt(info.ModTime.Unix(), 36)+"-"+strconv.FormatInt(info.Size, 36)+`"`)
	http.ServeContent(r, fileRequest(c), "", info.ModTime, f)
	err = r.failure(c)
	if err != nil || r.body == nil {
		err = errors.Join(err, f.Close())
	}
	// Headers come last: caches must not keep an error.
	if err != nil {
		return err
	}
	tag := r.header.Get(fiber.HeaderETag)
	r.header.Del(fiber.HeaderETag)
	for key := range r.header {
		c.Set(key, r.header.Get(key))
	}
	c.Set(fiber.HeaderETag, tag)
	// The name is never given to another picture.
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	// A picture is never a document of this origin, whatever it contains.
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; sandbox")
	c.Status(r.status)
	if r.body != nil {
		c.Response().SetBodyStream(&fileBody{r.body, f}, int(r.body.N))
	}
	return nil
}

// fileRequest has the headers that choose what is sent of a file. RFC 9110, section 14.2, lets a server ignore Range:
// several ranges would need a reply that is put together in memory.
func fileRequest(c *fiber.Ctx) *http.Request {
	r := &http.Request{Method: c.Method(), Header: http.Header{}}
	h := &c.Request().Header
	for _, name := range [...]string{
		fiber.HeaderIfMatch, fiber.HeaderIfNoneMatch, fiber.HeaderIfModifiedSince, fiber.HeaderIfUnmodifiedSince, fiber.HeaderIfRange,
	} {
		var values []string
		for _, v := range h.PeekAll(name) {
			values = append(values, string(v))
		}
		if len(values) > 0 {
			r.Header.Set(name, strings.Join(values, ","))
		}
	}
	if ranges := h.PeekAll(fiber.HeaderRange); len(ranges) == 1 && !strings.Contains(string(ranges[0]), ",") {
		r.Header.Set(fiber.HeaderRange, string(ranges[0]))
	}
	return r
}

// fileReply records what http.ServeContent would send. It keeps the reader of the body instead of reading it.
type fileReply struct {
	header http.Header
	status int
	body   *io.LimitedReader // nil: there is none
	text   strings.Builder   // of an error
}

// Header implements http.ResponseWriter.
func (r *fileReply) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *fileReply) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter. Only the texts of errors come this way.
func (r *fileReply) Write(p []byte) (int, error) { return r.text.Write(p) }

// ReadFrom implements io.ReaderFrom for the body, which io.CopyN hands over as a reader of a known length.
func (r *fileReply) ReadFrom(from io.Reader) (int64, error) {
	body, ok := from.(*io.LimitedReader)
	if !ok {
		return 0, errors.New("body of unknown length")
	}
	r.body = body
	return body.N, nil
}

// failure is the error that was recorded, in our own form; nil for none.
func (r *fileReply) failure(c *fiber.Ctx) error {
	switch r.status {
	case http.StatusOK, http.StatusPartialContent, http.StatusNotModified:
		return nil
	case http.StatusPreconditionFailed:
		return errPrecondition
	case http.StatusRequestedRangeNotSatisfiable:
		if size := r.header.Get(fiber.HeaderContentRange); size != "" {
			c.Set(fiber.HeaderContentRange, size)
		}
		return errRange
	}
	return errors.New(strings.TrimSpace(r.text.String()))
}

// fileBody is the part of a file that is sent. Closing it closes the file.
type fileBody struct {
	*io.LimitedReader
	io.Closer
}

// WriteTo implements io.WriterTo, so that the system can send from the file without a copy in this process.
func (b *fileBody) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, b.LimitedReader) }
