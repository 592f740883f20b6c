package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestMySQLPreparesWhatIsSentOften(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	url := storetest.MySQL(t) + "&max-open=1&prepare-after=3"
	st := storetest.Open(t, url)
	storetest.SkipOnTiDB(t, st, "no session status counts the executions of prepared statements")
	executed := func() (n int) {
		t.Helper()
		var name string
		// Its text is another one each time, so it is never prepared itself.
		query := fmt.Sprintf("SHOW SESSION STATUS WHERE Variable_name = 'Com_stmt_execute' OR '%p' = ''", &name)
		must.Succeed(t, st.DB.QueryRowContext(t.Context(), query).Scan(&name, &n))
		return n
	}
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := st.DB.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	exec("CREATE TABLE t (n bigint, name varchar(20), data varbinary(8))")
	for n := range 5 {
		exec("INSERT INTO t VALUES (?, ?, ?)", n, "zażółć", []byte{0, 0xff, 0xfe, byte(n)})
	}
	if got := executed(); got != 2 {
		t.Errorf("of five times, %d were executed as prepared", got)
	}
	one := func(n int) (name string, data []byte) {
		t.Helper()
		row := st.DB.QueryRowContext(t.Context(), "SELECT name, data FROM t WHERE n = ?", n)
		must.Succeed(t, row.Scan(&name, &data))
		return name, data
	}
	for n := range 5 {
		if name, data := one(n); name != "zażółć" || string(data) != "\x00\xff\xfe"+string(rune(n)) {
			t.Errorf("%d: %q, %x", n, name, data)
		}
	}
	if got := executed(); got != 4 {
		t.Errorf("of ten times, %d were executed as prepared", got)
	}
	// A changed table is noticed.
	exec("ALTER TABLE t MODIFY name varchar(40), ADD COLUMN more int FIRST")
	if name, _ := one(1); name != "zażółć" {
		t.Errorf("after the change: %q", name)
	}
	// What is wrong stays wrong, and is said the same way.
	for range 5 {
		if _, err := st.DB.ExecContext(t.Context(), "INSERT INTO t (n, name) VALUES (1, gone)"); err == nil {
			t.Fatal("an unknown column was found")
		}
	}
	// A statement that cannot be prepared.
	for range 5 {
		exec("LOCK TABLES t READ")
		exec("UNLOCK TABLES")
	}
	// More of them than are kept.
	for n := range 40 {
		for range 5 {
			var got int
			err := st.DB.QueryRowContext(t.Context(), fmt.Sprintf("SELECT n FROM t WHERE n = ? AND %d = %[1]d", n), 99).Scan(&got)
			if !errors.Is(err, sql.ErrNoRows) {
				t.Fatal(err)
			}
		}
	}
	if name, _ := one(2); name != "zażółć" {
		t.Errorf("at the end: %q", name)
	}
}
