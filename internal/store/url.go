package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	"github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite" // registers "sqlite"
)

// location is a parsed database URL.
type location struct {
	dialect string
	dsn     string // sqlite: what the driver opens
	file    string // sqlite: the file, empty in memory
	sqlite  sqliteOptions
	mysql   *mysql.Config // for several hosts, has the first one
	hosts   []string      // mysql: all hosts of a URL that names several
	pool    pool

	prepareAfter int // mysql: number of uses of a statement before it is prepared; 0 means never
	memory       bool
	shown        string // the URL without password

	address *url.URL // mysql: the URL, with all its hosts
}

func (l location) String() string { return l.shown }

// ErrURL is wrapped by the errors of a database URL that cannot be used. No message shows a password.
var ErrURL = errors.New("database URL")

// parseURL reads the URLs that Open documents, and the certificates that one names. Its errors wrap ErrURL.
func parseURL(text string) (location, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	switch scheme {
	case "sqlite":
		return parseSQLite(rest)
	case "mysql", socketScheme:
		return parseMySQL(text)
	}
	// The error does not repeat the text: in the notation of a driver it has a password, too.
	return location{}, fmt.Errorf("%w: want sqlite://FILE, mysql://USER:PASSWORD@HOST:PORT/NAME "+
		"or mysql+unix://USER:PASSWORD@/SOCKET?database=NAME", ErrURL)
}

// sqlitePragmas make SQLite a server's database: readers beside one writer, and foreign keys. Write transactions begin
// immediate, because a transaction that reads first and writes later fails at once instead of waiting. Connections wait for
// other writers by retryWhileHeld.
const sqlitePragmas = "_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=synchronous(NORMAL)&_txlock=immediate"

// sqliteReading are the pragmas of a connection that changes nothing, not even the mode of the journal.
const sqliteReading = "_pragma=query_only(1)&_pragma=foreign_keys(1)"

// sqliteTimes stores times as text that sorts: in one format and in UTC, for values of any zone.
const sqliteTimes = "&_time_format=sqlite&_timezone=UTC"

// sqliteDSN returns the name that the driver opens.
func sqliteDSN(path, pragmas string, o sqliteOptions) string {
	dsn := path + "?" + pragmas + sqliteTimes
	if o.cache > 0 {
		dsn += fmt.Sprintf("&_pragma=cache_size(-%d)", max(o.cache>>10, 1)) // negative: KiB, not pages
	}
	if o.mmap > 0 {
		dsn += fmt.Sprintf("&_pragma=mmap_size(%d)", o.mmap)
	}
	return dsn
}

// reading returns the location for connections that change nothing. For an SQLite file that does not exist it is an empty
// database in memory, if the folder exists.
func (l location) reading() (location, error) {
	if l.dialect != dialect.SQLite || l.memory {
		return l, nil
	}
	_, err := os.Stat(l.file)
	switch {
	case err == nil:
		l.dsn = sqliteDSN(filePath(l.file), sqliteReading, l.sqlite)
		return l, nil
	case !errors.Is(err, os.ErrNotExist):
		return location{}, err
	}
	if _, err := os.Stat(filepath.Dir(l.file)); err != nil {
		return location{}, err
	}
	l.memory, l.dsn = true, sqliteDSN(memoryPath, sqlitePragmas, l.sqlite)
	return l, nil
}

const memoryPath = "file::memory:"

// filePath returns the URI of a file for SQLite.
func filePath(file string) string {
	path := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(file)}).EscapedPath()}
	return path.String()
}

// SQLiteFile returns the file that a URL of SQLite names. ok is false for a database in memory and for other URLs.
func SQLiteFile(text string) (file string, ok bool) {
	rest, ok := strings.CutPrefix(text, "sqlite://")
	file, _, _ = strings.Cut(rest, "?")
	return file, ok && file != "" && file != ":memory:"
}

func parseSQLite(rest string) (location, error) {
	file, query, _ := strings.Cut(rest, "?")
	l := location{
		dialect: dialect.SQLite, file: file, shown: "sqlite://" + rest, pool: sqlitePool,
		sqlite: sqliteOptions{busy: 10 * time.Second},
	}
	switch {
	case file == "":
		return location{}, fmt.Errorf("%w sqlite://: no file is named", ErrURL)
	case strings.Contains(rest, "#"):
		return location{}, fmt.Errorf("%w sqlite://: a number sign cannot be part of it", ErrURL)
	}
	if err := l.sqlite.read(query, &l.pool); err != nil {
		return location{}, fmt.Errorf("%w sqlite://%s: %w", ErrURL, file, err)
	}
	path := filePath(file)
	if file == ":memory:" {
		l.memory, l.file, path = true, "", memoryPath
	}
	l.dsn = sqliteDSN(path, sqlitePragmas, l.sqlite)
	return l, nil
}

// How long a statement waits at a MySQL server for a row or a table that another transaction has locked. Tx runs the
// transaction again after that. By default a server waits 50 s for a row and a year for a table: a backup that locks all
// tables for a moment would block all writers as long, if it waits for one that waits for another that waits for the backup.
const (
	rowLockWait = 10 * time.Second

	// TableLockWait is the lock_wait_timeout of connections to MySQL.
	TableLockWait = 5 * time.Second
)

// socketScheme is the scheme of a MySQL server on a Unix socket, as the Atlas CLI writes it.
const socketScheme = "mysql+unix"

func parseMySQL(text string) (location, error) {
	text, hosts := cutHosts(text)
	u, err := url.Parse(text)
	if err != nil {
		// The error of package url repeats the URL, password included.
		return location{}, fmt.Errorf("%w mysql://: not a valid URL; percent-encode special characters", ErrURL)
	}
	// The error does not repeat the URL: with a character that is not encoded, any part may belong to the password.
	if u.Fragment != "" || strings.ContainsAny(u.EscapedPath(), ":@") {
		return location{}, fmt.Errorf("%w mysql://: percent-encode special characters", ErrURL)
	}
	c := mysql.NewConfig()
	if c.Net, c.Addr, c.DBName, err = mysqlTarget(u); err != nil {
		return location{}, err
	}
	addresses, err := hostAddresses(u, c.Addr, hosts)
	if err != nil {
		return location{}, err
	}
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	// Times do not depend on the zone of the server or of this machine.
	c.ParseTime, c.Loc = true, time.UTC
	// One round trip per statement instead of three. Safe with utf8mb4.
	c.InterpolateParams = true
	// An UPDATE counts the rows that it finds, not only those that it changes.
	c.ClientFoundRows = true
	c.Timeout = 10 * time.Second
	c.Params = map[string]string{
		"time_zone": "'+00:00'",
		// A statement whose client has gone continues to wait for locks at the server, and keeps its own.
		"innodb_lock_wait_timeout": strconv.Itoa(int(rowLockWait.Seconds())),
		"lock_wait_timeout":        strconv.Itoa(int(TableLockWait.Seconds())),
		"sql_mode":                 "'STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
	}
	l := location{dialect: dialect.MySQL, mysql: c, prepareAfter: defaultPrepareAfter, pool: mysqlPool, hosts: addresses}
	u.Host = strings.Join(append([]string{u.Host}, hosts...), ",")
	l.address, l.shown = u, u.Redacted()
	if err := mysqlOptions(&l, u.RawQuery); err != nil {
		return location{}, fmt.Errorf("%w mysql://: %w", ErrURL, err)
	}
	return l, nil
}

// cutHosts removes the hosts after the first one from a URL, and returns them: package url knows URLs with one host.
func cutHosts(text string) (first string, others []string) {
	scheme, rest, _ := strings.Cut(text, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	begin := strings.LastIndex(rest[:end], "@") + 1
	hosts := strings.Split(rest[begin:end], ",")
	return scheme + "://" + rest[:begin] + hosts[0] + rest[end:], hosts[1:]
}

// hostAddresses returns the addresses of all hosts of a URL, nil if there is one: that of the first, and those of others.
func hostAddresses(u *url.URL, first string, others []string) ([]string, error) {
	if len(others) == 0 {
		return nil, nil
	}
	all := []string{first}
	for _, host := range others {
		one, err := url.Parse("mysql://" + host + "/")
		if err != nil || one.User != nil || one.Path != "/" {
			return nil, fmt.Errorf("%w: want mysql://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME", ErrURL)
		}
		one.Path = u.Path
		_, address, _, err := mysqlTarget(one)
		if err != nil {
			return nil, err
		}
		if slices.Contains(all, address) {
			return nil, fmt.Errorf("%w mysql://: a host is named twice", ErrURL)
		}
		all = append(all, address)
	}
	return all, nil
}

// mysqlTarget returns the address that a URL names, and its database. The URL of a socket names the database among its
// options, which are read later.
func mysqlTarget(u *url.URL) (network, address, database string, err error) {
	if u.Scheme == socketScheme {
		if u.Host != "" || strings.Trim(u.Path, "/") == "" {
			return "", "", "", fmt.Errorf("%w: want mysql+unix://USER:PASSWORD@/SOCKET?database=NAME", ErrURL)
		}
		return "unix", u.Path, "", nil
	}
	name := strings.Trim(u.Path, "/")
	if u.Hostname() == "" || name == "" || strings.Contains(name, "/") {
		return "", "", "", fmt.Errorf("%w: want mysql://USER:PASSWORD@HOST:PORT/NAME", ErrURL)
	}
	port := u.Port()
	if port == "" {
		port = "3306"
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", "", "", fmt.Errorf("%w mysql://: want a port from 0 to 65535", ErrURL)
	}
	return "tcp", net.JoinHostPort(u.Hostname(), port), name, nil
}

// Target is the server of a URL of MySQL, for other programs. Network is tcp or unix.
type Target struct{ Network, Address, User, Database string }

// MySQLTarget returns the server of a URL of MySQL: the first of several. Its error is that of Open.
func MySQLTarget(text string) (Target, error) {
	l, err := parseURL(text)
	if err != nil {
		return Target{}, err
	}
	if l.mysql == nil {
		return Target{}, fmt.Errorf("%w: want one of MySQL", ErrURL)
	}
	return Target{l.mysql.Net, l.mysql.Addr, l.mysql.User, l.mysql.DBName}, nil
}

// open opens the database. Nil files watches none.
func (l location) open(files *sqliteFiles) (*sql.DB, error) {
	if l.dialect == dialect.SQLite {
		db, err := openSQLite(l.dsn, l.sqlite.busy, files)
		if err != nil {
			return nil, err
		}
		if l.memory {
			// Every connection to :memory: is a database of its own.
			db.SetMaxOpenConns(1)
			return db, nil
		}
		l.pool.limit(db)
		return db, nil
	}
	connector, err := l.connector()
	if err != nil {
		return nil, err
	}
	return l.pooled(connector), nil
}

// connector opens connections to the MySQL server of a location.
func (l location) connector() (driver.Connector, error) {
	connector, err := mysql.NewConnector(l.mysql)
	if err != nil {
		return nil, err
	}
	return readCommittedConnector{connector}, nil
}

// pooled returns the pool of a location whose connections a connector opens.
func (l location) pooled(connector driver.Connector) *sql.DB {
	db := sql.OpenDB(preparingConnector{connector, &useCounter{after: l.prepareAfter}, false})
	l.pool.limit(db)
	return db
}

// readCommittedConnector makes the transactions of every connection see commits of others during a wait for a lock, and
// take no gap locks. It is a statement of its own because MySQL and MariaDB name the variable
// differently.
type readCommittedConnector struct{ driver.Connector }

// Connect opens a connection, and adapts it to its server.
func (c readCommittedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	ex, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T runs no statements", conn), conn.Close())
	}
	if _, err := ex.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", nil); err != nil {
		return nil, errors.Join(fmt.Errorf("isolation level: %w", err), conn.Close())
	}
	return adaptToEngine(ctx, conn)
}

// URLFor returns the database's URL with another user and no password.
func (s *Store) URLFor(user string) string {
	if s.url.address == nil {
		return s.String()
	}
	u := *s.url.address
	u.User = url.User(user)
	return u.String()
}

// CheckURL returns the error that Open has for a URL before it connects.
func CheckURL(text string) error {
	_, err := parseURL(text)
	return err
}
