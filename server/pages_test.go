package server_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"html"
	"io"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

// newServerAt returns a server without a database under a base URL.
func newServerAt(t *testing.T, base string) *server.Server {
	t.Helper()
	return newBrokenServer(t, io.Discard, func(h *handlers.Config, s *server.Config) {
		h.Site.BaseURL, s.Site.BaseURL = base, base
		custom := settings.Default()
		custom.Home = settings.HomeAPI // the calendar needs a database
		h.PageSettings = &custom
	})
}

// visit requests a path of the host and returns the reply. header has names and values in turn.
func visit(t *testing.T, s *server.Server, method, path string, header ...string) apitest.Response {
	t.Helper()
	return answer(t, s, httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, nil), header...)
}

func TestPagesAreInTheLanguageOfTheirAddress(t *testing.T) {
	t.Parallel()
	s := newServerAt(t, apitest.BaseURL)
	for _, test := range []struct{ name, path, accept, want string }{
		{"the site's", "/", "", "en"},
		{"whatever the visitor prefers", "/", "es-MX,es;q=0.9,en;q=0.5", "en"},
		{"the reference", "/docs", "es", "en"},
		{"by the path", "/pl/", "es", "pl"},
		{"by the path, no slash", "/pl", "es", "pl"},
		{"the reference by the path", "/es/docs", "pl", "es"},
		{"the reference, a slash", "/es/docs/", "", "es"},
		{"the reference of the site, a slash", "/docs/", "", "en"},
		{"the page for developers", "/developers/", "pl", "en"},
		{"the page for developers by the path, no slash", "/es/developers", "pl", "es"},
		{"by a parameter", "/?ml_language=pl", "es", "pl"},
		{"a parameter before the path", "/es/docs?ml_language=pl", "", "pl"},
		{"an unknown parameter", "/docs?ml_language=de", "es", "en"},
		{"an empty parameter", "/pl/?ml_language=", "", "pl"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := visit(t, s, "GET", test.path, "Accept-Language", test.accept)
			if r.Status != 200 || r.Header.Get("Content-Language") != test.want ||
				!bytes.Contains(r.Body, []byte(`<html lang="`+test.want+`">`)) {
				t.Errorf("%d in %q: %.100s", r.Status, r.Header.Get("Content-Language"), r.Body)
			}
			if strings.Contains(test.path, "docs") != bytes.Contains(r.Body, []byte("/cal/events/v1/doc?ml_language="+test.want+`" data-`)) {
				t.Errorf("the reference is of something else: %s", r.Body)
			}
		})
	}
}

func TestPagesAreNothingElse(t *testing.T) {
	t.Parallel()
	s := newServerAt(t, apitest.BaseURL)
	off := newBrokenServer(t, io.Discard, func(h *handlers.Config, c *server.Config) { h.NoPages, c.NoPages = true, true })
	for _, test := range []struct {
		name         string
		s            *server.Server
		method, path string
	}{
		{"another language", s, "GET", "/de/docs"},
		{"two languages", s, "GET", "/pl/es/docs"},
		{"below the reference", s, "GET", "/docs/index.html"},
		{"another letter case", s, "GET", "/Docs"},
		{"a word that begins with a language", s, "GET", "/player"},
		{"POST", s, "POST", "/"},
		{"OPTIONS", s, "OPTIONS", "/docs"},
		{"DELETE of an asset", s, "DELETE", "/assets/site.css"},
		{"the folder of the assets", s, "GET", "/assets/"},
		{"an asset without the hash", s, "GET", "/assets/site.css"},
		{"an asset with a language", s, "GET", "/pl" + assets(t, s)[0]},
		{"out of the folder", s, "GET", "/assets/../docs"},
		{"switched off, the start page", off, "GET", "/"},
		{"switched off, the reference", off, "GET", "/pl/docs"},
		{"switched off, an asset", off, "GET", assets(t, s)[0]},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := visit(t, test.s, test.method, test.path)
			if r.Status != 404 || r.Get(t, "code") != noRoute {
				t.Errorf("%d: %.200s", r.Status, r.Body)
			}
		})
	}
}

// assets returns the URLs of the files that the pages load.
func assets(t *testing.T, s *server.Server) []string {
	t.Helper()
	var out []string
	for _, page := range []string{"/", "/docs"} {
		for _, match := range regexp.MustCompile(`(?:href|src)="([^"]*/assets/[^"]*)"`).FindAllSubmatch(visit(t, s, "GET", page).Body, -1) {
			out = append(out, string(match[1]))
		}
	}
	if len(out) == 0 {
		t.Fatal("the pages load nothing")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestHeadersOfPages(t *testing.T) {
	t.Parallel()
	s := newServerAt(t, "https://example.org/rest")
	const link = `<https://example.org/rest/cal/events/v1/doc>; rel="service-desc"; type="application/json", ` +
		`<https://example.org/rest/docs>; rel="service-doc"; type="text/html"`
	for _, path := range []string{"/rest/", "/pl/docs"} {
		header("Content-Type", "text/html; charset=UTF-8", "X-Content-Type-Options", "nosniff",
			"X-TEC-API-VERSION", "v1", "X-TEC-API-ORIGIN", "https://example.org/rest",
			"X-TEC-API-ROOT", "https://example.org/rest/cal/events/v1/", "Link", link,
			"Vary", "Accept-Encoding", "Cache-Control", "no-cache",
			"Referrer-Policy", "no-referrer", "Cross-Origin-Opener-Policy", "same-origin",
			"Strict-Transport-Security", "max-age=31536000",
			"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "+
				"font-src 'self'; connect-src 'self' https://example.org; base-uri 'none'; form-action 'none'; "+
				"frame-ancestors 'none'",
		)(t, visit(t, s, "GET", path))
	}
	for _, path := range assets(t, s) {
		r := visit(t, s, "GET", path)
		if r.Status != 200 {
			t.Errorf("%s: %d", path, r.Status)
		}
		header("Cache-Control", "public, max-age=31536000, immutable", "Vary", "Accept-Encoding",
			"X-Content-Type-Options", "nosniff", "X-TEC-API-ROOT", "")(t, r)
	}
}

func TestReferenceThatIsOffIsNotLinked(t *testing.T) {
	t.Parallel()
	s := newBrokenServer(t, io.Discard, func(h *handlers.Config, _ *server.Config) {
		custom := settings.Default()
		custom.Home, custom.Pages.Docs = settings.HomeAPI, false
		h.PageSettings = &custom
	})
	if link := visit(t, s, "GET", "/").Header.Get("Link"); !strings.Contains(link, "service-desc") || strings.Contains(link, "service-doc") {
		t.Error(link)
	}
}

func TestPolicyNamesOnlyHostsThatItCan(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"http://127.0.0.1:8080":    "connect-src 'self' http://127.0.0.1:8080;",
		"http://[::1]:8080":        "connect-src 'self';",
		"http://kalendarz.łódź.pl": "connect-src 'self';",
	} {
		if got := visit(t, newServerAt(t, base), "GET", "/").Header.Get("Content-Security-Policy"); !strings.Contains(got, want) {
			t.Errorf("%s: %s", base, got)
		}
	}
}

func TestPagesBelowAPath(t *testing.T) {
	t.Parallel()
	s := newServerAt(t, "https://example.org/rest")
	for _, path := range []string{"/rest", "/rest/", "/", "/rest/docs", "/docs", "/rest/pl/docs/", "/rest/es", "/es/"} {
		r := visit(t, s, "GET", path)
		if r.Status != 200 || bytes.Contains(r.Body, []byte(`="/assets`)) || !bytes.Contains(r.Body, []byte(`="/rest/assets/`)) {
			t.Errorf("%s: %d: %s", path, r.Status, r.Body)
		}
	}
	for _, path := range assets(t, s) {
		for _, address := range []string{path, strings.TrimPrefix(path, "/rest")} {
			if r := visit(t, s, "GET", address); r.Status != 200 {
				t.Errorf("%s: %d", address, r.Status)
			}
		}
	}
	if r := visit(t, s, "GET", "/restaurant"); r.Status != 404 {
		t.Errorf("/restaurant: %d", r.Status)
	}
}

func TestPagesAreSentInFewBytes(t *testing.T) {
	t.Parallel()
	s := newServerAt(t, apitest.BaseURL)
	var script string
	for _, path := range assets(t, s) {
		if strings.Contains(path, "/swagger-ui.") && strings.HasSuffix(path, ".js") {
			script = path
		}
	}
	plain := visit(t, s, "GET", script)
	if len(plain.Body) < 1_000_000 {
		t.Fatalf("%s has %d bytes", script, len(plain.Body))
	}
	for _, test := range []struct{ name, path, accept, want string }{
		{"what browsers ask for", script, "gzip, deflate, br, zstd", "br"},
		{"gzip", script, "gzip", "gzip"},
		{"not Brotli", script, "br;q=0, gzip", "gzip"},
		{"anything", script, "*", "br"},
		{"something else", script, "zstd", ""},
		{"nothing is said", script, "", ""},
		{"as it is", script, "identity", ""},
		{"a page", "/docs", "gzip, deflate, br", "br"},
		{"a page in gzip", "/docs", "gzip, deflate", "gzip"},
		{"a page as it is", "/", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := visit(t, s, "GET", test.path, "Accept-Encoding", test.accept)
			if got := r.Header.Get("Content-Encoding"); got != test.want {
				t.Fatalf("got %q, want %q", got, test.want)
			}
			whole := visit(t, s, "GET", test.path)
			body := r.Body
			if test.want == "gzip" {
				z, err := gzip.NewReader(bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				if body, err = io.ReadAll(z); err != nil {
					t.Fatal(err)
				}
			}
			if test.want != "br" && !bytes.Equal(body, whole.Body) {
				t.Error("other bytes")
			}
			if test.want != "" && (len(r.Body)*2 > len(whole.Body) || r.Header.Get("ETag") == whole.Header.Get("ETag")) {
				t.Errorf("%d bytes of %d, tags %s and %s", len(r.Body), len(whole.Body), r.Header.Get("ETag"), whole.Header.Get("ETag"))
			}
		})
	}
}

func TestPagesThatAreKnownAreNotSentAgain(t *testing.T) {
	t.Parallel()
	s := newServerAt(t, apitest.BaseURL)
	for _, path := range append(assets(t, s), "/", "/pl/docs") {
		for _, encoding := range []string{"", "gzip", "br"} {
			first := visit(t, s, "GET", path, "Accept-Encoding", encoding)
			etag := first.Header.Get("ETag")
			if len(etag) < 8 || strings.HasPrefix(etag, "W/") {
				t.Fatalf("%s: ETag %s", path, etag)
			}
			again := visit(t, s, "GET", path, "Accept-Encoding", encoding, "If-None-Match", etag)
			if again.Status != 304 || len(again.Body) != 0 || again.Header.Get("ETag") != etag ||
				again.Header.Get("Vary") != first.Header.Get("Vary") || again.Header.Get("Cache-Control") != first.Header.Get("Cache-Control") {
				t.Errorf("%s: %d, %d bytes, %v", path, again.Status, len(again.Body), again.Header)
			}
			if other := visit(t, s, "GET", path, "Accept-Encoding", encoding, "If-None-Match", `"other"`); other.Status != 200 {
				t.Errorf("%s: %d for another tag", path, other.Status)
			}
			head := visit(t, s, "HEAD", path, "Accept-Encoding", encoding)
			if head.Status != 200 || len(head.Body) != 0 || head.Header.Get("Content-Length") != first.Header.Get("Content-Length") ||
				head.Header.Get("ETag") != etag {
				t.Errorf("HEAD %s: %d, %d bytes, %v", path, head.Status, len(head.Body), head.Header)
			}
		}
	}
}

func TestPagesAskForNoCredentials(t *testing.T) {
	t.Parallel()
	r := visit(t, newServerAt(t, apitest.BaseURL), "GET", "/docs", "Authorization", "Bearer wrong")
	if r.Status != 200 || r.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("%d, %s", r.Status, r.Header.Get("Cache-Control"))
	}
}

var (
	command = regexp.MustCompile(`(?s)<pre><code[^>]*>(.*?)</code></pre>`)
	word    = regexp.MustCompile(`'([^']*)'|"([^"]*)"|(\S+)`)
)

// TestTheFirstLinesWork runs the example commands of the page for developers in the way that a shell would.
func TestTheFirstLinesWork(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	api.Example(t)
	for _, lang := range []string{"en", "pl", "es"} {
		page := api.Do(t, site("GET", "/developers/?ml_language="+lang))
		lines := command.FindAllSubmatch(page.Body, -1)
		if len(lines) != 3 {
			t.Fatalf("%s: %d lines", lang, len(lines))
		}
		for i, line := range lines {
			text := strings.ReplaceAll(html.UnescapeString(string(line[1])), "\\\n", " ")
			text = strings.ReplaceAll(text, "$TOKEN", api.Token("admin"))
			var words []string
			for _, match := range word.FindAllStringSubmatch(text, -1) {
				words = append(words, match[1]+match[2]+match[3])
			}
			if words[0] != "curl" {
				t.Fatalf("%s: %q", lang, words)
			}
			r := apitest.Request{Absolute: true, Header: map[string]string{}}
			for j := 1; j < len(words); j++ {
				switch words[j] {
				case "-H":
					j++
					name, value, _ := strings.Cut(words[j], ": ")
					r.Header[name] = value
				case "-d":
					j++
					r.Method, r.JSON = "POST", words[j]
				default:
					address, err := url.Parse(words[j])
					if err != nil || address.Scheme+"://"+address.Host != apitest.BaseURL {
						t.Fatalf("%s: %q: %v", lang, words[j], err)
					}
					r.Path = address.RequestURI()
				}
			}
			res := api.Do(t, r)
			want := 200
			if i == 2 {
				want = 201
			}
			if res.Status != want || i > 0 && res.Header.Get("Content-Language") != lang || !json.Valid(res.Body) {
				t.Errorf("%s: %s: %d in %s: %.200s", lang, text, res.Status, res.Header.Get("Content-Language"), res.Body)
			}
		}
	}
}
