package server

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
)

// Requests with conditions (RFC 9110, section 13): what a client has read has a tag, and what it asks or changes next
// may depend on it.

// hashDigits is the length of the hash in a tag, in hexadecimal digits.
const hashDigits = 16

// entityTag is the tag of a body: strong for the representation of a record, weak for all else. It is the same in all
// processes, and another one whenever the body is: in another language, with other _fields, after a change of what the
// record is shown with. The version, of a record alone, is what writes compare.
func entityTag(body []byte, version int64) string {
	var sum [hashDigits / 2]byte
	binary.BigEndian.PutUint64(sum[:], xxhash.Sum64(body))
	tag := make([]byte, 0, len(`W/"9223372036854775807-"`)+hashDigits)
	if version > 0 {
		tag = append(tag, '"')
		tag = strconv.AppendInt(tag, version, 10)
		tag = append(tag, '-')
	} else {
		tag = append(tag, `W/"`...)
	}
	tag = hex.AppendEncode(tag, sum[:])
	return string(append(tag, '"'))
}

// tagIn is the tag of a body in a content coding. Strong tags differ when the bytes do; weak ones say that it does not
// matter.
func tagIn(tag string, in coding) string {
	if in == identity || strings.HasPrefix(tag, "W/") {
		return tag
	}
	return strings.TrimSuffix(tag, `"`) + "-" + string(in) + `"`
}

// bare is a tag without the coding that tagIn added.
func bare(tag string) string {
	for _, in := range [2]coding{gzipped, brotlied} {
		if rest, ok := strings.CutSuffix(tag, "-"+string(in)+`"`); ok {
			return rest + `"`
		}
	}
	return tag
}

// versionOf is the version in the tag of a record; not ok is any other tag.
func versionOf(tag string) (version int64, ok bool) {
	number, hash, ok := strings.Cut(strings.Trim(strings.TrimPrefix(bare(tag), "W/"), `"`), "-")
	if !ok || len(hash) != hashDigits || strings.Trim(hash, "0123456789abcdef") != "" {
		return 0, false
	}
	version, err := strconv.ParseInt(number, 10, 64)
	return version, err == nil && version > 0 && strconv.FormatInt(version, 10) == number
}

// maxTags is how many tags of a header are looked at. One that is further behind is not recognised, which a client
// cannot tell from a record that has changed.
const maxTags = 100

// tagList is the value of If-Match or If-None-Match.
type tagList struct {
	any  bool     // *
	tags []string // as they were sent: "3-8f14e45fceea167a", W/"c9f0f895fb98ab91"
}

// parseTags reads *, or a list of tags. A text that is neither names none.
func parseTags(text string) tagList {
	const space = " \t"
	text = strings.Trim(text, space)
	if text == "*" {
		return tagList{any: true}
	}
	var out tagList
	for {
		text = strings.TrimLeft(text, ","+space) // elements may be empty
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

// tagLength is the length of the tag that a text begins with, 0 if it begins with none.
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

// strong reports whether a tag is in the list, by the comparison in which weak tags equal none.
func (l tagList) strong(tag string) bool {
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

// weak reports whether a tag is in the list, by the comparison in which it does not matter whether a tag is weak, and
// so not in which coding its body was sent.
func (l tagList) weak(tag string) bool {
	if l.any {
		return true
	}
	for _, one := range l.tags {
		if strings.TrimPrefix(bare(one), "W/") == strings.TrimPrefix(bare(tag), "W/") {
			return true
		}
	}
	return false
}

// versions are those in the tags of records. Weak tags count if they are asked for.
func (l tagList) versions(weak bool) *calendar.Versions {
	out := &calendar.Versions{Any: l.any}
	for _, one := range l.tags {
		if strings.HasPrefix(one, "W/") && !weak {
			continue
		}
		if version, ok := versionOf(one); ok {
			out.List = append(out.List, version)
		}
	}
	return out
}

// tagsOf reads a header of the request, which may be in several parts. A header that is empty is there and names no tag.
func tagsOf(c *fiber.Ctx, header string) (list tagList, sent bool) {
	parts := c.Request().Header.PeekAll(header)
	if len(parts) == 0 {
		return tagList{}, false
	}
	return parseTags(string(bytes.Join(parts, []byte{','}))), true
}

// expectation is what a write expects of the record that its path names. Any tag of a version will do, whatever the
// language and the fields of the representation it came with: a write changes the record, not the representation.
func expectation(c *fiber.Ctx) calendar.Expect {
	var out calendar.Expect
	if list, sent := tagsOf(c, fiber.HeaderIfMatch); sent {
		out.Some = list.versions(false)
	}
	if list, sent := tagsOf(c, fiber.HeaderIfNoneMatch); sent {
		out.None = list.versions(true)
	}
	return out
}

// isRead reports whether a request changes nothing and is answered with what there is.
func isRead(c *fiber.Ctx) bool {
	return c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead
}

// tagOf is the tag of the reply that was written: of every read, and of a write that shows the record it left.
func tagOf(c *fiber.Ctx, out handlers.Outcome) string {
	if !isRead(c) && out.Version == 0 {
		return ""
	}
	return entityTag(c.Response().Body(), out.Version)
}

var errPrecondition = &calendar.Error{Code: "rest_precondition_failed", Key: "rest_precondition_failed"}

// condition ends a reply that is written and successful: it sets its tag, says how long it may be kept, and answers 304
// instead if the client has it. Until is when the reply becomes another one by itself; zero: never.
func (s *Server) condition(c *fiber.Ctx, x *exchange, tag string, until time.Time) error {
	if !isRead(c) {
		if tag != "" {
			c.Set(fiber.HeaderETag, tag)
		}
		return nil
	}
	if list, sent := tagsOf(c, fiber.HeaderIfMatch); sent && !list.strong(tag) {
		// What was written is not the answer.
		c.Response().Reset()
		s.begin(c, x)
		return errPrecondition
	}
	c.Set(fiber.HeaderETag, tag)
	switch {
	case !x.caller.Anonymous(): // as all that they are answered: see finish
	case c.Context().QueryArgs().Has("password"):
		c.Set(fiber.HeaderCacheControl, "private, no-store")
	default:
		c.Set(fiber.HeaderCacheControl, cacheControl(x.now, until, s.MaxAge, s.Stale))
	}
	if list, sent := tagsOf(c, fiber.HeaderIfNoneMatch); sent && list.weak(tag) {
		notModified(c)
	}
	return nil
}

// notModified takes the body from a reply. Headers that do not describe the body stay, since they may say something
// new: who keeps the reply takes them over.
func notModified(c *fiber.Ctx) {
	c.Status(fiber.StatusNotModified)
	c.Response().ResetBody()
	c.Response().Header.SetContentType("")
	c.Response().Header.Del(fiber.HeaderContentEncoding)
}

// cacheControl lets caches answer for maxAge, and for stale more while they ask anew, but never after until.
func cacheControl(now, until time.Time, maxAge, stale time.Duration) string {
	if !until.IsZero() {
		// The clock of requests shows whole seconds: the reply may leave a second later.
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
