package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// laggingReplica is a scenario with two real replicas. Replication is stopped while the calendar changes, and
// resumed. Then the replicas are killed one after the other.
func laggingReplica(ctx context.Context, w *world) error {
	source, replicas, err := w.replicated(ctx)
	if err != nil {
		return err
	}
	db, err := source.database(ctx)
	if err != nil {
		return err
	}
	token, err := w.editor(ctx, db)
	if err != nil {
		return err
	}
	p, err := w.serve(ctx, "almanac", db, "--db-read",
		replicas[0].url(replicas[0].address(), "almanac")+","+replicas[1].url(replicas[1].address(), "almanac"))
	if err != nil {
		return err
	}
	l := &lag{w: w, p: p, signedIn: w.client(token), nobody: w.client("")}
	defer l.signedIn.http.CloseIdleConnections()
	defer l.nobody.http.CloseIdleConnections()
	before, err := l.write(ctx, "before")
	if err != nil {
		return err
	}
	if err := l.waitForAll(ctx, before); err != nil {
		return err
	}
	if err := l.readsReplica(ctx); err != nil {
		return err
	}
	load := w.load(ctx, token, fixedAddresses(p), func(l *load) { l.writers = 3 })
	defer func() {
		if load != nil {
			load.stop()
		}
	}()
	for round := range 2 {
		w.inject("the replicas stop applying")
		for _, replica := range replicas {
			if err := replica.either(ctx, "STOP REPLICA SQL_THREAD", "STOP SLAVE SQL_THREAD"); err != nil {
				return err
			}
		}
		if err := l.behind(ctx, before, round, 2*w.time); err != nil {
			return err
		}
		for _, replica := range replicas {
			if err := replica.either(ctx, "START REPLICA SQL_THREAD", "START SLAVE SQL_THREAD"); err != nil {
				return err
			}
			if err := replica.waitForReplica(ctx, source); err != nil {
				return err
			}
		}
		began := time.Now()
		if err := l.waitForAll(ctx, l.newest); err != nil {
			return err
		}
		w.recovered(time.Since(began), backWithin)
	}
	for _, replica := range replicas {
		w.inject(replica.name + " is killed")
		w.away.Store(true)
		replica.kill()
		if err := l.without(ctx); err != nil {
			return err
		}
		// All who waited for a connection from before have had their reply.
		if err := pause(ctx, requestTime); err != nil {
			return err
		}
		w.away.Store(false)
	}
	if err := replicas[0].restart(ctx); err != nil {
		return err
	}
	if err := replicas[0].waitForReplica(ctx, source); err != nil {
		return err
	}
	began := time.Now()
	if err := l.readsReplica(ctx); err != nil {
		return err
	}
	if err := l.waitForAll(ctx, l.newest); err != nil {
		return err
	}
	w.recovered(time.Since(began), backWithin)
	load.stop()
	load = nil
	return l.end(ctx, db, token)
}

// waitForReplica waits until a replica has at least the calendar's revision of its source. It returns an error after
// catchUpLimit.
func (m *mysqld) waitForReplica(ctx context.Context, source *mysqld) error {
	const newest = "SELECT value FROM almanac.counters WHERE name = 'revision'"
	return wait(ctx, m.name+" has caught up", catchUpLimit, func(ctx context.Context) error {
		var there, here int64
		if err := source.root.QueryRowContext(ctx, newest).Scan(&there); err != nil {
			return err
		}
		err := m.root.QueryRowContext(ctx, newest).Scan(&here)
		if err == nil && here < there {
			err = fmt.Errorf("it is %d changes behind", there-here)
		}
		return err
	})
}

// catchUpLimit is how long a replica may take to apply what it has missed.
const catchUpLimit = 2 * time.Minute

// readsReplica waits until the service's log shows that it reads from a replica. It returns an error after waitLimit.
func (l *lag) readsReplica(ctx context.Context) error {
	return wait(ctx, "the service reads a replica", waitLimit, func(ctx context.Context) error {
		data, err := os.ReadFile(l.p.logFile)
		if err != nil {
			return err
		}
		used := usedServer.FindAllSubmatch(data, -1)
		if len(used) == 0 || string(used[len(used)-1][1]) == "the database itself" {
			return errors.New("it reads the database itself")
		}
		return nil
	})
}

// usedServer finds the name of the database server that the service reads from, in its log.
var usedServer = regexp.MustCompile(`"msg":"database server is used","server":"([^"]*)"`)

// replicated starts a MySQL server and two replicas of it, which replicate.
func (w *world) replicated(ctx context.Context) (source *mysqld, replicas [2]*mysqld, err error) {
	options := func(id string) []string {
		return []string{"--server-id=" + id, "--log-bin=binlog", "--binlog-format=ROW", "--relay-log=relay"}
	}
	starting, startCtx := errgroup.WithContext(ctx)
	starting.Go(func() (err error) {
		source, err = w.server(startCtx, "source", options("1")...)
		return err
	})
	for i := range replicas {
		starting.Go(func() (err error) {
			id := strconv.Itoa(i + 2)
			replicas[i], err = w.server(startCtx, "replica-"+id, options(id)...)
			return err
		})
	}
	if err := starting.Wait(); err != nil {
		return nil, replicas, err
	}
	file, position, err := source.logPosition(ctx)
	if err != nil {
		return nil, replicas, err
	}
	// Replication has a user of its own, since the rights of root differ by server.
	for _, s := range []string{"CREATE USER copy IDENTIFIED BY 'copy'", "GRANT REPLICATION SLAVE ON *.* TO copy"} {
		if err := source.exec(ctx, s); err != nil {
			return nil, replicas, err
		}
	}
	for _, replica := range replicas {
		err := replica.either(ctx,
			fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=%d, SOURCE_USER='copy', SOURCE_PASSWORD='copy', "+
				"SOURCE_LOG_FILE='%s', SOURCE_LOG_POS=%s, SOURCE_CONNECT_RETRY=1, GET_SOURCE_PUBLIC_KEY=1", source.port, file, position),
			fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=%d, MASTER_USER='copy', MASTER_PASSWORD='copy', "+
				"MASTER_LOG_FILE='%s', MASTER_LOG_POS=%s, MASTER_CONNECT_RETRY=1", source.port, file, position))
		if err == nil {
			err = replica.either(ctx, "START REPLICA", "START SLAVE")
		}
		if err != nil {
			return nil, replicas, err
		}
	}
	return source, replicas, nil
}

// logPosition returns the current file and position of the server's binary log.
func (m *mysqld) logPosition(ctx context.Context) (file, position string, err error) {
	// MySQL has given up the second name, MariaDB does not know the first.
	for _, show := range []string{"SHOW BINARY LOG STATUS", "SHOW MASTER STATUS"} {
		if file, position, err = m.firstTwo(ctx, show); err == nil {
			return file, position, nil
		}
	}
	return "", "", fmt.Errorf("where the log of %s stands: %w", m.name, err)
}

// firstTwo returns the first two columns of a query's first row, as text. A result without rows is an error.
func (m *mysqld) firstTwo(ctx context.Context, query string) (a, b string, err error) {
	rows, err := m.root.QueryContext(ctx, query)
	if err != nil {
		return "", "", err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return "", "", err
	}
	to := make([]any, len(columns))
	for i := range to {
		to[i] = new(any)
	}
	if len(to) < 2 || !rows.Next() {
		return "", "", errors.Join(rows.Err(), fmt.Errorf("%s: no row", query))
	}
	to[0], to[1] = &a, &b
	err = rows.Scan(to...)
	return a, b, err
}

// lag is a service whose replicas lag behind, with a signed-in and an anonymous client.
type lag struct {
	w                *world
	p                *program
	signedIn, nobody *client
	newest           version
}

// version is one state of the event that the scenario rewrites. Its title, venue, tag and search words change
// together.
type version struct {
	id     int64
	number int
}

func (v version) event() *event {
	n := strconv.Itoa(v.number)
	return &event{
		Title: "Replicated version " + n, Description: "Wording" + n + " of it.", Venue: "Replica hall " + n,
		Organizers: []string{"Replica club"}, Tags: []string{"replica " + n}, Categories: []string{"replicas"},
	}
}

// write creates the event, or changes it to its next version. It returns an error unless the writer reads the new
// version at once.
func (l *lag) write(ctx context.Context, when string) (version, error) {
	v := version{l.newest.id, l.newest.number + 1}
	body := v.event().body()
	method, path, want := http.MethodPut, "/events/"+strconv.FormatInt(v.id, 10), http.StatusOK
	if v.id == 0 {
		method, path, want = http.MethodPost, "/events", http.StatusCreated
		body["start_date"] = time.Now().AddDate(0, 1, 0).Format("2006-01-02 15:04:05")
		body["end_date"] = body["start_date"]
	}
	a, err := l.signedIn.json(ctx, l.p.base(), method, path, body, want)
	if err != nil {
		return v, fmt.Errorf("%s: %w", when, err)
	}
	var row eventRow
	if err := a.into(&row); err != nil {
		return v, err
	}
	v.id = row.ID
	l.newest = v
	if err := l.reads(ctx, l.signedIn, v, true); err != nil {
		return v, fmt.Errorf("%s, its writer: %w", when, err)
	}
	return v, nil
}

// reads returns an error unless a client sees a version by id, in lists and in searches. If want is false, it must
// see the version nowhere. A mixture of versions is an error.
func (l *lag) reads(ctx context.Context, c *client, v version, want bool) error {
	n, id := strconv.Itoa(v.number), strconv.FormatInt(v.id, 10)
	for _, path := range []string{"/events/" + id, "/events?include=" + id, "/events?search=wording" + n, "/events?tags=replica-" + n} {
		a, err := c.get(ctx, l.p.base(), path, http.StatusOK, http.StatusNotFound, http.StatusBadRequest)
		if err != nil {
			return err
		}
		var got struct {
			eventRow
			Events []eventRow
		}
		if err := a.into(&got); err != nil {
			return err
		}
		rows := got.Events
		if got.ID != 0 {
			rows = append(rows, got.eventRow)
		}
		sees := false
		for _, row := range rows {
			is := row.event()
			// What is shown is one version, not the title of one and the venue of another.
			var number int
			if _, err := fmt.Sscanf(is.Title, "Replicated version %d", &number); err != nil {
				return fmt.Errorf("%s: %q", path, is.Title)
			}
			if whole := (version{v.id, number}).event(); !is.equal(whole) {
				return fmt.Errorf("%s is a mixture: %+v", path, *is)
			}
			sees = sees || number == v.number
		}
		if sees != want {
			return fmt.Errorf("%s shows version %s: %t, want %t: %.300s", path, n, sees, want, a.body)
		}
	}
	return nil
}

// waitForAll waits until anonymous requests show a version. Refusals count as broken promises from then on.
func (l *lag) waitForAll(ctx context.Context, v version) error {
	return wait(ctx, fmt.Sprintf("all see version %d", v.number), waitLimit, func(ctx context.Context) error {
		err := l.reads(ctx, l.nobody, v, true)
		if err == nil {
			l.w.away.Store(false)
		}
		return err
	})
}

// behind writes for a time while replication is stopped. The writer must see each version at once. Anonymous requests
// must show the version from before.
func (l *lag) behind(ctx context.Context, _ version, round int, length time.Duration) error {
	// What is under way is applied or not, but does not change any more.
	if err := pause(ctx, 300*time.Millisecond); err != nil {
		return err
	}
	stands := l.newest
	end := time.Now().Add(length)
	for time.Now().Before(end) {
		v, err := l.write(ctx, fmt.Sprintf("behind, round %d", round))
		if err != nil {
			return err
		}
		if err := l.reads(ctx, l.nobody, stands, true); err != nil {
			return fmt.Errorf("behind, nobody in particular: %w", err)
		}
		if err := l.reads(ctx, l.nobody, v, false); err != nil {
			return fmt.Errorf("behind, nobody in particular: %w", err)
		}
	}
	l.w.say("behind by %d versions, and the same for all who have not signed in", l.newest.number-stands.number)
	return nil
}

// without checks that the service writes, reads and is ready after one or both replicas were killed.
func (l *lag) without(ctx context.Context) error {
	one := "/events/" + strconv.FormatInt(l.newest.id, 10)
	if _, err := l.signedIn.json(ctx, l.p.base(), http.MethodPut, one, object{"featured": false}, http.StatusOK); err != nil {
		return fmt.Errorf("without the replica: %w", err)
	}
	for _, c := range []*client{l.signedIn, l.nobody} {
		for _, path := range []string{"/events", one, "/venues"} {
			if _, err := c.get(ctx, l.p.base(), path, http.StatusOK); err != nil {
				return fmt.Errorf("without the replica: %s: %w", path, err)
			}
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/readyz/write"} {
		if err := status(ctx, l.p.base()+path, http.StatusOK); err != nil {
			return fmt.Errorf("without the replica: %w", err)
		}
	}
	return nil
}

// end compares the calendar with the journal, to which it adds the scenario's event first. Then it stops the service.
func (l *lag) end(ctx context.Context, db, token string) error {
	l.w.journal.created(l.newest.event(), l.newest.id, true)
	if err := l.w.verify(ctx, l.p, db, token); err != nil {
		return err
	}
	return l.p.stop(ctx)
}
