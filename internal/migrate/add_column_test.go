package migrate_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"
	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// halls returns the tables halls and stages, as Ent would declare them. The columns more are added to stages.
func halls(more ...*schema.Column) (tables []*schema.Table, stages *schema.Table) {
	table := func(name string) *schema.Table {
		id := &schema.Column{Name: "id", Type: field.TypeInt64}
		title := &schema.Column{Name: "title", Type: field.TypeString, Size: 40, Default: "(untitled)"}
		return &schema.Table{Name: name, Columns: []*schema.Column{id, title}, PrimaryKey: []*schema.Column{id}}
	}
	halls, stages := table("halls"), table("stages")
	stages.Columns = append(stages.Columns, more...)
	return []*schema.Table{halls, stages}, stages
}

var rebuilds = regexp.MustCompile("CREATE TABLE `new_")

// columnChange is a test case of Diff in which the table stages gets a new column.
type columnChange struct {
	name   string
	change func(tables *[]*schema.Table, stages *schema.Table)
	want   any    // value of the column in an old row
	sqlite string // a statement that SQLite's migration has; "" means that it rebuilds the table
}

// TestDiffAddsColumns applies migrations that add a column to a table with rows. Old rows must keep their values and
// get the default of the new column.
func TestDiffAddsColumns(t *testing.T) {
	t.Parallel()
	column := func(c schema.Column) func(*[]*schema.Table, *schema.Table) {
		return func(_ *[]*schema.Table, stages *schema.Table) {
			c.Name = "added"
			stages.Columns = append(stages.Columns, &c)
		}
	}
	reference := func(c schema.Column, action schema.ReferenceOption) func(*[]*schema.Table, *schema.Table) {
		return func(tables *[]*schema.Table, stages *schema.Table) {
			column(c)(tables, stages)
			added := stages.Columns[len(stages.Columns)-1]
			halls := (*tables)[0]
			stages.ForeignKeys = append(stages.ForeignKeys, &schema.ForeignKey{
				Symbol: "stages_halls_added", Columns: []*schema.Column{added}, RefTable: halls,
				RefColumns: halls.Columns[:1], OnDelete: action,
			})
			stages.Indexes = append(stages.Indexes, &schema.Index{Name: "stage_added", Columns: []*schema.Column{added}})
		}
	}
	indexed := func(c schema.Column, unique bool) func(*[]*schema.Table, *schema.Table) {
		return func(tables *[]*schema.Table, stages *schema.Table) {
			column(c)(tables, stages)
			stages.Indexes = append(stages.Indexes, &schema.Index{
				Name: "stage_added", Unique: unique, Columns: stages.Columns[len(stages.Columns)-1:],
			})
		}
	}
	for _, test := range []columnChange{
		{
			"text", column(schema.Column{Type: field.TypeString, Size: 20, Default: "blue"}), "blue",
			"ADD COLUMN `added` text NOT NULL DEFAULT ('blue');",
		},
		{
			"text with quotes and semicolons", column(schema.Column{Type: field.TypeString, Size: 20, Default: "it's; (so)"}),
			"it's; (so)", "ADD COLUMN `added` text NOT NULL DEFAULT ('it''s; (so)');",
		},
		{
			"empty text", column(schema.Column{Type: field.TypeString, Size: 20, Default: ""}), "",
			"ADD COLUMN `added` text NOT NULL DEFAULT ('');",
		},
		{
			"text that may be null and has a default",
			column(schema.Column{Type: field.TypeString, Size: 20, Nullable: true, Default: "blue"}), "blue",
			"ADD COLUMN `added` text NULL DEFAULT ('blue');",
		},
		{
			"integer", column(schema.Column{Type: field.TypeInt, Default: -5}), "-5",
			"ADD COLUMN `added` integer NOT NULL DEFAULT (-5);",
		},
		{
			"decimal", column(schema.Column{Type: field.TypeFloat64, Default: 1.5}), "1.5",
			"ADD COLUMN `added` real NOT NULL DEFAULT (1.5);",
		},
		{
			"boolean", column(schema.Column{Type: field.TypeBool, Default: true}), "1",
			"ADD COLUMN `added` bool NOT NULL DEFAULT (true);",
		},
		{
			"one of a few words", column(schema.Column{Type: field.TypeEnum, Enums: []string{"a", "b"}, Default: "b"}), "b",
			"ADD COLUMN `added` text NOT NULL DEFAULT ('b');",
		},
		{
			"bytes that may be null", column(schema.Column{Type: field.TypeBytes, Nullable: true}), nil,
			"ADD COLUMN `added` blob NULL;",
		},
		{
			"time that may be null", column(schema.Column{Type: field.TypeTime, Nullable: true}), nil,
			"ADD COLUMN `added` datetime NULL;",
		},
		{
			"integer with an index", indexed(schema.Column{Type: field.TypeInt, Default: 0}, false), "0",
			"ADD COLUMN `added` integer NOT NULL DEFAULT (0);",
		},
		{
			"text with a unique index", indexed(schema.Column{Type: field.TypeString, Size: 20, Nullable: true}, true), nil,
			"ADD COLUMN `added` text NULL;",
		},
		{
			"foreign key", reference(schema.Column{Type: field.TypeInt64, Nullable: true}, schema.SetNull), nil,
			"ADD COLUMN `added` integer NULL CONSTRAINT `stages_halls_added` REFERENCES `halls` (`id`) ON DELETE SET NULL;",
		},
		{
			"foreign key whose rows go", reference(schema.Column{Type: field.TypeInt64, Nullable: true}, schema.Cascade), nil,
			"ADD COLUMN `added` integer NULL CONSTRAINT `stages_halls_added` REFERENCES `halls` (`id`) ON DELETE CASCADE;",
		},
		{
			"foreign key to a new table", func(tables *[]*schema.Table, stages *schema.Table) {
				id := &schema.Column{Name: "id", Type: field.TypeInt64}
				added := &schema.Column{Name: "added", Type: field.TypeInt64, Nullable: true}
				owners := &schema.Table{Name: "owners", Columns: []*schema.Column{id}, PrimaryKey: []*schema.Column{id}}
				stages.Columns = append(stages.Columns, added)
				stages.ForeignKeys = []*schema.ForeignKey{{
					Symbol: "stages_owners", Columns: []*schema.Column{added}, RefTable: owners, RefColumns: []*schema.Column{id},
				}}
				stages.Indexes = []*schema.Index{{Name: "stage_added", Columns: []*schema.Column{added}}}
				*tables = append(*tables, owners)
			}, nil,
			"ADD COLUMN `added` integer NULL CONSTRAINT `stages_owners` REFERENCES `owners` (`id`);",
		},
		{
			"several at once", func(tables *[]*schema.Table, stages *schema.Table) {
				stages.Columns = append(stages.Columns, &schema.Column{Name: "first", Type: field.TypeString, Size: 9, Default: "x"})
				reference(schema.Column{Type: field.TypeInt64, Nullable: true}, schema.SetNull)(tables, stages)
				stages.Columns = append(stages.Columns, &schema.Column{Name: "last", Type: field.TypeBool, Default: false})
			}, nil, "ADD COLUMN `last` bool NOT NULL DEFAULT (false);",
		},
		{
			"computed default on SQLite", column(schema.Column{
				Type: field.TypeInt, Nullable: true, Default: map[string]schema.Expr{dialect.SQLite: "abs(-2)", dialect.MySQL: "2"},
			}), "2", "",
		},
		{
			"column beside another that may no longer be null", func(tables *[]*schema.Table, stages *schema.Table) {
				stages.Columns[1].Nullable = true
				column(schema.Column{Type: field.TypeInt, Default: 3})(tables, stages)
			}, "3", "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			storetest.EachURL(t, func(t *testing.T, url string) {
				test.run(t, url)
			})
		})
	}
}

// run plans and applies the change. It then compares the new column of a row that existed before the change.
func (test columnChange) run(t *testing.T, url string) {
	dev := storetest.Open(t, "sqlite://:memory:")
	st := storetest.Open(t, url)
	if st.Engine() == "mysql" {
		if storetest.IsMariaDB(t, st) {
			t.Skip("migrations are planned on MySQL")
		}
		storetest.SkipOnTiDB(t, st, "migrations are planned on MySQL")
		dev = storetest.Open(t, storetest.MySQL(t))
	}
	tree := t.TempDir()
	folder := tree + "/" + st.Engine()
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	plan := func(tables []*schema.Table, name string) (written bool) {
		t.Helper()
		at = at.Add(time.Second)
		written, err := migrate.DiffTables(t.Context(), dev, tables, folder, name, at)
		if err != nil {
			t.Fatal(err)
		}
		return written
	}
	before, _ := halls()
	plan(before, "before")
	apply(t, st, tree)
	storetest.Exec(t, st, "INSERT INTO stages (id, title) VALUES (7, 'Old')")

	after, stages := halls()
	test.change(&after, stages)
	if !plan(after, "after") {
		t.Fatal("nothing was planned")
	}
	after, stages = halls()
	test.change(&after, stages)
	if plan(after, "again") {
		t.Error("the migration does not make the schema: another one was planned")
	}
	text := lastMigration(t, folder)
	if st.Engine() == "sqlite" {
		if rebuilt := rebuilds.MatchString(text); rebuilt != (test.sqlite == "") || !strings.Contains(text, test.sqlite) {
			t.Errorf("want %q in\n%s", test.sqlite, text)
		}
	}
	findings, err := migrate.Lint(t.Context(), dev, os.DirFS(tree), migrate.LintOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Error {
			t.Error(f)
		}
	}
	apply(t, st, tree)
	var title string
	var added entsql.NullString
	row := st.DB.QueryRowContext(t.Context(), "SELECT title, added FROM stages WHERE id = 7")
	if err := row.Scan(&title, &added); err != nil {
		t.Fatal(err)
	}
	var got any
	if added.Valid {
		got = strings.Replace(added.String, "true", "1", 1)
	}
	if diff := cmp.Diff([]any{"Old", test.want}, []any{title, got}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// apply applies the migrations in the folder tree, which has the layout of migrations.FS.
func apply(t *testing.T, st *store.Store, tree string) {
	t.Helper()
	if _, err := applyAll(t.Context(), st, os.DirFS(tree)); err != nil {
		t.Fatal(err)
	}
}

// lastMigration returns the content of the newest migration in a folder.
func lastMigration(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".sql") })
	text, err := os.ReadFile(folder + "/" + entries[len(entries)-1].Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
