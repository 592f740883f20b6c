package wptest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"slices"
	"strings"
)

// maxFeed is the largest number of events in a feed.
const maxFeed = 10

// writeFeed writes an RSS feed of the next events, at most maxFeed.
func (s *Site) writeFeed(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/rss+xml; charset=UTF-8")
	fmt.Fprintf(w, "%s<rss version=\"2.0\">\n<channel>\n<title>Events &#8211; Example</title>\n<link>%s</link>\n",
		xml.Header, s.page(s.options.Paths.Events))
	events := s.upcoming(nil)
	for _, e := range events[:min(len(events), maxFeed)] {
		fmt.Fprintf(w, "<item>\n<title>%s</title>\n<link>%s</link>\n<guid isPermaLink=\"false\">%s</guid>\n</item>\n",
			e.title, s.eventPage(e), html.EscapeString(e.guid))
	}
	fmt.Fprint(w, "</channel>\n</rss>\n")
}

// serveSitemap replies with the sitemap that has a file name, or with the index of all sitemaps. Other names are 404.
func (s *Site) serveSitemap(w http.ResponseWriter, r *http.Request, name string) {
	var addresses []string
	root, entry := "urlset", "url"
	switch name {
	case "wp-sitemap.xml":
		root, entry = "sitemapindex", "sitemap"
		for _, kind := range []string{"posts-page", "posts-tribe_events", "posts-tribe_venue", "posts-tribe_organizer", "taxonomies-tribe_events_cat"} {
			addresses = append(addresses, s.shown+"/wp-sitemap-"+kind+"-1.xml")
		}
	case "wp-sitemap-posts-page-1.xml":
		addresses = []string{s.shown + "/"}
	case "wp-sitemap-posts-tribe_events-1.xml":
		for _, e := range s.events {
			addresses = append(addresses, s.eventPage(e))
		}
	case "wp-sitemap-posts-tribe_venue-1.xml", "wp-sitemap-posts-tribe_organizer-1.xml":
		for _, p := range slices.Concat(s.venues, s.organizers) {
			if strings.Contains(name, string(p.kind)) {
				addresses = append(addresses, s.shown+s.placePath(p))
			}
		}
	case "wp-sitemap-taxonomies-tribe_events_cat-1.xml":
		for _, t := range s.categories {
			addresses = append(addresses, s.shown+s.termPath(t))
		}
	}
	if s.options.NoSitemap || addresses == nil {
		http.NotFound(w, r)
		return
	}
	WriteSitemap(w, root, entry, addresses)
}

// WriteSitemap writes addresses as a sitemap (root urlset, entry url) or as an index of sitemaps (root sitemapindex,
// entry sitemap).
func WriteSitemap(w http.ResponseWriter, root, entry string, addresses []string) {
	w.Header().Set("Content-Type", "application/xml; charset=UTF-8")
	fmt.Fprintf(w, "%s<%s xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">", xml.Header, root)
	for _, a := range addresses {
		fmt.Fprintf(w, "<%s><loc>%s</loc></%s>", entry, html.EscapeString(a), entry)
	}
	fmt.Fprintf(w, "</%s>", root)
}

// imageWidths maps the names of image sizes to their widths in pixels.
var imageWidths = map[string]int{"thumbnail": 150, "medium": 300}

func (p *picture) mimeType() string {
	if strings.HasSuffix(p.name, ".png") {
		return "image/png"
	}
	return "image/jpeg"
}

// sized returns the file name of an image's copy with a width and height.
func (p *picture) sized(width, height int) string {
	dot := strings.LastIndex(p.name, ".")
	return fmt.Sprintf("%s-%dx%d%s", p.name[:dot], width, height, p.name[dot:])
}

func (s *Site) imageURL(name string) string { return s.shown + "/wp-content/uploads/2026/10/" + name }

// serveImage replies with an image, or a smaller size of it, whose file name ends the path. Other names are 404.
func (s *Site) serveImage(w http.ResponseWriter, r *http.Request, path []string) {
	for _, p := range s.images {
		files := map[string][2]int{p.name: {p.width, p.height}}
		for _, width := range imageWidths {
			height := p.height * width / p.width
			files[p.sized(width, height)] = [2]int{width, height}
		}
		size, ok := files[path[len(path)-1]]
		if !ok {
			continue
		}
		var file bytes.Buffer
		picture := image.NewGray(image.Rect(0, 0, size[0], size[1]))
		encode := func() error { return jpeg.Encode(&file, picture, nil) }
		if p.mimeType() == "image/png" {
			encode = func() error { return png.Encode(&file, picture) }
		}
		if err := encode(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", p.mimeType())
		// The client has gone if this fails.
		_, _ = w.Write(file.Bytes())
		return
	}
	http.NotFound(w, r)
}
