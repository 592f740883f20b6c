package markup

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// HTML returns the HTML to store for a text that a client sent. It removes elements and attributes that are not on the
// allow-list, and addresses with schemes other than http, https, mailto and tel. The content of a removed element
// stays, except for script, style, iframe, object, embed, form, svg, math and template.
//
// The result is well formed: elements are closed where HTML would close them, stray end tags are removed, and nesting
// ends at maxDepth. It removes images without an address, and adds rel "noopener" to links that open elsewhere. In text
// it escapes only "&", "<" and ">", and line breaks are line feeds, which Paragraphs relies on. HTML(HTML(s)) is
// HTML(s), so clients may send back a reply.
//
// The error is ErrText. The rule is in the contract, section 6.7.
func HTML(s string) (string, error) { return HTMLContext(context.Background(), s) }

// HTMLContext returns the HTML to store for a text that a client sent, by the rules of HTML. It checks ctx
// every few kilobytes. The error is ErrText, or that of ctx.
func HTMLContext(ctx context.Context, s string) (string, error) {
	if !isStorable(s) {
		return "", ErrText
	}
	s = lineFeeds(s)
	if !strings.ContainsAny(s, "<>&") {
		return s, nil
	}
	pruned, err := dropElements(ctx, escapeStray(s))
	if err != nil {
		return "", err
	}
	var permitted strings.Builder
	permitted.Grow(len(pruned) + len(pruned)/8)
	if err := policy.SanitizeReaderToWriter(newReader(ctx, pruned), &permitted); err != nil {
		return "", err
	}
	return render(ctx, permitted.String())
}

// reader is an io.Reader of a text. It fails with the error of ctx after ctx has ended.
type reader struct {
	ctx  context.Context //nolint:containedctx // it lives as long as one call
	text strings.Reader
}

func newReader(ctx context.Context, s string) *reader {
	r := &reader{ctx: ctx}
	r.text.Reset(s)
	return r
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.text.Read(p)
}

// tokenizerError returns the error that ended a tokenizer. Nil means the end of the text.
func tokenizerError(z *html.Tokenizer) error {
	if err := z.Err(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// lineFeeds replaces each CR LF, and each other CR, by a line feed.
func lineFeeds(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// allowedElements are the elements that stored HTML may contain.
var allowedElements = []string{
	"a", "abbr", "b", "blockquote", "br", "cite", "code", "dd", "del", "div", "dl", "dt", "em", "figcaption",
	"figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p", "pre",
	"q", "s", "samp", "small", "span", "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead",
	"time", "tr", "u", "ul", "var",
}

// policy is the allow-list of elements and attributes. It never changes.
var policy = newPolicy()

func newPolicy() *bluemonday.Policy {
	var (
		number    = regexp.MustCompile(`^\d{1,5}$`)
		measure   = regexp.MustCompile(`^\d{1,5}(%|px)?$`)
		integer   = regexp.MustCompile(`^-?\d{1,9}$`)
		direction = regexp.MustCompile(`(?i)^(ltr|rtl|auto)$`)
		scope     = regexp.MustCompile(`(?i)^(row|col|rowgroup|colgroup)$`)
		language  = regexp.MustCompile(`^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$`)
		window    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
		relations = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 _-]*$`)
		// A host is required, because the policy rewrites https://#x to https:#x, which is not an address.
		web = regexp.MustCompile(`(?i)^\s*https?://[^\s/?#@\\]\S*\s*$`)
	)
	p := bluemonday.NewPolicy()
	// By default the library removes these elements with their content. dropElements has already removed the
	// content that must go, so the library keeps the rest.
	p.AllowElementsContent("frame", "frameset", "iframe", "noembed", "noframes", "noscript", "nostyle", "object",
		"script", "style", "title")
	p.AllowElements(allowedElements...)
	p.AllowNoAttrs().OnElements(allowedElements...)

	p.AllowAttrs("title").Globally()
	p.AllowAttrs("lang").Matching(language).Globally()
	p.AllowAttrs("dir").Matching(direction).Globally()
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("rel").Matching(relations).OnElements("a")
	p.AllowAttrs("target").Matching(window).OnElements("a")
	p.AllowAttrs("src").Matching(web).OnElements("img")
	p.AllowAttrs("alt").OnElements("img")
	p.AllowAttrs("width", "height").Matching(measure).OnElements("img")
	p.AllowAttrs("cite").Matching(web).OnElements("blockquote", "q", "del", "ins")
	p.AllowAttrs("datetime").OnElements("del", "ins", "time")
	p.AllowAttrs("colspan", "rowspan").Matching(number).OnElements("td", "th")
	p.AllowAttrs("scope").Matching(scope).OnElements("td", "th")
	p.AllowAttrs("start").Matching(integer).OnElements("ol")

	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(true)
	p.AllowURLSchemes("http", "https", "mailto", "tel")
	p.RequireNoFollowOnLinks(false)
	return p
}

// droppedElements and literalElements are removed by dropElements, before the policy runs.
var (
	// droppedElements are removed together with their content.
	droppedElements = atomSet(atom.Script, atom.Style, atom.Iframe, atom.Object, atom.Embed, atom.Form, atom.Svg, atom.Math,
		atom.Template)
	// literalElements are elements whose content browsers do not parse, or do not show. Only their tags are
	// removed, and the content is treated as markup.
	literalElements = atomSet(atom.Noembed, atom.Noframes, atom.Noscript, atom.Plaintext, atom.Textarea, atom.Title, atom.Xmp)
)

// dropElements removes comments, droppedElements with their content, and the tags of literalElements. It replaces
// menu by ul. An unclosed element extends to the end, as in a browser. The policy could skip content too, but stray
// end tags confuse its count. It also never finds the end of embed, which has no end tag.
func dropElements(ctx context.Context, s string) (string, error) {
	if !strings.Contains(s, "<") {
		return s, nil
	}
	var (
		in    atom.Atom // the outermost dropped element
		depth int       // number of open elements with that name
		embed = -1      // position of an embed in out while its end tag may follow; -1 means none
	)
	out := make([]byte, 0, len(s))
	z := html.NewTokenizer(newReader(ctx, s))
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return string(out), tokenizerError(z)
		case html.TextToken:
			if depth == 0 {
				// The text is escaped; otherwise "<" could form a tag with the text after the dropped element.
				out = appendText(out, z.Raw())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			tag, _ := z.TagName()
			name := atom.Lookup(tag)
			if literalElements[name] {
				z.NextIsNotRawText()
			}
			// "/>" closes an element only in svg and math.
			closed := kind == html.SelfClosingTagToken && (name == atom.Svg || name == atom.Math)
			switch {
			case depth > 0:
				if name == in && !closed {
					depth++
				}
			case name == atom.Embed:
				embed = len(out)
			case droppedElements[name]:
				if !closed {
					in, depth = name, 1
				}
			case name == atom.Menu:
				out = append(out, "<ul>"...) // keeps the items in a list
			case !literalElements[name]:
				out = append(out, z.Raw()...)
			}
		case html.EndTagToken:
			tag, _ := z.TagName()
			name := atom.Lookup(tag)
			switch {
			case depth > 0:
				if name == in {
					depth--
				}
			case name == atom.Embed:
				// Embed has no end tag in HTML, but some authors write one with a fallback inside.
				if embed >= 0 {
					out, embed = out[:embed], -1
				}
			case name == atom.Menu:
				out = append(out, "</ul>"...)
			case !droppedElements[name] && !literalElements[name]:
				out = append(out, z.Raw()...)
			}
		}
	}
}

// appendText appends raw text unchanged, except that every "<" is escaped.
func appendText(out, raw []byte) []byte {
	for _, c := range raw {
		if c == '<' {
			out = append(out, "&lt;"...)
		} else {
			out = append(out, c)
		}
	}
	return out
}
