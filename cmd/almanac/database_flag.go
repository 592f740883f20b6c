package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
)

// database has the flag --db of the commands that use a database. The command demo has its own.
type database struct {
	DB string `name:"db" default:"sqlite://almanac.db" placeholder:"URL" help:"Database: sqlite://FILE or mysql://USER:PASSWORD@HOST:PORT/NAME. Default ${default}."`
}

// AfterApply converts a file path in --db to a URL. kong calls it after parsing.
func (d *database) AfterApply() error {
	d.DB = databaseURL(d.DB)
	return nil
}

// databaseURL returns the URL of an SQLite file that is given as a path. It returns any other text unchanged.
func databaseURL(text string) string {
	file, _, _ := strings.Cut(text, "?")
	if !strings.Contains(text, "://") && slices.Contains([]string{".db", ".sqlite", ".sqlite3"}, filepath.Ext(file)) {
		return "sqlite://" + text
	}
	return text
}

// withStore opens the database, runs do with it, and closes it.
func (d database) withStore(ctx context.Context, do func(*store.Store) error) error {
	return runWithStore(ctx, "--db", d.DB, store.Open, do)
}

// withReadOnly opens the database for reading, runs do with it, and closes it. It never creates an SQLite file.
func (d database) withReadOnly(ctx context.Context, do func(*store.Store) error) error {
	return runWithStore(ctx, "--db", d.DB, store.OpenReading, do)
}

// withExisting opens the database, runs do with it, and closes it. It returns an error if the SQLite file does not
// exist.
func (d database) withExisting(ctx context.Context, do func(*store.Store) error) error {
	if file, ok := store.SQLiteFile(d.DB); ok {
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("database %s: there is no such file", d.DB)
		}
	}
	return d.withStore(ctx, do)
}

// runWithStore opens the database at a URL with the function open, runs do with it, and closes it. Errors mention the
// name flag.
func runWithStore(
	ctx context.Context, flag, url string,
	open func(context.Context, string) (*store.Store, error), do func(*store.Store) error,
) (err error) {
	st, err := open(ctx, url)
	if errors.Is(err, store.ErrURL) {
		return usageError{fmt.Errorf("%s: %w", flag, err)}
	}
	if err != nil {
		if reason := fileProblem(url); reason != nil {
			return fmt.Errorf("database %s: %w", url, reason)
		}
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return do(st)
}

// fileProblem returns why the file of an SQLite URL cannot be opened, since SQLite has one message for all
// causes. Nil means that the file is not the cause.
func fileProblem(url string) error {
	file, ok := store.SQLiteFile(url)
	if !ok {
		return nil
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	folder := filepath.Dir(file)
	if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the folder %s does not exist", folder)
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", file)
	}
	// SQLite writes further files beside the database, so the folder must be writable.
	probe, err := os.CreateTemp(folder, ".almanac-*")
	if reason, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("cannot write in the folder %s: %w", folder, reason.Err)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return err
	}
	existing, err := os.OpenFile(file, os.O_RDWR, 0)
	switch reason := (*os.PathError)(nil); {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case errors.As(err, &reason):
		return fmt.Errorf("cannot read and write the file: %w", reason.Err)
	}
	return existing.Close()
}

// withCurrent opens the database, runs do with it, and closes it. On SQLite it first applies missing migrations. On
// other engines it returns an error if the schema is not up to date.
func (d database) withCurrent(ctx context.Context, do func(*store.Store) error) error {
	return d.withStore(ctx, func(st *store.Store) error {
		if err := requireCurrent(ctx, st, false); err != nil {
			return err
		}
		return do(st)
	})
}

// withCurrentReadOnly opens the database for reading, runs do with it, and closes it. It returns an error if the
// schema is not up to date.
func (d database) withCurrentReadOnly(ctx context.Context, do func(*store.Store) error) error {
	return d.withReadOnly(ctx, func(st *store.Store) error {
		if err := migrate.CheckCurrent(ctx, st); err != nil {
			return adviseMigration(err, st)
		}
		return do(st)
	})
}
