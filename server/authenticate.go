package server

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/auth"
)

// authenticate verifies the credentials of a request and sets its caller. Wrong credentials count against the address
// of the client, and wrong passwords also against the login.
func (s *Server) authenticate(c *fiber.Ctx) error {
	x := exchangeOf(c)
	header := strings.Clone(c.Get(fiber.HeaderAuthorization))
	if x.kind == kindFeed || header == "" {
		return c.Next()
	}
	var caller auth.Principal
	var err error
	verify := func() (wrong bool) {
		caller, err = s.Auth.Verify(x.ctx, header)
		return isUnauthorized(err)
	}
	if guess, login := s.Auth.IsGuess(header); !guess {
		verify()
	} else if refused := s.judge(x, "l", login, verify); refused != nil {
		return refused
	}
	if errors.Is(err, auth.ErrBusy) {
		return &refusedError{error: errBusy, retry: time.Second, reason: reasonBusy}
	}
	if err != nil {
		return err
	}
	x.caller = caller
	return c.Next()
}

// isUnauthorized reports whether an error means wrong credentials, and not an unavailable database.
func isUnauthorized(err error) bool {
	var refusal *calendar.Error
	return errors.As(err, &refusal) && statuses[refusal.Code] == http.StatusUnauthorized
}

// hasCredentials reports whether a request presents credentials, right or wrong. Credentials sent to a feed do
// not count, since feeds are served anonymously.
func hasCredentials(c *fiber.Ctx) bool {
	return exchangeOf(c).kind != kindFeed && len(c.Request().Header.Peek(fiber.HeaderAuthorization)) > 0
}
