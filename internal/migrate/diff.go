package migrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"text/template"
	"time"

	atlas "ariga.io/atlas/sql/migrate"
	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	entschema "entgo.io/ent/dialect/sql/schema"

	entmigrate "github.com/almanac-cal/almanac/ent/migrate"
	"github.com/almanac-cal/almanac/internal/store"
)

// Diff compares the generated schema with the migrations in folder. If they differ, it writes a new migration and
// atlas.sum, and returns true. The version is made from now, so pass the same time for every engine. dev is an empty
// database of the same engine, which Diff empties again. For the mysql folder it must be MySQL, because MariaDB plans
// differently. Statements for MySQL avoid locks where possible, as LintLocks requires. Statements for SQLite add
// columns to a table instead of rebuilding it (decision 062).
func Diff(ctx context.Context, dev *store.Store, folder, name string, now time.Time) (written bool, err error) {
	return diff(ctx, dev, entmigrate.Tables, folder, name, now)
}

func diff(
	ctx context.Context, dev *store.Store, tables []*entschema.Table, folder, name string, now time.Time,
) (written bool, err error) {
	dir, err := atlas.NewLocalDir(folder)
	if err != nil {
		return false, err
	}
	version := func() string { return now.UTC().Format("20060102150405") }
	entDialect := dialect.MySQL
	statements := func(c *atlas.Change) []string { return splitByLock(c.Cmd) }
	hooks := []entschema.DiffHook{mysqlDiffer}
	if dev.Engine() == "sqlite" {
		entDialect = dialect.SQLite
		statements = func(c *atlas.Change) []string { return []string{addedStatement(c)} }
		hooks = []entschema.DiffHook{sqliteDiffer}
	}
	format, err := atlas.NewTemplateFormatter(
		template.Must(template.New("").Funcs(template.FuncMap{"version": version}).Parse("{{ version }}_{{ .Name }}.sql")),
		template.Must(template.New("").Funcs(template.FuncMap{"statements": statements}).Parse(
			`{{ range .Changes }}{{ $comment := .Comment }}{{ range statements . }}`+
				`{{ with $comment }}{{ printf "-- %s\n" . }}{{ end }}{{ printf "%s;\n" . }}{{ end }}{{ end }}`)),
	)
	if err != nil {
		return false, err
	}
	planner, err := entschema.NewMigrate(entsql.OpenDB(entDialect, dev.DB),
		entschema.WithDir(dir),
		entschema.WithMigrationMode(entschema.ModeReplay),
		entschema.WithFormatter(format),
		entschema.WithDropColumn(true),
		entschema.WithDropIndex(true),
		entschema.WithErrNoPlan(true),
		entschema.WithDiffHook(hooks...),
	)
	if err != nil {
		return false, err
	}
	err = planner.NamedDiff(ctx, name, tables...)
	if errors.Is(err, atlas.ErrNoPlan) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("diff of %s: %w", folder, err)
	}
	return true, nil
}

// CheckEmpty returns an error if the database has tables.
func CheckEmpty(ctx context.Context, dev *store.Store) error {
	return withEmpty(ctx, dev, func(atlasDriver) error { return nil })
}

// entTables guards the tables that Ent generated. Ent modifies these global variables when it plans.
var entTables sync.Mutex

// Seal rewrites the atlas.sum of a folder, after a migration that is not yet released was edited.
func Seal(folder string) error {
	dir, err := atlas.NewLocalDir(folder)
	if err != nil {
		return err
	}
	sum, err := dir.Checksum()
	if err != nil {
		return fmt.Errorf("seal %s: %w", folder, err)
	}
	return atlas.WriteSumFile(dir, sum)
}

// DDL returns the generated schema as SQL for the engine of dev. atlas.hcl uses it as the desired state. dev is
// an empty database.
func DDL(ctx context.Context, dev *store.Store) (string, error) {
	var b bytes.Buffer
	entTables.Lock()
	defer entTables.Unlock()
	if err := dev.Ent.Schema.WriteTo(ctx, &b); err != nil {
		return "", err
	}
	// The Atlas CLI expects only the statements of the schema, without the transaction and pragmas around them.
	lines := strings.Split(b.String(), "\n")
	kept := lines[:0]
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "PRAGMA ") &&
			line != "BEGIN;" && line != "COMMIT;" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n") + "\n", nil
}
