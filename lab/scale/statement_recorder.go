package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
)

// statement is an SQL statement with its arguments.
type statement struct {
	text string
	args []any
}

// recorder is a database connector that records all statements sent through it.
type recorder struct {
	under *sql.DB
	mu    sync.Mutex
	asked []statement
}

// take returns the statements since the previous call.
func (r *recorder) take() []statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.asked
	r.asked = nil
	return out
}

func (r *recorder) write(text string, args []driver.NamedValue) {
	values := make([]any, len(args))
	for i, a := range args {
		values[i] = a.Value
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, statement{text, values})
}

// Driver implements driver.Connector.
func (r *recorder) Driver() driver.Driver { return r.under.Driver() }

// Connect implements driver.Connector. It borrows a connection from the underlying pool, until the returned one is
// closed.
func (r *recorder) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := r.under.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &recordingConn{r: r, lent: conn}
	err = conn.Raw(func(under any) error {
		var ok bool
		if c.connection, ok = under.(connection); !ok {
			return errors.New("the driver cannot be recorded")
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// connection lists the interfaces that the connections of both database drivers implement.
type connection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.QueryerContext
	driver.ExecerContext
}

// recordingConn is a connection that records its statements in a recorder.
type recordingConn struct {
	connection
	r    *recorder
	lent *sql.Conn
}

func (c *recordingConn) Close() error { return c.lent.Close() }

func (c *recordingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.r.write(query, args)
	return c.connection.QueryContext(ctx, query, args)
}

// CheckNamedValue implements driver.NamedValueChecker.
func (c *recordingConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.connection.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}
