package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// group is a MySQL replication group of three servers in single-primary mode.
type group struct {
	w       *world
	members []*mysqld
}

// errNoGroup is the error for servers that have no Group Replication. The scenario is then skipped.
var errNoGroup = fmt.Errorf("%w: the server has no Group Replication", errSkipped)

// groupName identifies the replication group. Any UUID would do.
const groupName = "8c9c1c2e-1c2e-4e0e-9b0a-2f1d3c4b5a69"

// group starts three servers and makes them a replication group. The first is the primary.
func (w *world) group(ctx context.Context) (*group, error) {
	g := &group{w: w, members: make([]*mysqld, 3)}
	seeds := make([]string, len(g.members))
	for i := range seeds {
		port, err := freePort(ctx)
		if err != nil {
			return nil, err
		}
		seeds[i] = "127.0.0.1:" + strconv.Itoa(port)
	}
	starting, startCtx := errgroup.WithContext(ctx)
	for i := range g.members {
		starting.Go(func() (err error) {
			g.members[i], err = w.server(startCtx, "member-"+strconv.Itoa(i+1), groupOptions(i, seeds)...)
			return err
		})
	}
	if err := starting.Wait(); err != nil {
		return nil, err
	}
	for _, m := range g.members {
		if _, err := m.root.ExecContext(ctx, "INSTALL PLUGIN group_replication SONAME 'group_replication.so'"); err != nil {
			return nil, fmt.Errorf("%w: %w", errNoGroup, err)
		}
	}
	if err := g.form(ctx); err != nil {
		return nil, err
	}
	return g, nil
}

func groupOptions(i int, seeds []string) []string {
	return []string{
		"--server-id=" + strconv.Itoa(i+1), "--log-bin=binlog", "--loose-gtid-mode=ON", "--loose-enforce-gtid-consistency=ON",
		"--performance-schema=ON", "--report-host=127.0.0.1",
		"--loose-group-replication-group-name=" + groupName,
		"--loose-group-replication-local-address=" + seeds[i],
		"--loose-group-replication-group-seeds=" + strings.Join(seeds, ","),
		"--loose-group-replication-start-on-boot=OFF", "--loose-group-replication-member-expel-timeout=0",
		"--loose-group-replication-recovery-get-public-key=ON",
	}
}

// form starts group replication on the servers, and waits until all are online.
func (g *group) form(ctx context.Context) error {
	for i, m := range g.members {
		statements := []string{
			"CHANGE REPLICATION SOURCE TO SOURCE_USER='copy', SOURCE_PASSWORD='copy' FOR CHANNEL 'group_replication_recovery'",
			"START GROUP_REPLICATION",
		}
		if i == 0 {
			statements = []string{
				statements[0], "SET GLOBAL group_replication_bootstrap_group = ON", statements[1],
				"SET GLOBAL group_replication_bootstrap_group = OFF",
				"CREATE USER copy IDENTIFIED BY 'copy'", "GRANT REPLICATION SLAVE ON *.* TO copy",
			}
		}
		for _, s := range statements {
			if err := m.exec(ctx, s); err != nil {
				return err
			}
		}
	}
	return wait(ctx, "three members are online", waitLimit, func(ctx context.Context) error {
		var online int
		err := g.members[0].root.QueryRowContext(ctx,
			"SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE'").Scan(&online)
		if err == nil && online != len(g.members) {
			err = fmt.Errorf("%d are", online)
		}
		return err
	})
}

// url returns the URL of a database for the service, with the addresses of all members.
func (g *group) url(name string) string {
	addresses := make([]string, len(g.members))
	for i, m := range g.members {
		addresses[i] = m.address()
	}
	return "mysql://root@" + strings.Join(addresses, ",") + "/" + name
}

// newPrimary waits until a member other than old accepts writes, and returns it.
func (g *group) newPrimary(ctx context.Context, old *mysqld) (*mysqld, error) {
	for {
		for _, m := range g.members {
			var readOnly bool
			if m != old && m.root.QueryRowContext(ctx, "SELECT @@global.super_read_only").Scan(&readOnly) == nil && !readOnly {
				return m, nil
			}
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// failingOver is a scenario that changes the primary of a group under load: by a command, and by killing the old one.
func failingOver(ctx context.Context, w *world) error {
	g, err := w.group(ctx)
	if err != nil {
		return err
	}
	if err := g.members[0].exec(ctx, "CREATE DATABASE almanac"); err != nil {
		return err
	}
	db := g.url("almanac")
	if _, err := w.command(ctx, "migrate", "apply", "--db", db); err != nil {
		return err
	}
	token, err := w.editor(ctx, db)
	if err != nil {
		return err
	}
	p, err := w.serve(ctx, "almanac", db)
	if err != nil {
		return err
	}
	load := w.load(ctx, token, fixedAddresses(p), nil)
	primary, err := g.moves(ctx, w, p, token)
	load.stop()
	if err != nil {
		return err
	}
	if err := w.verify(ctx, p, db, token); err != nil {
		return err
	}
	if err := p.stop(ctx); err != nil {
		return err
	}
	return g.strays(ctx, db, token, primary)
}

// moves makes other members the primary, twice, and checks that the service recovers. It returns the last primary.
func (g *group) moves(ctx context.Context, w *world, p *program, token string) (*mysqld, error) {
	old := g.members[0]
	for _, f := range []struct {
		name, what string
		begin      func(context.Context, *mysqld) error
	}{
		{"switchover", "another member is made the primary", func(ctx context.Context, old *mysqld) error {
			var id string
			if err := g.members[1].root.QueryRowContext(ctx, "SELECT @@server_uuid").Scan(&id); err != nil {
				return err
			}
			// The function takes no placeholder, and a user variable belongs to one connection.
			return old.exec(ctx, "SELECT group_replication_set_as_primary('"+id+"')")
		}},
		{"kill", "the primary is killed", func(_ context.Context, old *mysqld) error { old.kill(); return nil }},
	} {
		if err := pause(ctx, w.time); err != nil {
			return nil, err
		}
		line := w.startTimeline()
		if err := pause(ctx, time.Second); err != nil {
			return nil, err
		}
		w.away.Store(true)
		probes := w.probe(ctx, p)
		w.inject(f.what)
		line.mark(f.what)
		found := make(chan error, 1)
		var next *mysqld
		go func() {
			var err error
			next, err = g.newPrimary(ctx, old)
			line.mark("new primary")
			found <- err
		}()
		if err := f.begin(ctx, old); err != nil {
			return nil, errors.Join(err, <-found)
		}
		if err := <-found; err != nil {
			return nil, err
		}
		began := time.Now()
		if err := (&outage{w: w, p: p, token: token}).waitUntilWell(ctx); err != nil {
			return nil, err
		}
		line.mark("writes")
		w.recovered(time.Since(began), backWithin)
		if refused := probes.stop(); f.name == "kill" && refused == 0 {
			w.fail("/readyz/write was never 503 while there was no primary")
		}
		// All requests that waited with an old connection have their reply.
		if err := pause(ctx, requestTime); err != nil {
			return nil, err
		}
		w.away.Store(false)
		if err := line.end(f.name); err != nil {
			return nil, err
		}
		old = next
	}
	return old, nil
}

// probes requests /readyz and /readyz/write of a program repeatedly in a goroutine.
type probes struct {
	end     chan struct{}
	refused chan int // how often /readyz/write was 503
}

// probe starts to request /readyz and /readyz/write. Other replies of /readyz than 200 are broken promises.
func (w *world) probe(ctx context.Context, p *program) *probes {
	found := &probes{make(chan struct{}), make(chan int, 1)}
	go func() {
		refused := 0
		defer func() { found.refused <- refused }()
		for {
			if err := status(ctx, p.base()+"/readyz", http.StatusOK); err != nil && ctx.Err() == nil {
				w.fail("while the primary changes: %w", err)
			}
			if status(ctx, p.base()+"/readyz/write", http.StatusServiceUnavailable) == nil {
				refused++
			}
			select {
			case <-found.end:
				return
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return found
}

// stop ends the probes and returns how often /readyz/write was 503.
func (p *probes) stop() (refused int) {
	close(p.end)
	return <-p.refused
}

// strays restarts the killed member outside the group, where it accepts writes. A service started then must find the
// group's primary and ignore this member.
func (g *group) strays(ctx context.Context, db, token string, primary *mysqld) error {
	killed := g.members[1]
	if err := killed.restart(ctx); err != nil {
		return err
	}
	if err := killed.exec(ctx, "SET GLOBAL super_read_only = OFF"); err != nil {
		return err
	}
	if err := killed.exec(ctx, "SET GLOBAL read_only = OFF"); err != nil {
		return err
	}
	// The URL names it first.
	first := strings.Replace(strings.Replace(db, killed.address()+",", "", 1), "@", "@"+killed.address()+",", 1)
	p, err := g.w.serve(ctx, "after", first)
	if err != nil {
		return err
	}
	c := g.w.client(token)
	defer c.http.CloseIdleConnections()
	if _, err := c.json(ctx, p.base(), http.MethodPost, "/tags", object{"name": "stray"}, http.StatusCreated); err != nil {
		return fmt.Errorf("with a member outside of its group: %w", err)
	}
	var n int
	err = primary.root.QueryRowContext(ctx, "SELECT COUNT(*) FROM almanac.terms WHERE name = 'stray'").Scan(&n)
	if err == nil && n != 1 {
		err = fmt.Errorf("a write went to the member outside of its group")
	}
	return errors.Join(err, p.stop(ctx))
}
