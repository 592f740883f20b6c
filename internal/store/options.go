package store

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// pool has the limits of one process's connection pool. A time of 0 means no limit.
type pool struct {
	open, idle    int
	idleTime, age time.Duration
}

// maxCount is the upper bound of options that are counts, such as connections.
const maxCount = 10_000

var (
	// mysqlPool limits the age of connections, so that a proxy or a failover can move them to another server.
	mysqlPool = pool{open: 32, idle: 32, idleTime: 5 * time.Minute, age: 30 * time.Minute}

	// sqlitePool is small because SQLite reads are CPU work in this process. More connections would only cost
	// memory.
	sqlitePool = pool{open: 16, idle: 16}
)

// option parses and stores the value of one URL option. Its error does not contain the value, which may be secret.
type option func(value string) error

// readOptions parses all options of a URL query. If an option occurs twice, the last value counts. The error
// does not repeat an unknown option, because it may be part of a password that is not percent-encoded.
func readOptions(query string, known map[string]option) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("options: percent-encode special characters")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		read, ok := known[name]
		if !ok {
			return fmt.Errorf("unknown option; known are %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		given := values[name]
		if err := read(given[len(given)-1]); err != nil {
			return fmt.Errorf("option %s: %w", name, err)
		}
	}
	return nil
}

// options returns the parsers of the URL options that set the pool's limits. Both databases have these options.
func (p *pool) options() map[string]option {
	return map[string]option{
		"max-open":      countOption(&p.open, 1),
		"max-idle":      countOption(&p.idle, 0),
		"max-idle-time": durationOption(&p.idleTime),
		"max-lifetime":  durationOption(&p.age),
	}
}

// limit applies the limits of p to a connection pool.
func (p pool) limit(db *sql.DB) {
	db.SetMaxOpenConns(p.open)
	db.SetMaxIdleConns(p.idle)
	db.SetConnMaxIdleTime(p.idleTime)
	db.SetConnMaxLifetime(p.age)
}

// check lowers the default of max-idle to max-open. If given is true, the URL itself sets max-idle, and a value
// above max-open is an error.
func (p *pool) check(given bool) error {
	if p.idle <= p.open {
		return nil
	}
	if given {
		return errors.New("option max-idle: want at most max-open")
	}
	p.idle = p.open
	return nil
}

func countOption(to *int, least int) option {
	return func(value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < least || n > maxCount {
			return fmt.Errorf("want a number from %d to %d", least, maxCount)
		}
		*to = n
		return nil
	}
}

// durationOption returns an option that parses a duration and stores it in to. 0 means no limit.
func durationOption(to *time.Duration) option {
	return func(value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return errors.New("want a duration such as 5s, or 0 for no limit")
		}
		*to = d
		return nil
	}
}

func positiveDurationOption(to *time.Duration) option {
	return func(value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d < time.Millisecond || d > 24*time.Hour {
			return errors.New("want a duration such as 5s")
		}
		*to = d
		return nil
	}
}

// sizeOption returns an option that parses a number of bytes and stores it in to. A letter such as k or M after the
// number multiplies it.
func sizeOption(to *int64) option {
	return func(value string) error {
		digits, shift := value, 0
		if n := len(value); n > 0 {
			switch value[n-1] {
			case 'k', 'K':
				digits, shift = value[:n-1], 10
			case 'm', 'M':
				digits, shift = value[:n-1], 20
			case 'g', 'G':
				digits, shift = value[:n-1], 30
			}
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 0 || n > (1<<40)>>shift {
			return errors.New("want a size such as 64M")
		}
		*to = n << shift
		return nil
	}
}

// sqliteOptions are the options of an SQLite URL.
type sqliteOptions struct {
	busy  time.Duration // time that a writer waits for other writers, unless its context ends before
	cache int64         // size of each connection's page cache in bytes; 0 means SQLite's default
	mmap  int64         // bytes of the file that are memory-mapped instead of read; 0 means none
}

func (o *sqliteOptions) read(query string, p *pool) error {
	known := p.options()
	known["busy-timeout"] = positiveDurationOption(&o.busy)
	known["cache-size"] = sizeOption(&o.cache)
	known["mmap-size"] = sizeOption(&o.mmap)
	if err := readOptions(query, known); err != nil {
		return err
	}
	return p.check(strings.Contains(query, "max-idle="))
}

// tlsFiles are the paths of the certificate files in a MySQL URL. "" means none.
type tlsFiles struct{ ca, cert, key string }

// mysqlOptions applies the options of a MySQL URL to l.
func mysqlOptions(l *location, query string) error {
	var files tlsFiles
	c, p := l.mysql, &l.pool
	known := p.options()
	known["tls"] = func(value string) error {
		if !slices.Contains([]string{"true", "skip-verify", "preferred", "false"}, value) {
			return errors.New("want true, skip-verify, preferred or false")
		}
		c.TLSConfig = value
		return nil
	}
	for name, to := range map[string]*string{
		"tls-ca": &files.ca, "tls-cert": &files.cert, "tls-key": &files.key,
	} {
		known[name] = func(value string) error {
			if value == "" {
				return errors.New("want a file")
			}
			*to = value
			return nil
		}
	}
	known["timeout"] = positiveDurationOption(&c.Timeout)
	known["read-timeout"] = durationOption(&c.ReadTimeout)
	known["write-timeout"] = durationOption(&c.WriteTimeout)
	known["prepare-after"] = countOption(&l.prepareAfter, 0)
	if c.Net == "unix" {
		known["database"] = databaseOption(&c.DBName)
	}
	if err := readOptions(query, known); err != nil {
		return err
	}
	if c.DBName == "" {
		return errors.New("option database: want the name of the database")
	}
	if err := p.check(strings.Contains(query, "max-idle=")); err != nil {
		return err
	}
	return files.load(c)
}

func databaseOption(to *string) option {
	return func(value string) error {
		if strings.Contains(value, "/") {
			return errors.New("want a name without slashes")
		}
		*to = value
		return nil
	}
}

// load reads the certificate files. If there is one, connections are encrypted and the server's certificate is
// verified.
func (f tlsFiles) load(c *mysql.Config) error {
	if f == (tlsFiles{}) {
		return nil
	}
	if c.TLSConfig != "" && c.TLSConfig != "true" {
		return errors.New("options tls-ca, tls-cert and tls-key: want tls=true with them, or no tls")
	}
	if (f.cert == "") != (f.key == "") {
		return errors.New("options tls-cert and tls-key: want both or none")
	}
	// The driver adds the host name, which the certificate must contain.
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		if err != nil {
			return fmt.Errorf("option tls-ca: %w", withoutPath(err))
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return errors.New("option tls-ca: no certificate in PEM")
		}
	}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return fmt.Errorf("options tls-cert and tls-key: %w", withoutPath(err))
		}
		config.Certificates = []tls.Certificate{pair}
	}
	c.TLSConfig, c.TLS = "true", config
	return nil
}

// withoutPath removes the file name from an error, because it may be part of a password.
func withoutPath(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}
