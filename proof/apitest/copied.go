package apitest

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/migrate"
	"github.com/almanac-cal/almanac/ent/setting"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// writtenExample contains the SQL that inserts the example calendar into another database of the same engine.
type writtenExample struct {
	newURL func(testing.TB) string
	// unchecked allows rows that refer to later ones until the end of the transaction, or until checked.
	unchecked, checked []statement

	sync.Mutex
	statements []statement
	token      string // of the administrator
}

var writtenExamples = map[string]*writtenExample{
	"sqlite": {newURL: storetest.SQLite, unchecked: []statement{{text: "PRAGMA defer_foreign_keys = 1"}}},
	"mysql": {
		newURL:    storetest.Lent,
		unchecked: []statement{{text: "SET foreign_key_checks = 0"}},
		checked:   []statement{{text: "SET foreign_key_checks = 1"}},
	},
}

type statement struct {
	text string
	args []any
}

func statementOf(q sql.Querier) statement {
	text, args := q.Query()
	return statement{text, args}
}

// copiedExample returns the statements that insert the example, and the administrator's token. The first call for a
// database engine writes the example to find them.
func (a *API) copiedExample(t testing.TB) (statements []statement, token string) {
	t.Helper()
	x := writtenExamples[a.Store.Engine()]
	x.Lock()
	defer x.Unlock()
	if x.statements == nil {
		first := New(t, storetest.Migrated(t, x.newURL(t)))
		first.writeExample(t)
		x.statements, x.token = slices.Concat(x.unchecked, first.insertsOfRows(t), x.checked), first.Token("admin")
	}
	return x.statements, x.token
}

// insertsOfRows returns statements that insert all rows of the database into another one. It leaves out the table of
// settings, whose rows belong to one database.
func (a *API) insertsOfRows(t testing.TB) (inserts []statement) {
	t.Helper()
	for _, table := range migrate.Tables {
		rows := storetest.ReadTable(t, a.Store.DB, table)
		if len(rows) == 0 || table.Name == setting.Table {
			continue
		}
		if table.Name == counter.Table { // migrations insert counters
			inserts = append(inserts, statementOf(sql.Delete(table.Name)))
		}
		in := sql.Insert(table.Name).Columns(storetest.ColumnNames(table)...)
		for _, values := range rows {
			in.Values(values...)
		}
		inserts = append(inserts, statementOf(in))
	}
	return inserts
}

// copyExample inserts the same rows as writeExample, with the statements of copiedExample. That is faster.
func (a *API) copyExample(t testing.TB) {
	t.Helper()
	statements, token := a.copiedExample(t)
	tx, err := a.Store.DB.BeginTx(t.Context(), nil)
	must.Succeed(t, err)
	defer tx.Rollback() //nolint:errcheck // after Commit there is nothing to roll back
	exec := func(s statement) {
		t.Helper()
		// A prepared statement sends bytes as what the column has: text, JSON or bytes.
		prepared, err := tx.PrepareContext(t.Context(), s.text)
		if err != nil {
			t.Fatalf("%s: %v", s.text, err)
		}
		_, err = prepared.ExecContext(t.Context(), s.args...)
		if err := errors.Join(err, prepared.Close()); err != nil {
			t.Fatalf("%s: %v", s.text, err)
		}
	}
	for _, s := range statements {
		exec(s)
	}
	// The key of event passwords belongs to the database.
	hash := edit.HashPassword(a.Key, membersOnlyID, membersOnlyPassword)
	exec(statementOf(sql.Update(event.Table).Set(event.FieldPasswordHash, hash).Where(sql.EQ(event.FieldID, membersOnlyID))))
	must.Succeed(t, tx.Commit())
	a.tokens["admin"] = token
	a.Rewritten()
}
