package drive

import (
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
)

// Get returns the bytes of a GET request for a URL. headers have the form "Name: value".
func Get(u *url.URL, headers ...string) []byte {
	return Message("GET", u, nil, headers...)
}

// Message returns the bytes of a request. headers have the form "Name: value". A nil body means none.
func Message(method string, u *url.URL, body []byte, headers ...string) []byte {
	return Append(nil, method, u, body, headers...)
}

// Append appends the bytes of a request to b and returns the result. headers have the form "Name: value". A nil body
// means none.
func Append(b []byte, method string, u *url.URL, body []byte, headers ...string) []byte {
	b = append(append(append(b, method...), ' '), u.RequestURI()...)
	b = append(append(append(b, " HTTP/1.1\r\nHost: "...), u.Host...), "\r\n"...)
	for _, h := range headers {
		b = append(append(b, h...), "\r\n"...)
	}
	if body != nil {
		b = append(b, "Content-Length: "...)
		b = append(strconv.AppendInt(b, int64(len(body)), 10), "\r\n"...)
	}
	return append(append(b, "\r\n"...), body...)
}

// Address returns the host and port of a URL. The port is 80 if the URL has none.
func Address(u *url.URL) string {
	if u.Port() == "" {
		return net.JoinHostPort(u.Hostname(), "80")
	}
	return u.Host
}

// Each returns a Request that sends the given requests in turn. The seed determines their random order.
func Each(all [][]byte, seed uint64) Request {
	order := rand.New(rand.NewPCG(seed, 1)).Perm(len(all))
	return func(_ []byte, i int) []byte { return all[order[i%len(order)]] }
}
