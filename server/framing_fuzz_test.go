package server

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// FuzzFraming compares where a request ends with what net/http says of the same head: where nothing is said to be wrong,
// both have to agree.
func FuzzFraming(f *testing.F) {
	for _, lines := range []string{
		"Content-Length: 5", "Content-Length: 5\r\nContent-Length: 0", "Content-Length: 5\r\ncontent-length: 5",
		"Transfer-Encoding: chunked", "transfer-encoding: Chunked\r\nContent-Length: 5", "Transfer-Encoding: chunked, identity",
		"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", "Transfer-Encoding:\tchunked", "Transfer-Encoding : chunked",
		"X: a\rContent-Length: 5", "X: a\x00", "Content-Length:\x0b5", " Content-Length: 5", "X: a\nContent-Length: 5", "Connection: foo, Close",
	} {
		f.Add("POST / HTTP/1.1\r\nHost: x\r\n" + lines + "\r\n\r\n")
	}
	f.Add("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n")
	f.Fuzz(func(t *testing.T, head string) {
		var h fasthttp.RequestHeader
		if !strings.HasPrefix(head, "POST ") || h.Read(bufio.NewReader(strings.NewReader(head))) != nil {
			return
		}
		found := framingOf(&h)
		if found.wrong {
			return
		}
		// Of two empty lines the first ends the head.
		end, _, _ := strings.Cut(strings.ReplaceAll(head, "\r\n", "\n"), "\n\n")
		req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader([]byte(end + "\n\n"))))
		if err != nil {
			return // it refuses more
		}
		length := int64(max(h.ContentLength(), -1))
		if h.ContentLength() == -2 {
			length = 0 // none is named
		}
		if req.ContentLength != length || (length == -1) != found.chunked {
			t.Errorf("%q: %d bytes, net/http says %d; chunks: %v", head, length, req.ContentLength, found.chunked)
		}
	})
}
