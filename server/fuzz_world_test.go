package server_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// fuzzWorld is a service with the example calendar, users of all roles and records of those who may write. It can
// list and undo what a request changed in the database.
type fuzzWorld struct {
	api     *apitest.API
	user    map[string]int64 // by login, which is the role
	secrets []string
	words   fuzzWords

	db     *sql.DB // of our own: what others commit through theirs shows in its data_version
	tables []fuzzTable
	base   fuzzRows // how the calendar was
	now    fuzzRows // how changes found it
}

// fuzzRows has all rows of a database, by table and key.
type fuzzRows map[string]map[string]fuzzRow

// fuzzTable is a table of the database with its columns.
type fuzzTable struct {
	name    string
	columns []string
	hasID   bool
}

// fuzzRow is a row of the database: its values in the form of SQL, and its owner in the words of owners.
type fuzzRow struct {
	rowid  int64
	values string
	kept   string // values without those that the loss of a link changes
	whose  string
}

// fuzzChange is a row that differs from its original. before is empty for a new row, and after for a deleted one.
type fuzzChange struct {
	table         fuzzTable
	key           string
	before, after fuzzRow
}

// owners are, by table, what says whose a row is: of records the author and the status, of what belongs to a record
// the kind and the id of that.
var owners = map[string]string{
	"events":                 "'author ' || coalesce(author_id, 0) || ' ' || status || ' ' || status_before_trash",
	"venues":                 "'author ' || coalesce(author_id, 0) || ' ' || status || ' ' || status_before_trash",
	"organizers":             "'author ' || coalesce(author_id, 0) || ' ' || status || ' ' || status_before_trash",
	"images":                 "'author ' || coalesce(author_id, 0) || ' image'",
	"event_translations":     "'of events ' || event_id",
	"event_venues":           "'of events ' || event_id || ' venues ' || venue_id",
	"event_organizers":       "'of events ' || event_id || ' organizers ' || organizer_id",
	"event_terms":            "'of events ' || event_id || ' terms ' || term_id",
	"venue_translations":     "'of venues ' || venue_id",
	"organizer_translations": "'of organizers ' || organizer_id",
	"slugs":                  "'of ' || case kind when 'category' then 'term' when 'tag' then 'term' else kind end || 's ' || owner_id",
	"search_texts":           "'of ' || case kind when 'category' then 'term' when 'tag' then 'term' else kind end || 's ' || owner_id",
	"terms":                  "'term'",
	"term_translations":      "'term'",
}

// bookkeeping is about requests, and no part of the calendar.
const bookkeeping = "idempotency_keys"

// logs only grow, and their rows belong to no record.
var logs = []string{"changes"}

func newFuzzWorld(t testing.TB) *fuzzWorld {
	t.Helper()
	// Nothing that is sent leads to a request of ours: names have no address here, and mayFetch looks after the rest.
	resolver := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no names are looked up")
	}}
	t.Cleanup(func() { net.DefaultResolver = resolver })

	address := storetest.SQLite(t)
	w := &fuzzWorld{
		api: apitest.New(t, storetest.Migrated(t, address), func(c *handlers.Config) { c.Fetcher = media.NewFetcher() }),
		// A user whose token works is touched by its first use; the clock stands still afterwards.
		user: map[string]int64{"admin": 1},
	}
	w.api.Example(t)
	for _, role := range []calendar.Role{calendar.Editor, calendar.Author, calendar.Contributor, calendar.Subscriber} {
		w.user[string(role)] = w.api.SignIn(t, string(role), role)
	}
	must.Succeed(t, auth.SetPassword(t.Context(), w.api.Store.Ent, w.user["editor"], fuzzPassword))
	w.secrets = []string{fuzzPassword, "$argon2"}
	for login := range w.user {
		w.secrets = append(w.secrets, w.api.Token(login))
	}
	w.addOwnRecords(t)
	w.words = newFuzzWords(t)
	w.recordState(t, strings.TrimPrefix(address, "sqlite://"))
	return w
}

// fuzzPassword is that of the editor, and editorsPassword the header that has it.
const (
	fuzzPassword    = "correct-horse-battery-9"
	editorsPassword = "Basic ZWRpdG9yOmNvcnJlY3QtaG9yc2UtYmF0dGVyeS05"
)

// addOwnRecords creates records of a contributor, an author and an editor, through the API.
func (w *fuzzWorld) addOwnRecords(t testing.TB) {
	t.Helper()
	const concert = `"start_date":"2026-12-05 18:00","end_date":"2026-12-05 20:00"`
	for _, r := range []struct{ as, path, body string }{
		{"contributor", "/events", `{"title":"Mine",` + concert + `}`},
		{"contributor", "/events", `{"title":"Mine pending","status":"pending","password":"p",` + concert + `}`},
		{"contributor", "/events", `{"title":"Mine published",` + concert + `}`},
		{"contributor", "/venues", `{"venue":"My shed"}`},
		{"contributor", "/organizers", `{"organizer":"My band"}`},
		{"author", "/events", `{"title":"Reading","slug":"reading","categories":"2","tags":"4","venue":10,` + concert + `}`},
		{"author", "/events", `{"title":"Private reading","status":"private",` + concert + `}`},
		{"author", "/events", `{"title":"Later","date":"2027-01-01",` + concert + `}`},
		{"author", "/venues", `{"venue":"Library","slug":"library","city":"Łódź"}`},
		{"author", "/organizers", `{"organizer":"Club","slug":"club"}`},
		{"editor", "/events", `{"title":"Weekly",` + concert + `}`},
	} {
		reply := w.api.Do(t, apitest.Request{Method: "POST", As: r.as, Path: r.path, JSON: r.body})
		if reply.Status != http.StatusCreated {
			t.Fatalf("%s: %d %s", r.body, reply.Status, reply.Body)
		}
	}
	// The third event: one that a contributor may not touch any more.
	publish := apitest.Request{Method: "PATCH", As: "admin", Path: "/events/27", JSON: `{"status":"publish"}`}
	if r := w.api.Do(t, publish); r.Status != http.StatusOK || r.Get(t, "title") != "Mine published" {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
}

// isAPI reports whether a target is below one of the API's roots.
func (w *fuzzWorld) isAPI(target string) bool { return w.route(target) != "" }

var mounts = regexp.MustCompile(`^(/(?:en|pl|es))?/cal/events/v1(/[^?#]*)?`)

// route returns the path of the described operation that a target belongs to. It is "?" if there is none, and ""
// outside the API.
func (w *fuzzWorld) route(target string) string {
	path, _, _ := strings.Cut(target, "?")
	found := mounts.FindStringSubmatch(path)
	if found == nil || found[0] != path {
		return ""
	}
	rest := strings.TrimSuffix(found[2], "/")
	for _, o := range w.words.operations {
		if o.matches(rest) {
			return o.path
		}
	}
	return "?"
}

var (
	addresses = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*(:[0-9]{1,5})?([/?#",&\s]|$)`)
	disguises = []string{`\u`, "%3a", "%2f", "quoted-printable", "encoding"}
)

// mayFetch reports whether a request could make the service download an image. Such a request has a URL whose host
// is no plain name, or could hide one.
func (w *fuzzWorld) mayFetch(r fuzzRequest) bool {
	text := strings.ToLower(r.String())
	if slices.ContainsFunc(disguises, func(mark string) bool { return strings.Contains(text, mark) }) ||
		strings.Contains(text, `\`) && strings.Contains(text, "http") {
		return true
	}
	for i, part := range strings.Split(text, "//") {
		if i > 0 && !addresses.MatchString(part) {
			return true
		}
	}
	return false
}

// recordState opens the database in a file and remembers its rows, for later comparisons. Before that it sends a
// request of each user, which touches their tokens.
func (w *fuzzWorld) recordState(t testing.TB, file string) {
	t.Helper()
	for login := range w.user { // tokens are touched now and not again
		if r := w.api.Do(t, apitest.Request{As: login, Path: "/tags"}); r.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", login, r.Status, r.Body)
		}
	}
	var err error
	if w.db, err = sql.Open("sqlite", file); err != nil {
		t.Fatal(err)
	}
	w.db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := w.db.Close(); err != nil {
			t.Error(err)
		}
	})
	w.do(t, "PRAGMA busy_timeout = 5000")
	names := storetest.Texts(t, w.db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'atlas%' ORDER BY name")
	for _, name := range names {
		if slices.Contains(logs, name) {
			continue
		}
		columns := storetest.Texts(t, w.db, "SELECT name FROM pragma_table_info('"+name+"')")
		w.tables = append(w.tables, fuzzTable{name, columns, slices.Contains(columns, "id")})
	}
	w.base = w.snapshot(t)
}

func (w *fuzzWorld) do(t testing.TB, statement string) {
	t.Helper()
	if _, err := w.db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// version returns a number that changes with each commit on another connection.
func (w *fuzzWorld) version(t testing.TB) (v int64) {
	t.Helper()
	must.Succeed(t, w.db.QueryRowContext(t.Context(), "PRAGMA data_version").Scan(&v))
	return v
}

// snapshot returns every row of the tables that are compared. Logs are not.
func (w *fuzzWorld) snapshot(t testing.TB) fuzzRows {
	t.Helper()
	out := make(fuzzRows, len(w.tables))
	for _, table := range w.tables {
		out[table.name] = w.rowsOf(t, table)
	}
	return out
}

func (w *fuzzWorld) rowsOf(t testing.TB, table fuzzTable) map[string]fuzzRow {
	t.Helper()
	quoted, kept := make([]string, len(table.columns)), []string{"''"}
	for i, c := range table.columns {
		quoted[i] = "quote(`" + c + "`)"
		if c != "version" && c != "modified_at" {
			kept = append(kept, quoted[i])
		}
	}
	whose := owners[table.name]
	if whose == "" {
		whose = "''"
	}
	rows, err := w.db.QueryContext(t.Context(), "SELECT rowid, "+strings.Join(quoted, " || ', ' || ")+", "+
		strings.Join(kept, " || ', ' || ")+", "+whose+" FROM "+table.name)
	must.Succeed(t, err)
	defer rows.Close()
	out := make(map[string]fuzzRow)
	for rows.Next() {
		var r fuzzRow
		must.Succeed(t, rows.Scan(&r.rowid, &r.values, &r.kept, &r.whose))
		key := r.values // rows without an id are identified by their content
		if table.hasID {
			key = fmt.Sprint(r.rowid)
		}
		if !strings.HasPrefix(key, "'revision', ") { // counts what is in the log
			out[key] = r
		}
	}
	must.Succeed(t, rows.Err())
	return out
}

// changes returns the rows that differ from those of recordState.
func (w *fuzzWorld) changes(t testing.TB) (out []fuzzChange) {
	t.Helper()
	w.now = w.snapshot(t)
	for _, table := range w.tables {
		before, after := w.base[table.name], w.now[table.name]
		keys := maps.Clone(before)
		maps.Copy(keys, after)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if before[key].values != after[key].values {
				out = append(out, fuzzChange{table, key, before[key], after[key]})
			}
		}
	}
	return out
}

// restore undoes changes. It marks all records as changed, so that derived data is made again.
func (w *fuzzWorld) restore(t testing.TB, changes []fuzzChange) {
	t.Helper()
	if len(changes) == 0 {
		return
	}
	statements := []string{"BEGIN IMMEDIATE", "PRAGMA defer_foreign_keys = 1"}
	for _, c := range changes {
		if c.after.values != "" {
			statements = append(statements, fmt.Sprintf("DELETE FROM %s WHERE rowid = %d", c.table.name, c.after.rowid))
		}
	}
	for _, c := range changes {
		if c.before.values != "" {
			statements = append(statements, "INSERT INTO "+c.table.name+" (`"+strings.Join(c.table.columns, "`, `")+"`) "+
				"VALUES ("+c.before.values+")")
		}
	}
	// Rows that are put back move the sequences, so these come last.
	statements = append(statements, "DELETE FROM sqlite_sequence")
	for _, r := range w.base["sqlite_sequence"] {
		statements = append(statements, "INSERT INTO sqlite_sequence (`name`, `seq`) VALUES ("+r.values+")")
	}
	for _, s := range append(statements, "COMMIT") {
		w.do(t, s)
	}
	e := &edit.Editor{Site: w.api.Site, Now: apitest.Now, By: auth.System()}
	err := edit.Write(t.Context(), w.api.Store.Ent, e, func(tx *ent.Tx) error {
		return edit.LogAll(t.Context(), tx, e,
			calendar.Event, calendar.Venue, calendar.Organizer, calendar.Category, calendar.Tag)
	})
	must.Succeed(t, err)
}

// mayChange fails the test if one of the changes is not permitted. The request r and the login as decide what is.
func (w *fuzzWorld) mayChange(t testing.TB, r fuzzRequest, as string, reply apitest.Response, changes []fuzzChange) {
	t.Helper()
	for _, c := range changes {
		why := ""
		switch {
		case r.reads():
			why = r.method + " reads"
		case c.table.name == bookkeeping || strings.HasPrefix(c.after.values, "'"+bookkeeping+"'"):
			// What was answered to a key is remembered, a refusal too.
		case reply.Status >= 400:
			why = fmt.Sprintf("%d says that nothing was done", reply.Status)
		case c.table.name == "events" && c.before.kept == c.after.kept && losesLink(changes, c.key):
			// The link is looked at below: who may remove its other end changes the event with it (decision 023).
		case c.table.name == "users" || c.table.name == "tokens" || c.table.name == "settings":
			why = "no request is about these"
		default:
			why = w.forbidden(as, c)
		}
		if why != "" {
			t.Errorf("%s changes %s: %s\n-%s\n+%s", nobodyIf(as), c.table.name, why, c.before.values, c.after.values)
		}
	}
}

// losesLink reports whether the changes remove a link of an event. event is its id.
func losesLink(changes []fuzzChange, event string) bool {
	return slices.ContainsFunc(changes, func(c fuzzChange) bool {
		return c.after.values == "" && strings.HasPrefix(c.table.name, "event_") && c.table.name != "event_translations" &&
			strings.HasPrefix(c.before.whose, "of events "+event+" ")
	})
}

func nobodyIf(as string) string {
	if as == "" {
		return "nobody"
	}
	return as
}

// forbidden returns the reason why a role may not change a row, or "" if it may.
func (w *fuzzWorld) forbidden(as string, c fuzzChange) string {
	me := fmt.Sprintf("author %d ", w.user[as])
	switch as {
	case "admin", "editor":
		return ""
	case "author", "contributor":
	default:
		return "may change nothing"
	}
	for _, row := range []fuzzRow{c.before, c.after} {
		switch kind, rest, _ := strings.Cut(row.whose, " "); kind {
		case "author":
			if !strings.HasPrefix(row.whose, me) {
				return "of another"
			}
			if as == "contributor" && !strings.Contains(rest, "draft") && !strings.Contains(rest, "pending") {
				return "not a draft, and not pending"
			}
		case "of":
			if why := w.forbiddenPart(as, me, strings.Fields(rest)); why != "" {
				return why
			}
		case "term":
			if as == "contributor" {
				return "of all"
			}
		}
	}
	return ""
}

// forbiddenPart is like forbidden, for rows that belong to a record, such as links. The list owner has the kind
// and id of that record, or of several records. The text me begins the words for rows of the user's own.
func (w *fuzzWorld) forbiddenPart(as, me string, owner []string) string {
	if owner[0] == "terms" {
		if as == "contributor" {
			return "of all"
		}
		return ""
	}
	// A link goes with either end, and with a term that authors delete.
	for ; len(owner) >= 2; owner = owner[2:] {
		row, known := w.base[owner[0]][owner[1]]
		_, there := w.now[owner[0]][owner[1]]
		switch {
		case owner[0] == "terms":
			if as == "author" && known && !there {
				return ""
			}
		case !known || strings.HasPrefix(row.whose, me):
			return ""
		}
	}
	return "part of what is another's"
}
