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

// openSQLite opens a database whose connections keep statements, and wait for locks for at most so long. With files,
// they write only while the files are those that they have open.
func openSQLite(dsn string, wait time.Duration, files *sqliteFiles) (*sql.DB, error) {
	// The way database/sql offers to get at a registered driver.
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	kept := keeping{dsn: dsn, driver: db.Driver(), wait: wait, files: files}
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
	files  *sqliteFiles
}

// Driver is SQLite's.
func (k keeping) Driver() driver.Driver { return k.driver }

// Connect opens a connection. Another may be about to make the file, to repair it, or to close it as the last.
func (k keeping) Connect(ctx context.Context) (driver.Conn, error) {
	if err := k.files.check(); err != nil {
		return nil, err // it would open other files than its siblings
	}
	conn, err := patiently(ctx, k.wait, func() (driver.Conn, error) { return k.driver.Open(k.dsn) })
	if err != nil {
		return nil, err
	}
	whole, ok := conn.(sqlConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what a connection needs", conn), conn.Close())
	}
	c := &keeper{sqlConn: whole, wait: k.wait, files: k.files, kept: map[string]*statement{}}
	if err := c.opened(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
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
	wait  time.Duration // for locks, at most
	files *sqliteFiles
	inTx  bool // a transaction of BeginTx is open; its commit checks the files
	kept  map[string]*statement
	uses  uint64
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
	if !o.ReadOnly {
		if err := k.intact(); err != nil {
			return nil, err
		}
	}
	tx, err := patiently(ctx, k.wait, func() (driver.Tx, error) { return k.sqlConn.BeginTx(ctx, o) })
	if err != nil {
		return nil, err
	}
	k.inTx = true
	return &keptTx{Tx: tx, of: k, writes: !o.ReadOnly}, nil
}

// keptTx is a transaction that is acknowledged only if other processes can read it.
type keptTx struct {
	driver.Tx
	of     *keeper
	writes bool
}

// Commit implements driver.Tx. After an error that wraps ErrFilesReplaced it is not known whether the commit lasts.
func (t *keptTx) Commit() error {
	t.of.inTx = false
	if err := t.Tx.Commit(); err != nil || !t.writes {
		return err
	}
	return t.of.intact()
}

// Rollback implements driver.Tx.
func (t *keptTx) Rollback() error {
	t.of.inTx = false
	return t.Tx.Rollback()
}

// PrepareContext prepares a statement that is not kept. Only that waits for locks, and not its use.
func (k *keeper) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return patiently(ctx, k.wait, func() (driver.Stmt, error) { return k.sqlConn.PrepareContext(ctx, query) })
}

// ExecContext runs a statement without rows, as soon as no other connection writes if it does. One that has found a
// lock held has done nothing yet. Of a script that is only true of the statement it was at, so a script does not wait.
func (k *keeper) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	writes := k.writes(query)
	if writes {
		if err := k.intact(); err != nil {
			return nil, err
		}
	}
	out, err := patiently(ctx, k.waitFor(query), func() (driver.Result, error) { return k.exec(ctx, query, args) })
	if err == nil && writes {
		err = k.intact()
	}
	return out, err
}

// QueryContext runs a statement with rows, as ExecContext does one without.
func (k *keeper) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if k.writes(query) { // with RETURNING
		if err := k.intact(); err != nil {
			return nil, err
		}
	}
	return patiently(ctx, k.waitFor(query), func() (driver.Rows, error) { return k.query(ctx, query, args) })
}

// writes reports whether a statement is a transaction of its own that may write, and has to check the files.
func (k *keeper) writes(query string) bool { return k.files != nil && !k.inTx && !reads(query) }

// reads reports whether a statement cannot write.
func reads(query string) bool {
	query = strings.TrimLeft(query, " \t\r\n(")
	for _, verb := range [...]string{"SELECT", "PRAGMA", "EXPLAIN", "ROLLBACK"} {
		if len(query) >= len(verb) && strings.EqualFold(query[:len(verb)], verb) {
			return true
		}
	}
	return false
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

// Close closes the connection and what it kept. If files were replaced, the connection stays open until the process
// ends: SQLite would remove, as the last one to close them, files of others.
func (k *keeper) Close() error {
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
