package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/lab/command"
)

type explainCmd struct {
	places
	Only string `help:"Only questions whose name matches." placeholder:"REGEXP"`
}

func (x explainCmd) Run(ctx context.Context, o command.Output) error {
	engines, err := x.engines()
	if err != nil {
		return err
	}
	only, err := regexp.Compile(x.Only)
	if err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	for _, e := range engines {
		for _, s := range x.Sizes {
			for _, withIndex := range []bool{true, false} {
				if err := x.runOne(ctx, o, e, s, only, withIndex); err != nil {
					return fmt.Errorf("%s, %s events: %w", e.name, s, err)
				}
			}
		}
	}
	return nil
}

// runOne prints the SQL statements that the service sends for each question, with their query plans. Of statements
// that differ only in values it prints the first.
func (x explainCmd) runOne(
	ctx context.Context, o command.Output, e engine, s size, only *regexp.Regexp, withIndex bool,
) (err error) {
	st, err := e.open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	r := &recorder{under: st.DB}
	through := sql.OpenDB(r)
	through.SetMaxIdleConns(2)
	defer func() { err = errors.Join(err, through.Close()) }()
	watched := &store.Store{DB: through, Ent: ent.NewClient(ent.Driver(entsql.OpenDB(dialects[e.name], through)))}
	sub, err := start(ctx, io.Discard, watched, withIndex)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sub.close()) }()
	way := "with the index"
	if !withIndex {
		way = "without the index"
	}
	fmt.Fprintf(o.Out, "# %s, %s events, %s\n\n", e.name, s, way)
	seen := make(map[string]string) // the question that first asked a statement, by its shape
	c := sub.client(1)
	for _, q := range questions() {
		if s < q.from || !only.MatchString(q.name) {
			continue
		}
		path := q.paths(sub.facts)[0]
		r.take()
		if _, err := c.ask(path, q.admin); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		fmt.Fprintf(o.Out, "## %s\n\nGET %s\n\n", q.name, path)
		known := false
		for _, asked := range r.take() {
			shape := shapeOf(asked.text)
			if before, ok := seen[shape]; ok {
				fmt.Fprintf(o.Out, "As in %q: %s\n", before, shortenStatement(asked.text, 80))
				known = true
				continue
			}
			if known {
				fmt.Fprintln(o.Out)
				known = false
			}
			seen[shape] = q.name
			plan, err := explain(ctx, st.DB, e.name, asked)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", q.name, asked.text, err)
			}
			fmt.Fprintf(o.Out, "%s\n%s\n", shortenStatement(asked.text, 1000), plan)
		}
		if known {
			fmt.Fprintln(o.Out)
		}
	}
	return nil
}

var dialects = map[string]string{"MySQL": "mysql", "SQLite": "sqlite3"}

// explain returns the database's query plan for a statement, as indented lines. engine is SQLite or MySQL.
func explain(ctx context.Context, db *sql.DB, engine string, s statement) (plan string, err error) {
	prefix := "EXPLAIN FORMAT=TREE "
	if engine == "SQLite" {
		prefix = "EXPLAIN QUERY PLAN "
	}
	rows, err := db.QueryContext(ctx, prefix+s.text, s.args...)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	depth := make(map[int64]int)
	var b strings.Builder
	for rows.Next() {
		var text string
		var id, parent, unused int64
		into := []any{&text}
		if engine == "SQLite" {
			into = []any{&id, &parent, &unused, &text}
		}
		if err := rows.Scan(into...); err != nil {
			return "", err
		}
		if engine == "SQLite" {
			depth[id] = depth[parent] + 1
			text = strings.Repeat("    ", depth[id]-1) + text
		}
		for line := range strings.Lines(text) {
			b.WriteString("    " + shortenStatement(strings.TrimRight(line, "\n"), 220) + "\n")
		}
	}
	return b.String(), rows.Err()
}

var (
	columnList    = regexp.MustCompile("SELECT ((?:DISTINCT )?)(`[^()]*?`) FROM")
	valueList     = regexp.MustCompile(`\((\?|\d+)(, ?(\?|\d+)){3,}\)`)
	valueGroups   = regexp.MustCompile(`\((\?|\d+)(, ?(\?|\d+))*\)`)
	numberPattern = regexp.MustCompile(`\b\d+\b`)
)

// shapeOf replaces the numbers and value lists in a statement by placeholders. Statements with the same result have
// nearly the same plan.
func shapeOf(text string) string {
	return numberPattern.ReplaceAllString(valueGroups.ReplaceAllString(text, "(?)"), "?")
}

// shortenStatement replaces long lists in a statement by an ellipsis and cuts it after limit characters, for
// printing.
func shortenStatement(text string, limit int) string {
	text = columnList.ReplaceAllStringFunc(text, func(s string) string {
		if strings.Count(s, ",") < 4 {
			return s
		}
		return "SELECT … FROM"
	})
	text = valueList.ReplaceAllString(text, "($1, …)")
	if r := []rune(text); len(r) > limit {
		text = string(r[:limit]) + " …"
	}
	return text
}
