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

// SQLite takes longer to parse most statements than to execute them, so each connection caches those that it has parsed. On
// MySQL that pays only for statements that are sent often: preparingConn.

// maxStatements is how many statements a connection caches, and maxStatement the longest, in bytes. Longer statements write
// many rows, and parsing them is a small part.
const (
	maxStatements = 256
	maxStatement  = 8 << 10
)

// openSQLite opens a database whose connections cache statements, and wait for locks for at most so long. With files, they
// write only while no file was removed or replaced.
func openSQLite(dsn string, wait time.Duration, files *sqliteFiles) (*sql.DB, error) {
	// database/sql has no other way to a registered driver.
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	kept := cachingConnector{dsn: dsn, driver: db.Driver(), wait: wait, files: files}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return sql.OpenDB(kept), nil
}

// cachingConnector opens connections that cache statements.
type cachingConnector struct {
	dsn    string
	driver driver.Driver
	wait   time.Duration
	files  *sqliteFiles
}

// Driver returns SQLite's driver.
func (k cachingConnector) Driver() driver.Driver { return k.driver }

// Connect opens a connection. It waits while another one creates or repairs the file, or closes it as the last.
func (k cachingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := k.files.check(); err != nil {
		return nil, err // it would open other files than the other connections
	}
	conn, err := retryWhileHeld(ctx, k.wait, func() (driver.Conn, error) { return k.driver.Open(k.dsn) })
	if err != nil {
		return nil, err
	}
	whole, ok := conn.(sqlConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what a connection needs", conn), conn.Close())
	}
	c := &cachingConn{sqlConn: whole, wait: k.wait, files: k.files, kept: map[string]*cachedStatement{}}
	if err := c.opened(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// sqlConn is the interface of connections.
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

// cachingConn is a connection that caches statements. As any connection, one goroutine uses it at a time.
type cachingConn struct {
	sqlConn
	wait  time.Duration // for locks, at most
	files *sqliteFiles
	inTx  bool // a transaction of BeginTx is open; its commit checks the files
	kept  map[string]*cachedStatement
	uses  uint64
}

// sqlStmt is the interface of prepared statements.
type sqlStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// cachedStatement is a statement in the cache. While its rows are read it is busy, and the same text needs another statement.
type cachedStatement struct {
	stmt sqlStmt
	busy bool
	used uint64 // when, counted in uses of the connection
}

// prepared returns the cached statement of a text, nil if it is busy or is not to be cached.
func (k *cachingConn) prepared(ctx context.Context, query string, args int) (*cachedStatement, error) {
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
	// A script of several statements does not count its arguments.
	if s.stmt, ok = stmt.(sqlStmt); !ok || stmt.NumInput() >= 0 && stmt.NumInput() != args {
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

// forget closes the statement that was not used for longest.
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

// BeginTx begins a transaction as soon as no other connection writes.
func (k *cachingConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if !o.ReadOnly {
		if err := k.intact(); err != nil {
			return nil, err
		}
	}
	tx, err := retryWhileHeld(ctx, k.wait, func() (driver.Tx, error) { return k.sqlConn.BeginTx(ctx, o) })
	if err != nil {
		return nil, err
	}
	k.inTx = true
	return &checkedTx{Tx: tx, of: k, writes: !o.ReadOnly}, nil
}

// checkedTx is a transaction whose commit succeeds only if other processes can read it.
type checkedTx struct {
	driver.Tx
	of     *cachingConn
	writes bool
}

// Commit implements driver.Tx. After an error that wraps ErrFilesReplaced it is not known whether the commit lasts.
func (t *checkedTx) Commit() error {
	t.of.inTx = false
	if err := t.Tx.Commit(); err != nil || !t.writes {
		return err
	}
	return t.of.intact()
}

// Rollback implements driver.Tx.
func (t *checkedTx) Rollback() error {
	t.of.inTx = false
	return t.Tx.Rollback()
}

// PrepareContext prepares a statement that is not cached. It waits for locks. The statement's use does not.
func (k *cachingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return retryWhileHeld(ctx, k.wait, func() (driver.Stmt, error) { return k.sqlConn.PrepareContext(ctx, query) })
}

// ExecContext runs a statement without rows. If it writes, it waits until no other connection writes. A
// statement that finds the database locked has done nothing yet, so it can be retried. A script may have
// executed statements before, so it does not wait.
func (k *cachingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	writes := k.writes(query)
	if writes {
		if err := k.intact(); err != nil {
			return nil, err
		}
	}
	out, err := retryWhileHeld(ctx, k.waitFor(query), func() (driver.Result, error) { return k.exec(ctx, query, args) })
	if err == nil && writes {
		err = k.intact()
	}
	return out, err
}

// QueryContext runs a statement with rows, as ExecContext does one without.
func (k *cachingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if k.writes(query) { // with RETURNING
		if err := k.intact(); err != nil {
			return nil, err
		}
	}
	return retryWhileHeld(ctx, k.waitFor(query), func() (driver.Rows, error) { return k.query(ctx, query, args) })
}

// writes reports whether a statement is a transaction of its own that may write, and has to check the files.
func (k *cachingConn) writes(query string) bool {
	return k.files != nil && !k.inTx && !isReadOnly(query)
}

// isReadOnly reports whether a statement cannot write.
func isReadOnly(query string) bool {
	query = strings.TrimLeft(query, " \t\r\n(")
	for _, verb := range [...]string{"SELECT", "PRAGMA", "EXPLAIN", "ROLLBACK"} {
		if len(query) >= len(verb) && strings.EqualFold(query[:len(verb)], verb) {
			return true
		}
	}
	return false
}

// waitFor returns how long a text may wait for locks.
func (k *cachingConn) waitFor(query string) time.Duration {
	if strings.Contains(strings.TrimRight(query, "; \t\r\n"), ";") {
		return 0 // it may be a script
	}
	return k.wait
}

// exec runs a statement without rows. It does not wait for locks.
func (k *cachingConn) exec(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := k.prepared(ctx, query, len(args))
	if err != nil {
		return nil, err
	}
	if s == nil {
		return k.sqlConn.ExecContext(ctx, query, args)
	}
	return s.stmt.ExecContext(ctx, args)
}

// query runs a statement with rows. It does not wait for locks.
func (k *cachingConn) query(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := k.prepared(ctx, query, len(args))
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

// Close closes the connection and its statements. If files were replaced, the connection stays open until the process ends:
// when the last connection closes, SQLite would remove files of another process.
func (k *cachingConn) Close() error {
	if k.files != nil {
		_ = k.intact() // it saves what it can; there is no write to refuse
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

// sqliteRows is the interface of SQLite's rows.
type sqliteRows interface {
	driver.Rows
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	ColumnTypeScanType(index int) reflect.Type
}

// cachedRows are the rows of a cached statement.
type cachedRows struct {
	sqliteRows
	of *cachedStatement
}

// Close closes the rows, after which the statement can be used again.
func (r *cachedRows) Close() error {
	r.of.busy = false
	return r.sqliteRows.Close()
}
