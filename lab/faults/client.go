package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// namespace is the path of the API.
const namespace = "/cal/events/v1"

// client sends requests to processes of the service and checks that replies have the promised form.
type client struct {
	w     *world
	http  *http.Client
	token string // access token, "" for anonymous requests
	// mayVanish allows connections to end without a reply, for scenarios that kill or stop processes.
	mayVanish bool
	slack     time.Duration // time that a reply may take beyond requestTime
}

func (w *world) client(token string) *client {
	return &client{w: w, token: token, slack: 6 * time.Second, http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
	}}
}

// answer is a reply whose body has been read completely.
type answer struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
}

// into decodes the JSON body into v.
func (a answer) into(v any) error {
	if err := json.Unmarshal(a.body, v); err != nil {
		return fmt.Errorf("%w in %.200s", err, a.body)
	}
	return nil
}

// errRefused is the error of a request whose reply is 503 with a well-formed body (contract, section 16).
var errRefused = errors.New("503")

// check503 returns nil if err, the outcome of a request, is a refusal with 503. Otherwise it returns an error that
// describes the outcome.
func check503(err error) error {
	switch {
	case errors.Is(err, errRefused):
		return nil
	case err == nil:
		return errors.New("it succeeded, want 503")
	}
	return fmt.Errorf("want 503: %w", err)
}

// errVanished is the error of a request whose connection ended without a reply.
var errVanished = errors.New("no reply")

// send sends one request and returns the reply. errRefused means a 503 while a fault lasts, and errVanished an
// unknown outcome. Other errors are broken promises: another status than those in want, a malformed reply, or none in
// time.
func (c *client) send(ctx context.Context, base, method, path, kind string, body []byte, want ...int) (answer, error) {
	calm := !c.w.away.Load() // when it began
	limit := requestTime + c.slack
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(within, method, base+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	began := time.Now()
	a, err := c.exchange(req)
	a.took = time.Since(began)
	if err != nil {
		switch {
		case ctx.Err() != nil: // the load ends, so the outcome is unknown
			return a, fmt.Errorf("%w: %w", errVanished, context.Cause(ctx))
		case within.Err() != nil:
			return a, fmt.Errorf("%s %s: no reply within %v", method, path, limit)
		case c.mayVanish:
			return a, fmt.Errorf("%w: %w", errVanished, err)
		}
		return a, fmt.Errorf("%s %s: %w", method, path, err)
	}
	c.w.add(func(t *tally) { t.replies++ })
	c.w.timeline.Load().note(method, a.status, a.took)
	if err := checkShape(a); err != nil {
		return a, fmt.Errorf("%s %s: %w", method, path, err)
	}
	for _, status := range want {
		if a.status == status {
			return a, nil
		}
	}
	if a.status == http.StatusServiceUnavailable {
		c.w.add(func(t *tally) { t.refused++ })
		if calm && !c.w.away.Load() {
			return a, fmt.Errorf("%s %s: 503 although nothing is away: %s", method, path, a.body)
		}
		return a, errRefused
	}
	return a, fmt.Errorf("%s %s: %d %.300s", method, path, a.status, a.body)
}

func (c *client) exchange(req *http.Request) (answer, error) {
	res, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: data}, err
}

// checkShape returns an error if a reply is malformed, whatever the request was. Errors need a JSON body (contract,
// section 16), and 429 and 503 also Retry-After. Other statuses from 500 are errors in any form.
func checkShape(a answer) error {
	if a.status >= 500 && a.status != http.StatusServiceUnavailable {
		return fmt.Errorf("%d: %.300s", a.status, a.body)
	}
	if a.status < 400 {
		return nil
	}
	var e struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Status int `json:"status"`
		} `json:"data"`
	}
	if !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		return fmt.Errorf("%d as %q: %.300s", a.status, a.header.Get("Content-Type"), a.body)
	}
	if err := a.into(&e); err != nil {
		return err
	}
	if e.Code == "" || e.Message == "" || e.Data.Status != a.status {
		return fmt.Errorf("%d without code, message or status: %.300s", a.status, a.body)
	}
	if a.status != http.StatusServiceUnavailable && a.status != http.StatusTooManyRequests {
		return nil
	}
	if a.status == http.StatusServiceUnavailable && e.Code != "rest_unavailable" {
		return fmt.Errorf("503 with the code %q", e.Code)
	}
	// Zero would make all clients return at once.
	if after, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || after < 1 || after > 3600 {
		return fmt.Errorf("%d with Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
	return nil
}

// json sends a JSON body to a path of the API, and returns the reply. want contains the expected statuses.
func (c *client) json(ctx context.Context, base, method, path string, body any, want ...int) (answer, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return answer{}, err
	}
	return c.send(ctx, base, method, namespace+path, "application/json", data, want...)
}

// get requests a path of the API, and returns the reply. want contains the expected statuses.
func (c *client) get(ctx context.Context, base, path string, want ...int) (answer, error) {
	return c.send(ctx, base, http.MethodGet, namespace+path, "", nil, want...)
}
