package server

import (
	"strings"

	"github.com/gofiber/fiber/v2"
)

// What scripts of other origins may read of a reply, and send with a request.
const (
	exposed = "X-TEC-Total, X-TEC-TotalPages, Link, Location, Allow, Content-Language, ETag"
	allowed = "Authorization, Content-Type, Accept-Language, X-HTTP-Method-Override"
)

// allowedIfAsked are further ones, named to who asks for them and to nobody else.
var allowedIfAsked = []string{fiber.HeaderIfMatch, fiber.HeaderIfNoneMatch, headerKey}

// allowedHeaders is the answer to a preflight that asks for headers.
func allowedHeaders(asked string) string {
	out := allowed
	for _, name := range allowedIfAsked {
		for one := range strings.SplitSeq(asked, ",") {
			if strings.EqualFold(strings.TrimSpace(one), name) {
				out += ", " + name
				break
			}
		}
	}
	return out
}
