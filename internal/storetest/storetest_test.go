package storetest_test

import (
	"testing"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/storetest"
)

func TestTestsOfOneNameHaveDatabases(t *testing.T) {
	t.Parallel()
	for range 2 { // the second is called "repeated#01"
		t.Run("repeated", func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				if n := storetest.Value(t, st.DB, "SELECT COUNT(*) FROM events"); n != "0" {
					t.Errorf("%s events", n)
				}
			})
		})
	}
}
