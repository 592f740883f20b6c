package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// readHidden adds events that the sitemaps have and the list lacks. The list may be limited to a period, so if many
// are missing, it first looks for them in the whole list.
func (s *siteReader) readHidden(ctx context.Context) {
	inSitemaps, err := s.sitemapEvents(ctx)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.notice("events that the list hides: %v; such events are not imported", err)
		return
	}
	known := make(map[string]bool)
	for _, e := range s.cal.Events {
		known[s.eventKey(e.Page)] = true
	}
	isKnown := func(key string) bool { return known[key] }
	missing := slices.DeleteFunc(inSitemaps, isKnown)
	if len(missing) > fewMissing {
		if err := s.readWholeList(ctx, known); err != nil && !isMissing(err) {
			s.notice("events that the list hides: %v; such events are not imported", err)
			return
		}
		missing = slices.DeleteFunc(missing, isKnown)
	}
	if len(missing) > maxSlugRequests {
		s.notice(
			"events that the list hides: the sitemaps have %d events that are in no list; only %d are read", len(missing),
			maxSlugRequests,
		)
		missing = missing[:maxSlugRequests]
	}
	s.readMissing(ctx, missing)
}

// maxSitemaps and the other constants limit the search for hidden events.
const (
	maxSitemaps     = 50     // files
	maxAddresses    = 50_000 // addresses in the files
	fewMissing      = 20     // missing events that are requested without reading the whole list
	maxListPages    = 1000   // pages of the whole list
	maxSlugRequests = 500    // missing events that are requested
)

// sitemapNames are the indexes of sitemaps of WordPress itself and of its plugins.
var sitemapNames = []string{"wp-sitemap.xml", "sitemap_index.xml", "sitemap.xml"}

// readMissing requests events by their keys (see eventKey), and adds those that the site hides from lists. It stops
// after maxFailures successive failures.
func (s *siteReader) readMissing(ctx context.Context, missing []string) {
	failures, protected := 0, 0
	for i, key := range missing {
		err := s.readBySlug(ctx, i+1, strings.TrimPrefix(key, s.eventBase()+"/"))
		var status *statusError
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
		case errors.As(err, &status) && status.code == http.StatusForbidden:
			protected++
		case !isMissing(err):
			failures++
		}
		if failures == maxFailures {
			s.notice("events that the list hides: %v; %d events of the sitemaps are not read", err, len(missing)-i)
			break
		}
	}
	if protected > 0 {
		s.notice("events that the list hides: not imported, because they need a password: %d", protected)
	}
}

// eventBase returns the path segment before the slug in the URLs of events. If that of the source is unknown, it is
// Almanac's own.
func (s *siteReader) eventBase() string {
	if base := s.bases["event"]; base != "" {
		return base
	}
	return defaultBases["event"]
}

// eventKey returns the base and slug of an event's URL in lower case, such as "event/fair". All dates of a recurring
// event have the same key. It returns "" for other URLs.
func (s *siteReader) eventKey(page string) string {
	path := withoutDate(s.inPrefix(page))
	if len(path) != 2 || path[0] != s.eventBase() || path[1] == "" {
		return ""
	}
	return strings.ToLower(strings.Join(path, "/"))
}

// sitemapEvents returns the keys (see eventKey) of all events in the sitemaps. It returns an error if no events can
// be read.
func (s *siteReader) sitemapEvents(ctx context.Context) ([]string, error) {
	files, pages, err := s.sitemapIndex(ctx)
	if err != nil {
		return nil, err
	}
	if events := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !isEventSitemap(f) }); len(events) > 0 {
		files = events
	}
	visited := make(map[string]bool)
	failures := 0
	for len(files) > 0 && failures < maxFailures {
		at, ok := s.onSite(files[0])
		files = files[1:]
		if !ok || visited[at.String()] {
			continue
		}
		if len(visited) == maxSitemaps || len(pages) >= maxAddresses {
			s.notice("events that the list hides: the sitemaps have more than %d files or %d addresses; the rest are not read",
				maxSitemaps, maxAddresses)
			break
		}
		visited[at.String()] = true
		data, _, err := s.get(ctx, at)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var more, some []string
		if err == nil {
			if more, some, err = parseSitemap(data); err != nil {
				err = fmt.Errorf("%s: %w", at.Redacted(), err)
			}
		}
		if err != nil {
			failures++
			s.notice("events that the list hides: the sitemap %v", err)
		}
		files, pages = append(files, more...), append(pages, some...)
	}
	var keys []string
	seen := make(map[string]bool)
	for _, page := range pages[:min(len(pages), maxAddresses)] {
		if key := s.eventKey(page); key != "" && !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the site has no sitemap of its events")
	}
	return keys, nil
}

// sitemapIndex reads the site's index of sitemaps, at the first usual URL that has one. It returns the URLs of further
// sitemaps (files). If the index is itself a sitemap, it returns the URLs of its pages. It returns an error if there is
// neither.
func (s *siteReader) sitemapIndex(ctx context.Context) (files, pages []string, err error) {
	homes := []*url.URL{s.home}
	if s.above.Path != s.home.Path {
		homes = append(homes, s.above)
	}
	for _, home := range homes {
		for _, name := range sitemapNames {
			data, _, err := s.get(ctx, home.JoinPath(name))
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			if err != nil && !isMissing(err) {
				return nil, nil, err
			}
			if err != nil {
				continue
			}
			files, pages, err = parseSitemap(data)
			if len(files)+len(pages) == 0 {
				continue
			}
			if err != nil {
				s.notice("events that the list hides: the sitemap %s: %v", name, err)
			}
			return files, pages, nil
		}
	}
	return nil, nil, errors.New("the site has no sitemap")
}

// isEventSitemap reports whether a sitemap's name says that it lists events, such as
// wp-sitemap-posts-tribe_events-1.xml.
func isEventSitemap(address string) bool {
	_, name := cutLast(address)
	return strings.Contains(name, "tribe_events") && !strings.Contains(name, "tribe_events_cat")
}

var errNoSitemap = errors.New("not a sitemap")

// parseSitemap returns the URLs in a sitemap: files of further sitemaps, and pages. After a syntax error it returns
// those before it, and the error.
func parseSitemap(data []byte) (files, pages []string, err error) {
	dec := xml.NewDecoder(bytes.NewReader(data))
	root, entry, inLoc := "", "", false
	var loc strings.Builder
	for len(files)+len(pages) < maxAddresses {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) && root != "" {
			break
		}
		if err != nil && root == "" {
			return nil, nil, errNoSitemap
		}
		if err != nil {
			return files, pages, fmt.Errorf("cut or invalid: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch name := t.Name.Local; {
			case root == "" && name != "urlset" && name != "sitemapindex":
				return nil, nil, errNoSitemap
			case root == "":
				root = name
			case name == "url" || name == "sitemap":
				entry = name
			case name == "loc" && t.Name.Space != imageNamespace:
				inLoc = true
				loc.Reset()
			}
		case xml.CharData:
			if inLoc {
				loc.Write(t)
			}
		case xml.EndElement:
			if t.Name.Local != "loc" || !inLoc {
				continue
			}
			inLoc = false
			address := strings.TrimSpace(loc.String())
			switch {
			case address == "" || len(address) > maxURL:
			case entry == "sitemap":
				files = append(files, address)
			case entry == "url":
				pages = append(pages, address)
			}
		}
	}
	return files, pages, nil
}

// imageNamespace is the name space of pictures in sitemaps.
const imageNamespace = "http://www.google.com/schemas/sitemap-image/1.1"

// readWholeList adds the keys of all events to known, whatever their date. It leaves out the first and last possible
// day, which are not valid in all time zones.
func (s *siteReader) readWholeList(ctx context.Context, known map[string]bool) error {
	at := s.api(pluginRoute, url.Values{"start_date": {"1000-01-02"}, "end_date": {"9999-12-30"}, "per_page": {listPage}})
	visited := make(map[string]bool)
	for range maxListPages {
		visited[at.String()] = true
		data, _, err := s.get(ctx, at)
		if err != nil {
			return err
		}
		top, err := readList(bytes.NewReader(data), "events", func(raw json.RawMessage) {
			if o, ok := newObject(raw, "", &readLog{}); ok {
				known[s.eventKey(o.page())] = true
			}
		})
		if err != nil {
			return fmt.Errorf("%s: %w", at.Redacted(), err)
		}
		next := object{top, "", &readLog{}}.raw("next_rest_url")
		if next == "" {
			break
		}
		if at, err = s.follow(next); err != nil {
			return err
		}
		if visited[at.String()] {
			break
		}
	}
	return nil
}

// readBySlug requests an event by its slug, and adds it to the calendar if the site hides it from lists. number is
// its position, for messages.
func (s *siteReader) readBySlug(ctx context.Context, number int, slug string) error {
	text := unescapePath(slug)
	if strings.Contains(text, "/") {
		return nil
	}
	at := s.api(pluginRoute+"/by-slug/"+text, nil)
	data, _, err := s.get(ctx, at)
	if err != nil {
		return err
	}
	o, ok := newObject(data, "", &readLog{})
	if !ok {
		return fmt.Errorf("%s: %w", at.Redacted(), errNotObject)
	}
	if hidden := o.flag("hide_from_listings"); hidden == nil || !*hidden {
		return nil // another window of time, or another language
	}
	log := &readLog{}
	e := decodeEvent(data, hiddenPage, number, s.Site, log)
	page := &Page{Events: []*Event{e}}
	for _, n := range log.notices {
		page.Notices = append(page.Notices, e.Where+": "+n)
	}
	if len(log.faults) > 0 {
		page.Events = nil
		page.Notices = append(page.Notices, fmt.Sprintf("%s: %s; left out", e.Where, joinErrors(log.faults)))
	}
	s.cal.add(page)
	return nil
}
