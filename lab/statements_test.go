package lab

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/lab/fill"
	"github.com/almanac-cal/almanac/lab/local"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

var statementEvents = flag.Int("statement-events", 100_000, "events of the calendar of TestStatementsOfAnonymousReads; of small tables MySQL reads more than the limits allow")

// Limits of a statement of an anonymous read.
const (
	mostExamined       = 10_000 // rows
	mostExaminedForOne = 20     // rows, for each row sent
	fewExamined        = 1000   // rows that a statement may examine whatever it sends, such as the terms of a taxonomy for their number
)

// TestStatementsOfAnonymousReads sends every anonymous read to a large calendar on MySQL, with the index and without
// caches: each endpoint with each of its parameters, and pairs of those of lists; each kind of page and feed in each
// language. It compares the rows that each statement examines with the limits, and logs the times of the statements.
//
//	ALMANAC_TEST_MYSQL=mysql://root@127.0.0.1:3306/ go -C lab test -v -run Statements -timeout 30m .
//
// The database statements_100k of the server is made, and kept for the next run.
func TestStatementsOfAnonymousReads(t *testing.T) {
	at := os.Getenv(storetest.Variable)
	if at == "" {
		t.Skip("no MySQL server in " + storetest.Variable)
	}
	now := time.Now().UTC().Truncate(time.Second)
	at, _, err := fill.Kept(t.Context(), at, "statements", fill.Options{
		Events: *statementEvents, Series: *statementEvents / 20, Mixed: true, From: fill.Default(now), Site: local.Site("http://localhost"),
	})
	must.Succeed(t, err)
	st, err := fill.Open(t.Context(), at)
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	log := openStatementLog(t, at)
	reads := newAnonymousReads(t, st, now)
	reads.log = log
	reads.api(t)
	reads.pages(t)
	reads.report(t)
}

// anonymousReads sends reads and records the statements that the database runs for them.
type anonymousReads struct {
	service *server.Server
	facts   readFacts
	log     *statementLog
	costs   map[string][]time.Duration // of requests, by group
	worst   map[string]worstStatement  // by digest
}

// worstStatement is the worst execution of a statement: the one with the greatest excess.
type worstStatement struct {
	executed
	path                  string
	executions, expensive int
}

func newAnonymousReads(t *testing.T, st *store.Store, now time.Time) *anonymousReads {
	t.Helper()
	lists := index.New(st.Ent, read.EventColumns(), slog.New(slog.DiscardHandler))
	must.Succeed(t, lists.Load(t.Context()))
	api := apitest.New(t, st, func(c *handlers.Config) {
		c.Index, c.Site.Now = lists, func() time.Time { return now }
	})
	return &anonymousReads{
		service: api.Another(t, func(c *server.Config) { c.Caching, c.Site.Now = reply.Caching{}, func() time.Time { return now } }),
		facts:   loadReadFacts(t, st.DB, now),
		costs:   map[string][]time.Duration{}, worst: map[string]worstStatement{},
	}
}

// get sends a read and returns the reply. Its statements are counted in the group.
func (a *anonymousReads) get(t *testing.T, group, path string) apitest.Response {
	t.Helper()
	a.log.begin(t)
	res := apitest.Send(t, a.service, httptest.NewRequestWithContext(t.Context(), http.MethodGet, apitest.BaseURL+path, nil))
	var took time.Duration
	for _, s := range a.log.end(t) {
		took += s.took
		w := a.worst[s.digest]
		if w.executions == 0 || s.excess() > w.excess() {
			w.executed, w.path = s, path
		}
		w.executions++
		if s.excess() > 1 {
			w.expensive++
		}
		a.worst[s.digest] = w
	}
	a.costs[group] = append(a.costs[group], took)
	return res
}

// report logs the times by group, and the statements that examined most.
func (a *anonymousReads) report(t *testing.T) {
	t.Helper()
	for _, group := range slices.Sorted(maps.Keys(a.costs)) {
		times := a.costs[group]
		slices.Sort(times)
		at := func(share float64) time.Duration { return times[min(int(float64(len(times))*share), len(times)-1)] }
		t.Logf("%-8s %5d reads: p50 %s, p95 %s, max %s of the database", group, len(times), at(0.5).Round(10*time.Microsecond),
			at(0.95).Round(10*time.Microsecond), at(1).Round(10*time.Microsecond))
	}
	if len(a.worst) == 0 {
		t.Error("the server has noted no statements")
	}
	worst := slices.SortedFunc(maps.Values(a.worst), func(x, y worstStatement) int { return cmp.Compare(y.excess(), x.excess()) })
	for i, w := range worst {
		text := fmt.Sprintf("%d of %d executions; the worst examined %d rows and sent %d in %s, for %s: %s",
			w.expensive, w.executions, w.examined, w.sent, w.took.Round(10*time.Microsecond), w.path, w.text)
		switch {
		case w.expensive > 0:
			t.Error(text)
		case i < 10:
			t.Log(text)
		}
	}
}

// executed is one execution of a statement, with its duration and the numbers of rows examined and sent.
type executed struct {
	digest, text   string
	examined, sent int64 // rows
	took           time.Duration
}

// excess returns the number of rows that the statement examined, divided by the limit.
func (e executed) excess() float64 {
	most := min(mostExamined, max(mostExaminedForOne*e.sent, fewExamined))
	return float64(e.examined) / float64(most)
}

// statementLog reads the statements of a database that a MySQL server records in its performance schema.
type statementLog struct {
	conn     *sql.Conn
	database string
}

// openStatementLog makes the server record each statement until the test ends. The summary by digest, which is always
// recorded, has only sums.
func openStatementLog(t *testing.T, at string) *statementLog {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal("not a URL")
	}
	database := strings.Trim(u.Path, "/")
	u.Path = "/performance_schema"
	st, err := store.Open(t.Context(), u.String())
	must.Succeed(t, err)
	var on bool
	if err := st.DB.QueryRowContext(t.Context(), "SELECT @@performance_schema").Scan(&on); err != nil || !on {
		t.Skipf("the server has no performance schema: %v", err)
	}
	conn, err := st.DB.Conn(t.Context())
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := errors.Join(conn.Close(), st.Close()); err != nil {
			t.Error(err)
		}
	})
	// A server may be started with the instruments off, because they cost time.
	switchOn(t, conn, "setup_instruments", "ENABLED", "statement/%")
	switchOn(t, conn, "setup_instruments", "TIMED", "statement/%")
	switchOn(t, conn, "setup_consumers", "ENABLED", "events_statements_history_long")
	return &statementLog{conn, database}
}

// switchOn enables rows of a setup table of MySQL's performance schema. The names of the rows match the pattern. When the test
// ends, switchOn disables the rows that were disabled before.
func switchOn(t *testing.T, conn *sql.Conn, table, column, pattern string) {
	t.Helper()
	var names string
	err := conn.QueryRowContext(t.Context(), "SELECT COALESCE(JSON_ARRAYAGG(NAME), '[]') FROM "+table+" WHERE "+column+" = 'NO' AND NAME LIKE ?", pattern).
		Scan(&names)
	must.Succeed(t, err)
	set := func(ctx context.Context, to string) error {
		_, err := conn.ExecContext(ctx, "UPDATE "+table+" SET "+column+" = ? WHERE JSON_CONTAINS(?, JSON_QUOTE(NAME))", to, names)
		return err
	}
	must.Succeed(t, set(t.Context(), "YES"))
	t.Cleanup(func() {
		if err := set(context.WithoutCancel(t.Context()), "NO"); err != nil {
			t.Error(err)
		}
	})
}

// begin clears the log before a request.
func (l *statementLog) begin(t *testing.T) {
	t.Helper()
	if _, err := l.conn.ExecContext(t.Context(), "TRUNCATE TABLE events_statements_history_long"); err != nil {
		t.Fatal(err)
	}
}

// end returns the statements since the last call of begin.
func (l *statementLog) end(t *testing.T) (all []executed) {
	t.Helper()
	rows, err := l.conn.QueryContext(t.Context(), "SELECT COALESCE(DIGEST_TEXT, ''), COALESCE(SQL_TEXT, ''), ROWS_EXAMINED, ROWS_SENT, "+
		"TIMER_WAIT DIV 1000 FROM events_statements_history_long WHERE CURRENT_SCHEMA = ?", l.database)
	must.Succeed(t, err)
	defer rows.Close()
	for rows.Next() {
		var e executed
		must.Succeed(t, rows.Scan(&e.digest, &e.text, &e.examined, &e.sent, (*int64)(&e.took)))
		all = append(all, e)
	}
	must.Succeed(t, rows.Err())
	return all
}

// readFacts contains values for requests: those of many records, those of few, and records from all parts of the
// calendar.
type readFacts struct {
	now   time.Time
	ids   map[string][]string // by collection
	slugs map[string][]string // by collection
	words []string
}

func loadReadFacts(t *testing.T, db *sql.DB, now time.Time) readFacts {
	t.Helper()
	f := readFacts{now: now, ids: map[string][]string{}, slugs: map[string][]string{}}
	column := func(query string) (values []string) {
		rows, err := db.QueryContext(t.Context(), query)
		must.Succeed(t, err)
		defer rows.Close()
		for rows.Next() {
			var value string
			must.Succeed(t, rows.Scan(&value))
			values = append(values, value)
		}
		if err := rows.Err(); err != nil || len(values) == 0 {
			t.Fatalf("%s: %d values, error %v", query, len(values), err)
		}
		return values
	}
	for collection, rows := range map[string]string{
		"events": "events e WHERE status = 'publish' AND password_hash IS NULL ORDER BY id * 7919 % 100003, id LIMIT 12",
		"series": "series e WHERE status = 'publish' ORDER BY id * 7919 % 10007, id LIMIT 4",
		"venues": "venues e JOIN (SELECT venue_id, COUNT(*) AS n FROM event_venues GROUP BY venue_id) l ON l.venue_id = e.id " +
			"WHERE status = 'publish' ORDER BY n DESC, id LIMIT 4",
		"organizers": "organizers e JOIN (SELECT organizer_id, COUNT(*) AS n FROM event_organizers GROUP BY organizer_id) l " +
			"ON l.organizer_id = e.id WHERE status = 'publish' ORDER BY n DESC, id LIMIT 4",
		"categories": "terms e WHERE taxonomy = 'category' ORDER BY event_count DESC, id LIMIT 4",
		"tags":       "terms e WHERE taxonomy = 'tag' ORDER BY event_count DESC, id LIMIT 4",
	} {
		f.ids[collection] = column("SELECT e.id FROM " + rows)
		f.slugs[collection] = column("SELECT e.slug FROM " + rows)
	}
	f.ids["images"] = column("SELECT id FROM images ORDER BY id LIMIT 4")
	f.words = []string{
		fill.Word(0), fill.Word(60), fill.Word(0) + " " + fill.Word(1), fill.Word(0) + " -" + fill.Word(1), fill.Word(2)[:2],
		`"` + fill.Word(0) + " " + fill.Word(1) + `"`,
	}
	return f
}

// queries returns the queries that test a parameter, such as "venue=12". Some include another parameter that it
// needs.
func (f readFacts) queries(collection, parameter string) []string {
	day := func(days int) string { return f.now.AddDate(0, 0, days).Format(time.DateOnly) }
	each := func(values ...string) (out []string) {
		for _, v := range values {
			out = append(out, parameter+"="+url.QueryEscape(v))
		}
		return out
	}
	rare := func(collection string) string { return f.slugs[collection][len(f.slugs[collection])-1] }
	const near = "geoloc_lat=52.2297&geoloc_lng=21.0122"
	switch parameter {
	case "page":
		return each("2", "500")
	case "per_page":
		return each("1", "50")
	case "format":
		return []string{"format=json", "format=csv", "format=csv&per_page=2000"}
	case "start_date", "starts_after", "ends_after":
		return each(day(0), day(60), day(600), day(-50))
	case "end_date", "starts_before", "ends_before":
		return each(day(1), day(60), day(600), day(-50))
	case "strict_dates":
		return []string{"strict_dates=true&start_date=" + day(3) + "&end_date=" + day(5)}
	case "search":
		return each(f.words...)
	case "categories", "tags":
		return each(f.slugs[parameter][0], rare(parameter), strings.Join(f.slugs[parameter], ","))
	case "venue", "organizer":
		return each(f.ids[parameter+"s"][0], strings.Join(f.ids[parameter+"s"], ","))
	case "featured", "geoloc", "ticketed":
		return each("true", "false")
	case "has_events", "only_with_upcoming", "hide_empty":
		return each("true", "false")
	case "status":
		return each("publish")
	case "geoloc_lat", "geoloc_lng":
		return []string{near}
	case "geoloc_radius":
		return []string{"geoloc_radius=1&" + near, "geoloc_radius=100&" + near}
	case "include", "exclude":
		return each(f.ids[collection][0], strings.Join(f.ids[collection], ","))
	case "post_parent", "event", "post":
		return each(f.ids["events"][:3]...)
	case "series":
		return each(f.ids["series"][0], "none")
	case "event_status":
		return each("scheduled", "canceled,postponed")
	case "password":
		return each("open sesame", "simsim")
	case "month":
		return each(day(20)[:7])
	case "day":
		return each(day(20))
	case "order":
		return each("asc", "desc")
	case "orderby":
		return each("name", "slug", "count", "id")
	case "parent":
		return each(f.ids["categories"][0])
	case "slug":
		return each(f.slugs[collection][0])
	case "ml_language":
		return each("pl", "es")
	case "_fields":
		return each("id,title")
	case "namespace":
		return each(handlers.Namespace)
	case "context":
		return each("view")
	}
	return nil
}

// queryParameter is a parameter of the interface description.
type queryParameter struct{ Name, In string }

// api requests every path of the interface description that needs no credentials.
func (a *anonymousReads) api(t *testing.T) {
	t.Helper()
	var description struct {
		Paths map[string]struct {
			Get *struct {
				Parameters []struct {
					Ref string `json:"$ref"`
					queryParameter
				}
				Security []map[string]any
			}
		}
		Components struct {
			Parameters map[string]queryParameter
		}
	}
	const api = "/" + handlers.Namespace
	body := a.get(t, "api", api+"/doc").Body
	must.Succeed(t, json.Unmarshal(body, &description))
	for _, path := range slices.Sorted(maps.Keys(description.Paths)) {
		get := description.Paths[path].Get
		if get == nil || len(get.Security) > 0 && len(get.Security[0]) > 0 {
			continue
		}
		collection := strings.Split(strings.Trim(path, "/"), "/")[0]
		base, group := api, "api"
		if strings.Contains(path, ".") {
			base, group, collection = "", "feeds", "events"
		}
		for _, at := range a.facts.paths(t, collection, base+path) {
			a.succeed(t, group, at)
			var sent [][]string
			for _, p := range get.Parameters {
				parameter := p.queryParameter
				if p.Ref != "" {
					parameter = description.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]]
				}
				if parameter.In != "query" {
					continue
				}
				queries := a.facts.queries(collection, parameter.Name)
				if len(queries) == 0 {
					t.Errorf("%s: no value for the parameter %s", path, parameter.Name)
					continue
				}
				sent = append(sent, queries)
				for _, q := range queries {
					a.read(t, group, at+"?"+q)
				}
			}
			if group == "feeds" || strings.Contains(path, "{") {
				continue
			}
			for i := range sent {
				for k := range i {
					a.read(t, group, at+"?"+sent[k][0]+"&"+sent[i][0])
				}
			}
		}
	}
}

// paths returns the addresses of a path with its parameters filled in.
func (f readFacts) paths(t *testing.T, collection, path string) (out []string) {
	t.Helper()
	for parameter, values := range map[string][]string{"{id}": f.ids[collection], "{slug}": f.slugs[collection]} {
		if strings.Contains(path, parameter) {
			for _, v := range values {
				out = append(out, strings.Replace(path, parameter, v, 1))
			}
		}
	}
	switch {
	case out != nil:
	case strings.Contains(path, "{"):
		t.Errorf("%s: no value", path)
	default:
		out = []string{path}
	}
	return out
}

// succeed sends a read and fails the test unless the status is 200.
func (a *anonymousReads) succeed(t *testing.T, group, path string) apitest.Response {
	t.Helper()
	res := a.get(t, group, path)
	if res.Status != http.StatusOK {
		t.Errorf("%s: %d %.200s", path, res.Status, res.Body)
	}
	return res
}

// read sends a read whose status may also be 404.
func (a *anonymousReads) read(t *testing.T, group, path string) {
	t.Helper()
	if res := a.get(t, group, path); res.Status != http.StatusOK && res.Status != http.StatusNotFound {
		t.Errorf("%s: %d %.200s", path, res.Status, res.Body)
	}
}

var (
	linkOfPage    = regexp.MustCompile(`(?:href|src|action)="([^"]+)"|<loc>([^<]+)</loc>`)
	variedSegment = regexp.MustCompile(`[0-9]|-`)
)

// pages requests the HTML pages, feeds and sitemaps that are linked from the home page or belong to the facts. It
// follows links, and reads only a few addresses of the same form.
func (a *anonymousReads) pages(t *testing.T) {
	t.Helper()
	const mostOfForm = 2
	month := a.facts.now.AddDate(0, 0, 20).Format("2006-01")
	next := []string{
		"/", "/events/", "/events/list/", "/events/month/", "/events/" + month + "/", "/events/today/", "/events/" + month + "-11/", "/events/featured/",
		"/events/list/?eventDisplay=past", "/events/list/page/400/", "/sitemap.xml", "/robots.txt", "/developers/", "/events/feed/", "/events/feed/atom/",
		"/events/ical/", "/events/list/?outlook-ical=1", "/?p=" + a.facts.ids["events"][0], "/events/list/?search=" + a.facts.words[0],
	}
	for first, collection := range map[string]string{"event": "events", "series": "series", "venue": "venues", "organizer": "organizers"} {
		for _, slug := range a.facts.slugs[collection] {
			next = append(next, "/"+first+"/"+slug+"/")
		}
	}
	for first, collection := range map[string]string{"category": "categories", "tag": "tags"} {
		for _, view := range []string{"", "list/", "month/", "today/", "list/?eventDisplay=past", "feed/", "ical/"} {
			next = append(next, "/events/"+first+"/"+a.facts.slugs[collection][0]+"/"+view)
		}
	}
	seen, forms := map[string]bool{}, map[string]int{}
	for len(next) > 0 {
		path := next[0]
		next = next[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		form := formOf(path)
		if forms[form] == mostOfForm && !isSitemap(path) {
			continue
		}
		forms[form]++
		group := "pages"
		if !isPage(path) {
			group = "feeds"
		}
		res := a.get(t, group, path)
		switch {
		case res.Status >= 300 && res.Status < 400:
			next = append(next, strings.TrimPrefix(res.Header.Get("Location"), apitest.BaseURL))
		case res.Status != http.StatusOK:
			t.Errorf("%s: %d %.200s", path, res.Status, res.Body)
		case strings.Contains(res.Header.Get("Content-Type"), "html") || isSitemap(path):
			for _, m := range linkOfPage.FindAllStringSubmatch(string(res.Body), -1) {
				link := strings.TrimPrefix(html.UnescapeString(m[1]+m[2]), apitest.BaseURL)
				if strings.HasPrefix(link, "/") && !strings.HasPrefix(link, "//") && !strings.HasPrefix(link, "/media/") { // which the database does not answer
					link, _, _ = strings.Cut(link, "#")
					next = append(next, link)
				}
			}
		}
	}
	t.Logf("%d forms of addresses", len(forms))
}

func isSitemap(path string) bool { return strings.HasPrefix(path, "/sitemap") }

// isPage reports whether an address is that of a page, and not of a feed or a sitemap.
func isPage(path string) bool {
	return !isSitemap(path) && !strings.Contains(path, ".ics") && !strings.Contains(path, "ical") && !strings.Contains(path, "feed") &&
		!strings.Contains(path, "/events.")
}

// formOf replaces the slugs, numbers and dates in an address by placeholders, so that addresses of similar pages are
// equal.
func formOf(path string) string {
	path, query, _ := strings.Cut(path, "?")
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if i > 0 && slices.Contains([]string{"event", "series", "venue", "organizer", "category", "tag"}, segments[i-1]) || variedSegment.MatchString(s) {
			segments[i] = "*"
		}
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return path
	}
	return strings.Join(segments, "/") + "?" + strings.Join(slices.Sorted(maps.Keys(values)), "&")
}
