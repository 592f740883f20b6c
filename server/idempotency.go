package server

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/idempotency"
	"github.com/almanac-cal/almanac/internal/param"
)

// headerKey is the request header of draft-ietf-httpapi-idempotency-key-header. headerReplayed marks a reply that
// repeats a stored one.
const (
	headerKey      = "Idempotency-Key"
	headerReplayed = "Idempotency-Replayed"
)

const (
	// leaseMargin extends the lease of a key beyond the deadline of the request. It allows for storing the reply
	// and for clocks that differ. Only programs without heartbeats read the lease.
	leaseMargin = 10 * time.Second
	// storeTimeout bounds how long storing the reply may take after the deadline of the request.
	storeTimeout = 5 * time.Second
	maxKey       = 255 // longest idempotency key, in bytes
)

var (
	errKeyInUse  = &calendar.Error{Code: "rest_idempotency_key_in_use", Key: "rest_idempotency_key_in_use"}
	errKeyReused = &calendar.Error{Code: "rest_idempotency_key_reused", Key: "rest_idempotency_key_reused"}
)

// applyKey repeats the stored reply to a POST if the caller has used its idempotency key before. Otherwise it
// stores the reply. It does not store a refusal, because a corrected request may reuse the key.
//
// The stored reply has the headers that later steps set. Earlier steps set their headers on every reply.
func (s *Server) applyKey(c *fiber.Ctx) (err error) {
	x := exchangeOf(c)
	sent := c.Request().Header.PeekAll(headerKey)
	if len(sent) == 0 || s.Replays == nil || effectiveMethod(c) != fiber.MethodPost || x.caller.UserID == 0 {
		return c.Next()
	}
	key, ok := parseKey(string(sent[0]))
	if !ok || len(sent) > 1 {
		return param.Invalid{Faults: []param.Fault{{Param: headerKey, Key: "idempotency-key-malformed"}}}
	}
	request := idempotency.Request{User: x.caller.UserID, Key: key}
	if request.Fingerprint, err = fingerprint(c); err != nil {
		return err
	}
	claim, err := s.Replays.Begin(x.ctx, request, x.now, s.leaseTime(x))
	if err != nil {
		return translateKeyError(err)
	}
	x.claim = claim
	if claim.Reply != nil && callerRole(claim.Reply) == string(x.caller.Role) {
		if err := s.API.Accessible(x.ctx, x.match, s.newCall(c, x)); err != nil {
			return err
		}
		x.replayReply(c, claim.Reply)
		return nil
	}
	answered := false
	if claim.AlreadyWritten == 0 {
		defer func() {
			// This also runs after an error or a panic. Release keeps the key if a record was committed.
			if !answered {
				s.endClaim(x, claim.Release)
			}
		}()
	}
	if err := c.Next(); err != nil {
		return translateKeyError(err)
	}
	answered, x.replayed = true, claim.AlreadyWritten != 0
	answer := copyReply(c, x)
	s.endClaim(x, func(ctx context.Context) error { return claim.StoreReply(ctx, answer) })
	return nil
}

// leaseTime returns the lease time of an idempotency key, for processes that run the previous version of this
// program. They do not see the heartbeats that renew a claim, so they take the key over when this time has passed.
func (s *Server) leaseTime(x *exchange) time.Duration {
	timeout := s.Timeout
	if x.match.Upload() {
		timeout = s.UploadTimeout
	}
	return time.Duration(wholeSeconds(timeout))*time.Second + leaseMargin
}

// endClaim runs do, which stores the reply or releases the idempotency key. If do fails, it logs the error. A
// retry then waits until the claim is abandoned, or gets a reply made from the record.
func (s *Server) endClaim(x *exchange, do func(context.Context) error) {
	// This context outlives the deadline of the request, which may have passed. It keeps the trace span.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.ctx), storeTimeout)
	defer cancel()
	if err := do(ctx); err != nil {
		s.Log.WarnContext(ctx, "idempotency key", "id", x.id, "error", err)
	}
}

// translateKeyError translates an error about an idempotency key into an error of the contract. It returns other
// errors unchanged.
func translateKeyError(err error) error {
	switch {
	case errors.Is(err, idempotency.ErrInUse):
		return &refusedError{error: errKeyInUse, retry: time.Second, reason: reasonKey}
	case errors.Is(err, idempotency.ErrReused):
		return errKeyReused
	}
	return err
}

// parseKey parses an Idempotency-Key header: a quoted string of RFC 8941, or a word without quotes. It ignores
// parameters of the string. ok is false for any other text, and for a key that is empty or too long.
func parseKey(header string) (key string, ok bool) {
	header = strings.Trim(header, " \t")
	quoted, isQuoted := strings.CutPrefix(header, `"`)
	if !isQuoted {
		return header, isKey(header) && !strings.ContainsAny(header, "\"\\,; ")
	}
	var b strings.Builder
	for i := 0; i < len(quoted); i++ {
		switch quoted[i] {
		case '"':
			rest := quoted[i+1:]
			return b.String(), isKey(b.String()) && (rest == "" || rest[0] == ';')
		case '\\':
			if i++; i == len(quoted) || quoted[i] != '"' && quoted[i] != '\\' {
				return "", false
			}
		}
		b.WriteByte(quoted[i])
	}
	return "", false
}

// isKey reports whether a key has 1 to maxKey printable ASCII characters.
func isKey(key string) bool {
	return len(key) > 0 && len(key) <= maxKey &&
		!strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' })
}

// fingerprint returns a hash of what a request writes. Two forms with the same fields and files have the same
// hash, even if their boundaries differ.
func fingerprint(c *fiber.Ctx) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	hashPart(h, []byte(effectiveMethod(c)))
	hashPart(h, c.Request().URI().PathOriginal())
	hashPart(h, c.Request().URI().QueryString())
	hashPart(h, c.Request().Header.Peek(fiber.HeaderIfMatch))
	kind, params, err := mime.ParseMediaType(strings.Clone(c.Get(fiber.HeaderContentType)))
	coding := c.Request().Header.Peek(fiber.HeaderContentEncoding)
	if err != nil || kind != fiber.MIMEMultipartForm || len(coding) > 0 {
		hashPart(h, c.Request().Header.ContentType())
		hashPart(h, coding)
		hashPart(h, c.Request().Header.Peek(fiber.HeaderContentDisposition)) // the name of a file
		hashPart(h, c.BodyRaw())
		return [sha256.Size]byte(h.Sum(nil)), nil
	}
	// If the form does not parse, package handlers refuses it later.
	if form, err := endpoint.MultipartForm(c, params["boundary"]); err == nil {
		if err := hashForm(h, form); err != nil {
			return sum, err
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// hashPart hashes one part of a request. It hashes the length first, so that different splits into parts differ.
func hashPart(h hash.Hash, part []byte) {
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
	h.Write(part)
}

func hashForm(h hash.Hash, form *multipart.Form) error {
	for _, name := range slices.Sorted(maps.Keys(form.Value)) {
		for _, value := range form.Value[name] {
			hashPart(h, []byte(name))
			hashPart(h, []byte(value))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(form.File)) {
		for _, file := range form.File[name] {
			hashPart(h, []byte(name))
			hashPart(h, []byte(file.Filename))
			if err := hashFile(h, file); err != nil {
				return err
			}
		}
	}
	return nil
}

func hashFile(h hash.Hash, file *multipart.FileHeader) (err error) {
	f, err := file.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hashPart(h, strconv.AppendInt(nil, file.Size, 10))
	_, err = io.Copy(h, f)
	return err
}

// perReplyHeaders are headers that each reply sets itself, so they are neither cached nor stored. Names are in
// lower case.
var perReplyHeaders = map[string]bool{
	"x-request-id": true, "date": true, "server": true, "connection": true, "content-length": true,
	"transfer-encoding": true, "ratelimit": true, "ratelimit-policy": true, "content-language": true,
}

// copyReply copies the reply of the later steps, before setHeaders adds headers.
func copyReply(c *fiber.Ctx, x *exchange) idempotency.Reply {
	a := idempotency.Reply{
		Status: c.Response().StatusCode(), Body: slices.Clone(c.Response().Body()),
		Header: [][2]string{{fiber.HeaderContentLanguage, string(x.lang)}, {headerRole, string(x.caller.Role)}},
	}
	for name, value := range c.Response().Header.All() {
		if !perReplyHeaders[strings.ToLower(string(name))] {
			a.Header = append(a.Header, [2]string{string(name), string(value)})
		}
	}
	return a
}

// headerRole names an entry that is stored with a reply and never sent. Its value is the role of the caller. A
// caller whose role has changed gets a reply made from the record, without links that the role may not read.
const headerRole = ":role"

func callerRole(a *idempotency.Reply) string {
	for _, h := range a.Header {
		if h[0] == headerRole {
			return h[1]
		}
	}
	return ""
}

// replayReply writes a stored reply.
func (x *exchange) replayReply(c *fiber.Ctx, a *idempotency.Reply) {
	x.replayed = true
	for _, h := range a.Header {
		switch h[0] {
		case fiber.HeaderContentLanguage:
			x.lang = calendar.Language(h[1])
		case headerRole:
		default:
			c.Response().Header.Add(h[0], h[1])
		}
	}
	c.Status(a.Status).Response().SetBody(a.Body)
}
