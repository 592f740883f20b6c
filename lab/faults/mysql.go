package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// mysqld is a MySQL server for one scenario, which can kill and restart it.
type mysqld struct {
	w       *world
	name    string
	dir     string
	port    int
	options []string

	cmd   *exec.Cmd
	ended chan struct{}
	root  *sql.DB
}

// server starts a MySQL server and waits until it is ready. It syncs each commit to disk, as in production, so that
// acknowledged writes survive a kill.
func (w *world) server(ctx context.Context, name string, options ...string) (*mysqld, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	m := &mysqld{w: w, name: name, dir: filepath.Join(w.dir, name), port: port, options: append([]string{
		"--innodb-buffer-pool-size=64M", "--performance-schema=OFF", "--max-connections=400",
	}, options...)}
	if err := os.MkdirAll(m.dir, 0o755); err != nil {
		return nil, err
	}
	config := mysql.NewConfig()
	config.User, config.Net, config.Addr = "root", "tcp", m.address()
	config.Timeout, config.ReadTimeout = 5*time.Second, time.Minute
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	m.root = sql.OpenDB(connector)
	w.later(func() error {
		m.kill()
		return m.root.Close()
	})
	if err := m.launch(); err != nil {
		return nil, err
	}
	err = m.ready(ctx)
	return m, err
}

// database starts a MySQL server with a database for the service. It returns the server and the URL of the database.
func (w *world) database(ctx context.Context) (m *mysqld, url string, err error) {
	if m, err = w.server(ctx, "mysql"); err == nil {
		url, err = m.database(ctx)
	}
	return m, url, err
}

func (m *mysqld) address() string { return "127.0.0.1:" + strconv.Itoa(m.port) }

// launch starts the server's process. It does not wait until the server is ready.
func (m *mysqld) launch() (err error) {
	log, err := os.OpenFile(filepath.Join(m.w.dir, m.name+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	//nolint:noctx // it outlives the context: the scenario ends it
	cmd := exec.Command(m.w.mysqld, append([]string{m.dir, strconv.Itoa(m.port)}, m.options...)...)
	cmd.Stdout, cmd.Stderr = log, log
	ended, err := startProcess(cmd)
	if err != nil {
		return err
	}
	m.cmd, m.ended = cmd, ended
	return nil
}

// ready waits until the server accepts connections, for 90 seconds at most. It returns an error if the process ends.
func (m *mysqld) ready(ctx context.Context) error {
	return wait(ctx, m.name+" answers", 90*time.Second, func(ctx context.Context) error {
		select {
		case <-m.ended:
			return fmt.Errorf("it ended with status %d, see %s.log", m.cmd.ProcessState.ExitCode(), m.name)
		default:
		}
		return m.root.PingContext(ctx)
	})
}

// kill sends SIGKILL to the server and waits until it ends.
func (m *mysqld) kill() { m.signal(syscall.SIGKILL) }

// shutdown sends SIGTERM to the server, like an operator, and waits until it ends.
func (m *mysqld) shutdown() { m.signal(syscall.SIGTERM) }

func (m *mysqld) signal(s syscall.Signal) {
	if m.cmd == nil {
		return
	}
	if err := m.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		m.w.fail("end %s: %v", m.name, err)
		return
	}
	select {
	case <-m.ended:
	case <-time.After(waitLimit):
		m.w.fail("%s does not end", m.name)
	}
}

// exec runs a statement as root.
func (m *mysqld) exec(ctx context.Context, statement string) error {
	if _, err := m.root.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// either tries statements until the server accepts one, since MySQL and MariaDB differ in syntax. It returns all
// errors if none is accepted.
func (m *mysqld) either(ctx context.Context, statements ...string) error {
	var errs []error
	for _, s := range statements {
		err := m.exec(ctx, s)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// database creates the database almanac with the current schema, and returns its URL.
func (m *mysqld) database(ctx context.Context) (string, error) {
	if err := m.exec(ctx, "CREATE DATABASE almanac"); err != nil {
		return "", err
	}
	db := m.url(m.address(), "almanac")
	_, err := m.w.command(ctx, "migrate", "apply", "--db", db)
	return db, err
}

// url returns the URL of the database with a name. address is that of the server or of a proxy.
func (m *mysqld) url(address, name string) string { return "mysql://root@" + address + "/" + name }
