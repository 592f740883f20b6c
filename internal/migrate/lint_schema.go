package migrate

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/schema"
	"ariga.io/atlas/sql/sqlcheck"
)

// statementPosition identifies a statement by its file and the byte offset of its start.
type statementPosition struct {
	file atlas.File
	pos  int
}

// mysqlRename matches the columns that a MySQL ALTER TABLE renames.
var mysqlRename = regexp.MustCompile(
	"(?is)\\b(?:RENAME\\s+COLUMN|CHANGE(?:\\s+COLUMN)?)\\s+`?(\\w+)`?\\s+(?:TO\\s+)?`?(\\w+)`?")

// withRenames replaces a pair of a drop and an addition by one rename, if the SQL statement is a rename of a table or
// column. Atlas compares by name only, so it reports two changes. No single statement drops one table and adds
// another, and no SQLite statement does so with columns.
func withRenames(engine, sql string, changes schema.Changes) schema.Changes {
	var dropped []*schema.DropTable
	var added []*schema.AddTable
	for _, c := range changes {
		switch c := c.(type) {
		case *schema.DropTable:
			dropped = append(dropped, c)
		case *schema.AddTable:
			added = append(added, c)
		case *schema.ModifyTable:
			replaceRenamedColumns(engine, sql, c)
		}
	}
	if len(dropped) != 1 || len(added) != 1 {
		return changes
	}
	changes = slices.DeleteFunc(changes, func(c schema.Change) bool { return c == dropped[0] || c == added[0] })
	return append(schema.Changes{&schema.RenameTable{From: dropped[0].T, To: added[0].T}}, changes...)
}

// replaceRenamedColumns replaces a dropped and an added column by one rename, in the changes of table, if the
// statement sql renames the column. Atlas compares by name only, so it reports two changes.
func replaceRenamedColumns(engine, sql string, table *schema.ModifyTable) {
	drop := func(name string) int { return schema.Changes(table.Changes).IndexDropColumn(name) }
	add := func(name string) int { return schema.Changes(table.Changes).IndexAddColumn(name) }
	for _, column := range slices.Clone(table.Changes) {
		from, ok := column.(*schema.DropColumn)
		if !ok {
			continue
		}
		to := ""
		if engine == "sqlite" {
			for _, c := range table.Changes {
				if a, ok := c.(*schema.AddColumn); ok {
					to = a.C.Name
				}
			}
		} else {
			for _, m := range mysqlRename.FindAllStringSubmatch(sql, -1) {
				if strings.EqualFold(m[1], from.C.Name) {
					to = m[2]
				}
			}
		}
		i := add(to)
		if i < 0 {
			continue
		}
		target, ok := table.Changes[i].(*schema.AddColumn)
		if !ok {
			continue
		}
		table.Changes[drop(from.C.Name)] = &schema.RenameColumn{From: from.C, To: target.C}
		table.Changes = slices.Delete(table.Changes, i, i+1)
	}
}

// checkRebuilds adds findings about tables that a migration rebuilds under another name. If the rebuild only adds
// columns that ALTER TABLE can add, the finding is an error. total has the changes of the whole file.
func (l *linter) checkRebuilds(f atlas.File, changes []*sqlcheck.Change, total []schema.Change) {
	added := map[string]string{} // names of added columns, by table that only gets columns
	for _, c := range total {
		if table, ok := c.(*schema.ModifyTable); ok && onlyAddsColumns(table) {
			added[table.T.Name] = strings.Join(addedNames(table), ", ")
		}
	}
	made := map[string]int{} // byte offset of the creating statement, by table
	dropped := map[string]bool{}
	for _, sc := range changes {
		for _, c := range sc.Changes {
			switch c := c.(type) {
			case *schema.AddTable:
				made[c.T.Name] = sc.Stmt.Pos
			case *schema.DropTable:
				dropped[c.T.Name] = true
			case *schema.RenameTable:
				pos, ok := made[c.From.Name]
				if !ok || !dropped[c.To.Name] {
					continue
				}
				fault := fmt.Sprintf("Rebuilding table %q copies all its rows, and keeps every other writer waiting meanwhile",
					c.To.Name)
				if names := added[c.To.Name]; names != "" {
					l.add(f, pos, ruleAddColumn, fmt.Sprintf("%s: ALTER TABLE ... ADD COLUMN can add %s", fault, names))
				} else {
					l.add(f, pos, ruleRebuild, fault)
				}
			}
		}
	}
}

// addedNames returns the names of the columns that a change adds.
func addedNames(table *schema.ModifyTable) (names []string) {
	for _, change := range table.Changes {
		if c, ok := change.(*schema.AddColumn); ok {
			names = append(names, c.C.Name)
		}
	}
	return names
}

// keyName identifies a foreign key by table and columns, because in SQLite it may have no name.
func keyName(t *schema.Table, key *schema.ForeignKey) string {
	return t.Name + " (" + strings.Join(columnNames(key.Columns), ", ") + ")"
}

func columnNames(columns []*schema.Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// addNewKeys adds to keys the foreign keys that are in the schema to, but not in from. It indexes them by
// keyName. The value is the position of stmt in the file f. Keys that are already in keys stay unchanged.
func addNewKeys(keys map[string]statementPosition, from, to *schema.Schema, f atlas.File, stmt *atlas.Stmt) {
	had := map[string]bool{}
	for _, t := range from.Tables {
		for _, key := range t.ForeignKeys {
			had[keyName(t, key)] = true
		}
	}
	for _, t := range to.Tables {
		for _, key := range t.ForeignKeys {
			name := keyName(t, key)
			if _, known := keys[name]; !known && !had[name] {
				keys[name] = statementPosition{f, stmt.Pos}
			}
		}
	}
}

// checkKeys adds findings about new foreign keys without an index on their columns. MySQL creates such an index
// itself.
func (l *linter) checkKeys(
	ctx context.Context, drv atlasDriver, final *schema.Schema, from map[string]statementPosition,
) error {
	for _, t := range final.Tables {
		for _, key := range t.ForeignKeys {
			at, ok := from[keyName(t, key)]
			if !ok || hasIndex(t, columnNames(key.Columns)) {
				continue
			}
			primary, err := l.primaryKey(ctx, drv, t)
			if err != nil {
				return err
			}
			if n := len(key.Columns); n <= len(primary) && slices.Equal(primary[:n], columnNames(key.Columns)) {
				continue
			}
			l.add(at.file, at.pos, ruleKey, fmt.Sprintf(
				"No index of table %q begins with the foreign key (%s): deleting what it refers to reads the whole table",
				t.Name, strings.Join(columnNames(key.Columns), ", ")))
		}
	}
	return nil
}

// primaryKey returns the columns of a primary key in key order. For SQLite, Atlas returns them in table order.
func (l *linter) primaryKey(ctx context.Context, drv atlasDriver, t *schema.Table) (columns []string, err error) {
	if l.engine == "mysql" {
		if t.PrimaryKey != nil {
			for _, part := range t.PrimaryKey.Parts {
				columns = append(columns, part.C.Name)
			}
		}
		return columns, nil
	}
	rows, err := drv.QueryContext(ctx, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", t.Name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		columns = append(columns, name)
	}
	return columns, rows.Err()
}

// hasIndex reports whether an index other than the primary key begins with the given columns.
func hasIndex(t *schema.Table, columns []string) bool {
	return slices.ContainsFunc(t.Indexes, func(index *schema.Index) bool {
		if len(index.Parts) < len(columns) {
			return false
		}
		for i, name := range columns {
			if c := index.Parts[i].C; c == nil || c.Name != name {
				return false
			}
		}
		return true
	})
}
