package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// fakeConn is a connection to a server that does not know the statements it has prepared. If refuses is set,
// preparing fails with that error.
type fakeConn struct {
	mysqlConn // nil: nothing else is asked of it
	refuses   error
	prepared  int
	sent      int
}

func (c *fakeConn) PrepareContext(context.Context, string) (driver.Stmt, error) {
	if c.refuses != nil {
		return nil, c.refuses
	}
	c.prepared++
	return fakeStmt{}, nil
}

func (c *fakeConn) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	c.sent++
	return nil, io.EOF
}

func (c *fakeConn) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	c.sent++
	return nil, io.EOF
}

type fakeStmt struct{ driver.Stmt }

func (fakeStmt) Close() error { return nil }

func (fakeStmt) QueryContext(context.Context, []driver.NamedValue) (driver.Rows, error) {
	return nil, &mysql.MySQLError{Number: errUnknownStatement}
}

func (fakeStmt) ExecContext(context.Context, []driver.NamedValue) (driver.Result, error) {
	return nil, &mysql.MySQLError{Number: errNeedsReprepare}
}

// ask runs SELECT 1 and discards its rows.
func (p *preparingConn) ask(ctx context.Context) error {
	rows, err := p.QueryContext(ctx, "SELECT 1", nil)
	if rows != nil {
		return rows.Close()
	}
	return err
}

func TestLostStatementsAreSentWithTheirValues(t *testing.T) {
	t.Parallel()
	conn := &fakeConn{}
	p := &preparingConn{mysqlConn: conn, counter: &useCounter{after: 1}, kept: map[string]*preparedStatement{}}
	for range 3 {
		if err := p.ask(t.Context()); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if _, err := p.ExecContext(t.Context(), "DELETE", nil); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	if conn.sent != 6 || conn.prepared != 4 || len(p.kept) != 0 {
		t.Errorf("sent %d, prepared %d, kept %d; want 6, 4, 0", conn.sent, conn.prepared, len(p.kept))
	}
}

func TestServersWithoutRoomForStatements(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		number uint16
		asked  bool // again the next time
	}{{errTooManyStatements, true}, {1295, false}} {
		conn := &fakeConn{refuses: &mysql.MySQLError{Number: test.number}}
		p := &preparingConn{mysqlConn: conn, counter: &useCounter{after: 1}, kept: map[string]*preparedStatement{}}
		for range 3 {
			if err := p.ask(t.Context()); !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
		}
		if conn.sent != 3 {
			t.Errorf("%d: sent %d times", test.number, conn.sent)
		}
		if got := p.counter.countUse("SELECT 1"); got != test.asked {
			t.Errorf("%d: asked again: %v", test.number, got)
		}
	}
	// A connection that is gone is no answer of the server's.
	p := &preparingConn{mysqlConn: &fakeConn{refuses: driver.ErrBadConn}, counter: &useCounter{after: 1}}
	p.counter.countUse("SELECT 1")
	if err := p.ask(t.Context()); !errors.Is(err, driver.ErrBadConn) {
		t.Error(err)
	}
}

func TestCountingStatementsIsBounded(t *testing.T) {
	t.Parallel()
	o := &useCounter{after: 2}
	for n := range 3 * maxCounted {
		o.countUse(string(rune(n)))
		if len(o.counts) > maxCounted {
			t.Fatalf("%d statements are counted", len(o.counts))
		}
	}
	if (&useCounter{}).countUse("SELECT 1") {
		t.Error("prepared though it never should be")
	}
}

// tearingConn is a connection to a TiDB server whose first queries fail with a torn read (isTornRead).
type tearingConn struct {
	mysqlConn
	torn, sent int
}

func (c *tearingConn) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	c.sent++
	if c.sent <= c.torn {
		return nil, &mysql.MySQLError{Number: 8133}
	}
	return nil, io.EOF
}

func (c *tearingConn) PrepareContext(context.Context, string) (driver.Stmt, error) {
	return tearingStmt{of: c}, nil
}

type tearingStmt struct {
	sqlStmt
	of *tearingConn
}

func (s tearingStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.of.QueryContext(ctx, "", args)
}

func TestTornReadsAreRepeated(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		torn, sent int
		repaired   bool
	}{{0, 1, true}, {1, 2, true}, {3, 4, true}, {4, 4, false}, {100, 4, false}} {
		for _, after := range []int{0, 1, 2} { // never, at once, at the second use
			conn := &tearingConn{torn: test.torn}
			p := &preparingConn{mysqlConn: conn, counter: &useCounter{after: after}, kept: map[string]*preparedStatement{}}
			if err := p.ask(t.Context()); conn.sent != test.sent || errors.Is(err, io.EOF) != test.repaired {
				t.Errorf("%d torn reads, prepared after %d: sent %d times, %v", test.torn, after, conn.sent, err)
			}
		}
	}
}
