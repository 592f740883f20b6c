package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// SQLite takes longer to parse most statements than to execute them, so each connection caches parsed
// statements. On MySQL that pays off only for frequent statements; see preparingConn.

// maxStatements is the number of cached statements per connection. maxStatement is the length in bytes of the
// longest cached statement. Longer ones write many rows, so parsing is a small part of their time.
const (
	maxStatements = 256
	maxStatement  = 8 << 10
)

// openSQLite opens a database whose connections cache statements. wait is the time limit of waiting for a lock. If
// files is not nil, connections refuse to write after a file was removed or replaced. The limit applies to
// statements that only read.
func openSQLite(dsn string, wait time.Duration, files *sqliteFiles, limit *statementLimit) (*sql.DB, error) {
	// database/sql offers no other way to get a registered driver.
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	kept := cachingConnector{dsn: dsn, driver: db.Driver(), wait: wait, files: files, limit: limit, queue: newWriterQueue()}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return sql.OpenDB(kept), nil
}

// cachingConnector opens SQLite connections that cache statements.
type cachingConnector struct {
	dsn    string
	driver driver.Driver
	wait   time.Duration
	files  *sqliteFiles
	limit  *statementLimit
	queue  writerQueue
}

// Driver returns the SQLite driver.
func (k cachingConnector) Driver() driver.Driver { return k.driver }

// Connect opens a connection. It waits while another process creates, repairs or closes the database file.
func (k cachingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := k.files.check(); err != nil {
		return nil, err // the new connection would open other files than the earlier ones
	}
	conn, err := retryWhileHeld(ctx, k.wait, func() (driver.Conn, error) { return k.driver.Open(k.dsn) })
	if err != nil {
		return nil, err
	}
	whole, ok := conn.(sqlConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what a connection needs", conn), conn.Close())
	}
	c := &cachingConn{
		sqlConn: whole, wait: k.wait, files: k.files, limit: k.limit, queue: k.queue, kept: map[string]*cachedStatement{},
	}
	if err := c.countOpened(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// sqlConn is the set of methods that the drivers' connections have.
type sqlConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// cachingConn is a connection that caches statements. Only one goroutine at a time uses it.
type cachingConn struct {
	sqlConn
	wait  time.Duration // time limit of waiting for a lock
	files *sqliteFiles
	limit *statementLimit
	queue writerQueue
	inTx  bool // a transaction of BeginTx is open; its commit checks the files
	begun bool // a transaction that a statement began is open
	kept  map[string]*cachedStatement
	uses  uint64
}

// sqlStmt is the set of methods of prepared statements.
type sqlStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// cachedStatement is a statement in the cache. It is busy while its rows are read; the same query then needs
// another statement.
type cachedStatement struct {
	stmt sqlStmt
	busy bool
	used uint64 // time of the last use, counted in uses of the connection
}

// prepared returns the cached statement for a query, preparing it at its first use. Nil means that the statement is
// busy or cannot be cached; the caller then runs the query without the cache.
func (k *cachingConn) prepared(ctx context.Context, query string) (*cachedStatement, error) {
	k.uses++
	if s := k.kept[query]; s != nil {
		if s.busy {
			return nil, nil
		}
		s.used = k.uses
		return s, nil
	}
	if len(query) > maxStatement {
		return nil, nil
	}
	stmt, err := k.sqlConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s := &cachedStatement{used: k.uses}
	var ok bool
	if s.stmt, ok = stmt.(sqlStmt); !ok {
		return nil, stmt.Close()
	}
	if len(k.kept) >= maxStatements {
		if err := k.forget(); err != nil {
			return nil, errors.Join(err, stmt.Close())
		}
	}
	k.kept[query] = s
	return s, nil
}

// forget closes the least recently used statement that is not busy, if there is one.
func (k *cachingConn) forget() error {
	oldest := ""
	for query, s := range k.kept {
		if !s.busy && (oldest == "" || s.used < k.kept[oldest].used) {
			oldest = query
		}
	}
	if oldest == "" {
		return nil
	}
	s := k.kept[oldest]
	delete(k.kept, oldest)
	return s.stmt.Close()
}

// BeginTx begins a transaction. Unless the transaction is read-only, BeginTx first checks the database files and waits
// until no other connection writes.
func (k *cachingConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	wait, leave := k.wait, func() {}
	if !o.ReadOnly {
		if err := k.checkOrSave(); err != nil {
			return nil, err
		}
		wait, leave = k.queue.enter(ctx, k.wait)
	}
	tx, err := retryWhileHeld(ctx, wait, func() (driver.Tx, error) { return k.sqlConn.BeginTx(ctx, o) })
	if err != nil {
		leave()
		return nil, err
	}
	k.inTx = true
	return &checkedTx{Tx: tx, of: k, writes: !o.ReadOnly, leave: leave}, nil
}

// checkedTx is a transaction whose commit also checks the files, so that success means that other processes can
// read it.
type checkedTx struct {
	driver.Tx
	of     *cachingConn
	writes bool
	leave  func() // lets the next writer of the queue write
}

// Commit implements driver.Tx. After an error that wraps ErrFilesReplaced it is unknown whether the commit
// persists.
func (t *checkedTx) Commit() error {
	t.of.inTx = false
	defer t.leave()
	if err := t.Tx.Commit(); err != nil || !t.writes {
		return err
	}
	return t.of.checkOrSave()
}

// Rollback implements driver.Tx.
func (t *checkedTx) Rollback() error {
	t.of.inTx = false
	defer t.leave()
	return t.Tx.Rollback()
}

// PrepareContext prepares a statement that is not cached. It waits for locks. Running the statement later does
// not.
func (k *cachingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return retryWhileHeld(ctx, k.wait, func() (driver.Stmt, error) { return k.sqlConn.PrepareContext(ctx, query) })
}

// ExecContext runs a statement that returns no rows. If it writes, it waits until no other connection writes. A
// statement that finds the database locked has had no effect, so it is retried. A script may already have
// executed statements, so it does not wait.
func (k *cachingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	writes := k.writes(query)
	if writes {
		if err := k.checkOrSave(); err != nil {
			return nil, err
		}
	}
	wait, leave := k.enterQueue(ctx, query)
	defer leave()
	out, err := retryWhileHeld(ctx, wait, func() (driver.Result, error) { return k.exec(ctx, query, args) })
	if err == nil {
		k.noteTransaction(query)
	}
	if err == nil && writes {
		err = k.checkOrSave()
	}
	return out, err
}

// QueryContext runs a statement that returns rows. If it writes, it waits until no other connection writes. If the
// database is locked, it is retried until its time limit.
func (k *cachingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if k.writes(query) { // an INSERT or UPDATE with RETURNING
		if err := k.checkOrSave(); err != nil {
			return nil, err
		}
	}
	wait, leave := k.enterQueue(ctx, query)
	defer leave()
	return retryWhileHeld(ctx, wait, func() (driver.Rows, error) {
		limit := k.limit.limitFor(query)
		if limit == 0 {
			return k.query(ctx, query, args)
		}
		limited, cancel := context.WithTimeout(ctx, limit)
		rows, err := k.query(limited, query, args)
		if err != nil {
			cancel()
			return nil, err
		}
		return limitRows(rows, limited, cancel)
	})
}

// writes reports whether a statement can write outside a transaction. Its caller must then check the files.
func (k *cachingConn) writes(query string) bool {
	return k.files != nil && !k.inTx && !isReadOnly(query)
}

// isReadOnly reports whether a statement cannot write, judged by its first word.
func isReadOnly(query string) bool {
	return hasVerb(query, "SELECT", "PRAGMA", "EXPLAIN", "ROLLBACK")
}

// waitFor returns the time for which a statement may wait for locks. 0 means that it must not wait.
func (k *cachingConn) waitFor(query string) time.Duration {
	if strings.Contains(strings.TrimRight(query, "; \t\r\n"), ";") {
		return 0 // the text may be a script
	}
	return k.wait
}

// exec runs a statement that returns no rows, without waiting for locks.
func (k *cachingConn) exec(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := k.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return k.sqlConn.ExecContext(ctx, query, args)
	}
	return s.stmt.ExecContext(ctx, args)
}

// query runs a statement that returns rows, without waiting for locks.
func (k *cachingConn) query(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := k.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return k.sqlConn.QueryContext(ctx, query, args)
	}
	rows, err := s.stmt.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	whole, ok := rows.(sqliteRows)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what rows need", rows), rows.Close())
	}
	s.busy = true
	return &cachedRows{sqliteRows: whole, of: s}, nil
}

// Close closes the connection and its statements. If files were replaced, the SQLite connection stays open
// until the process ends: closing the last one would remove files of another process.
func (k *cachingConn) Close() error {
	if k.files != nil {
		_ = k.checkOrSave() // only to save commits; there is no write to reject
		if k.files.remove() {
			return nil
		}
	}
	var errs []error
	for _, s := range k.kept {
		errs = append(errs, s.stmt.Close())
	}
	k.kept = nil
	return errors.Join(append(errs, k.sqlConn.Close())...)
}

// sqliteRows is the set of methods of the SQLite driver's rows.
type sqliteRows interface {
	driver.Rows
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	ColumnTypeScanType(index int) reflect.Type
}

// cachedRows are the rows of a cached statement. Close frees the statement.
type cachedRows struct {
	sqliteRows
	of *cachedStatement
}

// Close closes the rows. The statement can then be used again.
func (r *cachedRows) Close() error {
	r.of.busy = false
	return r.sqliteRows.Close()
}
