package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/internal/store"
)

// lockHolder describes the connection that holds the migration lock, for an error message. Without the privilege to
// see that connection, the text says less.
func lockHolder(ctx context.Context, conn *sql.Conn) string {
	ctx, cancel := context.WithTimeout(ctx, holderWait)
	defer cancel()
	if isTiDB, err := store.IsTiDB(ctx, conn); err == nil && isTiDB {
		return "TiDB does not say which connection holds it"
	}
	var id sql.NullInt64
	if err := conn.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?)", lockName).Scan(&id); err != nil || !id.Valid {
		return "its holder has just ended, or cannot be told"
	}
	for _, query := range holderQueries {
		if found, err := querySessions(ctx, conn, query+"?", id.Int64); err == nil && len(found) > 0 {
			return "held by " + found[0]
		}
	}
	return fmt.Sprintf("held by %s; a user with the right PROCESS learns more by %s%d",
		databaseSession{id: id.Int64}, holderQueries[1], id.Int64)
}

// databaseSession is a connection in the process list of a MySQL server.
type databaseSession struct {
	id               int64
	user, host, info sql.NullString
	seconds          sql.NullInt64
}

// holderWait is the time limit of queries for the connection that has a lock. They only improve an error message.
const holderWait = 5 * time.Second

// String describes the session: user, statement, and running time.
func (s databaseSession) String() string {
	if !s.user.Valid {
		return fmt.Sprintf("connection %d", s.id)
	}
	out := fmt.Sprintf("connection %d of %s@%s, for %s ", s.id, s.user.String, s.host.String,
		time.Duration(s.seconds.Int64)*time.Second)
	statement := strings.Join(strings.Fields(s.info.String), " ")
	if statement == "" {
		return out + "idle"
	}
	const longest = 100
	if runes := []rune(statement); len(runes) > longest {
		statement = string(runes[:longest]) + "…"
	}
	return out + "at " + statement
}

// holderQueries are the queries for a connection, without its id. The first is for MySQL and users who may read
// performance_schema. The second fails on MySQL while any connection runs a statement with bytes that are no text.
var holderQueries = [...]string{
	"SELECT processlist_id, processlist_user, processlist_host, processlist_time, processlist_info " +
		"FROM performance_schema.threads WHERE processlist_id = ",
	"SELECT id, user, host, time, info FROM information_schema.processlist WHERE id = ",
}

// usersOfTable are the queries for connections that use a table. The first is for MySQL and users who may read
// performance_schema. The second is for MariaDB and users with the privilege PROCESS.
var usersOfTable = [...]string{
	"SELECT t.processlist_id, t.processlist_user, t.processlist_host, t.processlist_time, t.processlist_info " +
		"FROM performance_schema.metadata_locks l JOIN performance_schema.threads t ON t.thread_id = l.owner_thread_id " +
		"WHERE l.object_type = 'TABLE' AND l.object_schema = DATABASE() AND l.object_name = ? AND l.lock_status = 'GRANTED' " +
		"AND t.processlist_id <> CONNECTION_ID() GROUP BY 1, 2, 3, 4, 5 ORDER BY t.processlist_time DESC LIMIT 3",
	"SELECT p.id, p.user, p.host, p.time, p.info FROM information_schema.innodb_trx t " +
		"JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id " +
		"WHERE ? <> '' AND p.db = DATABASE() AND p.id <> CONNECTION_ID() ORDER BY t.trx_started LIMIT 3",
}

// tableUsers describes the connections that prevent a statement from changing its table, for an error message. It
// omits connections that the database user has no privilege to see.
func tableUsers(ctx context.Context, conn *sql.Conn, statement string) string {
	ctx, cancel := context.WithTimeout(ctx, holderWait)
	defer cancel()
	table := ""
	if m := changesTable.FindStringSubmatch(stripText(statement)); m != nil {
		table = m[1] + m[2]
	}
	for _, query := range usersOfTable {
		if found, err := querySessions(ctx, conn, query, table); err == nil && len(found) > 0 {
			return "used by " + strings.Join(found, "; ")
		}
	}
	return fmt.Sprintf("which may be used by connections that this user may not see; look for table %q in "+
		"performance_schema.metadata_locks, or on MariaDB for old transactions in information_schema.innodb_trx", table)
}

func querySessions(ctx context.Context, conn interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, query string, args ...any,
) (found []string, err error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s databaseSession
		if err := rows.Scan(&s.id, &s.user, &s.host, &s.seconds, &s.info); err != nil {
			return nil, err
		}
		found = append(found, s.String())
	}
	return found, rows.Err()
}
