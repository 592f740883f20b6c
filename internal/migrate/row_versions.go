package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/almanac-cal/almanac/internal/store"
)

// RowVersions has the number of row versions of each table. MySQL counts one for each ALGORITHM=INSTANT that adds or
// drops columns. At the limit it refuses another such statement (error 4092), until ALTER TABLE … FORCE rebuilds the
// table.
type RowVersions struct {
	Limit  int
	Tables map[string]int // tables without row versions are left out
}

// ReadRowVersions returns the row versions of the tables of a MySQL database. Nil means that the engine has none:
// SQLite, MariaDB and TiDB.
func ReadRowVersions(ctx context.Context, st *store.Store) (*RowVersions, error) {
	if st.Engine() != "mysql" {
		return nil, nil
	}
	out, err := queryRowVersions(ctx, st.DB)
	if refused, ok := errors.AsType[*mysql.MySQLError](err); ok {
		switch refused.Number {
		case errorUnknownTable, errorNoSuchTable:
			return nil, nil
		case errorMissingPrivilege:
			return nil, ErrNeedsProcess
		}
	}
	if err != nil {
		return nil, fmt.Errorf("row versions: %w", err)
	}
	return out, nil
}

// ErrNeedsProcess is returned by ReadRowVersions for a user without the privilege PROCESS.
var ErrNeedsProcess = errors.New("unknown without the right PROCESS")

// errorNoSuchTable, errorUnknownTable and errorMissingPrivilege are error numbers of servers.
const (
	errorNoSuchTable      = 1146 // TiDB, which has no table of the row versions
	errorUnknownTable     = 1109 // MariaDB, which has none either and no limit
	errorMissingPrivilege = 1227
)

func queryRowVersions(ctx context.Context, db *sql.DB) (*RowVersions, error) {
	var name, version string
	if err := db.QueryRowContext(ctx, "SELECT DATABASE(), VERSION()").Scan(&name, &version); err != nil {
		return nil, err
	}
	prefix := innodbName(name) + "/"
	rows, err := db.QueryContext(ctx, "SELECT name, total_row_versions FROM information_schema.innodb_tables "+
		"WHERE LEFT(name, CHAR_LENGTH(?)) = ? AND total_row_versions > 0", prefix, prefix)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := &RowVersions{Limit: rowVersionLimit(version), Tables: map[string]int{}}
	for rows.Next() {
		var table string
		var used int
		if err := rows.Scan(&table, &used); err != nil {
			return nil, err
		}
		out.Tables[strings.TrimPrefix(table, prefix)] = used
	}
	return out, rows.Err()
}

// rowVersionLimit returns how many row versions a MySQL server allows: 255 since version 9.1, and 64 before.
func rowVersionLimit(version string) int {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	if majorNumber, err := strconv.Atoi(major); err != nil || majorNumber < 9 || majorNumber == 9 && minor == "0" {
		return 64
	}
	return 255
}

var otherThanWord = regexp.MustCompile(`[^A-Za-z0-9_]`)

// innodbName returns the name of a database as InnoDB writes it: my-calendar is my@002dcalendar.
func innodbName(name string) string {
	return otherThanWord.ReplaceAllStringFunc(name, func(c string) string { return fmt.Sprintf("@%04x", []rune(c)[0]) })
}
