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

	"github.com/go-sql-driver/mysql"
)

// oldestTiDB is the oldest major version of TiDB that has foreign keys and named locks.
const oldestTiDB = 8

var (
	// tidbVersion matches the version string of a TiDB server, such as 8.0.11-TiDB-v8.5.1. The first number is
	// MySQL's.
	tidbVersion = regexp.MustCompile(`-TiDB-v?(\d+)\.`)
	// otherEngine matches servers that report a MySQL version with their own name, and lack required features.
	otherEngine = regexp.MustCompile(`(?i)vitess|oceanbase|singlestore|memsql|doris|starrocks`)
	// mysqlVersion matches the version strings of MySQL, MariaDB and TiDB.
	mysqlVersion = regexp.MustCompile(`^\d+\.\d+`)
)

// checkEngine reports whether the version string is that of a TiDB server. The error wraps ErrUnfit if the
// server is unknown or too old.
func checkEngine(version string) (isTiDB bool, err error) {
	const want = "want MySQL, MariaDB or TiDB"
	if otherEngine.MatchString(version) || !mysqlVersion.MatchString(version) {
		return false, fmt.Errorf("%w: its version is %q, %s", ErrUnfit, version, want)
	}
	if !strings.Contains(version, "TiDB") {
		return false, checkVersion(version)
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

// IsTiDB reports whether a MySQL database or connection is on a TiDB server.
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

// adaptToEngine reads the server's version on a new connection. It has the server limit the time of statements,
// wraps a connection to TiDB and returns others unchanged. After an error it closes the connection.
func adaptToEngine(ctx context.Context, conn driver.Conn, limit *statementLimit) (driver.Conn, error) {
	whole, ok := conn.(mysqlConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what a connection needs", conn), conn.Close())
	}
	version, err := readVersion(ctx, whole)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("version of the server: %w", err), conn.Close())
	}
	isTiDB, err := checkEngine(version)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if set := limit.setting(version); set != "" {
		if _, err := whole.ExecContext(ctx, set, nil); err != nil {
			return nil, errors.Join(fmt.Errorf("time limit of statements: %w", err), conn.Close())
		}
	}
	if isTiDB {
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

// tidbConn is a connection to TiDB. TiDB has no shared locks, so tidbConn requests exclusive locks in their
// place (decision 046).
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

// PrepareContext prepares a statement on the server.
func (c tidbConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.mysqlConn.PrepareContext(ctx, withExclusiveLock(query))
}

// ExecContext runs a statement that returns no rows.
func (c tidbConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.mysqlConn.ExecContext(ctx, withExclusiveLock(query), args)
}

// QueryContext runs a statement that returns rows.
func (c tidbConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.mysqlConn.QueryContext(ctx, withExclusiveLock(query), args)
}

// retryableTiDB are the TiDB errors after which a transaction had no effect and may succeed on a retry.
var retryableTiDB = map[uint16]bool{
	1105: true, // TiDB's general error; under contention it means too many attempts to lock a row
	8002: true, // a locked row has changed since
	8005: true, // write conflict, detected by the SQL layer
	8022: true, // the commit failed before anything was written
	8027: true, // the transaction used an outdated schema
	8028: true, // the schema changed during the transaction
	9004: true, // locks could not be resolved
	9006: true, // the transaction is older than the data that garbage collection kept
	9007: true, // write conflict, detected by the storage layer
}

// maxTornReads is the maximum number of times that a statement is sent if its reads are torn (isTornRead).
const maxTornReads = 4

// isTornRead reports whether err is TiDB's error 8133: an index has a row that the table does not have. TiDB's
// embedded storage reports this error while a row is being committed. A retry of the statement then succeeds. In a
// damaged table the retry fails too.
func isTornRead(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && my.Number == 8133
}
