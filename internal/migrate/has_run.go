package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ariga.io/atlas/sql/schema"
)

// hasRun reports whether a statement without a record has run, for example before its process was killed. It compares
// the live tables with those before and after the statement, in the parts that the statement changes. If they match
// neither, the error wraps errDiffers and describes the difference.
//
// A statement that changes no table counts as not run. Lint rejects such statements on MySQL.
func (h *history) hasRun(ctx context.Context, live *schema.Schema, version string, number int) (bool, error) {
	before, err := h.schemaAt(ctx, historyPoint{version, number - 1}, nil)
	if err != nil {
		return false, err
	}
	after, err := h.schemaAt(ctx, historyPoint{version, number}, nil)
	if err != nil {
		return false, err
	}
	effect, err := changesBetween(h.drv, before, after)
	if err != nil || len(effect) == 0 {
		return false, err
	}
	missing, err := changesBetween(h.drv, live, after)
	if err != nil {
		return false, err
	}
	if missing = overlappingChanges(missing, effect); len(missing) == 0 {
		return true, nil
	}
	tooMuch, err := changesBetween(h.drv, live, before)
	if err != nil {
		return false, err
	}
	if len(overlappingChanges(tooMuch, effect)) == 0 {
		return false, nil
	}
	mend, err := planStatements(ctx, h.drv, missing)
	if err != nil {
		return false, err
	}
	var sql []string
	for _, m := range mend {
		sql = append(sql, m.SQL)
	}
	return false, fmt.Errorf("%w, which this would change into what statement %d of %s makes: %s",
		errDiffers, number, version, strings.Join(sql, "; "))
}

// errDiffers is returned for a statement that may have run, if the tables match neither the state before it nor
// the state after it.
var errDiffers = errors.New("another definition is there")

// tableElement identifies a table, or a part of one such as a column, that a statement changes.
type tableElement struct {
	table string
	name  string // kind and name of the part; "" for the whole table
}

// elementsOf returns the tables and parts of tables that a change affects. An empty tableElement stands for all
// tables.
func elementsOf(change schema.Change) []tableElement {
	switch c := change.(type) {
	case *schema.AddTable:
		return []tableElement{{table: c.T.Name}}
	case *schema.DropTable:
		return []tableElement{{table: c.T.Name}}
	case *schema.ModifyTable:
		out := make([]tableElement, len(c.Changes))
		for i, inner := range c.Changes {
			out[i] = tableElement{table: c.T.Name, name: partName(inner)}
		}
		return out
	}
	// Other changes do not occur between tables of one schema. An unknown one counts for all tables, so that
	// none is missed.
	return []tableElement{{}}
}

// partName returns the kind and name of the column, index or other part of a table that a change affects.
func partName(change schema.Change) string {
	switch c := change.(type) {
	case *schema.AddColumn:
		return "column " + c.C.Name
	case *schema.DropColumn:
		return "column " + c.C.Name
	case *schema.ModifyColumn:
		return "column " + c.To.Name
	case *schema.AddIndex:
		return "index " + c.I.Name
	case *schema.DropIndex:
		return "index " + c.I.Name
	case *schema.ModifyIndex:
		return "index " + c.To.Name
	case *schema.AddForeignKey:
		return "foreign key " + c.F.Symbol
	case *schema.DropForeignKey:
		return "foreign key " + c.F.Symbol
	case *schema.ModifyForeignKey:
		return "foreign key " + c.To.Symbol
	case *schema.AddCheck:
		return "check " + c.C.Name
	case *schema.DropCheck:
		return "check " + c.C.Name
	case *schema.ModifyCheck:
		return "check " + c.To.Name
	case *schema.AddPrimaryKey, *schema.DropPrimaryKey, *schema.ModifyPrimaryKey:
		return "primary key"
	}
	return fmt.Sprintf("%T", change) // an attribute of the table
}

// overlappingChanges returns those of changes that affect the same part of a table as one of others.
func overlappingChanges(changes, others []schema.Change) (out []schema.Change) {
	theirs := map[tableElement]bool{}
	tables := map[string]bool{}
	for _, c := range others {
		for _, p := range elementsOf(c) {
			theirs[p], tables[p.table] = true, true
		}
	}
	overlaps := func(p tableElement) bool {
		return p.table == "" || theirs[tableElement{}] || theirs[p] || theirs[tableElement{table: p.table}] || p.name == "" && tables[p.table]
	}
	for _, c := range changes {
		parts := elementsOf(c)
		modify, ok := c.(*schema.ModifyTable)
		if !ok {
			if overlaps(parts[0]) {
				out = append(out, c)
			}
			continue
		}
		var inner []schema.Change
		for i, p := range parts {
			if overlaps(p) {
				inner = append(inner, modify.Changes[i])
			}
		}
		if len(inner) > 0 {
			out = append(out, &schema.ModifyTable{T: modify.T, Changes: inner})
		}
	}
	return out
}
