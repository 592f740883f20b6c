package seed

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/ent/setting"
)

// SQL writes the calendar in an Almanac SQLite database as INSERT statements for MySQL. It leaves out the settings
// that record which data steps of the migrations were done. Each statement ends at the end of a line.
//
// The database must have one calendar and no users, and must not change during the call.
func SQL(ctx context.Context, out io.Writer, db *sql.DB) error {
	w := bufio.NewWriter(out)
	if _, err := w.WriteString(sqlHead); err != nil {
		return err
	}
	for _, table := range sqlTables {
		if err := sqlTable(ctx, w, db, table); err != nil {
			return fmt.Errorf("SQL of %s: %w", table, err)
		}
	}
	if _, err := w.WriteString("COMMIT;\n"); err != nil {
		return err
	}
	return w.Flush()
}

// sqlTables are the tables with the rows of a calendar, in an order that satisfies the foreign keys.
var sqlTables = []string{
	"settings", "records", "images", "terms", "term_translations", "venues", "venue_translations", "organizers",
	"organizer_translations", "slugs", "series", "series_phases", "events", "event_translations", "search_texts", "event_venues",
	"event_organizers", "event_terms", "counters", "changes",
}

// sqlHead begins the script: it sets the session variables that the statements need, and starts the transaction.
const sqlHead = `-- A sample calendar for an empty database whose migrations are applied: MySQL and compatible.
SET NAMES utf8mb4;
SET time_zone = '+00:00';
SET sql_mode = 'STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO';
START TRANSACTION;
`

func sqlTable(ctx context.Context, w *bufio.Writer, db *sql.DB, table string) error {
	where := ""
	if table == setting.Table { // the other database has its own data steps
		where = " WHERE name NOT LIKE 'data:%'"
	}
	found, err := db.QueryContext(ctx, "SELECT * FROM `"+table+"`"+where+" ORDER BY 1, 2") //nolint:gosec // a table of the schema
	if err != nil {
		return err
	}
	defer found.Close()
	types, err := found.ColumnTypes()
	if err != nil {
		return err
	}
	names := make([]string, len(types))
	values, at := make([]any, len(types)), make([]any, len(types))
	for i, t := range types {
		names[i], at[i] = t.Name(), &values[i]
	}
	head := "INSERT INTO `" + table + "` (`" + strings.Join(names, "`,`") + "`) VALUES\n"
	size := 0 // size of the current statement in bytes
	for found.Next() {
		if err := found.Scan(at...); err != nil {
			return err
		}
		row := make([]string, len(values))
		for i, v := range values {
			if row[i], err = sqlLiteral(v, types[i].DatabaseTypeName()); err != nil {
				return fmt.Errorf("%s: %w", names[i], err)
			}
		}
		text := "(" + strings.Join(row, ",") + ")"
		switch {
		case size == 0:
			text = head + text
		case size+len(text) > 512<<10: // half of the smallest usual packet limit
			text, size = ";\n"+head+text, 0
		default:
			text = ",\n" + text
		}
		size += len(text)
		if _, err := w.WriteString(text); err != nil {
			return err
		}
	}
	if size > 0 {
		if _, err := w.WriteString(";\n"); err != nil {
			return err
		}
	}
	return found.Err()
}

// sqlLiteral returns a database value as a MySQL literal. column is the SQLite type of its column. It returns an
// error for a value of an unknown Go type.
func sqlLiteral(v any, column string) (string, error) {
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", "''", "\n", `\n`, "\r", `\r`, "\x00", `\0`, "\x1a", `\Z`).Replace(s) + "'"
	}
	switch v := v.(type) {
	case nil:
		return "NULL", nil
	case bool:
		if v {
			return "1", nil
		}
		return "0", nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case time.Time:
		return "'" + v.UTC().Format(time.DateTime) + "'", nil
	case string:
		return quote(v), nil
	case []byte:
		if strings.EqualFold(column, "blob") {
			return "X'" + hex.EncodeToString(v) + "'", nil
		}
		return quote(string(v)), nil
	}
	return "", fmt.Errorf("no literal for a %T", v)
}
