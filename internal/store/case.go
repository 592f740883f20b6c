package store

import "entgo.io/ent/dialect/sql"

// CaseByID returns an SQL CASE expression for an UPDATE of several rows. It compares column with the ids, and gives
// value(id) for the row with that id. For a single id it is only the value, so the UPDATE must select that row.
func CaseByID[V any](column string, ids []int64, value func(id int64) V) sql.Querier {
	return sql.ExprFunc(func(b *sql.Builder) {
		if len(ids) == 1 {
			b.Arg(value(ids[0]))
			return
		}
		b.WriteString("CASE ").Ident(column)
		for _, id := range ids {
			b.WriteString(" WHEN ").Arg(id).WriteString(" THEN ").Arg(value(id))
		}
		b.WriteString(" END")
	})
}
