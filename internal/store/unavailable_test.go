package store_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
)

func TestWhatPassesIsToldFromWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"nothing", nil, false},
		{"shutdown", &mysql.MySQLError{Number: 1053}, true},
		{"too many connections, while a transaction begins", fmt.Errorf("begin: %w", &mysql.MySQLError{Number: 1040}), true},
		{"read-only", &mysql.MySQLError{Number: 1290}, true},
		{"no room", &mysql.MySQLError{Number: 1114}, true},
		{"a deadlock after all attempts", fmt.Errorf("%w: %w", store.ErrConflict, &mysql.MySQLError{Number: 1213}), true},
		{"lost too many races", fmt.Errorf("claim: %w", store.ErrConflict), true},
		{"a write conflict of TiDB", fmt.Errorf("commit: %w", &mysql.MySQLError{Number: 9007}), true},
		{"a duplicate", &mysql.MySQLError{Number: 1062}, false},
		{"a duplicate after all attempts", fmt.Errorf("%w: %w", store.ErrConflict, &mysql.MySQLError{Number: 1062}), true},
		{"a statement that is wrong", &mysql.MySQLError{Number: 1064}, false},
		{"too long a text", &mysql.MySQLError{Number: 1406}, false},
		{"no such table", &mysql.MySQLError{Number: 1146}, false},
		{"a handshake that the network ends", store.ConnectFailing(t.Context(), errors.New("x")), true},
		{"a user whom the server does not know", store.ConnectFailing(t.Context(), &mysql.MySQLError{Number: 1044}), false},
		{"an engine that is not supported", store.ConnectFailing(t.Context(), store.ErrUnfit), false},
		{"something else", errors.New("x"), false},
		{"its time is over, of which the context tells", context.DeadlineExceeded, false},
	} {
		if got := store.IsUnavailable(c.err); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}

// TestSQLiteWithoutRoomIsAway checks that IsUnavailable recognises SQLite's error for a full disk. A limit on the
// file's size causes it.
func TestSQLiteWithoutRoomIsAway(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "sqlite://"+filepath.Join(t.TempDir(), "full.db")+"?max-open=1")
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	do := func(statement string) error {
		_, err := st.DB.ExecContext(t.Context(), statement)
		return err
	}
	for _, s := range []string{"CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)", "PRAGMA max_page_count = 4"} {
		must.Succeed(t, do(s))
	}
	if err := do("INSERT INTO t (x) VALUES (hex(randomblob(100000)))"); !store.IsUnavailable(err) {
		t.Errorf("full: %v", err)
	}
	if err := do("INSERT INTO t (id) VALUES (1), (1)"); err == nil || store.IsUnavailable(err) {
		t.Errorf("duplicate: %v", err)
	}
	must.Succeed(t, do("PRAGMA query_only = 1"))
	if err := do("INSERT INTO t (id) VALUES (2)"); !store.IsUnavailable(err) {
		t.Errorf("read-only: %v", err)
	}
}
