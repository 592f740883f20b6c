package server_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/server"
)

func dial(t *testing.T, s *runningServer) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	must.Succeed(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// TestRequestsThatEndInTwoPlaces sends requests with a body that another server could take for the next request.
// The server replies once and closes the connection.
func TestRequestsThatEndInTwoPlaces(t *testing.T) {
	t.Parallel()
	s := serve(t, newBrokenServer(t, io.Discard, nil))
	hidden := "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(hidden), hidden)
	post := "POST /cal/events/v1/tags HTTP/1.1\r\nHost: x\r\n"
	chunks := post + "Transfer-Encoding: chunked\r\n\r\n"
	length := fmt.Sprintf("Content-Length: %d\r\n", len(hidden))
	for name, request := range map[string]string{
		"two lengths":                 post + length + "Content-Length: 0\r\n\r\n" + hidden,
		"the same length twice":       post + length + length + "\r\n" + hidden,
		"a length and chunks":         post + length + "Transfer-Encoding: chunked\r\n\r\n" + chunk,
		"chunks and a length":         post + "transfer-encoding: chunked\r\n" + length + "\r\n" + chunk,
		"two codings":                 post + "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk,
		"two codings in a line":       post + "Transfer-Encoding: chunked, identity\r\n\r\n" + chunk,
		"no coding":                   post + "Transfer-Encoding: identity\r\n\r\n" + hidden,
		"an unknown coding":           post + "Transfer-Encoding: xchunked\r\n\r\n" + chunk,
		"chunks before they were":     "POST /cal/events/v1/tags HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk,
		"two hosts":                   "GET /cal/events/v1 HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" + hidden,
		"a carriage return in a line": "GET /cal/events/v1 HTTP/1.1\r\nHost: x\r\nX-A: b\rX-C: d\r\n\r\n" + hidden,
		"a zero byte":                 "GET /cal/events/v1 HTTP/1.1\r\nHost: x\r\nX-A: b\x00\r\n\r\n" + hidden,
		"another protocol":            "GET /cal/events/v1 FOO/1.1\r\nHost: x\r\n\r\n" + hidden,
		"a later protocol":            "GET /cal/events/v1 HTTP/1.2\r\nHost: x\r\nConnection: keep-alive\r\n\r\n" + hidden,
		"no host":                     "GET /cal/events/v1 HTTP/1.1\r\n\r\n" + hidden,
		"an empty host":               "GET /cal/events/v1 HTTP/1.1\r\nHost:\r\n\r\n" + hidden,
		"a host that is none":         "GET /cal/events/v1 HTTP/1.1\r\nHost: a b\r\n\r\n" + hidden,
		"a host in two lines":         "GET /cal/events/v1 HTTP/1.1\r\nHost: x\r\n y\r\n\r\n" + hidden,
		"a line of a space":           "GET /cal/events/v1 HTTP/1.1\nHost: x\n \r\n\r\n",
		"a line that continues":       post + "X-A: b\r\n " + length + "\r\n" + hidden,
		"a name of two words":         post + "Content-Length x: 0\r\n\r\n" + hidden,
		"a name with a space":         post + "Content-Length : 0\r\n\r\n" + hidden,
		"a length with a sign":        post + "Content-Length: +5\r\n\r\n" + hidden,
		"a size in another notation":  chunks + "0x10\r\n\r\n" + hidden,
		"a size with a plus":          chunks + "+10\r\n" + hidden,
		"a size with a minus":         chunks + "-1\r\n\r\n" + hidden,
		"a size with an underscore":   chunks + "1_0\r\n \r\n0\r\n\r\n" + hidden,
		"a size with a space":         chunks + "1 0\r\n \r\n0\r\n\r\n" + hidden,
		"a space before a size":       chunks + " 1\r\n \r\n0\r\n\r\n" + hidden,
		"a size beyond all":           chunks + "10000000000000001\r\n \r\n0\r\n\r\n" + hidden,
		"no size":                     chunks + "\r\n \r\n0\r\n\r\n" + hidden,
		"an extension without size":   chunks + ";a\r\n \r\n0\r\n\r\n" + hidden,
		"a size that a feed ends":     chunks + "1\n \r\n0\r\n\r\n" + hidden,
		"a feed in an extension":      chunks + "1;a\n \r\n0\r\n\r\n" + hidden,
		"a return in an extension":    chunks + "1;a\rb\r\n \r\n0\r\n\r\n" + hidden,
		"a chunk that a feed ends":    chunks + "1\r\n \n0\r\n\r\n" + hidden,
		"a last chunk that is none":   chunks + "1\r\n \r\n0x\r\n\r\n" + hidden,
		"a trailer without a name":    chunks + "0\r\n: a\r\n\r\n" + hidden,
		"a trailer and a header":      post + "Forwarded: for=198.51.100.7\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nForwarded: for=203.0.113.9\r\n\r\n" + hidden,
		"a header among trailers":     post + "Trailer: Forwarded\r\nForwarded: for=198.51.100.7\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
		"a trailer of a proxy":        chunks + "0\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n" + hidden,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, s)
			res := exchange(t, c, request)
			if res.Status != 400 || res.Get(t, "code") != "rest_invalid_json" {
				t.Errorf("got %d %s", res.Status, res.Body)
			}
			header("Connection", "close", "X-Content-Type-Options", "nosniff", "Cache-Control", "no-store")(t, res)
			if rest, err := io.ReadAll(c); err != nil || len(rest) > 0 {
				t.Errorf("then %q, %v", rest, err)
			}
		})
	}
	for name, request := range map[string]string{
		"one length":     post + length + "\r\n" + strings.Repeat(" ", len(hidden)),
		"chunks":         post + "Transfer-Encoding: Chunked\r\n\r\n1\r\n \r\n0\r\n\r\n",
		"many chunks":    post + "Transfer-Encoding: chunked\r\n\r\n00001;a=\"b\";c\r\n \r\nA;d \r\n" + strings.Repeat(" ", 10) + "\r\n000 \r\n0: b\r\n\r\n",
		"a feed before":  "\r\nGET /cal/events/v1 HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
		"an older proxy": "GET /cal/events/v1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, s)
			if res := exchange(t, c, request); res.Header.Get("Connection") == "close" {
				t.Errorf("got %d %s", res.Status, res.Body)
			}
			if res := exchange(t, c, hidden); res.Status != 200 {
				t.Errorf("then %d", res.Status)
			}
		})
	}
}

func TestConnectionsEndWhenTheClientSaysSo(t *testing.T) {
	t.Parallel()
	s := serve(t, newBrokenServer(t, io.Discard, nil))
	for _, options := range []string{"close", "Close", "foo, close"} {
		c := dial(t, s)
		exchange(t, c, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: "+options+"\r\n\r\n")
		if rest, err := io.ReadAll(c); err != nil || len(rest) > 0 {
			t.Errorf("%s: then %q, %v", options, rest, err)
		}
	}
}

// TestTrailersAreNoHeaders checks that trailers after a body cannot replace headers that a proxy sets.
func TestTrailersAreNoHeaders(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	proxies, err := limit.ParseProxies([]string{"127.0.0.1"})
	must.Succeed(t, err)
	s := serve(t, newBrokenServer(t, &log, func(_ *handlers.Config, c *server.Config) { c.Proxies = proxies }))
	c := dial(t, s)
	res := exchange(t, c, "POST /nowhere HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.7\r\nTransfer-Encoding: chunked\r\n\r\n"+
		"1\r\nx\r\n0\r\nForwarded: for=203.0.113.9\r\nX-Request-Id: forged\r\n\r\n")
	if res.Status != 404 || res.Header.Get("X-Request-Id") == "forged" {
		t.Errorf("got %d %v", res.Status, res.Header)
	}
	s.stop()
	must.Succeed(t, <-s.ended)
	if !strings.Contains(log.String(), "client=198.51.100.7") {
		t.Errorf("the log says %s", log.String())
	}
}

func TestBodiesThatAreReceivedAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) {
		c.Receiving, c.Metrics = 3<<20, server.NewMetrics("test")
	}))
	head := func(size int) string {
		return fmt.Sprintf("POST /cal/events/v1/tags HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", size)
	}
	first := dial(t, s)
	// The head alone, and a byte: all that is announced is counted.
	if _, err := io.WriteString(first, head(2<<20)+"{"); err != nil {
		t.Fatal(err)
	}
	for strings.Contains(scrape(t, s.Server), "almanac_http_receiving_bytes 0\n") {
		time.Sleep(time.Millisecond)
	}
	if res := exchange(t, dial(t, s), head(1000)+strings.Repeat(" ", 1000)); res.Status != 400 {
		t.Errorf("a small body: %d %s", res.Status, res.Body)
	}
	res := exchange(t, dial(t, s), head(2<<20)+"{")
	if res.Status != 503 || res.Get(t, "code") != "rest_unavailable" {
		t.Errorf("a second large one: %d %s", res.Status, res.Body)
	}
	header("Retry-After", "1", "Connection", "close")(t, res)
	if _, err := io.WriteString(first, strings.Repeat(" ", 2<<20-1)); err != nil {
		t.Fatal(err)
	}
	if res := exchange(t, first, ""); res.Status != 413 {
		t.Errorf("the first: %d %s", res.Status, res.Body)
	}
	if res := exchange(t, dial(t, s), head(2<<20)+strings.Repeat(" ", 2<<20)); res.Status != 413 {
		t.Errorf("then there is room: %d", res.Status)
	}
}

// TestTooLargeBodiesAreAnswered checks that a client can read the error even if it first sends all of a body that
// is too large.
func TestTooLargeBodiesAreAnswered(t *testing.T) {
	t.Parallel()
	s := serve(t, newBrokenServer(t, io.Discard, nil))
	const size = 6 << 20
	c := dial(t, s)
	go func() {
		// The other end may close before it has all.
		_, _ = io.WriteString(c, fmt.Sprintf("POST /cal/events/v1/tags HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)+
			strings.Repeat(" ", size))
	}()
	if res := exchange(t, c, ""); res.Status != 413 {
		t.Errorf("got %d %s", res.Status, res.Body)
	}
}

// TestCredentialsThatNobodyLooksAtChangeNoRate sends requests with credentials that end before these are verified.
// They must count against the rate of the address.
func TestCredentialsThatNobodyLooksAtChangeNoRate(t *testing.T) {
	t.Parallel()
	for name, target := range map[string][2]string{
		"no route": {"GET", "/cal/events/v1/nowhere"}, "no page": {"GET", "/nowhere"}, "page": {"GET", "/docs"},
		"picture": {"GET", "/media/none.png"}, "preflight": {"OPTIONS", "/cal/events/v1/events"},
		"method": {"PUT", "/cal/events/v1/events"}, "long": {"GET", "/cal/events/v1/events?search=" + strings.Repeat("x", 9000)},
	} {
		s := newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) {
			c.Rates.Address = limit.Rate{Interval: time.Hour, Burst: 2}
		})
		for i := range 3 {
			res := visit(t, s, target[0], target[1], "Authorization", "Bearer x")
			if (res.Status == 429) != (i == 2) {
				t.Errorf("%s, request %d: %d %s", name, i, res.Status, res.Body)
			}
		}
	}
}
