// Package store opens the database, brings its schema up to date and runs transactions. It is the only
// package that knows a SQL dialect at run time. It returns Ent and does not hide it.
package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/ent"
)

// Store is an open database.
type Store struct {
	Ent *ent.Client
	DB  *sql.DB

	url      location
	files    *sqliteFiles  // nil: there are none to watch
	lockWait time.Duration // for a lock that another process has
	watch    Watch         // nil: statements are not watched
}

// Open connects to the database a URL names, and does not touch its schema:
//
//	sqlite://almanac.db                    a file, relative or absolute (sqlite:///var/lib/almanac.db)
//	sqlite://:memory:                      in memory, for tests: one connection
//	mysql://user:password@host:3306/name   MySQL, MariaDB, TiDB and compatible
//	mysql+unix://user:password@/run/mysqld/mysqld.sock?database=name   the same on a Unix socket, as Atlas writes it
//
// Options follow a question mark: sqlite://almanac.db?busy-timeout=30s&cache-size=64M.
//
//	max-open, max-idle, max-idle-time, max-lifetime   the pool of connections; times may be 0 for no limit
//	busy-timeout, cache-size, mmap-size               SQLite: waiting for a writer, memory
//	tls, tls-ca, tls-cert, tls-key                    MySQL: true, skip-verify, preferred or false; files in PEM
//	timeout, read-timeout, write-timeout              MySQL: of connecting, and of one packet
//	prepare-after                                     MySQL: how often a statement is sent before it is prepared
//
// An unusable URL is an error wrapping ErrURL, before anything is opened; a database that does not answer is one too.
func Open(ctx context.Context, url string) (*Store, error) {
	loc, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	var files *sqliteFiles
	if loc.dialect == dialect.SQLite && !loc.memory {
		files = &sqliteFiles{path: loc.file}
	}
	return open(ctx, loc, files)
}

// OpenReading is Open for looking only. An SQLite file is neither made nor changed: one that does not exist is
// an empty database, if its folder exists.
func OpenReading(ctx context.Context, url string) (*Store, error) {
	loc, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	reading, err := loc.reading()
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", loc, err)
	}
	return open(ctx, reading, nil)
}

// open opens a database. Files is nil, or watches those of SQLite.
func open(ctx context.Context, loc location, files *sqliteFiles) (*Store, error) {
	db, err := loc.open(files)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", loc, err)
	}
	// Of several processes that make the same SQLite file, SQLite tells all but one at once that it is busy.
	if err := whenFree(ctx, lockWait, func() error { return db.PingContext(ctx) }); err != nil {
		return nil, fmt.Errorf("database %s: %w", loc, closing(db, err))
	}
	return &Store{
		Ent: ent.NewClient(ent.Driver(entsql.OpenDB(loc.dialect, db))), DB: db,
		url: loc, files: files, lockWait: lockWait,
	}, nil
}

// Close ends all connections.
func (s *Store) Close() error { return s.DB.Close() }

// Engine is the folder of migrations the database follows: "mysql" or "sqlite".
func (s *Store) Engine() string { return engine(s.url.dialect) }

// String is the database's URL without its password.
func (s *Store) String() string { return s.url.String() }

func engine(d string) string {
	if d == dialect.SQLite {
		return "sqlite"
	}
	return "mysql"
}

// closing closes db on the way out with err, and reports both.
func closing(db *sql.DB, err error) error {
	if closeErr := db.Close(); closeErr != nil {
		return fmt.Errorf("%w (and %w)", err, closeErr)
	}
	return err
}
