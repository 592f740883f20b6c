package markup

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// OnPage adapts sanitised HTML to a page with its own h1. Headings start at h2, and no level is skipped. The
// function local returns the address from which the page loads the image src. If it returns "", the image becomes a
// link to src, or text inside another link.
func OnPage(s string, local func(src string) string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	w := pageWriter{local: local}
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		kind := z.Next()
		raw := z.Raw()
		if kind == html.ErrorToken { // end of the text; a string has no other error
			return w.out.String()
		}
		if kind == html.TextToken {
			w.out.Write(raw)
			continue
		}
		plain := string(raw)
		t := z.Token()
		switch {
		case headingLevel(t.DataAtom) > 0:
			w.heading(t)
		case t.DataAtom == atom.Img:
			w.image(t)
		default:
			if t.DataAtom == atom.A {
				w.inLink = kind == html.StartTagToken
			}
			w.out.WriteString(plain)
		}
	}
}

// pageWriter has the HTML that OnPage has written, and the open headings and links.
type pageWriter struct {
	out    strings.Builder
	local  func(src string) string
	levels []int    // original levels of the headings above the current place
	open   []string // new names of the open headings
	inLink bool
}

// headingLevel returns 1 for h1 to 6 for h6, and 0 for other elements.
func headingLevel(a atom.Atom) int {
	return 1 + slices.Index([]atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}, a)
}

// heading writes the start or end tag of a heading with its new level. The level is one below that of the heading
// above it in the outline. The first heading is h2, and none is deeper than h6.
func (w *pageWriter) heading(t html.Token) {
	level := headingLevel(t.DataAtom)
	if t.Type == html.StartTagToken {
		for len(w.levels) > 0 && w.levels[len(w.levels)-1] >= level {
			w.levels = w.levels[:len(w.levels)-1]
		}
		w.levels = append(w.levels, level)
		w.open = append(w.open, "h"+string(rune('1'+min(len(w.levels), 5))))
	}
	if len(w.open) == 0 {
		return // sanitised HTML has no stray end tags
	}
	t.Data = w.open[len(w.open)-1]
	if t.Type == html.EndTagToken {
		w.open = w.open[:len(w.open)-1]
	}
	w.out.WriteString(t.String())
}

// image writes an image with the address that w.local returns. If that is "", it writes a link to the image, or only
// the link text inside another link.
func (w *pageWriter) image(t html.Token) {
	src, alt := attribute(t, "src"), attribute(t, "alt")
	if here := w.local(src); here != "" {
		for i := range t.Attr {
			if t.Attr[i].Key == "src" {
				t.Attr[i].Val = here
			}
		}
		if !slices.ContainsFunc(t.Attr, func(a html.Attribute) bool { return a.Key == "alt" }) {
			t.Attr = append(t.Attr, html.Attribute{Key: "alt"})
		}
		t.Attr = append(t.Attr, html.Attribute{Key: "loading", Val: "lazy"})
		t.Type = html.StartTagToken
		w.out.WriteString(t.String())
		return
	}
	text := strings.TrimSpace(alt)
	if text == "" {
		text = src[strings.LastIndexByte(src, '/')+1:]
	}
	if text == "" {
		text = src
	}
	text = html.EscapeString(text)
	if w.inLink {
		w.out.WriteString(text)
		return
	}
	w.out.WriteString(`<a href="` + html.EscapeString(src) + `" rel="noreferrer">` + text + `</a>`)
}

func attribute(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
