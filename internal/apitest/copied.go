package apitest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/migrate"
	"github.com/almanac-cal/almanac/ent/setting"
	"github.com/almanac-cal/almanac/internal/storetest"
)

// writtenExample is the example as the statements that insert it into another database of the same engine.
type writtenExample struct {
	sync.Mutex
	inserts []insert
	token   string // of the administrator
}

var exampleOnSQLite, exampleOnMySQL writtenExample

// insert is a statement with its arguments.
type insert struct {
	statement string
	args      []any
}

// copiedExample returns the statements, and the token of the administrator. The first test that asks makes them.
func (a *API) copiedExample(t testing.TB) (inserts []insert, token string) {
	t.Helper()
	example, newURL := &exampleOnSQLite, storetest.SQLite
	if a.Store.Engine() != "sqlite" {
		example, newURL = &exampleOnMySQL, storetest.Lent
	}
	example.Lock()
	defer example.Unlock()
	if example.inserts == nil {
		first := New(t, storetest.Migrated(t, newURL(t)))
		first.writeExample(t)
		example.inserts, example.token = first.insertsOfRows(t), first.Token("admin")
	}
	return example.inserts, example.token
}

// insertsOfRows returns statements that insert all rows but settings, which each database has of its own.
func (a *API) insertsOfRows(t testing.TB) (inserts []insert) {
	t.Helper()
	for _, table := range migrate.Tables {
		rows := storetest.ReadTable(t, a.Store.DB, table)
		if len(rows) == 0 || table.Name == setting.Table {
			continue
		}
		verb := "INSERT"
		if table.Name == counter.Table {
			verb = "REPLACE" // migrations insert counters
		}
		row := "(?" + strings.Repeat(", ?", len(table.Columns)-1) + ")"
		in := insert{statement: fmt.Sprintf("%s INTO %#q (%s) VALUES %s%s", verb, table.Name, storetest.ColumnList(table), row,
			strings.Repeat(", "+row, len(rows)-1))}
		for _, values := range rows {
			in.args = append(in.args, values...)
		}
		inserts = append(inserts, in)
	}
	return inserts
}

// copyExample inserts the rows that writeExample writes.
func (a *API) copyExample(t testing.TB) {
	t.Helper()
	inserts, token := a.copiedExample(t)
	tx, err := a.Store.DB.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit there is nothing to roll back
	exec := func(statement string, args ...any) {
		t.Helper()
		// A prepared statement sends bytes as what the column has: text, JSON or bytes.
		s, err := tx.PrepareContext(t.Context(), statement)
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		_, err = s.ExecContext(t.Context(), args...)
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	// A row may name one of a later table.
	before, after := "PRAGMA defer_foreign_keys = 1", ""
	if a.Store.Engine() != "sqlite" {
		before, after = "SET foreign_key_checks = 0", "SET foreign_key_checks = 1"
	}
	exec(before)
	for _, in := range inserts {
		exec(in.statement, in.args...)
	}
	// The key of event passwords belongs to the database.
	hash := edit.HashPassword(a.Key, membersOnlyID, membersOnlyPassword)
	exec("UPDATE "+event.Table+" SET "+event.FieldPasswordHash+" = ? WHERE "+event.FieldID+" = ?", hash, membersOnlyID)
	if after != "" {
		exec(after)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	a.tokens["admin"] = token
	a.Rewritten()
}
