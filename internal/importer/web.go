package importer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/time/rate"
)

// webReader reads pages from one service.
type webReader struct {
	*Reader
	client *http.Client
	limit  *rate.Limiter
	base   *url.URL // address of the first page
}

// webcals maps the schemes that calendar programs use for iCalendar files to the schemes of requests.
var webcals = map[string]string{"webcal": "https", "webcals": "https"}

// isURL reports whether a source is a URL. Otherwise it is a file name.
func isURL(source string) bool {
	u, err := url.Parse(source)
	if err != nil {
		return false
	}
	scheme := strings.ToLower(u.Scheme)
	return scheme == "http" || scheme == "https" || webcals[scheme] != ""
}

// readURL reads a calendar from a URL: an iCalendar file, a table, or a list of events with all its pages.
func (r *Reader) readURL(ctx context.Context, source string) (*Calendar, error) {
	at, err := url.Parse(source)
	if err != nil {
		return nil, err
	}
	if scheme := webcals[strings.ToLower(at.Scheme)]; scheme != "" {
		at.Scheme = scheme
	}
	w := r.newWebReader()
	defer w.client.CloseIdleConnections()
	data, from, err := w.get(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("page 1: %w", err)
	}
	file, err := r.readDownload(data)
	switch {
	case err == nil:
		return file, nil
	case !errors.Is(err, errNoTable):
		return nil, fmt.Errorf("%s: %w", at.Redacted(), err)
	}
	w.base = from
	cal := &Calendar{}
	next, err := w.addPage(cal, data, 1, at)
	if err != nil {
		return nil, fmt.Errorf("page 1: %w", err)
	}
	if err := w.readFurtherPages(ctx, cal, at, next); err != nil {
		return nil, err
	}
	if err := w.lists(ctx, cal, source); err != nil {
		return nil, err
	}
	if err := w.site(ctx, cal, source); err != nil {
		return nil, err
	}
	return cal, w.parents(ctx, cal)
}

// newWebReader returns a webReader without the URL of its first page. The caller closes the idle connections of its
// client.
func (r *Reader) newWebReader() *webReader {
	perSecond := r.Rate
	if perSecond <= 0 {
		perSecond = defaultRate
	}
	return &webReader{
		Reader: r,
		client: &http.Client{Timeout: requestTime, CheckRedirect: sameHostOnly},
		limit:  rate.NewLimiter(rate.Limit(perSecond), 1),
	}
}

// readDownload reads an iCalendar file or a table. It returns errSpreadsheet for a spreadsheet file, and errNoTable for
// anything else.
func (r *Reader) readDownload(data []byte) (*Calendar, error) {
	if isICal(data) {
		return decodeICal(data, r.icalSite())
	}
	return r.readTable(data)
}

// addPage adds the events of a page to a calendar, and returns the link to the next page. "" means that there is
// none.
func (w *webReader) addPage(cal *Calendar, data []byte, number int, at *url.URL) (next string, err error) {
	page, err := decode(data, number, w.Site)
	if err != nil {
		return "", fmt.Errorf("%s: %w", at.Redacted(), err)
	}
	cal.add(page)
	if w.Progress != nil {
		w.Progress(len(cal.Events)+len(cal.Problems), page.Total)
	}
	return page.Next, nil
}

// readFurtherPages reads the pages after the first one. If a page fails, it adds a Problem, and the calendar has the events of
// the pages before. It returns an error if ctx ended.
func (w *webReader) readFurtherPages(ctx context.Context, cal *Calendar, first *url.URL, next string) error {
	visited := map[string]bool{first.String(): true}
	for number := 1; next != ""; {
		at, err := w.nextPage(next, number, visited)
		if err == nil {
			number++
			var data []byte
			if data, _, err = w.get(ctx, at); err == nil {
				next, err = w.addPage(cal, data, number, at)
			}
		}
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return fmt.Errorf("page %d: %w", number, err)
		}
		cal.Problems = append(cal.Problems, Problem{
			Where: fmt.Sprintf("page %d", number), Reason: err.Error() + "; the pages that follow are missing",
		})
		return nil
	}
	return nil
}

// nextPage returns the URL of the page after page number, and adds it to visited. It returns an error if the link leads
// to another host, the page was already visited, or maxPages is reached.
func (w *webReader) nextPage(link string, number int, visited map[string]bool) (*url.URL, error) {
	at, err := w.follow(link)
	switch {
	case err != nil:
		return nil, err
	case visited[at.String()]:
		return nil, errors.New("the next page is one that was read before")
	case number == maxPages:
		return nil, fmt.Errorf("more than %d pages", maxPages)
	}
	visited[at.String()] = true
	return at, nil
}
