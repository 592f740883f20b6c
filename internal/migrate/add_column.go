package migrate

import (
	"regexp"
	"slices"
	"strings"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/schema"
	"ariga.io/atlas/sql/sqlite"
	entschema "entgo.io/ent/dialect/sql/schema"
)

// columnClauses has the default or the foreign key of a new column, which Atlas omits in SQLite's ADD COLUMN.
// It is an attribute of the column. The function addedStatement appends the clause to the planned statement.
type columnClauses struct {
	schema.Attr
	sql string
}

// sqliteDiffer wraps the differ next for SQLite. Atlas then plans ADD COLUMN wherever SQLite can add the
// column.
func sqliteDiffer(next entschema.Differ) entschema.Differ {
	return entschema.DiffFunc(func(current, desired *schema.Schema) ([]schema.Change, error) {
		// SQLite returns a default without its parentheses, and Atlas compares the text.
		for _, table := range slices.Concat(current.Tables, desired.Tables) {
			for _, column := range table.Columns {
				if raw, ok := column.Default.(*schema.RawExpr); ok {
					column.Default = &schema.RawExpr{X: withoutParentheses(raw.X)}
				}
			}
		}
		changes, err := next.Diff(current, desired)
		if err != nil {
			return nil, err
		}
		return withAddedColumns(changes), nil
	})
}

// withAddedColumns prepares changes of an SQLite schema, so that Atlas plans ADD COLUMN where it would rebuild the
// table. Atlas rebuilds for each default that Ent declares, each foreign key and each indexed column. Tables with
// changes that ALTER TABLE cannot make stay as they are (decision 062).
func withAddedColumns(changes []schema.Change) []schema.Change {
	out := slices.Clone(changes)
	for i, change := range out {
		if table, ok := change.(*schema.ModifyTable); ok && onlyAddsColumns(table) {
			out[i] = addingColumns(table)
		}
	}
	return out
}

// addingColumns returns a copy of the table change for which Atlas plans ADD COLUMN. It moves the default and the
// foreign key of each new column to its columnClauses.
func addingColumns(table *schema.ModifyTable) *schema.ModifyTable {
	keys := addedKeys(table)
	out := *table
	out.Changes = nil
	for _, change := range table.Changes {
		switch c := change.(type) {
		case *schema.AddForeignKey:
			continue
		case *schema.AddColumn:
			column := *c.C
			var clauses []string
			if d := defaultText(column.Default); d != "" {
				clauses = append(clauses, "DEFAULT ("+d+")")
			}
			if key := keys[column.Name]; key != nil {
				clauses = append(clauses, referenceClause(key))
			}
			column.Default, column.Indexes, column.ForeignKeys = nil, nil, nil
			if len(clauses) > 0 {
				column.Attrs = append(slices.Clone(column.Attrs), &columnClauses{sql: strings.Join(clauses, " ")})
			}
			change = &schema.AddColumn{C: &column}
		}
		out.Changes = append(out.Changes, change)
	}
	return &out
}

// addedStatement returns the SQL of a planned change. It appends the columnClauses of the columns that the statement
// adds.
func addedStatement(change *atlas.Change) string {
	added, ok := change.Source.(*schema.AddColumn)
	if !ok {
		return change.Cmd
	}
	for _, attr := range added.C.Attrs {
		if clauses, ok := attr.(*columnClauses); ok {
			return change.Cmd + " " + clauses.sql
		}
	}
	return change.Cmd
}

// onlyAddsColumns reports whether a change of an SQLite table adds columns that ALTER TABLE can add, and nothing
// else but indexes.
func onlyAddsColumns(table *schema.ModifyTable) bool {
	keys, adds := addedKeys(table), false
	for _, change := range table.Changes {
		switch c := change.(type) {
		case *schema.AddColumn:
			if !canAddColumn(c.C, keys[c.C.Name]) {
				return false
			}
			adds = true
		case *schema.AddForeignKey:
			if len(c.F.Columns) != 1 || keys[c.F.Columns[0].Name] != c.F {
				return false
			}
		case *schema.AddIndex:
			if slices.ContainsFunc(c.I.Attrs, isConstraint) {
				return false
			}
		case *schema.DropIndex, *schema.RenameIndex:
		default:
			return false
		}
	}
	return adds
}

// isConstraint reports whether an index belongs to a UNIQUE or PRIMARY KEY in a CREATE TABLE.
func isConstraint(a schema.Attr) bool {
	origin, ok := a.(*sqlite.IndexOrigin)
	return ok && origin.O != "c"
}

// addedKeys returns the new foreign keys that consist of a single new column. The map's keys are the names of these
// columns.
func addedKeys(table *schema.ModifyTable) map[string]*schema.ForeignKey {
	keys := map[string]*schema.ForeignKey{}
	for _, change := range table.Changes {
		c, ok := change.(*schema.AddForeignKey)
		if ok && len(c.F.Columns) == 1 && schema.Changes(table.Changes).IndexAddColumn(c.F.Columns[0].Name) >= 0 {
			keys[c.F.Columns[0].Name] = c.F
		}
	}
	return keys
}

// canAddColumn reports whether SQLite can add the column to a table with rows. The default must be a constant. A
// NOT NULL column needs one, and a column with a foreign key must have none. key is nil for columns without a
// foreign key.
func canAddColumn(c *schema.Column, key *schema.ForeignKey) bool {
	for _, attr := range c.Attrs {
		switch a := attr.(type) {
		case *schema.GeneratedExpr:
			return !strings.EqualFold(a.Type, "STORED") && key == nil
		case *sqlite.AutoIncrement:
			return false
		}
	}
	text := defaultText(c.Default)
	if text == "" || strings.EqualFold(text, "NULL") {
		return c.Type.Null
	}
	return key == nil && constantDefault.MatchString(text)
}

// constantDefault matches the literals of SQLite: numbers, booleans, strings and blobs.
var constantDefault = regexp.MustCompile(
	`(?is)^(?:[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|[-+]?0x[0-9a-f]+|true|false|x?'(?:[^']|'')*')$`)

// defaultText returns a default as SQL, without parentheses around it. "" means none.
func defaultText(x schema.Expr) string {
	switch x := x.(type) {
	case *schema.Literal:
		return withoutParentheses(x.V)
	case *schema.RawExpr:
		return withoutParentheses(x.X)
	}
	return ""
}

// withoutParentheses removes the parentheses around a whole expression.
func withoutParentheses(text string) string {
	text = strings.TrimSpace(text)
	for strings.HasPrefix(text, "(") && closingParenthesis(text) == len(text)-1 {
		text = strings.TrimSpace(text[1 : len(text)-1])
	}
	return text
}

// closingParenthesis returns the index of the parenthesis that closes the first one; -1 means none.
func closingParenthesis(text string) int {
	for i, depth := range unquotedBytes(text) {
		if text[i] == ')' && depth == 0 {
			return i
		}
	}
	return -1
}

// referenceClause returns the REFERENCES clause for a foreign key of one column, formatted as Atlas formats it.
func referenceClause(key *schema.ForeignKey) string {
	quoted := func(name string) string { return "`" + name + "`" }
	words := []string{"REFERENCES", quoted(key.RefTable.Name), "(" + quoted(key.RefColumns[0].Name) + ")"}
	if key.Symbol != "" {
		words = append([]string{"CONSTRAINT", quoted(key.Symbol)}, words...)
	}
	if key.OnUpdate != "" {
		words = append(words, "ON UPDATE", string(key.OnUpdate))
	}
	if key.OnDelete != "" {
		words = append(words, "ON DELETE", string(key.OnDelete))
	}
	return strings.Join(words, " ")
}
