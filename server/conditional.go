package server

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/reply"
)

// Conditional requests (RFC 9110, section 13): a reply has an entity tag, and a later request may depend on it.

// headerTags parses the entity tags in all lines of a request header. The result sent is false if the header is
// missing. An empty header is sent and has no tag.
func headerTags(c *fiber.Ctx, header string) (list reply.TagList, sent bool) {
	parts := c.Request().Header.PeekAll(header)
	if len(parts) == 0 {
		return reply.TagList{}, false
	}
	return reply.ParseTags(string(bytes.Join(parts, []byte{','}))), true
}

// expectedVersions returns the versions that If-Match and If-None-Match expect of the record to write. A tag
// counts by its version, whatever its language and fields, since a write changes the record.
func expectedVersions(c *fiber.Ctx) calendar.Precondition {
	var out calendar.Precondition
	if list, sent := headerTags(c, fiber.HeaderIfMatch); sent {
		out.Some = list.Versions(false)
	}
	if list, sent := headerTags(c, fiber.HeaderIfNoneMatch); sent {
		out.None = list.Versions(true)
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
	if list, sent := headerTags(c, fiber.HeaderIfMatch); sent && !list.HasStrong(x.tag) {
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
	if list, sent := headerTags(c, fiber.HeaderIfNoneMatch); sent && list.HasWeak(x.tag) || !sent && !s.modifiedSince(c, x.now) {
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

// cacheControl returns the value of a Cache-Control header. Caches may reuse the reply for maxAge, and for stale
// longer while they revalidate, but not after until. A zero until means no end.
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
