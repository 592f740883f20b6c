package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/internal/media"
)

// Limits on what a client can make us hold.
const (
	maxBody   = 1 << 20                 // of any request but an upload
	maxRead   = 4 * maxBody             // of it that is read, so that a wrong route and wrong credentials are named first
	maxUpload = media.MaxBytes + 64<<10 // the file and the form around it
	maxHeader = 16 << 10                // request line and headers
	maxURL    = 8 << 10
)

// LeastReceiving is the least that Limits.Receiving makes sense with: one upload, and its head.
const LeastReceiving = maxUpload + maxHeader + 64<<10

// How long a client may take. Nothing but a connection waits for it: a request is worked on when it is there as a whole,
// and its reply is complete when sending begins.
const (
	headTime   = 10 * time.Second // to send the request line and headers
	bodyTime   = 30 * time.Second // to send a body
	uploadTime = 2 * time.Minute  // to send a file
	writeTime  = 60 * time.Second // to take a reply
	idleTime   = 90 * time.Second // between requests; longer than the usual proxy in front keeps a connection
)

// Limits are how much the server does, and for whom. The zero value has the defaults and no rates.
type Limits struct {
	Timeout       time.Duration // of one request's work, SQL included; 0: 15 s
	UploadTimeout time.Duration // the same for routes that take files; 0: 60 s

	Concurrent           int // requests at once; 0: 32 for each processor
	Connections          int // 0: no limit
	ConnectionsByAddress int // of one address, unless it is a proxy, private or of this machine; 0: no limit
	// Sending is how many bytes of replies may wait for clients to take them; 0: no limit.
	Sending int64
	// Receiving is how many bytes of requests may be there, or announced, that are not answered yet; 0: no limit. One
	// address, unless it is a proxy, private or of this machine, may have a quarter of it, and LeastReceiving at least.
	Receiving int64

	Rates   Rates
	Proxies limit.Proxies // whose word about the address of a client counts
	// Forwarded is whether proxies tell the address in Forwarded (RFC 7239). They use X-Forwarded-For otherwise.
	Forwarded bool
}

// Rates are how often clients may ask.
type Rates struct {
	Address limit.Rate // without credentials, or with wrong ones: for each address
	Token   limit.Rate // with right ones: for each token, or user with a password
	// AddressFar and TokenFar leave private addresses and this machine alone: a proxy nobody told us about stands for all
	// its clients.
	AddressFar, TokenFar bool
	// Counter is where requests are counted; nil: in this process.
	Counter limit.Limiter
}

func (r Rates) off() bool { return r.Address.Off() && r.Token.Off() }

// ofAddress reports whether a rate is kept for the address of a request.
func (r Rates) ofAddress(x *exchange) bool {
	return !r.Address.Off() && (!r.AddressFar || !limit.Near(x.client))
}

func (l *Limits) setDefaults() {
	if l.Timeout == 0 {
		l.Timeout = 15 * time.Second
	}
	if l.UploadTimeout == 0 {
		l.UploadTimeout = 60 * time.Second
	}
	if l.Concurrent == 0 {
		l.Concurrent = 32 * runtime.GOMAXPROCS(0)
	}
}

// Who finds the server busy waits up to gateWait, with up to gateLine others for each request that is worked on.
const (
	gateWait = time.Second
	gateLine = 8
)

// countedKeys bounds the memory that rates take.
const countedKeys = 200_000

// turnedAway is a request that is not even looked at.
type turnedAway struct {
	error
	retry  time.Duration
	reason string // as metrics name it
	status int    // 0: that of the code
}

func (t *turnedAway) Unwrap() error { return t.error }

// The reasons why requests are turned away.
const (
	reasonBusy      = "busy"
	reasonSending   = "sending"
	reasonReceiving = "receiving"
	reasonAddress   = "rate_address"
	reasonToken     = "rate_token"
	reasonFailures  = "rate_failures"
	reasonSlow      = "slow_client"
	reasonTooLarge  = "too_large"
	reasonParse     = "malformed"
	reasonKey       = "key_in_use"
)

var reasons = []string{
	reasonBusy, reasonSending, reasonReceiving, reasonAddress, reasonToken, reasonFailures, reasonSlow, reasonTooLarge, reasonParse,
	reasonKey,
}

// reasonOf is why a request was turned away, "" if it was not.
func reasonOf(err error) string {
	var away *turnedAway
	if errors.As(err, &away) {
		return away.reason
	}
	return ""
}

var (
	errBusy    = &calendar.Error{Code: "rest_unavailable", Key: "rest_unavailable"}
	errTooMany = &calendar.Error{Code: "rest_too_many_requests", Key: "rest_too_many_requests"}
	errLarge   = &calendar.Error{Code: "rest_request_too_large", Key: "rest_request_too_large"}
)

// enter waits until there is room for one more request that is worked on.
func (s *Server) enter(x *exchange) error {
	if !s.gate.Enter(x.ctx) {
		return &turnedAway{error: errBusy, retry: time.Second, reason: reasonBusy}
	}
	x.entered = true
	return nil
}

// admitAddress counts a request without credentials. With some, it matters how many wrong ones the address had.
func (s *Server) admitAddress(c *fiber.Ctx, x *exchange) error {
	if !s.Rates.ofAddress(x) {
		return nil
	}
	x.within(c, s.Timeout)
	key := limit.Key(x.client)
	if len(c.Request().Header.Peek(fiber.HeaderAuthorization)) > 0 {
		if d := s.failures.Look(key, s.Rates.Address); !d.Allowed {
			return s.tooMany(x, "address", reasonFailures, s.Rates.Address, d)
		}
		return nil
	}
	return s.countAddress(x)
}

// admitUnknown counts a request whose credentials nobody looks at for its address, as if it had none.
func (s *Server) admitUnknown(c *fiber.Ctx, x *exchange) error {
	if !s.Rates.ofAddress(x) || len(c.Request().Header.Peek(fiber.HeaderAuthorization)) == 0 {
		return nil
	}
	return s.countAddress(x)
}

func (s *Server) countAddress(x *exchange) error {
	d := s.count(x.ctx, x, "a:"+limit.Key(x.client), s.Rates.Address)
	if !d.Allowed {
		return s.tooMany(x, "address", reasonAddress, s.Rates.Address, d)
	}
	x.rate = &rateState{"address", s.Rates.Address, d}
	return nil
}

// admitCaller counts a request whose credentials were found right, or wrong: err is what the verifier says.
func (s *Server) admitCaller(ctx context.Context, x *exchange, authorization string, err error) error {
	if err != nil {
		busy := errors.Is(err, auth.ErrBusy)
		if busy {
			err = &turnedAway{error: errBusy, retry: time.Second, reason: reasonBusy}
		}
		if (busy || refusedCaller(err)) && s.Rates.ofAddress(x) {
			// In this process only: nobody waits for it.
			if _, takeErr := s.failures.Take(ctx, limit.Key(x.client), s.Rates.Address); takeErr != nil {
				return takeErr
			}
		}
		return err
	}
	if authorization == "" || s.Rates.Token.Off() || s.Rates.TokenFar && limit.Near(x.client) {
		return nil
	}
	key := "u:" + strconv.FormatInt(x.caller.UserID, 10)
	if id := x.caller.TokenID; id != 0 {
		key = "t:" + strconv.FormatInt(id, 10)
	}
	d := s.count(ctx, x, key, s.Rates.Token)
	if !d.Allowed {
		return s.tooMany(x, "token", reasonToken, s.Rates.Token, d)
	}
	x.rate = &rateState{"token", s.Rates.Token, d}
	return nil
}

// count counts one request where all processes count, or in this one.
func (s *Server) count(ctx context.Context, x *exchange, key string, r limit.Rate) limit.Decision {
	d, err := s.Rates.Counter.Take(ctx, key, r)
	if err != nil {
		s.Log.WarnContext(ctx, "rate limit", "id", x.id, "error", err)
	}
	return d
}

func (s *Server) tooMany(x *exchange, policy, reason string, r limit.Rate, d limit.Decision) error {
	x.rate = &rateState{policy, r, d}
	return &turnedAway{error: errTooMany, retry: d.Retry, reason: reason}
}

// rateState is what a client is told about its rate.
type rateState struct {
	policy string
	rate   limit.Rate
	limit.Decision
}

// headers are those of draft-ietf-httpapi-ratelimit-headers: the quota is the burst, the window the time it takes to earn
// it again.
func (r *rateState) headers() (policy, state string) {
	return fmt.Sprintf("%q;q=%d;w=%d", r.policy, r.rate.Burst, seconds(r.rate.Window())),
		fmt.Sprintf("%q;r=%d;t=%d", r.policy, r.Remaining, seconds(r.Reset))
}

// seconds is a duration in whole seconds, rounded up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// clientOf is the address of who sent a request, by the word of trusted proxies.
func (s *Server) clientOf(c *fiber.Ctx) netip.Addr {
	peer := limit.Peer(c.Context().RemoteAddr())
	if len(s.Proxies) == 0 || !s.Proxies.Trusted(peer) {
		return peer
	}
	name, parse := fiber.HeaderXForwardedFor, limit.ForwardedFor
	if s.Forwarded {
		name, parse = "Forwarded", limit.Forwarded
	}
	var values []string
	for _, v := range c.Request().Header.PeekAll(name) {
		values = append(values, string(v))
	}
	return s.Proxies.Client(peer, parse(values...))
}

// carriesFiles reports whether a body may have files in it: only forms do.
func carriesFiles(h *fasthttp.RequestHeader) bool {
	return bytes.HasPrefix(bytes.ToLower(h.ContentType()), []byte("multipart/"))
}

// receive says how much of a body is taken, and how long a client may take to send it. Files are taken where they may be
// wanted, of those who say who they are.
func (s *Server) receive(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	r := fasthttp.RequestConfig{ReadTimeout: bodyTime, MaxRequestBodySize: maxRead}
	if carriesFiles(h) && bytes.Contains(h.RequestURI(), []byte("images")) && len(h.Peek(fiber.HeaderAuthorization)) > 0 {
		r = fasthttp.RequestConfig{ReadTimeout: uploadTime, MaxRequestBodySize: maxUpload}
	}
	if h.ContentLength() == 0 || h.IsGet() || h.IsHead() {
		r.ReadTimeout = 0
	}
	return r
}

// bound puts the limits on connections around a listener.
func (s *Server) bound(ln net.Listener) *limit.Listener {
	return &limit.Listener{
		Listener: ln, Most: s.Connections, MostPerAddress: s.ConnectionsByAddress, MostSending: s.Sending, MostReceiving: s.Receiving, MostReceivingPerAddress: max(s.Receiving/4, LeastReceiving),
		Exempt: func(a netip.Addr) bool { return limit.Near(a) || s.Proxies.Trusted(a) },
		Refuse: s.refuseConnection,
	}
}

// refuseConnection tells who connects once too often, in the language of the site: nothing was asked yet.
func (s *Server) refuseConnection(c net.Conn, why limit.Reason) {
	f := fault{status: http.StatusServiceUnavailable, code: "rest_unavailable"}
	if why == limit.TooManyFromAddress {
		f = fault{status: http.StatusTooManyRequests, code: "rest_too_many_requests"}
	}
	f.message = s.Words.Message(s.Site.Language, f.code, nil)
	s.Metrics.refusedConnection(why)
	body, err := encode(f.body())
	if err == nil {
		err = c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	}
	if err == nil {
		_, err = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nContent-Language: %s\r\n"+
			"X-Content-Type-Options: nosniff\r\nAccess-Control-Allow-Origin: *\r\nRetry-After: 1\r\nConnection: close\r\n\r\n%s",
			f.status, http.StatusText(f.status), typeJSON, len(body), s.Site.Language, body)
	}
	if err != nil {
		s.Log.Debug("refused connection", "reason", why, "error", err)
	}
}
