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
	"github.com/almanac-cal/almanac/internal/represent"
)

var errRange = &calendar.Error{Code: "rest_range_not_satisfiable", Key: "rest_range_not_satisfiable"}

// serveFiles answers requests for stored pictures.
func (s *Server) serveFiles(c *fiber.Ctx) error {
	x := exchangeOf(c)
	if x.kind != kindFile {
		return c.Next()
	}
	x.route = represent.MediaPath
	return s.sendPicture(x.ctx, c, strings.TrimPrefix(x.rest, represent.MediaPath))
}

// sendPicture answers with a stored picture or a range of its bytes. The file is read while the reply is sent.
func (s *Server) sendPicture(ctx context.Context, c *fiber.Ctx, name string) error {
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
	// Headers are set after the check for errors, because caches must not store an error.
	if err != nil {
		return err
	}
	tag := r.header.Get(fiber.HeaderETag)
	r.header.Del(fiber.HeaderETag)
	for key := range r.header {
		c.Set(key, r.header.Get(key))
	}
	c.Set(fiber.HeaderETag, tag)
	// The name of a picture is never reused, so caches may store it for a year.
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	// Browsers must never render a picture as a document of this origin, whatever it contains.
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; sandbox")
	c.Status(r.status)
	if r.body != nil {
		c.Response().SetBodyStream(&fileBody{r.body, f}, int(r.body.N))
	}
	return nil
}

// fileRequest returns a request with the headers that select which part of a file to send. It drops a Range
// header with several ranges, as RFC 9110, section 14.2, allows. Such a reply would be assembled in memory.
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

// fileReply is an http.ResponseWriter that records what http.ServeContent sends. It stores the reader of the body
// instead of reading it.
type fileReply struct {
	header http.Header
	status int
	// body is the reader of the body. Nil means that the reply has no body.
	body *io.LimitedReader
	text strings.Builder // text of an error that http.ServeContent writes
}

// Header implements http.ResponseWriter.
func (r *fileReply) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *fileReply) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter. http.ServeContent calls it for the texts of errors only.
func (r *fileReply) Write(p []byte) (int, error) { return r.text.Write(p) }

// ReadFrom implements io.ReaderFrom and stores the reader of the body. io.CopyN passes a reader with a known
// length.
func (r *fileReply) ReadFrom(from io.Reader) (int64, error) {
	body, ok := from.(*io.LimitedReader)
	if !ok {
		return 0, errors.New("body of unknown length")
	}
	r.body = body
	return body.N, nil
}

// failure returns the recorded HTTP error as an error of the contract. Nil means success.
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

// fileBody reads the part of a file that is sent. Close closes the file.
type fileBody struct {
	*io.LimitedReader
	io.Closer
}

// WriteTo implements io.WriterTo, so that the kernel sends the file without copying it into this process.
func (b *fileBody) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, b.LimitedReader) }
