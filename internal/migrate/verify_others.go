package migrate

import (
	"context"
	"database/sql"
	"fmt"
)

// othersSQLite and othersMySQL select the objects of a database that no migration creates. A server shows a
// user only objects that the user has privileges on, such as TRIGGER for triggers.
const (
	othersSQLite = "SELECT type, name, tbl_name FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY 1, 2"
	othersMySQL  = "SELECT 'trigger' AS what, trigger_name AS name, event_object_table AS tbl FROM information_schema.triggers " +
		"WHERE trigger_schema = DATABASE() " +
		"UNION ALL SELECT 'view', table_name, '' FROM information_schema.views WHERE table_schema = DATABASE() " +
		"UNION ALL SELECT 'partition', partition_name, table_name FROM information_schema.partitions " +
		"WHERE table_schema = DATABASE() AND partition_name IS NOT NULL " +
		"UNION ALL SELECT 'event', event_name, '' FROM information_schema.events WHERE event_schema = DATABASE() " +
		"UNION ALL SELECT LOWER(routine_type), routine_name, '' FROM information_schema.routines WHERE routine_schema = DATABASE() " +
		"UNION ALL SELECT DISTINCT '%s index', index_name, table_name FROM information_schema.statistics " +
		"WHERE table_schema = DATABASE() AND %s ORDER BY 1, 3, 2"
	hasInvisible = "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'information_schema' " +
		"AND table_name = 'STATISTICS' AND column_name = '%s'"
)

// hiddenIndexes are the columns in which MySQL and MariaDB mark indexes that the optimizer ignores.
var hiddenIndexes = [...]struct{ column, value, word string }{
	{"IS_VISIBLE", "NO", "invisible"},
	{"IGNORED", "YES", "ignored"},
}

// otherObjects returns the names of objects that Verify does not compare, such as triggers and views. It omits those
// that the database user has no privilege to see.
func otherObjects(ctx context.Context, conn *sql.Conn, engine string) (out []string, err error) {
	query := othersSQLite
	if engine == "mysql" {
		word, condition := "invisible", "FALSE"
		for _, h := range hiddenIndexes {
			var exists int
			if err := conn.QueryRowContext(ctx, fmt.Sprintf(hasInvisible, h.column)).Scan(&exists); err != nil {
				return nil, err
			}
			if exists > 0 {
				word, condition = h.word, h.column+" = '"+h.value+"'"
				break
			}
		}
		query = fmt.Sprintf(othersMySQL, word, condition)
	}
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var kind, name, table string
		if err := rows.Scan(&kind, &name, &table); err != nil {
			return nil, err
		}
		if table != "" && table != name {
			name += " of " + table
		}
		out = append(out, kind+" "+name)
	}
	return out, rows.Err()
}
