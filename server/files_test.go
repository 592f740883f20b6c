package server_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

func TestMediaRanges(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	var files media.Store
	api := apitest.New(t, st, func(c *handlers.Config) { files = c.Files })
	must.Succeed(t, files.Create(t.Context(), "2026/11/pic.png", []byte("0123456789"), "image/png"))
	pic := site("", "/media/2026/11/pic.png")
	first := api.Do(t, pic)
	tag, modified := first.Header.Get("ETag"), first.Header.Get("Last-Modified")
	if modified == "" {
		t.Fatal("no Last-Modified")
	}
	body := func(want string, headers ...string) func(*testing.T, apitest.Response) {
		return func(t *testing.T, r apitest.Response) {
			if string(r.Body) != want {
				t.Errorf("got %q, want %q", r.Body, want)
			}
			header(append(headers, "ETag", tag, "Accept-Ranges", "bytes", "Cache-Control", "public, max-age=31536000, immutable")...)(t, r)
		}
	}
	whole := body("0123456789", "Content-Range", "", "Content-Length", "10")
	unchanged := header("ETag", tag, "Content-Length", "", "Content-Type", "")
	noRange := header("Content-Range", "bytes */10", "ETag", "", "Cache-Control", "no-store", "Content-Type", jsonType)
	// The length of a reply to HEAD is that of GET.
	head := withHeaders(site("HEAD", "/media/2026/11/pic.png"), "Range", "bytes=2-")
	api.Run(t, []apitest.Case{
		{Name: "whole", Request: pic, Status: 200, Check: whole},
		{Name: "first bytes", Request: withHeaders(pic, "Range", "bytes=0-3"), Status: 206, Check: body("0123", "Content-Range", "bytes 0-3/10", "Content-Length", "4")},
		{Name: "from a byte on", Request: withHeaders(pic, "Range", "bytes=7-"), Status: 206, Check: body("789", "Content-Range", "bytes 7-9/10")},
		{Name: "last bytes", Request: withHeaders(pic, "Range", "bytes=-2"), Status: 206, Check: body("89", "Content-Range", "bytes 8-9/10")},
		{Name: "more than there is", Request: withHeaders(pic, "Range", "bytes=8-99"), Status: 206, Check: body("89", "Content-Range", "bytes 8-9/10")},
		{Name: "behind the end", Request: withHeaders(pic, "Range", "bytes=10-"), Status: 416, Code: "rest_range_not_satisfiable", Check: noRange},
		{Name: "several ranges", Request: withHeaders(pic, "Range", "bytes=0-1,4-5"), Status: 200, Check: whole},
		{Name: "HEAD", Request: head, Status: 206, Check: header("Content-Range", "bytes 2-9/10", "Content-Length", "8")},
		{Name: "If-Range met", Request: withHeaders(pic, "Range", "bytes=0-0", "If-Range", tag), Status: 206, Check: body("0", "Content-Range", "bytes 0-0/10")},
		{Name: "If-Range not met", Request: withHeaders(pic, "Range", "bytes=0-0", "If-Range", `"x"`), Status: 200, Check: whole},
		{Name: "not modified since", Request: withHeaders(pic, "If-Modified-Since", modified), Status: 304, Check: unchanged},
		{Name: "the tag counts before the date", Request: withHeaders(pic, "If-Modified-Since", modified, "If-None-Match", `"x"`), Status: 200, Check: whole},
		{Name: "If-Match not met", Request: withHeaders(pic, "If-Match", `"x"`), Status: 412, Code: "rest_precondition_failed"},
	})
}

// bigFile is a media store with one large file. It counts how many bytes of it are read.
type bigFile struct {
	media.Store
	size   int64
	read   atomic.Int64
	closed sync.WaitGroup
}

func (s *bigFile) Open(context.Context, string) (io.ReadSeekCloser, media.Info, error) {
	s.closed.Add(1)
	return &bigReader{SectionReader: io.NewSectionReader(zeros{}, 0, s.size), of: s}, media.Info{Size: s.size, MIMEType: "image/png"}, nil
}

type bigReader struct {
	*io.SectionReader
	of *bigFile
}

func (r *bigReader) Read(p []byte) (int, error) {
	n, err := r.SectionReader.Read(p)
	r.of.read.Add(int64(n))
	return n, err
}

func (r *bigReader) Close() error {
	r.of.closed.Done()
	return nil
}

type zeros struct{}

func (zeros) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}

func TestMediaIsReadAsClientsTakeIt(t *testing.T) {
	t.Parallel()
	const readers, buffers = 4, 64 << 10
	files := &bigFile{size: 256 << 20}
	// There is room for the buffers of a reply, and none for the file.
	s := serve(t, newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) { c.Media, c.Sending = files, readers*buffers }))
	address := strings.TrimPrefix(s.url, "http://")
	conns := make([]net.Conn, readers)
	for i := range conns {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		must.Succeed(t, err)
		t.Cleanup(func() { conn.Close() })
		if _, err := io.WriteString(conn, "GET /media/a.png HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		must.Succeed(t, err)
		t.Cleanup(func() { res.Body.Close() })
		if res.StatusCode != 200 || res.ContentLength != files.size {
			t.Fatalf("got %d and %d bytes", res.StatusCode, res.ContentLength)
		}
		conns[i] = conn
	}
	// What buffers of the system take is far less than the file.
	if read := files.read.Load(); read > readers*files.size/10 {
		t.Errorf("%d clients have taken nothing yet, and %d bytes are read", readers, read)
	}
	// Others are answered meanwhile: a reader that waits holds no place among the requests that are worked on.
	if res := get(t, s.url+"/cal/events/v1/nowhere"); res.Status != 404 {
		t.Errorf("beside slow readers: %d", res.Status)
	}
	for _, conn := range conns {
		if err := conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
	}
	closed := make(chan struct{})
	go func() {
		files.closed.Wait()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Error("files stay open though their readers are gone")
	}
}

func TestMediaThatFindsNoRoomIsClosed(t *testing.T) {
	t.Parallel()
	files := &bigFile{size: 256 << 20}
	s := serve(t, newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) { c.Media, c.Sending = files, 1 }))
	if res := get(t, s.url+"/media/a.png"); res.Status != 503 || res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("Retry-After") != "1" {
		t.Errorf("got %d %v", res.Status, res.Header)
	}
	files.closed.Wait()
	if n := files.read.Load(); n != 0 {
		t.Errorf("%d bytes are read in vain", n)
	}
}
