package importer

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/markup"
)

// plain returns a text on one line, without control characters, and cut to limit characters with a notice. It keeps
// "<" and "&", because a TEXT value has no markup (RFC 5545, section 3.3.11). name is the property, for the notice.
func (o icalObject) plain(name, text string, limit int) string {
	s := onOneLine(text)
	if cut := truncate(s, limit); cut != s {
		o.notice(name, fmt.Sprintf("cut to %d characters", limit))
		s = cut
	}
	return s
}

// onOneLine returns a text without control characters, with each run of white space and line breaks as one space.
func onOneLine(text string) string {
	printable := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(printable), " ")
}

// truncate cuts a text of more than limit characters to that length. It returns a shorter text unchanged.
func truncate(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:limit]))
}

// titleText returns a title, or "" if it consists of markup alone.
func titleText(s string) string {
	if !strings.Contains(s, "<") || strings.TrimSpace(strings.ReplaceAll(htmlTag.ReplaceAllString(s, ""), "&nbsp;", "")) != "" {
		return s
	}
	return ""
}

// description returns the description as HTML. The line breaks of a plain text remain.
func (o icalObject) description() string {
	for _, name := range richDescriptions {
		for _, p := range o.properties[name] {
			if strings.EqualFold(p.parameter("FMTTYPE"), "text/html") && !strings.EqualFold(p.parameter("VALUE"), "URI") {
				if s := o.html(name, icalText(p.value)); s != "" {
					return s
				}
			}
		}
	}
	text := icalText(o.value("DESCRIPTION"))
	if !isHTML(text) {
		text = html.EscapeString(text)
	}
	return o.html("DESCRIPTION", text)
}

// richDescriptions are the properties with a description in HTML. STYLED-DESCRIPTION is that of RFC 9073, section 6.5.
var richDescriptions = []string{"STYLED-DESCRIPTION", "X-ALT-DESC"}

// htmlTag matches the tags that programs write into descriptions.
var htmlTag = regexp.MustCompile(`(?i)</?(a|b|br|div|em|font|h[1-6]|html|hr|i|img|li|ol|p|span|strong|u|ul)(\s[^<>]*)?/?>`)

// isHTML reports whether a text is certainly HTML: it has an element with an end tag, or one that needs none. Single
// tags are not enough, as in "use <b> for bold".
func isHTML(text string) bool {
	open := make(map[string]bool)
	for _, m := range htmlTag.FindAllStringSubmatch(text, -1) {
		name := strings.ToLower(m[1])
		switch {
		case name == "br" || name == "hr" || name == "img" && m[2] != "":
			return true
		case !strings.HasPrefix(m[0], "</"):
			open[name] = true
		case open[name]:
			return true
		}
	}
	return false
}

// html returns the text as sanitised HTML. For text that cannot be sanitised it returns "", with a notice. name is the
// property, for the notice.
func (o icalObject) html(name, text string) string {
	s, err := markup.HTML(text)
	if err != nil {
		o.notice(name, err.Error()+"; left out")
		return ""
	}
	return strings.TrimSpace(s)
}

// address returns the http or https URL in a property, adding https if the scheme is missing. It returns "" for
// anything else, with a notice unless the property is empty.
func (o icalObject) address(name string) string {
	if p, ok := o.first(name); ok {
		if s := webAddress(icalText(p.value)); s != "" {
			return s
		}
		if s := strings.TrimSpace(icalText(p.value)); hostPattern.MatchString(s) && webAddress("https://"+s) != "" {
			o.notice(name, "https:// is added")
			return "https://" + s
		}
		if p.value != "" {
			o.notice(name, "not an address of the web; left out")
		}
	}
	return ""
}

// hostPattern matches the start of a web address without a scheme: www.example.org, or example.org/path.
var hostPattern = regexp.MustCompile(`(?i)^(?:www\.[a-z0-9-]+\.|(?:[a-z0-9-]+\.)+[a-z]{2,}/)`)

// webAddress returns s if it is an absolute http or https URL. For anything else it returns "".
func webAddress(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || utf8.RuneCountInString(s) > maxURL ||
		strings.ContainsAny(s, " <>\"") {
		return ""
	}
	return s
}

// standInTitle returns a title for an event without one: its first category, or else the word "event" in the language.
// A venue's name follows that word.
func standInTitle(e *Event, language calendar.Language) string {
	if len(e.Terms) > 0 {
		return e.Terms[0].Name
	}
	title := "Event"
	if words, err := locale.Load(); err == nil {
		title = words.Message(language, "event-without-title", nil)
	}
	if len(e.Venues) > 0 {
		title += ": " + e.Venues[0].Name
	}
	return truncate(title, maxTitle)
}
