package server

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
)

// Conditional requests (RFC 9110, section 13): a reply has an entity tag, and a later request may depend on it.

// hashDigits is the length of the hash in an entity tag, in hexadecimal digits.
const hashDigits = 16

// entityTag returns the entity tag of a body. version is that of the record in the body, and its tag is strong.
// Version 0 means no record, and a weak tag. All processes compute the same tag. The tag changes with the body,
// for example by language, _fields or a linked record. Writes compare only the version in it. A public version has
// a "p" after its number, such as 4p.
func entityTag(body []byte, version calendar.ShownVersion) string {
	var sum [hashDigits / 2]byte
	binary.BigEndian.PutUint64(sum[:], xxhash.Sum64(body))
	tag := make([]byte, 0, len(`W/"9223372036854775807p-"`)+hashDigits)
	if version.Number > 0 {
		tag = append(tag, '"')
		tag = strconv.AppendInt(tag, version.Number, 10)
		if version.Public {
			tag = append(tag, 'p')
		}
		tag = append(tag, '-')
	} else {
		tag = append(tag, `W/"`...)
	}
	tag = hex.AppendEncode(tag, sum[:])
	return string(append(tag, '"'))
}

// addCoding returns the entity tag of a body in a content coding. Strong tags of different codings differ; weak
// ones do not.
func addCoding(tag string, in contentCoding) string {
	if in == identityCoding || strings.HasPrefix(tag, "W/") {
		return tag
	}
	return strings.TrimSuffix(tag, `"`) + "-" + string(in) + `"`
}

// trimCoding removes the coding that addCoding added to a tag.
func trimCoding(tag string) string {
	for _, in := range [2]contentCoding{gzipCoding, brotliCoding} {
		if rest, ok := strings.CutSuffix(tag, "-"+string(in)+`"`); ok {
			return rest + `"`
		}
	}
	return tag
}

// parseVersion returns the version in the entity tag of a record. ok is false for any other tag.
func parseVersion(tag string) (version calendar.ShownVersion, ok bool) {
	number, hash, ok := strings.Cut(strings.Trim(strings.TrimPrefix(trimCoding(tag), "W/"), `"`), "-")
	if !ok || len(hash) != hashDigits || strings.Trim(hash, "0123456789abcdef") != "" {
		return version, false
	}
	number, version.Public = strings.CutSuffix(number, "p")
	n, err := strconv.ParseInt(number, 10, 64)
	version.Number = n
	return version, err == nil && n > 0 && strconv.FormatInt(n, 10) == number
}

// maxTags bounds the number of entity tags parsed from a header. Further tags match nothing.
const maxTags = 100

// tagList is the parsed value of If-Match or If-None-Match.
type tagList struct {
	any  bool     // the header is *
	tags []string // entity tags as they were sent, such as "3-8f14e45fceea167a" or W/"c9f0f895fb98ab91"
}

// parseTags parses "*" or a list of entity tags. It returns an empty list for any other text.
func parseTags(text string) tagList {
	const space = " \t"
	text = strings.Trim(text, space)
	if text == "*" {
		return tagList{any: true}
	}
	var out tagList
	for {
		text = strings.TrimLeft(text, ","+space) // the header may have empty list elements
		if text == "" || len(out.tags) == maxTags {
			return out
		}
		length := tagLength(text)
		if length == 0 {
			return tagList{}
		}
		out.tags = append(out.tags, text[:length])
		text = strings.TrimLeft(text[length:], space)
		if text != "" && text[0] != ',' {
			return tagList{}
		}
	}
}

// tagLength returns the length in bytes of the entity tag at the start of a text, or 0 if there is none.
func tagLength(text string) int {
	start := 0
	if strings.HasPrefix(text, "W/") {
		start = len("W/")
	}
	if start == len(text) || text[start] != '"' {
		return 0
	}
	for i := start + 1; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"':
			return i + 1
		case b <= ' ' || b == 0x7f:
			return 0
		}
	}
	return 0
}

// matchStrong reports whether the list has a tag, by the strong comparison. A weak tag equals no other.
func (l tagList) matchStrong(tag string) bool {
	if l.any {
		return true
	}
	for _, one := range l.tags {
		if one == tag && !strings.HasPrefix(one, "W/") {
			return true
		}
	}
	return false
}

// matchWeak reports whether the list has a tag, by the weak comparison. It ignores W/ and the content coding.
func (l tagList) matchWeak(tag string) bool {
	if l.any {
		return true
	}
	for _, one := range l.tags {
		if strings.TrimPrefix(trimCoding(one), "W/") == strings.TrimPrefix(trimCoding(tag), "W/") {
			return true
		}
	}
	return false
}

// versions returns the record versions in the tags of the list. It includes weak tags only if weak is set.
func (l tagList) versions(weak bool) *calendar.Versions {
	out := &calendar.Versions{Any: l.any}
	for _, one := range l.tags {
		if strings.HasPrefix(one, "W/") && !weak {
			continue
		}
		switch version, ok := parseVersion(one); {
		case ok && version.Public:
			out.Public = append(out.Public, version.Number)
		case ok:
			out.List = append(out.List, version.Number)
		}
	}
	return out
}

// headerTags parses all lines of a header of the request. sent is false if the header is missing. An empty header
// is sent and has no tag.
func headerTags(c *fiber.Ctx, header string) (list tagList, sent bool) {
	parts := c.Request().Header.PeekAll(header)
	if len(parts) == 0 {
		return tagList{}, false
	}
	return parseTags(string(bytes.Join(parts, []byte{','}))), true
}

// expectedVersions returns the versions that If-Match and If-None-Match expect of the record to write. A tag
// counts by its version, whatever its language and fields, since a write changes the record.
func expectedVersions(c *fiber.Ctx) calendar.Precondition {
	var out calendar.Precondition
	if list, sent := headerTags(c, fiber.HeaderIfMatch); sent {
		out.Some = list.versions(false)
	}
	if list, sent := headerTags(c, fiber.HeaderIfNoneMatch); sent {
		out.None = list.versions(true)
	}
	return out
}

var errPrecondition = &calendar.Error{Code: "rest_precondition_failed", Key: "rest_precondition_failed"}

// checkConditions sets ETag and Cache-Control of a read. It replies 412 or 304 if If-Match, If-None-Match or
// If-Modified-Since requires it.
func (s *Server) checkConditions(c *fiber.Ctx) error {
	if err := c.Next(); err != nil {
		return err
	}
	x := exchangeOf(c)
	if x.tag == "" {
		return nil
	}
	if list, sent := headerTags(c, fiber.HeaderIfMatch); sent && !list.matchStrong(x.tag) {
		c.Response().Reset()
		startReply(c, x)
		return errPrecondition
	}
	c.Set(fiber.HeaderETag, x.tag)
	switch {
	case !x.caller.Anonymous(): // setHeaders forbids caches to store replies to signed-in callers
	case c.Context().QueryArgs().Has("password"):
		c.Set(fiber.HeaderCacheControl, "private, no-store")
	default:
		c.Set(fiber.HeaderCacheControl, cacheControl(x.now, x.until, s.MaxAge, s.Stale))
	}
	if list, sent := headerTags(c, fiber.HeaderIfNoneMatch); sent && list.matchWeak(x.tag) || !sent && !s.modifiedSince(c, x.now) {
		notModified(c)
	}
	return nil
}

// datedReplies is the maximum age of an If-Modified-Since date. Deletions before it may no longer be on record.
const datedReplies = 30 * 24 * time.Hour

// modifiedSince reports whether the reply changed after If-Modified-Since. It reports true if that header or
// Last-Modified is missing. It also reports true for dates in the future or older than datedReplies. It does so
// too for dates before this process began, or followed a change of the settings.
func (s *Server) modifiedSince(c *fiber.Ctx, now time.Time) bool {
	last, err := http.ParseTime(string(c.Response().Header.Peek(fiber.HeaderLastModified)))
	if err != nil {
		return true
	}
	since, err := http.ParseTime(c.Get(fiber.HeaderIfModifiedSince))
	return err != nil || last.After(since) || since.After(now) ||
		since.Before(s.began.Add(-time.Second)) || since.Before(now.Add(-datedReplies))
}

// notModified turns a reply into 304 without a body. Other headers stay, because a cache updates its entry with
// them.
func notModified(c *fiber.Ctx) {
	c.Status(fiber.StatusNotModified)
	c.Response().ResetBody()
	c.Response().Header.SetContentType("")
	c.Response().Header.Del(fiber.HeaderContentEncoding)
}

// cacheControl returns a Cache-Control header. Caches may reuse the reply for maxAge, and for stale longer while
// they revalidate, but not after until. A zero until means no end.
func cacheControl(now, until time.Time, maxAge, stale time.Duration) string {
	if !until.IsZero() {
		// now is in whole seconds, so the reply may be sent up to a second later.
		left := max(until.Sub(now)-time.Second, 0)
		maxAge = min(maxAge, left)
		stale = min(stale, left-maxAge)
	}
	out := "public, max-age=" + strconv.FormatInt(int64(maxAge/time.Second), 10)
	if stale >= time.Second {
		out += ", stale-while-revalidate=" + strconv.FormatInt(int64(stale/time.Second), 10)
	}
	return out
}
