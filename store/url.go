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
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	"github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite" // registers "sqlite"
)

// location is a database URL taken apart.
type location struct {
	dialect string
	dsn     string // sqlite: what the driver opens
	file    string // sqlite: the file, empty in memory
	mysql   *mysql.Config
	memory  bool
	shown   string // the URL without password
}

func (l location) String() string { return l.shown }

// ErrURL is what is wrong with a database URL that cannot be used. No message shows a password.
var ErrURL = errors.New("database URL")

// parseURL reads the URLs that Open documents. Its errors wrap ErrURL.
func parseURL(text string) (location, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	switch scheme {
	case "sqlite":
		return parseSQLite(rest)
	case "mysql":
		return parseMySQL(text)
	}
	// The text is not repeated: in the notation of a driver it has a password, too.
	return location{}, fmt.Errorf("%w: want sqlite://FILE or mysql://USER:PASSWORD@HOST:PORT/NAME", ErrURL)
}

// sqlitePragmas make SQLite a server's database: readers beside one writer, writers that wait for each
// other, foreign keys that hold. Write transactions begin immediate, because one that upgrades a read later
// fails at once instead of waiting. Times are stored as text that sorts: in one format and in UTC, whatever
// zone a value comes in.
const sqlitePragmas = "_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=busy_timeout(" + busyTimeout + ")" +
	"&_pragma=synchronous(NORMAL)&_txlock=immediate&_time_format=sqlite&_timezone=UTC"

// busyTimeout is how long a writer waits for another, in milliseconds.
const busyTimeout = "10000"

// sqliteReading are the pragmas of a connection that changes nothing, not even the kind of the journal.
const sqliteReading = "_pragma=query_only(1)&_pragma=foreign_keys(1)&_pragma=busy_timeout(" + busyTimeout + ")" +
	"&_time_format=sqlite&_timezone=UTC"

// reading is the location for connections that change nothing. An SQLite file that does not exist is an empty
// database in memory then, if its folder exists.
func (l location) reading() (location, error) {
	if l.dialect != dialect.SQLite || l.memory {
		return l, nil
	}
	_, err := os.Stat(l.file)
	switch {
	case err == nil:
		l.dsn = strings.Replace(l.dsn, sqlitePragmas, sqliteReading, 1)
		return l, nil
	case !errors.Is(err, os.ErrNotExist):
		return location{}, err
	}
	if _, err := os.Stat(filepath.Dir(l.file)); err != nil {
		return location{}, err
	}
	l.memory, l.dsn = true, "file::memory:?"+sqlitePragmas
	return l, nil
}

func parseSQLite(file string) (location, error) {
	switch {
	case file == "":
		return location{}, fmt.Errorf("%w sqlite://: no file is named", ErrURL)
	case strings.ContainsAny(file, "?#"):
		return location{}, fmt.Errorf("%w sqlite://%s: takes no options", ErrURL, file)
	case file == ":memory:":
		return location{
			dialect: dialect.SQLite, dsn: "file::memory:?" + sqlitePragmas, memory: true, shown: "sqlite://:memory:",
		}, nil
	}
	path := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(file)}).EscapedPath()}
	return location{
		dialect: dialect.SQLite, dsn: path.String() + "?" + sqlitePragmas, file: file, shown: "sqlite://" + file,
	}, nil
}

func parseMySQL(text string) (location, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The error of package url repeats the URL, password included.
		return location{}, fmt.Errorf("%w mysql://: not a valid URL; percent-encode special characters", ErrURL)
	}
	// Wrong URLs are not repeated: with a character that is not encoded, any part may be of the password.
	name := strings.Trim(u.Path, "/")
	switch {
	case u.Fragment != "" || strings.ContainsAny(u.EscapedPath(), ":@"):
		return location{}, fmt.Errorf("%w mysql://: percent-encode special characters", ErrURL)
	case u.Hostname() == "" || name == "" || strings.Contains(name, "/"):
		return location{}, fmt.Errorf("%w: want mysql://USER:PASSWORD@HOST:PORT/NAME", ErrURL)
	}
	port := u.Port()
	if port == "" {
		port = "3306"
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return location{}, fmt.Errorf("%w mysql://: want a port from 0 to 65535", ErrURL)
	}
	c := mysql.NewConfig()
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	c.Net, c.Addr, c.DBName = "tcp", net.JoinHostPort(u.Hostname(), port), name
	// An instant is the same whatever the server's or the machine's zone.
	c.ParseTime, c.Loc = true, time.UTC
	// One round trip per statement instead of three. Safe with utf8mb4.
	c.InterpolateParams = true
	// An UPDATE that changes nothing still says that it found its row.
	c.ClientFoundRows = true
	c.Timeout = 10 * time.Second
	c.Params = map[string]string{
		"time_zone": "'+00:00'",
		"sql_mode":  "'STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
	}
	if err := mysqlOptions(c, u.Query()); err != nil {
		return location{}, fmt.Errorf("%w mysql://: %w", ErrURL, err)
	}
	return location{dialect: dialect.MySQL, mysql: c, shown: u.Redacted()}, nil
}

// mysqlOptions applies the options a URL may carry: tls (true, skip-verify, preferred, false) and timeout.
func mysqlOptions(c *mysql.Config, options url.Values) error {
	for name, values := range options {
		value := values[len(values)-1]
		switch name {
		case "tls":
			switch value {
			case "true", "skip-verify", "preferred", "false":
				c.TLSConfig = value
			default:
				return errors.New("option tls: want true, skip-verify, preferred or false")
			}
		case "timeout":
			d, err := time.ParseDuration(value)
			if err != nil || d <= 0 {
				return errors.New("option timeout: want a duration such as 5s")
			}
			c.Timeout = d
		default:
			return errors.New("unknown option; known are tls and timeout")
		}
	}
	return nil
}

// maxConnections bounds what one process takes of a server's connections.
const maxConnections = 32

func (l location) open() (*sql.DB, error) {
	if l.dialect == dialect.SQLite {
		db, err := sql.Open("sqlite", l.dsn)
		if err != nil {
			return nil, err
		}
		if l.memory {
			// Every connection to :memory: is a database of its own.
			db.SetMaxOpenConns(1)
			return db, nil
		}
		// Reads are CPU work in this process: more connections than this only cost memory.
		db.SetMaxOpenConns(maxConnections / 2)
		db.SetMaxIdleConns(maxConnections / 2)
		return db, nil
	}
	connector, err := mysql.NewConnector(l.mysql)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(readCommitted{connector})
	db.SetMaxOpenConns(maxConnections)
	db.SetMaxIdleConns(maxConnections)
	db.SetConnMaxIdleTime(5 * time.Minute)
	// Lets a proxy or a failover move connections over.
	db.SetConnMaxLifetime(30 * time.Minute)
	return db, nil
}

// readCommitted makes every new connection's transactions see what others committed while they waited for a
// lock, and take no gap locks. It is a statement of its own because MySQL and MariaDB name the variable
// differently.
type readCommitted struct{ driver.Connector }

// Connect opens a connection.
func (c readCommitted) Connect(ctx context.Context) (driver.Conn, error) {
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
	return conn, nil
}
