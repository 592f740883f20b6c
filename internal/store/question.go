package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Question is a query for one whole number that runs very often. On SQLite it has a connection of its own with a prepared
// statement, and on Linux it detects without a query that nothing was committed since (BenchmarkQuestion). On MySQL, where
// the round trip takes the time, it uses the pool. It is safe for concurrent use.
type Question struct {
	db    *sql.DB
	file  string // of SQLite
	query string
	wait  time.Duration // for SQLite's locks, at most
	kept  bool
	watch Watch // nil: the query is not watched

	answer atomic.Pointer[countRead]

	mu    sync.Mutex
	conn  *sql.Conn // nil: none is open
	index walIndex
	seen  bool // the index can be read

	distrusted bool // it has hidden a commit
	stmt       driver.StmtQueryContext
	closed     bool
	row        [1]driver.Value
}

// walHeader is the header of an index of SQLite's write-ahead log.
type walHeader [48]byte

// countRead is the number that a query found, and the header of the log before the query.
type countRead struct {
	at    time.Time
	index walIndex
	log   walHeader
	n     int64
}

// NewQuestion returns a question that has no connection yet. The query has no arguments. The caller closes the question
// before the store.
func (s *Store) NewQuestion(query string) *Question {
	// A pool of one connection has none to spare.
	most := s.DB.Stats().MaxOpenConnections
	return &Question{
		db: s.DB, file: s.url.file, query: query, wait: s.url.sqlite.busy, kept: s.Engine() == "sqlite" && most != 1,
		watch: s.watch,
	}
}

// answerLifetime limits how long an answer is repeated. The next query detects an index of the log that cannot be trusted:
// on a file system that shows one process late or never what another has mapped.
const answerLifetime = time.Second

// Last returns the last answer. ok is false unless it is known without a query that nothing was committed since.
func (q *Question) Last() (n int64, ok bool) {
	last := q.answer.Load()
	if last == nil || time.Since(last.at) > answerLifetime {
		return 0, false
	}
	now, ok := last.index.read()
	return last.n, ok && now == last.log
}

// Ask returns the number, 0 if there is no row. On SQLite the end of ctx ends only the opening of a connection and the wait
// for a connection that repairs the log. Readers of SQLite have no other waits.
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
	// A commit between this and the query is in the answer, and causes one more query.
	var before walHeader
	known := false
	if q.seen && !q.distrusted {
		before, known = q.index.read()
	}
	n, err := retryWhileHeld(ctx, q.wait, q.read)
	if err != nil {
		// The next call opens another connection.
		return 0, errors.Join(err, q.drop())
	}
	switch {
	case known && q.wrong(before, n):
		q.distrusted = true
		q.answer.Store(nil)
	case known:
		q.answer.Store(&countRead{time.Now(), q.index, before, n})
	case !q.seen && !q.distrusted:
		// After the first answer there is a log.
		if index, ok := openWALIndex(q.file); ok {
			q.index, q.seen = index, true
		}
	}
	return n, nil
}

// wrong reports whether the index is the same as at the last answer and after this one, although the answers differ.
func (q *Question) wrong(log walHeader, n int64) bool {
	last := q.answer.Load()
	if last == nil || last.log != log || last.n == n {
		return false
	}
	now, ok := q.index.read()
	return ok && now == log
}

func (q *Question) open(ctx context.Context) error {
	conn, err := q.db.Conn(ctx)
	if err != nil {
		return err
	}
	q.conn = conn
	err = conn.Raw(func(raw any) error {
		prepares, ok := raw.(driver.ConnPrepareContext)
		if !ok {
			return fmt.Errorf("%T prepares no statements", raw)
		}
		stmt, err := prepares.PrepareContext(ctx, q.query)
		if err != nil {
			return err
		}
		if q.stmt, ok = stmt.(driver.StmtQueryContext); !ok {
			return errors.Join(fmt.Errorf("%T answers no queries", stmt), stmt.Close())
		}
		return nil
	})
	if err != nil {
		return errors.Join(err, q.drop())
	}
	return nil
}

// read runs the query on the open connection.
func (q *Question) read() (n int64, err error) {
	err = q.conn.Raw(func(any) (err error) {
		// A context that can end would cost a goroutine.
		rows, err := q.stmt.QueryContext(context.Background(), nil)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		switch err := rows.Next(q.row[:]); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		var ok bool
		if n, ok = q.row[0].(int64); !ok {
			return fmt.Errorf("%T is no whole number", q.row[0])
		}
		return nil
	})
	return n, err
}

// drop closes the statement and returns the connection to the pool.
func (q *Question) drop() error {
	q.answer.Store(nil)
	q.seen = false
	conn, stmt := q.conn, q.stmt
	q.conn, q.stmt = nil, nil
	var errs []error
	if closes, ok := stmt.(io.Closer); ok {
		errs = append(errs, closes.Close())
	}
	if conn != nil {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}

// Close closes the connection of the question. Ask returns an error afterwards.
func (q *Question) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	return q.drop()
}
