package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/almanac-cal/almanac/ent/record"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/token"
	"github.com/almanac-cal/almanac/ent/user"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/migrations"
	"github.com/almanac-cal/almanac/proof/must"
)

// pool lends migrated databases of a MySQL server to the tests of a process, one after the other. Emptying the tables
// that a test wrote takes a tenth of the time that migrations take. The databases stay when the process ends, and the
// next process reuses them. The first database is the template. It is never lent, and the others are copies of it.
type pool struct {
	server *url.URL
	db     *sql.DB
	lock   *sql.Conn // connection with a lock for each database that this process lends, named like it
	name   string    // the template is called name_0, the others name_1 and so on

	mariaDB, tidb bool

	schema   string            // fingerprint of the template
	counters map[string]string // next automatic numbers of the template, by table
	filled   map[string]string // columns of the template's filled tables, by table

	mu     sync.Mutex
	lent   int      // number of the last database that was locked or is locked by another process
	unused []string // databases that this process has locked and no test uses
}

const poolPrefix = "almanac_pool_"

var thePool = sync.OnceValues(newPool)

// Lent returns the URL of a migrated MySQL database for one test, with series enabled. It contains only the rows that
// migrations insert. The URL has query parameters. Variable must name a server.
func Lent(t testing.TB) string {
	t.Helper()
	p, err := thePool()
	must.Succeed(t, err)
	name, err := p.take(t)
	must.Succeed(t, err)
	t.Cleanup(func() {
		// A failed test may leave statements running, so this process does not lend the database again. The test's context
		// has already ended.
		if t.Failed() {
			if _, err := p.db.ExecContext(context.Background(), "DROP DATABASE IF EXISTS "+name); err != nil {
				t.Error(err)
			}
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.unused = append(p.unused, name)
	})
	return p.url(name)
}

func newPool() (*pool, error) {
	server, db, err := openServer()
	if err != nil {
		return nil, err
	}
	sums, err := migrations.FS.ReadFile("mysql/atlas.sum")
	if err != nil {
		return nil, err
	}
	p := &pool{server: server, db: db, name: fmt.Sprintf("%s%08x", poolPrefix, crc32.ChecksumIEEE(sums))}
	ctx := context.Background()
	if p.lock, err = db.Conn(ctx); err != nil {
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
	err = p.makeTemplate(ctx)
	return p, err
}

// makeTemplate migrates the template database, unless another process has done so, and reads its schema and rows. It
// then locks a first database to lend.
func (p *pool) makeTemplate(ctx context.Context) (err error) {
	template := p.name + "_0"
	for locked := false; !locked; {
		if locked, err = p.tryLock(ctx, template); err != nil {
			return err
		}
		if !locked {
			time.Sleep(100 * time.Millisecond)
		}
	}
	defer func() { err = errors.Join(err, p.unlock(ctx, template)) }()
	if _, err := p.lock.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+template); err != nil {
		return err
	}
	st, err := store.Open(ctx, p.url(template))
	if err != nil {
		return err
	}
	if err := errors.Join(migrateAll(ctx, st), st.Close()); err != nil {
		return err
	}
	if err := p.readTemplate(ctx, template); err != nil {
		return err
	}
	// From now on other processes see by a lock that the databases are in use.
	name, err := p.lockNext(ctx)
	p.unused = append(p.unused, name)
	return err
}

func (p *pool) readTemplate(ctx context.Context, name string) (err error) {
	if p.schema, err = p.fingerprint(ctx, name); err != nil {
		return err
	}
	if p.counters, err = p.countersOf(ctx, p.lock, name); err != nil {
		return err
	}
	tables, err := filledTables(ctx, p.lock, name, p.counters)
	if err != nil {
		return err
	}
	p.filled = map[string]string{}
	for _, table := range tables {
		if p.filled[table], err = p.columnsOf(ctx, table); err != nil {
			return err
		}
	}
	return nil
}

// heldTiDB is the number of TiDB's error for a named lock that another connection holds.
const heldTiDB = 1105

// tryLock locks a database's name on the server. It returns false if another process has locked it.
func (p *pool) tryLock(ctx context.Context, name string) (bool, error) {
	locked, err := queryTexts(ctx, p.lock, "SELECT GET_LOCK(?, 0)", name)
	var held *mysql.MySQLError
	if errors.As(err, &held) && held.Number == heldTiDB {
		return false, nil
	}
	return err == nil && locked[0] == "1", err
}

func (p *pool) unlock(ctx context.Context, name string) error {
	_, err := p.lock.ExecContext(ctx, "DO RELEASE_LOCK(?)", name)
	return err
}

// lockNext locks the next database name of the pool that no other process has locked, and returns it.
func (p *pool) lockNext(ctx context.Context) (string, error) {
	for {
		p.lent++
		name := fmt.Sprintf("%s_%d", p.name, p.lent)
		if locked, err := p.tryLock(ctx, name); locked || err != nil {
			return name, err
		}
	}
}

// dropOthers drops databases of pools with other migrations, unless a process still uses such a pool.
func (p *pool) dropOthers(ctx context.Context) error {
	names, err := queryTexts(ctx, p.lock, "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE ?", poolPrefix+"%")
	if err != nil {
		return err
	}
	pools := map[string][]string{}
	for _, name := range names {
		if of := name[:strings.LastIndex(name, "_")]; of != p.name {
			pools[of] = append(pools[of], name)
		}
	}
	for _, names := range pools {
		if err := p.dropAll(ctx, names); err != nil {
			return err
		}
	}
	return nil
}

// dropAll drops all given databases of a pool. It drops none of them if a process has locked one.
func (p *pool) dropAll(ctx context.Context, names []string) (err error) {
	var locks []string
	defer func() {
		for _, name := range locks {
			err = errors.Join(err, p.unlock(ctx, name))
		}
	}()
	for _, name := range names {
		locked, lockErr := p.tryLock(ctx, name)
		if lockErr != nil || !locked {
			return lockErr
		}
		locks = append(locks, name)
	}
	for _, name := range names {
		if _, err := p.lock.ExecContext(ctx, "DROP DATABASE IF EXISTS "+name); err != nil {
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

// take returns the name of an unused database with the rows of the template, no others.
func (p *pool) take(t testing.TB) (name string, err error) {
	ctx := t.Context()
	if name, err = p.lockUnused(ctx); err != nil {
		return "", err
	}
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	schema, err := p.fingerprint(ctx, name)
	if err != nil {
		return "", err
	}
	if schema != p.schema {
		if err := p.copyTables(ctx, conn, name); err != nil {
			return "", err
		}
	}
	if err := p.refill(ctx, conn, name); err != nil {
		return "", fmt.Errorf("database %s: %w", name, err)
	}
	return name, nil
}

// lockUnused returns the name of a database that this process has locked and that none of its tests uses. It locks
// another one if necessary.
func (p *pool) lockUnused(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.unused); n > 0 {
		name := p.unused[n-1]
		p.unused = p.unused[:n-1]
		return name, nil
	}
	return p.lockNext(ctx)
}

// copyTables replaces a database by a copy of the template without rows, which is faster than migrating. An error
// means that the copy failed or that its schema differs.
func (p *pool) copyTables(ctx context.Context, conn *sql.Conn, name string) error {
	template := p.name + "_0"
	tables, err := queryTexts(ctx, conn, "SELECT table_name FROM information_schema.tables"+
		" WHERE table_schema = ? AND table_type = 'BASE TABLE'", template)
	if err != nil {
		return err
	}
	statements := []string{
		"SET foreign_key_checks = 0", "DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name, "USE " + name,
	}
	for _, table := range tables {
		var same, create string
		if err := conn.QueryRowContext(ctx, "SHOW CREATE TABLE "+template+"."+table).Scan(&same, &create); err != nil {
			return err
		}
		statements = append(statements, create)
	}
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	schema, err := p.fingerprint(ctx, name)
	if err == nil && schema != p.schema {
		err = fmt.Errorf("database %s differs from %s, whose tables it has", name, template)
	}
	return err
}

// servedIDs are the tables whose automatic numbers replies contain. Tests expect that they begin with 1. Other
// counters are not reset, because that would change the schema.
var servedIDs = []string{record.Table, term.Table, token.Table, user.Table}

// refill replaces the rows of all tables by those of the template. It also resets the automatic numbers of tables in
// servedIDs.
func (p *pool) refill(ctx context.Context, conn *sql.Conn, name string) error {
	counters, err := p.countersOf(ctx, conn, name)
	if err != nil {
		return err
	}
	filled, err := filledTables(ctx, conn, name, counters)
	if err != nil {
		return err
	}
	statements := []string{"SET foreign_key_checks = 0"}
	for table, counter := range counters {
		switch {
		case counter != p.counters[table] && slices.Contains(servedIDs, table):
			statements = append(statements, "TRUNCATE TABLE "+name+"."+table)
		case slices.Contains(filled, table):
			statements = append(statements, "DELETE FROM "+name+"."+table)
		}
	}
	for table, list := range p.filled {
		statements = append(statements, fmt.Sprintf("INSERT INTO %s.%s (%s) SELECT %[3]s FROM %[4]s_0.%[2]s", name, table, list, p.name))
	}
	for _, s := range append(statements, "SET foreign_key_checks = 1") {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// countersOf returns the next automatic number (AUTO_INCREMENT) of each table, as text. It is
// "" for a table without one.
func (p *pool) countersOf(ctx context.Context, conn *sql.Conn, name string) (map[string]string, error) {
	if !p.mariaDB && !p.tidb {
		// Otherwise MySQL answers with counters of hours ago.
		if _, err := conn.ExecContext(ctx, "SET information_schema_stats_expiry = 0"); err != nil {
			return nil, err
		}
	}
	lines, err := queryTexts(ctx, conn, "SELECT CONCAT(table_name, ' ', COALESCE(auto_increment, '')) FROM information_schema.tables"+
		" WHERE table_schema = ?", name)
	if err != nil {
		return nil, err
	}
	counters := map[string]string{}
	for _, line := range lines {
		table, counter, _ := strings.Cut(line, " ")
		counters[table] = counter
	}
	return counters, nil
}

// filledTables returns the tables of a database with rows, out of the keys of counters.
func filledTables(ctx context.Context, db Querier, name string, counters map[string]string) ([]string, error) {
	var queries []string
	for table := range counters {
		queries = append(queries, fmt.Sprintf("(SELECT '%s' FROM %s.%[1]s LIMIT 1)", table, name))
	}
	return queryTexts(ctx, db, strings.Join(queries, " UNION ALL "))
}

// columnsOf returns the quoted columns of a table of the template, separated by commas, for inserting rows. Generated
// columns are left out.
func (p *pool) columnsOf(ctx context.Context, table string) (string, error) {
	columns, err := queryTexts(ctx, p.db, "SELECT CONCAT('`', column_name, '`') FROM information_schema.columns"+
		" WHERE table_schema = ? AND table_name = ? AND extra NOT LIKE '%GENERATED%'", p.name+"_0", table)
	return strings.Join(columns, ", "), err
}

// fingerprint returns a text for comparing the schemas of two databases. It covers columns and indexes, but only the
// number of foreign keys and triggers.
func (p *pool) fingerprint(ctx context.Context, name string) (string, error) {
	found, err := queryTexts(ctx, p.db, "SELECT CONCAT_WS(' ',"+
		" (SELECT SUM(CRC32(CONCAT_WS(' ', table_name, column_name, ordinal_position, column_type, is_nullable, column_default, collation_name)))"+
		" FROM information_schema.columns WHERE table_schema = ?),"+
		" (SELECT SUM(CRC32(CONCAT_WS(' ', table_name, index_name, seq_in_index, column_name)))"+
		" FROM information_schema.statistics WHERE table_schema = ?),"+
		" (SELECT COUNT(*) FROM information_schema.referential_constraints WHERE constraint_schema = ?),"+
		" (SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = ?))", name, name, name, name)
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// queryTexts returns the values of a query with a single column, as texts.
func queryTexts(ctx context.Context, db Querier, query string, args ...any) (found []string, err error) {
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

// openServer opens the MySQL server whose URL is in the environment variable that Variable names.
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
