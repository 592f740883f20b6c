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

// A statement with its values in it takes one round trip, and the server has to read it each time, which takes it about
// as long as carrying out the small ones that this program mostly sends. What a process sends often is therefore prepared:
// each connection has the server keep it, and sends the values alone from then on.

const (
	// preparedMost is how many statements a connection has prepared. A server keeps 16,382 by itself for all
	// connections of all processes; when it has no room left, statements are sent with their values as before.
	preparedMost = 16
	// preparedAfter is how often a process sends a statement before it is worth it.
	preparedAfter = 64
	// countedMost is of how many statements the uses are counted. Beyond that, counting begins anew.
	countedMost = 2048
)

// often counts how often statements are sent. It is for concurrent use.
type often struct {
	after int // 0: none is ever worth it

	mu     sync.Mutex
	counts map[string]int
	never  map[string]bool // the server prepares them not
}

// worth counts a use, and reports whether the statement should be prepared.
func (o *often) worth(query string) bool {
	if o.after == 0 || len(query) > maxStatement {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.counts[query]
	if n >= o.after {
		return !o.never[query]
	}
	if o.counts == nil || len(o.counts) >= countedMost && n == 0 {
		o.counts, o.never = make(map[string]int), make(map[string]bool)
	}
	o.counts[query] = n + 1
	return false
}

// refuse notes a statement that the server does not prepare.
func (o *often) refuse(query string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.never[query] = true
}

// preparing opens connections to MySQL that have prepared what is sent often.
type preparing struct {
	driver.Connector
	often *often
}

// Connect opens a connection.
func (p preparing) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	whole, ok := conn.(mysqlConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what a connection needs", conn), conn.Close())
	}
	return &preparer{mysqlConn: whole, often: p.often, kept: make(map[string]*prepared)}, nil
}

// mysqlConn is what MySQL's connections do.
type mysqlConn interface {
	sqlConn
	driver.NamedValueChecker
}

// preparer is a connection that has statements prepared. As any connection, it is used by one at a time.
type preparer struct {
	mysqlConn
	often *often
	kept  map[string]*prepared
	uses  uint64
}

// prepared is a statement that the server keeps for a connection.
type prepared struct {
	stmt sqlStmt
	used uint64 // when, counted in uses of the connection
}

// of is the prepared statement of a text; nil if it is to be sent with its values.
func (p *preparer) of(ctx context.Context, query string) (sqlStmt, error) {
	if !p.often.worth(query) {
		return nil, nil
	}
	p.uses++
	if s := p.kept[query]; s != nil {
		s.used = p.uses
		return s.stmt, nil
	}
	if len(p.kept) >= preparedMost && !p.forget() {
		return nil, nil
	}
	stmt, err := p.PrepareContext(ctx, query)
	var refused *mysql.MySQLError
	switch {
	case errors.As(err, &refused):
		// If something is wrong with it, whoever sends it hears so.
		if refused.Number != errTooManyStatements {
			p.often.refuse(query)
		}
		return nil, nil
	case err != nil:
		return nil, err
	}
	whole, ok := stmt.(sqlStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what a statement needs", stmt), stmt.Close())
	}
	p.kept[query] = &prepared{stmt: whole, used: p.uses}
	return whole, nil
}

// forget makes room for another statement, if there is one that was not used for a while.
func (p *preparer) forget() bool {
	oldest := ""
	for query, s := range p.kept {
		if oldest == "" || s.used < p.kept[oldest].used {
			oldest = query
		}
	}
	if p.uses-p.kept[oldest].used < 8*preparedMost {
		return false
	}
	p.drop(oldest)
	return true
}

func (p *preparer) drop(query string) {
	// It only fails on a broken connection, which the next use finds out.
	_ = p.kept[query].stmt.Close()
	delete(p.kept, query)
}

// Errors of a server about prepared statements.
const (
	errUnknownStatement  = 1243 // it knows none of this number: a proxy has changed servers
	errTooManyStatements = 1461 // it keeps no more
	errNeedsReprepare    = 1615 // its tables have changed too often meanwhile
)

// lost reports whether a prepared statement is gone. Nothing was carried out then.
func (p *preparer) lost(query string, err error) bool {
	var refused *mysql.MySQLError
	if !errors.As(err, &refused) || !slices.Contains([]uint16{errUnknownStatement, errNeedsReprepare}, refused.Number) {
		return false
	}
	p.drop(query)
	return true
}

// ExecContext runs a statement without rows.
func (p *preparer) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
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
func (p *preparer) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
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
