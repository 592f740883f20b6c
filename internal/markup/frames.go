package markup

import (
	"html"
	"net/url"
	"regexp"
	"strings"

	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// FrameTitles are the link texts for untitled videos and maps.
type FrameTitles struct{ Video, Map string }

// Removed counts the elements of a text that HTML removes. Videos and Maps count frames that WithFrameLinks replaces
// by links. Frames counts other frames. Styles also counts elements with a style or class attribute.
type Removed struct{ Videos, Maps, Frames, Objects, Scripts, Forms, Styles int }

// Add returns the sum of r and o, field by field.
func (r Removed) Add(o Removed) Removed {
	return Removed{
		r.Videos + o.Videos, r.Maps + o.Maps, r.Frames + o.Frames, r.Objects + o.Objects, r.Scripts + o.Scripts,
		r.Forms + o.Forms, r.Styles + o.Styles,
	}
}

// WithFrameLinks adds a link before each iframe of a known video or map, and counts what HTML removes. A second
// frame with the same address gets no link. The link text is the title of the frame, or that in titles if it has
// none. The frames stay in the result until HTML removes them.
func WithFrameLinks(s string, titles FrameTitles) (string, Removed) {
	var removed Removed
	if !strings.Contains(s, "<") {
		return s, removed
	}
	var out strings.Builder
	linked := make(map[string]bool)
	copied, at := 0, 0 // bytes of s
	z := nethtml.NewTokenizer(strings.NewReader(s))
	for {
		kind := z.Next()
		start := at
		at += len(z.Raw())
		if kind == nethtml.ErrorToken {
			out.WriteString(s[copied:])
			return out.String(), removed
		}
		if kind != nethtml.StartTagToken && kind != nethtml.SelfClosingTagToken {
			continue
		}
		t := z.Token()
		if literalElements[t.DataAtom] {
			z.NextIsNotRawText()
		}
		switch t.DataAtom {
		case atom.Iframe:
			address, isMap := framePage(attribute(t, "src"))
			title := titles.Video
			switch {
			case address == "":
				removed.Frames++
				continue
			case linked[address]:
				continue
			case isMap:
				removed.Maps++
				title = titles.Map
			default:
				removed.Videos++
			}
			linked[address] = true
			if own := strings.Join(strings.Fields(attribute(t, "title")), " "); own != "" {
				title = own
			}
			out.WriteString(s[copied:start] + `<p><a href="` + html.EscapeString(address) + `">` + html.EscapeString(title) + `</a></p>`)
			copied = start
		case atom.Embed, atom.Object:
			removed.Objects++
		case atom.Script:
			removed.Scripts++
		case atom.Form:
			removed.Forms++
		case atom.Style:
			removed.Styles++
		default:
			if attribute(t, "style") != "" || attribute(t, "class") != "" {
				removed.Styles++
			}
		}
	}
}

var (
	videoID    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	googleMaps = regexp.MustCompile(`^(maps\.)?google\.[a-z]{2,3}(\.[a-z]{2})?$`)
	mapCentre  = regexp.MustCompile(`!2d(-?[0-9.]+)!3d(-?[0-9.]+)`)
)

// framePage returns the public page of the video or map in a frame with the given src. The address is "" if src is
// no known video or map.
func framePage(src string) (address string, isMap bool) {
	u, err := url.Parse(strings.TrimSpace(src))
	if err != nil || u.Host == "" || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
		return "", false
	}
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	path, query := strings.TrimRight(u.Path, "/"), u.Query()
	id := path[strings.LastIndexByte(path, '/')+1:]
	known := videoID.MatchString(id)
	switch {
	case host == "youtube.com" || host == "youtube-nocookie.com":
		switch list := query.Get("list"); {
		case path == "/embed/videoseries" && videoID.MatchString(list):
			return "https://www.youtube.com/playlist?list=" + list, false
		case path == "/embed/"+id && known:
			return "https://www.youtube.com/watch?v=" + id, false
		}
	case host == "player.vimeo.com" && path == "/video/"+id && known:
		if unlisted := query.Get("h"); videoID.MatchString(unlisted) {
			id += "/" + unlisted
		}
		return "https://vimeo.com/" + id, false
	case host == "dailymotion.com" && path == "/embed/video/"+id && known:
		return "https://www.dailymotion.com/video/" + id, false
	case path == "/videos/embed/"+id && known:
		return "https://" + u.Host + "/videos/watch/" + id, false
	case googleMaps.MatchString(host) && (strings.HasPrefix(path, "/maps") || strings.HasPrefix(host, "maps.")):
		place := query.Get("q")
		if m := mapCentre.FindStringSubmatch(query.Get("pb")); place == "" && m != nil {
			place = m[2] + "," + m[1]
		}
		if place != "" {
			return "https://www.google.com/maps/search/?" + url.Values{"api": {"1"}, "query": {place}}.Encode(), true
		}
		if mid := query.Get("mid"); mid != "" {
			return "https://www.google.com/maps/d/viewer?" + url.Values{"mid": {mid}}.Encode(), true
		}
	case host == "openstreetmap.org" && path == "/export/embed.html":
		if lat, lon, ok := strings.Cut(query.Get("marker"), ","); ok {
			return "https://www.openstreetmap.org/?" + url.Values{"mlat": {lat}, "mlon": {lon}}.Encode(), true
		}
		return "https://www.openstreetmap.org/?" + url.Values{"bbox": {query.Get("bbox")}}.Encode(), true
	case host == "bing.com" && strings.HasPrefix(path, "/maps/embed"):
		return "https://www.bing.com/maps?" + url.Values{"cp": {query.Get("cp")}, "lvl": {query.Get("lvl")}}.Encode(), true
	}
	return "", false
}
