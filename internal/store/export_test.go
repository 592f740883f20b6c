package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

func ParseURL(text string) (config *mysql.Config, shown string, err error) {
	l, err := parseURL(text)
	return l.mysql, l.String(), err
}

// Limits has the time limits, pool limits and other options that parseURL read from a URL.
type Limits struct {
	Open, Idle           int
	IdleTime, Age        time.Duration
	Timeout, Read, Write time.Duration
	DSN                  string
	Busy                 time.Duration
	PrepareAfter         int
}

func LimitsOf(text string) (Limits, error) {
	l, err := parseURL(text)
	if err != nil {
		return Limits{}, err
	}
	out := Limits{Open: l.pool.open, Idle: l.pool.idle, IdleTime: l.pool.idleTime, Age: l.pool.age, DSN: l.dsn, Busy: l.sqlite.busy, PrepareAfter: l.prepareAfter}
	if l.mysql != nil {
		out.Timeout, out.Read, out.Write = l.mysql.Timeout, l.mysql.ReadTimeout, l.mysql.WriteTimeout
	}
	return out, nil
}

// HostsOf returns the host addresses of a database URL with several hosts. It returns nil for a URL with one host.
func HostsOf(text string) ([]string, error) {
	l, err := parseURL(text)
	return l.hosts, err
}

// failingConnector is a driver.Connector whose Connect always returns err.
type failingConnector struct {
	driver.Connector
	err error
}

func (c failingConnector) Connect(context.Context) (driver.Conn, error) { return nil, c.err }

// ConnectFailing returns the error of preparingConnector.Connect when the MySQL driver fails to connect with err.
func ConnectFailing(ctx context.Context, err error) error {
	_, err = preparingConnector{failingConnector{err: err}, &useCounter{}, false}.Connect(ctx)
	return err
}

// SentTo returns the text that a connection sends to the server for a query. version is the server's version string,
// which may make the connection change the query.
func SentTo(ctx context.Context, version, query string) (sent string, err error) {
	fake := &versionConn{version: version}
	conn, err := sessionConnector{fake, &statementLimit{}}.Connect(ctx)
	if err != nil {
		if !fake.closed {
			return "", fmt.Errorf("the connection is left open: %w", err)
		}
		return "", err
	}
	queries, ok := conn.(driver.QueryerContext)
	if !ok {
		return "", fmt.Errorf("%T runs no queries", conn)
	}
	rows, err := queries.QueryContext(ctx, query, nil)
	if err != nil {
		return "", err
	}
	return fake.sent, rows.Close()
}

// versionConn is a connector and a connection to a fake server. The fake server only answers the query for its
// version, and records the last query.
type versionConn struct {
	mysqlConn
	version, sent string
	closed        bool
}

func (c *versionConn) Connect(context.Context) (driver.Conn, error) { return versionOnly{c}, nil }
func (c *versionConn) Driver() driver.Driver                        { return nil }

// versionOnly is the connection that versionConn.Connect returns. It implements only the methods that the tests use.
type versionOnly struct{ *versionConn }

func (c versionOnly) Close() error {
	c.closed = true
	return nil
}

func (c versionOnly) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return driver.ResultNoRows, nil
}

func (c versionOnly) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	c.sent = query
	return versionRow{version: c.version}, nil
}

type versionRow struct {
	driver.Rows
	version string
}

func (r versionRow) Next(row []driver.Value) error {
	row[0] = []byte(r.version)
	return nil
}

func (versionRow) Close() error { return nil }

// LimitSetting returns the statement that sets the time limit for statements. version is the version string of the
// server.
func LimitSetting(version string, limit time.Duration) string {
	var l statementLimit
	l.Store(int64(limit))
	return l.setting(version)
}
