package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"html"
	"net/url"
	"strconv"
	"strings"
)

// readGUIDs sets the guids of events from the WordPress core REST API. If that fails, it uses the RSS feed, which
// has upcoming events only.
func (s *siteReader) readGUIDs(ctx context.Context) {
	byID, seen := make(map[string]*Event), make(map[string]bool)
	for _, e := range s.cal.Events {
		if id := idOf(e); id != "" {
			byID[id] = e
		}
	}
	for page := 1; len(byID) > 0; page++ {
		if page > maxPostPages {
			s.notice("guids of feeds: more than %d pages of events; %d events get another guid", maxPostPages, len(byID))
			break
		}
		posts, err := s.posts(ctx, "tribe_events", page)
		if ctx.Err() != nil {
			return
		}
		if err != nil && (page == 1 || !isMissing(err)) {
			s.readFeed(ctx)
		}
		if err != nil || len(posts) == 0 { // WordPress replies with status 400 after the last page
			break
		}
		before := len(seen)
		for _, p := range posts {
			seen[p.id] = true
			if e := byID[p.id]; e != nil && p.guid != "" {
				e.GUID = p.guid
				delete(byID, p.id)
			}
		}
		if len(seen) == before { // a service that ignores the number of the page
			break
		}
	}
}

// maxPostPages is the maximum number of pages that are read of a WordPress core list. Each has 100 records.
const maxPostPages = 500

// sitePost is a record of the WordPress core REST API or an item of an RSS feed.
type sitePost struct {
	id, link, guid string // "" means missing or invalid
}

// posts requests a page of a list of the WordPress core REST API.
func (s *siteReader) posts(ctx context.Context, list string, page int) ([]sitePost, error) {
	at := s.api("/wp/v2/"+list, url.Values{"per_page": {"100"}, "_fields": {"id,slug,link,guid"}, "page": {strconv.Itoa(page)}})
	data, _, err := s.get(ctx, at)
	if err != nil {
		return nil, err
	}
	return parsePosts(data)
}

// parsePosts parses a page of records of the WordPress core REST API.
func parsePosts(data []byte) ([]sitePost, error) {
	var records []json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(data, byteOrderMark), &records); err != nil {
		return nil, err
	}
	out := make([]sitePost, 0, len(records))
	for _, record := range records {
		log := &readLog{}
		o, ok := newObject(record, "", log)
		if !ok {
			continue
		}
		p := sitePost{id: o.id("id"), link: html.UnescapeString(o.raw("link"))}
		guid, ok := newObject(o.members["guid"], "", log)
		if !ok {
			guid = object{map[string]json.RawMessage{"rendered": o.members["guid"]}, "", log}
		}
		if text := strings.TrimSpace(html.UnescapeString(guid.raw("rendered"))); isIdentifier(text) {
			p.guid = text
		}
		out = append(out, p)
	}
	return out, nil
}

// readFeed sets the guids of events from the site's RSS feed of upcoming events. If the site has no feed, it does
// nothing. Other failures add a notice.
func (s *siteReader) readFeed(ctx context.Context) {
	byQuery := *s.home
	byQuery.RawQuery = url.Values{"post_type": {"tribe_events"}, "feed": {"rss2"}}.Encode()
	events := s.bases["events"]
	if events == "" {
		events = defaultBases["events"]
	}
	byPage := make(map[string]*Event)
	for _, e := range s.cal.Events {
		byPage[pageKey(e.Page)] = e
	}
	var failure error
	for _, at := range []*url.URL{&byQuery, s.listPage(events, "feed/")} {
		data, _, err := s.get(ctx, at)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !isMissing(err) {
			failure = err
		}
		items := parseFeed(data)
		for _, item := range items {
			if e := byPage[pageKey(item.link)]; e != nil && item.guid != "" {
				e.GUID = item.guid
			}
		}
		if len(items) > 0 {
			return
		}
	}
	if failure != nil {
		s.notice("guids of feeds: %v; readers of feeds will show the next events once more", failure)
	}
}

// listPage returns the URL of a page below the list of events. events is the list's path, and below the rest of the
// path.
func (s *siteReader) listPage(events, below string) *url.URL {
	path, err := url.PathUnescape(events)
	if err != nil {
		path = events
	}
	if s.prefix != "" {
		path = s.prefix + "/" + path
	}
	at := *s.home
	at.Path += path + "/" + below
	return &at
}

// parseFeed returns the links and guids of the items in an RSS feed. It stops at the first syntax error.
func parseFeed(data []byte) (items []sitePost) {
	dec := xml.NewDecoder(bytes.NewReader(data))
	dec.Entity = xml.HTMLEntity
	for {
		token, err := dec.Token()
		if err != nil {
			return items
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "item" {
			continue
		}
		var item struct {
			Link string `xml:"link"`
			GUID string `xml:"guid"`
		}
		if err := dec.DecodeElement(&item, &start); err != nil {
			return items
		}
		p := sitePost{link: strings.TrimSpace(item.Link)}
		if guid := strings.TrimSpace(item.GUID); isIdentifier(guid) {
			p.guid = guid
		}
		items = append(items, p)
	}
}
