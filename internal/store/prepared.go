package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// maxPrepared and the other constants limit the use of prepared statements. A statement that contains its values takes
// one round trip, and the server parses it each time. Parsing the small statements of this program takes about as long
// as executing them. So each connection has the server parse a frequent statement once, and then sends only its values.

const (
	// maxPrepared is the number of prepared statements of a connection. A server keeps 16,382 by default, for
	// all connections of all processes. If it has no room left, statements are sent with their values.
	maxPrepared = 16
	// defaultPrepareAfter is the number of times that a process sends a statement before it prepares it.
	defaultPrepareAfter = 64
	// maxCounted is the number of statements whose uses are counted. The next one resets all counts.
	maxCounted = 2048
)

// useCounter counts how often each statement is sent, to decide which statements to prepare. It is safe for
// concurrent use.
type useCounter struct {
	after int // number of uses before a statement is prepared; 0 means never

	mu     sync.Mutex
	counts map[string]int
	never  map[string]bool // statements that the server refuses to prepare
}

// countUse counts a use of a statement, and reports whether it is now frequent enough to be prepared.
func (o *useCounter) countUse(query string) bool {
	if o.after == 0 || len(query) > maxStatement {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.counts[query]
	if n >= o.after {
		return !o.never[query]
	}
	if o.counts == nil || len(o.counts) >= maxCounted && n == 0 {
		o.counts, o.never = make(map[string]int), make(map[string]bool)
	}
	o.counts[query] = n + 1
	return false
}

// refuse excludes a statement from preparing, because the server has refused to prepare it.
func (o *useCounter) refuse(query string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.never[query] = true
}

// preparingConnector opens MySQL connections that prepare frequent statements.
type preparingConnector struct {
	driver.Connector
	counter *useCounter
	// readsOnly is true if no statement writes. A query whose connection is lost is then retried on another
	// connection.
	readsOnly bool
}

// Connect opens a connection. A failure to connect wraps errNoConnection, unless it comes from the server or wraps
// ErrUnfit. The driver has its own errors for network failures during the handshake, and does not export them.
func (p preparingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := p.Connector.Connect(ctx)
	if errors.As(err, new(*mysql.MySQLError)) || errors.Is(err, ErrUnfit) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoConnection, err)
	}
	whole, ok := conn.(mysqlConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what a connection needs", conn), conn.Close())
	}
	return &preparingConn{
		mysqlConn: whole, counter: p.counter, readsOnly: p.readsOnly, kept: make(map[string]*preparedStatement),
	}, nil
}

// mysqlConn is the set of methods of the MySQL driver's connections.
type mysqlConn interface {
	sqlConn
	driver.NamedValueChecker
}

// preparingConn is a MySQL connection that prepares frequent statements and sends others as text. Only one goroutine
// at a time uses it.
type preparingConn struct {
	mysqlConn
	counter   *useCounter
	readsOnly bool
	kept      map[string]*preparedStatement
	uses      uint64
	refused   bool // the server rejected a write because it is read-only
}

// preparedStatement is a statement that the server has prepared for a connection.
type preparedStatement struct {
	stmt sqlStmt
	used uint64 // time of the last use, counted in uses of the connection
}

// statementFor returns the prepared statement for a query, and prepares it first if it is frequent. Nil means that
// the caller must send the query as text with its values.
func (p *preparingConn) statementFor(ctx context.Context, query string) (sqlStmt, error) {
	if !p.counter.countUse(query) {
		return nil, nil
	}
	p.uses++
	if s := p.kept[query]; s != nil {
		s.used = p.uses
		return s.stmt, nil
	}
	if len(p.kept) >= maxPrepared && !p.forget() {
		return nil, nil
	}
	stmt, err := p.PrepareContext(ctx, query)
	var refused *mysql.MySQLError
	switch {
	case errors.As(err, &refused):
		// A faulty statement fails again when it is sent with its values.
		if refused.Number != errTooManyStatements {
			p.counter.refuse(query)
		}
		return nil, nil
	case err != nil:
		return nil, err
	}
	whole, ok := stmt.(sqlStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what a statement needs", stmt), stmt.Close())
	}
	p.kept[query] = &preparedStatement{stmt: whole, used: p.uses}
	return whole, nil
}

// forget closes the least recently used prepared statement, to make room. It returns false and closes none if all
// were used recently.
func (p *preparingConn) forget() bool {
	oldest := ""
	for query, s := range p.kept {
		if oldest == "" || s.used < p.kept[oldest].used {
			oldest = query
		}
	}
	if p.uses-p.kept[oldest].used < 8*maxPrepared {
		return false
	}
	p.drop(oldest)
	return true
}

func (p *preparingConn) drop(query string) {
	// Close fails only on a broken connection, which the next use detects.
	_ = p.kept[query].stmt.Close()
	delete(p.kept, query)
}

// errTooManyStatements and the other constants are MySQL's error numbers about prepared statements.
const (
	errUnknownStatement  = 1243 // the server does not know the statement, because a proxy has changed servers
	errTooManyStatements = 1461 // the server has no room for another statement
	errNeedsReprepare    = 1615 // the tables of the statement have changed too often
)

// lost reports whether err means that the server no longer has the prepared statement of a query. It then removes
// the statement from p. The server has not run it, so the caller can send the query as text.
func (p *preparingConn) lost(query string, err error) bool {
	if refused, ok := errors.AsType[*mysql.MySQLError](err); !ok || !slices.Contains([]uint16{errUnknownStatement, errNeedsReprepare}, refused.Number) {
		return false
	}
	p.drop(query)
	return true
}

// ExecContext runs a statement that returns no rows.
func (p *preparingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	out, err := p.exec(ctx, query, args)
	p.noteRefusal(err)
	return out, err
}

func (p *preparingConn) exec(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	stmt, err := p.statementFor(ctx, query)
	if err != nil {
		return nil, err
	}
	if stmt != nil {
		if out, err := stmt.ExecContext(ctx, args); !p.lost(query, err) {
			return out, err
		}
	}
	return p.mysqlConn.ExecContext(ctx, query, args)
}

// QueryContext runs a statement that returns rows.
func (p *preparingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := p.query(ctx, query, args)
	for try := 1; isTornRead(err) && try < maxTornReads && ctx.Err() == nil; try++ {
		rows, err = p.query(ctx, query, args)
	}
	p.noteRefusal(err)
	if p.readsOnly && errors.Is(err, mysql.ErrInvalidConn) && ctx.Err() == nil {
		return nil, driver.ErrBadConn
	}
	return rows, err
}

func (p *preparingConn) query(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	stmt, err := p.statementFor(ctx, query)
	if err != nil {
		return nil, err
	}
	if stmt != nil {
		if out, err := stmt.QueryContext(ctx, args); !p.lost(query, err) {
			return out, err
		}
	}
	return p.mysqlConn.QueryContext(ctx, query, args)
}

// BeginTx begins a transaction on the server.
func (p *preparingConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	_, err := p.mysqlConn.BeginTx(ctx, o)
	p.noteRefusal(err)
	if err != nil {
		return nil, err
	}
	return refusableTx{p, ctx}, nil
}

// refusableTx is a transaction whose commit a read-only server may reject. The driver's own Commit and Rollback know
// no context: they would wait without end for a server that does not answer.
type refusableTx struct {
	of  *preparingConn
	ctx context.Context // of BeginTx
}

// Commit implements driver.Tx. It ends with the context of the transaction.
func (t refusableTx) Commit() error {
	_, err := t.of.mysqlConn.ExecContext(t.ctx, "COMMIT", nil)
	t.of.noteRefusal(err)
	return err
}

// rollbackTime is the longest time for a rollback. It also runs after the context of the transaction has ended. If it
// takes longer, the driver closes the connection, and the server then rolls back.
const rollbackTime = time.Second

// Rollback implements driver.Tx.
func (t refusableTx) Rollback() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), rollbackTime)
	defer cancel()
	_, err := t.of.mysqlConn.ExecContext(ctx, "ROLLBACK", nil)
	return err
}

// noteRefusal makes the pool discard the connection if err means that the server is read-only.
func (p *preparingConn) noteRefusal(err error) {
	if !isWriteRefused(err) {
		return
	}
	p.refused = true
	if c, ok := p.mysqlConn.(interface{ refusedWrite() }); ok {
		c.refusedWrite()
	}
}

// IsValid implements driver.Validator. It returns false after the server rejected a write because it is
// read-only. The pool then closes the connection.
func (p *preparingConn) IsValid() bool { return !p.refused && p.mysqlConn.IsValid() }
