package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// twoOnSQLite is a scenario with two processes on one SQLite file. Both write, and clients read from one what they
// wrote through the other.
func twoOnSQLite(ctx context.Context, w *world) error {
	db := "sqlite://" + filepath.Join(w.dir, "almanac.db")
	programs, token, err := w.serveTwo(ctx, db)
	if err != nil {
		return err
	}
	l := w.load(ctx, token, fixedAddresses(programs...), func(l *load) {
		l.writers, l.everywhere, l.images = 8, true, true
	})
	if err := pause(ctx, 4*w.time); err != nil {
		l.stop()
		return err
	}
	// Writers of one process wait for those of the other, and no request is refused meanwhile.
	l.stop()
	for _, p := range programs {
		if err := w.verify(ctx, p, db, token); err != nil {
			return err
		}
	}
	return stopAll(ctx, programs)
}

// serveTwo starts two processes of the service on one database. It also returns the access token of an editor.
func (w *world) serveTwo(ctx context.Context, db string) (programs []*program, token string, err error) {
	for _, name := range []string{"one", "two"} {
		p, err := w.serve(ctx, name, db)
		if err != nil {
			return nil, "", err
		}
		programs = append(programs, p)
	}
	token, err = w.editor(ctx, db)
	return programs, token, err
}

func stopAll(ctx context.Context, programs []*program) error {
	for _, p := range programs {
		if err := p.stop(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fleet is several processes of the service behind a simulated load balancer. It sends requests to all except those
// in out.
type fleet struct {
	mu       sync.Mutex
	programs []*program
	out      map[*program]bool
}

func (f *fleet) bases() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, p := range f.programs {
		if !f.out[p] {
			out = append(out, p.base())
		}
	}
	return out
}

func (f *fleet) set(p *program, out bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.out[p] = out
}

// processes is the number of the service's processes that share one MySQL server.
const processes = 8

// eightOnMySQL is a scenario with eight processes on one MySQL server. A rolling deployment must go unnoticed by
// clients. Then one process is stopped and one is killed without notice.
func eightOnMySQL(ctx context.Context, w *world) error {
	_, db, err := w.database(ctx)
	if err != nil {
		return err
	}
	f := &fleet{out: map[*program]bool{}}
	for i := range processes {
		p, err := w.serve(ctx, fmt.Sprintf("almanac-%d", i), db, "--drain-wait", "500ms")
		if err != nil {
			return err
		}
		f.programs = append(f.programs, p)
	}
	token, err := w.editor(ctx, db)
	if err != nil {
		return err
	}
	l := w.load(ctx, token, f.bases, func(l *load) { l.writers, l.readers = 8, 2 })
	err = f.deploy(ctx, w)
	l.stop()
	if err != nil {
		return err
	}
	if err := w.verify(ctx, f.programs[0], db, token); err != nil {
		return err
	}
	// What is written through one process is read through all.
	l = w.load(ctx, token, f.bases, func(l *load) { l.writers, l.readers, l.everywhere = 4, 0, true })
	err = pause(ctx, w.time)
	l.stop()
	if err != nil {
		return err
	}
	// From here on connections may end without a reply: two processes end while they are asked.
	l = w.load(ctx, token, f.bases, func(l *load) {
		l.writer.mayVanish, l.reader.mayVanish = true, true
	})
	err = f.lose(ctx, w)
	l.stop()
	if err != nil {
		return err
	}
	for _, p := range []*program{f.programs[0], f.programs[processes-1]} {
		if err := w.verify(ctx, p, db, token); err != nil {
			return err
		}
	}
	return stopAll(ctx, f.programs)
}

// deploy restarts three processes one after the other. The load balancer sends no requests to a process meanwhile.
func (f *fleet) deploy(ctx context.Context, w *world) error {
	for _, p := range f.programs[:3] {
		if err := pause(ctx, w.time/4); err != nil {
			return err
		}
		w.inject(p.name + " is taken out, stopped and started again")
		f.set(p, true)
		// Requests that were about to be sent have been sent.
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
		if err := p.stop(ctx); err != nil {
			return err
		}
		if err := p.start(ctx); err != nil {
			return err
		}
		f.set(p, false)
	}
	return pause(ctx, w.time/4)
}

// lose ends two processes while they get requests: one by a normal stop, one by a kill. Then it starts both again.
func (f *fleet) lose(ctx context.Context, w *world) error {
	if err := pause(ctx, w.time/4); err != nil {
		return err
	}
	w.away.Store(true)
	w.inject("one process is told to stop while it is asked, another is killed")
	told, killed := f.programs[3], f.programs[4]
	err := told.stop(ctx)
	killed.kill()
	f.set(told, true)
	f.set(killed, true)
	if err != nil {
		return err
	}
	for _, p := range []*program{told, killed} {
		began := time.Now()
		if err := p.start(ctx); err != nil {
			return err
		}
		w.recovered(time.Since(began), 10*time.Second)
		f.set(p, false)
	}
	return pause(ctx, w.time/4)
}
