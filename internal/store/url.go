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
	dsn     string // SQLite: data source name for the driver
	file    string // path of the SQLite file, "" in memory
	sqlite  sqliteOptions
	mysql   *mysql.Config // for several hosts: the configuration of the first
	hosts   []string      // MySQL: addresses of all hosts if the URL has several, else nil
	pool    pool

	prepareAfter int // uses of a statement on MySQL before it is prepared. 0 means never.
	limit        *statementLimit
	memory       bool
	shown        string // the URL without its password

	address *url.URL // MySQL: the URL with all its hosts
}

func (l location) String() string { return l.shown }

// ErrURL is wrapped by errors about an unusable database URL. No message contains a password.
var ErrURL = errors.New("database URL")

// parseURL parses the URLs that Open documents, and reads the certificates that they name. Its errors wrap
// ErrURL.
func parseURL(text string) (location, error) {
	var l location
	var err error
	switch scheme, rest, _ := strings.Cut(text, "://"); scheme {
	case "sqlite":
		l, err = parseSQLite(rest)
	case "mysql", socketScheme:
		l, err = parseMySQL(text)
	default:
		err = errScheme
	}
	l.limit = &statementLimit{}
	return l, err
}

// errScheme is the error for a URL with another scheme. It does not repeat the URL, because a driver's own notation
// can contain a password.
var errScheme = fmt.Errorf("%w: want sqlite://FILE, mysql://USER:PASSWORD@HOST:PORT/NAME "+
	"or mysql+unix://USER:PASSWORD@/SOCKET?database=NAME", ErrURL)

// sqlitePragmas configure SQLite for a server: readers do not block the writer, and foreign keys are enforced.
// Write transactions begin with BEGIN IMMEDIATE. Otherwise a transaction that reads first and writes later
// fails at once instead of waiting. retryWhileHeld does the waiting.
const sqlitePragmas = "_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=synchronous(NORMAL)&_txlock=immediate"

// sqliteReading are the pragmas of a read-only connection. They do not change the journal mode.
const sqliteReading = "_pragma=query_only(1)&_pragma=foreign_keys(1)"

// sqliteTimes makes the driver store times in UTC and in one text format, so that they sort as text.
const sqliteTimes = "&_time_format=sqlite&_timezone=UTC"

// sqliteDSN returns the data source name for the SQLite driver.
func sqliteDSN(path, pragmas string, o sqliteOptions) string {
	dsn := path + "?" + pragmas + sqliteTimes
	if o.cache > 0 {
		dsn += fmt.Sprintf("&_pragma=cache_size(-%d)", max(o.cache>>10, 1)) // a negative size is in KiB, a positive one in pages
	}
	if o.mmap > 0 {
		dsn += fmt.Sprintf("&_pragma=mmap_size(%d)", o.mmap)
	}
	return dsn
}

// reading returns the location for read-only connections. If an SQLite file does not exist but its folder does,
// it is an empty database in memory.
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

// filePath returns the URI of a file in SQLite's format.
func filePath(file string) string {
	path := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(file)}).EscapedPath()}
	return path.String()
}

// SQLiteFile returns the file path in an SQLite URL. ok is false for a database in memory and for other URLs.
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

// rowLockWait and TableLockWait limit how long a statement waits at a MySQL server for another transaction's lock.
// Tx then retries the transaction. The server's defaults are 50 s for a row and a year for a table. A backup that
// briefly locks all tables could then block all writers.
const (
	rowLockWait = 10 * time.Second

	// TableLockWait is the lock_wait_timeout of MySQL connections.
	TableLockWait = 5 * time.Second
)

// socketScheme is the URL scheme of a MySQL server on a Unix socket. The Atlas CLI uses the same.
const socketScheme = "mysql+unix"

func parseMySQL(text string) (location, error) {
	text, hosts := cutHosts(text)
	u, err := url.Parse(text)
	if err != nil {
		// The error of package url would repeat the URL with its password.
		return location{}, fmt.Errorf("%w mysql://: not a valid URL; percent-encode special characters", ErrURL)
	}
	// The error does not repeat the URL: if a character is not percent-encoded, any part may belong to the
	// password.
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
	// Times must not depend on the zone of the server or of this machine.
	c.ParseTime, c.Loc = true, time.UTC
	// Values in the statement save two of three round trips. This is safe with utf8mb4.
	c.InterpolateParams = true
	// An UPDATE then counts the rows that it matches, not only those that it changes.
	c.ClientFoundRows = true
	c.Timeout = 10 * time.Second
	c.Params = map[string]string{
		"time_zone": "'+00:00'",
		// At the server, a statement whose client has gone keeps waiting for locks and keeps its own.
		"innodb_lock_wait_timeout": strconv.Itoa(int(rowLockWait.Seconds())),
		"lock_wait_timeout":        strconv.Itoa(int(TableLockWait.Seconds())),
		"sql_mode": "'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO," +
			"NO_ENGINE_SUBSTITUTION'",
		// Migrations name no engine. Other engines would ignore their foreign keys.
		"default_storage_engine": "InnoDB",
	}
	l := location{dialect: dialect.MySQL, mysql: c, prepareAfter: defaultPrepareAfter, pool: mysqlPool, hosts: addresses}
	u.Host = strings.Join(append([]string{u.Host}, hosts...), ",")
	l.address, l.shown = u, u.Redacted()
	if err := mysqlOptions(&l, u.RawQuery); err != nil {
		return location{}, fmt.Errorf("%w mysql://: %w", ErrURL, err)
	}
	return l, nil
}

// cutHosts splits off all hosts after the first of a URL, because package url accepts only one host.
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

// hostAddresses returns the addresses of all hosts of a URL. It returns nil if there is only one host.
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

// mysqlTarget returns the server address and the database name of a URL. For a socket URL the name is "",
// because it is an option that is parsed later.
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

// Target is the server of a MySQL URL, for use by other programs. Network is "tcp" or "unix".
type Target struct{ Network, Address, User, Database string }

// MySQLTarget returns the first server of a MySQL URL. It returns an error that wraps ErrURL for any other URL.
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

// open opens a connection pool for the database. files detects removed or replaced files of an SQLite database. Nil
// disables this.
func (l location) open(files *sqliteFiles) (*sql.DB, error) {
	if l.dialect == dialect.SQLite {
		db, err := openSQLite(l.dsn, l.sqlite.busy, files, l.limit)
		if err != nil {
			return nil, err
		}
		if l.memory {
			// Every connection to :memory: opens a separate database.
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

// connector returns a connector for the MySQL server of a location.
func (l location) connector() (driver.Connector, error) {
	connector, err := mysql.NewConnector(l.mysql)
	if err != nil {
		return nil, err
	}
	return sessionConnector{connector, l.limit}, nil
}

// pooled returns a connection pool with the location's limits. It opens connections with the given connector.
func (l location) pooled(connector driver.Connector) *sql.DB {
	db := sql.OpenDB(preparingConnector{connector, &useCounter{after: l.prepareAfter}, false})
	l.pool.limit(db)
	return db
}

// sessionConnector opens connections whose transactions use READ COMMITTED. They see commits of others
// after waiting for a lock, and take no gap locks. This takes a statement per connection, because MySQL and
// MariaDB name the variable differently.
type sessionConnector struct {
	driver.Connector
	limit *statementLimit
}

// Connect opens a connection and adapts it to the server.
func (c sessionConnector) Connect(ctx context.Context) (driver.Conn, error) {
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
	return adaptToEngine(ctx, conn, c.limit)
}

// URLFor returns the database URL with another user and without a password. The URL of an SQLite database stays as it
// is.
func (s *Store) URLFor(user string) string {
	if s.url.address == nil {
		return s.String()
	}
	u := *s.url.address
	u.User = url.User(user)
	return u.String()
}
