package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// oldestTiDB is the oldest major version of TiDB that has foreign keys and named locks.
const oldestTiDB = 8

var (
	// tidbVersion matches the version of a TiDB server: 8.0.11-TiDB-v8.5.1. The first number is that of MySQL.
	tidbVersion = regexp.MustCompile(`-TiDB-v?(\d+)\.`)
	// otherEngine matches engines that report a version of MySQL with their own name, and lack what is needed.
	otherEngine = regexp.MustCompile(`(?i)vitess|oceanbase|singlestore|memsql|doris|starrocks`)
	// mysqlVersion matches what MySQL, MariaDB and TiDB report.
	mysqlVersion = regexp.MustCompile(`^\d+\.\d+`)
)

// checkEngine reports whether a server with this version is a TiDB server. Its error wraps ErrUnfit: the engine is
// unknown or too old.
func checkEngine(version string) (isTiDB bool, err error) {
	const want = "want MySQL, MariaDB or TiDB"
	if otherEngine.MatchString(version) || !mysqlVersion.MatchString(version) {
		return false, fmt.Errorf("%w: its version is %q, %s", ErrUnfit, version, want)
	}
	if !strings.Contains(version, "TiDB") {
		return false, oldVersion(version)
	}
	match := tidbVersion.FindStringSubmatch(version)
	if match == nil {
		return false, fmt.Errorf("%w: its version is %q, %s", ErrUnfit, version, want)
	}
	if major, err := strconv.Atoi(match[1]); err != nil || major < oldestTiDB {
		return false, fmt.Errorf("%w: its version is %q, want TiDB %d.0 or later", ErrUnfit, version, oldestTiDB)
	}
	return true, nil
}

// IsTiDB reports whether the MySQL server of a database or a connection is one of TiDB.
func IsTiDB(ctx context.Context, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
},
) (bool, error) {
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return false, fmt.Errorf("version of the server: %w", err)
	}
	return checkEngine(version)
}

// adaptToEngine reads the version of the server on a new connection, and wraps a connection to TiDB. It closes
// the connection if it fails.
func adaptToEngine(ctx context.Context, conn driver.Conn) (driver.Conn, error) {
	whole, ok := conn.(mysqlConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what a connection needs", conn), conn.Close())
	}
	version, err := readVersion(ctx, whole)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("version of the server: %w", err), conn.Close())
	}
	isTiDB, err := checkEngine(version)
	switch {
	case err != nil:
		return nil, errors.Join(err, conn.Close())
	case isTiDB:
		return tidbConn{whole}, nil
	}
	return conn, nil
}

func readVersion(ctx context.Context, conn driver.QueryerContext) (version string, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT VERSION()", nil)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil {
		return "", err
	}
	text, ok := row[0].([]byte)
	if !ok {
		return "", fmt.Errorf("%T is no text", row[0])
	}
	return string(text), nil
}

// tidbConn is a connection to TiDB. TiDB has no shared locks, so tidbConn replaces them with exclusive locks
// (decision 046).
type tidbConn struct{ mysqlConn }

const (
	sharedLock    = " LOCK IN SHARE MODE"
	exclusiveLock = " FOR UPDATE"
)

func withExclusiveLock(query string) string {
	if rest, ok := strings.CutSuffix(query, sharedLock); ok {
		return rest + exclusiveLock
	}
	return query
}

// PrepareContext prepares a statement.
func (c tidbConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.mysqlConn.PrepareContext(ctx, withExclusiveLock(query))
}

// ExecContext runs a statement without rows.
func (c tidbConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.mysqlConn.ExecContext(ctx, withExclusiveLock(query), args)
}

// QueryContext runs a statement with rows.
func (c tidbConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.mysqlConn.QueryContext(ctx, withExclusiveLock(query), args)
}

// retryableTiDB are the errors of TiDB after which a transaction has no effect, and may succeed when it is run again.
var retryableTiDB = map[uint16]bool{
	1105: true, // no code of its own; under contention: too many attempts to lock a row
	8002: true, // a row that was locked has changed since
	8005: true, // write conflict, found by the SQL layer
	8022: true, // the commit failed before anything was written
	8027: true, // schema out of date
	8028: true, // schema changed
	9004: true, // locks could not be resolved
	9006: true, // the transaction is older than what garbage collection has kept
	9007: true, // write conflict
}
