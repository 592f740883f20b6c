package handlers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// eventTest is a service with the example calendar and a user of each role.
type eventTest struct {
	*apitest.API
	user map[string]int64 // ids by login, which is the role
	now  time.Time        // what the clock shows
}

// eachEventTest runs a test on every engine.
func eachEventTest(t *testing.T, test func(t *testing.T, e *eventTest), options ...apitest.Option) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) { test(t, newEventTest(t, st, options...)) })
}

func newEventTest(t *testing.T, st *store.Store, options ...apitest.Option) *eventTest {
	t.Helper()
	e := &eventTest{user: map[string]int64{"admin": 1}, now: apitest.Now}
	clock := func(c *handlers.Config) { c.Site.Now = func() time.Time { return e.now } }
	e.API = apitest.New(t, st, slices.Concat(options, []apitest.Option{clock})...)
	e.Example(t)
	for _, role := range []calendar.Role{
		calendar.Editor, calendar.Author, calendar.Contributor, calendar.Subscriber,
	} {
		e.user[string(role)] = e.SignIn(t, string(role), role)
	}
	return e
}

// siteIn returns an option that sets the zone of the site.
func siteIn(t *testing.T, name string) apitest.Option {
	t.Helper()
	zone, err := calendar.ParseZone(name)
	must.Succeed(t, err)
	return func(c *handlers.Config) { c.Site.Zone = zone }
}

// concert returns the body of a create with the required fields. The members of over are added or replace them.
func concert(over object) object {
	body := object{"title": "Concert", "start_date": "2026-12-05 18:00", "end_date": "2026-12-05 20:30"}
	maps.Copy(body, over)
	return body
}

func patch(as, path string, body any) apitest.Request {
	return apitest.Request{Method: "PATCH", As: as, Path: path, JSON: body}
}

func remove(as, path string) apitest.Request {
	return apitest.Request{Method: "DELETE", As: as, Path: path}
}

func eventPath(id int64) string { return "/events/" + strconv.FormatInt(id, 10) }

// mustCreate creates an event with further fields and returns its id.
func (e *eventTest) mustCreate(t *testing.T, as string, over object) int64 {
	t.Helper()
	return e.mustPost(t, as, "/events", concert(over))
}

// mustPost creates any resource and returns its id.
func (e *eventTest) mustPost(t *testing.T, as, path string, body object) int64 {
	t.Helper()
	r := e.Do(t, post(as, path, body))
	if r.Status != 201 {
		t.Fatalf("POST %s %v: %d %s", path, body, r.Status, r.Body)
	}
	return int64(r.Get(t, "id").(float64))
}

// mustSucceed sends a request and fails the test unless the reply is a success.
func (e *eventTest) mustSucceed(t *testing.T, r apitest.Request) apitest.Response {
	t.Helper()
	got := e.Do(t, r)
	if got.Status != 200 && got.Status != 201 {
		t.Fatalf("%s %s: %d %s", r.Method, r.Path, got.Status, got.Body)
	}
	return got
}

// valueAt returns the value at a dotted path, such as organizer.0.id, in a decoded body. It returns nil if there
// is no such value.
func valueAt(v any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// hasValues fails unless the reply's body has the wanted values. The keys of want are dotted paths.
func hasValues(t *testing.T, r apitest.Response, want object) {
	t.Helper()
	data, err := json.Marshal(want)
	must.Succeed(t, err)
	wanted, got := object{}, object{}
	must.Succeed(t, json.Unmarshal(data, &wanted))
	body := r.JSON(t)
	for path := range want {
		got[path] = valueAt(body, path)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("status %d (-want +got):\n%s", r.Status, diff)
	}
}

// isStored reads an event as the administrator, who also sees the trash. It fails unless the event has the wanted
// values.
func (e *eventTest) isStored(t *testing.T, id int64, want object) {
	t.Helper()
	r := e.Do(t, apitest.Request{As: "admin", Path: eventPath(id)})
	if r.Status == 403 {
		trashed := make(object, len(want))
		for path, v := range want {
			trashed["events.0."+path] = v
		}
		want = trashed
		r = e.Do(t, apitest.Request{As: "admin", Path: fmt.Sprintf("/events?status=trash&include=%d", id)})
	}
	if r.Status != 200 {
		t.Fatalf("GET event %d: %d %s", id, r.Status, r.Body)
	}
	hasValues(t, r, want)
}

// keeps returns a check that a reply has the wanted values, and that a later read of the same event has them too.
func (e *eventTest) keeps(want object) func(t *testing.T, r apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		hasValues(t, r, want)
		e.isStored(t, int64(r.Get(t, "id").(float64)), want)
	}
}

// faults lists the parameters that a 400 names, in the order of the reply. A reason, if there is one, follows the
// name: "venue unknown-ids".
func faults(t *testing.T, r apitest.Response) []string {
	t.Helper()
	var body struct {
		Data struct {
			Params  json.RawMessage
			Details json.RawMessage
		}
	}
	r.Into(t, &body)
	var names []string
	if json.Unmarshal(body.Data.Params, &names) == nil {
		return names
	}
	reasons := map[string]struct{ Code string }{}
	if !bytes.Equal(body.Data.Details, []byte("[]")) {
		if err := json.Unmarshal(body.Data.Details, &reasons); err != nil {
			t.Fatalf("%v in %s", err, r.Body)
		}
	}
	dec := json.NewDecoder(bytes.NewReader(body.Data.Params))
	for depth, key := 0, true; dec.More() || depth == 0; {
		token, err := dec.Token()
		if err != nil {
			t.Fatalf("%v in %s", err, r.Body)
		}
		if text, ok := token.(string); ok && key {
			names = append(names, strings.TrimSpace(text+" "+reasons[text].Code))
		}
		key = depth == 0 || !key
		depth = 1
	}
	return names
}

// namesExactly returns a check that a 400 names exactly these parameters.
func namesExactly(want ...string) func(t *testing.T, r apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		if diff := cmp.Diff(want, faults(t, r)); diff != "" {
			t.Errorf("faults (-want +got):\n%s\n%s", diff, r.Body)
		}
	}
}

// rowCounts returns the number of stored rows of each table.
func (e *eventTest) rowCounts(t *testing.T) map[string]int {
	t.Helper()
	db, out := e.Store.Ent, map[string]int{}
	for name, count := range map[string]func() (int, error){
		"events":     func() (int, error) { return db.Event.Query().Count(t.Context()) },
		"texts":      func() (int, error) { return db.EventTranslation.Query().Count(t.Context()) },
		"venues":     func() (int, error) { return db.Venue.Query().Count(t.Context()) },
		"organizers": func() (int, error) { return db.Organizer.Query().Count(t.Context()) },
		"terms":      func() (int, error) { return db.Term.Query().Count(t.Context()) },
		"slugs":      func() (int, error) { return db.Slug.Query().Count(t.Context()) },
		"records":    func() (int, error) { return db.Record.Query().Count(t.Context()) },
		"series":     func() (int, error) { return db.Series.Query().Count(t.Context()) },
		"phases":     func() (int, error) { return db.SeriesPhase.Query().Count(t.Context()) },
		"images":     func() (int, error) { return db.Image.Query().Count(t.Context()) },
		"changes":    func() (int, error) { return db.Change.Query().Count(t.Context()) },
	} {
		n, err := count()
		must.Succeed(t, err)
		out[name] = n
	}
	return out
}

// stepID makes the next new record get the given id, by using up the ids before it.
func (e *eventTest) stepID(t *testing.T, id int64) {
	t.Helper()
	must.Succeed(t, e.Store.Ent.Record.Create().SetID(id-1).SetKind(calendar.Event).Exec(t.Context()))
}

// replaceID returns a body in which every occurrence of id is replaced by the id as.
func replaceID(body []byte, id, as int64) []byte {
	from, to := strconv.FormatInt(id, 10), strconv.FormatInt(as, 10)
	for _, mark := range []string{`"id":%s,`, `?id=%s"`, `/events/%s"`, `?p=%s"`} {
		body = bytes.ReplaceAll(body, fmt.Appendf(nil, mark, from), fmt.Appendf(nil, mark, to))
	}
	return body
}
