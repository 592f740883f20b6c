// Package store opens a database. It runs transactions, handles the SQL dialects and their connections, and
// classifies errors. Callers use Ent directly. Package migrate changes the schema.
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

// Store is an open database with its connection pool.
type Store struct {
	Ent *ent.Client
	DB  *sql.DB

	url       location
	members   *members        // nil means that the URL names one server
	primaries []*primaryState // polled states of members

	files *sqliteFiles // nil means that there are no files to check
	watch Watch        // nil means that statements are not watched
	drop  func() error // drops a database that OpenScratch created. Nil means that there is none.
}

// openWait is the maximum time that Open waits for other processes that are opening the same SQLite file.
const openWait = time.Minute

// Open connects to the database that a URL names. It does not change the schema:
//
//	sqlite://almanac.db                    a file, relative or absolute (sqlite:///var/lib/almanac.db)
//	sqlite://:memory:                      in memory, for tests: one connection
//	mysql://user:password@host:3306/name   MySQL, MariaDB, TiDB and compatible
//	mysql://user:password@host1:3306,host2:3306/name   the servers of a replication group; connections go to the one that accepts writes
//	mysql+unix://user:password@/run/mysqld/mysqld.sock?database=name   the same on a Unix socket, as Atlas writes it
//
// Options follow a question mark: sqlite://almanac.db?busy-timeout=30s&cache-size=64M.
//
//	max-open, max-idle, max-idle-time, max-lifetime   the connection pool; a time of 0 means no limit
//	busy-timeout, cache-size, mmap-size               SQLite: time limit of waiting for a writer; memory in bytes
//	tls, tls-ca, tls-cert, tls-key                    MySQL: true, skip-verify, preferred or false; files in PEM
//	timeout, read-timeout, write-timeout              MySQL: time limits of connecting, and of one packet
//	prepare-after                                     MySQL: number of uses of a statement before it is prepared
//
// For an unusable URL, the error wraps ErrURL and no connection is opened. A database that does not answer is also an
// error. If the URL names several servers, at least one must answer. If the version of a server is unknown or too
// old, the error wraps ErrUnfit.
func Open(ctx context.Context, url string) (*Store, error) {
	loc, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	var files *sqliteFiles
	if loc.dialect == dialect.SQLite && !loc.memory {
		files = &sqliteFiles{path: loc.file}
	}
	return openLocation(ctx, loc, files)
}

// OpenReading opens a database for reading. It neither creates nor changes an SQLite file. If the file does not
// exist but its folder does, the database is empty.
func OpenReading(ctx context.Context, url string) (*Store, error) {
	loc, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	reading, err := loc.reading()
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", loc, err)
	}
	return openLocation(ctx, reading, nil)
}

// openLocation opens the database at a location. files detects removed or replaced files of an SQLite database. Nil
// disables this.
func openLocation(ctx context.Context, loc location, files *sqliteFiles) (*Store, error) {
	if len(loc.hosts) > 1 {
		return openPrimary(ctx, loc)
	}
	if err := files.create(); err != nil {
		return nil, fmt.Errorf("database %s: %w", loc, err)
	}
	db, err := loc.open(files)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", loc, err)
	}
	// If several processes create the same SQLite file, SQLite returns "busy" at once to all but one.
	err = retryWhileBusy(ctx, openWait, func() error { return db.PingContext(ctx) })
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", loc, closeAfter(db, err))
	}
	s := newStore(db, loc)
	s.files = files
	return s, nil
}

// openPrimary opens a database on a group of servers. It returns an error if no server answers, or if one of them is
// misconfigured.
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

// OpenPool opens as many connections to an SQLite file as the pool keeps while they are idle. After a file of the
// database is removed, new connections are refused, but open ones can still read. For other databases it does nothing.
func (s *Store) OpenPool(ctx context.Context) (err error) {
	if s.files == nil {
		return nil
	}
	var open []*sql.Conn
	defer func() {
		for _, conn := range open {
			err = errors.Join(err, conn.Close()) // it returns to the pool
		}
	}()
	for range s.url.pool.idle {
		conn, err := s.DB.Conn(ctx)
		if err != nil {
			return fmt.Errorf("database %s: %w", s.url, err)
		}
		open = append(open, conn)
	}
	return nil
}

func newStore(db *sql.DB, loc location) *Store {
	return &Store{Ent: ent.NewClient(ent.Driver(entsql.OpenDB(loc.dialect, db))), DB: db, url: loc}
}

// Close closes all connections and stops the polling of servers. It drops a database that OpenScratch created.
func (s *Store) Close() error {
	err := s.DB.Close()
	if s.members != nil {
		err = errors.Join(err, s.members.close())
	}
	if s.drop != nil {
		err = errors.Join(err, s.drop())
	}
	return err
}

// Engine returns the name of the database's migrations folder: "mysql" or "sqlite".
func (s *Store) Engine() string {
	if s.url.dialect == dialect.SQLite {
		return "sqlite"
	}
	return "mysql"
}

// Clock returns an SQL expression for the time by the clock of the database, in milliseconds since 1970. Processes
// whose own clocks differ can compare such times.
func (s *Store) Clock() string {
	if s.url.dialect == dialect.SQLite {
		return "CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)"
	}
	return "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)"
}

// File returns the path of the SQLite file. It is "" for a database in memory and for MySQL.
func (s *Store) File() string { return s.url.file }

// DatabaseName returns the name of the database on a MySQL server. It is "" for SQLite.
func (s *Store) DatabaseName() string {
	if s.url.mysql == nil {
		return ""
	}
	return s.url.mysql.DBName
}

// String returns the database's URL without its password.
func (s *Store) String() string { return s.url.String() }

// closeAfter closes db and returns err, joined with the error of closing if that fails.
func closeAfter(db io.Closer, err error) error {
	if closeErr := db.Close(); closeErr != nil {
		return fmt.Errorf("%w (and %w)", err, closeErr)
	}
	return err
}
