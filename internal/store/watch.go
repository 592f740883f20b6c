package store

import (
	"context"
	"database/sql"
	"errors"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/ent"
)

// Watch is a function that is called before each statement is sent. operation is query, exec, begin, commit or
// rollback. statement has placeholders instead of values. The returned function is called with the result when
// the database has answered. For a query that is before its rows are read.
type Watch func(ctx context.Context, operation, statement string) (context.Context, func(error))

// Watch calls all watches, in order, for every later statement of Ent and of questions. It creates a new Ent
// client, so it must be called before the first use of s.Ent.
func (s *Store) Watch(watches ...Watch) {
	s.watch = combineWatches(watches)
	drv := entsql.OpenDB(s.url.dialect, s.DB)
	s.Ent = ent.NewClient(ent.Driver(watchedDriver{drv, watchedConn{drv.Conn, s.watch}}))
}

func combineWatches(watches []Watch) Watch {
	if len(watches) == 1 {
		return watches[0]
	}
	return func(ctx context.Context, operation, statement string) (context.Context, func(error)) {
		ends := make([]func(error), len(watches))
		for i, w := range watches {
			ctx, ends[i] = w(ctx, operation, statement)
		}
		return ctx, func(err error) {
			for _, end := range ends {
				end(err)
			}
		}
	}
}

// watchedConn calls a Watch for each statement of a driver or a transaction.
type watchedConn struct {
	entsql.Conn
	watch Watch
}

// Query implements dialect.ExecQuerier.
func (c watchedConn) Query(ctx context.Context, query string, args, v any) error {
	ctx, end := c.watch(ctx, "query", query)
	err := c.Conn.Query(ctx, query, args, v)
	end(err)
	return err
}

// Exec implements dialect.ExecQuerier.
func (c watchedConn) Exec(ctx context.Context, query string, args, v any) error {
	ctx, end := c.watch(ctx, "exec", query)
	err := c.Conn.Exec(ctx, query, args, v)
	end(err)
	return err
}

// QueryContext runs a statement that Ent did not generate.
func (c watchedConn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	ctx, end := c.watch(ctx, "query", query)
	rows, err := c.Conn.QueryContext(ctx, query, args...)
	end(err)
	return rows, err
}

// ExecContext runs a statement that Ent did not generate.
func (c watchedConn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	ctx, end := c.watch(ctx, "exec", query)
	res, err := c.Conn.ExecContext(ctx, query, args...)
	end(err)
	return res, err
}

// watchedDriver is an Ent driver that calls a Watch for each statement.
type watchedDriver struct {
	*entsql.Driver
	watchedConn
}

var _ dialect.Driver = watchedDriver{}

// Tx implements dialect.Driver.
func (d watchedDriver) Tx(ctx context.Context) (dialect.Tx, error) { return d.BeginTx(ctx, nil) }

// BeginTx implements Tx with options.
func (d watchedDriver) BeginTx(ctx context.Context, o *entsql.TxOptions) (dialect.Tx, error) {
	// The transaction outlives the begin, so it does not use the context that the watch returns.
	_, end := d.watch(ctx, "begin", "BEGIN")
	tx, err := d.Driver.BeginTx(ctx, o)
	end(err)
	if err != nil {
		return nil, err
	}
	plain, ok := tx.(*entsql.Tx)
	if !ok {
		return tx, nil
	}
	return watchedTx{plain, watchedConn{plain.Conn, d.watch}, ctx}, nil
}

// watchedTx is a transaction of watchedDriver. Commit and Rollback have no context argument, so their watches get the
// context of BeginTx.
type watchedTx struct {
	*entsql.Tx
	watchedConn
	ctx context.Context
}

// Commit implements driver.Tx.
func (t watchedTx) Commit() error {
	_, end := t.watch(t.ctx, "commit", "COMMIT")
	err := t.Tx.Commit()
	end(err)
	return err
}

// Rollback implements driver.Tx.
func (t watchedTx) Rollback() error {
	_, end := t.watch(t.ctx, "rollback", "ROLLBACK")
	err := t.Tx.Rollback()
	if errors.Is(err, sql.ErrTxDone) {
		end(nil) // the end of the context has already rolled it back
	} else {
		end(err)
	}
	return err
}
