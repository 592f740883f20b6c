package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/apitest"
)

// TestNewRecordsAreBounded sends the most new records that an event may bring with it, and one more.
func TestNewRecordsAreBounded(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
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
		before := e.rows(t)
		over := func(field string) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				names(field+" rest_out_of_bounds")(t, r)
				has(t, r, object{"data.details." + field + ".data": object{"maximum": edit.MaxNew}})
			}
		}
		e.Run(t, []apitest.Case{
			{Name: "too many venues", Request: post("admin", "/events", concert(object{"venue": venues(edit.MaxNew + 1)})), Status: 400, Check: over("venue")},
			{Name: "too many tags", Request: post("admin", "/events", concert(object{"tags": named(edit.MaxNew + 1)})), Status: 400, Check: over("tags")},
		})
		if diff := cmp.Diff(before, e.rows(t)); diff != "" {
			t.Errorf("stored rows (-before +after):\n%s", diff)
		}
		e.must(t, post("admin", "/events", concert(object{"venue": venues(edit.MaxNew), "tags": named(edit.MaxNew)})))
		// They are there now.
		e.must(t, post("admin", "/events", concert(object{"tags": append(named(edit.MaxNew), "one more")})))
	})
}

// TestLongListsAreAnswered sends lists as long as a body has room for: more than one statement may name.
func TestLongListsAreAnswered(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		ids := make([]int, 90_000)
		for i := range ids {
			ids[i] = 1_000_000 + i
		}
		same := strings.TrimSuffix(strings.Repeat("2,", 200_000), ",")
		words := make([]string, 3000)
		for i := range words {
			words[i] = fmt.Sprint("n", i)
		}
		e.Run(t, []apitest.Case{
			{Name: "categories", Request: post("admin", "/events", concert(object{"categories": ids})), Status: 400, Check: names("categories unknown-ids")},
			{Name: "tags", Request: post("", "/events", concert(object{"tags": ids})), Status: 400, Check: names("tags unknown-ids")},
			{Name: "venues", Request: post("", "/events", concert(object{"venue": ids})), Status: 400, Check: names("venue unknown-ids")},
			{Name: "organizers", Request: post("", "/events", concert(object{"organizer": ids})), Status: 400, Check: names("organizer unknown-ids")},
			{Name: "repeated", Request: post("admin", "/events", concert(object{"categories": same})), Status: 201},
			{Name: "names that may not be created", Request: post("contributor", "/events", concert(object{"tags": words})), Status: 400, Check: names("tags unknown-terms")},
		})
	})
}
