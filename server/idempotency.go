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
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/idempotency"
	"github.com/almanac-cal/almanac/internal/param"
)

// The headers of draft-ietf-httpapi-idempotency-key-header, and one that says that an answer is not the first.
const (
	headerKey      = "Idempotency-Key"
	headerReplayed = "Idempotency-Replayed"
)

const (
	// leaseMargin is how much longer than its own deadline a request is taken to be at work: for storing the answer, and
	// for clocks that differ.
	leaseMargin = 10 * time.Second
	// keepTime is how long storing the answer may take, after all else.
	keepTime = 5 * time.Second
	maxKey   = 255
)

var (
	errKeyInUse  = &calendar.Error{Code: "rest_idempotency_key_in_use", Key: "rest_idempotency_key_in_use"}
	errKeyReused = &calendar.Error{Code: "rest_idempotency_key_reused", Key: "rest_idempotency_key_reused"}
)

// once runs a request, or answers it as it was answered before if it is a POST with a key that its sender has used
// already. What is remembered is what took effect: a refusal changes nothing, so the same request is simply looked at
// again, and a corrected one may have the same key.
//
// All headers of the reply that are not those of every reply have to be set in run, so that they are remembered.
func (s *Server) once(
	c *fiber.Ctx, x *exchange, m *handlers.Match, call handlers.Call, run func(handlers.Call) error,
) (err error) {
	sent := c.Request().Header.PeekAll(headerKey)
	if len(sent) == 0 || s.Replays == nil || method(c) != fiber.MethodPost || x.caller.UserID == 0 {
		return run(call)
	}
	key, ok := parseKey(string(sent[0]))
	if !ok || len(sent) > 1 {
		return param.Invalid{Faults: []param.Fault{{Param: headerKey, Key: "idempotency-key-malformed"}}}
	}
	request := idempotency.Request{User: x.caller.UserID, Key: key}
	if request.Fingerprint, err = fingerprint(c); err != nil {
		return err
	}
	claim, err := s.Replays.Begin(x.ctx, request, x.now, s.lease(m))
	if err != nil {
		return keyRefusal(err)
	}
	if claim.Answer != nil {
		x.repeat(c, claim.Answer)
		return nil
	}
	answered := false
	if call.Made = claim.Made; call.Made == 0 {
		call.Mark = claim.Mark
		defer func() {
			// Also after a panic. What is committed is not dropped, whatever came after it.
			if !answered {
				s.settle(x, claim.Drop)
			}
		}()
	}
	if err := run(call); err != nil {
		return keyRefusal(err)
	}
	answered, x.replayed = true, call.Made != 0
	answer := answerOf(c, x)
	s.settle(x, func(ctx context.Context) error { return claim.Keep(ctx, answer) })
	return nil
}

// lease is how long a request may be at work before another process thinks that nobody is.
func (s *Server) lease(m *handlers.Match) time.Duration {
	timeout := s.Timeout
	if m.Upload() {
		timeout = s.UploadTimeout
	}
	return time.Duration(seconds(timeout))*time.Second + leaseMargin
}

// settle ends a claim. The request is answered either way: who asks again without it waits for the lease, or is shown
// the record.
func (s *Server) settle(x *exchange, do func(context.Context) error) {
	// The deadline of the work is not that of its traces.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.ctx), keepTime)
	defer cancel()
	if err := do(ctx); err != nil {
		s.Log.WarnContext(ctx, "idempotency key", "id", x.id, "error", err)
	}
}

// keyRefusal is what a client is told of a key that is not to be had; other errors stay.
func keyRefusal(err error) error {
	switch {
	case errors.Is(err, idempotency.ErrInUse):
		return &turnedAway{error: errKeyInUse, retry: time.Second, reason: reasonKey}
	case errors.Is(err, idempotency.ErrReused):
		return errKeyReused
	}
	return err
}

// parseKey reads the header: a string of RFC 8941, whose parameters mean nothing, or a word without quotes. ok is false
// for what is neither, and for a key that is empty or too long.
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

// isKey reports whether a key has a length that is stored, and nothing but printable ASCII.
func isKey(key string) bool {
	return len(key) > 0 && len(key) <= maxKey &&
		!strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' })
}

// fingerprint tells requests apart by what they write. Two forms with the same fields and files are the same, although a
// client draws the boundary between their parts by lot.
func fingerprint(c *fiber.Ctx) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	add(h, []byte(method(c)))
	add(h, c.Request().URI().PathOriginal())
	add(h, c.Request().URI().QueryString())
	add(h, c.Request().Header.Peek(fiber.HeaderIfMatch))
	kind, params, err := mime.ParseMediaType(strings.Clone(c.Get(fiber.HeaderContentType)))
	coding := c.Request().Header.Peek(fiber.HeaderContentEncoding)
	if err != nil || kind != fiber.MIMEMultipartForm || len(coding) > 0 {
		add(h, c.Request().Header.ContentType())
		add(h, coding)
		add(h, c.BodyRaw())
		return [sha256.Size]byte(h.Sum(nil)), nil
	}
	// One that cannot be read is refused by who reads it.
	if form, err := handlers.MultipartForm(c, params["boundary"]); err == nil {
		if err := addForm(h, form); err != nil {
			return sum, err
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// add adds a part of a request: with its length before it, so that no two lists of parts are alike.
func add(h hash.Hash, part []byte) {
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
	h.Write(part)
}

func addForm(h hash.Hash, form *multipart.Form) error {
	for _, name := range slices.Sorted(maps.Keys(form.Value)) {
		for _, value := range form.Value[name] {
			add(h, []byte(name))
			add(h, []byte(value))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(form.File)) {
		for _, file := range form.File[name] {
			add(h, []byte(name))
			add(h, []byte(file.Filename))
			if err := addFile(h, file); err != nil {
				return err
			}
		}
	}
	return nil
}

func addFile(h hash.Hash, file *multipart.FileHeader) (err error) {
	f, err := file.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	add(h, strconv.AppendInt(nil, file.Size, 10))
	_, err = io.Copy(h, f)
	return err
}

// ofOneReply are headers that belong to one reply and not to an answer.
var ofOneReply = map[string]bool{
	"x-request-id": true, "date": true, "server": true, "connection": true, "content-length": true,
	"transfer-encoding": true, "ratelimit": true, "ratelimit-policy": true, "content-language": true,
}

// answerOf is the reply as it stands, before the headers that every reply has.
func answerOf(c *fiber.Ctx, x *exchange) idempotency.Answer {
	a := idempotency.Answer{
		Status: c.Response().StatusCode(), Body: slices.Clone(c.Response().Body()),
		Header: [][2]string{{fiber.HeaderContentLanguage, string(x.lang)}},
	}
	c.Response().Header.VisitAll(func(name, value []byte) {
		if !ofOneReply[strings.ToLower(string(name))] {
			a.Header = append(a.Header, [2]string{string(name), string(value)})
		}
	})
	return a
}

// repeat sends an answer that was given before.
func (x *exchange) repeat(c *fiber.Ctx, a *idempotency.Answer) {
	x.replayed = true
	for _, h := range a.Header {
		if h[0] == fiber.HeaderContentLanguage {
			x.lang = calendar.Language(h[1])
			continue
		}
		c.Response().Header.Add(h[0], h[1])
	}
	c.Status(a.Status).Response().SetBody(a.Body)
}
