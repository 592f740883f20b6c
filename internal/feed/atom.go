package feed

import (
	"strconv"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// Atom returns the entries as an Atom feed (RFC 4287), latest change first. Withdrawn entries become
// at:deleted-entry elements (RFC 6721).
func (f *Feed) Atom(entries []Entry) []byte {
	x := &xmlWriter{}
	x.out = append(x.out, xmlHeader...)
	x.open("feed", "xmlns", "http://www.w3.org/2005/Atom", "xmlns:at", "http://purl.org/atompub/tombstones/1.0",
		"xml:lang", string(f.Language))
	x.element("id", uri(f.Self))
	x.element("title", f.Name)
	sorted := newestFirst(entries)
	updated := time.Unix(0, 0).UTC()
	if len(sorted) > 0 {
		updated = sorted[0].Stamp
	}
	x.element("updated", rfc3339(updated))
	x.open("author")
	x.element("name", f.Name)
	x.close("author")
	x.link("self", "application/atom+xml", f.Self)
	x.link("alternate", "text/html", f.Page)
	x.element("generator", "Almanac")
	for _, e := range sorted {
		f.atomEntry(x, e)
	}
	x.close("feed")
	return x.out
}

func (f *Feed) atomEntry(x *xmlWriter, e *Entry) {
	if e.Withdrawn {
		x.empty("at:deleted-entry", "ref", e.newsID(), "when", rfc3339(e.Stamp))
		return
	}
	x.open("entry")
	x.element("id", e.newsID())
	x.element("title", e.Title)
	x.link("alternate", "text/html", e.URL)
	if !e.Created.IsZero() {
		x.element("published", rfc3339(e.Created))
	}
	x.element("updated", rfc3339(e.Stamp))
	x.element("summary", f.summary(e))
	if !e.Protected {
		if e.Description != "" {
			x.element("content", e.Description, "type", "html")
		}
		for _, name := range e.Categories {
			x.empty("category", "term", name)
		}
		x.enclosure(e.Image)
	}
	x.close("entry")
}

// link writes an Atom link element. It writes nothing if address is not a web address.
func (x *xmlWriter) link(rel, mediaType, address string) {
	if address = uri(address); address != "" {
		x.empty("link", "rel", rel, "type", mediaType, "href", address)
	}
}

func (x *xmlWriter) enclosure(i Image) {
	address := uri(i.URL)
	if address == "" {
		return
	}
	attributes := []string{"rel", "enclosure", "href", address}
	if i.MediaType != "" {
		attributes = append(attributes, "type", i.MediaType)
	}
	if i.Size > 0 {
		attributes = append(attributes, "length", strconv.FormatInt(i.Size, 10))
	}
	x.empty("link", attributes...)
}

func rfc3339(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// RSS returns the entries as an RSS 2.0 feed, latest change first. Withdrawn entries are left out.
func (f *Feed) RSS(entries []Entry) []byte {
	x := &xmlWriter{}
	x.out = append(x.out, xmlHeader...)
	x.open("rss", "version", "2.0", "xmlns:atom", "http://www.w3.org/2005/Atom",
		"xmlns:content", "http://purl.org/rss/1.0/modules/content/")
	x.open("channel")
	x.element("title", f.Name)
	x.element("link", uri(f.Page))
	x.element("description", f.Name)
	x.element("language", string(f.Language))
	x.element("generator", "Almanac")
	if self := uri(f.Self); self != "" {
		x.empty("atom:link", "rel", "self", "type", "application/rss+xml", "href", self)
	}
	for _, e := range newestFirst(entries) {
		if !e.Withdrawn {
			f.rssItem(x, e)
		}
	}
	x.close("channel")
	x.close("rss")
	return x.out
}

func (f *Feed) rssItem(x *xmlWriter, e *Entry) {
	x.open("item")
	x.element("title", e.Title)
	if address := uri(e.URL); address != "" {
		x.element("link", address)
	}
	x.element("guid", e.newsID(), "isPermaLink", "false")
	if !e.Created.IsZero() {
		x.element("pubDate", e.Created.UTC().Format(time.RFC1123Z))
	}
	x.element("atom:updated", rfc3339(e.Stamp))
	x.element("description", calendar.Escape(f.summary(e)))
	if !e.Protected {
		if e.Description != "" {
			x.element("content:encoded", e.Description)
		}
		for _, name := range e.Categories {
			x.element("category", name)
		}
		if address := uri(e.Image.URL); address != "" && e.Image.MediaType != "" {
			x.empty("enclosure", "url", address, "length", strconv.FormatInt(e.Image.Size, 10), "type", e.Image.MediaType)
		}
	}
	x.close("item")
}
