// Package storetest gives each test a database of its own. Tests always run on SQLite. They also run on MySQL if
// ALMANAC_TEST_MYSQL has the URL of a server (mysql://root@127.0.0.1:3306/) whose user may create databases.
package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
)

// Variable is the name of the environment variable with the URL of a MySQL server.
const Variable = "ALMANAC_TEST_MYSQL"

// testOptions is the query of MySQL URLs. Tests send each statement few times. With a low number, they cover sending
// it both unprepared and prepared.
const testOptions = "prepare-after=2"

// init makes garbage collections rarer, since tests leave much garbage and keep little. That saves about a tenth of the
// time of the tests of handlers.
func init() { debug.SetGCPercent(300) }

// Each runs a test on a migrated SQLite database and on a MySQL one, in parallel subtests. Without a MySQL server it
// skips that subtest.
func Each(t *testing.T, test func(t *testing.T, st *store.Store)) {
	t.Helper()
	runOnEngines(t,
		func(t *testing.T) { test(t, Migrated(t, SQLite(t))) },
		func(t *testing.T) { test(t, Open(t, Lent(t))) })
}

// EachURL runs a test with the URL of an empty SQLite database and of a MySQL one, in parallel subtests. It is for
// tests that open and migrate the database themselves.
func EachURL(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	runOnEngines(t,
		func(t *testing.T) { test(t, SQLite(t)) },
		func(t *testing.T) { test(t, MySQL(t)) })
}

// IsBrief reports whether a property test should make fewer rounds. That is so with -short and on MySQL. Without
// -short, all rounds run on SQLite.
func IsBrief(st *store.Store) bool { return testing.Short() || st.Engine() != "sqlite" }

// SkipShort skips a long property test with -short, on SQLite only. On MySQL the test makes few rounds (IsBrief).
func SkipShort(t testing.TB, st *store.Store) {
	t.Helper()
	if testing.Short() && st.Engine() == "sqlite" {
		t.Skip("short: a long property")
	}
}

func runOnEngines(t *testing.T, onSQLite, onMySQL func(t *testing.T)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		onSQLite(t)
	})
	t.Run("mysql", func(t *testing.T) {
		t.Parallel()
		if os.Getenv(Variable) == "" {
			t.Skipf("%s names no server", Variable)
		}
		onMySQL(t)
	})
}

// SQLite returns the URL of a new SQLite file that is removed after the test. It avoids t.TempDir, whose path
// contains # for a repeated test name.
func SQLite(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "almanac-test-")
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return "sqlite://" + filepath.Join(folder, "test.db")
}

// MySQL returns the URL of a new empty database on the MySQL server, which is dropped after the test. The URL has
// query parameters. Variable must name a server.
func MySQL(t testing.TB) string {
	t.Helper()
	server, db, err := openServer()
	must.Succeed(t, err)
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
	server.RawQuery = testOptions
	return server.String()
}

// seriesStep is the data step of migrations that enables series. Package edit defines its name, but importing it
// would make a cycle.
var seriesStep = migrate.DataStep{Name: "series"}

// Migrated opens a database, applies all migrations and enables series. It closes the database after the test. A
// missing SQLite file is created by WriteMigrated, which is faster.
func Migrated(t testing.TB, url string) *store.Store {
	t.Helper()
	if path, ok := strings.CutPrefix(url, "sqlite://"); ok {
		path, _, _ = strings.Cut(path, "?")
		if _, err := os.Stat(path); os.IsNotExist(err) {
			WriteMigrated(t, path)
			return Open(t, url)
		}
	}
	st := Open(t, url)
	must.Succeed(t, migrateAll(t.Context(), st))
	return st
}

// WriteMigrated writes an SQLite file with all migrations and series enabled. A process migrates once and writes
// copies of the result.
func WriteMigrated(t testing.TB, path string) {
	t.Helper()
	data, err := migratedFile()
	must.Succeed(t, err)
	must.Succeed(t, os.WriteFile(path, data, 0o600))
}

var migratedFile = sync.OnceValues(func() (data []byte, err error) {
	folder, err := os.MkdirTemp("", "almanac-test-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "test.db")
	// The first test that asks may end before the others do.
	ctx := context.Background()
	st, err := store.Open(ctx, "sqlite://"+path)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(migrateAll(ctx, st), st.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func migrateAll(ctx context.Context, st *store.Store) error {
	if _, err := migrate.Apply(ctx, st, migrate.ApplyOptions{Operator: "test"}); err != nil {
		return err
	}
	return migrate.RecordData(ctx, st, seriesStep, time.Now())
}

// DisableSeries disables series, as they are while programs of the previous version still serve.
func DisableSeries(t testing.TB, db *ent.Client) {
	t.Helper()
	must.Succeed(t, db.Setting.DeleteOneID("data:"+seriesStep.Name).Exec(t.Context()))
}

// Open opens a database without migrating it, and closes it after the test.
func Open(t testing.TB, url string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), url)
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// Exec runs SQL statements and fails the test on an error.
func Exec(t testing.TB, st *store.Store, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := st.DB.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// Value returns the value of a query with a single row and column, as text. It ends the test if there is no row. db
// is a database, a connection or a transaction.
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

// Texts returns the values of a query with a single column, as texts.
func Texts(t testing.TB, db Querier, query string, args ...any) []string {
	t.Helper()
	found, err := queryTexts(t.Context(), db, query, args...)
	must.Succeed(t, err)
	return found
}

// ColumnNames returns the names of the columns of a table.
func ColumnNames(table *schema.Table) []string {
	names := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		names[i] = c.Name
	}
	return names
}

// ReadTable returns all rows of a table. A row has values in the order of the table's columns, as the driver returns
// them.
func ReadTable(t testing.TB, db Querier, table *schema.Table) (found [][]any) {
	t.Helper()
	query, args := entsql.Select(ColumnNames(table)...).From(entsql.Table(table.Name)).Query()
	rows, err := db.QueryContext(t.Context(), query, args...)
	must.Succeed(t, err)
	defer rows.Close()
	for rows.Next() {
		values, into := make([]any, len(table.Columns)), make([]any, len(table.Columns))
		for i := range values {
			into[i] = &values[i]
		}
		must.Succeed(t, rows.Scan(into...))
		found = append(found, values)
	}
	must.Succeed(t, rows.Err())
	return found
}

// IsMariaDB reports whether the database server is MariaDB.
func IsMariaDB(t testing.TB, st *store.Store) bool {
	t.Helper()
	return st.Engine() == "mysql" && strings.Contains(Value(t, st.DB, "SELECT VERSION()"), "MariaDB")
}

// IsTiDB reports whether the database server is TiDB.
func IsTiDB(t testing.TB, st *store.Store) bool {
	t.Helper()
	if st.Engine() != "mysql" {
		return false
	}
	is, err := store.IsTiDB(t.Context(), st.DB)
	must.Succeed(t, err)
	return is
}

// SkipOnTiDB skips a test on TiDB, for a reason such as a missing feature.
func SkipOnTiDB(t testing.TB, st *store.Store, reason string) {
	t.Helper()
	if IsTiDB(t, st) {
		t.Skip("TiDB: " + reason)
	}
}

// Statements makes a store record its SQL statements. Calls of the returned function return the statements since the
// previous call.
func Statements(st *store.Store) func() []string {
	var mu sync.Mutex
	var noted []string
	st.Watch(func(ctx context.Context, _, statement string) (context.Context, func(error)) {
		mu.Lock()
		defer mu.Unlock()
		noted = append(noted, statement)
		return ctx, func(error) {}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		since := noted
		noted = nil
		return since
	}
}

// CheckSeriesFirst fails the test if a transaction locks a series after it locked or changed an event. It also fails
// if no statement locks a series.
func CheckSeriesFirst(t testing.TB, statements []string) {
	t.Helper()
	seriesLocked, eventLocked := false, false
	from := func(table string) string { return "FROM `" + table + "`" }
	for _, s := range statements {
		locks := strings.Contains(s, "FOR UPDATE")
		switch {
		case s == "BEGIN":
			eventLocked = false
		case locks && strings.Contains(s, from(series.Table)) && eventLocked:
			t.Errorf("a series is locked after an event:\n%s", strings.Join(statements, "\n"))
			return
		case locks && strings.Contains(s, from(series.Table)):
			seriesLocked = true
		case locks && strings.Contains(s, from(event.Table)), strings.HasPrefix(s, "UPDATE `"+event.Table):
			eventLocked = true
		}
	}
	if !seriesLocked {
		t.Errorf("no series is locked:\n%s", strings.Join(statements, "\n"))
	}
}
