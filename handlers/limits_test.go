package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/internal/apitest"
)

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
