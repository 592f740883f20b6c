package auth

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
)

// maxHeader is the longest accepted Authorization header, in bytes.
const maxHeader = 4096

// scheme is the authentication scheme of an Authorization header.
type scheme uint8

const (
	noScheme scheme = iota
	basic
	bearer // Bearer, and all unsupported schemes
)

// credential is the content of an Authorization header.
type credential struct {
	scheme scheme
	login  string // login in lower case; only Basic has one
	secret string
	token  bool // true if secret is a token (without its spaces), false for a password
}

// refusal is the reason for refusing credentials. It is logged and never sent to clients.
type refusal string

func (r refusal) Error() string { return string(r) }

const (
	headerTooLong       refusal = "header too long"
	malformedHeader     refusal = "malformed header"
	unsupportedScheme   refusal = "scheme not supported"
	notAToken           refusal = "not a token"
	wrongPair           refusal = "unknown user or wrong password"
	unknownToken        refusal = "unknown token"
	otherUser           refusal = "token of another user"
	revokedToken        refusal = "token revoked"
	expiredToken        refusal = "token expired"
	disabledUser        refusal = "user disabled"
	userWithoutPassword refusal = "user without password"
	brokenHash          refusal = "stored password hash unusable"
)

// refused returns the error that the client gets for refused credentials. The reason, why, is only logged.
func (s scheme) refused(why refusal) *calendar.Error {
	code := "rest_invalid_token"
	if s == basic {
		code = "incorrect_password"
	}
	return &calendar.Error{Code: code, Key: code, Err: why}
}

// parseHeader parses an Authorization header. An empty header has no credentials. The error is a refusal, and
// the result then has the scheme only.
//
// Basic credentials are base64 of UTF-8, with or without padding. The first colon ends the login, so a password
// may contain colons. Scheme names are case-insensitive.
func parseHeader(header string) (credential, error) {
	header = strings.Trim(header, " \t")
	if header == "" {
		return credential{}, nil
	}
	name, rest := header, ""
	if end := strings.IndexAny(header, " \t"); end >= 0 {
		name, rest = header[:end], strings.TrimLeft(header[end:], " \t")
	}
	c := credential{scheme: bearer}
	switch {
	case strings.EqualFold(name, "Basic"):
		c.scheme = basic
	case !strings.EqualFold(name, "Bearer"):
		return c, unsupportedScheme
	}
	if len(header) > maxHeader {
		return c, headerTooLong
	}
	if c.scheme == bearer {
		if c.secret, c.token = removeSpaces(rest), true; !isToken(c.secret) {
			return credential{scheme: bearer}, notAToken
		}
		return c, nil
	}
	login, secret, ok := decodeBasic(rest)
	if !ok {
		return c, malformedHeader
	}
	c.login, c.secret = login, secret
	if t := removeSpaces(secret); isToken(t) {
		c.secret, c.token = t, true
	}
	return c, nil
}

// decodeBasic decodes the base64 of LOGIN:SECRET. The result ok is false if the text is not base64 of UTF-8.
// It is also false for an invalid login, and for a secret that is empty or contains control characters.
func decodeBasic(text string) (login, secret string, ok bool) {
	plain := strings.TrimRight(text, "=")
	if padding := len(text) - len(plain); padding > 0 && padding > (4-len(plain)%4)%4 {
		return "", "", false
	}
	if strings.ContainsAny(plain, "\r\n") { // the decoder would ignore these characters
		return "", "", false
	}
	b, err := base64.RawStdEncoding.Strict().DecodeString(plain)
	if err != nil || !utf8.Valid(b) {
		return "", "", false
	}
	login, secret, ok = strings.Cut(string(b), ":")
	if !ok || secret == "" || strings.ContainsFunc(secret, unicode.IsControl) {
		return "", "", false
	}
	login, ok = normalLogin(login)
	return login, secret, ok
}
