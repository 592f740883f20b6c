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

// The limits of a download (contract, section 15), besides MaxBytes.
const (
	fetchTime    = 10 * time.Second // from the first look-up to the last byte
	maxRedirects = 3
)

// Fetcher downloads pictures from URLs that clients send. It connects to public addresses only, so that clients cannot
// reach private networks through this service. It checks each address while dialling, also after redirects and repeated
// name resolution.
type Fetcher struct{ client *http.Client }

// NewFetcher returns a Fetcher that also connects to the addresses in allow, whatever they are.
func NewFetcher(allow ...netip.Prefix) *Fetcher {
	allow = slices.Clone(allow)
	dialer := &net.Dialer{
		ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
			return checkAddress(network, address, allow)
		},
	}
	return &Fetcher{client: &http.Client{
		// A transport of its own: no proxy, which would be dialled instead of the address, no cookies, and no
		// connections kept to the servers of strangers.
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

// Fetch downloads the picture at an absolute http or https URL and returns it with the last part of the URL's
// path, for Save to make a name of. User name and password in a URL are not sent. It returns ErrFetch for what
// it does not get, and besides that ErrAddress, ErrTooLarge, or ErrType, by the first bytes, where one is why.
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
	body := bufio.NewReader(io.LimitReader(resp.Body, MaxBytes+1)) // of the content, if it came compressed
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

// prepare refuses a URL that is not an absolute http or https one, and takes the credentials out of it.
func prepare(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("%q is not an absolute http or https URL", u.Redacted())
	}
	u.User = nil
	return nil
}

// checkAddress refuses the address of a connection about to be made unless it is public or allowed.
func checkAddress(network, address string, allow []netip.Prefix) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") {
		return fmt.Errorf("%w: %s %s", ErrAddress, network, address)
	}
	// Without its zone, or no prefix contains it.
	if isPublic(ap.Addr()) || inPrefixes(ap.Addr().Unmap().WithZone(""), allow) {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrAddress, ap.Addr())
}
