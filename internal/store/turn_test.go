package store_test

import (
	"context"
	"database/sql"
	"testing"
	"testing/synctest"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
)

// TestWritersTakeTurns has a writer that writes again at once while another one waits. The other one writes first.
func TestWritersTakeTurns(t *testing.T) {
	t.Parallel()
	for _, other := range writes {
		t.Run(other.name, func(t *testing.T) {
			url := "sqlite://" + t.TempDir() + "/x.db"
			synctest.Test(t, func(t *testing.T) {
				st, err := store.Open(t.Context(), url)
				must.Succeed(t, err)
				defer func() {
					if err := st.Close(); err != nil {
						t.Error(err)
					}
				}()
				if _, err := st.DB.ExecContext(t.Context(), "CREATE TABLE t (n integer)"); err != nil {
					t.Fatal(err)
				}
				begin := func() *sql.Tx {
					tx, err := st.DB.BeginTx(t.Context(), nil)
					must.Succeed(t, err)
					return tx
				}
				tx := begin()
				ended := make(chan error, 1)
				go func() { ended <- other.do(context.WithoutCancel(t.Context()), st.DB) }()
				synctest.Wait()
				must.Succeed(t, tx.Commit())
				tx = begin()
				n := 0
				must.Succeed(t, tx.QueryRowContext(t.Context(), "SELECT count(*) FROM t").Scan(&n))
				if n != 1 {
					t.Errorf("%d rows: the writer that waited has not written first", n)
				}
				must.Succeed(t, tx.Rollback())
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
