// Package schema declares the tables. The generated package ent, the migrations and the files schema.*.sql are made
// from it.
//
// Ids of events, venues, organizers and images come from Record, never from their own table, so that an id
// names one record of one kind for ever. Instants are UTC; wall times have their own type.
package schema

import (
	"fmt"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
)

// The column types that differ by dialect. MySQL's timestamp, which Ent would choose for an instant, ends in
// 2038 and follows the session's time zone; a BLOB cannot carry a unique index.
var (
	datetime = map[string]string{dialect.MySQL: "datetime", dialect.SQLite: "datetime"}
	hash32   = map[string]string{dialect.MySQL: "binary(32)", dialect.SQLite: "blob"}
	// mediumBlob has room for more than the 64 KiB of a blob.
	mediumBlob = map[string]string{dialect.MySQL: "mediumblob", dialect.SQLite: "blob"}
)

// upTo returns the type of a column that has at most the given number of bytes and can have an index.
func upTo(bytes int) map[string]string {
	return map[string]string{dialect.MySQL: fmt.Sprintf("varbinary(%d)", bytes), dialect.SQLite: "blob"}
}

// Lengths of the texts clients send, in characters (contract, section 4). A slug column also has room for
// the suffix of a record in the trash.
const (
	maxTitle = 500
	maxText  = 255
	maxURL   = 2048
	maxSlug  = 220
	// maxSource fits host?id=number of any host name and stays indexable.
	maxSource = 300
)

// assigned marks a primary key whose value comes from Record.
func assigned() entsql.Annotation {
	no := false
	return entsql.Annotation{Incremental: &no}
}

// unread marks a column that no reply is made of. Pages are read without it.
type unread struct{}

// Name implements schema.Annotation.
func (unread) Name() string { return "Unread" }

// upserted marks a type whose rows are also inserted or, if they are there, updated.
type upserted struct{}

// Name implements schema.Annotation.
func (upserted) Name() string { return "Upserted" }
