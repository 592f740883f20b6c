package main

import (
	"context"
	"path/filepath"
	"time"
)

// killRounds is the number of times that a scenario kills the process.
const killRounds = 5

func killSQLite(ctx context.Context, w *world) error {
	return w.killed(ctx, "sqlite://"+filepath.Join(w.dir, "almanac.db"), true)
}

func killMySQL(ctx context.Context, w *world) error {
	_, db, err := w.database(ctx)
	if err != nil {
		return err
	}
	return w.killed(ctx, db, false)
}

// killed kills the process at random moments under load, starts it again and checks the calendar each time. If images
// is true, the load uploads images too.
func (w *world) killed(ctx context.Context, db string, images bool) error {
	p, err := w.serve(ctx, "almanac", db)
	if err != nil {
		return err
	}
	token, err := w.editor(ctx, db)
	if err != nil {
		return err
	}
	for round := range killRounds {
		w.away.Store(false)
		l := w.load(ctx, token, fixedAddresses(p), func(l *load) {
			l.images = images
			l.writer.mayVanish, l.reader.mayVanish = true, true
		})
		if err := pause(ctx, w.time/4+time.Duration(w.chance.Int64N(int64(w.time)))); err != nil {
			l.stop()
			return err
		}
		w.away.Store(true)
		w.inject("kill -9")
		p.kill()
		began := time.Now()
		// In half of the rounds clients wait for the process; in the others it starts into silence.
		if round%2 == 0 {
			l.stop()
		}
		if err := p.start(ctx); err != nil {
			if round%2 != 0 {
				l.stop()
			}
			return err
		}
		w.recovered(time.Since(began), 10*time.Second)
		if round%2 != 0 {
			err := pause(ctx, w.time/4)
			l.stop()
			if err != nil {
				return err
			}
		}
		if err := w.verify(ctx, p, db, token); err != nil {
			return err
		}
	}
	return p.stop(ctx)
}

// fixedAddresses returns a function for a load that always returns the base URLs of these programs.
func fixedAddresses(programs ...*program) func() []string {
	var out []string
	for _, p := range programs {
		out = append(out, p.base())
	}
	return func() []string { return out }
}
