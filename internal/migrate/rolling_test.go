package migrate_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ariga.io/atlas/sql/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// These tests read the tables of each version from the database, and so cover every later migration.

// version is a version of the schema with its tables. Tables that others refer to come first.
type version struct {
	name   string
	tables []*schema.Table
}

// migrateUpTo applies the migrations up to the one with the given version, and returns the tables that then exist.
func migrateUpTo(t *testing.T, st *store.Store, name string) version {
	t.Helper()
	if _, err := migrate.Apply(t.Context(), st, migrate.ApplyOptions{Operator: "test", To: name}); err != nil {
		t.Fatal(err)
	}
	found, err := migrate.Inspect(t.Context(), st)
	must.Succeed(t, err)
	v := version{name: name}
	for len(v.tables) < len(found.Tables) {
		before := len(v.tables)
		for _, table := range found.Tables {
			ready := !slices.Contains(v.tables, table)
			for _, key := range table.ForeignKeys {
				ready = ready && (key.RefTable == table || slices.Contains(v.tables, key.RefTable))
			}
			if ready {
				v.tables = append(v.tables, table)
			}
		}
		if len(v.tables) == before {
			t.Fatal("tables refer to each other in a circle")
		}
	}
	return v
}

// versions returns the versions of all migrations, in order.
func versions(t *testing.T, st *store.Store) (names []string) {
	t.Helper()
	revs, err := migrate.Status(t.Context(), st)
	must.Succeed(t, err)
	for _, r := range revs {
		names = append(names, r.Version)
	}
	return names
}

func quotedName(name string) string { return "`" + name + "`" }

func quotedNames(t *schema.Table) []string {
	out := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = quotedName(c.Name)
	}
	return out
}

// testValue returns the value that column c has in row n. It is not null, and differs between rows if the type allows
// it. A foreign key refers to row n of its table.
func testValue(t *testing.T, table *schema.Table, c *schema.Column, n int) any {
	t.Helper()
	for _, key := range table.ForeignKeys {
		if slices.Contains(key.Columns, c) {
			return n
		}
	}
	fit := func(text string, size int) string {
		if size > 0 && len(text) > size {
			return text[len(text)-size:]
		}
		return text
	}
	switch kind := c.Type.Type.(type) {
	case *schema.IntegerType:
		return n
	case *schema.BoolType:
		return n % 2
	case *schema.FloatType:
		return float64(n) + 0.5
	case *schema.DecimalType:
		return n
	case *schema.StringType:
		return fit(fmt.Sprintf("Łódź %s %d", c.Name, n), max(kind.Size-3, min(kind.Size, 2))) // three letters have two bytes
	case *schema.BinaryType:
		size := 32
		if kind.Size != nil && *kind.Size > 0 {
			size = min(*kind.Size, size)
		}
		return bytes.Repeat([]byte{byte(n), 0xff}, 16)[:size]
	case *schema.TimeType:
		return time.Date(2039, 7, n%28+1, 20, 30, 0, 0, time.UTC)
	case *schema.JSONType:
		return fmt.Sprintf(`{"n": %d}`, n)
	}
	t.Fatalf("%s.%s is of a type that the test does not know: %T", table.Name, c.Name, c.Type.Type)
	return nil
}

// insert inserts row n into every table. It sets only the columns that the version has, as an older program would.
func (v version) insert(t *testing.T, st *store.Store, n int) {
	t.Helper()
	for _, table := range v.tables {
		args := make([]any, len(table.Columns))
		for i, c := range table.Columns {
			args[i] = testValue(t, table, c, n)
		}
		query := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", quotedName(table.Name),
			strings.Join(quotedNames(table), ", "), strings.TrimSuffix(strings.Repeat("?, ", len(args)), ", "))
		if _, err := st.DB.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
}

// rowCondition returns the WHERE condition that selects row n of a table, with its arguments.
func rowCondition(t *testing.T, table *schema.Table, n int) (where string, args []any) {
	t.Helper()
	var parts []string
	for _, p := range table.PrimaryKey.Parts {
		parts = append(parts, quotedName(p.C.Name)+" = ?")
		args = append(args, testValue(t, table, p.C, n))
	}
	return strings.Join(parts, " AND "), args
}

// row reads row n of a table as texts. It reads only the columns of the version.
func (v version) row(t *testing.T, st *store.Store, table *schema.Table, n int) []string {
	t.Helper()
	where, args := rowCondition(t, table, n)
	texts := make([]string, len(table.Columns))
	targets := make([]any, len(texts))
	for i := range texts {
		targets[i] = &texts[i]
	}
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s", strings.Join(quotedNames(table), ", "), quotedName(table.Name), where)
	if err := st.DB.QueryRowContext(t.Context(), query, args...).Scan(targets...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return texts
}

// contents returns row n of every table as texts, by table name.
func (v version) contents(t *testing.T, st *store.Store, n int) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, table := range v.tables {
		out[table.Name] = v.row(t, st, table, n)
	}
	return out
}

// update changes row n of every table. The columns that are not keys get the values of row n+100.
func (v version) update(t *testing.T, st *store.Store, n int) {
	t.Helper()
	for _, table := range v.tables {
		var sets []string
		var args []any
		for _, c := range table.Columns {
			isKey := slices.ContainsFunc(table.PrimaryKey.Parts, func(p *schema.IndexPart) bool { return p.C == c })
			refers := slices.ContainsFunc(table.ForeignKeys, func(k *schema.ForeignKey) bool {
				return slices.Contains(k.Columns, c)
			})
			if !isKey && !refers {
				sets, args = append(sets, quotedName(c.Name)+" = ?"), append(args, testValue(t, table, c, n+100))
			}
		}
		if len(sets) == 0 {
			continue
		}
		where, keys := rowCondition(t, table, n)
		query := fmt.Sprintf("UPDATE %s SET %s WHERE %s", quotedName(table.Name), strings.Join(sets, ", "), where)
		done, err := st.DB.ExecContext(t.Context(), query, append(args, keys...)...)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if rows, err := done.RowsAffected(); err != nil || rows != 1 {
			t.Errorf("%s: %d rows, error %v", query, rows, err)
		}
	}
}

// remove deletes row n of every table. Tables that refer to others come first.
func (v version) remove(t *testing.T, st *store.Store, n int) {
	t.Helper()
	for _, table := range slices.Backward(v.tables) {
		where, args := rowCondition(t, table, n)
		query := fmt.Sprintf("DELETE FROM %s WHERE %s", quotedName(table.Name), where)
		done, err := st.DB.ExecContext(t.Context(), query, args...)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if rows, err := done.RowsAffected(); err != nil || rows != 1 {
			t.Errorf("%s: %d rows, error %v", query, rows, err)
		}
	}
}

// TestProgramsOfTheVersionBeforeWorkOnTheNext checks that a program can use the tables of the next version, as in a
// rolling deployment. It inserts, reads, updates and deletes rows with the columns of the previous version only.
func TestProgramsOfTheVersionBeforeWorkOnTheNext(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, st *store.Store, names []string, at int) {
		if at == 0 {
			t.Skip("nothing came before")
		}
		before := migrateUpTo(t, st, names[at-1])
		before.insert(t, st, 1)
		was := before.contents(t, st, 1)
		migrateUpTo(t, st, names[at])

		if diff := cmp.Diff(was, before.contents(t, st, 1)); diff != "" {
			t.Errorf("a row of before (-want +got):\n%s", diff)
		}
		before.insert(t, st, 2)
		for _, n := range []int{1, 2} {
			before.update(t, st, n)
		}
		for table, row := range before.contents(t, st, 2) {
			if slices.Equal(row, was[table]) {
				t.Errorf("%s: both rows have the same columns: %q", table, row)
			}
		}
		for _, n := range []int{1, 2} {
			before.remove(t, st, n)
		}
	})
}

// TestEachVersionWithRowsBecomesTheLast migrates databases of every version, with rows in all tables, to the last
// version. The rows must keep their values.
func TestEachVersionWithRowsBecomesTheLast(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, st *store.Store, names []string, at int) {
		const rows = 3
		v := migrateUpTo(t, st, names[at])
		was := make([]map[string][]string, rows)
		for n := range rows {
			v.insert(t, st, n+1)
			was[n] = v.contents(t, st, n+1)
		}
		done, err := migrate.Apply(t.Context(), st, migrate.ApplyOptions{Operator: "test"})
		must.Succeed(t, err)
		if len(done) != len(names)-at-1 {
			t.Errorf("%d migrations ran, want %d", len(done), len(names)-at-1)
		}
		for n := range rows {
			if diff := cmp.Diff(was[n], v.contents(t, st, n+1)); diff != "" {
				t.Errorf("row %d (-want +got):\n%s", n+1, diff)
			}
		}
		if err := migrate.CheckCurrent(t.Context(), st); err != nil {
			t.Error(err)
		}
		drift, err := migrate.Verify(t.Context(), st, nil)
		must.Succeed(t, err)
		if len(drift.Mend) > 0 {
			t.Error(drift)
		}
	})
}

// eachVersion runs test for every version and engine with an empty database. names has all versions in order, and at
// is the index of the one to test.
func eachVersion(t *testing.T, test func(t *testing.T, st *store.Store, names []string, at int)) {
	t.Helper()
	for at, name := range versions(t, storetest.Open(t, "sqlite://:memory:")) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachOpen(t, func(t *testing.T, st *store.Store) {
				// Both engines have the same versions.
				test(t, st, versions(t, st), at)
			})
		})
	}
}
