package store

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

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
	Found       bool     // it ran before an interruption: it is recorded, and not run again
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
	plan = Plan{Database: s.String(), Engine: s.Engine()}
	err = s.withHistory(ctx, files, func(h *history) error {
		if err := h.isVersion(to); err != nil {
			return err
		}
		if len(h.revs) > 0 {
			plan.At = h.revs[len(h.revs)-1].Version
		}
		pending, err := h.pending(ctx, to)
		if err != nil || len(pending) == 0 {
			return err
		}
		run := &runner{
			atlasDriver: h.drv, h: h, ctx: ctx, dry: true,
			progress: func(step Step) { plan.Steps = append(plan.Steps, step) },
		}
		return run.execute(ctx, recorded{revs: h.revs}, "", len(pending))
	})
	if err != nil {
		return Plan{}, err
	}
	return plan, nil
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
		if s.Found {
			b.WriteString("-- It ran before an interruption, and will be recorded only.\n")
			for line := range strings.Lines(terminated(s.SQL) + "\n") {
				b.WriteString("-- " + line)
			}
			continue
		}
		b.WriteString(terminated(s.SQL) + "\n")
	}
	return b.String()
}

// terminated is a statement as a client wants it.
func terminated(sql string) string { return strings.TrimSuffix(sql, ";") + ";" }
