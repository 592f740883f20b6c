package feed

import (
	"net"
	"net/mail"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// uri converts a web address to a URI (RFC 3986): it percent-encodes characters outside ASCII, as browsers do.
// It returns "" for text that is not an http or https address.
func uri(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	if !isASCII(u.Host) {
		host, err := idna.Lookup.ToASCII(u.Hostname())
		if err != nil {
			return ""
		}
		if port := u.Port(); port != "" {
			host = net.JoinHostPort(host, port)
		}
		u.Host = host
		address = u.String()
	}
	return percentEncode(address, "-._~:/?#[]@!$&'()*+,;=%")
}

// mailto returns the mailto URI of an e-mail address (RFC 6068). It returns "" for text that is not an address.
func mailto(address string) string {
	parsed, err := mail.ParseAddress(address)
	if err != nil || parsed.Address != address {
		return ""
	}
	return "mailto:" + percentEncode(address, "-._~!$'*+@")
}

// percentEncode percent-encodes the bytes of s, except for ASCII letters and digits and the bytes in safe. A
// percent sign that begins no valid encoding is encoded too.
func percentEncode(s, safe string) string {
	const digits = "0123456789ABCDEF"
	var b []byte
	done := 0
	for i := range len(s) {
		c := s[i]
		if isAlphanumeric(c) || strings.IndexByte(safe, c) >= 0 && (c != '%' || isEncoding(s[i:])) {
			continue
		}
		b = append(append(b, s[done:i]...), '%', digits[c>>4], digits[c&15])
		done = i + 1
	}
	if done == 0 {
		return s
	}
	return string(append(b, s[done:]...))
}

func isEncoding(s string) bool { return len(s) > 2 && isHex(s[1]) && isHex(s[2]) }

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isAlphanumeric(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

// isMediaType reports whether s is a media type without parameters.
func isMediaType(s string) bool {
	kind, sub, ok := strings.Cut(s, "/")
	for i := range len(s) {
		if !isAlphanumeric(s[i]) && strings.IndexByte("-+./", s[i]) < 0 {
			return false
		}
	}
	return ok && kind != "" && sub != "" && !strings.Contains(sub, "/")
}
