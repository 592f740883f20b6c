package migrate

import (
	"slices"
	"strings"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/mysql"
	"ariga.io/atlas/sql/schema"
	"ariga.io/atlas/sql/sqlite"
	entschema "entgo.io/ent/dialect/sql/schema"
)

// changesBetween returns the changes from one schema to another, except for the schemas' names and defaults. It adds
// the changes that Atlas does not look for: see missedChanges.
func changesBetween(drv atlas.Driver, from, to *schema.Schema) ([]schema.Change, error) {
	from.Name, from.Attrs = to.Name, to.Attrs
	indexes := make([][]*schema.Index, len(from.Tables))
	for i, table := range from.Tables {
		indexes[i] = table.Indexes
	}
	changes, err := drv.SchemaDiff(from, to)
	if err != nil {
		return nil, err
	}
	for i, table := range from.Tables {
		table.Indexes = indexes[i] // Atlas removes the indexes that it does not compare
		if want, ok := to.Table(table.Name); ok {
			changes = withMissedChanges(changes, table, want, isMySQL(drv))
		}
	}
	return changes, nil
}

// isMySQL reports whether Atlas's driver is the one of MySQL, MariaDB and TiDB.
func isMySQL(drv atlas.Driver) bool {
	_, ok := drv.(*mysql.Driver)
	return ok
}

// withMissedChanges returns the changes of a table that Atlas found, and its missedChanges.
func withMissedChanges(changes []schema.Change, from, to *schema.Table, dropIndexes bool) []schema.Change {
	modified := &schema.ModifyTable{T: to}
	at := slices.IndexFunc(changes, func(c schema.Change) bool {
		m, ok := c.(*schema.ModifyTable)
		return ok && m.T.Name == to.Name
	})
	if at >= 0 {
		modified, _ = changes[at].(*schema.ModifyTable)
	}
	missed := missedChanges(from, to, modified.Changes, dropIndexes)
	if len(missed) == 0 {
		return changes
	}
	modified.Changes = append(modified.Changes, missed...)
	if at < 0 {
		changes = append(changes, modified)
	}
	return changes
}

// missedChanges returns the differences between two versions of a table that Atlas does not find:
//
//   - a column that lacks AUTO_INCREMENT, or has ON UPDATE, and the like
//   - with dropIndexes, a surplus index that could serve a foreign key. Atlas keeps such an index, because the server
//     may have created it for a key. A recorded schema lists such indexes, so any other one is surplus.
func missedChanges(from, to *schema.Table, found schema.Changes, dropIndexes bool) (missed []schema.Change) {
	for _, column := range from.Columns {
		want, ok := to.Column(column.Name)
		if ok && columnClause(column) != columnClause(want) && found.IndexModifyColumn(column.Name) < 0 {
			missed = append(missed, &schema.ModifyColumn{From: column, To: want, Change: schema.ChangeAttr})
		}
	}
	if !dropIndexes {
		return missed
	}
	for _, index := range from.Indexes {
		if _, ok := to.Index(index.Name); !ok && found.IndexDropIndex(index.Name) < 0 {
			missed = append(missed, &schema.DropIndex{I: index})
		}
	}
	return missed
}

// columnClause returns the clauses of a column that Atlas reads but does not compare, such as AUTO_INCREMENT. ""
// means none.
func columnClause(column *schema.Column) string {
	var clauses []string
	for _, attr := range column.Attrs {
		switch attr := attr.(type) {
		case *mysql.AutoIncrement, *sqlite.AutoIncrement:
			clauses = append(clauses, "auto_increment")
		case *mysql.OnUpdate: // MariaDB adds parentheses
			clauses = append(clauses, "on update "+strings.TrimSuffix(strings.ToLower(attr.A), "()"))
		}
	}
	slices.Sort(clauses)
	return strings.Join(clauses, " ")
}

// mysqlDiffer returns a differ for MySQL that applies withReplacedIndexes to the changes that next finds.
func mysqlDiffer(next entschema.Differ) entschema.Differ {
	return entschema.DiffFunc(func(current, desired *schema.Schema) ([]schema.Change, error) {
		changes, err := next.Diff(current, desired)
		return withReplacedIndexes(changes), err
	})
}

// withReplacedIndexes returns the changes with each changed index or foreign key dropped and added. Atlas plans two
// statements for a changed index, and MySQL refuses the first one if a foreign key needs the index. splitByLock keeps
// both parts in one statement. For a foreign key to another table, Atlas also drops an index that may not exist.
func withReplacedIndexes(changes []schema.Change) []schema.Change {
	out := slices.Clone(changes)
	for i, change := range out {
		table, ok := change.(*schema.ModifyTable)
		if !ok {
			continue
		}
		replaced := *table
		replaced.Changes = nil
		for _, inner := range table.Changes {
			switch c := inner.(type) {
			case *schema.ModifyIndex:
				replaced.Changes = append(replaced.Changes, &schema.DropIndex{I: c.From}, &schema.AddIndex{I: c.To})
			case *schema.ModifyForeignKey:
				replaced.Changes = append(replaced.Changes, &schema.DropForeignKey{F: c.From}, &schema.AddForeignKey{F: c.To})
			default:
				replaced.Changes = append(replaced.Changes, inner)
			}
		}
		out[i] = &replaced
	}
	return out
}

// planParts splits changes of MySQL into parts that must be planned one after another. On TiDB there are two parts
// (dropsLast), on other servers one.
func planParts(drv atlas.Driver, changes []schema.Change) [][]schema.Change {
	changes = withReplacedIndexes(changes)
	if driver, ok := drv.(*mysql.Driver); ok && driver.TiDB() {
		first, last := dropsLast(changes)
		return [][]schema.Change{first, last}
	}
	return [][]schema.Change{changes}
}

// dropsLast splits changes for TiDB, where a statement makes one change and a foreign key always needs an index. The
// second part drops indexes, and then columns. In the first part a replaced index gets another name.
func dropsLast(changes []schema.Change) (first, last []schema.Change) {
	for _, change := range changes {
		table, ok := change.(*schema.ModifyTable)
		if !ok {
			first = append(first, change)
			continue
		}
		var renamed, others, dropped []schema.Change
		for _, inner := range table.Changes {
			switch c := inner.(type) {
			case *schema.DropIndex:
				if schema.Changes(table.Changes).IndexAddIndex(c.I.Name) >= 0 {
					old := *c.I
					old.Name += "_old"
					renamed = append(renamed, &schema.RenameIndex{From: c.I, To: &old})
					c = &schema.DropIndex{I: &old}
				}
				dropped = append(dropped, c)
			case *schema.DropColumn:
				dropped = append(dropped, c)
			default:
				others = append(others, c)
			}
		}
		if kept := slices.Concat(renamed, others); len(kept) > 0 {
			first = append(first, &schema.ModifyTable{T: table.T, Changes: kept})
		}
		if len(dropped) > 0 {
			last = append(last, &schema.ModifyTable{T: table.T, Changes: dropped})
		}
	}
	return first, last
}

// changesReferenced reports whether a change of a table changes a column that a foreign key refers to. MySQL refuses
// that while it checks foreign keys, even if only AUTO_INCREMENT changes.
func changesReferenced(change schema.Change) bool {
	modified, ok := change.(*schema.ModifyTable)
	if !ok || modified.T.Schema == nil {
		return false
	}
	for _, table := range modified.T.Schema.Tables {
		for _, key := range table.ForeignKeys {
			if key.RefTable.Name != modified.T.Name {
				continue
			}
			for _, column := range key.RefColumns {
				if schema.Changes(modified.Changes).IndexModifyColumn(column.Name) >= 0 {
					return true
				}
			}
		}
	}
	return false
}
