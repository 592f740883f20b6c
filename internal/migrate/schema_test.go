package migrate_test

import (
	"slices"
	"testing"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"

	entmigrate "github.com/almanac-cal/almanac/ent/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestTimesAreDatetimes checks that columns with times are datetimes. MySQL's type timestamp ends in 2038 and depends
// on the session's time zone.
func TestTimesAreDatetimes(t *testing.T) {
	t.Parallel()
	times := 0
	for _, table := range entmigrate.Tables {
		for _, c := range table.Columns {
			if c.Type != field.TypeTime {
				continue
			}
			times++
			for _, d := range []string{dialect.MySQL, dialect.SQLite} {
				if c.SchemaType[d] != "datetime" {
					t.Errorf("%s.%s is %q on %s, want datetime", table.Name, c.Name, c.SchemaType[d], d)
				}
			}
		}
	}
	if times == 0 {
		t.Error("no column is a time")
	}
}

func TestTimesAreDatetimesInTheMigrations(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		q := "SELECT m.name, p.name, lower(p.type) FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type = 'table'"
		if st.Engine() == "mysql" {
			q = "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = DATABASE()"
		}
		rows, err := st.DB.QueryContext(t.Context(), q)
		must.Succeed(t, err)
		defer rows.Close()
		found := map[string]bool{}
		for rows.Next() {
			var table, column, kind string
			must.Succeed(t, rows.Scan(&table, &column, &kind))
			switch {
			case table == "atlas_schema_revisions": // the Atlas CLI's own
			case kind == "datetime":
				found[table+"."+column] = true
			case kind == "timestamp", kind == "date", kind == "time":
				t.Errorf("%s.%s is a %s", table, column, kind)
			}
		}
		must.Succeed(t, rows.Err())
		for _, table := range entmigrate.Tables {
			for _, c := range table.Columns {
				if c.Type == field.TypeTime && !found[table.Name+"."+c.Name] {
					t.Errorf("%s.%s is no datetime", table.Name, c.Name)
				}
			}
		}
	})
}

// TestForeignKeysHaveIndexes checks that each foreign key has an index. InnoDB creates these indexes, but SQLite does
// not. Without one, every delete would read the whole table.
func TestForeignKeysHaveIndexes(t *testing.T) {
	t.Parallel()
	keys := 0
	for _, table := range entmigrate.Tables {
		for _, key := range table.ForeignKeys {
			keys++
			want := columnNames(key.Columns)
			indexed := startsWith(columnNames(table.PrimaryKey), want)
			for _, index := range table.Indexes {
				indexed = indexed || startsWith(columnNames(index.Columns), want)
			}
			if !indexed {
				t.Errorf("%s: no index begins with %v", table.Name, want)
			}
		}
	}
	if keys == 0 {
		t.Error("there are no foreign keys")
	}
}

func columnNames(columns []*schema.Column) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.Name
	}
	return out
}

func startsWith(columns, want []string) bool {
	return len(columns) >= len(want) && slices.Equal(columns[:len(want)], want)
}
