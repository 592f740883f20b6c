package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/almanac-cal/almanac/calendar"
)

// get requests a URL, and retries if the service is overloaded or not reachable. from is the final URL after
// redirects.
func (w *webReader) get(ctx context.Context, at *url.URL) (data []byte, from *url.URL, err error) {
	wait := backoff.NewExponentialBackOff()
	if w.firstWait > 0 {
		wait.InitialInterval = w.firstWait
	}
	options := []backoff.RetryOption{backoff.WithBackOff(wait), backoff.WithMaxTries(maxTries)}
	if w.Retry != nil {
		options = append(options, backoff.WithNotify(func(err error, d time.Duration) {
			w.Retry(fmt.Errorf("%s: %w", at.Redacted(), err), d)
		}))
	}
	data, err = backoff.Retry(ctx, func() ([]byte, error) {
		if err := w.limit.Wait(ctx); err != nil {
			return nil, backoff.Permanent(err)
		}
		body, final, err := w.fetch(ctx, at)
		from = final
		return body, err
	}, options...)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", at.Redacted(), err)
	}
	return data, from, nil
}

// fetch sends one request. final is the URL after redirects. The caller may retry, unless the error is permanent.
func (w *webReader) fetch(ctx context.Context, at *url.URL) (body []byte, final *url.URL, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, nil, backoff.Permanent(err)
	}
	req.Header.Set("Accept", "application/json, text/calendar;q=0.9, text/csv;q=0.8")
	if w.Language != "" {
		req.Header.Set("Accept-Language", string(w.Language))
	}
	req.Header.Set("User-Agent", "Almanac (+https://github.com/almanac-cal/almanac)")
	resp, err := w.client.Do(req)
	if err != nil {
		if noHost := (*net.DNSError)(nil); errors.Is(err, errRedirect) || errors.As(err, &noHost) && noHost.IsNotFound {
			return nil, nil, backoff.Permanent(withoutURL(err))
		}
		return nil, nil, withoutURL(err)
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode == http.StatusOK {
		body, err = readLimited(resp.Body)
		if errors.Is(err, errTooLarge) {
			err = backoff.Permanent(err)
		}
		return body, resp.Request.URL, err
	}
	err = &statusError{resp.StatusCode, fmt.Sprintf("status %s%s", resp.Status, errorDetail(resp.Body))}
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < http.StatusInternalServerError {
		return nil, nil, backoff.Permanent(err)
	}
	wait, ok := retryAfter(resp.Header.Get("Retry-After"), w.Site)
	switch {
	case !ok:
		return nil, nil, err
	case wait > maxWait:
		return nil, nil, backoff.Permanent(fmt.Errorf("%w; it wants to be asked again in %s", err, wait))
	}
	return nil, nil, &retryLater{err, &backoff.RetryAfterError{Duration: wait}}
}

// statusError is the error for a response whose status is not 200.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return e.text }

// retryLater is an error that says how long the service asks clients to wait before a retry.
type retryLater struct {
	error
	delay *backoff.RetryAfterError
}

func (l *retryLater) Unwrap() []error { return []error{l.error, l.delay} }

// retryAfter parses the header Retry-After, which has seconds or a date, and returns the time to wait. It returns
// false for other text.
func retryAfter(header string, site calendar.Site) (time.Duration, bool) {
	if header == "" {
		return 0, false
	}
	if d, err := time.ParseDuration(header + "s"); err == nil && d >= 0 {
		return d, true
	}
	t, err := http.ParseTime(header)
	if err != nil {
		return 0, false
	}
	return max(t.Sub(site.Now()), 0), true
}

// errorDetail returns the code and message in an error response, for the end of a message, or "".
func errorDetail(body io.Reader) string {
	const enough = 64 << 10
	data, err := io.ReadAll(io.LimitReader(body, enough))
	if err != nil {
		return ""
	}
	o, ok := newObject(data, "", &readLog{})
	if !ok || o.raw("code") == "" {
		return ""
	}
	return " (" + o.raw("code") + ": " + o.text("message", maxText) + ")"
}

// withoutURL returns the cause of a request's error without its URL, because the caller names the URL itself.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
