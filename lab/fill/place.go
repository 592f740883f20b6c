package fill

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
)

// Place returns the URL of the database with a name. where is a folder, for the SQLite file NAME.db, or the URL of a
// MySQL server.
func Place(where, name string) (string, error) {
	if !strings.Contains(where, "://") {
		return "sqlite://" + filepath.Join(where, name+".db"), nil
	}
	server, err := url.Parse(where)
	if err != nil {
		return "", errors.New("not a URL") // which may hold a password
	}
	server.Path = "/" + name
	return server.String(), nil
}

// Open opens the database at a URL without migrating it. A missing SQLite file is an error.
func Open(ctx context.Context, at string) (*store.Store, error) {
	if file, ok := store.SQLiteFile(at); ok {
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("%w: fill it first", err)
		}
	}
	return store.Open(ctx, at)
}

// Holds reports whether the database at a URL exists and contains the calendar that the options describe. It returns
// false if it cannot be read.
func Holds(ctx context.Context, at string, o Options) bool {
	st, err := Open(ctx, at)
	if err != nil {
		return false
	}
	ok, err := Filled(ctx, st, o)
	return st.Close() == nil && err == nil && ok
}

// Anew creates and fills the database at a URL. An existing database loses its content first.
func Anew(ctx context.Context, at string, o Options) (err error) {
	file, lite := store.SQLiteFile(at)
	if lite {
		err = emptyFile(file)
	} else {
		err = emptyDatabase(ctx, at)
	}
	if err != nil {
		return err
	}
	st, err := store.Open(ctx, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if _, err := migrate.Apply(ctx, st, migrate.ApplyOptions{Operator: "bench"}); err != nil {
		return err
	}
	if err := Database(ctx, st, o); err != nil {
		return err
	}
	// What the engines do by themselves in time.
	settle := "PRAGMA wal_checkpoint(TRUNCATE)"
	if !lite {
		settle = "ANALYZE TABLE events, event_terms, event_venues, event_organizers, event_translations, search_texts, slugs, " +
			"venues, organizers, terms, series, series_phases, images"
	}
	_, err = st.DB.ExecContext(ctx, settle)
	return err
}

// Kept returns the URL of a database with a calendar, named PREFIX_EVENTS, such as scale_100k. It empties and fills
// the database unless it contains that calendar already. made reports whether it did.
func Kept(ctx context.Context, where, prefix string, o Options) (at string, made bool, err error) {
	name := fmt.Sprintf("%s_%d", prefix, o.Events)
	if o.Events%1000 == 0 {
		name = fmt.Sprintf("%s_%dk", prefix, o.Events/1000)
	}
	if at, err = Place(where, name); err != nil || Holds(ctx, at, o) {
		return at, false, err
	}
	err = Anew(ctx, at, o)
	return at, err == nil, err
}

func emptyFile(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(file + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func emptyDatabase(ctx context.Context, at string) (err error) {
	u, err := url.Parse(at)
	if err != nil {
		return errors.New("not a URL")
	}
	name := strings.Trim(u.Path, "/")
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return fmt.Errorf("a database of the name %q is not made empty", name)
	}
	c := mysql.NewConfig()
	c.User = u.User.Username()
	if password, ok := u.User.Password(); ok {
		c.Passwd = password
	}
	c.Net, c.Addr = "tcp", u.Host
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
