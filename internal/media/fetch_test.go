package media

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

var thisHost = netip.MustParsePrefix("127.0.0.1/32")

// startPictureServer starts a web server with pictures, and with files that Fetch must reject.
func startPictureServer(t *testing.T) *httptest.Server {
	t.Helper()
	picture := pngFile(t, 4, 4)
	mux := http.NewServeMux()
	serve := func(pattern string, h http.HandlerFunc) { mux.HandleFunc(pattern, h) }
	send := func(w io.Writer, data []byte) {
		// The client may have left, which is its right.
		if _, err := w.Write(data); err != nil {
			return
		}
	}

	serve("/pic.png", func(w http.ResponseWriter, _ *http.Request) { send(w, picture) })
	serve("/", func(w http.ResponseWriter, _ *http.Request) { send(w, picture) })
	serve("/missing.png", http.NotFound)
	serve("/created.png", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		send(w, picture)
	})
	serve("/page.png", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		send(w, []byte("<html>not what the name says</html>"))
	})
	serve("/empty.png", func(http.ResponseWriter, *http.Request) {})
	serve("/short.png", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		send(w, picture)
	})
	serve("/announced.png", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(MaxBytes+1))
		send(w, picture)
	})
	serve("/just.png", func(w http.ResponseWriter, _ *http.Request) {
		send(w, append(bytes.Clone(picture), make([]byte, MaxBytes-len(picture))...))
	})
	serve("/endless.png", func(w http.ResponseWriter, r *http.Request) {
		send(w, picture)
		block := make([]byte, 1<<20)
		for r.Context().Err() == nil {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	serve("/bomb.png", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		send(z, picture)
		send(z, make([]byte, 2*MaxBytes))
		if err := z.Close(); err != nil {
			return
		}
	})
	serve("/silent.png", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	serve("/stuck.png", func(w http.ResponseWriter, r *http.Request) {
		send(w, picture[:20])
		if err := http.NewResponseController(w).Flush(); err != nil {
			return
		}
		<-r.Context().Done()
	})
	serve("/hops/{left}", func(w http.ResponseWriter, r *http.Request) {
		left := r.PathValue("left")
		if left == "0" {
			send(w, picture)
			return
		}
		http.Redirect(w, r, "/hops/"+string(left[0]-1), http.StatusFound)
	})
	serve("/to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("url"), http.StatusTemporaryRedirect)
	})
	serve("/headers", func(w http.ResponseWriter, r *http.Request) {
		sent := r.Header.Get("Authorization") + r.Header.Get("Cookie") + r.Header.Get("Referer")
		if sent != "" || !strings.HasPrefix(r.UserAgent(), "Almanac") {
			http.Error(w, "bad headers", http.StatusBadRequest)
			return
		}
		send(w, picture)
	})
	serve("/cookie", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b", Path: "/"})
		http.Redirect(w, r, "//user:secret@"+r.Host+"/headers", http.StatusFound)
	})

	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

func TestFetch(t *testing.T) {
	srv := startPictureServer(t)
	host := strings.TrimPrefix(srv.URL, "http://")
	tests := []struct {
		name     string
		url      string
		wantName string
	}{
		{"picture", srv.URL + "/pic.png", "pic.png"},
		{"name with space and query", srv.URL + "/a/my%20pic.png?size=large#top", "my pic.png"},
		{"no name", srv.URL + "/", ""},
		{"no path", srv.URL, ""},
		{"as large as it may be", srv.URL + "/just.png", "just.png"},
		{"three redirects; the name asked for counts", srv.URL + "/hops/3", "3"},
		{"no credentials sent", "http://user:secret@" + host + "/headers", "headers"},
		{"no cookies, credentials or referrer sent on", srv.URL + "/cookie", "cookie"},
		{"upper-case scheme", "HTTP://" + host + "/pic.png", "pic.png"},
	}
	f := NewFetcher(thisHost)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name, data, err := f.Fetch(t.Context(), tt.url)
			if err != nil {
				t.Fatal(err)
			}
			if f := sniff(data); name != tt.wantName || f == nil {
				t.Errorf("got %q, picture %t; want %q", name, f != nil, tt.wantName)
			}
		})
	}
}

func TestFetchRefuses(t *testing.T) {
	srv := startPictureServer(t)
	port := srv.URL[strings.LastIndex(srv.URL, ":"):]
	to := func(target string) string { return srv.URL + "/to?url=" + url.QueryEscape(target) }
	none := NewFetcher()
	one := NewFetcher(thisHost)
	tests := []struct {
		name    string
		fetcher *Fetcher
		url     string
		want    error
	}{
		{"loopback", none, srv.URL + "/pic.png", ErrAddress},
		{"loopback by name", none, "http://localhost" + port + "/pic.png", ErrAddress},
		{"loopback as IPv4-mapped", none, "http://[::ffff:127.0.0.1]" + port + "/pic.png", ErrAddress},
		{"unspecified", none, "http://0.0.0.0" + port + "/pic.png", ErrAddress},
		{"metadata service", none, "http://169.254.169.254/latest/meta-data/", ErrAddress},
		{"https too", none, "https://10.0.0.1/pic.png", ErrAddress},
		{"another than the one allowed", one, "http://127.0.0.2" + port + "/pic.png", ErrAddress},
		{"redirect to another than the one allowed", one, to("http://127.0.0.2" + port + "/pic.png"), ErrAddress},
		{"redirect to the metadata service", one, to("http://169.254.169.254/"), ErrAddress},
		{"redirect to a file", one, to("file:///etc/passwd"), ErrFetch},
		{"redirect to nowhere", one, to("http:///pic.png"), ErrFetch},
		{"four redirects", one, srv.URL + "/hops/4", ErrFetch},
		{"status 404", one, srv.URL + "/missing.png", ErrFetch},
		{"status 201", one, srv.URL + "/created.png", ErrFetch},
		{"not a picture", one, srv.URL + "/page.png", ErrType},
		{"nothing", one, srv.URL + "/empty.png", ErrType},
		{"less than announced", one, srv.URL + "/short.png", io.ErrUnexpectedEOF},
		{"too large, as announced", one, srv.URL + "/announced.png", ErrTooLarge},
		{"too large, unannounced", one, srv.URL + "/endless.png", ErrTooLarge},
		{"too large when unpacked", one, srv.URL + "/bomb.png", ErrTooLarge},
		{"no server", one, "http://127.0.0.1:1/pic.png", ErrFetch},
		{"file", one, "file:///etc/passwd", ErrFetch},
		{"data", one, "data:image/png;base64,iVBORw0KGgo=", ErrFetch},
		{"ftp", one, "ftp://example.org/pic.png", ErrFetch},
		{"relative", one, "/pic.png", ErrFetch},
		{"without scheme", one, "//127.0.0.1" + port + "/pic.png", ErrFetch},
		{"without host", one, "http:///pic.png", ErrFetch},
		{"port only", one, "http://" + port + "/pic.png", ErrFetch},
		{"opaque", one, "http:pic.png", ErrFetch},
		{"not a URL", one, "http://[::1/pic.png", ErrFetch},
		{"control characters", one, srv.URL + "/pic.png\r\nHost: a", ErrFetch},
		{"empty", one, "", ErrFetch},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name, data, err := tt.fetcher.Fetch(t.Context(), tt.url)
			if !errors.Is(err, tt.want) || !errors.Is(err, ErrFetch) || !errors.Is(err, ErrUnusable) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if errors.Is(err, ErrAddress) && !errors.Is(tt.want, ErrAddress) {
				t.Errorf("an address is blamed: %v", err)
			}
			if name != "" || data != nil {
				t.Errorf("got %q and %d bytes with an error", name, len(data))
			}
		})
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	srv := startPictureServer(t)
	for _, path := range []string{"/silent.png", "/stuck.png"} {
		t.Run(path, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), fetchTime/100)
			defer cancel()
			_, _, err := NewFetcher(thisHost).Fetch(ctx, srv.URL+path)
			if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrFetch) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFetchKeepsSecretsOutOfErrors(t *testing.T) {
	for _, u := range []string{"http://user:secret@127.0.0.1:1/", "ftp://user:secret@example.org/"} {
		_, _, err := NewFetcher(thisHost).Fetch(t.Context(), u)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v", err)
		}
	}
}

func TestPublic(t *testing.T) {
	tests := []struct {
		addr string
		want bool
	}{
		{"8.8.8.8", true},
		{"100.63.255.255", true},
		{"100.128.0.0", true},
		{"172.15.255.255", true},
		{"172.32.0.0", true},
		{"192.167.255.255", true},
		{"223.255.255.255", true},
		{"2a00:1450:4001::1", true},
		{"2606:4700:4700::1111", true},
		{"::ffff:8.8.8.8", true},

		{"0.0.0.0", false},
		{"0.1.2.3", false},
		{"10.1.2.3", false},
		{"100.64.0.1", false},
		{"100.100.100.200", false},
		{"127.0.0.1", false},
		{"127.255.255.255", false},
		{"168.63.129.16", false},
		{"169.254.169.254", false},
		{"172.16.0.1", false},
		{"172.31.255.255", false},
		{"192.0.0.192", false},
		{"192.0.2.1", false},
		{"192.88.99.1", false},
		{"192.168.1.1", false},
		{"198.18.0.1", false},
		{"198.19.255.255", false},
		{"198.51.100.1", false},
		{"203.0.113.1", false},
		{"224.0.0.1", false},
		{"239.255.255.255", false},
		{"240.0.0.1", false},
		{"255.255.255.255", false},
		{"::", false},
		{"::1", false},
		{"::127.0.0.1", false},
		{"::8.8.8.8", false},
		{"::ffff:127.0.0.1", false},
		{"::ffff:169.254.169.254", false},
		{"64:ff9b::7f00:1", false},
		{"64:ff9b::808:808", false},
		{"64:ff9b:1::1", false},
		{"100::1", false},
		{"2001::1", false},
		{"2001:2::1", false},
		{"2001:db8::1", false},
		{"2002:7f00:1::", false},
		{"3fff::1", false},
		{"5f00::1", false},
		{"fc00::1", false},
		{"fd00:ec2::254", false},
		{"fe80::1", false},
		{"fe80::1%eth0", false},
		{"2a00:1450:4001::1%eth0", false},
		{"fec0::1", false},
		{"ff02::1", false},
	}
	for _, tt := range tests {
		t.Run(tt.addr, func(t *testing.T) {
			if got := isPublic(netip.MustParseAddr(tt.addr)); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
	if isPublic(netip.Addr{}) {
		t.Error("the zero address is public")
	}
}

func TestCheckAddress(t *testing.T) {
	allow := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fe80::/10")}
	tests := []struct {
		name, network, address string
		want                   bool
	}{
		{"public", "tcp4", "8.8.8.8:80", true},
		{"public, any port", "tcp4", "8.8.8.8:22", true},
		{"allowed", "tcp4", "10.1.2.3:80", true},
		{"allowed, as IPv4-mapped", "tcp6", "[::ffff:10.1.2.3]:80", true},
		{"allowed, with a zone", "tcp6", "[fe80::1%eth0]:80", true},
		{"beside what is allowed", "tcp4", "10.2.0.0:80", false},
		{"not TCP", "udp4", "8.8.8.8:80", false},
		{"socket", "unix", "/run/db.sock", false},
		{"name", "tcp", "example.org:80", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := checkAddress(tt.network, tt.address, allow)
			if (err == nil) != tt.want || err != nil && !errors.Is(err, ErrAddress) {
				t.Errorf("got %v, want allowed %t", err, tt.want)
			}
		})
	}
}
