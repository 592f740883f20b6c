package store

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"ariga.io/atlas/sql/migrate"

	"github.com/almanac-cal/almanac/migrations"
)

// Step is one statement of a migration.
type Step struct {
	Version     string
	Description string
	Number      int // of the statement in its file, from 1
	Total       int
	SQL         string
	Comments    []string // those the file has before the statement, each with its mark
}

// Plan is what Migrate would run.
type Plan struct {
	Database string // its URL without password
	Engine   string
	At       string // version of the last revision, empty when there is none
	Steps    []Step
}

// Plan lists the statements that Migrate would run, in order, up to and including version to unless that is
// empty. A migration that was applied in part begins at its next statement. It changes nothing, takes no lock,
// and fails for what Migrate would refuse.
func (s *Store) Plan(ctx context.Context, to string) (Plan, error) {
	return s.plan(ctx, migrations.FS, to)
}

func (s *Store) plan(ctx context.Context, files fs.FS, to string) (plan Plan, err error) {
	dir, err := loadDir(files, s.Engine())
	if err != nil {
		return Plan{}, err
	}
	if err := isVersion(dir, to); err != nil {
		return Plan{}, err
	}
	applied, err := s.applied(ctx)
	if err != nil {
		return Plan{}, err
	}
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return Plan{}, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	drv, err := s.driver(conn)
	if err != nil {
		return Plan{}, err
	}
	ex, err := migrate.NewExecutor(drv, dir, recorded{revs: applied})
	if err != nil {
		return Plan{}, err
	}
	pending, err := s.pending(ctx, ex, to)
	if err != nil {
		return Plan{}, err
	}
	plan = Plan{Database: s.String(), Engine: s.Engine()}
	if len(applied) > 0 {
		plan.At = applied[len(applied)-1].Version
	}
	for _, f := range pending {
		steps, err := steps(drv, f)
		if err != nil {
			return Plan{}, err
		}
		for _, r := range applied {
			if r.Version != f.Version() {
				continue
			}
			if err := unchanged(r, f, steps); err != nil {
				return Plan{}, err
			}
			steps = steps[r.Applied:]
		}
		plan.Steps = append(plan.Steps, steps...)
	}
	return plan, nil
}

// recorded is a revision table that only tells what it had. Nothing is written.
type recorded struct {
	migrate.NopRevisionReadWriter
	revs []*migrate.Revision
}

func (recorded) Ident() *migrate.TableIdent { return revisions{}.Ident() }

func (r recorded) ReadRevisions(context.Context) ([]*migrate.Revision, error) { return r.revs, nil }

// steps are the statements of a file.
func steps(drv atlasDriver, f migrate.File) ([]Step, error) {
	stmts, err := migrate.FileStmtDecls(drv, f)
	if err != nil {
		return nil, fmt.Errorf("migration %s: %w", f.Name(), err)
	}
	out := make([]Step, len(stmts))
	for i, stmt := range stmts {
		out[i] = Step{
			Version: f.Version(), Description: f.Desc(), Number: i + 1, Total: len(stmts),
			SQL: stmt.Text, Comments: stmt.Comments,
		}
	}
	return out, nil
}

// unchanged checks that the statements of a file that ran are still those of the file. Each of the recorded
// hashes is over all statements so far.
func unchanged(r *migrate.Revision, f migrate.File, steps []Step) error {
	hash := sha256.New()
	for i := range r.Applied {
		if i < len(steps) && i < len(r.PartialHashes) {
			hash.Write([]byte(steps[i].SQL))
			sum := base64.StdEncoding.EncodeToString(hash.Sum(nil))
			if sum == strings.TrimPrefix(r.PartialHashes[i], "h1:") {
				continue
			}
		}
		return fmt.Errorf("migrate: %w", migrate.HistoryChangedError{File: f.Name(), Stmt: i + 1})
	}
	return nil
}

// String is the plan as SQL with comments, to review, to keep or to run by hand.
func (p Plan) String() string {
	var b strings.Builder
	at := "with no migration applied"
	if p.At != "" {
		at = "at version " + p.At
	}
	if len(p.Steps) == 0 {
		fmt.Fprintf(&b, "-- Nothing to apply: %s is %s.\n", p.Database, at)
		return b.String()
	}
	fmt.Fprintf(&b, "-- What `almanac migrate apply` would run on %s, %s.\n", p.Database, at)
	if p.Engine == "sqlite" {
		b.WriteString("-- It does so in one transaction, with foreign keys off until they are checked at its end,\n")
	} else {
		b.WriteString("-- It does so one by one: each statement that changes the schema commits by itself,\n")
	}
	fmt.Fprintf(&b, "-- and keeps its own record in the table %s, which this text leaves out.\n", revisionTable)
	version := ""
	for i, s := range p.Steps {
		if s.Version != version {
			version = s.Version
			last := s
			for _, next := range p.Steps[i:] {
				if next.Version == version {
					last = next
				}
			}
			fmt.Fprintf(&b, "\n-- Migration %s %s: statements %d to %d of %d\n",
				s.Version, s.Description, s.Number, last.Number, s.Total)
		}
		fmt.Fprintf(&b, "\n-- %s %s, statement %d of %d\n", s.Version, s.Description, s.Number, s.Total)
		for _, c := range s.Comments {
			b.WriteString(strings.TrimSpace(c) + "\n")
		}
		b.WriteString(terminated(s.SQL) + "\n")
	}
	return b.String()
}

// terminated is a statement as a client wants it.
func terminated(sql string) string { return strings.TrimSuffix(sql, ";") + ";" }
