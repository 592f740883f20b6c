package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// A pool lends migrated databases of a MySQL server to the tests of a process, one after the other: to empty the tables that
// a test wrote takes a tenth of the time that migrations take. The first database is never lent, the others are filled from
// it. Nothing tells a process that its last test has ended, so the databases stay; the next process drops them.
type pool struct {
	server *url.URL
	db     *sql.DB
	lock   *sql.Conn // connection of the lock named like the databases, held until the process ends
	name   string    // the databases are called name_0, name_1 and so on
	schema string    // fingerprint of a migrated database

	mariaDB, tidb bool

	mu   sync.Mutex
	made int
	free []string
}

const poolPrefix = "almanac_lent_"

var thePool = sync.OnceValues(newPool)

// Lent returns the URL of a migrated MySQL database on which series are switched on. It has only the rows that migrations
// insert. The URL has options.
func Lent(t testing.TB) string {
	t.Helper()
	p, err := thePool()
	if err != nil {
		t.Fatal(err)
	}
	name, err := p.take(t)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A failed test may leave statements running. The test's context has already ended.
		if err := p.putBack(context.Background(), name, t.Failed()); err != nil {
			t.Error(err)
		}
	})
	return p.url(name)
}

func newPool() (*pool, error) {
	server, db, err := openServer()
	if err != nil {
		return nil, err
	}
	var id [6]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	p := &pool{server: server, db: db, name: poolPrefix + hex.EncodeToString(id[:])}
	ctx := context.Background()
	if p.lock, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	if _, err := p.lock.ExecContext(ctx, "DO GET_LOCK(?, 0)", p.name); err != nil {
		return nil, err
	}
	version, err := queryTexts(ctx, p.lock, "SELECT VERSION()")
	if err != nil {
		return nil, err
	}
	p.mariaDB, p.tidb = strings.Contains(version[0], "MariaDB"), strings.Contains(version[0], "TiDB")
	if err := p.dropOthers(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// heldTiDB is the error of TiDB for a named lock of another connection.
const heldTiDB = 1105

// dropOthers drops the databases of processes that have ended.
func (p *pool) dropOthers(ctx context.Context) error {
	names, err := queryTexts(ctx, p.lock, "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE ?", poolPrefix+"%")
	if err != nil {
		return err
	}
	for _, name := range names {
		owner := name[:strings.LastIndex(name, "_")]
		free, err := queryTexts(ctx, p.lock, "SELECT GET_LOCK(?, 0)", owner)
		var held *mysql.MySQLError
		if errors.As(err, &held) && held.Number == heldTiDB {
			continue
		}
		if err != nil {
			return err
		}
		if owner == p.name || free[0] != "1" {
			continue
		}
		_, err = p.lock.ExecContext(ctx, "DROP DATABASE IF EXISTS "+name)
		_, unlocked := p.lock.ExecContext(ctx, "DO RELEASE_LOCK(?)", owner)
		if err := errors.Join(err, unlocked); err != nil {
			return err
		}
	}
	return nil
}

func (p *pool) url(name string) string {
	u := *p.server
	u.Path = "/" + name
	u.RawQuery = testOptions
	return u.String()
}

// take returns the name of a database that no other test uses.
func (p *pool) take(t testing.TB) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		name := p.free[n-1]
		p.free = p.free[:n-1]
		return name, nil
	}
	if p.made == 0 {
		first, err := p.create(t)
		if err != nil {
			return "", err
		}
		if p.schema, err = p.fingerprint(t.Context(), first); err != nil {
			return "", err
		}
	}
	return p.create(t)
}

func (p *pool) create(t testing.TB) (string, error) {
	name := fmt.Sprintf("%s_%d", p.name, p.made)
	if _, err := p.db.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	p.made++
	if p.tidb && p.schema != "" {
		return name, p.copyFirst(t, name)
	}
	return name, Migrated(t, p.url(name)).Close()
}

// copyFirst fills an empty database from the first one. Migrations change most tables several times, and TiDB is slow at that.
func (p *pool) copyFirst(t testing.TB, name string) (err error) {
	ctx, first := t.Context(), p.name+"_0"
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	tables, err := queryTexts(ctx, conn, "SELECT table_name FROM information_schema.tables"+
		" WHERE table_schema = ? AND table_type = 'BASE TABLE'", first)
	if err != nil {
		return err
	}
	statements := []string{"SET foreign_key_checks = 0", "USE " + name}
	for _, table := range tables {
		var same, create string
		if err := conn.QueryRowContext(ctx, "SHOW CREATE TABLE "+first+"."+table).Scan(&same, &create); err != nil {
			return err
		}
		statements = append(statements, create)
	}
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	if err := p.refill(ctx, conn, name); err != nil {
		return err
	}
	schema, err := p.fingerprint(ctx, name)
	if err == nil && schema != p.schema {
		err = fmt.Errorf("database %s differs from %s, whose tables it has", name, first)
	}
	return err
}

// putBack makes a database what it was before it was lent, or drops it.
func (p *pool) putBack(ctx context.Context, name string, failed bool) (err error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	schema, err := p.fingerprint(ctx, name)
	if err != nil {
		return err
	}
	if failed || schema != p.schema {
		_, err := conn.ExecContext(ctx, "DROP DATABASE "+name)
		return err
	}
	if err := p.refill(ctx, conn, name); err != nil {
		return fmt.Errorf("database %s: %w", name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, name)
	return nil
}

// refill gives all tables the rows and counters of the first database.
func (p *pool) refill(ctx context.Context, conn *sql.Conn, name string) error {
	first := p.name + "_0"
	if !p.mariaDB && !p.tidb {
		// Otherwise MySQL answers with counters of hours ago.
		if _, err := conn.ExecContext(ctx, "SET information_schema_stats_expiry = 0"); err != nil {
			return err
		}
	}
	counters := "SELECT CONCAT_WS(' ', table_name, auto_increment) FROM information_schema.tables WHERE table_schema = ? ORDER BY 1"
	before, err := queryTexts(ctx, conn, counters, first)
	if err != nil {
		return err
	}
	now, err := queryTexts(ctx, conn, counters, name)
	if err != nil {
		return err
	}
	var used []string
	emptied := map[string]string{}
	for i, counter := range now {
		table, _, _ := strings.Cut(counter, " ")
		rows, err := queryTexts(ctx, conn, fmt.Sprintf("(SELECT 1 FROM %s.%s LIMIT 1) UNION ALL (SELECT 1 FROM %s.%[2]s LIMIT 1)", name, table, first))
		if err != nil {
			return err
		}
		if len(rows) > 0 || counter != before[i] {
			used = append(used, table)
			emptied[table] = "TRUNCATE TABLE"
			if p.tidb && counter == before[i] {
				emptied[table] = "DELETE FROM" // a change of the schema takes many times as long
			}
		}
	}
	statements := []string{"SET foreign_key_checks = 0"}
	for _, table := range used {
		columns, err := queryTexts(ctx, conn, "SELECT CONCAT('`', column_name, '`') FROM information_schema.columns"+
			" WHERE table_schema = ? AND table_name = ? AND extra NOT LIKE '%GENERATED%'", first, table)
		if err != nil {
			return err
		}
		list := strings.Join(columns, ", ")
		statements = append(statements, fmt.Sprintf("%s %s.%s", emptied[table], name, table),
			fmt.Sprintf("INSERT INTO %s.%s (%s) SELECT %[3]s FROM %[4]s.%[2]s", name, table, list, first))
	}
	for _, s := range append(statements, "SET foreign_key_checks = 1") {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// fingerprint changes with the columns, indexes and triggers of a database.
func (p *pool) fingerprint(ctx context.Context, name string) (string, error) {
	found, err := queryTexts(ctx, p.db, "SELECT CONCAT_WS(' ',"+
		" (SELECT SUM(CRC32(CONCAT_WS(' ', table_name, column_name, ordinal_position, column_type, is_nullable, column_default)))"+
		" FROM information_schema.columns WHERE table_schema = ?),"+
		" (SELECT SUM(CRC32(CONCAT_WS(' ', table_name, index_name, seq_in_index, column_name)))"+
		" FROM information_schema.statistics WHERE table_schema = ?),"+
		" (SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = ?))", name, name, name)
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// queryTexts returns the only column of the rows that a query finds.
func queryTexts(ctx context.Context, db interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, query string, args ...any,
) (found []string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		found = append(found, text)
	}
	return found, rows.Err()
}

// openServer opens the server that Variable names.
func openServer() (*url.URL, *sql.DB, error) {
	server, err := url.Parse(os.Getenv(Variable))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: not a URL", Variable)
	}
	c := mysql.NewConfig()
	c.User = server.User.Username()
	c.Passwd, _ = server.User.Password()
	c.Net, c.Addr = "tcp", server.Host
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, nil, err
	}
	return server, sql.OpenDB(connector), nil
}
