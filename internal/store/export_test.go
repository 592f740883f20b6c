package store

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/go-sql-driver/mysql"
)

func ParseURL(text string) (config *mysql.Config, shown string, err error) {
	l, err := parseURL(text)
	return l.mysql, l.String(), err
}

// Limits is what the options of a URL come to.
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

// failingConnector opens no connection.
type failingConnector struct {
	driver.Connector
	err error
}

func (c failingConnector) Connect(context.Context) (driver.Conn, error) { return nil, c.err }

// ConnectFailing returns the error of a connection that the driver of MySQL cannot open.
func ConnectFailing(ctx context.Context, err error) error {
	_, err = preparingConnector{failingConnector{err: err}, &useCounter{}}.Connect(ctx)
	return err
}
