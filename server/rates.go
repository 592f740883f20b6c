package server

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/internal/limit"
)

// Rates limits how often clients may send requests.
type Rates struct {
	// Address limits requests of one address that have no credentials.
	Address limit.Rate
	// Token limits requests with one token, and requests of one user with a password.
	Token limit.Rate
	// AddressFar and TokenFar exempt private addresses and this machine from the two rates. Such an address may
	// be a proxy that is not configured, and stand for all its clients.
	AddressFar, TokenFar bool
	// Guesses limits wrong guesses of passwords and tokens. It applies whatever the other rates are. The zero value
	// means limit.DefaultGuessRates.
	Guesses limit.GuessRates
	// Counter counts the requests. Nil means that this process counts them in memory.
	Counter limit.Limiter
}

// limitsAddress reports whether Rates.Address applies to the client of a request.
func (r Rates) limitsAddress(x *exchange) bool {
	return !r.Address.Off() && (!r.AddressFar || !limit.Near(x.client))
}

// countedKeys is the largest number of keys that one counter in memory keeps. A key is an address, a token or a user.
// A full counter drops keys that are closest to a full burst.
const countedKeys = 200_000

// limitAddress counts a request without credentials, or for a calendar page, against the rate of its address.
func (s *Server) limitAddress(c *fiber.Ctx) error {
	x := exchangeOf(c)
	if !s.Rates.limitsAddress(x) {
		return c.Next()
	}
	x.setDeadline(c, s.Timeout)
	if !hasCredentials(c) || x.kind == kindPage {
		if err := s.countAddress(x); err != nil {
			return err
		}
	}
	return c.Next()
}

// limitUnknown counts a request with credentials but without a route against the rate of its address. The
// credentials are not verified.
func (s *Server) limitUnknown(c *fiber.Ctx) error {
	x := exchangeOf(c)
	if (x.match == nil || !x.match.Found()) && x.kind != kindPage && s.Rates.limitsAddress(x) && hasCredentials(c) {
		if err := s.countAddress(x); err != nil {
			return err
		}
	}
	return c.Next()
}

func (s *Server) countAddress(x *exchange) error {
	return s.countRequest(x, "a:"+limit.Key(x.client), reasonAddress, "address", s.Rates.Address)
}

// limitCaller counts a request with credentials against the rate of its token or user.
func (s *Server) limitCaller(c *fiber.Ctx) error {
	x := exchangeOf(c)
	if !hasCredentials(c) || s.Rates.Token.Off() || s.Rates.TokenFar && limit.Near(x.client) {
		return c.Next()
	}
	key := "u:" + strconv.FormatInt(x.caller.UserID, 10)
	if id := x.caller.TokenID; id != 0 {
		key = "t:" + strconv.FormatInt(id, 10)
	}
	if err := s.countRequest(x, key, reasonToken, "token", s.Rates.Token); err != nil {
		return err
	}
	return c.Next()
}

// countRequest counts one request for a key of the counter. It refuses the request if the rate is exceeded.
func (s *Server) countRequest(x *exchange, key, reason, policy string, r limit.Rate) error {
	d, err := s.Rates.Counter.Take(x.ctx, key, r)
	if err != nil {
		s.reportRates(x.ctx, err)
	}
	if !d.Allowed {
		return x.refuseRate(reason, rateState{policy, r, d})
	}
	x.rate = &rateState{policy, r, d}
	return nil
}

// reportRates logs an error of Rates.Counter, such as an unavailable Redis. The request was decided without that
// counter.
func (s *Server) reportRates(ctx context.Context, err error) {
	s.Log.WarnContext(ctx, "rate limit", "error", err)
}

func (x *exchange) refuseRate(reason string, state rateState) error {
	x.rate = &state
	return &refusedError{error: errTooMany, retry: state.Retry, reason: reason}
}

// rateState is the state of a rate limit, which RateLimit headers of a reply show.
type rateState struct {
	policy string
	rate   limit.Rate
	limit.Decision
}

// headers returns the values of RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers). q is the
// burst. w is the time in seconds in which an empty quota fills again.
func (r *rateState) headers() (policy, state string) {
	return fmt.Sprintf("%q;q=%d;w=%d", r.policy, r.rate.Burst, wholeSeconds(r.rate.Window())),
		fmt.Sprintf("%q;r=%d;t=%d", r.policy, r.Remaining, wholeSeconds(r.Reset))
}

// wholeSeconds returns a duration in whole seconds, rounded up.
func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
