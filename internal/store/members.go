package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/singleflight"
)

// members is a group of servers. All connections go to one of them, the current server. A goroutine polls the
// state of all servers. When the current server changes, the pool discards each connection to the previous one
// before its next use.
type members struct {
	all []*member
	// choose returns the index of the current server for new states. -1 means that no server is available. Only
	// one goroutine at a time calls it.
	choose func(states []memberState, current int) int
	// urgent reports whether the next poll is due after askSoon. Otherwise it is due after askEvery.
	urgent func(states []memberState, current int) bool

	current atomic.Int64 // index in all; -1 means none
	moves   atomic.Int64 // counter that increases before and after each change of current
	asking  singleflight.Group
	wake    chan struct{} // wakes the polling goroutine
	log     atomic.Pointer[slog.Logger]

	mu     sync.Mutex
	states []memberState // results of the last poll

	stop  context.CancelFunc
	ended chan struct{}
}

// member is one server of a group.
type member struct {
	address   string
	connector driver.Connector
	// ask polls the state of the server.
	ask   func(context.Context) memberState
	close func() error
}

// memberState is the result of polling one server of a group.
type memberState struct {
	err      error         // nil means that the server answered
	writable bool          // the server accepts writes
	revision int64         // revision of the calendar; 0 if it was not queried
	lag      time.Duration // replication lag of a replica
	lagKnown bool
	leftOut  bool // true for a replica that answers but lags too far behind to be used

	late bool // the last poll timed out, so this is the state of the poll before
}

const (
	// askEvery is the time between two polls of the servers; askSoon applies while no server accepts writes.
	askEvery = time.Second
	askSoon  = 100 * time.Millisecond
	// askTimeout is the time limit of a poll. A server that exceeds it twice in a row counts as unavailable.
	askTimeout = time.Second
	// firstTimeout is the time limit of the first poll, which also checks the URL.
	firstTimeout = 5 * time.Second
	// memberTimeout is the time limit for connecting to one server of a group.
	memberTimeout = 3 * time.Second
)

// newMembers returns a group in which no server is current yet. The caller must call start, and later close.
func newMembers(all []*member) *members {
	m := &members{
		all: all, states: make([]memberState, len(all)), wake: make(chan struct{}, 1), ended: make(chan struct{}),
		urgent: func([]memberState, int) bool { return false },
	}
	m.current.Store(-1)
	for i := range m.states {
		m.states[i].err = errNotAsked
	}
	return m
}

var errNotAsked = errors.New("not asked yet")

// start polls all servers once and starts the polling goroutine.
func (m *members) start(ctx context.Context) {
	m.askAll(ctx, firstTimeout)
	// The goroutine must outlive the context of the caller.
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	m.stop = stop
	go m.watch(watching)
}

// watch polls the servers until ctx is cancelled.
func (m *members) watch(ctx context.Context) {
	defer close(m.ended)
	for {
		wait := askEvery
		if states, current := m.snapshot(); m.urgent(states, current) {
			wait = askSoon
		}
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		case <-time.After(wait):
		}
		m.refresh(ctx)
	}
}

// awaken makes the polling goroutine poll at once. It does not wait.
func (m *members) awaken() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// snapshot returns the results of the last poll, and the index of the current server.
func (m *members) snapshot() ([]memberState, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]memberState(nil), m.states...), int(m.current.Load())
}

// refresh polls all servers and chooses the current one. Concurrent calls share a poll.
func (m *members) refresh(ctx context.Context) {
	done := m.asking.DoChan("", func() (any, error) {
		// Other callers may share the poll, so it continues when the context of one ends.
		m.askAll(context.WithoutCancel(ctx), askTimeout)
		return nil, nil
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// askAll polls all servers and chooses the current one. Only one goroutine at a time may call it.
func (m *members) askAll(ctx context.Context, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	before, current := m.snapshot()
	states := make([]memberState, len(m.all))
	var group sync.WaitGroup
	for i, one := range m.all {
		group.Go(func() {
			states[i] = one.ask(ctx)
			// A loaded server may time out once. Its previous state is used until it does so twice in a row.
			if states[i].err != nil && ctx.Err() != nil && before[i].err == nil && !before[i].late {
				states[i] = before[i]
				states[i].late = true
			}
		})
	}
	group.Wait()
	next := m.choose(states, current)
	m.mu.Lock()
	m.states = states
	if next != current {
		// A reader that notes the number between the two steps sees another one at its end.
		m.moves.Add(1)
		m.current.Store(int64(next))
		m.moves.Add(1)
	}
	m.mu.Unlock()
	if log := m.log.Load(); log != nil {
		m.logChanges(log, before, states, current, next)
	}
}

// logTo sets the logger for changes of the servers' states. It also logs at once which servers are unavailable or lag
// behind.
func (m *members) logTo(log *slog.Logger) {
	m.log.Store(log)
	states, current := m.snapshot()
	m.logChanges(log, make([]memberState, len(states)), states, -1, current)
}

func (m *members) logChanges(log *slog.Logger, before, after []memberState, from, to int) {
	for i, one := range m.all {
		was, is := before[i], after[i]
		switch {
		case is.err != nil && was.err == nil:
			log.Warn("database server is away", "server", one.address, "error", is.err)
		case is.err == nil && was.err != nil:
			log.Info("database server is back", "server", one.address)
		}
		switch {
		case is.leftOut && !was.leftOut:
			log.Warn("replica is too far behind", "server", one.address, "lag", is.lag)
		case !is.leftOut && was.leftOut && is.err == nil:
			log.Info("replica has caught up", "server", one.address)
		}
	}
	if from != to && to >= 0 {
		log.Info("database server is used", "server", m.all[to].address, "writable", after[to].writable)
	}
}

// connectTries is how often Connect tries at most. When a server goes away, a poll may already be running, and its
// result may still name that server.
const connectTries = 3

// Connect opens a connection to the current server. If that fails, it polls all servers and tries again.
func (m *members) Connect(ctx context.Context) (driver.Conn, error) {
	if m.current.Load() < 0 {
		m.refresh(ctx)
	}
	var failed error
	for range connectTries {
		current := int(m.current.Load())
		if current < 0 {
			break
		}
		conn, err := m.connect(ctx, current)
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
		failed = err
		m.refresh(ctx)
		m.awaken() // the next poll may now be urgent
	}
	switch {
	case failed == nil:
		return nil, m.noServerError()
	case m.current.Load() < 0:
		return nil, fmt.Errorf("%w: %w", failed, m.noServerError())
	}
	return nil, failed
}

// connect opens a connection to the server with index i. It returns driver.ErrBadConn if another server became the
// current one meanwhile.
func (m *members) connect(ctx context.Context, i int) (driver.Conn, error) {
	conn, err := m.all[i].connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.all[i].address, err)
	}
	whole, ok := conn.(mysqlConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what a connection needs", conn), conn.Close())
	}
	c := &memberConn{mysqlConn: whole, of: m, at: int64(i)}
	if c.moved() {
		// The pool uses a new connection without asking whether it is valid.
		return nil, errors.Join(driver.ErrBadConn, conn.Close())
	}
	return c, nil
}

// noServerError returns the error for a group in which no server can be used. It joins the errors of all servers at
// the last poll.
func (m *members) noServerError() error {
	states, _ := m.snapshot()
	errs := make([]error, 0, len(states))
	for i, s := range states {
		if s.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.all[i].address, s.err))
		}
	}
	return fmt.Errorf("no server answers: %w", errors.Join(errs...))
}

// Driver implements driver.Connector.
func (m *members) Driver() driver.Driver { return &mysql.MySQLDriver{} }

// close stops the polling goroutine and closes its connections.
func (m *members) close() error {
	m.stop()
	<-m.ended
	// This waits for a poll that is still running.
	if _, err, _ := m.asking.Do("", func() (any, error) { return nil, nil }); err != nil {
		return err
	}
	errs := make([]error, len(m.all))
	for i, one := range m.all {
		errs[i] = one.close()
	}
	return errors.Join(errs...)
}

// misconfigured returns the joined errors of servers that only the operator can repair. These are a wrong host name,
// user, database or calendar, or a server that is too old. Nil means that there are none. Unreachable servers do not
// count.
func (m *members) misconfigured() error {
	states, _ := m.snapshot()
	var errs []error
	for i, s := range states {
		if isMisconfigured(s.err) {
			errs = append(errs, fmt.Errorf("server %s: %w", m.all[i].address, s.err))
		}
	}
	return errors.Join(errs...)
}

// ErrUnfit is wrapped by errors about a server with an unsuitable version or another calendar. Such a server cannot
// be used until the operator changes it or its URL. Errors about a wrong host name, user, password or database do
// not wrap ErrUnfit.
var ErrUnfit = errors.New("the server cannot be used")

func isMisconfigured(err error) bool {
	var name *net.DNSError
	if errors.Is(err, ErrUnfit) || errors.As(err, &name) && name.IsNotFound {
		return true
	}
	var my *mysql.MySQLError
	return errors.As(err, &my) && refusedLogins[my.Number]
}

// refusedLogins are MySQL's error numbers for a wrong user, password or database.
var refusedLogins = map[uint16]bool{
	1044: true, // the user has no access to the database
	1045: true, // wrong user or password
	1049: true, // no such database
	1698: true, // wrong user (MariaDB)
}

// memberConn is a connection to one server of a group. It is valid until another server is the current one.
type memberConn struct {
	mysqlConn
	of *members
	at int64
}

// moved reports whether another server is now the current one, so that the connection must not be used.
func (c *memberConn) moved() bool {
	current := c.of.current.Load()
	return current >= 0 && current != c.at
}

// ResetSession implements driver.SessionResetter.
func (c *memberConn) ResetSession(ctx context.Context) error {
	if c.moved() {
		return driver.ErrBadConn
	}
	return c.mysqlConn.ResetSession(ctx)
}

// IsValid implements driver.Validator.
func (c *memberConn) IsValid() bool { return !c.moved() && c.mysqlConn.IsValid() }

// refusedWrite is called after the server rejected a write because it is read-only. It triggers a poll.
func (c *memberConn) refusedWrite() { c.of.awaken() }
