package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"text/template"
	"time"

	"ariga.io/atlas/sql/migrate"
	entschema "entgo.io/ent/dialect/sql/schema"
)

// Diff compares the generated schema with the migrations in folder and writes the next one under the given
// name, with a new atlas.sum, when they differ; it reports whether it did. The receiver is a dev database:
// empty, of the same engine, emptied again afterwards. Use MySQL itself for the mysql folder; MariaDB plans
// differently. On MySQL, what can be changed without a lock is, as LintLocks wants it.
//
// now becomes the version, the same for every engine.
func (s *Store) Diff(ctx context.Context, folder, name string, now time.Time) (written bool, err error) {
	dir, err := migrate.NewLocalDir(folder)
	if err != nil {
		return false, err
	}
	version := func() string { return now.UTC().Format("20060102150405") }
	format, err := migrate.NewTemplateFormatter(
		template.Must(template.New("").Funcs(template.FuncMap{"version": version}).Parse("{{ version }}_{{ .Name }}.sql")),
		template.Must(template.New("").Funcs(template.FuncMap{"statements": s.statements}).Parse(
			`{{ range .Changes }}{{ $comment := .Comment }}{{ range statements .Cmd }}`+
				`{{ with $comment }}{{ printf "-- %s\n" . }}{{ end }}{{ printf "%s;\n" . }}{{ end }}{{ end }}`)),
	)
	if err != nil {
		return false, err
	}
	err = s.Ent.Schema.NamedDiff(ctx, name,
		entschema.WithDir(dir),
		entschema.WithMigrationMode(entschema.ModeReplay),
		entschema.WithDialect(s.url.dialect),
		entschema.WithFormatter(format),
		entschema.WithDropColumn(true),
		entschema.WithDropIndex(true),
		entschema.WithErrNoPlan(true),
	)
	if errors.Is(err, migrate.ErrNoPlan) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("diff of %s: %w", folder, err)
	}
	return true, nil
}

// entTables is held while Ent plans: it changes its tables then, which are the same for all databases of the process.
var entTables sync.Mutex

// Seal writes the atlas.sum of a folder of migrations anew, after one that is not released yet was edited.
func Seal(folder string) error {
	dir, err := migrate.NewLocalDir(folder)
	if err != nil {
		return err
	}
	sum, err := dir.Checksum()
	if err != nil {
		return fmt.Errorf("seal %s: %w", folder, err)
	}
	return migrate.WriteSumFile(dir, sum)
}

// statements are those that a planned one becomes in the file.
func (s *Store) statements(sql string) []string {
	if s.Engine() == "mysql" {
		return withLocks(sql)
	}
	return []string{sql}
}

// DDL is the generated schema as statements for the receiver's engine: the desired state that atlas.hcl
// names. The receiver is an empty dev database.
func (s *Store) DDL(ctx context.Context) (string, error) {
	var b bytes.Buffer
	entTables.Lock()
	defer entTables.Unlock()
	if err := s.Ent.Schema.WriteTo(ctx, &b); err != nil {
		return "", err
	}
	// Without transaction and pragmas around it: the Atlas CLI wants the statements of the schema only.
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
