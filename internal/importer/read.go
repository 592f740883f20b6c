package importer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/time/rate"

	"github.com/almanac-cal/almanac/calendar"
)

// Limits of a Reader.
const (
	maxBody     = 32 << 20         // bytes of a reply from an address; files have no such limit
	maxPages    = 10_000           // pages of one list
	maxTries    = 6                // tries of one request
	maxWait     = 2 * time.Minute  // maximum delay that a service may request before a retry
	requestTime = 60 * time.Second // time limit of one try
	maxDepth    = 50               // levels of parent categories to read
)

// DefaultRate is the default number of requests per second to a service.
const DefaultRate = 2

// Reader collects calendars from sources. A Reader with a Site is ready for use.
type Reader struct {
	// Site has the zone of events without one, and the currency format for parsing prices.
	Site calendar.Site
	// Language is the language to request from services whose address does not select one. "" means any.
	Language calendar.Language
	// Rate is the maximum number of requests per second. 0 means DefaultRate.
	Rate float64
	// Progress is called with the number of events read and the total, which is 0 if unknown. Nil disables it.
	Progress func(read, total int)
	// Retry is called before a retry with its reason and delay. Nil disables it.
	Retry func(err error, wait time.Duration)
	// Tables says how tables are read.
	Tables Tables

	firstWait time.Duration // delay before the first retry; 0 means the default of the backoff package
}

// Read collects a calendar from a source: an address or a file name. The source is an iCalendar file, a table or a
// list of events. Read follows next_rest_url through the pages of an address. A file has one page. If a later page
// fails, Read returns the records of the pages before it, and a Problem. It returns an error if it read nothing,
// ctx ended, or the dates of a recurring event are invalid.
func (r *Reader) Read(ctx context.Context, source string) (cal *Calendar, err error) {
	if IsURL(source) {
		cal, err = r.readURL(ctx, source)
	} else {
		cal, err = r.readFile(source)
	}
	if err == nil {
		err = cal.joinDates()
	}
	return cal, err
}

// errNeither is the error for a file of another kind.
var errNeither = errors.New("neither a calendar file (iCalendar) with an event, nor a page of events of the REST API (JSON), nor a " +
	"table (CSV) with titles and starts of events")

// webcals maps the schemes that calendar programs use for iCalendar files to the schemes of requests.
var webcals = map[string]string{"webcal": "https", "webcals": "https"}

// IsURL reports whether a source is an address. Otherwise it is a file name.
func IsURL(source string) bool {
	u, err := url.Parse(source)
	if err != nil {
		return false
	}
	scheme := strings.ToLower(u.Scheme)
	return scheme == "http" || scheme == "https" || webcals[scheme] != ""
}

func (r *Reader) readFile(name string) (cal *Calendar, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := bufio.NewReaderSize(f, maxICalStart)
	// Peek returns the whole of a short file together with io.EOF.
	start, err := in.Peek(maxICalStart)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if isICal(start) {
		data, err := io.ReadAll(in)
		if err == nil {
			cal, err = decodeICal(data, r.icalSite())
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return cal, nil
	}
	if text := bytes.TrimSpace(bytes.TrimPrefix(start, byteOrderMark)); len(text) > 0 && text[0] != '{' {
		data, err := readLimited(in)
		if err == nil {
			cal, err = r.readTable(data)
		}
		if errors.Is(err, errNoTable) {
			err = errNeither
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return cal, nil
	}
	if bytes.HasPrefix(start, byteOrderMark) {
		if _, err := in.Discard(len(byteOrderMark)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if start = bytes.TrimSpace(bytes.TrimPrefix(start, byteOrderMark)); len(start) == 0 || start[0] != '{' {
		return nil, fmt.Errorf("%s: %w", name, errNeither)
	}
	page, err := decodePage(in, 1, r.Site)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	cal = &Calendar{}
	cal.add(page)
	if page.Next != "" {
		cal.Notices = append(cal.Notices, fmt.Sprintf(
			"%s is one page of several; import its address instead of the file to get all of them", name))
	}
	return cal, nil
}

// icalSite returns the site with the language in which the source is read.
func (r *Reader) icalSite() calendar.Site {
	site := r.Site
	if r.Language != "" {
		site.Language = r.Language
	}
	return site
}

// add appends the records of a page. It skips an event that an earlier page had, because the list changed
// between the requests.
func (c *Calendar) add(p *Page) {
	c.Problems = append(c.Problems, p.Problems...)
	c.Notices = append(c.Notices, p.Notices...)
	if c.seen == nil {
		c.seen = make(map[string]bool)
	}
	for _, e := range p.Events {
		if !c.seen[e.Key] {
			c.seen[e.Key] = true
			c.Events = append(c.Events, e)
		}
	}
}

var errTooLarge = fmt.Errorf("over %d MiB", maxBody>>20)

func readLimited(from io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxBody {
		return nil, errTooLarge
	}
	return data, nil
}

// webReader reads pages from one service.
type webReader struct {
	*Reader
	client *http.Client
	limit  *rate.Limiter
	base   *url.URL // address of the first page
}

func (r *Reader) readURL(ctx context.Context, source string) (*Calendar, error) {
	at, err := url.Parse(source)
	if err != nil {
		return nil, err
	}
	if scheme := webcals[strings.ToLower(at.Scheme)]; scheme != "" {
		at.Scheme = scheme
	}
	perSecond := r.Rate
	if perSecond <= 0 {
		perSecond = DefaultRate
	}
	w := &webReader{
		Reader: r,
		client: &http.Client{Timeout: requestTime, CheckRedirect: sameHostOnly},
		limit:  rate.NewLimiter(rate.Limit(perSecond), 1),
	}
	defer w.client.CloseIdleConnections()
	cal := &Calendar{}
	visited := make(map[string]bool)
	for number := 1; ; number++ {
		visited[at.String()] = true
		data, from, err := w.get(ctx, at)
		if err == nil && number == 1 && isICal(data) {
			if cal, err = decodeICal(data, r.icalSite()); err != nil {
				return nil, fmt.Errorf("%s: %w", at.Redacted(), err)
			}
			return cal, nil
		}
		if err == nil && number == 1 {
			table, tableErr := r.readTable(data)
			if tableErr == nil {
				return table, nil
			}
			if !errors.Is(tableErr, errNoTable) {
				return nil, fmt.Errorf("%s: %w", at.Redacted(), tableErr)
			}
		}
		var page *Page
		if err == nil {
			if page, err = Decode(data, number, r.Site); err != nil {
				err = fmt.Errorf("%s: %w", at.Redacted(), err)
			}
		}
		if err == nil {
			if w.base == nil {
				w.base = from
			}
			cal.add(page)
			if r.Progress != nil {
				r.Progress(len(cal.Events)+len(cal.Problems), page.Total)
			}
			if page.Next == "" {
				break
			}
			at, err = w.follow(page.Next)
			switch {
			case err != nil:
			case visited[at.String()]:
				err = errors.New("the next page is one that was read before")
			case number == maxPages:
				err = fmt.Errorf("more than %d pages", maxPages)
			}
		}
		if err == nil {
			continue
		}
		if ctx.Err() != nil || w.base == nil {
			return nil, fmt.Errorf("page %d: %w", number, err)
		}
		cal.Problems = append(cal.Problems, Problem{
			Where: fmt.Sprintf("page %d", number), Reason: err.Error() + "; the pages that follow are missing",
		})
		break
	}
	if err := w.lists(ctx, cal, source); err != nil {
		return nil, err
	}
	if err := w.site(ctx, cal, source); err != nil {
		return nil, err
	}
	return cal, w.parents(ctx, cal)
}

// follow resolves a link in a reply, relative to w.base. It returns an error if the link has another scheme or
// host, because the operator named no other service. It changes http to https if w.base has https.
func (w *webReader) follow(link string) (*url.URL, error) {
	u, err := w.base.Parse(strings.ReplaceAll(link, " ", "%20"))
	if err != nil {
		return nil, err
	}
	// A service behind a proxy may not know that clients use https.
	if u.Scheme == "http" && w.base.Scheme == "https" {
		u.Scheme = "https"
	}
	if u.Scheme != w.base.Scheme || !strings.EqualFold(u.Host, w.base.Host) {
		return nil, fmt.Errorf("its link %s leaves %s://%s", u.Redacted(), w.base.Scheme, w.base.Host)
	}
	u.User, u.Fragment = w.base.User, ""
	return u, nil
}

// sameHostOnly is a redirect policy. It allows up to five redirects on the same host and port, and from http to https on
// their usual ports. Another port of the host may be a service that only this machine can reach.
func sameHostOnly(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) > 5:
		return fmt.Errorf("%w: more than 5", errRedirect)
	case !strings.EqualFold(r.URL.Hostname(), first.Hostname()), !isSamePort(first, r.URL):
		return fmt.Errorf("%w to %s; if that is the service you mean, import it from there", errRedirect,
			r.URL.Redacted())
	}
	return nil
}

// usualPorts are the ports of addresses that name none.
var usualPorts = map[string]string{"http": "80", "https": "443"}

// isSamePort reports whether a redirect stays at the port and the scheme, or goes from the usual port of http to that of
// https.
func isSamePort(from, to *url.URL) bool {
	port := func(u *url.URL) string {
		if p := u.Port(); p != "" {
			return p
		}
		return usualPorts[u.Scheme]
	}
	upgrade := from.Scheme == "http" && to.Scheme == "https" && port(from) == usualPorts["http"] && port(to) == usualPorts["https"]
	return upgrade || from.Scheme == to.Scheme && port(from) == port(to)
}

var errRedirect = errors.New("redirect")

// get reads an address. It retries if the service is overloaded or not reachable. From is the address after
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

// fetch sends one request. The caller may retry after an error that is not permanent.
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

// statusError is the error for a reply with another status than 200.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return e.text }

// retryLater is an error with the delay that the service requested before a retry.
type retryLater struct {
	error
	when *backoff.RetryAfterError
}

func (l *retryLater) Unwrap() []error { return []error{l.error, l.when} }

// retryAfter parses the header Retry-After, which has seconds or a date. It reports false for any other text.
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

// errorDetail returns the code and message in an error reply, for the end of a message. It returns "" if there
// are none.
func errorDetail(body io.Reader) string {
	const enough = 64 << 10
	data, err := io.ReadAll(io.LimitReader(body, enough))
	if err != nil {
		return ""
	}
	o, ok := newObject(data, "", &journal{})
	if !ok || o.raw("code") == "" {
		return ""
	}
	return " (" + o.raw("code") + ": " + o.text("message", maxText) + ")"
}

// withoutURL removes the address from an error, because the caller adds it.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// parents reads the ancestors that the categories of events and lists lack. A category that cannot be read
// becomes a notice.
func (w *webReader) parents(ctx context.Context, cal *Calendar) error {
	known := make(map[string]bool)
	var wanted []*Term // terms whose parents are missing
	for _, t := range collectLinked(cal).terms {
		known[t.Key] = true
		wanted = append(wanted, t)
	}
	for depth := 0; len(wanted) > 0 && depth < maxDepth; depth++ {
		var next []*Term
		for _, t := range wanted {
			if t.Parent == "" || known[t.Parent] || t.ParentURL == "" {
				continue
			}
			known[t.Parent] = true
			parent, err := w.parent(ctx, t)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				cal.Notices = append(cal.Notices, fmt.Sprintf("%s: its parent: %v", t.Where, err))
				continue
			}
			cal.Parents = append(cal.Parents, parent)
			next = append(next, parent)
		}
		wanted = next
	}
	return nil
}

func (w *webReader) parent(ctx context.Context, of *Term) (*Term, error) {
	at, err := w.follow(of.ParentURL)
	if err != nil {
		return nil, err
	}
	data, _, err := w.get(ctx, at)
	if err != nil {
		return nil, err
	}
	log := &journal{}
	o, ok := newObject(data, "", log)
	if !ok {
		return nil, fmt.Errorf("%s: %w", at.Redacted(), errNotObject)
	}
	prefix, _, _ := strings.Cut(of.Key, "?term=")
	t := reader{prefix: prefix, where: at.Redacted(), site: w.Site}.term(o, calendar.Category)
	if len(log.faults) > 0 {
		return nil, fmt.Errorf("%s: %s", at.Redacted(), joinErrors(log.faults))
	}
	if t.Key != of.Parent {
		return nil, fmt.Errorf("%s: another category", at.Redacted())
	}
	return t, nil
}
