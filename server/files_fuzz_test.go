package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/proof/must"
)

// oneFile is a media store that has the same file under every name.
type oneFile struct {
	media.Store
	data    []byte
	modTime time.Time
	open    int
}

func (s *oneFile) Open(context.Context, string) (io.ReadSeekCloser, media.Info, error) {
	s.open++
	return &openFile{bytes.NewReader(s.data), s}, media.Info{Size: int64(len(s.data)), ModTime: s.modTime, MIMEType: "image/png"}, nil
}

type openFile struct {
	*bytes.Reader
	of *oneFile
}

func (f *openFile) Close() error {
	f.of.open--
	return nil
}

// FuzzFileRange compares replies to range requests for a file with those of net/http.
func FuzzFileRange(f *testing.F) {
	const sent, before, after = "Sun, 22 Nov 2026 10:00:00 GMT", "Sun, 22 Nov 2026 09:00:00 GMT", "Sun, 22 Nov 2026 11:00:00 GMT"
	for _, r := range []string{
		"", "bytes=0-4", "bytes=5-", "bytes=-3", "bytes=0-", "bytes=9-9", "bytes=10-", "bytes=-0", "bytes=-99", "bytes=4-2", "bytes=a-b",
		"bytes=", "bits=0-1", "bytes=0-1,3-4", "bytes= 1 - 2 ", "bytes=99999999999999999999-", "bytes=-99999999999999999999", "Bytes=0-1",
	} {
		f.Add("GET", r, "", "", "", "", "")
		f.Add("HEAD", r, "", "", "", "", "")
	}
	for _, v := range []string{`"TAG"`, `W/"TAG"`, `"x"`, `"x", "TAG"`, "*", sent, before, after, "yesterday"} {
		f.Add("GET", "bytes=1-2", v, "", "", "", "")
		f.Add("GET", "bytes=1-2", "", v, "", "", "")
		f.Add("GET", "bytes=1-2", "", "", v, "", "")
		f.Add("GET", "", "", "", "", v, "")
		f.Add("GET", "", "", "", "", "", v)
	}
	st := &oneFile{data: []byte("0123456789"), modTime: time.Date(2026, time.November, 22, 10, 0, 0, 0, time.UTC)}
	s := &Server{Config: Config{Media: st}}
	app := fiber.New()
	app.Use(func(c *fiber.Ctx) error {
		err := s.sendPicture(c.Context(), c, "a.png")
		if errors.Is(err, errRange) || errors.Is(err, errPrecondition) {
			c.Status(statuses[err.Error()])
			return nil
		}
		return err
	})
	first := request(f, app, "GET", nil)
	defer first.Body.Close()
	tag := first.Header.Get("ETag")
	f.Fuzz(func(t *testing.T, method, ranges, ifRange, ifMatch, ifNoneMatch, ifModified, ifUnmodified string) {
		if method != "GET" && method != "HEAD" {
			return
		}
		h := http.Header{}
		for name, value := range map[string]string{
			"Range": ranges, "If-Range": ifRange, "If-Match": ifMatch, "If-None-Match": ifNoneMatch,
			"If-Modified-Since": ifModified, "If-Unmodified-Since": ifUnmodified,
		} {
			value = string(bytes.ReplaceAll([]byte(value), []byte(`"TAG"`), []byte(tag)))
			if value != "" && isClean(value) {
				h.Set(name, value)
			}
		}
		got := request(t, app, method, h)
		defer got.Body.Close()
		// Several ranges are answered with the file.
		if bytes.Contains([]byte(h.Get("Range")), []byte(",")) {
			h.Del("Range")
		}
		want := httptest.NewRecorder()
		want.Header().Set("ETag", tag)
		want.Header().Set("Content-Type", "image/png")
		req := httptest.NewRequestWithContext(t.Context(), method, "/a.png", nil)
		req.Header = h
		http.ServeContent(want, req, "", st.modTime, bytes.NewReader(st.data))
		if got.StatusCode != want.Code {
			t.Fatalf("%s %v: %d, net/http says %d", method, h, got.StatusCode, want.Code)
		}
		for _, name := range []string{"Content-Range", "Last-Modified", "Accept-Ranges"} {
			if want.Code >= 400 && name != "Content-Range" {
				continue // an error describes no file
			}
			if got, want := got.Header.Get(name), want.Header().Get(name); got != want {
				t.Errorf("%s %v: %s %q, net/http says %q", method, h, name, got, want)
			}
		}
		body, err := io.ReadAll(got.Body)
		must.Succeed(t, err)
		if want.Code < 400 {
			if !bytes.Equal(body, want.Body.Bytes()) {
				t.Errorf("%s %v: %q, net/http says %q", method, h, body, want.Body)
			}
			if got, want := got.Header.Get("Content-Length"), want.Header().Get("Content-Length"); want != "" && got != want {
				t.Errorf("%s %v: %s bytes, net/http says %s", method, h, got, want)
			}
		}
		if st.open != 0 {
			t.Errorf("%s %v: %d files are open", method, h, st.open)
		}
	})
}

// isClean reports whether a header value reaches the server unchanged.
func isClean(value string) bool {
	for _, b := range []byte(value) {
		if b <= ' ' && b != ' ' || b >= 0x7f {
			return false
		}
	}
	return value[0] != ' ' && value[len(value)-1] != ' '
}

func request(t testing.TB, app *fiber.App, method string, h http.Header) *http.Response {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, "/a.png", nil)
	if h != nil {
		req.Header = h.Clone()
	}
	res, err := app.Test(req, -1)
	must.Succeed(t, err)
	return res
}
