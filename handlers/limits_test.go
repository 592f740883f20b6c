package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestNewRecordsAreBounded sends an event with the largest allowed number of new inline records, and one with one
// more.
func TestNewRecordsAreBounded(t *testing.T) {
	t.Parallel()
	e := newEventTest(t, storetest.Migrated(t, storetest.SQLite(t)))
	named := func(n int) []string {
		words := make([]string, n)
		for i := range words {
			words[i] = fmt.Sprint("new ", i)
		}
		return words
	}
	venues := func(n int) []any {
		list := []any{10, 11} // which are there already, and do not count
		for _, name := range named(n) {
			list = append(list, object{"venue": name})
		}
		return list
	}
	before := e.rowCounts(t)
	over := func(field string) func(*testing.T, apitest.Response) {
		return func(t *testing.T, r apitest.Response) {
			namesExactly(field+" rest_out_of_bounds")(t, r)
			hasValues(t, r, object{"data.details." + field + ".data": object{"maximum": edit.MaxNew}})
		}
	}
	e.Run(t, []apitest.Case{
		{Name: "too many venues", Request: post("admin", "/events", concert(object{"venue": venues(edit.MaxNew + 1)})), Status: 400, Check: over("venue")},
		{Name: "too many tags", Request: post("admin", "/events", concert(object{"tags": named(edit.MaxNew + 1)})), Status: 400, Check: over("tags")},
	})
	if diff := cmp.Diff(before, e.rowCounts(t)); diff != "" {
		t.Errorf("stored rows (-before +after):\n%s", diff)
	}
	e.mustSucceed(t, post("admin", "/events", concert(object{"venue": venues(edit.MaxNew), "tags": named(edit.MaxNew)})))
	// They are there now.
	e.mustSucceed(t, post("admin", "/events", concert(object{"tags": append(named(edit.MaxNew), "one more")})))
}

// TestLongListsAreRefused sends lists that are longer than a list may be, and lists of unknown ids.
func TestLongListsAreRefused(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		unknown := func(n int) []int {
			ids := make([]int, n)
			for i := range ids {
				ids[i] = 1_000_000 + i
			}
			return ids
		}
		word := func(n int) []string {
			words := make([]string, n)
			for i := range words {
				words[i] = fmt.Sprint("n", i)
			}
			return words
		}
		same := func(n int) string { return strings.TrimSuffix(strings.Repeat("2,", n), ",") }
		var cases []apitest.Case
		for _, name := range []string{"categories", "tags", "venue", "organizer"} {
			for _, who := range []string{"", "admin"} {
				send := func(ids any) apitest.Request { return post(who, "/events", concert(object{name: ids})) }
				cases = append(
					cases,
					apitest.Case{Name: name + " of unknown ids as " + who, Request: send(unknown(param.MaxItems)), Status: 400, Check: namesExactly(name + " unknown-ids")},
					apitest.Case{Name: name + " too long as " + who, Request: send(unknown(param.MaxItems + 1)), Status: 400, Check: namesExactly(name + " rest_out_of_bounds")},
					apitest.Case{Name: name + " in a text too long as " + who, Request: send(same(param.MaxItems + 1)), Status: 400, Check: namesExactly(name + " rest_out_of_bounds")},
					apitest.Case{Name: name + " of too many values as " + who, Request: send(unknown(90_000)), Status: 413, Code: "rest_request_too_large"},
				)
			}
		}
		e.Run(t, append(
			cases,
			apitest.Case{Name: "repeated", Request: post("admin", "/events", concert(object{"categories": same(param.MaxItems)})), Status: 201},
			apitest.Case{Name: "names that may not be created", Request: post("contributor", "/events", concert(object{"tags": word(param.MaxItems)})), Status: 400, Check: namesExactly("tags unknown-terms")},
			apitest.Case{Name: "costs", Request: post("admin", "/events", concert(object{"cost": word(param.MaxItems + 1)})), Status: 400, Check: namesExactly("cost rest_out_of_bounds")},
		))
	})
}
