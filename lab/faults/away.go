package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// backWithin is how long the service may take to notice that its database is back.
const backWithin = 10 * time.Second

// awayFor is how long a fault lasts, which is longer than the service's time limit for a request.
const awayFor = requestTime + time.Second

// outage is a service under load, for scenarios in which its database fails for a while. mysql is nil on SQLite.
type outage struct {
	w     *world
	mysql *mysqld
	db    string // URL past any proxy
	p     *program
	token string
	load  *load
}

// outage starts a MySQL server, a service and a load. by returns the database URL that the service gets, for example
// one of a proxy. A nil by keeps the URL.
func (w *world) outage(ctx context.Context, by func(m *mysqld, db string) (string, error)) (*outage, error) {
	m, db, err := w.database(ctx)
	if err != nil {
		return nil, err
	}
	given := db
	if by != nil {
		if given, err = by(m, db); err != nil {
			return nil, err
		}
	}
	p, err := w.serve(ctx, "almanac", given)
	if err != nil {
		return nil, err
	}
	token, err := w.editor(ctx, db)
	if err != nil {
		return nil, err
	}
	o := &outage{w: w, mysql: m, db: db, p: p, token: token}
	o.load = w.load(ctx, token, fixedAddresses(p), nil)
	return o, pause(ctx, w.time/2)
}

// during calls begin to inject a fault, look to check the service while it lasts, and end to undo it. It then waits
// until the service has recovered. A nil look checks nothing.
func (o *outage) during(ctx context.Context, what string, begin, end func(context.Context) error, look func(context.Context) error) error {
	o.w.away.Store(true)
	o.w.inject(what)
	if err := begin(ctx); err != nil {
		return err
	}
	began := time.Now()
	if look != nil {
		if err := look(ctx); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	if err := pause(ctx, awayFor-time.Since(began)); err != nil {
		return err
	}
	if err := end(ctx); err != nil {
		return err
	}
	began = time.Now()
	if err := o.waitUntilWell(ctx); err != nil {
		return fmt.Errorf("%s is over: %w", what, err)
	}
	o.w.recovered(time.Since(began), backWithin)
	// All requests that waited with an old connection have their reply.
	if err := pause(ctx, requestTime); err != nil {
		return err
	}
	o.w.away.Store(false)
	return pause(ctx, o.w.time/2)
}

// unavailable returns an error unless the service reports that it cannot work. Requests and /readyz must reply 503,
// and /healthz 200.
func (o *outage) unavailable(ctx context.Context) error {
	err := wait(ctx, "/readyz is 503", requestTime+4*time.Second, func(ctx context.Context) error {
		return status(ctx, o.p.base()+"/readyz", http.StatusServiceUnavailable)
	})
	c := o.w.client(o.token)
	defer c.http.CloseIdleConnections()
	began := time.Now()
	_, refused := c.get(ctx, o.p.base(), "/venues", http.StatusOK)
	if err503 := check503(refused); err503 != nil {
		err = errors.Join(err, fmt.Errorf("GET /venues: %w", err503))
	}
	took := time.Since(began)
	o.w.say("meanwhile GET is 503 after %v", took.Round(time.Millisecond))
	return errors.Join(err, status(ctx, o.p.base()+"/healthz", http.StatusOK))
}

// waitUntilWell waits until the service reads and writes, and /readyz and /readyz/write reply 200.
func (o *outage) waitUntilWell(ctx context.Context) error {
	c := o.w.client(o.token)
	defer c.http.CloseIdleConnections()
	return wait(ctx, "the service works", 3*backWithin, func(ctx context.Context) error {
		_, err := c.json(ctx, o.p.base(), http.MethodPost, "/tags", object{"name": "tag 0"}, http.StatusCreated, http.StatusBadRequest)
		if err == nil {
			_, err = c.json(ctx, o.p.base(), http.MethodPut, "/events/0", object{}, http.StatusNotFound)
		}
		if err == nil {
			_, err = c.get(ctx, o.p.base(), "/events", http.StatusOK)
		}
		if err == nil {
			err = errors.Join(status(ctx, o.p.base()+"/readyz", http.StatusOK), status(ctx, o.p.base()+"/readyz/write", http.StatusOK))
		}
		return err
	})
}

// done stops the load, compares the calendar with the acknowledged writes, and stops the service.
func (o *outage) done(ctx context.Context) error {
	o.load.stop()
	if o.p.gone() {
		return fmt.Errorf("%s ended: %s", o.p.name, o.p.tail(5))
	}
	if err := o.w.verify(ctx, o.p, o.db, o.token); err != nil {
		return err
	}
	return o.p.stop(ctx)
}

func status(ctx context.Context, url string, want int) error {
	is, err := probe(ctx, url)
	if err == nil && is != want {
		err = fmt.Errorf("%s is %d, want %d", url, is, want)
	}
	return err
}

func restartMySQL(ctx context.Context, w *world) error {
	return w.mysqlEnds(ctx, "MySQL is killed", (*mysqld).kill)
}

func stopMySQL(ctx context.Context, w *world) error {
	return w.mysqlEnds(ctx, "MySQL is shut down", (*mysqld).shutdown)
}

// mysqlEnds ends the MySQL server under load and starts it again, twice.
func (w *world) mysqlEnds(ctx context.Context, what string, end func(*mysqld)) error {
	o, err := w.outage(ctx, nil)
	if err != nil {
		return err
	}
	for range 2 {
		err := o.during(ctx, what, func(context.Context) error { end(o.mysql); return nil }, o.mysql.restart, o.unavailable)
		if err != nil {
			o.load.stop()
			return err
		}
	}
	return o.done(ctx)
}

// restart starts the MySQL server again after it ended, and waits until it is ready.
func (m *mysqld) restart(ctx context.Context) error {
	if err := m.launch(); err != nil {
		return err
	}
	return m.ready(ctx)
}

func cutMySQL(ctx context.Context, w *world) error {
	var net *proxy
	o, err := w.outage(ctx, func(m *mysqld, _ string) (url string, err error) {
		if net, err = newProxy(ctx, m.address()); err != nil {
			return "", err
		}
		w.later(net.close)
		return m.url(net.address(), "almanac"), nil
	})
	if err != nil {
		return err
	}
	to := func(way proxyMode) func(context.Context) error {
		return func(context.Context) error { net.set(way); return nil }
	}
	for _, f := range []struct {
		what       string
		begin, end func(context.Context) error
	}{
		{"connections are reset, new ones are refused", to(refuse), to(pass)},
		{"nothing goes through, and then all of it", to(stall), to(pass)},
		{"nothing goes through, and the router forgets all connections", to(stall), func(context.Context) error {
			net.set(refuse)
			net.set(pass)
			return nil
		}},
	} {
		if err := o.during(ctx, f.what, f.begin, f.end, o.unavailable); err != nil {
			o.load.stop()
			return err
		}
	}
	w.inject("connections are reset ten times, and new ones are possible at once")
	w.away.Store(true)
	for range 10 {
		net.set(refuse)
		net.set(pass)
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			o.load.stop()
			return err
		}
	}
	w.away.Store(false)
	if err := pause(ctx, w.time/2); err != nil {
		o.load.stop()
		return err
	}
	return o.done(ctx)
}

// refusingMySQL is a scenario in which MySQL runs but refuses statements, as during a failover or with all
// connections used.
func refusingMySQL(ctx context.Context, w *world) error {
	o, err := w.outage(ctx, func(m *mysqld, _ string) (string, error) {
		// Limits on connections and writes apply to users other than root.
		for _, s := range []string{"CREATE USER almanac", "GRANT ALL ON almanac.* TO almanac"} {
			if err := m.exec(ctx, s); err != nil {
				return "", err
			}
		}
		return "mysql://almanac@" + m.address() + "/almanac", nil
	})
	if err != nil {
		return err
	}
	m := o.mysql
	say := func(statements ...string) func(context.Context) error {
		return func(ctx context.Context) error {
			for _, s := range statements {
				if err := m.exec(ctx, s); err != nil {
					return err
				}
			}
			return nil
		}
	}
	lock, err := m.root.Conn(ctx)
	if err != nil {
		o.load.stop()
		return err
	}
	w.later(lock.Close)
	for _, f := range []struct {
		what       string
		begin, end func(context.Context) error
		look       func(context.Context) error
	}{
		{"its connections are killed", func(ctx context.Context) error {
			return errors.Join(m.killAll(ctx), pause(ctx, 200*time.Millisecond), m.killAll(ctx))
		}, m.killAll, nil},
		{"others have its connections", func(ctx context.Context) error {
			return errors.Join(m.exec(ctx, "SET GLOBAL max_connections = 2"), m.killAll(ctx))
		}, say("SET GLOBAL max_connections = 400"), nil},
		{"nobody may write", func(ctx context.Context) error {
			return m.either(ctx, "SET GLOBAL super_read_only = ON", "SET GLOBAL read_only = ON")
		}, say("SET GLOBAL read_only = OFF"), o.readable},
		{"a lock is held on all tables", func(ctx context.Context) error {
			_, err := lock.ExecContext(ctx, "FLUSH TABLES WITH READ LOCK")
			return err
		}, func(ctx context.Context) error {
			_, err := lock.ExecContext(ctx, "UNLOCK TABLES")
			return err
		}, o.readable},
	} {
		if err := o.during(ctx, f.what, f.begin, f.end, f.look); err != nil {
			o.load.stop()
			return err
		}
	}
	return o.done(ctx)
}

// readable returns an error unless the service answers reads, signed in and anonymous, and refuses writes with 503.
func (o *outage) readable(ctx context.Context) error {
	for _, c := range []*client{o.w.client(""), o.w.client(o.token)} {
		if _, err := c.get(ctx, o.p.base(), "/events", http.StatusOK); err != nil {
			return fmt.Errorf("GET /events, want 200: %w", err)
		}
		c.http.CloseIdleConnections()
	}
	c := o.w.client(o.token)
	defer c.http.CloseIdleConnections()
	_, err := c.json(ctx, o.p.base(), http.MethodPost, "/tags", object{"name": "late"}, http.StatusCreated)
	return errors.Join(check503(err), status(ctx, o.p.base()+"/readyz", http.StatusOK))
}

// killAll kills all connections of the MySQL user almanac, which are the service's.
func (m *mysqld) killAll(ctx context.Context) (err error) {
	rows, err := m.root.QueryContext(ctx, "SELECT id FROM information_schema.processlist WHERE user = 'almanac'")
	if err != nil {
		return err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, id := range ids {
		// One that has ended by itself meanwhile is as good.
		_, _ = m.root.ExecContext(ctx, fmt.Sprintf("KILL %d", id))
	}
	return nil
}
