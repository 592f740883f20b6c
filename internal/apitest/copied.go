package apitest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/storetest"
)

// exampleRows is the example as the statements of an engine.
type exampleRows struct {
	sync.Mutex
	statements []string
	token      string // of the administrator
}

var exampleOnSQLite, exampleOnMySQL exampleRows

// copiedExample returns the statements, and the token of the administrator. The first test that asks makes them.
func (a *API) copiedExample(t testing.TB) (statements []string, token string) {
	t.Helper()
	rows, newURL, inserts := &exampleOnSQLite, storetest.SQLite, insertsOfSQLite
	if a.Store.Engine() != "sqlite" {
		rows, newURL, inserts = &exampleOnMySQL, storetest.Lent, insertsOfMySQL
	}
	rows.Lock()
	defer rows.Unlock()
	if rows.statements == nil {
		first := New(t, storetest.Migrated(t, newURL(t)))
		first.writeExample(t)
		rows.statements, rows.token = inserts(t, first), first.Token("admin")
	}
	return rows.statements, rows.token
}

// copyExample inserts the rows that writeExample writes.
func (a *API) copyExample(t testing.TB) {
	t.Helper()
	statements, token := a.copiedExample(t)
	tx, err := a.Store.DB.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit there is nothing to roll back
	for _, statement := range statements {
		if _, err := tx.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	// The key of event passwords belongs to the database.
	hash := edit.HashPassword(a.Key, membersOnlyID, membersOnlyPassword)
	const update = "UPDATE " + event.Table + " SET " + event.FieldPasswordHash + " = ? WHERE " + event.FieldID + " = ?"
	if _, err := tx.ExecContext(t.Context(), update, hash, membersOnlyID); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	a.tokens["admin"] = token
	a.Rewritten()
}

// insertsOfSQLite returns statements that insert the rows of an SQLite database into another one. Each database keeps its
// settings and its migrations.
func insertsOfSQLite(t testing.TB, a *API) []string {
	t.Helper()
	// A row may name one of a later table.
	statements := []string{"PRAGMA defer_foreign_keys = 1"}
	for _, table := range a.texts(t, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"+ownRows("name")) {
		quoted := a.texts(t, "SELECT 'quote(' || name || ')' FROM pragma_table_info('"+table+"')")
		rows := a.texts(t, "SELECT "+strings.Join(quoted, " || ', ' || ")+" FROM "+table)
		if len(rows) > 0 {
			statements = append(statements, insertOf(table, "", rows))
		}
	}
	return statements
}

// insertsOfMySQL is insertsOfSQLite for MySQL.
func insertsOfMySQL(t testing.TB, a *API) []string {
	t.Helper()
	statements := []string{"SET foreign_key_checks = 0"}
	for _, table := range a.texts(t, "SELECT table_name FROM information_schema.tables"+
		" WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"+ownRows("table_name")) {
		var names, quoted []string
		for _, column := range a.texts(t, "SELECT CONCAT('`', column_name, '` ', data_type) FROM information_schema.columns"+
			" WHERE table_schema = DATABASE() AND table_name = '"+table+"' AND extra NOT LIKE '%GENERATED%'") {
			name, kind, _ := strings.Cut(column, " ")
			text := "QUOTE(" + name + ")"
			if strings.HasSuffix(kind, "blob") || strings.HasSuffix(kind, "binary") {
				text = "COALESCE(CONCAT('x''', HEX(" + name + "), ''''), 'NULL')"
			}
			names, quoted = append(names, name), append(quoted, text)
		}
		rows := a.texts(t, "SELECT CONCAT_WS(', ', "+strings.Join(quoted, ", ")+") FROM "+table)
		if len(rows) > 0 {
			statements = append(statements, insertOf(table, " ("+strings.Join(names, ", ")+")", rows))
		}
	}
	return append(statements, "SET foreign_key_checks = 1")
}

// ownRows leaves out the tables whose rows each database keeps.
func ownRows(column string) string {
	return " AND " + column + " NOT IN ('settings', 'atlas_schema_revisions')"
}

func insertOf(table, columns string, rows []string) string {
	verb := "INSERT"
	if table == counter.Table {
		verb = "REPLACE" // migrations insert counters
	}
	return fmt.Sprintf("%s INTO %s%s VALUES (%s)", verb, table, columns, strings.Join(rows, "), ("))
}

// texts returns the only column of the rows that a query finds.
func (a *API) texts(t testing.TB, query string) (found []string) {
	t.Helper()
	rows, err := a.Store.DB.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		found = append(found, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}
