package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"ariga.io/atlas/schemahcl"
	"ariga.io/atlas/sql/migrate"
	_ "ariga.io/atlas/sql/mysql/mysqlcheck" // registers the analyzers of MySQL
	"ariga.io/atlas/sql/schema"
	"ariga.io/atlas/sql/sqlcheck"
	"ariga.io/atlas/sql/sqlclient"
	_ "ariga.io/atlas/sql/sqlite/sqlitecheck" // and those of SQLite
)

// Finding is something in a migration that deserves a look.
type Finding struct {
	File  string `json:"file"` // from the folder of migrations: sqlite/20261121103000_initial.sql
	Line  int    `json:"line"` // from 1; 0 when it is about the whole file
	Rule  string `json:"rule"`
	Code  string `json:"code,omitempty"` // Atlas's code of the check, for rules of Atlas
	Error bool   `json:"error"`          // false for a warning
	Text  string `json:"text"`
}

// String is the finding in the notation of compilers.
func (f Finding) String() string {
	level, rule := "warning", f.Rule
	if f.Error {
		level = "error"
	}
	if f.Code != "" {
		rule += " " + f.Code
	}
	return fmt.Sprintf("%s:%d: %s: %s (%s)", f.File, max(f.Line, 1), level, f.Text, rule)
}

// LintOptions is how Lint goes about it. The zero value looks at every migration.
type LintOptions struct {
	Latest   int   // only the last migrations, so many; 0 for all
	Released fs.FS // migrations that are not to be changed any more, nor preceded by new ones; nil for none
}

// The rules of Lint. The first five are Atlas's analyzers, by the first letters of their codes.
const (
	ruleDestructive  = "destructive"       // DS: drops a table or a column
	ruleIncompatible = "incompatible"      // BC: a program of the version before cannot work with what is renamed
	ruleConstraint   = "constraint"        // CD: drops a foreign key
	ruleNotNull      = "not_null"          // MF103, MY101: a new column that older programs do not fill
	ruleData         = "data_depend"       // MF, LT: fails for rows that do not fit
	ruleRebuild      = "rebuild"           // SQLite copies a table
	ruleKey          = "foreign_key_index" // SQLite reads the whole table for a deletion
	ruleChecksum     = "checksum"          // not as sealed in atlas.sum, or not as released
	ruleLinear       = "non_linear"        // databases that are further do not take it
	ruleRuns         = "runs"              // fails on an empty database
	ruleLock         = "lock"              // does not say whether it keeps programs from writing; see LintLocks
	ruleResume       = "resume"            // an apply that is interrupted at it cannot tell whether it ran
)

// Lint looks for changes in the migrations of files that lose data, break programs that are still running, fail
// on certain rows or take long. files is like migrations.FS. The receiver is a dev database: its engine says
// which folder is meant; it is empty, and emptied again afterwards.
//
// A comment before a statement, or one followed by an empty line at the top of the file, silences rules or
// codes there: "-- atlas:nolint destructive", or all with "-- atlas:nolint".
func (s *Store) Lint(ctx context.Context, files fs.FS, o LintOptions) ([]Finding, error) {
	dir, err := copyDir(files, s.Engine())
	if err != nil {
		return nil, err
	}
	all, err := dir.Files()
	if err != nil {
		return nil, err
	}
	from := 0
	if o.Latest > 0 {
		from = max(len(all)-o.Latest, 0)
	}
	l := linter{engine: s.Engine()}
	if err := migrate.Validate(dir); err != nil {
		l.sealed(err)
	}
	for i := 1; i < len(all); i++ {
		if all[i].Version() == all[i-1].Version() {
			l.add(all[i], 0, ruleLinear, fmt.Sprintf("has the version of %s", all[i-1].Name()))
		}
	}
	if o.Released != nil {
		if err := l.released(o.Released, all); err != nil {
			return nil, err
		}
	}
	err = s.borrow(ctx, func(drv atlasDriver) error { return l.replay(ctx, drv, all, from) })
	var failed *migrate.StmtExecError
	if errors.As(err, &failed) {
		l.add(failed.File, failed.Stmt.Pos, ruleRuns, failed.Err.Error())
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("lint: %w", err)
	}
	slices.SortStableFunc(l.findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Rule, b.Rule))
	})
	return l.findings, nil
}

// linter collects findings.
type linter struct {
	engine   string
	findings []Finding
}

// warnings are the rules that do not make a migration wrong.
var warnings = []string{ruleConstraint, ruleData, ruleRebuild}

// add notes a finding about the statement at an offset of a file.
func (l *linter) add(f migrate.File, pos int, rule, text string) {
	l.addCode(f, pos, rule, "", text)
}

func (l *linter) addCode(f migrate.File, pos int, rule, code, text string) {
	if silenced(f, l.engine, pos, rule, code) {
		return
	}
	line := 1 + strings.Count(string(f.Bytes()[:min(pos, len(f.Bytes()))]), "\n")
	l.findings = append(l.findings, Finding{
		File: l.engine + "/" + f.Name(), Line: line, Rule: rule, Code: code, Text: text,
		Error: !slices.Contains(warnings, rule),
	})
}

// silenced reports whether a comment of the file or of the statement wants no such finding. What is sealed,
// ordered or fails is not a matter of opinion.
func silenced(f migrate.File, engine string, pos int, rule, code string) bool {
	if rule == ruleChecksum || rule == ruleLinear || rule == ruleRuns {
		return false
	}
	var comments []string
	if d, ok := f.(interface{ Directive(string) []string }); ok {
		comments = d.Directive("nolint")
	}
	stmts, err := migrate.FileStmtDecls(scanners[engine], f)
	if err != nil {
		return false // and reported by the replay
	}
	for _, stmt := range stmts {
		if stmt.Pos == pos {
			comments = append(comments, stmt.Directive("nolint")...)
		}
	}
	return slices.ContainsFunc(comments, func(c string) bool {
		names := strings.Fields(c)
		return len(names) == 0 || slices.Contains(names, rule) || (code != "" && slices.Contains(names, code))
	})
}

// sealed notes that a folder is not as atlas.sum says.
func (l *linter) sealed(err error) {
	finding := Finding{
		File: l.engine + "/" + migrate.HashFileName, Rule: ruleChecksum, Error: true, Text: err.Error(),
	}
	var mismatch *migrate.ChecksumError
	if errors.As(err, &mismatch) {
		finding.Line = mismatch.Line
		finding.Text = fmt.Sprintf("%s was %s after it was sealed", mismatch.File, mismatch.Reason)
	}
	l.findings = append(l.findings, finding)
}

// released compares the files with those that databases may have applied.
func (l *linter) released(released fs.FS, all []migrate.File) error {
	dir, err := copyDir(released, l.engine)
	if err != nil {
		return err
	}
	old, err := dir.Files()
	if err != nil || len(old) == 0 {
		return err
	}
	byName := make(map[string]migrate.File, len(old))
	for _, f := range old {
		byName[f.Name()] = f
	}
	last := old[len(old)-1]
	for _, f := range all {
		before, ok := byName[f.Name()]
		delete(byName, f.Name())
		switch {
		case ok && string(before.Bytes()) != string(f.Bytes()):
			l.add(f, 0, ruleChecksum, "was changed after it was released")
		case !ok && f.Version() <= last.Version():
			l.add(f, 0, ruleLinear, fmt.Sprintf("comes before %s, which is released: databases that have that refuse it",
				last.Name()))
		}
	}
	for _, f := range old {
		if _, ok := byName[f.Name()]; ok {
			l.add(f, 0, ruleChecksum, "was taken away after it was released")
		}
	}
	return nil
}

// replay runs the files and analyzes those from an index on.
func (l *linter) replay(ctx context.Context, drv atlasDriver, all []migrate.File, from int) error {
	current, err := inspect(ctx, drv)
	if err != nil {
		return err
	}
	keys := map[string]position{} // where a foreign key came from
	for i, f := range all {
		stmts, err := migrate.FileStmtDecls(drv, f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		before := current
		var changes []*sqlcheck.Change
		for _, stmt := range stmts {
			if _, err := drv.ExecContext(ctx, stmt.Text); err != nil {
				return &migrate.StmtExecError{File: f, Stmt: stmt, Version: f.Version(), Err: err}
			}
			if i < from {
				continue
			}
			next, err := inspect(ctx, drv)
			if err != nil {
				return err
			}
			diff, err := drv.SchemaDiff(current, next)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name(), err)
			}
			// SQLite does all or nothing.
			if l.engine == "mysql" && len(diff) == 0 {
				l.add(f, stmt.Pos, ruleResume, "Leaves all tables as they are, so that an interrupted apply runs it again: "+
					"make it a data step, or a statement that may run twice")
			}
			changes = append(changes, &sqlcheck.Change{Changes: renames(l.engine, stmt.Text, diff), Stmt: stmt})
			newKeys(keys, current, next, f, stmt)
			current = next
		}
		if i < from {
			if current, err = inspect(ctx, drv); err != nil {
				return err
			}
			continue
		}
		l.rebuilds(f, changes)
		if err := l.analyze(ctx, drv, &sqlcheck.File{
			File: f, Changes: changes,
			From: schema.NewRealm(before), To: schema.NewRealm(current),
		}); err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	return l.keys(ctx, drv, current, keys)
}

// analyze runs Atlas's analyzers over a file.
func (l *linter) analyze(ctx context.Context, drv atlasDriver, f *sqlcheck.File) error {
	// Without this, a finding of the analyzer is an error, too.
	options := &schemahcl.Resource{Children: []*schemahcl.Resource{
		{Type: "destructive", Attrs: []*schemahcl.Attr{schemahcl.BoolAttr("error", false)}},
	}}
	analyzers, err := sqlcheck.AnalyzerFor(l.engine, options)
	if err != nil {
		return err
	}
	return sqlcheck.Analyzers(analyzers).Analyze(ctx, &sqlcheck.Pass{
		File: f,
		Dev:  &sqlclient.Client{Name: l.engine, Driver: drv},
		Reporter: sqlcheck.ReportWriterFunc(func(r sqlcheck.Report) {
			for _, d := range r.Diagnostics {
				l.addCode(f.File, d.Pos, ruleOf(d.Code), d.Code, d.Text)
			}
		}),
	})
}

// ruleOf is the rule that a code of Atlas belongs to.
func ruleOf(code string) string {
	switch {
	case strings.HasPrefix(code, "DS"):
		return ruleDestructive
	case strings.HasPrefix(code, "BC"):
		return ruleIncompatible
	case strings.HasPrefix(code, "CD"):
		return ruleConstraint
	case code == "MF103", code == "MY101":
		return ruleNotNull
	}
	return ruleData
}
