package server_test

import (
	"io"
	"testing"
)

// TestOriginNullIsNoOrigin sends the origin of sandboxed documents and files. No reply names it, or any other origin, as
// one that may read with credentials.
func TestOriginNullIsNoOrigin(t *testing.T) {
	t.Parallel()
	s := newBrokenServer(t, io.Discard, nil)
	for _, origin := range []string{"null", "NULL", "", "https://elsewhere.example", "http://127.0.0.1:8080"} {
		for _, method := range []string{"GET", "OPTIONS", "POST", "DELETE"} {
			for _, path := range []string{"/cal/events/v1", "/cal/events/v1/nowhere", "/events/", "/docs", "/healthz"} {
				res := doAtRoot(t, s, method, path, "Origin", origin, "Access-Control-Request-Method", "DELETE", "Accept", "text/html")
				if got := res.Header.Get("Access-Control-Allow-Origin"); got != "" && got != "*" {
					t.Errorf("%s %s for the origin %q: allowed is %q", method, path, origin, got)
				}
				if got := res.Header.Get("Access-Control-Allow-Credentials"); got != "" {
					t.Errorf("%s %s for the origin %q: credentials %q", method, path, origin, got)
				}
			}
		}
	}
}
