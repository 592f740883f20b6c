package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// tableWatch limits how long a statement waits for transactions that use its tables. TiDB ignores lock_wait_timeout for
// that wait, and neither KILL nor ADMIN CANCEL DDL JOBS ends it. Later statements do not queue behind the one that waits.
type tableWatch struct {
	db   *sql.DB // for connections other than the one that waits
	wait time.Duration
}

// watchInterval is the time between two checks of a statement that runs.
const watchInterval = 500 * time.Millisecond

// tableInUseError is the error of a statement that waits for a transaction. The server runs it later.
type tableInUseError struct {
	statement, users string
}

func (e *tableInUseError) Error() string {
	return fmt.Sprintf("%s waits for a transaction that did not end in time; the table is used by %s; the server runs the "+
		"statement after that transaction: apply again then", e.statement, e.users)
}

// tableWait returns how long statements wait for tables, from the option LockWait.
func tableWait(wait time.Duration) time.Duration {
	switch {
	case wait == 0:
		return defaultLockWait
	case wait < time.Second:
		return time.Second
	}
	return wait
}

// exec runs a statement until it ends, until it has waited too long for a transaction, or until stop ends while it waits for
// one. A statement that works continues.
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
			return o.result, nil // it ended meanwhile
		}
		return nil, &tableInUseError{statement: statement, users: strings.Join(users, "; ")}
	}
}

// tidbTableUsers finds the connections whose transactions use a table that a statement names, and are older than a number of
// seconds. A user with the right PROCESS sees those of all users. An id contains the time when its transaction began.
const tidbTableUsers = "SELECT p.id, p.user, p.host, p.time, p.info FROM information_schema.cluster_tidb_trx t " +
	"JOIN information_schema.cluster_processlist p ON p.id = t.session_id " +
	"JOIN information_schema.tables i ON FIND_IN_SET(i.tidb_table_id, t.related_table_ids) > 0 " +
	"WHERE i.table_schema = DATABASE() AND (INSTR(?, CONCAT('`', i.table_name, '`')) > 0 OR i.table_name = ?) " +
	"AND UNIX_TIMESTAMP() - (t.id >> 18) / 1000 >= ? GROUP BY 1, 2, 3, 4, 5 ORDER BY p.time DESC LIMIT 3"

// users describes the connections that a statement waits for, as far as the user may see them.
func (w *tableWatch) users(ctx context.Context, statement string, age time.Duration) []string {
	ctx, cancel := context.WithTimeout(ctx, holderWait)
	defer cancel()
	table := ""
	if m := changesTable.FindStringSubmatch(stripText(statement)); m != nil {
		table = m[1] + m[2]
	}
	// Whole seconds are compared, so that a clock which is a little behind does not hide a transaction.
	found, err := querySessions(ctx, w.db, tidbTableUsers, statement, table, int(age.Seconds())-1)
	if err != nil {
		return nil // the statement is not known to wait, so it continues
	}
	return found
}
