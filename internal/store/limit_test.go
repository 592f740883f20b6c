package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// endless counts 10^15 rows. MySQL limits the depth of a recursion, so rows are multiplied.
const endless = "SELECT * FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) " +
	"SELECT COUNT(*) FROM n a, n b, n c, n d, n e WHERE a.i + b.i + c.i + d.i + e.i > 0) counted"

func TestTheDatabaseEndsLongStatements(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var n int64
		if err := st.DB.QueryRowContext(t.Context(), "SELECT 1").Scan(&n); err != nil { // opens a connection without a limit
			t.Fatal(err)
		}
		st.LimitStatements(100 * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := st.DB.QueryRowContext(ctx, endless).Scan(&n)
		if ctx.Err() != nil {
			t.Fatal("the statement has not ended")
		}
		if !store.IsUnavailable(err) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := st.DB.QueryRowContext(t.Context(), "SELECT 1").Scan(&n); err != nil {
			t.Errorf("the next statement: %v", err)
		}
	})
}

// TestTheLimitIsSetOnEachConnection reads the variable for the time limit, which differs between servers. The
// expected values are in the unit of that variable.
func TestTheLimitIsSetOnEachConnection(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		version string
		limit   time.Duration
		want    string
	}{
		{"9.7.4", 5 * time.Second, "SET SESSION max_execution_time = 5000"},
		{"8.0.11-TiDB-v8.5.1", 5 * time.Second, "SET SESSION max_execution_time = 5000"},
		{"10.11.19-MariaDB-deb12", 1500 * time.Millisecond, "SET SESSION max_statement_time = 1.500"},
		{"9.7.4", time.Microsecond, "SET SESSION max_execution_time = 1"}, // 0 would be no limit
		{"9.7.4", 0, ""},
	} {
		if got := store.LimitSetting(test.version, test.limit); got != test.want {
			t.Errorf("%s, %v: got %q, want %q", test.version, test.limit, got, test.want)
		}
	}
}
