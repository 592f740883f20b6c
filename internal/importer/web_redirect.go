package importer

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// sameHostOnly is the redirect policy of an HTTP client. It allows up to five redirects on the same host and port,
// and from http to https on their usual ports. Another port of the host may be a service that only this machine can
// reach.
func sameHostOnly(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) > 5:
		return fmt.Errorf("%w: more than 5", errRedirect)
	case !strings.EqualFold(r.URL.Hostname(), first.Hostname()), !isSamePort(first, r.URL):
		return fmt.Errorf("%w to %s; if that is the service you mean, import it from there", errRedirect,
			r.URL.Redacted())
	}
	return nil
}

// usualPorts are the ports of URLs that name none.
var usualPorts = map[string]string{"http": "80", "https": "443"}

// isSamePort reports whether a redirect keeps the scheme and port, or leads from http to https on their usual ports.
func isSamePort(from, to *url.URL) bool {
	port := func(u *url.URL) string {
		if p := u.Port(); p != "" {
			return p
		}
		return usualPorts[u.Scheme]
	}
	upgrade := from.Scheme == "http" && to.Scheme == "https" && port(from) == usualPorts["http"] && port(to) == usualPorts["https"]
	return upgrade || from.Scheme == to.Scheme && port(from) == port(to)
}

var errRedirect = errors.New("redirect")

// follow resolves a link in a response, relative to w.base. It returns an error if the link has another scheme or
// host, because requests must go to the service that the operator named. It changes http to https if w.base has
// https.
func (w *webReader) follow(link string) (*url.URL, error) {
	u, err := w.base.Parse(strings.ReplaceAll(link, " ", "%20"))
	if err != nil {
		return nil, err
	}
	// A service behind a proxy may not know that clients use https.
	if u.Scheme == "http" && w.base.Scheme == "https" {
		u.Scheme = "https"
	}
	if u.Scheme != w.base.Scheme || !strings.EqualFold(u.Host, w.base.Host) {
		return nil, fmt.Errorf("its link %s leaves %s://%s", u.Redacted(), w.base.Scheme, w.base.Host)
	}
	u.User, u.Fragment = w.base.User, ""
	return u, nil
}
