package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"

	"ariga.io/atlas/sql/migrate"
	entschema "entgo.io/ent/dialect/sql/schema"
)

// Diff compares the generated schema with the migrations in folder and writes the next one under the given
// name, with a new atlas.sum, when they differ; it reports whether it did. The receiver is a dev database:
// empty, of the same engine, emptied again afterwards. Use MySQL itself for the mysql folder; MariaDB plans
// differently.
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
		template.Must(template.New("").Parse(
			`{{ range .Changes }}{{ with .Comment }}{{ printf "-- %s\n" . }}{{ end }}{{ printf "%s;\n" .Cmd }}{{ end }}`)),
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

// DDL is the generated schema as statements for the receiver's engine: the desired state that atlas.hcl
// names. The receiver is an empty dev database.
func (s *Store) DDL(ctx context.Context) (string, error) {
	var b bytes.Buffer
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
