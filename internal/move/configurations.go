package move

import (
	"embed"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/handlers/feeds"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/web"
)

//go:embed *.tmpl
var templates embed.FS

// Proxy has the facts for the configuration of a proxy.
type Proxy struct {
	BaseURL string // public URL of the site, such as https://calendar.example.org, without a path
	Site    *settings.Site
	// Almanac and WordPress are the addresses, HOST:PORT, of the two services. "" means 127.0.0.1:8080 and 127.0.0.1:8081.
	Almanac, WordPress string
	EventIDs           []int64   // ids of the events at the old site, for short links such as /?p=12
	Addresses          []Address // of the old site
}

// Program is a proxy program.
type Program string

// Nginx and Caddy are the programs whose configuration WriteConfiguration writes.
const (
	Nginx Program = "nginx"
	Caddy Program = "caddy"
)

// WriteConfigurations writes the configurations for both programs: the first with WordPress behind the proxy, the
// second with Almanac alone.
func WriteConfigurations(w io.Writer, p Proxy) error {
	for _, program := range []Program{Nginx, Caddy} {
		for _, whole := range []bool{false, true} {
			if err := WriteConfiguration(w, program, p, whole); err != nil {
				return err
			}
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteConfiguration writes a complete configuration file. If whole is true, the proxy sends all requests for the host
// to Almanac. Otherwise WordPress gets those that do not belong to the calendar. It returns an error for a base URL
// with a path.
func WriteConfiguration(w io.Writer, program Program, p Proxy, whole bool) error {
	base, err := url.Parse(p.BaseURL)
	if err != nil {
		return err
	}
	if base.Hostname() == "" || strings.Trim(base.Path, "/") != "" || strings.ContainsAny(base.Hostname(), " {};\"'\\") {
		return fmt.Errorf("base URL %q: want https://HOST, without a path", base.Redacted())
	}
	if p.Almanac == "" {
		p.Almanac = "127.0.0.1:8080"
	}
	if p.WordPress == "" {
		p.WordPress = "127.0.0.1:8081"
	}
	all, err := template.ParseFS(templates, "*.tmpl")
	if err != nil {
		return err
	}
	return all.ExecuteTemplate(w, string(program)+".tmpl", map[string]any{
		"Host": base.Hostname(), "BaseURL": strings.TrimRight(p.BaseURL, "/"), "Whole": whole, "Almanac": p.Almanac, "WordPress": p.WordPress,
		"Paths": p.paths(), "HomePath": homePath(p.Site), "Queries": p.queries(),
	})
}

// languages returns the regular expression of an optional language at the start of a path, such as (/(en|pl))?.
func languages(site *settings.Site) string {
	var all []string
	for _, l := range site.Languages {
		all = append(all, string(l))
	}
	return "(/(" + strings.Join(all, "|") + "))?"
}

// indexFile is the regular expression of the file /index.php, which WordPress allows at the start of a path.
const indexFile = `(/index\.php)?`

func homePath(site *settings.Site) string {
	return "^" + indexFile + languages(site) + "(/(feed/?)?)?$"
}

// paths returns regular expressions. The proxy sends a request to Almanac if its decoded path matches one of them.
func (p Proxy) paths() []string {
	site := p.Site
	names := address.NewNames(site.Paths, site.PathAliases)
	firsts := append(names.FirstSegments(), feeds.FirstSegments()...)
	for _, path := range []string{web.AssetsPath, represent.MediaPath, web.DevelopersPath, web.DocsPath} {
		firsts = append(firsts, strings.Trim(path, "/"))
	}
	if p.wordPressHas("", isOther(names, calendar.Tag)) {
		firsts = slices.DeleteFunc(firsts, func(first string) bool { return names.First[first].Program == string(calendar.Tag) })
	}
	slices.Sort(firsts)
	firsts = slices.Compact(firsts)
	for i, first := range firsts {
		firsts[i] = regexp.QuoteMeta(first)
	}
	prefix := "^" + indexFile + languages(site)
	out := []string{
		prefix + "/(" + strings.Join(firsts, "|") + `)(/|\.ics$|$)`,
		prefix + "/" + handlers.Namespace + "(/|$)",
		prefix + handlers.WordPressRoot + "/tribe(/|$)",
	}
	for _, l := range site.Languages[1:] {
		if root := "/" + string(l) + "/"; !p.wordPressHas(root, func(a Address) bool { return a.Kind == Other }) {
			out = append(out, "^/"+string(l)+"(/|$)")
		}
	}
	return out
}

// isOther returns a function that reports whether an address's first path segment is the one for pages of the kind.
func isOther(names address.Names, kind calendar.Kind) func(Address) bool {
	return func(a Address) bool {
		first, _, _ := strings.Cut(strings.TrimPrefix(a.Path, "/"), "/")
		text, err := url.PathUnescape(first)
		return err == nil && names.First[text].Program == string(kind)
	}
}

// wordPressHas reports whether the old site has an address that begins with path and for which matches returns true.
func (p Proxy) wordPressHas(path string, matches func(Address) bool) bool {
	return slices.ContainsFunc(p.Addresses, func(a Address) bool { return strings.HasPrefix(a.Path, path) && matches(a) })
}

// longestIDs limits the ids in one expression, in bytes. An expression ends with the id that exceeds it. The limit of
// nginx for a word is 4096 bytes.
const longestIDs = 3000

// queries returns regular expressions for queries of the home page. The proxy sends a request to Almanac if its query
// matches one of them.
func (p Proxy) queries() []string {
	names, types := address.HomeParams()
	out := []string{
		"(^|&)" + address.ParamPostType + "=(" + strings.Join(types, "|") + ")(&|$)",
		"(^|&)(" + strings.Join(names, "|") + ")=",
		"(^|&)(" + string(address.FormatICal) + "|" + string(address.FormatOutlook) + ")=1(&|$)",
		"(^|&)rest_route=(/|%2[Ff])+tribe(/|%2[Ff]|&|$)",
	}
	var ids []string
	length := 0
	flush := func() {
		if len(ids) > 0 {
			out = append(out, "(^|&)"+address.ParamRecord+"=("+strings.Join(ids, "|")+")(&|$)")
		}
		ids, length = nil, 0
	}
	for _, id := range p.EventIDs {
		text := strconv.FormatInt(id, 10)
		if ids, length = append(ids, text), length+len(text)+1; length > longestIDs {
			flush()
		}
	}
	flush()
	return out
}
