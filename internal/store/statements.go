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

// Reading a statement costs SQLite more than carrying out most of ours, so each connection keeps the ones it has read.
// For MySQL that pays only for those that are sent often: preparer.

// maxStatements is how many statements a connection keeps, and maxStatement the longest, in bytes. Longer ones write
// many rows and take their time anyway.
const (
	maxStatements = 256
	maxStatement  = 8 << 10
)

// openSQLite opens a database whose connections keep statements, and wait for locks for at most so long.
func openSQLite(dsn string, wait time.Duration) (*sql.DB, error) {
	// The way database/sql offers to get at a registered driver.
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	kept := keeping{dsn: dsn, driver: db.Driver(), wait: wait}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return sql.OpenDB(kept), nil
}

// keeping opens connections that keep statements.
type keeping struct {
	dsn    string
	driver driver.Driver
	wait   time.Duration
}

// Driver is SQLite's.
func (k keeping) Driver() driver.Driver { return k.driver }

// Connect opens a connection. Another may be about to make the file, to repair it, or to close it as the last.
func (k keeping) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := patiently(ctx, k.wait, func() (driver.Conn, error) { return k.driver.Open(k.dsn) })
	if err != nil {
		return nil, err
	}
	whole, ok := conn.(sqlConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what a connection needs", conn), conn.Close())
	}
	return &keeper{sqlConn: whole, wait: k.wait, kept: map[string]*statement{}}, nil
}

// sqlConn is what connections do.
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

// keeper is a connection that keeps statements. As any connection, it is used by one at a time.
type keeper struct {
	sqlConn
	wait time.Duration // for locks, at most
	kept map[string]*statement
	uses uint64
}

// sqlStmt is what prepared statements do.
type sqlStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// statement is one that is kept. While its rows are read it is busy, and the same text needs another.
type statement struct {
	stmt sqlStmt
	busy bool
	used uint64 // when, counted in uses of the connection
}

// prepared is the kept statement of a text; nil if it is not to be kept or is busy.
func (k *keeper) prepared(ctx context.Context, query string, args int) (*statement, error) {
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
	s := &statement{used: k.uses}
	var ok bool
	// A script of several statements does not count its arguments as one does.
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
func (k *keeper) forget() error {
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
func (k *keeper) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return patiently(ctx, k.wait, func() (driver.Tx, error) { return k.sqlConn.BeginTx(ctx, o) })
}

// PrepareContext prepares a statement that is not kept. Only that waits for locks, and not its use.
func (k *keeper) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return patiently(ctx, k.wait, func() (driver.Stmt, error) { return k.sqlConn.PrepareContext(ctx, query) })
}

// ExecContext runs a statement without rows, as soon as no other connection writes if it does. One that has found a
// lock held has done nothing yet. Of a script that is only true of the statement it was at, so a script does not wait.
func (k *keeper) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return patiently(ctx, k.waitFor(query), func() (driver.Result, error) { return k.exec(ctx, query, args) })
}

// QueryContext runs a statement with rows, as ExecContext does one without.
func (k *keeper) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return patiently(ctx, k.waitFor(query), func() (driver.Rows, error) { return k.query(ctx, query, args) })
}

// waitFor is how long a text may wait for locks.
func (k *keeper) waitFor(query string) time.Duration {
	if strings.Contains(strings.TrimRight(query, "; \t\r\n"), ";") {
		return 0 // it may be a script
	}
	return k.wait
}

// exec runs a statement without rows, at once or not at all.
func (k *keeper) exec(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := k.prepared(ctx, query, len(args))
	if err != nil {
		return nil, err
	}
	if s == nil {
		return k.sqlConn.ExecContext(ctx, query, args)
	}
	return s.stmt.ExecContext(ctx, args)
}

// query runs a statement with rows, at once or not at all.
func (k *keeper) query(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
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
	return &keptRows{sqliteRows: whole, of: s}, nil
}

// Close closes the connection and what it kept.
func (k *keeper) Close() error {
	var errs []error
	for _, s := range k.kept {
		errs = append(errs, s.stmt.Close())
	}
	k.kept = nil
	return errors.Join(append(errs, k.sqlConn.Close())...)
}

// sqliteRows is what SQLite's rows do.
type sqliteRows interface {
	driver.Rows
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	ColumnTypeScanType(index int) reflect.Type
}

// keptRows are the rows of a kept statement.
type keptRows struct {
	sqliteRows
	of *statement
}

// Close ends the rows, and the statement can be used again.
func (r *keptRows) Close() error {
	r.of.busy = false
	return r.sqliteRows.Close()
}
