package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Question is a query for one integer that runs very often. On SQLite it has its own connection with prepared
// statements. It repeats the query only after another connection has committed, as PRAGMA data_version shows. On
// MySQL it uses the pool, because the round trip takes most of the time. It is safe for concurrent use.
type Question struct {
	db    *sql.DB
	query string
	wait  time.Duration // time limit of waiting for SQLite's locks
	kept  bool
	watch Watch // nil means that the query is not watched

	mu     sync.Mutex
	closed bool
	conn   *sql.Conn // nil means no open connection; the fields below belong to this connection

	dataVersion, asked driver.StmtQueryContext
	answered           bool
	version            int64 // data_version before the last query
	answer             int64
	row                [1]driver.Value
}

// NewQuestion returns a question without a connection. The query must have no arguments. The caller must close
// the question before the store.
func (s *Store) NewQuestion(query string) *Question {
	// A pool with one connection has none left for the question.
	most := s.DB.Stats().MaxOpenConnections
	return &Question{
		db: s.DB, query: query, wait: s.url.sqlite.busy, kept: s.Engine() == "sqlite" && most != 1, watch: s.watch,
	}
}

// Ask returns the current value of the integer; 0 means that there is no row. On SQLite, ctx ends only the opening
// of a connection and the wait for a connection that repairs the log. SQLite readers do not wait otherwise.
func (q *Question) Ask(ctx context.Context) (n int64, err error) {
	if q.watch == nil {
		return q.ask(ctx)
	}
	ctx, end := q.watch(ctx, "query", q.query)
	n, err = q.ask(ctx)
	end(err)
	return n, err
}

func (q *Question) ask(ctx context.Context) (int64, error) {
	if !q.kept {
		var n int64
		err := q.db.QueryRowContext(ctx, q.query).Scan(&n)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return n, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 0, sql.ErrConnDone
	}
	if q.conn == nil {
		if err := q.open(ctx); err != nil {
			return 0, err
		}
	}
	n, err := retryWhileHeld(ctx, q.wait, q.read)
	if err != nil {
		// The next call opens another connection.
		return 0, errors.Join(err, q.drop())
	}
	return n, nil
}

func (q *Question) open(ctx context.Context) error {
	conn, err := q.db.Conn(ctx)
	if err != nil {
		return err
	}
	q.conn = conn
	err = conn.Raw(func(raw any) (err error) {
		if q.dataVersion, err = prepareQuery(ctx, raw, "PRAGMA data_version"); err == nil {
			q.asked, err = prepareQuery(ctx, raw, q.query)
		}
		return err
	})
	if err != nil {
		return errors.Join(err, q.drop())
	}
	return nil
}

// prepareQuery prepares a query on a driver connection.
func prepareQuery(ctx context.Context, raw any, query string) (driver.StmtQueryContext, error) {
	prepares, ok := raw.(driver.ConnPrepareContext)
	if !ok {
		return nil, fmt.Errorf("%T prepares no statements", raw)
	}
	stmt, err := prepares.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	queries, ok := stmt.(driver.StmtQueryContext)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T answers no queries", stmt), stmt.Close())
	}
	return queries, nil
}

// read returns the current answer, from the cache if no other connection has committed. If a commit comes between its
// two statements, the answer includes it, and the next call runs the query again.
func (q *Question) read() (n int64, err error) {
	err = q.conn.Raw(func(any) error {
		version, err := q.number(q.dataVersion)
		if err != nil || q.answered && version == q.version {
			return err
		}
		q.answer, err = q.number(q.asked)
		q.version, q.answered = version, err == nil
		return err
	})
	return q.answer, err
}

// number runs a prepared query on the open connection. It returns 0 if there is no row.
func (q *Question) number(stmt driver.StmtQueryContext) (n int64, err error) {
	// A cancellable context would cost a goroutine.
	rows, err := stmt.QueryContext(context.Background(), nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	switch err := rows.Next(q.row[:]); {
	case errors.Is(err, io.EOF):
		return 0, nil
	case err != nil:
		return 0, err
	}
	n, ok := q.row[0].(int64)
	if !ok {
		return 0, fmt.Errorf("%T is no whole number", q.row[0])
	}
	return n, nil
}

// drop closes the statements and returns the connection to the pool.
func (q *Question) drop() error {
	var errs []error
	for _, stmt := range []driver.StmtQueryContext{q.dataVersion, q.asked} {
		if closes, ok := stmt.(io.Closer); ok {
			errs = append(errs, closes.Close())
		}
	}
	if q.conn != nil {
		errs = append(errs, q.conn.Close())
	}
	q.conn, q.dataVersion, q.asked, q.answered = nil, nil, nil, false
	return errors.Join(errs...)
}

// Close closes the connection of the question. If the question uses its own connection, Ask returns an error
// afterwards.
func (q *Question) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	return q.drop()
}
