package store

import (
	"errors"
	"fmt"
	"testing"

	"github.com/almanac-cal/almanac/proof/must"
)

func TestConnectionsKeepStatements(t *testing.T) {
	t.Parallel()
	st, err := Open(t.Context(), "sqlite://"+t.TempDir()+"/kept.db")
	must.Succeed(t, err)
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	db := st.DB
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	exec("CREATE TABLE t (n integer); CREATE TABLE u (n integer)") // a script
	for n := range 5 {
		exec("INSERT INTO t VALUES (?), (?)", n, n+10)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	must.Succeed(t, err)
	// The same statement within itself, on one connection.
	below := func(most int, each func(n int)) {
		t.Helper()
		rows, err := tx.QueryContext(t.Context(), "SELECT n FROM t WHERE n < ? ORDER BY n", most)
		must.Succeed(t, err)
		defer func() {
			if err := rows.Close(); err != nil {
				t.Error(err)
			}
		}()
		for rows.Next() {
			var n int
			must.Succeed(t, rows.Scan(&n))
			each(n)
		}
		must.Succeed(t, rows.Err())
	}
	sum := 0
	below(3, func(n int) { below(2, func(int) { sum += n + 1 }) })
	if sum != 2*(1+2+3) {
		t.Errorf("the sum is %d", sum)
	}
	must.Succeed(t, tx.Rollback())
	// A changed schema is noticed.
	count := func() (n int) {
		must.Succeed(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM pragma_table_info('t')").Scan(&n))
		return n
	}
	columns := func() int {
		rows, err := db.QueryContext(t.Context(), "SELECT * FROM t")
		must.Succeed(t, err)
		defer func() {
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				t.Error(err)
			}
		}()
		names, err := rows.Columns()
		must.Succeed(t, err)
		return len(names)
	}
	if count() != 1 || columns() != 1 {
		t.Error("t has more than a column")
	}
	exec("ALTER TABLE t ADD COLUMN m integer")
	if count() != 2 || columns() != 2 {
		t.Error("the new column is not seen")
	}
	// More statements than are kept.
	for n := range 2 * maxStatements {
		exec(fmt.Sprintf("INSERT INTO u VALUES (%d)", n))
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO u VALUES (?)"); err == nil {
		t.Error("an argument is missing, and nobody minds")
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO nowhere VALUES (1)"); err == nil {
		t.Error("a table is missing, and nobody minds")
	}
	var total int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM u").Scan(&total); err != nil || total != 2*maxStatements {
		t.Errorf("%d rows: %v", total, err)
	}
}
