package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// StatementLimit is the time after which the database ends a statement that a request has sent. Without it, a
// MySQL server continues a statement whose client has gone.
const StatementLimit = 5 * time.Second

// statementLimit is the longest time for a statement of a store. Zero means no limit. It is safe for concurrent use.
type statementLimit struct{ atomic.Int64 }

// LimitStatements sets the time after which the database ends a statement, from now on and for replicas opened
// later. On MySQL, TiDB and SQLite the limit applies to statements that only read, on MariaDB to all. On SQLite, a
// statement ends when its next row is read.
func (s *Store) LimitStatements(limit time.Duration) {
	s.url.limit.Store(int64(limit))
	if s.Engine() == "mysql" {
		// New connections have the limit. The present ones close when they are idle.
		s.DB.SetMaxIdleConns(0)
		s.url.pool.limit(s.DB)
	}
}

// setting returns the statement that sets the limit for the session on a server of the given version. It returns "" if
// there is no limit. MariaDB has another variable than MySQL and TiDB.
func (l *statementLimit) setting(version string) string {
	limit := time.Duration(l.Load())
	switch {
	case limit <= 0:
		return ""
	case strings.Contains(version, "MariaDB"):
		return "SET SESSION max_statement_time = " + strconv.FormatFloat(limit.Seconds(), 'f', 3, 64)
	}
	return "SET SESSION max_execution_time = " + strconv.FormatInt(max(limit.Milliseconds(), 1), 10)
}

// limitFor returns the time limit of a statement on SQLite. It is 0, which means no limit, for a statement that may
// write.
func (l *statementLimit) limitFor(query string) time.Duration {
	if limit := time.Duration(l.Load()); limit > 0 && isReadOnly(query) {
		return limit
	}
	return 0
}

// limitedRows is the result of an SQLite query with a time limit. Next fails once the context has ended. Close
// cancels the context.
type limitedRows struct {
	sqliteRows
	ctx    context.Context //nolint:containedctx // the limit of the statement, which Next and Close share
	cancel context.CancelFunc
}

func limitRows(rows driver.Rows, ctx context.Context, cancel context.CancelFunc) (driver.Rows, error) { //nolint:revive // cancel belongs to ctx
	whole, ok := rows.(sqliteRows)
	if !ok {
		cancel()
		return nil, errors.Join(fmt.Errorf("%T lacks what rows need", rows), rows.Close())
	}
	return &limitedRows{whole, ctx, cancel}, nil
}

// Next reads a row. The driver checks the context before the first row only.
func (r *limitedRows) Next(dest []driver.Value) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	return r.sqliteRows.Next(dest)
}

// Close closes the rows.
func (r *limitedRows) Close() error {
	r.cancel()
	return r.sqliteRows.Close()
}
