package migrate

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/migrations"
)

// Step is one statement of a migration.
type Step struct {
	Version     string
	Description string
	Number      int // number of the statement in its file, from 1
	Total       int // number of statements in the file
	SQL         string
	Comments    []string // comment lines before the statement, with their comment marks
	Found       bool     // true if it ran before an interruption, so that Apply only records it
}

// Script is the SQL that Apply would run.
type Script struct {
	Database string // URL of the database without its password
	Engine   string
	At       string // version of the last revision; "" means none
	Steps    []Step
}

// Plan lists the statements that Apply would run, in order, up to and including version to. An empty version means all.
// A migration that was applied in part begins at its next statement. Plan changes nothing and takes no lock. It fails
// where Apply would refuse to run.
func Plan(ctx context.Context, st *store.Store, to string) (Script, error) {
	return plan(ctx, st, migrations.FS, to)
}

func plan(ctx context.Context, st *store.Store, files fs.FS, to string) (script Script, err error) {
	script = Script{Database: st.String(), Engine: st.Engine()}
	err = withHistory(ctx, st, files, func(h *history) error {
		if err := h.checkVersion(to); err != nil {
			return err
		}
		if len(h.revs) > 0 {
			script.At = h.revs[len(h.revs)-1].Version
		}
		pending, err := h.pending(ctx, to)
		if err != nil || len(pending) == 0 {
			return err
		}
		run := &statementRunner{
			atlasDriver: h.drv, h: h, ctx: ctx, dry: true,
			progress: func(step Step) { script.Steps = append(script.Steps, step) },
		}
		return run.execute(ctx, fixedRevisions{revs: h.revs}, "", len(pending))
	})
	if err != nil {
		return Script{}, err
	}
	return script, nil
}

// String formats the script as SQL with comments, for review or for running it by hand.
func (s Script) String() string {
	var b strings.Builder
	at := "with no migration applied"
	if s.At != "" {
		at = "at version " + s.At
	}
	if len(s.Steps) == 0 {
		fmt.Fprintf(&b, "-- Nothing to apply: %s is %s.\n", s.Database, at)
		return b.String()
	}
	fmt.Fprintf(&b, "-- What `almanac migrate apply` would run on %s, %s.\n", s.Database, at)
	if s.Engine == "sqlite" {
		b.WriteString("-- It does so in one transaction, with foreign keys off until they are checked at its end,\n")
	} else {
		b.WriteString("-- It does so one by one: each statement that changes the schema commits by itself,\n")
	}
	fmt.Fprintf(&b, "-- and keeps its own record in the table %s, which this text leaves out.\n", revisionTableName)
	version := ""
	for i, step := range s.Steps {
		if step.Version != version {
			version = step.Version
			last := step
			for _, next := range s.Steps[i:] {
				if next.Version == version {
					last = next
				}
			}
			fmt.Fprintf(&b, "\n-- Migration %s %s: statements %d to %d of %d\n",
				step.Version, step.Description, step.Number, last.Number, step.Total)
		}
		fmt.Fprintf(&b, "\n-- %s %s, statement %d of %d\n", step.Version, step.Description, step.Number, step.Total)
		for _, c := range step.Comments {
			b.WriteString(strings.TrimSpace(c) + "\n")
		}
		if step.Found {
			b.WriteString("-- It ran before an interruption, and will be recorded only.\n")
			for line := range strings.Lines(withSemicolon(step.SQL) + "\n") {
				b.WriteString("-- " + line)
			}
			continue
		}
		b.WriteString(withSemicolon(step.SQL) + "\n")
	}
	return b.String()
}

// withSemicolon returns a statement that ends with a semicolon.
func withSemicolon(sql string) string { return strings.TrimSuffix(sql, ";") + ";" }
