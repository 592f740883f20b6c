package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// removedFiles is a scenario that deletes the write-ahead log of SQLite while two processes write. Both must soon
// refuse writes. After a restart, all acknowledged writes must exist, whether the processes were killed or stopped.
func removedFiles(ctx context.Context, w *world) error {
	file := filepath.Join(w.dir, "almanac.db")
	db := "sqlite://" + file
	programs, token, err := w.serveTwo(ctx, db)
	if err != nil {
		return err
	}
	for _, end := range []func(*program) error{
		func(p *program) error { p.kill(); return nil },
		func(p *program) error { return p.stop(ctx) },
	} {
		l := w.load(ctx, token, fixedAddresses(programs...), func(l *load) { l.writers = 8 })
		if err := pause(ctx, w.time); err != nil {
			l.stop()
			return err
		}
		w.away.Store(true)
		w.inject("almanac.db-wal and almanac.db-shm are removed")
		err := errors.Join(os.Remove(file+"-wal"), os.Remove(file+"-shm"))
		for _, p := range programs {
			err = errors.Join(err, w.refuses(ctx, p, token))
		}
		l.stop()
		if err != nil {
			return err
		}
		// An operator checks the database before any restart.
		if _, err := w.command(ctx, "check", "--db", db); err != nil {
			return err
		}
		for _, p := range programs {
			if err := end(p); err != nil {
				return err
			}
		}
		began := time.Now()
		for _, p := range programs {
			if err := p.start(ctx); err != nil {
				return err
			}
		}
		w.recovered(time.Since(began), 10*time.Second)
		if err := w.verify(ctx, programs[0], db, token); err != nil {
			return err
		}
	}
	return stopAll(ctx, programs)
}

// refuses waits until a process refuses writes and /readyz replies 503. It returns an error after 5 seconds, or if
// reads or /healthz fail.
func (w *world) refuses(ctx context.Context, p *program, token string) error {
	writer, reader := w.client(token), w.client("")
	defer writer.http.CloseIdleConnections()
	defer reader.http.CloseIdleConnections()
	err := wait(ctx, p.name+" refuses writes", 5*time.Second, func(ctx context.Context) error {
		_, err := writer.json(ctx, p.base(), http.MethodPost, "/venues", object{
			"venue": fmt.Sprintf("Hall without events %d", time.Now().UnixNano()),
		}, http.StatusCreated)
		return errors.Join(check503(err), status(ctx, p.base()+"/readyz", http.StatusServiceUnavailable))
	})
	_, reading := reader.get(ctx, p.base(), "/events", http.StatusOK)
	return errors.Join(err, reading, status(ctx, p.base()+"/healthz", http.StatusOK))
}
