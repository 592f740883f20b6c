package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"
)

func TestThePrimaryIsChosen(t *testing.T) {
	t.Parallel()
	away, secondary, primary := memberState{err: errors.New("x")}, memberState{}, memberState{writable: true}
	for _, test := range []struct {
		name    string
		states  []memberState
		current int
		want    int
	}{
		{"at the start", []memberState{secondary, primary, secondary}, -1, 1},
		{"it stays", []memberState{primary, primary}, 1, 1},
		{"it moves", []memberState{primary, secondary}, 1, 0},
		{"it is away", []memberState{secondary, away, primary}, 1, 2},
		{"there is none: the current server reads on", []memberState{secondary, secondary, away}, 1, 1},
		{"there is none, and the current server is away", []memberState{away, away, secondary}, 0, 2},
		{"none answers", []memberState{away, away}, 0, -1},
		{"a server that is away is not writable", []memberState{{err: errors.New("x"), writable: true}, secondary}, 0, 1},
	} {
		if got := choosePrimary(test.states, test.current); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}

// TestTheReplicaIsChosen simulates polls of a database with two replicas, one poll per second. A row has the
// revisions that the three servers report, and the index of the server to use. Revision -1 means unavailable.
func TestTheReplicaIsChosen(t *testing.T) {
	t.Parallel()
	const a, b, itself = 0, 1, 2
	type second struct {
		revision, a, b int64
		want           int
	}
	repeat := func(n int, s second) []second {
		out := make([]second, n)
		for i := range out {
			out[i] = s
		}
		return out
	}
	join := func(parts ...[]second) (all []second) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	for _, test := range []struct {
		name    string
		seconds []second
	}{
		{"both are current: it stays with one", []second{{5, 5, 5, a}, {6, 5, 6, a}, {7, 7, 7, a}}},
		{"the one is away, then the other", []second{{5, 5, 5, a}, {5, -1, 5, b}, {5, 5, 5, b}, {5, 5, -1, a}, {5, -1, -1, itself}}},
		{
			"the other lacks what was read: not before it has caught up",
			[]second{{9, 9, 7, a}, {9, -1, 8, itself}, {9, -1, 9, b}},
		},
		{"at the start one is behind, nobody knows how far", []second{{9, 7, 9, b}, {9, 8, 9, b}}},
		{"both are behind at the start", []second{{9, 7, 8, itself}, {9, 9, 8, a}}},
		{"too far behind", join([]second{{8, 8, 8, a}}, repeat(5, second{9, 8, 8, a}), repeat(3, second{9, 8, 8, itself}), repeat(1, second{9, 9, 9, a}))},
		{
			"always a little behind: it is used after a while",
			join([]second{{1, 1, -1, a}, {2, -1, -1, itself}}, func() (out []second) {
				for i := range int64(settledRounds) {
					want := itself
					if i == settledRounds-1 {
						want = a
					}
					out = append(out, second{3 + i, 1 + i, -1, want})
				}
				return out
			}()),
		},
		{"the database is away", []second{{5, 5, 5, a}, {-1, 5, 5, a}, {-1, -1, 5, b}, {-1, -1, -1, itself}}},
		{"the database has lost writes", []second{{9, 9, 9, a}, {7, 9, 9, a}, {8, 8, 8, a}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := &replicaChoice{maxLag: 4 * time.Second, usable: make([]int, 2)}
			now, current := time.Now(), -1
			for i, s := range test.seconds {
				states := make([]memberState, 3)
				for k, revision := range []int64{s.a, s.b, s.revision} {
					if states[k].revision = revision; revision < 0 {
						states[k].err = errors.New("away")
					}
				}
				if current = c.choose(now, states, current); current != s.want {
					t.Fatalf("second %d: got %d, want %d: %+v", i, current, s.want, states)
				}
				now = now.Add(time.Second)
			}
		})
	}
}

func TestRevisionHistory(t *testing.T) {
	t.Parallel()
	var h revisionHistory
	begin := time.Now()
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	if _, known := h.lag(begin, 5); known {
		t.Error("a lag is known although the database was never asked")
	}
	for second := range 3 * maxSamples {
		h.add(at(second), int64(second/2)) // each revision for two seconds
	}
	end := 3*maxSamples - 1
	for _, test := range []struct {
		revision int64
		lag      time.Duration
		known    bool
	}{
		{int64(end / 2), 0, true},
		{int64(end/2) + 5, 0, true},
		{int64(end/2) - 1, time.Second, true},
		{int64(end/2) - 10, 19 * time.Second, true},
		{3, time.Duration(2*maxSamples-1) * time.Second, false}, // older than the record: at least that
	} {
		lag, known := h.lag(at(end), test.revision)
		if lag != test.lag || known != test.known {
			t.Errorf("revision %d: got %v, %t, want %v, %t", test.revision, lag, known, test.lag, test.known)
		}
	}
}

// fakeServer is a server whose state a test sets.
type fakeServer struct {
	state  atomic.Pointer[memberState]
	late   atomic.Bool // it does not answer in time
	opened int
}

func newFakeServer(state memberState) *fakeServer {
	f := &fakeServer{}
	f.state.Store(&state)
	return f
}

func (f *fakeServer) ask(ctx context.Context) memberState {
	if f.late.Load() {
		<-ctx.Done()
		return memberState{err: ctx.Err()}
	}
	return *f.state.Load()
}

// Connect implements driver.Connector.
func (f *fakeServer) Connect(context.Context) (driver.Conn, error) {
	if err := f.state.Load().err; err != nil {
		return nil, err
	}
	f.opened++
	return &idleConn{}, nil
}

func (*fakeServer) Driver() driver.Driver { return nil }

// idleConn is a connection that the pool always considers valid.
type idleConn struct{ mysqlConn }

func (*idleConn) ResetSession(context.Context) error { return nil }
func (*idleConn) IsValid() bool                      { return true }

func startFakes(t *testing.T, fakes ...*fakeServer) *members {
	all := make([]*member, len(fakes))
	for i, f := range fakes {
		all[i] = &member{address: fmt.Sprintf("h%d", i), connector: f, ask: f.ask, close: func() error { return nil }}
	}
	m := newMembers(all)
	m.choose = choosePrimary
	m.urgent = func(states []memberState, current int) bool { return current < 0 || !states[current].writable }
	m.start(t.Context())
	t.Cleanup(func() {
		if err := m.close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestConnectionsFollowThePrimary(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second := newFakeServer(memberState{writable: true}), newFakeServer(memberState{})
		m := startFakes(t, first, second)
		conn, err := m.Connect(t.Context())
		if err != nil || first.opened != 1 {
			t.Fatalf("%v, %d connections to the primary", err, first.opened)
		}
		old := conn.(*memberConn)
		if !old.IsValid() || old.ResetSession(t.Context()) != nil {
			t.Error("a connection to the primary is not valid")
		}
		first.state.Store(&memberState{})
		second.state.Store(&memberState{writable: true})
		old.refusedWrite()
		synctest.Wait()
		if old.IsValid() || !errors.Is(old.ResetSession(t.Context()), driver.ErrBadConn) {
			t.Error("a connection to the former primary is valid")
		}
		if _, err := m.Connect(t.Context()); err != nil || second.opened != 1 {
			t.Errorf("%v, %d connections to the new primary", err, second.opened)
		}
		// It is killed: the next connection finds out, and goes where reads are answered until there is a new primary.
		second.state.Store(&memberState{err: errors.New("refused")})
		if _, err := m.Connect(t.Context()); err != nil || first.opened != 2 {
			t.Errorf("%v, %d connections to the server that is left", err, first.opened)
		}
		first.state.Store(&memberState{writable: true})
		time.Sleep(2 * askSoon)
		synctest.Wait()
		if states, current := m.snapshot(); current != 0 || !states[0].writable {
			t.Errorf("the new primary was not found: %d %+v", current, states)
		}
		first.state.Store(&memberState{err: errors.New("refused")})
		if _, err := m.Connect(t.Context()); err == nil {
			t.Error("there is a connection although no server answers")
		}
	})
}

func TestAServerMayBeLateOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second := newFakeServer(memberState{writable: true}), newFakeServer(memberState{})
		m := startFakes(t, first, second)
		first.late.Store(true)
		m.refresh(t.Context())
		if states, current := m.snapshot(); current != 0 || states[0].err != nil {
			t.Errorf("late once: %d %+v", current, states)
		}
		m.refresh(t.Context())
		if states, current := m.snapshot(); current != 1 || states[0].err == nil {
			t.Errorf("late twice: %d %+v", current, states)
		}
	})
}

func TestConnectionsThatRefuseWritesAreDiscarded(t *testing.T) {
	t.Parallel()
	for number, want := range map[uint16]bool{
		1047: true, 1290: true, 1792: true, 1836: true, 3098: true, 3100: true, 3101: true,
		1062: false, 1213: false,
	} {
		c := &preparingConn{mysqlConn: &refusingConn{err: &mysql.MySQLError{Number: number}}, counter: &useCounter{}}
		for what, do := range map[string]func() error{
			"statement": func() error { _, err := c.ExecContext(t.Context(), "x", nil); return err },
			"query":     func() error { return c.ask(t.Context()) },
			"commit": func() error {
				tx, err := c.BeginTx(t.Context(), driver.TxOptions{})
				if err != nil {
					return err
				}
				return tx.Commit()
			},
		} {
			c.refused = false
			if err := do(); !errors.Is(err, &mysql.MySQLError{Number: number}) {
				t.Errorf("%d, %s: got %v", number, what, err)
			}
			if c.IsValid() == want {
				t.Errorf("%d, %s: valid is %t", number, what, !want)
			}
		}
		if want && !IsUnavailable(&mysql.MySQLError{Number: number}) {
			t.Errorf("%d is no 503", number)
		}
	}
}

// refusingConn is a connection whose statements and commits all return err.
type refusingConn struct {
	idleConn
	err error
}

func (c *refusingConn) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return nil, c.err
}

func (c *refusingConn) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return nil, c.err
}

func (c *refusingConn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) { return nil, nil }

func TestLostServersAreRetriedUnlessACommitWasSent(t *testing.T) {
	t.Parallel()
	refused := fmt.Errorf("update: %w", &mysql.MySQLError{Number: 1290})
	for _, test := range []struct {
		name  string
		err   error
		times int // that it fails
		runs  int
		fails bool
	}{
		{"refused once", refused, 1, 2, false},
		{"lost once", fmt.Errorf("insert: %w", mysql.ErrInvalidConn), 1, 2, false},
		{"lost while it began", fmt.Errorf("begin: %w", driver.ErrBadConn), 1, 2, false},
		{"refused again and again", refused, 99, 1 + maxServersLost, true},
		{"lost while it was committed", commitError{fmt.Errorf("commit: %w", mysql.ErrInvalidConn)}, 1, 1, true},
		{"its commit was refused", commitError{&mysql.MySQLError{Number: 3101}}, 1, 1, true},
		{"no connection", fmt.Errorf("begin: %w", errNoConnection), 1, 1, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				runs := 0
				err := retry(t.Context(), func() error {
					if runs++; runs <= test.times {
						return test.err
					}
					return nil
				}, isServerLostBeforeCommit)
				if runs != test.runs || (err != nil) != test.fails {
					t.Errorf("got %v after %d attempts, want %d", err, runs, test.runs)
				}
			})
		})
	}
}

// TestAStatementIsNotSentAgainToAnotherServer checks that Retry does not run a statement again after a lost
// connection. The statement commits by itself, so it may already have had its effect.
func TestAStatementIsNotSentAgainToAnotherServer(t *testing.T) {
	t.Parallel()
	runs := 0
	err := Retry(t.Context(), func() error {
		runs++
		return mysql.ErrInvalidConn
	})
	if !errors.Is(err, mysql.ErrInvalidConn) || runs != 1 {
		t.Errorf("got %v after %d attempts", err, runs)
	}
}

func TestServersThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for version, fits := range map[string]bool{
		"9.7.4": true, "8.4.2-1.el9": true, "8.0.29": true, "8.0.28": false, "5.7.44-log": false,
		"10.11.6-MariaDB-0+deb12u1": true, "10.6.0-MariaDB": true, "10.5.29-MariaDB": false, "5.5.68-MariaDB": false,
	} {
		_, err := checkEngine(version)
		if (err == nil) != fits || err != nil && !errors.Is(err, ErrUnfit) {
			t.Errorf("%s: %v", version, err)
		}
	}
}
