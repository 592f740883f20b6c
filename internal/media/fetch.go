package media

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// fetchTime and maxRedirects are the limits of a download, besides MaxBytes (contract, section 15).
const (
	fetchTime    = 10 * time.Second // from the name look-up to the last byte
	maxRedirects = 3
)

// Fetcher downloads pictures from URLs that clients send. It connects to public addresses only, so that clients
// cannot reach private networks through this service. It checks the address of each connection, also after
// redirects and repeated name look-ups.
type Fetcher struct{ client *http.Client }

// NewFetcher returns a Fetcher that also connects to the addresses in allow, even if they are not public.
func NewFetcher(allow ...netip.Prefix) *Fetcher {
	allow = slices.Clone(allow)
	dialer := &net.Dialer{
		ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
			return checkAddress(network, address, allow)
		},
	}
	return &Fetcher{client: &http.Client{
		// This transport uses no proxy, because the proxy's address would be checked in place of the target's.
		// It keeps no connections to foreign servers.
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			r.Header.Del("Referer")
			return prepare(r.URL)
		},
	}}
}

// Fetch downloads the picture at an absolute http or https URL. name is the last part of the URL's path, from
// which Save makes a file name. User name and password in the URL are not sent. Every error wraps ErrFetch. It
// also wraps ErrAddress, ErrTooLarge or ErrType if that is the cause.
func (f *Fetcher) Fetch(ctx context.Context, rawURL string) (name string, data []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	name, data, err = f.fetch(ctx, rawURL)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrFetch, err)
	}
	return name, data, nil
}

func (f *Fetcher) fetch(ctx context.Context, rawURL string) (name string, data []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, rawURL, nil)
	if err != nil {
		return "", nil, err
	}
	if err := prepare(req.URL); err != nil {
		return "", nil, err
	}
	req.Header.Set("User-Agent", "Almanac (+https://github.com/almanac-cal/almanac)")
	req.Header.Set("Accept", "image/jpeg, image/png, image/gif, image/webp, */*;q=0.1")
	if name = path.Base(req.URL.Path); name == "/" || name == "." {
		name = ""
	}

	resp, err := f.client.Do(req)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return "", nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	if resp.ContentLength > MaxBytes {
		return "", nil, ErrTooLarge
	}
	body := bufio.NewReader(io.LimitReader(resp.Body, MaxBytes+1)) // MaxBytes limits the decompressed content
	start, err := body.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", nil, err
	}
	if sniff(start) == nil {
		return "", nil, ErrType
	}
	data, err = io.ReadAll(body)
	if err != nil {
		return "", nil, err
	}
	if len(data) > MaxBytes {
		return "", nil, ErrTooLarge
	}
	return name, data, nil
}

// prepare rejects a URL that is not an absolute http or https URL. It removes the credentials from the URL.
func prepare(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("%q is not an absolute http or https URL", u.Redacted())
	}
	u.User = nil
	return nil
}

// checkAddress returns ErrAddress for a connection to an address that is neither public nor in allow.
func checkAddress(network, address string, allow []netip.Prefix) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") {
		return fmt.Errorf("%w: %s %s", ErrAddress, network, address)
	}
	// The zone is removed because no prefix contains an address with a zone.
	if isPublic(ap.Addr()) || inPrefixes(ap.Addr().Unmap().WithZone(""), allow) {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrAddress, ap.Addr())
}
