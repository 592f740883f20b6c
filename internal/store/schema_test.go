package store_test

import (
	"slices"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/migrate"
	"github.com/almanac-cal/almanac/ent/user"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/storetest"
)

// MySQL's timestamp ends in 2038 and follows the time zone of the session.
func TestTimesAreDatetimes(t *testing.T) {
	t.Parallel()
	times := 0
	for _, table := range migrate.Tables {
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
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		found := map[string]bool{}
		for rows.Next() {
			var table, column, kind string
			if err := rows.Scan(&table, &column, &kind); err != nil {
				t.Fatal(err)
			}
			switch {
			case table == "atlas_schema_revisions": // the Atlas CLI's own
			case kind == "datetime":
				found[table+"."+column] = true
			case kind == "timestamp", kind == "date", kind == "time":
				t.Errorf("%s.%s is a %s", table, column, kind)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		for _, table := range migrate.Tables {
			for _, c := range table.Columns {
				if c.Type == field.TypeTime && !found[table.Name+"."+c.Name] {
					t.Errorf("%s.%s is no datetime", table.Name, c.Name)
				}
			}
		}
	})
}

// InnoDB adds the indexes that foreign keys need by itself, SQLite does not: every delete would read the table.
func TestForeignKeysHaveIndexes(t *testing.T) {
	t.Parallel()
	keys := 0
	for _, table := range migrate.Tables {
		for _, key := range table.ForeignKeys {
			keys++
			want := names(key.Columns)
			indexed := startsWith(names(table.PrimaryKey), want)
			for _, index := range table.Indexes {
				indexed = indexed || startsWith(names(index.Columns), want)
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

func names(columns []*schema.Column) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.Name
	}
	return out
}

func startsWith(columns, want []string) bool {
	return len(columns) >= len(want) && slices.Equal(columns[:len(want)], want)
}

// SQLite compares times as text.
func TestTimesAreStoredInUTC(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		east, west := time.FixedZone("east", 9*3600), time.FixedZone("", -5*3600)
		at := time.Date(2039, 7, 1, 20, 30, 0, 0, time.UTC)
		raw := "SELECT CAST(created_at AS TEXT) FROM users WHERE login = ?"
		want := "2039-07-01 20:30:00+00:00"
		if st.Engine() == "mysql" {
			raw, want = "SELECT CAST(created_at AS CHAR) FROM users WHERE login = ?", "2039-07-01 20:30:00"
		}
		for login, zone := range map[string]*time.Location{"utc": time.UTC, "east": east, "west": west, "local": time.Local} {
			err := st.Ent.User.Create().SetLogin(login).SetRole(calendar.Author).SetCreatedAt(at.In(zone)).Exec(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if got := scan(t, st.DB, raw, login); got != want {
				t.Errorf("%s is stored as %s, want %s", login, got, want)
			}
			u, err := st.Ent.User.Query().Where(user.Login(login)).Only(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if u.CreatedAt != at {
				t.Errorf("%s is read as %s, want %s", login, u.CreatedAt, at)
			}
		}
		for name, zone := range map[string]*time.Location{"utc": time.UTC, "east": east, "west": west} {
			n, err := st.Ent.User.Query().Where(user.CreatedAtGTE(at.In(zone)), user.CreatedAtLT(at.In(zone).Add(time.Second))).
				Count(ctx)
			if err != nil || n != 4 {
				t.Errorf("compared in %s: %d rows, error %v, want 4", name, n, err)
			}
		}
	})
}
