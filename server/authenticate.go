package server

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/limit"
)

// authenticate verifies the credentials of a request. It counts wrong credentials against the address of the
// client. It also counts passwords that it refuses because too many are being verified.
func (s *Server) authenticate(c *fiber.Ctx) (err error) {
	x := exchangeOf(c)
	if x.isFeed() {
		return c.Next()
	}
	if x.caller, err = s.Auth.Verify(x.ctx, strings.Clone(c.Get(fiber.HeaderAuthorization))); err == nil {
		return c.Next()
	}
	busy := errors.Is(err, auth.ErrBusy)
	if busy {
		err = &refusedError{error: errBusy, retry: time.Second, reason: reasonBusy}
	}
	if (busy || isUnauthorized(err)) && s.Rates.limitsAddress(x) {
		// This counter is in memory, so Take never makes the request wait for a database.
		if _, takeErr := s.failures.Take(x.ctx, limit.Key(x.client), s.Rates.Address); takeErr != nil {
			return takeErr
		}
	}
	return err
}

// isUnauthorized reports whether an error means wrong credentials, and not an unavailable database.
func isUnauthorized(err error) bool {
	var refusal *calendar.Error
	return errors.As(err, &refusal) && statuses[refusal.Code] == http.StatusUnauthorized
}

// hasCredentials reports whether a request presents credentials, right or wrong. Credentials sent to a feed do
// not count, since feeds are served anonymously.
func hasCredentials(c *fiber.Ctx) bool {
	return !exchangeOf(c).isFeed() && len(c.Request().Header.Peek(fiber.HeaderAuthorization)) > 0
}
