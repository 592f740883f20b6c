package store

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
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
	mysql   *mysql.Config
	memory  bool
	shown   string // the URL without password
}

func (l location) String() string { return l.shown }

// parseURL reads the URLs that Open documents.
func parseURL(text string) (location, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return location{}, fmt.Errorf("database URL %q: want sqlite://FILE or mysql://USER:PASSWORD@HOST:PORT/NAME", text)
	}
	switch scheme {
	case "sqlite":
		return parseSQLite(rest)
	case "mysql":
		return parseMySQL(text)
	}
	return location{}, fmt.Errorf("database URL: unknown scheme %q; want sqlite or mysql", scheme)
}

// sqlitePragmas make SQLite a server's database: readers beside one writer, writers that wait for each
// other, foreign keys that hold. Write transactions begin immediate, because one that upgrades a read later
// fails at once instead of waiting. Times are stored as text that sorts.
const sqlitePragmas = "_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=busy_timeout(10000)" +
	"&_pragma=synchronous(NORMAL)&_txlock=immediate&_time_format=sqlite"

func parseSQLite(file string) (location, error) {
	switch {
	case file == "":
		return location{}, fmt.Errorf("database URL sqlite://: no file is named")
	case strings.ContainsAny(file, "?#"):
		return location{}, fmt.Errorf("database URL sqlite://%s: takes no options", file)
	case file == ":memory:":
		return location{
			dialect: dialect.SQLite, dsn: "file::memory:?" + sqlitePragmas, memory: true, shown: "sqlite://:memory:",
		}, nil
	}
	path := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(file)}).EscapedPath()}
	return location{
		dialect: dialect.SQLite, dsn: path.String() + "?" + sqlitePragmas, shown: "sqlite://" + file,
	}, nil
}

func parseMySQL(text string) (location, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The error of package url repeats the URL, password included.
		return location{}, fmt.Errorf("database URL mysql://: not a valid URL; percent-encode special characters")
	}
	name := strings.Trim(u.Path, "/")
	if u.Hostname() == "" || name == "" || strings.Contains(name, "/") {
		return location{}, fmt.Errorf("database URL %s: want mysql://USER:PASSWORD@HOST:PORT/NAME", u.Redacted())
	}
	port := u.Port()
	if port == "" {
		port = "3306"
	}
	c := mysql.NewConfig()
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	c.Net, c.Addr, c.DBName = "tcp", u.Hostname()+":"+port, name
	if strings.Contains(u.Hostname(), ":") {
		c.Addr = "[" + u.Hostname() + "]:" + port
	}
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
		// A transaction sees what others committed while it waited for a lock, and takes no gap locks.
		"transaction_isolation": "'READ-COMMITTED'",
	}
	if err := mysqlOptions(c, u.Query()); err != nil {
		return location{}, fmt.Errorf("database URL %s: %w", u.Redacted(), err)
	}
	return location{dialect: dialect.MySQL, mysql: c, shown: u.Redacted()}, nil
}

// mysqlOptions applies the options a URL may carry: tls (true, skip-verify, preferred, false) and timeout.
func mysqlOptions(c *mysql.Config, options url.Values) error {
	for name, values := range options {
		value := values[len(values)-1]
		switch name {
		case "tls":
			c.TLSConfig = value
		case "timeout":
			d, err := time.ParseDuration(value)
			if err != nil {
				return fmt.Errorf("option timeout: %w", err)
			}
			c.Timeout = d
		default:
			return fmt.Errorf("unknown option %q; known are tls and timeout", name)
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
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(maxConnections)
	db.SetMaxIdleConns(maxConnections)
	db.SetConnMaxIdleTime(5 * time.Minute)
	// Lets a proxy or a failover move connections over.
	db.SetConnMaxLifetime(30 * time.Minute)
	return db, nil
}
