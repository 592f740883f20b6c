// Package store opens a database. It knows the dialects of SQL and their connections, runs transactions and tells errors
// apart. It returns Ent and does not hide it. Package migrate changes the schema.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/ent"
)

// Store is an open database.
type Store struct {
	Ent *ent.Client
	DB  *sql.DB

	url       location
	members   *members        // nil: the URL names one server
	primaries []*primaryState // of members

	files *sqliteFiles // nil: there are none to watch
	watch Watch        // nil: statements are not watched
}

// openWait is the time limit for other processes that open the same SQLite file.
const openWait = time.Minute

// Open connects to the database a URL names, and does not touch its schema:
//
//	sqlite://almanac.db                    a file, relative or absolute (sqlite:///var/lib/almanac.db)
//	sqlite://:memory:                      in memory, for tests: one connection
//	mysql://user:password@host:3306/name   MySQL, MariaDB, TiDB and compatible
//	mysql://user:password@host1:3306,host2:3306/name   the servers of a replication group: the one that takes writes
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
// For an unusable URL, the error wraps ErrURL and no connection is opened. A database that does not answer is an error too.
// Of several servers one has to answer. A server that cannot be used is an error that wraps ErrUnfit.
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

// OpenReading opens a database for reading. It neither creates nor changes an SQLite file. A file that does not exist is an
// empty database, if its folder exists.
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
	if len(loc.hosts) > 1 {
		return openPrimary(ctx, loc)
	}
	db, err := loc.open(files)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", loc, err)
	}
	// If several processes create the same SQLite file, SQLite returns busy at once to all but one.
	err = retryWhileBusy(ctx, openWait, func() error { return db.PingContext(ctx) })
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", loc, closeAfter(db, err))
	}
	s := newStore(db, loc)
	s.files = files
	return s, nil
}

// openPrimary opens a database on several servers.
func openPrimary(ctx context.Context, loc location) (*Store, error) {
	servers, asked, err := loc.primaries()
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", loc, err)
	}
	servers.start(ctx)
	s := newStore(loc.pooled(servers), loc)
	s.members, s.primaries = servers, asked
	if err = servers.misconfigured(); err == nil {
		err = s.DB.PingContext(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", loc, closeAfter(s, err))
	}
	return s, nil
}

func newStore(db *sql.DB, loc location) *Store {
	return &Store{Ent: ent.NewClient(ent.Driver(entsql.OpenDB(loc.dialect, db))), DB: db, url: loc}
}

// Close ends all connections.
func (s *Store) Close() error {
	err := s.DB.Close()
	if s.members != nil {
		err = errors.Join(err, s.members.close())
	}
	return err
}

// Engine returns the name of the database's folder of migrations: "mysql" or "sqlite".
func (s *Store) Engine() string {
	if s.url.dialect == dialect.SQLite {
		return "sqlite"
	}
	return "mysql"
}

// String returns the database's URL without its password.
func (s *Store) String() string { return s.url.String() }

// closeAfter closes db after err, and returns both errors.
func closeAfter(db io.Closer, err error) error {
	if closeErr := db.Close(); closeErr != nil {
		return fmt.Errorf("%w (and %w)", err, closeErr)
	}
	return err
}
