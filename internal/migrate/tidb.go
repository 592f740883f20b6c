package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// tableWatch runs statements on TiDB with a limit on the time that they wait for transactions. TiDB ignores
// lock_wait_timeout for this, and neither KILL nor ADMIN CANCEL DDL JOBS ends the wait. Later statements do not queue
// behind the waiting one.
type tableWatch struct {
	db   *sql.DB // pool for other connections than the waiting one
	wait time.Duration
}

// exec calls run, which executes the statement. It returns early with a tableInUseError if the statement has waited
// too long for a transaction. If stop ends, it does so while the statement waits. It does not interrupt a statement
// that makes progress.
func (w *tableWatch) exec(
	ctx, stop context.Context, statement string, run func(context.Context) (sql.Result, error),
) (sql.Result, error) {
	type outcome struct {
		result sql.Result
		err    error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan outcome, 1)
	go func() {
		result, err := run(ctx)
		ended <- outcome{result, err}
	}()
	began := time.Now()
	ticks := time.NewTicker(watchInterval)
	defer ticks.Stop()
	for {
		select {
		case o := <-ended:
			return o.result, o.err
		case <-ticks.C:
		}
		age := w.wait
		if stop.Err() != nil {
			age = min(age, time.Since(began))
		}
		if time.Since(began) < age {
			continue
		}
		users := w.users(ctx, statement, age)
		if len(users) == 0 {
			continue
		}
		cancel()
		if o := <-ended; o.err == nil {
			return o.result, nil // the statement ended meanwhile
		}
		return nil, &tableInUseError{statement: statement, users: strings.Join(users, "; ")}
	}
}

// watchInterval is the time between two checks of a running statement.
const watchInterval = 500 * time.Millisecond

// tableInUseError is the error for a statement on TiDB that still waits for a transaction. The server runs the
// statement after that transaction has ended.
type tableInUseError struct {
	statement, users string
}

func (e *tableInUseError) Error() string {
	return fmt.Sprintf("%s waits for a transaction that did not end in time; the table is used by %s; the server runs the "+
		"statement after that transaction: apply again then", e.statement, e.users)
}

// tableWait returns the time for which statements wait for tables. wait is the option LockWait.
func tableWait(wait time.Duration) time.Duration {
	switch {
	case wait == 0:
		return defaultLockWait
	case wait < time.Second:
		return time.Second
	}
	return wait
}

// tidbTableUsers selects the connections whose transactions use a table of a statement and are older than some
// seconds. A user with the privilege PROCESS sees all users' connections. The id of a transaction contains its
// start time.
const tidbTableUsers = "SELECT p.id, p.user, p.host, p.time, p.info FROM information_schema.cluster_tidb_trx t " +
	"JOIN information_schema.cluster_processlist p ON p.id = t.session_id " +
	"JOIN information_schema.tables i ON FIND_IN_SET(i.tidb_table_id, t.related_table_ids) > 0 " +
	"WHERE i.table_schema = DATABASE() AND (INSTR(?, CONCAT('`', i.table_name, '`')) > 0 OR i.table_name = ?) " +
	"AND UNIX_TIMESTAMP() - (t.id >> 18) / 1000 >= ? GROUP BY 1, 2, 3, 4, 5 ORDER BY p.time DESC LIMIT 3"

// users describes the connections whose transactions block a statement. age is how long the statement has waited. It
// omits connections that the database user has no privilege to see.
func (w *tableWatch) users(ctx context.Context, statement string, age time.Duration) []string {
	ctx, cancel := context.WithTimeout(ctx, holderWait)
	defer cancel()
	table := ""
	if m := changesTable.FindStringSubmatch(stripText(statement)); m != nil {
		table = m[1] + m[2]
	}
	// One second is subtracted, so that a slightly slow clock does not hide a transaction.
	found, err := querySessions(ctx, w.db, tidbTableUsers, statement, table, int(age.Seconds())-1)
	if err != nil {
		return nil // without knowing what the statement waits for, let it continue
	}
	return found
}
