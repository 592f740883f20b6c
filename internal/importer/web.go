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

// IsURL reports whether a source is an address. Otherwise it is a file name.
func IsURL(source string) bool {
	u, err := url.Parse(source)
	if err != nil {
		return false
	}
	scheme := strings.ToLower(u.Scheme)
	return scheme == "http" || scheme == "https" || webcals[scheme] != ""
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
