package importer

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Sitemaps has the addresses of pages in the sitemaps of a site.
type Sitemaps struct {
	Pages   []string // on the site's host, without repetition
	Notices []string // sitemaps that could not be read, and limits that were reached
}

// sitemapDepth limits how deep indexes of sitemaps may be nested.
const sitemapDepth = 3

// ReadSitemaps reads the sitemaps that robots.txt names and those at the usual addresses below the home page of a site.
// All requests go to the host of home. It returns an error if no sitemap can be read or ctx ended.
func (r *Reader) ReadSitemaps(ctx context.Context, home string) (*Sitemaps, error) {
	w := r.newWebReader()
	defer w.client.CloseIdleConnections()
	base, err := url.Parse(strings.TrimRight(home, "/") + "/")
	if err != nil {
		return nil, err
	}
	w.base = base
	out := &Sitemaps{}
	level := w.sitemapsInRobots(ctx)
	for _, name := range sitemapNames {
		level = append(level, base.JoinPath(name).String())
	}
	visited, seen, found := make(map[string]bool), make(map[string]bool), false
	for depth := 0; depth < sitemapDepth && len(level) > 0; depth++ {
		var next []string
		for _, link := range level {
			at, err := w.follow(link)
			if err != nil {
				out.Notices = append(out.Notices, fmt.Sprintf("sitemap %s: %v", link, err))
				continue
			}
			if visited[at.String()] {
				continue
			}
			if len(visited) == maxSitemaps || len(out.Pages) >= maxAddresses {
				out.Notices = append(out.Notices, fmt.Sprintf("the sitemaps have more than %d files or %d addresses; the rest are not read",
					maxSitemaps, maxAddresses))
				return out, nil
			}
			visited[at.String()] = true
			files, pages, err := w.readSitemap(ctx, at)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			found = found || len(files)+len(pages) > 0
			if err != nil && (depth > 0 || !isMissing(err)) {
				out.Notices = append(out.Notices, fmt.Sprintf("sitemap %v", err))
			}
			next = append(next, files...)
			for _, page := range pages {
				if u, err := w.follow(page); err == nil && !seen[u.String()] && len(out.Pages) < maxAddresses {
					seen[u.String()] = true
					out.Pages = append(out.Pages, u.String())
				}
			}
		}
		level = next
	}
	if !found {
		return nil, fmt.Errorf("%s: the site has no sitemap that can be read", base.Redacted())
	}
	return out, nil
}

// sitemapsInRobots returns the addresses of sitemaps in robots.txt. A site need not have that file.
func (w *webReader) sitemapsInRobots(ctx context.Context) (links []string) {
	data, _, err := w.get(ctx, &url.URL{Scheme: w.base.Scheme, User: w.base.User, Host: w.base.Host, Path: "/robots.txt"})
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		name, link, ok := strings.Cut(line, ":")
		if link = strings.TrimSpace(link); ok && strings.EqualFold(strings.TrimSpace(name), "sitemap") && len(link) <= maxURL && len(links) < maxSitemaps {
			links = append(links, link)
		}
	}
	return links
}

// readSitemap requests a sitemap, which may be compressed.
func (w *webReader) readSitemap(ctx context.Context, at *url.URL) (files, pages []string, err error) {
	data, _, err := w.get(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	if data, err = unzipped(data); err == nil {
		files, pages, err = parseSitemap(data)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", at.Redacted(), err)
	}
	return files, pages, err
}

// unzipped decompresses a gzip file up to the limit of a reply. It returns other data unchanged.
func unzipped(data []byte) (_ []byte, err error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, z.Close()) }()
	return readLimited(z)
}

// Ask sends a request once the rate allows it. It follows no redirect. The caller closes the body of the response.
type Ask func(*http.Request) (*http.Response, error)

// NewAsk returns an Ask with the rate and the time limit of the reader.
func (r *Reader) NewAsk() Ask {
	w := r.newWebReader()
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return func(req *http.Request) (*http.Response, error) {
		if err := w.limit.Wait(req.Context()); err != nil {
			return nil, err
		}
		req.Header.Set("User-Agent", userAgent)
		return w.client.Do(req)
	}
}
