package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"ariga.io/atlas/schemahcl"
	atlas "ariga.io/atlas/sql/migrate"
	_ "ariga.io/atlas/sql/mysql/mysqlcheck" // registers the analyzers of MySQL
	"ariga.io/atlas/sql/schema"
	"ariga.io/atlas/sql/sqlcheck"
	"ariga.io/atlas/sql/sqlclient"
	_ "ariga.io/atlas/sql/sqlite/sqlitecheck" // and those of SQLite

	"github.com/almanac-cal/almanac/internal/store"
)

// Finding is a possible fault in a migration file.
type Finding struct {
	File  string `json:"file"` // path in the migrations folder, such as sqlite/20261121103000_initial.sql
	Line  int    `json:"line"` // line number from 1; 0 means the whole file
	Rule  string `json:"rule"`
	Code  string `json:"code,omitempty"` // Atlas's code of the check; "" for rules of this package
	Error bool   `json:"error"`          // true for an error, false for a warning
	Text  string `json:"text"`
}

// String formats the finding like a compiler message.
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

// LintOptions configures Lint. The zero value checks every migration.
type LintOptions struct {
	Latest   int   // number of last migrations to check; 0 means all
	Released fs.FS // released migrations, which must not change or get new ones before them; nil means none
}

// ruleDestructive to ruleResume are the rules of Lint. The first five are Atlas's analyzers; the comments list
// the codes.
const (
	ruleDestructive  = "destructive"        // DS: drops a table or column
	ruleIncompatible = "incompatible"       // BC: a rename breaks programs of the previous version
	ruleConstraint   = "constraint"         // CD: drops a foreign key
	ruleNotNull      = "not_null"           // MF103, MY101: older programs do not set a new column
	ruleData         = "data_depend"        // MF, LT: fails for some rows
	ruleRebuild      = "rebuild"            // SQLite copies the whole table
	ruleAddColumn    = "rebuild_for_column" // a rebuild where ADD COLUMN would do
	ruleKey          = "foreign_key_index"  // without an index on a foreign key, SQLite reads the whole table for each deletion
	ruleChecksum     = "checksum"           // the file changed after it was sealed in atlas.sum, or after its release
	ruleLinear       = "non_linear"         // databases with a later migration reject it
	ruleRuns         = "runs"               // the migration fails on an empty database
	ruleLock         = "lock"               // the statement declares no lock-free algorithm and has no comment that it blocks writers (LintLocks)
	ruleResume       = "resume"             // after an interruption, Apply cannot determine whether the statement ran
)

// Lint checks migrations for changes that lose data, break running programs, fail for some rows or take long.
// files has the layout of migrations.FS. dev is an empty database. Lint empties it again. Its engine determines
// the folder to check.
//
// A comment before a statement disables rules or codes for it: "-- atlas:nolint destructive". Without names it
// disables all. At the top of the file, followed by an empty line, it applies to the whole file. It does not disable
// the rules checksum, non_linear and runs.
func Lint(ctx context.Context, dev *store.Store, files fs.FS, o LintOptions) ([]Finding, error) {
	dir, err := copyDir(files, dev.Engine())
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
	l := linter{engine: dev.Engine()}
	if err := atlas.Validate(dir); err != nil {
		l.addSeal(err)
	}
	for i := 1; i < len(all); i++ {
		if all[i].Version() == all[i-1].Version() {
			l.add(all[i], 0, ruleLinear, fmt.Sprintf("has the version of %s", all[i-1].Name()))
		}
	}
	if o.Released != nil {
		if err := l.compareReleased(o.Released, all); err != nil {
			return nil, err
		}
	}
	err = withEmpty(ctx, dev, func(drv atlasDriver) error { return l.replay(ctx, drv, all, from) })
	if failed, ok := errors.AsType[*atlas.StmtExecError](err); ok {
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

// linter collects the findings of one folder of migrations.
type linter struct {
	engine   string
	findings []Finding
}

// warningRules are the rules whose findings are warnings, not errors.
var warningRules = []string{ruleConstraint, ruleData, ruleRebuild}

// add adds a finding about the statement at the byte offset pos of a file.
func (l *linter) add(f atlas.File, pos int, rule, text string) {
	l.addCode(f, pos, rule, "", text)
}

func (l *linter) addCode(f atlas.File, pos int, rule, code, text string) {
	if isSilenced(f, l.engine, pos, rule, code) {
		return
	}
	line := 1 + strings.Count(string(f.Bytes()[:min(pos, len(f.Bytes()))]), "\n")
	l.findings = append(l.findings, Finding{
		File: l.engine + "/" + f.Name(), Line: line, Rule: rule, Code: code, Text: text,
		Error: !slices.Contains(warningRules, rule),
	})
}

// isSilenced reports whether a comment disables a rule or code for the file or statement. The rules for
// checksums, order and failing statements cannot be disabled.
func isSilenced(f atlas.File, engine string, pos int, rule, code string) bool {
	if rule == ruleChecksum || rule == ruleLinear || rule == ruleRuns {
		return false
	}
	var comments []string
	if d, ok := f.(interface{ Directive(string) []string }); ok {
		comments = d.Directive("nolint")
	}
	stmts, err := atlas.FileStmtDecls(statementScanners[engine], f)
	if err != nil {
		return false // the replay reports this error
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

// addSeal adds a finding for err, which says that the folder does not match its atlas.sum.
func (l *linter) addSeal(err error) {
	finding := Finding{
		File: l.engine + "/" + atlas.HashFileName, Rule: ruleChecksum, Error: true, Text: err.Error(),
	}
	if mismatch, ok := errors.AsType[*atlas.ChecksumError](err); ok {
		finding.Line = mismatch.Line
		finding.Text = fmt.Sprintf("%s was %s after it was sealed", mismatch.File, mismatch.Reason)
	}
	l.findings = append(l.findings, finding)
}

// compareReleased compares the files with the released ones, which databases may already have applied.
func (l *linter) compareReleased(released fs.FS, all []atlas.File) error {
	dir, err := copyDir(released, l.engine)
	if err != nil {
		return err
	}
	old, err := dir.Files()
	if err != nil || len(old) == 0 {
		return err
	}
	byName := make(map[string]atlas.File, len(old))
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

// replay runs all files on the empty database and analyzes those from the index from on.
func (l *linter) replay(ctx context.Context, drv atlasDriver, all []atlas.File, from int) error {
	current, err := inspectSchema(ctx, drv)
	if err != nil {
		return err
	}
	keys := map[string]statementPosition{} // positions of the statements that added foreign keys
	for i, f := range all {
		stmts, err := atlas.FileStmtDecls(drv, f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		before := current
		var changes []*sqlcheck.Change
		for _, stmt := range stmts {
			if _, err := drv.ExecContext(ctx, stmt.Text); err != nil {
				return &atlas.StmtExecError{File: f, Stmt: stmt, Version: f.Version(), Err: err}
			}
			if i < from {
				continue
			}
			next, err := inspectSchema(ctx, drv)
			if err != nil {
				return err
			}
			diff, err := drv.SchemaDiff(current, next)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name(), err)
			}
			// On SQLite a migration is one transaction, so no statement can be left without a record.
			if l.engine == "mysql" && len(diff) == 0 {
				l.add(f, stmt.Pos, ruleResume, "Leaves all tables as they are, so that an interrupted apply runs it again: "+
					"make it a data step, or a statement that may run twice")
			}
			changes = append(changes, &sqlcheck.Change{Changes: withRenames(l.engine, stmt.Text, diff), Stmt: stmt})
			addNewKeys(keys, current, next, f, stmt)
			current = next
		}
		if i < from {
			if i+1 == from {
				if current, err = inspectSchema(ctx, drv); err != nil {
					return err
				}
			}
			continue
		}
		total, err := drv.SchemaDiff(before, current)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		l.checkRebuilds(f, changes, total)
		if err := l.analyze(ctx, drv, &sqlcheck.File{
			File: f, Changes: changes,
			From: schema.NewRealm(before), To: schema.NewRealm(current),
		}); err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	return l.checkKeys(ctx, drv, current, keys)
}

// analyze runs Atlas's analyzers on one file.
func (l *linter) analyze(ctx context.Context, drv atlasDriver, f *sqlcheck.File) error {
	// This analyzer alone makes its findings errors of its own by default.
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

// ruleOf returns the rule for a code of Atlas.
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
