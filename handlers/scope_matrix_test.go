package handlers_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	entseries "github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// scopeRights states what callers may write in a series of three occurrences (contract, sections 12.3 and 19.5). A
// write addresses the second occurrence, or the series by /series. The columns are the scope, the status of all four,
// the owners of the series, the first and the second occurrence, and then the roles as in rights. The third occurrence
// has the owner of the second.
//
// ok is 200. no is 401 for the anonymous caller and 403 for others. single is 400 not-recurring, if the caller may not
// read the series.
const scopeRights = `
this          publish  own,other  own,other  own        -   no  no      ok      ok  ok
this          publish  own,other  own,other  other      no  no  no      no      ok  ok
this          draft    own,other  own,other  own        -   no  ok      ok      ok  ok
this          draft    own,other  own,other  other      no  no  no      no      ok  ok

following     publish  own        own,other  own        -   no  no      ok      ok  ok
following     publish  own        own,other  other      -   no  no      no      ok  ok
following     publish  other      own,other  own,other  no  no  no      no      ok  ok
following     draft    own        own,other  own        -   no  ok      ok      ok  ok
following     draft    own        own,other  other      -   no  no      no      ok  ok
following     draft    other      own,other  own        -   no  single  single  ok  ok
following     draft    other      own,other  other      no  no  no      no      ok  ok

all           publish  own        own        own        -   no  no      ok      ok  ok
all           publish  own        own        other      -   no  no      no      ok  ok
all           publish  own        other      own,other  -   no  no      no      ok  ok
all           publish  other      own,other  own,other  no  no  no      no      ok  ok
all           draft    own        own        own        -   no  ok      ok      ok  ok
all           draft    own        own        other      -   no  no      no      ok  ok
all           draft    own        other      own,other  -   no  no      no      ok  ok
all           draft    other      own,other  own        -   no  single  single  ok  ok
all           draft    other      own,other  other      no  no  no      no      ok  ok

/series       publish  own        own        own        -   no  no      ok      ok  ok
/series       publish  own        own        other      -   no  no      no      ok  ok
/series       publish  own        other      own,other  -   no  no      no      ok  ok
/series       publish  other      own,other  own,other  no  no  no      no      ok  ok
/series       draft    own        own        own        -   no  ok      ok      ok  ok
/series       draft    own        own        other      -   no  no      no      ok  ok
/series       draft    own        other      own,other  -   no  no      no      ok  ok
/series       draft    other      own,other  own,other  no  no  no      no      ok  ok
`

// scopeRight is one cell of scopeRights, the table of permissions for writes with a scope.
type scopeRight struct{ scope, status, series, first, second, role, want string }

func (r scopeRight) String() string {
	return fmt.Sprintf("%q writes %s of a series in %s, %s with occurrences %s and %s", r.role, r.scope, r.status, r.series, r.first, r.second)
}

// scopeCells parses scopeRights. It fails if two lines contain the same case.
func scopeCells(t *testing.T) (out []scopeRight) {
	t.Helper()
	seen := map[scopeRight]bool{}
	for line := range strings.Lines(scopeRights) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		for owner := range strings.SplitSeq(f[2], ",") {
			for first := range strings.SplitSeq(f[3], ",") {
				for second := range strings.SplitSeq(f[4], ",") {
					for i, role := range roles {
						r := scopeRight{scope: f[0], status: f[1], series: owner, first: first, second: second, role: role}
						if seen[r] {
							t.Fatalf("two lines speak of %v", r)
						}
						seen[r] = true
						if role == "" && owner+first+second != "otherotherother" {
							continue // nothing is the anonymous caller's
						}
						r.want = f[5+i]
						out = append(out, r)
					}
				}
			}
		}
	}
	if want := 4 * 2 * (8*5 + 1); len(out) != want {
		t.Fatalf("%d cases, want %d", len(out), want)
	}
	return out
}

// TestEveryRightOfTheScopes updates and deletes by each cell of scopeRights. A refused write changes nothing.
func TestEveryRightOfTheScopes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		api, users := everyRole(t, st)
		planted := map[scopeRight]int64{} // series, by status, owners and role
		for i, c := range briefSample(st, scopeCells(t)) {
			of := c
			of.scope, of.want = "", ""
			for _, method := range []string{"PATCH", "DELETE"} {
				id, ok := planted[of]
				if !ok {
					id = plantSeries(t, api, users, of, i)
					planted[of] = id
				}
				second := st.Ent.Event.Query().Where(event.SeriesID(id)).Order(event.ByOriginalStart()).AllX(t.Context())[1].ID
				req := apitest.Request{Method: method, As: c.role, Path: fmt.Sprintf("/events/%d?scope=%s", second, c.scope)}
				if c.scope == "/series" {
					req.Path = fmt.Sprint("/series/", id)
				}
				if method == "PATCH" {
					req.JSON = object{"title": fmt.Sprint("By ", c.scope, i)}
				}
				before := seriesState(t, st, id)
				r := api.Do(t, req)
				if got := scopeReply(t, c, r); got != c.want {
					t.Errorf("%s: %v: %s, want %s; %d %s", method, c, got, c.want, r.Status, r.Body)
				}
				diff := cmp.Diff(before, seriesState(t, st, id))
				switch {
				case r.Status == http.StatusOK && diff == "":
					t.Errorf("%s: %v: nothing changed", method, c)
				case r.Status != http.StatusOK && diff != "":
					t.Errorf("%s: %v: refused, but (-before +after):\n%s", method, c, diff)
				}
				if method == "DELETE" && r.Status == http.StatusOK {
					delete(planted, of)
				}
			}
		}
	})
}

// plantSeries stores a series of three occurrences for a case, and returns its id.
func plantSeries(t *testing.T, api *apitest.API, users map[string]int64, c scopeRight, number int) (id int64) {
	t.Helper()
	owner := func(whose string) *int64 {
		switch {
		case whose == "own":
			return new(users[c.role])
		case number%2 == 0:
			return nil // a record without an author belongs to others
		}
		return new(users["somebody"])
	}
	e := &edit.Editor{Site: api.Site, Now: apitest.Now, By: auth.System(), PasswordKey: api.Key}
	err := edit.Write(t.Context(), api.Store.Ent, e, func(tx *ent.Tx) error {
		start := apitest.Now.Add(24 * time.Hour)
		row, err := series.CreateEvent(t.Context(), tx, e, &edit.EventInput{
			Title: new(fmt.Sprint("Course ", number)), Status: new(calendar.Status(c.status)), Rule: new("FREQ=DAILY;COUNT=3"),
			Start: new(when.FromInstant(start)), End: new(when.FromInstant(start.Add(time.Hour))),
		})
		if err != nil {
			return err
		}
		id = *row.SeriesID
		update := tx.Series.UpdateOneID(id).ClearAuthorID()
		if by := owner(c.series); by != nil {
			update.SetAuthorID(*by)
		}
		if err := update.Exec(t.Context()); err != nil {
			return err
		}
		rows, err := tx.Event.Query().Where(event.SeriesID(id)).Order(event.ByOriginalStart()).All(t.Context())
		if err != nil {
			return err
		}
		for i, row := range rows {
			by := owner(c.second)
			if i == 0 {
				by = owner(c.first)
			}
			update := row.Update().ClearAuthorID()
			if by != nil {
				update.SetAuthorID(*by)
			}
			if err := update.Exec(t.Context()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// seriesState returns all stored values of a series, its phases and its occurrences, for comparisons.
func seriesState(t *testing.T, st *store.Store, id int64) (out []string) {
	t.Helper()
	out = append(out, st.Ent.Series.Query().Where(entseries.ID(id)).OnlyX(t.Context()).String())
	for _, row := range st.Ent.SeriesPhase.Query().Where(seriesphase.SeriesID(id)).AllX(t.Context()) {
		out = append(out, row.String())
	}
	for _, row := range st.Ent.Event.Query().Where(event.SeriesID(id)).AllX(t.Context()) {
		out = append(out, row.String())
	}
	return slices.Sorted(slices.Values(out))
}

// scopeReply returns the word that scopeRights has for a reply.
func scopeReply(t *testing.T, c scopeRight, r apitest.Response) string {
	t.Helper()
	forbidden := http.StatusForbidden
	if c.role == "" {
		forbidden = http.StatusUnauthorized
	}
	switch {
	case r.Status == http.StatusOK:
		return "ok"
	case r.Status == forbidden && r.Get(t, "code") == "rest_forbidden":
		return "no"
	case r.Status == http.StatusBadRequest && strings.Contains(string(r.Body), "not-recurring"):
		return "single"
	}
	return fmt.Sprint(r.Status)
}
