package move_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/importer"
	"github.com/almanac-cal/almanac/internal/move"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/proof/wptest"
)

// requireProxies is the variable that turns skipped tests of proxies into failures.
const requireProxies = "ALMANAC_TEST_PROXIES"

// movedSite is a WordPress site, its copy in Almanac, and the port of a proxy in front of both.
type movedSite struct {
	old     *wptest.Site
	proxy   move.Proxy
	front   string // HOST:PORT of the proxy
	ask     importer.Ask
	reader  *importer.Reader
	replies *http.Client
}

func moveSite(t *testing.T) *movedSite {
	t.Helper()
	st := storetest.Migrated(t, storetest.SQLite(t))
	old := wptest.NewSite(t, wptest.Options{Paths: wptest.Paths{
		Events: "wydarzenia", Event: "wydarzenie", Venue: "miejsce", Organizer: "organizator", Category: "kategoria", Tag: "etykieta",
	}})
	front := freeAddress(t)
	zone, err := calendar.ParseZone(wptest.Zone)
	if err != nil {
		t.Fatal(err)
	}
	reader := &importer.Reader{Site: apitest.New(t, st).Site, Rate: 1e6}
	cal, err := reader.Read(t.Context(), old.API+"/events?start_date=2000-01-01&end_date=2040-12-31&per_page=50")
	if err != nil {
		t.Fatal(err)
	}
	report, err := (&importer.Importer{DB: st.Ent, Site: reader.Site}).Run(t.Context(), cal)
	if err != nil || !report.Complete() {
		t.Fatalf("import: %v, %v", err, report.Problems)
	}
	site := settings.Default()
	text, err := json.Marshal(cal.Paths)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &site.Paths); err != nil {
		t.Fatal(err)
	}
	api := apitest.New(t, st, func(c *handlers.Config) {
		c.PageSettings, c.Mounts = &site, []string{"/wp-json/tribe/events/v1"}
		c.Site.Zone, c.Site.BaseURL, c.Site.PerPage = zone, "http://"+front, 50
	})
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	server := api.Another(t, nil)
	go func() { ended <- server.Serve(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	m := &movedSite{
		old: old, front: front, reader: reader, replies: &http.Client{Timeout: time.Minute},
		ask: func(req *http.Request) (*http.Response, error) { return server.App().Test(req, -1) },
		proxy: move.Proxy{
			BaseURL: "http://" + front, Site: &site, Almanac: ln.Addr().String(), WordPress: strings.TrimPrefix(old.URL, "http://"),
		},
	}
	for _, e := range old.Events() {
		m.proxy.EventIDs = append(m.proxy.EventIDs, e.ID)
	}
	found, err := move.ReadAddresses(t.Context(), reader, old.URL, &site)
	if err != nil {
		t.Fatal(err)
	}
	m.proxy.Addresses = found.All
	return m
}

func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	return ln.Addr().String()
}

func TestCheckFindsAllOldAddresses(t *testing.T) {
	t.Parallel()
	m := moveSite(t)
	kinds := map[move.Kind]int{}
	for _, a := range m.proxy.Addresses {
		kinds[a.Kind]++
	}
	for _, kind := range []move.Kind{"event", "venue", "organizer", "category", move.Other} {
		if kinds[kind] == 0 {
			t.Errorf("the sitemaps have no address of the kind %s: %v", kind, kinds)
		}
	}
	all := slices.Concat(m.proxy.Addresses, []move.Address{{Kind: move.List, Path: "/wydarzenia/nothing/"}})
	table, err := move.Check(t.Context(), all, m.proxy.BaseURL, m.ask, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := table.Write(&out, 0); err != nil {
		t.Fatal(err)
	}
	if missing := table.Missing(); len(missing) != 1 || missing[0].Path != "/wydarzenia/nothing/" {
		t.Errorf("missing: %v\n%s", missing, &out)
	}
	// The old site does not have that page either.
	before := func(req *http.Request) (*http.Response, error) {
		req.URL.Host = m.proxy.WordPress
		return m.reader.NewAsk()(req)
	}
	table, err = move.Check(t.Context(), all, m.proxy.BaseURL, m.ask, before, false)
	if err != nil {
		t.Fatal(err)
	}
	if missing := table.Missing(); len(missing) != 0 {
		t.Errorf("missing, but the old site has them: %v", missing)
	}
	t.Logf("\n%s", &out)
}

// TestProxies runs the printed files in front of both services, with other ports.
func TestProxies(t *testing.T) {
	t.Parallel()
	for _, program := range []move.Program{move.Nginx, move.Caddy} {
		for _, whole := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, whole host %v", program, whole), func(t *testing.T) {
				t.Parallel()
				path, err := exec.LookPath(string(program))
				if err != nil && os.Getenv(requireProxies) != "" {
					t.Fatal(err)
				}
				if err != nil {
					t.Skipf("%v; %s=1 makes this a failure", err, requireProxies)
				}
				m := moveSite(t)
				m.startProxy(t, program, path, whole)
				m.checkOldAddresses(t)
				m.checkLinks(t)
				home := m.get(t, "http://"+m.front+"/")
				if isAlmanac := strings.Contains(home.body, "/assets/"); isAlmanac != whole {
					t.Errorf("the home page is that of Almanac: %v", isAlmanac)
				}
			})
		}
	}
}

// startProxy runs a program with the printed file. Only ports and certificates are replaced.
func (m *movedSite) startProxy(t *testing.T, program move.Program, path string, whole bool) {
	t.Helper()
	var out bytes.Buffer
	if err := move.WriteConfiguration(&out, program, m.proxy, whole); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	var text string
	var args []string
	if program == move.Nginx {
		printed := regexp.MustCompile(`(?m)^\s*(ssl_certificate.*|listen \[::\].*)\n`).ReplaceAllString(out.String(), "")
		printed = strings.NewReplacer("listen 443 ssl;", "listen "+m.front+";", "listen 80;", "listen "+freeAddress(t)+";").Replace(printed)
		text = "daemon off; pid " + dir + "/pid; error_log stderr; events {}\nhttp { access_log off;\n"
		for _, name := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
			text += name + "_temp_path " + dir + "/" + name + ";\n"
		}
		text += printed + "}\n"
		args = []string{"-p", dir, "-c", file}
	} else {
		host, _, err := net.SplitHostPort(m.front)
		if err != nil {
			t.Fatal(err)
		}
		text = "{\n\tadmin off\n}\n" + strings.Replace(out.String(), "\n"+host+" {", "\nhttp://"+m.front+" {", 1)
		args = []string{"run", "--adapter", "caddyfile", "--config", file}
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	check := exec.CommandContext(t.Context(), path, append([]string{"-t"}, args...)...)
	if program == move.Caddy {
		check = exec.CommandContext(t.Context(), path, "validate", "--adapter", "caddyfile", "--config", file)
	}
	check.Env = append(os.Environ(), "HOME="+dir)
	if said, err := check.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, said, text)
	}
	var said bytes.Buffer
	c := exec.CommandContext(t.Context(), path, args...)
	c.Env, c.Stdout, c.Stderr = check.Env, &said, &said
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Wait() // ended by the context of the test
		if t.Failed() {
			t.Logf("%s\n%s", &said, text)
		}
	})
	for range 100 {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", m.front)
		if err == nil {
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the proxy does not listen")
}

// page is the reply to a request after redirects.
type page struct {
	status     int
	kind, body string
}

func (m *movedSite) get(t *testing.T, at string) page {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.replies.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	return page{res.StatusCode, kind, string(data)}
}

// plainText removes the escapes of a format from a text.
func plainText(t *testing.T, p page) string {
	t.Helper()
	switch p.kind {
	case "application/json":
		var value any
		if err := json.Unmarshal([]byte(p.body), &value); err != nil {
			t.Fatal(err)
		}
		return html.UnescapeString(fmt.Sprint(value))
	case "text/calendar":
		return strings.NewReplacer("\r\n ", "", `\,`, ",", `\;`, ";", `\\`, `\`).Replace(p.body)
	}
	return html.UnescapeString(html.UnescapeString(p.body))
}

// checkOldAddresses requests each address of the old site from that site and from the proxy.
func (m *movedSite) checkOldAddresses(t *testing.T) {
	t.Helper()
	kept := 0
	before := map[string]page{}
	for _, a := range m.old.Addresses() {
		before[a.Path] = m.get(t, m.old.URL+a.Path)
	}
	asked := len(m.old.Requests())
	for _, a := range m.old.Addresses() {
		if strings.HasSuffix(a.Path, "/events/by-slug/yoga") {
			continue // docs/from-wordpress.md names it
		}
		was, after := before[a.Path], m.get(t, "http://"+m.front+a.Path)
		if was.status != a.Status || after.status != a.Status || a.Status == http.StatusOK && after.kind != a.Type {
			t.Errorf("%s: status %d before, %d %s after; want %d %s", a.Path, was.status, after.status, after.kind, a.Status, a.Type)
			continue
		}
		text := plainText(t, after)
		for _, title := range a.Titles {
			if !strings.Contains(text, title) {
				t.Errorf("%s: without %q", a.Path, title)
			}
		}
		kept++
	}
	if frozen := m.old.Requests()[asked:]; len(frozen) > 0 {
		t.Errorf("WordPress still answers %q", frozen)
	}
	t.Logf("%d of %d addresses are kept", kept, len(m.old.Addresses()))
}

// links matches the addresses in a page.
var links = regexp.MustCompile(`(?:href|src)="([^"#]+)`)

// checkLinks requests what pages of Almanac link to, through the proxy.
func (m *movedSite) checkLinks(t *testing.T) {
	t.Helper()
	front, seen := "http://"+m.front, map[string]bool{}
	base, err := url.Parse(front)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/wydarzenia/", "/pl/wydarzenia/", "/wydarzenie/jazz-night/"} {
		p := m.get(t, front+path)
		if p.status != http.StatusOK {
			t.Errorf("%s: status %d", path, p.status)
		}
		for _, match := range links.FindAllStringSubmatch(p.body, -1) {
			at, err := base.Parse(html.UnescapeString(match[1]))
			if err != nil {
				t.Fatal(err)
			}
			if at.Scheme != "http" || at.Host != base.Host || seen[at.String()] {
				continue
			}
			seen[at.String()] = true
			if got := m.get(t, at.String()); got.status != http.StatusOK {
				t.Errorf("%s links to %s: status %d", path, at, got.status)
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d links", len(seen))
	}
}
