package server

import (
	"bytes"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/handlers/endpoint"
)

// exposedHeaders are the reply headers that scripts of other origins may read. allowedHeaders are the request
// headers that such scripts may send.
const (
	exposedHeaders = "X-TEC-Total, X-TEC-TotalPages, Link, Location, Allow, Content-Language, ETag, Retry-After, RateLimit, " +
		"RateLimit-Policy, X-Request-ID, Idempotency-Replayed, Preference-Applied, Deprecation, Sunset, X-Almanac-Ignored"
	allowedHeaders = "Authorization, Content-Type, Accept-Language, X-HTTP-Method-Override"
)

// optionalHeaders are request headers that a CORS preflight allows only if it asks for them.
var optionalHeaders = []string{
	fiber.HeaderXRequestedWith, fiber.HeaderIfMatch, fiber.HeaderIfNoneMatch, headerKey, endpoint.HeaderPrefer, "Last-Event-ID",
	fiber.HeaderContentDisposition, // names a picture for clients of WordPress
	"X-WP-Nonce",                   // has no effect: clients of WordPress send it
}

// dataPolicy is the Content-Security-Policy of replies that are neither pages nor pictures. With it, a browser
// never renders the reply as a document of this origin.
const dataPolicy = "default-src 'none'; frame-ancestors 'none'"

// setHeaders sets the headers that every reply has.
func (s *Server) setHeaders(c *fiber.Ctx) error {
	err := c.Next()
	s.writeHeaders(c, exchangeOf(c))
	return err
}

func (s *Server) writeHeaders(c *fiber.Ctx, x *exchange) {
	h := &c.Response().Header
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	if s.secure {
		c.Set(fiber.HeaderStrictTransportSecurity, "max-age=31536000")
		c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
		if len(h.Peek(fiber.HeaderContentSecurityPolicy)) == 0 {
			c.Set(fiber.HeaderContentSecurityPolicy, dataPolicy)
		}
	}
	c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
	c.Set(fiber.HeaderAccessControlExposeHeaders, exposedHeaders)
	if x.replayed {
		c.Set(headerReplayed, "true")
	}
	if x.kind.hasEndpoints() {
		c.Set("X-Robots-Tag", "noindex")
	}
	if s.rootLink != "" && (x.kind.hasEndpoints() || x.kind == kindDocument && x.failed == nil || x.isPage()) {
		h.Add(fiber.HeaderLink, s.rootLink)
	}
	if x.rate != nil {
		policy, state := x.rate.headers()
		c.Set("RateLimit-Policy", policy)
		c.Set("RateLimit", state)
	}
	if c.Method() == fiber.MethodOptions {
		c.Set(fiber.HeaderAccessControlAllowMethods, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
		c.Set(fiber.HeaderAccessControlAllowHeaders, preflightHeaders(c.Get(fiber.HeaderAccessControlRequestHeaders)))
		c.Set(fiber.HeaderAccessControlMaxAge, "86400")
	}
	if x.isPage() {
		s.calendarHeaders(c, x)
	} else if x.kind.hasEndpoints() || x.failed != nil {
		c.Set(fiber.HeaderContentLanguage, string(x.lang))
		switch {
		case x.kind == kindFeed && x.failed == nil:
			c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
		default:
			c.Set(fiber.HeaderVary, s.vary(c, x))
		}
		if s.cache != nil && (x.kind != kindFeed || x.failed != nil) {
			// Vary gets a second line here for clients that compare the first line literally.
			h.Add(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
		}
		if len(h.Peek(endpoint.HeaderIgnored)) > 0 || len(h.Peek(endpoint.HeaderPreferenceApplied)) > 0 {
			h.Add(fiber.HeaderVary, endpoint.HeaderPrefer)
		}
	}
	switch {
	case !x.caller.Anonymous():
		c.Set(fiber.HeaderCacheControl, "no-store, private")
	case c.Response().StatusCode() >= fiber.StatusBadRequest && !bytes.Contains(h.Peek(fiber.HeaderCacheControl), []byte(noStore)):
		c.Set(fiber.HeaderCacheControl, noStore)
	}
}

// noStore is the Cache-Control of errors. Without it, caches could store a 404 and miss a record that is
// published a moment later.
const noStore = "no-store"

// preflightHeaders returns the request headers that the reply to a CORS preflight allows. asked lists those that
// the browser asks for.
func preflightHeaders(asked string) string {
	out := allowedHeaders
	for _, name := range optionalHeaders {
		for one := range strings.SplitSeq(asked, ",") {
			if strings.EqualFold(strings.TrimSpace(one), name) {
				out += ", " + name
				break
			}
		}
	}
	return out
}

// vary returns the value of Vary for API replies and errors. Accept-Language is left out if the URL names the
// language.
func (s *Server) vary(c *fiber.Ctx, x *exchange) string {
	if x.kind.hasEndpoints() && requestedLanguage(c, x.root, "") != "" {
		return "Accept, Authorization"
	}
	return "Accept, Accept-Language, Authorization"
}
