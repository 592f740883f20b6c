package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"
)

// A URL with several hosts names the servers of a replication group. Connections go to the primary, which
// accepts writes. While there is no primary, they go to any server that answers, so that reads continue
// (decision 048).

// errReadOnly is returned by CheckWrite if no server accepts writes.
var errReadOnly = errors.New("the database takes no writes")

// primaries returns the group of servers for a URL with several hosts. It also returns each server's polling state,
// by host. The servers have not been polled yet.
func (l location) primaries() (*members, []*primaryState, error) {
	all, asked := make([]*member, len(l.hosts)), make([]*primaryState, len(l.hosts))
	for i, host := range l.hosts {
		one := l.forHost(host)
		connector, err := one.connector()
		if err != nil {
			return nil, nil, err
		}
		probe := openProbe(connector)
		asked[i] = &primaryState{db: probe}
		all[i] = &member{address: host, connector: connector, ask: asked[i].ask, close: probe.Close}
	}
	m := newMembers(all)
	m.choose = choosePrimary
	m.urgent = func(states []memberState, current int) bool { return current < 0 || !states[current].writable }
	return m, asked, nil
}

// forHost returns the location of one host of a URL with several hosts.
func (l location) forHost(host string) location {
	l.mysql = l.mysql.Clone()
	l.mysql.Addr, l.hosts = host, nil
	l.mysql.Timeout = min(l.mysql.Timeout, memberTimeout)
	return l
}

// openProbe returns a pool of at most two connections for polling a server.
func openProbe(connector driver.Connector) *sql.DB {
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(2)
	return db
}

// choosePrimary returns the index of the server to use, or -1 if no server answers. It keeps the current server
// while that accepts writes. If no server accepts writes, it prefers the current one among those that answer.
func choosePrimary(states []memberState, current int) int {
	for _, fits := range []func(memberState) bool{
		func(s memberState) bool { return s.err == nil && s.writable },
		func(s memberState) bool { return s.err == nil },
	} {
		if current >= 0 && fits(states[current]) {
			return current
		}
		for i, s := range states {
			if fits(s) {
				return i
			}
		}
	}
	return -1
}

// primaryState polls one server of a group, to determine whether it accepts writes.
type primaryState struct {
	db *sql.DB
	// noGroup is true if the server does not report its role in a group, or if the user may not read it.
	noGroup bool
	// fits is a check that runs at each poll until it passes. Nil means that nothing needs checking.
	fits atomic.Pointer[memberCheck]
}

// memberCheck is the check that a server must pass before it is used (CheckServers).
type memberCheck struct {
	passed bool
	do     func(context.Context) error
}

// ask polls the server. It implements member.ask.
func (p *primaryState) ask(ctx context.Context) (s memberState) {
	if c := p.fits.Load(); c != nil && !c.passed {
		if s.err = c.do(ctx); s.err != nil {
			return s
		}
		c.passed = true
	}
	readOnly, err := isReadOnlyServer(ctx, p.db)
	if err != nil {
		s.err = err
		return s
	}
	s.writable = !readOnly
	if s.writable && !p.noGroup {
		s.writable, s.err = p.leads(ctx)
	}
	return s
}

// groupQuery counts the servers of a group as one server sees it: all, the online ones, and itself if it is
// online.
const groupQuery = "SELECT COUNT(*), COALESCE(SUM(MEMBER_STATE = 'ONLINE'), 0), " +
	"COALESCE(SUM(MEMBER_STATE = 'ONLINE' AND MEMBER_ID = @@server_uuid), 0) FROM performance_schema.replication_group_members"

// leads reports whether a server that accepts writes belongs to the majority of its group, or to no group. A former
// primary that was restarted outside its group may accept writes, but does not lead.
func (p *primaryState) leads(ctx context.Context) (bool, error) {
	var all, online, itself int
	err := p.db.QueryRowContext(ctx, groupQuery).Scan(&all, &online, &itself)
	if errors.As(err, new(*mysql.MySQLError)) {
		p.noGroup = true
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return all == 0 || itself == 1 && 2*online > all, nil
}

// isReadOnlyServer reports whether a server rejects writes. super_read_only sets read_only too.
func isReadOnlyServer(ctx context.Context, db *sql.DB) (bool, error) {
	var value string
	if err := db.QueryRowContext(ctx, "SELECT @@global.read_only").Scan(&value); err != nil {
		return false, err
	}
	return value != "0" && !strings.EqualFold(value, "OFF"), nil
}

// CheckWrite returns nil if the database now accepts writes. For SQLite it only checks that the database answers.
func (s *Store) CheckWrite(ctx context.Context) error {
	if s.url.mysql == nil {
		return s.Reach(ctx)
	}
	if s.members != nil {
		if states, current := s.members.snapshot(); current < 0 || !states[current].writable {
			return errReadOnly
		}
	}
	readOnly, err := isReadOnlyServer(ctx, s.DB)
	if err == nil && readOnly {
		err = errReadOnly
	}
	return err
}

// LogServers logs which servers of a URL with several hosts are unavailable and which one is used. It logs
// later changes too.
func (s *Store) LogServers(log *slog.Logger) {
	if s.members != nil {
		s.members.logTo(log)
	}
}

// CheckServers runs a check on each server of a URL with several hosts, with a store for that server alone. It
// returns errors that wrap ErrUnfit, and errors about a wrong host name, user, password or database. An
// unavailable server is checked when it is back, and is not used before it passes.
func (s *Store) CheckServers(ctx context.Context, check func(context.Context, *Store) error) error {
	if s.members == nil {
		return nil
	}
	for i, state := range s.primaries {
		one := newStore(state.db, s.url.forHost(s.url.hosts[i]))
		state.fits.Store(&memberCheck{do: func(ctx context.Context) error { return check(ctx, one) }})
	}
	s.members.refresh(ctx)
	return s.members.misconfigured()
}

// oldestMySQL and oldestMariaDB are the oldest versions with the features that the migrations use.
var (
	oldestMySQL   = [3]int{8, 0, 29}
	oldestMariaDB = [3]int{10, 6, 0}
)

// checkVersion returns an error that wraps ErrUnfit if a version of MySQL or MariaDB is too old.
func checkVersion(version string) error {
	name, oldest := "MySQL", oldestMySQL
	if strings.Contains(version, "MariaDB") {
		name, oldest = "MariaDB", oldestMariaDB
	}
	number, _, _ := strings.Cut(version, "-")
	parts := strings.Split(number, ".")
	for i := range min(len(parts), len(oldest)) {
		n, err := strconv.Atoi(parts[i])
		if err != nil || n > oldest[i] {
			return nil
		}
		if n < oldest[i] {
			return fmt.Errorf("%w: %s %s is too old, want %d.%d.%d or later",
				ErrUnfit, name, number, oldest[0], oldest[1], oldest[2])
		}
	}
	return nil
}
