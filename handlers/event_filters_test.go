package handlers_test

import (
	"strings"
	"testing"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
)

// TestFiltersAskForTheirColumns checks, for each filter, that its SQL has the column or table that the filter
// declares for the index.
func TestFiltersAskForTheirColumns(t *testing.T) {
	t.Parallel()
	for _, c := range read.EventColumns() {
		s := sql.Select().From(sql.Table(event.Table))
		query.Condition{Column: c, Flag: true, Words: []string{"word"}, IDs: []int64{1}}.Predicate()(s)
		statement, _ := s.Query()
		want := sql.Table(c.Table).C(c.Field)
		if c.Field == "" {
			want = " FROM `" + c.Table + "` "
		}
		if !strings.Contains(statement, want) {
			t.Errorf("%s: %s does not ask for %s", c.Name, statement, want)
		}
	}
}
