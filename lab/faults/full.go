package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// smallDisk is the size of the disk to fill, in bytes.
const smallDisk = 24 << 20

// fullDisk is a scenario that twice fills the disk of the database and the images with another file. Where no small
// disk can be mounted, it limits the size of the service's files instead.
func fullDisk(ctx context.Context, w *world) error {
	data := filepath.Join(w.dir, "data")
	if err := os.Mkdir(data, 0o755); err != nil {
		return err
	}
	unmount, err := mountSmall(data, smallDisk)
	mounted := err == nil
	if mounted {
		w.later(unmount)
	} else {
		w.say("no small disk here (%v): files may not grow instead", err)
	}
	db := "sqlite://" + filepath.Join(data, "almanac.db")
	p, err := w.serve(ctx, "almanac", db, "--media", filepath.Join(data, "media"))
	if err != nil {
		return err
	}
	token, err := w.editor(ctx, db)
	if err != nil {
		return err
	}
	o := &outage{w: w, db: db, p: p, token: token}
	o.load = w.load(ctx, token, fixedAddresses(p), func(l *load) { l.images = true })
	if err := pause(ctx, w.time); err != nil {
		o.load.stop()
		return err
	}
	fill, free := func(context.Context) error { return limitFiles(p.cmd.Process.Pid, 1) },
		func(context.Context) error { return limitFiles(p.cmd.Process.Pid, 0) }
	if mounted {
		ballast := filepath.Join(data, "ballast")
		fill = func(context.Context) error { return fillUp(ballast) }
		free = func(context.Context) error { return os.Remove(ballast) }
	}
	for range 2 {
		if err := o.during(ctx, "the disk is full", fill, free, o.full); err != nil {
			o.load.stop()
			return err
		}
	}
	return o.done(ctx)
}

// fillUp writes a file that takes all remaining space of its disk. A full disk is not an error.
func fillUp(name string) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for size := 1 << 20; size > 0; size /= 2 {
		for block := bytes.Repeat([]byte("x"), size); ; {
			if n, err := f.Write(block); err != nil || n < size {
				break
			}
		}
	}
	return nil
}

// full returns an error unless the service refuses a large write with 503 and still answers reads.
func (o *outage) full(ctx context.Context) error {
	writer, nobody := o.w.client(o.token), o.w.client("")
	defer writer.http.CloseIdleConnections()
	defer nobody.http.CloseIdleConnections()
	// The journal of the database may have had some room left.
	err := wait(ctx, "writes are refused", awayFor, func(ctx context.Context) error {
		_, err := writer.json(ctx, o.p.base(), http.MethodPost, "/venues", object{
			"venue": fmt.Sprintf("Hall without events %d", time.Now().UnixNano()), "description": string(bytes.Repeat([]byte("x "), 100<<10)),
		}, http.StatusCreated)
		return check503(err)
	})
	if err != nil {
		return err
	}
	for _, path := range []string{"/events", "/venues?per_page=50", "/tags", "/events?search=version"} {
		for _, c := range []*client{writer, nobody} {
			if _, err := c.get(ctx, o.p.base(), path, http.StatusOK); err != nil {
				return fmt.Errorf("GET %s, want 200: %w", path, err)
			}
		}
	}
	return errors.Join(
		status(ctx, o.p.base()+"/healthz", http.StatusOK), status(ctx, o.p.base()+"/readyz", http.StatusOK))
}
