package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-sql-driver/mysql"
)

// A statement that contains its values takes one round trip, and the server parses it each time. For the small statements
// that this program mostly sends, parsing takes about as long as execution. A statement that a process sends often is
// therefore prepared: each connection has the server keep it, and sends only the values from then on.

const (
	// maxPrepared is how many prepared statements a connection has. By default a server keeps 16,382 for all connections
	// of all processes. When it has no room left, statements are sent with their values.
	maxPrepared = 16
	// defaultPrepareAfter is how often a process sends a statement before it prepares it.
	defaultPrepareAfter = 64
	// maxCounted is how many statements have their uses counted. At the next one the counts begin again.
	maxCounted = 2048
)

// useCounter counts how often statements are sent. It is safe for concurrent use.
type useCounter struct {
	after int // uses before a statement is prepared; 0 means never

	mu     sync.Mutex
	counts map[string]int
	never  map[string]bool // the server refuses to prepare them
}

// worth counts a use, and reports whether the statement should be prepared.
func (o *useCounter) worth(query string) bool {
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

// refuse records a statement that the server does not prepare.
func (o *useCounter) refuse(query string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.never[query] = true
}

// preparingConnector opens connections to MySQL that prepare the statements that are sent often.
type preparingConnector struct {
	driver.Connector
	counter *useCounter
	// readsOnly: no statement writes, so a query whose connection was lost is sent again on another one.
	readsOnly bool
}

// Connect opens a connection. An error that the server has not sent wraps errNoConnection: the driver has errors of its
// own for a network that fails during the handshake, and does not export them.
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

// mysqlConn is the interface of MySQL's connections.
type mysqlConn interface {
	sqlConn
	driver.NamedValueChecker
}

// preparingConn is a connection that prepares statements. As any connection, one goroutine uses it at a time.
type preparingConn struct {
	mysqlConn
	counter   *useCounter
	readsOnly bool
	kept      map[string]*preparedStatement
	uses      uint64
	refused   bool // a write, by a server that takes none
}

// preparedStatement is a statement that the server keeps for a connection.
type preparedStatement struct {
	stmt sqlStmt
	used uint64 // when, counted in uses of the connection
}

// of returns the prepared statement of a text, nil if it is to be sent with its values.
func (p *preparingConn) of(ctx context.Context, query string) (sqlStmt, error) {
	if !p.counter.worth(query) {
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

// forget makes room for another statement if one was not used for a while.
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
	// It fails only on a broken connection, which the next use detects.
	_ = p.kept[query].stmt.Close()
	delete(p.kept, query)
}

// Errors of a server about prepared statements.
const (
	errUnknownStatement  = 1243 // the server does not know its number: a proxy has changed servers
	errTooManyStatements = 1461 // the server keeps no more
	errNeedsReprepare    = 1615 // its tables have changed too often meanwhile
)

// lost reports whether the server no longer has a prepared statement. It has executed nothing then.
func (p *preparingConn) lost(query string, err error) bool {
	var refused *mysql.MySQLError
	if !errors.As(err, &refused) || !slices.Contains([]uint16{errUnknownStatement, errNeedsReprepare}, refused.Number) {
		return false
	}
	p.drop(query)
	return true
}

// ExecContext runs a statement without rows.
func (p *preparingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	out, err := p.exec(ctx, query, args)
	p.noteRefusal(err)
	return out, err
}

func (p *preparingConn) exec(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	stmt, err := p.of(ctx, query)
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

// QueryContext runs a statement with rows.
func (p *preparingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := p.query(ctx, query, args)
	p.noteRefusal(err)
	if p.readsOnly && errors.Is(err, mysql.ErrInvalidConn) && ctx.Err() == nil {
		return nil, driver.ErrBadConn
	}
	return rows, err
}

func (p *preparingConn) query(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	stmt, err := p.of(ctx, query)
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

// BeginTx begins a transaction.
func (p *preparingConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := p.mysqlConn.BeginTx(ctx, o)
	p.noteRefusal(err)
	if err != nil {
		return nil, err
	}
	return &refusableTx{tx, p}, nil
}

// refusableTx is a transaction whose commit the server may refuse.
type refusableTx struct {
	driver.Tx
	of *preparingConn
}

// Commit implements driver.Tx.
func (t *refusableTx) Commit() error {
	err := t.Tx.Commit()
	t.of.noteRefusal(err)
	return err
}

// noteRefusal has the pool discard the connection if its server has answered that it takes no writes.
func (p *preparingConn) noteRefusal(err error) {
	if !isWriteRefused(err) {
		return
	}
	p.refused = true
	if c, ok := p.mysqlConn.(interface{ refusedWrite() }); ok {
		c.refusedWrite()
	}
}

// IsValid implements driver.Validator.
func (p *preparingConn) IsValid() bool { return !p.refused && p.mysqlConn.IsValid() }
