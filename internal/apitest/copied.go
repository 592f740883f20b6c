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

// exampleRows is the example as statements for SQLite.
var exampleRows struct {
	sync.Mutex
	statements []string
	token      string // of the administrator
}

// copiedExample returns the statements, and the token of the administrator. The first test that asks makes them.
func copiedExample(t testing.TB) (statements []string, token string) {
	t.Helper()
	exampleRows.Lock()
	defer exampleRows.Unlock()
	if exampleRows.statements == nil {
		a := New(t, storetest.Migrated(t, storetest.SQLite(t)))
		a.writeExample(t)
		exampleRows.statements, exampleRows.token = insertsOf(t, a), a.Token("admin")
	}
	return exampleRows.statements, exampleRows.token
}

// copyExample inserts the rows that writeExample writes.
func (a *API) copyExample(t testing.TB) {
	t.Helper()
	statements, token := copiedExample(t)
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

// insertsOf returns statements that insert the rows of an SQLite database into another one. Each database keeps its settings
// and its migrations.
func insertsOf(t testing.TB, a *API) []string {
	t.Helper()
	texts := func(query string) (found []string) {
		rows, err := a.Store.DB.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
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
	// A row may name one of a later table.
	statements := []string{"PRAGMA defer_foreign_keys = 1"}
	for _, table := range texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'" +
		" AND name NOT IN ('settings', 'atlas_schema_revisions')") {
		columns := texts("SELECT 'quote(' || name || ')' FROM pragma_table_info('" + table + "')")
		rows := texts("SELECT '(' || " + strings.Join(columns, " || ', ' || ") + " || ')' FROM " + table)
		verb := "INSERT"
		if table == counter.Table {
			verb = "REPLACE" // migrations insert counters
		}
		if len(rows) > 0 {
			statements = append(statements, fmt.Sprintf("%s INTO %s VALUES %s", verb, table, strings.Join(rows, ", ")))
		}
	}
	return statements
}
