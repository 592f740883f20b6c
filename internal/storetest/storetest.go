// Package storetest gives each test a migrated database of its own. SQLite always runs; MySQL runs when ALMANAC_TEST_MYSQL
// names a server (mysql://root@127.0.0.1:3306/) whose user may create databases.
package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
)

// Variable names the environment variable that holds the URL of a MySQL server.
const Variable = "ALMANAC_TEST_MYSQL"

// Each runs test once per engine, in parallel subtests named after the engines.
func Each(t *testing.T, test func(t *testing.T, st *store.Store)) {
	t.Helper()
	EachURL(t, func(t *testing.T, url string) { test(t, Migrated(t, url)) })
}

// EachURL is Each for tests that open the database themselves: it is empty, not migrated.
func EachURL(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, SQLite(t))
	})
	t.Run("mysql", func(t *testing.T) {
		t.Parallel()
		if os.Getenv(Variable) == "" {
			t.Skipf("%s names no server", Variable)
		}
		test(t, MySQL(t))
	})
}

// SQLite is the URL of a database file that goes with the test.
func SQLite(t testing.TB) string {
	t.Helper()
	return "sqlite://" + filepath.Join(t.TempDir(), "test.db")
}

// MySQL is the URL of a new database, dropped after the test. It has options.
func MySQL(t testing.TB) string {
	t.Helper()
	server, err := url.Parse(os.Getenv(Variable))
	if err != nil {
		t.Fatalf("%s: not a URL", Variable)
	}
	c := mysql.NewConfig()
	c.User = server.User.Username()
	c.Passwd, _ = server.User.Password()
	c.Net, c.Addr = "tcp", server.Host
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	var id [6]byte
	if _, err := rand.Read(id[:]); err != nil {
		t.Fatal(err)
	}
	name := "almanac_test_" + hex.EncodeToString(id[:])
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The test's context has ended by now.
		if _, err := db.ExecContext(context.Background(), "DROP DATABASE "+name); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	server.Path = "/" + name
	// Tests send little often, and are to see both ways.
	server.RawQuery = "prepare-after=2"
	return server.String()
}

// Migrated opens a database, applies all migrations and closes it after the test.
func Migrated(t testing.TB, url string) *store.Store {
	t.Helper()
	st := Open(t, url)
	if _, err := migrate.Apply(t.Context(), st, migrate.ApplyOptions{Operator: "test"}); err != nil {
		t.Fatal(err)
	}
	return st
}

// Open opens a database and closes it after the test.
func Open(t testing.TB, url string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// Exec runs statements.
func Exec(t testing.TB, st *store.Store, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := st.DB.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// Value returns the one value that a query finds, as text. db is a database, a connection or a transaction.
func Value(t testing.TB, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, query string, args ...any,
) (text string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

// IsMariaDB reports whether the database is one of MariaDB.
func IsMariaDB(t testing.TB, st *store.Store) bool {
	t.Helper()
	return st.Engine() == "mysql" && strings.Contains(Value(t, st.DB, "SELECT VERSION()"), "MariaDB")
}
