package store

import "entgo.io/ent/dialect/sql"

// CaseByID returns an SQL expression with a value for each id in a column. For one id it is the value alone.
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
