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

// Question is a query for one whole number that is asked very often. On SQLite it has a connection of its own with the
// statement ready, and on Linux it sees without a query whether anything was committed since (BenchmarkQuestion). On MySQL
// the way to the server is what takes time, and it goes through the pool as all others do. It is for concurrent use.
type Question struct {
	db    *sql.DB
	file  string // of SQLite
	query string
	wait  time.Duration // for SQLite's locks, at most
	kept  bool
	watch Watch // nil: the query is not watched

	answer atomic.Pointer[answer]

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

// answer is what was found in a database, and how its log was before.
type answer struct {
	at    time.Time
	index walIndex
	log   walHeader
	n     int64
}

// NewQuestion prepares nothing yet. The query has no arguments, and the caller closes the question before the store.
func (s *Store) NewQuestion(query string) *Question {
	// A pool of one has none to spare.
	most := s.DB.Stats().MaxOpenConnections
	return &Question{
		db: s.DB, file: s.url.file, query: query, wait: s.url.sqlite.busy, kept: s.Engine() == "sqlite" && most != 1,
		watch: s.watch,
	}
}

// lastHolds is how long an answer is repeated at most. Somebody asks then, and notices if the log's index is not to be
// trusted: on a file system that shows one process what another has mapped later, or never.
const lastHolds = time.Second

// Last is the answer there was, if it is known without asking that nothing was committed to the database since.
func (q *Question) Last() (n int64, ok bool) {
	last := q.answer.Load()
	if last == nil || time.Since(last.at) > lastHolds {
		return 0, false
	}
	now, ok := last.index.read()
	return last.n, ok && now == last.log
}

// Ask returns the number, 0 if there is no row. On SQLite the end of ctx ends only the opening of a connection, and the
// wait for one that repairs the log: otherwise readers wait for nobody there.
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
	// What is committed between this and reading is in the answer, and makes it be looked for once more.
	var before walHeader
	known := false
	if q.seen && !q.distrusted {
		before, known = q.index.read()
	}
	n, err := patiently(ctx, q.wait, q.read)
	if err != nil {
		// The next one begins anew.
		return 0, errors.Join(err, q.drop())
	}
	switch {
	case known && q.wrong(before, n):
		q.distrusted = true
		q.answer.Store(nil)
	case known:
		q.answer.Store(&answer{time.Now(), q.index, before, n})
	case !q.seen && !q.distrusted:
		// The first answer has made sure that there is a log.
		if index, ok := openWALIndex(q.file); ok {
			q.index, q.seen = index, true
		}
	}
	return n, nil
}

// wrong reports whether the index is as it was at the last answer, and after this one, though they differ.
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

// read asks on the open connection, which nobody else has.
func (q *Question) read() (n int64, err error) {
	err = q.conn.Raw(func(any) (err error) {
		// Nothing is to be interrupted, and a context that could end costs a goroutine.
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

// drop gives the connection back, and its statement up.
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

// Close ends the question. Asking afterwards is an error.
func (q *Question) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	return q.drop()
}
